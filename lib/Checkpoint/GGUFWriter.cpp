//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Checkpoint/GGUFWriter.h"

#include <algorithm>
#include <cstring>

using namespace llmir;

template <typename T> static void append(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

static void appendString(std::string &out, std::string_view text) {
  append(out, static_cast<uint64_t>(text.size()));
  out += text;
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

void GGUFKeys::setValue(std::string_view key, std::string typeAndValue) {
  for (auto &[name, value] : list)
    if (name == key) {
      value = std::move(typeAndValue);
      return;
    }
  list.emplace_back(key, std::move(typeAndValue));
}

void GGUFKeys::set(std::string_view key, GGUFType type, const void *value,
                   size_t bytes) {
  std::string text;
  append(text, static_cast<uint32_t>(type));
  text.append(static_cast<const char *>(value), bytes);
  setValue(key, std::move(text));
}

void GGUFKeys::setU16(std::string_view key, uint16_t value) {
  set(key, GGUFType::U16, &value, sizeof value);
}
void GGUFKeys::setU32(std::string_view key, uint32_t value) {
  set(key, GGUFType::U32, &value, sizeof value);
}
void GGUFKeys::setI32(std::string_view key, int32_t value) {
  set(key, GGUFType::I32, &value, sizeof value);
}
void GGUFKeys::setF32(std::string_view key, float value) {
  set(key, GGUFType::F32, &value, sizeof value);
}
void GGUFKeys::setBool(std::string_view key, bool value) {
  const uint8_t byte = value;
  set(key, GGUFType::Bool, &byte, 1);
}
void GGUFKeys::setString(std::string_view key, std::string_view value) {
  std::string text;
  appendString(text, value);
  set(key, GGUFType::String, text.data(), text.size());
}

std::string GGUFKeys::arrayStart(GGUFType type, size_t count) {
  std::string text;
  append(text, static_cast<uint32_t>(GGUFType::Array));
  append(text, static_cast<uint32_t>(type));
  append(text, static_cast<uint64_t>(count));
  return text;
}

void GGUFKeys::setStrings(std::string_view key,
                          const std::vector<std::string> &values) {
  std::string text = arrayStart(GGUFType::String, values.size());
  for (const std::string &value : values)
    appendString(text, value);
  setValue(key, std::move(text));
}
void GGUFKeys::setFloats(std::string_view key,
                         const std::vector<float> &values) {
  std::string text = arrayStart(GGUFType::F32, values.size());
  for (float value : values)
    append(text, value);
  setValue(key, std::move(text));
}
void GGUFKeys::setIntegers(std::string_view key,
                           const std::vector<int32_t> &values) {
  std::string text = arrayStart(GGUFType::I32, values.size());
  for (int32_t value : values)
    append(text, value);
  setValue(key, std::move(text));
}
void GGUFKeys::setBools(std::string_view key, const std::vector<bool> &values) {
  std::string text = arrayStart(GGUFType::Bool, values.size());
  for (bool value : values)
    append(text, static_cast<uint8_t>(value));
  setValue(key, std::move(text));
}
void GGUFKeys::setBytes(std::string_view key, std::string_view bytes) {
  setValue(key, arrayStart(GGUFType::U8, bytes.size()).append(bytes));
}

void GGUFKeys::copy(const GGUFEntry &entry) {
  const auto textOf = [](Span<const uint8_t> bytes) {
    return std::string_view(reinterpret_cast<const char *>(bytes.data()),
                            bytes.size());
  };
  if (entry.type == GGUFType::String)
    return setString(entry.key, textOf(entry.bytes));
  if (entry.type != GGUFType::Array)
    return set(entry.key, entry.type, entry.bytes.data(), entry.bytes.size());
  setValue(entry.key, arrayStart(entry.array.elementType, entry.array.size)
                          .append(textOf(entry.array.bytes)));
}

void GGUFKeys::remove(std::string_view key) {
  list.erase(
      std::remove_if(list.begin(), list.end(),
                     [&](const auto &each) { return each.first == key; }),
      list.end());
}

bool GGUFKeys::has(std::string_view key) const {
  return std::any_of(list.begin(), list.end(),
                     [&](const auto &each) { return each.first == key; });
}

std::string GGUFKeys::bytes() const {
  std::string text;
  for (const auto &[key, value] : list) {
    appendString(text, key);
    text += value;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

int64_t GGUFTensor::rows() const {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i)
    rows *= shape[i];
  return rows;
}

int64_t GGUFTensor::bytes() const {
  return rows() * tensorRowBytes(format, columns()).value_or(0);
}

static int64_t aligned(int64_t size) {
  return (size + ggufAlignment - 1) / ggufAlignment * ggufAlignment;
}

std::string llmir::ggufHeader(const GGUFKeys &keys,
                              const std::vector<GGUFTensor> &tensors) {
  std::string header = "GGUF";
  append(header, uint32_t(3));
  append(header, static_cast<uint64_t>(tensors.size()));
  append(header, static_cast<uint64_t>(keys.size()));
  header += keys.bytes();
  int64_t offset = 0;
  for (const GGUFTensor &tensor : tensors) {
    appendString(header, tensor.name);
    append(header, static_cast<uint32_t>(tensor.shape.size()));
    for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size)
      append(header, static_cast<uint64_t>(*size));
    append(header,
           static_cast<uint32_t>(tensorFormatInfo(tensor.format).ggufType));
    append(header, static_cast<uint64_t>(offset));
    offset += aligned(tensor.bytes());
  }
  header.resize(
      static_cast<size_t>(aligned(static_cast<int64_t>(header.size()))));
  return header;
}
