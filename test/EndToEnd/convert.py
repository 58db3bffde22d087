#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion to GGUF: the results are run, and compared with what they were made from.

    convert.py --work DIR --llmir PROGRAM --model DIR [--llama-cpp LIBRARIES]

--llama-cpp gives the directory of llama.cpp's libraries (the npm package @node-llama-cpp/linux-x64 has
them in bins/linux-x64), which must load the files and compute the same logits.
"""

import argparse
import json
import os
import struct
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "test", "reference"))
import make_experts  # noqa: E402
import make_families  # noqa: E402
import make_hybrid  # noqa: E402
import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, quick_level  # noqa: E402
from llmref import formats, gguf  # noqa: E402

PROMPT = "In the beginning"
FLAGS = ("-n", "24", "--temp", "0", "--json")
# The largest error of the weights, sum (x - y)^2 / sum x^2, of a type's most common format.
TYPES = {"f16": 1e-7, "bf16": 1e-5, "q8_0": 1e-4, "q6_k": 1e-3, "q5_k_m": 3e-3, "q5_k_s": 3e-3, "q5_1": 3e-3,
         "q5_0": 4e-3, "q4_k_m": 1e-2, "q4_k_s": 1e-2, "q4_1": 1e-2, "q4_0": 1.5e-2, "iq4_nl": 1e-2,
         "iq4_xs": 1e-2, "mxfp4": 2e-2, "q3_k_l": 4e-2, "q3_k_m": 4e-2, "q3_k_s": 4e-2, "q2_k": 0.12,
         "tq2_0": 0.4, "tq1_0": 0.4}

# Keys of a reference file that are free: the second one repeats the usual factor, by which llama.cpp multiplies.
FREE_KEYS = ("general.name", "olmo2.rope.scaling.attn_factor")

# Families whose files may have gate and up projections apart; `convert` writes one tensor.
OTHER_FILES = ("gemma4_separate", "mistral4_groups")

# Why llama.cpp computes other logits of some tiny models.
PEER_DIFFERS = {"deepseek_v2": "it scores groups of experts as DeepSeek-V3 does",
                "deepseek_v2_lite": "it loads models without q_lora_rank of 26 or 27 layers only",
                "exaone4": "it has windows only in models of 64 layers",
                "lfm2_biased": "its convolutions have no biases, nor have those of real models",
                "lfm2_moe": "it does not scale the weights of experts; the factor of real models is 1",
                "llama4": "its chunks and the range of positions with the same scale are 8192, as in real models",
                "qwen3_5": "as qwen3_next", "qwen3_5_moe": "as qwen3_next",
                "qwen3_next": "it takes the values of a state to be as long as its keys, which those of real models are",
                "gpt_oss": "it rounds the bounds of YaRN's ramp, which the models' config.json rules out",
                "qwen2_moe": "it loads models without dense layers only, which real ones are",
                "qwen3_moe": "it loads models without dense layers only, which real ones are",
                "gemma2": "it has no key for query_pre_attn_scalar, which real models have as the size of a head"}

check = Checks()


def values(tensor):
    return formats.decode(tensor.format, tensor.shape, tensor.data).astype(np.float64)


def equal(one, other):
    """Whether two keys have the same type and value, f32 as stored."""
    if other is None or one[0] != other[0]:
        return False
    return np.float32(one[1]) == np.float32(other[1]) if one[0] == "f32" else one[1] == other[1]


class Peer:
    """llama.cpp's logits."""

    def __init__(self, libraries, work):
        self.libraries, self.work = libraries, work

    def logits(self, path, ids):
        ids_file, out = os.path.join(self.work, "peer.txt"), os.path.join(self.work, "peer.npy")
        with open(ids_file, "w", encoding="utf-8") as stream:
            stream.write(",".join(map(str, ids)))
        subprocess.run([sys.executable, os.path.join(ROOT, "benchmarks", "llama_cpp_logits.py"), "--libraries",
                        self.libraries, "--ids", ids_file, "--ctx", "64", "--out", out, "--kv", "f32", path],
                       env=dict(os.environ, LD_LIBRARY_PATH=self.libraries), check=True, stderr=subprocess.DEVNULL)
        return np.load(out)


class Conversions:
    def __init__(self, options):
        self.work, self.model = options.work, options.model
        self.llmir = Command(options.llmir, os.path.join(options.work, "cache"))
        self.peer = Peer(options.llama_cpp, options.work) if options.llama_cpp else None

    def path(self, name):
        return os.path.join(self.work, name)

    def convert(self, model, name, *flags):
        """-> (path, report)"""
        path = self.path(name)
        report = json.loads(self.llmir("convert", model, "-o", path, "--json", *flags))
        return path, report

    def run(self, model, *flags):
        artifact = model + ".llmir"
        self.llmir("compile", model, "-o", artifact, "--target", quick_level(), "--kv", "f32", *flags)
        return json.loads(self.llmir("run", artifact, PROMPT, *FLAGS))

    def logits(self, model, ids):
        ids_file, out = self.path("ids.txt"), self.path("logits.npy")
        with open(ids_file, "w", encoding="utf-8") as stream:
            stream.write(",".join(map(str, ids)))
        self.llmir("perplexity", model, "--kv", "f32", "--ids", ids_file, "--ctx", str(len(ids)), "--logits", out)
        return np.load(out)

    # Checks

    def check_exact(self):
        """f32 and bf16 files of the demo model (bf16) give its ids, tokens and template."""
        source = self.path("demo")
        os.symlink(os.path.abspath(self.model), source)
        expected = self.run(source)
        for kind in ("f32", "bf16", "f16"):
            path, report = self.convert(self.model, "demo-%s.gguf" % kind, "--type", kind)
            answer = self.run(path)
            check("demo as %s: the same tokens" % kind, answer["prompt_ids"] == expected["prompt_ids"], answer)
            check("demo as %s: the same greedy ids" % kind, answer["ids"] == expected["ids"], answer)
            check("demo as %s: the size" % kind, os.path.getsize(path) == report["bytes"], report["bytes"])
        text = "It's 1234 o'clock\n\n  déjà vu 你好 <|endoftext|>"
        ids = [self.llmir("tokenize", model, text) for model in (self.model, path)]
        check("the tokenizer of the file", ids[0] == ids[1], ids)

    def check_types(self):
        exact = gguf.read_gguf(self.path("demo-f32.gguf")).tensors
        for kind, bound in TYPES.items():
            path, report = self.convert(self.model, "demo-%s.gguf" % kind, "--type", kind)
            file = gguf.read_gguf(path)
            errors = [np.square(values(file.tensors[name]) - values(exact[name])).sum()
                      / np.square(values(exact[name])).sum() for name in exact]
            check("demo as %s: errors" % kind, max(errors) <= bound, max(errors))
            check("demo as %s: tensors as reported" % kind, [(t["name"], t["type"]) for t in report["tensors"]]
                  == [(name, tensor.format) for name, tensor in file.tensors.items()])
        if hasattr(os, "sched_setaffinity"):
            self.check_one_thread()
        answer = self.run(self.path("demo-q4_k_m.gguf"))
        check("demo as q4_k_m runs", len(answer["ids"]) == 24, answer)

    def check_sampling(self):
        """The parameters of generation_config.json are those of the file."""
        folder = self.path("sampling")
        os.mkdir(folder)
        for name in os.listdir(self.model):
            os.symlink(os.path.abspath(os.path.join(self.model, name)), os.path.join(folder, name))
        generation = os.path.join(folder, "generation_config.json")
        if os.path.exists(generation):
            os.remove(generation)
        with open(generation, "w", encoding="utf-8") as stream:
            json.dump({"do_sample": True, "temperature": 0.5, "top_k": 12, "top_p": 0.75, "min_p": 0.125,
                       "repetition_penalty": 1.25}, stream)
        path, _ = self.convert(folder, "sampling.gguf", "--type", "q4_0")
        keys = gguf.read_gguf(path).keys
        sampling = {key: float(value[1]) for key, value in keys.items() if key.startswith("general.sampling.")}
        check("sampling parameters", sampling == {
            "general.sampling.temp": 0.5, "general.sampling.top_k": 12, "general.sampling.top_p": 0.75,
            "general.sampling.min_p": 0.125, "general.sampling.penalty_repeat": 1.25}, sampling)
        greedy = self.run(path)["ids"]
        sampled = json.loads(self.llmir("run", path + ".llmir", PROMPT, "-n", "24", "--seed", "3", "--json"))["ids"]
        check("sampling parameters are applied", sampled != greedy, sampled)

    def check_one_thread(self):
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cpus)})
        try:
            path, _ = self.convert(self.model, "one-thread.gguf", "--type", "q4_k_m")
        finally:
            os.sched_setaffinity(0, cpus)
        with open(path, "rb") as one, open(self.path("demo-q4_k_m.gguf"), "rb") as other:
            check("one thread and all give the same file", one.read() == other.read())

    def check_odd(self):
        """Rows that are not whole blocks get another format, which the command says once."""
        make_tiny.main(["--family", "qwen2", "--odd", "--out", self.path("tiny-odd")])
        odd, report = self.convert(self.path("tiny-odd"), "odd.gguf", "--type", "q4_k_m")
        check("rows that are not whole blocks", any("others have rows of 60 elements, not a multiple of the blocks of "
                                                    "q4_k: they are f16" in each for each in report["notes"])
              and os.path.getsize(odd) == report["bytes"], report["notes"])

    def check_requantized(self):
        """A GGUF file as the source: what it already has is copied, other keys stay."""
        source = self.path("demo-f32.gguf")
        path, _ = self.convert(source, "again-q8_0.gguf", "--type", "q8_0")
        again, first = gguf.read_gguf(path), gguf.read_gguf(self.path("demo-q8_0.gguf"))
        check("q8_0 from the directory and from f32 are equal", again.tensors == first.tensors
              and dict(again.keys) == dict(first.keys))
        path, report = self.convert(path, "again-q4_0.gguf", "--type", "q4_0")
        check("errors of both are announced", any("errors add up" in each for each in report["notes"]), report["notes"])
        answer = self.run(path)
        check("q4_0 from q8_0 runs", len(answer["ids"]) == 24, answer)

    def check_split(self):
        path, report = self.convert(self.model, "parts.gguf", "--type", "bf16", "--split-max-size", "500K")
        files = [each["path"] for each in report["files"]]
        check("parts", len(files) > 1 and files[0].endswith("parts-00001-of-%05d.gguf" % len(files)), files)
        check("parts of the right size", all(os.path.getsize(each["path"]) == each["bytes"]
                                             for each in report["files"]), report["files"])
        check("no whole file beside the parts", not os.path.exists(path))
        expected = self.run(self.path("demo-bf16.gguf"))
        check("parts run", self.run(files[0])["ids"] == expected["ids"])
        joined, _ = self.convert(files[0], "joined.gguf", "--type", "bf16")
        one, other = gguf.read_gguf(joined), gguf.read_gguf(self.path("demo-bf16.gguf"))
        check("parts joined are the whole", one.tensors == other.tensors and dict(one.keys) == dict(other.keys))

    def check_weighted(self):
        """With statistics, the weighted error is smaller; both formats of them give the same file."""
        exact = gguf.read_gguf(self.path("demo-f32.gguf")).tensors
        random = np.random.RandomState(4)
        matrices = {name: tensor for name, tensor in exact.items() if len(tensor.shape) == 2}
        means = {name: np.exp(random.randn(tensor.shape[1])).astype(np.float32)
                 for name, tensor in matrices.items()}
        old, new = self.path("imatrix.dat"), self.path("imatrix.gguf")
        with open(old, "wb") as stream:
            stream.write(struct.pack("<i", len(means)))
            for name, mean in means.items():
                stream.write(struct.pack("<i", len(name)) + name.encode() + struct.pack("<ii", 8, len(mean)))
                stream.write((mean * 8).tobytes())
            stream.write(struct.pack("<ii", 3, 4) + b"text")
        tensors = {}
        for name, mean in means.items():
            tensors[name + ".in_sum2"] = formats.Tensor("f32", (1, len(mean)), (mean * 16).tobytes())
            tensors[name + ".counts"] = formats.Tensor("f32", (1, 1), np.float32(16).tobytes())
        gguf.write_gguf(new, {"general.type": ("string", "imatrix"), "imatrix.datasets": ("[]string", ["text"]),
                              "imatrix.chunk_count": ("u32", 3), "imatrix.chunk_size": ("u32", 512)}, tensors)
        for kind in ("q4_0", "q4_k_s", "q2_k", "iq4_xs"):
            plain = gguf.read_gguf(self.path("demo-%s.gguf" % kind)).tensors
            path, report = self.convert(self.model, "weighted.gguf", "--type", kind, "--imatrix", old)
            weighted = gguf.read_gguf(path)
            errors = [sum((np.square(values(file[name]) - values(exact[name])) * means[name]).sum()
                          for name in matrices) for file in (plain, weighted.tensors)]
            check("%s with statistics has a smaller weighted error" % kind, errors[1] < 0.97 * errors[0], errors)
            path, _ = self.convert(self.model, "weighted-new.gguf", "--type", kind, "--imatrix", new)
            other = gguf.read_gguf(path)
            check("%s with both formats of statistics" % kind, other.tensors == weighted.tensors)
        check("the keys name the statistics", gguf.get(other, "quantize.imatrix.dataset") == "text"
              and gguf.get(other, "quantize.imatrix.chunks_count") == 3, sorted(other.keys))

    def check_families(self):
        """A tiny random model of each family: the file is the one that the reference writes, of which other tests
        show that it gives the reference's logits; keys that only repeat a default are free."""
        for family in sorted({**make_tiny.FAMILIES, **make_families.FAMILIES, **make_experts.FAMILIES,
                              **make_hybrid.FAMILIES}):
            if family in OTHER_FILES:
                continue
            folder, reference = self.path("tiny-" + family), self.path("reference.gguf")
            make_tiny.main(["--family", family, "--out", folder, "--gguf", reference])
            self.check_file(family, folder, reference)
        for family, heads in (("qwen3_5", 2), ("qwen3_5", 6), ("qwen3_5_moe", 6)):  # As llama.cpp loads them.
            config, weights = make_tiny.make(family, key_heads=2, value_heads=heads, value_dim=16)
            name = "%s_%d_heads" % (family, heads)
            folder, reference = self.path("tiny-" + name), self.path("reference.gguf")
            make_tiny.write_hf(folder, config, weights)
            make_tiny.write_gguf(reference, config, weights)
            self.check_file(name, folder, reference)

    def check_file(self, family, folder, reference):
        path, _ = self.convert(folder, family + ".gguf", "--type", "f32")
        expected, file = gguf.read_gguf(reference), gguf.read_gguf(path)
        names = sorted(set(expected.tensors) ^ set(file.tensors))
        check("%s: the same tensors" % family, not names, names)
        wrong = [name for name, tensor in expected.tensors.items() if file.tensors.get(name) != tensor]
        check("%s: tensors are equal" % family, not wrong, wrong)
        wrong = {key: (value, file.keys.get(key)) for key, value in expected.keys.items()
                 if key not in FREE_KEYS and not equal(value, file.keys.get(key))}
        check("%s: keys are equal" % family, not wrong, wrong)
        if self.peer:
            self.check_peer_of(family, folder, path)

    def check_peer_of(self, family, folder, path):
        if family in PEER_DIFFERS:
            check.skip("%s: llama.cpp's logits" % family, PEER_DIFFERS[family])
            return
        ids = list(np.random.RandomState(2).randint(3, 200, 16))  # fewer than the windows
        expected = self.logits(folder, ids)
        try:
            peer = self.peer.logits(path, ids)
        except subprocess.CalledProcessError:
            check("%s: llama.cpp loads it" % family, False, path)
            return
        error = np.square(peer - expected).sum() / np.square(expected).sum()
        check("%s: llama.cpp's logits" % family, error <= 1e-4, error)

    def check_peer(self):
        ids = json.loads(self.llmir("run", self.path("demo-f32.gguf.llmir"), PROMPT, *FLAGS))["ids"]
        expected = self.logits(self.model, ids)
        for kind, bound in list(TYPES.items())[:9]:
            logits = self.peer.logits(self.path("demo-%s.gguf" % kind), ids)
            error = np.square(logits - expected).sum() / np.square(expected).sum()
            check("demo as %s: llama.cpp's logits" % kind, error <= max(10 * bound, 1e-4), error)

    def check_refusals(self):
        def refused(message, *arguments):
            error = self.llmir.refuse("convert", *arguments)
            check("refused: " + message, message in error, error)
        out = self.path("refused.gguf")
        refused("unknown type 'q4'", self.model, "-o", out, "--type", "q4")
        refused("does not end in .gguf", self.model, "-o", self.path("refused.bin"))
        refused("No such file", self.path("missing"), "-o", out)
        refused("cannot open", self.model, "-o", out, "--imatrix", self.path("missing.dat"), "--type", "q4_0")
        refused("cannot create", self.model, "-o", self.path("missing/a.gguf"))
        with open(self.path("broken.dat"), "wb") as stream:
            stream.write(struct.pack("<ii", 1, 1 << 30))
        refused("the name of entry 0 is wrong", self.model, "-o", out, "--imatrix", self.path("broken.dat"))
        self.check_refused_llama4(refused, out)
        refused("--split-max-size", self.model, "-o", out, "--split-max-size", "x")
        check("nothing is left of what is refused", not os.path.exists(out))
        text = self.llmir("convert", self.model, "-o", out, "--type", "q4_k_m", "--dry-run")
        check("--dry-run", "q4_k: " in text and "nothing was written" in text and not os.path.exists(out), text)

    def check_refused_llama4(self, refused, out):
        """Models whose layers GGUF cannot describe."""
        folder = self.path("llama4-other")
        make_tiny.main(["--family", "llama4", "--out", folder])
        file = os.path.join(folder, "config.json")
        with open(file, encoding="utf-8") as stream:
            usual = json.load(stream)
        layers = usual.get("text_config", usual)["num_hidden_layers"]
        kinds = ["full_attention" if i in (0, 3) else "chunked_attention" for i in range(layers)]
        for change, cause in (({"layer_types": kinds}, "layer 0 attends"),
                              ({"attn_temperature_tuning": False}, "'attn_temperature_tuning'")):
            config = json.loads(json.dumps(usual))
            config.get("text_config", config).update(change)
            with open(file, "w", encoding="utf-8") as stream:
                json.dump(config, stream)
            refused(cause, folder, "-o", out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--work", "--llmir", "--model"):
        parser.add_argument(name, required=True)
    parser.add_argument("--llama-cpp", metavar="LIBRARIES")
    options = parser.parse_args()
    fresh_folder(options.work)
    conversions = Conversions(options)
    conversions.check_exact()
    conversions.check_types()
    conversions.check_sampling()
    conversions.check_requantized()
    conversions.check_odd()
    conversions.check_split()
    conversions.check_weighted()
    conversions.check_refusals()
    conversions.check_families()
    if conversions.peer:
        conversions.check_peer()
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
