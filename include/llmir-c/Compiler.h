//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C interface of libLLMIRCompiler.so. The `llmir` command loads the library
// only if MODEL is not an artifact, and looks up the functions by name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_C_COMPILER_H
#define LLMIR_C_COMPILER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LLMIR_COMPILER_API __attribute__((visibility("default")))

/// Increased with every change of this header.
#define LLMIR_COMPILER_API_VERSION 5

/// Called by the compiling thread; `fraction` goes from 0 to 1 over the whole
/// compilation, `stage` is a short sentence. May be null.
typedef void (*LLMIRProgressFn)(void *user, const char *stage, double fraction);

/// The inputs and outputs of a compilation. A string with a default may be
/// null.
typedef struct LLMIRCompileOptions {
  uint32_t version; ///< LLMIR_COMPILER_API_VERSION.
  const char
      *model; ///< Hugging Face model directory or .gguf file; if `program` is
              ///< set, the .llmir file whose weights it uses.
  const char *program;  ///< Text of a program to compile instead of the model's
                        ///< own, or null. Quantization, KV type, context and
                        ///< budget are then those of the .llmir file.
  const char *graph;    ///< Text of a traced model to compile instead of the
                        ///< model's family, or null. The model provides the
                        ///< parameters and the tokenizer.
  const char *output;   ///< Path of the .llmir file; null with emit.
  const char *target;   ///< Comma-separated CPU levels: "native" (default),
                        ///< "x86-64", "x86-64-v3", "aarch64+", …
  const char *quantize; ///< "none" (default), "q8", "q4", "int4:g128:asym", …,
                        ///< for all projections.
  const char *recipe;   ///< Instead of quantize: PATTERN=SCHEME rules for the
                        ///< names of matrices, separated by commas or newlines
                        ///< ("head=q8,*.mlp.*=int4:g128"), or null.
  const char *kv;       ///< "auto" (default), "f32", "f16", "bf16", "q8".
  int64_t context;      ///< Maximum sequence length; 0 = the model's own.
  int64_t token_budget; ///< Maximum tokens of a step; 0 = 512.
  /// Representation to write instead of an artifact ("mllm", "llm",
  /// "optimized", "program", "lowered", "llvm", "asm", "obj"), or null.
  const char *emit;
  const char *emit_output; ///< File for emit; null or "-" = standard output.
  /// Stage after which to stop ("checkpoint" … "artifact"), or null.
  const char *stop_after;
  LLMIRProgressFn progress;
  void *progress_user;
} LLMIRCompileOptions;

/// Compiles. Returns 0 on success. On failure returns 1, or 2 if the options
/// themselves are invalid (unknown name, number out of range, conflicting
/// options), and sets `*message` to one line of cause and advice. With
/// stop_after, `*message` is a report of the stage reached. The caller frees
/// `*message` (may be null) with llmirCompilerFree.
LLMIR_COMPILER_API int llmirCompile(const LLMIRCompileOptions *options,
                                    char **message);

/// Options for exporting a model without compiling it.
typedef struct LLMIRExportOptions {
  uint32_t version;   ///< LLMIR_COMPILER_API_VERSION.
  const char *model;  ///< Hugging Face model directory or .gguf file.
  const char *format; ///< "svg" or "dot": the traced model as a picture;
                      ///< "onnx": a model of opset 17 with its weights.
  const char
      *output;    ///< Output file; null or "-" = standard output (pictures).
  int64_t tokens; ///< Number of input tokens; 0 = dynamic.
  /// Element type of the ONNX weights: "stored" (default, or null), "f32",
  /// "f16", "bf16".
  const char *weights;
  /// Nonzero: stores the ONNX weights in the file `output`.data, which is
  /// always done from 2 GiB on.
  int32_t external_data;
} LLMIRExportOptions;

/// Traces the model and exports it. Returns as llmirCompile does; `*message` is
/// null on success.
LLMIR_COMPILER_API int llmirExport(const LLMIRExportOptions *options,
                                   char **message);

typedef struct LLMIRConvertOptions {
  uint32_t version;   ///< LLMIR_COMPILER_API_VERSION.
  const char *model;  ///< Hugging Face model directory or .gguf file.
  const char *output; ///< The .gguf file to write.
  const char *type;   ///< "f16", "q4_k_m", …
  const char *importance_matrix; ///< A file of llama.cpp's imatrix, or null.
  const char *pre_tokenizer;     ///< tokenizer.ggml.pre; null = by its rules.
  int64_t split_bytes; ///< Maximum bytes of tensors in a file; 0 = one file.
  int32_t dry_run;     ///< Nonzero: plans only.
  /// As in LLMIRCompileOptions.
  void (*progress)(void *user, const char *stage, double fraction);
  void *progress_user;
} LLMIRConvertOptions;

/// Converts a model to GGUF. Returns as llmirCompile does; `*message` is a JSON
/// object that describes the result on success.
LLMIR_COMPILER_API int llmirConvert(const LLMIRConvertOptions *options,
                                    char **message);

LLMIR_COMPILER_API void llmirCompilerFree(char *message);

#ifdef __cplusplus
}
#endif

#endif // LLMIR_C_COMPILER_H
