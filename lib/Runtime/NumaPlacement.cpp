//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumaPlacement.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace llmir {

std::optional<NumaPolicy> numaPolicyFromName(std::string_view name) {
  if (name == "off")
    return NumaPolicy::Off;
  if (name == "first-touch")
    return NumaPolicy::FirstTouch;
  if (name == "interleave")
    return NumaPolicy::Interleave;
  return std::nullopt;
}

Expected<std::unique_ptr<WorkerTeam>>
NumaPlacement::startTeam(const ExecutorOptions &options) {
  policy = options.numa;
  if (policy == NumaPolicy::Off)
    return WorkerTeam::create(options.threads, options.pin);
  auto known = readNumaNodes(options.numaRoot, usableProcessorList());
  if (!known)
    return known.takeStatus();
  nodes = std::move(*known);
  if (!isActive()) {
    sentence = "--numa has no effect: the processors of this process belong to "
               "one memory node";
    return WorkerTeam::create(options.threads, options.pin);
  }
  if (policy == NumaPolicy::Interleave)
    return WorkerTeam::create(options.threads, options.pin);
  Expected<int64_t> workers = WorkerTeam::chooseSize(options.threads);
  if (!workers)
    return workers.takeStatus();
  std::vector<std::vector<int>> processors;
  for (WorkerPlace &place : placeWorkers(nodes, *workers, options.pin))
    processors.push_back(std::move(place.processors));
  return WorkerTeam::create(std::move(processors));
}

/// Interleaves the pages, or disables huge pages for first-touch placement: a
/// huge page would be shared by workers of several nodes.
Status NumaPlacement::prepare(void *memory, int64_t bytes) const {
  if (policy == NumaPolicy::Interleave)
    return interleavePages(memory, bytes, nodes);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto base = reinterpret_cast<uintptr_t>(memory);
  uintptr_t first = base / page * page;
  // Fails if the system has no huge pages; then there is nothing to do.
  madvise(reinterpret_cast<void *>(first),
          base + static_cast<uintptr_t>(bytes) - first, MADV_NOHUGEPAGE);
  return Status::ok();
}

/// Copies the worker's part of the `bytes` bytes at `offset`, proportional to
/// the part of the rows that it processes.
static void copyShare(const uint8_t *from, uint8_t *to, int64_t offset,
                      int64_t bytes, int64_t worker, int64_t workers) {
  // Below 2^44 each, and at most 1024 workers: the products do not overflow.
  int64_t first = offset + bytes * worker / workers;
  int64_t end = offset + bytes * (worker + 1) / workers;
  std::memcpy(to + first, from + first, static_cast<size_t>(end - first));
}

Expected<const uint8_t *> NumaPlacement::place(WorkerTeam &team,
                                               const ArtifactInfo &info,
                                               Span<const uint8_t> weights,
                                               const StepMemory &memory,
                                               PagedKVCache &cache) {
  if (!isActive())
    return weights.data();
  auto size = static_cast<int64_t>(weights.size());
  int64_t end = 0;
  for (const MatrixPlace &matrix : info.matrices) {
    if (matrix.offset < end ||
        matrix.offset > size - matrix.bytes * matrix.count)
      return Status(StatusCode::InvalidFile,
                    "the artifact has a matrix at byte " +
                        std::to_string(matrix.offset) + " of " +
                        std::to_string(size) +
                        " of weights, which overlaps another one or exceeds "
                        "the weights",
                    "compile it again with 'llmir compile'");
    end = matrix.offset + matrix.bytes * matrix.count;
  }
  copy.emplace();
  if (Status status =
          copy->allocate(size, /*guardPages=*/false, "copy of the weights");
      !status)
    return Status(status.code(), status.cause(),
                  "free memory, or leave out --numa");
  auto prepared = [this](void *base, int64_t bytes) {
    return prepare(base, bytes);
  };
  // Keep huge pages for the weights: most pages of a large matrix are within
  // one node's part, and a shared page is placed on the first worker's node.
  if (policy == NumaPolicy::Interleave)
    LLMIR_RETURN_IF_ERROR(copy->forPages(prepared));
  LLMIR_RETURN_IF_ERROR(memory.pagesOfArena().forPages(prepared));
  LLMIR_RETURN_IF_ERROR(prepare(cache.pool(), cache.poolSpan()));
  team.run([&](int64_t worker) {
    int64_t at = 0;
    auto copyBetween = [&](int64_t to) { // Not a matrix: read by all workers.
      copyShare(weights.data(), copy->data(), at, to - at, worker, team.size());
    };
    for (const MatrixPlace &matrix : info.matrices) {
      copyBetween(matrix.offset);
      for (int64_t i = 0; i < matrix.count; ++i)
        copyShare(weights.data(), copy->data(),
                  matrix.offset + i * matrix.bytes, matrix.bytes, worker,
                  team.size());
      at = matrix.offset + matrix.bytes * matrix.count;
    }
    copyBetween(size);
  });
  sentence = std::to_string(nodes.size()) +
             " memory nodes: " + std::to_string(size >> 20) +
             " MiB of weights copied";
  sentence += policy == NumaPolicy::Interleave
                  ? ", interleaving the pages of weights, cache and arena "
                    "across all nodes"
                  : ", each part by the worker that reads it; cache and arena "
                    "are placed on first touch";
  return copy->data();
}

} // namespace llmir
