//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Safetensors.h"
#include "ExceptionGuard.h"

#include "llmir/Support/JsonEvents.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace llmir {

namespace {

constexpr uint64_t prefixBytes = 8; ///< The header's length, a u64.
constexpr uint64_t maxHeaderBytes = 100'000'000;
constexpr size_t maxRank = 64;

struct DType {
  std::string_view name;
  uint64_t bits;
};

constexpr DType dtypes[] = {
    {"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
    {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
    {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},
    {"I64", 64},    {"U64", 64},
};

const DType *findDType(std::string_view name) {
  for (const DType &dtype : dtypes)
    if (dtype.name == name)
      return &dtype;
  return nullptr;
}

/// One tensor as described by the header; offsets are relative to the data.
struct HeaderEntry {
  std::string name;
  const DType *dtype = nullptr;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

Status invalid(std::string cause) {
  return Status(StatusCode::InvalidFile, std::move(cause),
                "the file is damaged or not safetensors: fetch it again");
}

std::string inQuotes(std::string_view text) {
  return "'" + printable(text) + "'";
}

/// Parses the header {name: {dtype, shape, data_offsets}, __metadata__: {…}}
/// without building a tree.
class HeaderHandler : public JsonEvents {
public:
  std::vector<HeaderEntry> entries;

  Status beginObject() override {
    switch (place) {
    case Place::Outside:
      place = Place::Header;
      return Status::ok();
    case Place::TensorValue:
      place = Place::Tensor;
      return Status::ok();
    case Place::MetadataValue:
      place = Place::Metadata;
      return Status::ok();
    default:
      return unexpected("an object");
    }
  }

  Status endObject() override {
    if (place == Place::Tensor)
      LLMIR_RETURN_IF_ERROR(finishTensor());
    place = place == Place::Header ? Place::Outside : Place::Header;
    return Status::ok();
  }

  Status beginArray() override {
    if (place == Place::ShapeValue)
      place = Place::Shape;
    else if (place == Place::OffsetsValue)
      place = Place::Offsets;
    else
      return unexpected("an array");
    return Status::ok();
  }

  Status endArray() override {
    if (place == Place::Offsets && offsetCount != 2)
      return invalid(where() + ": data_offsets has " +
                     std::to_string(offsetCount) + " numbers; expected 2");
    place = Place::Tensor;
    return Status::ok();
  }

  Status key(std::string &&text) override {
    if (place == Place::Header)
      return headerKey(std::move(text));
    if (place == Place::Tensor)
      return tensorKey(text);
    metadataKey = std::move(text);
    place = Place::MetadataString;
    return Status::ok();
  }

  Status string(std::string &&text) override {
    if (place == Place::MetadataString) {
      place = Place::Metadata;
      return Status::ok();
    }
    if (place != Place::DTypeValue)
      return unexpected("a string");
    entries.back().dtype = findDType(text);
    place = Place::Tensor;
    if (entries.back().dtype)
      return Status::ok();
    return invalid(where() + ": unknown dtype " + inQuotes(text));
  }

  Status unsignedInteger(uint64_t value) override {
    HeaderEntry *entry = entries.empty() ? nullptr : &entries.back();
    if (place == Place::Shape) {
      if (value > uint64_t(INT64_MAX))
        return invalid(where() + ": shape contains " + std::to_string(value));
      if (entry->shape.size() == maxRank)
        return invalid(where() + ": shape has more than " +
                       std::to_string(maxRank) + " dimensions");
      entry->shape.push_back(static_cast<int64_t>(value));
      return Status::ok();
    }
    if (place != Place::Offsets)
      return unexpected("a number");
    if (offsetCount < 2)
      (offsetCount == 0 ? entry->begin : entry->end) = value;
    ++offsetCount;
    return Status::ok();
  }

  Status negativeInteger(int64_t value) override {
    return unexpected("the negative number " + std::to_string(value));
  }
  Status number(double) override { return unexpected("a fraction"); }
  Status boolean(bool) override { return unexpected("true or false"); }
  Status null() override { return unexpected("null"); }

private:
  /// Which value or key is expected next.
  enum class Place {
    Outside,
    Header,
    TensorValue,
    Tensor,
    DTypeValue,
    ShapeValue,
    Shape,
    OffsetsValue,
    Offsets,
    MetadataValue,
    Metadata,
    MetadataString,
  };

  std::string where() const {
    return entries.empty() ? "header"
                           : "tensor " + inQuotes(entries.back().name);
  }

  Status unexpected(const std::string &what) const {
    switch (place) {
    case Place::Outside:
      return invalid("the header is " + what + "; expected an object");
    case Place::MetadataValue:
      return invalid("'__metadata__' is " + what + "; expected an object");
    case Place::MetadataString:
      return invalid("'__metadata__': " + inQuotes(metadataKey) + " is " +
                     what + "; expected a string");
    case Place::TensorValue:
      return invalid(where() + " is " + what + "; expected an object");
    case Place::DTypeValue:
      return invalid(where() + ": dtype is " + what + "; expected a string");
    case Place::ShapeValue:
      return invalid(where() + ": shape is " + what + "; expected an array");
    case Place::OffsetsValue:
      return invalid(where() + ": data_offsets is " + what +
                     "; expected an array");
    default:
      return invalid(where() + ": " +
                     (place == Place::Shape ? "shape" : "data_offsets") +
                     " contains " + what + "; expected numbers from 0 up");
    }
  }

  Status headerKey(std::string &&text) {
    if (text == "__metadata__") {
      if (std::exchange(sawMetadata, true))
        return invalid("'__metadata__' is given twice");
      place = Place::MetadataValue;
      return Status::ok();
    }
    entries.emplace_back();
    entries.back().name = std::move(text);
    sawDType = sawShape = sawOffsets = false;
    offsetCount = 0;
    place = Place::TensorValue;
    return Status::ok();
  }

  Status tensorKey(const std::string &text) {
    bool again;
    if (text == "dtype") {
      again = std::exchange(sawDType, true);
      place = Place::DTypeValue;
    } else if (text == "shape") {
      again = std::exchange(sawShape, true);
      place = Place::ShapeValue;
    } else if (text == "data_offsets") {
      again = std::exchange(sawOffsets, true);
      place = Place::OffsetsValue;
    } else {
      return invalid(where() + " has the unknown key " + inQuotes(text));
    }
    if (again)
      return invalid(where() + ": " + text + " is given twice");
    return Status::ok();
  }

  Status finishTensor() const {
    const char *absent = !sawDType     ? "dtype"
                         : !sawShape   ? "shape"
                         : !sawOffsets ? "data_offsets"
                                       : nullptr;
    if (absent)
      return invalid(where() + ": " + absent + " is missing");
    return Status::ok();
  }

  Place place = Place::Outside;
  std::string metadataKey;
  bool sawMetadata = false;
  bool sawDType = false, sawShape = false, sawOffsets = false;
  size_t offsetCount = 0;
};

/// The number of bytes required by dtype and shape, or why there is none.
Expected<uint64_t> neededBytes(const HeaderEntry &entry) {
  uint64_t elements = 1, bits;
  for (int64_t size : entry.shape)
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(size),
                               &elements))
      return invalid("the product of the shape overflows");
  if (__builtin_mul_overflow(elements, entry.dtype->bits, &bits))
    return invalid("the size in bits overflows");
  if (bits % 8 != 0)
    return invalid(std::to_string(elements) + " values of " +
                   std::string(entry.dtype->name) + " are not whole bytes");
  return bits / 8;
}

/// Checks one entry against the data; `expectedBegin` is the end of the
/// preceding tensor.
Status checkEntry(const HeaderEntry &entry, const CheckpointTensor &tensor,
                  uint64_t expectedBegin, uint64_t dataBytes) {
  std::string range = "data_offsets [" + std::to_string(entry.begin) + ", " +
                      std::to_string(entry.end) + "]";
  if (entry.begin > entry.end)
    return invalid(range + " run backwards");
  if (entry.end > dataBytes)
    return invalid(range + " pass the end of the data, which has " +
                   std::to_string(dataBytes) + " bytes");
  Expected<uint64_t> needed = neededBytes(entry);
  if (!needed)
    return needed.takeStatus().withContext("shape " + tensor.shapeText());
  if (*needed != entry.end - entry.begin)
    return invalid(range + " cover " + std::to_string(entry.end - entry.begin) +
                   " bytes, but " + std::string(entry.dtype->name) + " " +
                   tensor.shapeText() + " needs " + std::to_string(*needed));
  if (entry.begin != expectedBegin)
    return invalid(range +
                   (entry.begin < expectedBegin
                        ? " overlap the preceding tensor"
                        : " leave a gap") +
                   ": expected to begin at " + std::to_string(expectedBegin));
  return Status::ok();
}

Status checkUniqueNames(const std::vector<HeaderEntry> &entries) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const HeaderEntry &entry : entries)
    names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end())
    return Status::ok();
  return invalid("tensor " + inQuotes(*twice) + " is given twice");
}

/// The header's JSON text, or why there is none.
Expected<std::string_view> headerText(const MappedFile &file) {
  Span<const uint8_t> bytes = file.bytes();
  if (bytes.size() < prefixBytes)
    return invalid("the file has " + std::to_string(bytes.size()) +
                   " bytes; the header's length alone takes 8");
  uint64_t length;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > maxHeaderBytes)
    return invalid("header length (byte 0) is " + std::to_string(length) +
                   "; at most " + std::to_string(maxHeaderBytes));
  if (length > bytes.size() - prefixBytes)
    return invalid("header length (byte 0) is " + std::to_string(length) +
                   ", but only " + std::to_string(bytes.size() - prefixBytes) +
                   " bytes follow it");
  std::string_view text = file.text().substr(prefixBytes, length);
  if (text.empty() || text[0] != '{')
    return invalid("the header (byte 8) does not begin with '{'");
  return text;
}

Expected<std::vector<CheckpointTensor>>
readTensors(const std::shared_ptr<const MappedFile> &file) {
  Expected<std::string_view> text = headerText(*file);
  if (!text)
    return text.takeStatus();
  HeaderHandler header;
  LLMIR_RETURN_IF_ERROR(parseJsonEvents(
      *text, "header", {maxHeaderBytes, /*maxDepth=*/4}, header));
  LLMIR_RETURN_IF_ERROR(checkUniqueNames(header.entries));
  std::sort(header.entries.begin(), header.entries.end(),
            [](const HeaderEntry &a, const HeaderEntry &b) {
              return std::tie(a.begin, a.end, a.name) <
                     std::tie(b.begin, b.end, b.name);
            });

  Span<const uint8_t> data = file->bytes();
  data = data.subspan(prefixBytes + text->size(),
                      data.size() - prefixBytes - text->size());
  uint64_t expectedBegin = 0;
  std::vector<CheckpointTensor> tensors;
  tensors.reserve(header.entries.size());
  for (HeaderEntry &entry : header.entries) {
    CheckpointTensor tensor;
    tensor.name = std::move(entry.name);
    tensor.format = tensorFormatFromSafetensors(entry.dtype->name);
    tensor.storageName = entry.dtype->name;
    tensor.shape = std::move(entry.shape);
    entry.shape = tensor.shape;
    if (Status status = checkEntry(entry, tensor, expectedBegin, data.size());
        !status)
      return std::move(status).withContext("tensor " + inQuotes(tensor.name));
    tensor.bytes = data.subspan(entry.begin, entry.end - entry.begin);
    tensor.file = file;
    expectedBegin = entry.end;
    tensors.push_back(std::move(tensor));
  }
  if (expectedBegin != data.size())
    return invalid("the tensors end at byte " + std::to_string(expectedBegin) +
                   " of the data, which has " + std::to_string(data.size()) +
                   " bytes");
  return tensors;
}

} // namespace

Expected<std::vector<CheckpointTensor>>
readSafetensors(std::shared_ptr<const MappedFile> file) {
  Expected<std::vector<CheckpointTensor>> tensors =
      withoutExceptions(file->path(), [&] { return readTensors(file); });
  if (!tensors)
    return tensors.takeStatus().withContext(std::string(file->name()));
  return tensors;
}

} // namespace llmir
