//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/Check/Check.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <cmath>

using namespace mlir;
using namespace llmir::check;

#include "llmir/Dialect/Check/CheckDialect.cpp.inc"

#define GET_OP_CLASSES
#include "llmir/Dialect/Check/CheckOps.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/Check/CheckOps.cpp.inc"
      >();
}

LogicalResult ExpectCloseOp::verify() {
  double bound = getNmse().convertToDouble();
  if (!(bound >= 0) || !std::isfinite(bound)) // c1
    return emitOpError() << "nmse must be finite and not negative, not "
                         << getNmseAttr();
  return success();
}

/// `check.range`: two numbers in ascending order.
static LogicalResult verifyRange(Operation *op, Attribute range) {
  auto isRange = [](auto list) {
    return list.size() == 2 && list[0] < list[1];
  };
  if (auto list = dyn_cast<DenseI64ArrayAttr>(range))
    if (isRange(list.asArrayRef()))
      return success();
  if (auto list = dyn_cast<DenseF64ArrayAttr>(range))
    if (isRange(list.asArrayRef()))
      return success();
  return op->emitError() << "check.range must be two i64 or f64 numbers in "
                            "ascending order, not "
                         << range;
}

/// True if `size` is valid for a dimension of `declared`: the type may be a
/// rank's slice, so that the caller's tensor is a multiple of it.
static bool isSizeOf(int64_t declared, int64_t given) {
  if (ShapedType::isDynamic(declared) || declared == given)
    return given >= 0;
  return declared > 0 && given > 0 && given % declared == 0;
}

/// `check.shape`: sizes compatible with the type.
static LogicalResult verifyShape(Operation *op, Attribute shape, Type type) {
  auto sizes = dyn_cast<DenseI64ArrayAttr>(shape);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!sizes || !tensor || sizes.size() != tensor.getRank())
    return op->emitError() << "check.shape must be one i64 size for each "
                              "dimension of "
                           << type << ", not " << shape;
  for (auto [given, size] : llvm::zip(sizes.asArrayRef(), tensor.getShape()))
    if (!isSizeOf(size, given))
      return op->emitError()
             << "check.shape has a size of " << given << " for " << type;
  return success();
}

/// `check.values`: a constant of the type.
static LogicalResult verifyValues(Operation *op, Attribute values, Type type) {
  auto typed = dyn_cast<TypedAttr>(values);
  if (!typed)
    return op->emitError() << "check.values must be a constant, not " << values;
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto given = dyn_cast<RankedTensorType>(typed.getType());
  bool agrees = typed.getType() == type;
  if (tensor && given)
    agrees = tensor.getElementType() == given.getElementType() &&
             tensor.getRank() == given.getRank() &&
             llvm::all_of(llvm::zip(tensor.getShape(), given.getShape()),
                          [](auto sizes) {
                            auto [size, actual] = sizes;
                            return isSizeOf(size, actual);
                          });
  if (!agrees)
    return op->emitError() << "check.values has type " << typed.getType()
                           << ", but the argument has type " << type;
  return success();
}

/// Verifies an attribute of this dialect on an argument or parameter of that
/// type.
static LogicalResult verifyAttribute(Operation *op, Type type,
                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == CheckDialect::getRangeAttrName())
    return verifyRange(op, attribute.getValue());
  if (name == CheckDialect::getShapeAttrName())
    return verifyShape(op, attribute.getValue(), type);
  if (name == CheckDialect::getValuesAttrName())
    return verifyValues(op, attribute.getValue(), type);
  return op->emitError() << "unknown attribute " << attribute.getName()
                         << " of the check dialect";
}

static LogicalResult reportPlace(Operation *op, NamedAttribute attribute) {
  return op->emitError() << attribute.getName()
                         << " is only valid on function arguments";
}

LogicalResult CheckDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  // Model parameters are symbols with a type.
  auto type = op->getAttrOfType<TypeAttr>("type");
  if (!type || !isa<SymbolOpInterface>(op))
    return reportPlace(op, attribute);
  return verifyAttribute(op, type.getValue(), attribute);
}

LogicalResult CheckDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned argument,
                                                     NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return reportPlace(op, attribute);
  return verifyAttribute(op, function.getArgumentTypes()[argument], attribute);
}
