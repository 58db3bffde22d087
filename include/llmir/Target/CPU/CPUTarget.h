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
// symbols. Functions are optimized and generated separately, on all processors;
// the code depends only on the module and the level.
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

namespace llmir {

/// Generates machine code for one module. Each form is created on demand, and
/// can be created more than once. All forms are optimized; functions that
/// create one fail with ResourceExhausted if memory is short.
class CPUCodeGenerator {
public:
  /// Translates `module` (LLVM dialect only, with at least one function) for
  /// the level, which must outlive this object. Fails with Internal if LLVM
  /// lacks the target or the module cannot be translated.
  static Expected<CPUCodeGenerator> create(mlir::ModuleOp module,
                                           const CPULevel &level);
  CPUCodeGenerator(CPUCodeGenerator &&) noexcept;
  ~CPUCodeGenerator();

  /// Adds a section of ELF notes, which linking preserves, with the contents
  /// `notes`. Call before the outputs below.
  void addNotes(Span<const uint8_t> notes);

  /// The following outputs contain all functions in one module.
  Expected<std::string> llvmText();
  Expected<std::string> assembly();
  /// A relocatable object; fails with Internal, naming them, if it has
  /// undefined symbols.
  Expected<std::vector<uint8_t>> object();

  /// The image for an artifact, linked from an object per function;
  /// `entry` becomes its entry point. Fails as object() and linkCodeImage() do.
  /// If the environment names a directory as LLMIR_OBJECT_CACHE, objects are
  /// taken from there, and kept there for other modules with equal functions;
  /// fails with IoError if that directory cannot be used.
  Expected<std::vector<uint8_t>> image(const std::string &entry);

private:
  struct State;
  explicit CPUCodeGenerator(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Links objects, in this order, into the image for an artifact;
/// `entry` becomes the image's entry point.
Expected<std::vector<uint8_t>>
linkCodeImage(const std::vector<std::vector<uint8_t>> &objects,
              const std::string &entry);

} // namespace llmir

#endif // LLMIR_TARGET_CPU_CPUTARGET_H
