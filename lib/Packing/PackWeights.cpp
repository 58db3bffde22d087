//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Packing/PackWeights.h"

#include "TensorPacker.h"

#include "llmir/Checkpoint/StoredParameter.h"
#include "llmir/Support/MappedFile.h"
#include "llmir/Support/ParallelFor.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <future>
#include <new>

namespace llmir {

/// Approximate size of a chunk: enough work for all cores, and small compared
/// to a model.
static constexpr int64_t kPieceBytes = int64_t(8) << 20;

static Status noMemory() {
  return Status(StatusCode::ResourceExhausted,
                "out of memory while packing weights",
                "free memory, or compile on a machine with more memory");
}

/// Packs the tiles [first, end) to `out`.
static Status packTiles(const TensorPacker &packer, int64_t first, int64_t end,
                        uint8_t *out) {
  int64_t start = packer.tileAt(first);
  constexpr int64_t together = 4; // Tiles are short work.
  auto packTile = [&](int64_t tile) {
    packer.packTile(tile, out + packer.tileAt(tile) - start);
  };
  return parallelFor(first, end, together, packTile) ? Status::ok()
                                                     : noMemory();
}

/// The end of a chunk that starts with tile `first`.
static int64_t endOfPiece(const TensorPacker &packer, int64_t first) {
  int64_t end = first + 1;
  while (end < packer.numTiles() &&
         packer.tileAt(end + 1) - packer.tileAt(first) <= kPieceBytes)
    ++end;
  return end;
}

std::string PackProgress::text() const {
  double rate = static_cast<double>(bytes) / 1e6 / seconds;
  return "packing weights" +
         (std::isfinite(rate) && rate < 1e9
              ? ", " + std::to_string(std::lround(rate)) + " MB/s"
              : "");
}

Status packTensor(const CheckpointTensor &tensor, const PackJob &job,
                  Span<uint8_t> out) {
  Expected<TensorPacker> packer = TensorPacker::create(tensor, job);
  if (!packer)
    return packer.takeStatus();
  return packTiles(*packer, 0, packer->numTiles(), out.data());
}

namespace {
/// Appends chunks in order while the next one is being packed.
class PieceWriter {
public:
  explicit PieceWriter(ArtifactWriter &writer) : writer(writer) {}
  ~PieceWriter() { (void)wait(); }

  /// Unused memory for the next chunk; null if out of memory.
  uint8_t *buffer(int64_t bytes) {
    std::vector<uint8_t> &next = buffers[number % 2];
    try {
      next.resize(bytes);
    } catch (const std::bad_alloc &) {
      return nullptr;
    }
    return next.data();
  }
  /// Starts to write the last result of buffer(); returns the status of the
  /// previous chunk.
  Status write() {
    Status before = wait();
    std::vector<uint8_t> &piece = buffers[number++ % 2];
    auto append = [this, &piece] { return writer.append(piece); };
    try {
      pending = std::async(std::launch::async, append);
    } catch (const std::exception &) { // Thread creation failed.
      pending = std::async(std::launch::deferred, append);
    }
    return before;
  }
  Status wait() { return pending.valid() ? pending.get() : Status::ok(); }

private:
  ArtifactWriter &writer;
  std::array<std::vector<uint8_t>, 2> buffers;
  size_t number = 0;
  std::future<Status> pending;
};
} // namespace

/// One job for each tensor: stacks whose matrices are tensors of their own
/// become jobs of single matrices.
static std::vector<PackJob> separated(const std::vector<PackJob> &jobs) {
  std::vector<PackJob> parts;
  for (const PackJob &job : jobs) {
    if (!isNumberedSource(job.source)) {
      parts.push_back(job);
      continue;
    }
    for (int64_t i = 0; i < job.matrices; ++i) {
      PackJob part = job;
      part.source = matrixSource(job.source, i);
      part.matrices = 1;
      part.bytes = job.bytes / job.matrices;
      part.offset = job.offset + i * part.bytes;
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

/// The tensor that a job packs.
static Expected<CheckpointTensor> tensorOf(const Checkpoint &checkpoint,
                                           const PackJob &job) {
  if (!job.constant) {
    Expected<const CheckpointTensor *> stored = checkpoint.tensor(job.source);
    if (!stored)
      return stored.takeStatus();
    return **stored;
  }
  CheckpointTensor tensor;
  tensor.name = job.source;
  tensor.format = TensorFormat::F32;
  tensor.storageName = "F32";
  tensor.shape = {job.rows};
  if (!job.isVector)
    tensor.shape.push_back(job.columns);
  tensor.bytes = {reinterpret_cast<const uint8_t *>(job.constant->data()),
                  job.constant->size() * sizeof(float)};
  return tensor;
}

Status packWeights(const Checkpoint &checkpoint,
                   const std::vector<PackJob> &jobs, ArtifactWriter &writer,
                   const std::function<void(const PackProgress &)> &progress) {
  auto begin = std::chrono::steady_clock::now();
  PackProgress done;
  done.totalBytes = jobs.empty() ? 0 : jobs.back().offset + jobs.back().bytes;
  LLMIR_RETURN_IF_ERROR(writer.beginSection(ArtifactSection::Weights));
  PieceWriter pieces(writer);
  for (const PackJob &job : separated(jobs)) {
    Expected<CheckpointTensor> tensor = tensorOf(checkpoint, job);
    if (!tensor)
      return tensor.takeStatus();
    Expected<TensorPacker> packer = TensorPacker::create(*tensor, job);
    if (!packer)
      return packer.takeStatus();
    for (int64_t tile = 0; tile < packer->numTiles();) {
      int64_t end = endOfPiece(*packer, tile);
      int64_t bytes = packer->tileAt(end) - packer->tileAt(tile);
      uint8_t *piece = pieces.buffer(bytes);
      if (!piece)
        return noMemory();
      LLMIR_RETURN_IF_ERROR(packTiles(*packer, tile, end, piece));
      LLMIR_RETURN_IF_ERROR(pieces.write());
      if (tensor->file)
        tensor->file->release(packer->storedBytes(tile, end));
      tile = end;
      done.bytes += bytes;
      std::chrono::duration<double> passed =
          std::chrono::steady_clock::now() - begin;
      done.seconds = passed.count();
      if (progress)
        progress(done);
    }
  }
  LLMIR_RETURN_IF_ERROR(pieces.wait());
  return writer.endSection();
}

} // namespace llmir
