//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inference of result types from operands with bound sizes.
//
//===----------------------------------------------------------------------===//

#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/ShapeRules.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "llmir/Dialect/MLLM/Transforms/Specialize.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <utility>

using namespace mlir;
using llmir::shapes::DimExpr;
using llmir::shapes::Shape;

namespace llmir::mllm {

/// Nested loops and calls with different sizes multiply the work; this limit is
/// far beyond realistic models.
static constexpr int64_t kMaxInferences = 5000000;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

FailureOr<SizeBinding> SizeBinding::parse(ModuleOp module, StringRef text) {
  SizeBinding result;
  SmallVector<StringRef> parts;
  text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [name, number] = part.trim().split('=');
    int64_t size;
    if (name.empty() || number.getAsInteger(10, size) || size < 0)
      return module.emitError("invalid size '")
             << part << "', expected NAME=NUMBER or ?=NUMBER";
    if (name == "?")
      result.unnamed = size;
    else
      result.named[name.str()] = size;
    if (name == kPast)
      result.past = size;
  }
  return result;
}

std::string SizeBinding::str() const {
  std::string text;
  auto add = [&](const std::string &name, int64_t size) {
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(size);
  };
  for (const auto &[name, size] : named)
    add(name, size);
  if (unnamed)
    add("?", *unnamed);
  return text;
}

DimExpr SizeBinding::bind(const DimExpr &size) const {
  if (!size.isKnown() || size.isConstant())
    return size;
  std::map<std::string, int64_t> values;
  for (const DimExpr::Term &term : size.terms()) {
    auto found = named.find(term.first);
    if (found != named.end())
      values[term.first] = found->second;
    else if (otherSymbols)
      values[term.first] = *otherSymbols;
  }
  // Substitutes bound symbols, even if others remain.
  DimExpr result = size.constantTerm();
  for (const DimExpr::Term &term : size.terms()) {
    auto found = values.find(term.first);
    DimExpr value = found == values.end() ? DimExpr::symbol(term.first)
                                          : DimExpr(found->second);
    result = result + value * DimExpr(term.second);
  }
  std::optional<int64_t> number = result.constant();
  return number && *number < 0 ? size : result;
}

RankedTensorType SizeBinding::bind(RankedTensorType type) const {
  Shape shape = shapeOf(type);
  for (DimExpr &size : shape)
    size = bind(size);
  return makeTensorType(shape, type.getElementType(), deviceOf(type));
}

RankedTensorType SizeBinding::bindInput(RankedTensorType type) const {
  Shape shape = shapeOf(bind(type));
  for (DimExpr &size : shape)
    if (!size.isKnown() && unnamed)
      size = DimExpr(*unnamed);
  return makeTensorType(shape, type.getElementType(), deviceOf(type));
}

//===----------------------------------------------------------------------===//
// Types with sizes of other types
//===----------------------------------------------------------------------===//

static RankedTensorType withShape(RankedTensorType type, const Shape &shape) {
  return makeTensorType(shape, type.getElementType(), deviceOf(type));
}

/// `declared` with its leading dynamic sizes replaced by those of `from`.
static RankedTensorType takeSizes(RankedTensorType declared,
                                  RankedTensorType from, int64_t count) {
  Shape shape = shapeOf(declared), given = shapeOf(from);
  count = std::min<int64_t>({count, declared.getRank(), from.getRank()});
  for (int64_t i = 0; i < count; ++i)
    if (!shape[i].isConstant())
      shape[i] = given[i];
  return withShape(declared, shape);
}

/// Replaces the i-th dynamic size of `declared` by that of `before` in `after`.
static RankedTensorType followView(RankedTensorType declared,
                                   RankedTensorType before,
                                   RankedTensorType after) {
  Shape shape = shapeOf(declared), bound = shapeOf(after);
  int64_t source = 0;
  for (DimExpr &size : shape) {
    if (size.isConstant())
      continue;
    while (source < before.getRank() && !before.isDynamicDim(source))
      ++source;
    if (source == before.getRank())
      break;
    size = bound[source++];
  }
  return withShape(declared, shape);
}

/// `declared` with its dynamic sizes replaced by those of `inferred`.
static RankedTensorType refine(RankedTensorType declared,
                               RankedTensorType inferred) {
  if (declared.getRank() != inferred.getRank())
    return declared; // The verifier reports the error.
  Shape shape = shapeOf(declared), better = shapeOf(inferred);
  for (size_t i = 0; i < shape.size(); ++i)
    if (!shape[i].isConstant() && better[i].isKnown())
      shape[i] = better[i];
  return withShape(declared, shape);
}

/// Keys or values of a cache with `before` tokens and those of this op.
static RankedTensorType cachedType(KVCacheOp op, RankedTensorType declared,
                                   RankedTensorType given,
                                   const DimExpr &before) {
  declared = takeSizes(declared, given, op.getTokenDim());
  Shape shape = shapeOf(declared);
  const size_t token = size_t(op.getTokenDim());
  if (before.isKnown() && !shape[token].isConstant())
    shape[token] = shapeOf(given)[token] + before;
  return withShape(declared, shape);
}

/// The result of a convolution, whose type determines the number of outputs.
template <typename OpT>
static RankedTensorType convolvedType(OpT op, RankedTensorType declared) {
  std::optional<int64_t> out = shapeOf(declared)[1].constant();
  if (!out)
    return declared;
  Expected<Shape> shape =
      shapes::convolution(shapeOf(op.getX()), *out, op.getWindow());
  return shape ? refine(declared, withShape(declared, *shape)) : declared;
}

/// The results of attention over an index: rows of its queries, and weights
/// with one column per index element.
static void refinePaged(PagedAttnOp op, MutableArrayRef<Type> types) {
  const Shape q = shapeOf(op.getQ());
  types[0] =
      takeSizes(cast<RankedTensorType>(types[0]), tensorType(op.getQ()), 3);
  if (types.size() < 2)
    return;
  auto weights = cast<RankedTensorType>(types[1]);
  types[1] =
      refine(weights,
             withShape(weights, {q[0], q[2], q[1], shapeOf(op.getIndex())[0]}));
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

void SizeInference::setType(Value value, RankedTensorType type) {
  declareType(value, tensorType(value));
  value.setType(type);
}

RankedTensorType SizeInference::declaredType(Value value) const {
  auto found = declared.find(value);
  return found == declared.end() ? tensorType(value) : found->second;
}

RankedTensorType SizeInference::declaredAndBound(Value value) const {
  return sizes.bind(declaredType(value));
}

/// `types` are the declared types with bound sizes; ops with inferred results
/// replace them.
LogicalResult SizeInference::inferResults(Operation *op,
                                          SmallVectorImpl<Type> &types) {
  if (auto infers = dyn_cast<InferTypeOpInterface>(op)) {
    SmallVector<Type> inferred;
    std::optional<ScopedDiagnosticHandler> quiet;
    if (!isStrict)
      quiet.emplace(op->getContext(), [](Diagnostic &) { return success(); });
    if (failed(infers.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), inferred)) ||
        inferred.size() != types.size())
      return failure(isStrict);
    for (auto [type, better] : llvm::zip(types, inferred))
      type = refine(cast<RankedTensorType>(type),
                    sizes.bind(cast<RankedTensorType>(better)));
    return success();
  }
  auto first = [&] { return cast<RankedTensorType>(types[0]); };
  auto operand = [&](unsigned i) { return tensorType(op->getOperand(i)); };
  llvm::TypeSwitch<Operation *>(op)
      .Case<LinearOp, HeadLinearOp>([&](auto) {
        types[0] = takeSizes(first(), operand(0), operand(0).getRank() - 1);
      })
      .Case([&](EmbeddingOp) {
        types[0] = takeSizes(first(), operand(0), operand(0).getRank());
      })
      .Case([&](ViewOp) {
        types[0] =
            followView(first(), declaredType(op->getOperand(0)), operand(0));
      })
      .Case([&](KVCacheOp cache) { inferCache(cache, types); })
      .Case<Conv1DOp, Conv2DOp, Conv3DOp>(
          [&](auto conv) { types[0] = convolvedType(conv, first()); })
      .Case([&](PagedAttnOp paged) { refinePaged(paged, types); });
  return success();
}

void SizeInference::inferCache(KVCacheOp op, MutableArrayRef<Type> types) {
  DimExpr &given = grown[static_cast<int64_t>(op.getLayer())];
  const DimExpr before =
      sizes.past ? given + DimExpr(*sizes.past) : DimExpr::unknown();
  for (auto [i, type] : llvm::enumerate(types))
    type = cachedType(op, cast<RankedTensorType>(type),
                      tensorType(op->getOperand(unsigned(i))), before);
  given = given + shapeOf(op.getK())[size_t(op.getTokenDim())];
}

LogicalResult SizeInference::inferOp(Operation *op) {
  if (++numInferred > kMaxInferences)
    return op->emitOpError("is beyond the limit of ")
           << kMaxInferences
           << " inferred ops, counting nested loops repeatedly; inline less, "
              "or use fewer loops";
  if (auto branch = dyn_cast<IfOp>(op))
    return inferIf(branch);
  if (auto loop = dyn_cast<WhileOp>(op))
    return inferWhile(loop);
  if (auto loop = dyn_cast<ForOp>(op))
    return inferFor(loop);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(inferBlock(block)))
        return failure();
  if (auto call = dyn_cast<CallGraphOp>(op); call && resolveCall) {
    SubGraphOp callee = resolveCall(call);
    if (!callee)
      return failure();
    call.setCallee(callee.getSymName());
    for (auto [result, type] :
         llvm::zip_equal(call.getResults(), callee.getResultTypes()))
      setType(result, cast<RankedTensorType>(type));
    return success();
  }
  SmallVector<Type> types;
  for (Value result : op->getResults()) {
    if (!isa<RankedTensorType>(result.getType()))
      return success();
    types.push_back(declaredAndBound(result));
  }
  if (!types.empty() && failed(inferResults(op, types)))
    return failure();
  for (auto [result, type] : llvm::zip(op->getResults(), types))
    setType(result, cast<RankedTensorType>(type));
  return success();
}

LogicalResult SizeInference::inferBlock(Block &block) {
  for (Operation &op : block)
    if (failed(inferOp(&op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

std::set<int64_t> cachedLayers(Operation *op) {
  std::set<int64_t> layers;
  SmallVector<Operation *> reached = {op};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!reached.empty())
    reached.pop_back_val()->walk([&](Operation *inner) {
      if (auto cache = dyn_cast<KVCacheOp>(inner))
        layers.insert(static_cast<int64_t>(cache.getLayer()));
      auto call = dyn_cast<CallGraphOp>(inner);
      SubGraphOp callee = call ? calleeOf(call) : SubGraphOp();
      if (callee && seen.insert(callee).second)
        reached.push_back(callee);
    });
  return layers;
}

void SizeInference::growInLoop(Operation *loop) {
  for (int64_t layer : cachedLayers(loop))
    grown[layer] = DimExpr::unknown();
}

/// Merges the cache growth of two alternative paths.
static CacheGrowth inBoth(CacheGrowth a, CacheGrowth b) {
  for (const auto &entry : b)
    a.try_emplace(entry.first);
  for (auto &entry : a)
    if (entry.second != b[entry.first])
      entry.second = DimExpr::unknown();
  return a;
}

/// `declared` with the sizes on which both others agree.
static RankedTensorType inBoth(RankedTensorType declared, RankedTensorType a,
                               RankedTensorType b) {
  Shape shape = shapeOf(declared), one = shapeOf(a), other = shapeOf(b);
  if (one.size() != shape.size() || other.size() != shape.size())
    return declared;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!shape[i].isConstant() && one[i].isConstant() && one[i] == other[i])
      shape[i] = one[i];
  return withShape(declared, shape);
}

LogicalResult SizeInference::inferIf(IfOp op) {
  const CacheGrowth before = grown;
  if (failed(inferBlock(op.getThen().front())))
    return failure();
  CacheGrowth afterThen = std::exchange(grown, before);
  if (failed(inferBlock(op.getOtherwise().front())))
    return failure();
  grown = inBoth(std::move(afterThen), std::move(grown));
  Operation *a = op.getThen().front().getTerminator();
  Operation *b = op.getOtherwise().front().getTerminator();
  for (auto [result, one, other] :
       llvm::zip(op.getResults(), a->getOperands(), b->getOperands()))
    setType(result, inBoth(declaredAndBound(result), tensorType(one),
                           tensorType(other)));
  return success();
}

/// Starts with the types of the initial values of a loop, and makes sizes that
/// change in an iteration dynamic until a fixed point. `infer` infers an
/// iteration and returns the final types.
LogicalResult
SizeInference::settleLoop(Block &entry, ValueRange inits,
                          unsigned firstArgument,
                          llvm::function_ref<FailureOr<OperandRange>()> infer) {
  auto carried = entry.getArguments().drop_front(firstArgument);
  for (auto [argument, init] : llvm::zip(carried, inits))
    setType(argument, refine(declaredAndBound(argument), tensorType(init)));
  for (bool changed = true; changed;) {
    FailureOr<OperandRange> next = infer();
    if (failed(next))
      return failure();
    changed = false;
    for (auto [argument, value] : llvm::zip(carried, *next)) {
      RankedTensorType now = tensorType(argument);
      RankedTensorType both =
          inBoth(declaredAndBound(argument), now, tensorType(value));
      changed |= both != now;
      setType(argument, both);
    }
  }
  return success();
}

LogicalResult SizeInference::inferWhile(WhileOp op) {
  Block &condition = op.getCondition().front(), &body = op.getBody().front();
  growInLoop(op);
  auto turn = [&]() -> FailureOr<OperandRange> {
    if (failed(inferBlock(condition)))
      return failure();
    for (auto [argument, value] :
         llvm::zip(body.getArguments(),
                   condition.getTerminator()->getOperands().drop_front()))
      setType(argument, refine(declaredAndBound(argument), tensorType(value)));
    if (failed(inferBlock(body)))
      return failure();
    return body.getTerminator()->getOperands();
  };
  if (failed(settleLoop(condition, op.getInits(), 0, turn)))
    return failure();
  for (auto [result, argument] :
       llvm::zip(op.getResults(), body.getArguments()))
    setType(result, refine(declaredAndBound(result), tensorType(argument)));
  return success();
}

LogicalResult SizeInference::inferFor(ForOp op) {
  Block &body = op.getBody().front();
  growInLoop(op);
  setType(body.getArgument(0), tensorType(op.getCount()));
  auto turn = [&]() -> FailureOr<OperandRange> {
    if (failed(inferBlock(body)))
      return failure();
    return body.getTerminator()->getOperands();
  };
  if (failed(settleLoop(body, op.getInits(), 1, turn)))
    return failure();
  for (auto [result, argument] :
       llvm::zip(op.getResults(), body.getArguments().drop_front()))
    setType(result, refine(declaredAndBound(result), tensorType(argument)));
  return success();
}

} // namespace llmir::mllm
