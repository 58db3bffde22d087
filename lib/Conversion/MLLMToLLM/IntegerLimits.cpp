//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerLimits.h"

#include "llvm/Support/Format.h"

using namespace mlir;

namespace llmir {

LogicalResult checkFits(OpLowering &l, Type element, ArrayRef<double> numbers) {
  for (double number : numbers) {
    if (!isa<IntegerType>(element) ||
        (number >= kLeastInteger && number <= kGreatestInteger))
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.15g", number);
    return l.refuse() << "compiled code computes with integers of 32 bits, and "
                      << text << " is none";
  }
  return success();
}

} // namespace llmir
