#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile files beside the weights of a model, through the llmir command: tokenizers, templates, pickles, links.

    bad_files.py --work DIR --llmir PROGRAM

One row of CASES is one directory. Each must end with exit code 1 within a second of processor time and 512 MiB of
addresses, with one line that starts with "llmir: ", contains the texts of the row and says after a semicolon what to do
or what was expected. The fields of weights, indices and configurations have tables of their own: test/Checkpoint
(GGUFHostileTest, GGUFHostileConfigTest, SafetensorsTest, ModelConfigTest); those of answers of the Hub are in
test/Hub/hostile_answers.py.
"""

import base64
import json
import os
import resource
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

MOST_SECONDS = 1.0
MOST_ADDRESSES = 512 << 20


def tokenizer(**changes):
    """tokenizer.json of three tokens, with these members changed; a name with `__` is one of the model."""
    content = {"added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}
    for name, value in changes.items():
        (content["model"] if name.startswith("model__") else content)[name.replace("model__", "")] = value
    return {"tokenizer.json": json.dumps(content)}


def with_config(text, **files):
    return dict(tokenizer(), **{"tokenizer_config.json": text}, **files)


def template(text):
    return with_config(json.dumps({"chat_template": text}))


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}


def nested(stage, member, depth):
    for _ in range(depth):
        stage = {"type": "Sequence", member: [stage]}
    return stage


def field(number, data):
    """A field of a protocol buffer: bytes, or a number."""
    if isinstance(data, int):
        return bytes([number << 3]) + varint(data)
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def varint(value):
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7f | 0x80]), value >> 7
    return out + bytes([value])


def piece(text, kind=1):
    return field(1, field(1, text) + bytes([2 << 3 | 5]) + struct.pack("<f", -1) + field(3, kind))


def sentencepiece(*pieces, trainer=field(3, 2), normalizer=b""):
    return {"tokenizer.model": b"".join(pieces or PIECES) + field(2, trainer) + field(3, normalizer)}


PIECES = (piece(b"<unk>", 2), piece(b"<s>", 3), piece(b"</s>", 3), piece(b"a"))


def tekken(**changes):
    content = {"config": {"pattern": "[a-z]+", "default_vocab_size": 4, "default_num_special_tokens": 2},
               "vocab": [{"rank": i, "token_bytes": base64.b64encode(bytes([97 + i])).decode()} for i in range(2)]}
    content.update(changes)
    return {"tekken.json": json.dumps(content)}


def tekken_config(**changes):
    return tekken(config=dict({"pattern": "[a-z]+", "default_vocab_size": 4, "default_num_special_tokens": 2}, **changes))


WORDS = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n"
BPE = {"vocab.json": '{"a": 0, "b": 1, "ab": 2}', "merges.txt": "#version: 0.2\na b\n"}

# What is wrong, the files of the directory, and what the line must contain.
CASES = [
    # tokenizer.json.
    ("an empty file", {"tokenizer.json": ""}, ["tokenizer.json"]),
    ("no JSON", {"tokenizer.json": "{'model'"}, ["tokenizer.json"]),
    ("an array", {"tokenizer.json": "[]"}, ["tokenizer.json"]),
    ("not UTF-8", {"tokenizer.json": b'{"model": "\xff"}'}, ["tokenizer.json", "UTF-8"]),
    ("half a file", {"tokenizer.json": tokenizer()["tokenizer.json"][:-9]}, ["tokenizer.json"]),
    ("brackets", {"tokenizer.json": "[" * 1000000}, ["tokenizer.json"]),
    ("objects", {"tokenizer.json": '{"a":' * 1000000}, ["tokenizer.json"]),
    ("a member twice", {"tokenizer.json": '{"model": {}, "model": {}}'}, ["tokenizer.json", "model"]),
    ("no model", {"tokenizer.json": "{}"}, ["tokenizer.json", "'model'"]),
    ("a model that is a number", {"tokenizer.json": '{"model": 5}'}, ["tokenizer.json", "'model'"]),
    ("an unknown model", tokenizer(model__type="Magic"), ["tokenizer.json", "Magic"]),
    ("no vocabulary", tokenizer(model__vocab=None), ["tokenizer.json", "vocab"]),
    ("a vocabulary that is a list", tokenizer(model__vocab=["a"]), ["tokenizer.json", "vocab"]),
    ("an id that is a text", tokenizer(model__vocab={"a": "0"}), ["tokenizer.json", "model.vocab", "byte 64"]),
    ("a negative id", tokenizer(model__vocab={"a": -1}), ["tokenizer.json", "model.vocab"]),
    ("an id of 2^31 - 1", tokenizer(model__vocab={"a": 2 ** 31 - 1}), ["tokenizer.json", "2147483647"]),
    ("an id of 1e308", tokenizer(model__vocab={"a": 1e308}), ["tokenizer.json", "model.vocab"]),
    ("an id twice", tokenizer(model__vocab={"a": 0, "b": 0}, model__merges=[]), ["tokenizer.json", "0"]),
    ("merges of unknown pieces", tokenizer(model__merges=["x y"]), ["tokenizer.json", "merges", "'x'"]),
    ("a merge of one piece", tokenizer(model__merges=["ab"]), ["tokenizer.json", "merges"]),
    ("a merge of three pieces", tokenizer(model__merges=[["a", "b", "c"]]), ["tokenizer.json", "merges"]),
    ("merges that are a number", tokenizer(model__merges=7), ["tokenizer.json", "merges"]),
    ("an added token with a vast id", tokenizer(added_tokens=[{"id": 1 << 40, "content": "x"}]),
     ["tokenizer.json", str(1 << 40)]),
    ("an empty added token", tokenizer(added_tokens=[{"id": 3, "content": ""}]), ["tokenizer.json", "added_tokens"]),
    ("a pattern that does not compile", tokenizer(pre_tokenizer=split("(a")), ["tokenizer.json", "compile"]),
    ("a pattern of 30,000 groups", tokenizer(pre_tokenizer=split("(" * 30000 + ")" * 30000)), ["tokenizer.json"]),
    ("a pattern with a vast repetition", tokenizer(pre_tokenizer=split("((a{1000}){1000}){1000}")), ["tokenizer.json"]),
    ("a pattern of exponential cost", tokenizer(pre_tokenizer=split("(a+)+$")), ["(a+)+$", "costs too much"]),
    ("Sequences in Sequences", tokenizer(normalizer=nested({"type": "NFC"}, "normalizers", 60)),
     ["tokenizer.json", "nesting"]),
    ("an unknown normalizer", tokenizer(normalizer={"type": "Magic"}), ["tokenizer.json", "Magic"]),
    ("an unknown pre-tokenizer", tokenizer(pre_tokenizer={"type": "Magic"}), ["tokenizer.json", "Magic"]),
    ("an unknown post-processor", tokenizer(post_processor={"type": "Magic"}), ["tokenizer.json", "Magic"]),
    ("an unknown decoder", tokenizer(decoder={"type": "Magic"}), ["tokenizer.json", "Magic"]),
    ("texts that grow", tokenizer(normalizer={"type": "Sequence", "normalizers": [
        {"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaa"}] * 12}), ["Replace", "grows"]),
    ("a bad map of characters", tokenizer(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
     ["tokenizer.json", "Precompiled"]),
    ("a map that is no base64", tokenizer(normalizer={"type": "Precompiled", "precompiled_charsmap": "*"}),
     ["tokenizer.json", "precompiled_charsmap"]),
    # SentencePiece.
    ("an empty model", {"tokenizer.model": b""}, ["tokenizer.model"]),
    ("a text", {"tokenizer.model": b"version https://git-lfs.github.com/spec/v1\n"}, ["tokenizer.model"]),
    ("half a model", {"tokenizer.model": sentencepiece()["tokenizer.model"][:20]}, ["tokenizer.model"]),
    ("a length of 2^63", {"tokenizer.model": b"\x0a" + varint(1 << 63)}, ["tokenizer.model"]),
    ("a number without end", {"tokenizer.model": b"\x0a" + b"\xff" * 50}, ["tokenizer.model"]),
    ("no pieces", {"tokenizer.model": field(2, field(3, 2))}, ["tokenizer.model"]),
    ("a piece of kind 99", sentencepiece(piece(b"a", 99)), ["tokenizer.model"]),
    ("a piece that is not UTF-8", sentencepiece(*PIECES, piece(b"\xff")), ["tokenizer.model", "UTF-8"]),
    ("a piece twice", sentencepiece(*PIECES, piece(b"a")), ["tokenizer.model", "'a'"]),
    ("no unknown piece", sentencepiece(piece(b"a")), ["tokenizer.model", "BOS"]),
    ("a model of characters", sentencepiece(trainer=field(3, 4)), ["tokenizer.model"]),
    ("a bad map", sentencepiece(normalizer=field(2, b"map")), ["tokenizer.model"]),
    ("a token beyond the pieces", sentencepiece(trainer=field(3, 2) + b"\xc8\x02" + varint(100000)), ["tokenizer.model"]),
    # Other files of tokenizers.
    ("tiktoken of an unknown size", {"tiktoken.model": "YQ== 0\nYg== 1\n"}, ["tiktoken.model", "2 tokens"]),
    ("tiktoken without a rank", {"tiktoken.model": "YQ== 0\nYg==\n"}, ["tiktoken.model", "line 2"]),
    ("tiktoken with a vast rank", {"tiktoken.model": "YQ== 0\nYg== 99999999999999999999\n"}, ["tiktoken.model", "line 2"]),
    ("tekken without a vocabulary", tekken(vocab=None), ["tekken.json", "vocab"]),
    ("tekken with a rank twice", tekken(vocab=[{"rank": 0, "token_bytes": "YQ=="}, {"rank": 0, "token_bytes": "Yg=="}]),
     ["tekken.json", "both"]),
    ("tekken of 10^18 tokens", tekken_config(default_vocab_size=10 ** 18), ["tekken.json", "default_vocab_size"]),
    ("tekken of 10^9 special tokens", tekken_config(default_vocab_size=10 ** 9 + 2, default_num_special_tokens=10 ** 9),
     ["tekken.json", "default_"]),
    ("tekken with a bad pattern", tekken_config(pattern="(a"), ["tekken.json", "compile"]),
    ("words without [UNK]", {"vocab.txt": "a\nb\n"}, ["vocab.txt", "unknown words"]),
    ("words that are not UTF-8", {"vocab.txt": WORDS.encode() + b"\xff\n"}, ["vocab.txt", "UTF-8"]),
    ("merges of words that are absent", dict(BPE, **{"merges.txt": "x y\n"}), ["merges.txt", "'x'"]),
    ("a vocabulary that is an array", dict(BPE, **{"vocab.json": "[]"}), ["vocab.json"]),
    ("a vocabulary with other members", dict(BPE, **{"vocab.json": '{"a": 0, "b": 1, "ab": 2}, "dropout": {"x": 1}'}),
     ["vocab.json", "more than one object"]),
    ("a vocabulary without merges", {"vocab.json": BPE["vocab.json"]}, ["no tokenizer"]),
    # tokenizer_config.json and templates.
    ("a configuration that is an array", with_config("[]"), ["tokenizer_config.json"]),
    ("a configuration that is no JSON", with_config("{"), ["tokenizer_config.json"]),
    ("a nested configuration", with_config('{"a":' * 100000), ["tokenizer_config.json", "nest"]),
    ("a BOS token that is a list", with_config('{"bos_token": [1]}'), ["tokenizer_config.json", "bos_token"]),
    ("a template that is a number", with_config('{"chat_template": 5}'), ["tokenizer_config.json", "chat_template"]),
    ("templates without names", with_config('{"chat_template": [{"template": "x"}]}'),
     ["tokenizer_config.json", "chat_template"]),
    ("a template with bad syntax", template("{% for %}"), ["1:8"]),
    ("a template that includes", template("{% include '/etc/passwd' %}"), ["1:4", "include"]),
    ("a template that recurses", template("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), ["800 levels"]),
    ("a template without end", template("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"),
     ["steps"]),
    ("a template of 1 GB", template("{{ 'x' * 1000000000 }}"), ["256 MiB"]),
    ("a template of 2 MB", template(" " * (2 << 20)), ["1048576"]),
    ("a template of parentheses", template("{{ " + "(" * 100000 + " }}"), ["1:"]),
    ("a template that reaches out", template("{{ ''.__class__.__mro__ }}"), ["1:"]),
    ("a template file that is not UTF-8", dict(tokenizer(), **{"chat_template.jinja": b"\xff"}), ["UTF-8"]),
]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))


class Suite:
    def __init__(self, llmir, work):
        self.work = work
        self.check = Checks()
        self.llmir = Command(llmir, os.path.join(work, "cache"))
        # Builds with sanitizers need terabytes of addresses, and are slower.
        self.is_quick = subprocess.run([llmir, "--version"], preexec_fn=limited, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL).returncode == 0

    def refuse(self, name, arguments, needles, stdin=b""):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.llmir.program] + arguments, input=stdin, env=self.llmir.environment, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=limited if self.is_quick else None)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        line = done.stderr.decode("utf-8", "replace")
        problems = ["%r is not named" % needle for needle in needles if needle not in line]
        if done.returncode != 1 or done.stdout:
            problems.append("exit code %d, output %r" % (done.returncode, done.stdout[:80]))
        if not line.startswith("llmir: ") or line.count("\n") != 1 or "; " not in line:
            problems.append("not one line with advice")
        if self.is_quick and seconds > MOST_SECONDS:
            problems.append("%.2f s of processor time" % seconds)
        self.check(name, not problems, (problems, line))

    def folder(self, files):
        folder = os.path.join(self.work, "case")
        fresh_folder(folder)
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as stream:
                stream.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        return folder

    def check_table(self):
        request = json.dumps({"messages": [{"role": "user", "content": "Hi"}]}).encode() + b"\n"
        for name, files, needles in CASES:
            folder = self.folder(files)
            if "jinja" in " ".join(files) or "chat_template" in files.get("tokenizer_config.json", ""):
                self.refuse_request(name, folder, request, needles)
            else:
                self.refuse(name, ["tokenize", folder, "a" * 40 + "b"], needles)

    def refuse_request(self, name, folder, request, needles):
        """A conversation whose template fails: the answer is a line of JSON, or the command fails as others do."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.llmir.program, "tokenize", folder, "--jsonl"], input=request, timeout=60,
                              env=self.llmir.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        text = (done.stdout + done.stderr).decode("utf-8", "replace")
        problems = ["%r is not named" % needle for needle in needles if needle not in text]
        if text.count("\n") != 1 or "error" not in text and not text.startswith("llmir: "):
            problems.append("not one error")
        if self.is_quick and seconds > MOST_SECONDS:
            problems.append("%.2f s of processor time" % seconds)
        self.check(name, not problems, (problems, done.returncode, text))

    def check_files(self):
        """What is no regular file, and pickles, which are never read."""
        for name in ("pytorch_model.bin", "model.pt", "model.pth", "model.ckpt", "model.pkl"):
            folder = self.folder({name: b"\x80\x04cos\nsystem\n"})
            self.refuse(name, ["inspect", os.path.join(folder, name)], [name, "pickle", ".safetensors"])
        folder = self.folder({})
        os.mkfifo(os.path.join(folder, "tokenizer.json"))
        self.refuse("a pipe for a tokenizer", ["tokenize", folder, "a"], ["tokenizer.json", "regular file"])
        folder = self.folder({})
        os.mkdir(os.path.join(folder, "tokenizer.json"))
        self.refuse("a directory for a tokenizer", ["tokenize", folder, "a"], ["tokenizer.json", "directory"])
        folder = self.folder({})
        os.symlink("tokenizer.json", os.path.join(folder, "tokenizer.json"))
        self.refuse("a link to itself", ["tokenize", folder, "a"], ["tokenizer.json"])
        folder = self.folder({})
        os.mkfifo(os.path.join(folder, "m.gguf"))
        self.refuse("a pipe for a model", ["inspect", os.path.join(folder, "m.gguf")], ["m.gguf", "regular file"])
        folder = self.folder({"tokenizer.json": b""})
        os.truncate(os.path.join(folder, "tokenizer.json"), 1 << 40)
        self.refuse("a tokenizer of 1 TB", ["tokenize", folder, "a"], ["tokenizer.json", "1099511627776"])
        folder = self.folder({"m.gguf": b"GGUF\x03\0\0\0" + struct.pack("<QQ", 1 << 40, 1 << 40)})
        os.truncate(os.path.join(folder, "m.gguf"), 1 << 40)
        self.refuse("a model of 1 TB", ["inspect", os.path.join(folder, "m.gguf")], ["m.gguf"])


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    suite = Suite(options.llmir, os.path.abspath(options.work))
    suite.check_table()
    suite.check_files()
    return suite.check.finish()


if __name__ == "__main__":
    sys.exit(main())
