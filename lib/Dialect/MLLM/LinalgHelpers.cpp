//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgHelpers.h"

#include <cmath>

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

Status llmir::mllm::checkNumber(FloatAttr number, const char *name,
                                Type element) {
  const double value = number.getValueAsDouble();
  auto fail = [&](const char *want) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "has '" << name << "' " << value << ", expected " << want;
    return shapes::shapeError(text);
  };
  if (!std::isfinite(value))
    return fail("a finite number");
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return Status::ok();
  const double half = std::ldexp(1.0, int(integer.getWidth()) - 1);
  const bool isInside = integer.getWidth() == 1
                            ? value == 0 || value == 1
                            : value >= -half && value < half;
  if (isInside && value == std::trunc(value))
    return Status::ok();
  return fail("an integer of the element type");
}

OpFoldResult llmir::mllm::ifSameType(Operation *op, Value value) {
  return value.getType() == op->getResult(0).getType() ? OpFoldResult(value)
                                                       : OpFoldResult();
}

Expected<std::vector<shapes::Range>>
llmir::mllm::makeRanges(ArrayRef<int64_t> starts, ArrayRef<int64_t> ends,
                        ArrayRef<int64_t> steps) {
  if (starts.size() != ends.size() || starts.size() != steps.size())
    return shapes::shapeError("has " + std::to_string(starts.size()) +
                              " starts, " + std::to_string(ends.size()) +
                              " ends and " + std::to_string(steps.size()) +
                              " steps, expected equal numbers");
  std::vector<shapes::Range> result;
  for (auto [start, end, step] : llvm::zip(starts, ends, steps)) {
    result.push_back({start, std::nullopt, step});
    if (!ShapedType::isDynamic(end))
      result.back().end = end;
  }
  return result;
}

ParseResult RangeLists::parseNext(OpAsmParser &parser) {
  addAll();
  for (int64_t *bound : {&starts.back(), &ends.back()}) {
    OptionalParseResult number = parser.parseOptionalInteger(*bound);
    if (number.has_value() && failed(*number))
      return failure();
    if (bound == &starts.back() && parser.parseColon())
      return failure();
  }
  return succeeded(parser.parseOptionalColon())
             ? parser.parseInteger(steps.back())
             : success();
}

void RangeLists::addAll() {
  starts.push_back(0);
  ends.push_back(ShapedType::kDynamic);
  steps.push_back(1);
}

void RangeLists::get(MLIRContext *context, DenseI64ArrayAttr &startsAttr,
                     DenseI64ArrayAttr &endsAttr,
                     DenseI64ArrayAttr &stepsAttr) const {
  startsAttr = DenseI64ArrayAttr::get(context, starts);
  endsAttr = DenseI64ArrayAttr::get(context, ends);
  stepsAttr = DenseI64ArrayAttr::get(context, steps);
}

void llmir::mllm::printRange(OpAsmPrinter &printer, int64_t start, int64_t end,
                             int64_t step) {
  const bool hasEnd = !ShapedType::isDynamic(end);
  if (start != 0 || hasEnd)
    printer << start;
  printer << ":";
  if (hasEnd)
    printer << end;
  if (step != 1)
    printer << ":" << step;
}
