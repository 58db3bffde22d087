#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX files: accepted by ONNX's checker and shape inference, with results equal to NumPy models.

    onnx_models.py --work DIR --llmir PROGRAM --llmir-translate PROGRAM --inputs DIR [--onnxruntime DIR]
                   [--seed N]

With --onnxruntime (the directory of the npm package onnxruntime-web) the files are also run by onnxruntime. The seed
of the models and inputs is printed; --seed reproduces them.
"""

import os
import sys

import numpy as np
import onnx
import onnx.shape_inference

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402
import onnx_node  # noqa: E402
import onnx_numpy  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from llmref import checkpoint  # noqa: E402
from llmref.model import Model  # noqa: E402
from mllmref import nn, vision  # noqa: E402

NMSE = 1e-9  # Bound relative to float64: constants and angles are float32.

check = Checks()


def near(actual, expected, bound=NMSE):
    if actual.shape != expected.shape:
        return False
    scale = np.mean(np.square(expected)) or 1.0
    return bool(np.mean(np.square(actual - expected)) <= bound * scale)


def export(options, name, source, *flags):
    """The ONNX model of an .mlir file, checked."""
    path = os.path.join(options.work, name + ".onnx")
    result = options.translate.run("--mllm-to-onnx", *flags, source, "-o", path)
    check(name + ": --mllm-to-onnx", result.code == 0, result)
    return path, check_file(name, path)


def check_file(name, path):
    """The file's model, checked by the checker and shape inference."""
    model = onnx.load(path)
    try:
        onnx.checker.check_model(path, full_check=True)  # By its path: external data is relative to it.
        onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        check(name + ": checker and shape inference", True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        check(name + ": checker and shape inference", False, error)
    check(name + ": opset 17", [opset.version for opset in model.opset_import] == [17])
    return model


def compute(options, name, path, model, inputs, expected, bound=NMSE):
    """Computes with both and compares the given outputs."""
    outputs = onnx_numpy.evaluate(model, inputs)
    for key, array in expected.items():
        check("%s: %s in NumPy" % (name, key), near(outputs[key], array, bound), (outputs[key].shape, array.shape))
    if options.onnxruntime:
        job = onnx_node.write_job(options.work, "job", path, inputs)
        found, error = onnx_node.run_jobs(options.onnxruntime, [job])[0]
        check(name + ": onnxruntime-web runs it", found is not None, error)
        for key, array in expected.items() if found else ():
            check("%s: %s in onnxruntime-web" % (name, key), near(found[key], array, max(bound, 1e-7)), found[key].shape)
    return outputs


def check_decoder(options, family, seed):
    """Prefill, then steps of one token with the cache, compared with the NumPy model."""
    config, weights = make_tiny.make(family, seed=seed)
    folder = os.path.join(options.work, family)
    make_tiny.write_hf(folder, config, weights)
    source = os.path.join(options.work, family + ".mlir")
    traced = options.llmir.run("compile", folder, "--emit", "mllm", "-o", source)
    check(family + ": --emit mllm", traced.code == 0, traced)
    path, model = export(options, family, source)
    names = [entry.name for entry in model.graph.input]
    inputs = {name: weights[name].astype(np.float32) for name in names if name in weights}
    converse(options, "%s seed %d" % (family, seed), path, model, inputs, Model(config, weights), seed)


def check_static_decoder(options, seed):
    """With a static number of tokens, the file supports every step of that many tokens, for any past."""
    config, weights = make_tiny.make("llama", seed=seed)
    source = os.path.join(options.work, "llama.mlir")  # Written by check_decoder().
    path, model = export(options, "llama-step", source, "--export-tokens=1")
    names = [entry.name for entry in model.graph.input]
    inputs = {name: weights[name].astype(np.float32) for name in names if name in weights}
    converse(options, "llama, one token", path, model, inputs, Model(config, weights), seed, counts=(1, 1, 1))
    _, model = export(options, "llama-third", source, "--export-tokens=1", "--export-size=past=2")
    sizes = {entry.name: [dim.dim_value for dim in entry.type.tensor_type.shape.dim]
             for entry in list(model.graph.input) + list(model.graph.output)}
    check("a past that is said is in the file's shapes", 2 in sizes["past_key_0"] and 3 in sizes["present_key_0"]
          and 0 not in sizes["past_value_0"] + sizes["present_value_0"], sizes)


def converse(options, name, path, model, inputs, reference, seed, bound=NMSE, counts=(7, 1, 1, 3)):
    """Prefill, then steps of one token and of several with the cache; `inputs` are the weights that are not in the file."""
    config = reference.config
    names = [entry.name for entry in model.graph.input]
    ids_name, logits_name = names[0], model.graph.output[0].name
    caches = [entry for entry in names if entry.startswith("past_")]
    check(name + ": a cache for each layer", len(caches) == 2 * config.layers, names)
    check(name + ": every input is known", len(inputs) + len(caches) + 1 == len(names), names)
    for entry in caches:
        inputs[entry] = np.zeros((0, config.kv_heads, config.head_dim), np.float32)
    cache = reference.new_cache()
    ids = np.random.RandomState(seed).randint(0, config.vocab, 12)
    done = 0
    for count in counts:
        inputs[ids_name] = ids[done:done + count].astype(np.int64)
        expected = np.asarray(reference.forward(ids[done:done + count], cache=cache))
        outputs = compute(options, "%s, tokens %d to %d" % (name, done, done + count), path, model, inputs,
                          {logits_name: expected}, bound)
        for entry in caches:
            inputs[entry] = outputs[entry.replace("past_", "present_", 1)].astype(np.float32)
        done += count
    check(name + ": the cache grew", inputs[caches[0]].shape[0] == sum(counts))


ELEMENTS = {"f32": 1, "f16": 10, "bf16": 16}


def check_export(options, family, stored, flags, element, bound=NMSE):
    """`llmir export`: a model with the weights of a directory or a GGUF file, embedded or external."""
    name = "export %s %s %s" % (family, stored, " ".join(flags))
    name = name.rstrip()
    is_gguf = stored.startswith("gguf-")
    config, weights = make_tiny.make(family, seed=options.seed, dtype="f32" if is_gguf else stored)
    source = os.path.join(options.work, "export-%s-%s" % (family, stored) + (".gguf" if is_gguf else ""))
    if is_gguf:
        make_tiny.write_gguf(source, config, weights, stored[len("gguf-"):])
        config, weights = checkpoint.load_checkpoint(source)
    else:
        make_tiny.write_hf(source, config, weights, dtype=stored)
    path = os.path.join(options.work, name.replace(" ", "-") + ".onnx")
    result = options.llmir.run("export", source, "-o", path, *flags)
    check(name + ": runs", result.code == 0, result)
    is_external = "--external-data" in flags
    check(name + ": where the weights are", os.path.exists(path + ".data") == is_external)
    model = check_file(name, path)
    check(name + ": inputs and outputs are named",
          (model.graph.input[0].name, model.graph.output[0].name) == ("input_ids", "logits"))
    matrices = [tensor for tensor in model.graph.initializer if len(tensor.dims) == 2 and "weight" in tensor.name]
    check(name + ": type of the weights",
          matrices and all(tensor.data_type == ELEMENTS[element] for tensor in matrices),
          [tensor.data_type for tensor in matrices])
    if is_external:
        plain = onnx.load(path, load_external_data=False)
        offsets = [int(entry.value) for tensor in plain.graph.initializer for entry in tensor.external_data
                   if entry.key == "offset"]
        check(name + ": weights can be mapped", offsets and all(offset % 4096 == 0 for offset in offsets), offsets)
    converse(options, name, path, model, {}, Model(config, weights), options.seed, bound)


def check_export_refusals(options):
    """Failed exports leave no file."""
    config, weights = make_tiny.make("llama", seed=options.seed)
    weights["model.norm.weight"][0] = 1e6
    folder = os.path.join(options.work, "beyond-f16")
    make_tiny.write_hf(folder, config, weights)
    path = os.path.join(options.work, "refused.onnx")
    for name, arguments, code, words in (
            ("a number beyond f16", (folder, "-o", path, "--weights", "f16"), 1, "'model.norm.weight' holds 1000000"),
            ("another ending", (folder, "-o", path + ".txt"), 2, "does not end in .onnx"),
            ("no such type", (folder, "-o", path, "--weights", "f64"), 2, "f64 not in"),
            ("no such directory", (folder, "-o", os.path.join(options.work, "none", "x.onnx")), 1, "none")):
        result = options.llmir.run("export", *arguments)
        check("export: " + name, result.code == code and words in result.err, result)
        check("export: %s leaves no file" % name, not os.path.exists(path) and not os.path.exists(path + ".data"))


def check_vision(options, seed):
    """A small network of convolutions and norms, compared with NumPy."""
    path, model = export(options, "vision", os.path.join(options.inputs, "onnx-vision.mlir"))
    random = np.random.RandomState(seed)
    inputs = {}
    for entry in model.graph.input:
        shape = [dim.dim_value for dim in entry.type.tensor_type.shape.dim]
        inputs[entry.name] = random.uniform(-1, 1, shape).astype(np.float32)
    wide = {name: array.astype(np.float64) for name, array in inputs.items()}
    x = vision.conv(wide["v0"], wide["patch.weight"], wide["patch.bias"], stride=(2, 2), padding=(1, 1))
    x = nn.layer_norm_2d(x, wide["norm.weight"], wide["norm.bias"], 1e-6)
    x = nn.gelu(vision.conv(x, wide["deep.weight"], None, padding=(1, 1), groups=8))
    x = x.reshape(1, 8, 16).transpose(0, 2, 1)
    x = nn.layer_norm(x, None, None, 1e-5)
    a, b = x[..., :3], x[..., 3:]
    x = np.concatenate([nn.gelu_tanh(b), nn.quick_gelu(a)], -1)
    scores = nn.softmax(nn.matmul(x, x, transpose_b=True) * 0.25, -1)
    x = np.matmul(scores, x)[:, 1::2]
    x = np.stack([np.repeat(x, 2, 1), np.abs(np.sin(np.repeat(x, 2, 1)))], 0)
    compute(options, "vision", path, model, inputs, {model.graph.output[0].name: x})


def check_refusals(options):
    for name, words in (("onnx-refused-type", "only f32, i64, i32 and bool"),
                        ("onnx-refused-op", "istft: opset 17 has no inverse transform")):
        result = options.translate.run("--mllm-to-onnx", os.path.join(options.inputs, name + ".mlir"))
        check(name, result.code != 0 and not result.out and words in result.err, result)


def main():
    parser = work_parser(__doc__, "llmir", "llmir-translate", "inputs")
    parser.add_argument("--onnxruntime", help="node_modules/onnxruntime-web")
    parser.add_argument("--seed", type=int, help="random unless given")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(3), "little")
    print("seed %d" % options.seed)
    fresh_folder(options.work)
    options.llmir, options.translate = Command(options.llmir), Command(options.llmir_translate)
    for family in ("llama", "qwen2", "qwen3"):
        check_decoder(options, family, options.seed)
    check_static_decoder(options, options.seed)
    check_vision(options, options.seed)
    check_refusals(options)
    check_export(options, "llama", "f32", (), "f32")
    check_export(options, "llama3", "bf16", ("--external-data",), "bf16")
    check_export(options, "gpt2", "f16", (), "f16")
    check_export(options, "gpt2", "f32", ("--external-data",), "f32")
    check_export(options, "qwen3", "bf16", ("--weights", "f32"), "f32")
    check_export(options, "llama", "gguf-q8_0", (), "f32")
    check_export(options, "qwen2", "f32", ("--weights", "bf16"), "bf16", 5e-4)  # Rounded to 8 bits of mantissa. Measured: 8e-5.
    check_export_refusals(options)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
