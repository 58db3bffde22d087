//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Http/EventStream.h"

#include "llmir/Support/Text.h"

using namespace llmir;

void EventStreamParser::takeLine(std::string_view whole,
                                 const OnEvent &onEvent) {
  constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
  if (isFirstLine && startsWith(whole, byteOrderMark))
    whole.remove_prefix(byteOrderMark.size());
  isFirstLine = false;
  if (whole.empty()) {
    if (hasData)
      onEvent({name, data});
    name.clear();
    data.clear();
    hasData = false;
    return;
  }
  const size_t colon = whole.find(':');
  const std::string_view field = whole.substr(0, colon);
  std::string_view value =
      colon == whole.npos ? std::string_view() : whole.substr(colon + 1);
  if (startsWith(value, " "))
    value.remove_prefix(1);
  if (field == "data") {
    if (hasData)
      data += '\n';
    data += value;
    hasData = true;
  } else if (field == "event") {
    name = value;
  }
}

Status EventStreamParser::take(std::string_view bytes, const OnEvent &onEvent) {
  while (!bytes.empty()) {
    if (skipsLineFeed && bytes.front() == '\n') {
      skipsLineFeed = false;
      bytes.remove_prefix(1);
      continue;
    }
    skipsLineFeed = false;
    const size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (line.size() + data.size() + part.size() > maxEventBytes)
      return Status(StatusCode::InvalidFile,
                    "the answer has an event of more than " +
                        std::to_string(maxEventBytes) + " bytes");
    if (end == bytes.npos) {
      line += part;
      break;
    }
    skipsLineFeed = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (line.empty()) {
      takeLine(part, onEvent);
      continue;
    }
    line += part;
    takeLine(line, onEvent);
    line.clear();
  }
  return Status::ok();
}
