//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor of the reference library: a shape and float64 numbers, with the
// element type that they are rounded to. The library links neither MLIR nor
// LLVM and is written to be read, not to be fast.
//
// A function of the library computes in float64 and returns numbers that are
// not rounded; who needs a tensor of an element type calls round(). Shapes are
// the caller's duty (the verifiers of the ops check them); indices that depend
// on data are checked where a function says so.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_INTERPRETER_REFERENCETENSOR_H
#define LLMIR_INTERPRETER_REFERENCETENSOR_H

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace llmir::reference {

using Shape = std::vector<int64_t>;

enum class ElementKind : uint8_t { F32, F16, BF16, I1, I4, I8, I16, I32, I64 };

inline bool isFloat(ElementKind kind) { return kind <= ElementKind::BF16; }
/// "f32", "i4", …
const char *elementKindName(ElementKind kind);
/// Bits of a stored number.
int bitWidth(ElementKind kind);

/// The number of type `kind` that `value` becomes: floats round to nearest
/// even, integers wrap as two's complement (i1: 0 or 1).
double roundTo(ElementKind kind, double value);

/// The distance from a number of type `kind` to its neighbour further from
/// zero.
double ulp(ElementKind kind, double value);

/// The product of the sizes; 1 for a scalar.
int64_t numElements(const Shape &shape);

/// Row-major numbers with a shape.
struct Tensor {
  Tensor() = default;
  /// All zeros.
  Tensor(ElementKind kind, Shape shape);
  Tensor(ElementKind kind, Shape shape, std::vector<double> data);

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t size() const { return static_cast<int64_t>(data.size()); }
  /// The size of a dimension; negative ones count from the end.
  int64_t dim(int64_t i) const {
    return shape[static_cast<size_t>(i < 0 ? i + rank() : i)];
  }
  /// All dimensions but the last one as one list of rows.
  int64_t rows() const { return rank() == 0 ? 1 : size() / rowSizeOrOne(); }
  int64_t columns() const { return rank() == 0 ? 1 : dim(-1); }
  double *row(int64_t i) { return data.data() + i * columns(); }
  const double *row(int64_t i) const { return data.data() + i * columns(); }

  int64_t offset(std::initializer_list<int64_t> index) const;
  double &at(std::initializer_list<int64_t> index) {
    return data[static_cast<size_t>(offset(index))];
  }
  double at(std::initializer_list<int64_t> index) const {
    return data[static_cast<size_t>(offset(index))];
  }
  double &operator[](int64_t i) { return data[static_cast<size_t>(i)]; }
  double operator[](int64_t i) const { return data[static_cast<size_t>(i)]; }
  /// Number i as an index.
  int64_t integer(int64_t i) const {
    return static_cast<int64_t>(data[static_cast<size_t>(i)]);
  }

  /// The same numbers in another shape.
  Tensor reshaped(Shape newShape) const;
  /// The indices [first, first + count) of dimension `d`.
  Tensor slice(int64_t d, int64_t first, int64_t count) const;

  ElementKind kind = ElementKind::F32;
  Shape shape;
  std::vector<double> data;

private:
  int64_t rowSizeOrOne() const { return dim(-1) == 0 ? 1 : dim(-1); }
};

/// The tensor with every number rounded to `kind`.
Tensor round(Tensor tensor, ElementKind kind);

/// The parts one after another along dimension `d`. There is at least one, and
/// they agree in all other dimensions.
Tensor concatenate(const std::vector<Tensor> &parts, int64_t d);

/// The matrix with rows and columns exchanged.
Tensor transposed(const Tensor &matrix);

/// "tensor<2x3xf32>" and, with numbers, " [[1, 2, 3], [4, 5, 6]]"; long
/// dimensions are cut with "…".
std::string typeString(const Tensor &tensor);
std::string toString(const Tensor &tensor);

/// The same type and the same numbers; NaN equals NaN, 0 equals -0 only where
/// signs agree.
bool sameBits(const Tensor &a, const Tensor &b);

/// Σ error² / Σ expected², the error being |actual − expected|; where
/// `expected` is f16 or bf16, what of it lies beyond half a unit in its last
/// place, which rounding alone may cause (`expected` may be unrounded). 0 where
/// all errors are, infinity where the shapes differ, or one is NaN or infinite
/// and the other one is not the same.
double nmse(const Tensor &actual, const Tensor &expected);

} // namespace llmir::reference

#endif // LLMIR_INTERPRETER_REFERENCETENSOR_H
