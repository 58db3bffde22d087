#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ORG/NAME as MODEL, from a cache that is laid out as the Hub's own client writes it. No network is used.

    models.py --llmir PROGRAM --work DIR
"""

import hashlib
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

from hub_checks import Puller, is_one_line  # noqa: E402
from hub_server import COMMIT, HubServer, Large, git_hash  # noqa: E402
from checks import Checks, fresh_folder, quick_level, work_parser  # noqa: E402
import make_tiny  # noqa: E402

OLD = "9" * 40  # Another commit.

check = Checks()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as stream:
        stream.write(data)


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def lay_out(folder, files, commit=COMMIT, branch="main"):
    """Writes what snapshot_download writes."""
    for path, data in files.items():
        blob = hashlib.sha256(data).hexdigest() if isinstance(data, Large) else git_hash(data)
        write(os.path.join(folder, "blobs", blob), data)
        link = os.path.join(folder, "snapshots", commit, path)
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink("../" * path.count("/") + "../../blobs/" + blob, link)
    write(os.path.join(folder, "refs", branch), commit.encode())
    write(os.path.join(folder, ".no_exist", commit, "adapter_config.json"), b"")
    write(os.path.join(folder, "trees", commit + ".json"), b'{"format_version": 1, "files": {}}')


class Cached:
    """A cache with a model as safetensors and as GGUF, also in two parts."""

    def __init__(self, pull, work):
        config, weights = make_tiny.make("llama")
        folder = os.path.join(work, "hf")
        make_tiny.write_hf(folder, config, weights)
        demo = os.path.join(ROOT, "models", "demo")
        self.files = {name: read(os.path.join(folder, name)) for name in os.listdir(folder)}
        self.files["model.safetensors"] = Large(self.files["model.safetensors"])
        gguf = {}
        for form in ("q8_0", "f32"):
            path = os.path.join(work, form + ".gguf")
            make_tiny.write_gguf(path, config, weights, form)
            gguf["tiny-%s.gguf" % form.upper()] = Large(read(path))
        self.gguf = gguf
        self.path = folder
        lay_out(pull.folder("org/tiny"), self.files)
        lay_out(pull.folder("org/tiny-GGUF"), gguf)
        self.tokenizer = {name: read(os.path.join(demo, name)) for name in os.listdir(demo)
                          if name.startswith("tokenizer")}
        lay_out(pull.folder("org/tokens"), dict(self.tokenizer, **{"sub/config.json": b"{}"}))


def check_names(llmir, pull, cached):
    plain = llmir("inspect", cached.path, "--json")
    for name in ("org/tiny", "org/tiny@main", "org/tiny@" + COMMIT):
        answer = llmir.run("inspect", name, "--json")
        check("inspect " + name, answer.code == 0 and json.loads(answer.out)["tensors"] == json.loads(plain)["tensors"],
              answer)
    for name in ("org/tiny-GGUF:Q8_0", "org/tiny-GGUF:q8_0", "org/tiny-GGUF:tiny-Q8_0.gguf"):
        answer = llmir.run("inspect", name, "--json")
        check("inspect " + name, answer.code == 0 and "q8_0" in answer.out, answer)
    ids = llmir.run("tokenize", "org/tokens:tokenizer.json", "In the beginning")
    check("tokenize with a file", ids.code == 0 and "," in ids.out, ids)
    answer = llmir.run("doctor", "org/tiny-GGUF:F32", "--json")
    check("doctor", answer.code == 0 or "org/" not in answer.err, answer)


def check_failures(llmir, pull, cached):
    pull.hub.reset()
    cases = [
        ("org/absent", ["No such file or directory", "`llmir pull org/absent`"]),
        ("org/tiny@dev", ["no revision 'dev'", "`llmir pull org/tiny@dev`"]),
        ("org/tiny@" + "8" * 40, ["no revision", "`llmir pull"]),
        ("org/tiny-GGUF", ["has 2 models", "Q8_0", "F32"]),
        ("org/tiny-GGUF:Q4_K_M", ["'Q4_K_M'", "Q8_0", "`llmir pull org/tiny-GGUF:Q4_K_M`"]),
        ("org/tokens", ["model.safetensors", "`llmir pull org/tokens`"]),
        ("tiny.gguf", ["tiny.gguf"]),
        ("./org/tiny", ["No such file"]),
        ("/org/tiny", ["No such file"]),
    ]
    for command in (["inspect"], ["doctor"], ["compile", "-o", os.path.join(pull.work, "x.llmir")], ["run"], ["bench"],
                    ["perplexity", "--ids", "1,2"], ["export", "-o", os.path.join(pull.work, "x.onnx")]):
        for name, needles in cases:
            if command[0] == "doctor" and name != "org/absent":
                continue  # It examines the machine as well.
            offline = "1" if command[0] in ("inspect", "doctor") else "0"
            answer = llmir.run(command[0], name, *command[1:], stdin=b"text", HF_HUB_OFFLINE=offline)
            check("%s %s" % (command[0], name), all(needle in answer.out for needle in needles)
                  if command[0] == "doctor" else is_one_line(answer, *needles), answer)
    check("no network is used", not pull.hub.requests, pull.hub.requests)

    broken = os.path.join(pull.snapshot("org/tiny"), "model.safetensors")
    blob = os.path.realpath(broken)
    os.rename(blob, blob + ".incomplete")
    answer = llmir.run("inspect", "org/tiny", HF_HUB_OFFLINE="1")
    check("a broken link is a missing file", is_one_line(answer, "model.safetensors", "`llmir pull org/tiny`"), answer)
    os.rename(blob + ".incomplete", blob)
    refs = os.path.join(pull.folder("org/tiny"), "refs", "main")
    for text in (b"", b"../../../etc", b"x" * 40, b"0" * 5000):
        write(refs, text)
        answer = llmir.run("inspect", "org/tiny", HF_HUB_OFFLINE="1")
        check("a reference of %d bytes" % len(text), is_one_line(answer, "`llmir pull org/tiny`"), answer)
    write(refs, OLD.encode())
    answer = llmir.run("inspect", "org/tiny", HF_HUB_OFFLINE="1")
    check("a reference to an absent snapshot", is_one_line(answer, "`llmir pull org/tiny`"), answer)
    write(refs, COMMIT.encode())


def check_headers(llmir, pull, cached):
    """Before a download, inspect and doctor read headers by range."""
    pull.hub.reset()
    weights = bytes(cached.files["model.safetensors"]) + bytes(40 << 20)
    header = json.loads(weights[8:8 + int.from_bytes(weights[:8], "little")])
    start = max(value["data_offsets"][1] for name, value in header.items() if name != "__metadata__")
    header["extra"] = {"dtype": "U8", "shape": [40 << 20], "data_offsets": [start, start + (40 << 20)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    weights = Large(len(text).to_bytes(8, "little") + text + weights[8 + int.from_bytes(weights[:8], "little"):])
    pull.hub.add("org/remote", dict(cached.files, **{"model.safetensors": weights}))
    answer = llmir.run("inspect", "org/remote", "--json")
    plain = json.loads(llmir("inspect", cached.path, "--json"))
    check("inspect reads headers", answer.code == 0 and answer.err.count("\n") == 1 and "is not downloaded" in answer.err
          and [t for t in json.loads(answer.out)["tensors"] if t["name"] != "extra"] == plain["tensors"]
          and pull.hub.sent_bytes("/store/") < 1 << 20 and not os.path.exists(pull.folder("org/remote")), answer)
    check("under the model's name", json.loads(answer.out)["model"]["name"] == "remote", answer)
    answer = llmir.run("doctor", "org/remote")
    check("doctor reads headers", "42." in answer.out and "not downloaded" in answer.err, answer)
    pull.hub.add("org/remote-GGUF", cached.gguf)
    answer = llmir.run("inspect", "org/remote-GGUF:Q8_0", "--json")
    plain = llmir.run("inspect", "org/tiny-GGUF:Q8_0", "--json")
    check("inspect reads the headers of GGUF", answer.code == 0 and answer.out == plain.out, answer)
    for name, data in (("a long header", (1 << 60).to_bytes(8, "little")), ("a short file", b"x"), ("no file", b"")):
        pull.hub.add("org/bad", dict(cached.files, **{"model.safetensors": Large(data)}))
        answer = llmir.run("inspect", "org/bad")
        check("inspect " + name, answer.code == 1 and "model.safetensors" in answer.err, answer)
    pull.hub.reset()
    pull.hub.fault("/store/", times=9, no_ranges=True)
    answer = llmir.run("inspect", "org/remote")
    check("a server without ranges", is_one_line(answer, "no parts", "llmir pull"), answer)
    answer = llmir.run("inspect", "org/unknown")
    check("a model that nobody knows", is_one_line(answer, "org/unknown", "No such file", "401"), answer)
    left = [name for name in os.listdir(os.path.join(pull.work, "tmp"))]
    check("no temporary files are left", not left, left)


def check_paths(llmir, pull, cached):
    """An existing path is what it says, whatever the cache has."""
    there = os.path.join(pull.work, "there")
    os.makedirs(os.path.join(there, "org"))
    shutil.copytree(cached.path, os.path.join(there, "org", "absent"))
    before = os.getcwd()
    os.chdir(there)
    try:
        check("an existing path wins", llmir.run("inspect", "org/absent").code == 0)
        os.mkdir(os.path.join("org", "tiny"))
        answer = llmir.run("inspect", "org/tiny")
        check("even over the cache", answer.code == 1 and "config.json" in answer.err, answer)
    finally:
        os.chdir(before)


def check_pull(llmir, pull, cached):
    """What is in the cache is not downloaded; what a pull adds has the same form."""
    pull.hub.reset()
    pull.hub.add("org/tiny", dict(cached.files, **{"tokenizer.json": cached.tokenizer["tokenizer.json"]}))
    answer = pull("org/tiny")
    check("only what is missing is downloaded", answer.code == 0 and pull.hub.count("/resolve/") == 1 and
          pull.hub.count("tokenizer.json") == 2, (answer, pull.hub.requests))
    check("in the same form", pull.has("org/tiny", dict(cached.files, **{
        "tokenizer.json": cached.tokenizer["tokenizer.json"]})))
    newer = "5" * 40
    pull.hub.add("org/tiny", dict(cached.files, **{"config.json": cached.files["config.json"] + b"\n"}), commit=newer)
    pull.hub.reset()
    answer = pull("org/tiny")
    check("a new commit shares its blobs", answer.code == 0 and pull.hub.count("/resolve/") == 1 and
          read(os.path.join(pull.folder("org/tiny"), "refs", "main")) == newer.encode() and
          os.path.isfile(pull.snapshot("org/tiny", "model.safetensors")), answer)
    # Files of the same content have one blob.
    pull.hub.add("org/twice", {"config.json": b"{}", "generation_config.json": b"{}", "model.safetensors": Large(b"w")})
    answer = pull("org/twice")
    check("equal files", answer.code == 0 and len(pull.blobs("org/twice")) == 2, answer)


def check_compiling(llmir, pull, cached):
    """The key of a compiled model is that of the files, not of the links."""
    for name in ("org/tiny", "org/tiny-GGUF:Q8_0"):
        artifact = os.path.join(pull.work, "tiny.llmir")
        answer = llmir.run("compile", name, "-o", artifact, "--target", quick_level())
        check("compile " + name, answer.code == 0, answer)
        first = llmir.run("run", name, "--prompt-ids", "1,2", "-n", "4", "--json", "--level", quick_level())
        check("run " + name, first.code == 0, first)
        again = llmir.run("run", name, "--prompt-ids", "1,2", "-n", "4", "--json", "--level", quick_level())
        check("run %s from the cache" % name, again.code == 0 and json.loads(again.out)["timings"]["compile_ms"] == 0
              and json.loads(again.out)["ids"] == json.loads(first.out)["ids"], again)


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    with HubServer() as hub:
        pull = Puller(options.llmir, options.work, hub)
        llmir = pull.llmir
        llmir.environment["TMPDIR"] = os.path.join(pull.work, "tmp")
        os.mkdir(llmir.environment["TMPDIR"])
        cached = Cached(pull, options.work)
        check_names(llmir, pull, cached)
        check_failures(llmir, pull, cached)
        check_headers(llmir, pull, cached)
        check_paths(llmir, pull, cached)
        check_compiling(llmir, pull, cached)
        check_pull(llmir, pull, cached)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
