//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitModule.h"

#include "llmir/Support/ParallelFor.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>

namespace llmir {

Status noMemoryForCode() {
  return Status(StatusCode::ResourceExhausted,
                "out of memory while generating code",
                "free memory, or compile on a machine with more memory");
}

llvm::SmallVector<char, 0> bitcodeOf(const llvm::Module &module) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  return bytes;
}

static llvm::MemoryBufferRef bufferOf(llvm::ArrayRef<char> bytes) {
  return {llvm::StringRef(bytes.data(), bytes.size()), "llmir_step"};
}

/// Calls between parts need neither relocations nor a table.
static void hide(llvm::Function &function) {
  function.setLinkage(llvm::GlobalValue::ExternalLinkage);
  function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  function.setDSOLocal(true);
}

/// Materializes a function of a lazily loaded module and removes the others.
static bool keepOnly(llvm::Module &module, llvm::StringRef name) {
  for (llvm::Function &function : module) {
    const bool isInternal = function.hasLocalLinkage();
    if (!function.isDeclaration() && function.getName() != name)
      function.deleteBody();
    if (isInternal)
      hide(function);
  }
  if (llvm::Error error = module.materializeAll()) {
    llvm::consumeError(std::move(error));
    return false;
  }
  auto eraseUnused = [&](auto &&values) {
    for (auto &value : llvm::make_early_inc_range(values))
      if (value.use_empty() && value.getName() != name)
        value.eraseFromParent();
  };
  eraseUnused(module.aliases());
  eraseUnused(module.globals());
  eraseUnused(module.functions());
  return true;
}

Expected<std::vector<std::unique_ptr<ModulePart>>>
splitModule(const llvm::Module &module) {
  const llvm::SmallVector<char, 0> bitcode = bitcodeOf(module);
  std::vector<std::unique_ptr<ModulePart>> parts;
  std::vector<llvm::StringRef> names;
  for (const llvm::Function &function : module)
    if (!function.isDeclaration())
      names.push_back(function.getName());
  parts.resize(names.size());
  std::atomic<bool> isRead{true};
  auto read = [&](int64_t i) {
    parts[i] = std::make_unique<ModulePart>();
    llvm::Expected<std::unique_ptr<llvm::Module>> lazy =
        llvm::getLazyBitcodeModule(bufferOf(bitcode), parts[i]->context);
    if (!lazy)
      llvm::consumeError(lazy.takeError());
    if (!lazy || !keepOnly(**lazy, names[i]))
      isRead = false;
    else
      parts[i]->module = std::move(*lazy);
  };
  if (!parallelFor(0, names.size(), 1, read))
    return noMemoryForCode();
  if (!isRead)
    return Status(StatusCode::Internal, "LLVM cannot read its own bitcode",
                  "this is a bug of LLMIR: please report it with the command");
  return parts;
}

std::unique_ptr<llvm::Module>
mergeParts(const std::vector<std::unique_ptr<ModulePart>> &parts,
           llvm::LLVMContext &context) {
  auto merged = std::make_unique<llvm::Module>("llmir_step", context);
  for (const std::unique_ptr<ModulePart> &part : parts) {
    llvm::Expected<std::unique_ptr<llvm::Module>> copy =
        llvm::parseBitcodeFile(bufferOf(bitcodeOf(*part->module)), context);
    if (!copy) {
      llvm::consumeError(copy.takeError());
      return nullptr;
    }
    if (llvm::Linker::linkModules(*merged, std::move(*copy)))
      return nullptr;
  }
  for (llvm::Function &function : *merged)
    if (!function.isDeclaration() && function.hasHiddenVisibility())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  return merged;
}

} // namespace llmir
