#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llama-bench for a libllama that is distributed without it; for compare.py.

    llama_cpp_bench.py --libraries DIR -m MODEL.gguf [-p 512] [-n 64] [-d 0] [-s 1] [-t 1] [-r 3]

Measures like llama-bench: a prompt is one batch whose last token has logits, decoding processes one
token (of each of -s sequences) at a time, with -d tokens already in the context, after a short
repetition (64 tokens of a prompt, one when decoding) to warm up. Prints a JSON list with a row for
each of -p, -n that is not 0, with llama-bench's names.
"""
import argparse
import ctypes as c
import json
import os
import statistics
import time

from llama_cpp_logits import context_params, load_library

# Additional functions: name -> (result, arguments).
FUNCTIONS = {
    "llama_synchronize": (None, [c.c_void_p]),
    "llama_set_n_threads": (None, [c.c_void_p, c.c_int32, c.c_int32]),
    "llama_n_threads": (c.c_int32, [c.c_void_p]),
    "llama_n_ctx": (c.c_uint32, [c.c_void_p]),
    "llama_n_batch": (c.c_uint32, [c.c_void_p]),
    "llama_n_ubatch": (c.c_uint32, [c.c_void_p]),
    "llama_memory_seq_rm": (c.c_bool, [c.c_void_p, c.c_int32, c.c_int32, c.c_int32]),
    "llama_model_desc": (c.c_int32, [c.c_void_p, c.c_char_p, c.c_size_t]),
    "llama_version": (c.c_char_p, []),
    "llama_log_set": (None, [c.c_void_p, c.c_void_p]),
}
LOG = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)


class Bench:
    """One context, and a batch that is reused for each step."""

    def __init__(self, options):
        # Kept alive, since the library calls it during its lifetime.
        self.log = LOG(lambda level, text, data: None)
        self.llama = load_library(os.path.abspath(options.libraries))
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(self.llama, name)
            function.restype, function.argtypes = result, arguments
        if not options.verbose:
            self.llama.llama_log_set(c.cast(self.log, c.c_void_p), None)
        self.model = self.llama.llama_model_load_from_file(
            options.model.encode(), self.llama.llama_model_default_params())
        if not self.model:
            raise SystemExit("%s: llama.cpp cannot load it" % options.model)
        self.vocabulary = self.llama.llama_vocab_n_tokens(
            self.llama.llama_model_get_vocab(self.model))
        longest = (options.depth + max(options.prompt, options.gen, 1)) * options.sequences
        self.context = self.make_context(longest, options)
        self.memory = self.llama.llama_get_memory(self.context)
        self.batch = self.llama.llama_batch_init(options.batch, 0, 1)
        self.ubatch = options.batch
        self.random = 1

    def make_context(self, longest, options):
        size = (max(longest, options.batch) + 255) // 256 * 256
        params = context_params(self.llama, size, options.kv, options.threads)
        params.n_batch = params.n_ubatch = options.batch
        params.n_seq_max = options.sequences
        context = self.llama.llama_init_from_model(self.model, params)
        if not context:
            raise SystemExit("%s: llama.cpp cannot create a context" % options.model)
        # Check that the values have reached the fields of the struct.
        reached = (self.llama.llama_n_ctx(context), self.llama.llama_n_batch(context),
                   self.llama.llama_n_ubatch(context), self.llama.llama_n_threads(context))
        if reached[0] < size or reached[1:] != (options.batch, options.batch, options.threads):
            raise SystemExit("llama.cpp took %s for (context, batch, ubatch, threads)"
                             % (reached,))
        return context

    def token(self):
        self.random = (self.random * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.random >> 33) % self.vocabulary

    def step(self, tokens):
        """Decodes (sequence, position, wants logits) for each token."""
        batch = self.batch
        batch.n_tokens = len(tokens)
        for i, (sequence, position, wanted) in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.logits[i] = self.token(), position, wanted
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = sequence
        if self.llama.llama_decode(self.context, batch) != 0:
            raise SystemExit("llama_decode failed")

    def feed(self, sequence, first, count):
        for done in range(0, count, self.ubatch):
            piece = min(self.ubatch, count - done)
            self.step([(sequence, first + done + i, i == piece - 1) for i in range(piece)])
        self.llama.llama_synchronize(self.context)

    def decode(self, sequences, first, count):
        for i in range(count):
            self.step([(sequence, first + i, 1) for sequence in range(sequences)])
            self.llama.llama_synchronize(self.context)

    def rates(self, prompt, gen, depth, sequences, repetitions):
        """Tokens per second of each repetition."""
        self.llama.llama_memory_clear(self.memory, True)
        for sequence in range(sequences):
            self.feed(sequence, 0, depth)
        samples = []
        for repetition in range(repetitions + 1):
            start = time.perf_counter()
            if prompt:
                self.feed(0, depth, prompt if repetition else min(prompt, 64))
            else:
                self.decode(sequences, depth, gen if repetition else 1)
            seconds = time.perf_counter() - start
            for sequence in range(sequences):
                self.llama.llama_memory_seq_rm(self.memory, sequence, depth, -1)
            if repetition:
                samples.append((prompt or gen * sequences) / seconds)
        return samples

    def describe(self):
        text = c.create_string_buffer(256)
        self.llama.llama_model_desc(self.model, text, len(text))
        with open("/proc/self/maps", encoding="utf-8") as maps:
            units = sorted({os.path.basename(line.split()[-1]) for line in maps
                            if "libggml-cpu" in line})
        return {"engine": "llama.cpp", "build_commit": self.llama.llama_version().decode(),
                "model_type": text.value.decode(), "cpu_library": " ".join(units)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libraries", required=True, help="directory of libllama and libggml*")
    parser.add_argument("-m", "--model", required=True)
    for flag, name, default in (("-p", "prompt", 512), ("-n", "gen", 64), ("-d", "depth", 0),
                                ("-s", "sequences", 1), ("-t", "threads", 1),
                                ("-r", "repetitions", 3), ("-b", "batch", 512)):
        parser.add_argument(flag, "--" + name, type=int, default=default)
    parser.add_argument("--kv", default="f16", help="type of the KV cache")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    bench = Bench(options)
    rows = []
    for prompt, gen in ((options.prompt, 0), (0, options.gen)):
        if not prompt and not gen:
            continue
        samples = bench.rates(prompt, gen, options.depth, options.sequences if gen else 1,
                              options.repetitions)
        rows.append(dict(bench.describe(), n_prompt=prompt, n_gen=gen, n_depth=options.depth,
                         n_sequences=options.sequences if gen else 1, n_threads=options.threads,
                         type_k=options.kv, avg_ts=statistics.mean(samples), samples_ts=samples))
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
