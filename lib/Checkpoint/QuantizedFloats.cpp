//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floats of few bits: FP8, four bits of bitsandbytes, MXFP4.
//
//===----------------------------------------------------------------------===//

#include "ConfigChecks.h"
#include "QuantizedParts.h"

#include "llmir/Support/PackedLayout.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <cstring>

using namespace llmir;

//===----------------------------------------------------------------------===//
// FP8
//===----------------------------------------------------------------------===//

static bool isF8(const CheckpointTensor &tensor) {
  return tensor.storageName == "F8_E4M3" || tensor.storageName == "F8_E5M2";
}

/// Rows and columns of a block with one scale; 128 x 128 is DeepSeek's.
static Expected<std::array<int64_t, 2>> blockSize(const QuantizedParts &parts) {
  const Json *size = parts.options().find("weight_block_size");
  if (!size)
    return std::array<int64_t, 2>{128, 128};
  std::array<int64_t, 2> block{};
  if (!size->is_array() || size->size() != 2)
    return parts.options().unexpected("weight_block_size", "two numbers");
  for (size_t i = 0; i < 2; ++i) {
    if (!(*size)[i].is_number_integer() || (*size)[i].get<int64_t>() < 1 ||
        (*size)[i].get<int64_t>() > (int64_t(1) << 30))
      return parts.options().unexpected("weight_block_size",
                                        "numbers from 1 up");
    block[i] = (*size)[i].get<int64_t>();
  }
  return block;
}

/// The blocks to which the scales of a matrix [rows, columns] belong.
static Expected<ScaleGrid> readScales(QuantizedParts &parts,
                                      std::string_view suffix, int64_t rows,
                                      int64_t columns) {
  ScaleGrid grid;
  grid.shape = parts.find(suffix)->shape;
  const CheckpointTensor *scales;
  LLMIR_ASSIGN_OR_RETURN(scales, parts.floats(suffix, grid.shape));
  grid.scales = FloatPart(*scales);
  grid.format = *scales->format;
  const std::vector<int64_t> &shape = grid.shape;
  if (scales->numElements() == 1) {
    grid.blockRows = rows;
    grid.blockColumns = columns;
    return grid;
  }
  if (shape.size() == 1 ||
      (shape.size() == 2 && shape[1] == 1 && shape[0] == rows)) {
    grid.blockColumns = columns;
    grid.scaleRow = 1;
    if (shape[0] == rows)
      return grid;
  } else if (shape.size() == 2 && shape[0] == rows && shape[1] > 0 &&
             columns % shape[1] == 0) {
    grid.blockColumns = columns / shape[1];
    grid.scaleRow = shape[1];
    return grid;
  } else if (shape.size() == 2) {
    std::array<int64_t, 2> block{};
    LLMIR_ASSIGN_OR_RETURN(block, blockSize(parts));
    grid.blockRows = block[0];
    grid.blockColumns = block[1];
    grid.scaleRow = shape[1];
    if (shape[0] == ceilDiv(rows, block[0]) &&
        shape[1] == ceilDiv(columns, block[1]))
      return grid;
  }
  return parts.failure(StatusCode::InvalidFile, suffix,
                       "has shape " + scales->shapeText() +
                           ", which does not match a weight of shape [" +
                           std::to_string(rows) + ", " +
                           std::to_string(columns) + "]");
}

static Status readFloatBytes(QuantizedParts &parts, const ScaleGrid &grid) {
  const CheckpointTensor *weight;
  LLMIR_ASSIGN_OR_RETURN(
      weight, parts.part(".weight", {"F8_E4M3", "F8_E5M2"}, {-1, -1}));
  ScaledBytes matrix;
  matrix.columns = weight->shape[1];
  matrix.bytes = weight->bytes.data();
  matrix.values = valuesOfF8(weight->storageName == "F8_E5M2");
  matrix.scales = grid.scales;
  matrix.blockRows = grid.blockRows;
  matrix.blockColumns = grid.blockColumns;
  matrix.scaleRow = grid.scaleRow;
  parts.add(".weight", weight->shape, TensorFormat::BF16, weight->storageName,
            assembleBytes(matrix));
  return Status::ok();
}

Status llmir::readScaledMatrix(QuantizedParts &parts) {
  const std::string_view suffix =
      parts.find(".weight_scale_inv") ? ".weight_scale_inv" : ".weight_scale";
  const CheckpointTensor *weight = parts.find(".weight");
  if (parts.find(".weight_packed")) { // The scale has been read with it.
    if (parts.hasMatrix(".weight"))
      return Status::ok();
    return parts.failure(StatusCode::Unsupported, ".weight_packed",
                         "is packed in a way that LLMIR does not read");
  }
  if (!weight)
    return parts.failure(StatusCode::NotFound, ".weight", "is missing");
  if (weight->shape.size() != 2 || weight->numElements() == 0)
    return parts.failure(StatusCode::Unsupported, ".weight",
                         "of shape " + weight->shapeText() +
                             " has scales, but is not a matrix");
  ScaleGrid grid;
  LLMIR_ASSIGN_OR_RETURN(
      grid, readScales(parts, suffix, weight->shape[0], weight->shape[1]));
  if (isF8(*weight))
    return readFloatBytes(parts, grid);
  return readSignedBytes(parts, grid);
}

Status llmir::readUnscaledBytes(QuantizedParts &parts, bool mayLackScale) {
  static constexpr std::string_view suffix = ".weight";
  for (const CheckpointTensor &tensor : parts.tensors()) {
    const std::string &name = tensor.name;
    if (!isF8(tensor) || tensor.shape.size() != 2 || parts.isUsed(name) ||
        !endsWith(name, suffix))
      continue;
    parts.setBase(name.substr(0, name.size() - suffix.size()));
    if (!mayLackScale)
      return parts.failure(StatusCode::NotFound, ".weight_scale", "is missing");
    for (std::string_view scale : {".weight_scale", ".weight_scale_inv"})
      if (parts.find(scale))
        return parts.failure(StatusCode::Unsupported, scale,
                             "scales a matrix, but config.json has no "
                             "'quantization_config' that says how");
    ScaleGrid one;
    one.blockRows = tensor.shape[0];
    one.blockColumns = tensor.shape[1];
    LLMIR_RETURN_IF_ERROR(readFloatBytes(parts, one));
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// bitsandbytes
//===----------------------------------------------------------------------===//

/// The scales of blocks, which can be bytes that are indexes of a table, with
/// scales of their own.
static Expected<std::vector<float>> readBlockScales(QuantizedParts &parts,
                                                    const JsonReader &state,
                                                    int64_t blocks) {
  const CheckpointTensor *scales;
  LLMIR_ASSIGN_OR_RETURN(scales,
                         parts.part(".weight.absmax", {"F32", "U8"}, {blocks}));
  std::vector<float> values(static_cast<size_t>(blocks));
  if (scales->storageName == "F32") {
    std::memcpy(values.data(), scales->bytes.data(), scales->bytes.size());
    return values;
  }
  int64_t nestedBlock;
  LLMIR_ASSIGN_OR_RETURN(
      nestedBlock, state.integer("nested_blocksize", 1, int64_t(1) << 30));
  double offset;
  LLMIR_ASSIGN_OR_RETURN(offset, state.number("nested_offset"));
  const CheckpointTensor *nested, *map;
  LLMIR_ASSIGN_OR_RETURN(nested, parts.part(".weight.nested_absmax", {"F32"},
                                            {ceilDiv(blocks, nestedBlock)}));
  LLMIR_ASSIGN_OR_RETURN(
      map, parts.part(".weight.nested_quant_map", {"F32"}, {256}));
  const FloatPart table(*map), factors(*nested);
  for (int64_t b = 0; b < blocks; ++b)
    values[static_cast<size_t>(b)] =
        table.at(scales->bytes[static_cast<size_t>(b)]) *
            factors.at(b / nestedBlock) +
        static_cast<float>(offset);
  return values;
}

/// weight u8 [rows * columns / 2, 1], quant_map [16], absmax for each block,
/// and a JSON object with block size, shape and type.
Status llmir::readBitsAndBytes4(QuantizedParts &parts) {
  std::string_view kind = ".weight.quant_state.bitsandbytes__nf4";
  if (!parts.find(kind))
    kind = ".weight.quant_state.bitsandbytes__fp4";
  const CheckpointTensor *text;
  LLMIR_ASSIGN_OR_RETURN(text, parts.part(kind, {"U8"}, {-1}));
  Expected<Json> json = parseJson(
      {reinterpret_cast<const char *>(text->bytes.data()), text->bytes.size()},
      text->name, {/*maxBytes=*/1 << 16, /*maxDepth=*/8});
  if (!json)
    return json.takeStatus();
  Expected<JsonReader> state = JsonReader::of(*json, text->name);
  if (!state)
    return state.takeStatus();

  const Json *shape = state->find("shape");
  std::vector<int64_t> sizes;
  if (shape && shape->is_array())
    for (const Json &size : *shape)
      sizes.push_back(size.is_number_integer() ? size.get<int64_t>() : 0);
  const bool isMatrix = sizes.size() == 2 && sizes[0] > 0 && sizes[1] > 0 &&
                        sizes[0] < (int64_t(1) << 30) &&
                        sizes[1] < (int64_t(1) << 30) &&
                        sizes[0] * sizes[1] % 2 == 0;
  if (!isMatrix)
    return state->unexpected("shape", "the rows and columns of a matrix");
  TableNibbles matrix;
  LLMIR_ASSIGN_OR_RETURN(matrix.block,
                         state->integer("blocksize", 1, int64_t(1) << 30));
  const int64_t count = sizes[0] * sizes[1];
  const CheckpointTensor *weight, *table;
  LLMIR_ASSIGN_OR_RETURN(weight, parts.part(".weight", {"U8"}, {count / 2, 1}));
  LLMIR_ASSIGN_OR_RETURN(table, parts.part(".weight.quant_map", {"F32"}, {16}));
  LLMIR_ASSIGN_OR_RETURN(
      matrix.scales,
      readBlockScales(parts, *state, ceilDiv(count, matrix.block)));
  std::string type;
  LLMIR_ASSIGN_OR_RETURN(type, state->string("dtype"));
  if (type != "float16" && type != "float32" && type != "bfloat16")
    return state->unexpected("dtype", "float16, bfloat16 or float32");
  matrix.format = type == "float16"   ? TensorFormat::F16
                  : type == "float32" ? TensorFormat::F32
                                      : TensorFormat::BF16;
  matrix.columns = sizes[1];
  matrix.bytes = weight->bytes.data();
  std::memcpy(matrix.table.data(), table->bytes.data(), table->bytes.size());
  const TensorFormat format = matrix.format;
  parts.add(".weight", sizes, format, "bitsandbytes 4-bit",
            assembleNibbles(std::move(matrix)));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// MXFP4
//===----------------------------------------------------------------------===//

/// NAME_blocks u8 [matrices, rows, columns / 32, 16], NAME_scales u8
/// [matrices, rows, columns / 32].
Status llmir::readMXFP4(QuantizedParts &parts) {
  const CheckpointTensor *blocks, *scales;
  LLMIR_ASSIGN_OR_RETURN(blocks,
                         parts.part("_blocks", {"U8"}, {-1, -1, -1, 16}));
  std::vector<int64_t> shape(blocks->shape.begin(), blocks->shape.end() - 1);
  LLMIR_ASSIGN_OR_RETURN(scales, parts.part("_scales", {"U8"}, shape));
  const int64_t columns = shape[2] * 32;
  shape[2] = columns;
  parts.add("", shape, TensorFormat::MXFP4, "MXFP4",
            assembleMXFP4(blocks->bytes.data(), scales->bytes.data(), columns));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

Status llmir::checkOptions(std::string_view method, const JsonReader &options) {
  if (method == "awq") {
    std::string version;
    LLMIR_ASSIGN_OR_RETURN(version, options.stringOr("version", "gemm"));
    if (version != "gemm" && version != "GEMM")
      return options.failure(StatusCode::Unsupported, "version",
                             "is \"" + printable(version) +
                                 "\"; LLMIR reads the layout \"gemm\"");
    Expected<int64_t> bits = options.integerOr("bits", 4, 4, 4);
    return bits ? Status::ok() : bits.takeStatus();
  }
  if (method != "gptq")
    return Status::ok();
  int64_t bits;
  LLMIR_ASSIGN_OR_RETURN(bits, options.integer("bits", 2, 8));
  std::string layout;
  LLMIR_ASSIGN_OR_RETURN(layout, options.stringOr("checkpoint_format", "gptq"));
  if (layout != "gptq" && layout != "gptq_v2")
    return options.failure(StatusCode::Unsupported, "checkpoint_format",
                           "is \"" + printable(layout) +
                               "\"; LLMIR reads gptq and gptq_v2");
  if (bits > 4 && bits < 8)
    return options.failure(StatusCode::Unsupported, "bits",
                           "is " + std::to_string(bits) +
                               "; LLMIR reads 2, 3, 4 and 8");
  return Status::ok();
}
