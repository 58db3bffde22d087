//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

namespace llmir::chatoutput {

//===----------------------------------------------------------------------===//
// Deltas
//===----------------------------------------------------------------------===//

/// The bytes at the end of the text that begin a character of UTF-8.
static size_t incompleteBytes(std::string_view text) {
  for (size_t count = 1; count <= 3 && count <= text.size(); ++count) {
    const auto byte = static_cast<unsigned char>(text[text.size() - count]);
    if ((byte & 0xc0) == 0x80)
      continue;
    const size_t length = byte >= 0xf0   ? 4
                          : byte >= 0xe0 ? 3
                          : byte >= 0xc0 ? 2
                                         : 1;
    return count < length ? count : 0;
  }
  return 0;
}

std::vector<ChatDelta> Machine::feed(std::string_view text) {
  const std::string bytes = incomplete + std::string(text);
  const size_t complete = bytes.size() - incompleteBytes(bytes);
  for (size_t i = 0; i < complete; ++i)
    takeByte(bytes[i]);
  incomplete = bytes.substr(complete);
  return std::exchange(deltas, {});
}

std::vector<ChatDelta> Machine::finish(bool isCutOff) {
  for (char byte : std::exchange(incomplete, {}))
    takeByte(byte);
  if (isInCall && isCutOff)
    reader.reset();
  if (reader)
    endBlock(reader->finish() == CallReader::Step::Done);
  finishText();
  if (!hasMarker)
    emit(section == Section::Content ? ChatDelta::Kind::Content
                                     : ChatDelta::Kind::Reasoning,
         blanks);
  blanks.clear();
  return std::exchange(deltas, {});
}

void Machine::emit(ChatDelta::Kind kind, std::string_view text) {
  const bool isOfCall = kind == ChatDelta::Kind::CallArguments;
  if (text.empty())
    return;
  if (deltas.empty() || deltas.back().kind != kind) {
    deltas.push_back({kind, "", 0, "", ""});
    if (isOfCall)
      deltas.back().index = numStarted - 1;
  }
  deltas.back().text += text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void Machine::addText(char byte) {
  if (!hasText && isBlank(byte)) {
    blanks += byte;
    return;
  }
  const auto kind = section == Section::Content ? ChatDelta::Kind::Content
                                                : ChatDelta::Kind::Reasoning;
  emit(kind, blanks);
  blanks.clear();
  emit(kind, {&byte, 1});
  hasText = true;
}

void Machine::beginSection(Section next) {
  section = next;
  hasText = false;
  hasMarker = true;
  blanks.clear();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Machine::beginBlock(std::unique_ptr<CallReader> blockReader,
                         std::string_view beginning) {
  reader = std::move(blockReader);
  raw = beginning;
  blockHasCall = false;
}

void Machine::takeByte(char byte) {
  if (!reader)
    return textByte(byte);
  raw += byte;
  const CallReader::Step step = reader->take(byte);
  if (step != CallReader::Step::More)
    endBlock(step == CallReader::Step::Done);
}

void Machine::endBlock(bool isWellFormed) {
  const std::string rest = std::move(reader->rest);
  reader.reset();
  raw.resize(raw.size() - rest.size());
  if (isInCall) {
    ChatDelta delta{ChatDelta::Kind::CallWithdrawn, raw, numStarted - 1, "",
                    ""};
    deltas.push_back(std::move(delta));
    isInCall = false;
    hasText = true;
  } else if (isWellFormed && blockHasCall) {
    beginSection(Section::Content);
  } else {
    addText(raw);
  }
  raw.clear();
  for (char byte : rest)
    takeByte(byte);
}

void Machine::start(std::string_view name, std::string_view id) {
  beginSection(Section::Content);
  deltas.push_back({ChatDelta::Kind::CallStart, "", numStarted++,
                    std::string(name), std::string(id)});
  isInCall = true;
}

void Machine::arguments(std::string_view json) {
  emit(ChatDelta::Kind::CallArguments, json);
}

void Machine::endCall() {
  deltas.push_back({ChatDelta::Kind::CallEnd, "", numStarted - 1, "", ""});
  isInCall = false;
  blockHasCall = true;
  raw.clear();
}

} // namespace llmir::chatoutput
