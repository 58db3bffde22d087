//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionInterface.h"
#include "llmir/Packing/FromProgram.h"

#include "llmir/Dialect/MLLM/ProgramAttrs.h"
#include "llmir/Support/SmallFloat.h"

#include <cstring>

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir {

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

/// Writes an element of an unaligned buffer of T.
template <typename T> static void store(uint8_t *place, T number) {
  std::memcpy(place, &number, sizeof(T));
}

template <typename T> static T load(const uint8_t *place) {
  T number;
  std::memcpy(&number, place, sizeof(T));
  return number;
}

int64_t FunctionPort::placeOf(int64_t i) const {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  return offset + (i / columns * stride + i % columns) * bytes;
}

void FunctionPort::fill(uint8_t *arena, const reference::Tensor &values) const {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  std::memset(arena + offset, 0, static_cast<size_t>(rows * stride * bytes));
  for (int64_t i = 0; i < values.size(); ++i) {
    uint8_t *place = arena + placeOf(i);
    if (element.isF32())
      store(place, static_cast<float>(values[i]));
    else if (element.isInteger(64))
      store(place, values.integer(i));
    else
      store(place, static_cast<int32_t>(values.integer(i)));
  }
}

reference::Tensor FunctionPort::read(const uint8_t *arena,
                                     reference::ElementKind kind,
                                     reference::Shape shape) const {
  reference::Tensor result(kind, std::move(shape));
  for (int64_t i = 0; i < result.size(); ++i) {
    const uint8_t *place = arena + placeOf(i);
    if (element.isF32())
      result[i] = load<float>(place);
    else if (element.isInteger(64))
      result[i] = load<int64_t>(place);
    else
      result[i] = load<int32_t>(place);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Reading the program
//===----------------------------------------------------------------------===//

static FunctionPort makePort(StringRef name, Value buffer, int64_t columns) {
  auto type = cast<MemRefType>(buffer.getType());
  auto place = buffer.getDefiningOp<BufferOp>();
  return {name.str(),
          static_cast<int64_t>(place.getOffset().value_or(0)),
          type.getDimSize(0),
          type.getDimSize(1),
          columns,
          type.getElementType()};
}

FunctionInterface FunctionInterface::read(ModuleOp program) {
  FunctionInterface result;
  program.walk([&](Operation *op) {
    if (auto input = dyn_cast<InputOp>(op)) {
      result.inputs.push_back(
          makePort(input.getSource(), input.getBuffer(), input.getColumns()));
    } else if (auto output = dyn_cast<OutputOp>(op)) {
      result.outputs.push_back(
          makePort(output.getName(), output.getBuffer(), output.getColumns()));
    } else if (auto constant = dyn_cast<ConstantOp>(op)) {
      if (auto value = constantValue(cast<TypedAttr>(constant.getValue())))
        result.constants[constant.getSymName()] = std::move(*value);
    } else if (auto weight = dyn_cast<WeightOp>(op)) {
      PackJob job = makePackJob(weight, /*source=*/0);
      StringRef format = weight.getFormat();
      result.weights.push_back(job);
      result.weightFormats.push_back(
          tensorFormatFromName(std::string_view(format.data(), format.size())));
    } else if (auto fragment = dyn_cast<FragmentOp>(op)) {
      if (auto bytes = fragment->getAttrOfType<IntegerAttr>(kArenaBytesAttr))
        result.arenaBytes = bytes.getInt();
      if (auto bytes = fragment->getAttrOfType<IntegerAttr>(kWeightBytesAttr))
        result.weightBytes = bytes.getInt();
      if (auto cache = fragment->getAttrOfType<TypeAttr>(kCacheAttr))
        result.cache = cast<mlir::llm::PagedKVCacheType>(cache.getValue());
      if (auto ranks = fragment->getAttrOfType<IntegerAttr>(kNumRanksAttr))
        result.numRanks = ranks.getInt();
    }
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The tensor's elements as a checkpoint stores them.
static std::vector<uint8_t> storedBytes(const reference::Tensor &tensor,
                                        TensorFormat format) {
  size_t width = format == TensorFormat::F32 ? 4 : 2;
  std::vector<uint8_t> bytes(static_cast<size_t>(tensor.size()) * width);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    float value = static_cast<float>(tensor[i]);
    uint16_t half =
        format == TensorFormat::F16 ? floatToF16(value) : floatToBf16(value);
    std::memcpy(bytes.data() + static_cast<size_t>(i) * width,
                width == 4 ? static_cast<const void *>(&value) : &half, width);
  }
  return bytes;
}

Status packValue(const InterpreterValue &value,
                 std::optional<TensorFormat> format, const PackJob &job,
                 Span<uint8_t> out) {
  std::vector<uint8_t> bytes;
  if (auto *quantized = std::get_if<QuantizedValue>(&value)) {
    bytes = quantized->bytes;
    format = quantized->format;
  } else if (auto *tensor = std::get_if<reference::Tensor>(&value);
             tensor && format) {
    bytes = storedBytes(*tensor, *format);
  }
  CheckpointTensor stored;
  stored.name = job.source;
  stored.format = format;
  stored.shape = {job.rows};
  if (!job.isVector)
    stored.shape = {job.matrices * job.rows, job.columns};
  stored.bytes = bytes;
  return packTensor(stored, job, out);
}

} // namespace llmir
