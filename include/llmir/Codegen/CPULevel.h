//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CPU levels of CPULevels.def as a table.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CODEGEN_CPULEVEL_H
#define LLMIR_CODEGEN_CPULEVEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace llmir {

/// How many accumulators a register tile holds.
struct RegisterTile {
  int64_t rowTiles; ///< Tiles of 16 output rows.
  int64_t tokens;
};

/// One row of the table.
struct CPULevel {
  llvm::StringLiteral name;         ///< On the command line and in artifacts.
  llvm::StringLiteral llvmCPU;      ///< Passed to LLVM as target-cpu.
  llvm::StringLiteral llvmFeatures; ///< And as target-features.
  int64_t vectorBits, vectorRegisters;
  RegisterTile gemm, gemmBlocks; ///< Several tokens; plain and block formats.
  RegisterTile gemv, gemvBlocks; ///< One token.
  RegisterTile gemmIntegers;     ///< Integer products, several tokens.

  /// One instruction multiplies 64 bytes and adds fours of them (vpdpbusd).
  bool hasByteDots() const { return llvmFeatures.contains("+avx512vnni"); }

  RegisterTile tile(bool blockFormat, bool oneToken) const {
    if (oneToken)
      return blockFormat ? gemvBlocks : gemv;
    return blockFormat ? gemmBlocks : gemm;
  }
};

/// All levels, lowest first.
llvm::ArrayRef<CPULevel> cpuLevels();

/// The level of that name, or null.
const CPULevel *findCPULevel(llvm::StringRef name);

} // namespace llmir

#endif // LLMIR_CODEGEN_CPULEVEL_H
