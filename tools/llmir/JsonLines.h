//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests and answers as lines of JSON, as tokenize, embed and batch have
// them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_JSONLINES_H
#define LLMIR_TOOLS_LLMIR_JSONLINES_H

#include "llmir/Support/Json.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir::cli {

/// The text of an answer: one line, in ASCII, because some readers treat U+2028
/// or U+0085 as line ends.
std::string jsonLine(const Json &answer);

/// {"code": ..., "message": ...} of a request that failed.
Json jsonError(const Status &failure);

/// The token ids of a key, which must be an array of whole numbers from 0.
Expected<std::vector<int32_t>> readIds(const JsonReader &request,
                                       const char *key);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_JSONLINES_H
