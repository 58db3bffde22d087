//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of sizes, for the costs of ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_LINALGCOSTS_H
#define LLMIR_LIB_DIALECT_MLLM_LINALGCOSTS_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

namespace llmir::mllm {

/// The product; nullopt if a factor is dynamic or unknown, or on overflow.
inline std::optional<int64_t> scaled(std::optional<int64_t> count,
                                     llvm::ArrayRef<int64_t> factors) {
  for (int64_t factor : factors) {
    int64_t product = 0;
    if (!count || mlir::ShapedType::isDynamic(factor) ||
        llvm::MulOverflow(*count, factor, product))
      return std::nullopt;
    count = product;
  }
  return count;
}

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_LINALGCOSTS_H
