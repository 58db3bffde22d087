// RUN: llmir-checkpoint-tests --gtest_filter='GGUFHostileTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One case for each field of a GGUF file that can be wrong. Each must be
// refused with a code and a line that names the file and the field, in no time
// and without an allocation out of proportion.
//
//===----------------------------------------------------------------------===//

#include "GGUFHostile.h"

#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

/// An array value as stored.
std::string rawArray(uint32_t elementType, uint64_t count,
                     const std::string &elements) {
  return bytesOf(elementType) + bytesOf(count) + elements;
}

TEST(GGUFHostileTest, Header) { // G1, G2, G3
  expectAllRefused({
      {"magic", [](Image &i) { i.magic = "GGML"; }, {"'GGUF'", "byte 0"}},
      {"version 0", [](Image &i) { i.version = 0; }, {"version is 0"}},
      {"version 1",
       [](Image &i) { i.version = 1; },
       {"version is 1"},
       Unsupported},
      {"future version",
       [](Image &i) { i.version = 4; },
       {"version is 4"},
       Unsupported},
      {"big-endian",
       [](Image &i) { i.version = 0x03000000; },
       {"version is 3", "big-endian"},
       Unsupported},
      {"tensor count -1",
       [](Image &i) { i.tensorCount = huge; },
       {"tensor count is 18446744073709551615", "byte 8"}},
      {"tensor count 2^63",
       [](Image &i) { i.tensorCount = 1ull << 63; },
       {"tensor count is 9223372036854775808"}},
      {"tensor count of bytes",
       [](Image &i) { i.tensorCount = 100000; },
       {"tensor count is 100000"}},
      {"one tensor too many",
       [](Image &i) { i.tensorCount = 6; },
       {"tensor 5"}},
      {"key count -1",
       [](Image &i) { i.keyCount = huge; },
       {"key count is 18446744073709551615", "byte 16"}},
      {"key count 2^60",
       [](Image &i) { i.keyCount = 1ull << 60; },
       {"key count is 1152921504606846976"}},
      {"one key too many",
       [](Image &i) { i.keyCount = i.keys.size() + 1; },
       {"tensor 0", "the name has a length"}},
      {"one key too few",
       [](Image &i) { i.keyCount = i.keys.size() - 1; },
       {"tensor 'tokenizer.ggml.add_bos_token'", "7 dimensions"}},
  });
}

TEST(GGUFHostileTest, EveryTruncation) { // G11 and every other field
  TempFolder folder;
  std::string whole = tinyGGUF().build();
  // The last tensor's data ends in padding-free bytes: no cut may pass.
  size_t header = whole.find("blk.0.ffn_down.weight") + 64;
  for (size_t size = 0; size < whole.size(); size += size < header ? 1 : 997) {
    SCOPED_TRACE(size);
    std::string path = folder.write("bad.gguf", whole.substr(0, size));
    expectRefusal({StatusCode::InvalidFile, {"bad.gguf"}}, size,
                  [&] { return Checkpoint::open(path).takeStatus(); });
  }
}

TEST(GGUFHostileTest, ManyKeys) { // G3: no quadratic search for duplicates
  TempFolder folder;
  Image image;
  for (int i = 0; i < 65536; ++i)
    image.keys.push_back({"k" + std::to_string(i), 0, "x", {}});
  std::string path = folder.write("many.gguf", image.build());
  double start = cpuSeconds();
  auto file = GGUFFile::open(path);
  double time = cpuSeconds() - start;
  ASSERT_TRUE(file) << file.status().message();
  EXPECT_NE(file->metadata().find("k65535"), nullptr);
  EXPECT_LT(time, timeLimit);
  image.keys.push_back({"k1000000", 0, "x", {}});
  std::string bytes = image.build();
  folder.write("many.gguf", bytes);
  expectRefusal({StatusCode::InvalidFile, {"many.gguf", "65537", "65536"}},
                bytes.size(),
                [&] { return GGUFFile::open(path).takeStatus(); });
}

TEST(GGUFHostileTest, Keys) { // G4, G5, G6
  expectAllRefused({
      {"key length 2^64-1",
       [](Image &i) { i.keys[1].nameLength = huge; },
       {"key 1", "18446744073709551615"}},
      {"key length 0",
       [](Image &i) { i.keys[1].name = ""; },
       {"key 1", "empty"}},
      {"key longer than allowed",
       [](Image &i) { i.keys[1].name = std::string(65536, 'k'); },
       {"key 1", "65536", "at most 65535"}},
      {"key not UTF-8",
       [](Image &i) { i.keys[1].name = "a\xff"; },
       {"key 1", "UTF-8"}},
      {"value type 13",
       [](Image &i) { i.keys[1].type = 13; },
       {"'general.name'", "unknown type 13"}},
      {"value type -1",
       [](Image &i) { i.keys[1].type = ~0u; },
       {"'general.name'", "unknown type 4294967295"}},
      {"string longer than the file",
       [](Image &i) { i.keys[1].payload = bytesOf(huge) + "tiny"; },
       {"'general.name'", "18446744073709551615"}},
      {"array of arrays",
       [](Image &i) {
         i.keys[1].type = 9;
         i.keys[1].payload = rawArray(9, 1, rawArray(4, 1, "1234"));
       },
       {"'general.name'", "array of arrays"},
       Unsupported},
      {"element type 13",
       [](Image &i) {
         i.keys[1].type = 9;
         i.keys[1].payload = rawArray(13, 1, "1234");
       },
       {"'general.name'", "unknown element type 13"}},
      {"count beyond the file",
       [](Image &i) {
         i.keys[1].type = 9;
         i.keys[1].payload = rawArray(0, 1u << 30, "1234");
       },
       {"'general.name'", "1073741824 elements of u8"}},
      {"count times size wraps",
       [](Image &i) {
         i.keys[1].type = 9;
         i.keys[1].payload = rawArray(10, (1ull << 61) + 1, "12345678");
       },
       {"'general.name'", "2305843009213693953 elements of u64"}},
      {"2^61 strings",
       [](Image &i) {
         i.keys[1].type = 9;
         i.keys[1].payload = rawArray(8, 1ull << 61, ggufString("a"));
       },
       {"'general.name'", "elements of string"}},
      {"a string of an array beyond the file",
       [](Image &i) {
         i.keys[1].type = 9;
         i.keys[1].payload = rawArray(8, 1, bytesOf(uint64_t(1) << 40));
       },
       {"'general.name'", "1099511627776"}},
      {"bool 2",
       [](Image &i) { i.key("tokenizer.ggml.add_bos_token").payload = "\x02"; },
       {"'tokenizer.ggml.add_bos_token'", "a bool is 2"}},
      {"key twice",
       [](Image &i) { i.keys.push_back(i.keys[0]); },
       {"'general.architecture'", "twice"}},
      {"size as string",
       [](Image &i) { i.set("llama.block_count", std::string("2")); },
       {"'llama.block_count'", "the string \"2\"", "expected an integer"}},
      {"size as float",
       [](Image &i) { i.set("llama.block_count", 2.0f); },
       {"'llama.block_count'", "(f32)"}},
      {"architecture as number",
       [](Image &i) { i.set("general.architecture", uint32_t(1)); },
       {"'general.architecture'", "1 (u32)", "expected a string"}},
      {"alignment as i32",
       [](Image &i) { i.set("general.alignment", int32_t(32)); },
       {"'general.alignment'", "i32", "expected u32"}},
  });
}

TEST(GGUFHostileTest, Alignment) { // G7
  expectAllRefused({
      {"0",
       [](Image &i) { i.set("general.alignment", uint32_t(0)); },
       {"'general.alignment'", "the value is 0"}},
      {"13",
       [](Image &i) { i.set("general.alignment", uint32_t(13)); },
       {"'general.alignment'", "the value is 13"}},
      {"2^31",
       [](Image &i) { i.set("general.alignment", 1u << 31); },
       {"'general.alignment'", "the value is 2147483648"}},
      {"not the file's",
       [](Image &i) { i.set("general.alignment", 4096u); },
       {"'output_norm.weight'", "offset"}},
  });
}

TEST(GGUFHostileTest, Tensors) { // G8, G9, G10, G11
  expectAllRefused({
      {"5 dimensions",
       [](Image &i) { i.tensors[1].sizes = {1, 1, 1, 1, 1}; },
       {"'output_norm.weight'", "5 dimensions"}},
      {"2^32-1 dimensions",
       [](Image &i) { i.tensors[1].dims = ~0u; },
       {"'output_norm.weight'", "4294967295 dimensions"}},
      {"size -1",
       [](Image &i) { i.tensors[1].sizes = {huge}; },
       {"'output_norm.weight'", "dimension 0 is 18446744073709551615"}},
      {"size 0",
       [](Image &i) { i.tensors[1].sizes = {0}; },
       {"'output_norm.weight'", "dimension 0 is 0"}},
      {"product wraps to negative",
       [](Image &i) {
         i.tensors[1].type = 24;
         i.tensors[1].sizes = {uint64_t(INT64_MAX), 2, 1, 1};
       },
       {"'output_norm.weight'", "product of the shape", "overflows"}},
      {"product wraps to 0",
       [](Image &i) { i.tensors[1].sizes = {1ull << 32, 1ull << 32}; },
       {"'output_norm.weight'", "overflows"}},
      {"bytes wrap",
       [](Image &i) { i.tensors[1].sizes = {1ull << 61, 2}; },
       {"'output_norm.weight'", "overflows"}},
      {"2^42 + 1",
       [](Image &i) { i.tensors[1].sizes = {(1ull << 42) + 1}; },
       {"'blk.0.attn_q.weight'", "offset"}},
      {"type 2^31",
       [](Image &i) { i.tensors[1].type = 1u << 31; },
       {"'output_norm.weight'", "tensor type 2147483648"}},
      {"type past the last",
       [](Image &i) { i.tensors[1].type = 43; },
       {"'output_norm.weight'", "tensor type 43"}},
      {"removed type",
       [](Image &i) { i.tensors[1].type = 4; },
       {"'output_norm.weight'", "removed tensor type 4"}},
      {"removed type 36",
       [](Image &i) { i.tensors[1].type = 36; },
       {"'output_norm.weight'", "removed tensor type 36"}},
      {"row of no whole blocks",
       [](Image &i) { i.tensors[0].sizes = {65, 40}; },
       {"'token_embd.weight'", "rows of 65", "blocks of 32 (q8_0)"}},
      {"row of half a super-block",
       [](Image &i) {
         i.tensors[0].type = 14;
         i.tensors[0].sizes = {128, 40};
       },
       {"'token_embd.weight'", "rows of 128", "blocks of 256 (q6_k)"}},
      {"fewer bytes than super-blocks",
       [](Image &i) {
         i.tensors.back().type = 12;
         i.tensors.back().sizes = {256, uint64_t(1) << 50};
       },
       {"'blk.0.ffn_down.weight'"}},
      {"name of 65 bytes",
       [](Image &i) { i.tensors[1].name = std::string(65, 'n'); },
       {"tensor 1", "65 bytes"}},
      {"name length 2^64-1",
       [](Image &i) { i.tensors[1].nameLength = huge; },
       {"tensor 1", "18446744073709551615"}},
      {"name empty",
       [](Image &i) { i.tensors[1].name = ""; },
       {"tensor 1", "empty"}},
      {"name not UTF-8",
       [](Image &i) { i.tensors[1].name = "\xc0\x80"; },
       {"tensor 1", "UTF-8"}},
      {"name twice",
       [](Image &i) { i.tensors[1].name = i.tensors[0].name; },
       {"'token_embd.weight'", "twice"}},
      {"offset unaligned",
       [](Image &i) { i.tensors[1].offset = 2721; },
       {"'output_norm.weight'", "offset is 2721"}},
      {"offset overlapping",
       [](Image &i) { i.tensors[1].offset = 0; },
       {"'output_norm.weight'", "offset is 0", "ends at 2720"}},
      {"offset with a gap",
       [](Image &i) { i.tensors[1].offset = 2752; },
       {"'output_norm.weight'", "offset is 2752"}},
      {"offset past the end",
       [](Image &i) { i.tensors[1].offset = huge - 31; },
       {"'output_norm.weight'", "offset is 18446744073709551584"}},
      {"sum of sizes wraps",
       [](Image &i) {
         // Three of 2^62 · 1.5 bytes: the third padded sum passes 2^64.
         for (int t = 0; t < 3; ++t) {
           i.tensors[t].type = 24;
           i.tensors[t].sizes = {3ull << 61};
           i.tensors[t].offset = uint64_t(t) * (3ull << 61);
         }
       },
       {"'blk.0.attn_q.weight'", "sum of the tensors' sizes overflows"}},
      {"a bit of the data missing",
       [](Image &i) { i.missingBytes = 1; },
       {"'blk.0.ffn_down.weight'", "12288 bytes", "pass the end"}},
      {"all of the data missing",
       [](Image &i) { i.missingBytes = 2720 + 256 + 2304 + 4096 + 12288; },
       {"'token_embd.weight'", "pass the end"}},
      {"size beyond the file",
       [](Image &i) { i.tensors[4].sizes = {1ull << 40}; },
       {"'blk.0.ffn_down.weight'", "2199023255552 bytes", "pass the end"}},
  });
}

std::vector<std::string> tokensWith(size_t i, const std::string &text) {
  std::vector<std::string> tokens(40, "t");
  tokens[3] = "<0x0A>";
  tokens[i] = text;
  return tokens;
}

TEST(GGUFHostileTest, Tokenizer) { // G13, G14, G15
  expectAllRefused({
      {"no tokens",
       [](Image &i) { i.erase("tokenizer.ggml.tokens"); },
       {"'tokenizer.ggml.tokens' is missing"},
       NotFound},
      {"tokens as numbers",
       [](Image &i) { i.setIntegers("tokenizer.ggml.tokens", {1, 2}); },
       {"'tokenizer.ggml.tokens' is an array of 2 i32"}},
      {"model as number",
       [](Image &i) { i.set("tokenizer.ggml.model", 1u); },
       {"'tokenizer.ggml.model' is 1"}},
      {"fewer scores",
       [](Image &i) {
         i.setFloats("tokenizer.ggml.scores", std::vector<float>(39));
       },
       {"'tokenizer.ggml.scores' has 39", "'tokenizer.ggml.tokens' has 40"}},
      {"scores as strings",
       [](Image &i) { i.setStrings("tokenizer.ggml.scores", {"1"}); },
       {"'tokenizer.ggml.scores' is an array of 1 string"}},
      {"score NaN",
       [](Image &i) {
         i.setFloats("tokenizer.ggml.scores",
                     std::vector<float>(40, std::nanf("")));
       },
       {"'tokenizer.ggml.scores' element 0 is not a number"}},
      {"more types",
       [](Image &i) {
         i.setIntegers("tokenizer.ggml.token_type",
                       std::vector<int32_t>(41, 1));
       },
       {"'tokenizer.ggml.token_type' has 41"}},
      {"type 7",
       [](Image &i) {
         i.setIntegers("tokenizer.ggml.token_type",
                       std::vector<int32_t>(40, 7));
       },
       {"'tokenizer.ggml.token_type' element 0 is 7"}},
      {"type -1",
       [](Image &i) {
         i.setIntegers("tokenizer.ggml.token_type",
                       std::vector<int32_t>(40, -1));
       },
       {"'tokenizer.ggml.token_type' element 0 is -1"}},
      {"bos beyond the tokens",
       [](Image &i) { i.set("tokenizer.ggml.bos_token_id", 40u); },
       {"'tokenizer.ggml.bos_token_id' is 40", "from 0 to 39"}},
      {"eos -1",
       [](Image &i) { i.set("tokenizer.ggml.eos_token_id", -1); },
       {"'tokenizer.ggml.eos_token_id' is -1"}},
      {"eos 2^32-1",
       [](Image &i) { i.set("tokenizer.ggml.eos_token_id", ~0u); },
       {"'tokenizer.ggml.eos_token_id' is 4294967295"}},
      {"negative temperature",
       [](Image &i) { i.set("general.sampling.temp", -1.0f); },
       {"'general.sampling.temp' is not a number from 0"}},
      {"temperature NaN",
       [](Image &i) { i.set("general.sampling.temp", std::nanf("")); },
       {"'general.sampling.temp'"}},
      {"top_p 0",
       [](Image &i) { i.set("general.sampling.top_p", 0.0f); },
       {"'general.sampling.top_p' is not a number above 0"}},
      {"min_p 2",
       [](Image &i) { i.set("general.sampling.min_p", 2.0f); },
       {"'general.sampling.min_p'"}},
      {"top_k as text",
       [](Image &i) { i.set("general.sampling.top_k", std::string("20")); },
       {"'general.sampling.top_k'"}},
      {"repetition penalty 0",
       [](Image &i) { i.set("general.sampling.penalty_repeat", 0.0f); },
       {"'general.sampling.penalty_repeat'"}},
      {"merge without space",
       [](Image &i) { i.setStrings("tokenizer.ggml.merges", {"a b", "ab"}); },
       {"'tokenizer.ggml.merges' element 1 is 'ab'"}},
      {"merge without second piece",
       [](Image &i) { i.setStrings("tokenizer.ggml.merges", {"a "}); },
       {"'tokenizer.ggml.merges' element 0"}},
      {"merge empty",
       [](Image &i) { i.setStrings("tokenizer.ggml.merges", {""}); },
       {"'tokenizer.ggml.merges' element 0"}},
      {"token not UTF-8",
       [](Image &i) {
         i.setStrings("tokenizer.ggml.tokens", tokensWith(7, "a\xed\xa0\x80"));
       },
       {"'tokenizer.ggml.tokens' element 7 is not valid UTF-8", "\\xed"}},
      {"token of 64 KiB",
       [](Image &i) {
         i.setStrings("tokenizer.ggml.tokens",
                      tokensWith(7, std::string(65537, 'x')));
       },
       {"'tokenizer.ggml.tokens' element 7 has 65537 bytes"}},
      {"byte token <0x-1>",
       [](Image &i) {
         i.setStrings("tokenizer.ggml.tokens", tokensWith(3, "<0x-1>"));
       },
       {"'tokenizer.ggml.tokens' element 3 is '<0x-1>'", "<0xNN>"}},
      {"byte token <0xZZ>",
       [](Image &i) {
         i.setStrings("tokenizer.ggml.tokens", tokensWith(3, "<0xZZ>"));
       },
       {"element 3 is '<0xZZ>'"}},
      {"byte token <0x>",
       [](Image &i) {
         i.setStrings("tokenizer.ggml.tokens", tokensWith(3, "<0x>"));
       },
       {"element 3 is '<0x>'"}},
      {"byte token empty",
       [](Image &i) {
         i.setStrings("tokenizer.ggml.tokens", tokensWith(3, ""));
       },
       {"element 3 is ''"}},
  });
}

} // namespace
