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

#include "KernelEmission.h"

#include "llmir/Codegen/Passes.h"

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

FailureOr<TensorFormat> KernelEmission::format(StringRef name) {
  std::optional<TensorFormat> format =
      tensorFormatFromName(std::string_view(name.data(), name.size()));
  if (!format)
    return kernel.emitOpError("has the unknown format \"") << name << "\"";
  return *format;
}

FailureOr<IntegerFormat>
KernelEmission::integerFormat(const std::string &name) {
  std::optional<IntegerFormat> format = IntegerFormat::fromName(name);
  if (!format)
    return kernel.emitOpError("has the unknown format \"") << name << "\"";
  return *format;
}

LogicalResult KernelEmission::begin(ArrayRef<Type> weightTypes,
                                    ArrayRef<int64_t> minColumns,
                                    ArrayRef<unsigned> integers) {
  SmallVector<Type> buffers(
      kernel.getOperandTypes().getAsValueRange<TypeAttr>());
  // Weights that the program packs itself are the first buffers.
  if (buffers.size() == minColumns.size() + weightTypes.size())
    buffers.erase(buffers.begin(), buffers.begin() + weightTypes.size());
  if (buffers.size() != minColumns.size())
    return kernel.emitOpError("takes ")
           << buffers.size() << " buffers, its kind " << minColumns.size();
  for (auto [i, type] : llvm::enumerate(buffers)) {
    auto memref = dyn_cast<MemRefType>(type);
    bool isInteger = llvm::is_contained(integers, i);
    bool fits = memref && memref.getRank() == 2 && memref.hasStaticShape() &&
                memref.getDimSize(1) >= minColumns[i];
    if (isInteger && !(fits && memref.getElementType().isInteger(32)))
      return kernel.emitOpError("buffer ")
             << i << " is " << type << ", expected static rows of i32 with "
             << minColumns[i] << " columns or more";
    if (!isInteger && !(fits && memref.getElementType().isF32() &&
                        memref.getDimSize(1) % kTileRows == 0))
      return kernel.emitOpError("buffer ")
             << i << " is " << type << ", expected static rows of f32 with "
             << minColumns[i] << " columns or more, in whole tiles of "
             << kTileRows;
  }
  kb.beginKernel(kernel.getSymName(), weightTypes, buffers);
  return success();
}

int64_t KernelEmission::bufferRows(unsigned i) {
  ArrayAttr types = kernel.getOperandTypes();
  if (i >= types.size())
    return 0;
  auto memref = dyn_cast<MemRefType>(cast<TypeAttr>(types[i]).getValue());
  return memref && memref.getRank() == 2 ? memref.getDimSize(0) : 0;
}

bool KernelEmission::isIntegerBuffer(unsigned i) {
  ArrayAttr types = kernel.getOperandTypes();
  if (i >= types.size())
    return false;
  auto memref = dyn_cast<MemRefType>(cast<TypeAttr>(types[i]).getValue());
  return memref && memref.getElementType().isInteger(32);
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

template <typename Spec>
FailureOr<TensorFormat> KernelEmission::checkCache(const Spec &spec) {
  FailureOr<TensorFormat> kvFormat = format(spec.kvFormat);
  if (failed(kvFormat) || failed(checkSizes({{"kv_heads", spec.kvHeads},
                                             {"head_dim", spec.headDim},
                                             {"value_dim", valueDim(spec)},
                                             {"block_size", spec.blockSize}})))
    return failure();
  if (isBlockFormat(*kvFormat))
    return kernel.emitOpError(
        "has a cache of a block format; kernels know f32, f16 and bf16");
  // A cell of the cache holds neighbouring tokens' values.
  int64_t cell = 4 / tensorFormatInfo(*kvFormat).bytesPerBlock;
  if (spec.blockSize % cell != 0)
    return kernel.emitOpError("has block size ")
           << spec.blockSize << ", which is not a multiple of the " << cell
           << " values in a cell of the cache";
  return *kvFormat;
}

LogicalResult KernelEmission::checkAttention(const PagedAttentionSpec &spec) {
  if (failed(checkSizes({{"heads", spec.heads}})))
    return failure();
  if (spec.heads % spec.kvHeads != 0)
    return kernel.emitOpError("has ")
           << spec.heads << " heads, which " << spec.kvHeads
           << " KV heads do not divide";
  if (spec.window < 0)
    return kernel.emitOpError("has the window ")
           << spec.window << ", expected 0 (none) or more";
  int64_t slopes = spec.alibiSlopes.size();
  if (slopes != 0 && slopes != spec.heads)
    return kernel.emitOpError("has ")
           << slopes << " ALiBi slopes for " << spec.heads << " heads";
  ArrayRef<int64_t> strides = spec.maskStrides;
  if (!strides.empty() &&
      (strides.size() != 5 || strides.back() > 1 ||
       llvm::any_of(strides, [](int64_t stride) { return stride < 0; })))
    return kernel.emitOpError("has the mask strides ")
           << strides
           << "; expected those of sequence, head, query, token and key, the "
              "last 0 or 1";
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
  SmallVector<Type> weights(spec.weight ? 1 : 0, vectorType(spec.columns));
  if (failed(begin(weights, {used, used})))
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

LogicalResult KernelEmission::checkSegments(const QuantizedLinearSpec &spec,
                                            const IntegerFormat &weights) {
  // 65536 products of 255 and 128 are the most that an i32 holds.
  if (spec.segment > 65536)
    return kernel.emitOpError("adds up segments of ")
           << spec.segment << " products, expected 65536 or fewer";
  if (weights.bits > 8)
    return kernel.emitOpError("has quantized activations and weights of ")
           << weights.bits << " bits; kernels multiply bytes";
  IntegerMatrixLayout layout{weights, spec.rows, spec.columns};
  bool divides = weights.group == 0 || weights.group % spec.segment == 0;
  bool inLines = spec.segment % layout.valuesPerLine() == 0 ||
                 spec.segment >= layout.group() ||
                 spec.segment == weights.segment;
  if (!divides || !inLines)
    return kernel.emitOpError("has segments of ")
           << spec.segment << " values in weights of format \"" << spec.format
           << "\", whose groups they do not divide into whole lines";
  return success();
}

LogicalResult KernelEmission::emit(const QuantizedLinearSpec &spec) {
  FailureOr<IntegerFormat> weightFormat = integerFormat(spec.format);
  if (failed(weightFormat) ||
      failed(checkSizes({{"rows", spec.rows}, {"columns", spec.columns}})))
    return failure();
  IntegerMatrixLayout weights{*weightFormat, spec.rows, spec.columns};
  int64_t inputs = spec.columns;
  if (spec.segment != 0) {
    if (failed(checkSizes({{"segment", spec.segment}})) ||
        failed(checkSegments(spec, *weightFormat)))
      return failure();
    inputs = QuantizedRowLayout::forWeights(weights, spec.segment).words();
  }
  SmallVector<Type> weightTypes{matrixType(weights)};
  if (spec.bias)
    weightTypes.push_back(vectorType(spec.rows));
  if (failed(begin(weightTypes, {inputs, spec.rows})))
    return failure();
  emitQuantizedLinear(kb, spec, weights);
  return success();
}

LogicalResult KernelEmission::emit(const QuantizeRowsSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns},
                         {"group", spec.group},
                         {"segment", spec.segment},
                         {"padded", spec.padded}})))
    return failure();
  if ((spec.group < spec.columns && spec.group % spec.segment != 0) ||
      spec.padded % 4 != 0 || spec.padded < spec.segment)
    return kernel.emitOpError("has groups of ")
           << spec.group << " in segments of " << spec.segment << " values and "
           << spec.padded
           << " bytes, expected segments that divide the groups and fit into "
              "whole words";
  QuantizedRowLayout row{spec.columns, spec.segment, spec.padded};
  if (failed(begin({}, {spec.columns, row.words()})))
    return failure();
  emitQuantizeRows(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const PackIntegersSpec &spec) {
  FailureOr<IntegerFormat> weightFormat = integerFormat(spec.format);
  if (failed(weightFormat) ||
      failed(checkSizes({{"rows", spec.rows},
                         {"columns", spec.columns},
                         {"tensor_columns", spec.tensorColumns},
                         {"grid_columns", spec.gridColumns},
                         {"scale_rows", spec.scaleRows}})))
    return failure();
  if (weightFormat->scales != TensorFormat::F32)
    return kernel.emitOpError("packs scales of ")
           << tensorFormatInfo(weightFormat->scales).name
           << "; a program has f32 ones";
  IntegerMatrixLayout weights{*weightFormat, spec.rows, spec.columns};
  SmallVector<int64_t> columns{spec.tensorColumns, spec.gridColumns};
  if (weightFormat->zeroPoints)
    columns.push_back(spec.gridColumns);
  columns.push_back(kTileRows);
  if (failed(begin({}, columns)))
    return failure();
  // The last element and the last scale that the kernel reads exist.
  CopyBoxSpec numbers, scales, packed;
  numbers.sizes = {spec.rows, spec.columns};
  scales.sizes = {ceilDiv(spec.rows, spec.scaleRows), weights.numGroups()};
  packed.sizes = {weights.bytes() / 4};
  if (failed(checkBox(0, numbers, {spec.rowStride, spec.columnStride}, 0,
                      spec.tensorColumns)) ||
      failed(checkBox(1, scales, {spec.scaleRowStride, spec.scaleGroupStride},
                      0, spec.gridColumns)) ||
      failed(checkBox(columns.size() - 1, packed, {1}, 0, kTileRows)))
    return failure();
  emitPackIntegers(kb, spec, weights);
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
  FailureOr<TensorFormat> kvFormat = checkCache(spec);
  if (failed(kvFormat) || failed(begin({}, {spec.kvHeads * spec.headDim,
                                            spec.kvHeads * valueDim(spec)})))
    return failure();
  emitAppendKV(kb, spec, *kvFormat);
  return success();
}

LogicalResult KernelEmission::emit(const LookupKVSpec &spec) {
  FailureOr<TensorFormat> kvFormat = checkCache(spec);
  if (failed(kvFormat) || failed(checkSizes({{"rows", spec.rows}})) ||
      failed(begin(
          {}, {spec.kvHeads * spec.headDim, spec.kvHeads * valueDim(spec)})))
    return failure();
  emitLookupKV(kb, spec, *kvFormat);
  return success();
}

LogicalResult KernelEmission::emit(const PagedAttentionSpec &spec) {
  FailureOr<TensorFormat> kvFormat = checkCache(spec);
  if (failed(kvFormat) || failed(checkAttention(spec)))
    return failure();
  SmallVector<Type> weights;
  SmallVector<int64_t> columns{spec.heads * spec.headDim};
  if (!spec.maskStrides.empty())
    columns.push_back(1);
  if (spec.sinks == OperandPlace::Weight)
    weights.push_back(vectorType(spec.heads));
  if (spec.sinks == OperandPlace::Buffer)
    columns.push_back(spec.heads);
  columns.push_back(spec.heads * valueDim(spec));
  if (failed(begin(weights, columns)))
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
          .Case(QuantizedLinearSpec::kind,
                &KernelEmission::emitAs<QuantizedLinearSpec>)
          .Case(QuantizeRowsSpec::kind,
                &KernelEmission::emitAs<QuantizeRowsSpec>)
          .Case(PackIntegersSpec::kind,
                &KernelEmission::emitAs<PackIntegersSpec>)
          .Case(ElementwiseSpec::kind, &KernelEmission::emitAs<ElementwiseSpec>)
          .Case(RopeSpec::kind, &KernelEmission::emitAs<RopeSpec>)
          .Case(AppendKVSpec::kind, &KernelEmission::emitAs<AppendKVSpec>)
          .Case(LookupKVSpec::kind, &KernelEmission::emitAs<LookupKVSpec>)
          .Case(PagedAttentionSpec::kind,
                &KernelEmission::emitAs<PagedAttentionSpec>)
          .Case(LayerNormSpec::kind, &KernelEmission::emitAs<LayerNormSpec>)
          .Case(SoftmaxSpec::kind, &KernelEmission::emitAs<SoftmaxSpec>)
          .Case(CopyBoxSpec::kind, &KernelEmission::emitAs<CopyBoxSpec>)
          .Case(QuantizeSpec::kind, &KernelEmission::emitAs<QuantizeSpec>)
          .Case(DequantizeSpec::kind, &KernelEmission::emitAs<DequantizeSpec>)
          .Case(QuantParamsSpec::kind, &KernelEmission::emitAs<QuantParamsSpec>)
          .Case(MoERouteSpec::kind, &KernelEmission::emitAs<MoERouteSpec>)
          .Case(MoESortSpec::kind, &KernelEmission::emitAs<MoESortSpec>)
          .Case(MoEGatherSpec::kind, &KernelEmission::emitAs<MoEGatherSpec>)
          .Case(MoELinearSpec::kind, &KernelEmission::emitAs<MoELinearSpec>)
          .Case(MoEGateSpec::kind, &KernelEmission::emitAs<MoEGateSpec>)
          .Case(MoECombineSpec::kind, &KernelEmission::emitAs<MoECombineSpec>)
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
