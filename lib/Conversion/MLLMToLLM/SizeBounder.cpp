//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeBounder.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <set>

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

using shapes::DimExpr;
using shapes::Shape;

//===----------------------------------------------------------------------===//
// Values of names
//===----------------------------------------------------------------------===//

static bool isName(const DimExpr &size) {
  return size.terms().size() == 1 && size.terms()[0].second == 1 &&
         size.constantTerm() == 0;
}

static Status invalid(const std::string &cause) {
  return Status(StatusCode::InvalidArgument, cause);
}

static Status checkRange(const BoundedSize &size, int64_t number) {
  if (number >= size.least && number <= size.greatest &&
      number % size.multiple == 0)
    return Status();
  std::string multiples =
      size.multiple == 1 ? ""
                         : " in multiples of " + std::to_string(size.multiple);
  return invalid("the size '" + size.name + "' is " + std::to_string(number) +
                 "; the code is compiled for " + std::to_string(size.least) +
                 " to " + std::to_string(size.greatest) + multiples);
}

Expected<std::vector<int64_t>> BoundedSizes::bind(
    const std::vector<std::optional<std::vector<int64_t>>> &given) const {
  auto where = [](size_t argument, size_t dim, int64_t size) {
    return "argument " + std::to_string(argument) + " has " +
           std::to_string(size) + " in dimension " + std::to_string(dim);
  };
  std::map<std::string, int64_t> known;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!given[i])
      continue;
    if (given[i]->size() != arguments[i].size())
      return invalid("argument " + std::to_string(i) + " has rank " +
                     std::to_string(given[i]->size()) + ", expected " +
                     std::to_string(arguments[i].size()));
    for (size_t d = 0; d < given[i]->size(); ++d) {
      if (!isName(arguments[i][d]))
        continue;
      const std::string &name = arguments[i][d].terms()[0].first;
      auto [entry, isNew] = known.try_emplace(name, (*given[i])[d]);
      if (!isNew && entry->second != (*given[i])[d])
        return invalid(where(i, d, (*given[i])[d]) + ", but '" + name +
                       "' is " + std::to_string(entry->second) +
                       " in an earlier dimension");
    }
  }
  std::vector<int64_t> numbers;
  for (const BoundedSize &size : sizes) {
    auto found = known.find(size.name);
    if (found == known.end()) // Such functions are rejected earlier.
      return invalid("no argument has '" + size.name + "' as a size");
    LLMIR_RETURN_IF_ERROR(checkRange(size, found->second));
    numbers.push_back(found->second);
  }
  for (size_t i = 0; i < arguments.size(); ++i)
    for (size_t d = 0; given[i] && d < given[i]->size(); ++d) {
      std::optional<int64_t> wanted = arguments[i][d].evaluate(known);
      if (wanted != (*given[i])[d])
        return invalid(where(i, d, (*given[i])[d]) + ", where " +
                       arguments[i][d].str() + " is " +
                       std::to_string(wanted.value_or(-1)));
    }
  return numbers;
}

std::vector<int64_t>
BoundedSizes::evaluate(const Shape &shape,
                       const std::vector<int64_t> &numbers) const {
  std::map<std::string, int64_t> known;
  for (size_t i = 0; i < sizes.size(); ++i)
    known[sizes[i].name] = numbers[i];
  std::vector<int64_t> result;
  for (const DimExpr &size : shape)
    result.push_back(size.evaluate(known).value_or(0));
  return result;
}

//===----------------------------------------------------------------------===//
// Sizes of values
//===----------------------------------------------------------------------===//

Shape SizeBounder::sizesOf(Value tensor) const {
  auto known = sizes.find(tensor);
  if (known != sizes.end())
    return known->second;
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (type)
    return mllm::shapeOf(type);
  return {};
}

std::optional<int64_t> SizeBounder::extreme(const DimExpr &size,
                                            bool isGreatest) const {
  std::map<std::string, int64_t> numbers;
  for (const auto &[name, factor] : size.terms())
    if (auto range = ranges.find(name); range != ranges.end())
      numbers[name] = isGreatest == (factor > 0) ? range->second.greatest
                                                 : range->second.least;
  return size.evaluate(numbers);
}

int64_t SizeBounder::greatest(const DimExpr &size) const {
  return extreme(size, /*isGreatest=*/true).value_or(0);
}

int64_t SizeBounder::least(const DimExpr &size) const {
  return extreme(size, /*isGreatest=*/false).value_or(0);
}

LogicalResult SizeBounder::checkSize(Operation *op, const DimExpr &size) {
  if (!extreme(size, /*isGreatest=*/true))
    return refuse(op) << "its result has the size " << size.str()
                      << ", whose maximum is not known";
  if (least(size) < 0)
    return refuse(op) << "its result has the size " << size.str()
                      << ", which may be " << least(size);
  return success();
}

void SizeBounder::setSizes(Value tensor, const Shape &shape) {
  sizes[tensor] = shape;
  SmallVector<int64_t> numbers;
  for (const DimExpr &size : shape)
    numbers.push_back(greatest(size));
  tensor.setType(RankedTensorType::get(
      numbers, cast<RankedTensorType>(tensor.getType()).getElementType()));
}

InFlightDiagnostic SizeBounder::refuse(Operation *op) {
  return op->emitOpError("cannot be compiled for dynamic sizes: ");
}

LogicalResult SizeBounder::setDeclaredSizes(Operation *op) {
  for (Value value : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    Shape shape = mllm::shapeOf(type);
    for (const DimExpr &size : shape)
      if (failed(checkSize(op, size)))
        return failure();
    setSizes(value, shape);
  }
  return success();
}

std::optional<DimExpr> SizeBounder::numberOf(OpFoldResult number) const {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return DimExpr(*constant);
  auto known = numbers.find(cast<Value>(number));
  if (known == numbers.end())
    return std::nullopt;
  return known->second;
}

bool SizeBounder::isStatic(Value tensor) const {
  return llvm::all_of(sizesOf(tensor),
                      [](const DimExpr &size) { return size.isConstant(); });
}

LogicalResult SizeBounder::needStatic(Operation *op, Value tensor,
                                      int64_t dim) {
  DimExpr size = sizesOf(tensor)[static_cast<size_t>(dim)];
  if (size.isConstant())
    return success();
  return refuse(op) << "dimension " << dim << " has the size " << size.str()
                    << ", but must be static";
}

LogicalResult SizeBounder::needStatic(Operation *op, Value tensor) {
  for (size_t d = 0; d < sizesOf(tensor).size(); ++d)
    if (failed(needStatic(op, tensor, static_cast<int64_t>(d))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes as values, and masks
//===----------------------------------------------------------------------===//

Value SizeBounder::numberFor(const DimExpr &size) {
  Value &known = computed[size.str()];
  if (known)
    return known;
  Block &entry = function.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  Location loc = function.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value sum = constant(size.constantTerm());
  for (const auto &[name, factor] : size.terms()) {
    Value part =
        arith::MulIOp::create(b, loc, arguments[name], constant(factor));
    sum = arith::AddIOp::create(b, loc, sum, part);
  }
  return known = isName(size) ? arguments[size.terms()[0].first] : sum;
}

static TypedAttr numberOfType(Type element, double value) {
  if (auto type = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, value);
  auto type = cast<IntegerType>(element);
  unsigned width = type.getWidth();
  if (std::isinf(value)) // The minimum or maximum of the type.
    return IntegerAttr::get(type, value < 0 ? APInt::getSignedMinValue(width)
                                            : APInt::getSignedMaxValue(width));
  return IntegerAttr::get(type, static_cast<int64_t>(value));
}

Value SizeBounder::masked(OpBuilder &b, Location loc, Value x, int64_t dim,
                          double value) {
  Shape shape = sizesOf(x);
  auto type = cast<RankedTensorType>(x.getType());
  Value end = numberFor(shape[static_cast<size_t>(dim)]);
  Value init =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  Value padding = arith::ConstantOp::create(
      b, loc, numberOfType(type.getElementType(), value));
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, type, x, init, maps, kinds,
      [&](OpBuilder &inner, Location at, ValueRange elements) {
        Value index = linalg::IndexOp::create(inner, at, dim);
        Value isInside = arith::CmpIOp::create(
            inner, at, arith::CmpIPredicate::slt, index, end);
        linalg::YieldOp::create(
            inner, at,
            ValueRange{arith::SelectOp::create(inner, at, isInside, elements[0],
                                               padding)});
      });
  sizes[generic.getResult(0)] = shape;
  return generic.getResult(0);
}

void SizeBounder::maskOperand(OpOperand &operand, int64_t dim, double value) {
  if (isStatic(operand.get(), dim))
    return;
  OpBuilder b(operand.getOwner());
  operand.set(
      masked(b, operand.getOwner()->getLoc(), operand.get(), dim, value));
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// The sizes of an argument, from its type or its attribute.
static Shape argumentSizes(func::FuncOp function, unsigned i) {
  auto type = dyn_cast<RankedTensorType>(function.getArgument(i).getType());
  if (!type)
    return {};
  if (auto names =
          function.getArgAttrOfType<mllm::TensorEncodingAttr>(i, kSizesAttr))
    return mllm::shapeOf(
        RankedTensorType::get(type.getShape(), type.getElementType(), names));
  return mllm::shapeOf(type);
}

bool hasDynamicSizes(func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(), [](Type type) {
    auto shaped = dyn_cast<RankedTensorType>(type);
    return shaped && !shaped.hasStaticShape();
  });
}

/// Fails if the sizes of an argument contradict its type.
static LogicalResult checkNames(func::FuncOp function, unsigned i) {
  Attribute names = function.getArgAttr(i, kSizesAttr);
  if (!names)
    return success();
  auto type = dyn_cast<RankedTensorType>(function.getArgument(i).getType());
  auto report = [&] {
    return function.emitOpError("cannot be compiled: argument ")
           << i << " has the names of sizes " << names << ": ";
  };
  if (!type || !isa<mllm::TensorEncodingAttr>(names))
    return report() << "expected #mllm.tensor<dims = (…)> of a tensor";
  return success(RankedTensorType::getChecked(report, type.getShape(),
                                              type.getElementType(), names));
}

LogicalResult SizeBounder::readRanges() {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(checkNames(function, i)))
      return failure();
  if (function->hasAttr(ll::LLMDialect::getNumRanksAttrName()))
    return function.emitOpError("cannot be compiled: it has dynamic sizes and "
                                "several ranks; specify static sizes");
  auto given = function->getAttrOfType<DictionaryAttr>(kDimsAttr);
  std::set<std::string> alone;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (const DimExpr &size : argumentSizes(function, i)) {
      if (!size.isKnown())
        return function.emitOpError("cannot be compiled: argument ")
               << i << " has a size without a name; name it, as in "
               << "tensor<?x64xf32, #mllm.tensor<dims = (seq, 64)>>";
      if (isName(size))
        alone.insert(size.terms()[0].first);
    }
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (const DimExpr &size : argumentSizes(function, i))
      for (const auto &[name, factor] : size.terms()) {
        auto range =
            given ? given.getAs<mllm::RangeAttr>(name) : mllm::RangeAttr();
        if (!range)
          return function.emitOpError("cannot be compiled: its size '")
                 << name << "' has no range; specify one, as in mllm.dims = {"
                 << name << " = #mllm.range<1, 4096>}";
        if (!alone.count(name))
          return function.emitOpError("cannot be compiled: no argument has '")
                 << name << "' by itself as a size, so its value is not known";
        if (factor < 0)
          return function.emitOpError("cannot be compiled: argument ")
                 << i << " has the size " << size.str()
                 << ", which decreases as '" << name << "' increases";
        BoundedSize bounded{name, range.getLeast(), range.getGreatest(),
                            range.getMultiple()};
        if (ranges.try_emplace(name, bounded).second)
          result.sizes.push_back(bounded);
      }
  return success();
}

LogicalResult SizeBounder::addArguments() {
  Block &entry = function.getBody().front();
  unsigned numArguments = entry.getNumArguments();
  for (unsigned i = 0; i < numArguments; ++i) {
    Shape shape = argumentSizes(function, i);
    result.arguments.push_back(shape);
    if (isa<RankedTensorType>(entry.getArgument(i).getType()))
      setSizes(entry.getArgument(i), shape);
    function.removeArgAttr(i, kSizesAttr);
  }
  for (const BoundedSize &size : result.sizes) {
    Value argument = entry.addArgument(IndexType::get(function.getContext()),
                                       function.getLoc());
    arguments[size.name] = argument;
    setNumber(argument, DimExpr::symbol(size.name));
  }
  return success();
}

FailureOr<BoundedSizes> SizeBounder::run() {
  if (failed(readRanges()) || failed(addArguments()) ||
      failed(boundBlock(function.getBody().front())))
    return failure();
  Operation *end = function.getBody().front().getTerminator();
  for (Value value : end->getOperands())
    result.results.push_back(sizesOf(value));
  function->removeAttr(kDimsAttr);
  Block &entry = function.getBody().front();
  // Attributes of the signature remain on the caller's function.
  function->removeAttr(function.getArgAttrsAttrName());
  function->removeAttr(function.getResAttrsAttrName());
  function.setFunctionType(FunctionType::get(
      function.getContext(), entry.getArgumentTypes(), end->getOperandTypes()));
  return std::move(result);
}

FailureOr<BoundedSizes> boundSizes(func::FuncOp function) {
  return SizeBounder(function).run();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult SizeBounder::boundBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (failed(boundOp(&op)))
      return failure();
  return success();
}

static bool isDynamicTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

LogicalResult SizeBounder::boundOp(Operation *op) {
  if (isa<scf::IfOp, mllm::IfOp>(op))
    return boundBranch(op);
  if (isa<scf::ForOp, scf::WhileOp, mllm::ForOp, mllm::WhileOp>(op))
    return boundLoop(op);
  bool isFixed =
      llvm::all_of(op->getOperands(), [&](Value x) { return isStatic(x); }) &&
      llvm::none_of(op->getResultTypes(), isDynamicTensor);
  // Scalars are known if they are expressions of sizes.
  if (isFixed && !llvm::any_of(op->getOperands(), [&](Value x) {
        return x.getType().isIndex() && numbers.contains(x);
      }))
    return success();
  if (const SizeRule *rule = SizeRules::get().find(op))
    return (*rule)(*this, op);
  if (isFixed)
    return success();
  return refuse(op) << "the op is not supported on padded tensors; specify "
                       "static sizes";
}

/// Both regions yield results of the same sizes.
LogicalResult SizeBounder::boundBranch(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    if (failed(boundBlock(region.front())))
      return failure();
    Operation *end = region.front().getTerminator();
    for (auto [yielded, value] :
         llvm::zip_equal(end->getOperands(), op->getResults())) {
      if (!isa<RankedTensorType>(value.getType()))
        continue;
      auto known = sizes.find(value);
      if (known != sizes.end() && known->second != sizesOf(yielded))
        return refuse(op) << "its regions yield tensors of the sizes "
                          << shapes::str(known->second) << " and "
                          << shapes::str(sizesOf(yielded));
      setSizes(value, sizesOf(yielded));
    }
  }
  return success();
}

/// Loop-carried values must keep their sizes.
LogicalResult SizeBounder::boundLoop(Operation *op) {
  auto setAll = [&](ValueRange values, ValueRange like) -> LogicalResult {
    for (auto [value, from] : llvm::zip_equal(values, like)) {
      if (!isa<RankedTensorType>(value.getType()))
        continue;
      auto known = sizes.find(value);
      if (known != sizes.end() && known->second != sizesOf(from))
        return refuse(op) << "a loop-carried tensor has the sizes "
                          << shapes::str(known->second)
                          << " before an iteration and "
                          << shapes::str(sizesOf(from)) << " after it";
      setSizes(value, sizesOf(from));
    }
    return success();
  };
  Region &first = op->getRegion(0);
  Operation *end = first.front().getTerminator();
  if (isa<scf::WhileOp, mllm::WhileOp>(op)) {
    Region &body = op->getRegion(1);
    if (failed(setAll(first.getArguments(), op->getOperands())) ||
        failed(boundBlock(first.front())))
      return failure();
    ValueRange passed = end->getOperands().drop_front();
    if (failed(setAll(body.getArguments(), passed)) ||
        failed(boundBlock(body.front())) ||
        failed(setAll(first.getArguments(),
                      body.front().getTerminator()->getOperands())))
      return failure();
    return setAll(op->getResults(), passed);
  }
  size_t others = op->getNumOperands() - op->getNumResults();
  ValueRange inits = op->getOperands().drop_front(others);
  ValueRange carried = first.getArguments().drop_front();
  if (failed(setAll(carried, inits)) || failed(boundBlock(first.front())) ||
      failed(setAll(carried, end->getOperands())))
    return failure();
  return setAll(op->getResults(), inits);
}

//===----------------------------------------------------------------------===//
// Positions of elements
//===----------------------------------------------------------------------===//

/// Whether the elements of a padded tensor are a prefix: all sizes before the
/// dynamic one are 1.
static bool isPrefix(ArrayRef<DimExpr> sizes) {
  bool isLeading = true;
  for (const DimExpr &size : sizes) {
    if (!size.isConstant() && !isLeading)
      return false;
    isLeading = isLeading && size.constant() == 1;
  }
  return true;
}

bool keepsPositions(const Shape &from, const Shape &to) {
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    // The smallest groups of dimensions of both with the same number of
    // elements.
    const size_t iBegin = i, jBegin = j;
    DimExpr left = i < from.size() ? from[i++] : DimExpr(1);
    DimExpr right = j < to.size() ? to[j++] : DimExpr(1);
    while (left != right) {
      std::optional<int64_t> l = left.constant(), r = right.constant();
      const bool takeLeft = j == to.size() || (l && (!r || *l < *r));
      if (takeLeft && i < from.size())
        left = left * from[i++];
      else if (j < to.size())
        right = right * to[j++];
      else
        return false;
    }
    auto part = [](const Shape &shape, size_t first, size_t last) {
      return ArrayRef(shape).slice(first, last - first);
    };
    const bool isSame = i - iBegin == 1 && j - jBegin == 1;
    if (!isSame &&
        !(isPrefix(part(from, iBegin, i)) && isPrefix(part(to, jBegin, j))))
      return false;
  }
  return true;
}

} // namespace llmir
