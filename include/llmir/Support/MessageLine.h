//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Escaping of messages. Messages name files, tensors and texts from untrusted
// sources. Code that prints a message passes it through messageLine(); Status
// does so itself.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_MESSAGELINE_H
#define LLMIR_SUPPORT_MESSAGELINE_H

#include <cstddef>
#include <string>
#include <string_view>

namespace llmir {

/// Maximum size of a line that messageLine() returns.
constexpr size_t kMaxMessageBytes = 2048;

/// The message as one line that is safe to print on a terminal: control
/// characters, line ends, bidirectional controls and invalid UTF-8 become \xNN.
/// The middle of a long message is elided, which keeps both its subject and the
/// advice.
std::string messageLine(std::string_view message);

} // namespace llmir

#endif // LLMIR_SUPPORT_MESSAGELINE_H
