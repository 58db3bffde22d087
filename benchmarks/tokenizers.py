#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed of encoding on one core, next to Hugging Face's library in Rust, in the same run.

    tokenizers.py --work DIR [--probe PROGRAM] [--text FILE] [--rounds N] FOLDER...

Each FOLDER has a tokenizer.json. The text is FILE, by default all pages of the documentation. Also
measured are runs of 1 MiB of one class of characters. The library is the npm package `tokenizers`,
installed in DIR; without npm only LLMIR is measured. Times are those of the processor, the best of
all rounds, which alternate.
"""
import argparse
import glob
import json
import os
import random
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROBE = os.path.join(ROOT, "build", "bin", "tests", "llmir-tokenizer-probe")
RUN_BYTES = 1 << 20

REFERENCE = r"""
const { Tokenizer } = require('tokenizers');
const [file, textFile, seconds] = process.argv.slice(1);
const text = require('fs').readFileSync(textFile, 'utf8');
const tokenizer = Tokenizer.fromFile(file);
const now = () => { const t = process.cpuUsage(); return (t.user + t.system) / 1e6; };
(async () => {
  const start = now();
  let best = Infinity, ids = 0;
  for (let run = 0; run < 2 || now() - start < Number(seconds); ++run) {
    const begin = now();
    ids = (await tokenizer.encode(text)).getLength();
    best = Math.min(best, now() - begin);
  }
  console.log(JSON.stringify({ bytes: Buffer.byteLength(text), ids, seconds: best }));
})();
"""


def runs():
    """Texts of about 1 MiB by name: one character, or random ones of a class."""
    random.seed(1)
    classes = {
        "A": "A", "space": " ", "dot": ".", "line feed": "\n", "ideograph": "\u4e2d", "mark": "\u0301",
        "letters": "abcdefghijklmnopqrstuvwxyz", "digits": "0123456789", "punctuation": "!?.,;:-/()[]{}",
        "white space": " \n\t\r", "Cyrillic": "".join(map(chr, range(0x430, 0x450))),
        "ideographs": "".join(map(chr, range(0x4e00, 0x9fa5)))}
    for name, letters in classes.items():
        size = len(letters[0].encode("utf-8"))
        yield name, "".join(random.choices(letters, k=RUN_BYTES // size))


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.write(text)
    return path


def documentation():
    pages = sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))
    texts = []
    for page in pages:
        with open(page, encoding="utf-8") as source:
            texts.append(source.read())
    return "\n".join(texts)


def json_of(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit("%s ended with %d: %s" % (command[0], done.returncode, done.stderr.strip()[-600:]))
    return json.loads(done.stdout)


def install_reference(work):
    """Whether the reference can be measured."""
    if not shutil.which("npm") or not shutil.which("node"):
        print("npm is not installed: only LLMIR is measured", file=sys.stderr)
        return False
    if not os.path.isdir(os.path.join(work, "node_modules", "tokenizers")):
        done = subprocess.run(["npm", "install", "--silent", "--prefix", work, "tokenizers"], check=False)
        if done.returncode != 0:
            print("npm cannot install the package tokenizers: only LLMIR is measured", file=sys.stderr)
            return False
    return True


class Bench:
    def __init__(self, options):
        self.options = options
        self.has_reference = install_reference(options.work)

    def own(self, folder, text, seconds=1.0):
        return json_of([self.options.probe, folder, "--time", text, str(seconds)])

    def reference(self, folder, text):
        environment = dict(os.environ, NODE_PATH=os.path.join(self.options.work, "node_modules"),
                           RAYON_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")
        return json_of(["node", "-e", REFERENCE, os.path.join(folder, "tokenizer.json"), text, "1"],
                       env=environment)

    def row(self, folder, text, run_files):
        own, reference = None, None
        for _ in range(self.options.rounds):
            result = self.own(folder, text)
            own = min(own or result, result, key=lambda r: r["seconds"])
            if self.has_reference:
                result = self.reference(folder, text)
                reference = min(reference or result, result, key=lambda r: r["seconds"])
        slowest = max(((self.own(folder, path, 0.5)["seconds"], name) for name, path in run_files))
        speed = own["bytes"] / own["seconds"] / 1e6
        cells = [os.path.basename(os.path.normpath(folder)), "%.1f" % speed]
        if reference:
            other = reference["bytes"] / reference["seconds"] / 1e6
            same = "" if reference["ids"] == own["ids"] else " (other ids)"
            cells += ["%.1f%s" % (other, same), "%.1f" % (speed / other)]
        else:
            cells += ["–", "–"]
        cells.append("%.0f ms (%s)" % (slowest[0] * 1000, slowest[1]))
        return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True, help="directory for the npm package and the texts")
    parser.add_argument("--probe", default=PROBE, help="llmir-tokenizer-probe of the build")
    parser.add_argument("--text", help="text to encode")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    text = options.text or write(os.path.join(options.work, "documentation.txt"), documentation())
    run_files = [(name, write(os.path.join(options.work, "run-%d.txt" % i), content))
                 for i, (name, content) in enumerate(runs())]
    bench = Bench(options)
    print("| tokenizer | LLMIR MB/s | Hugging Face MB/s | ratio | slowest run of 1 MiB |")
    print("|---|---|---|---|---|")
    for folder in options.folders:
        print("| %s |" % " | ".join(bench.row(folder, text, run_files)), flush=True)


if __name__ == "__main__":
    main()
