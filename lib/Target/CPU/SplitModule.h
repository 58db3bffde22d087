//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a module into its functions, so that threads can generate their code
// in parallel. The split, and so the code, does not depend on the number of
// threads.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TARGET_CPU_SPLITMODULE_H
#define LLMIR_LIB_TARGET_CPU_SPLITMODULE_H

#include "llmir/Support/Status.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <vector>

namespace llmir {

/// A function of a module, or its notes, in a separate module and context.
struct ModulePart {
  /// Declared in this order: a module is destroyed before its context.
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  bool isOptimized = false;
};

/// Threads ran out of memory.
Status noMemoryForCode();

llvm::SmallVector<char, 0> bitcodeOf(const llvm::Module &module);

/// The functions that `module` defines, each in a part, in its order. Internal
/// symbols become hidden, so that parts can call each other and the linker can
/// resolve it; internal constants are copied into each part that uses them.
/// Other definitions of the module (external constants, aliases) are left out.
/// Fails with ResourceExhausted if there is not enough memory.
Expected<std::vector<std::unique_ptr<ModulePart>>>
splitModule(const llvm::Module &module);

/// Links the parts to one module in `context`, where hidden functions are
/// internal again; null if they cannot be linked, which is a bug.
std::unique_ptr<llvm::Module>
mergeParts(const std::vector<std::unique_ptr<ModulePart>> &parts,
           llvm::LLVMContext &context);

} // namespace llmir

#endif // LLMIR_LIB_TARGET_CPU_SPLITMODULE_H
