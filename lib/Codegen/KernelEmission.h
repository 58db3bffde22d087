//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits one kernel: what each kind checks before its emitter builds code.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_KERNELEMISSION_H
#define LLMIR_LIB_CODEGEN_KERNELEMISSION_H

#include "Emitters.h"

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Support/IntegerLayout.h"

namespace llmir {

/// Memory in order, row after row.
inline bool isPlain(mlir::MemRefType type) {
  return type && type.hasStaticShape() && type.getLayout().isIdentity() &&
         !type.getMemorySpace();
}

/// Emits one kernel; reports what is wrong with it at its op.
class KernelEmission {
public:
  KernelEmission(KernelOp kernel, mlir::OpBuilder &builder,
                 const CPULevel &level)
      : kernel(kernel), kb(kernel.getLoc(), builder, level) {}

  mlir::LogicalResult emit();

private:
  template <typename Spec> mlir::LogicalResult emitAs();

  // What each kind needs: its weights' types, its number of buffers, its code.
  mlir::LogicalResult emit(const RopeAnglesSpec &spec);
  mlir::LogicalResult emit(const EmbeddingSpec &spec);
  mlir::LogicalResult emit(const SelectRowsSpec &spec);
  mlir::LogicalResult emit(const RmsNormSpec &spec);
  mlir::LogicalResult emit(const LinearSpec &spec);
  mlir::LogicalResult emit(const QuantizedLinearSpec &spec);
  mlir::LogicalResult emit(const QuantizeRowsSpec &spec);
  mlir::LogicalResult emit(const RoundRowsSpec &spec);
  mlir::LogicalResult emit(const PackIntegersSpec &spec);
  mlir::LogicalResult emit(const ElementwiseSpec &spec);
  mlir::LogicalResult emit(const RopeSpec &spec);
  mlir::LogicalResult emit(const AppendKVSpec &spec);
  mlir::LogicalResult emit(const LookupKVSpec &spec);
  mlir::LogicalResult emit(const PagedAttentionSpec &spec);
  mlir::LogicalResult emit(const MergeAttentionSpec &spec);
  mlir::LogicalResult emit(const LayerNormSpec &spec);
  mlir::LogicalResult emit(const SoftmaxSpec &spec);
  mlir::LogicalResult emit(const CopyBoxSpec &spec);
  mlir::LogicalResult emit(const QuantizeSpec &spec);
  mlir::LogicalResult emit(const DequantizeSpec &spec);
  mlir::LogicalResult emit(const QuantParamsSpec &spec);
  mlir::LogicalResult emit(const MoERouteSpec &spec);
  mlir::LogicalResult emit(const MoESortSpec &spec);
  mlir::LogicalResult emit(const MoEGatherSpec &spec);
  mlir::LogicalResult emit(const MoELinearSpec &spec);
  mlir::LogicalResult emit(const MoEGateSpec &spec);
  mlir::LogicalResult emit(const MoECombineSpec &spec);
  mlir::LogicalResult emit(const LoopsSpec &spec);
  mlir::LogicalResult emit(const GatherSpec &spec);
  mlir::LogicalResult emit(const ScatterSpec &spec);
  mlir::LogicalResult emit(const SortSpec &spec);

  /// Checks that the buffers are rank-2 f32 with at least `minColumns` columns
  /// each, in whole tiles, and begins the function. Buffers whose numbers are
  /// in `integers` are i32, and those in `wide` i64, with any number of
  /// columns.
  mlir::LogicalResult begin(llvm::ArrayRef<mlir::Type> weightTypes,
                            llvm::ArrayRef<int64_t> minColumns,
                            llvm::ArrayRef<unsigned> integers = {},
                            llvm::ArrayRef<unsigned> wide = {});
  /// Checks the buffers that stand for weights.
  mlir::LogicalResult checkPackedWeights(llvm::ArrayRef<mlir::Type> weightTypes,
                                         llvm::ArrayRef<mlir::Type> buffers);
  /// The same as begin for a matmul of rows of `inputs` to rows of `outputs`,
  /// and for what its scalar region reads; gives the region, or null.
  mlir::FailureOr<mlir::Block *>
  beginMatmul(llvm::ArrayRef<mlir::Type> weightTypes, int64_t inputs,
              int64_t outputs, int64_t unit);
  /// Checks the kernel's scalar region.
  mlir::LogicalResult checkRegion(mlir::Block &body, int64_t minArguments);
  /// Rows of buffer `i`; 0 where there is no such buffer of rows.
  int64_t bufferRows(unsigned i);
  /// What buffer `i` holds; null where there is no such buffer.
  mlir::Type elementOfBuffer(unsigned i);
  bool isIntegerBuffer(unsigned i, unsigned bits = 32);
  mlir::FailureOr<TensorFormat> format(llvm::StringRef name);
  mlir::FailureOr<IntegerFormat> integerFormat(const std::string &name);
  /// Checks that each is a size that a model can have, so that no product of
  /// two overflows.
  mlir::LogicalResult
  checkSizes(llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> namedSizes);
  /// Checks that a box of elements lies within the buffer.
  mlir::LogicalResult checkBox(unsigned buffer, const CopyBoxSpec &spec,
                               llvm::ArrayRef<int64_t> strides, int64_t start,
                               int64_t columns);
  /// Checks the sizes of a nest of loops, and that each of its maps says an
  /// element of the buffer of its number at every point. Symbols of the maps
  /// run from 0 to `bound`.
  mlir::LogicalResult checkNest(llvm::ArrayRef<int64_t> sizes,
                                llvm::ArrayRef<mlir::AffineMap> maps,
                                int64_t bound);
  /// Begins the function of a kernel whose buffers may be f32, i32 or i64 each,
  /// and checks that `columns` are those of the last one without padding.
  mlir::LogicalResult beginNest(size_t buffers);
  mlir::LogicalResult checkPadding(int64_t columns);
  /// Whether buffer 0 is an index and the other two hold numbers of one type.
  bool hasIndexAndElements();
  /// Checks that the region of `loops` takes indices and elements, and is made
  /// of pure scalar ops.
  mlir::LogicalResult checkLoopsRegion(const LoopsSpec &spec);
  mlir::LogicalResult checkGrid(const QuantGrid &grid, int64_t bits);
  /// Zero points are rows of f32, or of i32.
  llvm::SmallVector<unsigned> integerZeroPoints(bool symmetric);
  /// The cache's format, when its geometry is one that kernels know.
  template <typename Spec>
  mlir::FailureOr<KVFormat> checkCache(const Spec &spec);
  mlir::LogicalResult checkAttention(const PagedAttentionSpec &spec);
  /// Checks that a buffer holds the partial results of a step.
  mlir::LogicalResult checkPartials(const PagedAttentionSpec &spec,
                                    unsigned buffer);
  /// Checks that byte products can be added up within the spec's segments.
  mlir::LogicalResult checkSegments(int64_t segment,
                                    const IntegerMatrixLayout &weights);
  /// Columns of the rows that integers multiply: of f32, or of bytes where
  /// there are segments, which are checked.
  mlir::FailureOr<int64_t> inputColumns(int64_t segment,
                                        const IntegerMatrixLayout &weights);
  /// Columns of a row that is multiplied by weights of a plain format.
  static int64_t inputColumns(const PackedMatrixLayout &weights) {
    return weights.format == TensorFormat::BF16
               ? RoundRowsSpec::words(weights.columns)
               : weights.columns;
  }
  template <typename Layout> mlir::Type matrixType(const Layout &layout) {
    return mlir::MemRefType::get({layout.bytes()}, kb.getI8Type());
  }
  mlir::Type vectorType(int64_t size) {
    return mlir::MemRefType::get({roundUpTo(size, kTileRows)}, kb.getF32Type());
  }

  KernelOp kernel;
  KernelBuilder kb;
};

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_KERNELEMISSION_H
