//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of CPU levels, generated from CPULevels.def.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CODEGEN_CPULEVEL_H
#define LLMIR_CODEGEN_CPULEVEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace llmir {

/// How a level adds four products of signed bytes to an i32 lane. All methods
/// give the same integers.
enum class ByteDots {
  Generic,   ///< Bytes extended to 32 bits; any vectors.
  PairsOf16, ///< vpmaddubsw if pairs cannot saturate, else vpmaddwd.
  VPDPBUSD,  ///< Unsigned by signed bytes, four at once.
  SDOT,      ///< Signed by signed bytes, four at once.
  SMMLA,     ///< As SDOT, and 2x8 by 8x2 blocks.
  AMX,       ///< As VPDPBUSD, and tiles.
};

/// How a level adds two products of bf16 values to an f32 lane.
enum class Bf16Dots {
  None,      ///< Both extended to f32.
  VDPBF16PS, ///< Two at once.
  AMX,       ///< As VDPBF16PS, and tiles.
};

/// The shape of a register tile.
struct RegisterTile {
  int64_t rowTiles; ///< Tiles of 16 output rows.
  int64_t tokens;
};

/// One row of CPULevels.def, which documents the fields.
struct CPULevel {
  llvm::StringLiteral name; ///< Used on the command line and in artifacts.
  llvm::StringLiteral architecture; ///< "x86_64", "aarch64".
  llvm::StringLiteral llvmCPU;      ///< Passed to LLVM as target-cpu.
  llvm::StringLiteral llvmFeatures; ///< Passed to LLVM as target-features.
  int64_t vectorBits, vectorRegisters;
  ByteDots byteDots;
  Bf16Dots bf16Dots;
  RegisterTile gemmBlocks, gemmIntegers; ///< Several tokens.
  RegisterTile gemvBlocks;               ///< One token.

  /// One instruction multiplies bf16 values and adds pairs of products.
  bool hasBf16Dots() const { return bf16Dots != Bf16Dots::None; }

  /// The name of the architecture in LLVM and in artifacts.
  std::string triple() const {
    return architecture.str() + "-unknown-linux-gnu";
  }
};

/// All levels, lowest first in each architecture.
llvm::ArrayRef<CPULevel> cpuLevels();

/// The level of that name, or null.
const CPULevel *findCPULevel(llvm::StringRef name);

} // namespace llmir

#endif // LLMIR_CODEGEN_CPULEVEL_H
