//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/TensorTypes.h"

#include "llmir/Dialect/MLLM/MLLMTensorOps.h"

#include <cmath>

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;
using shapes::DimExpr;

//===----------------------------------------------------------------------===//
// Conversion between types and shapes
//===----------------------------------------------------------------------===//

bool llmir::mllm::isF32Tensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isF32();
}

bool llmir::mllm::isF32TensorOfRank(Type type, int64_t rank) {
  return isF32Tensor(type) && cast<RankedTensorType>(type).getRank() == rank;
}

bool llmir::mllm::hasStaticTail(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() >= 1 &&
         llvm::none_of(tensor.getShape().drop_front(), ShapedType::isDynamic);
}

bool llmir::mllm::isTokenIds(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 1 &&
         (tensor.getElementType().isSignlessInteger(32) ||
          tensor.getElementType().isSignlessInteger(64));
}

static TensorEncodingAttr encodingOf(RankedTensorType type) {
  return dyn_cast_or_null<TensorEncodingAttr>(type.getEncoding());
}

Device llmir::mllm::deviceOf(RankedTensorType type) {
  TensorEncodingAttr encoding = encodingOf(type);
  return encoding ? encoding.getDevice() : Device::CPU;
}

shapes::Shape llmir::mllm::shapeOf(RankedTensorType type) {
  if (TensorEncodingAttr encoding = encodingOf(type))
    if (shapes::Shape dims = encoding.getDims(); !dims.empty())
      return dims;
  shapes::Shape result;
  for (int64_t size : type.getShape())
    result.push_back(ShapedType::isDynamic(size) ? DimExpr::unknown()
                                                 : DimExpr(size));
  return result;
}

RankedTensorType llmir::mllm::makeTensorType(const shapes::Shape &shape,
                                             Type element, Device device) {
  MLIRContext *context = element.getContext();
  SmallVector<int64_t> sizes;
  SmallVector<StringAttr> names;
  bool hasName = false;
  for (const DimExpr &size : shape) {
    sizes.push_back(size.constant().value_or(ShapedType::kDynamic));
    names.push_back(StringAttr::get(context, size.str()));
    hasName |= !size.terms().empty();
  }
  if (!hasName)
    names.clear();
  Attribute encoding;
  if (hasName || device != Device::CPU)
    encoding = TensorEncodingAttr::get(context, device, names);
  return RankedTensorType::get(sizes, element, encoding);
}

/// Whether an inferred size is compatible with the declared one.
static bool sizeFits(const DimExpr &inferred, const DimExpr &declared) {
  return DimExpr::mayEqual(inferred, declared);
}

bool llmir::mllm::fits(TypeRange inferred, TypeRange declared) {
  if (inferred.size() != declared.size())
    return false;
  for (auto [have, want] : llvm::zip(inferred, declared)) {
    auto a = dyn_cast<RankedTensorType>(have);
    auto b = dyn_cast<RankedTensorType>(want);
    if (!a || !b || a.getElementType() != b.getElementType() ||
        a.getRank() != b.getRank() || deviceOf(a) != deviceOf(b))
      return false;
    for (auto [x, y] : llvm::zip(shapeOf(a), shapeOf(b)))
      if (!sizeFits(x, y))
        return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// For inferResults()
//===----------------------------------------------------------------------===//

ResultTypes llmir::mllm::sameAs(Value operand) { return {tensorType(operand)}; }

ResultTypes llmir::mllm::shaped(const shapes::Shape &shape, Value like) {
  return shaped(shape, like, tensorType(like).getElementType());
}

Expected<ResultTypes> llmir::mllm::shaped(Expected<shapes::Shape> shape,
                                          Value like) {
  if (!shape)
    return shape.takeStatus();
  return shaped(*shape, like);
}

ResultTypes llmir::mllm::shaped(const shapes::Shape &shape, Value like,
                                Type element) {
  return {makeTensorType(shape, element, deviceOf(tensorType(like)))};
}

/// The textual form of a type.
static std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

Status llmir::mllm::checkSameElements(ValueRange operands) {
  for (auto [index, operand] : llvm::enumerate(operands)) {
    Type first = tensorType(operands.front()).getElementType();
    Type other = tensorType(operand).getElementType();
    if (other != first)
      return shapes::shapeError("operand #" + std::to_string(index) + " has " +
                                text(other) + " values, but operand #0 has " +
                                text(first));
  }
  return Status::ok();
}

Status llmir::mllm::checkSameDevice(ValueRange operands) {
  for (auto [index, operand] : llvm::enumerate(operands)) {
    Device first = deviceOf(tensorType(operands.front()));
    Device other = deviceOf(tensorType(operand));
    if (other != first)
      return shapes::shapeError("operand #" + std::to_string(index) +
                                " is on " + stringifyDevice(other).str() +
                                ", but operand #0 is on " +
                                stringifyDevice(first).str());
  }
  return Status::ok();
}

Expected<ResultTypes> llmir::mllm::broadcastOf(Value lhs, Value rhs) {
  LLMIR_RETURN_IF_ERROR(checkSameElements({lhs, rhs})); // c1
  LLMIR_RETURN_IF_ERROR(checkSameDevice({lhs, rhs}));
  return shaped(shapes::broadcast(shapeOf(lhs), shapeOf(rhs)), lhs); // c2
}

//===----------------------------------------------------------------------===//
// For verifiers
//===----------------------------------------------------------------------===//

LogicalResult llmir::mllm::report(Operation *op, const Status &status) {
  if (status)
    return success();
  return op->emitOpError() << status.message();
}

LogicalResult llmir::mllm::verifyPositive(Operation *op, const APFloat &value,
                                          StringRef name) {
  double number = value.convertToDouble();
  if (std::isfinite(number) && number > 0)
    return success();
  return op->emitOpError() << "'" << name << "' is " << number
                           << ", expected a finite positive number";
}

/// A shape as text, for example "172x64".
static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape) {
    text += text.empty() ? "" : "x";
    text += ShapedType::isDynamic(size) ? "?" : std::to_string(size);
  }
  return text;
}

LogicalResult llmir::mllm::verifyParameter(Operation *op,
                                           FlatSymbolRefAttr symbol,
                                           StringRef role,
                                           ArrayRef<int64_t> want,
                                           SymbolTableCollection &tables) {
  Operation *found = tables.lookupNearestSymbolFrom(op, symbol);
  auto parameter = dyn_cast_or_null<RegisterOp>(found);
  if (!parameter) {
    InFlightDiagnostic error = op->emitOpError()
                               << role << " " << symbol
                               << " is not a registered tensor of the module";
    if (found)
      error.attachNote(found->getLoc())
          << "the symbol is '" << found->getName() << "'";
    return error;
  }
  // The verifier of the register op reports malformed types.
  std::optional<ArrayRef<int64_t>> have = parameterShape(parameter.getType());
  if (!have)
    return success();
  const bool agrees = have->size() == want.size() &&
                      llvm::all_of(llvm::zip(*have, want), [](auto sizes) {
                        auto [size, wanted] = sizes;
                        return ShapedType::isDynamic(wanted) || size == wanted;
                      });
  if (agrees)
    return success();
  return (op->emitOpError()
          << role << " " << symbol << " has shape " << shapeText(*have)
          << ", but the op needs " << shapeText(want))
             .attachNote(parameter.getLoc())
         << "registered here";
}

LogicalResult llmir::mllm::detail::appendInferredTypes(
    std::optional<Location> location, StringRef opName,
    Expected<ResultTypes> inferred, SmallVectorImpl<Type> &types) {
  if (!inferred)
    return emitOptionalError(location, "'", opName, "' op ",
                             inferred.status().message());
  types.append(inferred->begin(), inferred->end());
  return success();
}

LogicalResult
llmir::mllm::detail::verifyResultTypes(Operation *op,
                                       const Expected<ResultTypes> &inferred) {
  if (!inferred)
    return op->emitOpError() << inferred.status().message();
  if (inferred->size() != op->getNumResults())
    return op->emitOpError() << "has " << op->getNumResults()
                             << " results, expected " << inferred->size();
  for (auto [index, result] : llvm::enumerate(op->getResultTypes()))
    if (!fits((*inferred)[index], result))
      return op->emitOpError() << "result #" << index << " has type " << result
                               << ", expected " << (*inferred)[index];
  return success();
}

//===----------------------------------------------------------------------===//
// Assembly of types
//===----------------------------------------------------------------------===//

ParseResult llmir::mllm::parseUnaryTypes(OpAsmParser &parser, Type &x,
                                         Type &result) {
  if (parser.parseType(x))
    return failure();
  result = x;
  return succeeded(parser.parseOptionalArrow()) ? parser.parseType(result)
                                                : success();
}

void llmir::mllm::printUnaryTypes(OpAsmPrinter &printer, Operation *, Type x,
                                  Type result) {
  printer << x;
  if (x != result)
    printer << " -> " << result;
}

ParseResult llmir::mllm::parseBinaryTypes(OpAsmParser &parser, Type &lhs,
                                          Type &rhs, Type &result) {
  if (failed(parser.parseOptionalLParen())) {
    if (parser.parseType(lhs))
      return failure();
    rhs = result = lhs;
    return success();
  }
  return failure(parser.parseType(lhs) || parser.parseComma() ||
                 parser.parseType(rhs) || parser.parseRParen() ||
                 parser.parseArrow() || parser.parseType(result));
}

void llmir::mllm::printBinaryTypes(OpAsmPrinter &printer, Operation *, Type lhs,
                                   Type rhs, Type result) {
  if (lhs == rhs && lhs == result)
    printer << lhs;
  else
    printer << "(" << lhs << ", " << rhs << ") -> " << result;
}
