//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A 64-bit hash of bytes as text, for names of cache entries. It need not
// resist attacks: the full key of an entry is stored with it and compared.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_HASH_H
#define LLMIR_TOOLS_LLMIR_HASH_H

#include <cstdint>
#include <string>
#include <string_view>

namespace llmir::cli {

/// FNV-1a, 16 hexadecimal digits.
inline std::string hashText(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  std::string text(16, '0');
  for (size_t i = 16; i-- > 0; hash >>= 4)
    text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_HASH_H
