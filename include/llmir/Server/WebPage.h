//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The page at "/", which is embedded in the program.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_WEBPAGE_H
#define LLMIR_SERVER_WEBPAGE_H

#include "llmir/Support/Span.h"

namespace llmir {

/// The page's HTML; empty in builds without it.
Span<const char> webPage();

} // namespace llmir

#endif // LLMIR_SERVER_WEBPAGE_H
