//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/Json.h"

#include <cstdio>
#include <iterator>

namespace llmir {

namespace {

constexpr std::string_view suffix = ".gguf";

/// The part numbers of a name that ends in "-00001-of-00003.gguf".
struct SplitName {
  std::string prefix; ///< Everything before, including the directory.
  int64_t number, count;
};

std::optional<int64_t> fiveDigits(std::string_view text) {
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9')
      return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<SplitName> splitNameOf(const std::string &path) {
  constexpr size_t tailBytes = sizeof("-00001-of-00003.gguf") - 1;
  if (path.size() <= tailBytes)
    return std::nullopt;
  std::string_view tail =
      std::string_view(path).substr(path.size() - tailBytes);
  auto number = fiveDigits(tail.substr(1, 5));
  auto count = fiveDigits(tail.substr(10, 5));
  if (!number || !count || tail[0] != '-' || tail.substr(6, 4) != "-of-" ||
      tail.substr(15) != suffix)
    return std::nullopt;
  return SplitName{path.substr(0, path.size() - tailBytes), *number, *count};
}

/// The path of a part, derived from the first part's, so that names in a file
/// cannot refer to other directories.
std::string partPath(const SplitName &name, int64_t number) {
  char tail[32];
  std::snprintf(tail, sizeof tail, "-%05d-of-%05d.gguf",
                static_cast<int>(number), static_cast<int>(name.count));
  return name.prefix + tail;
}

/// Checks a part's split.no (from 0) and split.count.
Status checkPart(const GGUFMetadata &metadata, int64_t number, int64_t count) {
  Expected<int64_t> no = metadata.integer("split.no", 0, count - 1);
  if (!no)
    return no.takeStatus();
  if (*no != number)
    return metadata.failure(StatusCode::InvalidFile, "split.no",
                            "is " + std::to_string(*no) + "; expected " +
                                std::to_string(number) +
                                ", as the file's name says");
  Expected<int64_t> declared = metadata.integer("split.count");
  if (!declared)
    return declared.takeStatus();
  if (*declared != count)
    return metadata.failure(StatusCode::InvalidFile, "split.count",
                            "is " + std::to_string(*declared) + "; expected " +
                                std::to_string(count) +
                                ", as the file's name says");
  return Status::ok();
}

/// The file's name without directory and extension.
std::string stemOf(const GGUFMetadata &metadata) {
  std::string name = metadata.fileName();
  if (name.size() > suffix.size() &&
      std::string_view(name).substr(name.size() - suffix.size()) == suffix)
    name.resize(name.size() - suffix.size());
  return name;
}

using Files = std::vector<std::shared_ptr<const MappedFile>>;

/// Appends the tensors and files of the parts after the first.
Status readOtherParts(const std::string &path, const GGUFMetadata &first,
                      int64_t count, std::vector<CheckpointTensor> &tensors,
                      Files &files) {
  std::optional<SplitName> name = splitNameOf(path);
  if (!name)
    return first.failure(StatusCode::InvalidArgument, "split.count",
                         "is " + std::to_string(count) +
                             ", but the file's name does not end in "
                             "-00001-of-000NN.gguf",
                         "restore the names of the parts");
  if (name->number != 1)
    return Status(StatusCode::InvalidArgument,
                  "'" + path + "' is part " + std::to_string(name->number) +
                      " of " + std::to_string(name->count),
                  "give the first part, '" + partPath(*name, 1) + "'");
  LLMIR_RETURN_IF_ERROR(checkPart(first, 0, name->count));
  for (int64_t number = 2; number <= name->count; ++number) {
    Expected<GGUFFile> part = GGUFFile::open(partPath(*name, number));
    if (!part)
      return part.takeStatus();
    LLMIR_RETURN_IF_ERROR(checkPart(part->metadata(), number - 1, name->count));
    files.push_back(part->metadata().mappedFile());
    std::vector<CheckpointTensor> more = part->takeTensors();
    std::move(more.begin(), more.end(), std::back_inserter(tensors));
  }
  int64_t found = static_cast<int64_t>(tensors.size());
  Expected<int64_t> total = first.integerOr("split.tensors.count", found);
  if (!total)
    return total.takeStatus();
  if (*total != found)
    return first.failure(StatusCode::InvalidFile, "split.tensors.count",
                         "is " + std::to_string(*total) +
                             ", but the parts hold " + std::to_string(found) +
                             " tensors");
  return Status::ok();
}

} // namespace

Expected<Checkpoint> Checkpoint::openGGUF(const std::string &path) {
  Expected<GGUFFile> file = GGUFFile::open(path);
  if (!file)
    return file.takeStatus();
  Checkpoint result;
  result.rootPath = path;
  result.checkpointKind = CheckpointKind::GGUF;
  result.tensorList = file->takeTensors();
  result.metadata = file->takeMetadata();
  const GGUFMetadata &metadata = *result.metadata;
  result.fileList.push_back(metadata.mappedFile());

  Expected<int64_t> parts = metadata.integerOr("split.count", 1, 0, 99999);
  if (!parts)
    return parts.takeStatus();
  if (*parts > 1)
    LLMIR_RETURN_IF_ERROR(readOtherParts(path, metadata, *parts,
                                         result.tensorList, result.fileList));
  LLMIR_RETURN_IF_ERROR(result.indexTensors());
  auto config = modelConfigFromGGUF(metadata, result.tensorList);
  if (!config)
    return config.takeStatus();
  result.modelConfig = std::move(*config);
  if (result.modelConfig.modelName.empty())
    result.modelConfig.modelName = stemOf(metadata);
  LLMIR_RETURN_IF_ERROR(checkGGUFTokenizer(metadata));
  return result;
}

} // namespace llmir
