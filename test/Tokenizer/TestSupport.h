//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tokenizer's tests share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_TOKENIZER_TESTSUPPORT_H
#define LLMIR_TEST_TOKENIZER_TESTSUPPORT_H

#include "llmir/Support/Json.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace llmir {

/// A path below LLMIR_TEST_DATA (by default ../shared/data next to the
/// sources); empty if it does not exist.
inline std::string testData(const std::string &path) {
  const char *root = std::getenv("LLMIR_TEST_DATA");
  std::string full =
      (root ? std::string(root) : LLMIR_SOURCE_DIR "/../shared/data") + "/" +
      path;
  struct stat info;
  return stat(full.c_str(), &info) == 0 ? full : std::string();
}

using Ids = std::vector<int32_t>;

/// The ids of `text`, a failure of the test if there are none.
inline Ids encode(const Expected<Tokenizer> &tokenizer,
                  const std::string &text) {
  if (!tokenizer) {
    ADD_FAILURE() << tokenizer.status().message();
    return {};
  }
  Expected<Ids> ids = tokenizer->encode(text);
  EXPECT_TRUE(ids) << ids.status().message();
  return ids ? *ids : Ids();
}

/// A small byte-level tokenizer.json, GPT-2's kind: the 256 byte tokens, a few
/// merges, `<|end|>` as special token. Tests modify it.
inline Json tinyByteLevel() {
  Json vocab = Json::object();
  int other = 0;
  for (int byte = 0; byte < 256; ++byte) {
    bool shown = (byte >= 0x21 && byte <= 0x7e) ||
                 (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    int c = shown ? byte : 0x100 + other++;
    std::string text;
    if (c < 0x80)
      text = std::string(1, static_cast<char>(c));
    else
      text = {static_cast<char>(0xc0 | c >> 6),
              static_cast<char>(0x80 | (c & 0x3f))};
    vocab[text] = byte;
  }
  Json merges = Json::array();
  int next = 256;
  auto merge = [&](const std::string &left, const std::string &right) {
    merges.push_back(left + " " + right);
    vocab[left + right] = next++;
  };
  merge("h", "e");
  merge("l", "l");
  merge("he", "ll");
  merge("hell", "o");
  merge("\u0120", "w"); // A space is spelled U+0120.
  merge("a", "a");
  merge("aa", "aa");
  return {{"version", "1.0"},
          {"added_tokens",
           {{{"id", next},
             {"content", "<|end|>"},
             {"special", true},
             {"normalized", false}}}},
          {"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "ByteLevel"},
            {"add_prefix_space", false},
            {"use_regex", true}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
}

/// A small tokenizer.json of Llama's kind: U+2581 for spaces, <0xNN> for bytes,
/// BOS before every text.
inline Json tinyByteFallback() {
  const std::string mark = "\u2581";
  Json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    vocab[text] = 3 + byte;
  }
  int next = 259;
  for (const char *text : {"h", "e", "l", "o", "w", "r", "d", "\u2581"})
    vocab[text] = next++;
  Json merges = Json::array();
  auto merge = [&](const std::string &left, const std::string &right) {
    merges.push_back({left, right});
    vocab[left + right] = next++;
  };
  merge("l", "l");
  merge("h", "e");
  merge("he", "ll");
  merge("hell", "o");
  merge(mark, "hello");
  merge(mark, mark);
  auto special = [](int id, const char *text) {
    return Json{{"id", id},
                {"content", text},
                {"special", true},
                {"normalized", false}};
  };
  return {
      {"added_tokens",
       {special(0, "<unk>"), special(1, "<s>"), special(2, "</s>")}},
      {"normalizer",
       {{"type", "Sequence"},
        {"normalizers",
         {{{"type", "Prepend"}, {"prepend", mark}},
          {{"type", "Replace"},
           {"pattern", {{"String", " "}}},
           {"content", mark}}}}}},
      {"pre_tokenizer", nullptr},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single",
         {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
          {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
        {"special_tokens",
         {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}}}}}},
      {"decoder",
       {{"type", "Sequence"},
        {"decoders",
         {{{"type", "Replace"},
           {"pattern", {{"String", mark}}},
           {"content", " "}},
          {{"type", "ByteFallback"}},
          {{"type", "Fuse"}},
          {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
      {"model",
       {{"type", "BPE"},
        {"unk_token", "<unk>"},
        {"fuse_unk", true},
        {"byte_fallback", true},
        {"vocab", vocab},
        {"merges", merges}}}};
}

inline Expected<Tokenizer> fromJson(const Json &json) {
  return Tokenizer::fromTokenizerJson(json.dump());
}

/// Random text over all of Unicode with a bias to what tokenizers tell apart.
inline std::string randomText(std::mt19937 &random, size_t characters) {
  constexpr std::pair<uint32_t, uint32_t> ranges[] = {
      {0x20, 0x7e},     {0x61, 0x7a},       {0x20, 0x20},     {0x00, 0x1f},
      {0x30, 0x39},     {0x80, 0x24f},      {0x300, 0x36f},   {0x600, 0x6ff},
      {0x2000, 0x206f}, {0x2581, 0x2581},   {0x4e00, 0x9fff}, {0xac00, 0xd7a3},
      {0xfff0, 0xffff}, {0x1f300, 0x1faff}, {0x80, 0x10ffff}};
  std::string text;
  while (characters-- > 0) {
    auto [low, high] = ranges[random() % std::size(ranges)];
    uint32_t c = low + random() % (high - low + 1);
    if (c >= 0xd800 && c <= 0xdfff)
      c = 0x10ffff; // Surrogates are not characters.
    if (c < 0x80) {
      text += static_cast<char>(c);
      continue;
    }
    if (c < 0x800) {
      text += static_cast<char>(0xc0 | c >> 6);
    } else if (c < 0x10000) {
      text += static_cast<char>(0xe0 | c >> 12);
      text += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    } else {
      text += static_cast<char>(0xf0 | c >> 18);
      text += static_cast<char>(0x80 | (c >> 12 & 0x3f));
      text += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    }
    text += static_cast<char>(0x80 | (c & 0x3f));
  }
  return text;
}

} // namespace llmir

#endif // LLMIR_TEST_TOKENIZER_TESTSUPPORT_H
