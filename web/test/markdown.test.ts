import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMarkdown, type Block } from "../src/markdown/blocks";
import { highlight } from "../src/markdown/highlight";
import { parseInlines, safeAddress, type Inline } from "../src/markdown/inlines";

const blocks = (text: string) => parseMarkdown(text).map((section) => section.block);

/** A short form of inlines for comparisons. */
function short(nodes: Inline[]): string {
  return nodes
    .map((node) => {
      switch (node.type) {
        case "text": return node.text;
        case "code": return `{code ${node.text}}`;
        case "math": return `{math ${node.text}}`;
        case "break": return "{br}";
        case "image": return `{img ${node.href} ${node.alt}}`;
        case "link": return `{a ${node.href} ${short(node.children)}}`;
        default: return `{${node.type} ${short(node.children)}}`;
      }
    })
    .join("");
}

function shortBlock(block: Block): string {
  switch (block.type) {
    case "paragraph": return `p(${short(block.children)})`;
    case "heading": return `h${block.level}(${short(block.children)})`;
    case "code": return `code:${block.language}(${block.text})`;
    case "quote": return `quote(${block.blocks.map(shortBlock).join("")})`;
    case "rule": return "rule";
    case "table": return `table(${[block.head, ...block.rows].map((row) => row.map(short).join("|")).join("/")})`;
    case "list": {
      const item = (each: { done?: boolean; blocks: Block[] }) => (each.done === undefined ? "" : each.done ? "[x]" : "[ ]") + each.blocks.map(shortBlock).join("");
      return `${block.ordered ? `ol${block.start}` : "ul"}(${block.items.map(item).join(",")})`;
    }
  }
}

test("inlines", () => {
  const cases: [string, string][] = [
    ["a *b* **c** ***d*** _e_ __f__ ~~g~~", "a {emphasis b} {strong c} {emphasis {strong d}} {emphasis e} {strong f} {deleted g}"],
    ["snake_case_name 2*3*4 a * b * c ~5 minutes", "snake_case_name 2{emphasis 3}4 a * b * c ~5 minutes"],
    ["**a*b", "**a*b"],
    ["*a **b** c*", "{emphasis a {strong b} c}"],
    ["**[0, 1)** and", "{strong [0, 1)} and"],
    ["`a*b*` ``c`d`` `unclosed", "{code a*b*} {code c`d} `unclosed"],
    ["\\*not\\* \\\\ a\\b", "*not* \\ a\\b"],
    ["[t](https://a.b/c?d=1&e=2 \"title\") [u](<https://a.b/x y>)", "{a https://a.b/c?d=1&e=2 t} {a https://a.b/x%20y u}"],
    ["**[bold](https://a.b)**", "{strong {a https://a.b/ bold}}"],
    ["[wiki](https://a.b/c_(d))", "{a https://a.b/c_(d) wiki}"],
    ["see https://a.b/c_(d), or (https://e.f).", "see {a https://a.b/c_(d) https://a.b/c_(d)}, or ({a https://e.f/ https://e.f})."],
    ["<https://a.b> x<br>y <b>z</b>", "{a https://a.b/ https://a.b} x{br}y <b>z</b>"],
    ["&lt;b&gt; &amp;amp; &#65; &#x1F389; &nosuch; &#0; &constructor;", "<b> &amp; A 🎉 &nosuch; &#0; &constructor;"],
    ["\\(a_1 * b_2\\) and $$x^2$$ but $5", "{math a_1 * b_2} and {math x^2} but $5"],
    ["one\ntwo\\\nthree", "one{br}two{br}three"],
    ["[a [b](https://c.d) e](https://f.g)", "{a https://f.g/ a b e}"],
  ];
  for (const [text, expected] of cases) assert.equal(short(parseInlines(text)), expected, text);
});

test("blocks", () => {
  const cases: [string, string][] = [
    ["# A #\n\ntext\nmore\n## B", "h1(A) p(text{br}more) h2(B)"],
    ["#no heading", "p(#no heading)"],
    ["```py x\na\n\n  b\n```\nend", "code:py(a\n\n  b) p(end)"],
    ["~~~\n```\n~~~", "code:(```)"],
    ["```\nunclosed **a**", "code:(unclosed **a**)"],
    ["- a\n- b\n  - c\n    d\n\n  e\n- [ ] f\n- [x] g", "ul(p(a),p(b)ul(p(c{br}d))p(e),[ ]p(f),[x]p(g))"],
    ["3. a\n  - b\n4. c", "ol3(p(a)ul(p(b)),p(c))"],
    ["1. a\n   ```c\n   x\n     y\n   ```\n2. b", "ol1(p(a)code:c(x\n  y),p(b))"],
    ["- a\n\n- b\n\ntext", "ul(p(a),p(b)) p(text)"],
    ["* a\n+ b", "ul(p(a)) ul(p(b))"],
    ["> a\nlazy\n> > b\n\nend", "quote(p(a{br}lazy)quote(p(b))) p(end)"],
    ["a\n\n---\n***\n_ _ _\nb", "p(a) rule rule rule p(b)"],
    ["text:\n| a | b |\n|---|:-:|\n| `x|y` | p\\|q |\n| 1 |\nend", "p(text:) table(a|b/{code x|y}|p|q/1/end)"],
    ["a | b\nno table", "p(a | b{br}no table)"],
    ["| a |\n|--|--|", "p(| a |{br}|--|--|)"],
    ["in 1986.\n7. not a list", "p(in 1986.{br}7. not a list)"],
    ["-\n- \n-x", "ul(,) p(-x)"],
    ["\r\n a\r\nb\r", "p(a{br}b)"],
    ["", ""],
  ];
  for (const [text, expected] of cases) assert.equal(blocks(text).map(shortBlock).join(" "), expected, text);
});

test("addresses that links may have", () => {
  for (const address of ["https://a.b/", "http://a.b/", "mailto:a@b.c", "HTTPS://a.b/"]) assert.ok(safeAddress(address), address);
  const unsafe = [
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "\u0001javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>", "vbscript:x", "blob:https://a.b/c", "file:///etc/passwd", "/v1/models", "//a.b",
    "", "about:blank", "view-source:https://a.b", "filesystem:https://a.b/x",
  ];
  for (const address of unsafe) assert.equal(safeAddress(address), undefined, address);
});

test("what is hostile stays text", () => {
  const texts = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<iframe srcdoc='x'></iframe>",
    "[x](javascript:alert(1))", "[x](  java\nscript:alert(1))", "[x](data:text/html,y)", "![x](javascript:alert(1))",
    "<javascript:alert(1)>", "[x](&#106;avascript:alert(1))", "![x](/v1/models)", "[x](//evil.example)",
    "&lt;script&gt;", "<a href=https://a.b>x</a>", "[x]: javascript:alert(1)\n\n[x]",
  ];
  for (const text of texts) {
    const types = new Set(parseMarkdown(text).flatMap(({ block }) => (block.type === "paragraph" ? block.children.map((node) => node.type) : [block.type])));
    types.delete("break");
    assert.deepEqual([...types].filter((type) => type !== "text" && type !== "link"), [], text);
    for (const { block } of parseMarkdown(text))
      if (block.type === "paragraph")
        for (const node of block.children) if (node.type === "link") assert.equal(node.href.replace(/[>"].*/, ""), "https://a.b/", text);
  }
});

test("no text takes long or deep", () => {
  const n = 20000;
  const texts: Record<string, string> = {
    quotes: ">".repeat(n), stars: "*a ".repeat(n), closers: "a* ".repeat(n), underscores: "_".repeat(n) + "a" + "_".repeat(n),
    alternating: "*_".repeat(n) + "a" + "_*".repeat(n), strong: "**a*".repeat(n), tildes: "~~a".repeat(n), brackets: "[".repeat(n) + "]".repeat(n),
    links: "[a](".repeat(n), nested: "[".repeat(n) + "a" + "](https://a.b)".repeat(n), images: "![".repeat(n) + "a" + "](https://a.b)".repeat(n),
    ticks: "`a".repeat(n), runs: Array.from({ length: 600 }, (_, i) => "`".repeat(i)).join(" "), html: "<a ".repeat(n), angle: "<".repeat(n),
    comments: "<!--".repeat(n), entities: "&".repeat(n) + "&#".repeat(n), lists: Array.from({ length: 500 }, (_, i) => " ".repeat(i * 2) + "- x").join("\n"),
    items: "* a\n".repeat(n), oneLine: "- ".repeat(n), paragraphs: "a\n".repeat(n), pipes: "|".repeat(n) + "\n" + "|-".repeat(n), cells: "|a|b|\n|-|-|\n" + "|".repeat(99).concat("\n").repeat(999),
    tables: "a|b\n".repeat(n), tablePairs: "|a|\n|-|\n".repeat(n), addresses: "http://".repeat(n), dots: "http://a" + ".".repeat(n), parentheses: "https://a" + ")".repeat(n), math: "\\(".repeat(n), dollars: "$$".repeat(n),
    spaces: " ".repeat(n) + "a", heading: "# " + " ".repeat(n) + "a" + "#".repeat(n), rules: "- ".repeat(n) + "a", fences: "```\n~~~\n".repeat(n), backslashes: "\\".repeat(n),
    titles: "[a](https://a.b \"".repeat(2000), escapes: "\\[".repeat(n),
  };
  for (const [name, text] of Object.entries(texts)) {
    const start = process.cpuUsage();
    const sections = parseMarkdown(text);
    JSON.stringify(sections);
    const time = process.cpuUsage(start).user / 1000;
    assert.ok(time < 2000, `${name}: ${text.length} characters took ${time.toFixed(0)} ms`);
  }
});

test("every beginning of an answer can be shown", () => {
  const answer = "# A\n\n1. **b** `c`\n   - [d](https://e.f)\n\n| g | h |\n|---|---|\n| \\(i\\) | j |\n\n```py\nk = 'l'\n```\n> m *n*";
  for (let end = 0; end <= answer.length; end++) assert.doesNotThrow(() => parseMarkdown(answer.slice(0, end)));
  const before = parseMarkdown(answer.slice(0, 70));
  const after = parseMarkdown(answer);
  assert.equal(before[0]!.source, after[0]!.source);
});

test("coloring keeps the text", () => {
  const code = "int f(char c) { // g\n  return c == '\\'' ? 0x1f : h(\"a\\\"b\"); /* open";
  const parts = highlight(code, "c");
  assert.equal(parts.map((part) => part.text).join(""), code);
  assert.deepEqual(parts.filter((part) => part.kind !== "").map((part) => [part.kind, part.text]), [
    ["keyword", "int"], ["call", "f"], ["keyword", "char"], ["comment", "// g"], ["keyword", "return"], ["string", "'\\''"],
    ["number", "0x1f"], ["call", "h"], ["string", '"a\\"b"'], ["comment", "/* open"],
  ]);
  assert.deepEqual(highlight("# x\ny = 1", "python").map((part) => part.kind), ["comment", "", "number"]);
  assert.deepEqual(highlight("<b>", "html"), [{ kind: "", text: "<b>" }]);
  for (const text of ["\"".repeat(99999), "`".repeat(99999), "'''".repeat(33333), "/*".repeat(49999), "a".repeat(99999), "\"\\".repeat(49999)]) {
    const start = process.cpuUsage();
    assert.equal(highlight(text, "js").map((part) => part.text).join(""), text);
    assert.ok(process.cpuUsage(start).user < 2e6);
  }
});
