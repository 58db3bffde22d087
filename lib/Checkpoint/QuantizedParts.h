//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds and checks the tensors that describe one quantized matrix, for the
// reader of each method.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHECKPOINT_QUANTIZEDPARTS_H
#define LLMIR_LIB_CHECKPOINT_QUANTIZEDPARTS_H

#include "QuantizedRows.h"

#include "llmir/Checkpoint/CheckpointTensor.h"
#include "llmir/Support/Json.h"

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

class QuantizedParts {
public:
  /// `options` is "quantization_config"; both outlive this.
  QuantizedParts(const JsonReader &options,
                 const std::vector<CheckpointTensor> &tensors);

  /// The matrix to which part() refers: "model.layers.0.mlp.up_proj".
  void setBase(std::string name);

  const JsonReader &options() const { return config; }
  const std::vector<CheckpointTensor> &tensors() const { return all; }
  /// The tensor of the matrix with that suffix; null if there is none.
  const CheckpointTensor *find(std::string_view suffix);
  /// find() of a tensor of one of these storage types, with this shape where
  /// one is given; -1 matches any size.
  Expected<const CheckpointTensor *>
  part(std::string_view suffix, std::initializer_list<std::string_view> types,
       const std::vector<int64_t> &shape);
  /// part() of a type of floats.
  Expected<const CheckpointTensor *> floats(std::string_view suffix,
                                            const std::vector<int64_t> &shape) {
    return part(suffix, {"F32", "F16", "BF16"}, shape);
  }

  /// Adds the matrix `base + suffix`. Its parts are those found since setBase.
  void add(std::string_view suffix, std::vector<int64_t> shape,
           TensorFormat format, std::string storageName,
           std::unique_ptr<AssembledRows> rows);

  Status failure(StatusCode code, std::string_view suffix,
                 const std::string &problem) const;

  bool isUsed(const std::string &name) const { return used.count(name) != 0; }
  /// True if the matrix `base + suffix` has been added.
  bool hasMatrix(std::string_view suffix) const;
  std::vector<CheckpointTensor> takeMatrices() { return std::move(matrices); }

private:
  const JsonReader &config;
  const std::vector<CheckpointTensor> &all;
  std::map<std::string_view, const CheckpointTensor *> byName;
  std::string base;
  std::vector<const CheckpointTensor *> found; ///< Since setBase.
  std::set<std::string> used;
  std::vector<CheckpointTensor> matrices;
};

/// The scales of a matrix, one for each block of rows and columns.
struct ScaleGrid {
  FloatPart scales; ///< By default 1.
  TensorFormat format = TensorFormat::F32;
  std::vector<int64_t> shape;
  int64_t blockRows = 1, blockColumns = 1;
  int64_t scaleRow = 0; ///< Scales from one row of blocks to the next.
};

/// Fails with Unsupported for options of a method that LLMIR does not read.
Status checkOptions(std::string_view method, const JsonReader &options);

// The readers. Layouts are those of the methods' own libraries; see
// docs/Quantization.md.
Status readGPTQ(QuantizedParts &parts);
Status readAWQ(QuantizedParts &parts);
Status readPackedIntegers(QuantizedParts &parts); ///< compressed-tensors.
/// FP8 or int8 with scales; nothing if the scales have been read.
Status readScaledMatrix(QuantizedParts &parts);
Status readSignedBytes(QuantizedParts &parts, const ScaleGrid &grid);
Status readBitsAndBytes4(QuantizedParts &parts);
Status readBitsAndBytes8(QuantizedParts &parts);
Status readMXFP4(QuantizedParts &parts);
/// FP8 matrices without scales, which a checkpoint that names no method can
/// have.
Status readUnscaledBytes(QuantizedParts &parts, bool mayLackScale);

} // namespace llmir

#endif // LLMIR_LIB_CHECKPOINT_QUANTIZEDPARTS_H
