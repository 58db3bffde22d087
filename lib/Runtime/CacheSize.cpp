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
    int64_t total = times(times(blocks, layers), blockBytes);
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

/// Divides bytes among the groups of layers: windows for all sequences, unless
/// one of the context's length would then not have room.
static Expected<int64_t> divideBytes(const ArtifactInfo &info,
                                     const ExecutorOptions &options,
                                     const PoolSizes &sizes, int64_t wanted,
                                     int64_t &sequences) {
  const int64_t mostBlocks = INT32_MAX / info.kvBlockSize;
  if (!sizes.hasWindows())
    return options.kvBytes / sizes.bytesOfBlock();
  // Blocks without full layers cost nothing: as many as sequences may have.
  const int64_t limit =
      sizes.hasFullLayers()
          ? mostBlocks
          : std::min(wanted, mostBlocks / sequences) * sequences;
  for (; sequences > 1; --sequences)
    if (int64_t blocks = sizes.fitting(options.kvBytes, sequences, limit);
        blocks >= std::min(wanted, limit))
      return blocks;
  return sizes.fitting(options.kvBytes, 1, limit);
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
  const PoolSizes sizes(info);
  int64_t sequences = windowSequences(info, options);
  CacheSize size;
  size.contextLength = options.contextLength;
  size.blocks = options.kvBlocks;
  if (size.blocks == 0 && options.kvBytes > 0) {
    const int64_t context =
        size.contextLength ? size.contextLength : info.contextLength;
    Expected<int64_t> blocks = divideBytes(
        info, options, sizes, blocksFor(info, context) + options.keepsPrefixes,
        sequences);
    if (!blocks)
      return blocks.takeStatus();
    size.blocks = *blocks;
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
