//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/ChatTemplate/ChatTemplate.h"

#include "Interpreter.h"
#include "Parser.h"
#include "Scopes.h"

#include <new>

namespace llmir {

using namespace chat;

ChatTemplate::ChatTemplate(std::shared_ptr<const Template> parsed)
    : parsed(std::move(parsed)) {}

static StatusCode codeOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Syntax:
    return StatusCode::InvalidFile;
  case ErrorKind::Unsupported:
    return StatusCode::Unsupported;
  case ErrorKind::Limit:
    return StatusCode::OutOfRange;
  default:
    return StatusCode::InvalidArgument;
  }
}

static Status statusOf(const std::string &name, const TemplateError &error,
                       Position here) {
  Position position = error.position.line ? error.position : here;
  std::string where = name;
  if (position.line)
    where += ":" + std::to_string(position.line) + ":" +
             std::to_string(position.column);
  return Status(codeOf(error.kind), where + ": " + error.message);
}

/// Calls `body`; no exception leaves it. `here` is read when it fails.
template <typename Body>
static auto guarded(const std::string &name, const Position &here, Body body)
    -> decltype(body()) {
  try {
    return body();
  } catch (const TemplateError &error) {
    return statusOf(name, error, here);
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::ResourceExhausted,
                  name + ": not enough memory for the template");
  } catch (const std::exception &error) {
    return Status(StatusCode::Internal, name + ": " + error.what());
  }
}

Expected<ChatTemplate> ChatTemplate::parse(std::string_view source,
                                           std::string name,
                                           const ChatTemplateLimits &limits) {
  if (source.size() > limits.sourceBytes)
    return Status(StatusCode::OutOfRange,
                  name + ": the template has " + std::to_string(source.size()) +
                      " bytes; at most " + std::to_string(limits.sourceBytes) +
                      " are read");
  if (!isValidUtf8(source))
    return Status(StatusCode::InvalidFile,
                  name + ": the template is not valid UTF-8");
  const Position none;
  return guarded(name, none, [&]() -> Expected<ChatTemplate> {
    auto result = std::make_shared<Template>();
    result->name = name;
    result->limits = limits;
    Parser(*result, source).run();
    resolveScopes(*result);
    return ChatTemplate(std::move(result));
  });
}

Expected<std::string> ChatTemplate::render(const OrderedJson &variables) const {
  Position here;
  return guarded(parsed->name, here, [&]() -> Expected<std::string> {
    Interpreter interpreter(*parsed);
    std::string text;
    try {
      text = interpreter.render(variables);
    } catch (...) {
      here = interpreter.here;
      throw;
    }
    if (!isValidUtf8(text))
      return Status(StatusCode::InvalidArgument,
                    parsed->name + ": the rendering has surrogates, which "
                                   "UTF-8 cannot encode");
    return text;
  });
}

} // namespace llmir
