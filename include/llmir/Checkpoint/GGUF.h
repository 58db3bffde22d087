//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The GGUF container (versions 2 and 3): typed keys, then tensors.
//
//   Expected<GGUFFile> file = GGUFFile::open("model.gguf");
//   Expected<GGUFArray> tokens = file->metadata().array(
//       "tokenizer.ggml.tokens", GGUFType::String);
//   for (std::string_view token : tokens->strings()) …
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHECKPOINT_GGUF_H
#define LLMIR_CHECKPOINT_GGUF_H

#include "llmir/Checkpoint/CheckpointTensor.h"
#include "llmir/Support/MappedFile.h"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// Value types, numbered as in the file format.
enum class GGUFType : uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64
};
const char *ggufTypeName(GGUFType type);

/// The strings of an array, read in sequence without copying. Forward iteration
/// only, because strings have different lengths.
class GGUFStrings {
public:
  class iterator {
  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view *;
    using reference = std::string_view;

    iterator() = default;
    iterator(const uint8_t *at, const uint8_t *end) : at(at), end(end) {}
    std::string_view operator*() const {
      return {reinterpret_cast<const char *>(at) + 8, length()};
    }
    iterator &operator++() {
      at += end - at < 8 ? end - at : 8 + static_cast<ptrdiff_t>(length());
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const iterator &other) const { return at == other.at; }
    bool operator!=(const iterator &other) const { return at != other.at; }

  private:
    /// Checked again, because another process may write to a mapped file.
    size_t length() const {
      size_t room = static_cast<size_t>(end - at);
      uint64_t bytes;
      if (room < sizeof bytes)
        return 0;
      std::memcpy(&bytes, at, sizeof bytes);
      room -= sizeof bytes;
      return bytes < room ? static_cast<size_t>(bytes) : room;
    }
    const uint8_t *at = nullptr;
    const uint8_t *end = nullptr;
  };

  GGUFStrings(Span<const uint8_t> bytes, size_t count)
      : bytes(bytes), count(count) {}
  iterator begin() const { return iterator(bytes.begin(), bytes.end()); }
  iterator end() const { return iterator(bytes.end(), bytes.end()); }
  size_t size() const { return count; }

private:
  Span<const uint8_t> bytes;
  size_t count;
};

/// An array value: a view into the mapped file. When the file was opened, all
/// elements were checked to lie inside it.
struct GGUFArray {
  GGUFType elementType = GGUFType::U8; ///< Never Array.
  size_t size = 0;                     ///< Elements.
  Span<const uint8_t> bytes;           ///< All elements, as stored.

  /// Element i of an array of U8 … I64; nullopt for a U64 above 2^63 - 1.
  std::optional<int64_t> integer(size_t i) const;
  /// Element i of an array of integers or floats.
  std::optional<double> number(size_t i) const;
  /// The strings of an array of strings; empty for other arrays.
  GGUFStrings strings() const;
};

/// A key and its value. Views into the mapped file.
struct GGUFEntry {
  std::string_view key;
  GGUFType type = GGUFType::U8;
  Span<const uint8_t> bytes; ///< A scalar, or a string without its length.
  GGUFArray array;           ///< Set if type is Array.
  uint64_t offset = 0;       ///< Byte offset of the value in the file.

  /// The value of any integer type, if it fits.
  std::optional<int64_t> integer() const;
  /// The value of any integer or float type.
  std::optional<double> number() const;
  std::optional<bool> boolean() const;
  std::optional<std::string_view> string() const;
};

/// All keys of a file. Typed reads fail with NotFound (absent key, functions
/// without a default) or InvalidFile (wrong type or out of range), naming the
/// file, the key and the byte offset.
class GGUFMetadata {
public:
  const std::vector<GGUFEntry> &entries() const { return entryList; }
  /// Null if there is no such key. O(log n).
  const GGUFEntry *find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

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
  Expected<bool> booleanOr(std::string_view key, bool otherwise) const;
  Expected<std::string_view> string(std::string_view key) const;
  Expected<std::string_view> stringOr(std::string_view key,
                                      std::string_view otherwise) const;
  /// An array with exactly this element type.
  Expected<GGUFArray> array(std::string_view key, GGUFType elementType) const;
  /// An array with any integer type.
  Expected<GGUFArray> integerArray(std::string_view key) const;

  /// The file's name (for messages) and the file itself.
  std::string fileName() const { return std::string(file->name()); }
  const std::shared_ptr<const MappedFile> &mappedFile() const { return file; }

  /// "model.gguf: 'key' <problem> (byte 123)".
  Status failure(StatusCode code, std::string_view key,
                 const std::string &problem,
                 const std::string &advice = {}) const;

private:
  friend class GGUFParser;
  std::vector<GGUFEntry> entryList;
  std::vector<uint32_t> byKey; ///< Indices into entryList, sorted by key.
  std::shared_ptr<const MappedFile> file;
};

/// One GGUF file, or one part of a split model, parsed and validated. May
/// contain only a vocabulary and no tensors.
class GGUFFile {
public:
  static Expected<GGUFFile> open(const std::string &path);
  static Expected<GGUFFile> parse(std::shared_ptr<const MappedFile> file);

  uint32_t version() const { return formatVersion; }
  const GGUFMetadata &metadata() const { return *keys; }
  /// In file order, shapes outermost first. Names are unique.
  const std::vector<CheckpointTensor> &tensors() const { return tensorList; }

  std::unique_ptr<GGUFMetadata> takeMetadata() { return std::move(keys); }
  std::vector<CheckpointTensor> takeTensors() { return std::move(tensorList); }

private:
  friend class GGUFParser;
  uint32_t formatVersion = 0;
  std::unique_ptr<GGUFMetadata> keys;
  std::vector<CheckpointTensor> tensorList;
};

/// Checks the tokenizer.ggml.* keys for consistency: tokens, scores and types
/// of equal length, types in range, token ids below the vocabulary size, merges
/// of the form "a b", byte tokens of the form <0xNN>, valid UTF-8. Succeeds for
/// a file without a tokenizer. Opening a checkpoint performs this check.
Status checkGGUFTokenizer(const GGUFMetadata &metadata);

} // namespace llmir

#endif // LLMIR_CHECKPOINT_GGUF_H
