#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llama.cpp's logits for token ids, through its C interface; for accuracy.py.

    llama_cpp_logits.py --libraries DIR --ids IDS.txt --ctx 512 --out LOGITS.npy MODEL.gguf

DIR has libllama, libggml and libggml-base of one release, and the libggml-cpu-* to choose from;
LD_LIBRARY_PATH must contain it as well. The structs below are those of release v0.5.0; the script
fails if their defaults are not as expected.
"""
import argparse
import ctypes as c
import glob
import os

import numpy as np

GGML_TYPES = {"f32": 0, "f16": 1, "bf16": 30, "q8": 8}


class ModelParams(c.Structure):
    """llama_model_params, whose defaults suffice: an opaque struct of at least its size."""
    _fields_ = [("bytes", c.c_uint8 * 256)]


class ContextParams(c.Structure):
    """llama_context_params up to the types of the cache, then padding for the rest."""
    _fields_ = ([(name, c.c_uint32) for name in
                 ("n_ctx", "n_batch", "n_ubatch", "n_seq_max", "n_rs_seq", "n_outputs_max",
                  "one")]  # Its default; its meaning is not needed.
                + [(name, c.c_int32) for name in
                   ("n_threads", "n_threads_batch", "ctx_type", "rope_scaling_type",
                    "pooling_type", "attention_type", "flash_attn_type")]
                + [(name, c.c_float) for name in
                   ("rope_freq_base", "rope_freq_scale", "yarn_ext_factor", "yarn_attn_factor",
                    "yarn_beta_fast", "yarn_beta_slow")]
                + [("yarn_orig_ctx", c.c_uint32), ("defrag_thold", c.c_float),
                   ("cb_eval", c.c_void_p), ("cb_eval_user_data", c.c_void_p),
                   ("type_k", c.c_int32), ("type_v", c.c_int32), ("rest", c.c_uint8 * 256)])


class Batch(c.Structure):
    """llama_batch: n tokens with a position, their sequences, and whether to compute logits."""
    _fields_ = [("n_tokens", c.c_int32), ("token", c.POINTER(c.c_int32)), ("embd", c.c_void_p),
                ("pos", c.POINTER(c.c_int32)), ("n_seq_id", c.POINTER(c.c_int32)),
                ("seq_id", c.POINTER(c.POINTER(c.c_int32))), ("logits", c.POINTER(c.c_int8))]


# name -> (result, arguments); functions that are not listed return an int.
FUNCTIONS = {
    "llama_model_default_params": (ModelParams, []),
    "llama_context_default_params": (ContextParams, []),
    "llama_model_load_from_file": (c.c_void_p, [c.c_char_p, ModelParams]),
    "llama_init_from_model": (c.c_void_p, [c.c_void_p, ContextParams]),
    "llama_model_get_vocab": (c.c_void_p, [c.c_void_p]),
    "llama_vocab_n_tokens": (c.c_int32, [c.c_void_p]),
    "llama_batch_init": (Batch, [c.c_int32] * 3),
    "llama_decode": (c.c_int32, [c.c_void_p, Batch]),
    "llama_get_logits": (c.POINTER(c.c_float), [c.c_void_p]),
    "llama_get_memory": (c.c_void_p, [c.c_void_p]),
    "llama_memory_clear": (None, [c.c_void_p, c.c_bool]),
}


def load_library(folder):
    """libllama with its back ends loaded."""
    for name in ("libggml-base", "libggml", "libllama"):
        paths = sorted(glob.glob(os.path.join(folder, name + ".so*"))
                       + glob.glob(os.path.join(folder, name + ".v*.so")))
        if not paths:
            raise SystemExit("%s: no %s" % (folder, name))
        library = c.CDLL(paths[0], mode=c.RTLD_GLOBAL)
        if name == "libggml":
            library.ggml_backend_load_all_from_path(folder.encode())
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    library.llama_backend_init()
    return library


def context_params(llama, context, kv, threads):
    params = llama.llama_context_default_params()
    if (params.n_ctx, params.n_batch, params.n_ubatch, params.n_threads,
            params.n_threads_batch) != (512, 2048, 512, 4, 4) or (
            params.type_k != GGML_TYPES["f16"] or params.type_v != GGML_TYPES["f16"]):
        raise SystemExit("llama_context_params is not that of llama.cpp v0.5.0")
    params.n_ctx = params.n_batch = params.n_ubatch = context
    params.type_k = params.type_v = GGML_TYPES[kv]
    params.n_threads = params.n_threads_batch = threads
    return params


def window_logits(llama, context, batch, ids, vocabulary):
    """Logits [len(ids), vocabulary] of ids at the start of a context."""
    llama.llama_memory_clear(llama.llama_get_memory(context), True)
    batch.n_tokens = len(ids)
    for i, token in enumerate(ids):
        batch.token[i], batch.pos[i], batch.logits[i] = token, i, 1
        batch.n_seq_id[i] = 1
        batch.seq_id[i][0] = 0
    if llama.llama_decode(context, batch) != 0:
        raise SystemExit("llama_decode failed")
    return np.ctypeslib.as_array(llama.llama_get_logits(context),
                                 shape=(len(ids), vocabulary)).copy()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--libraries", "--ids", "--out"):
        parser.add_argument(name, required=True)
    parser.add_argument("--ctx", type=int, default=512)
    parser.add_argument("--kv", choices=sorted(GGML_TYPES), default="f16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("model")
    options = parser.parse_args()
    with open(options.ids, encoding="utf-8") as stream:
        ids = [int(word) for word in stream.read().replace(",", " ").split()]
    llama = load_library(os.path.abspath(options.libraries))
    model = llama.llama_model_load_from_file(options.model.encode(),
                                             llama.llama_model_default_params())
    if not model:
        raise SystemExit("%s: llama.cpp cannot load it" % options.model)
    context = llama.llama_init_from_model(
        model, context_params(llama, options.ctx, options.kv, options.threads))
    if not context:
        raise SystemExit("%s: llama.cpp cannot create a context" % options.model)
    vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
    batch = llama.llama_batch_init(options.ctx, 0, 1)
    np.save(options.out, np.concatenate(
        [window_logits(llama, context, batch, ids[at:at + options.ctx], vocabulary)
         for at in range(0, len(ids), options.ctx)]))


if __name__ == "__main__":
    main()
