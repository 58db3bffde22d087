//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the files of a repository that a model consists of, from the names
// alone. The same rules apply to the listing of a server and to the cache.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_HUB_FILECHOICE_H
#define LLMIR_HUB_FILECHOICE_H

#include "llmir/Hub/ModelReference.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace llmir::hub {

/// A file of a repository; `hash` is empty for files of the cache.
struct FileEntry {
  std::string path;
  uint64_t size = 0;
  /// SHA-256 of the content (64 digits), or Git's SHA-1 of it as a blob (40).
  std::string hash;
};

/// Files of one model, as indices of the listing.
struct FileChoice {
  std::vector<size_t> files;
  /// What MODEL is, relative to the snapshot: a file, or empty for all of it.
  std::string model;
};

/// Returns the text of a file of the listing.
using ReadText = std::function<Expected<std::string>(const FileEntry &)>;

/// The files for `reference`:
///   - with a selector: the file of that path or name with all other parts of a
///     split one, or the GGUF file of that quantization;
///   - else safetensors weights with config and tokenizer, if there are any;
///   - else the only GGUF model.
/// NotFound, with the possible selectors, if nothing or more than one model
/// fits, and if a part is missing. Names are checked (checkFileName).
Expected<FileChoice> chooseFiles(const std::vector<FileEntry> &listing,
                                 const ModelReference &reference,
                                 const ReadText &readText);

} // namespace llmir::hub

#endif // LLMIR_HUB_FILECHOICE_H
