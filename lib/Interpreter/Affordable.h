//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Size limits of values.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_INTERPRETER_AFFORDABLE_H
#define LLMIR_LIB_INTERPRETER_AFFORDABLE_H

#include "mlir/Dialect/LLM/IR/LLM.h"

namespace llmir {

/// Whether a tensor of that shape is small enough (reference::checkAffordable).
bool isAffordable(llvm::ArrayRef<int64_t> shape);
/// The reason why a cache type is too large, or empty.
std::string cacheTooLarge(mlir::llm::PagedKVCacheType type);

} // namespace llmir

#endif // LLMIR_LIB_INTERPRETER_AFFORDABLE_H
