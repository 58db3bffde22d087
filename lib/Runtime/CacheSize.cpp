//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheSize.h"
#include "llmir/Runtime/UsableMemory.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace llmir {

using mlir::llm::runtime::distinctWindows;
using mlir::llm::runtime::WindowBlocks;

namespace {
/// The bytes of numbers of blocks, and the numbers that fit into bytes.
class PoolSizes {
public:
  explicit PoolSizes(const ArtifactInfo &info)
      : info(info), windows(distinctWindows(info.windows)),
        blockBytes(info.kvLayout().blockBytes()) {
    layers = info.windows.empty()
                 ? info.numLayers
                 : std::count(info.windows.begin(), info.windows.end(), 0);
    for (int64_t window : windows) {
      layersOf.push_back(
          std::count(info.windows.begin(), info.windows.end(), window));
      most.push_back(
          WindowBlocks::mostHeld(window, info.kvBlockSize, info.tokenBudget));
    }
  }

  bool hasWindows() const { return !windows.empty(); }
  bool hasFullLayers() const { return layers > 0; }
  /// Bytes of one block in all layers.
  int64_t bytesOfBlock() const { return times(blockBytes, info.numLayers); }

  /// Enough for so many sequences, but not more than `blocks`.
  std::vector<int64_t> windowBlocks(int64_t blocks, int64_t sequences) const {
    std::vector<int64_t> result;
    for (int64_t each : most)
      result.push_back(std::min(times(each, sequences), blocks));
    return result;
  }
  int64_t bytes(int64_t blocks, int64_t sequences) const {
    int64_t total = times(blocks, hasFullLayers() ? times(layers, blockBytes)
                                                  : bookkeepingBytes);
    const std::vector<int64_t> counts = windowBlocks(blocks, sequences);
    for (size_t w = 0; w < counts.size(); ++w)
      total = plus(total, times(times(counts[w], layersOf[w]), blockBytes));
    return total;
  }
  /// The greatest number of blocks, at most `limit`, that fits.
  int64_t fitting(int64_t available, int64_t sequences, int64_t limit) const {
    int64_t fits = 0, tooMany = limit + 1;
    while (tooMany - fits > 1) {
      const int64_t middle = fits + (tooMany - fits) / 2;
      (bytes(middle, sequences) <= available ? fits : tooMany) = middle;
    }
    return fits;
  }

private:
  /// About what a block costs outside of the pool, in references, tables and
  /// the tree of prefixes. It matters only if the pool has no bytes for it.
  static constexpr int64_t bookkeepingBytes = 128;

  static int64_t times(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
  }
  static int64_t plus(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
  }

  const ArtifactInfo &info;
  std::vector<int64_t> windows;
  int64_t blockBytes, layers;
  std::vector<int64_t> layersOf, most; ///< [window]
};
} // namespace

static constexpr int64_t mostSequences = 65536;

static int64_t blocksFor(const ArtifactInfo &info, int64_t tokens) {
  return (tokens - 1) / info.kvBlockSize + 1;
}

/// Sequences that may run at once, for each of which windows have room. One
/// more keeps the windows of a prefix.
static int64_t windowSequences(const ArtifactInfo &info,
                               const ExecutorOptions &options) {
  const bool isForOne = options.kvBlocks == 0 && options.kvBytes == 0;
  const int64_t most = std::min(info.tokenBudget, info.maxLogitRows);
  const int64_t sequences = options.sequences > 0 ? options.sequences
                            : isForOne            ? 1
                                                  : most;
  return sequences + options.keepsPrefixes;
}

/// The number of blocks, and of sequences for which windows have room.
using BlocksAndSequences = std::pair<int64_t, int64_t>;

/// Divides bytes among the groups of layers: windows for all sequences, or for
/// fewer if the others would then not have `wanted` blocks. Without full layers
/// each of these sequences has as many, since such blocks hold nothing.
static BlocksAndSequences divideBytes(const ArtifactInfo &info, int64_t bytes,
                                      const PoolSizes &sizes, int64_t wanted,
                                      int64_t sequences) {
  if (!sizes.hasWindows())
    return {bytes / sizes.bytesOfBlock(), sequences};
  const int64_t mostBlocks = INT32_MAX / info.kvBlockSize;
  auto neededFor = [&](int64_t count) {
    if (sizes.hasFullLayers())
      return std::min(wanted, mostBlocks);
    return wanted > mostBlocks / count ? mostBlocks : wanted * count;
  };
  int64_t fits = 1, tooMany = sequences + 1;
  while (tooMany - fits > 1) {
    const int64_t middle = fits + (tooMany - fits) / 2;
    (sizes.bytes(neededFor(middle), middle) <= bytes ? fits : tooMany) = middle;
  }
  return {sizes.fitting(bytes, fits,
                        sizes.hasFullLayers() ? mostBlocks : neededFor(fits)),
          fits};
}

Expected<CacheSize> chooseCacheSize(const ArtifactInfo &info,
                                    const ExecutorOptions &options) {
  if (options.contextLength < 0 || options.contextLength > info.contextLength)
    return Status(StatusCode::OutOfRange,
                  "a context of " + std::to_string(options.contextLength) +
                      " tokens; the model is compiled for at most " +
                      std::to_string(info.contextLength),
                  "use a smaller --ctx, or compile with a larger one");
  if (options.kvBlocks < 0 || options.kvBytes < 0)
    return Status(StatusCode::InvalidArgument,
                  "a KV cache of " + std::to_string(options.kvBlocks) +
                      " blocks or " + std::to_string(options.kvBytes) +
                      " bytes");
  if (options.sequences < 0 || options.sequences > mostSequences)
    return Status(StatusCode::InvalidArgument,
                  "room for " + std::to_string(options.sequences) +
                      " sequences",
                  "give a number from 1 to " + std::to_string(mostSequences) +
                      ", or 0 for as many as fit into memory");
  const PoolSizes sizes(info);
  int64_t sequences = windowSequences(info, options);
  CacheSize size;
  size.contextLength = options.contextLength;
  size.blocks = options.kvBlocks;
  if (size.blocks == 0 && options.kvBytes > 0) {
    const int64_t context =
        size.contextLength ? size.contextLength : info.contextLength;
    std::tie(size.blocks, sequences) = divideBytes(
        info, options.kvBytes, sizes,
        blocksFor(info, context) + options.keepsPrefixes, sequences);
    if (size.blocks == 0)
      return Status(StatusCode::InvalidArgument,
                    "a KV cache of " + std::to_string(options.kvBytes) +
                        " bytes is smaller than one block of " +
                        std::to_string(sizes.bytesOfBlock()),
                    "give it more memory");
  }
  if (size.contextLength == 0) {
    size.contextLength = info.contextLength;
    if (size.blocks == 0) {
      const int64_t wanted = blocksFor(info, info.contextLength);
      const int64_t fitting = std::max<int64_t>(
          sizes.fitting(usableMemory() / 2, sequences, wanted), 1);
      if (fitting < wanted)
        size.contextLength = fitting * info.kvBlockSize;
    }
  }
  if (size.blocks == 0)
    size.blocks = blocksFor(info, size.contextLength) + options.keepsPrefixes;
  size.windowBlocks = options.windowBlocks.empty()
                          ? sizes.windowBlocks(size.blocks, sequences)
                          : options.windowBlocks;
  return size;
}

} // namespace llmir
