//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the scalar regions of element-wise kernels are made of. Every function
// takes and gives f32, a scalar or a vector, and writes only ops that become
// instructions: math.exp and math.log are those that polynomials replace.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_SCALARFUNCTIONS_H
#define LLMIR_DIALECT_MLLM_SCALARFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace llmir::mllm::program {

/// x / (1 + exp(-x)).
mlir::Value emitSilu(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// x * P(X <= x) for a standard normal X.
mlir::Value emitGelu(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2.
mlir::Value emitGeluTanh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// x / (1 + exp(-1.702 * x)).
mlir::Value emitGeluQuick(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value x);

/// cos and sin of f64 angles below 2^31, to 3e-14.
std::pair<mlir::Value, mlir::Value>
emitCosSin(mlir::OpBuilder &b, mlir::Location loc, mlir::Value angle);

// What math.sin, math.cos and math.log of f32 numbers become. NaN where the
// function has no value.

/// The error in front of the last rounding is below 3e-14, beyond 2^31 below
/// 1e-11.
mlir::Value emitSin(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitCos(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// By math.log of normal numbers; that of denormal ones is approximated as one
/// number.
mlir::Value emitLog(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

// What other ops of math on f32 numbers become, as C's functions of these names
// define them, also of zeros, infinities and NaN.

/// x to the power y.
mlir::Value emitPower(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                      mlir::Value y);
mlir::Value emitExp2(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitSinh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitCosh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitAsinh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitAcosh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitAtanh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// By math.cbrt of normal numbers.
mlir::Value emitCbrt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// By math.atan2 of numbers that are not both 0 or both infinite.
mlir::Value emitAtan2(mlir::OpBuilder &b, mlir::Location loc, mlir::Value y,
                      mlir::Value x);

/// x rounded to nearest even to `element` (f32, f16 or bf16), as f32.
mlir::Value emitRound(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                      mlir::Type element);

// Quotients of integers, exact at any width. They never trap: a quotient by 0
// is 0, and that of the least number by -1 wraps to itself.

/// Which integer a quotient between two integers becomes.
enum class QuotientRounding { TowardZero, Down, Up };

/// x / y of signed integers.
mlir::Value emitQuotient(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                         mlir::Value y, QuotientRounding rounding);
/// The same of unsigned ones.
mlir::Value emitUnsignedQuotient(mlir::OpBuilder &b, mlir::Location loc,
                                 mlir::Value x, mlir::Value y,
                                 QuotientRounding rounding);

/// A float as an integer of type `element`, its fraction dropped: the nearest
/// one that the type has, as a signed or an unsigned type; 0 for NaN.
mlir::Value emitToInteger(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                          mlir::IntegerType element, bool isSigned);

/// How several values become one.
enum class Combination { Sum, Mean, Max, Min };

/// The values combined from the first to the last.
mlir::Value emitCombination(mlir::OpBuilder &b, mlir::Location loc,
                            Combination how, mlir::ValueRange values);

} // namespace llmir::mllm::program

#endif // LLMIR_DIALECT_MLLM_SCALARFUNCTIONS_H
