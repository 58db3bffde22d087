// RUN: llmir-hub-tests --gtest_filter='FileChoice*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Hub/FileChoice.h"

#include <gtest/gtest.h>

using namespace llmir;
using namespace llmir::hub;

namespace {

/// The outcome of a choice: the model and the number of files, or the failure.
std::string choose(const std::vector<std::string> &names,
                   const std::string &selector, const std::string &index = {}) {
  std::vector<FileEntry> listing;
  for (const std::string &name : names)
    listing.push_back({name, 1500000, ""});
  ModelReference reference;
  reference.repository = "org/name";
  reference.selector = selector;
  Expected<FileChoice> choice = chooseFiles(
      listing, reference,
      [&](const FileEntry &) -> Expected<std::string> { return index; });
  if (!choice)
    return choice.status().message();
  std::string text = choice->model.empty() ? "all" : choice->model;
  return text + " " + std::to_string(choice->files.size());
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

const std::vector<std::string> many = {
    "Name-1.5B-Q4_0.gguf",
    "Name-1.5B-Q4_K_S.gguf",
    "Name-1.5B-Q4_K_M.gguf",
    "Name-1.5B-UD-Q4_K_XL.gguf",
    "Name-1.5B-Q8_0.gguf",
    "Name-1.5B.f16.gguf",
    "BF16/Name-1.5B-BF16-00001-of-00002.gguf",
    "BF16/Name-1.5B-BF16-00002-of-00002.gguf",
    "mmproj-F32.gguf",
    "imatrix_unsloth.gguf",
    "README.md",
};

} // namespace

TEST(FileChoice, Quantizations) {
  EXPECT_EQ(choose(many, "Q4_K_M"), "Name-1.5B-Q4_K_M.gguf 1");
  EXPECT_EQ(choose(many, "q4_k_m"), "Name-1.5B-Q4_K_M.gguf 1");
  EXPECT_EQ(choose(many, "Q4_0"), "Name-1.5B-Q4_0.gguf 1");
  EXPECT_EQ(choose(many, "UD-Q4_K_XL"), "Name-1.5B-UD-Q4_K_XL.gguf 1");
  EXPECT_EQ(choose(many, "Q4_K_XL"), "Name-1.5B-UD-Q4_K_XL.gguf 1");
  EXPECT_EQ(choose(many, "F16"), "Name-1.5B.f16.gguf 1");
  EXPECT_EQ(choose(many, "bf16"), "BF16/Name-1.5B-BF16-00001-of-00002.gguf 2");
  // A part of a name of another quantization is none.
  EXPECT_TRUE(contains(choose(many, "Q4_K"), "nor a quantization 'Q4_K'"));
  EXPECT_TRUE(contains(choose(many, "F32"), "nor a quantization 'F32'"));
  EXPECT_TRUE(contains(choose(many, "Q4_K"), "UD-Q4_K_XL (1.5 MB)"));
  EXPECT_TRUE(contains(choose(many, "Q4_K"), "BF16 (3.0 MB)"));
  // Names without separators that are usual.
  EXPECT_EQ(choose({"ggml-model-i2_s.gguf", "x.gguf"}, "i2_s"),
            "ggml-model-i2_s.gguf 1");
  EXPECT_EQ(choose({"m_Q6_K.gguf", "m_Q8_0.gguf"}, "q6_k"), "m_Q6_K.gguf 1");
}

TEST(FileChoice, Files) {
  EXPECT_EQ(choose(many, "Name-1.5B-Q8_0.gguf"), "Name-1.5B-Q8_0.gguf 1");
  EXPECT_EQ(choose(many, "mmproj-F32.gguf"), "mmproj-F32.gguf 1");
  EXPECT_EQ(choose(many, "README.md"), "README.md 1");
  // Any part, with or without its directory, selects all of them.
  EXPECT_EQ(choose(many, "Name-1.5B-BF16-00002-of-00002.gguf"),
            "BF16/Name-1.5B-BF16-00001-of-00002.gguf 2");
  EXPECT_EQ(choose({"a/x.gguf", "b/x.gguf"}, "x.gguf"),
            "'x.gguf' names 2 files of org/name; choose one of a/x.gguf, "
            "b/x.gguf");
  EXPECT_EQ(choose({"a/x.gguf", "b/x.gguf"}, "b/x.gguf"), "b/x.gguf 1");
}

TEST(FileChoice, WithoutSelector) {
  EXPECT_TRUE(contains(choose(many, ""), "has 7 models"));
  EXPECT_EQ(choose({"x-Q8_0.gguf", "mmproj-x.gguf"}, ""), "x-Q8_0.gguf 1");
  EXPECT_EQ(choose({"config.json", "model.safetensors", "x-Q8_0.gguf"}, ""),
            "all 2");
  EXPECT_EQ(choose({"x-Q8_0.gguf", "config.json", "model.safetensors"}, "q8_0"),
            "x-Q8_0.gguf 1");
  EXPECT_TRUE(contains(choose({"model.safetensors"}, ""), "config.json"));
  EXPECT_TRUE(contains(choose({}, ""), "neither model.safetensors"));
  EXPECT_TRUE(contains(choose({"config.json", "a.bin"}, ""), "pickled"));
}

TEST(FileChoice, Parts) {
  EXPECT_TRUE(
      contains(choose({"x-00001-of-00003.gguf", "x-00003-of-00003.gguf"}, ""),
               "part 2 of 3 of 'x' is missing"));
  EXPECT_EQ(choose({"x-00001-of-00001.gguf"}, ""), "x-00001-of-00001.gguf 1");
  // A model in one part beside one that is not split.
  const std::vector<std::string> both = {"m-Q8_0-00001-of-00001.gguf",
                                         "m-Q8_0.gguf"};
  for (const char *selector : {"", "q8_0"})
    EXPECT_TRUE(contains(choose(both, selector),
                         "m-Q8_0.gguf (1.5 MB), m-Q8_0-00001-of-00001.gguf "
                         "(1.5 MB)"))
        << choose(both, selector);
  for (const std::string &name : both)
    EXPECT_EQ(choose(both, name), name + " 1");
  // Not the form of a part.
  for (const char *name : {"x-0001-of-0003.gguf", "x-00004-of-00003.gguf",
                           "x-00000-of-00003.gguf", "-00001-of-0000x.gguf"})
    EXPECT_EQ(choose({name}, ""), std::string(name) + " 1");
}

TEST(FileChoice, Index) {
  const std::vector<std::string> names = {
      "config.json", "model.safetensors.index.json", "model-1.safetensors",
      "model-2.safetensors"};
  auto index = [](const std::string &map) {
    return "{\"metadata\": {}, \"weight_map\": " + map + "}";
  };
  EXPECT_EQ(choose(names, "", index(R"({"a": "model-1.safetensors"})")),
            "all 3");
  EXPECT_EQ(choose(names, "", index(R"({"a": "model-1.safetensors",
                                        "b": "model-2.safetensors"})")),
            "all 4");
  for (const char *map : {"{}", "[]", "1", R"({"a": 1})", R"({"a": "x.bin"})",
                          R"({"a": "../model-1.safetensors"})",
                          R"({"a": "model-3.safetensors"})"})
    EXPECT_TRUE(contains(choose(names, "", index(map)), "index.json")) << map;
  // One file takes precedence, as in the reader.
  std::vector<std::string> both = names;
  both.push_back("model.safetensors");
  EXPECT_EQ(choose(both, "", "no index"), "all 2");
}

TEST(FileChoice, HostileNames) {
  EXPECT_TRUE(contains(choose({"../x.gguf"}, ""), "leaves its directory"));
  EXPECT_TRUE(contains(choose({"x.gguf", "x.gguf"}, ""), "listed twice"));
  EXPECT_TRUE(contains(choose({".gguf"}, ""), "neither"));
  EXPECT_EQ(choose({"-.gguf"}, ""), "-.gguf 1");
  EXPECT_EQ(choose({"a/.gguf"}, ""), "a/.gguf 1");
}
