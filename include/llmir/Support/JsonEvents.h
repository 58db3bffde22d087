//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Event-based JSON parsing, for large texts of which little is kept.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_JSONEVENTS_H
#define LLMIR_SUPPORT_JSONEVENTS_H

#include "llmir/Support/Json.h"

namespace llmir {

/// Receives the contents of a JSON text in order. A failing Status stops the
/// parse and becomes its result, with the byte offset prepended to the cause.
/// Handlers must detect duplicate keys themselves.
class JsonEvents {
public:
  virtual ~JsonEvents();
  virtual Status beginObject() = 0;
  virtual Status endObject() = 0;
  virtual Status beginArray() = 0;
  virtual Status endArray() = 0;
  virtual Status key(std::string &&text) = 0;
  virtual Status string(std::string &&text) = 0;
  /// Integers from 0 to 2^64 - 1.
  virtual Status unsignedInteger(uint64_t value) = 0;
  virtual Status negativeInteger(int64_t value) = 0;
  virtual Status number(double value) = 0;
  /// Like number(), which it calls by default; `text` is the number as written.
  virtual Status writtenNumber(double value, std::string_view text);
  virtual Status boolean(bool value) = 0;
  virtual Status null() = 0;
};

/// Parses one JSON value that spans all of `text`; fails as parseJson does,
/// except for duplicate keys. No exception escapes.
Status parseJsonEvents(std::string_view text, const std::string &where,
                       const JsonLimits &limits, JsonEvents &events);

} // namespace llmir

#endif // LLMIR_SUPPORT_JSONEVENTS_H
