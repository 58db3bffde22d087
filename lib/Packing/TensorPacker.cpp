//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorPacker.h"

#include "llmir/Support/Quantization.h"
#include "llmir/Support/StoredBlock.h"

#include <algorithm>
#include <cstring>

namespace llmir {

/// The stored row of row `row`. Files for rotation of adjacent pairs store row
/// j of a head at 2j and row j + D/2 at 2j + 1.
static int64_t storedRow(const PackJob &job, int64_t row) {
  if (job.unpermuteHeads != 0) {
    int64_t headDim = job.rows / job.unpermuteHeads;
    int64_t head = row / headDim, r = row % headDim, half = headDim / 2;
    row = head * headDim + (r < half ? 2 * r : 2 * (r - half) + 1);
  }
  if (job.groupRows != 0)
    row += row / job.groupRows * (job.groupStride - job.groupRows);
  return job.firstRow + row;
}

/// Rows of a stored matrix, entries of a stored vector.
static int64_t storedRowsOf(const PackJob &job) {
  if (job.storedRows != 0)
    return job.storedRows;
  return job.slicesColumns ? job.columns : job.rows;
}

/// Elements of a stored row; of a matrix that is transposed as a whole, those
/// of a packed one.
static int64_t storedColumnsOf(const PackJob &job) {
  return job.slicesColumns ? job.rows : job.columns;
}

Expected<TensorPacker> TensorPacker::create(const CheckpointTensor &tensor,
                                            const PackJob &job) {
  Expected<TensorFormat> format = tensor.usableFormat();
  if (!format)
    return format.takeStatus();
  const int64_t rows = storedRowsOf(job);
  std::optional<int64_t> rowBytes =
      tensorRowBytes(*format, job.isVector ? rows : storedColumnsOf(job));
  int64_t storedRows = job.isVector ? 1 : job.matrices * rows;
  const bool hasRows =
      !tensor.rows ||
      (!job.isVector && storedColumnsOf(job) > 0 && !tensor.shape.empty() &&
       tensor.shape.back() == storedColumnsOf(job));
  const uint64_t present =
      tensor.rows && hasRows && rowBytes
          ? static_cast<uint64_t>(tensor.numElements() / storedColumnsOf(job) *
                                  *rowBytes)
          : tensor.bytes.size();
  if (!rowBytes || !hasRows || static_cast<uint64_t>(rows) > present ||
      present != static_cast<uint64_t>(*rowBytes * storedRows))
    return Status(StatusCode::InvalidFile,
                  "tensor '" + job.source + "' has " + std::to_string(present) +
                      " bytes, which does not match its shape " +
                      tensor.shapeText(),
                  "the file is damaged: download it again");
  if ((job.isTransposed && (isBlockFormat(*format) || tensor.rows)) ||
      (job.slicesColumns && isBlockFormat(*format)))
    return Status(StatusCode::Unsupported,
                  "tensor '" + job.source + "' is stored as columns of " +
                      tensor.storageName + ", which cannot be transposed",
                  "use a checkpoint in F32, F16 or BF16");
  TensorPacker packer(tensor, *format, job);
  if (packer.tileAt(packer.numTiles()) != job.bytes)
    return Status(StatusCode::Internal,
                  "tensor '" + job.source + "' packs to " +
                      std::to_string(packer.tileAt(packer.numTiles())) +
                      " bytes, but its program allocates " +
                      std::to_string(job.bytes));
  return packer;
}

TensorPacker::TensorPacker(const CheckpointTensor &tensor, TensorFormat format,
                           const PackJob &job)
    : job(job), format(format), stored(tensor), storedRows(storedRowsOf(job)),
      rowBytes(
          *tensorRowBytes(format, job.isVector ? storedRows : job.columns)),
      storedRowBytes(*tensorRowBytes(
          format, job.isVector ? storedRows : storedColumnsOf(job))),
      wordBytes(format == TensorFormat::F64 ? rowBytes / 2 : rowBytes) {
  layout = {job.integers.value_or(IntegerFormat()), job.rows, job.columns};
  if (job.isVector) {
    method = Method::Vector;
    tileBytes = matrixBytes = packedVectorBytes(job.rows);
  } else if (!job.integers) {
    method = Method::Words;
    PackedMatrixLayout plain{format == TensorFormat::F64 ? TensorFormat::F32
                                                         : format,
                             job.rows, job.columns};
    tileBytes = plain.tileBytes();
    matrixBytes = plain.bytes();
  } else {
    method = IntegerFormat::ofBlocks(format) == job.integers ? Method::Blocks
                                                             : Method::Quantize;
    tileBytes = layout.tileBytes();
    matrixBytes = layout.bytes();
  }
}

int64_t TensorPacker::tileAt(int64_t tile) const {
  if (job.isVector || numTiles() == 0)
    return tile * tileBytes;
  return tile / tilesPerMatrix() * matrixBytes +
         tile % tilesPerMatrix() * tileBytes;
}

Span<const uint8_t> TensorPacker::storedBytes(int64_t first,
                                              int64_t end) const {
  if (stored.rows)
    return {};
  if (job.isVector)
    return stored.bytes;
  // There, every tile reads from every stored row, so rows can be released only
  // at the end.
  if (job.isTransposed)
    return stored.bytes.subspan(0, end == numTiles() ? stored.bytes.size() : 0);
  const auto size = static_cast<int64_t>(stored.bytes.size());
  // The same for the matrices of a stack.
  if (job.slicesColumns) {
    auto bytesBefore = [&](int64_t tile) {
      return std::min(tile / tilesPerMatrix() * storedRows * storedRowBytes,
                      size);
    };
    const int64_t begin = bytesBefore(first);
    return stored.bytes.subspan(begin, bytesBefore(end) - begin);
  }
  auto rowsBefore = [&](int64_t tile) {
    int64_t row = std::min(tile % tilesPerMatrix() * kTileRows, job.rows);
    if (job.groupRows != 0)
      row += row / job.groupRows * (job.groupStride - job.groupRows);
    return tile / tilesPerMatrix() * storedRows +
           std::min(job.firstRow + row, storedRows);
  };
  // The end of the last matrix of a slice is the start of a next one.
  const int64_t begin = std::min(rowsBefore(first) * rowBytes, size);
  return stored.bytes.subspan(
      begin, std::min(rowsBefore(end) * rowBytes, size) - begin);
}

int64_t TensorPacker::storedRowAt(int64_t tile, int64_t r) const {
  int64_t matrix = tile / tilesPerMatrix();
  int64_t row = tile % tilesPerMatrix() * kTileRows + r;
  return matrix * storedRows + storedRow(job, row);
}

void TensorPacker::copyColumn(int64_t tile, int64_t r, uint8_t *out) const {
  const int64_t bytes = rowBytes / job.columns;
  const int64_t matrix = tile / tilesPerMatrix();
  const int64_t column = storedRowAt(tile, r) - matrix * storedRows;
  const uint8_t *from = stored.bytes.data() +
                        (matrix * storedRows * job.columns + column) * bytes;
  for (int64_t k = 0; k < job.columns; ++k)
    std::memcpy(out + k * bytes, from + k * storedRows * bytes, bytes);
}

void TensorPacker::collectColumns(int64_t tile, int64_t rows,
                                  uint8_t *out) const {
  const int64_t bytes = storedRowBytes / job.rows;
  const int64_t firstRow = tile / tilesPerMatrix() * storedRows + job.firstRow;
  const int64_t firstColumn = tile % tilesPerMatrix() * kTileRows;
  std::vector<uint8_t> scratch(stored.rows ? storedRowBytes : 0);
  for (int64_t k = 0; k < job.columns; ++k) {
    const uint8_t *row =
        stored.row(firstRow + k, storedRowBytes, scratch.data());
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(out + r * rowBytes + k * bytes,
                  row + (firstColumn + r) * bytes, bytes);
  }
}

const uint8_t *TensorPacker::rowAt(int64_t tile, int64_t r,
                                   uint8_t *scratch) const {
  const uint8_t *row = scratch;
  if (job.isTransposed)
    copyColumn(tile, r, scratch);
  else if (!job.slicesColumns) // There, the tile's rows are in `scratch`.
    row = stored.row(storedRowAt(tile, r), rowBytes, scratch);
  if (format != TensorFormat::F64 || method != Method::Words)
    return row;
  std::vector<float> values(job.columns);
  decodeTensorRow(format, row, job.columns, values.data());
  std::memcpy(scratch, values.data(), wordBytes);
  return scratch;
}

int64_t TensorPacker::rowsOf(int64_t tile) const {
  return std::min(kTileRows, job.rows - tile % tilesPerMatrix() * kTileRows);
}

void TensorPacker::packTile(int64_t tile, uint8_t *out) const {
  // Handles partial tiles of rows and of K, and the padding to whole lines.
  std::memset(out, 0, tileAt(tile + 1) - tileAt(tile));
  if (method == Method::Vector)
    return packVector(out);
  const int64_t rows = rowsOf(tile);
  std::vector<uint8_t> scratch(mayCopyRows() ? rows * rowBytes : 0);
  Rows row{};
  if (job.slicesColumns)
    collectColumns(tile, rows, scratch.data());
  for (int64_t r = 0; r < rows; ++r)
    row[r] =
        rowAt(tile, r, scratch.data() + (mayCopyRows() ? r * rowBytes : 0));
  switch (method) {
  case Method::Vector:
  case Method::Words:
    return packWords(row, rows, out);
  case Method::Blocks:
    return packBlocks(row, rows, out);
  case Method::Quantize:
    return quantize(row, rows, out);
  }
}

void TensorPacker::packVector(uint8_t *out) const {
  std::vector<float> values(storedRows);
  decodeTensorRow(format, stored.bytes.data(), storedRows, values.data());
  for (int64_t i = 0; i < job.rows; ++i)
    std::memcpy(out + 4 * i, &values[storedRow(job, i)], 4);
}

/// Word by word, the last one possibly partial. The rows of a line are written
/// together.
void TensorPacker::packWords(const Rows &row, int64_t rows,
                             uint8_t *out) const {
  const int64_t whole = wordBytes / 4 * 4;
  if (rows == kTileRows)
    for (int64_t at = 0; at < whole; at += 4, out += kLineBytes)
      for (int64_t r = 0; r < kTileRows; ++r)
        std::memcpy(out + r * 4, row[r] + at, 4);
  else
    for (int64_t at = 0; at < whole; at += 4, out += kLineBytes)
      for (int64_t r = 0; r < rows; ++r)
        std::memcpy(out + r * 4, row[r] + at, 4);
  for (int64_t r = 0; r < rows && whole < wordBytes; ++r)
    std::memcpy(out + r * 4, row[r] + whole, wordBytes - whole);
}

void TensorPacker::packBlocks(const Rows &row, int64_t rows,
                              uint8_t *out) const {
  const TensorFormatInfo &info = tensorFormatInfo(format);
  const IntegerFormat &integers = layout.format;
  const int64_t values = info.valuesPerBlock;
  const int64_t bundles = values / layout.bundleValues();
  const int64_t groups = layout.numSubScales(values);
  StoredBlock block;
  for (int64_t b = 0; b < job.columns / values; ++b) {
    for (int64_t r = 0; r < rows; ++r) {
      readStoredBlock(format, row[r] + b * info.bytesPerBlock, block);
      packStored(integers.bits, block.q, bundles, out + r * 4);
      for (int64_t g = 0; g < groups; ++g) {
        uint8_t &subScale = out[layout.subScalesAt(values) + kTileRows * g + r];
        subScale = block.subScales[g];
        if (integers.pairedSubScales)
          subScale |= static_cast<uint8_t>(block.subMins[g] << 4);
        else if (integers.minima)
          out[layout.subMinsAt(values) + kTileRows * g + r] = block.subMins[g];
      }
      const int64_t size = scaleFormatBytes(integers.scales);
      std::memcpy(out + layout.scalesAt(values) + r * size, &block.d, size);
      if (integers.minima)
        std::memcpy(out + layout.minsAt(values) + r * size, &block.dmin, size);
    }
    out += layout.blockBytes(values);
  }
}

void TensorPacker::quantize(const Rows &row, int64_t rows, uint8_t *out) const {
  std::vector<float> values(job.columns);
  for (int64_t r = 0; r < rows; ++r) {
    decodeTensorRow(format, row[r], job.columns, values.data());
    quantizeAndPackRow(layout, r, values.data(), out);
  }
}

} // namespace llmir
