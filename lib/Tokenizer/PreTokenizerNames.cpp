//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PreTokenizerNames.h"
#include "Sources.h"

#include "llmir/Support/NearestNames.h"

#include <algorithm>

namespace llmir {

// clang-format off
extern const char *const digitGroups = R"re((?=(\d{3})+(?!\d)))re";
extern const char *const digitGroupsOfWords = R"re(\d{1,3}(?=(?:\d{3})*\b))re";

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

constexpr const char *cascadingSpaces =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|)re"
    R"re(\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|)re"
    R"re(\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})re";

constexpr const char *spark =
    R"re([!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)re"
    R"re(| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)re";

constexpr const char *youtuScripts =
    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+";
constexpr const char *youtuWords =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)re"
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)re"
    R"re([\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr const char *longNumbers =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr const char *noContractions =
    R"re([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)re"
    R"re(\s*[\r\n]+|\s+(?!\S)|\s+)re";

// Like o200k, but ideographs are apart.
constexpr const char *kimi =
    R"re([\p{Han}]+|[^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])*)re"
    R"re((?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)re"
    R"re([^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])+)re"
    R"re((?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)re"
    R"re(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr const char *sentinels = "<sentinel:[0-9]+>";
constexpr const char *imageTokens = "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z";
constexpr const char *tabsAndPairs = "([\t\n]|    |  )";
constexpr const char *punctuation = R"re([\p{P}!-/:-@\[-`{-~])re";

constexpr const char *asianScripts =
    "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+";

constexpr const char *exaoneMoe =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)re"
    R"re()*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)re";

// The cased letters, as listed in the pattern.
constexpr const char *deepseekLetters =
    R"re(\s?[\x{41}-\x{5a}\x{61}-\x{7a}\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6})re"
    R"re(\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293}\x{295}-\x{2af})re"
    R"re(\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386})re"
    R"re(\x{388}-\x{38a}\x{38c}\x{38e}-\x{3a1}\x{3a3}-\x{3f5})re"
    R"re(\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556}\x{10a0}-\x{10c5})re"
    R"re(\x{13a0}-\x{13f5}\x{13f8}-\x{13fd}\x{1c90}-\x{1cba})re"
    R"re(\x{1cbd}-\x{1cbf}\x{1d00}-\x{1d2b}\x{1d6b}-\x{1d77})re"
    R"re(\x{1d79}-\x{1d9a}\x{1e00}-\x{1f15}\x{1f18}-\x{1f1d})re"
    R"re(\x{1f20}-\x{1f45}\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59})re"
    R"re(\x{1f5b}\x{1f5d}\x{1f5f}-\x{1f7d}\x{1f80}-\x{1fb4})re"
    R"re(\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4}\x{1fc6}-\x{1fcc})re"
    R"re(\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb}\x{1fe0}-\x{1fec})re"
    R"re(\x{1ff2}-\x{1ff4}\x{1ff6}-\x{1ffc}\x{2102}\x{2107})re"
    R"re(\x{210a}-\x{2113}\x{2115}\x{2119}-\x{211d}\x{2124}\x{2126})re"
    R"re(\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134}\x{2139})re"
    R"re(\x{213c}-\x{213f}\x{2145}-\x{2149}\x{214e}\x{2183}\x{2184})re"
    R"re(\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4}\x{2ceb}-\x{2cee}\x{2cf2})re"
    R"re(\x{2cf3}\x{a640}-\x{a66d}\x{a680}-\x{a69b}\x{a722}-\x{a76f})re"
    R"re(\x{a771}-\x{a787}\x{a78b}-\x{a78e}\x{ab70}-\x{abbf})re"
    R"re(\x{fb00}-\x{fb06}\x{fb13}-\x{fb17}\x{ff21}-\x{ff3a})re"
    R"re(\x{ff41}-\x{ff5a}\x{10400}-\x{1044f}\x{104b0}-\x{104d3})re"
    R"re(\x{104d8}-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2})re"
    R"re(\x{118a0}-\x{118df}\x{1e900}-\x{1e943}]+)re";

constexpr const char *blank =
    R"re( ?[^(\s|.,!?…。，、।۔،)]+)re";

// clang-format on

} // namespace

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
      {"jina-v5-nano", {llama3}, true, true, false},
      {"minicpm5", {threeDigits, longNumbers}, true, false, false},
      {"jais-2", {cascadingSpaces}, false, false, false},
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
      {"jina-es", {gpt2Pattern}, false, false, false},
      {"jina-de", {gpt2Pattern}, false, false, false},
      {"jina-v2-es", {gpt2Pattern}, false, false, false},
      {"jina-v2-de", {gpt2Pattern}, false, false, false},
      {"jina-v1-en", {gpt2Pattern}, false, false, false},
      {"jina-v2-code", {gpt2Pattern}, false, false, false},
      {"roberta-bpe", {gpt2Pattern}, false, false, false},
      {"modern-bert", {gpt2Pattern}, false, false, true},
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
      {"f2llmv2", {qwen2}, false, false, true},
      {"ufakzeka", {noContractions}, false, false, false},
      {"stablelm2", {qwen2}, false, false, false},
      {"hunyuan", {qwen2}, false, false, false},
      {"solar-open", {qwen2}, false, false, false},
      {"grok-2", {qwen2}, false, false, false},
      {"qwen35", {qwen35}, false, false, true},
      {"tekken", {tekken}, true, true, false},
      {"gpt-4o", {o200k}, false, false, false},
      {"llama4", {o200k}, false, false, false},
      {"kanana2", {o200k}, false, false, false},
      {"talkie", {o200k}, false, false, false},
      {"granite-embed-multi-97m", {o200k}, true, false, false},
      {"youtu", {youtuScripts, youtuWords}, true, false, false},
      {"kimi-k2", {kimi}, true, false, false},
      {"minimax-m2", {o200k}, false, false, false},
      {"deepseek-v3", {threeDigits, cjkRuns, deepseekWords}, false, false, false},
      {"hunyuan-dense", {threeDigits, cjkRuns, deepseekWords}, false, false, false},
      {"joyai-llm", {threeDigits, cjkRuns, deepseekWords}, false, false, false},
      {"hy_v4", {threeDigits, cjkRuns, deepseekWords}, false, false, false},
      {"spark2_5", {threeDigits, cjkRuns, spark, digits}, false, false, false},
      {"tiny_aya", {digitGroupsOfWords, o200k}, false, false, false},
      {"cohere2moe", {digitGroupsOfWords, o200k}, false, false, false},
      {"superbpe", {digitRuns, digitGroups}, false, false, false},
      {"afmoe", {digitGroups, asianScripts, deepseekWords}, false, false, false},
      {"chameleon", {sentinels, imageTokens, tabsAndPairs, digits, punctuation, gpt2Pattern}, false, true, false},
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

const char *qwenPattern() { return qwen2; }

const NamedPreTokenizer *findPreTokenizer(std::string_view name) {
  for (const NamedPreTokenizer &entry : namedPreTokenizers())
    if (entry.name == name)
      return &entry;
  return nullptr;
}

std::string nearestPreTokenizers(std::string_view name) {
  std::vector<std::string_view> names;
  for (const NamedPreTokenizer &entry : namedPreTokenizers())
    names.push_back(entry.name);
  return nearestNames(name, std::move(names));
}

} // namespace llmir
