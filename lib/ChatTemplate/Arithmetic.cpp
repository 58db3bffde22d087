//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "Operators.h"
#include "Unicode.h"

#include <cmath>

namespace llmir::chat {

BigInt toBigInt(const Value &value) {
  return value.is(Kind::Big) ? value.as<Big>().value : BigInt(value.asInt());
}

double toDouble(const Value &value) {
  if (value.is(Kind::Float))
    return value.asDouble();
  if (value.isSmallInteger())
    return static_cast<double>(value.asInt());
  double number = value.as<Big>().value.toDouble();
  if (std::isinf(number))
    raise(ErrorKind::Overflow, "int too large to convert to float");
  return number;
}

int64_t requireIndex(const Value &value, const char *what) {
  if (value.isSmallInteger())
    return value.asInt();
  if (value.is(Kind::Big)) // Beyond any size; its sign is what counts.
    return value.as<Big>().value.isNegative() ? INT64_MIN : INT64_MAX;
  raise(ErrorKind::Type,
        std::string(what) + " must be integers, not '" + typeName(value) + "'");
}

static const char *spelling(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return "+";
  case BinaryOp::Sub:
    return "-";
  case BinaryOp::Mul:
    return "*";
  case BinaryOp::Div:
    return "/";
  case BinaryOp::FloorDiv:
    return "//";
  case BinaryOp::Mod:
    return "%";
  case BinaryOp::Pow:
    return "** or pow()";
  }
  return "?";
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static Value bigPower(Heap &heap, const BigInt &base, int64_t exponent) {
  BigInt result(1), square = base;
  for (; exponent > 0; exponent >>= 1) {
    heap.step(1 + square.size() * square.size() / 8);
    if (exponent & 1)
      result = result * square;
    if (exponent > 1)
      square = square * square;
  }
  return makeInteger(heap, std::move(result));
}

static Value powerOfIntegers(Heap &heap, const Value &a, const Value &b) {
  BigInt exponent = toBigInt(b);
  if (exponent.isNegative()) {
    double base = toDouble(a);
    if (base == 0)
      raise(ErrorKind::Value, "0.0 cannot be raised to a negative power");
    return Value::number(std::pow(base, toDouble(b)));
  }
  BigInt base = toBigInt(a);
  if (base.isZero() || BigInt::compare(base, BigInt(1)) == 0)
    return exponent.isZero() ? Value::integer(1) : makeInteger(heap, base);
  std::optional<int64_t> small = exponent.toInt64();
  bool isMinusOne = BigInt::compare(base, BigInt(-1)) == 0;
  if (!small || (*small > int64_t(BigInt::kMaxLimbs) * 32 && !isMinusOne))
    raise(ErrorKind::Limit, "the power is too large");
  return bigPower(heap, base, isMinusOne ? *small % 2 + 2 : *small);
}

static Value divideIntegers(Heap &heap, const Value &a, const Value &b) {
  if (!truth(heap, b))
    raise(ErrorKind::Value, "division by zero");
  if (a.isSmallInteger() && b.isSmallInteger())
    return Value::number(
        static_cast<double>(static_cast<long double>(a.asInt()) / b.asInt()));
  double quotient = toBigInt(a).toDouble() / toBigInt(b).toDouble();
  if (!std::isfinite(quotient))
    raise(ErrorKind::Overflow, "integer division result too large for a float");
  return Value::number(quotient);
}

static Value floorIntegers(Heap &heap, BinaryOp op, const Value &a,
                           const Value &b) {
  if (!truth(heap, b))
    raise(ErrorKind::Value, "integer division or modulo by zero");
  bool isSmall = a.isSmallInteger() && b.isSmallInteger() &&
                 !(a.asInt() == INT64_MIN && b.asInt() == -1);
  if (isSmall) {
    int64_t quotient = a.asInt() / b.asInt();
    int64_t rest = a.asInt() % b.asInt();
    if (rest != 0 && (rest < 0) != (b.asInt() < 0)) {
      rest += b.asInt();
      --quotient;
    }
    return Value::integer(op == BinaryOp::Mod ? rest : quotient);
  }
  BigInt left = toBigInt(a), right = toBigInt(b), quotient, rest;
  heap.step(left.size() * (right.size() + 1) * 8);
  BigInt::divide(left, right, quotient, rest);
  return makeInteger(heap, op == BinaryOp::Mod ? rest : quotient);
}

static Value onIntegers(Heap &heap, BinaryOp op, const Value &a,
                        const Value &b) {
  if (op == BinaryOp::Pow)
    return powerOfIntegers(heap, a, b);
  if (op == BinaryOp::Div)
    return divideIntegers(heap, a, b);
  if (op == BinaryOp::FloorDiv || op == BinaryOp::Mod)
    return floorIntegers(heap, op, a, b);
  if (a.isSmallInteger() && b.isSmallInteger()) {
    int64_t result = 0;
    bool overflows =
        op == BinaryOp::Add
            ? __builtin_add_overflow(a.asInt(), b.asInt(), &result)
        : op == BinaryOp::Sub
            ? __builtin_sub_overflow(a.asInt(), b.asInt(), &result)
            : __builtin_mul_overflow(a.asInt(), b.asInt(), &result);
    if (!overflows)
      return Value::integer(result);
  }
  BigInt left = toBigInt(a), right = toBigInt(b);
  heap.step(1 + left.size() * right.size() / 8);
  return makeInteger(heap, op == BinaryOp::Add   ? left + right
                           : op == BinaryOp::Sub ? left - right
                                                 : left * right);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static double floorMod(double a, double b, double &quotient) {
  double rest = std::fmod(a, b);
  quotient = (a - rest) / b;
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  if (quotient != 0) {
    double floor = std::floor(quotient);
    quotient = quotient - floor > 0.5 ? floor + 1 : floor;
  } else {
    quotient = std::copysign(0.0, a / b);
  }
  return rest;
}

static double powerOfFloats(double a, double b) {
  if (a == 0 && b < 0)
    raise(ErrorKind::Value, "0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b))
    raise(ErrorKind::Unsupported, "the power is a complex number");
  double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b))
    raise(ErrorKind::Overflow, "numerical result out of range");
  return result;
}

static double onFloats(BinaryOp op, double a, double b) {
  double quotient = 0;
  switch (op) {
  case BinaryOp::Add:
    return a + b;
  case BinaryOp::Sub:
    return a - b;
  case BinaryOp::Mul:
    return a * b;
  case BinaryOp::Pow:
    return powerOfFloats(a, b);
  case BinaryOp::Div:
    if (b == 0)
      raise(ErrorKind::Value, "float division by zero");
    return a / b;
  case BinaryOp::FloorDiv:
    if (b == 0)
      raise(ErrorKind::Value, "float floor division by zero");
    floorMod(a, b, quotient);
    return quotient;
  case BinaryOp::Mod:
    if (b == 0)
      raise(ErrorKind::Value, "float modulo");
    return floorMod(a, b, quotient);
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static Value repeat(Heap &heap, const Value &value, const Value &times) {
  if (times.is(Kind::Big))
    raise(ErrorKind::Overflow, "cannot fit 'int' into an index-sized integer");
  int64_t count = std::max<int64_t>(requireIndex(times, "repetitions"), 0);
  if (value.isStr()) {
    const Str &str = value.as<Str>();
    if (count > 0 && str.text.size() >
                         heap.limits.memoryBytes / static_cast<uint64_t>(count))
      heap.reserve(SIZE_MAX);
    TextBuilder text(heap);
    if (!str.text.empty())
      for (int64_t i = 0; i < count; ++i)
        text.append(str.text);
    return makeStr(heap, text.take(), str.isMarkup);
  }
  const Values &items = value.as<Sequence>().items;
  if (items.empty())
    count = 0;
  if (count > 0 && items.size() > heap.limits.memoryBytes / sizeof(Value) /
                                      static_cast<uint64_t>(count))
    heap.reserve(SIZE_MAX);
  heap.reserve(items.size() * static_cast<size_t>(count) * sizeof(Value));
  Values result;
  result.reserve(items.size() * static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    heap.step(items.size());
    result.insert(result.end(), items.begin(), items.end());
  }
  return value.is(Kind::List) ? makeList(heap, std::move(result))
                              : makeTuple(heap, std::move(result));
}

/// Concatenation; with a safe text the other one is escaped.
static Value concatenateTexts(Heap &heap, const Str &a, const Str &b) {
  const bool isMarkup = a.isMarkup || b.isMarkup;
  TextBuilder text(heap);
  text.append(isMarkup && !a.isMarkup ? escapeHtml(heap, a.text) : a.text);
  text.append(isMarkup && !b.isMarkup ? escapeHtml(heap, b.text) : b.text);
  return makeStr(heap, text.take(), isMarkup);
}

static Value concatenate(Heap &heap, const Value &a, const Value &b) {
  if (a.isStr())
    return concatenateTexts(heap, a.as<Str>(), b.as<Str>());
  const Values &left = a.as<Sequence>().items, &right = b.as<Sequence>().items;
  heap.reserve((left.size() + right.size()) * sizeof(Value));
  heap.step((left.size() + right.size()) / 4);
  Values items;
  items.reserve(left.size() + right.size());
  items.insert(items.end(), left.begin(), left.end());
  items.insert(items.end(), right.begin(), right.end());
  return a.is(Kind::List) ? makeList(heap, std::move(items))
                          : makeTuple(heap, std::move(items));
}

static bool isSequence(const Value &value) {
  return value.isStr() || value.is(Kind::List) || value.is(Kind::Tuple);
}

Value binary(Interpreter &interpreter, BinaryOp op, const Value &a,
             const Value &b) {
  Heap &heap = interpreter.heap;
  if (a.isInteger() && b.isInteger())
    return onIntegers(heap, op, a, b);
  if (a.isNumber() && b.isNumber())
    return Value::number(onFloats(op, toDouble(a), toDouble(b)));
  // A text formats anything, an undefined value included.
  if (op == BinaryOp::Mod && a.isStr())
    return formatPercent(interpreter, a, b);
  if (a.isUndefined())
    failUndefined(a);
  if (b.isUndefined())
    failUndefined(b);
  if (op == BinaryOp::Add && a.kind() == b.kind() && isSequence(a))
    return concatenate(heap, a, b);
  if (op == BinaryOp::Mul && isSequence(a) && b.isInteger())
    return repeat(heap, a, b);
  if (op == BinaryOp::Mul && isSequence(b) && a.isInteger())
    return repeat(heap, b, a);
  if (op == BinaryOp::Add && isSequence(a))
    raise(ErrorKind::Type, "can only concatenate " + typeName(a) + " (not \"" +
                               typeName(b) + "\") to " + typeName(a));
  raise(ErrorKind::Type, std::string("unsupported operand type(s) for ") +
                             spelling(op) + ": '" + typeName(a) + "' and '" +
                             typeName(b) + "'");
}

Value negate(Heap &heap, const Value &value) {
  if (value.isUndefined())
    failUndefined(value);
  if (value.is(Kind::Float))
    return Value::number(-value.asDouble());
  if (value.isSmallInteger() && value.asInt() != INT64_MIN)
    return Value::integer(-value.asInt());
  if (value.isInteger())
    return makeInteger(heap, -toBigInt(value));
  raise(ErrorKind::Type,
        "bad operand type for unary -: '" + typeName(value) + "'");
}

Value unaryPlus(Heap &, const Value &value) {
  if (value.isUndefined())
    failUndefined(value);
  if (value.is(Kind::Bool))
    return Value::integer(value.asInt());
  if (value.isNumber())
    return value;
  raise(ErrorKind::Type,
        "bad operand type for unary +: '" + typeName(value) + "'");
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

static std::optional<Value> characterAt(Heap &heap, const Value &str,
                                        int64_t index) {
  const std::string &text = str.text();
  int64_t length = *lengthOf(heap, str);
  if (index < 0)
    index += length;
  if (index < 0 || index >= length)
    return std::nullopt;
  auto begin = static_cast<size_t>(index);
  if (static_cast<size_t>(length) != text.size()) {
    heap.stepBytes(text.size());
    begin = byteOffset(text, begin);
  }
  return makeStr(heap, text.substr(begin, characterSize(text[begin])),
                 str.as<Str>().isMarkup);
}

std::optional<Value> subscript(Heap &heap, const Value &value,
                               const Value &index) {
  if (value.isUndefined())
    failUndefined(value);
  if (value.is(Kind::Dict)) {
    const Value *found = nullptr;
    if (index.is(Kind::List) || index.is(Kind::Dict))
      return std::nullopt; // Cannot be hashed.
    found = dictFind(heap, value.as<Dict>(), index);
    return found ? std::optional<Value>(*found) : std::nullopt;
  }
  if (!index.isSmallInteger())
    return std::nullopt;
  int64_t i = index.asInt();
  switch (value.kind()) {
  case Kind::Str:
    return characterAt(heap, value, i);
  case Kind::List:
  case Kind::Tuple: {
    const Values &items = value.as<Sequence>().items;
    if (i < 0)
      i += static_cast<int64_t>(items.size());
    if (i < 0 || i >= static_cast<int64_t>(items.size()))
      return std::nullopt;
    return items[static_cast<size_t>(i)];
  }
  case Kind::Range: {
    const Range &range = value.as<Range>();
    if (i < 0)
      i += range.size;
    if (i < 0 || i >= range.size)
      return std::nullopt;
    return Value::integer(range.at(i));
  }
  default:
    return std::nullopt;
  }
}

namespace {
/// The elements of a slice: start, start + step, … before stop.
struct SliceRange {
  int64_t start, stop, step, count;
};
} // namespace

static int64_t sliceIndex(const Value &value, int64_t otherwise) {
  if (value.isMissing() || value.isNone())
    return otherwise;
  if (!value.isInteger())
    raise(ErrorKind::Type, "slice indices must be integers or None or have an "
                           "__index__ method");
  return requireIndex(value, "slice indices");
}

static SliceRange sliceRange(int64_t length, const Value &start,
                             const Value &stop, const Value &step) {
  int64_t stride = std::max(sliceIndex(step, 1), -INT64_MAX);
  if (stride == 0)
    raise(ErrorKind::Value, "slice step cannot be zero");
  const bool isBackward = stride < 0;
  int64_t low = isBackward ? -1 : 0, high = isBackward ? length - 1 : length;
  auto clamp = [&](int64_t index) {
    if (index < 0)
      index = index < -length ? low : index + length;
    return std::min(std::max(index, low), high);
  };
  // An omitted bound is not an index counted from the end.
  bool hasStart = !start.isMissing() && !start.isNone();
  bool hasStop = !stop.isMissing() && !stop.isNone();
  int64_t first =
      hasStart ? clamp(sliceIndex(start, 0)) : (isBackward ? high : low);
  int64_t last =
      hasStop ? clamp(sliceIndex(stop, 0)) : (isBackward ? low : high);
  int64_t count = 0;
  if (!isBackward && first < last)
    count = (last - first - 1) / stride + 1;
  else if (isBackward && last < first)
    count = (first - last - 1) / -stride + 1;
  return {first, last, stride, count};
}

static Value sliceText(Heap &heap, const Value &value, const SliceRange &part) {
  const std::string &text = value.text();
  const bool isMarkup = value.as<Str>().isMarkup;
  heap.stepBytes(text.size());
  auto length = static_cast<size_t>(textLength(value));
  auto start = static_cast<size_t>(part.start);
  auto count = static_cast<size_t>(part.count);
  if (part.count == 0)
    return makeStr(heap, {}, isMarkup);
  if (part.step == 1) {
    size_t begin = length == text.size() ? start : byteOffset(text, start);
    std::string_view rest = std::string_view(text).substr(begin);
    size_t size = length == text.size() ? count : byteOffset(rest, count);
    heap.reserve(size);
    return makeStr(heap, std::string(rest.substr(0, size)), isMarkup);
  }
  // Any other step goes through a table of the characters' places.
  std::vector<size_t> places;
  heap.reserve(length * sizeof(size_t));
  places.reserve(length);
  for (size_t at = 0; at < text.size(); at += characterSize(text[at]))
    places.push_back(at);
  TextBuilder result(heap);
  for (int64_t i = 0; i < part.count; ++i) {
    size_t at = places[static_cast<size_t>(part.start + i * part.step)];
    result.append(std::string_view(text).substr(at, characterSize(text[at])));
  }
  return makeStr(heap, result.take(), isMarkup);
}

Value slice(Heap &heap, const Value &value, const Value &start,
            const Value &stop, const Value &step) {
  if (value.isUndefined())
    failUndefined(value);
  if (value.isStr())
    return sliceText(heap, value,
                     sliceRange(*lengthOf(heap, value), start, stop, step));
  if (value.is(Kind::Range)) {
    const Range &range = value.as<Range>();
    SliceRange part = sliceRange(range.size, start, stop, step);
    int64_t stride = 0;
    if (__builtin_mul_overflow(range.step, part.step, &stride))
      raise(ErrorKind::Overflow, "the step of a range is too large");
    return heap.make<Range>(0, range.at(part.start), range.at(part.stop),
                            stride, part.count);
  }
  if (!value.is(Kind::List) && !value.is(Kind::Tuple))
    raise(ErrorKind::Type,
          value.is(Kind::Dict)
              ? "unhashable type: 'slice'"
              : "'" + typeName(value) + "' object is not subscriptable");
  const Values &items = value.as<Sequence>().items;
  SliceRange part =
      sliceRange(static_cast<int64_t>(items.size()), start, stop, step);
  heap.reserve(static_cast<size_t>(part.count) * sizeof(Value));
  heap.step(static_cast<uint64_t>(part.count) / 4);
  Values result;
  result.reserve(static_cast<size_t>(part.count));
  for (int64_t i = 0; i < part.count; ++i)
    result.push_back(items[static_cast<size_t>(part.start + i * part.step)]);
  return value.is(Kind::List) ? makeList(heap, std::move(result))
                              : makeTuple(heap, std::move(result));
}

} // namespace llmir::chat
