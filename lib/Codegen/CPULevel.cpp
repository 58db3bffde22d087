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
#define LLMIR_CPU_LEVEL(Enum, name, cpu, features, bits, registers, gemmRows,  \
                        gemmTokens, blockRows, blockTokens, gemvRows,          \
                        gemvBlockRows, integerRows, integerTokens)             \
  {name,                                                                       \
   cpu,                                                                        \
   features,                                                                   \
   bits,                                                                       \
   registers,                                                                  \
   {gemmRows, gemmTokens},                                                     \
   {blockRows, blockTokens},                                                   \
   {gemvRows, 1},                                                              \
   {gemvBlockRows, 1},                                                         \
   {integerRows, integerTokens}},
#include "llmir/Codegen/CPULevels.def"
};

/// True when a tile's accumulators, one line of weights per row tile and one
/// activation fit into the registers of the level.
static constexpr bool fits(const CPULevel &level, RegisterTile tile,
                           bool blockFormat) {
  int64_t perVector = 512 / level.vectorBits; // Registers of 16 f32 lanes.
  int64_t accumulators = tile.rowTiles * tile.tokens * (blockFormat ? 2 : 1);
  return (accumulators + tile.rowTiles + 1) * perVector <=
         level.vectorRegisters;
}

static constexpr bool allFit() {
  for (const CPULevel &level : levelTable)
    if (!fits(level, level.gemm, false) || !fits(level, level.gemv, false) ||
        !fits(level, level.gemmBlocks, true) ||
        !fits(level, level.gemmIntegers, true) ||
        !fits(level, level.gemvBlocks, true))
      return false;
  return true;
}
static_assert(allFit(), "a register tile of CPULevels.def would spill");

llvm::ArrayRef<CPULevel> cpuLevels() { return levelTable; }

const CPULevel *findCPULevel(llvm::StringRef name) {
  for (const CPULevel &level : levelTable)
    if (level.name == name)
      return &level;
  return nullptr;
}

} // namespace llmir
