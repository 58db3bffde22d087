// RUN: llmir-chat-template-tests --gtest_filter='Renderings*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Templates of public models with the renderings that transformers gives.
//
//===----------------------------------------------------------------------===//

#include "TemplateChecks.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

using namespace llmir;
namespace fs = std::filesystem;

static std::string readFile(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Checks one line of a file of renderings. Returns whether it counts.
static bool checkRow(const ChatTemplate &chat, const std::string &line) {
  Expected<OrderedJson> row = parseOrderedJson(line, "row");
  if (!row) {
    ADD_FAILURE() << row.status().message();
    return false;
  }
  if (!row->at("js_agrees").get<bool>())
    return false;
  OrderedJson variables = row->at("vars");
  variables["messages"] = row->at("messages");
  Expected<std::string> text = chat.render(variables);
  const OrderedJson rendered = row->value("rendered", OrderedJson(nullptr));
  if (rendered.is_null())
    EXPECT_FALSE(text) << row->at("name") << ": " << *text;
  else
    EXPECT_EQ(text ? *text : text.status().message(),
              rendered.get_ref<const std::string &>())
        << row->at("name");
  return true;
}

TEST(Renderings, EqualThoseOfTransformers) {
  const char *root = std::getenv("LLMIR_TEST_DATA");
  fs::path folder =
      (root ? fs::path(root) : fs::path(LLMIR_SOURCE_DIR "/../shared/data")) /
      "chat-templates";
  if (!fs::exists(folder))
    GTEST_SKIP() << "no templates in " << folder;
  ::setenv("SOURCE_DATE_EPOCH", "1735787045", 1);
  std::vector<fs::path> files;
  for (const auto &entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".jinja")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  int rows = 0;
  for (const fs::path &file : files) {
    SCOPED_TRACE(file.filename().string());
    Expected<ChatTemplate> chat = ChatTemplate::parse(readFile(file));
    if (!chat) {
      ADD_FAILURE() << chat.status().message();
      continue;
    }
    std::ifstream lines(fs::path(file).replace_extension(".chat.jsonl"));
    for (std::string line; std::getline(lines, line);)
      rows += checkRow(*chat, line);
  }
  ::unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_GT(rows, 0);
  RecordProperty("renderings", rows);
}
