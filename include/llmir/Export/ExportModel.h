//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traces a checkpoint and exports it as a picture or for other engines.
// llmirExport() of llmir-c/Compiler.h is a thin wrapper.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_EXPORTMODEL_H
#define LLMIR_EXPORT_EXPORTMODEL_H

#include "mllm/ir/GraphVisitor.h"

#include <string>

namespace llmir {

struct ExportModelOptions {
  std::string model;  ///< Hugging Face model directory or GGUF file.
  std::string format; ///< "svg", "dot" or "onnx".
  /// Output file; empty or "-": standard output (not for ONNX).
  std::string output;
  ::mllm::ir::GraphOptions sizes;
  /// ONNX: element type of the weights, "stored", "f32", "f16" or "bf16".
  std::string weights = "stored";
  /// ONNX: always write weights to a separate file, `output`.data.
  bool externalData = false;
};

/// An ONNX model has the inputs `input_ids` and past_key_L, past_value_L per
/// layer L, and the outputs `logits` and present_key_L, present_value_L. Fails
/// with InvalidArgument for an unknown format or type, otherwise like opening,
/// tracing, drawing and writing.
Status exportModel(const ExportModelOptions &options);

} // namespace llmir

#endif // LLMIR_EXPORT_EXPORTMODEL_H
