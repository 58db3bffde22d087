//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Pipelines/PackWeights.h"

#include "llmir/Support/Quantization.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <thread>

namespace llmir {

/// The stored row that holds true row `row`. Files for rotation of adjacent
/// pairs store true row j of a head at 2j and true row j + D/2 at 2j + 1.
static int64_t storedRow(const PackJob &job, int64_t row) {
  if (job.unpermuteHeads == 0)
    return row;
  int64_t headDim = job.rows / job.unpermuteHeads;
  int64_t head = row / headDim, r = row % headDim, half = headDim / 2;
  return head * headDim + (r < half ? 2 * r : 2 * (r - half) + 1);
}

/// Q4_0 stores value j in the low and value j + 16 in the high nibbles; the
/// packed words want values 8w + i low and 8w + 4 + i high.
static void repackNibbles(const uint8_t *stored, uint8_t *words) {
  std::array<uint8_t, 32> values;
  for (int j = 0; j < 16; ++j) {
    values[j] = stored[j] & 15;
    values[j + 16] = stored[j] >> 4;
  }
  for (int word = 0; word < 4; ++word)
    for (int i = 0; i < 4; ++i)
      words[4 * word + i] = static_cast<uint8_t>(
          values[8 * word + i] | (values[8 * word + 4 + i] << 4));
}

namespace {
/// Packs the tiles of one matrix, or of several.
class MatrixPacker {
public:
  MatrixPacker(const CheckpointTensor &tensor, TensorFormat format,
               const PackJob &job, uint8_t *out)
      : job(job), layout{format, job.rows, job.columns},
        rowBytes(*tensorRowBytes(format, job.columns)),
        stored(tensor.bytes.data()), out(out) {}

  /// Of all matrices.
  int64_t numTiles() const { return job.matrices * layout.numTiles(); }

  void packTile(int64_t number) {
    int64_t matrix = number / layout.numTiles();
    int64_t tile = number % layout.numTiles();
    const uint8_t *source = stored + matrix * job.rows * rowBytes;
    uint8_t *tileOut =
        out + matrix * layout.bytes() + tile * layout.tileBytes();
    int64_t rows = std::min(kTileRows, job.rows - tile * kTileRows);
    for (int64_t r = 0; r < rows; ++r) {
      const uint8_t *row =
          source + storedRow(job, tile * kTileRows + r) * rowBytes;
      if (layout.hasBlocks())
        packBlocks(row, r, tileOut);
      else
        packWords(row, r, tileOut);
    }
  }

private:
  /// Plain formats: word after word, the last one possibly cut short.
  void packWords(const uint8_t *row, int64_t r, uint8_t *tileOut) {
    for (int64_t at = 0; at < rowBytes; at += 4)
      std::memcpy(tileOut + at / 4 * kLineBytes + r * 4, row + at,
                  std::min<int64_t>(4, rowBytes - at));
  }

  /// Block formats: the f16 scale stands before the values in the file and
  /// after the block's lines here.
  void packBlocks(const uint8_t *row, int64_t r, uint8_t *tileOut) {
    int64_t storedBytes = tensorFormatInfo(layout.format).bytesPerBlock;
    int64_t lineBytes = layout.linesPerBlock() * kLineBytes;
    for (int64_t b = 0; b < layout.blocksPerTile(); ++b) {
      const uint8_t *block = row + b * storedBytes;
      uint8_t *blockOut = tileOut + b * layout.blockBytes();
      std::array<uint8_t, 32> words;
      if (layout.format == TensorFormat::Q4_0)
        repackNibbles(block + 2, words.data());
      else
        std::memcpy(words.data(), block + 2, 32);
      for (int64_t line = 0; line < layout.linesPerBlock(); ++line)
        std::memcpy(blockOut + line * kLineBytes + r * 4,
                    words.data() + line * 4, 4);
      std::memcpy(blockOut + lineBytes + r * 2, block, 2);
    }
  }

  const PackJob &job;
  PackedMatrixLayout layout;
  int64_t rowBytes;
  const uint8_t *stored;
  uint8_t *out;
};
} // namespace

/// Quantizes and packs the rows of one tile.
static void quantizeTile(const CheckpointTensor &tensor, TensorFormat format,
                         const PackJob &job, int64_t tile, uint8_t *out) {
  IntegerMatrixLayout layout{*job.integers, job.rows, job.columns};
  int64_t rowBytes = *tensorRowBytes(format, job.columns);
  std::vector<float> values(job.columns);
  int64_t end = std::min(job.rows, (tile + 1) * kTileRows);
  for (int64_t row = tile * kTileRows; row < end; ++row) {
    decodeTensorRow(format,
                    tensor.bytes.data() + storedRow(job, row) * rowBytes,
                    job.columns, values.data());
    quantizeAndPackRow(layout, row, values.data(), out);
  }
}

/// Calls body(i) for i in [0, count) on all cores, in ranges; on fewer where no
/// more threads can be had.
static void parallelFor(int64_t count,
                        const std::function<void(int64_t)> &body) {
  int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  int64_t workers = std::min(cores, count / 64 + 1);
  auto range = [&](int64_t worker) {
    for (int64_t i = worker * count / workers;
         i < (worker + 1) * count / workers; ++i)
      body(i);
  };
  std::vector<std::thread> threads;
  int64_t started = 1; // This thread takes the first range.
  try {
    for (; started < workers; ++started)
      threads.emplace_back(range, started);
  } catch (const std::system_error &) {
    // What was not started is done here.
  }
  range(0);
  for (int64_t worker = started; worker < workers; ++worker)
    range(worker);
  for (std::thread &thread : threads)
    thread.join();
}

Status packTensor(const CheckpointTensor &tensor, const PackJob &job,
                  Span<uint8_t> out) {
  Expected<TensorFormat> format = tensor.usableFormat();
  if (!format)
    return format.takeStatus();
  std::fill(out.begin(), out.end(), 0);
  std::optional<int64_t> rowBytes =
      tensorRowBytes(*format, job.isVector ? job.rows : job.columns);
  int64_t storedRows = job.isVector ? 1 : job.matrices * job.rows;
  if (!rowBytes ||
      tensor.bytes.size() != static_cast<uint64_t>(*rowBytes * storedRows))
    return Status(StatusCode::InvalidFile,
                  "tensor '" + job.source + "' has " +
                      std::to_string(tensor.bytes.size()) +
                      " bytes, which is not its shape " + tensor.shapeText(),
                  "the file is damaged: fetch it again");
  if (!job.isVector && job.integers) {
    parallelFor(ceilDiv(job.rows, kTileRows), [&](int64_t tile) {
      quantizeTile(tensor, *format, job, tile, out.data());
    });
    return Status::ok();
  }
  if (!job.isVector) {
    MatrixPacker packer(tensor, *format, job, out.data());
    parallelFor(packer.numTiles(), [&](int64_t t) { packer.packTile(t); });
    return Status::ok();
  }
  std::vector<float> values(job.rows);
  decodeTensorRow(*format, tensor.bytes.data(), job.rows, values.data());
  for (int64_t i = 0; i < job.rows; ++i)
    std::memcpy(out.data() + 4 * i, &values[storedRow(job, i)], 4);
  return Status::ok();
}

Status packWeights(const Checkpoint &checkpoint,
                   const std::vector<PackJob> &jobs, ArtifactWriter &writer,
                   const std::function<void(double)> &progress) {
  int64_t total = jobs.empty() ? 0 : jobs.back().offset + jobs.back().bytes;
  LLMIR_RETURN_IF_ERROR(writer.beginSection(ArtifactSection::Weights));
  std::vector<uint8_t> packed;
  for (const PackJob &job : jobs) {
    Expected<const CheckpointTensor *> tensor = checkpoint.tensor(job.source);
    if (!tensor)
      return tensor.takeStatus();
    packed.resize(job.bytes);
    LLMIR_RETURN_IF_ERROR(packTensor(**tensor, job, packed));
    LLMIR_RETURN_IF_ERROR(writer.append(packed));
    if (progress)
      progress(static_cast<double>(job.offset + job.bytes) / total);
  }
  return writer.endSection();
}

} // namespace llmir
