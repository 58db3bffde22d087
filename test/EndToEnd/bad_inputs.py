#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the llmir command with invalid input and checks the errors.

    bad_inputs.py --work DIR --llmir PROGRAM [GROUP]...

Groups: folders (Hugging Face), gguf, requests, artifacts. Each case must end soon with exit code 1,
print nothing to stdout and one line to stderr that starts with "llmir: ", contains the texts of the
case (the file and the field) and a hint after a semicolon, and must not leave new files.
"""

import ctypes
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402

# For a busy machine; on an idle one each case takes a fraction of a second.
MOST_SECONDS = 20


def read_bytes(path):
    with open(path, "rb") as stream:
        return stream.read()


def write_bytes(path, data):
    with open(path, "wb") as stream:
        stream.write(data)


def files_below(*folders):
    """Every file that a failed command might leave, except for empty locks."""
    return {os.path.join(place, name) for folder in folders for place, _, names in os.walk(folder)
            for name in names if not name.endswith(".lock")}


class Suite:
    def __init__(self, llmir, work):
        self.work = work
        self.cache = os.path.join(work, "cache")
        self.outputs = os.path.join(work, "outputs")
        self.llmir = Command(llmir, self.cache)
        self.check = Checks(shows_all=True)
        fresh_folder(work)
        os.makedirs(self.outputs)

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def refuse(self, name, arguments, *needles, code=1):
        """Runs a command that must fail as described in the module's docstring."""
        before = files_below(self.cache, self.outputs)
        start = time.time()
        try:
            result = self.llmir.run(*arguments, timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            return self.check(name, False, "took more than %d s" % MOST_SECONDS)
        seconds = time.time() - start
        problems = []
        lines = result.err.splitlines()
        if result.code != code:
            problems.append("exit code %d" % result.code)
        if result.data:
            problems.append("stdout is not empty: %r" % result.data[:80])
        if len(lines) != 1:
            problems.append("%d lines on stderr" % len(lines))
        text = "\n".join(lines)
        if not text.startswith("llmir: "):
            problems.append("the line does not begin with 'llmir: '")
        if "; " not in text:
            problems.append("no advice")
        problems += ["%r is not named" % needle for needle in needles if needle not in text]
        left = files_below(self.cache, self.outputs) - before
        if left:
            problems.append("left behind: %s" % ", ".join(sorted(left)))
        self.check(name, not problems, "\n     ".join(["; ".join(problems) or "%.2f s" % seconds, text]))


# --- Hugging Face model directories ---------------------------------------------------------------------


def change_header(path, change):
    """Applies `change` to the parsed header of a safetensors file and writes it again."""
    data = read_bytes(path)
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length].decode("utf-8"))
    body = change(header, data[8 + length:])
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    write_bytes(path, struct.pack("<Q", len(text)) + text + body)


def change_json(path, change):
    with open(path, encoding="utf-8") as stream:
        data = json.load(stream)
    change(data)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(data, stream)


UP = "model.layers.1.mlp.up_proj.weight"
QUERY = "model.layers.0.self_attn.q_proj.weight"


def drop_tensor(header, body):
    """Removes the last tensor with its bytes, so that the file is valid."""
    entries = sorted((e["data_offsets"], n) for n, e in header.items() if n != "__metadata__")
    gone = header.pop(UP)["data_offsets"]
    size = gone[1] - gone[0]
    for offsets, name in entries:
        if name != UP and offsets[0] >= gone[1]:
            header[name]["data_offsets"] = [offsets[0] - size, offsets[1] - size]
    return body[:gone[0]] + body[gone[1]:]


def add_tensor(header, body):
    header["model.layers.0.extra.weight"] = {
        "dtype": "F32", "shape": [4], "data_offsets": [len(body), len(body) + 16]}
    return body + bytes(16)


def edit(**fields):
    """A change of the entry of UP."""
    def change(header, body):
        header[UP].update(fields)
        return body
    return change


def reshape(header, body):
    header[UP]["shape"].reverse()
    return body


def overlap(header, body):
    header[UP]["data_offsets"] = header["model.layers.0.mlp.up_proj.weight"]["data_offsets"]
    return body


def folder_cases(suite):
    config, weights = make_tiny.make("llama3")
    good = suite.path("good")
    make_tiny.write_hf(good, config, weights)
    weights_file = "model.safetensors"

    def header_of(folder, change):
        change_header(os.path.join(folder, weights_file), change)

    def config_of(folder, change):
        change_json(os.path.join(folder, "config.json"), change)

    def patch(folder, offset, data):
        path = os.path.join(folder, weights_file)
        old = read_bytes(path)
        write_bytes(path, old[:offset] + data + old[offset + len(data):])

    def truncate(folder):
        path = os.path.join(folder, weights_file)
        write_bytes(path, read_bytes(path)[:-1000])

    cases = [
        ("truncated file", truncate, (weights_file,)),
        ("file of 3 bytes", lambda f: write_bytes(os.path.join(f, weights_file), b"abc"),
         (weights_file,)),
        ("empty file", lambda f: write_bytes(os.path.join(f, weights_file), b""), (weights_file,)),
        ("header length past the end", lambda f: patch(f, 0, struct.pack("<Q", 1 << 40)),
         (weights_file, str(1 << 40))),
        ("header length that wraps", lambda f: patch(f, 0, b"\xff" * 8), (weights_file,)),
        ("header is not UTF-8", lambda f: patch(f, 20, b"\xff\xfe"), (weights_file,)),
        ("header is not JSON", lambda f: patch(f, 8, b"["), (weights_file,)),
        ("overlapping tensors", lambda f: header_of(f, overlap), (weights_file,)),
        ("hole between tensors",
         lambda f: header_of(f, lambda h, b: h.pop(UP) and b), (weights_file,)),
        ("shape product overflow", lambda f: header_of(f, edit(shape=[1 << 62, 1 << 62])),
         (weights_file, UP)),
        ("negative size", lambda f: header_of(f, edit(shape=[-1, 64])), (weights_file, UP)),
        ("unknown dtype", lambda f: header_of(f, edit(dtype="Q7")), (weights_file, UP, "Q7")),
        ("no weights", lambda f: os.remove(os.path.join(f, weights_file)), (weights_file,)),
        ("no config", lambda f: os.remove(os.path.join(f, "config.json")), ("config.json",)),
        ("config is not JSON",
         lambda f: write_bytes(os.path.join(f, "config.json"), b"{hidden_size"), ("config.json",)),
        ("config nested too deep",
         lambda f: write_bytes(os.path.join(f, "config.json"), b"[" * 100000), ("config.json",)),
        ("config is not UTF-8",
         lambda f: write_bytes(os.path.join(f, "config.json"), b'{"a": "\xff"}'), ("config.json",)),
        ("config without a needed key", lambda f: config_of(f, lambda c: c.pop("hidden_size")),
         ("config.json", "hidden_size")),
        ("key of the wrong type", lambda f: config_of(f, lambda c: c.update(hidden_size="big")),
         ("config.json", "hidden_size")),
        ("negative layers", lambda f: config_of(f, lambda c: c.update(num_hidden_layers=-1)),
         ("config.json", "num_hidden_layers")),
        ("heads that do not divide", lambda f: config_of(
            f, lambda c: c.update(num_key_value_heads=3)), ("config.json", "num_key_value_heads")),
        ("unknown architecture", lambda f: config_of(
            f, lambda c: c.update(model_type="mamba", architectures=["MambaForCausalLM"])),
         ("config.json", "mamba")),
    ]
    # Checked by the frontend: the tensors of a model.
    compile_only = [
        ("missing tensor", lambda f: header_of(f, drop_tensor), (UP,)),
        ("extra tensor", lambda f: header_of(f, add_tensor), ("model.layers.0.extra.weight",)),
        ("wrong shape", lambda f: header_of(f, reshape), (UP, "64", "192")),
    ]
    for name, change, needles in cases + compile_only:
        folder = suite.path("case")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(good, folder)
        change(folder)
        output = os.path.join(suite.outputs, "out.llmir")
        commands = [("compile", ["compile", folder, "-o", output]),
                    ("run", ["run", folder, "--prompt-ids", "1,2", "-n", "2"])]
        if (name, change, needles) in cases:
            commands.append(("inspect", ["inspect", folder]))
        for command, arguments in commands:
            suite.refuse("%s: %s" % (command, name), arguments, *needles)
    index_cases(suite, config, weights)


def index_cases(suite, config, weights):
    good = suite.path("sharded")
    make_tiny.write_hf(good, config, weights, shards=3)
    index = "model.safetensors.index.json"

    def shard_of(name):
        return lambda data: data["weight_map"].update({UP: name})

    cases = [
        ("missing shard", "model-00009-of-00003.safetensors"),
        ("shard outside the directory", "../good/model.safetensors"),
        ("shard by absolute path", os.path.join(suite.path("good"), "model.safetensors")),
    ]
    for name, shard in cases:
        folder = suite.path("case")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(good, folder)
        change_json(os.path.join(folder, index), shard_of(shard))
        suite.refuse("inspect: %s" % name, ["inspect", folder], os.path.basename(shard))


# --- GGUF ---------------------------------------------------------------------------------------


def gguf_cases(suite):
    config, weights = make_tiny.make("llama3")
    good = suite.path("good.gguf")
    make_tiny.write_gguf(good, config, weights, "q8_0")
    data = read_bytes(good)
    first = data.index(b"token_embd.weight")  # Name, u32 dimensions, u64 sizes, u32 type, u64 offset.
    entry = first + len(b"token_embd.weight")
    key = data.index(b"llama.embedding_length")

    def at(offset, replacement):
        return data[:offset] + replacement + data[offset + len(replacement):]

    cases = [
        ("truncated file", data[:-500], ()),
        ("truncated in the keys", data[:100], ()),
        ("no magic", at(0, b"GGML"), ()),
        ("version 99", at(4, struct.pack("<I", 99)), ("99",)),
        ("tensor count 2^63", at(8, struct.pack("<Q", 1 << 63)), ()),
        ("key count 2^60", at(16, struct.pack("<Q", 1 << 60)), ()),
        ("key length past the end", at(24, struct.pack("<Q", 1 << 50)), ()),
        ("unknown value type", at(key + len(b"llama.embedding_length"), struct.pack("<I", 77)),
         ("llama.embedding_length", "77")),
        ("missing key", at(key, b"llama.embedding_lengtX"), ("llama.embedding_length",)),
        ("unknown architecture", data.replace(b"\x05\x00\x00\x00\x00\x00\x00\x00llama",
                                              b"\x05\x00\x00\x00\x00\x00\x00\x00mamba", 1),
         ("general.architecture", "mamba")),
        ("key is not UTF-8", at(key, b"\xff\xfe"), ()),
        ("shape product overflow", at(entry + 4, struct.pack("<QQ", 1 << 62, 1 << 62)),
         ("token_embd.weight",)),
        ("65535 dimensions", at(entry, struct.pack("<I", 65535)), ("token_embd.weight",)),
        ("unknown tensor type", at(entry + 20, struct.pack("<I", 200)),
         ("token_embd.weight", "200")),
        ("tensor past the end", at(entry + 24, struct.pack("<Q", 1 << 40)),
         ("token_embd.weight",)),
        ("empty file", b"", ()),
    ]
    path = suite.path("case.gguf")
    for name, content, needles in cases:
        write_bytes(path, content)
        output = os.path.join(suite.outputs, "out.llmir")
        for command, arguments in (("inspect", ["inspect", path]),
                                   ("compile", ["compile", path, "-o", output])):
            suite.refuse("%s: gguf: %s" % (command, name), arguments, "case.gguf", *needles)


# --- requests -------------------------------------------------------------------------------------


def request_cases(suite):
    config, weights = make_tiny.make("llama3")
    model = suite.path("good")
    make_tiny.write_hf(model, config, weights)
    artifact = compiled(suite, model)
    long_prompt = ",".join(["5"] * (config.max_positions + 1))
    output = os.path.join(suite.outputs, "out")
    weights_alone = os.path.join(model, "model.safetensors")
    for name, arguments, needles in (
            ("prompt longer than the context", ["run", artifact, "--prompt-ids", long_prompt],
             (str(config.max_positions + 1), str(config.max_positions))),
            ("prompt longer than --ctx", ["run", artifact, "--ctx", "8", "--prompt-ids",
                                          "1,2,3,4,5,6,7,8,9"], ("9", "8")),
            ("--ctx above the model's", ["run", artifact, "--ctx", "100000", "--prompt-ids", "1"],
             ("100000", str(config.max_positions))),
            ("token outside the vocabulary", ["run", artifact, "--prompt-ids", "1,%d" % config.vocab],
             (str(config.vocab),)),
            ("text for a model without tokenizer", ["run", artifact, "hello"], ("tokenizer",)),
            ("no such file", ["run", suite.path("nowhere")], ("nowhere",)),
            ("a directory without a model", ["run", suite.outputs, "hello"], ("has no config.json", "give a Hugging Face")),
            ("weights alone", ["run", weights_alone], ("contains only weights", "give the directory that contains it")),
            ("weights alone, inspected", ["inspect", weights_alone], ("contains only weights",)),
            ("weights alone, for a tokenizer", ["tokenize", weights_alone, "a"], ("contains only weights",)),
            ("another file of a model", ["run", os.path.join(model, "config.json")], ("is not a checkpoint",)),
            ("no such text", ["perplexity", artifact, "-f", suite.path("nowhere")], ("nowhere",)),
            ("ids outside the vocabulary", ["perplexity", artifact, "--ids", "1,9999", "--logits",
                                            output], ("9999",)),
            # It is an input of one step, and scored in another.
            ("an id outside the vocabulary after the first step",
             ["perplexity", artifact, "--ids", ",".join(["1"] * 64 + ["9999"])], ("9999",)),
            ("ids that are words", ["perplexity", artifact, "--ids", "one,two"], ("one",)),
            ("logits into a missing directory", ["perplexity", artifact, "--ids", "1,2", "--logits",
                                              os.path.join(output, "x.npy")], ("x.npy",)),
            ("artifact into a missing directory", ["compile", model, "-o",
                                                os.path.join(output, "x.llmir"), "--target", quick_level()], ("x.llmir",)),
            ("artifact over a directory", ["compile", model, "-o", suite.outputs, "--target", quick_level()], ("outputs",)),
            ("artifact compiled again", ["compile", artifact, "-o", output], ("already compiled",)),
            ("--kv of another artifact", ["run", artifact, "--kv", "bf16", "--prompt-ids", "1"],
             ("--kv", "bf16")),
            ("bench beyond the context", ["bench", artifact, "-p", "100000", "-n", "0"],
             ("100000", str(config.max_positions))),
            ("cache directory is a file", ["run", model, "--prompt-ids", "1", "--cache-dir", artifact],
             (artifact,)),
    ):
        suite.refuse(name, arguments, *needles)
    # Errors that depend on the flags only are wrong usage.
    for name, arguments, *needles in (
            ("unknown target", ["compile", model, "-o", output, "--target", "pdp11"], "pdp11"),
            ("unknown quantization", ["compile", model, "-o", output, "--quantize", "q3"], "q3"),
            ("unknown scheme of a recipe", ["compile", model, "-o", output, "--recipe", "foo=bar"],
             "bar"),
            ("a vast token budget", ["compile", model, "-o", output, "--token-budget", "999999999"],
             "999999999", "65536"),
            ("unknown level", ["run", model, "--prompt-ids", "1", "--level", "pdp11"], "pdp11"),
            ("unknown quantization of a run", ["run", model, "--prompt-ids", "1", "--quantize", "q3"],
             "q3"),
            ("unknown level of a bench", ["bench", model, "--level", "pdp11"], "pdp11"),
            ("too many threads", ["run", artifact, "--prompt-ids", "1", "-t", "100000"],
             "100000 worker threads", "1 to 1024, or 0 for one per processor"),
    ):
        suite.refuse(name, arguments, *needles, code=2)
    suite.refuse("an export beyond the context",
                 ["export", model, "-o", output + ".onnx", "--tokens", "9999999999999"],
                 "9999999999999", str(config.max_positions))
    reference_cases(suite, artifact, config.vocab)


def reference_cases(suite, artifact, vocabulary):
    """perplexity --kl-base of files that are not the reference's logits for these two ids."""
    def saved(array):
        stream = io.BytesIO()
        np.save(stream, array)
        return stream.getvalue()

    right = np.zeros((2, vocabulary), np.float32)
    whole, bad = saved(right), right.copy()
    bad[1, 3] = np.nan
    path = suite.path("base.npy")
    for name, content, needle in (
            ("no NumPy file", b"logits", "not a NumPy file"),
            ("empty", b"", "not a NumPy file"),
            ("header past the end", whole[:8] + b"\xff\xff" + whole[10:200], "not a NumPy file"),
            ("rows cut off", whole[:-4], "inside its rows"),
            ("another number of tokens", saved(right[:1]), "float32 [2,%d]" % vocabulary),
            ("another vocabulary", saved(right[:, 1:]), "float32 [2,%d]" % vocabulary),
            ("float64", saved(right.astype(np.float64)), "<f8"),
            ("columns first", saved(np.asfortranarray(right)), "'fortran_order':True"),
            ("not a number", saved(bad), "row 1 has a value that is not finite")):
        write_bytes(path, content)
        suite.refuse("--kl-base: " + name, ["perplexity", artifact, "--ids", "1,2", "--kl-base",
                                            path], "base.npy", needle)


# --- artifacts ------------------------------------------------------------------------------------


def compiled(suite, model):
    artifact = suite.path("good.llmir")
    suite.llmir("compile", model, "-o", artifact, "--target", quick_level())
    return artifact


def checksum(data):
    """XXH3, 64 bits, computed by the library of apt."""
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return library.XXH3_64bits(data, len(data))


HEADER_BYTES = 4096
SECTIONS = {"info": 1, "code": 2, "weights": 3, "tokenizer": 4, "program": 5}


class ArtifactFile:
    """The bytes of an artifact with its table (ArtifactFormat.h); close() repairs the checksums."""

    def __init__(self, path):
        self.data = bytearray(read_bytes(path))
        (count,) = struct.unpack_from("<I", self.data, 16)
        self.table = {}  # Section: (offset of its entry, offset, size).
        for i in range(count):
            at = 64 + 40 * i
            number, _, offset, size = struct.unpack_from("<IIQQ", self.data, at)
            self.table[number] = (at, offset, size)

    def section(self, name):
        _, offset, size = self.table[SECTIONS[name]]
        return bytes(self.data[offset:offset + size])

    def flip(self, name, where=0.5):
        _, offset, size = self.table[SECTIONS[name]]
        self.data[offset + int(size * where)] ^= 0x20

    def replace(self, name, content):
        """New content that is not longer, padded with spaces; its checksum is right."""
        at, offset, size = self.table[SECTIONS[name]]
        assert len(content) <= size
        content = content + b" " * (size - len(content))
        self.data[offset:offset + size] = content
        struct.pack_into("<Q", self.data, at + 32, checksum(content))

    def close(self, path):
        struct.pack_into("<Q", self.data, 32, 0)
        struct.pack_into("<Q", self.data, 32, checksum(bytes(self.data[:HEADER_BYTES])))
        write_bytes(path, bytes(self.data))


def artifact_cases(suite):
    config, weights = make_tiny.make("llama3")
    model = suite.path("good")
    make_tiny.write_hf(model, config, weights)
    good = compiled(suite, model)
    path = suite.path("case.llmir")
    whole = read_bytes(good)

    def check(name, *needles):
        for command, arguments in (("run", ["run", path, "--prompt-ids", "1", "-n", "1"]),
                                   ("perplexity", ["perplexity", path, "--ids", "1,2"])):
            suite.refuse("%s: artifact: %s" % (command, name), arguments, "case.llmir", *needles)

    for name, content in (("truncated", whole[:-70000]), ("truncated in the header", whole[:100]),
                          ("empty", b""), ("a text", b"hello, this is no artifact\n" * 400)):
        write_bytes(path, content)
        check(name)
    for section in ("info", "code", "program"):
        broken = ArtifactFile(good)
        broken.flip(section)
        broken.close(path)
        check("damaged %s" % section)
    flipped = bytearray(whole)
    flipped[70] ^= 1
    write_bytes(path, bytes(flipped))
    check("damaged table")

    other = ArtifactFile(good)
    struct.pack_into("<I", other.data, 8, 99)
    other.close(path)
    check("of another format version", "99")
    other = ArtifactFile(good)
    struct.pack_into("<I", other.data, 12, 99)
    other.close(path)
    check("of another ABI version", "99")

    other = ArtifactFile(good)
    info = json.loads(other.section("info").decode("utf-8"))
    for target in info["code"]:
        target["cpuFeatures"] = ["neon"]
    other.replace("info", json.dumps(info, separators=(",", ":")).encode("utf-8"))
    other.close(path)
    check("for another CPU", "neon")

    # Loading does not read weights; --verify detects the damage.
    broken = ArtifactFile(good)
    broken.flip("weights")
    broken.close(path)
    suite.refuse("inspect --verify: damaged weights", ["inspect", path, "--verify"], "case.llmir")

    # A damaged cache entry is recompiled.
    suite.llmir.run("run", model, "--prompt-ids", "1", "-n", "1")
    entries = [f for f in files_below(suite.cache) if f.endswith(".llmir")]
    write_bytes(entries[0], read_bytes(entries[0])[:5000])
    again = suite.llmir.run("run", model, "--prompt-ids", "1", "-n", "1")
    suite.check("a damaged cache entry is made again", again.code == 0 and again.out, again)
    cached_cases(suite, model, entries[0])


def cached_cases(suite, model, entry):
    """Files at the path of a cached artifact that were not written by llmir of this user."""
    def link():
        outside = suite.path("outside.llmir")
        os.rename(entry, outside)
        os.symlink(outside, entry)

    def empty_folder():
        os.remove(entry)
        os.mkdir(entry)
    arguments = ["run", model, "--prompt-ids", "1", "-n", "1"]
    for name, change, needle in (
            ("others may write", lambda: os.chmod(entry, 0o666), "may be written by other users"),
            ("that is a link", link, "is a symbolic link"),
            ("that is a directory", empty_folder, "is a directory")):
        change()
        again = suite.llmir.run(*arguments)
        suite.check("a cached artifact " + name, again.code == 0 and entry + "' " + needle in again.err
                    and os.path.isfile(entry) and not os.path.islink(entry), again)
        again = suite.llmir.run(*arguments)
        suite.check("made again: a cached artifact " + name, again.code == 0 and needle not in again.err, again)
    empty_folder()
    write_bytes(os.path.join(entry, "letter"), b"x")
    suite.refuse("a cached artifact that is a directory with files", arguments, entry, "; remove it: rm -r ")
    shutil.rmtree(entry)


GROUPS = {"folders": folder_cases, "gguf": gguf_cases, "requests": request_cases,
          "artifacts": artifact_cases}


def main():
    parser = work_parser(__doc__, "llmir")
    parser.add_argument("groups", nargs="*", metavar="GROUP")
    options = parser.parse_args()
    suite = Suite(options.llmir, os.path.abspath(options.work))
    for name in options.groups or GROUPS:
        GROUPS[name](suite)
    return suite.check.finish()


if __name__ == "__main__":
    sys.exit(main())
