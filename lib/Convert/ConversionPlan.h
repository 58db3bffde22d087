//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a conversion writes, before anything is written.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERT_CONVERSIONPLAN_H
#define LLMIR_LIB_CONVERT_CONVERSIONPLAN_H

#include "Recipes.h"

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Checkpoint/GGUFWriter.h"
#include "llmir/Convert/ConvertModel.h"
#include "llmir/Convert/ImportanceMatrix.h"
#include "llmir/Frontend/GGUFTensors.h"

#include <optional>
#include <string>
#include <vector>

namespace llmir {

struct PlannedTensor {
  GGUFTensor out;
  GGUFTensorSource source;
  /// The source's tensor if it already has the format: its bytes are copied.
  const CheckpointTensor *copied = nullptr;
  Span<const float> weights; ///< Of all columns of all matrices, or empty.
};

/// A file of the result.
struct PlannedFile {
  std::string path;
  size_t first = 0, end = 0; ///< Tensors.
  int64_t bytes = 0;         ///< With the header.
};

struct ConversionPlan {
  static Expected<ConversionPlan> make(const ConvertOptions &options);

  Checkpoint checkpoint;
  std::optional<ImportanceMatrix> importance;
  const Recipe *recipe;
  GGUFKeys keys; ///< Of the first file.
  std::vector<PlannedTensor> tensors;
  std::vector<PlannedFile> files;
  std::vector<std::string> notes; ///< For the user.

  int64_t bytes() const;
  /// The header of a file.
  std::string header(size_t file) const;

private:
  ConversionPlan(Checkpoint checkpoint, const Recipe *recipe)
      : checkpoint(std::move(checkpoint)), recipe(recipe) {}

  Status addTensors();
  Status chooseFormats();
  Status findWeights();
  Status addKeys(const ConvertOptions &options);
  Status addFolderKeys(const ConvertOptions &options);
  Status addTokenizer(const ConvertOptions &options);
  Status addTemplates();
  void divide(const ConvertOptions &options);
};

/// Writes the planned files.
Status writeConversion(const ConversionPlan &plan,
                       const ConvertOptions &options);

} // namespace llmir

#endif // LLMIR_LIB_CONVERT_CONVERSIONPLAN_H
