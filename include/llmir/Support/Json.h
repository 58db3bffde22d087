//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing of untrusted JSON (files and requests), and typed reads whose errors
// name the file and the key.
//
//   Expected<Json> json = parseJsonFile("model/config.json");
//   Expected<int64_t> layers =
//       JsonReader(*json, "config.json").integer("num_hidden_layers", 1, 512);
//   // config.json: 'num_hidden_layers' is -1; expected an integer from 1 to
//   512
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_JSON_H
#define LLMIR_SUPPORT_JSON_H

#include "llmir/Support/JsonType.h"
#include "llmir/Support/Status.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

namespace llmir {

struct JsonLimits {
  uint64_t maxBytes = uint64_t(256) << 20; ///< Maximum text size.
  int maxDepth = 64;                       ///< Maximum nesting of [ and {.
};

/// Parses one JSON value that spans all of `text` (a byte order mark is
/// accepted). Errors, with byte offset: syntax errors, invalid UTF-8, numbers
/// outside the range of double, nesting that is too deep, duplicate keys in an
/// object. `where` prefixes the messages. No exception escapes.
Expected<Json> parseJson(std::string_view text, const std::string &where,
                         const JsonLimits &limits = {});

/// Reads and parses a file; messages name its last path component.
Expected<Json> parseJsonFile(const std::string &path,
                             const JsonLimits &limits = {});

/// Typed reads from one JSON object. Owns nothing: the Json must outlive it.
/// A key whose value is null counts as absent. Failures: NotFound for an
/// absent key (functions without a default), InvalidFile for a wrong type or a
/// value outside the stated range; both name `where` and the key's path.
class JsonReader {
public:
  /// `object` must be a JSON object, otherwise every key reads as absent; use
  /// `of` where that is not known. `path` is prepended to keys ("rope.").
  JsonReader(const Json &object, std::string where, std::string path = {})
      : value(&object), where(std::move(where)), path(std::move(path)) {}
  /// Fails with InvalidFile when `value` is not an object.
  static Expected<JsonReader> of(const Json &value, std::string where);

  /// The value of `key`, or null if it is absent or JSON null.
  const Json *find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

  /// Fails with InvalidFile at a key that is not one of `known`.
  Status checkKeys(std::initializer_list<std::string_view> known) const;

  Expected<int64_t>
  integer(std::string_view key,
          int64_t min = std::numeric_limits<int64_t>::min(),
          int64_t max = std::numeric_limits<int64_t>::max()) const;
  Expected<int64_t>
  integerOr(std::string_view key, int64_t otherwise,
            int64_t min = std::numeric_limits<int64_t>::min(),
            int64_t max = std::numeric_limits<int64_t>::max()) const;
  /// Any finite number.
  Expected<double> number(std::string_view key) const;
  Expected<double> numberOr(std::string_view key, double otherwise) const;
  Expected<bool> boolean(std::string_view key) const;
  Expected<bool> booleanOr(std::string_view key, bool otherwise) const;
  Expected<std::string> string(std::string_view key) const;
  Expected<std::string> stringOr(std::string_view key,
                                 std::string otherwise) const;
  Expected<JsonReader> object(std::string_view key) const;
  /// The array itself; the caller checks its elements.
  Expected<const Json *> array(std::string_view key) const;

  /// "config.json: 'rope_scaling.factor' is "x"; expected <expectation>".
  Status unexpected(std::string_view key, const std::string &expectation) const;
  Status missing(std::string_view key, const std::string &expectation) const;
  /// A failure about a key, in the same form: "config.json: 'key' <problem>".
  Status failure(StatusCode code, std::string_view key,
                 const std::string &problem,
                 const std::string &advice = {}) const;
  const std::string &file() const { return where; }

private:
  const Json *value;
  std::string where;
  std::string path;
};

/// A value for use in a message: its JSON text, cut after about 60 characters.
std::string describeJson(const Json &value);

/// True when the bytes are well-formed UTF-8 (no surrogates, no overlong
/// forms, nothing above U+10FFFF).
bool isValidUtf8(std::string_view bytes);

/// Escapes untrusted bytes for a one-line message: control characters and
/// invalid UTF-8 become \xNN; the text is cut after about `maxBytes`.
std::string printable(std::string_view bytes, size_t maxBytes = 80);

} // namespace llmir

#endif // LLMIR_SUPPORT_JSON_H
