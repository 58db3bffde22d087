//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The name of a model on the Hugging Face Hub, as users write it:
//
//   ORG/NAME[@REVISION][:SELECTOR]
//
// SELECTOR is a quantization of a GGUF repository ("Q4_K_M") or a file of the
// repository ("q4/model-00001-of-00002.gguf").
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_HUB_MODELREFERENCE_H
#define LLMIR_HUB_MODELREFERENCE_H

#include "llmir/Support/Status.h"

#include <string>
#include <string_view>

namespace llmir::hub {

struct ModelReference {
  std::string repository;        ///< "ORG/NAME"; "NAME" for some old models.
  std::string revision = "main"; ///< A branch, a tag, refs/pr/N or a commit.
  std::string selector;          ///< Empty: the repository's only choice.

  /// InvalidArgument, naming the part that is wrong.
  static Expected<ModelReference> parse(std::string_view text);
  /// The inverse of parse(), without the default revision.
  std::string text() const;
};

/// True for 40 lower-case hexadecimal digits.
bool isCommit(std::string_view text);

/// Checks a file name from a server or an index before it becomes a path below
/// a directory: relative, no "..", no empty component, no control characters,
/// no backslash, no drive, components and total of usual length. InvalidFile.
Status checkFileName(std::string_view name);

} // namespace llmir::hub

#endif // LLMIR_HUB_MODELREFERENCE_H
