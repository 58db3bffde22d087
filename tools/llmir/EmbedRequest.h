//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line of `llmir embed --jsonl`: {"text": …} or {"ids": …}.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_EMBEDREQUEST_H
#define LLMIR_TOOLS_LLMIR_EMBEDREQUEST_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmir::cli {

struct EmbedRequest {
  std::optional<std::string> text;
  std::vector<int32_t> ids; ///< If there is no text.
};

/// Parses a line. Failures name `where` and the key.
Expected<EmbedRequest> parseEmbedRequest(const std::string &line,
                                         const std::string &where);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_EMBEDREQUEST_H
