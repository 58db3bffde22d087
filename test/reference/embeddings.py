# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite of compare.py for `llmir embed`: embeddings of texts, alone, in company and in several steps."""

import json
import os

import numpy as np

import make_encoders
import make_tiny
from checks import quick_level
from llmref import Config, Model, encoders, formats, gguf, nmse, safetensors
from model_command import Failure

BOUND = 1e-9  # NMSE of an embedding where nothing is rounded below float32
LENGTHS = (1, 2, 7, 64, 65, 77, 300, 613)  # blocks of 64 keys, chunks of 512, steps of 512 tokens
DECODERS = ("qwen3", "llama3")


def texts_of(config, most):
    random = np.random.RandomState(5)
    return [[int(i) for i in random.randint(0, config.vocab, length)] for length in LENGTHS if length <= most]


def embed(command, model, texts, flags=()):
    """-> [texts, size] float32: the numbers that `llmir embed` prints identify f32 values."""
    lines = "".join(json.dumps({"ids": ids}) + "\n" for ids in texts)
    answer = command.call(["embed", model, "--jsonl"] + command.cache + list(flags), lines)
    rows = [json.loads(line) for line in answer.splitlines()]
    for number, row in enumerate(rows):
        if "error" in row:
            raise Failure("text %d: %s" % (number, row["error"]["message"]))
    if [row["tokens"] for row in rows] != [len(ids) for ids in texts]:
        raise Failure("the numbers of tokens are %s" % [row["tokens"] for row in rows])
    return np.array([row["embedding"] for row in rows], np.float32)


def close(answer, exact):
    errors = [nmse(a, e) for a, e in zip(answer, exact)]
    note = "nmse at most %.2e, bound %.1e, %d texts" % (max(errors), BOUND, len(errors))
    if answer.shape != exact.shape or not max(errors) <= BOUND:
        raise Failure("%s: %s; shapes %s, %s" % (note, ["%.1e" % e for e in errors], answer.shape, exact.shape))
    return note


def equal(answer, expected, what):
    if answer.tobytes() != expected.tobytes():
        raise Failure("%s: %d of %d numbers differ" % (what, np.count_nonzero(answer != expected), answer.size))


def check_model(command, report, label, files, exact, texts):
    """`files`: (folder, GGUF file) of the same weights."""
    folder, file = files
    answers = {}

    def alone(path, flags=()):
        return np.concatenate([embed(command, path, [ids], flags) for ids in texts])

    def folder_alone():
        answers["alone"] = alone(folder)
        return close(answers["alone"], exact)

    def in_company():
        order = [5, 0, 3, 6, 1, 4, 2, 7]
        order = [i for i in order if i < len(texts)] * 2
        answer = embed(command, folder, [texts[i] for i in order])
        equal(answer, answers["alone"][order], "in other company")
        equal(embed(command, folder, texts, ["-t", "1"]), answers["alone"], "with one thread")
        equal(embed(command, folder, texts, ["-t", "3"]), answers["alone"], "with three threads")
        return "%d texts in any order, 1, 2 and 3 threads: equal bits" % len(order)

    def from_gguf():
        artifact = file + ".llmir"
        command.call(["compile", file, "-o", artifact, "--target", quick_level()])
        equal(alone(artifact), answers["alone"], "from GGUF at a lower level")
        return close(answers["alone"], exact)

    report.check(label + " alone", folder_alone)
    if "alone" in answers:
        report.check(label + " in company", in_company)
        report.check(label + " gguf", from_gguf)


def check_decoder(command, report, temp, family, pooling):
    """A decoder without its head; texts that are longer than a step take several."""
    label = "embeddings/%s %s" % (family, pooling)
    config, weights = make_tiny.make(family, max_positions=1024)
    folder, file = (os.path.join(temp, label.replace("/", "-").replace(" ", "-") + end) for end in ("", ".gguf"))
    make_tiny.write_hf(folder, config, weights)
    tensors = {name[len("model."):]: formats.encode("f32", values) for name, values in weights.items()
               if name.startswith("model.")}
    safetensors.write_folder(folder, tensors, 1)
    make_encoders.write_pooling(folder, pooling, config.hidden)
    make_tiny.write_gguf(file, config, weights)
    stored = gguf.read_gguf(file)
    arch = gguf.get(stored, "general.architecture")
    keys = dict(stored.keys)
    keys["%s.pooling_type" % arch] = ("u32", make_encoders.POOLING_TYPES[pooling])
    gguf.write_gguf(file, keys, stored.tensors)
    texts = texts_of(config, config.max_positions)
    reference = Model(config, weights)
    exact = np.array([encoders.embedding(reference.hidden(ids), pooling) for ids in texts])
    check_model(command, report, label, (folder, file), exact, texts)

    def in_pieces():
        artifact = os.path.join(temp, "pieces.llmir")
        answers = []
        for budget in (1, 7, 64):
            command.call(["compile", folder, "-o", artifact, "--target", quick_level(), "--token-budget", str(budget)])
            answers.append(embed(command, artifact, texts[:7]))
            equal(answers[-1], answers[0], "in steps of %d tokens" % budget)
        return close(answers[0], exact[:7])

    if pooling == "last":
        report.check(label + " in pieces", in_pieces)


def check_encoder(command, report, temp, name, pooling, prefix=""):
    label = "embeddings/%s %s" % (name, pooling)
    config, weights = make_encoders.make(name)
    folder, file = (os.path.join(temp, label.replace("/", "-").replace(" ", "-") + end) for end in ("", ".gguf"))
    make_encoders.write_hf(folder, config, weights, pooling, prefix)
    make_encoders.write_gguf(file, config, weights, pooling)
    texts = texts_of(config, config.max_positions - config.first_position)
    reference = encoders.CLASSES[config.family](config, weights)
    exact = np.array([encoders.embedding(reference.hidden(ids), pooling) for ids in texts])
    check_model(command, report, label, (folder, file), exact, texts)


def check_gemma(command, report, temp):
    """Gemma 3 in both directions, the mean, and two projections."""
    label = "embeddings/embedding_gemma mean"
    config, weights = make_tiny.make("gemma3", max_positions=640, window=40)
    random = np.random.RandomState(3)
    dense = [(random.standard_normal(shape) / 8).astype(np.float32) for shape in ((96, 64), (48, 96))]
    folder, file = (os.path.join(temp, "embedding-gemma" + end) for end in ("", ".gguf"))
    make_tiny.write_hf(folder, config, weights)
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as stream:
        fields = json.load(stream)
    fields["use_bidirectional_attention"] = True
    make_encoders.write_json(path, fields)
    tensors = {name[len("model."):]: formats.encode("f32", values) for name, values in weights.items()}
    safetensors.write_folder(folder, tensors, 1)
    make_encoders.write_pooling(folder, "mean", config.hidden, dense)
    make_tiny.write_gguf(file, config, weights)
    stored = gguf.read_gguf(file)
    keys = {key.replace("gemma3.", "gemma-embedding."): value for key, value in stored.keys.items()}
    keys.update({"general.architecture": ("string", "gemma-embedding"), "gemma-embedding.pooling_type": ("u32", 1),
                 "gemma-embedding.attention.causal": ("bool", False),
                 "gemma-embedding.attention.sliding_window_pattern": ("u32", config.full_every)})
    tensors = dict(stored.tensors)
    for i, matrix in enumerate(dense):
        tensors["dense_%d.weight" % (i + 2)] = formats.encode("f32", matrix)
    gguf.write_gguf(file, keys, tensors)
    texts = texts_of(config, config.max_positions)
    halved = Config(**dict(config.__dict__, window=config.window // 2 + 1))
    reference = encoders.EmbeddingGemma(halved, weights)
    exact = []
    for ids in texts:
        row = dense[1].astype(np.float64) @ (dense[0].astype(np.float64) @ reference.hidden(ids).mean(axis=0))
        exact.append(row / np.linalg.norm(row))
    check_model(command, report, label, (folder, file), np.array(exact), texts)


def suite_embeddings(command, report, temp):
    for family in DECODERS:
        check_decoder(command, report, temp, family, "last")
    check_decoder(command, report, temp, "qwen3", "cls")
    check_encoder(command, report, temp, "bert", "cls")
    check_encoder(command, report, temp, "bert_odd", "last", "bert.")
    check_encoder(command, report, temp, "xlm_roberta", "cls", "roberta.")
    check_encoder(command, report, temp, "nomic_bert", "cls")
    check_decoder(command, report, temp, "qwen3", "mean")
    check_encoder(command, report, temp, "bert", "mean")
    check_encoder(command, report, temp, "nomic_bert", "mean")
    check_encoder(command, report, temp, "modernbert", "cls", "model.")
    check_encoder(command, report, temp, "modernbert_odd", "mean")
    check_gemma(command, report, temp)
