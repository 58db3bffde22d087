//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Tokenizer/FromGGUF.h"

#include "Vocabulary.h"

namespace llmir {
namespace {

/// Fills a VocabularyData; keeps the first failure.
class VocabularyReader {
public:
  explicit VocabularyReader(const GGUFMetadata &metadata)
      : metadata(metadata) {}

  Expected<VocabularyData> run() {
    VocabularyData data;
    text("tokenizer.ggml.model", data.model);
    text("tokenizer.ggml.pre", data.pre);
    strings("tokenizer.ggml.tokens", data.tokens);
    strings("tokenizer.ggml.merges", data.merges);
    scores(data.scores);
    types(data.types);
    bytes("tokenizer.ggml.precompiled_charsmap", data.charsmap);
    id("tokenizer.ggml.bos_token_id", data.bos);
    id("tokenizer.ggml.eos_token_id", data.eos);
    id("tokenizer.ggml.unknown_token_id", data.unknown);
    // The key has been misspelled since it exists.
    id("tokenizer.ggml.seperator_token_id", data.separator);
    id("tokenizer.ggml.padding_token_id", data.padding);
    flag("tokenizer.ggml.add_bos_token", data.addBos);
    flag("tokenizer.ggml.add_eos_token", data.addEos);
    flag("tokenizer.ggml.add_sep_token", data.addSeparator);
    flag("tokenizer.ggml.add_space_prefix", data.addSpacePrefix);
    std::optional<bool> removes;
    flag("tokenizer.ggml.remove_extra_whitespaces", removes);
    data.removeExtraWhitespaces = removes.value_or(false);
    flag("tokenizer.ggml.normalizer.lowercase", data.lowercase);
    flag("tokenizer.ggml.normalizer.strip_accents", data.stripAccents);
    if (!failure)
      return std::move(failure);
    addUsualIds(data);
    return data;
  }

private:
  /// Adds the ids that a model's vocabularies usually have if the file has
  /// none.
  void addUsualIds(VocabularyData &data) {
    auto fill = [&](std::optional<int64_t> &id, int64_t usual) {
      if (!id && data.tokens.size() > static_cast<size_t>(usual))
        id = usual;
    };
    if (data.model == "llama") {
      fill(data.unknown, 0);
      fill(data.bos, 1);
      fill(data.eos, 2);
    } else if (data.model == "t5") {
      fill(data.padding, 0);
      fill(data.eos, 1);
      fill(data.unknown, 2);
    } else if (data.model == "bert") {
      id("tokenizer.ggml.cls_token_id", data.bos);
      fill(data.padding, 0);
      fill(data.unknown, 100);
      fill(data.bos, 101);
      fill(data.separator, 102);
    }
  }

  /// An array of bytes, signed or not.
  void bytes(std::string_view key, std::string_view &to) {
    if (!isPresent(key))
      return;
    Expected<GGUFArray> array = metadata.array(key, GGUFType::U8);
    if (!array)
      array = metadata.array(key, GGUFType::I8);
    if (array)
      to = std::string_view(reinterpret_cast<const char *>(array->bytes.data()),
                            array->bytes.size());
    else
      failure = array.takeStatus();
  }

  bool isPresent(std::string_view key) {
    return failure.isOk() && metadata.has(key);
  }

  void text(std::string_view key, std::string_view &to) {
    if (!isPresent(key))
      return;
    Expected<std::string_view> value = metadata.string(key);
    if (value)
      to = *value;
    else
      failure = value.takeStatus();
  }

  void strings(std::string_view key, std::vector<std::string_view> &to) {
    if (!isPresent(key))
      return;
    Expected<GGUFArray> array = metadata.array(key, GGUFType::String);
    if (!array) {
      failure = array.takeStatus();
      return;
    }
    GGUFStrings list = array->strings();
    to.assign(list.begin(), list.end());
  }

  void scores(std::vector<float> &to) {
    constexpr std::string_view key = "tokenizer.ggml.scores";
    if (!isPresent(key))
      return;
    Expected<GGUFArray> array = metadata.array(key, GGUFType::F32);
    if (!array) {
      failure = array.takeStatus();
      return;
    }
    to.resize(array->size);
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(array->number(i).value_or(0));
  }

  void types(std::vector<int32_t> &to) {
    constexpr std::string_view key = "tokenizer.ggml.token_type";
    if (!isPresent(key))
      return;
    Expected<GGUFArray> array = metadata.integerArray(key);
    if (!array) {
      failure = array.takeStatus();
      return;
    }
    to.resize(array->size);
    for (size_t i = 0; i < to.size(); ++i) {
      // A value that does not fit is not a type; 0 is rejected later.
      int64_t value = array->integer(i).value_or(0);
      to[i] = value >= 0 && value <= 6 ? static_cast<int32_t>(value) : 0;
    }
  }

  void id(std::string_view key, std::optional<int64_t> &to) {
    if (!isPresent(key))
      return;
    Expected<int64_t> value = metadata.integer(key);
    if (!value)
      failure = value.takeStatus();
    // Some converters write -1 for "none", as a 32-bit number.
    else if (*value != UINT32_MAX && *value != -1)
      to = *value;
  }

  void flag(std::string_view key, std::optional<bool> &to) {
    if (!isPresent(key))
      return;
    Expected<bool> value = metadata.booleanOr(key, false);
    if (value)
      to = *value;
    else
      failure = value.takeStatus();
  }

  const GGUFMetadata &metadata;
  Status failure;
};

} // namespace

Expected<Tokenizer> tokenizerFromGGUF(const GGUFMetadata &metadata) {
  if (!metadata.has("tokenizer.ggml.model") ||
      !metadata.has("tokenizer.ggml.tokens"))
    return Status(StatusCode::NotFound,
                  metadata.fileName() + ": there is no tokenizer in the file",
                  "give a file with the keys tokenizer.ggml.*");
  Expected<VocabularyData> data = VocabularyReader(metadata).run();
  if (!data)
    return data.takeStatus();
  Expected<Tokenizer> result = Tokenizer::fromVocabulary(*data);
  if (!result)
    return result.takeStatus().withContext(metadata.fileName());
  return result;
}

} // namespace llmir
