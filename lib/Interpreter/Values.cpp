//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/Values.h"
#include "Affordable.h"

#include "llmir/Dialect/Check/Check.h"
#include "llmir/Reference/Elementwise.h"
#include "llmir/Reference/Random.h"
#include "llmir/Support/IntegerLayout.h"
#include "llmir/Support/StoredBlock.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using llmir::check::CheckDialect;
using llmir::reference::ElementKind;
using llmir::reference::PagedCache;
using llmir::reference::Random;
using llmir::reference::Shape;
using llmir::reference::Tensor;

namespace llmir {

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

std::optional<ElementKind> getElementKind(Type type) {
  if (type.isF32())
    return ElementKind::F32;
  if (type.isF16())
    return ElementKind::F16;
  if (type.isBF16())
    return ElementKind::BF16;
  if (type.isIndex())
    return ElementKind::I64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  for (ElementKind kind :
       {ElementKind::I1, ElementKind::I4, ElementKind::I8, ElementKind::I16,
        ElementKind::I32, ElementKind::I64})
    if (integer.getWidth() == unsigned(reference::bitWidth(kind)))
      return kind;
  return std::nullopt;
}

reference::QuantSpec getQuantSpec(llm::QuantizedTensorType type) {
  return {int(type.getNumBits()), type.getIsSymmetric(),
          type.getIsPerChannel() ? type.getQuantAxis() : -1,
          type.getGroupSize(),
          int(type.getElementType().getIntOrFloatBitWidth())};
}

bool isAffordable(ArrayRef<int64_t> shape) {
  return reference::checkAffordable(Shape(shape.begin(), shape.end())).isOk();
}

std::string cacheTooLarge(llm::PagedKVCacheType type) {
  // Blocks are allocated as a whole, and each has some bookkeeping.
  constexpr int64_t mostBlocks = int64_t(1) << 22;
  std::string text;
  llvm::raw_string_ostream out(text);
  int64_t numbers;
  if (llvm::AddOverflow(type.getHeadDim(), type.getValueDim(), numbers) ||
      !isAffordable({type.getBlockSize(), type.getNumHeads(), numbers}))
    out << type << " has more than 2^28 elements in a block";
  else if ((type.getMaxSeqLen() - 1) / type.getBlockSize() >= mostBlocks)
    out << type << " has more than 2^22 blocks per sequence";
  return text;
}

PagedCache makeCache(llm::PagedKVCacheType type) {
  reference::CacheGeometry geometry;
  geometry.kind = *getElementKind(type.getElementType());
  geometry.layers = type.getNumLayers();
  geometry.heads = type.getNumHeads();
  geometry.headDim = type.getHeadDim();
  geometry.valueDim = type.getValueDim();
  geometry.blockSize = type.getBlockSize();
  geometry.maxSeqLen = type.getMaxSeqLen();
  geometry.valuesInKeys = type.getValuesInKeys();
  return PagedCache(geometry);
}

static double toDouble(const APFloat &value) {
  APFloat wide = value;
  bool losesInfo;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return wide.convertToDouble();
}

/// An i1 is 0 or 1, all other types are signed.
static int64_t toInteger(const APInt &value) {
  return value.getBitWidth() == 1 ? int64_t(value.getZExtValue())
                                  : value.getSExtValue();
}

std::optional<Tensor> constantValue(TypedAttr constant) {
  auto shaped = dyn_cast<RankedTensorType>(constant.getType());
  std::optional<ElementKind> kind =
      getElementKind(shaped ? shaped.getElementType() : constant.getType());
  if (!kind)
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerAttr>(constant))
    return Tensor::ofIntegers(*kind, {}, {toInteger(integer.getValue())});
  if (auto number = dyn_cast<FloatAttr>(constant))
    return Tensor(*kind, {}, {toDouble(number.getValue())});
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  if (!dense || !shaped || !isAffordable(shaped.getShape()))
    return std::nullopt;
  Tensor result(*kind,
                Shape(shaped.getShape().begin(), shaped.getShape().end()));
  int64_t next = 0;
  if (isFloat(*kind))
    for (const APFloat &value : dense.getValues<APFloat>())
      result[next++] = toDouble(value);
  else
    for (const APInt &value : dense.getValues<APInt>())
      result[next++] = toInteger(value);
  return result;
}

DenseElementsAttr makeConstant(const Tensor &tensor, RankedTensorType type) {
  Type element = type.getElementType();
  SmallVector<Attribute> values;
  for (int64_t i = 0; i < tensor.size(); ++i)
    values.push_back(isFloat(tensor.kind)
                         ? Attribute(FloatAttr::get(element, tensor[i]))
                         : IntegerAttr::get(element, tensor.integer(i)));
  return DenseElementsAttr::get(type, values);
}

//===----------------------------------------------------------------------===//
// Quantized values
//===----------------------------------------------------------------------===//

Tensor QuantizedValue::decode() const {
  Tensor result(ElementKind::F32, shape);
  const int64_t columns = shape.back();
  const int64_t rowBytes = *tensorRowBytes(*format, columns);
  std::vector<float> row(static_cast<size_t>(columns));
  for (int64_t r = 0; r < result.rows(); ++r) {
    decodeTensorRow(*format, bytes.data() + r * rowBytes, columns, row.data());
    std::copy(row.begin(), row.end(), result.row(r));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {

using ErrorFn = llvm::function_ref<InFlightDiagnostic()>;

} // namespace

/// Fills a float tensor from `check.range` or [-1, 1).
static LogicalResult fillFloats(ErrorFn error, Tensor &tensor, Attribute range,
                                Random &random) {
  auto bounds = dyn_cast_or_null<DenseF64ArrayAttr>(range);
  if (range && !bounds)
    return error() << "floats need a check.range of f64, not " << range;
  const double least = bounds ? bounds[0] : -1, end = bounds ? bounds[1] : 1;
  for (double &value : tensor.floats())
    value = roundTo(tensor.kind, random.real(least, end));
  return success();
}

/// Fills an integer tensor from `check.range`; narrow types default to their
/// whole range.
static LogicalResult fillIntegers(ErrorFn error, Tensor &tensor,
                                  Attribute range, Random &random) {
  auto bounds = dyn_cast_or_null<DenseI64ArrayAttr>(range);
  const int bits = bitWidth(tensor.kind);
  if (!bounds && (range || bits > 8))
    return error() << elementKindName(tensor.kind)
                   << " elements need a check.range of i64 or check.values";
  const int64_t least = bounds      ? bounds[0]
                        : bits == 1 ? 0
                                    : -(int64_t(1) << (bits - 1));
  const int64_t end = bounds ? bounds[1] : least + (int64_t(1) << bits);
  // An i1 is a truth value, all other types are signed.
  const int64_t lowest = bits == 1 ? 0 : llvm::minIntN(bits);
  const int64_t highest = bits == 1 ? 1 : llvm::maxIntN(bits);
  if (least < lowest || end - 1 > highest)
    return error() << "check.range has values from " << least << " to "
                   << end - 1 << ", and " << elementKindName(tensor.kind)
                   << " holds those from " << lowest << " to " << highest;
  for (int64_t &value : tensor.integers())
    value = random.integer(least, end);
  return success();
}

static FailureOr<InterpreterValue> makeTensor(ErrorFn error, Type type,
                                              DictionaryAttr attributes,
                                              Random &random) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  std::optional<ElementKind> kind =
      getElementKind(shaped ? shaped.getElementType() : type);
  if (!kind)
    return error() << "values of type " << type << " are not supported",
           failure();
  Shape shape;
  if (shaped)
    shape.assign(shaped.getShape().begin(), shaped.getShape().end());
  if (auto sizes =
          attributes.getAs<DenseI64ArrayAttr>(CheckDialect::getShapeAttrName()))
    shape.assign(sizes.asArrayRef().begin(), sizes.asArrayRef().end());
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return error() << type
                   << " has dynamic sizes, which check.shape must specify",
           failure();
  if (!isAffordable(shape))
    return error() << type << " has more than 2^28 elements", failure();
  Tensor tensor(*kind, shape);
  Attribute range = attributes.get(CheckDialect::getRangeAttrName());
  LogicalResult filled = isFloat(*kind)
                             ? fillFloats(error, tensor, range, random)
                             : fillIntegers(error, tensor, range, random);
  if (failed(filled))
    return failure();
  return InterpreterValue(std::move(tensor));
}

/// Random integers in the range of the type; with a format, blocks of random
/// integers with scales (and minima) between 1/256 and 1/16, reduced according
/// to sub-scales.
static QuantizedValue makeQuantized(llm::QuantizedTensorType type,
                                    Random &random) {
  QuantizedValue result;
  result.shape.assign(type.getShape().begin(), type.getShape().end());
  if (type.getFormat().empty()) {
    reference::QuantSpec spec = getQuantSpec(type);
    result.numbers = Tensor(spec.storedKind(), result.shape);
    for (int64_t &value : result.numbers.integers())
      value =
          random.integer(int64_t(spec.least()), int64_t(spec.greatest()) + 1);
    return result;
  }
  result.format = tensorFormatFromName(type.getFormat());
  const TensorFormatInfo &facts = tensorFormatInfo(*result.format);
  const int64_t blocks =
      reference::numElements(result.shape) / facts.valuesPerBlock;
  const bool hasSubScales =
      IntegerFormat::ofBlocks(*result.format)->superGroup > 0;
  const double unit = hasSubScales ? 1.0 / 64 : 1.0;
  result.bytes.resize(blocks * facts.bytesPerBlock);
  for (int64_t i = 0; i < blocks; ++i) {
    uint8_t *block = result.bytes.data() + i * facts.bytesPerBlock;
    for (int64_t byte = 0; byte < facts.bytesPerBlock; ++byte)
      block[byte] = uint8_t(random.next() >> 32);
    const auto scale = float(random.real(1.0 / 256, 1.0 / 16) * unit);
    float min = 0;
    if (IntegerFormat::ofBlocks(*result.format)->minima)
      min = float(random.real(1.0 / 256, 1.0 / 16) * unit);
    setBlockScales(*result.format, block, scale, min);
  }
  return result;
}

FailureOr<InterpreterValue> makeArgument(ErrorFn error, Type type,
                                         DictionaryAttr attributes,
                                         uint64_t seed) {
  if (!attributes)
    attributes = DictionaryAttr::get(type.getContext());
  Random random(seed);
  if (auto constant =
          attributes.getAs<TypedAttr>(CheckDialect::getValuesAttrName())) {
    if (std::optional<Tensor> value = constantValue(constant))
      return InterpreterValue(*value);
    return error() << "check.values of type " << constant.getType()
                   << " cannot be evaluated",
           failure();
  }
  if (auto cache = dyn_cast<llm::PagedKVCacheType>(type)) {
    if (std::string cause = cacheTooLarge(cache); !cause.empty())
      return error() << cause, failure();
    return InterpreterValue(makeCache(cache));
  }
  if (auto quantized = dyn_cast<llm::QuantizedTensorType>(type)) {
    if (!isAffordable(quantized.getShape()))
      return error() << type << " has more than 2^28 elements", failure();
    return InterpreterValue(makeQuantized(quantized, random));
  }
  if (auto sharded = dyn_cast<llm::ShardedTensorType>(type))
    type = sharded.getShardType();
  return makeTensor(error, type, attributes, random);
}

/// The type of the caller's value: for a slice along `dim`, the whole.
static Type wholeType(Type type, int64_t dim, int64_t numRanks) {
  auto scaled = [&](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> result(shape);
    if (dim < int64_t(result.size()) && !ShapedType::isDynamic(result[dim]))
      result[dim] *= numRanks;
    return result;
  };
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(scaled(tensor.getShape()));
  auto quantized = dyn_cast<llm::QuantizedTensorType>(type);
  if (!quantized)
    return type;
  return llm::QuantizedTensorType::get(
      type.getContext(), quantized.getElementType(),
      scaled(quantized.getShape()), quantized.getIsSymmetric(),
      quantized.getIsPerChannel(), quantized.getQuantAxis(),
      quantized.getGroupSize(), quantized.getNumBits(), quantized.getFormat());
}

FailureOr<std::vector<InterpreterValue>>
makeArguments(FunctionOpInterface function, uint64_t seed) {
  std::vector<InterpreterValue> result;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto error = [&] {
      return function.emitError() << "argument " << i << ": ";
    };
    Type type = function.getArgumentTypes()[i];
    auto ranks = function->getAttrOfType<IntegerAttr>(
        llm::LLMDialect::getNumRanksAttrName());
    auto dim = function.getArgAttrOfType<IntegerAttr>(
        i, llm::LLMDialect::getShardDimAttrName());
    if (ranks && dim)
      type = wholeType(type, dim.getInt(), ranks.getInt());
    FailureOr<InterpreterValue> value = makeArgument(
        error, type, function.getArgAttrDict(i), seed * 1000003 + i);
    if (failed(value))
      return failure();
    result.push_back(std::move(*value));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Printing and comparison
//===----------------------------------------------------------------------===//

static std::string toString(const QuantizedValue &value) {
  if (value.format)
    return std::string(tensorFormatInfo(*value.format).name) + " " +
           reference::toString(value.decode());
  return "quantized " + reference::toString(value.numbers);
}

static std::string toString(const PagedCache &cache) {
  std::string text = "cache of " + std::to_string(cache.numBlocks()) +
                     " blocks with sequences {";
  bool isFirst = true;
  for (int64_t id : cache.sequenceIds()) {
    text += (isFirst ? "" : ", ") + std::to_string(id) + ": " +
            std::to_string(cache.sequenceLength(id));
    isFirst = false;
  }
  return text + "}";
}

std::string toString(const InterpreterValue &value) {
  if (auto *tensor = std::get_if<Tensor>(&value))
    return reference::toString(*tensor);
  if (auto *quantized = std::get_if<QuantizedValue>(&value))
    return toString(*quantized);
  return toString(std::get<PagedCache>(value));
}

bool sameBits(const InterpreterValue &a, const InterpreterValue &b) {
  if (a.index() != b.index())
    return false;
  if (auto *tensor = std::get_if<Tensor>(&a))
    return reference::sameBits(*tensor, std::get<Tensor>(b));
  if (auto *quantized = std::get_if<QuantizedValue>(&a)) {
    const auto &other = std::get<QuantizedValue>(b);
    return quantized->format == other.format &&
           quantized->bytes == other.bytes && quantized->shape == other.shape &&
           reference::sameBits(quantized->numbers, other.numbers);
  }
  return std::get<PagedCache>(a).sameAs(std::get<PagedCache>(b));
}

} // namespace llmir
