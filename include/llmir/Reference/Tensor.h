//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor of the reference library: a shape and numbers, with the element
// type that they are rounded to: float64 beside floats, int64 beside integers.
// The library links neither MLIR nor LLVM and is written to be read, not to be
// fast.
//
// A function of the library computes in float64, or in int64 what integers must
// keep exactly, and returns numbers that are not rounded; who needs a tensor of
// an element type calls round(). What is only moved goes as a Number. Shapes
// are the caller's duty (the verifiers of the ops check them); indices that
// depend on data are checked where a function says so.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_TENSOR_H
#define LLMIR_REFERENCE_TENSOR_H

#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace llmir::reference {

using Shape = std::vector<int64_t>;

enum class ElementKind : uint8_t { F32, F16, BF16, I1, I4, I8, I16, I32, I64 };

inline bool isFloat(ElementKind kind) { return kind <= ElementKind::BF16; }
/// "f32", "i4", …
const char *elementKindName(ElementKind kind);
/// Bits of a stored number.
int bitWidth(ElementKind kind);

/// A number as tensors hold it: float64, or int64 of an integer.
class Number {
public:
  Number(double value) : isWhole(false), real(value) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Number(T value) : isWhole(true), whole(static_cast<int64_t>(value)) {}

  bool isInteger() const { return isWhole; }
  double toDouble() const { return isWhole ? double(whole) : real; }
  /// Of a float what lies toward zero: the nearest integer beyond those of 64
  /// bits, 0 of NaN.
  int64_t toInteger() const;

private:
  bool isWhole;
  union {
    double real;
    int64_t whole;
  };
};

/// The number of type `kind` that `value` becomes: floats round to nearest
/// even, integers wrap as two's complement (i1: 0 or 1).
double roundTo(ElementKind kind, double value);
Number roundTo(ElementKind kind, Number value);

/// The distance from a number of type `kind` to its neighbour further from
/// zero.
double ulp(ElementKind kind, double value);

/// The product of the sizes; 1 for a scalar.
int64_t numElements(const Shape &shape);

struct Tensor;

/// A place of a tensor: reads as float64, and takes a number as the tensor
/// holds them.
class Cell {
public:
  Cell(Tensor &tensor, int64_t i) : tensor(tensor), i(i) {}
  Cell(const Cell &) = default;

  operator double() const;
  Cell &operator=(Number value);
  Cell &operator=(const Cell &other);
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Cell &operator=(T value) {
    return *this = Number(value);
  }
  Cell &operator+=(double value) { return *this = double(*this) + value; }
  Cell &operator-=(double value) { return *this = double(*this) - value; }
  Cell &operator*=(double value) { return *this = double(*this) * value; }
  Cell &operator/=(double value) { return *this = double(*this) / value; }

private:
  Tensor &tensor;
  int64_t i;
};

/// Row-major numbers with a shape.
struct Tensor {
  Tensor() = default;
  /// All zeros.
  Tensor(ElementKind kind, Shape shape);
  Tensor(ElementKind kind, Shape shape, std::vector<double> numbers);
  /// A tensor of integers.
  static Tensor ofIntegers(ElementKind kind, Shape shape,
                           std::vector<int64_t> numbers);

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t size() const {
    return static_cast<int64_t>(isFloat(kind) ? reals.size() : wholes.size());
  }
  /// The size of a dimension; negative ones count from the end.
  int64_t dim(int64_t i) const {
    return shape[static_cast<size_t>(i < 0 ? i + rank() : i)];
  }
  /// All dimensions but the last one as one list of rows.
  int64_t rows() const { return rank() == 0 ? 1 : size() / rowSizeOrOne(); }
  int64_t columns() const { return rank() == 0 ? 1 : dim(-1); }
  /// Of a tensor of floats.
  double *row(int64_t i) { return floats().data() + i * columns(); }
  const double *row(int64_t i) const { return floats().data() + i * columns(); }

  int64_t offset(std::initializer_list<int64_t> index) const;
  /// Where the numbers from an index on lie, of a tensor of floats.
  double *from(std::initializer_list<int64_t> index) {
    return floats().data() + offset(index);
  }
  const double *from(std::initializer_list<int64_t> index) const {
    return floats().data() + offset(index);
  }
  Cell at(std::initializer_list<int64_t> index) {
    return (*this)[offset(index)];
  }
  double at(std::initializer_list<int64_t> index) const {
    return (*this)[offset(index)];
  }
  Cell operator[](int64_t i) { return Cell(*this, i); }
  double operator[](int64_t i) const {
    const auto place = static_cast<size_t>(i);
    return isFloat(kind) ? reals[place] : double(wholes[place]);
  }
  /// Number i as it is held, to be moved or computed with exactly.
  Number number(int64_t i) const {
    const auto place = static_cast<size_t>(i);
    return isFloat(kind) ? Number(reals[place]) : Number(wholes[place]);
  }
  /// Number i as an integer, of an index for example.
  int64_t integer(int64_t i) const { return number(i).toInteger(); }

  /// All numbers of a tensor of floats.
  std::vector<double> &floats() {
    assert(isFloat(kind) && "integers are no floats");
    return reals;
  }
  const std::vector<double> &floats() const {
    assert(isFloat(kind) && "integers are no floats");
    return reals;
  }
  /// All numbers of a tensor of integers.
  std::vector<int64_t> &integers() {
    assert(!isFloat(kind) && "floats are no integers");
    return wholes;
  }
  const std::vector<int64_t> &integers() const {
    assert(!isFloat(kind) && "floats are no integers");
    return wholes;
  }
  /// All numbers as float64.
  std::vector<double> toDoubles() const;

  /// The same numbers in another shape.
  Tensor reshaped(Shape newShape) const;
  /// The indices [first, first + count) of dimension `d`.
  Tensor slice(int64_t d, int64_t first, int64_t count) const;

  ElementKind kind = ElementKind::F32;
  Shape shape;

private:
  /// The one that the kind says; the other is empty.
  std::vector<double> reals;
  std::vector<int64_t> wholes;

  int64_t rowSizeOrOne() const { return dim(-1) == 0 ? 1 : dim(-1); }
};

inline Cell::operator double() const { return std::as_const(tensor)[i]; }
inline Cell &Cell::operator=(const Cell &other) {
  return *this = std::as_const(other.tensor).number(other.i);
}

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

#endif // LLMIR_REFERENCE_TENSOR_H
