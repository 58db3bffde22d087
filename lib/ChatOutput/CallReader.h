//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers of blocks of calls, a byte at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATOUTPUT_CALLREADER_H
#define LLMIR_LIB_CHATOUTPUT_CALLREADER_H

#include "Syntax.h"
#include "ToolSchemas.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace llmir::chatoutput {

/// Finds markers in a text.
class MarkerScan {
public:
  /// Reads a byte. Appends to `text` what is certainly no part of a marker, and
  /// returns the index of the marker that is now complete.
  std::optional<size_t> take(char byte, const Markers &markers,
                             std::string &text);
  /// What may be the beginning of a marker.
  const std::string &held() const { return pending; }
  std::string release() { return std::exchange(pending, {}); }

private:
  std::string pending;
};

/// Receives calls.
class CallSink {
public:
  virtual ~CallSink() = default;
  virtual void start(std::string_view name, std::string_view id) = 0;
  virtual void arguments(std::string_view json) = 0;
  virtual void endCall() = 0;
};

class CallReader {
public:
  enum class Step {
    More,
    Done,   ///< The block is complete.
    Failed, ///< What was read since the last complete call is none.
  };

  virtual ~CallReader() = default;
  virtual Step take(char byte) = 0;
  /// The answer ends. Done if it may end here.
  virtual Step finish() = 0;
  /// With Done and Failed: the last bytes that were taken, which are no part of
  /// the block.
  std::string rest;

protected:
  Step fail(std::string unread) {
    rest = std::move(unread);
    return Step::Failed;
  }
  Step done(std::string unread = {}) {
    rest = std::move(unread);
    return Step::Done;
  }
};

/// The names of tools have up to 256 bytes, none of them blank or a quote or
/// bracket.
bool isNameByte(char byte);
bool isName(std::string_view text);

/// A reader of a block that `syntax` describes; both must outlive it. The
/// block's beginning was read; `atName` if it was one of `nameBegins`.
std::unique_ptr<CallReader> makeReader(const ToolSyntax &syntax,
                                       const ToolSchemas &schemas,
                                       CallSink &sink, bool atName);
std::unique_ptr<CallReader> makeJsonReader(const ToolSyntax &syntax,
                                           const ToolSchemas &schemas,
                                           CallSink &sink);
std::unique_ptr<CallReader> makeFieldReader(const FieldForm &form,
                                            CallSink &sink);
/// Reads the arguments of a call that is known.
std::unique_ptr<CallReader>
makeArgumentReader(const FieldForm &form, CallSink &sink, std::string name);
std::unique_ptr<CallReader> makeTagReader(const TagForm &form,
                                          const ToolSchemas &schemas,
                                          CallSink &sink, bool atName);
std::unique_ptr<CallReader> makePythonReader(const ToolSyntax &syntax,
                                             const ToolSchemas &schemas,
                                             CallSink &sink);

} // namespace llmir::chatoutput

#endif // LLMIR_LIB_CHATOUTPUT_CALLREADER_H
