//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Safetensors.h"

#include "llmir/Support/JsonEvents.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace llmir {

namespace {

constexpr const char *singleName = "model.safetensors";
constexpr const char *indexName = "model.safetensors.index.json";
constexpr uint64_t maxIndexBytes = uint64_t(64) << 20;

Status badIndex(const std::string &cause) {
  return Status(StatusCode::InvalidFile, cause,
                "the index does not match the files: fetch the model again");
}

/// tensor → shard, from the index.
struct IndexEntry {
  std::string tensor;
  uint32_t shard;
};

/// Reads "weight_map" and skips everything else.
class IndexHandler : public JsonEvents {
public:
  std::vector<IndexEntry> entries;
  std::vector<std::string> shards; ///< In the order of first mention.
  bool sawMap = false;

  Status beginObject() override {
    if (depth == 1 && expectMap) {
      inMap = true;
      expectMap = false;
    } else if (inMap) {
      return badValue();
    }
    ++depth;
    return Status::ok();
  }
  Status endObject() override {
    if (--depth == 1)
      inMap = false;
    return Status::ok();
  }
  Status beginArray() override {
    if (depth == 0)
      return badIndex("the index is an array; expected an object");
    LLMIR_RETURN_IF_ERROR(scalar());
    ++depth;
    return Status::ok();
  }
  Status endArray() override {
    --depth;
    return Status::ok();
  }
  Status key(std::string &&text) override {
    if (inMap) {
      tensor = std::move(text);
    } else if (depth == 1 && text == "weight_map") {
      if (sawMap)
        return badIndex("'weight_map' is given twice");
      sawMap = expectMap = true;
    }
    return Status::ok();
  }
  Status string(std::string &&text) override {
    if (!inMap)
      return scalar();
    LLMIR_RETURN_IF_ERROR(checkShardName(text));
    auto [known, isNew] =
        shardNumbers.try_emplace(text, static_cast<uint32_t>(shards.size()));
    if (isNew) {
      if (shards.size() == maxShards)
        return badIndex("'weight_map' names more than " +
                        std::to_string(maxShards) + " files");
      shards.push_back(std::move(text));
    }
    entries.push_back({std::move(tensor), known->second});
    return Status::ok();
  }
  Status unsignedInteger(uint64_t) override { return scalar(); }
  Status negativeInteger(int64_t) override { return scalar(); }
  Status number(double) override { return scalar(); }
  Status boolean(bool) override { return scalar(); }
  Status null() override { return scalar(); }

private:
  static constexpr size_t maxShards = 10000;

  Status scalar() const {
    if (depth == 0)
      return badIndex("the index is not an object");
    if (expectMap)
      return badIndex("'weight_map' is not an object");
    return inMap ? badValue() : Status::ok();
  }
  Status badValue() const {
    return badIndex("'weight_map': '" + printable(tensor) +
                    "' is not a string; expected a file name");
  }
  /// Accepts only a plain file name: an index must not refer to other
  /// directories.
  Status checkShardName(const std::string &name) const {
    constexpr std::string_view suffix = ".safetensors";
    bool bare =
        name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
    if (bare && name.size() > suffix.size() && name.size() <= 255 &&
        name[0] != '.' &&
        std::string_view(name).substr(name.size() - suffix.size()) == suffix)
      return Status::ok();
    return badIndex("'weight_map': '" + printable(tensor) +
                    "' is in the file '" + printable(name) +
                    "'; expected the plain name of a .safetensors file");
  }

  int depth = 0;
  bool expectMap = false; ///< The next value is that of "weight_map".
  bool inMap = false;
  std::string tensor;
  std::map<std::string, uint32_t> shardNumbers;
};

/// The index, sorted by tensor name.
Expected<IndexHandler> readIndex(const MappedFile &file) {
  IndexHandler index;
  LLMIR_RETURN_IF_ERROR(parseJsonEvents(
      file.text(), indexName, {maxIndexBytes, /*maxDepth=*/64}, index));
  if (!index.sawMap)
    return Status(StatusCode::NotFound,
                  std::string(indexName) + ": 'weight_map' is missing",
                  "fetch the model again");
  auto byTensor = [](const IndexEntry &a, const IndexEntry &b) {
    return a.tensor < b.tensor;
  };
  std::sort(index.entries.begin(), index.entries.end(), byTensor);
  auto twice = std::adjacent_find(index.entries.begin(), index.entries.end(),
                                  [](const IndexEntry &a, const IndexEntry &b) {
                                    return a.tensor == b.tensor;
                                  });
  if (twice != index.entries.end())
    return badIndex(std::string(indexName) + ": 'weight_map': tensor '" +
                    printable(twice->tensor) + "' is given twice");
  return index;
}

/// Checks that the index assigns every tensor of a shard to this shard. The
/// caller compares the counts.
Status checkShard(const IndexHandler &index, uint32_t shard,
                  const std::vector<CheckpointTensor> &tensors) {
  for (const CheckpointTensor &tensor : tensors) {
    auto found = std::lower_bound(
        index.entries.begin(), index.entries.end(), tensor.name,
        [](const IndexEntry &a, const std::string &b) { return a.tensor < b; });
    std::string here = std::string(indexName) + ": tensor '" +
                       printable(tensor.name) + "' is in '" +
                       index.shards[shard] + "', but 'weight_map' ";
    if (found == index.entries.end() || found->tensor != tensor.name)
      return badIndex(here + "does not name it");
    if (found->shard != shard)
      return badIndex(here + "puts it in '" + index.shards[found->shard] + "'");
  }
  return Status::ok();
}

/// Names a tensor of the index that no shard contains.
Status missingTensor(const IndexHandler &index,
                     const std::vector<CheckpointTensor> &tensors) {
  std::vector<std::string_view> names;
  for (const CheckpointTensor &tensor : tensors)
    names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  for (const IndexEntry &entry : index.entries)
    if (!std::binary_search(names.begin(), names.end(), entry.tensor))
      return Status(StatusCode::NotFound,
                    index.shards[entry.shard] + ": tensor '" +
                        printable(entry.tensor) +
                        "' is missing, although it is listed in " + indexName,
                    "fetch the model again");
  return Status(StatusCode::Internal, "no tensor is missing");
}

} // namespace

Expected<std::vector<CheckpointTensor>>
readSafetensorsFolder(const std::string &folder,
                      std::vector<std::shared_ptr<const MappedFile>> &files) {
  auto map =
      [&](const std::string &name,
          uint64_t maxBytes) -> Expected<std::shared_ptr<const MappedFile>> {
    Expected<MappedFile> file = MappedFile::open(folder + "/" + name, maxBytes);
    if (!file)
      return file.takeStatus();
    files.push_back(std::make_shared<const MappedFile>(std::move(*file)));
    return files.back();
  };

  auto single = map(singleName, UINT64_MAX);
  if (single)
    return readSafetensors(*single);
  if (single.status().code() != StatusCode::NotFound)
    return single.takeStatus();
  auto indexFile = map(indexName, maxIndexBytes);
  if (!indexFile)
    return indexFile.takeStatus();
  Expected<IndexHandler> index = readIndex(**indexFile);
  if (!index)
    return index.takeStatus();

  std::vector<CheckpointTensor> all;
  for (uint32_t i = 0; i < index->shards.size(); ++i) {
    auto file = map(index->shards[i], UINT64_MAX);
    if (!file)
      return file.takeStatus().withContext(indexName);
    auto tensors = readSafetensors(*file);
    if (!tensors)
      return tensors.takeStatus();
    LLMIR_RETURN_IF_ERROR(checkShard(*index, i, *tensors));
    std::move(tensors->begin(), tensors->end(), std::back_inserter(all));
  }
  if (all.size() != index->entries.size())
    return missingTensor(*index, all);
  return all;
}

} // namespace llmir
