/** A part of a program's text, with the name of the CSS class that colors it. */
export interface Part {
  kind: "" | "comment" | "string" | "number" | "keyword" | "call";
  text: string;
}

const keywords = new Set(
  (
    "abstract and as assert async await bool break case catch char class const constexpr continue def default defer " +
    "delete do double elif else end enum except export extends extern false False final finally float fn for foreach " +
    "from func function global go goto if impl implements import in include inline int interface is lambda let local " +
    "long loop match mod module mut namespace new nil None nonlocal not null nullptr of operator or override package " +
    "pass private protected pub public raise readonly ref return self short signed sizeof static struct super switch " +
    "template then this throw trait true True try type typedef typename typeof union unsafe unsigned use using var " +
    "virtual void volatile where while with yield fi done esac echo SELECT FROM WHERE JOIN ON GROUP BY ORDER INSERT " +
    "INTO VALUES UPDATE SET DELETE CREATE TABLE AND OR NOT NULL AS LIMIT"
  ).split(" "),
);

const hashComments = /^(py|python|sh|bash|zsh|shell|console|rb|ruby|r|yaml|yml|toml|ini|make|makefile|cmake|dockerfile|perl|pl|julia|jl|nim|elixir|ex)$/;
const dashComments = /^(sql|lua|haskell|hs|ada|elm)$/;
const uncolored = /^(|text|txt|plain|plaintext|markdown|md|diff|html|xml|svg|tex|latex|output|log)$/;

/** Splits a program into parts for coloring. It knows what languages have in common, and no grammar. */
export function highlight(text: string, language: string): Part[] {
  const name = language.toLowerCase();
  if (uncolored.test(name)) return [{ kind: "", text }];
  const comment = hashComments.test(name) ? "#.*" : dashComments.test(name) ? "--.*" : "//.*|/\\*[^]*?(?:\\*/|$)";
  // No alternative begins like another, and each goes on to its end: the time is linear.
  const pattern = new RegExp(
    `(${comment})` +
      '|("""[^]*?(?:"""|$)|"(?:[^"\\\\\\n]|\\\\.)*"?|\'(?:[^\'\\\\\\n]|\\\\.)*\'?|`(?:[^`\\\\]|\\\\[^])*`?)' +
      "|(\\b\\d[\\w.]*)" +
      "|([A-Za-z_$][\\w$]*)",
    "g",
  );
  const parts: Part[] = [];
  const add = (kind: Part["kind"], part: string) => {
    const last = parts[parts.length - 1];
    if (last && last.kind === kind) last.text += part;
    else if (part !== "") parts.push({ kind, text: part });
  };
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    add("", text.slice(from, match.index));
    from = match.index! + match[0].length;
    const [whole, isComment, isString, isNumber] = match;
    if (isComment !== undefined) add("comment", whole);
    else if (isString !== undefined) add("string", whole);
    else if (isNumber !== undefined) add("number", whole);
    else if (keywords.has(whole)) add("keyword", whole);
    else add(text[from] === "(" ? "call" : "", whole);
  }
  add("", text.slice(from));
  return parts;
}
