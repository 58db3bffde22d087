//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ids.h"
#include "StandardInput.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/MappedFile.h"

#include <charconv>

using namespace llmir;

Expected<std::vector<int32_t>> cli::parseIds(std::string_view text,
                                             const std::string &where) {
  std::vector<int32_t> ids;
  const char *separators = ", \t\r\n";
  for (size_t at = text.find_first_not_of(separators);
       at != std::string_view::npos;) {
    size_t end = text.find_first_of(separators, at);
    std::string_view word = text.substr(at, end - at);
    int32_t id = 0;
    auto [rest, error] =
        std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || rest != word.data() + word.size() || id < 0)
      return Status(StatusCode::InvalidArgument,
                    where + ": '" + printable(word, 20) + "' is not a token id",
                    "give numbers like 1,2,3");
    ids.push_back(id);
    at = text.find_first_not_of(
        separators, end == std::string_view::npos ? text.size() : end);
  }
  return ids;
}

std::string cli::formatIds(Span<const int32_t> ids) {
  std::string text;
  for (int32_t id : ids) {
    if (!text.empty())
      text += ',';
    text += std::to_string(id);
  }
  return text;
}

Expected<std::string> cli::readText(const std::string &path) {
  if (path != "-") {
    Expected<MappedFile> file = MappedFile::open(path);
    if (!file)
      return file.takeStatus();
    return std::string(file->text());
  }
  return readStandardInput();
}
