//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared declarations of the lowerings to ONNX.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_ONNXOPS_H
#define LLMIR_LIB_EXPORT_ONNXOPS_H

#include "ONNXBuilder.h"

#include <functional>

namespace llmir::onnx {

/// The lowering of an op, and its precondition.
struct Lowering {
  std::function<void(Builder &, const mllm::ir::GraphOp &)> lower;
  /// Success if `lower` supports the op; not set if it always does.
  std::function<Status(const mllm::ir::GraphOp &)> check = {};
};
/// Lowerings by op kind.
using Lowerings = std::map<std::string, Lowering>;

Lowerings productLowerings(); ///< Products, embeddings, norms, convolutions.
Lowerings elementwiseLowerings(); ///< Element-wise ops.
Lowerings shapeLowerings();       ///< Data movement ops.
Lowerings indexLowerings();       ///< Gathers, scatters, sorts, reductions.
Lowerings signalLowerings();    ///< Padding, interpolation, Fourier transforms.
Lowerings attentionLowerings(); ///< Positions, the cache, attention.

int64_t rankOf(const mllm::ir::GraphValue *value);
/// A normalized dimension attribute.
int64_t dimOf(const mllm::ir::GraphOp &op, const char *name,
              const mllm::ir::GraphValue *value);
/// The shape operand of Reshape, with -1 for a dynamic size; nullopt if two
/// sizes are dynamic, or if one is and another is 0.
std::optional<Sizes> targetShape(const mllm::ir::GraphValue *value);
Status needsBoundSizes();
/// Checks that the first result has a targetShape().
Status needsShape(const mllm::ir::GraphOp &op);
Status cannot(std::string cause, std::string advice = {});
/// The permutation that exchanges two dimensions.
Sizes exchanged(int64_t rank, int64_t a, int64_t b);
/// Repeats each slice of a dimension `times` times; `shape` is that of the
/// result.
Name repeated(Builder &b, const Name &x, int64_t rank, int64_t dim,
              int64_t times, const Sizes &shape);
/// The elements from `from` to `to` of a dimension.
Name sliced(Builder &b, const Name &x, int64_t from, int64_t to, int64_t dim);
/// Slices the first operand by starts, ends and steps of an op.
Name slicedByRanges(Builder &b, const mllm::ir::GraphOp &op);
/// Softmax. Slices of -∞ yield zeros, where ONNX yields NaN.
Name softmax(Builder &b, const Name &x, int64_t axis);
/// Checks the number of elements of a materialized table.
Status checkTable(double count);
/// Converts the element type.
Name cast(Builder &b, const Name &x, ElementType type);
/// A single node of that type on all operands.
Lowering as(const char *type);

} // namespace llmir::onnx

#endif // LLMIR_LIB_EXPORT_ONNXOPS_H
