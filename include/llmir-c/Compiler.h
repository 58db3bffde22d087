//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The door into libLLMIRCompiler.so. The `llmir` command opens the library
// only when MODEL is not an artifact yet; the functions are found by name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_C_COMPILER_H
#define LLMIR_C_COMPILER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LLMIR_COMPILER_API __attribute__((visibility("default")))

/// Raised with every change of this header.
#define LLMIR_COMPILER_API_VERSION 4

/// Called from the compiling thread; `fraction` goes from 0 to 1 over the
/// whole compilation, `stage` is a short sentence. May be null.
typedef void (*LLMIRProgressFn)(void *user, const char *stage, double fraction);

/// What to compile and to what. Strings may be null where a default is named.
typedef struct LLMIRCompileOptions {
  uint32_t version;     ///< LLMIR_COMPILER_API_VERSION.
  const char *model;    ///< Hugging Face folder or .gguf file; with `program`,
                        ///< the .llmir file whose weights it uses.
  const char *program;  ///< Text of a program to compile instead of the model's
                        ///< own, or null. Quantization, KV type, context and
                        ///< budget are then those of the .llmir file.
  const char *output;   ///< Path of the .llmir file; null with emit.
  const char *target;   ///< CPU levels with commas between: "native" (default),
                        ///< "x86-64", "x86-64-v3", "aarch64+", …
  const char *quantize; ///< "none" (default), "q8", "q4", "int4:g128:asym", …
                        ///< for all projections.
  const char *recipe;   ///< Instead of quantize: PATTERN=SCHEME rules by the
                        ///< names of matrices, with commas or ends of lines
                        ///< between ("head=q8,*.mlp.*=int4:g128"), or null.
  const char *kv;       ///< "auto" (default), "f32", "f16", "bf16", "q8".
  int64_t context;      ///< Longest sequence; 0 = the model's own.
  int64_t token_budget; ///< Most tokens of one step; 0 = 512.
  /// Name of the form to write instead of an artifact ("mllm", "llm",
  /// "optimized", "program", "lowered", "llvm", "asm", "obj"), or null.
  const char *emit;
  const char *emit_output; ///< File for emit; null or "-" = standard output.
  /// Name of the stage after which to end ("checkpoint" … "artifact"), or null.
  const char *stop_after;
  LLMIRProgressFn progress;
  void *progress_user;
} LLMIRCompileOptions;

/// Compiles. Returns 0, or 1 with `*message` set to one line of cause and
/// advice; 2 in place of 1 where the options alone say what cannot be: a name
/// that is unknown, a number out of its range, two that exclude each other.
/// With stop_after, `*message` is the report of what was reached. The caller
/// frees `*message` (may be null) with llmirCompilerFree.
LLMIR_COMPILER_API int llmirCompile(const LLMIRCompileOptions *options,
                                    char **message);

/// What to write of a model without compiling it.
typedef struct LLMIRExportOptions {
  uint32_t version;   ///< LLMIR_COMPILER_API_VERSION.
  const char *model;  ///< Hugging Face folder or .gguf file.
  const char *format; ///< "svg" or "dot": the traced model as a picture;
                      ///< "onnx": as a model of opset 17 with its weights.
  const char *output; ///< The file; null or "-" = standard output (pictures).
  int64_t tokens;     ///< Tokens that the model is given; 0 = left open.
  /// Element type of ONNX's weights: "stored" (default, or null), "f32", "f16",
  /// "bf16".
  const char *weights;
  /// Not 0: ONNX's weights lie in the file `output`.data, which is so anyway
  /// from 2 GiB on.
  int32_t external_data;
} LLMIRExportOptions;

/// Traces the model and writes it. Returns as llmirCompile does; `*message` is
/// null on success.
LLMIR_COMPILER_API int llmirExport(const LLMIRExportOptions *options,
                                   char **message);

LLMIR_COMPILER_API void llmirCompilerFree(char *message);

#ifdef __cplusplus
}
#endif

#endif // LLMIR_C_COMPILER_H
