//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of a model: symbolic in a trace, with elements in eager calls. Copies
// are handles of the same value.
//
//   Tensor x = Tensor::empty({1, mllm::dim("seq")}, kInt64); // for ir::trace
//   Tensor y = Tensor::fromVector({2, 2}, {1, 2, 3, 4});     // computes at
//   once
//
// A null tensor is the result of a failed operation, and every operation on it
// yields a null tensor. The reason is in the status of the trace, or in
// status() outside a trace. No MLIR in this header. Not thread-safe; each
// thread may use its own tensors.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_TENSOR_H
#define MLLM_TENSOR_H

#include "llmir/Dialect/MLLM/DimExpr.h"
#include "llmir/Support/Status.h"
#include "mllm/Types.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mllm {

namespace detail {
struct TensorImpl;
}

/// A size that may be symbolic, i.e. known only at run time. Equal names are
/// equal sizes; sums and multiples of names are sizes, too.
using Dim = llmir::shapes::DimExpr;
/// `name`: letters, digits, `_` and `.`, a letter or `_` first. An invalid name
/// sets the status and yields a negative size, with which no tensor can be
/// created.
Dim dim(std::string name);

class Tensor {
public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<detail::TensorImpl> impl)
      : impl(std::move(impl)) {}

  /// A placeholder without elements, for tracing. kSymbolic is an unnamed
  /// dynamic size. Null, with a status, if a size is negative.
  static Tensor empty(std::vector<Dim> shape, DataTypes dtype = kFp32,
                      DeviceTypes device = kCPU);
  /// A tensor with the given elements in row-major order, rounded to the type
  /// (integers toward 0); null, with a status, if their number does not match
  /// the shape.
  static Tensor fromVector(const std::vector<int64_t> &shape,
                           std::vector<double> numbers,
                           DataTypes dtype = kFp32);
  static Tensor full(const std::vector<int64_t> &shape, double number,
                     DataTypes dtype = kFp32);

  /// False for a null tensor.
  bool isValid() const { return impl != nullptr; }
  /// Whether the tensor has elements that can be read.
  bool hasValues() const;
  // Reading elements in a trace, where they are unknown, ends the trace: its
  // status names the line and suggests mllm::ir::if_ or while_.

  /// The elements in row-major order; empty if there are none. In a trace,
  /// zeros, if the number of elements is known.
  std::vector<double> toVector(const char *file = __builtin_FILE(),
                               int line = __builtin_LINE()) const;
  /// The element of a tensor with a single element; 0, with a status, for other
  /// tensors.
  double item(const char *file = __builtin_FILE(),
              int line = __builtin_LINE()) const;
  /// The truth value of a tensor with a single element. In a trace, the status
  /// names the line of the operator that created the tensor, otherwise the op
  /// or the input.
  explicit operator bool() const;

  // A null tensor has no dimensions.
  int64_t rank() const;
  /// The size of a dimension, or kSymbolic if it is dynamic; negative
  /// dimensions count from the end.
  int64_t size(int64_t dim) const;
  std::vector<int64_t> shape() const;
  /// The shape with symbolic sizes.
  const llmir::shapes::Shape &dims() const;
  DataTypes dtype() const;
  DeviceTypes device() const;

  /// Reshapes the tensor. The k-th kSymbolic is the k-th dynamic size of this
  /// tensor. A single -1 is inferred, and so is a kSymbolic without a
  /// corresponding dynamic size, so that a module works both in a trace and
  /// eagerly.
  Tensor view(const std::vector<int64_t> &shape) const;
  Tensor reshape(const std::vector<int64_t> &shape) const;
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  Tensor permute(const std::vector<int64_t> &axes) const;
  Tensor contiguous() const;
  Tensor clone() const;
  /// Repeats each slice of a dimension `times` times.
  Tensor repeat(int64_t dim, int64_t times) const;
  Tensor to(DataTypes dtype) const;
  Tensor to(DeviceTypes device) const;
  /// Splits into parts of the same size (a single section, which must divide
  /// the dimension), or of the given sizes.
  std::vector<Tensor> split(const std::vector<int64_t> &sections,
                            int64_t dim) const;

  Tensor operator-() const;

  const std::shared_ptr<detail::TensorImpl> &get() const { return impl; }

private:
  std::shared_ptr<detail::TensorImpl> impl;
};

/// An operand and the source line of the operator.
struct Located {
  Located(const Tensor &tensor, const char *file = __builtin_FILE(),
          int line = __builtin_LINE())
      : tensor(tensor), file(file), line(line) {}
  const Tensor &tensor;
  const char *file;
  int line;
};

// Element-wise with broadcasting. C++ does not specify the evaluation order of
// operands: call layers in separate statements, so that all compilers trace the
// same order.
Tensor operator+(const Located &a, const Tensor &b);
Tensor operator-(const Located &a, const Tensor &b);
Tensor operator*(const Located &a, const Tensor &b);
Tensor operator/(const Located &a, const Tensor &b);
Tensor operator+(const Located &a, double b);
Tensor operator-(const Located &a, double b);
Tensor operator*(const Located &a, double b);
Tensor operator/(const Located &a, double b);
// Of bools.
Tensor operator<(const Located &a, const Tensor &b);
Tensor operator<=(const Located &a, const Tensor &b);
Tensor operator>(const Located &a, const Tensor &b);
Tensor operator>=(const Located &a, const Tensor &b);
Tensor operator==(const Located &a, const Tensor &b);
Tensor operator!=(const Located &a, const Tensor &b);
Tensor operator<(const Located &a, double b);
Tensor operator>(const Located &a, double b);

/// Success, or the first failure of this thread outside a trace.
const llmir::Status &status();
void clearStatus();

} // namespace mllm

#endif // MLLM_TENSOR_H
