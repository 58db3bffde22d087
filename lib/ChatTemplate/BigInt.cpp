//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BigInt.h"
#include "Heap.h"

#include <algorithm>
#include <cmath>

namespace llmir::chat {

BigInt::BigInt(int64_t value) : negative(value < 0) {
  uint64_t magnitude = negative ? ~static_cast<uint64_t>(value) + 1
                                : static_cast<uint64_t>(value);
  for (; magnitude; magnitude >>= 32)
    limbs.push_back(static_cast<uint32_t>(magnitude));
}

void BigInt::normalize() {
  while (!limbs.empty() && limbs.back() == 0)
    limbs.pop_back();
  if (limbs.empty())
    negative = false;
  if (limbs.size() > kMaxLimbs)
    raise(ErrorKind::Limit, "an integer has more than " +
                                std::to_string(kMaxLimbs * 32) + " bits");
}

static uint32_t digitValue(char c) {
  if (c >= '0' && c <= '9')
    return static_cast<uint32_t>(c - '0');
  return static_cast<uint32_t>((c | 0x20) - 'a' + 10);
}

BigInt BigInt::fromDigits(std::string_view digits, int base) {
  BigInt result;
  for (char c : digits) {
    uint64_t carry = digitValue(c);
    for (uint32_t &limb : result.limbs) {
      carry += static_cast<uint64_t>(limb) * static_cast<uint32_t>(base);
      limb = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry)
      result.limbs.push_back(static_cast<uint32_t>(carry));
    if (result.limbs.size() > kMaxLimbs)
      break;
  }
  result.normalize();
  return result;
}

BigInt BigInt::fromDouble(double value) {
  BigInt result;
  int exponent = 0;
  double fraction = std::frexp(std::fabs(value), &exponent);
  if (exponent <= 0)
    return result;
  auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));
  int shift = exponent - 53;
  if (shift < 0) {
    mantissa >>= -shift;
    shift = 0;
  }
  result.limbs.assign(static_cast<size_t>(shift / 32), 0);
  int bits = shift % 32;
  uint64_t low = mantissa << bits;
  uint64_t high = bits ? mantissa >> (64 - bits) : 0;
  for (uint64_t part : {low & 0xffffffff, low >> 32, high})
    result.limbs.push_back(static_cast<uint32_t>(part));
  result.negative = value < 0;
  result.normalize();
  return result;
}

std::optional<int64_t> BigInt::toInt64() const {
  if (limbs.size() > 2)
    return std::nullopt;
  uint64_t magnitude = 0;
  for (size_t i = limbs.size(); i-- > 0;)
    magnitude = magnitude << 32 | limbs[i];
  uint64_t most = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  if (magnitude > most)
    return std::nullopt;
  return static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
}

double BigInt::toDouble() const {
  if (limbs.size() > 40)
    return negative ? -HUGE_VAL : HUGE_VAL;
  // The upper 64 bits, with a sticky last one, are rounded once.
  size_t bits = limbs.size() * 32;
  size_t first = limbs.size() > 3 ? limbs.size() - 3 : 0;
  unsigned __int128 top = 0;
  for (size_t i = limbs.size(); i-- > first;)
    top = top << 32 | limbs[i];
  for (size_t i = 0; i < first; ++i)
    if (limbs[i])
      top |= 1;
  int shift = 0;
  while (top >> 64) {
    top = top >> 1 | (top & 1);
    ++shift;
  }
  // 64 bits to 53 by hand: the conversion rounds to nearest even.
  double value = std::ldexp(static_cast<double>(static_cast<uint64_t>(top)),
                            shift + static_cast<int>(first * 32));
  (void)bits;
  return negative ? -value : value;
}

uint32_t BigInt::divideBySmall(Limbs &limbs, uint32_t divisor) {
  uint64_t rest = 0;
  for (size_t i = limbs.size(); i-- > 0;) {
    rest = rest << 32 | limbs[i];
    limbs[i] = static_cast<uint32_t>(rest / divisor);
    rest %= divisor;
  }
  while (!limbs.empty() && limbs.back() == 0)
    limbs.pop_back();
  return static_cast<uint32_t>(rest);
}

std::string BigInt::toString(int base) const {
  if (limbs.empty())
    return "0";
  std::string text;
  Limbs rest = limbs;
  const uint32_t chunk = base == 10 ? 1000000000 : static_cast<uint32_t>(base);
  const int digits = base == 10 ? 9 : 1;
  while (!rest.empty()) {
    uint32_t part = divideBySmall(rest, chunk);
    for (int i = 0; i < digits && (part || !rest.empty()); ++i) {
      text += "0123456789abcdef"[part % static_cast<uint32_t>(base)];
      part /= static_cast<uint32_t>(base);
    }
  }
  if (negative)
    text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

int BigInt::compareMagnitudes(const Limbs &a, const Limbs &b) {
  if (a.size() != b.size())
    return a.size() < b.size() ? -1 : 1;
  for (size_t i = a.size(); i-- > 0;)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

int BigInt::compare(const BigInt &a, const BigInt &b) {
  if (a.negative != b.negative)
    return a.negative ? -1 : 1;
  int order = compareMagnitudes(a.limbs, b.limbs);
  return a.negative ? -order : order;
}

BigInt::Limbs BigInt::addMagnitudes(const Limbs &a, const Limbs &b) {
  Limbs sum;
  uint64_t carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()) || carry; ++i) {
    carry += (i < a.size() ? uint64_t(a[i]) : 0) +
             (i < b.size() ? uint64_t(b[i]) : 0);
    sum.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  return sum;
}

/// a is at least b.
BigInt::Limbs BigInt::subtractMagnitudes(const Limbs &a, const Limbs &b) {
  Limbs difference = a;
  int64_t borrow = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t digit = int64_t(a[i]) - (i < b.size() ? int64_t(b[i]) : 0) - borrow;
    borrow = digit < 0;
    difference[i] = static_cast<uint32_t>(digit + (borrow << 32));
  }
  return difference;
}

BigInt BigInt::operator-() const {
  BigInt result = *this;
  result.negative = !negative && !limbs.empty();
  return result;
}

BigInt operator+(const BigInt &a, const BigInt &b) {
  BigInt sum;
  if (a.negative == b.negative) {
    sum.limbs = BigInt::addMagnitudes(a.limbs, b.limbs);
    sum.negative = a.negative;
  } else if (BigInt::compareMagnitudes(a.limbs, b.limbs) >= 0) {
    sum.limbs = BigInt::subtractMagnitudes(a.limbs, b.limbs);
    sum.negative = a.negative;
  } else {
    sum.limbs = BigInt::subtractMagnitudes(b.limbs, a.limbs);
    sum.negative = b.negative;
  }
  sum.normalize();
  return sum;
}

BigInt operator-(const BigInt &a, const BigInt &b) { return a + -b; }

BigInt operator*(const BigInt &a, const BigInt &b) {
  BigInt product;
  if (a.isZero() || b.isZero())
    return product;
  product.limbs.assign(a.limbs.size() + b.limbs.size(), 0);
  for (size_t i = 0; i < a.limbs.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.limbs.size(); ++j) {
      carry += product.limbs[i + j] + uint64_t(a.limbs[i]) * b.limbs[j];
      product.limbs[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    product.limbs[i + b.limbs.size()] = static_cast<uint32_t>(carry);
  }
  product.negative = a.negative != b.negative;
  product.normalize();
  return product;
}

/// Bit by bit: such numbers are rare and small.
void BigInt::divideMagnitudes(const Limbs &a, const Limbs &b, Limbs &quotient,
                              Limbs &remainder) {
  quotient.assign(a.size(), 0);
  remainder.clear();
  if (b.size() == 1) {
    quotient = a;
    uint32_t rest = divideBySmall(quotient, b[0]);
    if (rest)
      remainder.push_back(rest);
    return;
  }
  for (size_t bit = a.size() * 32; bit-- > 0;) {
    uint32_t carry = a[bit / 32] >> (bit % 32) & 1;
    for (uint32_t &limb : remainder) {
      uint32_t out = limb >> 31;
      limb = limb << 1 | carry;
      carry = out;
    }
    if (carry)
      remainder.push_back(carry);
    if (compareMagnitudes(remainder, b) < 0)
      continue;
    remainder = subtractMagnitudes(remainder, b);
    while (!remainder.empty() && remainder.back() == 0)
      remainder.pop_back();
    quotient[bit / 32] |= uint32_t(1) << (bit % 32);
  }
}

void BigInt::divide(const BigInt &a, const BigInt &b, BigInt &quotient,
                    BigInt &remainder) {
  BigInt q, r;
  divideMagnitudes(a.limbs, b.limbs, q.limbs, r.limbs);
  q.negative = a.negative != b.negative;
  r.negative = a.negative;
  q.normalize();
  r.normalize();
  if (!r.isZero() && a.negative != b.negative) {
    q = q - BigInt(1);
    r = r + b;
  }
  quotient = std::move(q);
  remainder = std::move(r);
}

} // namespace llmir::chat
