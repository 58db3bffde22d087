//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes: assembly and verification.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMDialect.h"
#include "llmir/Support/IntegerLayout.h"
#include "llmir/Support/TensorFormat.h"

#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;
using shapes::DimExpr;

#include "llmir/Dialect/MLLM/MLLMAttrEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "llmir/Dialect/MLLM/MLLMAttrs.cpp.inc"

void MLLMDialect::addAttributes() {
  Dialect::addAttributes<
#define GET_ATTRDEF_LIST
#include "llmir/Dialect/MLLM/MLLMAttrs.cpp.inc"
      >();
}

shapes::Shape TensorEncodingAttr::getDims() const {
  shapes::Shape result;
  for (StringAttr size : getSizes())
    result.push_back(DimExpr::parse(size.str()).value_or(DimExpr::unknown()));
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Parses an integer or symbol and its factors.
static FailureOr<DimExpr> parseTerm(AsmParser &parser) {
  DimExpr product = 1;
  do {
    int64_t number = 0;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      if (failed(*isNumber))
        return failure();
      product = product * DimExpr(number);
      continue;
    }
    StringRef name;
    if (parser.parseOptionalKeyword(&name))
      return parser.emitError(parser.getCurrentLocation(),
                              "expected a number or a symbol in a size"),
             failure();
    product = product * DimExpr::symbol(name.str());
  } while (succeeded(parser.parseOptionalStar()));
  return product;
}

/// Parses `?` or a signed sum of terms.
static FailureOr<DimExpr> parseSize(AsmParser &parser) {
  if (succeeded(parser.parseOptionalQuestion()))
    return DimExpr::unknown();
  SMLoc where = parser.getCurrentLocation();
  bool isNegative = succeeded(parser.parseOptionalMinus());
  DimExpr sum = 0;
  do {
    FailureOr<DimExpr> term = parseTerm(parser);
    if (failed(term))
      return failure();
    sum = isNegative ? sum - *term : sum + *term;
    isNegative = succeeded(parser.parseOptionalMinus());
  } while (isNegative || succeeded(parser.parseOptionalPlus()));
  if (!sum.isKnown())
    return parser.emitError(where, "the size is not a linear combination of "
                                   "symbols with 64-bit coefficients"),
           failure();
  return sum;
}

static ParseResult parseSizes(AsmParser &parser,
                              SmallVectorImpl<StringAttr> &sizes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        FailureOr<DimExpr> size = parseSize(parser);
        if (failed(size))
          return failure();
        sizes.push_back(StringAttr::get(parser.getContext(), size->str()));
        return success();
      });
}

Attribute TensorEncodingAttr::parse(AsmParser &parser, Type) {
  SMLoc where = parser.getCurrentLocation();
  Device device = Device::CPU;
  SmallVector<StringAttr> sizes;
  if (parser.parseLess())
    return {};
  bool hasSizes = succeeded(parser.parseOptionalKeyword("dims"));
  if (!hasSizes) {
    SMLoc deviceLoc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseOptionalKeyword(&name)) {
      parser.emitError(deviceLoc) << "expected a device or 'dims'";
      return {};
    }
    std::optional<Device> named = symbolizeDevice(name);
    if (!named) {
      parser.emitError(deviceLoc) << "'" << name
                                  << "' is not a device, expected kCPU, kCUDA, "
                                     "kOpenCL, kQNN or kAscend";
      return {};
    }
    device = *named;
    hasSizes = succeeded(parser.parseOptionalComma());
    if (hasSizes && parser.parseKeyword("dims"))
      return {};
  }
  if (hasSizes && (parser.parseEqual() || parseSizes(parser, sizes)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(where); },
                    parser.getContext(), device, sizes);
}

void TensorEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getDevice() != Device::CPU)
    printer << stringifyDevice(getDevice());
  if (getDevice() != Device::CPU && !getSizes().empty())
    printer << ", ";
  if (!getSizes().empty()) {
    printer << "dims = (";
    llvm::interleaveComma(getSizes(), printer.getStream(),
                          [&](StringAttr s) { printer << s.getValue(); });
    printer << ")";
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult
TensorEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           Device device, ArrayRef<StringAttr> sizes) {
  bool hasName = false;
  for (StringAttr text : sizes) {
    std::optional<DimExpr> size = DimExpr::parse(text.str());
    if (!size || size->str() != text.getValue())
      return emitError() << "'" << text.getValue()
                         << "' is not the canonical text of a size";
    hasName |= !size->terms().empty();
  }
  // c1
  if (!hasName && !sizes.empty())
    return emitError() << "names no dynamic size; omit 'dims'";
  if (!hasName && device == Device::CPU)
    return emitError() << "is equivalent to no encoding; omit it";
  return success();
}

LogicalResult TensorEncodingAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    function_ref<InFlightDiagnostic()> emitError) const {
  shapes::Shape dims = getDims();
  if (dims.empty())
    return success();
  // c2
  if (dims.size() != shape.size())
    return emitError() << "encoding has " << dims.size()
                       << " sizes for a tensor of rank " << shape.size();
  for (auto [index, size] : llvm::enumerate(shape)) {
    // c3
    std::optional<int64_t> number = dims[index].constant();
    const bool agrees = ShapedType::isDynamic(size) ? !number : number == size;
    if (!agrees)
      return emitError() << "encoding has size #" << index << " "
                         << dims[index].str() << ", but the tensor has "
                         << (ShapedType::isDynamic(size)
                                 ? std::string("?")
                                 : std::to_string(size));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// RangeAttr
//===----------------------------------------------------------------------===//

LogicalResult RangeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t least, int64_t greatest,
                                int64_t multiple) {
  // c1
  if (least < 0 || least > greatest)
    return emitError() << "has the range " << least << " to " << greatest
                       << ", expected nonnegative bounds in ascending order";
  // c2
  if (multiple < 1)
    return emitError() << "has multiples of " << multiple
                       << ", expected at least 1";
  // c3
  if (greatest / multiple * multiple < least)
    return emitError() << "has no multiple of " << multiple << " from " << least
                       << " to " << greatest;
  return success();
}

//===----------------------------------------------------------------------===//
// QuantAttr
//===----------------------------------------------------------------------===//

static bool hasChannels(StringRef scheme) {
  return scheme.ends_with("per_channel") || scheme == "lpbq";
}

/// The file block format that a scheme names.
static std::optional<TensorFormat> blockFormat(StringRef scheme) {
  std::optional<TensorFormat> format =
      tensorFormatFromName(std::string_view(scheme.data(), scheme.size()));
  return format && isBlockFormat(*format) ? format : std::nullopt;
}

static bool hasBlocks(StringRef scheme) {
  return scheme.ends_with("per_block") || scheme == "lpbq" ||
         blockFormat(scheme);
}

LogicalResult QuantAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringRef scheme, int64_t bits, int64_t axis,
                                int64_t block) {
  static constexpr StringLiteral schemes[] = {"raw",
                                              "sym_per_tensor",
                                              "sym_per_channel",
                                              "sym_per_block",
                                              "asym_per_tensor",
                                              "asym_per_channel",
                                              "asym_per_block",
                                              "lpbq"};
  // c1
  std::optional<TensorFormat> format = blockFormat(scheme);
  if (!format && !llvm::is_contained(schemes, scheme))
    return emitError() << "'" << scheme << "' is not a scheme, expected one of "
                       << llvm::join(ArrayRef<StringLiteral>(schemes), ", ")
                       << ", or a block format";
  // c2
  const bool isRaw = scheme == "raw";
  if (isRaw ? bits != 0 : bits < 2 || bits > 8)
    return emitError() << scheme << " has " << bits << " bits, expected "
                       << (isRaw ? "none" : "2 to 8");
  // c3
  if (axis < -1 || (axis != -1 && !hasChannels(scheme)))
    return emitError() << scheme << " has axis " << axis << ", expected "
                       << (hasChannels(scheme) ? "-1 or more" : "none");
  // c4
  if (hasBlocks(scheme) ? block < 1 : block != 0)
    return emitError() << scheme << " has blocks of " << block << ", expected "
                       << (hasBlocks(scheme) ? "1 or more" : "none");
  // c5
  if (!format)
    return success();
  const int64_t values = tensorFormatInfo(*format).valuesPerBlock,
                own = IntegerFormat::ofBlocks(*format)->bits;
  if (bits != own || block != values)
    return emitError() << scheme << " has " << bits << " bits in blocks of "
                       << block << ", expected " << own << " in blocks of "
                       << values;
  return success();
}

Attribute QuantAttr::parse(AsmParser &parser, Type) {
  SMLoc where = parser.getCurrentLocation();
  StringRef scheme;
  int64_t bits = 0, axis = -1, block = 0;
  if (parser.parseLess() || parser.parseKeyword(&scheme))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc keyLoc = parser.getCurrentLocation();
    StringRef key;
    int64_t number = 0;
    if (parser.parseKeyword(&key) || parser.parseEqual() ||
        parser.parseInteger(number))
      return {};
    if (key != "bits" && key != "axis" && key != "block") {
      parser.emitError(keyLoc)
          << "'" << key << "' is not one of bits, axis, block";
      return {};
    }
    (key == "bits" ? bits : key == "axis" ? axis : block) = number;
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(where); },
                    parser.getContext(), scheme, bits, axis, block);
}

void QuantAttr::print(AsmPrinter &printer) const {
  printer << "<" << getScheme();
  if (getBits() != 0)
    printer << ", bits = " << getBits();
  if (getAxis() != -1)
    printer << ", axis = " << getAxis();
  if (getBlock() != 0)
    printer << ", block = " << getBlock();
  printer << ">";
}
