//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Base64 (RFC 4648), in which tokenizer files write bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_BASE64_H
#define LLMIR_LIB_TOKENIZER_BASE64_H

#include <optional>
#include <string>
#include <string_view>

namespace llmir {

/// The bytes; nullopt if the text is not base64. Padding may be missing.
std::optional<std::string> decodeBase64(std::string_view text);

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_BASE64_H
