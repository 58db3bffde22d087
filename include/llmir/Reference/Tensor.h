//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor of the reference library: a shape and elements, stored as float64
// for floats and int64 for integers, with the element type to which they are
// rounded. The library does not depend on MLIR or LLVM and is written for
// readability, not for speed.
//
// Functions compute in float64, or in int64 where integers must be exact, and
// return results that are not rounded; call round() for a tensor of an element
// type. Elements that are only moved are Numbers. Callers are responsible for
// shapes (op verifiers check them); data-dependent indices are checked where
// documented.
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
/// Bits per stored element.
int bitWidth(ElementKind kind);

/// An element value: float64, or int64 for integers.
class Number {
public:
  Number(double value) : isWhole(false), real(value) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Number(T value) : isWhole(true), whole(static_cast<int64_t>(value)) {}

  bool isInteger() const { return isWhole; }
  double toDouble() const { return isWhole ? double(whole) : real; }
  /// Truncates and saturates floats; NaN becomes 0.
  int64_t toInteger() const;

private:
  bool isWhole;
  union {
    double real;
    int64_t whole;
  };
};

/// Rounds `value` to type `kind`: floats to nearest even; integers wrap around
/// in two's complement (i1: 0 or 1).
double roundTo(ElementKind kind, double value);
Number roundTo(ElementKind kind, Number value);

/// The distance from a value of type `kind` to the next one away from zero.
double ulp(ElementKind kind, double value);

/// The product of the sizes; 1 for a scalar.
int64_t numElements(const Shape &shape);

struct Tensor;

/// A reference to an element: converts to float64 and can be assigned.
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

/// A row-major tensor.
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
  /// The size of a dimension; negative dimensions count from the end.
  int64_t dim(int64_t i) const {
    return shape[static_cast<size_t>(i < 0 ? i + rank() : i)];
  }
  /// The tensor as a matrix of rows, with all dimensions but the last one
  /// collapsed.
  int64_t rows() const { return rank() == 0 ? 1 : size() / rowSizeOrOne(); }
  int64_t columns() const { return rank() == 0 ? 1 : dim(-1); }
  /// Row i; requires a float tensor.
  double *row(int64_t i) { return floats().data() + i * columns(); }
  const double *row(int64_t i) const { return floats().data() + i * columns(); }

  int64_t offset(std::initializer_list<int64_t> index) const;
  /// The elements from an index on; requires a float tensor.
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
  /// Element i as stored, to be moved or for exact computation.
  Number number(int64_t i) const {
    const auto place = static_cast<size_t>(i);
    return isFloat(kind) ? Number(reals[place]) : Number(wholes[place]);
  }
  /// Element i as an integer, for example an index.
  int64_t integer(int64_t i) const { return number(i).toInteger(); }

  /// The elements of a float tensor.
  std::vector<double> &floats() {
    assert(isFloat(kind) && "not a float tensor");
    return reals;
  }
  const std::vector<double> &floats() const {
    assert(isFloat(kind) && "not a float tensor");
    return reals;
  }
  /// The elements of an integer tensor.
  std::vector<int64_t> &integers() {
    assert(!isFloat(kind) && "not an integer tensor");
    return wholes;
  }
  const std::vector<int64_t> &integers() const {
    assert(!isFloat(kind) && "not an integer tensor");
    return wholes;
  }
  /// The elements as float64.
  std::vector<double> toDoubles() const;

  /// Returns the tensor with a different shape.
  Tensor reshaped(Shape newShape) const;
  /// The indices [first, first + count) of dimension `d`.
  Tensor slice(int64_t d, int64_t first, int64_t count) const;

  ElementKind kind = ElementKind::F32;
  Shape shape;

private:
  /// Storage for the kind; the other one is empty.
  std::vector<double> reals;
  std::vector<int64_t> wholes;

  int64_t rowSizeOrOne() const { return dim(-1) == 0 ? 1 : dim(-1); }
};

inline Cell::operator double() const { return std::as_const(tensor)[i]; }
inline Cell &Cell::operator=(const Cell &other) {
  return *this = std::as_const(other.tensor).number(other.i);
}

/// Rounds every element to `kind`.
Tensor round(Tensor tensor, ElementKind kind);

/// Concatenates one or more parts along dimension `d`; all other dimensions
/// must be equal.
Tensor concatenate(const std::vector<Tensor> &parts, int64_t d);

/// Returns the transposed matrix.
Tensor transposed(const Tensor &matrix);

/// "tensor<2x3xf32>" and, with elements, " [[1, 2, 3], [4, 5, 6]]"; long
/// dimensions are abbreviated with "…".
std::string typeString(const Tensor &tensor);
std::string toString(const Tensor &tensor);

/// Equality of types and elements; NaN equals NaN, and 0 does not equal -0.
bool sameBits(const Tensor &a, const Tensor &b);

/// Σ error² / Σ expected², where the error is |actual − expected|, reduced, for
/// f16 and bf16, by half an ulp of `expected`, which rounding alone may cause
/// (`expected` may be unrounded). 0 if all errors are 0; infinity if the shapes
/// differ, or if an element is NaN or infinite and the corresponding one is not
/// equal.
double nmse(const Tensor &actual, const Tensor &expected);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_TENSOR_H
