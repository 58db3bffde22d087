//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/Workload.h"

#include "llmir/Support/Json.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

using namespace llmir;

//===----------------------------------------------------------------------===//
// Random texts
//===----------------------------------------------------------------------===//

/// Common words, most of them one token with the space before.
static const char *const words[] = {
    "about",    "after",    "again",   "air",       "all",      "along",
    "also",     "always",   "and",     "animal",    "another",  "answer",
    "any",      "are",      "around",  "ask",       "away",     "back",
    "because",  "been",     "before",  "began",     "being",    "below",
    "between",  "big",      "book",    "both",      "boy",      "but",
    "call",     "came",     "can",     "car",       "carry",    "change",
    "children", "city",     "close",   "come",      "could",    "country",
    "cut",      "day",      "did",     "different", "does",     "down",
    "each",     "earth",    "eat",     "end",       "enough",   "even",
    "every",    "example",  "eye",     "face",      "family",   "far",
    "father",   "feet",     "few",     "find",      "first",    "follow",
    "food",     "for",      "form",    "found",     "four",     "from",
    "get",      "girl",     "give",    "good",      "great",    "group",
    "grow",     "had",      "hand",    "hard",      "has",      "have",
    "head",     "hear",     "help",    "her",       "here",     "high",
    "him",      "home",     "house",   "how",       "idea",     "important",
    "into",     "its",      "just",    "keep",      "kind",     "know",
    "land",     "large",    "last",    "later",     "learn",    "leave",
    "left",     "letter",   "life",    "light",     "like",     "line",
    "list",     "little",   "live",    "long",      "look",     "made",
    "make",     "man",      "many",    "may",       "men",      "might",
    "mile",     "more",     "most",    "mother",    "mountain", "move",
    "much",     "must",     "name",    "near",      "need",     "never",
    "new",      "next",     "night",   "not",       "now",      "number",
    "off",      "often",    "old",     "once",      "one",      "only",
    "open",     "other",    "our",     "out",       "over",     "own",
    "page",     "paper",    "part",    "people",    "picture",  "place",
    "plant",    "play",     "point",   "put",       "question", "quick",
    "read",     "really",   "right",   "river",     "run",      "said",
    "same",     "saw",      "say",     "school",    "sea",      "second",
    "see",      "sentence", "set",     "she",       "should",   "show",
    "side",     "small",    "some",    "something", "soon",     "sound",
    "spell",    "start",    "state",   "still",     "stop",     "story",
    "study",    "such",     "take",    "talk",      "tell",     "than",
    "that",     "the",      "their",   "them",      "then",     "there",
    "these",    "they",     "thing",   "think",     "this",     "those",
    "thought",  "three",    "through", "time",      "together", "too",
    "took",     "tree",     "try",     "turn",      "two",      "under",
    "until",    "use",      "very",    "walk",      "want",     "watch",
    "water",    "way",      "well",    "went",      "were",     "what",
    "when",     "where",    "which",   "while",     "white",    "who",
    "why",      "will",     "with",    "without",   "word",     "work",
    "world",    "would",    "write",   "year",      "you",      "young"};

const std::string &llmir::wordsText() {
  static const std::string text = [] {
    std::string joined;
    for (const char *word : words)
      joined += std::string(joined.empty() ? "" : " ") + word;
    return joined;
  }();
  return text;
}

namespace {

/// Draws texts as numbers of tokens or words.
class RandomTexts {
public:
  RandomTexts(const std::vector<int32_t> &ids, uint64_t seed)
      : ids(ids), engine(seed) {}

  /// Appends `length` of them.
  void append(std::vector<size_t> &symbols, int64_t length) {
    std::uniform_int_distribution<size_t> any(
        0, (ids.empty() ? std::size(words) : ids.size()) - 1);
    for (int64_t i = 0; i < length; ++i)
      symbols.push_back(any(engine));
  }

  /// A length, uniform around `mean`; at least 1.
  int64_t length(int64_t mean, double ratio) {
    const auto center = static_cast<double>(mean);
    std::uniform_int_distribution<int64_t> any(
        std::max<int64_t>(1, std::llround(std::floor(center * (1 - ratio)))),
        std::max<int64_t>(1, std::llround(std::ceil(center * (1 + ratio)))));
    return any(engine);
  }

  Json content(const std::vector<size_t> &symbols) const {
    if (!ids.empty()) {
      Json list = Json::array();
      for (size_t symbol : symbols)
        list.push_back(ids[symbol]);
      return list;
    }
    std::string text;
    for (size_t symbol : symbols)
      text += std::string(text.empty() ? "" : " ") + words[symbol];
    return text;
  }

private:
  const std::vector<int32_t> &ids;
  std::mt19937_64 engine;
};

} // namespace

std::vector<Conversation>
llmir::randomConversations(const RandomWorkload &workload,
                           const std::vector<int32_t> &ids) {
  RandomTexts random(ids, workload.seed);
  std::vector<std::vector<size_t>> prefixes(
      static_cast<size_t>(workload.numPrefixes));
  for (auto &prefix : prefixes)
    random.append(prefix, workload.prefixLength);
  std::vector<Conversation> all(static_cast<size_t>(workload.count));
  for (size_t i = 0; i < all.size(); ++i)
    for (int64_t turn = 0; turn < workload.turns; ++turn) {
      std::vector<size_t> symbols;
      if (turn == 0)
        symbols = prefixes[i % prefixes.size()];
      random.append(symbols,
                    random.length(workload.inputLength, workload.rangeRatio));
      all[i].push_back(
          {random.content(symbols),
           random.length(workload.outputLength, workload.rangeRatio)});
    }
  return all;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Token ids, or a text.
static bool isPrompt(const Json &value) {
  if (value.is_string())
    return true;
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json &id) {
           return id.is_number_integer() && id >= 0 && id <= INT32_MAX;
         });
}

static Expected<Turn> readTurn(const JsonReader &reader, int64_t outputLength,
                               LoadApi api) {
  Turn turn;
  auto length =
      reader.integerOr("output_tokens", outputLength, 1, int64_t(1) << 31);
  if (!length)
    return length.takeStatus();
  turn.maxTokens = *length;
  if (reader.has("messages")) {
    if (api != LoadApi::Chat)
      return reader.failure(StatusCode::InvalidArgument, "messages",
                            "needs another endpoint",
                            "give --endpoint /v1/chat/completions");
    auto messages = reader.array("messages");
    if (!messages)
      return messages.takeStatus();
    turn.content = **messages;
    return turn;
  }
  const Json *prompt = reader.find("prompt");
  if (!prompt)
    return reader.missing("prompt", "a text, or \"messages\"");
  if (!isPrompt(*prompt))
    return reader.unexpected("prompt", "a text, or an array of token ids");
  if (api == LoadApi::Chat && !prompt->is_string())
    return reader.unexpected("prompt", "a text, as chats have no token ids");
  turn.content = *prompt;
  return turn;
}

Expected<std::vector<Conversation>>
llmir::readConversations(const std::string &path, int64_t count,
                         int64_t outputLength, LoadApi api) {
  std::ifstream file(path);
  if (!file)
    return Status(StatusCode::NotFound, "'" + path + "' cannot be opened",
                  "give a file of JSON lines");
  std::vector<Conversation> all;
  const auto most = static_cast<size_t>(count);
  int64_t number = 0;
  for (std::string line; all.size() < most && std::getline(file, line);) {
    const std::string where =
        "'" + path + "', line " + std::to_string(++number);
    if (line.find_first_not_of(" \t\r") == line.npos)
      continue;
    Expected<Json> json = parseJson(line, where);
    if (!json)
      return json.takeStatus();
    Expected<JsonReader> reader = JsonReader::of(*json, where);
    if (!reader)
      return reader.takeStatus();
    Expected<Turn> turn = readTurn(*reader, outputLength, api);
    if (!turn)
      return turn.takeStatus();
    all.push_back({std::move(*turn)});
  }
  if (file.bad())
    return Status(StatusCode::IoError, "'" + path + "' cannot be read");
  if (all.empty())
    return Status(StatusCode::InvalidFile, "'" + path + "' has no prompts",
                  "give a file of JSON lines");
  for (size_t i = 0; all.size() < most; ++i)
    all.push_back(Conversation(all[i]));
  return all;
}

//===----------------------------------------------------------------------===//
// Arrivals
//===----------------------------------------------------------------------===//

std::vector<double> llmir::arrivalTimes(int64_t count, double rate,
                                        double burstiness, uint64_t seed) {
  std::vector<double> times(static_cast<size_t>(count));
  if (times.empty() || !std::isfinite(rate))
    return times;
  std::mt19937_64 engine(seed);
  std::gamma_distribution<double> interval(burstiness, 1 / (rate * burstiness));
  double time = 0;
  for (double &arrival : times)
    arrival = time += interval(engine);
  const double scale = static_cast<double>(count) / rate / time;
  for (double &arrival : times)
    arrival *= time > 0 ? scale : 0;
  return times;
}
