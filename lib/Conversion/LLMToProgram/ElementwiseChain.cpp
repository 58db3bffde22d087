//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseChain.h"
#include "ProgramConversion.h"
#include "ScalarRegion.h"

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Dialect/MLLM/ScalarFunctions.h"
#include "llmir/Support/PackedLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// Whether operands and results of the arith or math op are rows of f32, which
/// can be vectorized. Rows must be whole tiles, since the op may map the zeros
/// of padding to other values.
static bool isOfRows(Operation *op) {
  if (!isScalarComputation(op) || !hasScalarKernel(*op))
    return false;
  auto isRows = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    Type element = getElementTypeOrSelf(type);
    return tensor && tensor.hasStaticShape() && tensor.getRank() > 0 &&
           tensor.getShape().back() % kTileRows == 0 &&
           (element.isF32() || element.isF16() || element.isBF16());
  };
  return isRows(op->getResult(0).getType()) &&
         llvm::all_of(op->getOperandTypes(), isRows) &&
         !llvm::all_of(op->getOperands(), constantNumber);
}

bool isElementwise(Operation *op) {
  return isa<ll::SiluOp, ll::GeluOp, ll::AddOp, ll::MulOp, ll::SwiGLUOp>(op) ||
         isOfRows(op);
}

/// Whether the op is computed in a nest of loops.
static bool isOfLoops(Operation *op) {
  return isScalarComputation(op) && !isOfRows(op);
}

static bool isMatmul(Operation *op) {
  return isa<ll::LinearOp, ll::QuantizedMatmulOp>(op);
}

/// Whether its only user is an element-wise op in the same block.
static bool feedsElementwiseOnly(Operation *op) {
  if (!op->hasOneUse())
    return false;
  Operation *user = *op->user_begin();
  return isElementwise(user) && user->getBlock() == op->getBlock();
}

static bool isInnerElementwise(Operation *op) {
  return isElementwise(op) && feedsElementwiseOnly(op);
}

static Operation *endOfChain(Operation *op) {
  while (isInnerElementwise(op))
    op = *op->user_begin();
  return op;
}

bool isComputedByUser(Operation *op) { return kernelRoot(op) != op; }

/// The last op of a chain of element-wise arith and math ops, each of which is
/// used only by the next one.
static Operation *endOfScalarChain(Operation *op) {
  while (op->hasOneUse()) {
    Operation *user = *op->user_begin();
    if (!isOfLoops(user) || user->getBlock() != op->getBlock() ||
        tensorShape(user->getResult(0).getType()) !=
            tensorShape(op->getResult(0).getType()))
      break;
    op = user;
  }
  return op;
}

Operation *kernelRoot(Operation *op) {
  if (isOfLoops(op))
    return endOfScalarChain(op);
  if (!isMatmul(op))
    return endOfChain(op);
  if (!feedsElementwiseOnly(op))
    return op;
  Operation *root = endOfChain(*op->user_begin());
  return ElementwiseChain(root).matmul() == op ? root : op;
}

ElementwiseChain::ElementwiseChain(Operation *root) {
  collect(root);
  for (Value input : inputs) {
    Operation *producer = input.getDefiningOp();
    if (producer && isMatmul(producer) && feedsElementwiseOnly(producer) &&
        (!host || host->isBeforeInBlock(producer)))
      host = producer;
  }
  if (host)
    inputs.remove(host->getResult(0));
}

void ElementwiseChain::collect(Operation *op) {
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (producer && isInnerElementwise(producer))
      collect(producer);
    else if (!isOfRows(op) || !constantNumber(operand))
      inputs.insert(operand);
  }
  ops.push_back(op);
}

bool ElementwiseChain::needsWholeTiles() const {
  return llvm::any_of(ops, isOfRows);
}

std::string ElementwiseChain::name() const {
  std::string text;
  for (Operation *op : ops) {
    if (!text.empty())
      text += '_';
    text += op->getName().stripDialect();
  }
  return text;
}

/// A constant as f32.
static Value emitConstant(OpBuilder &b, Location loc, TypedAttr number) {
  double value = cast<FloatAttr>(number).getValueAsDouble();
  return arith::ConstantOp::create(
      b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}

static Value emitGelu(OpBuilder &b, ll::GeluOp op, Value x) {
  using namespace mllm::program;
  if (op.getApproximate() == "tanh")
    return emitGeluTanh(b, op.getLoc(), x);
  if (op.getApproximate() == "quick")
    return emitGeluQuick(b, op.getLoc(), x);
  return mllm::program::emitGelu(b, op.getLoc(), x);
}

void ElementwiseChain::emitScalar(OpBuilder &b, Block &block) const {
  IRMapping mapping;
  if (host) { // The sum is rounded like the matmul's result.
    Value result = host->getResult(0);
    Value sum = block.addArgument(b.getF32Type(), host->getLoc());
    mapping.map(result, mllm::program::emitRound(
                            b, host->getLoc(), sum,
                            getElementTypeOrSelf(result.getType())));
  }
  for (Value input : inputs)
    mapping.map(input, block.addArgument(b.getF32Type(), input.getLoc()));
  Value last;
  for (Operation *op : ops) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value known = mapping.lookupOrNull(operand);
      operands.push_back(
          known ? known
                : emitConstant(b, op->getLoc(), constantNumber(operand)));
    }
    Location loc = op->getLoc();
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    last = llvm::TypeSwitch<Operation *, Value>(op)
               .Case<ll::SiluOp>([&](auto) {
                 return mllm::program::emitSilu(b, loc, operands[0]);
               })
               .Case<ll::GeluOp>([&](ll::GeluOp gelu) {
                 return emitGelu(b, gelu, operands[0]);
               })
               .Case<ll::AddOp>([&](auto) {
                 return arith::AddFOp::create(b, loc, operands[0], operands[1])
                     .getResult();
               })
               .Case<ll::MulOp>([&](auto) {
                 return arith::MulFOp::create(b, loc, operands[0], operands[1])
                     .getResult();
               })
               .Case<ll::SwiGLUOp>([&](auto) {
                 // mul(silu(gate), up), a product with the result of silu.
                 Value gate = mllm::program::emitRound(
                     b, loc, mllm::program::emitSilu(b, loc, operands[0]),
                     element);
                 return arith::MulFOp::create(b, loc, gate, operands[1])
                     .getResult();
               })
               .Default([&](Operation *computation) {
                 return emitComputation(b, loc, *computation, operands);
               });
    last = mllm::program::emitRound(b, loc, last, element);
    mapping.map(op->getResult(0), last);
  }
  mllm::program::YieldOp::create(b, ops.back()->getLoc(), last);
}

} // namespace llmir
