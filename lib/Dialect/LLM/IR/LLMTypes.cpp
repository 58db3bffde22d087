//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types: assembly and verifiers. Labels (c1, …) are those of LLMTypes.td.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/IR/LLM.h"

#include "llmir/Support/IntegerLayout.h"
#include "llmir/Support/TensorFormat.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::llm;

/// After the other parameters of a cache, `, valueDim = V` if V differs from
/// headDim, or `, valuesInKeys = V`.
static ParseResult parseValueDim(AsmParser &parser, int64_t &valueDim,
                                 bool &valuesInKeys, int64_t headDim) {
  valueDim = headDim;
  valuesInKeys = false;
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("valuesInKeys")))
    valuesInKeys = true;
  else if (failed(parser.parseKeyword("valueDim")))
    return failure();
  return failure(parser.parseEqual() || parser.parseInteger(valueDim));
}

static void printValueDim(AsmPrinter &printer, int64_t valueDim,
                          bool valuesInKeys, int64_t headDim) {
  if (valuesInKeys)
    printer << ", valuesInKeys = " << valueDim;
  else if (valueDim != headDim)
    printer << ", valueDim = " << valueDim;
}

#define GET_TYPEDEF_CLASSES
#include "mlir/Dialect/LLM/IR/LLMTypes.cpp.inc"

void LLMDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "mlir/Dialect/LLM/IR/LLMTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// PagedKVCacheType
//===----------------------------------------------------------------------===//

LogicalResult
PagedKVCacheType::verify(function_ref<InFlightDiagnostic()> emitError,
                         Type elementType, int64_t numLayers, int64_t numHeads,
                         int64_t headDim, int64_t blockSize, int64_t maxSeqLen,
                         int64_t valueDim, bool valuesInKeys) {
  if (!elementType.isF16() && !elementType.isBF16() && !elementType.isF32() &&
      !elementType.isSignlessInteger(8)) // c1
    return emitError()
           << "cache element type must be f16, bf16, f32 or i8, not "
           << elementType;

  const std::pair<StringRef, int64_t> sizes[] = {
      {"numLayers", numLayers}, {"numHeads", numHeads},
      {"headDim", headDim},     {"blockSize", blockSize},
      {"maxSeqLen", maxSeqLen}, {"valueDim", valueDim}};
  for (auto [name, size] : sizes)
    if (size <= 0) // c2
      return emitError() << "cache " << name << " must be positive, not "
                         << size;

  if (!llvm::isPowerOf2_64(blockSize)) // c3
    return emitError() << "cache blockSize must be a power of two, not "
                       << blockSize;
  // The layout interleaves as many tokens as fill four bytes.
  int64_t least = 32 / elementType.getIntOrFloatBitWidth();
  if (blockSize < least) // c3
    return emitError() << "cache blockSize must be at least " << least
                       << " for elements of type " << elementType << ", not "
                       << blockSize;
  if (valuesInKeys && valueDim > headDim) // c4
    return emitError() << "cache has values of " << valueDim
                       << " elements in keys of " << headDim;
  return success();
}

//===----------------------------------------------------------------------===//
// QuantizedTensorType
//===----------------------------------------------------------------------===//

QuantizedTensorType QuantizedTensorType::getForFormat(MLIRContext *context,
                                                      ArrayRef<int64_t> shape,
                                                      StringRef format) {
  std::optional<llmir::TensorFormat> known = llmir::tensorFormatFromName(
      std::string_view(format.data(), format.size()));
  if (!known || !llmir::isBlockFormat(*known))
    return {};
  const llmir::TensorFormatInfo &info = llmir::tensorFormatInfo(*known);
  llmir::IntegerFormat integers = *llmir::IntegerFormat::ofBlocks(*known);
  return get(context, IntegerType::get(context, integers.bits), shape,
             /*isSymmetric=*/!integers.minima, /*isPerChannel=*/false,
             /*quantAxis=*/-1, info.valuesPerBlock, integers.bits, format);
}

/// Rules c8 and c9.
static LogicalResult verifyFormat(function_ref<InFlightDiagnostic()> emitError,
                                  StringRef format, bool isSymmetric,
                                  int64_t groupSize, int64_t numBits) {
  std::optional<llmir::TensorFormat> known = llmir::tensorFormatFromName(
      std::string_view(format.data(), format.size()));
  if (!known)
    return emitError() << "unknown quantization format '" << format << "'";
  if (!llmir::isBlockFormat(*known))
    return emitError() << "format '" << format
                       << "' is not quantized: use a ranked tensor";

  const llmir::TensorFormatInfo &info = llmir::tensorFormatInfo(*known);
  if (groupSize != info.valuesPerBlock)
    return emitError() << "format '" << format << "' has groups of "
                       << info.valuesPerBlock << ", but groupSize is "
                       << groupSize;
  llmir::IntegerFormat integers = *llmir::IntegerFormat::ofBlocks(*known);
  if (numBits != integers.bits)
    return emitError() << "format '" << format << "' has " << integers.bits
                       << " bits, but numBits is " << numBits;
  if (isSymmetric == integers.minima)
    return emitError() << "format '" << format << "' is "
                       << (integers.minima ? "asymmetric" : "symmetric");
  return success();
}

LogicalResult QuantizedTensorType::verify(
    function_ref<InFlightDiagnostic()> emitError, Type elementType,
    ArrayRef<int64_t> shape, bool isSymmetric, bool isPerChannel,
    int64_t quantAxis, int64_t groupSize, int64_t numBits, StringRef format) {
  auto is = [&](unsigned bits) { return elementType.isSignlessInteger(bits); };
  if (!is(4) && !is(8) && !is(16) &&
      (format.empty() || !(is(2) || is(3) || is(5) || is(6)))) // c1
    return emitError() << "quantized element type must be i4, i8 or i16, or, "
                          "in a block format, i2, i3, i5 or i6, not "
                       << elementType;
  int64_t width = elementType.getIntOrFloatBitWidth();
  if (!format.empty() && numBits != width) // c2
    return emitError() << "numBits is " << numBits << ", but the element type "
                       << elementType << " of a block format has " << width
                       << " bits";
  if (numBits < 2 || numBits > width) // c2
    return emitError() << "numBits must be between 2 and " << width
                       << ", the width of element type " << elementType
                       << ", not " << numBits;

  if (shape.empty()) // c3
    return emitError() << "quantized tensor must have at least one dimension";
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size <= 0) // c3
      return emitError() << "size of dimension " << dim
                         << " must be positive, not " << size;

  int64_t rank = shape.size();
  if (quantAxis < -1 || quantAxis >= rank) // c4
    return emitError() << "quantAxis " << quantAxis
                       << " is neither -1 nor a dimension of a tensor of rank "
                       << rank;
  if (isPerChannel && quantAxis == -1) // c5
    return emitError() << "a tensor quantized per channel needs a quantAxis";

  if (groupSize != -1 && groupSize <= 0) // c6
    return emitError() << "groupSize must be -1 or positive, not " << groupSize;
  int64_t groupedDim = rank > 1 && quantAxis == rank - 1 ? 0 : rank - 1;
  int64_t grouped = shape[groupedDim];
  bool hasGroups = groupSize > 0 && (groupSize < grouped || !format.empty());
  if (hasGroups && grouped % groupSize != 0) // c7
    return emitError() << "groupSize " << groupSize
                       << " does not divide dimension " << groupedDim
                       << " of size " << grouped;

  if (!format.empty())
    return verifyFormat(emitError, format, isSymmetric, groupSize, numBits);
  return success();
}

SmallVector<int64_t> QuantizedTensorType::getScaleShape() const {
  if (hasGroups()) {
    SmallVector<int64_t> shape(getShape());
    shape[getGroupedDim()] /= getGroupSize();
    return shape;
  }
  if (getIsPerChannel())
    return {getShape()[getQuantAxis()]};
  return {1};
}

/// Parses `true|false` or one of two words.
static ParseResult parseFlag(AsmParser &parser, StringRef trueWord,
                             StringRef falseWord, bool &result) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  result = word == "true" || word == trueWord;
  if (result || word == "false" || word == falseWord)
    return success();
  return parser.emitError(loc) << "expected true, false, " << trueWord << " or "
                               << falseWord << ", not '" << word << "'";
}

/// Parses `[4096, 4096]` or `[4096 x 4096]`.
static ParseResult parseSizes(AsmParser &parser,
                              SmallVectorImpl<int64_t> &shape) {
  if (parser.parseLSquare())
    return failure();
  if (succeeded(parser.parseOptionalRSquare()))
    return success();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseInteger(shape.emplace_back()))
      return failure();
  return parser.parseRSquare();
}

Type QuantizedTensorType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  Type elementType;
  SmallVector<int64_t> shape;
  bool isSymmetric = false, isPerChannel = false;
  int64_t quantAxis = 0, groupSize = 0, numBits = 0;
  std::string format;
  if (parser.parseLess() || parser.parseType(elementType) ||
      parser.parseComma() || parseSizes(parser, shape) || parser.parseComma() ||
      parseFlag(parser, "symmetric", "asymmetric", isSymmetric) ||
      parser.parseComma() ||
      parseFlag(parser, "per_channel", "per_tensor", isPerChannel) ||
      parser.parseComma() || parser.parseInteger(quantAxis) ||
      parser.parseComma() || parser.parseInteger(groupSize) ||
      parser.parseComma() || parser.parseInteger(numBits))
    return {};
  if (succeeded(parser.parseOptionalComma()))
    if (parser.parseKeyword("format") || parser.parseEqual() ||
        parser.parseKeywordOrString(&format))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<QuantizedTensorType>(
      loc, parser.getContext(), elementType, ArrayRef<int64_t>(shape),
      isSymmetric, isPerChannel, quantAxis, groupSize, numBits,
      StringRef(format));
}

void QuantizedTensorType::print(AsmPrinter &printer) const {
  auto flag = [](bool value) { return value ? "true" : "false"; };
  printer << "<" << getElementType() << ", [";
  llvm::interleaveComma(getShape(), printer);
  printer << "], " << flag(getIsSymmetric()) << ", " << flag(getIsPerChannel())
          << ", " << getQuantAxis() << ", " << getGroupSize() << ", "
          << getNumBits();
  if (!getFormat().empty()) {
    printer << ", format = ";
    printer.printKeywordOrString(getFormat());
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// ShardedTensorType
//===----------------------------------------------------------------------===//

LogicalResult
ShardedTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                          RankedTensorType originalType, int64_t shardDim,
                          int64_t numShards, int64_t shardIndex) {
  if (shardDim < 0 || shardDim >= originalType.getRank()) // c1
    return emitError() << "shardDim " << shardDim << " is not a dimension of "
                       << originalType;
  if (numShards <= 0) // c2
    return emitError() << "numShards must be positive, not " << numShards;
  if (shardIndex < 0 || shardIndex >= numShards) // c3
    return emitError() << "shardIndex " << shardIndex
                       << " is not between 0 and " << numShards - 1;
  int64_t size = originalType.getDimSize(shardDim);
  if (ShapedType::isDynamic(size)) // c4
    return emitError() << "dimension " << shardDim << " of " << originalType
                       << " must be static to be divided into " << numShards
                       << " shards";
  if (size % numShards != 0) // c4
    return emitError() << "numShards " << numShards
                       << " does not divide dimension " << shardDim
                       << " of size " << size;
  return success();
}

RankedTensorType ShardedTensorType::getShardType() const {
  SmallVector<int64_t> shape(getOriginalType().getShape());
  shape[getShardDim()] /= getNumShards();
  return getOriginalType().clone(shape);
}

ArrayRef<int64_t> mlir::llm::getWeightShape(Type weight) {
  if (auto quantized = dyn_cast<QuantizedTensorType>(weight))
    return quantized.getShape();
  return cast<RankedTensorType>(weight).getShape();
}
