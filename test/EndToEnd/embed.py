#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir embed: texts from arguments and standard input, output forms, limits, and what it refuses.

    embed.py --work DIR --llmir PROGRAM --demo DIR
"""

import json
import os
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
import make_encoders  # noqa: E402
import make_tiny  # noqa: E402
from byte_tokenizer import write_byte_tokenizer  # noqa: E402
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402

CONTEXT = 48
END = 256  # the token after each text
TEXTS = ["a text", "another one, a little longer", "", "ü"]

check = Checks()


def make_decoder(folder):
    """A decoder with last token pooling, whose tokenizer has a token per byte and one at the end."""
    config, weights = make_tiny.make("qwen3", max_positions=CONTEXT)
    make_tiny.write_hf(folder, config, weights)
    make_encoders.write_pooling(folder, "last", config.hidden)
    path = os.path.join(folder, "tokenizer.json")
    write_byte_tokenizer(path)
    with open(path, encoding="utf-8") as stream:
        data = json.load(stream)
    text = "<|endoftext|>"
    data["added_tokens"] = [{"id": END, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
                             "normalized": False, "special": True}]
    data["post_processor"] = {
        "type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}},
                                                 {"SpecialToken": {"id": text, "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {text: {"id": text, "ids": [END], "tokens": [text]}}}
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(data, stream)
    return config


def numbers(output):
    return [[float(word) for word in line.split()] for line in output.splitlines()]


def lines_of(llmir, model, requests, *flags):
    text = "".join((request if isinstance(request, str) else json.dumps(request)) + "\n" for request in requests)
    return [json.loads(line) for line in
            llmir("embed", model, "--jsonl", *flags, stdin=text.encode("utf-8")).splitlines()]


def check_forms(llmir, model, size):
    given = numbers(llmir("embed", model, *TEXTS))
    check("a line for each text", [len(row) for row in given] == [size] * len(TEXTS), given)
    check("of unit length", np.allclose([np.linalg.norm(row) for row in given], 1, atol=1e-6))
    check("of different directions", abs(np.dot(given[0], given[1])) < 0.99)
    piped = llmir("embed", model, stdin="".join(text + "\n" for text in TEXTS).encode("utf-8"))
    check("lines of standard input", numbers(piped) == given, piped[:200])
    one = json.loads(llmir("embed", model, "--json", *TEXTS))
    check("--json", one["embeddings"] == given and one["tokens"] == [7, 29, 1, 3], one["tokens"])
    rows = lines_of(llmir, model, [{"text": text} for text in TEXTS])
    check("--jsonl", [row["embedding"] for row in rows] == given)
    ids = [{"ids": list(text.encode("utf-8")) + [END]} for text in TEXTS]
    check("the tokenizer's last token", lines_of(llmir, model, ids) == rows)
    many = ["text %d" % i for i in range(150)]
    piped = numbers(llmir("embed", model, stdin="\n".join(many).encode("utf-8")))
    check("more texts than a step takes", len(piped) == 150 and
          piped[149] == numbers(llmir("embed", model, many[149]))[0])
    check("no text", llmir("embed", model, stdin=b"") == "")


def check_requests(llmir, model):
    good = {"text": "a"}
    bad = ["{", "[]", {}, {"text": "a", "ids": [1]}, {"text": 1}, {"ids": [-1]}, {"ids": [2 ** 40]}, {"ids": [271, 272]},
           {"ids": []}, {"ids": "a"}, {"other": 1}, {"text": "x" * CONTEXT}]
    rows = lines_of(llmir, model, [good] + [request for each in bad for request in (each, good)])
    check("an answer per line", len(rows) == 1 + 2 * len(bad))
    check("errors of lines", all("code" in row["error"] and row["error"]["message"] for row in rows[1::2]), rows[1::2])
    check("other lines are not affected", all(row == rows[0] for row in rows[0::2]))


def check_limits(llmir, model):
    longest = "x" * (CONTEXT - 1)
    check("a text as long as the context", json.loads(llmir("embed", model, "--json", longest))["tokens"] == [CONTEXT])
    why = llmir.refuse("embed", model, "short", longest + "y")
    check("a longer text is refused", "text 2 has 49 tokens; the model takes at most 48; " in why and "--truncate" in why,
          why)
    why = llmir.refuse("embed", model, stdin=("a\n%sy\n" % longest).encode("utf-8"))
    check("on standard input by its line", "line 2 has 49 tokens" in why, why)
    cut = llmir("embed", model, "--truncate", longest + "y", longest)
    check("--truncate keeps the last token", len(set(cut.splitlines())) == 1)
    why = llmir.refuse("embed", model, "--ctx", "8", "123456789")
    check("--ctx", "has 10 tokens; the model takes at most 8" in why, why)
    why = llmir.refuse("embed", model, b"a\xff".decode("utf-8", "surrogateescape"))
    check("a text that is not UTF-8", "text 1" in why and "UTF-8" in why, why)


def check_text_length(llmir, folder, work):
    """Texts are at most as long as those that the model is meant for, unless the user asks for more."""
    limited, artifact = os.path.join(work, "limited"), os.path.join(work, "limited.llmir")
    shutil.copytree(folder, limited)
    for given, most in ((16, 16), (None, CONTEXT), (CONTEXT + 1, CONTEXT)):
        make_encoders.write_json(os.path.join(limited, "sentence_bert_config.json"),
                                 {"max_seq_length": given, "do_lower_case": False})
        why = llmir.refuse("embed", limited, "x" * CONTEXT)
        check("max_seq_length %s" % given, "the model takes at most %d;" % most in why, why)
        shown = llmir("inspect", limited)
        check("inspect shows max_seq_length %s" % given, ("up to 16 tokens" in shown) == (most == 16), shown)
    make_encoders.write_json(os.path.join(limited, "sentence_bert_config.json"), {"max_seq_length": 16})
    llmir("compile", limited, "-o", artifact, "--target", quick_level(), "--ctx", "32")
    why = llmir.refuse("embed", artifact, "x" * CONTEXT)
    check("a greater context of compile", "the model takes at most 32;" in why, why)


def check_refusals(llmir, model, demo, work):
    for command in (["run", model, "a text", "-n", "2"], ["run", model, "--prompt-ids", "1,2", "-n", "2"]):
        why = llmir.refuse(*command)
        check("%s is refused" % command[:3], "is an embedding model" in why and "llmir embed" in why, why)
    why = llmir.refuse("perplexity", model, "--ids", "1,2,3")
    check("perplexity is refused", "one embedding of a sequence" in why, why)
    why = llmir.refuse("embed", demo, "a text")
    check("a language model is refused", "is a language model" in why and "1_Pooling/config.json" in why, why)
    for flags in (["--jsonl", "a"], ["--jsonl", "--json"]):
        answer = llmir.run("embed", model, *flags)
        check("%s is wrong usage" % flags, answer.code == 2 and "exclude each other" in answer.err, answer)
    bare = os.path.join(work, "bare")
    config, weights = make_encoders.make("bert")
    make_encoders.write_hf(bare, config, weights, "cls")
    why = llmir.refuse("embed", bare, "a text")
    check("a text without a tokenizer", "has no tokenizer" in why and "ids" in why, why)


def pooling(**fields):
    flags = {"pooling_mode_cls_token": False, "pooling_mode_lasttoken": True, "word_embedding_dimension": 64}
    flags.update(fields)
    return json.dumps({key: value for key, value in flags.items() if value is not None})


def modules(*entries):
    return json.dumps([{"path": path, "type": "sentence_transformers.models." + kind} for path, kind in entries])


USUAL = (("", "Transformer"), ("1_Pooling", "Pooling"))
# (file, its content or None, what the message names)
BAD_FILES = (
    ("1_Pooling/config.json", "", ("1_Pooling/config.json",)),
    ("1_Pooling/config.json", "[]", ("1_Pooling/config.json",)),
    ("1_Pooling/config.json", "{\"a\": 1, \"a\": 2}", ("1_Pooling/config.json", "a")),
    ("1_Pooling/config.json", None, ("1_Pooling/config.json",)),
    ("1_Pooling/config.json", pooling(pooling_mode_lasttoken=False), ("no pooling_mode is true", "pooling_mode_lasttoken")),
    ("1_Pooling/config.json", pooling(pooling_mode_cls_token=True), ("pooling_mode_lasttoken", "pooling_mode_cls_token")),
    ("1_Pooling/config.json", pooling(pooling_mode_lasttoken="yes"), ("pooling_mode_lasttoken", "yes")),
    ("1_Pooling/config.json", pooling(pooling_mode_lasttoken=False, pooling_mode_max_tokens=True),
     ("pooling_mode_max_tokens", "cls, mean, lasttoken")),
    ("1_Pooling/config.json", pooling(pooling_mode_lasttoken=False, pooling_mode_weightedmean_tokens=True),
     ("pooling_mode_weightedmean_tokens",)),
    ("1_Pooling/config.json", pooling(pooling_mode="sum"), ("pooling_mode", "sum")),
    ("1_Pooling/config.json", pooling(pooling_mode="max"), ("pooling_mode", "not supported")),
    ("1_Pooling/config.json", pooling(pooling_mode=3), ("pooling_mode", "3")),
    ("1_Pooling/config.json", pooling(word_embedding_dimension=65), ("word_embedding_dimension", "65", "64")),
    ("1_Pooling/config.json", pooling(word_embedding_dimension=-1), ("word_embedding_dimension", "-1")),
    ("1_Pooling/config.json", pooling(word_embedding_dimension=1e30), ("word_embedding_dimension",)),
    ("1_Pooling/config.json", pooling(include_prompt=False), ("include_prompt",)),
    ("modules.json", "{}", ("modules.json", "list")),
    ("modules.json", "[]", ("modules.json", "Transformer")),
    ("modules.json", "[1]", ("modules.json", "0", "1")),
    ("modules.json", "[{}]", ("modules.json", "type")),
    ("modules.json", modules(*USUAL * 9), ("modules.json", "16")),
    ("modules.json", modules(USUAL[0], ("../1_Pooling", "Pooling")), ("modules.json", "../1_Pooling", "folder")),
    ("modules.json", modules(USUAL[0], ("..", "Pooling")), ("modules.json", "..")),
    ("modules.json", modules(USUAL[0], ("/etc", "Pooling")), ("modules.json", "/etc")),
    ("modules.json", modules(USUAL[0], ("2_Pooling", "Pooling")), ("2_Pooling/config.json",)),
    ("modules.json", modules(USUAL[1], USUAL[0]), ("modules.json", "Transformer")),
    ("modules.json", modules(*USUAL, ("", "LayerNorm")), ("modules.json", "LayerNorm", "supported")),
    ("modules.json", modules(*USUAL, ("", "Normalize"), ("", "Normalize")), ("modules.json", "Normalize")),
    ("modules.json", modules(*USUAL, ("2_Dense", "Dense")), ("2_Dense/config.json",)),
    ("modules.json", modules(*USUAL, ("2 Dense", "Dense")), ("modules.json", "2 Dense")),
    ("sentence_bert_config.json", "[]", ("sentence_bert_config.json",)),
    ("sentence_bert_config.json", "{\"do_lower_case\": true}", ("sentence_bert_config.json", "do_lower_case")),
    ("sentence_bert_config.json", "{\"max_seq_length\": 0}", ("sentence_bert_config.json", "max_seq_length", "0")),
    ("sentence_bert_config.json", "{\"transformer_task\": \"fill-mask\"}", ("transformer_task", "fill-mask")),
)
DENSE = (
    ("{\"in_features\": 65, \"out_features\": 8}", ("2_Dense/config.json", "in_features", "65")),
    ("{\"in_features\": 64, \"out_features\": 0}", ("2_Dense/config.json", "out_features")),
    ("{\"in_features\": 64, \"out_features\": 8}", ("2_Dense/config.json", "activation_function", "Tanh")),
    ("{\"in_features\": 64, \"out_features\": 8, \"activation_function\": \"torch.nn.modules.linear.Identity\"}",
     ("2_Dense", "model.safetensors")),
    ("{\"in_features\": 64, \"out_features\": 8, \"activation_function\": \"torch.nn.modules.linear.Identity\", "
     "\"module_input_name\": \"token_embeddings\"}", ("2_Dense/config.json", "module_input_name", "token_embeddings")),
)


def check_bad_files(llmir, folder, work):
    bad = os.path.join(work, "bad")
    cases = list(BAD_FILES) + [("2_Dense/config.json", text, needles) for text, needles in DENSE]
    for number, (name, content, needles) in enumerate(cases):
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(folder, bad)
        os.makedirs(os.path.join(bad, os.path.dirname(name)), exist_ok=True)
        if name.startswith("2_Dense"):
            with open(os.path.join(bad, "modules.json"), "w", encoding="utf-8") as stream:
                stream.write(modules(*USUAL, ("2_Dense", "Dense")))
        path = os.path.join(bad, name)
        if content is None:
            os.remove(path)
        else:
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(content)
        answer = llmir.run("embed", bad, "a text", timeout=60)
        check("bad file %d, %s" % (number, name), answer.code == 1 and not answer.out and answer.err.count("\n") == 1 and
              answer.err.startswith("llmir: ") and all(needle in answer.err for needle in needles), answer)


def main():
    options = work_parser(__doc__, "llmir", "demo").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    folder = os.path.join(options.work, "model")
    config = make_decoder(folder)
    model = folder + ".llmir"
    llmir("compile", folder, "-o", model, "--target", quick_level())
    check_forms(llmir, model, config.hidden)
    check_requests(llmir, model)
    check_limits(llmir, model)
    check_refusals(llmir, model, options.demo, options.work)
    check_text_length(llmir, folder, options.work)
    check_bad_files(llmir, folder, options.work)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
