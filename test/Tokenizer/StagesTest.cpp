// RUN: llmir-tokenizer-tests --gtest_filter='StagesTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages one by one: UTF-8, patterns, splits, normalizers, added tokens.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "AddedTokens.h"
#include "DecoderChain.h"
#include "MergeQueue.h"
#include "TestSupport.h"
#include "Unicode.h"

#include <chrono>
#include <cstring>
#include <map>
#include <set>

using namespace llmir;

namespace {

using Strings = std::vector<std::string>;

//===----------------------------------------------------------------------===//
// UTF-8
//===----------------------------------------------------------------------===//

TEST(StagesTest, FindsTheFirstInvalidByte) {
  const std::pair<std::string, size_t> cases[] = {
      {"abc", 3},
      {std::string("a\0b", 3), 3},
      {"\xEF\xBF\xBD", 3},          // U+FFFD.
      {"\xF4\x8F\xBF\xBF", 4},      // U+10FFFF.
      {"a\x80", 1},                 // Continuation alone.
      {"\xC0\xAF", 0},              // Overlong.
      {"\xE0\x9F\xBF", 0},          // Overlong.
      {"\xF0\x8F\xBF\xBF", 0},      // Overlong.
      {"\xED\xA0\x80", 0},          // Surrogate.
      {"\xF4\x90\x80\x80", 0},      // Above U+10FFFF.
      {"\xF5\x80\x80\x80", 0},      // No lead byte.
      {"ab\xE4\xBD", 2},            // Cut off.
      {"\xE4\xBD\xA0\xE4\xBD", 3}}; // Cut off after a whole one.
  for (const auto &[text, valid] : cases)
    EXPECT_EQ(validUtf8Length(text), valid) << printable(text);
}

TEST(StagesTest, RepairsEveryMaximalPart) {
  const std::string bad = "\xEF\xBF\xBD";
  const std::pair<std::string, std::string> cases[] = {
      {"a\xE4\xBD\xA0z", "a\xE4\xBD\xA0z"},
      {"\xE4\xBDz", bad + "z"},          // Cut off by another character.
      {"\xE4\xBD", bad},                 // Cut off by the end.
      {"\xF0\x9F\x98", bad},             // Three of four bytes: one.
      {"\xC0\xAF", bad + bad},           // Overlong: each byte.
      {"\xED\xA0\x80", bad + bad + bad}, // Surrogate: each byte.
      {"\xE4\xE4\xBD\xA0", bad + "\xE4\xBD\xA0"},
      {"\xFF\xFE", bad + bad}};
  for (const auto &[bytes, text] : cases) {
    Utf8Repair repair;
    std::string out;
    repair.feed(bytes, out);
    repair.finish(out);
    EXPECT_EQ(out, text) << printable(bytes);
  }
}

TEST(StagesTest, ByteAlphabetIsOneToOne) {
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_EQ(byteLevelByte(byteLevelCharacter(static_cast<uint8_t>(byte))),
              byte);
  EXPECT_EQ(byteLevelCharacter(' '), 0x120u);
  EXPECT_EQ(byteLevelCharacter('\n'), 0x10au);
  EXPECT_EQ(byteLevelByte(0x3000), -1);
  EXPECT_EQ(byteLevelByte(0xad), -1);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The matches, each in brackets, with the text between them.
std::string marked(const char *pattern, const std::string &text) {
  Expected<Regex> regex = Regex::compile(pattern);
  if (!regex)
    return regex.status().cause();
  std::vector<TextRange> ranges;
  Status status = regex->partition(text, ranges);
  if (!status)
    return status.cause();
  std::string out;
  uint32_t last = 0;
  for (TextRange range : ranges) {
    EXPECT_EQ(range.begin, last);
    last = range.end;
    std::string part = text.substr(range.begin, range.end - range.begin);
    out += range.isMatch ? "[" + part + "]" : part;
  }
  EXPECT_EQ(last, text.size());
  return out;
}

TEST(StagesTest, PatternsFollowOniguruma) {
  EXPECT_EQ(marked("\\p{L}+", "ab1cd"), "[ab]1[cd]");
  EXPECT_EQ(marked("\\s+(?!\\S)|\\s+", "a   b"), "a[  ][ ]b");
  EXPECT_EQ(marked("\\s", "a\xE1\xA0\x8E\xC2\x85"), "a\xE1\xA0\x8E[\xC2\x85]");
  EXPECT_EQ(marked("[^\\s]", "\xE1\xA0\x8E "), "[\xE1\xA0\x8E] ");
  EXPECT_EQ(marked("\\w+", "e\xCC\x81-a_b"), "[e\xCC\x81]-[a_b]");
  EXPECT_EQ(marked("(?i:'s)", "'S'\xC5\xBF"), "['S]['\xC5\xBF]");
  EXPECT_EQ(marked("^a$", "b\na\nb"), "b\n[a]\nb");
  EXPECT_EQ(marked("\\u0061", "ba"), "b[a]");
  EXPECT_EQ(marked("[]a]", "]"), "[]]");
  EXPECT_EQ(marked("[[:digit:]]", "a1"), "a[1]");
  // U+3005 is Han, U+3006 is not, though Chinese text has it.
  EXPECT_EQ(marked("\\p{Han}", "\xE3\x80\x85\xE3\x80\x81"),
            "[\xE3\x80\x85]\xE3\x80\x81");
  EXPECT_EQ(marked("\\p{Alphabetic}", "a1"), "[a]1");
  // Empty matches are boundaries, except right after a match.
  EXPECT_EQ(marked("(?=(\\d{3})+(?!\\d))", "12345"), "12[]345");
  EXPECT_EQ(marked("x*", "axb"), "[]a[x]b[]");
}

TEST(StagesTest, RefusesPatternsThatMeanSomethingElse) {
  for (const char *pattern :
       {"[a[b]]", "[a-z&&[^b]]", "a{1,3}+", "\\h", "[\\W]"}) {
    Expected<Regex> regex = Regex::compile(pattern);
    ASSERT_FALSE(regex) << pattern;
    EXPECT_EQ(regex.status().code(), StatusCode::Unsupported) << pattern;
  }
  for (const char *pattern : {"(", "[a", "a\\", "\\u12", "\\p{", "\\p{Nope}",
                              "(?<n>", "*", "\\C", "[[:digit"}) {
    Expected<Regex> regex = Regex::compile(pattern);
    EXPECT_FALSE(regex) << pattern;
  }
  std::string deep(2000, '('), closed(2000, ')');
  EXPECT_FALSE(Regex::compile(deep + "a" + closed));
  EXPECT_FALSE(Regex::compile(std::string(100000, 'a')));
}

TEST(StagesTest, CostlyPatternsEndInTime) {
  auto start = std::chrono::steady_clock::now();
  std::string a(50000, 'a'), spaces(200000, ' ');
  for (auto [pattern, text] :
       {std::pair("(a+)+$", a + "b"), std::pair("(a|aa)+$", a + "b"),
        std::pair("(\\s)*[xy]", spaces),
        std::pair("(?:\\s|\\s\\s)*[xy]", spaces)}) {
    Expected<Regex> regex = Regex::compile(pattern);
    ASSERT_TRUE(regex);
    std::vector<TextRange> ranges;
    Status status = regex->partition(text, ranges);
    ASSERT_FALSE(status) << pattern;
    EXPECT_EQ(status.code(), StatusCode::OutOfRange);
  }
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 30) << "each should take about a second";
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

Strings piecesOf(const PreTokenizerStep &step, const std::string &text) {
  Expected<PreTokenizer> built = PreTokenizer::build(step);
  EXPECT_TRUE(built) << built.status().message();
  Pieces pieces{text, {{0, static_cast<uint32_t>(text.size()), true}}};
  Status status = built->apply(pieces, GrowthLimit(text.size()));
  EXPECT_TRUE(status) << status.message();
  Strings result;
  for (Pieces::Piece piece : pieces.pieces)
    result.push_back(pieces.text.substr(piece.begin, piece.end - piece.begin));
  return result;
}

TEST(StagesTest, SplitBehaviors) {
  const std::string text = "The-final--countdown";
  const std::pair<PreTokenizerStep::Behavior, Strings> cases[] = {
      {PreTokenizerStep::Removed, {"The", "final", "countdown"}},
      {PreTokenizerStep::Isolated,
       {"The", "-", "final", "-", "-", "countdown"}},
      {PreTokenizerStep::MergedWithPrevious,
       {"The-", "final-", "-", "countdown"}},
      {PreTokenizerStep::MergedWithNext, {"The", "-final", "-", "-countdown"}},
      {PreTokenizerStep::Contiguous, {"The", "-", "final", "--", "countdown"}}};
  for (const auto &[behavior, expected] : cases) {
    PreTokenizerStep step;
    step.behavior = behavior;
    step.pattern = "-";
    for (auto kind :
         {PreTokenizerStep::SplitString, PreTokenizerStep::SplitRegex}) {
      step.kind = kind;
      EXPECT_EQ(piecesOf(step, text), expected) << int(behavior);
    }
  }
}

TEST(StagesTest, SplitOfWhatDoesNotMatch) {
  PreTokenizerStep step;
  step.pattern = "\\w+";
  step.behavior = PreTokenizerStep::Removed;
  step.invert = true;
  EXPECT_EQ(piecesOf(step, "ab, cd"), (Strings{"ab", "cd"}));
  step.invert = false;
  EXPECT_EQ(piecesOf(step, "ab, cd"), (Strings{", "}));
  EXPECT_EQ(piecesOf(step, ""), Strings());
}

TEST(StagesTest, MetaspacePrependsByScheme) {
  PreTokenizerStep step;
  step.kind = PreTokenizerStep::Metaspace;
  step.pattern = "_";
  EXPECT_EQ(piecesOf(step, "a b"), (Strings{"_a_b"}));
  EXPECT_EQ(piecesOf(step, " a"), (Strings{"_a"}));
  step.scheme = PreTokenizerStep::Never;
  EXPECT_EQ(piecesOf(step, "a b"), (Strings{"a_b"}));
  step.scheme = PreTokenizerStep::First;
  EXPECT_EQ(piecesOf(step, "a b"), (Strings{"_a_b"}));
  step.pattern = "ab";
  EXPECT_FALSE(PreTokenizer::build(step));
}

//===----------------------------------------------------------------------===//
// Normalizers
//===----------------------------------------------------------------------===//

TEST(StagesTest, Normalizers) {
  struct Case {
    NormalizerStep step;
    const char *text, *expected;
  };
  const Case cases[] = {
      {{NormalizerStep::NFC, {}, {}}, "e\u0301", "\u00e9"},
      {{NormalizerStep::NFD, {}, {}}, "\u00e9", "e\u0301"},
      {{NormalizerStep::NFC, {}, {}}, "\ufb01", "\ufb01"},
      {{NormalizerStep::NFKC, {}, {}}, "\ufb01\u2460", "fi1"},
      {{NormalizerStep::NFKD, {}, {}}, "\uac00", "\u1100\u1161"},
      {{NormalizerStep::Lowercase, {}, {}}, "A\u0130\u0391", "ai\u0307\u03b1"},
      {{NormalizerStep::StripAccents, {}, {}}, "e\u0301x", "ex"},
      {{NormalizerStep::StripLeft, {}, {}}, "\u3000 a ", "a "},
      {{NormalizerStep::StripRight, {}, {}}, " a \u00a0", " a"},
      {{NormalizerStep::CollapseSpaces, {}, {}}, "  a   b ", "a b"},
      {{NormalizerStep::Nmt, {}, {}}, "a\u200bb\x01", "a b"},
      {{NormalizerStep::Prepend, {}, "_"}, "a", "_a"},
      {{NormalizerStep::Prepend, {}, "_"}, "", ""},
      {{NormalizerStep::ReplaceString, "ab", "x"}, "ababa", "xxa"},
      {{NormalizerStep::ReplaceRegex, " {2,}", " "}, "a   b c", "a b c"},
      {{NormalizerStep::ByteLevel, {}, {}}, "a \u00e9", "a\u0120\u00c3\u00a9"}};
  for (const Case &c : cases) {
    Expected<Normalizer> step = Normalizer::build(c.step);
    ASSERT_TRUE(step) << step.status().message();
    std::string text = c.text;
    ASSERT_TRUE(step->apply(text, true, GrowthLimit(text.size())));
    EXPECT_EQ(text, c.expected) << int(c.step.kind);
  }
  EXPECT_FALSE(Normalizer::build({NormalizerStep::ReplaceString, "", "x"}));
  EXPECT_FALSE(Normalizer::build(
      {NormalizerStep::ReplaceString, " ", std::string(100000, 'x')}));
}

/// What the steps make of the text, or why they do not.
std::string normalized(const std::vector<NormalizerStep> &steps,
                       std::string text) {
  std::vector<Normalizer> built;
  for (const NormalizerStep &step : steps)
    built.push_back(*Normalizer::build(step));
  Status status =
      normalize(built, text, /*isFirst=*/true, GrowthLimit(text.size()));
  return status ? text : status.message();
}

/// A few bytes that say "double it" many times must not take all memory: what
/// grows is refused before it is made.
TEST(StagesTest, StepsThatDoubleAreRefused) {
  const NormalizerStep string{NormalizerStep::ReplaceString, "a", "aa"};
  const NormalizerStep regex{NormalizerStep::ReplaceRegex, "a", "aa"};
  const NormalizerStep bytes{NormalizerStep::ByteLevel, {}, {}};
  const std::string many(size_t(1) << 20, 'a');
  for (const NormalizerStep &step : {string, regex})
    for (const std::string &text : {std::string("a"), many}) {
      std::vector<NormalizerStep> steps(5, step);
      EXPECT_EQ(normalized(steps, text).size(), 32 * text.size());
      steps.resize(32, step);
      const std::string message = normalized(steps, text);
      EXPECT_NE(message.find("normalizer Replace: a text of " +
                             std::to_string(text.size()) + " bytes grows to "),
                std::string::npos)
          << message.substr(0, 200);
    }
  EXPECT_NE(normalized(std::vector<NormalizerStep>(32, bytes), "\u00e9")
                .find("normalizer: a text of 2 bytes grows to 8192"),
            std::string::npos);
  EXPECT_NE(
      normalized({{NormalizerStep::ReplaceRegex, "x*", std::string(256, 'b')}},
                 many)
          .find("grows to"),
      std::string::npos);
}

TEST(StagesTest, PreTokenizersThatDoubleAreRefused) {
  PreTokenizerStep bytes, space, split;
  bytes.kind = PreTokenizerStep::ByteLevel;
  space.kind = PreTokenizerStep::Metaspace;
  space.pattern = "\U0001F600"; // Four bytes for one.
  split.pattern = ".";
  split.behavior = PreTokenizerStep::Isolated;
  auto run = [](const std::vector<PreTokenizerStep> &steps, std::string text) {
    Pieces pieces{text, {{0, static_cast<uint32_t>(text.size()), true}}};
    const GrowthLimit limit(text.size());
    for (const PreTokenizerStep &step : steps)
      if (Status status = PreTokenizer::build(step)->apply(pieces, limit);
          !status)
        return status.cause();
    return std::string();
  };
  const std::vector<PreTokenizerStep> doubling(32, bytes);
  EXPECT_NE(
      run(doubling, "\u00e9").find("pre-tokenizer ByteLevel: a text of 2"),
      std::string::npos);
  EXPECT_EQ(run({bytes, bytes}, "\u00e9"), "");
  EXPECT_NE(
      run({split, space, bytes, bytes, bytes, bytes}, std::string(10000, ' '))
          .find("pre-tokenizer ByteLevel: a text of 10000"),
      std::string::npos);
}

/// Segments share one limit: many short ones must not have many times of what
/// a short text may become.
TEST(StagesTest, TheLimitIsOfTheWholeText) {
  GrowthLimit limit(100);
  EXPECT_TRUE(limit.check(4096 + 3200, "stage"));
  EXPECT_FALSE(limit.check(4096 + 3201, "stage"));
  limit.finishSegment(7000);
  EXPECT_TRUE(limit.check(296, "stage"));
  EXPECT_EQ(limit.check(297, "stage").cause(),
            "stage: a text of 100 bytes grows to 7297; the limit is 7296");
  EXPECT_FALSE(limit.check(SIZE_MAX, "stage"));
  EXPECT_TRUE(GrowthLimit(SIZE_MAX).check(size_t(1) << 30, "stage"));
  EXPECT_FALSE(GrowthLimit(SIZE_MAX).check((size_t(1) << 30) + 1, "stage"));
}

TEST(StagesTest, DecodersThatMultiplyAreRefused) {
  DecoderStep replace, bytes, join;
  replace.kind = DecoderStep::ReplaceString;
  replace.pattern = "a";
  replace.content = "aa";
  bytes.kind = DecoderStep::ByteLevel;
  join.kind = DecoderStep::JoinWithSpaces;
  EXPECT_EQ(decoderGrowthOf({join, replace, bytes}), 12u);
  EXPECT_TRUE(checkDecoders({join, replace, bytes}));
  EXPECT_TRUE(checkDecoders(std::vector<DecoderStep>(6, replace)));
  for (size_t steps : {7, 32, 64}) {
    Status status = checkDecoders(std::vector<DecoderStep>(steps, replace));
    EXPECT_EQ(status.code(), StatusCode::Unsupported);
    EXPECT_NE(status.cause().find("times as long; the limit is 64"),
              std::string::npos)
        << status.message();
  }
  // Steps that shorten the text may occur any number of times.
  replace.pattern = "abc";
  EXPECT_EQ(decoderGrowthOf(std::vector<DecoderStep>(64, replace)), 1u);
}

/// Marks of a base character in an order for which an insertion sort takes n *
/// n steps. Orthographies use up to three marks, but untrusted input may have
/// any number.
TEST(StagesTest, UnicodeFormsOfManyMarksTakeLittleTime) {
  std::string text = "e";
  for (int i = 0; i < 1 << 18; ++i)
    text += "\u0301\u0316"; // Above (230), below (220).
  for (auto [kind, first] :
       {std::pair(NormalizerStep::NFC, "\u00e9\u0316"),
        std::pair(NormalizerStep::NFD, "e\u0316\u0316"),
        std::pair(NormalizerStep::NFKC, "\u00e9\u0316"),
        std::pair(NormalizerStep::NFKD, "e\u0316\u0316")}) {
    auto start = std::chrono::steady_clock::now();
    const std::string result = normalized({{kind, {}, {}}}, text);
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    EXPECT_LT(taken.count(), 5) << "a tenth of a second is usual";
    EXPECT_EQ(result.compare(0, std::strlen(first), first), 0);
    EXPECT_EQ(result.substr(result.size() - 4), "\u0301\u0301");
  }
}

//===----------------------------------------------------------------------===//
// Added tokens
//===----------------------------------------------------------------------===//

/// The parts of a text, tokens as their ids in brackets.
std::string partsOf(const AddedTokenMatcher &matcher, const std::string &text,
                    bool matchSpecial = true) {
  std::vector<AddedTokenMatcher::Part> parts;
  matcher.split(text, matchSpecial, parts);
  std::string out;
  size_t last = 0;
  for (AddedTokenMatcher::Part part : parts) {
    EXPECT_EQ(part.begin, last);
    last = part.end;
    out += part.id < 0 ? text.substr(part.begin, part.end - part.begin)
                       : "[" + std::to_string(part.id) + "]";
  }
  EXPECT_EQ(last, text.size());
  return out;
}

TEST(StagesTest, AddedTokensLeftmostLongest) {
  AddedTokenMatcher matcher;
  EXPECT_EQ(partsOf(matcher, "abc"), "abc");
  int32_t id = 0;
  for (const char *text : {"<a>", "<a>b", "<ab", "bb", "b", "\xE4\xBD\xA0"})
    matcher.add(text, AddedToken{id++, AddedToken::Special, text});
  matcher.finish();
  EXPECT_EQ(partsOf(matcher, "x<a>bb"), "x[1][4]");
  EXPECT_EQ(partsOf(matcher, "<a><ab<a"), "[0][2]<a");
  EXPECT_EQ(partsOf(matcher, "bbb"), "[3][4]");
  EXPECT_EQ(partsOf(matcher, "\xE4\xBD\xA0\xE4\xBD\xA1"), "[5]\xE4\xBD\xA1");
  EXPECT_EQ(partsOf(matcher, "bbb", false), "bbb");
  EXPECT_EQ(partsOf(matcher, ""), "");
}

TEST(StagesTest, AddedTokensTakeSpaceAndWords) {
  AddedTokenMatcher matcher;
  matcher.add("<l>", AddedToken{1, AddedToken::LeftStrip, "<l>"});
  matcher.add("<r>", AddedToken{2, AddedToken::RightStrip, "<r>"});
  matcher.add("word", AddedToken{3, AddedToken::SingleWord, "word"});
  matcher.add(" x", AddedToken{4, 0, " x"});
  matcher.finish();
  EXPECT_EQ(partsOf(matcher, "a \t<l> b"), "a[1] b");
  EXPECT_EQ(partsOf(matcher, "a <r>\u3000 b"), "a [2]b");
  EXPECT_EQ(partsOf(matcher, "<r> <l>"), "[2][1]");
  EXPECT_EQ(partsOf(matcher, "word sword words word."), "[3] sword words [3].");
  EXPECT_EQ(partsOf(matcher, "\u00e9word"), "\u00e9word");
  // The space belongs to the first token; the second begins with it.
  EXPECT_EQ(partsOf(matcher, "<r> x"), "[2][4]");
}

//===----------------------------------------------------------------------===//
// The queue of merges
//===----------------------------------------------------------------------===//

TEST(StagesTest, MergeQueueIsAPriorityQueue) {
  std::mt19937 random(7);
  MergeQueue queue;
  std::multiset<std::pair<uint32_t, uint32_t>> model;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 3 != 0) {
      uint32_t key = random() % 20 * 999, position = random() % 1000;
      queue.push(key, position);
      model.insert({key, position});
      continue;
    }
    uint32_t key = 0, position = 0;
    ASSERT_EQ(queue.pop(key, position), !model.empty());
    if (model.empty())
      continue;
    EXPECT_EQ(std::pair(key, position), *model.begin());
    model.erase(model.begin());
  }
}

/// Repeats the definition: of the pairs with the smallest key, the leftmost
/// merges.
std::vector<uint32_t>
mergeByDefinition(std::vector<uint32_t> symbols,
                  const std::map<std::pair<uint32_t, uint32_t>, uint32_t> &keys,
                  const std::vector<uint32_t> &results) {
  while (true) {
    uint32_t smallest = noMerge;
    size_t at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      auto key = keys.find({symbols[i], symbols[i + 1]});
      if (key != keys.end() && key->second < smallest) {
        smallest = key->second;
        at = i;
      }
    }
    if (smallest == noMerge)
      return symbols;
    symbols[at] = results[smallest];
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(at) + 1);
  }
}

/// With rules in any order: the parts of a rule may be made by later ones, and
/// several pairs may have the same key. Runs of one symbol are frequent.
template <typename Queue> void checkMerges(uint32_t seed) {
  std::mt19937 random(seed);
  const uint32_t symbols = 2 + random() % 6;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> keys;
  std::vector<uint32_t> results(1 + random() % 12);
  for (uint32_t &result : results)
    result = random() % symbols;
  for (size_t i = 0; i < 2 * results.size(); ++i)
    keys[{random() % symbols, random() % symbols}] =
        random() % static_cast<uint32_t>(results.size());
  std::vector<uint32_t> word;
  while (word.size() < 200)
    word.resize(word.size() + 1 + random() % 20, random() % symbols);

  std::vector<LinkedSymbol<uint32_t>> chain(word.size());
  for (size_t i = 0; i < word.size(); ++i)
    chain[i].symbol = word[i];
  mergeAdjacentBy<Queue>(
      chain,
      [&](uint32_t left, uint32_t right) {
        auto key = keys.find({left, right});
        return key == keys.end() ? noMerge : key->second;
      },
      [&](uint32_t &left, uint32_t, uint32_t key) { left = results[key]; });
  std::vector<uint32_t> merged;
  for (size_t i = 0; i < chain.size(); i = chain[i].next)
    merged.push_back(chain[i].symbol);
  EXPECT_EQ(merged, mergeByDefinition(word, keys, results)) << seed;
}

TEST(StagesTest, SymbolsMergeAsDefined) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    checkMerges<MergeQueue>(seed);
    checkMerges<SmallMergeQueue>(seed);
  }
}

/// Tokens that begin alike are told apart, also by a text that ends early.
TEST(StagesTest, AddedTokensWithACommonBeginning) {
  AddedTokenMatcher matcher;
  int32_t id = 0;
  for (const char *text : {"\u2581<s>", "\u2581<unk>", "[A]"}) {
    AddedToken token;
    token.id = id++;
    token.text = text;
    matcher.add(text, token);
  }
  matcher.finish();
  const std::string text = "\u2581\u2581<\u2581<s>[A[A]\u2581<unk>\u2581<";
  std::vector<AddedTokenMatcher::Part> parts;
  matcher.split(text, /*matchSpecial=*/true, parts);
  std::vector<std::pair<std::string, int32_t>> found;
  for (AddedTokenMatcher::Part part : parts)
    found.emplace_back(text.substr(part.begin, part.end - part.begin), part.id);
  const std::vector<std::pair<std::string, int32_t>> expected = {
      {"\u2581\u2581<", -1}, {"\u2581<s>", 0}, {"[A", -1}, {"[A]", 2},
      {"\u2581<unk>", 1},    {"\u2581<", -1}};
  EXPECT_EQ(found, expected);
}

} // namespace
