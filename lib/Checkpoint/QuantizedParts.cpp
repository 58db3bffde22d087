//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedParts.h"

#include <algorithm>

using namespace llmir;

QuantizedParts::QuantizedParts(const JsonReader &options,
                               const std::vector<CheckpointTensor> &tensors)
    : config(options), all(tensors) {
  for (const CheckpointTensor &tensor : tensors)
    byName.emplace(tensor.name, &tensor);
}

void QuantizedParts::setBase(std::string name) {
  base = std::move(name);
  found.clear();
}

Status QuantizedParts::failure(StatusCode code, std::string_view suffix,
                               const std::string &problem) const {
  return Status(code,
                (found.empty() || !found[0]->file
                     ? std::string()
                     : std::string(found[0]->file->name()) + ": ") +
                    "tensor '" + printable(base + std::string(suffix)) + "' " +
                    problem,
                code == StatusCode::Unsupported
                    ? "use the original checkpoint, or a GGUF file"
                    : "the file is damaged or not of the kind that "
                      "'quantization_config' names: fetch it again");
}

const CheckpointTensor *QuantizedParts::find(std::string_view suffix) {
  const std::string name = base + std::string(suffix);
  auto known = byName.find(name);
  return known == byName.end() ? nullptr : known->second;
}

Expected<const CheckpointTensor *>
QuantizedParts::part(std::string_view suffix,
                     std::initializer_list<std::string_view> types,
                     const std::vector<int64_t> &shape) {
  const CheckpointTensor *tensor = find(suffix);
  if (!tensor)
    return failure(StatusCode::NotFound, suffix, "is missing");
  if (std::find(types.begin(), types.end(), tensor->storageName) ==
      types.end()) {
    std::string known;
    for (std::string_view type : types)
      known += (known.empty() ? "" : " or ") + std::string(type);
    return failure(StatusCode::InvalidFile, suffix,
                   "is stored as " + tensor->storageName + "; expected " +
                       known);
  }
  bool fits = tensor->shape.size() == shape.size();
  std::string wanted;
  for (size_t i = 0; i < shape.size(); ++i) {
    fits = fits && (shape[i] < 0 || tensor->shape[i] == shape[i]);
    wanted += (i ? ", " : "") +
              (shape[i] < 0 ? std::string("?") : std::to_string(shape[i]));
  }
  if (!fits)
    return failure(StatusCode::InvalidFile, suffix,
                   "has shape " + tensor->shapeText() + "; expected [" +
                       wanted + "]");
  if (tensor->bytes.empty())
    return failure(StatusCode::InvalidFile, suffix, "is empty");
  if (used.insert(tensor->name).second)
    found.push_back(tensor);
  return tensor;
}

void QuantizedParts::add(std::string_view suffix, std::vector<int64_t> shape,
                         TensorFormat format, std::string storageName,
                         std::unique_ptr<AssembledRows> rows) {
  CheckpointTensor matrix;
  matrix.name = base + std::string(suffix);
  matrix.format = format;
  matrix.storageName = std::move(storageName);
  matrix.shape = std::move(shape);
  matrix.file = found[0]->file;
  for (const CheckpointTensor *part : found) {
    rows->files.push_back(part->file);
    rows->storedBytes += part->bytes.size();
  }
  matrix.rows = std::move(rows);
  matrices.push_back(std::move(matrix));
}

bool QuantizedParts::hasMatrix(std::string_view suffix) const {
  const std::string name = base + std::string(suffix);
  return std::any_of(
      matrices.begin(), matrices.end(),
      [&](const CheckpointTensor &matrix) { return matrix.name == name; });
}
