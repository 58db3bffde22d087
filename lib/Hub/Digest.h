//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SHA-256, and Git's SHA-1 of a blob: the names of blobs in the Hub's cache.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_HUB_DIGEST_H
#define LLMIR_LIB_HUB_DIGEST_H

#include "llmir/Support/Status.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace llmir::hub {

/// The hash of `text` in the form of `expected`: SHA-256 if that has 64 digits,
/// else Git's SHA-1.
Expected<std::string> hashLike(const std::string &expected,
                               std::string_view text);

/// The same for the first `size` bytes of an open file; IoError if it has
/// fewer, and if `stop` was set meanwhile.
Expected<std::string> hashLike(const std::string &expected, int descriptor,
                               uint64_t size, const std::string &path,
                               const std::atomic<bool> *stop = nullptr);

/// True for 64 or 40 lower-case hexadecimal digits.
bool isHash(std::string_view text);

} // namespace llmir::hub

#endif // LLMIR_LIB_HUB_DIGEST_H
