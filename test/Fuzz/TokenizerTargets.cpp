//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "../Tokenizer/Protobuf.h"
#include "../Tokenizer/TestSupport.h"

#include "llmir/Tokenizer/Tokenizer.h"

#include <algorithm>

using namespace llmir;
using namespace llmir::fuzz;
using namespace llmir::test::protobuf;

/// Encodes some texts and decodes their ids. What a tokenizer encodes depends
/// on its file, but the ids are its own and their text is UTF-8.
static void use(const Expected<Tokenizer> &tokenizer) {
  if (!tokenizer)
    return checkStatus(tokenizer.status());
  for (std::string_view text :
       {std::string_view(
            "Hello world, it's 1234 \xC3\xA9\xE4\xBD\xA0 <s></s>\n"),
        std::string_view("A\u0301\uac01\u1100\u1161 \ufb01\u01c6\u200b a"
                         "\U0001F600x\u0323\u0301,'s \u00a0Hw"),
        std::string_view("aaaaaaaaaaaaaaaaaaaaaaaaaaaa    \t\t\xCC\x81\0x",
                         35)}) {
    Expected<std::vector<int32_t>> ids = tokenizer->encode(text);
    if (!ids)
      continue;
    for (int32_t id : *ids)
      expect(id >= 0 && id < tokenizer->vocabSize(), "ids are of tokens");
    if (tokenizer->checkIds(*ids))
      expect(isValidUtf8(tokenizer->decode(*ids)), "decoded text is UTF-8");
  }
}

static void useStored(const Expected<Tokenizer> &tokenizer) {
  use(tokenizer);
  if (tokenizer)
    expect(Tokenizer::load(tokenizer->serialize()).status().isOk(),
           "what was stored can be loaded");
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void readJson(std::string_view input) {
  const size_t end = input.find('\0');
  useStored(Tokenizer::fromTokenizerJson(
      input.substr(0, end),
      end == input.npos ? std::string_view() : input.substr(end + 1)));
}

static Json smallModel(Json model) {
  return {
      {"added_tokens",
       {{{"id", 9}, {"content", "<s>"}, {"special", true}, {"lstrip", true}}}},
      {"model", std::move(model)}};
}

static std::vector<std::string> jsonSeeds() {
  const Json words = {{"a", 0}, {"b", 1}, {"ab", 2}, {"[UNK]", 3}, {"##b", 4}};
  Json bpe = smallModel({{"type", "BPE"},
                         {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}},
                         {"merges", {"a b"}}});
  bpe["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"},
         {"pattern", {{"Regex", "\\p{L}+|\\s"}}},
         {"behavior", "Isolated"},
         {"invert", false}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}};
  bpe["normalizer"] = {{"type", "NFKC"}};
  bpe["decoder"] = {{"type", "ByteLevel"}};
  Json wordPiece = smallModel({{"type", "WordPiece"},
                               {"unk_token", "[UNK]"},
                               {"continuing_subword_prefix", "##"},
                               {"max_input_chars_per_word", 100},
                               {"vocab", words}});
  wordPiece["normalizer"] = {{"type", "BertNormalizer"},
                             {"clean_text", true},
                             {"handle_chinese_chars", true},
                             {"strip_accents", nullptr},
                             {"lowercase", true}};
  wordPiece["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  wordPiece["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}};
  wordPiece["post_processor"] = {
      {"type", "BertProcessing"}, {"sep", {"a", 0}}, {"cls", {"b", 1}}};
  Json unigram =
      smallModel({{"type", "Unigram"},
                  {"unk_id", 0},
                  {"byte_fallback", false},
                  {"vocab", Json::array({Json::array({"<unk>", 0.0}),
                                         Json::array({"a", -1.0}),
                                         Json::array({"\u2581", -2.0})})}});
  unigram["pre_tokenizer"] = {{"type", "Metaspace"},
                              {"replacement", "\u2581"},
                              {"prepend_scheme", "always"},
                              {"split", true}};
  unigram["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers",
       {{{"type", "Replace"},
         {"pattern", {{"Regex", " {2,}"}}},
         {"content", " "}},
        {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}},
        {{"type", "Lowercase"}}}}};
  unigram["decoder"] = {{"type", "Metaspace"}};
  const std::string config = std::string(1, '\0') +
                             R"({"bos_token":"<s>","eos_token":"ab",)"
                             R"("add_bos_token":true})";
  std::vector<std::string> seeds = tokenizersOfAllStages();
  for (std::string &seed : seeds)
    seed += config;
  for (const Json &model : {bpe, wordPiece, unigram})
    seeds.push_back(model.dump() + config);
  seeds.push_back(tinyByteFallback().dump());
  return seeds;
}

//===----------------------------------------------------------------------===//
// Other files
//===----------------------------------------------------------------------===//

static void readModel(std::string_view input) {
  useStored(Tokenizer::fromSentencePiece(input));
}

static std::vector<std::string> sentencePieceSeeds() {
  auto piece = [](const char *text, float score, uint64_t type) {
    return bytes(1, bytes(1, text) + floating(2, score) + number(3, type));
  };
  std::string pieces = piece("<unk>", 0, 2) + piece("<s>", 0, 3) +
                       piece("</s>", 0, 3) + piece("\u2581", -1, 1) +
                       piece("a", -2, 1) + piece("b", -3, 1) +
                       piece("ab", -1.5, 1) + piece("<extra>", 0, 4);
  std::string withBytes = pieces;
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    withBytes += piece(text, 0, 6);
  }
  const std::string normalizer = number(3, 1) + number(4, 1) + number(5, 1);
  return {pieces + bytes(2, number(3, 1)) +
              bytes(3, bytes(2, smallCharsmap()) + normalizer),
          pieces + bytes(2, number(3, 2)) + bytes(3, normalizer),
          pieces + bytes(2, number(3, 1)) + bytes(3, normalizer),
          withBytes + bytes(2, number(3, 2) + number(35, 1)) +
              bytes(3, number(3, 0))};
}

namespace {
/// The parts of the input: the name of an encoding, lines, and what follows a
/// byte 0, tokenizer_config.json.
struct TiktokenInput {
  std::string_view encoding, lines, config;
};
} // namespace

static TiktokenInput partsOf(std::string_view input) {
  auto take = [&input](char separator) {
    const size_t end = std::min(input.find(separator), input.size());
    const std::string_view part = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    return part;
  };
  TiktokenInput parts;
  parts.encoding = take('\n');
  parts.lines = take('\0');
  parts.config = input;
  return parts;
}

/// Appends tokens, each of three bytes, up to the number of an encoding.
static void fill(std::string &lines, std::string_view encoding) {
  const std::pair<const char *, size_t> counts[] = {
      {"gpt2", 50256},   {"cl100k", 100256}, {"llama3", 128000},
      {"glm4", 151329},  {"qwen", 151643},   {"kimi", 163584},
      {"o200k", 199998},
  };
  const char *const digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (const auto &[name, count] : counts) {
    if (encoding != name)
      continue;
    if (!lines.empty() && lines.back() != '\n')
      lines += '\n';
    for (auto rank =
             static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
         rank < count; ++rank) {
      for (int shift : {18, 12, 6, 0})
        lines += digits[rank >> shift & 63];
      lines += ' ' + std::to_string(rank) + '\n';
    }
  }
}

static char checksumOf(std::string_view text) {
  unsigned sum = 0;
  for (char c : text)
    sum = sum * 31 + static_cast<unsigned char>(c);
  return static_cast<char>(sum);
}

/// Only files with the number of tokens of an encoding are accepted, which take
/// a fifth of a second: those of the seeds, and one in 256 of the others, whose
/// first byte happens to be the sum of the rest.
static void readTiktoken(std::string_view input) {
  const char sum = input.empty() ? '\0' : input[0];
  input.remove_prefix(std::min<size_t>(1, input.size()));
  const TiktokenInput parts = partsOf(input);
  // Detected by its first line.
  std::string lines = "YQ== 0\n" + std::string(parts.lines);
  if (sum == checksumOf(input))
    fill(lines, parts.encoding);
  useStored(Tokenizer::fromSentencePiece(lines, parts.config, "m.tiktoken"));
}

static std::vector<std::string> tiktokenSeeds() {
  const std::string lines = "Yg== 1\nYw== 2\nYWI= 3\n", end(1, '\0');
  std::vector<std::string> seeds = {"\n" + lines, "\nYg== 1\r\n\nYw 2"};
  for (const char *encoding :
       {"gpt2", "cl100k", "llama3", "glm4", "qwen", "kimi", "o200k"})
    seeds.push_back(std::string(encoding) + "\n" + lines + end);
  for (const char *tokens :
       {R"({"50256":{"content":"<|end|>","special":true},"50257":)"
        R"({"content":"<t>"}})",
        R"({"x":{"content":"a"}})", R"({"50256":1})",
        R"({"50256":{"content":1}})", R"({"50256":{"content":""}})",
        R"({"50256":{"content":"a","special":2}})", "[]"})
    seeds.push_back("gpt2\n" + lines + end + R"({"added_tokens_decoder":)" +
                    tokens + "}");
  for (std::string &seed : seeds)
    seed.insert(0, 1, checksumOf(seed));
  return seeds;
}

static std::vector<std::string> tekkenSeeds() {
  Json vocabulary = Json::array();
  for (const char *bytes : {"YQ==", "Yg==", "YWI=", "IA=="})
    vocabulary.push_back({{"rank", vocabulary.size()},
                          {"token_bytes", bytes},
                          {"token_str", nullptr}});
  Json tekken = {{"config",
                  {{"pattern", " ?[a-z]+|[^a-z]"},
                   {"num_vocab_tokens", 4},
                   {"default_vocab_size", 8},
                   {"default_num_special_tokens", 4},
                   {"version", "v3"}}},
                 {"vocab", vocabulary}};
  Json special = tekken;
  special["special_tokens"] = {
      {{"rank", 0}, {"token_str", "<unk>"}, {"is_control", true}},
      {{"rank", 1}, {"token_str", "<s>"}, {"is_control", true}}};
  return {tekken.dump(), special.dump()};
}

/// vocab.txt.
static void readWords(std::string_view input) {
  useStored(Tokenizer::fromFile(write("vocab.txt", input)));
}

static std::vector<std::string> wordSeeds() {
  return {"[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##able\r\n\n!\n"};
}

/// vocab.json and merges.txt.
static void readPairs(std::string_view input) {
  const size_t end = input.find('\0');
  write("pairs/merges.txt",
        end == input.npos ? std::string_view() : input.substr(end + 1));
  const std::string path = write("pairs/vocab.json", input.substr(0, end));
  useStored(Tokenizer::fromFolder(path.substr(0, path.rfind('/'))));
}

static std::vector<std::string> pairSeeds() {
  return {R"({"a":0,"b":1,"ab":2,"<|endoftext|>":3})" + std::string(1, '\0') +
          "#version: 0.2\na b\n"};
}

static void loadStored(std::string_view input) {
  use(Tokenizer::load(
      {reinterpret_cast<const uint8_t *>(input.data()), input.size()}));
}

static std::vector<std::string> storedSeeds() {
  std::vector<std::string> seeds;
  auto add = [&](const Expected<Tokenizer> &tokenizer) {
    expect(tokenizer.status().isOk(), tokenizer.status().message().c_str());
    const std::vector<uint8_t> bytes = tokenizer->serialize();
    seeds.emplace_back(bytes.begin(), bytes.end());
  };
  // Each kind of model; a tokenizer of a seed may not be accepted.
  const std::vector<std::string> files = jsonSeeds();
  for (size_t i = 0; i < files.size(); i += i + 8 < files.size() ? 7 : 1) {
    auto tokenizer =
        Tokenizer::fromTokenizerJson(files[i].substr(0, files[i].find('\0')));
    if (tokenizer)
      add(tokenizer);
  }
  for (const std::string &model : sentencePieceSeeds())
    add(Tokenizer::fromSentencePiece(model));
  return seeds;
}

std::vector<Target> fuzz::tokenizerTargets() {
  return {
      {"tokenizer-json", "tokenizer.json, a byte 0, tokenizer_config.json",
       readJson, jsonSeeds},
      {"sentencepiece", "tokenizer.model", readModel, sentencePieceSeeds},
      {"tiktoken",
       "a sum, an encoding, lines of a tiktoken file, a byte 0, "
       "tokenizer_config.json",
       readTiktoken, tiktokenSeeds},
      {"tekken", "tekken.json", readJson, tekkenSeeds},
      {"words", "vocab.txt", readWords, wordSeeds},
      {"pairs", "vocab.json, a byte 0, merges.txt", readPairs, pairSeeds},
      {"tokenizer-bytes", "the tokenizer of an artifact", loadStored,
       storedSeeds},
  };
}
