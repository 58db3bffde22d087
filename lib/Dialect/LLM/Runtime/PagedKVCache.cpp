//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sequences; PagedKVCachePool.cpp has the pool, and PagedKVCacheData.cpp
// reads and writes keys and values.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <sys/mman.h>

using llmir::KVBlockLayout;
using llmir::Span;
using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

/// The number of sequences of maxSeqLen in a pool of default size.
static constexpr int64_t defaultSequences = 8;

static int64_t ceilDiv(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

static std::string quoted(SequenceId sequence) {
  return "sequence " + std::to_string(sequence);
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

static PagedKVCacheOptions optionsWithValueDim(int64_t valueDim) {
  PagedKVCacheOptions options;
  options.valueDim = valueDim;
  return options;
}

PagedKVCache::PagedKVCache(int64_t numLayers, int64_t numHeads, int64_t headDim,
                           int64_t blockSize, int64_t maxSeqLen,
                           KVElementType elementType, int64_t valueDim)
    : PagedKVCache(numLayers, numHeads, headDim, blockSize, maxSeqLen,
                   elementType, optionsWithValueDim(valueDim)) {}

PagedKVCache::PagedKVCache(int64_t numLayers, int64_t numHeads, int64_t headDim,
                           int64_t blockSize, int64_t maxSeqLen,
                           KVElementType elementType,
                           const PagedKVCacheOptions &options)
    : layout{numHeads,         headDim,
             blockSize,        ::llmir::kvStoredBytes(elementType),
             options.valueDim, options.valuesInKeys},
      layers(numLayers), longest(maxSeqLen), type(elementType) {
  constructed = initialize(options);
}

PagedKVCache::~PagedKVCache() {
  if (mapping)
    munmap(mapping, mappingBytes);
}

Status PagedKVCache::checkGeometry() const {
  struct Size {
    const char *name;
    int64_t value;
    int64_t most;
  };
  const Size sizes[] = {{"numLayers", layers, llmir::kvMaxLayers},
                        {"numHeads", layout.numKVHeads, 65536},
                        {"headDim", layout.headDim, 65536},
                        {"valueDim", layout.valueDim(), 65536},
                        {"blockSize", layout.blockSize, 65536},
                        {"maxSeqLen", longest, INT32_MAX}};
  for (const Size &size : sizes)
    if (size.value < 1 || size.value > size.most)
      return Status(StatusCode::InvalidArgument,
                    std::string("KV cache: ") + size.name + " is " +
                        std::to_string(size.value),
                    "give a number from 1 to " + std::to_string(size.most));
  // As PagedKVCacheType requires.
  if (layout.valuesInKeys && layout.valueDim() > layout.headDim)
    return Status(StatusCode::InvalidArgument,
                  "KV cache: values of " + std::to_string(layout.valueDim()) +
                      " elements in keys of " + std::to_string(layout.headDim),
                  "give at most as many elements as keys have");
  const int64_t least = layout.cellElements();
  if (layout.blockSize < least ||
      (layout.blockSize & (layout.blockSize - 1)) != 0)
    return Status(StatusCode::InvalidArgument,
                  "KV cache: blockSize is " + std::to_string(layout.blockSize) +
                      " with " + ::llmir::kvFormatName(type) + " elements",
                  "give a power of two from " + std::to_string(least) +
                      " to 65536");
  return Status::ok();
}

Status PagedKVCache::initialize(const PagedKVCacheOptions &options) {
  LLMIR_RETURN_IF_ERROR(checkGeometry());
  // A slot, block * block size + offset, is an int32 in the step context.
  int64_t mostBlocks = INT32_MAX / layout.blockSize;
  bool lazy = options.numBlocks == 0;
  int64_t numBlocks =
      lazy ? std::min(defaultSequences * blocksPerSequence(), mostBlocks)
           : options.numBlocks;
  if (numBlocks < 1 || numBlocks > mostBlocks)
    return Status(StatusCode::InvalidArgument,
                  "KV cache: numBlocks is " + std::to_string(numBlocks),
                  "give a number from 1 to " + std::to_string(mostBlocks));
  LLMIR_RETURN_IF_ERROR(initializeWindows(options, numBlocks));
  mainBlocks = numBlocks;
  LLMIR_RETURN_IF_ERROR(mapPool(lazy, options.guardPages));
  LLMIR_RETURN_IF_ERROR(statePool.allocate(options.states, options.guardPages));
  manager = BlockManager(numBlocks);
  touched.assign(static_cast<size_t>(numBlocks), 0);
  planned.assign(static_cast<size_t>(numBlocks), 0);
  plannedBlocks.reserve(static_cast<size_t>(numBlocks));
  if (options.keepsPrefixes)
    prefixes = PrefixTree(numBlocks, layout.blockSize);
  return Status::ok();
}

int64_t PagedKVCache::blocksPerSequence() const {
  return layout.blockSize > 0 ? ceilDiv(longest, layout.blockSize) : 0;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

const PagedKVCache::Sequence *PagedKVCache::find(SequenceId sequence) const {
  auto found = sequences.find(sequence);
  return found == sequences.end() ? nullptr : &found->second;
}

PagedKVCache::Sequence *PagedKVCache::find(SequenceId sequence) {
  auto found = sequences.find(sequence);
  return found == sequences.end() ? nullptr : &found->second;
}

PagedKVCache::Sequence &PagedKVCache::addSequence(SequenceId sequence) {
  Sequence added; // If memory is short, there is no sequence.
  // So that steps do not allocate.
  added.table.reserve(
      static_cast<size_t>(std::min(blocksPerSequence(), manager.numBlocks())));
  added.layerLengths.assign(static_cast<size_t>(layers), 0);
  added.firstKept.assign(windowGroups.size(), 0);
  Sequence &stored =
      sequences.emplace(sequence, std::move(added)).first->second;
  stored.stateSlot = takeStateSlot();
  return stored;
}

void PagedKVCache::release(Sequence &sequence) {
  releaseBlocks(sequence, 0);
  statePool.release(sequence.stateSlot);
}

/// Appending keys and values by value would not update the states of other
/// layers, and rows of block indices tell nothing about blocks of windows.
Status PagedKVCache::checkByValue() const {
  if (!windowGroups.empty())
    return Status(StatusCode::Unsupported,
                  "layers of this model keep only windows of their tokens, "
                  "which only steps read and write",
                  "run steps instead of appending or looking up keys and "
                  "values");
  if (statePool.isEmpty())
    return Status::ok();
  return Status(StatusCode::Unsupported,
                "layers of this model keep a state besides keys and values, "
                "which only steps update",
                "run steps instead of appending keys and values");
}

static Status unknownSequence(SequenceId sequence) {
  return Status(StatusCode::InvalidArgument,
                quoted(sequence) + " does not exist",
                "create it first with createSequence()");
}

static Status takenSequence(SequenceId sequence) {
  return Status(StatusCode::InvalidArgument, quoted(sequence) + " exists",
                "free it first, or choose another id");
}

/// A state is that after the last token; earlier ones are not kept.
static Status cannotGoBack(SequenceId sequence, int64_t length,
                           int64_t wanted) {
  return Status(StatusCode::Unsupported,
                quoted(sequence) + " has " + std::to_string(length) +
                    " tokens, and layers that keep a state cannot go back to " +
                    std::to_string(wanted),
                "start a new sequence, or truncate this one to 0 tokens and "
                "compute the others again");
}

/// Blocks that a sequence has passed are not kept.
static Status cannotGoBackInWindows(SequenceId sequence, int64_t length,
                                    int64_t wanted) {
  return Status(StatusCode::Unsupported,
                quoted(sequence) + " has " + std::to_string(length) +
                    " tokens, and layers that keep only a window cannot go "
                    "back to " +
                    std::to_string(wanted),
                "start a new sequence, or truncate this one to 0 tokens and "
                "compute the others again");
}

bool PagedKVCache::holdsWindowsAt(const Sequence &sequence,
                                  int64_t length) const {
  for (size_t w = 0; w < windowGroups.size(); ++w)
    if (windowGroups[w].firstNeeded(length) < sequence.firstKept[w])
      return length == 0;
  return true;
}

Status PagedKVCache::createSequence(SequenceId sequence) {
  LLMIR_RETURN_IF_ERROR(constructed);
  if (find(sequence))
    return takenSequence(sequence);
  LLMIR_RETURN_IF_ERROR(checkStateRoom(1));
  addSequence(sequence);
  return Status::ok();
}

Status PagedKVCache::freeSequence(SequenceId sequence) {
  LLMIR_RETURN_IF_ERROR(constructed);
  auto found = sequences.find(sequence);
  if (found == sequences.end())
    return unknownSequence(sequence);
  release(found->second);
  sequences.erase(found);
  return Status::ok();
}

void PagedKVCache::reset() {
  for (auto &entry : sequences)
    release(entry.second);
  sequences.clear();
}

bool PagedKVCache::hasSequence(SequenceId sequence) const {
  return find(sequence) != nullptr;
}

Span<const int32_t> PagedKVCache::blockTable(SequenceId sequence) const {
  const Sequence *found = find(sequence);
  return found ? Span<const int32_t>(found->table) : Span<const int32_t>();
}

int32_t PagedKVCache::stateSlot(SequenceId sequence) const {
  const Sequence *found = find(sequence);
  return found ? found->stateSlot : -1;
}

int64_t PagedKVCache::getSequenceLength(SequenceId sequence) const {
  const Sequence *found = find(sequence);
  return found ? found->length : 0;
}

int64_t PagedKVCache::getSequenceLength(SequenceId sequence,
                                        int64_t layer) const {
  const Sequence *found = find(sequence);
  bool known = found && layer >= 0 && layer < layers;
  return known ? found->layerLengths[static_cast<size_t>(layer)] : 0;
}

Status PagedKVCache::fork(SequenceId source, SequenceId target) {
  return fork(source, target, getSequenceLength(source));
}

Status PagedKVCache::fork(SequenceId source, SequenceId target,
                          int64_t numTokens) {
  LLMIR_RETURN_IF_ERROR(constructed);
  if (!find(source))
    return unknownSequence(source);
  if (find(target))
    return takenSequence(target);
  if (numTokens < 0 || numTokens > getSequenceLength(source))
    return Status(StatusCode::OutOfRange,
                  quoted(source) + " has " +
                      std::to_string(getSequenceLength(source)) +
                      " tokens, but a fork of " + std::to_string(numTokens) +
                      " was requested");
  if (!statePool.isEmpty() && numTokens != 0 &&
      numTokens != getSequenceLength(source))
    return cannotGoBack(source, getSequenceLength(source), numTokens);
  if (!holdsWindowsAt(*find(source), numTokens))
    return cannotGoBackInWindows(source, getSequenceLength(source), numTokens);
  LLMIR_RETURN_IF_ERROR(checkStateRoom(1));
  Sequence &copy = addSequence(target); // May rehash the table of sequences.
  const Sequence &origin = *find(source);
  copy.length = numTokens;
  if (numTokens != 0)
    statePool.copy(origin.stateSlot, copy.stateSlot);
  for (size_t layer = 0; layer < copy.layerLengths.size(); ++layer) {
    copy.layerLengths[layer] =
        std::min(origin.layerLengths[layer], static_cast<int32_t>(numTokens));
    copy.evenLayers &= copy.layerLengths[layer] == numTokens;
  }
  copy.dirtyTail = numTokens % layout.blockSize != 0 &&
                   (origin.dirtyTail || numTokens < origin.length);
  size_t numBlocks = static_cast<size_t>(ceilDiv(numTokens, layout.blockSize));
  for (size_t w = 0; w < windowGroups.size(); ++w)
    copy.firstKept[w] =
        static_cast<int32_t>(windowGroups[w].firstNeeded(numTokens));
  for (size_t i = 0; i < numBlocks; ++i) {
    const int32_t block = origin.table[i];
    addOwner(block);
    copy.table.push_back(block);
    forWindows(copy, i, [&](WindowBlocks &window) { window.hold(block); });
  }
  return Status::ok();
}

static std::vector<int64_t> widened(Span<const int32_t> ids) {
  return std::vector<int64_t>(ids.begin(), ids.end());
}

Status PagedKVCache::forkSequences(Span<const int32_t> sources,
                                   Span<const int32_t> targets) {
  LLMIR_RETURN_IF_ERROR(constructed);
  if (sources.size() != targets.size())
    return Status(StatusCode::InvalidArgument,
                  "KV cache: cannot fork " + std::to_string(sources.size()) +
                      " sequences to " + std::to_string(targets.size()));
  LLMIR_RETURN_IF_ERROR(checkDistinct(widened(targets)));
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!find(sources[i]))
      return unknownSequence(sources[i]);
    if (find(targets[i]))
      return takenSequence(targets[i]);
  }
  LLMIR_RETURN_IF_ERROR(checkStateRoom(static_cast<int64_t>(sources.size())));
  for (size_t i = 0; i < sources.size(); ++i)
    LLMIR_RETURN_IF_ERROR(fork(sources[i], targets[i]));
  return Status::ok();
}

Status PagedKVCache::freeSequences(Span<const int32_t> list) {
  LLMIR_RETURN_IF_ERROR(constructed);
  LLMIR_RETURN_IF_ERROR(checkDistinct(widened(list)));
  for (int32_t id : list)
    if (!find(id))
      return unknownSequence(id);
  for (int32_t id : list)
    LLMIR_RETURN_IF_ERROR(freeSequence(id));
  return Status::ok();
}

Status PagedKVCache::truncate(SequenceId sequence, int64_t length) {
  LLMIR_RETURN_IF_ERROR(constructed);
  Sequence *found = find(sequence);
  if (!found)
    return unknownSequence(sequence);
  if (length < 0 || length > found->length)
    return Status(StatusCode::OutOfRange,
                  quoted(sequence) + " has " + std::to_string(found->length) +
                      " tokens; it cannot be truncated to " +
                      std::to_string(length));
  if (length == found->length)
    return Status::ok();
  if (!statePool.isEmpty() && length != 0)
    return cannotGoBack(sequence, found->length, length);
  if (!holdsWindowsAt(*found, length))
    return cannotGoBackInWindows(sequence, found->length, length);
  statePool.clear(found->stateSlot);
  found->length = length;
  found->evenLayers = true;
  for (int32_t &layerLength : found->layerLengths) {
    layerLength = std::min(layerLength, static_cast<int32_t>(length));
    found->evenLayers &= layerLength == length;
  }
  releaseBlocks(*found, static_cast<size_t>(ceilDiv(length, layout.blockSize)));
  if (length == 0)
    std::fill(found->firstKept.begin(), found->firstKept.end(), 0);
  found->dirtyTail = length % layout.blockSize != 0;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Reservation: plan everything first, so that the second part cannot fail
//===----------------------------------------------------------------------===//

/// Adds to `needed` the number of blocks required to write tokens [first, first
/// + numTokens): new blocks at the end, and a copy of each shared block from
/// the first written one on (I5). `sequence` is null if it does not exist yet.
Status PagedKVCache::planGrowth(SequenceId id, const Sequence *sequence,
                                int64_t first, int64_t numTokens,
                                int64_t &needed) {
  if (numTokens > longest - first)
    return Status(StatusCode::OutOfRange,
                  quoted(id) + " would have " + std::to_string(first) + " + " +
                      std::to_string(numTokens) +
                      " tokens; the maximum of the cache is " +
                      std::to_string(longest),
                  "use a longer context or fewer tokens");
  int64_t endBlock = ceilDiv(first + numTokens, layout.blockSize);
  int64_t present = sequence ? static_cast<int64_t>(sequence->table.size()) : 0;
  needed += std::max<int64_t>(endBlock - present, 0);
  for (int64_t i = first / layout.blockSize; numTokens > 0 && i < present;
       ++i) {
    int32_t block = sequence->table[static_cast<size_t>(i)];
    int32_t &copies = planned[static_cast<size_t>(block)];
    // If n owners are in the batch, n - 1 copy the block and the last keeps it.
    if (manager.refCount(block) - copies > 1) {
      if (copies++ == 0)
        plannedBlocks.push_back(block);
      ++needed;
    }
  }
  return Status::ok();
}

/// Ends a plan, and checks whether the pool can satisfy it.
Status PagedKVCache::finishPlan(int64_t needed) {
  for (int32_t block : plannedBlocks)
    planned[static_cast<size_t>(block)] = 0;
  plannedBlocks.clear();
  if (needed > numAvailable())
    return Status(StatusCode::ResourceExhausted,
                  "the KV cache has " + std::to_string(numAvailable()) +
                      " free blocks of " + std::to_string(manager.numBlocks()) +
                      "; " + std::to_string(needed) + " are needed",
                  "free a sequence, or give the cache more blocks");
  // A block of each window belongs to each of them.
  for (const WindowBlocks &window : windowGroups)
    if (needed > window.numAvailable())
      return Status(
          StatusCode::ResourceExhausted,
          "the KV cache has " + std::to_string(window.numAvailable()) +
              " free blocks of " + std::to_string(window.numBlocks()) +
              " for windows of " + std::to_string(window.window()) +
              " tokens; " + std::to_string(needed) + " are needed",
          "free a sequence, or give the cache more blocks");
  return Status::ok();
}

/// Makes tokens [first, first + numTokens) writable by this sequence alone.
void PagedKVCache::grow(Sequence &sequence, int64_t first, int64_t numTokens) {
  const int64_t size = layout.blockSize;
  int64_t endBlock = ceilDiv(first + numTokens, size);
  int64_t present = static_cast<int64_t>(sequence.table.size());
  // Also copy the blocks after the written ones: sequences that share a block
  // share all blocks before it (I5).
  for (int64_t i = first / size; numTokens > 0 && i < present; ++i) {
    int32_t &block = sequence.table[static_cast<size_t>(i)];
    if (manager.refCount(block) > 1) {
      int32_t copy = takeBlock();
      copyBlock(block, copy);
      forWindows(sequence, static_cast<size_t>(i),
                 [&](WindowBlocks &window) { window.release(block); });
      removeOwner(block);
      block = copy;
    }
    if (sequence.dirtyTail && i == present - 1) {
      zeroTail(block, sequence.length % size);
      sequence.dirtyTail = false;
    }
  }
  for (int64_t i = present; i < endBlock; ++i)
    sequence.table.push_back(takeZeroedBlock());
  sequence.length = std::max(sequence.length, first + numTokens);
}

Status PagedKVCache::checkReserve(Span<const KVReservation> list) {
  LLMIR_RETURN_IF_ERROR(constructed);
  int64_t needed = 0;
  ++stamp;
  Status result;
  for (const KVReservation &wish : list) {
    Sequence *sequence = find(wish.sequence);
    if (!sequence)
      result = unknownSequence(wish.sequence);
    else if (sequence->lastListed == stamp)
      result = Status(StatusCode::InvalidArgument,
                      quoted(wish.sequence) + " is listed twice",
                      "list each sequence once");
    else if (!sequence->evenLayers)
      result = Status(StatusCode::InvalidArgument,
                      quoted(wish.sequence) +
                          " has a different number of tokens in each layer",
                      "append the missing layers first");
    else if (wish.numTokens < 1)
      result = Status(StatusCode::InvalidArgument,
                      quoted(wish.sequence) + ": " +
                          std::to_string(wish.numTokens) + " new tokens",
                      "give at least one");
    else
      result = planGrowth(wish.sequence, sequence, sequence->length,
                          wish.numTokens, needed);
    if (!result)
      break;
    sequence->lastListed = stamp;
  }
  Status room = finishPlan(needed);
  return result ? std::move(room) : std::move(result);
}

Status PagedKVCache::reserve(Span<const KVReservation> list,
                             Span<int32_t> slots) {
  for (const KVReservation &wish : list)
    releasePassed(wish.sequence);
  LLMIR_RETURN_IF_ERROR(checkReserve(list));
  size_t total = 0;
  for (const KVReservation &wish : list)
    total += static_cast<size_t>(wish.numTokens);
  if (slots.size() != total * static_cast<size_t>(numGroups()))
    return Status(
        StatusCode::InvalidArgument,
        std::to_string(slots.size()) + " slots were requested for " +
            std::to_string(total) + " new tokens" +
            (windowGroups.empty()
                 ? std::string()
                 : " in " + std::to_string(numGroups()) + " groups of layers"));
  int32_t *slot = slots.data();
  for (const KVReservation &wish : list) {
    Sequence &sequence = *find(wish.sequence);
    int64_t first = sequence.length;
    grow(sequence, first, wish.numTokens);
    std::fill(sequence.layerLengths.begin(), sequence.layerLengths.end(),
              static_cast<int32_t>(sequence.length));
    writeSlots(sequence, first, slot, total);
    slot += wish.numTokens;
  }
  return Status::ok();
}

Status PagedKVCache::reserve(SequenceId sequence, int64_t numTokens,
                             Span<int32_t> slots) {
  KVReservation wish{sequence, numTokens};
  return reserve(Span<const KVReservation>(&wish, 1), slots);
}

} // namespace mlir::llm::runtime
