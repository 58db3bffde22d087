// Builds the page into one file, dist/index.html: node build.mjs [FILE]
//
// The policy in the page allows exactly the script and the style sheet that are in it, by their hashes, and connections to
// the server that the page came from. The same sources and locked packages give the same bytes.
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const root = path.dirname(fileURLToPath(import.meta.url));
const mostBytes = 150 * 1024;

async function bundle(entry) {
  const result = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: ["chrome102", "firefox112", "safari15.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

/** `</script>` in a string would end the script. */
function insideScript(text) {
  return text.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
}

function hash(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** What the page is built from. test/Server/web_page.py computes the same, so that an old page is noticed without npm. */
async function sourcesHash() {
  const found = await readdir(path.join(root, "src"), { withFileTypes: true });
  const folders = found.filter((entry) => entry.isDirectory()).map((entry) => `src/${entry.name}`);
  const files = ["build.mjs", "package-lock.json"];
  for (const folder of ["src", ...folders])
    for (const entry of await readdir(path.join(root, folder), { withFileTypes: true }))
      if (entry.isFile()) files.push(`${folder}/${entry.name}`);
  const sum = createHash("sha256");
  for (const file of files.sort()) sum.update(`${file}\n`).update(await readFile(path.join(root, file)));
  return sum.digest("hex");
}

const license = (await readFile(path.join(root, "node_modules/preact/LICENSE"), "utf8")).trim();
const notice = `/* LLMIR's page: Apache-2.0 WITH LLVM-exception. It contains Preact:\n\n${license}\n*/\n`;
const script = notice + insideScript(await bundle("src/main.tsx"));
const style = await bundle("src/style.css");
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");
const parts = { POLICY: policy, STYLE: style, SCRIPT: script, SOURCES: await sourcesHash() };
const template = await readFile(path.join(root, "src/index.html"), "utf8");
const page = template.replace(/@(\w+)@/g, (_, name) => parts[name]);
if (Buffer.byteLength(page) > mostBytes) throw new Error(`the page has ${Buffer.byteLength(page)} bytes, the limit is ${mostBytes}`);

const file = process.argv[2] ?? path.join(root, "dist/index.html");
await mkdir(path.dirname(file), { recursive: true });
await writeFile(file, page);
console.log(`${path.relative(process.cwd(), file)}: ${Buffer.byteLength(page)} bytes`);
