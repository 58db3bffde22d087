//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_POOLING_H
#define LLMIR_DIALECT_MLLM_POOLING_H

#include "mlir/IR/Operation.h"

namespace llmir::mllm {

/// Whether the op pools the rows of tokens, the first dimension of two of its
/// operand, to one row: that of the first or of the last token, or their mean.
bool poolsTokens(mlir::Operation *op);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_POOLING_H
