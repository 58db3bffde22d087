//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallReader.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"

namespace llmir::chatoutput {
namespace {

/// {"name": "f", "arguments": {…}}, also with "parameters" and "tool_name", and
/// within {"type": "function", "function": {…}}.
class JsonCalls : public CallReader {
public:
  JsonCalls(const ToolSyntax &syntax, const ToolSchemas &schemas,
            CallSink &sink)
      : syntax(syntax), schemas(schemas), sink(sink) {}

  Step take(char byte) override;
  Step finish() override;

private:
  enum class Place {
    Begin,    ///< Before the list or object.
    FirstKey, ///< After {.
    Key,      ///< After a comma.
    KeyText,  ///< Within a key.
    Colon,    ///< After a key.
    ValueStart,
    Value,
    AfterValue,
    AfterCall,
    Tail, ///< After the list.
  };
  enum class Field { Name, Arguments, Id, Function, Other };

  Step inObject(char byte);
  Step afterCall(char byte);
  Step beginValue(char byte);
  Step valueByte(char byte);
  bool endValue();
  bool endKey();
  bool endObject();
  bool setArguments(std::string_view json);
  bool startCall();

  const ToolSyntax &syntax;
  const ToolSchemas &schemas;
  CallSink &sink;
  Place place = Place::Begin;
  Field field = Field::Other;
  bool inList = false, inFunction = false;
  bool isStarted = false, hasArguments = false;
  bool streams = false; ///< The value goes to the sink as it comes.
  ValueScanner scanner;
  std::string name, id;
  std::string value;         ///< The JSON text of the key or value.
  std::string heldArguments; ///< Until the name is known.
  std::string pending;       ///< Read after the last call.
  size_t endMatched = 0;
};

/// The text of a JSON string.
std::string textOf(const std::string &json) {
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  return parsed.is_string() ? parsed.get<std::string>() : std::string();
}

} // namespace

CallReader::Step JsonCalls::take(char byte) {
  switch (place) {
  case Place::Begin:
    if (isBlank(byte))
      return Step::More;
    if (byte == '[' && !inList) {
      inList = true;
      return Step::More;
    }
    if (byte != '{')
      return inList && byte == ']' ? fail("") : fail({byte});
    place = Place::FirstKey;
    return Step::More;
  case Place::AfterCall:
  case Place::Tail:
    return afterCall(byte);
  case Place::Value:
    return valueByte(byte);
  default:
    return inObject(byte);
  }
}

/// The structure of an object of a call.
CallReader::Step JsonCalls::inObject(char byte) {
  if (place != Place::KeyText && isBlank(byte))
    return Step::More;
  const std::string unread(1, byte);
  switch (place) {
  case Place::FirstKey:
  case Place::Key:
    if (byte == '}' && place == Place::FirstKey)
      return fail("");
    if (byte != '"')
      return fail(unread);
    scanner = ValueScanner();
    value.clear();
    (void)scanner.take(byte, value);
    place = Place::KeyText;
    return Step::More;
  case Place::KeyText: {
    const ValueScanner::Result result = scanner.take(byte, value);
    if (result == ValueScanner::Result::Malformed || value.size() > 1024)
      return fail(unread);
    if (result == ValueScanner::Result::Done && !endKey())
      return fail("");
    return Step::More;
  }
  case Place::Colon:
    if (byte != ':')
      return fail(unread);
    place = Place::ValueStart;
    return Step::More;
  case Place::ValueStart:
    return beginValue(byte);
  case Place::AfterValue:
    if (byte == ',') {
      place = Place::Key;
      return Step::More;
    }
    if (byte != '}')
      return fail(unread);
    return endObject() ? Step::More : fail("");
  default:
    return fail(unread);
  }
}

bool JsonCalls::endKey() {
  const std::string key = textOf(value);
  const bool isArguments = key == "arguments" || key == "parameters";
  field = key == "name" || key == "tool_name"    ? Field::Name
          : isArguments                          ? Field::Arguments
          : key == "id" || key == "tool_call_id" ? Field::Id
          : key == "function"                    ? Field::Function
                                                 : Field::Other;
  place = Place::Colon;
  return !isArguments || !hasArguments;
}

CallReader::Step JsonCalls::beginValue(char byte) {
  if (field == Field::Function && byte == '{' && !inFunction) {
    inFunction = true;
    place = Place::FirstKey;
    return Step::More;
  }
  scanner = ValueScanner();
  value.clear();
  place = Place::Value;
  streams = false;
  if (field == Field::Arguments && byte == '{' && !name.empty()) {
    if (!startCall())
      return fail({byte});
    streams = true;
  }
  return valueByte(byte);
}

CallReader::Step JsonCalls::valueByte(char byte) {
  const ValueScanner::Result result = scanner.take(byte, value);
  if (result == ValueScanner::Result::Malformed)
    return fail({byte});
  if (streams) {
    sink.arguments(value);
    value.clear();
  }
  if (field == Field::Other)
    value.clear();
  if (result == ValueScanner::Result::More)
    return Step::More;
  place = Place::AfterValue;
  if (!endValue())
    return fail(result == ValueScanner::Result::Done ? ""
                                                     : std::string(1, byte));
  return result == ValueScanner::Result::Done ? Step::More : inObject(byte);
}

bool JsonCalls::endValue() {
  switch (field) {
  case Field::Name:
  case Field::Function:
    if (!name.empty())
      return field == Field::Function;
    name = textOf(value);
    if (!isName(name))
      return false;
    if (heldArguments.empty())
      return true;
    if (!startCall())
      return false;
    sink.arguments(heldArguments);
    return true;
  case Field::Id:
    id = value[0] == '"' ? textOf(value) : value;
    return true;
  case Field::Arguments:
    hasArguments = true;
    return streams || setArguments(value);
  case Field::Other:
    return true;
  }
  return false;
}

/// Arguments that did not come as an object after the name.
bool JsonCalls::setArguments(std::string_view json) {
  std::string object(json);
  if (json[0] == '"') { // JSON in a string.
    const std::string text = textOf(object);
    object = wholeValue(trimmed(text), Notation::Json);
    if (object.empty() && !isBlank(text))
      return false;
  }
  if (object.empty() || object == "null")
    object = "{}";
  if (object[0] != '{')
    return false;
  if (name.empty()) {
    heldArguments = object;
    return true;
  }
  if (!startCall())
    return false;
  sink.arguments(object);
  return true;
}

bool JsonCalls::startCall() {
  // Without a marker, only known tools distinguish calls from other objects.
  if (syntax.isUnmarked && !schemas.isEmpty() && !schemas.has(name))
    return false;
  sink.start(name, id);
  isStarted = true;
  return true;
}

bool JsonCalls::endObject() {
  if (inFunction) {
    inFunction = false;
    return true;
  }
  if (!isStarted) {
    if (name.empty() || syntax.isUnmarked || !startCall())
      return false;
    sink.arguments("{}");
  }
  sink.endCall();
  name.clear();
  id.clear();
  heldArguments.clear();
  isStarted = hasArguments = false;
  pending.clear();
  place = Place::AfterCall;
  return true;
}

/// Between calls and after the last one.
CallReader::Step JsonCalls::afterCall(char byte) {
  pending += byte;
  const bool mayEnd = !inList || place == Place::Tail;
  if (mayEnd && !syntax.json->end.empty() &&
      byte == syntax.json->end[endMatched]) {
    if (++endMatched == syntax.json->end.size())
      return done();
    return Step::More;
  }
  if (endMatched > 0)
    return done(std::move(pending));
  if (isBlank(byte))
    return Step::More;
  if (inList && place == Place::AfterCall) {
    if (byte == ']') {
      place = Place::Tail;
      pending.clear();
      return Step::More;
    }
    if (byte != ',')
      return fail(std::move(pending));
    place = Place::Begin;
    return Step::More;
  }
  if (byte == ';' && syntax.isUnmarked && !inList) {
    place = Place::Begin;
    return Step::More;
  }
  if (byte == '{' && !inList) {
    place = Place::FirstKey;
    return Step::More;
  }
  return done(std::move(pending));
}

CallReader::Step JsonCalls::finish() {
  return place == Place::AfterCall || place == Place::Tail ? Step::Done
                                                           : Step::Failed;
}

std::unique_ptr<CallReader> makeJsonReader(const ToolSyntax &syntax,
                                           const ToolSchemas &schemas,
                                           CallSink &sink) {
  return std::make_unique<JsonCalls>(syntax, schemas, sink);
}

} // namespace llmir::chatoutput
