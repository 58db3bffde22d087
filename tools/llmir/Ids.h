//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Token ids as text: "1,2,3".
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_IDS_H
#define LLMIR_TOOLS_LLMIR_IDS_H

#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmir::cli {

/// Parses ids separated by commas or white space. `where` prefixes the error,
/// which names the first word that is not an id.
Expected<std::vector<int32_t>> parseIds(std::string_view text,
                                        const std::string &where);

/// "1,2,3"
std::string formatIds(Span<const int32_t> ids);

/// The whole contents of a file, or of standard input for "-".
Expected<std::string> readText(const std::string &path);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_IDS_H
