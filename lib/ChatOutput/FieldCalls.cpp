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

using Role = FieldForm::Role;

/// One call, whose fields are separated by markers.
class FieldCalls : public CallReader {
public:
  FieldCalls(const FieldForm &form, CallSink &sink)
      : form(form), sink(sink), role(form.first), scanner(form.notation) {
    for (const FieldForm::Next &next : form.next)
      markers.push_back(next.marker);
    if (!form.end.empty())
      ends.push_back(form.end);
    if (role == Role::Arguments)
      place = Place::BeforeArguments;
  }
  FieldCalls(const FieldForm &form, CallSink &sink, std::string name)
      : FieldCalls(form, sink) {
    this->name = std::move(name);
    role = Role::Arguments;
    place = Place::BeforeArguments;
  }

  Step take(char byte) override;
  Step finish() override;

private:
  enum class Place { Field, BeforeArguments, Arguments, AfterArguments };

  Step fieldByte(char byte);
  Step beforeArguments(char byte);
  Step argumentByte(char byte);
  Step afterArguments(char byte);
  bool endField(Role next);
  bool start();

  const FieldForm &form;
  CallSink &sink;
  Role role;
  Place place = Place::Field;
  Markers markers, ends;
  MarkerScan scan;
  ValueScanner scanner;
  std::string text; ///< Of the field.
  std::string name, id;
  std::string pending; ///< Read after the arguments.
};

/// Whether there are blanks within the text.
bool hasGap(std::string_view text) {
  return text.find_first_of(" \n\t\r") != std::string_view::npos;
}

} // namespace

CallReader::Step FieldCalls::take(char byte) {
  switch (place) {
  case Place::Field:
    return fieldByte(byte);
  case Place::BeforeArguments:
    return beforeArguments(byte);
  case Place::Arguments:
    return argumentByte(byte);
  case Place::AfterArguments:
    return afterArguments(byte);
  }
  return Step::Failed;
}

CallReader::Step FieldCalls::fieldByte(char byte) {
  if (form.braceBeginsArguments && byte == '{' && scan.held().empty())
    return endField(Role::Arguments) ? beforeArguments(byte) : fail({byte});
  const size_t size = text.size();
  if (auto found = scan.take(byte, markers, text))
    return endField(form.next[*found].role) ? Step::More : fail("");
  // Nothing that cannot be a field is held back.
  for (size_t i = size; i < text.size(); ++i)
    if (text.size() > 256 || (!isNameByte(text[i]) && !isBlank(text[i])))
      return fail(text.substr(i) + scan.release());
  return hasGap(trimmed(text)) ? fail(scan.release()) : Step::More;
}

/// A field is complete; false if it is not well-formed.
bool FieldCalls::endField(Role next) {
  const std::string field(trimmed(text));
  text.clear();
  if (role != Role::Ignored && !isName(field))
    return false;
  if (role == Role::Name)
    name = field;
  else if (role == Role::Id)
    id = field;
  role = next;
  if (next == Role::Arguments)
    place = Place::BeforeArguments;
  return true;
}

/// Announces the call; false if it has no name.
bool FieldCalls::start() {
  if (form.idHasName) {
    id = name;
    const size_t number = name.rfind(':');
    const size_t scope = name.rfind('.', number);
    if (number != std::string::npos)
      name.erase(number);
    if (scope != std::string::npos)
      name.erase(0, scope + 1);
  }
  if (!isName(name))
    return false;
  sink.start(name, id);
  return true;
}

CallReader::Step FieldCalls::beforeArguments(char byte) {
  if (byte == '{' && scan.held().empty()) {
    if (!start())
      return fail({byte});
    place = Place::Arguments;
    return argumentByte(byte);
  }
  text.clear();
  if (scan.take(byte, ends, text)) { // A call without arguments.
    if (!start())
      return fail("");
    sink.arguments("{}");
    sink.endCall();
    return done();
  }
  return isBlank(text) ? Step::More : fail(text + scan.release());
}

CallReader::Step FieldCalls::argumentByte(char byte) {
  std::string json;
  const ValueScanner::Result result = scanner.take(byte, json);
  if (result == ValueScanner::Result::Malformed)
    return fail({byte});
  sink.arguments(json);
  if (result != ValueScanner::Result::Done)
    return Step::More;
  sink.endCall();
  place = Place::AfterArguments;
  return form.end.empty() ? done() : Step::More;
}

/// The end of the call, perhaps after that of a code block.
CallReader::Step FieldCalls::afterArguments(char byte) {
  pending += byte;
  text.clear();
  if (scan.take(byte, ends, text))
    return done();
  for (char other : text)
    if (!isBlank(other) && other != '`')
      return done(std::move(pending));
  return Step::More;
}

CallReader::Step FieldCalls::finish() {
  return place == Place::AfterArguments ? Step::Done : Step::Failed;
}

std::unique_ptr<CallReader> makeFieldReader(const FieldForm &form,
                                            CallSink &sink) {
  return std::make_unique<FieldCalls>(form, sink);
}

std::unique_ptr<CallReader>
makeArgumentReader(const FieldForm &form, CallSink &sink, std::string name) {
  return std::make_unique<FieldCalls>(form, sink, std::move(name));
}

} // namespace llmir::chatoutput
