//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Codegen/CPULevel.h"

namespace llmir {

static constexpr CPULevel levelTable[] = {
#define LLMIR_CPU_LEVEL(Enum, name, cpu, bits, registers, gemmRows,            \
                        gemmTokens, blockRows, blockTokens, gemvRows,          \
                        gemvBlockRows)                                         \
  {name,                                                                       \
   cpu,                                                                        \
   bits,                                                                       \
   registers,                                                                  \
   {gemmRows, gemmTokens},                                                     \
   {blockRows, blockTokens},                                                   \
   {gemvRows, 1},                                                              \
   {gemvBlockRows, 1}},
#include "llmir/Codegen/CPULevels.def"
};

llvm::ArrayRef<CPULevel> cpuLevels() { return levelTable; }

const CPULevel *findCPULevel(llvm::StringRef name) {
  for (const CPULevel &level : levelTable)
    if (level.name == name)
      return &level;
  return nullptr;
}

} // namespace llmir
