//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallReader.h"

namespace llmir::chatoutput {
namespace {

/// [f(a=1), g()], or calls without the brackets.
class PythonCalls : public CallReader {
public:
  PythonCalls(const ToolSyntax &syntax, const ToolSchemas &schemas,
              CallSink &sink)
      : syntax(syntax), schemas(schemas), sink(sink),
        scanner(ValueScanner::keywordArguments()) {
    if (!syntax.python->end.empty())
      ends.push_back(syntax.python->end);
  }

  Step take(char byte) override;
  Step finish() override {
    return place == Place::Tail || (place == Place::AfterCall && !inList)
               ? Step::Done
               : Step::Failed;
  }

private:
  enum class Place { Begin, Name, Arguments, AfterCall, Tail };

  Step nameByte(char byte);
  Step argumentByte(char byte);
  Step afterCall(char byte);
  Step tail(char byte);

  const ToolSyntax &syntax;
  const ToolSchemas &schemas;
  CallSink &sink;
  Place place = Place::Begin;
  Markers ends;
  MarkerScan scan;
  ValueScanner scanner;
  bool inList = false, isStarted = false;
  std::string name, text, pending;
};

} // namespace

CallReader::Step PythonCalls::take(char byte) {
  switch (place) {
  case Place::Begin:
    if (isBlank(byte))
      return Step::More;
    if (byte == '[' && !inList) {
      inList = true;
      return Step::More;
    }
    place = Place::Name;
    return nameByte(byte);
  case Place::Name:
    return nameByte(byte);
  case Place::Arguments:
    return argumentByte(byte);
  case Place::AfterCall:
    return afterCall(byte);
  case Place::Tail:
    return tail(byte);
  }
  return Step::Failed;
}

CallReader::Step PythonCalls::nameByte(char byte) {
  if (byte != '(') {
    if (!isNameByte(byte) || name.size() == 256)
      return fail({byte});
    name += byte;
    return Step::More;
  }
  // Without a marker, only known tools distinguish calls from other text.
  if (!isName(name) ||
      (syntax.isUnmarked && !schemas.isEmpty() && !schemas.has(name)))
    return fail({byte});
  scanner = ValueScanner::keywordArguments();
  isStarted = false;
  text.clear();
  place = Place::Arguments;
  return Step::More;
}

CallReader::Step PythonCalls::argumentByte(char byte) {
  const ValueScanner::Result result = scanner.take(byte, text);
  if (result == ValueScanner::Result::Malformed)
    return fail({byte});
  const bool isEnd = result == ValueScanner::Result::Done;
  if (!isStarted && (isEnd || !text.empty())) {
    sink.start(name, "");
    sink.arguments("{");
    isStarted = true;
  }
  sink.arguments(text);
  text.clear();
  if (!isEnd)
    return Step::More;
  sink.arguments("}");
  sink.endCall();
  name.clear();
  pending.clear();
  place = Place::AfterCall;
  return Step::More;
}

CallReader::Step PythonCalls::afterCall(char byte) {
  if (!inList)
    return tail(byte);
  if (isBlank(byte))
    return Step::More;
  place = byte == ',' ? Place::Begin : Place::Tail;
  return byte == ',' || byte == ']' ? Step::More : fail({byte});
}

/// After the last call: the end, or, without brackets, another call.
CallReader::Step PythonCalls::tail(char byte) {
  pending += byte;
  text.clear();
  if (scan.take(byte, ends, text))
    return done();
  if (isBlank(text))
    return Step::More;
  if (!inList && !syntax.isUnmarked && scan.held().empty() &&
      (text == "," || text == ";" || isName(text))) {
    pending.clear();
    place = Place::Begin;
    return isName(text) ? take(byte) : Step::More;
  }
  return done(std::move(pending));
}

std::unique_ptr<CallReader> makePythonReader(const ToolSyntax &syntax,
                                             const ToolSchemas &schemas,
                                             CallSink &sink) {
  return std::make_unique<PythonCalls>(syntax, schemas, sink);
}

} // namespace llmir::chatoutput
