// Runs the tests of the page's parts that need no browser: node test/unit.mjs
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const folder = path.dirname(fileURLToPath(import.meta.url));
const output = await mkdtemp(path.join(tmpdir(), "llmir-web-"));
try {
  const tests = (await readdir(folder)).filter((name) => name.endsWith(".test.ts"));
  await esbuild.build({
    entryPoints: tests.map((name) => path.join(folder, name)),
    outdir: output,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    logLevel: "warning",
  });
  const built = (await readdir(output)).map((name) => path.join(output, name));
  process.exitCode = spawnSync(process.execPath, ["--test", ...built], { stdio: "inherit" }).status ?? 1;
} finally {
  await rm(output, { recursive: true });
}
