// RUN: llmir-server-tests --gtest_filter='LogprobsJson.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/LogprobsJson.h"

#include "Tokenizer/TestSupport.h"

#include <gtest/gtest.h>

using namespace llmir;

/// Of a token alone, in a conversation.
static Json entryOf(const Tokenizer *tokenizer, int32_t token) {
  TokenLogprobs logprobs;
  logprobs.token = token;
  return chatLogprobs(tokenizer,
                      Span<const TokenLogprobs>(&logprobs, 1))["content"][0];
}

TEST(LogprobsJson, BytesAreThoseOfTheToken) {
  const Tokenizer tokenizer =
      *Tokenizer::fromTokenizerJson(tinyByteLevel().dump());
  Json entry = entryOf(&tokenizer, 'h');
  EXPECT_EQ(entry["token"], "h");
  EXPECT_EQ(entry["bytes"], Json::array({'h'}));
  // A part of a character is no text.
  entry = entryOf(&tokenizer, 0xe4);
  EXPECT_EQ(entry["token"], "token_id:228");
  EXPECT_EQ(entry["bytes"], Json::array({0xe4}));
  // Not known.
  EXPECT_TRUE(entryOf(&tokenizer, 100000)["bytes"].is_null());
  EXPECT_TRUE(entryOf(nullptr, 7)["bytes"].is_null());
}

TEST(LogprobsJson, BytesOfByteTokens) {
  Json json = Json::parse(R"({"version": "1.0", "added_tokens": [],
      "normalizer": null, "pre_tokenizer": null, "post_processor": null,
      "decoder": {"type": "Sequence", "decoders": [
          {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
          {"type": "ByteFallback"}, {"type": "Fuse"},
          {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
      "model": {"type": "BPE", "byte_fallback": true, "unk_token": "<unk>",
          "vocab": {"<unk>": 0, "<0xE4>": 1, "\u2581a": 2}, "merges": []}})");
  const auto tokenizer = Tokenizer::fromTokenizerJson(json.dump());
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(entryOf(&*tokenizer, 1)["bytes"], Json::array({0xe4}));
  EXPECT_EQ(entryOf(&*tokenizer, 2)["bytes"], Json::array({' ', 'a'}));
}
