//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint traced and written in a form for people or other engines.
// llmirExport() of llmir-c/Compiler.h is a thin wrapper around it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_EXPORTMODEL_H
#define LLMIR_EXPORT_EXPORTMODEL_H

#include "mllm/ir/GraphVisitor.h"

#include <string>

namespace llmir {

struct ExportModelOptions {
  std::string model;  ///< Hugging Face folder or GGUF file.
  std::string format; ///< "svg", "dot" or "onnx".
  /// The file; empty or "-" = standard output, but for ONNX.
  std::string output;
  ::mllm::ir::GraphOptions sizes;
  /// Of ONNX: element type of the weights, "stored", "f32", "f16" or "bf16".
  std::string weights = "stored";
  /// Of ONNX: weights in a file of their own, `output`.data, however small.
  bool externalData = false;
};

/// An ONNX model has inputs `input_ids` and past_key_L, past_value_L of each
/// layer L, outputs `logits` and present_key_L, present_value_L. Fails with
/// InvalidArgument for an unknown format or type, else as opening, tracing,
/// drawing and writing do.
Status exportModel(const ExportModelOptions &options);

} // namespace llmir

#endif // LLMIR_EXPORT_EXPORTMODEL_H
