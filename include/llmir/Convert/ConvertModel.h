//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion of a checkpoint, a Hugging Face directory or a GGUF file, to GGUF.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERT_CONVERTMODEL_H
#define LLMIR_CONVERT_CONVERTMODEL_H

#include "llmir/Support/Json.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <functional>
#include <string>

namespace llmir {

struct ConvertOptions {
  std::string model;            ///< Hugging Face directory or .gguf file.
  std::string output;           ///< The .gguf file.
  std::string type;             ///< A name of allConvertTypes().
  std::string importanceMatrix; ///< A file, or empty.
  std::string preTokenizer;     ///< See GGUFTokenizerOptions.
  /// Maximum bytes of tensors in a file; 0: one file.
  int64_t splitBytes = 0;
  bool dryRun = false; ///< Plan only; nothing is written.
  /// What is done, and how much of everything, from 0 to 1.
  std::function<void(const char *stage, double fraction)> progress;
};

/// "f32, f16, …".
std::string allConvertTypes();

/// Converts the model, one tensor at a time, and returns a report: "files",
/// "bytes", "type", "tensors" (each with name, shape, type, bytes), "notes".
/// The files are written beside their names and renamed when all are complete.
/// InvalidArgument for wrong options; ResourceExhausted if the disk has too
/// little space.
Expected<Json> convertModel(const ConvertOptions &options);

} // namespace llmir

#endif // LLMIR_CONVERT_CONVERTMODEL_H
