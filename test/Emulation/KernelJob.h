//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One step of a test's program as a file, for a processor that is emulated: the
// test writes it, the runner of that processor changes it in place, the test
// reads it again. Both are little endian with addresses of 64 bits.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_EMULATION_KERNELJOB_H
#define LLMIR_TEST_EMULATION_KERNELJOB_H

#include "llmir/ABI/StepFields.h"

#include <cstdint>

namespace llmir::test {

inline constexpr uint64_t kKernelJobMagic = 0x314b524f574d4c4cULL;

/// What the memory of an address field begins at a multiple of, in the file.
inline constexpr uint64_t kKernelJobAlignment = 64;

/// The first bytes of the file; the memory of the fields follows.
struct KernelJobHeader {
  uint64_t magic;
  int64_t workers;
  uint64_t fileBytes;
  /// The step context: counts as they are, addresses as offsets in this file,
  /// 0 for null.
  uint64_t fields[kNumStepFields];
};

} // namespace llmir::test

#endif // LLMIR_TEST_EMULATION_KERNELJOB_H
