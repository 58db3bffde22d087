//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallReader.h"

#include "llmir/Support/Text.h"

#include <algorithm>

namespace llmir::chatoutput {

std::optional<size_t> MarkerScan::take(char byte, const Markers &markers,
                                       std::string &text) {
  if (pending.empty() &&
      std::none_of(markers.begin(), markers.end(),
                   [&](std::string_view m) { return m[0] == byte; })) {
    text += byte;
    return std::nullopt;
  }
  pending += byte;
  while (!pending.empty()) {
    bool mayFollow = false;
    for (size_t i = 0; i < markers.size(); ++i) {
      if (markers[i] == pending) {
        pending.clear();
        return i;
      }
      mayFollow |= startsWith(markers[i], pending);
    }
    if (mayFollow)
      return std::nullopt;
    text += pending[0];
    pending.erase(0, 1);
  }
  return std::nullopt;
}

bool isNameByte(char byte) {
  constexpr std::string_view others = "\"'`{}()[]<>,;=";
  return static_cast<unsigned char>(byte) > 0x20 && byte != 0x7f &&
         others.find(byte) == std::string_view::npos;
}

bool isName(std::string_view text) {
  return !text.empty() && text.size() <= 256 &&
         std::all_of(text.begin(), text.end(), isNameByte);
}

namespace {

/// Chooses by the first byte between JSON and another form.
class EitherReader : public CallReader {
public:
  EitherReader(const ToolSyntax &syntax, const ToolSchemas &schemas,
               CallSink &sink, std::unique_ptr<CallReader> other)
      : syntax(syntax), schemas(schemas), sink(sink), other(std::move(other)) {}

  Step take(char byte) override {
    if (!isChosen && !isBlank(byte)) {
      isChosen = true;
      if (byte == '{' || byte == '[')
        other = makeJsonReader(syntax, schemas, sink);
    }
    const Step step = other->take(byte);
    rest = std::move(other->rest);
    return step;
  }
  Step finish() override { return other->finish(); }

private:
  const ToolSyntax &syntax;
  const ToolSchemas &schemas;
  CallSink &sink;
  std::unique_ptr<CallReader> other;
  bool isChosen = false;
};

} // namespace

std::unique_ptr<CallReader> makeReader(const ToolSyntax &syntax,
                                       const ToolSchemas &schemas,
                                       CallSink &sink, bool atName) {
  std::unique_ptr<CallReader> reader;
  if (syntax.fields)
    reader = makeFieldReader(*syntax.fields, sink);
  else if (syntax.tags)
    reader = makeTagReader(*syntax.tags, schemas, sink, atName);
  else if (syntax.python)
    reader = makePythonReader(syntax, schemas, sink);
  else
    return makeJsonReader(syntax, schemas, sink);
  if (syntax.json && !atName)
    return std::make_unique<EitherReader>(syntax, schemas, sink,
                                          std::move(reader));
  return reader;
}

} // namespace llmir::chatoutput
