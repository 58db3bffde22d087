//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <cmath>

namespace llmir {

const char *ggufTypeName(GGUFType type) {
  static constexpr const char *names[] = {
      "u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
      "bool", "string", "array", "u64", "i64", "f64"};
  size_t i = static_cast<size_t>(type);
  return i < std::size(names) ? names[i] : "unknown";
}

template <typename T> static T load(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

static std::optional<int64_t> loadInteger(GGUFType type, const uint8_t *at) {
  switch (type) {
  case GGUFType::U8:
    return load<uint8_t>(at);
  case GGUFType::I8:
    return load<int8_t>(at);
  case GGUFType::U16:
    return load<uint16_t>(at);
  case GGUFType::I16:
    return load<int16_t>(at);
  case GGUFType::U32:
    return load<uint32_t>(at);
  case GGUFType::I32:
    return load<int32_t>(at);
  case GGUFType::I64:
    return load<int64_t>(at);
  case GGUFType::U64: {
    uint64_t value = load<uint64_t>(at);
    if (value <= uint64_t(INT64_MAX))
      return static_cast<int64_t>(value);
    return std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

static std::optional<double> loadNumber(GGUFType type, const uint8_t *at) {
  if (type == GGUFType::F32)
    return load<float>(at);
  if (type == GGUFType::F64)
    return load<double>(at);
  if (type == GGUFType::U64)
    return static_cast<double>(load<uint64_t>(at));
  if (std::optional<int64_t> value = loadInteger(type, at))
    return static_cast<double>(*value);
  return std::nullopt;
}

static size_t widthOf(const GGUFArray &array) {
  return array.size == 0 ? 0 : array.bytes.size() / array.size;
}

std::optional<int64_t> GGUFArray::integer(size_t i) const {
  if (i >= size || elementType == GGUFType::String)
    return std::nullopt;
  return loadInteger(elementType, bytes.data() + i * widthOf(*this));
}

std::optional<double> GGUFArray::number(size_t i) const {
  if (i >= size || elementType == GGUFType::String)
    return std::nullopt;
  return loadNumber(elementType, bytes.data() + i * widthOf(*this));
}

GGUFStrings GGUFArray::strings() const {
  if (elementType != GGUFType::String)
    return GGUFStrings({}, 0);
  return GGUFStrings(bytes, size);
}

std::optional<int64_t> GGUFEntry::integer() const {
  return loadInteger(type, bytes.data());
}

std::optional<double> GGUFEntry::number() const {
  return loadNumber(type, bytes.data());
}

std::optional<bool> GGUFEntry::boolean() const {
  if (type != GGUFType::Bool)
    return std::nullopt;
  return bytes[0] != 0;
}

std::optional<std::string_view> GGUFEntry::string() const {
  if (type != GGUFType::String)
    return std::nullopt;
  return std::string_view(reinterpret_cast<const char *>(bytes.data()),
                          bytes.size());
}

const GGUFEntry *GGUFMetadata::find(std::string_view key) const {
  auto found = std::lower_bound(
      byKey.begin(), byKey.end(), key,
      [&](uint32_t i, std::string_view k) { return entryList[i].key < k; });
  if (found == byKey.end() || entryList[*found].key != key)
    return nullptr;
  return &entryList[*found];
}

Status GGUFMetadata::failure(StatusCode code, std::string_view key,
                             const std::string &problem,
                             const std::string &advice) const {
  const GGUFEntry *entry = find(key);
  return Status(
      code,
      fileName() + ": '" + printable(key) + "' " + problem +
          (entry ? " (byte " + std::to_string(entry->offset) + ")" : ""),
      advice);
}

/// The value as text: "the string \"x\"", "-1 (i32)", …
static std::string describe(const GGUFEntry &entry) {
  if (entry.type == GGUFType::Array)
    return "an array of " + std::to_string(entry.array.size) + " " +
           ggufTypeName(entry.array.elementType);
  if (auto text = entry.string())
    return "the string \"" + printable(*text, 60) + "\"";
  std::string type = std::string(" (") + ggufTypeName(entry.type) + ")";
  if (auto value = entry.boolean())
    return (*value ? "true" : "false") + type;
  if (auto value = entry.integer())
    return std::to_string(*value) + type;
  if (entry.type == GGUFType::U64)
    return std::to_string(load<uint64_t>(entry.bytes.data())) + type;
  return std::to_string(*entry.number()) + type;
}

static std::string integerRange(int64_t min, int64_t max) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  if (min == least && max == most)
    return "an integer";
  if (max == most)
    return "an integer of at least " + std::to_string(min);
  return "an integer from " + std::to_string(min) + " to " +
         std::to_string(max);
}

/// NotFound if absent; InvalidFile, with the actual value, if present.
static Status refuse(const GGUFMetadata &metadata, std::string_view key,
                     const std::string &expectation) {
  if (const GGUFEntry *entry = metadata.find(key))
    return metadata.failure(StatusCode::InvalidFile, key,
                            "is " + describe(*entry) + "; expected " +
                                expectation);
  return metadata.failure(StatusCode::NotFound, key,
                          "is missing; expected " + expectation);
}

Expected<int64_t> GGUFMetadata::integer(std::string_view key, int64_t min,
                                        int64_t max) const {
  const GGUFEntry *entry = find(key);
  std::optional<int64_t> value = entry ? entry->integer() : std::nullopt;
  if (value && *value >= min && *value <= max)
    return *value;
  return refuse(*this, key, integerRange(min, max));
}

Expected<int64_t> GGUFMetadata::integerOr(std::string_view key,
                                          int64_t otherwise, int64_t min,
                                          int64_t max) const {
  return has(key) ? integer(key, min, max) : Expected<int64_t>(otherwise);
}

Expected<double> GGUFMetadata::number(std::string_view key) const {
  const GGUFEntry *entry = find(key);
  std::optional<double> value = entry ? entry->number() : std::nullopt;
  if (value && std::isfinite(*value))
    return *value;
  return refuse(*this, key, "a finite number");
}

Expected<double> GGUFMetadata::numberOr(std::string_view key,
                                        double otherwise) const {
  return has(key) ? number(key) : Expected<double>(otherwise);
}

Expected<bool> GGUFMetadata::booleanOr(std::string_view key,
                                       bool otherwise) const {
  const GGUFEntry *entry = find(key);
  if (!entry)
    return otherwise;
  if (std::optional<bool> value = entry->boolean())
    return *value;
  return refuse(*this, key, "a bool");
}

Expected<std::string_view> GGUFMetadata::string(std::string_view key) const {
  const GGUFEntry *entry = find(key);
  if (entry)
    if (std::optional<std::string_view> value = entry->string())
      return *value;
  return refuse(*this, key, "a string");
}

Expected<std::string_view>
GGUFMetadata::stringOr(std::string_view key, std::string_view otherwise) const {
  return has(key) ? string(key) : Expected<std::string_view>(otherwise);
}

Expected<GGUFArray> GGUFMetadata::array(std::string_view key,
                                        GGUFType elementType) const {
  const GGUFEntry *entry = find(key);
  if (entry && entry->type == GGUFType::Array &&
      entry->array.elementType == elementType)
    return entry->array;
  return refuse(*this, key,
                std::string("an array of ") + ggufTypeName(elementType));
}

static bool isIntegerType(GGUFType type) {
  return type != GGUFType::F32 && type != GGUFType::F64 &&
         type != GGUFType::Bool && type != GGUFType::String &&
         type != GGUFType::Array;
}

Expected<GGUFArray> GGUFMetadata::integerArray(std::string_view key) const {
  const GGUFEntry *entry = find(key);
  if (entry && entry->type == GGUFType::Array &&
      isIntegerType(entry->array.elementType))
    return entry->array;
  return refuse(*this, key, "an array of integers");
}

} // namespace llmir
