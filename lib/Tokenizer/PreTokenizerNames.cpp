//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PreTokenizerNames.h"
#include "Sources.h"

namespace llmir {

// clang-format off
extern const char *const gpt2Pattern =
    R"re('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)re";

namespace {

constexpr const char *digits = R"re(\p{N})re";
constexpr const char *digitRuns = R"re(\p{N}+)re";
constexpr const char *threeDigits = R"re(\p{N}{1,3})re";
constexpr const char *cjkRuns = "[一-龥぀-ゟ゠-ヿ]+";
constexpr const char *newLines = R"re([\r\n])re";
constexpr const char *threeDecimals = "[0-9][0-9][0-9]";

constexpr const char *llama3 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr const char *qwen2 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+)re"
    R"re([\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr const char *qwen35 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)re"
    R"re( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr const char *tekken =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)re"
    R"re(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)re"
    R"re(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr const char *o200k =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)re"
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)re"
    R"re([\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr const char *deepseekWords =
    R"re([!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)re"
    R"re(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr const char *seedCoder =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}|)re"
    R"re( ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr const char *bailing =
    R"re('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+)re"
    R"re(+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)re";

constexpr const char *exaoneMoe =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)re"
    R"re()*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)re";

constexpr const char *deepseekLetters =
    R"re(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-)re"
    R"re(ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ)re"
    R"re(-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ)re"
    R"re(-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)re";

constexpr const char *blank =
    R"re( ?[^(\s|.,!?…。，、।۔،)]+)re";

// clang-format on

const std::vector<NamedPreTokenizer> &namedPreTokenizers() {
  // name, patterns, ignoreMerges, addBos, nfc
  // clang-format off
  static const std::vector<NamedPreTokenizer> list = {
      {"default", {R"re([\p{P}\$\+<=>\^~\|]+)re", gpt2Pattern, digitRuns, threeDecimals}, false, false, false},
      {"llama3", {llama3}, true, true, false},
      {"llama-v3", {llama3}, true, true, false},
      {"llama-bpe", {llama3}, true, true, false},
      {"falcon3", {llama3}, true, true, false},
      {"falcon-h1", {llama3}, true, true, false},
      {"pixtral", {llama3}, true, true, false},
      {"midm-2.0", {llama3}, true, true, false},
      {"lfm2", {llama3}, true, true, false},
      {"dbrx", {llama3}, false, false, false},
      {"smaug-bpe", {llama3}, false, false, false},
      {"glm4", {llama3}, false, false, false},
      {"chatglm-bpe", {llama3}, false, false, false},
      {"gpt-2", {gpt2Pattern}, false, false, false},
      {"phi-2", {gpt2Pattern}, false, false, false},
      {"gigachat", {gpt2Pattern}, false, false, false},
      {"a.x-4.0", {gpt2Pattern}, false, false, false},
      {"mellum", {gpt2Pattern}, false, false, false},
      {"jais", {gpt2Pattern}, false, false, false},
      {"trillion", {gpt2Pattern}, false, false, false},
      {"granite-docling", {gpt2Pattern}, false, false, false},
      {"exaone4", {gpt2Pattern}, false, false, false},
      {"mpt", {gpt2Pattern}, false, false, true},
      {"olmo", {gpt2Pattern}, false, false, true},
      {"starcoder", {digits, gpt2Pattern}, false, false, false},
      {"refact", {digits, gpt2Pattern}, false, false, false},
      {"smollm", {digits, gpt2Pattern}, false, false, false},
      {"codeshell", {digits, gpt2Pattern}, false, false, false},
      {"exaone", {digits, gpt2Pattern}, false, false, false},
      {"minerva-7b", {digits, gpt2Pattern}, false, false, false},
      {"mellum2", {digits, gpt2Pattern}, false, false, false},
      {"command-r", {digits, gpt2Pattern}, false, false, true},
      {"qwen2", {qwen2}, false, false, true},
      {"deepseek-r1-qwen", {qwen2}, false, false, true},
      {"kormo", {qwen2}, false, false, true},
      {"megrez", {qwen2}, false, false, true},
      {"stablelm2", {qwen2}, false, false, false},
      {"hunyuan", {qwen2}, false, false, false},
      {"solar-open", {qwen2}, false, false, false},
      {"grok-2", {qwen2}, false, false, false},
      {"qwen35", {qwen35}, false, false, true},
      {"tekken", {tekken}, true, true, false},
      {"gpt-4o", {o200k}, false, false, false},
      {"llama4", {o200k}, false, false, false},
      {"kanana2", {o200k}, false, false, false},
      {"minimax-m2", {o200k}, false, false, false},
      {"deepseek-v3", {threeDigits, cjkRuns, deepseekWords}, false, false, false},
      {"hunyuan-dense", {threeDigits, cjkRuns, deepseekWords}, false, false, false},
      {"joyai-llm", {threeDigits, cjkRuns, deepseekWords}, false, false, false},
      {"hy_v4", {threeDigits, cjkRuns, deepseekWords}, false, false, false},
      {"deepseek-llm", {newLines, deepseekLetters, R"re(\s?[!-/:-~！-／：-～‘-‟　-。]+)re", R"re(\s+$)re", "[一-龥ࠀ-一가-퟿]+", digitRuns}, false, false, false},
      {"deepseek-coder", {newLines, R"re(\s?\p{L}+)re", R"re(\s?\p{P}+)re", "[一-龥ࠀ-一가-퟿]+", digits}, false, false, false},
      {"falcon", {R"re([\p{P}\$\+<=>\^~\|`]+)re", gpt2Pattern, threeDecimals}, false, false, false},
      {"poro-chat", {blank}, false, false, false},
      {"bloom", {blank}, false, false, false},
      {"gpt3-finnish", {blank}, false, false, false},
      {"viking", {blank, digits}, false, false, false},
      {"bailingmoe", {bailing}, false, false, false},
      {"bailingmoe2", {bailing}, false, false, false},
      {"llada-moe", {bailing}, false, false, false},
      {"seed-coder", {seedCoder}, false, false, false},
      {"exaone-moe", {exaoneMoe}, false, false, false},
      {"laguna", {R"re([^\n]+|[\n]+)re", qwen2}, false, false, false},
  };
  // clang-format on
  return list;
}

} // namespace

const NamedPreTokenizer *findPreTokenizer(std::string_view name) {
  for (const NamedPreTokenizer &entry : namedPreTokenizers())
    if (entry.name == name)
      return &entry;
  return nullptr;
}

std::string preTokenizerNames() {
  std::string names;
  for (const NamedPreTokenizer &entry : namedPreTokenizers()) {
    if (!names.empty())
      names += ", ";
    names += entry.name;
  }
  return names;
}

} // namespace llmir
