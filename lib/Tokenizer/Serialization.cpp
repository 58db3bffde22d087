//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compact binary form of a TokenizerSpec: little-endian, the fields in
// order, arrays prefixed by their lengths.
//
//===----------------------------------------------------------------------===//

#include "TokenizerImpl.h"

#include <cstring>
#include <type_traits>

namespace llmir {
namespace {

constexpr char magic[8] = {'L', 'L', 'M', 'I', 'R', 'T', 'O', 'K'};
constexpr uint32_t formatVersion = 2;

static_assert(sizeof(MergeRule) == 12, "stored as three int32");

class Writer {
public:
  std::vector<uint8_t> bytes;

  template <typename T> void number(T value) {
    static_assert(std::is_arithmetic_v<T>, "numbers only");
    raw(&value, sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<uint64_t>(value.size()));
    raw(value.data(), value.size());
  }
  template <typename T> void array(const std::vector<T> &values) {
    static_assert(std::is_trivially_copyable_v<T>, "stored as raw bytes");
    number(static_cast<uint64_t>(values.size()));
    raw(values.data(), values.size() * sizeof(T));
  }

private:
  void raw(const void *data, size_t size) {
    const auto *first = static_cast<const uint8_t *>(data);
    bytes.insert(bytes.end(), first, first + size);
  }
};

/// Reads the output of Writer. After the first failure all reads return zero
/// and `ok` is false.
class Reader {
public:
  explicit Reader(Span<const uint8_t> bytes) : rest(bytes) {}
  bool ok = true;

  template <typename T> T number() {
    T value{};
    raw(&value, sizeof value);
    return value;
  }
  bool boolean() {
    uint8_t value = number<uint8_t>();
    ok &= value <= 1;
    return value == 1;
  }
  /// Reads an enumeration whose values are below `count`.
  template <typename Enum> Enum choice(int count) {
    uint8_t value = number<uint8_t>();
    ok &= value < count;
    return static_cast<Enum>(ok ? value : 0);
  }
  std::string text() {
    uint64_t size = length(1);
    std::string value(reinterpret_cast<const char *>(rest.data()), size);
    rest = rest.subspan(size, rest.size() - size);
    return value;
  }
  template <typename T> std::vector<T> array() {
    std::vector<T> values(length(sizeof(T)));
    if (!values.empty())
      raw(values.data(), values.size() * sizeof(T));
    return values;
  }
  /// Reads a count of items that take at least `bytesEach`, limited by the
  /// rest.
  size_t length(size_t bytesEach) {
    auto count = number<uint64_t>();
    if (count > rest.size() / bytesEach)
      ok = false;
    return ok ? static_cast<size_t>(count) : 0;
  }
  bool atEnd() const { return rest.empty(); }

private:
  void raw(void *data, size_t size) {
    if (!ok || rest.size() < size) {
      ok = false;
      return;
    }
    std::memcpy(data, rest.data(), size);
    rest = rest.subspan(size, rest.size() - size);
  }
  Span<const uint8_t> rest;
};

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void write(Writer &out, const NormalizerStep &step) {
  out.number<uint8_t>(step.kind);
  out.text(step.pattern);
  out.text(step.content);
  out.number(step.flags);
}
void read(Reader &in, NormalizerStep &step) {
  step.kind = in.choice<NormalizerStep::Kind>(NormalizerStep::KindCount);
  step.pattern = in.text();
  step.content = in.text();
  step.flags = in.number<uint8_t>();
}

void write(Writer &out, const PreTokenizerStep &step) {
  out.number<uint8_t>(step.kind);
  out.number<uint8_t>(step.behavior);
  out.number<uint8_t>(step.scheme);
  out.number<uint8_t>(step.invert);
  out.text(step.pattern);
}
void read(Reader &in, PreTokenizerStep &step) {
  step.kind = in.choice<PreTokenizerStep::Kind>(PreTokenizerStep::KindCount);
  step.behavior =
      in.choice<PreTokenizerStep::Behavior>(PreTokenizerStep::BehaviorCount);
  step.scheme =
      in.choice<PreTokenizerStep::Scheme>(PreTokenizerStep::SchemeCount);
  step.invert = in.boolean();
  step.pattern = in.text();
}

void write(Writer &out, const DecoderStep &step) {
  out.number<uint8_t>(step.kind);
  out.number<uint8_t>(step.dropFirst);
  out.number(step.start);
  out.number(step.stop);
  out.text(step.pattern);
  out.text(step.content);
}
void read(Reader &in, DecoderStep &step) {
  step.kind = in.choice<DecoderStep::Kind>(DecoderStep::KindCount);
  step.dropFirst = in.boolean();
  step.start = in.number<uint32_t>();
  step.stop = in.number<uint32_t>();
  step.pattern = in.text();
  step.content = in.text();
}

void write(Writer &out, const AddedToken &token) {
  out.number(token.id);
  out.number(token.flags);
  out.text(token.text);
}
void read(Reader &in, AddedToken &token) {
  token.id = in.number<int32_t>();
  token.flags = in.number<uint8_t>();
  token.text = in.text();
}

template <typename T> void writeAll(Writer &out, const std::vector<T> &values) {
  out.number(static_cast<uint64_t>(values.size()));
  for (const T &value : values)
    write(out, value);
}
template <typename T> void readAll(Reader &in, std::vector<T> &values) {
  size_t count = in.length(1);
  for (size_t i = 0; i < count && in.ok; ++i)
    read(in, values.emplace_back());
}

/// Checks that offsets ascend from 0 to the end of the text.
bool isConsistent(const TokenTexts &texts) {
  if (texts.offsets.empty() || texts.offsets.front() != 0 ||
      texts.offsets.back() != texts.text.size())
    return false;
  for (size_t i = 0; i + 1 < texts.offsets.size(); ++i)
    if (texts.offsets[i] > texts.offsets[i + 1])
      return false;
  return true;
}

} // namespace

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

std::vector<uint8_t> Tokenizer::serialize() const {
  const TokenizerSpec &spec = impl().spec;
  Writer out;
  for (char c : magic)
    out.number(c);
  out.number(formatVersion);
  out.text(spec.tokens.text);
  out.array(spec.tokens.offsets);
  out.array(spec.flags);
  out.number(static_cast<uint8_t>(spec.model));
  for (bool value : {spec.byteFallback, spec.fuseUnknown, spec.ignoreMerges,
                     spec.ranksAreIds, spec.sumsInSinglePrecision})
    out.number<uint8_t>(value);
  out.number(spec.unknownToken);
  out.number(spec.maxWordCharacters);
  out.text(spec.wordPrefix);
  out.text(spec.continuingPrefix);
  out.text(spec.endSuffix);
  out.array(spec.merges);
  out.array(spec.scores);
  writeAll(out, spec.addedTokens);
  writeAll(out, spec.normalizers);
  writeAll(out, spec.preTokenizers);
  writeAll(out, spec.decoders);
  out.array(spec.prefix);
  out.array(spec.suffix);
  for (int32_t id : {spec.bos, spec.eos, spec.unknown, spec.padding})
    out.number(id);
  return std::move(out.bytes);
}

Expected<Tokenizer> Tokenizer::load(Span<const uint8_t> bytes) {
  auto damaged = [](const std::string &what) {
    return Status(StatusCode::InvalidFile,
                  "the stored tokenizer is damaged: " + what,
                  "compile the model again");
  };
  Reader in(bytes);
  for (char c : magic)
    if (in.number<char>() != c)
      return damaged("it does not begin with LLMIRTOK");
  if (uint32_t version = in.number<uint32_t>(); version != formatVersion)
    return Status(StatusCode::IncompatibleTarget,
                  "the stored tokenizer has version " +
                      std::to_string(version) + "; this program reads " +
                      std::to_string(formatVersion),
                  "compile the model again");
  TokenizerSpec spec;
  spec.tokens.text = in.text();
  spec.tokens.offsets = in.array<uint32_t>();
  spec.flags = in.array<uint8_t>();
  spec.model =
      in.choice<TokenizerModel>(static_cast<int>(TokenizerModel::KindCount));
  for (bool *value : {&spec.byteFallback, &spec.fuseUnknown, &spec.ignoreMerges,
                      &spec.ranksAreIds, &spec.sumsInSinglePrecision})
    *value = in.boolean();
  spec.unknownToken = in.number<int32_t>();
  spec.maxWordCharacters = in.number<uint64_t>();
  spec.wordPrefix = in.text();
  spec.continuingPrefix = in.text();
  spec.endSuffix = in.text();
  spec.merges = in.array<MergeRule>();
  spec.scores = in.array<double>();
  readAll(in, spec.addedTokens);
  readAll(in, spec.normalizers);
  readAll(in, spec.preTokenizers);
  readAll(in, spec.decoders);
  spec.prefix = in.array<int32_t>();
  spec.suffix = in.array<int32_t>();
  for (int32_t *id : {&spec.bos, &spec.eos, &spec.unknown, &spec.padding})
    *id = in.number<int32_t>();
  if (!in.ok || !in.atEnd())
    return damaged(in.ok ? "there are bytes after its end"
                         : "a field is invalid or truncated");
  if (!isConsistent(spec.tokens))
    return damaged("the token table is invalid");
  Expected<Tokenizer> result = buildTokenizer(std::move(spec));
  if (!result)
    return damaged(result.status().cause());
  return result;
}

} // namespace llmir
