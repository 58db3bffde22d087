//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of a model that is being traced.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_TENSOR_H
#define MLLM_TENSOR_H

#include "mllm/Types.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <cstdint>
#include <vector>

namespace mllm {

namespace ir {
class Tracer;
}

/// A handle to an SSA value of the module under construction; copies mean the
/// same value. A null tensor stands for the result of a step that failed: every
/// operation on it gives a null tensor, and the tracer holds the reason.
class Tensor {
public:
  Tensor() = default;
  Tensor(ir::Tracer &tracer, mlir::Value value)
      : owner(&tracer), traced(value) {}

  explicit operator bool() const { return static_cast<bool>(traced); }

  // The rest is for tensors that are not null.
  mlir::Value value() const { return traced; }
  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(traced.getType());
  }
  int64_t rank() const { return type().getRank(); }
  /// The size of a dimension, kSymbolic where it is not known yet.
  int64_t size(int64_t dim) const { return type().getDimSize(dim); }
  ir::Tracer &tracer() const { return *owner; }

  /// The same values in another shape, for example {kSymbolic, heads, headDim}.
  Tensor view(const std::vector<int64_t> &shape) const;

private:
  ir::Tracer *owner = nullptr;
  mlir::Value traced;
};

/// Sum and product of two tensors of one shape, value by value.
/// C++ leaves open which operand is computed first: call layers in statements
/// of their own, so that every compiler traces the same order.
Tensor operator+(const Tensor &a, const Tensor &b);
Tensor operator*(const Tensor &a, const Tensor &b);

} // namespace mllm

#endif // MLLM_TENSOR_H
