// RUN: llmir-checkpoint-tests --gtest_filter='MutationTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Thousands of damaged files, reproducible: readers must neither crash nor
// allocate disproportionate memory.
//
//===----------------------------------------------------------------------===//

#include "../Mutate.h"
#include "GGUFImage.h"

#include "Safetensors.h"

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/Json.h"

#include <cstdlib>
#include <random>

using namespace llmir;
using namespace llmir::test;

namespace {

/// How many files of each kind: LLMIR_MUTATIONS, or more in long runs.
int mutations() {
  if (const char *variable = std::getenv("LLMIR_MUTATIONS"))
    return std::atoi(variable);
  return std::getenv("LLMIR_LONG_TESTS") ? 100000 : 3000;
}

/// Touches every byte of a tensor that was accepted.
unsigned sumOf(const std::vector<CheckpointTensor> &tensors) {
  unsigned sum = 0;
  for (const CheckpointTensor &tensor : tensors)
    for (uint8_t byte : tensor.bytes)
      sum += byte;
  return sum;
}

/// Runs `read` on mutations of `original`; `read` returns whether it accepted.
template <typename Read>
void survive(const std::string &original, size_t reach, uint32_t seed,
             Read read) {
  std::mt19937 random(seed);
  int accepted = 0, count = mutations();
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE("mutation " + std::to_string(i));
    std::string bytes = mutate(original, reach, random);
    AllocationMeter::reset();
    accepted += read(bytes);
    ASSERT_LT(AllocationMeter::largest(), 2 * bytes.size() + (64u << 10));
  }
  testing::Test::RecordProperty("accepted", accepted);
  EXPECT_LT(accepted, count);
}

TEST(MutationTest, GGUF) {
  TempFolder folder;
  std::string original = tinyGGUF().build();
  size_t header = original.find("blk.0.ffn_down.weight") + 60;
  survive(original, header, 1, [&](const std::string &bytes) {
    auto model = Checkpoint::open(folder.write("m.gguf", bytes));
    if (!model) {
      EXPECT_FALSE(model.status().cause().empty());
      return false;
    }
    EXPECT_GE(sumOf(model->tensors()), 0u);
    for (const GGUFEntry &entry : model->gguf()->entries()) {
      (void)entry.number();
      for (size_t i = 0; i < entry.array.size; ++i)
        (void)entry.array.number(i);
      size_t count = 0;
      for (std::string_view text : entry.array.strings())
        count += text.size() < bytes.size();
      EXPECT_EQ(count, entry.array.strings().size());
    }
    return true;
  });
}

TEST(MutationTest, Safetensors) {
  TempFolder folder;
  std::string header =
      R"({"__metadata__":{"format":"pt"},)"
      R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},)"
      R"("c":{"dtype":"I64","shape":[],"data_offsets":[32,40]}})";
  std::string original =
      bytesOf(uint64_t(header.size())) + header + std::string(40, 'd');
  survive(original, original.size(), 2, [&](const std::string &bytes) {
    auto file = MappedFile::open(folder.write("m.safetensors", bytes));
    if (!file)
      return false;
    auto tensors =
        readSafetensors(std::make_shared<const MappedFile>(std::move(*file)));
    return tensors && sumOf(*tensors) + 1 > 0;
  });
}

/// Fails one allocation of `read` at a time, until all have been tried.
template <typename Read> void failEveryAllocation(Read read) {
  for (size_t n = 1;; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    AllocationMeter::failAt(n);
    auto result = read();
    AllocationMeter::failAt(0);
    if (result) {
      EXPECT_GT(n, 10u);
      return;
    }
    ASSERT_EQ(result.status().code(), StatusCode::ResourceExhausted)
        << result.status().message();
  }
}

TEST(MutationTest, EveryAllocationFailsOnce) {
  TempFolder folder;
  std::string gguf = folder.write("m.gguf", tinyGGUF().build());
  failEveryAllocation([&] { return Checkpoint::open(gguf); });
  std::string header =
      R"({"a tensor with a long name":{"dtype":"F32","shape":[2,3],)"
      R"("data_offsets":[0,24]}})";
  auto file = MappedFile::open(
      folder.write("m.safetensors", bytesOf(uint64_t(header.size())) + header +
                                        std::string(24, 'd')));
  ASSERT_TRUE(file);
  auto shared = std::make_shared<const MappedFile>(std::move(*file));
  failEveryAllocation([&] { return readSafetensors(shared); });
}

TEST(MutationTest, ConfigAndIndex) {
  TempFolder folder;
  std::string config =
      R"({"model_type":"llama","vocab_size":4,"hidden_size":8,)"
      R"("intermediate_size":8,"num_hidden_layers":1,"num_attention_heads":2,)"
      R"("max_position_embeddings":16,"rms_norm_eps":1e-5,"rope_theta":1e4,)"
      R"("rope_scaling":{"rope_type":"llama3","factor":8.0,)"
      R"("low_freq_factor":1.0,"high_freq_factor":4.0,)"
      R"("original_max_position_embeddings":8},"eos_token_id":[1,2],)"
      R"("sliding_window":null,"layer_types":["full_attention"]})";
  survive(config, config.size(), 3, [&](const std::string &bytes) {
    auto json = parseJson(bytes, "config.json");
    return json && modelConfigFromHuggingFace(*json, &*json, true);
  });

  std::string header =
      R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})";
  folder.write("one.safetensors",
               bytesOf(uint64_t(header.size())) + header + "1234");
  std::string index = R"({"metadata":{"total_size":4},)"
                      R"("weight_map":{"a":"one.safetensors"}})";
  survive(index, index.size(), 4, [&](const std::string &bytes) {
    folder.write("model.safetensors.index.json", bytes);
    std::vector<std::shared_ptr<const MappedFile>> files;
    auto tensors = readSafetensorsFolder(folder.path(), files);
    return tensors && sumOf(*tensors) > 0;
  });
}

} // namespace
