//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations shared by the emitters: registration functions, and code used by
// several kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_COMMON_EMITTERS_H
#define LLMIR_LIB_CODEGEN_COMMON_EMITTERS_H

#include "llmir/Codegen/KernelEmitter.h"
#include "llmir/Dialect/MLLM/Kernels/Kernels.h"
#include "llmir/Support/IntegerLayout.h"

namespace llmir {

namespace kernel = mllm::kernel;

//===----------------------------------------------------------------------===//
// Registration: one function for each file with emitters
//===----------------------------------------------------------------------===//

void addAttentionEmitters(KernelEmitters &emitters);
void addCacheEmitters(KernelEmitters &emitters);
void addCopyEmitters(KernelEmitters &emitters);
void addEmbeddingEmitters(KernelEmitters &emitters);
void addExpertEmitters(KernelEmitters &emitters);
void addGatherEmitters(KernelEmitters &emitters);
void addLinalgEmitters(KernelEmitters &emitters);
void addLoopEmitters(KernelEmitters &emitters);
void addMatmulEmitters(KernelEmitters &emitters);
void addPackEmitters(KernelEmitters &emitters);
void addQuantEmitters(KernelEmitters &emitters);
void addReductionEmitters(KernelEmitters &emitters);
void addRopeEmitters(KernelEmitters &emitters);
void addRowEmitters(KernelEmitters &emitters);
void addRowQuantizers(KernelEmitters &emitters);
void addRowRounders(KernelEmitters &emitters);
void addSortEmitters(KernelEmitters &emitters);
void addStateEmitters(KernelEmitters &emitters);

//===----------------------------------------------------------------------===//
// Code used by several kernels
//===----------------------------------------------------------------------===//

/// Size in bytes of a packed matrix; the format must be valid.
int64_t packedMatrixBytes(llvm::StringRef format, int64_t rows,
                          int64_t columns);

/// Stack memory of the kernel, aligned to a cache line.
mlir::Value createScratch(KernelBuilder &kb, int64_t bytes);

/// Clamps 16 rounded quotients to [-127, 127] as `byteCode` does.
mlir::Value clampToBytes(KernelBuilder &kb, mlir::Value rounded);

/// Rounds 16 elements to 8 words in the layout of round_rows.
mlir::Value roundToWords(KernelBuilder &kb, mlir::Value elements);

/// Expands one packed 64-byte line of a plain format (i32 x 16, one 4-byte word
/// per row) into valuesPerLine() vectors f32 x 16 of ascending K. On a scalar,
/// expands one i32 word into its values.
llvm::SmallVector<mlir::Value>
decodeWords(KernelBuilder &kb, TensorFormat format, mlir::Value words);

/// f32 (scalar or vector) rounded to nearest even, as the bits of the format
/// (i32 for F32, i16 for F16 and BF16).
mlir::Value encodeFloat(KernelBuilder &kb, TensorFormat format,
                        mlir::Value value);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_COMMON_EMITTERS_H
