//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/MessageLine.h"

#include "llmir/Support/Json.h"

namespace llmir {

/// True for a continuation byte of UTF-8.
static bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

std::string messageLine(std::string_view message) {
  constexpr size_t kFirstBytes = kMaxMessageBytes - 512;
  constexpr size_t kLastBytes = 500;
  while (!message.empty() && message.back() == '\n')
    message.remove_suffix(1);
  // Shorten before escaping, so that the escapes of a long name are never
  // built.
  std::string head, tail;
  if (message.size() > kMaxMessageBytes) {
    head = printable(message.substr(0, kMaxMessageBytes), std::string::npos);
    tail = printable(message.substr(message.size() - kMaxMessageBytes),
                     std::string::npos);
  } else {
    head = tail = printable(message, std::string::npos);
    if (head.size() <= kMaxMessageBytes)
      return head;
  }
  size_t end = kFirstBytes, start = tail.size() - kLastBytes;
  while (isContinuation(head[end]))
    --end;
  while (isContinuation(tail[start]))
    ++start;
  return head.substr(0, end) + "…" + tail.substr(start);
}

} // namespace llmir
