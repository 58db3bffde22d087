//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Tokenizer/ToGGUF.h"

#include "PreTokenizerNames.h"
#include "Sources.h"
#include "TokenizerImpl.h"

#include "llmir/Support/Json.h"

#include <algorithm>
#include <tuple>

namespace llmir {
namespace {

/// Texts on which tokenizers that differ are likely to disagree: contractions,
/// runs of digits, spaces and line ends, letter cases, scripts, marks, code.
constexpr const char *probes[] = {
    "Hello, world!",
    " The quick brown fox doesn't jump; it's LAZY, they'LL say.",
    "I'm you're we've he'd SHE'S can't",
    "1 22 333 4444 55555 1234567890 3.14159 0x1F",
    "a  b   c    d\te\t\tf \n g\n\nh \r\n i   \n",
    "   leading and trailing   ",
    "camelCase PascalCase snake_case HTMLParser iPhone12Pro",
    "for (int i = 0; i < n; ++i) { sum += x[i] * 2; } // done\n\treturn 0;",
    "https://example.com/a/b?c=d&e=%20#f <tag attr=\"1\">",
    "!!! ??? ... --- === *** ((( ))) \"quoted\" 'single'",
    "déjà vu naïve Straße ĳ Ǆ ﬁ ½ ²",
    "Привет, мир! Как дела? ΑΒΓ αβγ",
    "你好，世界！今天天气很好。第12章",
    "こんにちは世界 カタカナ 안녕하세요 세계",
    "مرحبا بالعالم ١٢٣ שלום हिन्दी ไทย",
    "e\u0301 n\u0303 \U0001F600\U0001F44D\U0001F3FD",
    "\U0001F468\u200D\U0001F469",
};

/// A vocabulary that owns its texts.
struct Vocabulary {
  std::string model, pre, charsmap;
  std::vector<std::string> tokens, merges;
  std::vector<float> scores;
  std::vector<int32_t> types;
  int64_t bos = -1, eos = -1, unknown = -1, padding = -1;
  bool addBos = false, addEos = false;
  std::optional<bool> addSpacePrefix;
  bool removeExtraWhitespaces = false;

  VocabularyData view() const;
  void write(const GGUFTokenizerOptions &options, GGUFKeys &keys) const;
};

std::optional<int64_t> idOrNone(int64_t id) {
  return id >= 0 ? std::optional<int64_t>(id) : std::nullopt;
}

VocabularyData Vocabulary::view() const {
  VocabularyData data;
  data.model = model;
  data.pre = pre;
  data.charsmap = charsmap;
  data.tokens.assign(tokens.begin(), tokens.end());
  data.merges.assign(merges.begin(), merges.end());
  data.scores = scores;
  data.types = types;
  data.bos = idOrNone(bos);
  data.eos = idOrNone(eos);
  data.unknown = idOrNone(unknown);
  data.padding = idOrNone(padding);
  data.addBos = addBos;
  data.addEos = addEos;
  data.addSpacePrefix = addSpacePrefix;
  data.removeExtraWhitespaces = removeExtraWhitespaces;
  return data;
}

void Vocabulary::write(const GGUFTokenizerOptions &options,
                       GGUFKeys &keys) const {
  keys.setString("tokenizer.ggml.model", model);
  keys.setString("tokenizer.ggml.pre", pre);
  keys.setStrings("tokenizer.ggml.tokens", tokens);
  if (!scores.empty())
    keys.setFloats("tokenizer.ggml.scores", scores);
  keys.setIntegers("tokenizer.ggml.token_type", types);
  if (!merges.empty())
    keys.setStrings("tokenizer.ggml.merges", merges);
  if (!charsmap.empty())
    keys.setBytes("tokenizer.ggml.precompiled_charsmap", charsmap);
  auto setId = [&](const char *key, int64_t id) {
    if (id >= 0)
      keys.setU32(key, static_cast<uint32_t>(id));
  };
  setId("tokenizer.ggml.bos_token_id", bos);
  setId("tokenizer.ggml.eos_token_id", eos);
  // Other tokens that end a text: two keys are left for them.
  const char *more[] = {"tokenizer.ggml.eot_token_id",
                        "tokenizer.ggml.eom_token_id"};
  size_t used = 0;
  for (int64_t id : options.endTokens)
    if (id != eos && used < std::size(more))
      setId(more[used++], id);
  setId("tokenizer.ggml.unknown_token_id", unknown);
  setId("tokenizer.ggml.padding_token_id", padding);
  keys.setBool("tokenizer.ggml.add_bos_token", addBos);
  keys.setBool("tokenizer.ggml.add_eos_token", addEos);
  if (addSpacePrefix)
    keys.setBool("tokenizer.ggml.add_space_prefix", *addSpacePrefix);
  if (removeExtraWhitespaces)
    keys.setBool("tokenizer.ggml.remove_extra_whitespaces", true);
}

class VocabularyBuilder {
public:
  VocabularyBuilder(const Tokenizer &tokenizer,
                    const GGUFTokenizerOptions &options)
      : tokenizer(tokenizer), spec(tokenizer.impl().spec), options(options) {}

  Expected<Vocabulary> build();

private:
  bool mapsBytes() const {
    return !spec.preTokenizers.empty() &&
           spec.preTokenizers.back().kind == PreTokenizerStep::ByteLevel;
  }
  Status addTokens();
  TokenType typeOf(size_t id) const;
  void addSpecialIds();
  void addPieces();
  void addScores();
  void addMerges();
  Status choosePreTokenizer();
  std::vector<std::string_view> candidates() const;
  Status check() const;

  const Tokenizer &tokenizer;
  const TokenizerSpec &spec;
  const GGUFTokenizerOptions &options;
  Vocabulary data;
  std::vector<const AddedToken *> added; ///< By id.
};

} // namespace

static bool isByteToken(std::string_view text) {
  return text.size() == 6 && text.substr(0, 3) == "<0x" && text[5] == '>';
}

TokenType VocabularyBuilder::typeOf(size_t id) const {
  if (id >= spec.tokens.size() || !(spec.flags[id] & TokenPresent))
    return TokenType::Unused;
  if (spec.unknownToken == static_cast<int32_t>(id) && data.model != "gpt2")
    return TokenType::Unknown;
  if (const AddedToken *token = added[id])
    return token->has(AddedToken::Special) ? TokenType::Control
                                           : TokenType::UserDefined;
  if (spec.byteFallback && isByteToken(spec.tokens[id]))
    return TokenType::Byte;
  return spec.flags[id] & TokenUnused ? TokenType::Unused : TokenType::Normal;
}

Status VocabularyBuilder::addTokens() {
  const auto rows = static_cast<size_t>(options.rows);
  if (spec.tokens.size() > rows)
    return Status(StatusCode::InvalidFile,
                  "the tokenizer has " + std::to_string(spec.tokens.size()) +
                      " tokens, but the embedding has " + std::to_string(rows) +
                      " rows",
                  "check that tokenizer and weights are of the same model");
  added.resize(spec.tokens.size());
  for (const AddedToken &token : spec.addedTokens)
    added[static_cast<size_t>(token.id)] = &token;
  for (size_t id = 0; id < rows; ++id) {
    const TokenType type = typeOf(id);
    const bool isPresent =
        id < spec.tokens.size() && (spec.flags[id] & TokenPresent);
    data.tokens.push_back(isPresent ? std::string(spec.tokens[id])
                                    : "[PAD" + std::to_string(id) + "]");
    data.types.push_back(static_cast<int32_t>(type));
  }
  return Status::ok();
}

void VocabularyBuilder::addSpecialIds() {
  data.bos = spec.bos >= 0 ? spec.bos : options.bosToken;
  data.eos = options.endTokens.empty() ? spec.eos : options.endTokens.front();
  // The tokenizer's own EOS token, where it ends texts as well.
  for (int64_t id : options.endTokens)
    if (id == spec.eos)
      data.eos = id;
  data.unknown = spec.unknown;
  data.padding = spec.padding;
  data.addBos = spec.prefix.size() == 1 && spec.prefix[0] == data.bos;
  data.addEos = spec.suffix.size() == 1 && spec.suffix[0] == data.eos;
}

/// What SentencePiece's kinds of tokenizers do before encoding.
void VocabularyBuilder::addPieces() {
  data.pre = "default";
  data.addSpacePrefix = false;
  for (const NormalizerStep &step : spec.normalizers) {
    if (step.kind == NormalizerStep::Prepend ||
        step.kind == NormalizerStep::PrependFirst)
      data.addSpacePrefix = true;
    if (step.kind == NormalizerStep::CollapseSpaces)
      data.removeExtraWhitespaces = true;
    if (step.hasCharsmap())
      data.charsmap = step.content;
  }
  for (const PreTokenizerStep &step : spec.preTokenizers)
    if (step.kind == PreTokenizerStep::Metaspace)
      data.addSpacePrefix = step.scheme != PreTokenizerStep::Never;
}

/// Scores of tokens that merge rules make: the earlier the rule, the higher.
void VocabularyBuilder::addScores() {
  data.scores.assign(data.tokens.size(), 0.0f);
  if (spec.hasScores()) {
    for (size_t id = 0; id < spec.scores.size(); ++id)
      data.scores[id] = static_cast<float>(spec.scores[id]);
    return;
  }
  std::vector<bool> isSet(data.tokens.size());
  for (size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const auto id = static_cast<size_t>(spec.merges[rank].result);
    if (!isSet[id])
      data.scores[id] = -static_cast<float>(rank + 1);
    isSet[id] = true;
  }
}

void VocabularyBuilder::addMerges() {
  std::vector<MergeRule> merges = spec.merges;
  if (spec.ranksAreIds)
    std::sort(merges.begin(), merges.end(),
              [](const MergeRule &a, const MergeRule &b) {
                return std::tie(a.result, a.left, a.right) <
                       std::tie(b.result, b.left, b.right);
              });
  for (const MergeRule &merge : merges)
    data.merges.push_back(
        std::string(spec.tokens[static_cast<size_t>(merge.left)]) + " " +
        std::string(spec.tokens[static_cast<size_t>(merge.right)]));
}

/// Whether two steps split alike.
static bool splitsAlike(const PreTokenizerStep &a, const PreTokenizerStep &b) {
  // Digits in runs, and a pattern that matches runs.
  auto patternOf = [](const PreTokenizerStep &step) {
    return step.behavior == PreTokenizerStep::Contiguous ? step.pattern + "+"
                                                         : step.pattern;
  };
  auto keepsMatches = [](const PreTokenizerStep &step) {
    return step.behavior == PreTokenizerStep::Isolated ||
           step.behavior == PreTokenizerStep::Contiguous ||
           (step.behavior == PreTokenizerStep::Removed && step.invert);
  };
  return a.kind == b.kind && patternOf(a) == patternOf(b) && keepsMatches(a) &&
         keepsMatches(b);
}

/// The names under which the tokenizer's steps are known, the usual name first.
std::vector<std::string_view> VocabularyBuilder::candidates() const {
  std::vector<PreTokenizerStep> steps;
  for (const PreTokenizerStep &step : spec.preTokenizers)
    if (step.kind != PreTokenizerStep::ByteLevel &&
        step.kind != PreTokenizerStep::PrefixSpace)
      steps.push_back(step);
  const bool composes =
      std::any_of(spec.normalizers.begin(), spec.normalizers.end(),
                  [](const NormalizerStep &step) {
                    return step.kind == NormalizerStep::NFC;
                  });
  auto isSame = [&](const NamedPreTokenizer &named) {
    if (named.patterns.size() != steps.size())
      return false;
    for (size_t i = 0; i < steps.size(); ++i)
      if (!splitsAlike(steps[i], splitStep(named.patterns[i], true)))
        return false;
    return named.ignoreMerges == spec.ignoreMerges && named.nfc == composes;
  };
  // Of names for the same rules, those that every reader knows come first.
  constexpr std::string_view usual[] = {"llama-bpe",  "gpt-2",  "qwen2",
                                        "smollm",     "tekken", "gpt-4o",
                                        "deepseek-v3"};
  std::vector<std::string_view> names;
  for (std::string_view name : usual)
    if (isSame(*findPreTokenizer(name)))
      names.push_back(name);
  for (const NamedPreTokenizer &named : namedPreTokenizers())
    if (isSame(named) &&
        std::find(names.begin(), names.end(), named.name) == names.end())
      names.push_back(named.name);
  return names;
}

/// Compares the tokenizer that the data describes with the original.
Status VocabularyBuilder::check() const {
  Expected<Tokenizer> written = Tokenizer::fromVocabulary(data.view());
  if (!written)
    return written.takeStatus();
  for (const char *text : probes) {
    Expected<std::vector<int32_t>> wanted = tokenizer.encode(text);
    if (!wanted)
      return wanted.takeStatus();
    Expected<std::vector<int32_t>> ids = written->encode(text);
    if (!ids)
      return ids.takeStatus();
    if (*ids != *wanted)
      return Status(StatusCode::Unsupported,
                    "GGUF's tokenizer '" + data.model + "' with '" + data.pre +
                        "' encodes '" + printable(text, 40) +
                        "' unlike the model's own",
                    "run the model from its directory");
  }
  return Status::ok();
}

Status VocabularyBuilder::choosePreTokenizer() {
  for (const PreTokenizerStep &step : spec.preTokenizers)
    if (step.kind == PreTokenizerStep::PrefixSpace)
      data.addSpacePrefix = true;
  std::vector<std::string_view> names = candidates();
  if (!options.preTokenizer.empty())
    names = {options.preTokenizer};
  if (names.empty())
    return Status(StatusCode::Unsupported,
                  "the tokenizer splits text by rules that have no name in "
                  "GGUF ('tokenizer.ggml.pre')",
                  "give the name of the same rules with --pre");
  Status first;
  for (std::string_view name : names) {
    data.pre = name;
    Status status = check();
    if (status)
      return status;
    if (first.isOk())
      first = std::move(status);
  }
  return first;
}

Expected<Vocabulary> VocabularyBuilder::build() {
  const bool isUnigram = spec.model == TokenizerModel::Unigram;
  const bool isByteLevel =
      spec.model == TokenizerModel::MergesByRank && mapsBytes();
  if (isByteLevel)
    data.model = "gpt2";
  else if (isUnigram)
    data.model = "t5";
  else if (spec.model == TokenizerModel::MergesByScore ||
           (spec.model == TokenizerModel::MergesByRank && spec.byteFallback))
    data.model = "llama";
  else
    return Status(StatusCode::Unsupported,
                  "the tokenizer is neither byte-level BPE nor one of "
                  "SentencePiece, the kinds that can be written",
                  "run the model from its directory");
  LLMIR_RETURN_IF_ERROR(addTokens());
  addSpecialIds();
  if (isByteLevel) {
    addMerges();
    LLMIR_RETURN_IF_ERROR(choosePreTokenizer());
    return std::move(data);
  }
  addPieces();
  addScores();
  LLMIR_RETURN_IF_ERROR(check());
  return std::move(data);
}

Status addTokenizerKeys(const Tokenizer &tokenizer,
                        const GGUFTokenizerOptions &options, GGUFKeys &keys) {
  Expected<Vocabulary> data = VocabularyBuilder(tokenizer, options).build();
  if (!data)
    return data.takeStatus();
  data->write(options, keys);
  return Status::ok();
}

} // namespace llmir
