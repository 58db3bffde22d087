//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module cut into its functions, so that threads can generate their code side
// by side. The cut does not depend on the number of threads: neither does the
// code.
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

/// Some functions of a module in a module, and a context, of their own.
struct ModulePart {
  /// Declared in this order: a module goes before its context.
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

/// Threads ran out of memory.
Status noMemoryForCode();

/// The functions that `module` defines, as parts, in its order: neighbors are
/// one part if they are small. What was internal becomes hidden, so that parts
/// can call each other and the linker can resolve it; internal constants are
/// copied into each part that uses them. Other definitions of the module
/// (external constants, aliases) are left out. Fails with ResourceExhausted if
/// there is not enough memory.
Expected<std::vector<std::unique_ptr<ModulePart>>>
splitModule(const llvm::Module &module);

/// The parts as one module in `context`, where hidden functions are internal
/// again; null when they cannot be linked, which is a bug.
std::unique_ptr<llvm::Module>
mergeParts(const std::vector<std::unique_ptr<ModulePart>> &parts,
           llvm::LLVMContext &context);

} // namespace llmir

#endif // LLMIR_LIB_TARGET_CPU_SPLITMODULE_H
