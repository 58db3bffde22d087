import { parseInlines, type Inline } from "./inlines";

/**
 * A parser of the Markdown that language models write: GitHub's, without HTML, references and code by indentation. It
 * makes a tree of plain data and no HTML. Its time is linear in the length of the text, whatever the text is: what a
 * model writes must not be able to stop the page. Limits on nesting bound the recursion.
 */
export type Block =
  | { type: "paragraph"; children: Inline[] }
  | { type: "heading"; level: number; children: Inline[] }
  | { type: "code"; language: string; text: string }
  | { type: "quote"; blocks: Block[] }
  | { type: "list"; ordered: boolean; start: number; items: Item[] }
  | { type: "table"; align: Align[]; head: Inline[][]; rows: Inline[][][] }
  | { type: "rule" };

export interface Item {
  /** A task, done or not; undefined for other items. */
  done?: boolean;
  blocks: Block[];
}

export type Align = "left" | "center" | "right" | undefined;

/** A block at top level, with the lines it was made from: equal lines make an equal block. */
export interface Section {
  source: string;
  block: Block;
}

const mostNested = 10;
const mostColumns = 64;

export function parseMarkdown(text: string): Section[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n").map(expandTabs);
  const sections: Section[] = [];
  let from = 0;
  const reader = new Reader(lines, 0);
  for (let block = reader.next(); block; block = reader.next()) {
    sections.push({ source: lines.slice(from, reader.line).join("\n"), block });
    from = reader.line;
  }
  return sections;
}

function expandTabs(line: string): string {
  const indent = /^[ \t]*/.exec(line)![0];
  return indent.includes("\t") ? indent.replace(/\t/g, "    ") + line.slice(indent.length) : line;
}

const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const heading = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/;
const rule = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const quote = /^ {0,3}> ?/;
const marker = /^( *)([-*+]|\d{1,9}[.)])(?: ( *)|$)/;

function isBlank(line: string): boolean {
  return line.trim() === "";
}

function indentOf(line: string): number {
  let spaces = 0;
  while (line[spaces] === " ") spaces++;
  return spaces;
}

/** A fence that opens code: one of backticks has none after it in its line. */
function opensCode(line: string): RegExpExecArray | undefined {
  const match = fence.exec(line);
  return match && !(match[1]!.startsWith("`") && match[2]!.includes("`")) ? match : undefined;
}

/** Whether a line ends the paragraph before it. */
function interrupts(line: string): boolean {
  const item = marker.exec(line);
  const startsList = item !== null && line.length > item[0].length && (!/^\d/.test(item[2]!) || /^1[.)]/.test(item[2]!));
  return startsList || !!opensCode(line) || heading.test(line) || rule.test(line) || quote.test(line);
}

class Reader {
  line = 0;

  constructor(
    private readonly lines: string[],
    private readonly depth: number,
  ) {}

  all(): Block[] {
    const blocks: Block[] = [];
    for (let block = this.next(); block; block = this.next()) blocks.push(block);
    return blocks;
  }

  /** The next block, or undefined at the end. */
  next(): Block | undefined {
    while (this.line < this.lines.length && isBlank(this.lines[this.line]!)) this.line++;
    const line = this.lines[this.line];
    if (line === undefined) return undefined;
    const code = opensCode(line);
    if (code) return this.code(indentOf(line), code[1]!, code[2]!);
    const title = heading.exec(line);
    if (title) {
      this.line++;
      return { type: "heading", level: title[1]!.length, children: parseInlines(withoutClosingMarks(title[2] ?? "")) };
    }
    if (rule.test(line)) {
      this.line++;
      return { type: "rule" };
    }
    if (this.depth < mostNested) {
      if (quote.test(line)) return this.quote();
      if (marker.test(line)) return this.list();
    }
    return this.table() ?? this.paragraph();
  }

  private code(indent: number, opening: string, info: string): Block {
    const text: string[] = [];
    for (this.line++; this.line < this.lines.length; this.line++) {
      const line = this.lines[this.line]!;
      const closing = fence.exec(line);
      if (closing && closing[1]![0] === opening[0] && closing[1]!.length >= opening.length && isBlank(closing[2]!)) {
        this.line++;
        break;
      }
      text.push(line.slice(Math.min(indent, indentOf(line))));
    }
    return { type: "code", language: info.trim().split(/[\s{,]/, 1)[0]!.slice(0, 30), text: text.join("\n") };
  }

  private quote(): Block {
    const inside: string[] = [];
    for (; this.line < this.lines.length; this.line++) {
      const line = this.lines[this.line]!;
      if (quote.test(line)) inside.push(line.replace(quote, ""));
      else if (!isBlank(line) && !interrupts(line) && !isBlank(inside[inside.length - 1]!)) inside.push(line);
      else break;
    }
    return { type: "quote", blocks: new Reader(inside, this.depth + 1).all() };
  }

  private list(): Block {
    const first = marker.exec(this.lines[this.line]!)!;
    const kind = first[2]!.slice(-1);
    const items: Item[] = [];
    for (;;) {
      const line = this.lines[this.line];
      const item = line === undefined || rule.test(line) ? null : marker.exec(line);
      if (!item || item[2]!.slice(-1) !== kind || indentOf(item[1]!) >= indentOf(first[1]!) + 2) break;
      items.push(this.item(item));
    }
    const ordered = /\d/.test(first[2]!);
    return { type: "list", ordered, start: ordered ? parseInt(first[2]!, 10) : 1, items };
  }

  /** An item, and the blank lines between it and the next. */
  private item(match: RegExpExecArray): Item {
    const indent = match[1]!.length;
    const spaces = match[3] ?? "";
    const width = indent + match[2]!.length + 1 + (spaces.length > 4 ? 0 : spaces.length);
    let text = this.lines[this.line]!.slice(Math.min(width, match[0].length));
    const task = /^\[([ xX])\] /.exec(text);
    if (task) text = text.slice(4);
    const inside = [text];
    for (this.line++; this.line < this.lines.length; this.line++) {
      const line = this.lines[this.line]!;
      const afterBlank = isBlank(inside[inside.length - 1]!);
      // Models indent what belongs to an item by two columns, whatever the width of its mark.
      if (isBlank(line)) inside.push("");
      else if (indentOf(line) >= Math.min(width, indent + 2)) inside.push(line.slice(Math.min(width, indentOf(line))));
      else if (!afterBlank && !interrupts(line) && !marker.test(line)) inside.push(line);
      else break;
    }
    const blocks = new Reader(inside, this.depth + 1).all();
    return task ? { done: task[1] !== " ", blocks } : { blocks };
  }

  /** The cells and alignments of a table's head, if one begins in line `at`. */
  private tableHead(at: number): { head: string[]; align: Align[] } | undefined {
    const line = this.lines[at]!;
    const below = this.lines[at + 1];
    if (!line.includes("|") || below === undefined || !/^[ |:-]*-[ |:-]*$/.test(below)) return undefined;
    const head = cells(line);
    const marks = cells(below);
    if (head.length !== marks.length || head.length > mostColumns) return undefined;
    if (!marks.every((mark) => /^:?-+:?$/.test(mark))) return undefined;
    const align = marks.map((mark): Align => {
      const right = mark.endsWith(":");
      return mark.startsWith(":") ? (right ? "center" : "left") : right ? "right" : undefined;
    });
    return { head, align };
  }

  private table(): Block | undefined {
    const found = this.tableHead(this.line);
    if (!found) return undefined;
    const { head, align } = found;
    const rows: Inline[][][] = [];
    for (this.line += 2; this.line < this.lines.length; this.line++) {
      const row = this.lines[this.line]!;
      if (isBlank(row) || interrupts(row)) break;
      rows.push(cells(row).slice(0, head.length).map(parseInlines));
    }
    return { type: "table", align, head: head.map(parseInlines), rows };
  }

  private paragraph(): Block {
    const text = [this.lines[this.line]!.trim()];
    for (this.line++; this.line < this.lines.length; this.line++) {
      const line = this.lines[this.line]!;
      if (isBlank(line) || interrupts(line) || this.tableHead(this.line)) break;
      text.push(line.trim());
    }
    return { type: "paragraph", children: parseInlines(text.join("\n")) };
  }
}

/** Without the marks that may close a heading: `## Title ##`. */
function withoutClosingMarks(title: string): string {
  const trimmed = title.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === "#") end--;
  return end === 0 || trimmed[end - 1] === " " ? trimmed.slice(0, end).trim() : trimmed;
}

/** The cells of a row: `|` separates them, `\|` and one within code do not. */
function cells(row: string): string[] {
  const found: string[] = [];
  let cell = "";
  let inCode = false;
  const text = row.trim();
  for (let i = text.startsWith("|") ? 1 : 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === "\\" && text[i + 1] === "|") {
      cell += "|";
      i++;
    } else if (character === "|" && !inCode) {
      found.push(cell.trim());
      cell = "";
    } else {
      if (character === "`") inCode = !inCode && text.includes("`", i + 1);
      cell += character;
    }
  }
  if (!text.endsWith("|") || text.endsWith("\\|")) found.push(cell.trim());
  return found;
}
