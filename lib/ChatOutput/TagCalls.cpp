//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallReader.h"

#include <algorithm>

namespace llmir::chatoutput {
namespace {

/// Calls whose arguments have tags, with values that are not JSON.
class TagCalls : public CallReader {
public:
  TagCalls(const TagForm &form, const ToolSchemas &schemas, CallSink &sink,
           bool atName)
      : form(form), schemas(schemas), sink(sink) {
    if (atName || form.callBegin.empty())
      place = Place::Name;
    for (std::string_view end : {form.callBegin, form.end})
      if (!end.empty())
        blockMarkers.push_back(end);
    nameMarkers = form.nameEnds;
    if (form.callBegin.empty()) { // The name ends where something else begins.
      nameMarkers.push_back(form.keyBegin);
      nameMarkers.push_back(form.callEnd);
    }
    valueMarkers = {form.valueEnd};
    if (form.hasLines) {
      lineEnd = "\n" + std::string(form.valueEnd);
      valueMarkers.push_back(lineEnd);
    }
  }

  Step take(char byte) override;
  Step finish() override {
    return place == Place::Block && hasCall ? Step::Done : Step::Failed;
  }

private:
  enum class Place { Block, Name, Arguments, Key, BeforeValue, Value };

  Step blockByte(char byte);
  Step nameByte(char byte);
  Step argumentsByte(char byte);
  Step keyByte(char byte);
  Step valueByte(char byte);
  Step endCall();
  void beginValue();
  void endValue();

  const TagForm &form;
  const ToolSchemas &schemas;
  CallSink &sink;
  Place place = Place::Block;
  Markers blockMarkers, nameMarkers, valueMarkers;
  std::string lineEnd;
  MarkerScan scan;
  std::string text, pending;
  std::string name, key;
  ValueTypes types;
  bool hasCall = false, hasArgument = false;
  bool streams = false; ///< The value is a string, whose parts are certain.
  bool isFirstByte = false;
};

} // namespace

CallReader::Step TagCalls::take(char byte) {
  switch (place) {
  case Place::Block:
    return blockByte(byte);
  case Place::Name:
    return nameByte(byte);
  case Place::Arguments:
    return argumentsByte(byte);
  case Place::Key:
    return keyByte(byte);
  case Place::BeforeValue:
    text.clear();
    if (scan.take(byte, {form.valueBegin}, text))
      beginValue();
    return isBlank(text) ? Step::More : fail(text + scan.release());
  case Place::Value:
    return valueByte(byte);
  }
  return Step::Failed;
}

/// Outside of calls.
CallReader::Step TagCalls::blockByte(char byte) {
  pending += byte;
  text.clear();
  if (auto found = scan.take(byte, blockMarkers, text)) {
    if (blockMarkers[*found] == form.callBegin)
      place = Place::Name;
    else if (hasCall)
      return done();
    else
      return fail("");
    pending.clear();
    return Step::More;
  }
  if (isBlank(text))
    return Step::More;
  scan.release();
  if (hasCall)
    return done(std::move(pending));
  return fail(pending.substr(pending.find_first_not_of(" \n\t\r")));
}

CallReader::Step TagCalls::nameByte(char byte) {
  if (auto found = scan.take(byte, nameMarkers, text)) {
    name = trimmed(text);
    text.clear();
    if (!isName(name))
      // A line may end before the name begins.
      return nameMarkers[*found] == "\n" && name.empty() ? Step::More
                                                         : fail("");
    sink.start(name, "");
    sink.arguments("{");
    hasArgument = false;
    const bool atKey = nameMarkers[*found] == form.keyBegin;
    place = atKey ? Place::Key : Place::Arguments;
    return nameMarkers[*found] == form.callEnd ? endCall() : Step::More;
  }
  const std::string_view field = trimmed(text);
  if (field.empty() || isName(field))
    return Step::More;
  const auto wrong = std::find_if(text.begin(), text.end(), [](char c) {
    return !isNameByte(c) && !isBlank(c);
  });
  return fail(std::string(wrong, text.end()) + scan.release());
}

CallReader::Step TagCalls::argumentsByte(char byte) {
  text.clear();
  if (auto found = scan.take(byte, {form.keyBegin, form.callEnd}, text)) {
    if (*found == 1)
      return endCall();
    place = Place::Key;
    return Step::More;
  }
  return isBlank(text) ? Step::More : fail(text + scan.release());
}

CallReader::Step TagCalls::endCall() {
  sink.arguments("}");
  sink.endCall();
  hasCall = true;
  pending.clear();
  place = Place::Block;
  return form.end.empty() ? done() : Step::More;
}

CallReader::Step TagCalls::keyByte(char byte) {
  if (auto found = scan.take(byte, form.keyEnds, text)) {
    key = trimmed(text);
    text.clear();
    if (key.empty())
      return fail("");
    types = schemas.types(name, key);
    const std::string_view end = form.keyEnds[*found];
    if (end.find("string=\"true\"") != std::string_view::npos) {
      types = ValueTypes();
      types.text = true;
    }
    place = Place::BeforeValue;
    if (form.valueBegin.empty())
      beginValue();
    return Step::More;
  }
  if (text.size() > 256 || text.find_first_of("<>\n") != std::string::npos) {
    const size_t at = std::min<size_t>(text.find_first_of("<>\n"), 256);
    return fail(text.substr(at) + scan.release());
  }
  return Step::More;
}

void TagCalls::beginValue() {
  place = Place::Value;
  text.clear();
  streams = types.isOnlyText();
  isFirstByte = true;
  sink.arguments((hasArgument ? ", " : "") + quotedJson(key) + ": " +
                 (streams ? "\"" : ""));
  hasArgument = true;
}

CallReader::Step TagCalls::valueByte(char byte) {
  const bool isEnd = scan.take(byte, valueMarkers, text).has_value();
  if (isFirstByte && !text.empty()) {
    isFirstByte = false;
    if (form.hasLines && text[0] == '\n')
      text.erase(0, 1);
  }
  if (streams) {
    std::string json;
    for (char one : text)
      appendEscaped(one, json);
    sink.arguments(json);
    text.clear();
  }
  if (isEnd) {
    sink.arguments(streams ? "\"" : jsonOfText(text, types));
    text.clear();
    place = Place::Arguments;
  }
  return Step::More;
}

std::unique_ptr<CallReader> makeTagReader(const TagForm &form,
                                          const ToolSchemas &schemas,
                                          CallSink &sink, bool atName) {
  return std::make_unique<TagCalls>(form, schemas, sink, atName);
}

} // namespace llmir::chatoutput
