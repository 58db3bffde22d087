//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass that emits a function for each kernel: checks the kernel against
// its spec once, then calls the emitter of its kind.
//
//===----------------------------------------------------------------------===//

#include "Emitters.h"

#include "llmir/Codegen/Passes.h"
#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

#define GEN_PASS_DEF_EMITKERNELS
#include "llmir/Codegen/Passes.h.inc"

namespace {

/// Emits one kernel; reports what is wrong with it at its op.
class KernelEmission {
public:
  KernelEmission(KernelOp kernel, OpBuilder &builder, const CPULevel &level)
      : kernel(kernel), kb(kernel.getLoc(), builder, level) {}

  LogicalResult emit();

private:
  template <typename Spec> LogicalResult emitAs();

  // What each kind needs: its weights' types, its number of buffers, its code.
  LogicalResult emit(const RopeAnglesSpec &spec);
  LogicalResult emit(const EmbeddingSpec &spec);
  LogicalResult emit(const SelectRowsSpec &spec);
  LogicalResult emit(const RmsNormSpec &spec);
  LogicalResult emit(const LinearSpec &spec);
  LogicalResult emit(const ElementwiseSpec &spec);
  LogicalResult emit(const RopeSpec &spec);
  LogicalResult emit(const AppendKVSpec &spec);
  LogicalResult emit(const PagedAttentionSpec &spec);

  /// Checks that the buffers are rank-2 f32 with at least `minColumns` columns
  /// each, in whole tiles, and begins the function.
  LogicalResult begin(ArrayRef<Type> weightTypes, ArrayRef<int64_t> minColumns);
  FailureOr<TensorFormat> format(StringRef name);
  /// Checks that each is a size that a model can have, so that no product of
  /// two overflows.
  LogicalResult checkSizes(ArrayRef<std::pair<StringRef, int64_t>> namedSizes);
  LogicalResult checkCache(TensorFormat kvFormat, int64_t kvHeads,
                           int64_t headDim, int64_t blockSize);
  Type matrixType(const PackedMatrixLayout &layout) {
    return MemRefType::get({layout.bytes()}, kb.getI8Type());
  }
  Type vectorType(int64_t size) {
    return MemRefType::get({roundUpTo(size, kTileRows)}, kb.getF32Type());
  }

  KernelOp kernel;
  KernelBuilder kb;
};

} // namespace

FailureOr<TensorFormat> KernelEmission::format(StringRef name) {
  std::optional<TensorFormat> format =
      tensorFormatFromName(std::string_view(name.data(), name.size()));
  if (!format)
    return kernel.emitOpError("has the unknown format \"") << name << "\"";
  return *format;
}

LogicalResult KernelEmission::begin(ArrayRef<Type> weightTypes,
                                    ArrayRef<int64_t> minColumns) {
  SmallVector<Type> buffers(
      kernel.getOperandTypes().getAsValueRange<TypeAttr>());
  if (buffers.size() != minColumns.size())
    return kernel.emitOpError("takes ")
           << buffers.size() << " buffers, its kind " << minColumns.size();
  for (auto [i, type] : llvm::enumerate(buffers)) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref || memref.getRank() != 2 || !memref.getElementType().isF32() ||
        memref.getNumDynamicDims() > 0 ||
        memref.getDimSize(1) < minColumns[i] ||
        memref.getDimSize(1) % kTileRows != 0)
      return kernel.emitOpError("buffer ")
             << i << " is " << type << ", expected static rows of f32 with "
             << minColumns[i] << " columns or more, in whole tiles of "
             << kTileRows;
  }
  kb.beginKernel(kernel.getSymName(), weightTypes, buffers);
  return success();
}

LogicalResult
KernelEmission::checkSizes(ArrayRef<std::pair<StringRef, int64_t>> namedSizes) {
  constexpr int64_t limit = int64_t(1) << 28;
  for (auto [name, size] : namedSizes)
    if (size < 1 || size > limit)
      return kernel.emitOpError("parameter '")
             << name << "' is " << size << ", expected 1 to " << limit;
  return success();
}

LogicalResult KernelEmission::checkCache(TensorFormat kvFormat, int64_t kvHeads,
                                         int64_t headDim, int64_t blockSize) {
  if (failed(checkSizes({{"kv_heads", kvHeads},
                         {"head_dim", headDim},
                         {"block_size", blockSize}})))
    return failure();
  if (isBlockFormat(kvFormat))
    return kernel.emitOpError(
        "has a cache of a block format; kernels know f32, f16 and bf16");
  if (blockSize % kLanes != 0)
    return kernel.emitOpError("has block size ")
           << blockSize << ", which is not a multiple of " << kLanes;
  // A cell of the cache holds neighbouring dimensions of one head.
  int64_t cell = 4 / tensorFormatInfo(kvFormat).bytesPerBlock;
  if (headDim % cell != 0)
    return kernel.emitOpError("has head size ")
           << headDim << ", which is not a multiple of the " << cell
           << " values in a cell of the cache";
  return success();
}

//===----------------------------------------------------------------------===//
// One function per kind
//===----------------------------------------------------------------------===//

LogicalResult KernelEmission::emit(const RopeAnglesSpec &spec) {
  int64_t half = spec.frequencies.size();
  if (failed(begin({}, {half, half})))
    return failure();
  emitRopeAngles(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const EmbeddingSpec &spec) {
  FailureOr<TensorFormat> weightFormat = format(spec.format);
  if (failed(weightFormat) ||
      failed(checkSizes({{"rows", spec.rows}, {"columns", spec.columns}})))
    return failure();
  PackedMatrixLayout table{*weightFormat, spec.rows, spec.columns};
  if (failed(begin({matrixType(table)}, {spec.columns})))
    return failure();
  emitEmbedding(kb, spec, table);
  return success();
}

LogicalResult KernelEmission::emit(const SelectRowsSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}})) ||
      failed(begin({}, {spec.columns, spec.columns})))
    return failure();
  emitSelectRows(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const RmsNormSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}, {"groups", spec.groups}})))
    return failure();
  int64_t used = spec.groups * spec.columns;
  if (failed(begin({vectorType(spec.columns)}, {used, used})))
    return failure();
  emitRmsNorm(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const LinearSpec &spec) {
  FailureOr<TensorFormat> weightFormat = format(spec.format);
  if (failed(weightFormat) ||
      failed(checkSizes({{"rows", spec.rows}, {"columns", spec.columns}})))
    return failure();
  PackedMatrixLayout weights{*weightFormat, spec.rows, spec.columns};
  SmallVector<Type> weightTypes{matrixType(weights)};
  if (spec.bias)
    weightTypes.push_back(vectorType(spec.rows));
  if (failed(begin(weightTypes, {spec.columns, spec.rows})))
    return failure();
  emitLinear(kb, spec, weights);
  return success();
}

LogicalResult KernelEmission::emit(const ElementwiseSpec &spec) {
  if (kernel.getBody().empty())
    return kernel.emitOpError("of kind elementwise needs its scalar region");
  Block &body = kernel.getBody().front();
  if (body.empty() || !isa<YieldOp>(body.back()) ||
      !llvm::all_of(body.getArgumentTypes(), [](Type t) { return t.isF32(); }))
    return kernel.emitOpError(
        "of kind elementwise needs a scalar region of f32 "
        "arguments that ends in mllm.program.yield");
  SmallVector<int64_t> columns(body.getNumArguments() + 1, spec.columns);
  if (failed(checkSizes({{"columns", spec.columns}})) ||
      failed(begin({}, columns)))
    return failure();
  emitElementwise(kb, spec, body);
  return success();
}

LogicalResult KernelEmission::emit(const RopeSpec &spec) {
  if (failed(checkSizes({{"heads", spec.heads},
                         {"head_dim", spec.headDim},
                         {"rotary_dim", spec.rotaryDim}})))
    return failure();
  if (spec.rotaryDim % 2 != 0 || spec.rotaryDim > spec.headDim)
    return kernel.emitOpError("rotates ")
           << spec.rotaryDim << " of " << spec.headDim
           << " dimensions; expected an even number, at most all of them";
  int64_t half = spec.rotaryDim / 2, row = spec.heads * spec.headDim;
  if (failed(begin({}, {half, half, row, row})))
    return failure();
  emitRope(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const AppendKVSpec &spec) {
  FailureOr<TensorFormat> kvFormat = format(spec.kvFormat);
  if (failed(kvFormat) ||
      failed(checkCache(*kvFormat, spec.kvHeads, spec.headDim, spec.blockSize)))
    return failure();
  int64_t row = spec.kvHeads * spec.headDim;
  if (failed(begin({}, {row, row})))
    return failure();
  emitAppendKV(kb, spec, *kvFormat);
  return success();
}

LogicalResult KernelEmission::emit(const PagedAttentionSpec &spec) {
  FailureOr<TensorFormat> kvFormat = format(spec.kvFormat);
  if (failed(kvFormat) || failed(checkSizes({{"heads", spec.heads}})) ||
      failed(checkCache(*kvFormat, spec.kvHeads, spec.headDim, spec.blockSize)))
    return failure();
  if (spec.heads % spec.kvHeads != 0)
    return kernel.emitOpError("has ")
           << spec.heads << " heads, which " << spec.kvHeads
           << " KV heads do not divide";
  int64_t row = spec.heads * spec.headDim;
  if (failed(begin({}, {row, row})))
    return failure();
  emitPagedAttention(kb, spec, *kvFormat);
  return success();
}

template <typename Spec> LogicalResult KernelEmission::emitAs() {
  FailureOr<Spec> spec = fromKernel<Spec>(kernel);
  if (failed(spec) || failed(emit(*spec)))
    return failure();
  kb.endKernel();
  return success();
}

LogicalResult KernelEmission::emit() {
  using Emit = LogicalResult (KernelEmission::*)();
  Emit emit =
      llvm::StringSwitch<Emit>(kernel.getKind())
          .Case(RopeAnglesSpec::kind, &KernelEmission::emitAs<RopeAnglesSpec>)
          .Case(EmbeddingSpec::kind, &KernelEmission::emitAs<EmbeddingSpec>)
          .Case(SelectRowsSpec::kind, &KernelEmission::emitAs<SelectRowsSpec>)
          .Case(RmsNormSpec::kind, &KernelEmission::emitAs<RmsNormSpec>)
          .Case(LinearSpec::kind, &KernelEmission::emitAs<LinearSpec>)
          .Case(ElementwiseSpec::kind, &KernelEmission::emitAs<ElementwiseSpec>)
          .Case(RopeSpec::kind, &KernelEmission::emitAs<RopeSpec>)
          .Case(AppendKVSpec::kind, &KernelEmission::emitAs<AppendKVSpec>)
          .Case(PagedAttentionSpec::kind,
                &KernelEmission::emitAs<PagedAttentionSpec>)
          .Default(nullptr);
  if (!emit)
    return kernel.emitOpError("is of the unknown kind '")
           << kernel.getKind() << "'";
  return (this->*emit)();
}

namespace {
struct EmitKernelsPass : impl::EmitKernelsBase<EmitKernelsPass> {
  using EmitKernelsBase::EmitKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const CPULevel *cpuLevel = findCPULevel(level);
    if (!cpuLevel) {
      module.emitError("unknown CPU level '") << level << "'";
      return signalPassFailure();
    }
    for (auto fragment :
         llvm::make_early_inc_range(module.getOps<FragmentOp>())) {
      if (fragment.getKind() != FragmentKind::Text)
        continue;
      for (KernelOp kernel : fragment.getBody().getOps<KernelOp>()) {
        OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
        if (failed(KernelEmission(kernel, builder, *cpuLevel).emit()))
          return signalPassFailure();
        ++numKernels;
      }
      fragment.erase();
    }
  }
};
} // namespace

} // namespace llmir
