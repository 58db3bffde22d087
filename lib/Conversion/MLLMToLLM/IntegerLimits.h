//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers of compiled code have 32 bits, whatever their type.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_INTEGERLIMITS_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_INTEGERLIMITS_H

#include "OpLowering.h"

#include <limits>

namespace llmir {

inline constexpr double kLeastInteger = std::numeric_limits<int32_t>::min();
inline constexpr double kGreatestInteger = std::numeric_limits<int32_t>::max();

/// Refuses numbers that elements of that type cannot be in compiled code.
mlir::LogicalResult checkFits(OpLowering &l, mlir::Type element,
                              llvm::ArrayRef<double> numbers);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_INTEGERLIMITS_H
