// RUN: llmir-support-tests --gtest_filter='Json*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Json.h"
#include "llmir/Support/JsonEvents.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>

using namespace llmir;

namespace {

TEST(Json, Parses) {
  auto value =
      parseJson("\xef\xbb\xbf {\"a\":[1,-2,3.5,true,null,{\"b\":\"\\u00e9\"}],"
                "\"c\":{}} \n",
                "x");
  ASSERT_TRUE(value) << value.status().message();
  EXPECT_EQ(*value,
            Json::parse(R"({"a":[1,-2,3.5,true,null,{"b":"é"}],"c":{}})"));
  for (const char *scalar : {"1", "\"x\"", "null", "true", "[]", "-0.5"})
    EXPECT_EQ(*parseJson(scalar, "x"), Json::parse(scalar));
}

TEST(Json, RefusesWithThePlace) {
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"", {"f.json: ", "unexpected end of input", "(byte "}},
      {"{\"a\":1,}", {"(byte 8)"}},
      {"{'a':1}", {"(byte 2)"}},
      {"[1] 2", {"(byte 5)"}},
      {"[01]", {"(byte 3)"}},
      {"[NaN]", {"(byte 2)"}},
      {"[1e400]", {"number overflow", "1e400"}},
      {"[\"\\ud800\"]", {"surrogate"}},
      {"[\"\xc0\xaf\"]", {"invalid", "(byte 3)"}},
      {std::string("[\"a\0\"]", 6), {"control character", "(byte 4)"}},
      {"{\"k\":1,\"k\":2}", {"the key 'k' is given twice (byte 10)"}},
      {"{\"o\":{\"k\":1,\"l\":{\"k\":0},\"k\":2}}", {"'k' is given twice"}},
      {std::string(65, '[') + std::string(65, ']'),
       {"nesting is deeper than 64 (byte 65)"}},
      {std::string(1000000, '['), {"nesting is deeper than 64 (byte 65)"}},
  };
  for (const auto &[text, parts] : cases) {
    SCOPED_TRACE(text.substr(0, 40));
    auto value = parseJson(text, "f.json");
    ASSERT_FALSE(value);
    EXPECT_EQ(value.status().code(), StatusCode::InvalidFile);
    for (const std::string &part : parts)
      EXPECT_NE(value.status().cause().find(part), std::string::npos)
          << part << " is not in " << value.status().cause();
    EXPECT_TRUE(isValidUtf8(value.status().cause()));
    EXPECT_EQ(value.status().cause().find('\0'), std::string::npos);
  }
  EXPECT_TRUE(parseJson(std::string(64, '[') + std::string(64, ']'), "x"));
  EXPECT_FALSE(parseJson("[1, 2]", "x", {5, 64}));
  EXPECT_FALSE(parseJson("[[1]]", "x", {100, 1}));
}

TEST(Json, TakesLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i)
    text += (i ? ",\"token" : "\"token") + std::to_string(i) +
            "\":" + std::to_string(i);
  std::clock_t start = std::clock();
  auto value = parseJson(text + "}", "x");
  double time = double(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(value);
  EXPECT_EQ(value->size(), 200000u);
  EXPECT_LT(time, 5.0); // Quadratic time would be hours.
}

TEST(Json, TypedReadsNameFileAndKey) {
  Json value = Json::parse(
      R"({"n":-1,"u":18446744073709551615,"f":1.5,"s":"x","b":true,)"
      R"("o":{"m":[1]},"a":[1,2],"z":null,"g":1e999})",
      nullptr, false);
  EXPECT_TRUE(value.is_discarded()); // 1e999: plain nlohmann refuses as well.
  value = Json::parse(
      R"({"n":-1,"u":18446744073709551615,"f":1.5,"s":"x","b":true,)"
      R"("o":{"m":[1]},"a":[1,2],"z":null})");
  JsonReader json(value, "config.json");
  EXPECT_EQ(*json.integer("n"), -1);
  EXPECT_EQ(json.integer("n", 1, 512).status().cause(),
            "config.json: 'n' is -1; expected an integer from 1 to 512");
  EXPECT_EQ(json.integer("n", 0).status().cause(),
            "config.json: 'n' is -1; expected an integer of at least 0");
  EXPECT_EQ(json.integer("u").status().cause(),
            "config.json: 'u' is 18446744073709551615; expected an integer");
  EXPECT_FALSE(json.integer("f"));
  EXPECT_EQ(json.integer("q", 1, 2).status().code(), StatusCode::NotFound);
  EXPECT_EQ(json.integer("q", 1, 2).status().cause(),
            "config.json: 'q' is missing; expected an integer from 1 to 2");
  EXPECT_EQ(*json.integerOr("z", 7), 7);
  EXPECT_FALSE(json.has("z"));
  EXPECT_FALSE(json.integerOr("s", 7));
  EXPECT_EQ(*json.number("n"), -1.0);
  EXPECT_EQ(*json.number("f"), 1.5);
  EXPECT_FALSE(json.number("s"));
  EXPECT_EQ(*json.numberOr("z", 2.5), 2.5);
  EXPECT_TRUE(*json.boolean("b"));
  EXPECT_FALSE(json.boolean("n"));
  EXPECT_TRUE(*json.booleanOr("z", true));
  EXPECT_EQ(*json.string("s"), "x");
  EXPECT_EQ(*json.stringOr("q", "d"), "d");
  EXPECT_EQ(json.string("a").status().cause(),
            "config.json: 'a' is an array of 2 elements; expected a string");
  EXPECT_EQ((*json.array("a"))->size(), 2u);
  EXPECT_FALSE(json.array("o"));
  auto inner = json.object("o");
  ASSERT_TRUE(inner);
  EXPECT_EQ(
      inner->integer("m").status().cause(),
      "config.json: 'o.m' is an array of 1 elements; expected an integer");
  EXPECT_FALSE(json.object("s"));
  EXPECT_FALSE(JsonReader::of(value["a"], "x.json"));
  EXPECT_TRUE(JsonReader::of(value, "x.json"));
  EXPECT_FALSE(JsonReader(value["a"], "x.json").has("n"));
}

/// Counts, and refuses the string "stop".
struct Counter : JsonEvents {
  int count = 0;
  Status add() {
    ++count;
    return Status::ok();
  }
  Status beginObject() override { return add(); }
  Status endObject() override { return add(); }
  Status beginArray() override { return add(); }
  Status endArray() override { return add(); }
  Status key(std::string &&) override { return add(); }
  Status string(std::string &&text) override {
    if (text == "stop")
      return Status(StatusCode::Unsupported, "stopped", "go on");
    return add();
  }
  Status unsignedInteger(uint64_t) override { return add(); }
  Status negativeInteger(int64_t) override { return add(); }
  Status number(double) override { return add(); }
  Status boolean(bool) override { return add(); }
  Status null() override { return add(); }
};

TEST(Json, RefusesUnknownKeys) {
  Expected<Json> object = parseJson(R"({"a": 1, "b\u0007": null})", "line 3");
  ASSERT_TRUE(bool(object));
  JsonReader reader(*object, "line 3", "in.");
  EXPECT_TRUE(reader.checkKeys({"b\x07", "c", "a"}).isOk());
  Status status = reader.checkKeys({"a", "c"});
  EXPECT_EQ(status.code(), StatusCode::InvalidFile);
  EXPECT_EQ(status.message(),
            "line 3: unknown key 'in.b\\x07'; the keys are 'a', 'c'");
}

TEST(Json, StreamsEvents) {
  Counter counter;
  Status status =
      parseJsonEvents(R"({"a":[1,-1,1.5,true,null,"x"]})", "f", {}, counter);
  EXPECT_TRUE(status) << status.message();
  EXPECT_EQ(counter.count, 11);
  status = parseJsonEvents(R"(["stop", 1])", "f", {}, counter);
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_EQ(status.message(), "f: stopped (byte 7); go on");
}

TEST(Json, ValidatesUtf8) {
  for (std::string_view good :
       {"", "a", "\u00e9", "\u20ac", "\U0001f600", "\U0010ffff", "\u0080"})
    EXPECT_TRUE(isValidUtf8(good)) << good;
  for (std::string_view bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",
        "\xe2\x82", "a\xe2", "\xe2\x28\xa1"})
    EXPECT_FALSE(isValidUtf8(bad));
}

TEST(Json, MakesTextPrintable) {
  EXPECT_EQ(printable("plain grüße"), "plain grüße");
  EXPECT_EQ(printable("a\nb\x1b[0m\xff\x7f"), "a\\x0ab\\x1b[0m\\xff\\x7f");
  EXPECT_EQ(printable(std::string(100, 'x'), 5), "xxxxx…");
  EXPECT_EQ(describeJson(Json("a\"\n")), "\"a\"\\x0a\"");
  EXPECT_EQ(describeJson(Json(1.5)), "1.5");
  // Not JSON's null: these come from files of other kinds.
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(describeJson(Json(infinity)), "infinity");
  EXPECT_EQ(describeJson(Json(-infinity)), "-infinity");
  EXPECT_EQ(describeJson(Json(std::nan(""))), "NaN");
  EXPECT_EQ(describeJson(Json(nullptr)), "null");
}

} // namespace
