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

#include <string>

namespace llmir::cli {

/// The text of an answer: one line, in ASCII, because some readers treat U+2028
/// or U+0085 as line ends.
std::string jsonLine(const Json &answer);

/// {"code": ..., "message": ...} of a request that failed.
Json jsonError(const Status &failure);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_JSONLINES_H
