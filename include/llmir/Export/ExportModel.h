//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint traced and written in a form for people or other engines.
// llmirExport() of llmir-c/Compiler.h is a thin wrapper around it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_EXPORTMODEL_H
#define LLMIR_EXPORT_EXPORTMODEL_H

#include "mllm/ir/GraphVisitor.h"

#include <string>

namespace llmir {

struct ExportModelOptions {
  std::string model;  ///< Hugging Face folder or GGUF file.
  std::string format; ///< "svg" or "dot".
  std::string output; ///< The file; empty or "-" = standard output.
  ::mllm::ir::GraphOptions sizes;
};

/// Fails with InvalidArgument for an unknown format, else as opening, tracing,
/// drawing and writing do.
Status exportModel(const ExportModelOptions &options);

} // namespace llmir

#endif // LLMIR_EXPORT_EXPORTMODEL_H
