//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/WebPage.h"

namespace llmir {

/// The page, if this build has it, and a zero.
static constexpr unsigned char page[] = {
#include "WebPage.inc"
    0};

Span<const char> webPage() {
  return {reinterpret_cast<const char *>(page), sizeof(page) - 1};
}

} // namespace llmir
