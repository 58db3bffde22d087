//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX: a graph as a model of opset 17, written without the library.
//
// Attention, rotary embeddings and norms are expanded to the operators of that
// opset. The cache becomes inputs past_key_L, past_value_L and outputs
// present_key_L, present_value_L for each layer L: a run takes the outputs of
// the previous run, and the first run tensors without tokens. All dynamic sizes
// of a shape have names in the file.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_ONNX_H
#define LLMIR_EXPORT_ONNX_H

#include "llmir/Export/ParameterReader.h"

#include <string>
#include <vector>

namespace llmir {

/// Element types of weights in a file. Computations are always in f32.
enum class ONNXWeights {
  Stored, ///< f16, bf16 and f32 as in the checkpoint, f32 for others.
  F32,
  F16,
  BF16,
};

struct ONNXOptions {
  /// If not set, parameters are inputs of the model, under their names.
  ParameterReader reader;
  ONNXWeights weights = ONNXWeights::Stored;
};

/// Supports the ops of supported() on f32, i64, i32 and bool. ONNX does not
/// define which value remains if scatter writes an element several times, nor
/// the maximum and minimum of no elements; top_k and argsort do not distinguish
/// NaN from infinity. The rounding of activations for bf16 weights is specific
/// to LLMIR and not exported.
class ONNXTarget : public ::mllm::ir::ExportTarget {
public:
  explicit ONNXTarget(ONNXOptions options = {}) : options(std::move(options)) {}

  std::string name() const override { return "onnx"; }
  Status supported(const ::mllm::ir::GraphOp &op) const override;
  /// Converts the part to a model; see models().
  Status emit(const ::mllm::ir::Graph &graph,
              const ::mllm::ir::GraphPart &part) override;

  /// The contents of the files, one per part.
  const std::vector<std::string> &models() const { return files; }

private:
  ONNXOptions options;
  std::vector<std::string> files;
};

/// Exports the whole graph as one model. Fails with Unsupported if an op, which
/// the message names with its layer, cannot be expressed in ONNX, or if the
/// file would exceed the protobuf limit of 2 GiB.
Expected<std::string> exportONNX(const ::mllm::ir::Graph &graph,
                                 ONNXOptions options = {});

/// The same into a file. Weights are read and written row by row: into the file
/// itself or, with `externalData` or beyond 2 GiB, into the file `path`.data,
/// which the model references. Fails like exportONNX() and AtomicFile, and with
/// OutOfRange if an element overflows f16.
Status writeONNX(const ::mllm::ir::Graph &graph, const std::string &path,
                 ONNXOptions options = {}, bool externalData = false);

} // namespace llmir

#endif // LLMIR_EXPORT_ONNX_H
