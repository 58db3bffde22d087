//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The markup of the families, as tables.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATOUTPUT_SYNTAX_H
#define LLMIR_LIB_CHATOUTPUT_SYNTAX_H

#include "ValueScanner.h"

#include <string_view>
#include <vector>

namespace llmir::chatoutput {

/// Markers begin with a byte of ASCII, and none begins another one that is
/// looked for at the same time.
using Markers = std::vector<std::string_view>;

/// Objects {"name": …, "arguments": …}, one or a list of them.
struct JsonForm {
  std::string_view end; ///< May be missing in the answer.
};

/// Fields in a fixed order, of which the last one is the arguments.
struct FieldForm {
  enum class Role { Ignored, Name, Id, Arguments };
  struct Next {
    std::string_view marker;
    Role role; ///< Of the field after the marker.
  };
  Role first;
  std::vector<Next> next;
  std::string_view end; ///< May be missing in the answer.
  Notation notation = Notation::Json;
  bool braceBeginsArguments = false;
  bool idHasName = false; ///< The name is "functions.NAME:NUMBER", also the id.
};

/// Tags around the names and values of arguments.
struct TagForm {
  std::string_view callBegin; ///< Empty: the name comes first.
  Markers nameEnds;
  std::string_view keyBegin;
  Markers keyEnds;
  std::string_view valueBegin; ///< Empty: the value follows the key's end.
  std::string_view valueEnd, callEnd;
  std::string_view end;  ///< Of the block of calls.
  bool hasLines = false; ///< A value has lines of its own.
};

/// [f(a=1), g()].
struct PythonForm {
  std::string_view end; ///< May be missing in the answer.
};

struct ToolSyntax {
  std::string_view name; ///< vLLM's.
  /// Other names; other families of the same markup.
  Markers aliases;
  Markers begins;     ///< What begins a block of calls.
  Markers nameBegins; ///< Begins a call of a TagForm without its block.
  Markers silent;     ///< Markers around blocks.
  /// Calls may begin an answer without a marker.
  bool isUnmarked = false;
  /// A block ends reasoning that has no end: the markers are special tokens.
  bool endsReasoning = false;
  /// One of them is null at most; with both, a block that begins with { or [ is
  /// JSON.
  const JsonForm *json = nullptr;
  const FieldForm *fields = nullptr;
  const TagForm *tags = nullptr;
  const PythonForm *python = nullptr;
  /// A chat template that has all of these is of this family; empty: by name
  /// only.
  Markers templateHas;
  bool isHarmony = false;
};

struct ReasoningSyntax {
  std::string_view name;
  Markers aliases;
  std::string_view begin, end;
  /// Other ways to write the markers.
  Markers otherBegins, otherEnds;
  Markers silent;             ///< Markers around the content.
  bool isOpenAtStart = false; ///< Unless the prompt has closed it.
  Markers templateHas;
  bool isHarmony = false;
};

/// In the order of detection.
const std::vector<ToolSyntax> &toolSyntaxes();
const std::vector<ReasoningSyntax> &reasoningSyntaxes();

} // namespace llmir::chatoutput

#endif // LLMIR_LIB_CHATOUTPUT_SYNTAX_H
