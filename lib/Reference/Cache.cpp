//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Cache.h"
#include "llmir/Support/ByteCode.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace llmir::reference {

using mlir::llm::runtime::checkRoom;
using mlir::llm::runtime::checkSlots;
using mlir::llm::runtime::fillRow;
using mlir::llm::runtime::SequenceView;

static Status invalid(const std::string &cause) {
  return Status(StatusCode::InvalidArgument, "KV cache: " + cause);
}

static std::string named(int64_t sequence) {
  return "sequence " + std::to_string(sequence);
}

PagedCache::PagedCache(const CacheGeometry &geometry, int64_t numBlocks)
    : facts(geometry),
      manager(numBlocks > 0 ? numBlocks : 8 * geometry.blocksPerSequence()),
      zeros(std::make_shared<Block>(
          static_cast<size_t>(keyNumbers() + valueNumbers()), 0.0)) {}

int64_t PagedCache::Sequence::length() const {
  return *std::max_element(layerLengths.begin(), layerLengths.end());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

PagedCache::Block &PagedCache::writable(int64_t layer, int64_t block) {
  std::shared_ptr<Block> &data = blocks[{layer, block}];
  if (!data)
    data = std::make_shared<Block>(*zeros);
  else if (data.use_count() > 1) // Shared with another cache value or a fork.
    data = std::make_shared<Block>(*data);
  return *data;
}

const PagedCache::Block &PagedCache::readable(int64_t layer,
                                              int64_t block) const {
  auto found = blocks.find({layer, block});
  return found == blocks.end() ? *zeros : *found->second;
}

const double *PagedCache::key(int64_t layer, int64_t block, int64_t offset,
                              int64_t head) const {
  return &readable(layer, block)[static_cast<size_t>(
      (offset * facts.heads + head) * facts.headDim)];
}

const double *PagedCache::value(int64_t layer, int64_t block, int64_t offset,
                                int64_t head) const {
  return &readable(layer, block)[static_cast<size_t>(
      keyNumbers() + (offset * facts.heads + head) * facts.valueDim)];
}

/// Rounds a head to bytes with a scale, in f32, as the type specifies.
static void storeBytes(const double *row, int64_t count, double *to) {
  MaxMagnitude most;
  for (int64_t i = 0; i < count; ++i)
    most.add(static_cast<float>(row[i]));
  const float scale = most.scale();
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<double>(scale *
                                byteCode(static_cast<float>(row[i]), scale));
}

void PagedCache::store(int64_t layer, int64_t block, int64_t offset,
                       const double *keys, const double *values) {
  Block &data = writable(layer, block);
  auto storeRow = [&](const double *row, int64_t count, double *to) {
    if (facts.kind == ElementKind::I8)
      return storeBytes(row, count, to);
    std::transform(row, row + count, to,
                   [&](double value) { return roundTo(facts.kind, value); });
  };
  for (int64_t head = 0; head < facts.heads; ++head) {
    const int64_t row = offset * facts.heads + head;
    double *key = data.data() + row * facts.headDim;
    double *value = data.data() + keyNumbers() + row * facts.valueDim;
    storeRow(keys + head * facts.headDim, facts.headDim, key);
    if (facts.valuesInKeys)
      std::copy_n(key, facts.valueDim, value);
    else
      storeRow(values + head * facts.valueDim, facts.valueDim, value);
  }
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

Status PagedCache::checkLayer(int64_t layer) const {
  if (isLayer(layer))
    return Status::ok();
  return invalid("layer " + std::to_string(layer) + " does not exist; it has " +
                 std::to_string(facts.layers));
}

Status PagedCache::checkDistinct(const Tensor &ids) const {
  return mlir::llm::runtime::checkDistinct(ids.integers());
}

PagedCache::Sequence &PagedCache::findOrAdd(int64_t id) {
  Sequence &sequence = sequences[id];
  if (sequence.layerLengths.empty())
    sequence.layerLengths.assign(static_cast<size_t>(facts.layers), 0);
  return sequence;
}

int64_t PagedCache::sequenceLength(int64_t id) const {
  auto found = sequences.find(id);
  return found == sequences.end() ? 0 : found->second.length();
}

std::vector<int32_t> PagedCache::blockTable(int64_t id) const {
  auto found = sequences.find(id);
  return found == sequences.end() ? std::vector<int32_t>()
                                  : found->second.table;
}

std::vector<int64_t> PagedCache::sequenceIds() const {
  std::vector<int64_t> result;
  for (const auto &entry : sequences)
    result.push_back(entry.first);
  return result;
}

Expected<Tensor *> PagedCache::state(int64_t layer, int64_t offset,
                                     int64_t slot, const Shape &shape) {
  if (layer < 0 || offset < 0 || slot < 0)
    return Status(StatusCode::InvalidArgument,
                  "a state is at " + std::to_string(offset) + " of slot " +
                      std::to_string(slot) + " in layer " +
                      std::to_string(layer));
  Tensor &found =
      states.try_emplace({layer, offset, slot}, Tensor(ElementKind::F32, shape))
          .first->second;
  if (found.shape != shape)
    return Status(StatusCode::InvalidArgument,
                  "layer " + std::to_string(layer) + " keeps a state " +
                      typeString(found) + ", not " +
                      typeString(Tensor(ElementKind::F32, shape)));
  return &found;
}

bool PagedCache::sameAs(const PagedCache &other) const {
  auto sameSequence = [](const auto &a, const auto &b) {
    return a.first == b.first && a.second.table == b.second.table &&
           a.second.layerLengths == b.second.layerLengths;
  };
  if (numBlocks() != other.numBlocks() || facts.kind != other.facts.kind ||
      facts.layers != other.facts.layers ||
      keyNumbers() != other.keyNumbers() ||
      valueNumbers() != other.valueNumbers() ||
      !std::equal(sequences.begin(), sequences.end(), other.sequences.begin(),
                  other.sequences.end(), sameSequence))
    return false;
  auto sameState = [](const auto &a, const auto &b) {
    return a.first == b.first && sameBits(a.second, b.second);
  };
  if (!std::equal(states.begin(), states.end(), other.states.begin(),
                  other.states.end(), sameState))
    return false;
  auto sameNumbers = [&](const auto &entry) {
    const auto &[layer, block] = entry.first;
    return readable(layer, block) == other.readable(layer, block);
  };
  return std::all_of(blocks.begin(), blocks.end(), sameNumbers) &&
         std::all_of(other.blocks.begin(), other.blocks.end(), sameNumbers);
}

/// Makes the tokens [first, first + count) exclusively writable by this
/// sequence: copies shared blocks, including later ones, and allocates new
/// ones, in this order.
Status PagedCache::grow(int64_t id, Sequence &sequence, int64_t first,
                        int64_t count) {
  if (first + count > facts.maxSeqLen)
    return Status(StatusCode::OutOfRange,
                  "KV cache: " + named(id) + " would have " +
                      std::to_string(first + count) +
                      " tokens; the maximum of the cache is " +
                      std::to_string(facts.maxSeqLen));
  auto exhausted = [&] {
    return Status(StatusCode::ResourceExhausted,
                  "KV cache: all " + std::to_string(numBlocks()) +
                      " blocks are in use");
  };
  const auto endBlock = static_cast<size_t>(
      (first + count + facts.blockSize - 1) / facts.blockSize);
  for (auto i = static_cast<size_t>(first / facts.blockSize);
       count > 0 && i < sequence.table.size(); ++i) {
    int32_t &block = sequence.table[i];
    if (manager.refCount(block) == 1)
      continue;
    if (manager.numFree() == 0)
      return exhausted();
    const int32_t copy = manager.allocate();
    for (int64_t layer = 0; layer < facts.layers; ++layer)
      blocks[{layer, copy}] = std::make_shared<Block>(readable(layer, block));
    manager.release(block);
    block = copy;
  }
  while (sequence.table.size() < endBlock) {
    if (manager.numFree() == 0)
      return exhausted();
    const int32_t block = manager.allocate();
    for (int64_t layer = 0; layer < facts.layers; ++layer)
      blocks.erase({layer, block});
    sequence.table.push_back(block);
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Operations. They work on a copy, so that failures have no side effects.
//===----------------------------------------------------------------------===//

Status PagedCache::appendSlots(int64_t layer, const Tensor &keys,
                               const Tensor &values, const Tensor &slots) {
  LLMIR_RETURN_IF_ERROR(checkLayer(layer));
  LLMIR_RETURN_IF_ERROR(checkSlots(slots.integers(), bounds()));
  for (int64_t t = 0; t < slots.size(); ++t)
    store(
        layer, slots.integer(t) / facts.blockSize,
        slots.integer(t) % facts.blockSize,
        &keys.floats()[static_cast<size_t>(t * facts.heads * facts.headDim)],
        &values
             .floats()[static_cast<size_t>(t * facts.heads * facts.valueDim)]);
  return Status::ok();
}

Expected<PagedCache::Reservation> PagedCache::reserve(int64_t layer,
                                                      const Tensor &seqIds,
                                                      int64_t numTokens,
                                                      int64_t rowBlocks) {
  LLMIR_RETURN_IF_ERROR(checkLayer(layer));
  LLMIR_RETURN_IF_ERROR(checkDistinct(seqIds));
  const int64_t batch = seqIds.size(), columns = facts.blocksPerSequence();
  Reservation result{Tensor(ElementKind::I32, {batch * numTokens}),
                     Tensor(ElementKind::I32, {batch, rowBlocks}),
                     Tensor(ElementKind::I32, {batch, columns}),
                     Tensor(ElementKind::I32, {batch})};
  PagedCache next = *this;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t id = seqIds.integer(b);
    Sequence &sequence = next.findOrAdd(id);
    int64_t &length = sequence.layerLengths[static_cast<size_t>(layer)];
    LLMIR_RETURN_IF_ERROR(next.grow(id, sequence, length, numTokens));
    for (int64_t t = 0; t < numTokens; ++t, ++length) {
      const int64_t block =
          sequence.table[static_cast<size_t>(length / facts.blockSize)];
      result.slots[b * numTokens + t] =
          double(block * facts.blockSize + length % facts.blockSize);
    }
    fillRow<int64_t>(sequence.table, rowBlocks,
                     result.blockIndices.integers().data() + b * rowBlocks);
    fillRow<int64_t>(sequence.table, columns,
                     result.blockTables.integers().data() + b * columns);
    result.seqLens[b] = double(length);
  }
  *this = std::move(next);
  return result;
}

Expected<Tensor> PagedCache::appendSequences(int64_t layer, const Tensor &keys,
                                             const Tensor &values,
                                             const Tensor &seqIds,
                                             int64_t rowBlocks) {
  Expected<Reservation> room = reserve(layer, seqIds, keys.dim(1), rowBlocks);
  if (!room)
    return room.takeStatus();
  LLMIR_RETURN_IF_ERROR(appendSlots(layer, keys, values, room->slots));
  return std::move(room->blockIndices);
}

Expected<Tensor> PagedCache::findBlockTables(int64_t layer,
                                             const Tensor &indices,
                                             const Tensor &seqLens) const {
  LLMIR_RETURN_IF_ERROR(checkLayer(layer));
  std::vector<SequenceView> views;
  for (const auto &[id, sequence] : sequences)
    views.push_back({id, Span<const int32_t>(sequence.table),
                     sequence.layerLengths[static_cast<size_t>(layer)]});
  const int64_t columns = indices.rank() == 2 ? indices.dim(1) : 1;
  auto found = mlir::llm::runtime::findBlockTables(
      {indices.integers(), columns}, seqLens.integers(), views, bounds(),
      facts.layers > 1 ? " in layer " + std::to_string(layer) : "");
  if (!found)
    return found.takeStatus();
  const int64_t most = facts.blocksPerSequence();
  Tensor tables(ElementKind::I32, {seqLens.size(), most});
  for (size_t b = 0; b < found->size(); ++b)
    fillRow((*found)[b], most,
            tables.integers().data() + static_cast<int64_t>(b) * most);
  return tables;
}

Expected<std::pair<Tensor, Tensor>>
PagedCache::lookup(int64_t layer, const Tensor &indices, const Tensor &seqLens,
                   int64_t numTokens) const {
  LLMIR_RETURN_IF_ERROR(checkRoom(seqLens.integers(), numTokens));
  Expected<Tensor> tables = findBlockTables(layer, indices, seqLens);
  if (!tables)
    return tables.takeStatus();
  const int64_t batch = seqLens.size(), columns = facts.blocksPerSequence();
  const ElementKind numberKind =
      facts.kind == ElementKind::I8 ? ElementKind::F32 : facts.kind;
  Tensor keys(numberKind, {batch, numTokens, facts.heads, facts.headDim});
  Tensor values(numberKind, {batch, numTokens, facts.heads, facts.valueDim});
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < seqLens.integer(b); ++t) {
      const int64_t block = tables->integer(b * columns + t / facts.blockSize);
      const int64_t offset = t % facts.blockSize;
      std::copy_n(key(layer, block, offset, 0), facts.heads * facts.headDim,
                  keys.from({b, t, 0, 0}));
      std::copy_n(value(layer, block, offset, 0), facts.heads * facts.valueDim,
                  values.from({b, t, 0, 0}));
    }
  return std::make_pair(std::move(keys), std::move(values));
}

Status PagedCache::fork(const Tensor &srcIds, const Tensor &dstIds) {
  LLMIR_RETURN_IF_ERROR(checkDistinct(dstIds));
  for (int64_t b = 0; b < srcIds.size(); ++b) {
    if (!sequences.count(srcIds.integer(b)))
      return invalid(named(srcIds.integer(b)) + " does not exist");
    if (sequences.count(dstIds.integer(b)))
      return invalid(named(dstIds.integer(b)) + " exists");
  }
  for (int64_t b = 0; b < srcIds.size(); ++b) {
    Sequence copy = sequences.at(srcIds.integer(b));
    for (int32_t block : copy.table)
      manager.addReference(block);
    sequences[dstIds.integer(b)] = std::move(copy);
  }
  return Status::ok();
}

Status PagedCache::free(const Tensor &seqIds) {
  LLMIR_RETURN_IF_ERROR(checkDistinct(seqIds));
  for (int64_t b = 0; b < seqIds.size(); ++b)
    if (!sequences.count(seqIds.integer(b)))
      return invalid(named(seqIds.integer(b)) + " does not exist");
  for (int64_t b = 0; b < seqIds.size(); ++b) {
    auto found = sequences.find(seqIds.integer(b));
    // Last block first, like the runtime.
    for (auto block = found->second.table.rbegin();
         block != found->second.table.rend(); ++block)
      manager.release(*block);
    sequences.erase(found);
  }
  return Status::ok();
}

} // namespace llmir::reference
