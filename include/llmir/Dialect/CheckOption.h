//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What passes say about a number that an option of theirs cannot be:
//
//   if (failed(checkOption(module.getLoc(), numRanks, 1)))
//     return signalPassFailure(); // num-ranks must be positive, not 0
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_CHECKOPTION_H
#define LLMIR_DIALECT_CHECKOPTION_H

#include "mlir/IR/Diagnostics.h"

#include <cstdint>
#include <limits>
#include <string>

namespace llmir {

/// Returns an error message, which starts with the option's name, if `value` is
/// not between `least` and `most`; otherwise an empty string.
inline std::string
whyNotOption(llvm::StringRef name, int64_t value, int64_t least,
             int64_t most = std::numeric_limits<int64_t>::max()) {
  if (least <= value && value <= most)
    return {};
  std::string wanted = "at least " + std::to_string(least);
  if (most != std::numeric_limits<int64_t>::max())
    wanted = std::to_string(least) + " to " + std::to_string(most);
  else if (least == 1)
    wanted = "positive";
  return name.str() + " must be " + wanted + ", not " + std::to_string(value);
}

/// Emits that error if a pass option is out of range.
template <typename Option>
llvm::LogicalResult
checkOption(mlir::Location loc, const Option &option, int64_t least,
            int64_t most = std::numeric_limits<int64_t>::max()) {
  const std::string wrong =
      whyNotOption(option.ArgStr, option.getValue(), least, most);
  if (wrong.empty())
    return llvm::success();
  return mlir::emitError(loc) << wrong;
}

} // namespace llmir

#endif // LLMIR_DIALECT_CHECKOPTION_H
