//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads server-sent events, the form in which servers stream answers.
//
//   EventStreamParser parser;
//   parser.take("data: 1\n\nda", [](const ServerSentEvent &event) { … });
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_HTTP_EVENTSTREAM_H
#define LLMIR_HTTP_EVENTSTREAM_H

#include "llmir/Support/Status.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace llmir {

/// Valid during the call that hands it over.
struct ServerSentEvent {
  std::string_view name; ///< Empty if the stream gives none.
  std::string_view data; ///< Its lines, joined by '\n'.
};

/// Parses text/event-stream as the WHATWG's HTML standard (section 9.2.6)
/// defines it: lines end in "\n", "\r\n" or "\r"; comments, `id`, `retry` and
/// events without data are dropped, as is an event that the stream's end cuts
/// off. The pieces of the stream may be cut at any byte.
class EventStreamParser {
public:
  using OnEvent = std::function<void(const ServerSentEvent &)>;

  explicit EventStreamParser(size_t maxEventBytes = size_t(16) << 20)
      : maxEventBytes(maxEventBytes) {}

  /// Takes the next bytes, and calls `onEvent` for each event that they
  /// complete. InvalidFile if an event is longer than allowed.
  Status take(std::string_view bytes, const OnEvent &onEvent);

private:
  void takeLine(std::string_view whole, const OnEvent &onEvent);

  size_t maxEventBytes;
  std::string line; ///< The beginning of an incomplete line.
  std::string name, data;
  bool hasData = false;
  bool isFirstLine = true;
  bool skipsLineFeed = false; ///< The last byte was '\r'.
};

} // namespace llmir

#endif // LLMIR_HTTP_EVENTSTREAM_H
