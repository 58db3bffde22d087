//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per kind of kernel: writes the body of the kernel that the spec
// describes. The caller has verified the spec against the operand types.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_EMITTERS_H
#define LLMIR_LIB_CODEGEN_EMITTERS_H

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Codegen/KernelBuilder.h"
#include "llmir/Support/IntegerLayout.h"

namespace llmir {

using namespace mllm::program;

// EmbeddingKernel.cpp
void emitEmbedding(KernelBuilder &kb, const PackedMatrixLayout &table,
                   StepField ids);
/// The table has whole blocks (canLookUpRows).
void emitEmbedding(KernelBuilder &kb, const IntegerMatrixLayout &table,
                   StepField ids);

// RowKernels.cpp: kernels that move rows.
void emitSelectRows(KernelBuilder &kb, const SelectRowsSpec &spec);
void emitCopyBox(KernelBuilder &kb, const CopyBoxSpec &spec);

// ReductionKernels.cpp
void emitLayerNorm(KernelBuilder &kb, const LayerNormSpec &spec);
void emitSoftmax(KernelBuilder &kb, const SoftmaxSpec &spec);

// QuantKernels.cpp
void emitQuantize(KernelBuilder &kb, const QuantizeSpec &spec);
void emitDequantize(KernelBuilder &kb, const DequantizeSpec &spec);
void emitQuantParams(KernelBuilder &kb, const QuantParamsSpec &spec);

// MoEKernels.cpp
void emitMoERoute(KernelBuilder &kb, const MoERouteSpec &spec);
void emitMoESort(KernelBuilder &kb, const MoESortSpec &spec);
void emitMoEGather(KernelBuilder &kb, const MoEGatherSpec &spec);
void emitMoEGate(KernelBuilder &kb, const MoEGateSpec &spec);
void emitMoECombine(KernelBuilder &kb, const MoECombineSpec &spec);

// LoopsKernel.cpp
void emitLoops(KernelBuilder &kb, const LoopsSpec &spec,
               mlir::Block &scalarBody);

// GatherKernels.cpp
void emitGather(KernelBuilder &kb, const GatherSpec &spec);
void emitScatter(KernelBuilder &kb, const ScatterSpec &spec);

// SortKernel.cpp
void emitSort(KernelBuilder &kb, const SortSpec &spec);

// RopeKernels.cpp
void emitRopeAngles(KernelBuilder &kb, const RopeAnglesSpec &spec);
void emitRope(KernelBuilder &kb, const RopeSpec &spec);

// LinalgKernels.cpp: norms and element-wise chains, as linalg on row tiles.
void emitRmsNorm(KernelBuilder &kb, const RmsNormSpec &spec);
void emitElementwise(KernelBuilder &kb, const ElementwiseSpec &spec,
                     mlir::Block &scalarBody);

// PlainMatmul.cpp
/// `epilogue` is the scalar region of the kernel, or null.
void emitLinear(KernelBuilder &kb, const LinearSpec &spec,
                const PackedMatrixLayout &weights, mlir::Block *epilogue);
/// `weights` is the layout of one expert's matrix.
void emitMoELinear(KernelBuilder &kb, const MoELinearSpec &spec,
                   const PackedMatrixLayout &weights);

// IntegerMatmulEmitter.cpp
/// The same of integers, with inputs of f32.
void emitMoELinear(KernelBuilder &kb, const MoELinearSpec &spec,
                   const IntegerMatrixLayout &weights);
void emitQuantizedLinear(KernelBuilder &kb, const QuantizedLinearSpec &spec,
                         const IntegerMatrixLayout &weights,
                         mlir::Block *epilogue);

// PackIntegers.cpp
void emitPackIntegers(KernelBuilder &kb, const PackIntegersSpec &spec,
                      const IntegerMatrixLayout &weights);

// QuantizeRows.cpp
void emitQuantizeRows(KernelBuilder &kb, const QuantizeRowsSpec &spec);
/// 16 rounded quotients within -127 and 127, as `byteCode` has them.
mlir::Value clampToBytes(KernelBuilder &kb, mlir::Value rounded);

// RoundRows.cpp
void emitRoundRows(KernelBuilder &kb, const RoundRowsSpec &spec);
/// Rounds 16 numbers to the 8 words in which round_rows has them.
mlir::Value roundToWords(KernelBuilder &kb, mlir::Value numbers);

// CacheKernels.cpp
void emitAppendKV(KernelBuilder &kb, const AppendKVSpec &spec, KVFormat format);
void emitLookupKV(KernelBuilder &kb, const LookupKVSpec &spec, KVFormat format);

// AttentionKernel.cpp
void emitPagedAttention(KernelBuilder &kb, const PagedAttentionSpec &spec,
                        KVFormat format);
void emitMergeAttention(KernelBuilder &kb, const PagedAttentionSpec &spec,
                        KVFormat format);

// LineDecoder.cpp: from stored words to f32 lanes, used by several kernels.

/// Expands one packed 64-byte line (i32 x 16, one 4-byte word per row) into
/// valuesPerLine() vectors f32 x 16 of ascending K, of a plain format. The same
/// on scalars: one i32 word into its values.
llvm::SmallVector<mlir::Value>
decodeWords(KernelBuilder &kb, TensorFormat format, mlir::Value words);

/// f32 (scalar or vector) rounded to nearest even, as the bits of the format
/// (i32 for F32, i16 for F16 and BF16).
mlir::Value encodeFloat(KernelBuilder &kb, TensorFormat format,
                        mlir::Value value);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_EMITTERS_H
