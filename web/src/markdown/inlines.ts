/** What is in a paragraph, a heading or a cell of a table. */
export type Inline =
  | { type: "text"; text: string }
  | { type: "code"; text: string }
  | { type: "math"; text: string }
  | { type: "break" }
  | { type: "link"; href: string; children: Inline[] }
  | { type: "image"; href: string; alt: string }
  | { type: "strong" | "emphasis" | "deleted"; children: Inline[] };

/** A mark that may open emphasis or a link, waiting for the one that closes it. */
interface Opener {
  mark: "*" | "_" | "~" | "[" | "![";
  /** Of emphasis: how many characters of the mark are left. */
  count: number;
  /** Whether the mark could also close. */
  both: boolean;
  /** Where its text is among the nodes. */
  node: number;
}

const mostNested = 16;
/** How far back a mark looks for its opener, among the open ones, and how long an address or a formula may be. */
const mostOpen = 32;
const longestSpan = 2048;
/** CommonMark's limit for addresses. */
const mostParentheses = 32;

const entities = new Map(
  Object.entries({
    amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", mdash: "—", ndash: "–", copy: "©",
    times: "×", deg: "°", middot: "·", bull: "•", rarr: "→", larr: "←", le: "≤", ge: "≥", ne: "≠", euro: "€",
  }),
);

/** What begins with none of these is plain text. */
const plainText = /[^\\`$*_~![\]<&h\n]+/y;

export function parseInlines(text: string): Inline[] {
  return new Parser(text).parse();
}

/** An address that a link may have, or undefined. */
export function safeAddress(address: string): string | undefined {
  try {
    const url = new URL(address);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

class Parser {
  private readonly nodes: Inline[] = [];
  private readonly openers: Opener[] = [];
  private readonly depths = new WeakMap<Inline, number>();
  private plain = "";
  private at = 0;
  private ticks: Map<number, number[]> | undefined;
  /** Closing marks that do not occur in the rest of the text. */
  private readonly absent = new Set<string>();
  /** Where the next `](` is; Infinity if there is none. */
  private nextTarget = -1;

  constructor(private readonly text: string) {}

  parse(): Inline[] {
    while (this.at < this.text.length) {
      const run = matchAt(plainText, this.text, this.at);
      if (run) this.literal(run[0], run[0].length);
      else if (!this.special()) this.literal(this.text[this.at]!, 1);
    }
    this.flush();
    return this.nodes;
  }

  /** Reads what begins here, or returns false if it is plain text. */
  private special(): boolean {
    switch (this.text[this.at]) {
      case "\n": return this.add({ type: "break" }, 1, true);
      case "\\": return this.escape();
      case "`": return this.codeSpan();
      case "$": return this.span("$$", "$$");
      case "*": case "_": case "~": return this.emphasis(this.text[this.at] as "*" | "_" | "~");
      case "!": return this.text[this.at + 1] === "[" && this.open("![");
      case "[": return this.open("[");
      case "]": return this.closeBracket();
      case "<": return this.angle();
      case "&": return this.entity();
      case "h": return this.bareAddress();
      default: return false;
    }
  }

  private flush(): void {
    if (this.plain !== "") this.nodes.push({ type: "text", text: this.plain });
    this.plain = "";
  }

  private add(node: Inline, length: number, trim = false): true {
    if (trim) this.plain = this.plain.trimEnd();
    this.flush();
    this.nodes.push(node);
    this.at += length;
    return true;
  }

  private literal(text: string, length: number): true {
    this.plain += text;
    this.at += length;
    return true;
  }

  private escape(): boolean {
    const next = this.text[this.at + 1];
    if (next === "(" && this.span("\\(", "\\)")) return true;
    if (next === "[" && this.span("\\[", "\\]")) return true;
    if (next === "\n") return this.add({ type: "break" }, 2);
    return next !== undefined && /[!-/:-@[-`{-~]/.test(next) && this.literal(next, 2);
  }

  /** A formula: shown as it was written. */
  private span(opening: string, closing: string): boolean {
    if (!this.text.startsWith(opening, this.at) || this.absent.has(closing)) return false;
    const start = this.at + opening.length;
    const end = this.text.indexOf(closing, start);
    if (end < 0) this.absent.add(closing);
    if (end < 0 || end === start || end - start > longestSpan) return false;
    return this.add({ type: "math", text: this.text.slice(start, end).trim() }, end + closing.length - this.at);
  }

  private codeSpan(): boolean {
    this.ticks ??= runsOfTicks(this.text);
    let length = 1;
    while (this.text[this.at + length] === "`") length++;
    const runs = this.ticks.get(length)!;
    while (runs.length > 0 && runs[runs.length - 1]! <= this.at) runs.pop();
    const end = runs[runs.length - 1];
    if (end === undefined) return this.literal("`".repeat(length), length);
    let code = this.text.slice(this.at + length, end).replace(/\n/g, " ");
    if (code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "") code = code.slice(1, -1);
    return this.add({ type: "code", text: code }, end + length - this.at);
  }

  private emphasis(mark: "*" | "_" | "~"): true {
    let count = 1;
    while (this.text[this.at + count] === mark) count++;
    const before = this.text[this.at - 1] ?? " ";
    const after = this.text[this.at + count] ?? " ";
    if (mark === "~" && count !== 2) return this.literal(mark.repeat(count), count);
    const left = !isSpace(after) && (!isPunctuation(after) || isSpace(before) || isPunctuation(before));
    const right = !isSpace(before) && (!isPunctuation(before) || isSpace(after) || isPunctuation(after));
    const opens = left && (mark !== "_" || !right || isPunctuation(before));
    const closes = right && (mark !== "_" || !left || isPunctuation(after));
    this.at += count;
    let rest = count;
    if (closes) rest = this.closeEmphasis(mark, count, opens);
    if (rest === 0) return true;
    if (!opens) {
      this.plain += mark.repeat(rest);
      return true;
    }
    this.flush();
    this.openers.push({ mark, count: rest, both: closes, node: this.nodes.length });
    this.nodes.push({ type: "text", text: mark.repeat(rest) });
    return true;
  }

  /** Ends what `count` marks end; returns how many are left. */
  private closeEmphasis(mark: string, count: number, both: boolean): number {
    const bottom = Math.max(0, this.openers.length - mostOpen);
    for (let i = this.openers.length - 1; i >= bottom && count > 0; i--) {
      const opener = this.openers[i]!;
      if (opener.mark !== mark && opener.mark.endsWith("[") && this.targetFollows()) break;
      if (opener.mark !== mark) continue;
      // CommonMark's rule of three: in `*a**b*`, the marks in the middle do not close.
      const sum = opener.count + count;
      if ((opener.both || both) && sum % 3 === 0 && (opener.count % 3 !== 0 || count % 3 !== 0)) continue;
      this.flush();
      while (count > 0 && opener.count > 0) {
        const used = Math.min(2, count, opener.count);
        const type = mark === "~" ? "deleted" : used === 2 ? "strong" : "emphasis";
        const children = this.nodes.splice(opener.node + 1);
        const depth = this.depthOf(children) + 1;
        if (depth > mostNested) {
          for (const child of children) this.nodes.push(child);
          this.openers.length = 0; // Otherwise each mark that follows would look at the same nodes again.
          return count;
        }
        const node: Inline = { type, children };
        this.depths.set(node, depth);
        this.nodes.push(node);
        count -= used;
        opener.count -= used;
        this.nodes[opener.node] = { type: "text", text: mark.repeat(opener.count) };
      }
      this.openers.length = opener.count > 0 ? i + 1 : i;
    }
    return count;
  }

  /** Whether the text that follows may end a link; until then, what is in brackets is a unit. */
  private targetFollows(): boolean {
    if (this.nextTarget < this.at) {
      const found = this.text.indexOf("](", this.at);
      this.nextTarget = found < 0 ? Infinity : found;
    }
    return this.nextTarget !== Infinity;
  }

  private depthOf(children: Inline[]): number {
    let depth = 0;
    for (const child of children) depth = Math.max(depth, this.depths.get(child) ?? 0);
    return depth;
  }

  private open(mark: "[" | "!["): true {
    this.flush();
    this.openers.push({ mark, count: 0, both: false, node: this.nodes.length });
    this.nodes.push({ type: "text", text: mark });
    this.at += mark.length;
    return true;
  }

  /** `]`: a link or an image if an address follows, otherwise text. */
  private closeBracket(): boolean {
    const bottom = Math.max(0, this.openers.length - mostOpen);
    let i = this.openers.length - 1;
    while (i >= bottom && !this.openers[i]!.mark.endsWith("[")) i--;
    if (i < bottom) return false;
    const opener = this.openers[i]!;
    this.openers.length = i;
    const target = this.text[this.at + 1] === "(" ? readTarget(this.text, this.at + 2) : undefined;
    const href = target && safeAddress(target.address);
    if (!target || !href) return false;
    this.flush();
    const children = this.nodes.splice(opener.node).slice(1);
    this.at = target.end;
    if (opener.mark === "![") {
      this.nodes.push({ type: "image", href, alt: textOf(children) });
      return true;
    }
    // There are no links within links.
    const node: Inline = { type: "link", href, children: children.map((child) => unlinked(child)) };
    this.depths.set(node, this.depthOf(children) + 1);
    this.nodes.push(node);
    return true;
  }

  /** `<https://…>`, and `<br>`, the one tag of HTML that models need in tables. */
  private angle(): boolean {
    const match = matchAt(/<(?:(https?:\/\/[^\s<>]{1,2048}|mailto:[^\s<>]{1,2048})|br *\/?)>/iy, this.text, this.at);
    if (!match) return false;
    if (match[1] === undefined) return this.add({ type: "break" }, match[0].length);
    const href = safeAddress(match[1]);
    return href !== undefined && this.add(linkTo(href, match[1]), match[0].length);
  }

  private entity(): boolean {
    const match = matchAt(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/y, this.text, this.at);
    if (!match) return false;
    const code = match[1] ? parseInt(match[1], 10) : match[2] ? parseInt(match[2], 16) : undefined;
    const named = entities.get(match[3] ?? "");
    const isCharacter = code !== undefined && code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    const character = isCharacter ? String.fromCodePoint(code) : named;
    return character !== undefined && this.literal(character, match[0].length);
  }

  private bareAddress(): boolean {
    if (/[\p{L}\p{N}]/u.test(this.text[this.at - 1] ?? " ")) return false;
    const match = matchAt(/https?:\/\/[^\s<>"`\]]{1,2048}/iy, this.text, this.at);
    if (!match) return false;
    let address = match[0];
    let closing = address.split(")").length - address.split("(").length;
    while (/[.,;:!?'*_~]$/.test(address) || (closing > 0 && address.endsWith(")"))) {
      if (address.endsWith(")")) closing--;
      address = address.slice(0, -1);
    }
    const href = safeAddress(address);
    return href !== undefined && this.add(linkTo(href, address), address.length);
  }
}

function linkTo(href: string, text: string): Inline {
  return { type: "link", href, children: [{ type: "text", text }] };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function isSpace(character: string): boolean {
  return /\s/.test(character);
}

function isPunctuation(character: string): boolean {
  return /[\p{P}\p{S}]/u.test(character);
}

/** Where the runs of backticks begin, by their length; the first is last. */
function runsOfTicks(text: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const match of text.matchAll(/`+/g)) {
    const starts = runs.get(match[0].length);
    if (starts) starts.push(match.index!);
    else runs.set(match[0].length, [match.index!]);
  }
  for (const starts of runs.values()) starts.reverse();
  return runs;
}

/** The address in `(address "title")`, from behind the parenthesis; `end` is behind the closing one. */
function readTarget(text: string, from: number): { address: string; end: number } | undefined {
  const part = text.slice(from, from + longestSpan);
  const angle = /^\s{0,9}<([^<>\n]*)>/.exec(part);
  let end = angle ? angle[0].length : 0;
  let address = angle?.[1] ?? "";
  if (!angle) {
    let open = 0;
    while (end < part.length && part[end]! > " " && !(part[end] === ")" && open === 0)) {
      if (part[end] === "(" && ++open > mostParentheses) return undefined;
      if (part[end] === ")") open--;
      end++;
    }
    address = part.slice(0, end);
  }
  const title = /^\s{0,9}(?:"[^"]*"|'[^']*')?\s{0,9}\)/.exec(part.slice(end));
  return title ? { address, end: from + end + title[0].length } : undefined;
}

function unlinked(node: Inline): Inline {
  if (node.type === "link") return { type: "text", text: textOf(node.children) };
  if ("children" in node) return { ...node, children: node.children.map(unlinked) };
  return node;
}

/** The text of nodes, without their form. */
export function textOf(nodes: Inline[]): string {
  return nodes
    .map((node) => ("children" in node ? textOf(node.children) : "text" in node ? node.text : node.type === "image" ? node.alt : " "))
    .join("");
}
