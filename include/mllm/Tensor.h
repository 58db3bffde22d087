//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of a model: symbolic while the model is traced, numbers when its
// modules are called outside a trace. Copies are handles of one value.
//
//   Tensor x = Tensor::empty({1, mllm::dim("seq")}, kInt64); // for ir::trace
//   Tensor y = Tensor::fromVector({2, 2}, {1, 2, 3, 4});     // computes at
//   once
//
// A null tensor stands for the result of a step that failed: every operation on
// it gives a null tensor. The reason is kept by the trace, or by status() of
// this header where there is none. No MLIR in this header. Not for several
// threads at once; each thread may compute with tensors of its own.
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

/// A size that is known only when the model runs. The same name is the same
/// size wherever it stands; sums and multiples of names are sizes too.
using Dim = llmir::shapes::DimExpr;
/// `name`: letters, digits, `_` and `.`, a letter or `_` first. Any other gives
/// a status and a negative size, of which no tensor can be made.
Dim dim(std::string name);

class Tensor {
public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<detail::TensorImpl> impl)
      : impl(std::move(impl)) {}

  /// A placeholder of a shape, to trace with; it has no numbers. kSymbolic is a
  /// size without a name. Null, with a status, where a size is negative.
  static Tensor empty(std::vector<Dim> shape, DataTypes dtype = kFp32,
                      DeviceTypes device = kCPU);
  /// Numbers in row-major order, rounded to the type, integers towards 0; null,
  /// with a status, where they do not fill the shape.
  static Tensor fromVector(const std::vector<int64_t> &shape,
                           std::vector<double> numbers,
                           DataTypes dtype = kFp32);
  static Tensor full(const std::vector<int64_t> &shape, double number,
                     DataTypes dtype = kFp32);

  /// False for a null tensor.
  bool isValid() const { return impl != nullptr; }
  /// Whether it has numbers, so that C++ may ask for them.
  bool hasValues() const;
  // What asks for values ends a trace, where nobody knows them: its status
  // names the line, and says to use mllm::ir::if_ or while_.

  /// The numbers in row-major order; empty where there are none. In a trace as
  /// many zeros as there will be numbers, where that is known.
  std::vector<double> toVector(const char *file = __builtin_FILE(),
                               int line = __builtin_LINE()) const;
  /// The number of a tensor that has one; 0, with a status, for any other.
  double item(const char *file = __builtin_FILE(),
              int line = __builtin_LINE()) const;
  /// The truth of a tensor with one number. The line is the one where an
  /// operator made the tensor; of others the op is named, or the input.
  explicit operator bool() const;

  // Of a null tensor: no sizes.
  int64_t rank() const;
  /// The size of a dimension, kSymbolic where it is not known yet; negative
  /// dimensions count from the end.
  int64_t size(int64_t dim) const;
  std::vector<int64_t> shape() const;
  /// With the names of sizes.
  const llmir::shapes::Shape &dims() const;
  DataTypes dtype() const;
  DeviceTypes device() const;

  /// The same values in another shape. The k-th kSymbolic is the k-th dynamic
  /// size of this tensor. One -1 is computed, and so is a kSymbolic where there
  /// is no such size: a module says the same in a trace and called at once.
  Tensor view(const std::vector<int64_t> &shape) const;
  Tensor reshape(const std::vector<int64_t> &shape) const;
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  Tensor permute(const std::vector<int64_t> &axes) const;
  Tensor contiguous() const;
  Tensor clone() const;
  /// Each slice of a dimension `times` times.
  Tensor repeat(int64_t dim, int64_t times) const;
  Tensor to(DataTypes dtype) const;
  Tensor to(DeviceTypes device) const;
  /// Parts of one size (one number, which divides the dimension), or of these
  /// sizes.
  std::vector<Tensor> split(const std::vector<int64_t> &sections,
                            int64_t dim) const;

  Tensor operator-() const;

  const std::shared_ptr<detail::TensorImpl> &get() const { return impl; }

private:
  std::shared_ptr<detail::TensorImpl> impl;
};

/// An operand and the line of C++ that computes with it.
struct Located {
  Located(const Tensor &tensor, const char *file = __builtin_FILE(),
          int line = __builtin_LINE())
      : tensor(tensor), file(file), line(line) {}
  const Tensor &tensor;
  const char *file;
  int line;
};

// Value by value; sizes of 1 repeat. C++ leaves open which operand is computed
// first: call layers in statements of their own, so that every compiler traces
// the same order.
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

/// Success, or why the first step of this thread failed that did not belong to
/// a trace.
const llmir::Status &status();
void clearStatus();

} // namespace mllm

#endif // MLLM_TENSOR_H
