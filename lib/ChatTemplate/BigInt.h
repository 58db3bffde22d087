//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers beyond 64 bits, as Python has them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_BIGINT_H
#define LLMIR_LIB_CHATTEMPLATE_BIGINT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir::chat {

/// Sign and magnitude. Values are limited to kMaxLimbs words; a larger result
/// is a TemplateError.
class BigInt {
public:
  static constexpr size_t kMaxLimbs = 2048;
  /// Digits that are converted from and to texts, as in Python.
  static constexpr size_t kMaxDigits = 4300;

  BigInt() = default;
  explicit BigInt(int64_t value);
  /// Digits of a base from 2 to 36, without sign.
  static BigInt fromDigits(std::string_view digits, int base = 10);
  /// The integral part of a finite number.
  static BigInt fromDouble(double value);

  bool isNegative() const { return negative; }
  bool isZero() const { return limbs.empty(); }
  size_t size() const { return limbs.size(); }
  /// The value, if it fits.
  std::optional<int64_t> toInt64() const;
  /// Infinite if it is too large.
  double toDouble() const;
  std::string toString(int base = 10) const;

  BigInt operator-() const;
  friend BigInt operator+(const BigInt &a, const BigInt &b);
  friend BigInt operator-(const BigInt &a, const BigInt &b);
  friend BigInt operator*(const BigInt &a, const BigInt &b);
  /// Floor division; the divisor is not zero.
  static void divide(const BigInt &a, const BigInt &b, BigInt &quotient,
                     BigInt &remainder);
  static int compare(const BigInt &a, const BigInt &b);

private:
  using Limbs = std::vector<uint32_t>;
  static int compareMagnitudes(const Limbs &a, const Limbs &b);
  static Limbs addMagnitudes(const Limbs &a, const Limbs &b);
  static Limbs subtractMagnitudes(const Limbs &a, const Limbs &b);
  static void divideMagnitudes(const Limbs &a, const Limbs &b, Limbs &quotient,
                               Limbs &remainder);
  static uint32_t divideBySmall(Limbs &limbs, uint32_t divisor);
  void normalize();

  Limbs limbs; ///< Least significant first, no leading zeros.
  bool negative = false;
};

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_BIGINT_H
