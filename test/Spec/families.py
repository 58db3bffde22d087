"""Models of all families and both containers have a common IR: their steps differ only in sizes and in the ops of
the `llm` dialect that they contain, and the same pipelines process all of them.

families.py --work DIR --llmir PROGRAM --llmir-opt PROGRAM
"""

import os
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))
import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402
from llmref.metrics import nmse  # noqa: E402
from llmref.model import Model  # noqa: E402

check = Checks()
IDS = [5, 3, 8, 250, 17, 99, 1, 64]
LLM_OP = re.compile(r"\bllm\.(\w+)(?= [%@])")
ANY_OP = re.compile(r"^ +(?:%[\w:, %]+ = )?\"?([a-z_]+\.[a-z_.]+|call|return)\b", re.M)
# Ops of every decoder, and those of a family.
SHARED = {"weight", "embedding", "linear", "add", "append_kv", "paged_attention", "select_rows"}
OWN = {"llama3": {"rms_norm", "rope", "silu", "mul"}, "qwen2": {"rms_norm", "rope", "silu", "mul"},
       "qwen3": {"rms_norm", "rope", "silu", "mul"}, "gpt2": {"layer_norm", "gelu"}}
# In addition to the dialect's ops: calls, constants, and tensors divided into
# heads.
HELPERS = ("func.", "call", "return", "arith.constant", "tensor.", "mllm.tensor.register")


def without_sources(text):
    """The module without the sources of its parameters in a checkpoint."""
    return "\n".join(re.sub(r" \{.*\}$", "", line) if "mllm.tensor.register" in line
                     else re.sub(r"mllm\.model = \{.*?\}", "", line) for line in text.split("\n"))


class Family:
    def __init__(self, options, name):
        self.name, self.work = name, os.path.join(options.work, name)
        self.llmir, self.opt = Command(options.llmir), Command(options.llmir_opt)
        self.config, self.weights = make_tiny.make(name)
        # A Hugging Face model directory, and the GGUF file of llama.cpp.
        make_tiny.write_hf(self.work, self.config, self.weights)
        make_tiny.write_gguf(self.work + ".gguf", self.config, self.weights, "f32")
        self.models = (self.work, self.work + ".gguf")

    def emit(self, form):
        """The form of both containers."""
        return [self.llmir("compile", model, "--emit", form) for model in self.models]

    def logits(self, model):
        artifact, name = model + ".llmir", model + ".npy"
        self.llmir("compile", model, "-o", artifact, "--target", quick_level())
        self.llmir("perplexity", artifact, "--ids", ",".join(map(str, IDS)), "--logits", name)
        return np.load(name)

    def check_ops(self, text):
        # SPEC: 3 5 14 27 82 112 144
        used = set(LLM_OP.findall(text))
        check(self.name + ": ops of the dialect", used == SHARED | OWN[self.name], sorted(used ^ SHARED ^ OWN[self.name]))
        others = {op for op in ANY_OP.findall(text) if not op.startswith(("llm.",) + HELPERS)}
        check(self.name + ": and no others", not others, others)
        check(self.name + ": the cache is one of its types", "!llm.paged_kv_cache<" in text)
        quantized = self.llmir("compile", self.work, "--quantize", "int8", "--emit", "llm")
        check(self.name + ": quantized weights, too", "!llm.quantized_tensor<i8" in quantized
              and "llm.quantized_matmul" in quantized)

    def check_containers(self):
        # SPEC: 6 20
        for form in ("llm", "optimized"):
            folder, gguf = (without_sources(text) for text in self.emit(form))
            check("%s: %s of both containers" % (self.name, form), folder == gguf,
                  [pair for pair in zip(folder.split("\n"), gguf.split("\n")) if pair[0] != pair[1]][:2])

    def check_pipeline(self, text):
        """The same pipeline handles all families, and merges equal layers into one function."""
        # SPEC: 6 21
        made = self.opt.run("--llmir-optimize-stage", "-", stdin=text.encode())
        functions = re.findall(r"func\.func (?:private )?@([\w.]+)", made.out)
        check(self.name + ": optimized", made.code == 0 and len(functions) == 2, functions or made)

    def check_results(self):
        """Complements the test that compares models from directories with NumPy: models from GGUF files."""
        # SPEC: 3 6 27
        error = nmse(self.logits(self.models[1]), Model(self.config, self.weights).forward(IDS))
        check(self.name + ": of the GGUF file runs", error < 1e-8, error)


def main():
    options = work_parser(__doc__, "llmir", "llmir-opt").parse_args()
    fresh_folder(options.work)
    for name in OWN:
        family = Family(options, name)
        text = family.emit("llm")[0]
        family.check_ops(text)
        family.check_containers()
        family.check_pipeline(text)
        family.check_results()
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
