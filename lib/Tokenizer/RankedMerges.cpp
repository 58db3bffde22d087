//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vocabularies without merges: a pair of adjacent tokens merges if it is a
// token, in the order of ids.
//
//===----------------------------------------------------------------------===//

#include "Sources.h"
#include "Tables.h"
#include "Unicode.h"

namespace llmir {

/// Splitting a token everywhere takes quadratic time. Real ones are below 300
/// bytes.
static constexpr size_t maxRankedBytes = 1024;

Status addRankedMerges(const TokenTable &table, TokenizerSpec &spec) {
  auto find = [&](std::string_view text) {
    std::optional<int32_t> id = table.find(text);
    return id && (spec.flags[*id] & TokenMergeable) ? *id : -1;
  };
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const std::string_view text = spec.tokens[id];
    if (!(spec.flags[id] & TokenMergeable))
      continue;
    if (text.size() > maxRankedBytes)
      return Status(StatusCode::Unsupported,
                    "token " + std::to_string(id) + " is " +
                        std::to_string(text.size()) +
                        " bytes long; the limit of a vocabulary without "
                        "merges is " +
                        std::to_string(maxRankedBytes));
    for (size_t at = 0; at < text.size();) {
      at += firstUtf8Char(text.substr(at)).bytes;
      if (at == text.size())
        break;
      const int32_t left = find(text.substr(0, at));
      const int32_t right = left < 0 ? -1 : find(text.substr(at));
      if (right >= 0)
        spec.merges.push_back({left, right, static_cast<int32_t>(id)});
    }
  }
  spec.ranksAreIds = true;
  return Status::ok();
}

} // namespace llmir
