//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of lowerings to ONNX share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_ONNXOPS_H
#define LLMIR_LIB_EXPORT_ONNXOPS_H

#include "ONNXBuilder.h"

#include <functional>

namespace llmir::onnx {

/// How an op becomes nodes, and whether it can.
struct Lowering {
  std::function<void(Builder &, const mllm::ir::GraphOp &)> lower;
  /// Success where `lower` will do; absent where it always does.
  std::function<Status(const mllm::ir::GraphOp &)> check = {};
};
/// By the op's kind.
using Lowerings = std::map<std::string, Lowering>;

Lowerings productLowerings();     ///< Products, tables, norms, convolutions.
Lowerings elementwiseLowerings(); ///< One value at a time.
Lowerings shapeLowerings();       ///< Values moved, none computed.
Lowerings indexLowerings();       ///< Indices, order, reductions.
Lowerings signalLowerings();      ///< Pads, pictures and sounds resampled.
Lowerings attentionLowerings();   ///< Positions, the cache, attention.

int64_t rankOf(const mllm::ir::GraphValue *value);
/// A dimension that an attribute says, counted from the front.
int64_t dimOf(const mllm::ir::GraphOp &op, const char *name,
              const mllm::ir::GraphValue *value);
/// The shape as a Reshape takes it, -1 for what is open; nullopt where two
/// sizes are, or one beside a size of 0.
std::optional<Sizes> targetShape(const mllm::ir::GraphValue *value);
Status needsBoundSizes();
/// The first result has a targetShape().
Status needsShape(const mllm::ir::GraphOp &op);
Status cannot(std::string cause, std::string advice = {});
/// The order of dimensions with two of them exchanged.
Sizes exchanged(int64_t rank, int64_t a, int64_t b);
/// Each slice of a dimension `times` in a row; `shape` is that of the result.
Name repeated(Builder &b, const Name &x, int64_t rank, int64_t dim,
              int64_t times, const Sizes &shape);
/// The values from `from` to `to` of a dimension.
Name sliced(Builder &b, const Name &x, int64_t from, int64_t to, int64_t dim);
/// What starts, ends and steps of an op choose of its first operand.
Name slicedAsSaid(Builder &b, const mllm::ir::GraphOp &op);
/// Shares of a dimension. Slices of minus infinity are zeros, where ONNX has
/// NaN.
Name softmax(Builder &b, const Name &x, int64_t axis);
/// A table of so many numbers can be written.
Status checkTable(double count);
/// In another element type.
Name cast(Builder &b, const Name &x, ElementType type);
/// One node of that type on all operands.
Lowering as(const char *type);

} // namespace llmir::onnx

#endif // LLMIR_LIB_EXPORT_ONNXOPS_H
