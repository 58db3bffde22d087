//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is too large to be made.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_INTERPRETER_AFFORDABLE_H
#define LLMIR_LIB_INTERPRETER_AFFORDABLE_H

#include "mlir/Dialect/LLM/IR/LLM.h"

namespace llmir {

/// Whether numbers of that shape are made (reference::checkAffordable).
bool isAffordable(llvm::ArrayRef<int64_t> shape);
/// Why no cache of that type is made, or nothing.
std::string cacheTooLarge(mlir::llm::PagedKVCacheType type);

} // namespace llmir

#endif // LLMIR_LIB_INTERPRETER_AFFORDABLE_H
