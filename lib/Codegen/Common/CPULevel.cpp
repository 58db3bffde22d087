//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Codegen/CPULevel.h"

namespace llmir {

namespace {
// Keywords used in the rows of CPULevels.def.
struct Target {
  llvm::StringLiteral cpu, features;
  constexpr Target(llvm::StringLiteral cpu, llvm::StringLiteral features)
      : cpu(cpu), features(features) {}
};
struct Vectors {
  int64_t bits, registers;
  constexpr Vectors(int64_t bits, int64_t registers)
      : bits(bits), registers(registers) {}
};
struct Dots {
  ByteDots bytes;
  Bf16Dots bf16;
  constexpr Dots(ByteDots bytes, Bf16Dots bf16) : bytes(bytes), bf16(bf16) {}
};
template <int tag> struct Tile {
  RegisterTile tile;
  constexpr explicit Tile(int64_t rowTiles, int64_t tokens = 1)
      : tile{rowTiles, tokens} {}
};
using GemmBlocks = Tile<0>;
using GemmIntegers = Tile<1>;
using GemvBlocks = Tile<2>;
} // namespace

/// One row; the types of the keywords enforce their order.
static constexpr CPULevel
makeLevel(llvm::StringLiteral name, llvm::StringLiteral architecture,
          Target target, Vectors vectors, Dots dots, GemmBlocks gemmBlocks,
          GemmIntegers gemmIntegers, GemvBlocks gemvBlocks) {
  return {name,
          architecture,
          target.cpu,
          target.features,
          vectors.bits,
          vectors.registers,
          dots.bytes,
          dots.bf16,
          gemmBlocks.tile,
          gemmIntegers.tile,
          gemvBlocks.tile};
}

static constexpr CPULevel levelTable[] = {
#define LLMIR_CPU_LEVEL(name, architecture, includes, features, ...)           \
  makeLevel(name, architecture, __VA_ARGS__),
#include "llmir/Support/CPULevels.def"
};

/// Returns true if that many accumulators of 16 lanes, one line of weights per
/// row tile and one activation fit into the registers of the level.
static constexpr bool fits(const CPULevel &level, int64_t accumulators,
                           int64_t rowTiles) {
  int64_t perVector = 512 / level.vectorBits; // In units of 16 lanes.
  return (accumulators + rowTiles + 1) * perVector <= level.vectorRegisters;
}

/// Returns true if a tile with two accumulators per output fits.
static constexpr bool fits(const CPULevel &level, RegisterTile tile) {
  return fits(level, 2 * tile.rowTiles * tile.tokens, tile.rowTiles);
}

/// In smmla tiles, the integer sums of half of the rows must fit; chains may be
/// spilled (IntegerPairs.cpp).
static constexpr bool integersFit(const CPULevel &level) {
  RegisterTile tile = level.gemmIntegers;
  if (level.byteDots != ByteDots::SMMLA)
    return fits(level, tile);
  return fits(level, tile.rowTiles * tile.tokens / 2, tile.rowTiles);
}

static constexpr bool allFit() {
  for (const CPULevel &level : levelTable)
    if (!fits(level, level.gemmBlocks) || !integersFit(level) ||
        !fits(level, level.gemvBlocks))
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
