//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stage 6 for CPUs: from the LLVM dialect to a self-contained
// position-independent image without relocations, libraries or undefined
// symbols.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TARGET_CPU_CPUTARGET_H
#define LLMIR_TARGET_CPU_CPUTARGET_H

#include "llmir/Codegen/CPULevel.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace llmir {

/// Generates machine code for one module. Each form is created on demand from
/// the previous one.
class CPUCodeGenerator {
public:
  /// Translates `module` (LLVM dialect only) for the level. Fails with Internal
  /// if LLVM lacks the target or the module cannot be translated.
  static Expected<CPUCodeGenerator> create(mlir::ModuleOp module,
                                           const CPULevel &level);
  CPUCodeGenerator(CPUCodeGenerator &&) noexcept;
  ~CPUCodeGenerator();

  /// Adds a section of ELF notes, which linking preserves, with the contents
  /// `notes`. Call before the outputs below.
  void addNotes(Span<const uint8_t> notes);

  /// Runs LLVM's optimizations; call once, before the outputs below.
  void optimize();

  std::string llvmText() const;
  Expected<std::string> assembly() const;
  /// A relocatable object; fails with Internal, naming them, if it has
  /// undefined symbols.
  Expected<std::vector<uint8_t>> object() const;

private:
  struct State;
  explicit CPUCodeGenerator(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Links an object into the image that an artifact carries; `entry` becomes the
/// image's entry point.
Expected<std::vector<uint8_t>> linkCodeImage(Span<const uint8_t> object,
                                             const std::string &entry);

} // namespace llmir

#endif // LLMIR_TARGET_CPU_CPUTARGET_H
