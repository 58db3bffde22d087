import type { ComponentChildren, VNode } from "preact";
import { memo, useMemo } from "../hooks";
import { CopyButton } from "../parts";
import { parseMarkdown, type Block, type Section } from "./blocks";
import { highlight } from "./highlight";
import type { Inline } from "./inlines";

/**
 * What a model wrote. It becomes elements through the tree of blocks only: no text is ever parsed as HTML, images are
 * shown as links, and links are followed only when the reader chooses to.
 */
export function Markdown({ text }: { text: string }) {
  const sections = useMemo(() => parseMarkdown(text), [text]);
  return (
    <div class="markdown">
      {sections.map((section, i) => (
        <SectionView key={i} section={section} />
      ))}
    </div>
  );
}

/** While an answer is streamed, only its last block changes. */
const SectionView = memo(
  ({ section }: { section: Section }) => blockView(section.block),
  (before, after) => before.section.source === after.section.source && before.section.block.type === after.section.block.type,
);

function blockViews(blocks: Block[]): ComponentChildren {
  return blocks.map((block) => blockView(block));
}

function blockView(block: Block): VNode {
  switch (block.type) {
    case "paragraph":
      return <p>{inlineViews(block.children)}</p>;
    case "heading":
      return headingView(block.level, inlineViews(block.children));
    case "code":
      return <Code language={block.language} text={block.text} />;
    case "quote":
      return <blockquote>{blockViews(block.blocks)}</blockquote>;
    case "list": {
      const items = block.items.map((item) => (
        <li class={item.done === undefined ? undefined : "task"}>
          {item.done !== undefined && (
            <span role="img" aria-label={item.done ? "done" : "to do"}>
              {item.done ? "☑" : "☐"}
            </span>
          )}
          {itemView(item.blocks)}
        </li>
      ));
      return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return tableView(block);
    case "rule":
      return <hr />;
  }
}

/** The text of an item that has only one paragraph is not set apart. */
function itemView(blocks: Block[]): ComponentChildren {
  const [first, ...rest] = blocks;
  if (first?.type !== "paragraph" || rest.some((block) => block.type === "paragraph")) return blockViews(blocks);
  return [inlineViews(first.children), blockViews(rest)];
}

/** The page's own headings come first: those of an answer begin two levels below. */
function headingView(level: number, children: ComponentChildren): VNode {
  const shown = `level-${level}`;
  if (level === 1) return <h3 class={shown}>{children}</h3>;
  if (level === 2) return <h4 class={shown}>{children}</h4>;
  if (level === 3) return <h5 class={shown}>{children}</h5>;
  return <h6 class={shown}>{children}</h6>;
}

function tableView({ head, rows, align }: Extract<Block, { type: "table" }>): VNode {
  const side = (column: number) => (align[column] ? `align-${align[column]}` : undefined);
  return (
    <div class="table" role="region" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th class={side(column)}>{inlineViews(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((cell, column) => (
                <td class={side(column)}>{inlineViews(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlineViews(nodes: Inline[]): ComponentChildren {
  return nodes.map(inlineView);
}

function inlineView(node: Inline): ComponentChildren {
  switch (node.type) {
    case "text":
      return node.text;
    case "code":
      return <code>{node.text}</code>;
    case "math":
      return <code class="math">{node.text}</code>;
    case "break":
      return <br />;
    case "strong":
      return <strong>{inlineViews(node.children)}</strong>;
    case "emphasis":
      return <em>{inlineViews(node.children)}</em>;
    case "deleted":
      return <del>{inlineViews(node.children)}</del>;
    case "link":
      return <Link href={node.href}>{inlineViews(node.children)}</Link>;
    case "image":
      return <Link href={node.href}>{`Image: ${node.alt || node.href}`}</Link>;
  }
}

function Link({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer">
      {children}
    </a>
  );
}

export function Code({ language, text }: { language: string; text: string }) {
  const parts = useMemo(() => highlight(text, language), [text, language]);
  return (
    <div class="code">
      <div class="code-head">
        <span>{language || "text"}</span>
        <CopyButton text={text} what="code" />
      </div>
      <pre role="region" aria-label={language ? `Code, ${language}` : "Code"} tabIndex={0}>
        <code>{parts.map((part) => (part.kind ? <span class={`code-${part.kind}`}>{part.text}</span> : part.text))}</code>
      </pre>
    </div>
  );
}
