//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Codegen/KernelBuilder.h"

#include "Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

using namespace mllm::kernel;

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Address of a packed weight.
static MemRefType packedType(Builder &b, const WeightNeed &need) {
  ArrayRef<int64_t> shape = need.shape;
  if (need.format.empty())
    return MemRefType::get({roundUpTo(shape.front(), kTileRows)},
                           b.getF32Type());
  int64_t matrices = shape.size() == 3 ? shape.front() : 1;
  ArrayRef<int64_t> matrix = shape.take_back(2);
  int64_t bytes = packedMatrixBytes(need.format, matrix[0], matrix[1]);
  return MemRefType::get({matrices * bytes}, b.getI8Type());
}

func::FuncOp KernelBuilder::beginKernel(StringRef name,
                                        KernelOpInterface kernel) {
  division = kernel.getWorkDivision();
  SmallVector<Type> operandTypes(kernel->getOperandTypes());
  for (const WeightNeed &need : kernel.getWeightNeeds())
    operandTypes[need.operand] = packedType(*this, need);
  Type pointer = LLVM::LLVMPointerType::get(getContext());
  SmallVector<Type> inputs{pointer, getIndexType(), getIndexType(),
                           getIndexType()};
  llvm::append_range(inputs, operandTypes);
  auto function =
      func::FuncOp::create(*this, name, getFunctionType(inputs, {}));
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  setInsertionPointToStart(entry);
  contextArg = entry->getArgument(0);
  workerArg = entry->getArgument(1);
  workersArg = entry->getArgument(2);
  layerArg = entry->getArgument(3);
  operandArgs = llvm::to_vector_of<Value>(entry->getArguments().drop_front(4));
  return function;
}

void KernelBuilder::endKernel() { func::ReturnOp::create(*this); }

void KernelBuilder::callShared(StringRef key, ValueRange arguments,
                               llvm::function_ref<void(ValueRange)> body) {
  func::FuncOp &function = shared.byKey[key];
  if (!function) {
    InsertionGuard guard(*this);
    setInsertionPointToEnd(&shared.symbols.getOp()->getRegion(0).front());
    function = func::FuncOp::create(*this, key,
                                    getFunctionType(TypeRange(arguments), {}));
    function.setPrivate();
    setInsertionPointToStart(function.addEntryBlock());
    body(function.getArguments());
    func::ReturnOp::create(*this);
    shared.symbols.insert(function); // Makes its name unique.
  }
  func::CallOp::create(*this, function, arguments);
}

Value KernelBuilder::argument(MutableOperandRange operand) const {
  return operand.empty() ? Value() : argument(*operand.begin());
}

SmallVector<Value>
KernelBuilder::arguments(MutableOperandRange operands) const {
  SmallVector<Value> result;
  for (OpOperand &operand : operands)
    result.push_back(argument(operand));
  return result;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value KernelBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value KernelBuilder::f32(double value) {
  return floatConstant(getF32Type(), value);
}

Value KernelBuilder::intConstant(Type type, int64_t value) {
  TypedAttr attr = getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = SplatElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(*this, attr);
}

Value KernelBuilder::floatConstant(Type type, double value) {
  TypedAttr attr = getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = SplatElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(*this, attr);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value KernelBuilder::add(Value a, Value b) {
  return createOrFold<arith::AddIOp>(a, b);
}
Value KernelBuilder::sub(Value a, Value b) {
  return createOrFold<arith::SubIOp>(a, b);
}
Value KernelBuilder::mul(Value a, Value b) {
  return createOrFold<arith::MulIOp>(a, b);
}
Value KernelBuilder::div(Value a, Value b) {
  return createOrFold<arith::DivUIOp>(a, b);
}
Value KernelBuilder::rem(Value a, Value b) {
  return createOrFold<arith::RemUIOp>(a, b);
}
Value KernelBuilder::min(Value a, Value b) {
  return createOrFold<arith::MinUIOp>(a, b);
}
Value KernelBuilder::toIndex(Value value) {
  return arith::IndexCastOp::create(*this, getIndexType(), value);
}

Value KernelBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(*this, a, b, c);
}
Value KernelBuilder::addf(Value a, Value b) {
  return arith::AddFOp::create(*this, a, b);
}
Value KernelBuilder::subf(Value a, Value b) {
  return arith::SubFOp::create(*this, a, b);
}
Value KernelBuilder::mulf(Value a, Value b) {
  return arith::MulFOp::create(*this, a, b);
}
Value KernelBuilder::divf(Value a, Value b) {
  return arith::DivFOp::create(*this, a, b);
}

Value KernelBuilder::maxf(Value a, Value b) {
  Value greater = arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, a, b);
  return arith::SelectOp::create(*this, greater, a, b);
}

Value KernelBuilder::broadcast(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(*this, vec(lanes, scalar.getType()),
                                     scalar);
}

Value KernelBuilder::lane(Value vector, int64_t i) {
  return vector::ExtractOp::create(*this, vector, i);
}

Value KernelBuilder::widen(Value vector, double fill) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getNumElements() == kLanes)
    return vector;
  Value wide = floatConstant(vec(kLanes, type.getElementType()), fill);
  return vector::InsertStridedSliceOp::create(
      *this, vector, wide, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
}

Value KernelBuilder::foldLanes(
    Value vector, llvm::function_ref<Value(Value, Value)> combine) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  assert(llvm::isPowerOf2_64(lanes) && "the tree halves the lanes");
  while (lanes > 1) {
    lanes /= 2;
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes; ++i) {
      low.push_back(i);
      high.push_back(i + lanes);
    }
    Value a = vector::ShuffleOp::create(*this, vector, vector, low);
    Value b = vector::ShuffleOp::create(*this, vector, vector, high);
    vector = combine(a, b);
  }
  return lane(vector, 0);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void KernelBuilder::loop(Value from, Value to, Value step,
                         llvm::function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(*this, from, to, step);
  InsertionGuard guard(*this);
  setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

SmallVector<Value> KernelBuilder::reduce(
    Value from, Value to, int64_t step, ArrayRef<Value> initial,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(*this, from, to, index(step), initial);
  InsertionGuard guard(*this);
  setInsertionPointToStart(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(*this, next);
  return SmallVector<Value>(op.getResults());
}

static void forbidUnrolling(Operation *loop) {
  Builder b(loop->getContext());
  auto unroll = LLVM::LoopUnrollAttr::get(
      b.getContext(), /*disable=*/b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  // The lowering of loops copies attributes of the LLVM dialect to the
  // branches.
  loop->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(
                                       b.getContext(), {}, {}, {}, unroll, {},
                                       {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

SmallVector<Value> KernelBuilder::reduceRolled(
    Value from, Value to, int64_t step, ArrayRef<Value> initial,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  SmallVector<Value> results = reduce(from, to, step, initial, body);
  forbidUnrolling(results.front().getDefiningOp());
  return results;
}

void KernelBuilder::rolledLoop(Value from, Value to,
                               llvm::function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(*this, from, to, index(1));
  forbidUnrolling(op);
  InsertionGuard guard(*this);
  setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

void KernelBuilder::select(Value selector, int64_t first, int64_t last,
                           llvm::function_ref<void(int64_t)> body) {
  if (first == last)
    return body(first);
  SmallVector<int64_t> cases;
  for (int64_t i = first; i <= last; ++i)
    cases.push_back(i);
  auto op = scf::IndexSwitchOp::create(*this, TypeRange(), selector, cases,
                                       cases.size());
  InsertionGuard guard(*this);
  for (auto [i, region] : llvm::zip_equal(cases, op.getCaseRegions())) {
    setInsertionPointToStart(&region.emplaceBlock());
    body(i);
    scf::YieldOp::create(*this);
  }
  setInsertionPointToStart(&op.getDefaultRegion().emplaceBlock());
  scf::YieldOp::create(*this);
}

void KernelBuilder::vectorLoop(int64_t size,
                               llvm::function_ref<void(Value, int64_t)> body) {
  int64_t whole = size / kLanes * kLanes;
  if (whole > 0)
    loop(0, whole, kLanes, [&](Value i) { body(i, kLanes); });
  if (size > whole)
    body(index(whole), size - whole);
}

void KernelBuilder::when(Value condition, llvm::function_ref<void()> then) {
  auto op = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  InsertionGuard guard(*this);
  setInsertionPointToStart(op.thenBlock());
  then();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelBuilder::loadVector(Value memref, ValueRange indices,
                                int64_t lanes) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  return vector::LoadOp::create(*this, vec(lanes, element), memref, indices);
}

void KernelBuilder::storeVector(Value vector, Value memref,
                                ValueRange indices) {
  vector::StoreOp::create(*this, vector, memref, indices);
}

void KernelBuilder::zeroPadding(Value buffer, Value row, int64_t used) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t padding = type.getDimSize(1) - used;
  if (padding <= 0)
    return;
  VectorType zeros = vec(padding, type.getElementType());
  Value zero = isa<FloatType>(type.getElementType()) ? floatConstant(zeros, 0.0)
                                                     : intConstant(zeros, 0);
  storeVector(zero, buffer, {row, index(used)});
}

void KernelBuilder::zeroPaddingAfterHeads(Value buffer, Value row, Value head,
                                          int64_t heads, int64_t headDim) {
  if (cast<MemRefType>(buffer.getType()).getDimSize(1) == heads * headDim)
    return;
  Value isLast = arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, head,
                                       index(heads - 1));
  when(isLast, [&] { zeroPadding(buffer, row, heads * headDim); });
}

Value KernelBuilder::load(Value memref, ValueRange indices) {
  return memref::LoadOp::create(*this, memref, indices);
}

void KernelBuilder::store(Value value, Value memref, ValueRange indices) {
  memref::StoreOp::create(*this, value, memref, indices);
}

/// Size in bytes of one element of a scalar or vector type.
static unsigned elementAlignment(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
}

Value KernelBuilder::advance(Value pointer, Value bytes) {
  if (bytes.getType().isIndex())
    bytes = arith::IndexCastOp::create(*this, getI64Type(), bytes);
  return LLVM::GEPOp::create(*this, pointer.getType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value KernelBuilder::loadAt(Type type, Value pointer, Value bytes) {
  return LLVM::LoadOp::create(*this, type, advance(pointer, bytes),
                              elementAlignment(type));
}

void KernelBuilder::storeAt(Value value, Value pointer, Value bytes) {
  LLVM::StoreOp::create(*this, value, advance(pointer, bytes),
                        elementAlignment(value.getType()));
}

//===----------------------------------------------------------------------===//
// The step context
//===----------------------------------------------------------------------===//

/// Every field is eight bytes wide.
static LLVM::GEPOp fieldAddress(KernelBuilder &kb, StepField field) {
  return LLVM::GEPOp::create(
      kb, kb.ctx().getType(), kb.getI64Type(), kb.ctx(),
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(field)});
}

Value KernelBuilder::contextPointer(StepField field) {
  return LLVM::LoadOp::create(*this, ctx().getType(),
                              fieldAddress(*this, field), 8);
}

Value KernelBuilder::contextIndex(StepField field) {
  Value value =
      LLVM::LoadOp::create(*this, getI64Type(), fieldAddress(*this, field), 8);
  return toIndex(value);
}

Value KernelBuilder::contextArray(StepField field, Value i) {
  Value array = contextPointer(field);
  return toIndex(loadAt(getI32Type(), array, mul(i, 4)));
}

Value KernelBuilder::rowCount() {
  return contextIndex(division.over == RowSpace::Tokens
                          ? StepField::num_tokens
                          : StepField::num_logit_rows);
}

//===----------------------------------------------------------------------===//
// The worker's part of the work
//===----------------------------------------------------------------------===//

WorkRange KernelBuilder::divide(Value count, int64_t grain) {
  Value grains = div(add(count, grain - 1), grain);
  Value first = div(mul(workerArg, grains), workersArg);
  Value last = div(mul(add(workerArg, 1), grains), workersArg);
  if (grain == 1)
    return {first, last};
  return {min(mul(first, grain), count), min(mul(last, grain), count)};
}

WorkRange KernelBuilder::rowRange() {
  assert(division.unit == WorkUnit::Rows && "wrong work division");
  return divide(mul(rowCount(), division.parts));
}

WorkRange KernelBuilder::tileRange() {
  assert(division.unit == WorkUnit::Columns && "wrong work division");
  return divide(index(division.parts), division.grain);
}

WorkRange KernelBuilder::headRange(int64_t heads, int64_t headDim) {
  assert(division.unit == WorkUnit::Columns && "wrong work division");
  int64_t grainColumns = division.grain * kTileColumns;
  assert(grainColumns % headDim == 0 && "a grain is not whole heads");
  return divide(index(heads), grainColumns / headDim);
}

void KernelBuilder::overHeads(Value rows,
                              llvm::function_ref<void(Value, Value)> body) {
  assert(division.unit == WorkUnit::Heads && "wrong work division");
  int64_t heads = division.parts;
  loop(workerArg, mul(rows, heads), workersArg, [&](Value pair) {
    Value row = div(pair, heads);
    body(row, rem(pair, heads));
  });
}

WorkRange KernelBuilder::itemRange(Value count) {
  assert(division.unit == WorkUnit::Items && "wrong work division");
  return divide(count);
}

WorkRange KernelBuilder::elementRange(Value count) {
  assert(division.unit == WorkUnit::Elements && "wrong work division");
  return divide(count);
}

void KernelBuilder::onFirstWorker(llvm::function_ref<void()> body) {
  assert((division.unit == WorkUnit::First ||
          division.unit == WorkUnit::Elements) &&
         "wrong work division");
  when(arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, workerArg,
                             index(0)),
       body);
}

} // namespace llmir
