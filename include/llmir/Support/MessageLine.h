//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages name files, tensors and texts that come from elsewhere, so they may
// hold anything. Whatever prints a message passes it through here; a Status
// does so itself.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_MESSAGELINE_H
#define LLMIR_SUPPORT_MESSAGELINE_H

#include <cstddef>
#include <string>
#include <string_view>

namespace llmir {

/// Most bytes of a line that messageLine() gives.
constexpr size_t kMostMessageBytes = 2048;

/// The message as one line that a terminal may show: control characters, line
/// ends, marks of direction and invalid UTF-8 as \xNN; of a longer one the
/// middle is left out, so that what it speaks of and what to do both stay.
std::string messageLine(std::string_view message);

} // namespace llmir

#endif // LLMIR_SUPPORT_MESSAGELINE_H
