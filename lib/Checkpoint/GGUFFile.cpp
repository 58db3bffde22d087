//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExceptionGuard.h"
#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Support/Json.h"

#include <algorithm>

namespace llmir {

namespace {

constexpr uint64_t maxKeys = 1 << 16;
constexpr uint64_t maxTensors = 1 << 17;
constexpr uint64_t maxKeyBytes = 65535;
constexpr uint64_t maxNameBytes = 64;
constexpr uint32_t maxDims = 4;
constexpr uint32_t maxAlignment = 1 << 20;
constexpr uint32_t defaultAlignment = 32;

// The minimum size in the file of a key (length, one letter, type, one byte)
// and of a tensor (length, one letter, count, type, offset).
constexpr uint64_t minKeyBytes = 8 + 1 + 4 + 1;
constexpr uint64_t minTensorBytes = 8 + 1 + 4 + 4 + 8;

struct TensorType {
  uint32_t id;
  std::string_view name;
  int64_t valuesPerBlock;
  int64_t bytesPerBlock;
};

constexpr TensorType tensorTypes[] = {
#define LLMIR_GGUF_TENSOR_TYPE(id, name, values, bytes)                        \
  {id, name, values, bytes},
#include "GGUFTensorTypes.def"
};

const TensorType *findTensorType(uint32_t id) {
  for (const TensorType &type : tensorTypes)
    if (type.id == id)
      return &type;
  return nullptr;
}

/// Bytes of a value of fixed size; 0 for strings and arrays.
size_t fixedWidth(GGUFType type) {
  switch (type) {
  case GGUFType::U8:
  case GGUFType::I8:
  case GGUFType::Bool:
    return 1;
  case GGUFType::U16:
  case GGUFType::I16:
    return 2;
  case GGUFType::U32:
  case GGUFType::I32:
  case GGUFType::F32:
    return 4;
  case GGUFType::U64:
  case GGUFType::I64:
  case GGUFType::F64:
    return 8;
  case GGUFType::String:
  case GGUFType::Array:
    return 0;
  }
  return 0;
}

} // namespace

/// Reads a file from front to back. Every read is first checked against the
/// rest of the file; `subject` names what is being read.
class GGUFParser {
public:
  explicit GGUFParser(std::shared_ptr<const MappedFile> file)
      : file(std::move(file)), bytes(this->file->bytes()) {}

  Expected<GGUFFile> parse();

private:
  Status readHeader();
  Status readKeys();
  Status readValue(GGUFEntry &entry);
  Status readArray(GGUFArray &array);
  Status indexKeys();
  Status readAlignment();
  Status readTensors();
  Status readTensor(CheckpointTensor &tensor);
  Status readShape(CheckpointTensor &tensor, const TensorType *&type);
  Status placeTensors();
  Status checkTensorNames();

  template <typename T> Status read(T &value, const char *field);
  Status readString(std::string_view &text, const char *field,
                    uint64_t maxBytes);

  uint64_t remaining() const { return bytes.size() - position; }
  Status bad(const std::string &problem, uint64_t at,
             StatusCode code = StatusCode::InvalidFile) const {
    return Status(code,
                  std::string(file->name()) + ": " + subject + problem +
                      " (byte " + std::to_string(at) + ")",
                  code == StatusCode::InvalidFile
                      ? "the file is damaged or incomplete: fetch it again"
                      : "");
  }

  std::shared_ptr<const MappedFile> file;
  Span<const uint8_t> bytes;
  uint64_t position = 0;
  std::string subject; ///< "key 3: ", …

  uint64_t keyCount = 0, tensorCount = 0;
  uint32_t alignment = defaultAlignment;
  uint64_t dataBytes = 0;            ///< Padded size of the tensors so far.
  std::vector<uint64_t> dataOffsets; ///< Offset of each tensor in the data.
  std::vector<uint64_t> sizes;       ///< Bytes of each tensor.
  GGUFFile result;
};

template <typename T> Status GGUFParser::read(T &value, const char *field) {
  if (remaining() < sizeof(T))
    return bad(std::string("the file ends before ") + field, position);
  std::memcpy(&value, bytes.data() + position, sizeof(T));
  position += sizeof(T);
  return Status::ok();
}

Status GGUFParser::readString(std::string_view &text, const char *field,
                              uint64_t maxBytes) {
  uint64_t at = position, length;
  LLMIR_RETURN_IF_ERROR(read(length, field));
  if (length > remaining())
    return bad(std::string(field) + " has a length of " +
                   std::to_string(length) + " bytes, but " +
                   std::to_string(remaining()) + " remain in the file",
               at);
  if (length > maxBytes)
    return bad(std::string(field) + " has a length of " +
                   std::to_string(length) + " bytes; at most " +
                   std::to_string(maxBytes),
               at);
  text = {reinterpret_cast<const char *>(bytes.data()) + position,
          static_cast<size_t>(length)};
  position += length;
  return Status::ok();
}

Status GGUFParser::readHeader() {
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "GGUF", 4) != 0)
    return bad("the file does not begin with 'GGUF'", 0);
  position = 4;
  uint32_t version;
  LLMIR_RETURN_IF_ERROR(read(version, "the version"));
  if (version != 0 && (version & 0xffff) == 0)
    return bad("the version is " + std::to_string(__builtin_bswap32(version)) +
                   " in big-endian order; LLMIR reads little-endian files",
               4, StatusCode::Unsupported);
  if (version == 0)
    return bad("the version is 0", 4);
  if (version != 2 && version != 3)
    return bad("the version is " + std::to_string(version) +
                   "; LLMIR reads versions 2 and 3",
               4, StatusCode::Unsupported);
  result.formatVersion = version;
  LLMIR_RETURN_IF_ERROR(read(tensorCount, "the tensor count"));
  LLMIR_RETURN_IF_ERROR(read(keyCount, "the key count"));
  if (tensorCount > maxTensors || tensorCount > remaining() / minTensorBytes)
    return bad("the tensor count is " + std::to_string(tensorCount) +
                   ", too many for a file of " + std::to_string(bytes.size()) +
                   " bytes or above the limit of " + std::to_string(maxTensors),
               8);
  if (keyCount > maxKeys || keyCount > remaining() / minKeyBytes)
    return bad("the key count is " + std::to_string(keyCount) +
                   ", too many for a file of " + std::to_string(bytes.size()) +
                   " bytes or above the limit of " + std::to_string(maxKeys),
               16);
  return Status::ok();
}

Status GGUFParser::readArray(GGUFArray &array) {
  uint64_t at = position;
  uint32_t type;
  uint64_t count;
  LLMIR_RETURN_IF_ERROR(read(type, "the element type"));
  if (type > static_cast<uint32_t>(GGUFType::F64))
    return bad("unknown element type " + std::to_string(type), at);
  array.elementType = static_cast<GGUFType>(type);
  if (array.elementType == GGUFType::Array)
    return bad("an array of arrays", at, StatusCode::Unsupported);
  at = position;
  LLMIR_RETURN_IF_ERROR(read(count, "the element count"));
  size_t width = fixedWidth(array.elementType);
  // Every string takes at least the bytes of its length.
  if (count > remaining() / (width ? width : 8))
    return bad("the array has " + std::to_string(count) + " elements of " +
                   ggufTypeName(array.elementType) + ", but " +
                   std::to_string(remaining()) + " bytes remain in the file",
               at);
  array.size = static_cast<size_t>(count);
  uint64_t begin = position;
  if (width) {
    position += count * width;
  } else {
    std::string_view text;
    for (uint64_t i = 0; i < count; ++i)
      LLMIR_RETURN_IF_ERROR(
          readString(text, "a string of the array", UINT64_MAX));
  }
  array.bytes = bytes.subspan(begin, position - begin);
  return Status::ok();
}

Status GGUFParser::readValue(GGUFEntry &entry) {
  uint64_t at = position;
  uint32_t type;
  LLMIR_RETURN_IF_ERROR(read(type, "the type"));
  if (type > static_cast<uint32_t>(GGUFType::F64))
    return bad("unknown type " + std::to_string(type), at);
  entry.type = static_cast<GGUFType>(type);
  entry.offset = position;
  if (entry.type == GGUFType::Array)
    return readArray(entry.array);
  if (entry.type == GGUFType::String) {
    std::string_view text;
    LLMIR_RETURN_IF_ERROR(readString(text, "the string", UINT64_MAX));
    entry.bytes = bytes.subspan(position - text.size(), text.size());
    return Status::ok();
  }
  size_t width = fixedWidth(entry.type);
  if (remaining() < width)
    return bad("the file ends before the value", position);
  entry.bytes = bytes.subspan(position, width);
  position += width;
  if (entry.type == GGUFType::Bool && entry.bytes[0] > 1)
    return bad("a bool is " + std::to_string(entry.bytes[0]), entry.offset);
  return Status::ok();
}

Status GGUFParser::readKeys() {
  for (uint64_t i = 0; i < keyCount; ++i) {
    subject = "key " + std::to_string(i) + ": ";
    uint64_t at = position;
    GGUFEntry entry;
    LLMIR_RETURN_IF_ERROR(readString(entry.key, "the key", maxKeyBytes));
    if (entry.key.empty() || !isValidUtf8(entry.key))
      return bad(entry.key.empty() ? "the key is empty"
                                   : "the key is not valid UTF-8",
                 at);
    subject = "'" + printable(entry.key) + "': ";
    LLMIR_RETURN_IF_ERROR(readValue(entry));
    result.keys->entryList.push_back(entry);
  }
  subject.clear();
  return indexKeys();
}

Status GGUFParser::indexKeys() {
  const std::vector<GGUFEntry> &entries = result.keys->entryList;
  std::vector<uint32_t> &byKey = result.keys->byKey;
  byKey.resize(entries.size());
  for (uint32_t i = 0; i < byKey.size(); ++i)
    byKey[i] = i;
  std::sort(byKey.begin(), byKey.end(), [&](uint32_t a, uint32_t b) {
    return entries[a].key < entries[b].key;
  });
  for (size_t i = 1; i < byKey.size(); ++i)
    if (entries[byKey[i]].key == entries[byKey[i - 1]].key)
      return bad(
          "the key '" + printable(entries[byKey[i]].key) + "' is given twice",
          std::max(entries[byKey[i]].offset, entries[byKey[i - 1]].offset));
  return Status::ok();
}

Status GGUFParser::readAlignment() {
  const GGUFEntry *entry = result.keys->find("general.alignment");
  if (!entry)
    return Status::ok();
  subject = "'general.alignment': ";
  if (entry->type != GGUFType::U32)
    return bad(std::string("the type is ") + ggufTypeName(entry->type) +
                   "; expected u32",
               entry->offset);
  int64_t value = *entry->integer();
  if (value <= 0 || value > maxAlignment || (value & (value - 1)) != 0)
    return bad("the value is " + std::to_string(value) +
                   "; expected a power of two of at most " +
                   std::to_string(maxAlignment),
               entry->offset);
  alignment = static_cast<uint32_t>(value);
  subject.clear();
  return Status::ok();
}

Status GGUFParser::readShape(CheckpointTensor &tensor,
                             const TensorType *&type) {
  uint64_t at = position;
  uint32_t dims, typeId;
  LLMIR_RETURN_IF_ERROR(read(dims, "the number of dimensions"));
  if (dims > maxDims)
    return bad(std::to_string(dims) + " dimensions; at most " +
                   std::to_string(maxDims),
               at);
  tensor.shape.resize(dims);
  for (uint32_t i = 0; i < dims; ++i) {
    uint64_t size;
    at = position;
    LLMIR_RETURN_IF_ERROR(read(size, "a dimension"));
    if (size == 0 || size > uint64_t(INT64_MAX))
      return bad("dimension " + std::to_string(i) + " is " +
                     std::to_string(size) + "; expected 1 to 2^63 - 1",
                 at);
    // The file stores the fastest-varying dimension first.
    tensor.shape[dims - 1 - i] = static_cast<int64_t>(size);
  }
  at = position;
  LLMIR_RETURN_IF_ERROR(read(typeId, "the type"));
  type = findTensorType(typeId);
  if (!type)
    return bad("unknown or removed tensor type " + std::to_string(typeId), at);
  return Status::ok();
}

Status GGUFParser::readTensor(CheckpointTensor &tensor) {
  uint64_t start = position;
  std::string_view name;
  LLMIR_RETURN_IF_ERROR(readString(name, "the name", maxNameBytes));
  if (name.empty() || !isValidUtf8(name))
    return bad(name.empty() ? "the name is empty"
                            : "the name is not valid UTF-8",
               start);
  tensor.name = name;
  subject = "tensor '" + printable(name) + "': ";
  const TensorType *type = nullptr;
  LLMIR_RETURN_IF_ERROR(readShape(tensor, type));
  tensor.storageName = type->name;
  tensor.format = tensorFormatFromGGUF(type->id);

  int64_t elements = 1, size;
  for (int64_t extent : tensor.shape)
    if (__builtin_mul_overflow(elements, extent, &elements))
      return bad("the product of the shape " + tensor.shapeText() +
                     " overflows",
                 start);
  int64_t columns = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (columns % type->valuesPerBlock != 0)
    return bad("rows of " + std::to_string(columns) +
                   " values are not whole "
                   "blocks of " +
                   std::to_string(type->valuesPerBlock) + " (" +
                   std::string(type->name) + ")",
               start);
  if (__builtin_mul_overflow(elements / type->valuesPerBlock,
                             type->bytesPerBlock, &size))
    return bad("the size of the shape " + tensor.shapeText() + " overflows",
               start);

  uint64_t at = position, offset, padded;
  LLMIR_RETURN_IF_ERROR(read(offset, "the offset"));
  if (offset != dataBytes)
    return bad("the offset is " + std::to_string(offset) +
                   ", but the tensor before it ends at " +
                   std::to_string(dataBytes) + " (padded to " +
                   std::to_string(alignment) + " bytes)",
               at);
  if (__builtin_add_overflow(static_cast<uint64_t>(size),
                             uint64_t(alignment - 1), &padded) ||
      __builtin_add_overflow(dataBytes, padded & ~uint64_t(alignment - 1),
                             &dataBytes))
    return bad("the sum of the tensors' sizes overflows", start);
  dataOffsets.push_back(offset);
  sizes.push_back(static_cast<uint64_t>(size));
  return Status::ok();
}

Status GGUFParser::readTensors() {
  for (uint64_t i = 0; i < tensorCount; ++i) {
    subject = "tensor " + std::to_string(i) + ": ";
    CheckpointTensor tensor;
    LLMIR_RETURN_IF_ERROR(readTensor(tensor));
    tensor.file = file;
    result.tensorList.push_back(std::move(tensor));
  }
  subject.clear();
  LLMIR_RETURN_IF_ERROR(checkTensorNames());
  return placeTensors();
}

Status GGUFParser::checkTensorNames() {
  std::vector<std::string_view> names;
  names.reserve(result.tensorList.size());
  for (const CheckpointTensor &tensor : result.tensorList)
    names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    return bad("the tensor '" + printable(*twice) + "' is given twice",
               position);
  return Status::ok();
}

/// Sets the bytes of each tensor, once the start of the data is known.
Status GGUFParser::placeTensors() {
  if (result.tensorList.empty())
    return Status::ok();
  uint64_t dataStart = (position + alignment - 1) & ~uint64_t(alignment - 1);
  for (size_t i = 0; i < result.tensorList.size(); ++i) {
    CheckpointTensor &tensor = result.tensorList[i];
    if (dataStart > bytes.size() || dataOffsets[i] > bytes.size() - dataStart ||
        sizes[i] > bytes.size() - dataStart - dataOffsets[i]) {
      subject = "tensor '" + printable(tensor.name) + "': ";
      return bad("its " + std::to_string(sizes[i]) + " bytes at offset " +
                     std::to_string(dataOffsets[i]) +
                     " of the data pass the end of the file, which has " +
                     std::to_string(bytes.size()) + " bytes",
                 dataStart);
    }
    tensor.bytes = bytes.subspan(dataStart + dataOffsets[i], sizes[i]);
  }
  return Status::ok();
}

Expected<GGUFFile> GGUFParser::parse() {
  result.keys = std::make_unique<GGUFMetadata>();
  result.keys->file = file;
  LLMIR_RETURN_IF_ERROR(readHeader());
  LLMIR_RETURN_IF_ERROR(readKeys());
  LLMIR_RETURN_IF_ERROR(readAlignment());
  LLMIR_RETURN_IF_ERROR(readTensors());
  return std::move(result);
}

Expected<GGUFFile> GGUFFile::open(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeStatus();
  return parse(std::make_shared<const MappedFile>(std::move(*file)));
}

Expected<GGUFFile> GGUFFile::parse(std::shared_ptr<const MappedFile> file) {
  std::string path = file->path();
  return withoutExceptions(path,
                           [&] { return GGUFParser(std::move(file)).parse(); });
}

} // namespace llmir
