//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers: GPTQ, AWQ, compressed-tensors and 8 bits of bitsandbytes.
//
//===----------------------------------------------------------------------===//

#include "ConfigChecks.h"
#include "QuantizedParts.h"

#include <algorithm>
#include <cstring>

using namespace llmir;

/// Sets the group of a row from the number of groups.
static Status setGroup(QuantizedParts &parts, std::string_view suffix,
                       GroupedIntegers &integers, int64_t groups) {
  if (groups < 1 || integers.columns % groups != 0)
    return parts.failure(StatusCode::InvalidFile, suffix,
                         "has scales for " + std::to_string(groups) +
                             " groups of rows of " +
                             std::to_string(integers.columns) + " elements");
  integers.group = integers.columns / groups;
  int64_t stated;
  LLMIR_ASSIGN_OR_RETURN(stated,
                         parts.options().integerOr("group_size", integers.group,
                                                   -1, int64_t(1) << 30));
  if (stated < 1 || stated > integers.columns)
    stated = integers.columns;
  if (stated != integers.group)
    return parts.failure(StatusCode::Unsupported, suffix,
                         "has scales for groups of " +
                             std::to_string(integers.group) +
                             " elements, but 'quantization_config.group_size' "
                             "is " +
                             std::to_string(stated));
  return Status::ok();
}

static void addIntegers(QuantizedParts &parts, GroupedIntegers integers,
                        TensorFormat scaleFormat, const std::string &method) {
  const TensorFormat format = integers.format(scaleFormat);
  const std::string name = method + " int" + std::to_string(integers.bits);
  const std::vector<int64_t> shape = {integers.rows, integers.columns};
  parts.add(".weight", shape, format, name,
            assembleIntegers(std::move(integers), format));
}

/// Sets the zero point if all of the packed ones are equal, so that bytes need
/// not be rounded.
static void mergeZeroPoints(GroupedIntegers &integers) {
  const int64_t groups = integers.columns / integers.group;
  const int64_t first = integers.zeroPointAt(0, 0);
  for (int64_t row = 0; row < integers.rows; ++row)
    for (int64_t g = 0; g < groups; ++g)
      if (integers.zeroPointAt(row, g) != first)
        return;
  integers.zeroPoint = first;
  integers.zeroPoints.reset();
}

/// GPTQ's groups of the columns. They are not consecutive if the columns were
/// quantized in the order of their activations.
static Status readGroupOrder(QuantizedParts &parts, GroupedIntegers &integers) {
  if (!parts.find(".g_idx"))
    return Status::ok();
  const CheckpointTensor *order;
  LLMIR_ASSIGN_OR_RETURN(order,
                         parts.part(".g_idx", {"I32"}, {integers.columns}));
  std::vector<int32_t> groupOf(static_cast<size_t>(integers.columns));
  std::memcpy(groupOf.data(), order->bytes.data(), order->bytes.size());
  bool isConsecutive = true;
  for (int64_t k = 0; k < integers.columns; ++k) {
    const int32_t group = groupOf[static_cast<size_t>(k)];
    if (group < 0 || group >= integers.columns / integers.group)
      return parts.failure(
          StatusCode::InvalidFile, ".g_idx",
          "puts column " + std::to_string(k) + " in group " +
              std::to_string(group) + "; there are " +
              std::to_string(integers.columns / integers.group));
    isConsecutive = isConsecutive && group == k / integers.group;
  }
  if (!isConsecutive)
    integers.groupOf = std::move(groupOf);
  return Status::ok();
}

/// qweight i32 [columns * bits / 32, rows], scales [groups, rows], qzeros i32
/// [groups, rows * bits / 32]. Zero points are stored minus 1, unless
/// checkpoint_format is "gptq_v2".
Status llmir::readGPTQ(QuantizedParts &parts) {
  GroupedIntegers integers;
  LLMIR_ASSIGN_OR_RETURN(integers.bits, parts.options().integer("bits", 2, 8));
  const CheckpointTensor *weight, *scales, *zeros;
  LLMIR_ASSIGN_OR_RETURN(weight, parts.part(".qweight", {"I32"}, {-1, -1}));
  const int64_t words = weight->shape[0], rows = weight->shape[1];
  const int64_t bits = integers.bits;
  LLMIR_ASSIGN_OR_RETURN(scales, parts.floats(".scales", {-1, rows}));
  if (words * 32 % bits != 0 || rows * bits % 32 != 0)
    return parts.failure(StatusCode::InvalidFile, ".qweight",
                         "of shape " + weight->shapeText() +
                             " does not hold integers of " +
                             std::to_string(bits) + " bits");
  const int64_t groups = scales->shape[0];
  LLMIR_ASSIGN_OR_RETURN(
      zeros, parts.part(".qzeros", {"I32"}, {groups, rows * bits / 32}));
  integers.rows = rows;
  integers.columns = words * 32 / bits;
  LLMIR_RETURN_IF_ERROR(setGroup(parts, ".scales", integers, groups));
  integers.packed = {weight->bytes.data(), bits, /*wordStride=*/rows,
                     /*lineStride=*/1};
  integers.scales = FloatPart(*scales);
  integers.scaleRow = 1;
  integers.scaleGroup = rows;
  integers.zeroPoints = PackedPart{zeros->bytes.data(), bits, 1,
                                   /*lineStride=*/rows * bits / 32};
  std::string layout;
  LLMIR_ASSIGN_OR_RETURN(layout,
                         parts.options().stringOr("checkpoint_format", "gptq"));
  integers.zeroPoint = layout == "gptq_v2" ? 0 : 1;
  mergeZeroPoints(integers);
  LLMIR_RETURN_IF_ERROR(readGroupOrder(parts, integers));
  addIntegers(parts, std::move(integers), *scales->format, "GPTQ");
  return Status::ok();
}

/// qweight i32 [columns, rows / 8], qzeros i32 [groups, rows / 8], scales
/// [groups, rows].
Status llmir::readAWQ(QuantizedParts &parts) {
  const CheckpointTensor *weight, *scales, *zeros;
  LLMIR_ASSIGN_OR_RETURN(weight, parts.part(".qweight", {"I32"}, {-1, -1}));
  GroupedIntegers integers;
  const int64_t words = weight->shape[1];
  integers.columns = weight->shape[0];
  integers.rows = words * 8;
  LLMIR_ASSIGN_OR_RETURN(scales, parts.floats(".scales", {-1, integers.rows}));
  const int64_t groups = scales->shape[0];
  LLMIR_ASSIGN_OR_RETURN(zeros,
                         parts.part(".qzeros", {"I32"}, {groups, words}));
  LLMIR_RETURN_IF_ERROR(setGroup(parts, ".scales", integers, groups));
  integers.isPackedAlongRow = false;
  integers.packed = {weight->bytes.data(), /*bits=*/4, 1, /*lineStride=*/words,
                     /*isInterleaved=*/true};
  integers.scales = FloatPart(*scales);
  integers.scaleRow = 1;
  integers.scaleGroup = integers.rows;
  integers.zeroPoints = PackedPart{zeros->bytes.data(), 4, 1, words, true};
  addIntegers(parts, std::move(integers), *scales->format, "AWQ");
  return Status::ok();
}

/// Bits of integers of which a row of `columns` fills `words` words; 0 if there
/// are none such.
static int64_t bitsOfWords(int64_t columns, int64_t words) {
  for (int64_t bits : {2, 4, 8}) {
    const int64_t perWord = 32 / bits;
    if (words == (columns + perWord - 1) / perWord)
      return bits;
  }
  return 0;
}

/// weight_packed i32 [rows, words], each integer plus 2^(bits - 1);
/// weight_shape [2]; weight_scale [rows, groups]; weight_zero_point i32
/// [rows * bits / 32, groups], packed along the rows.
Status llmir::readPackedIntegers(QuantizedParts &parts) {
  const CheckpointTensor *packed, *shape, *scales;
  LLMIR_ASSIGN_OR_RETURN(packed,
                         parts.part(".weight_packed", {"I32"}, {-1, -1}));
  LLMIR_ASSIGN_OR_RETURN(shape, parts.part(".weight_shape", {"I64"}, {2}));
  int64_t sizes[2];
  std::memcpy(sizes, shape->bytes.data(), sizeof sizes);
  GroupedIntegers integers;
  integers.rows = packed->shape[0];
  integers.columns = sizes[1];
  const int64_t words = packed->shape[1];
  integers.bits =
      sizes[1] < 1 || sizes[1] > words * 16 ? 0 : bitsOfWords(sizes[1], words);
  if (sizes[0] != integers.rows || integers.rows < 1 || integers.bits == 0)
    return parts.failure(
        StatusCode::InvalidFile, ".weight_shape",
        "is [" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) +
            "], but weight_packed has shape " + packed->shapeText());
  LLMIR_ASSIGN_OR_RETURN(scales,
                         parts.floats(".weight_scale", {integers.rows, -1}));
  const int64_t groups = scales->shape[1];
  LLMIR_RETURN_IF_ERROR(setGroup(parts, ".weight_scale", integers, groups));
  const int64_t bits = integers.bits;
  integers.packed = {packed->bytes.data(), bits, 1, words};
  integers.scales = FloatPart(*scales);
  integers.scaleRow = groups;
  integers.scaleGroup = 1;
  integers.zeroPoint = int64_t(1) << (bits - 1);
  if (parts.find(".weight_zero_point")) {
    const CheckpointTensor *zeros;
    const int64_t perWord = 32 / bits;
    LLMIR_ASSIGN_OR_RETURN(
        zeros, parts.part(".weight_zero_point", {"I32"},
                          {(integers.rows + perWord - 1) / perWord, groups}));
    integers.zeroPoints = PackedPart{zeros->bytes.data(), bits,
                                     /*wordStride=*/groups, /*lineStride=*/1};
    integers.zeroPoint = 0;
  }
  if (parts.find(".weight_g_idx"))
    return parts.failure(StatusCode::Unsupported, ".weight_g_idx",
                         "gives an order of the columns, which LLMIR does not "
                         "read in compressed-tensors");
  addIntegers(parts, std::move(integers), *scales->format,
              "compressed-tensors");
  return Status::ok();
}

/// weight i8 [rows, columns], SCB [rows]: value = q * SCB / 127.
Status llmir::readBitsAndBytes8(QuantizedParts &parts) {
  const CheckpointTensor *weight, *scales;
  LLMIR_ASSIGN_OR_RETURN(weight, parts.part(".weight", {"I8"}, {-1, -1}));
  GroupedIntegers integers;
  integers.bits = 8;
  integers.rows = weight->shape[0];
  integers.columns = integers.group = weight->shape[1];
  LLMIR_ASSIGN_OR_RETURN(scales, parts.floats(".SCB", {integers.rows}));
  const CheckpointTensor *layout = parts.find(".weight_format");
  if (layout && layout->bytes.size() == 1 && layout->bytes[0] != 0)
    return parts.failure(StatusCode::Unsupported, ".weight_format",
                         "gives an order of bytes for one kind of GPU");
  integers.signedBytes = weight->bytes.data();
  integers.scales = FloatPart(*scales);
  integers.scaleRow = 1;
  integers.scaleFactor = 1.0f / 127;
  addIntegers(parts, std::move(integers), *scales->format, "bitsandbytes");
  return Status::ok();
}

Status llmir::readSignedBytes(QuantizedParts &parts, const ScaleGrid &grid) {
  const CheckpointTensor *weight;
  LLMIR_ASSIGN_OR_RETURN(weight, parts.part(".weight", {"I8"}, {-1, -1}));
  GroupedIntegers integers;
  integers.bits = 8;
  integers.rows = weight->shape[0];
  integers.columns = weight->shape[1];
  if (grid.blockRows != 1 && grid.blockRows != integers.rows)
    return parts.failure(StatusCode::Unsupported, ".weight",
                         "has scales for blocks of rows");
  integers.group = grid.blockColumns;
  integers.signedBytes = weight->bytes.data();
  integers.scales = grid.scales;
  integers.scaleRow = grid.blockRows == 1 ? grid.scaleRow : 0;
  integers.scaleGroup = 1;
  if (const CheckpointTensor *zeros = parts.find(".weight_zero_point")) {
    LLMIR_ASSIGN_OR_RETURN(
        zeros, parts.part(".weight_zero_point", {"I8"}, grid.shape));
    integers.signedZeroPoints = zeros->bytes.data();
  }
  addIntegers(parts, std::move(integers), grid.format, "compressed-tensors");
  return Status::ok();
}
