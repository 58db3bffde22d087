// RUN: llmir-chat-template-tests --gtest_filter='ModelTemplates*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/ChatTemplate/ModelTemplates.h"

#include <gtest/gtest.h>

using namespace llmir;

static Expected<ModelTemplates> loadText(const std::string &text) {
  return ModelTemplates::load(
      {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

TEST(ModelTemplates, SurviveSerialization) {
  ModelTemplates model;
  model.set("default", "{{ 'é' }}\n");
  model.set("tool_use", "t");
  model.set("default", "d");
  model.tokens = {{"bos_token", "<s>"}, {"eos_token", nullptr}};
  std::vector<uint8_t> bytes = model.serialize();
  Expected<ModelTemplates> loaded = ModelTemplates::load(bytes);
  ASSERT_TRUE(loaded) << loaded.status().message();
  ASSERT_EQ(loaded->templates.size(), 2u);
  EXPECT_EQ(loaded->find("default")->source, "d");
  EXPECT_EQ(loaded->tokens, model.tokens);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ModelTemplates::load({bytes.data(), size}));
}

TEST(ModelTemplates, RefuseMalformedSections) {
  for (const char *text :
       {"", "[]", "{}", R"({"templates": 1})", R"({"templates": [1]})",
        R"({"templates": [{"name": 1, "template": "x"}]})",
        R"({"templates": [{"name": "x"}]})"})
    EXPECT_FALSE(loadText(text)) << text;
  Expected<ModelTemplates> odd =
      loadText(R"({"templates": [], "tokens": {"bos_token": 5, "x": "y"}})");
  ASSERT_TRUE(odd);
  EXPECT_TRUE(odd->tokens.empty());
}

TEST(ModelTemplates, AreChosenAsTransformersDoes) {
  ModelTemplates model;
  EXPECT_EQ(model.choose(false).status().code(), StatusCode::NotFound);
  model.set("rag", "r");
  EXPECT_EQ((*model.choose(true))->source, "r");
  model.set("tool_use", "t");
  EXPECT_EQ(model.choose(false).status().code(), StatusCode::NotFound);
  EXPECT_EQ((*model.choose(true))->source, "t");
  model.set("default", "d");
  EXPECT_EQ((*model.choose(false))->source, "d");
  EXPECT_EQ((*model.choose(true))->source, "t");
}
