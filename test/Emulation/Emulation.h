//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs programs of tests for processors that this machine is not: under qemu's
// user emulation, in the runner that CMake cross-builds.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_EMULATION_EMULATION_H
#define LLMIR_TEST_EMULATION_EMULATION_H

#include "llmir/ABI/StepFields.h"
#include "llmir/Codegen/CPULevel.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <string>
#include <vector>

namespace llmir::test {

/// The memory that a field of the step context points to.
struct FieldMemory {
  StepField field;
  void *data;
  size_t bytes;
  bool isWritten; ///< Read back after the step.
};

/// Empty if code of the level can be emulated, else the missing tool.
std::string whyNotEmulated(const CPULevel &level);

/// One step of the image on a processor that has the level and no more. The
/// counts of `context` are taken; its addresses are those of `memory`.
Status runEmulated(const CPULevel &level, Span<const uint8_t> image,
                   const LLMIRStepContext &context, int64_t workers,
                   const std::vector<FieldMemory> &memory);

} // namespace llmir::test

#endif // LLMIR_TEST_EMULATION_EMULATION_H
