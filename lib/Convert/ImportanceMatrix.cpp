//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Convert/ImportanceMatrix.h"

#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Support/Json.h"
#include "llmir/Support/MappedFile.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace llmir;

static constexpr int32_t maxNameBytes = 256;
static constexpr const char *advice =
    "give a file of llama.cpp's imatrix tool for this model";

static Status invalid(const std::string &file, const std::string &problem) {
  return Status(StatusCode::InvalidFile, file + ": " + problem, advice);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// Each matrix's weights are divided by their mean. Columns that were never
/// active keep a small weight, so that their elements are not arbitrary; a
/// matrix that was never used has equal weights.
static void normalize(float *weights, int64_t columns) {
  constexpr double least = 1e-4;
  double sum = 0;
  for (int64_t i = 0; i < columns; ++i)
    sum += weights[i];
  const double mean = sum / static_cast<double>(columns);
  for (int64_t i = 0; i < columns; ++i)
    weights[i] = mean > 0
                     ? static_cast<float>(std::max(weights[i] / mean, least))
                     : 1.0f;
}

Status ImportanceMatrix::add(std::string_view tensor,
                             std::vector<float> weights, int64_t columns) {
  for (float weight : weights)
    if (!(weight >= 0) || std::isinf(weight))
      return invalid(name, "'" + printable(tensor) + "' has the element " +
                               describeJson(weight) +
                               "; expected means of squares");
  const auto count = static_cast<int64_t>(weights.size());
  for (int64_t i = 0; i + columns <= count; i += columns)
    normalize(weights.data() + i, columns);
  if (!entries.emplace(tensor, std::move(weights)).second)
    return invalid(name, "'" + printable(tensor) + "' is there twice");
  return Status::ok();
}

Expected<Span<const float>> ImportanceMatrix::find(std::string_view tensor,
                                                   int64_t matrices,
                                                   int64_t columns) const {
  auto found = entries.find(tensor);
  if (found == entries.end())
    return Span<const float>();
  const auto count = static_cast<int64_t>(found->second.size());
  if (count != matrices * columns)
    return invalid(name, "'" + printable(tensor) + "' has " +
                             std::to_string(count) +
                             " elements; the model's tensor has " +
                             std::to_string(matrices * columns) + " columns");
  return Span<const float>(found->second.data(), found->second.size());
}

//===----------------------------------------------------------------------===//
// The old format
//===----------------------------------------------------------------------===//

namespace {

/// Reads 32-bit numbers and texts, with the end in view.
class Cursor {
public:
  explicit Cursor(Span<const uint8_t> bytes) : bytes(bytes) {}

  bool integer(int32_t &value) { return take(&value, sizeof value); }
  bool text(std::string &value, int32_t most) {
    int32_t size;
    if (!integer(size) || size < 0 || size > most || !has(size))
      return false;
    value.assign(reinterpret_cast<const char *>(bytes.data()) + at,
                 static_cast<size_t>(size));
    at += static_cast<size_t>(size);
    return true;
  }
  bool floats(std::vector<float> &values, int32_t count) {
    if (count < 1 || !has(int64_t(count) * 4))
      return false;
    values.resize(static_cast<size_t>(count));
    return take(values.data(), values.size() * 4);
  }
  bool atEnd() const { return at == bytes.size(); }
  size_t position() const { return at; }

private:
  bool has(int64_t size) const {
    return static_cast<uint64_t>(size) <= bytes.size() - at;
  }
  bool take(void *to, size_t size) {
    if (!has(static_cast<int64_t>(size)))
      return false;
    std::memcpy(to, bytes.data() + at, size);
    at += size;
    return true;
  }

  Span<const uint8_t> bytes;
  size_t at = 0;
};

} // namespace

/// i32 entries, each: text name, i32 calls, i32 count, f32[count] sums of means
/// of squares; then, in newer files, i32 chunks and the text of the data set's
/// name. A text is an i32 length and its bytes.
Status ImportanceMatrix::readOld(Span<const uint8_t> bytes) {
  Cursor cursor(bytes);
  auto truncated = [&](const std::string &what) {
    return invalid(name, what + " is wrong (byte " +
                             std::to_string(cursor.position()) + ")");
  };
  int32_t count;
  if (!cursor.integer(count) || count < 1)
    return truncated("the number of entries");
  for (int32_t i = 0; i < count; ++i) {
    const std::string entry = "entry " + std::to_string(i);
    std::string tensor;
    int32_t calls, elements;
    std::vector<float> weights;
    if (!cursor.text(tensor, maxNameBytes) || tensor.empty())
      return truncated("the name of " + entry);
    if (!cursor.integer(calls) || calls < 0 || !cursor.integer(elements) ||
        !cursor.floats(weights, elements))
      return truncated("the size of " + entry + " '" + printable(tensor) + "'");
    // Experts are not told apart: the mean over all of them is kept for each.
    LLMIR_RETURN_IF_ERROR(add(tensor, std::move(weights), elements));
  }
  int32_t chunks;
  if (cursor.atEnd())
    return Status::ok();
  if (!cursor.integer(chunks) || chunks < 0 ||
      !cursor.text(datasetName, 1 << 16))
    return truncated("what follows the entries");
  chunkCount = chunks;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// GGUF
//===----------------------------------------------------------------------===//

static std::vector<float> valuesOf(const CheckpointTensor &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.numElements()));
  decodeTensorRow(TensorFormat::F32, tensor.bytes.data(), tensor.numElements(),
                  values.data());
  return values;
}

/// NAME.in_sum2 [matrices, columns]: sums of squares; NAME.counts [matrices,
/// 1]: how many rows were summed.
Status ImportanceMatrix::readGGUF(const std::string &path) {
  constexpr std::string_view sumsEnd = ".in_sum2", countsEnd = ".counts";
  Expected<GGUFFile> file = GGUFFile::open(path);
  if (!file)
    return file.takeStatus();
  std::map<std::string_view, const CheckpointTensor *> tensors;
  for (const CheckpointTensor &tensor : file->tensors())
    tensors.emplace(tensor.name, &tensor);
  for (const auto &[tensorName, sums] : tensors) {
    if (!endsWith(tensorName, sumsEnd))
      continue;
    const std::string tensor(
        tensorName.substr(0, tensorName.size() - sumsEnd.size()));
    auto counts = tensors.find(tensor + std::string(countsEnd));
    if (counts == tensors.end())
      return invalid(name, "'" + printable(tensor) + "' has no counts");
    const int64_t matrices = counts->second->numElements();
    const int64_t elements = sums->numElements();
    if (sums->format != TensorFormat::F32 ||
        counts->second->format != TensorFormat::F32 || matrices < 1 ||
        elements < 1 || elements % matrices != 0)
      return invalid(name, "'" + printable(tensor) + "' has sums " +
                               sums->shapeText() + " of type " +
                               sums->storageName + " and counts " +
                               counts->second->shapeText());
    std::vector<float> weights = valuesOf(*sums);
    const std::vector<float> rows = valuesOf(*counts->second);
    const int64_t columns = elements / matrices;
    for (size_t i = 0; i < weights.size(); ++i) {
      const float divisor = rows[i / static_cast<size_t>(columns)];
      weights[i] = divisor > 0 ? weights[i] / divisor : 0.0f;
    }
    LLMIR_RETURN_IF_ERROR(add(tensor, std::move(weights), columns));
  }
  if (entries.empty())
    return invalid(name, "there are no tensors *.in_sum2");
  const GGUFMetadata &metadata = file->metadata();
  if (Expected<GGUFArray> sets =
          metadata.array("imatrix.datasets", GGUFType::String))
    for (std::string_view set : sets->strings())
      datasetName += (datasetName.empty() ? "" : ", ") + printable(set, 200);
  Expected<int64_t> chunks =
      metadata.integerOr("imatrix.chunk_count", 0, 0, INT32_MAX);
  if (!chunks)
    return chunks.takeStatus();
  chunkCount = *chunks;
  return Status::ok();
}

Expected<ImportanceMatrix> ImportanceMatrix::open(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeStatus();
  ImportanceMatrix result;
  result.name = std::string(file->name());
  if (file->text().substr(0, 4) == "GGUF")
    LLMIR_RETURN_IF_ERROR(result.readGGUF(path));
  else
    LLMIR_RETURN_IF_ERROR(result.readOld(file->bytes()));
  return result;
}
