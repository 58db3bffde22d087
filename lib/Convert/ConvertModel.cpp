//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConversionPlan.h"

#include "llmir/Quantize/EncodeRow.h"
#include "llmir/Support/FileWriter.h"
#include "llmir/Support/ParallelFor.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <sys/statvfs.h>

using namespace llmir;

std::string llmir::allConvertTypes() { return allRecipeNames(); }

namespace {

/// Collects the elements of a tensor, encodes whole rows on all processors as
/// soon as there are enough of them, and appends them to a file.
class TensorWriter {
public:
  TensorWriter(const PlannedTensor &tensor, AtomicFile &file,
               const std::function<void(int64_t bytes)> &wrote)
      : tensor(tensor), file(file), wrote(wrote), columns(tensor.out.columns()),
        rowBytes(*tensorRowBytes(tensor.out.format, columns)) {
    constexpr int64_t elements = int64_t(1) << 22; // 16 MiB of f32.
    batch = std::max<int64_t>(elements / std::max<int64_t>(columns, 1), 1);
    if (ordersRows())
      batch = tensor.out.rows();
    values.reserve(
        static_cast<size_t>(std::min(batch, tensor.out.rows()) * columns));
  }

  /// Any number of elements: of rows, or of a part of one.
  Status take(Span<const float> more) {
    const size_t before = values.size();
    values.insert(values.end(), more.begin(), more.end());
    if (tensor.source.change != GGUFTensorSource::None)
      for (size_t i = before; i < values.size(); ++i)
        values[i] = changed(values[i]);
    const bool isFull = static_cast<int64_t>(values.size()) >= batch * columns;
    return isFull ? encode() : Status::ok();
  }
  /// After the last element.
  Status finish() {
    LLMIR_RETURN_IF_ERROR(encode());
    return file.padTo(ggufAlignment);
  }

private:
  float changed(float value) const {
    switch (tensor.source.change) {
    case GGUFTensorSource::None:
      return value;
    case GGUFTensorSource::PlusOne:
      return value + 1.0f;
    case GGUFTensorSource::MinusExp:
      return static_cast<float>(-std::exp(static_cast<double>(value)));
    }
    return value;
  }
  bool ordersRows() const {
    const GGUFTensorSource::HeadOrder &heads = tensor.source.heads;
    return heads.keyHeads > 0 && !heads.isOfColumns;
  }
  void orderHeads();
  Status encode();
  const float *weightsOf(int64_t row) const;

  const PlannedTensor &tensor;
  AtomicFile &file;
  const std::function<void(int64_t bytes)> &wrote;
  int64_t columns, rowBytes;
  int64_t batch;    ///< Rows that are encoded together.
  int64_t done = 0; ///< Rows that are written.
  std::vector<float> values;
  std::vector<uint8_t> encoded;
};

} // namespace

const float *TensorWriter::weightsOf(int64_t row) const {
  if (tensor.weights.empty())
    return nullptr;
  const std::vector<int64_t> &shape = tensor.out.shape;
  const int64_t matrix = row / shape[shape.size() - 2];
  return tensor.weights.data() + matrix * columns;
}

/// Moves `heads` value heads of `size` elements, which follow those of the same
/// key head, to where GGUF has them.
static void orderHeads(float *values, int64_t heads, int64_t keyHeads,
                       int64_t size) {
  const std::vector<float> old(values, values + heads * size);
  const int64_t ofEach = heads / keyHeads;
  for (int64_t head = 0; head < heads; ++head) {
    const int64_t to = head % ofEach * keyHeads + head / ofEach;
    std::copy_n(old.begin() + head * size, size, values + to * size);
  }
}

/// Rows are ordered when all of them are there.
void TensorWriter::orderHeads() {
  const GGUFTensorSource::HeadOrder &order = tensor.source.heads;
  const int64_t rows = static_cast<int64_t>(values.size()) / columns;
  if (ordersRows())
    return ::orderHeads(values.data() + order.first * columns,
                        (rows - order.first) / order.size, order.keyHeads,
                        order.size * columns);
  for (int64_t row = 0; row < rows; ++row)
    ::orderHeads(values.data() + row * columns, columns / order.size,
                 order.keyHeads, order.size);
}

Status TensorWriter::encode() {
  const int64_t rows =
      columns > 0 ? static_cast<int64_t>(values.size()) / columns : 0;
  if (tensor.source.heads.keyHeads > 0 && rows > 0)
    orderHeads();
  encoded.resize(static_cast<size_t>(rows * rowBytes));
  std::atomic<int64_t> wrong{-1};
  const bool isDone = parallelFor(0, rows, 16, [&](int64_t row) {
    if (!encodeTensorRow(tensor.out.format, values.data() + row * columns,
                         columns, weightsOf(done + row),
                         encoded.data() + row * rowBytes))
      wrong = done + row;
  });
  if (!isDone)
    return Status(StatusCode::ResourceExhausted, "not enough memory");
  if (wrong >= 0)
    return Status(StatusCode::InvalidFile,
                  "row " + std::to_string(wrong) + " of '" + tensor.out.name +
                      "' has an element that " +
                      std::string(tensorFormatInfo(tensor.out.format).name) +
                      " cannot represent: not finite, or too large",
                  "choose --type bf16 or f32");
  values.erase(values.begin(), values.begin() + rows * columns);
  done += rows;
  LLMIR_RETURN_IF_ERROR(file.write(encoded.data(), encoded.size()));
  wrote(static_cast<int64_t>(encoded.size()));
  return Status::ok();
}

static Status writeTensor(const ConversionPlan &plan,
                          const PlannedTensor &tensor, AtomicFile &file,
                          const std::function<void(int64_t bytes)> &wrote) {
  if (tensor.copied) {
    LLMIR_RETURN_IF_ERROR(file.write(tensor.copied->bytes));
    wrote(static_cast<int64_t>(tensor.copied->bytes.size()));
    return file.padTo(ggufAlignment);
  }
  TensorWriter writer(tensor, file, wrote);
  const std::vector<float> &values = tensor.source.values;
  LLMIR_RETURN_IF_ERROR(writer.take({values.data(), values.size()}));
  for (const StoredParameter &part : tensor.source.parts)
    LLMIR_RETURN_IF_ERROR(
        readRows(plan.checkpoint, part,
                 [&](Span<const float> row) { return writer.take(row); }));
  return writer.finish();
}

/// Fails if the result does not fit on the disk.
static Status checkSpace(const ConversionPlan &plan) {
  const std::string &path = plan.files.front().path;
  const size_t slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct statvfs disk;
  if (statvfs(folder.c_str(), &disk) != 0)
    return Status::ok(); // Creating the file reports why.
  const uint64_t free = uint64_t(disk.f_bavail) * disk.f_frsize;
  if (static_cast<uint64_t>(plan.bytes()) <= free)
    return Status::ok();
  return Status(StatusCode::ResourceExhausted,
                "the result has " +
                    formatBytes(static_cast<double>(plan.bytes())) + ", and '" +
                    folder + "' has " + formatBytes(static_cast<double>(free)) +
                    " of free space",
                "free some, choose a smaller --type or another directory");
}

Status llmir::writeConversion(const ConversionPlan &plan,
                              const ConvertOptions &options) {
  LLMIR_RETURN_IF_ERROR(checkSpace(plan));
  const auto total = static_cast<double>(std::max<int64_t>(plan.bytes(), 1));
  int64_t written = 0;
  std::vector<AtomicFile> files;
  for (size_t i = 0; i < plan.files.size(); ++i) {
    Expected<AtomicFile> file = AtomicFile::create(plan.files[i].path);
    if (!file)
      return file.takeStatus();
    const std::string header = plan.header(i);
    LLMIR_RETURN_IF_ERROR(file->write(header));
    for (size_t t = plan.files[i].first; t < plan.files[i].end; ++t) {
      const PlannedTensor &tensor = plan.tensors[t];
      auto wrote = [&](int64_t bytes) {
        written += bytes;
        if (options.progress)
          options.progress(tensor.out.name.c_str(),
                           static_cast<double>(written) / total);
      };
      LLMIR_RETURN_IF_ERROR(writeTensor(plan, tensor, *file, wrote));
    }
    LLMIR_RETURN_IF_ERROR(file->flush());
    files.push_back(std::move(*file));
  }
  for (AtomicFile &file : files)
    LLMIR_RETURN_IF_ERROR(file.commit());
  return Status::ok();
}

static Json reportOf(const ConversionPlan &plan,
                     const ConvertOptions &options) {
  Json files = Json::array(), tensors = Json::array();
  for (const PlannedFile &file : plan.files)
    files.push_back({{"path", file.path}, {"bytes", file.bytes}});
  for (const PlannedTensor &tensor : plan.tensors)
    tensors.push_back({{"name", tensor.out.name},
                       {"shape", tensor.out.shape},
                       {"type", tensorFormatInfo(tensor.out.format).name},
                       {"bytes", tensor.out.bytes()},
                       {"weighted", !tensor.weights.empty()}});
  return {{"type", plan.recipe->name}, {"files", std::move(files)},
          {"bytes", plan.bytes()},     {"tensors", std::move(tensors)},
          {"notes", plan.notes},       {"dry_run", options.dryRun}};
}

Expected<Json> llmir::convertModel(const ConvertOptions &options) {
  Expected<ConversionPlan> plan = ConversionPlan::make(options);
  if (!plan)
    return plan.takeStatus();
  if (!options.dryRun)
    LLMIR_RETURN_IF_ERROR(writeConversion(*plan, options));
  return reportOf(*plan, options);
}
