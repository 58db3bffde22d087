//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders of scalar functions for the regions of element-wise kernels. Every
// function takes and returns f32 scalars or vectors and creates only ops that
// lower to instructions; math.exp and math.log are later expanded to
// polynomials.
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

/// Cosine and sine of f64 angles less than 2^31, with an error of at most
/// 3e-14.
std::pair<mlir::Value, mlir::Value>
emitCosSin(mlir::OpBuilder &b, mlir::Location loc, mlir::Value angle);

// Expansions of math.sin, math.cos and math.log for f32. NaN outside the domain
// of the function.

/// The error before the final rounding is less than 3e-14, or less than 1e-11
/// beyond 2^31.
mlir::Value emitSin(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitCos(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// Uses math.log for normal numbers; all denormals have the same approximation.
mlir::Value emitLog(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

// Expansions of other math ops for f32, which match the C functions of the same
// names, including zeros, infinities and NaN.

/// x to the power y.
mlir::Value emitPower(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                      mlir::Value y);
mlir::Value emitExp2(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitSinh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitCosh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitAsinh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitAcosh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitAtanh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// Uses math.cbrt for normal numbers.
mlir::Value emitCbrt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// Uses math.atan2 unless both operands are 0 or infinite.
mlir::Value emitAtan2(mlir::OpBuilder &b, mlir::Location loc, mlir::Value y,
                      mlir::Value x);

/// x rounded to nearest even to `element` (f32, f16 or bf16), as f32.
mlir::Value emitRound(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                      mlir::Type element);

// Integer quotients, exact for any width. They never trap: division by 0 yields
// 0, and the least integer divided by -1 wraps around to itself.

/// Rounding of inexact quotients.
enum class QuotientRounding { TowardZero, Down, Up };

/// Signed quotient x / y.
mlir::Value emitQuotient(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                         mlir::Value y, QuotientRounding rounding);
/// Unsigned quotient x / y.
mlir::Value emitUnsignedQuotient(mlir::OpBuilder &b, mlir::Location loc,
                                 mlir::Value x, mlir::Value y,
                                 QuotientRounding rounding);

/// Converts a float to an integer of type `element`, truncating and saturating
/// to the signed or unsigned range; NaN becomes 0.
mlir::Value emitToInteger(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                          mlir::IntegerType element, bool isSigned);

/// How several values are combined.
enum class Combination { Sum, Mean, Max, Min };

/// Combines the values from first to last.
mlir::Value emitCombination(mlir::OpBuilder &b, mlir::Location loc,
                            Combination how, mlir::ValueRange values);

} // namespace llmir::mllm::program

#endif // LLMIR_DIALECT_MLLM_SCALARFUNCTIONS_H
