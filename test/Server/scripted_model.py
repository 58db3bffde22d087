# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model whose answers are known: it says what a script says, a byte per token.

Its next token depends on the position alone. It is a GPT-2 of one layer whose attention and MLP add nothing and whose
tokens are embedded as zeros, so that the last norm sees the vector of the position, which is 1 in one place; the head has
a weight there for the token that the script has at the next position. Each answer of the script begins where its prompt
ends: the chat template writes, for each name of an answer, a prompt of the length that leads to it.

Each token is one byte, so that streams split characters of several bytes and the arguments of calls at every byte.
"""

import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from byte_tokenizer import write_byte_tokenizer  # noqa: E402
from checks import quick_level  # noqa: E402
from make_tiny import make, write_hf  # noqa: E402

POSITIONS = 1024
END = 256  # The token after each answer.


def write_tokenizer(folder):
    path = os.path.join(folder, "tokenizer.json")
    write_byte_tokenizer(path)
    with open(path, encoding="utf-8") as stream:
        data = json.load(stream)
    data["added_tokens"] = [{"id": END, "content": "<|end|>", "special": True, "normalized": False, "single_word": False,
                             "lstrip": False, "rstrip": False}]
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(data, stream)


def write_model(folder, answers):
    """Writes a model that says `answers`, texts by name -> the tokens of the prompt that leads to each."""
    config, weights = make("gpt2", layers=1, hidden=POSITIONS, intermediate=64, heads=16, kv_heads=16, head_dim=64, vocab=257,
                           max_positions=POSITIONS, tied=False)
    config.eos = [END]
    for name, values in weights.items():
        values[...] = 1 if "ln_" in name and name.endswith(".weight") else 0
    weights["transformer.wpe.weight"][...] = np.eye(POSITIONS)
    prompts, length = {}, 1
    for name, text in answers.items():
        prompts[name] = length
        for token in [*text.encode("utf-8"), END]:
            weights["lm_head.weight"][token, length - 1] = 1
            length += 1
    if length > POSITIONS:
        raise ValueError("the answers take %d positions; there are %d" % (length, POSITIONS))
    write_hf(folder, config, weights)
    write_tokenizer(folder)
    return prompts


def template_for(prompts):
    """The last message names the answer; after a result of a tool, that is "tool"."""
    rules = "".join("{%% elif name == '%s' %%}%s" % (name, "x" * length) for name, length in prompts.items())
    return ("{%- set last = messages[-1] -%}{%- set name = 'tool' if last.role == 'tool' else last.content -%}"
            "{%- if name == '' -%}" + rules + "{%- else -%}{{ raise_exception('no answer has this name') }}{%- endif -%}")


def compile_scripted(llmir, work, answers):
    """-> (the artifact, its chat template)"""
    folder, model = os.path.join(work, "scripted"), os.path.join(work, "scripted.llmir")
    template = os.path.join(work, "scripted.jinja")
    prompts = write_model(folder, answers)
    with open(template, "w", encoding="utf-8") as stream:
        stream.write(template_for(prompts))
    llmir("compile", folder, "-o", model, "--target", quick_level())
    return model, template
