//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Json.h"
#include "llmir/Support/JsonEvents.h"
#include "llmir/Support/MappedFile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <new>
#include <vector>

namespace llmir {

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

JsonEvents::~JsonEvents() = default;

Status JsonEvents::writtenNumber(double value, std::string_view) {
  return number(value);
}

namespace {

/// Reads characters and records the parser's position, which the parser reports
/// only for its own errors.
struct TrackingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  const char *at;
  const char **reached;

  reference operator*() const { return *at; }
  TrackingIterator &operator++() {
    *reached = ++at;
    return *this;
  }
  TrackingIterator operator++(int) {
    TrackingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const TrackingIterator &other) const {
    return at == other.at;
  }
  bool operator!=(const TrackingIterator &other) const {
    return at != other.at;
  }
};

/// Forwards nlohmann's events, counts the depth, keeps the first failure.
class EventAdapter {
public:
  EventAdapter(JsonEvents &events, int maxDepth)
      : events(events), maxDepth(maxDepth) {}

  bool null() { return keep(events.null()); }
  bool boolean(bool value) { return keep(events.boolean(value)); }
  bool number_integer(Json::number_integer_t value) {
    return keep(value < 0
                    ? events.negativeInteger(value)
                    : events.unsignedInteger(static_cast<uint64_t>(value)));
  }
  bool number_unsigned(Json::number_unsigned_t value) {
    return keep(events.unsignedInteger(value));
  }
  bool number_float(Json::number_float_t value, const std::string &text) {
    return keep(events.writtenNumber(value, text));
  }
  bool string(std::string &text) {
    return keep(events.string(std::move(text)));
  }
  bool binary(Json::binary_t &) { return false; }
  bool key(std::string &text) { return keep(events.key(std::move(text))); }
  bool start_object(size_t) { return enter() && keep(events.beginObject()); }
  bool end_object() {
    --depth;
    return keep(events.endObject());
  }
  bool start_array(size_t) { return enter() && keep(events.beginArray()); }
  bool end_array() {
    --depth;
    return keep(events.endArray());
  }
  bool parse_error(size_t position, const std::string &,
                   const Json::exception &error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    std::string_view text = error.what();
    size_t tag = text.find("] ");
    if (tag != std::string_view::npos)
      text.remove_prefix(tag + 2);
    offset = position;
    return keep(Status(StatusCode::InvalidFile, printable(text, 300)));
  }

  Status failure;
  std::optional<size_t> offset; ///< Of a syntax error reported by the parser.

private:
  bool keep(Status status) {
    if (status)
      return true;
    failure = std::move(status);
    return false;
  }
  bool enter() {
    if (++depth <= maxDepth)
      return true;
    return keep(Status(StatusCode::InvalidFile,
                       "nesting is deeper than " + std::to_string(maxDepth)));
  }

  JsonEvents &events;
  int maxDepth;
  int depth = 0;
};

/// Builds the tree; detects duplicate keys.
class TreeBuilder : public JsonEvents {
public:
  Status beginObject() override { return open(Json::object()); }
  Status endObject() override { return close(); }
  Status beginArray() override { return open(Json::array()); }
  Status endArray() override { return close(); }
  Status key(std::string &&text) override {
    auto &object = stack.back()->get_ref<Json::object_t &>();
    auto [place, isNew] = object.try_emplace(std::move(text), nullptr);
    slot = &place->second;
    if (isNew)
      return Status::ok();
    return Status(StatusCode::InvalidFile,
                  "the key '" + printable(place->first) + "' is given twice");
  }
  Status string(std::string &&text) override { return add(std::move(text)); }
  Status unsignedInteger(uint64_t value) override { return add(value); }
  Status negativeInteger(int64_t value) override { return add(value); }
  Status number(double value) override { return add(value); }
  Status boolean(bool value) override { return add(value); }
  Status null() override { return add(nullptr); }

  Json root;

private:
  /// Stores a value at its place: root, last key, or end of the array.
  Json &place(Json value) {
    if (!stack.empty() && stack.back()->is_array()) {
      auto &array = stack.back()->get_ref<Json::array_t &>();
      array.push_back(std::move(value));
      return array.back();
    }
    Json &target = stack.empty() ? root : *slot;
    target = std::move(value);
    return target;
  }
  Status add(Json value) {
    place(std::move(value));
    return Status::ok();
  }
  Status open(Json container) {
    stack.push_back(&place(std::move(container)));
    return Status::ok();
  }
  Status close() {
    stack.pop_back();
    return Status::ok();
  }

  std::vector<Json *> stack; ///< The open containers.
  Json *slot = nullptr;      ///< The value of the last key.
};

} // namespace

Status parseJsonEvents(std::string_view text, const std::string &where,
                       const JsonLimits &limits, JsonEvents &events) {
  if (text.size() > limits.maxBytes)
    return Status(StatusCode::InvalidFile,
                  where + ": " + std::to_string(text.size()) +
                      " bytes of JSON; at most " +
                      std::to_string(limits.maxBytes) + " are read");
  const char *reached = text.data();
  EventAdapter adapter(events, limits.maxDepth);
  try {
    TrackingIterator first{text.data(), &reached};
    TrackingIterator last{text.data() + text.size(), &reached};
    if (Json::sax_parse(first, last, &adapter))
      return Status::ok();
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::ResourceExhausted,
                  where + ": not enough memory for " +
                      std::to_string(text.size()) + " bytes of JSON");
  } catch (const std::exception &error) {
    return Status(StatusCode::Internal, where + ": " + error.what());
  }
  size_t offset =
      adapter.offset.value_or(static_cast<size_t>(reached - text.data()));
  return Status(adapter.failure.code(),
                where + ": " + adapter.failure.cause() + " (byte " +
                    std::to_string(offset) + ")",
                adapter.failure.advice());
}

Expected<Json> parseJson(std::string_view text, const std::string &where,
                         const JsonLimits &limits) {
  TreeBuilder builder;
  LLMIR_RETURN_IF_ERROR(parseJsonEvents(text, where, limits, builder));
  return std::move(builder.root);
}

Expected<Json> parseJsonFile(const std::string &path,
                             const JsonLimits &limits) {
  Expected<MappedFile> file = MappedFile::open(path, limits.maxBytes);
  if (!file)
    return file.takeStatus();
  return parseJson(file->text(), std::string(file->name()), limits);
}

//===----------------------------------------------------------------------===//
// Typed reads
//===----------------------------------------------------------------------===//

Expected<JsonReader> JsonReader::of(const Json &value, std::string where) {
  if (!value.is_object())
    return Status(StatusCode::InvalidFile, where + ": contains " +
                                               describeJson(value) +
                                               "; expected an object");
  return JsonReader(value, std::move(where));
}

const Json *JsonReader::find(std::string_view key) const {
  if (!value->is_object())
    return nullptr;
  auto found = value->find(key);
  return found == value->end() || found->is_null() ? nullptr : &*found;
}

Status
JsonReader::checkKeys(std::initializer_list<std::string_view> known) const {
  std::string all;
  for (std::string_view key : known)
    all += (all.empty() ? "'" : ", '") + std::string(key) + "'";
  for (const auto &entry : value->items())
    if (std::find(known.begin(), known.end(), entry.key()) == known.end())
      return Status(StatusCode::InvalidFile,
                    where + ": unknown key '" + path + printable(entry.key()) +
                        "'",
                    "the keys are " + all);
  return Status::ok();
}

Status JsonReader::failure(StatusCode code, std::string_view key,
                           const std::string &problem,
                           const std::string &advice) const {
  return Status(code, where + ": '" + path + std::string(key) + "' " + problem,
                advice);
}

Status JsonReader::unexpected(std::string_view key,
                              const std::string &expectation) const {
  const Json *found = find(key);
  return failure(StatusCode::InvalidFile, key,
                 "is " + (found ? describeJson(*found) : "null") +
                     "; expected " + expectation);
}

Status JsonReader::missing(std::string_view key,
                           const std::string &expectation) const {
  return failure(StatusCode::NotFound, key,
                 "is missing; expected " + expectation);
}

static std::string integerExpectation(int64_t min, int64_t max) {
  bool bounded = max != std::numeric_limits<int64_t>::max();
  if (min == std::numeric_limits<int64_t>::min())
    return bounded ? "an integer of at most " + std::to_string(max)
                   : "an integer";
  return "an integer " +
         (bounded ? "from " + std::to_string(min) + " to " + std::to_string(max)
                  : "of at least " + std::to_string(min));
}

Expected<int64_t> JsonReader::integer(std::string_view key, int64_t min,
                                      int64_t max) const {
  const Json *found = find(key);
  if (!found)
    return missing(key, integerExpectation(min, max));
  constexpr uint64_t largest = std::numeric_limits<int64_t>::max();
  if (!found->is_number_integer() ||
      (found->is_number_unsigned() && found->get<uint64_t>() > largest))
    return unexpected(key, integerExpectation(min, max));
  int64_t result = found->get<int64_t>();
  if (result < min || result > max)
    return unexpected(key, integerExpectation(min, max));
  return result;
}

Expected<int64_t> JsonReader::integerOr(std::string_view key, int64_t otherwise,
                                        int64_t min, int64_t max) const {
  return has(key) ? integer(key, min, max) : Expected<int64_t>(otherwise);
}

Expected<double> JsonReader::number(std::string_view key) const {
  const Json *found = find(key);
  if (!found)
    return missing(key, "a number");
  if (!found->is_number() || !std::isfinite(found->get<double>()))
    return unexpected(key, "a finite number");
  return found->get<double>();
}

Expected<double> JsonReader::numberOr(std::string_view key,
                                      double otherwise) const {
  return has(key) ? number(key) : Expected<double>(otherwise);
}

Expected<bool> JsonReader::boolean(std::string_view key) const {
  const Json *found = find(key);
  if (!found)
    return missing(key, "true or false");
  if (!found->is_boolean())
    return unexpected(key, "true or false");
  return found->get<bool>();
}

Expected<bool> JsonReader::booleanOr(std::string_view key,
                                     bool otherwise) const {
  return has(key) ? boolean(key) : Expected<bool>(otherwise);
}

Expected<std::string> JsonReader::string(std::string_view key) const {
  const Json *found = find(key);
  if (!found)
    return missing(key, "a string");
  if (!found->is_string())
    return unexpected(key, "a string");
  return found->get<std::string>();
}

Expected<std::string> JsonReader::stringOr(std::string_view key,
                                           std::string otherwise) const {
  return has(key) ? string(key) : Expected<std::string>(std::move(otherwise));
}

Expected<JsonReader> JsonReader::object(std::string_view key) const {
  const Json *found = find(key);
  if (!found)
    return missing(key, "an object");
  if (!found->is_object())
    return unexpected(key, "an object");
  return JsonReader(*found, where, path + std::string(key) + ".");
}

Expected<const Json *> JsonReader::array(std::string_view key) const {
  const Json *found = find(key);
  if (!found)
    return missing(key, "an array");
  if (!found->is_array())
    return unexpected(key, "an array");
  return found;
}

//===----------------------------------------------------------------------===//
// Text for messages
//===----------------------------------------------------------------------===//

std::string describeJson(const Json &value) {
  if (value.is_object())
    return "an object of " + std::to_string(value.size()) + " keys";
  if (value.is_array())
    return "an array of " + std::to_string(value.size()) + " elements";
  if (value.is_string())
    return "\"" + printable(value.get_ref<const std::string &>(), 60) + "\"";
  // JSON has no spelling for these; other file formats can contain them.
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    return std::isnan(value.get<double>()) ? "NaN"
           : value.get<double>() > 0       ? "infinity"
                                           : "-infinity";
  return value.dump();
}

/// The length of the well-formed UTF-8 sequence at the front, or 0.
static size_t utf8Length(std::string_view bytes) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  uint8_t lead = byte(0);
  if (lead < 0x80)
    return 1;
  size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length)
    return 0;
  // The second byte's range excludes overlong forms, surrogates and values
  // above U+10FFFF.
  uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high)
    return 0;
  for (size_t i = 2; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  return length;
}

bool isValidUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t length = utf8Length(bytes);
    if (length == 0)
      return false;
    bytes.remove_prefix(length);
  }
  return true;
}

/// True for a character that moves or hides others on a terminal: ASCII and
/// Latin-1 controls, Unicode line separators and bidirectional controls.
static bool isControl(std::string_view character) {
  const auto lead = static_cast<uint8_t>(character[0]);
  if (character.size() == 1)
    return lead < 0x20 || lead == 0x7f;
  const auto second = static_cast<uint8_t>(character[1]);
  if (character.size() == 2) // U+0080 to U+009F, U+061C.
    return (lead == 0xc2 && second < 0xa0) || character == "\u061c";
  // U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
  const auto third = static_cast<uint8_t>(character[2]);
  return lead == 0xe2 &&
         ((second == 0x80 && (third == 0x8e || third == 0x8f ||
                              (third >= 0xa8 && third <= 0xae))) ||
          (second == 0x81 && third >= 0xa6 && third <= 0xa9));
}

std::string printable(std::string_view bytes, size_t maxBytes) {
  std::string result;
  while (!bytes.empty()) {
    if (result.size() >= maxBytes)
      return result + "…";
    const size_t length = utf8Length(bytes);
    const std::string_view character = bytes.substr(0, length ? length : 1);
    if (length == 0 || isControl(character)) {
      for (char c : character) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\x%02x",
                      static_cast<uint8_t>(c));
        result += escape;
      }
    } else {
      result += character;
    }
    bytes.remove_prefix(character.size());
  }
  return result;
}

} // namespace llmir
