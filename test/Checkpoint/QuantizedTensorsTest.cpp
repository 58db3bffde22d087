// RUN: llmir-checkpoint-tests --gtest_filter='QuantizedTensors*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices are quantized here by the definition of each method, bit by bit, and
// must be read as the values that the method gives them.
//
//===----------------------------------------------------------------------===//

#include "QuantizedTensors.h"
#include "QuantizedRows.h"

#include "llmir/Support/SmallFloat.h"
#include "llmir/Support/Text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <random>

using namespace llmir;

namespace {

constexpr int64_t kRows = 32, kColumns = 256;
const std::string kBase = "model.layers.0.mlp.up_proj";

/// A list of 32-bit words, of which single bits are set.
struct Words {
  explicit Words(int64_t count) : words(static_cast<size_t>(count)) {}
  /// Adds `bits` bits of `value` to the sequence of words that starts at
  /// `first` and has `stride` words between neighbors, from bit `at` on.
  void put(int64_t first, int64_t stride, int64_t at, int64_t bits,
           uint32_t value) {
    for (int64_t b = 0; b < bits; ++b)
      if (value >> b & 1)
        words[static_cast<size_t>(first + (at + b) / 32 * stride)] |=
            uint32_t(1) << ((at + b) % 32);
  }
  std::vector<uint32_t> words;
};

class QuantizedTensors : public testing::Test {
protected:
  template <typename T>
  void add(const std::string &suffix, const std::string &type,
           std::vector<int64_t> shape, const std::vector<T> &values) {
    std::vector<uint8_t> &bytes =
        storage.emplace_back(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    CheckpointTensor tensor;
    tensor.name = kBase + suffix;
    tensor.storageName = type;
    tensor.format = tensorFormatFromSafetensors(type);
    tensor.shape = std::move(shape);
    tensor.bytes = {bytes.data(), bytes.size()};
    tensors.push_back(std::move(tensor));
  }
  void addWords(const std::string &suffix, std::vector<int64_t> shape,
                const Words &words) {
    add(suffix, "I32", std::move(shape), words.words);
  }

  /// Scales, rounded to f16, for each row and group; [groups, rows] if
  /// `isTransposed`.
  std::vector<float> makeScales(int64_t groups) {
    std::vector<float> scales;
    for (int64_t i = 0; i < kRows * groups; ++i)
      scales.push_back(f16ToFloat(
          floatToF16(0.001f + 0.0001f * static_cast<float>(random() % 100))));
    return scales;
  }
  std::vector<uint16_t> halves(const std::vector<float> &values, int64_t groups,
                               bool isTransposed) {
    std::vector<uint16_t> bits(values.size());
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t g = 0; g < groups; ++g)
        bits[static_cast<size_t>(isTransposed ? g * kRows + r
                                              : r * groups + g)] =
            floatToF16(values[static_cast<size_t>(r * groups + g)]);
    return bits;
  }

  Expected<std::vector<CheckpointTensor>> read(const Json &options) {
    config = {{"quantization_config", options}};
    return assembleQuantized(JsonReader(config, "config.json"), tensors);
  }
  /// Reads the one matrix and compares all of its elements.
  void expectMatrix(const Json &options, TensorFormat format,
                    const std::function<float(int64_t, int64_t)> &expected) {
    auto list = read(options);
    ASSERT_TRUE(list) << list.status().message();
    ASSERT_EQ(list->size(), 1u);
    const CheckpointTensor &matrix = list->front();
    EXPECT_EQ(matrix.name, kBase + ".weight");
    EXPECT_EQ(matrix.format, format);
    EXPECT_EQ(matrix.shape, (std::vector<int64_t>{kRows, kColumns}));
    ASSERT_TRUE(matrix.rows);
    uint64_t bytes = 0;
    for (const auto &part : storage)
      bytes += part.size();
    EXPECT_LE(matrix.storedBytes(), bytes);
    const int64_t rowBytes = *tensorRowBytes(format, kColumns);
    std::vector<uint8_t> scratch(static_cast<size_t>(rowBytes));
    std::vector<float> values(kColumns);
    for (int64_t r = 0; r < kRows; ++r) {
      decodeTensorRow(format, matrix.row(r, rowBytes, scratch.data()), kColumns,
                      values.data());
      for (int64_t k = 0; k < kColumns; ++k)
        ASSERT_EQ(values[static_cast<size_t>(k)], expected(r, k))
            << "row " << r << ", column " << k;
    }
  }
  void expectFailure(const Json &options, StatusCode code,
                     const std::string &words) {
    auto list = read(options);
    ASSERT_FALSE(list);
    EXPECT_EQ(list.status().code(), code);
    EXPECT_NE(list.status().message().find(words), std::string::npos)
        << list.status().message();
  }

  /// Integers below `limit` for each element or group.
  std::vector<uint32_t> integers(int64_t count, uint32_t limit) {
    std::vector<uint32_t> list(static_cast<size_t>(count));
    for (uint32_t &q : list)
      q = random() % limit;
    return list;
  }

  void addGPTQ(int64_t bits, int64_t group, bool isSymmetric,
               int64_t storedMinus = 1);
  void addAWQ(int64_t group);

  std::deque<std::vector<uint8_t>> storage;
  std::vector<CheckpointTensor> tensors;
  std::vector<uint32_t> q, zeros;
  std::vector<float> scales;
  std::mt19937 random{5};
  Json config;
};

float roundTo(TensorFormat format, float value) {
  return format == TensorFormat::F16 ? f16ToFloat(floatToF16(value))
                                     : bf16ToFloat(floatToBf16(value));
}

} // namespace

void QuantizedTensors::addGPTQ(int64_t bits, int64_t group, bool isSymmetric,
                               int64_t storedMinus) {
  const int64_t groups = kColumns / group;
  const uint32_t limit = uint32_t(1) << bits;
  q = integers(kRows * kColumns, limit);
  zeros = integers(kRows * groups, limit - 1);
  for (uint32_t &zero : zeros)
    zero = isSymmetric ? limit / 2 : zero + 1;
  scales = makeScales(groups);
  Words weight(kColumns * bits / 32 * kRows),
      points(groups * kRows * bits / 32);
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t k = 0; k < kColumns; ++k)
      weight.put(r, kRows, k * bits, bits,
                 q[static_cast<size_t>(r * kColumns + k)]);
    for (int64_t g = 0; g < groups; ++g)
      points.put(g * kRows * bits / 32, 1, r * bits, bits,
                 zeros[static_cast<size_t>(r * groups + g)] -
                     static_cast<uint32_t>(storedMinus));
  }
  addWords(".qweight", {kColumns * bits / 32, kRows}, weight);
  addWords(".qzeros", {groups, kRows * bits / 32}, points);
  add(".scales", "F16", {groups, kRows}, halves(scales, groups, true));
}

TEST_F(QuantizedTensors, GPTQ) {
  for (int64_t bits : {2, 3, 4})
    for (int64_t group : {32, 64, 128, 256})
      for (bool isSymmetric : {false, true}) {
        SCOPED_TRACE(testing::Message() << bits << " bits, group " << group);
        storage.clear();
        tensors.clear();
        addGPTQ(bits, group, isSymmetric);
        const int64_t groups = kColumns / group;
        expectMatrix(
            {{"quant_method", "gptq"}, {"bits", bits}},
            group % 128 == 0 ? TensorFormat::Int4G128 : TensorFormat::Int4G32,
            [&](int64_t r, int64_t k) {
              const size_t g = static_cast<size_t>(r * groups + k / group);
              return scales[g] *
                     (static_cast<float>(
                          q[static_cast<size_t>(r * kColumns + k)]) -
                      static_cast<float>(zeros[g]));
            });
      }
}

/// A zero point of 0, minus 1, is the largest integer.
TEST_F(QuantizedTensors, GPTQWrapsZeroPoints) {
  addGPTQ(4, 128, /*isSymmetric=*/false);
  Words points(2 * kRows * 4 / 32);
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t g = 0; g < 2; ++g) {
      uint32_t &zero = zeros[static_cast<size_t>(r * 2 + g)];
      zero = (r + g) % 2 ? 0 : zero;
      points.put(g * kRows * 4 / 32, 1, r * 4, 4, (zero - 1) & 15);
    }
  tensors.erase(std::find_if(tensors.begin(), tensors.end(),
                             [](const CheckpointTensor &tensor) {
                               return endsWith(tensor.name, ".qzeros");
                             }));
  addWords(".qzeros", {2, kRows * 4 / 32}, points);
  expectMatrix(
      {{"quant_method", "gptq"}, {"bits", 4}}, TensorFormat::Int4G128,
      [&](int64_t r, int64_t k) {
        const size_t g = static_cast<size_t>(r * 2 + k / 128);
        return scales[g] *
               (static_cast<float>(q[static_cast<size_t>(r * kColumns + k)]) -
                static_cast<float>(zeros[g]));
      });
}

TEST_F(QuantizedTensors, GPTQOfVersion2StoresZeroPointsAsTheyAre) {
  addGPTQ(4, 128, /*isSymmetric=*/false, /*storedMinus=*/0);
  expectMatrix(
      {{"quant_method", "gptq"}, {"bits", 4}, {"checkpoint_format", "gptq_v2"}},
      TensorFormat::Int4G128, [&](int64_t r, int64_t k) {
        const size_t g = static_cast<size_t>(r * 2 + k / 128);
        return scales[g] *
               (static_cast<float>(q[static_cast<size_t>(r * kColumns + k)]) -
                static_cast<float>(zeros[g]));
      });
}

TEST_F(QuantizedTensors, GPTQOfEightBits) {
  for (bool isSymmetric : {false, true}) {
    storage.clear();
    tensors.clear();
    addGPTQ(8, 128, isSymmetric);
    // Signed bytes with one zero point for all; other ones are rounded.
    const TensorFormat format =
        isSymmetric ? TensorFormat::Int8G128 : TensorFormat::F16;
    expectMatrix(
        {{"quant_method", "gptq"}, {"bits", 8}}, format,
        [&](int64_t r, int64_t k) {
          const size_t g = static_cast<size_t>(r * 2 + k / 128);
          const float value =
              scales[g] *
              (static_cast<float>(q[static_cast<size_t>(r * kColumns + k)]) -
               static_cast<float>(zeros[g]));
          return isSymmetric ? value : roundTo(format, value);
        });
  }
}

TEST_F(QuantizedTensors, GPTQInTheOrderOfActivations) {
  addGPTQ(4, 128, /*isSymmetric=*/false);
  std::vector<int32_t> groupOf(kColumns);
  for (int32_t &group : groupOf)
    group = static_cast<int32_t>(random() % 2);
  add(".g_idx", "I32", {kColumns}, groupOf);
  expectMatrix(
      {{"quant_method", "gptq"}, {"bits", 4}}, TensorFormat::F16,
      [&](int64_t r, int64_t k) {
        const size_t g =
            static_cast<size_t>(r * 2 + groupOf[static_cast<size_t>(k)]);
        return roundTo(
            TensorFormat::F16,
            scales[g] *
                (static_cast<float>(q[static_cast<size_t>(r * kColumns + k)]) -
                 static_cast<float>(zeros[g])));
      });
  groupOf[3] = 2;
  std::memcpy(storage.back().data(), groupOf.data(), storage.back().size());
  expectFailure({{"quant_method", "gptq"}, {"bits", 4}},
                StatusCode::InvalidFile, "puts column 3 in group 2");
}

void QuantizedTensors::addAWQ(int64_t group) {
  static constexpr int64_t order[] = {0, 2, 4, 6, 1, 3, 5, 7};
  const int64_t groups = kColumns / group, words = kRows / 8;
  q = integers(kRows * kColumns, 16);
  zeros = integers(kRows * groups, 16);
  scales = makeScales(groups);
  Words weight(kColumns * words), points(groups * words);
  for (int64_t w = 0; w < words; ++w)
    for (int64_t nibble = 0; nibble < 8; ++nibble) {
      const int64_t r = 8 * w + order[nibble];
      for (int64_t k = 0; k < kColumns; ++k)
        weight.put(k * words + w, 1, 4 * nibble, 4,
                   q[static_cast<size_t>(r * kColumns + k)]);
      for (int64_t g = 0; g < groups; ++g)
        points.put(g * words + w, 1, 4 * nibble, 4,
                   zeros[static_cast<size_t>(r * groups + g)]);
    }
  addWords(".qweight", {kColumns, words}, weight);
  addWords(".qzeros", {groups, words}, points);
  add(".scales", "F16", {groups, kRows}, halves(scales, groups, true));
}

TEST_F(QuantizedTensors, AWQ) {
  addAWQ(64);
  expectMatrix(
      {{"quant_method", "awq"}, {"bits", 4}, {"version", "gemm"}},
      TensorFormat::Int4G32, [&](int64_t r, int64_t k) {
        const size_t g = static_cast<size_t>(r * 4 + k / 64);
        return scales[g] *
               (static_cast<float>(q[static_cast<size_t>(r * kColumns + k)]) -
                static_cast<float>(zeros[g]));
      });
}

TEST_F(QuantizedTensors, CompressedTensorsPacked) {
  for (bool hasZeroPoints : {false, true}) {
    storage.clear();
    tensors.clear();
    const int64_t groups = 2;
    q = integers(kRows * kColumns, 16);
    zeros = integers(kRows * groups, 16);
    scales = makeScales(groups);
    Words weight(kRows * kColumns / 8), points(kRows / 8 * groups);
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t k = 0; k < kColumns; ++k)
        weight.put(r * kColumns / 8, 1, 4 * k, 4,
                   q[static_cast<size_t>(r * kColumns + k)]);
      for (int64_t g = 0; g < groups; ++g)
        points.put(g, groups, 4 * r, 4,
                   zeros[static_cast<size_t>(r * groups + g)]);
    }
    addWords(".weight_packed", {kRows, kColumns / 8}, weight);
    add(".weight_shape", "I64", {2}, std::vector<int64_t>{kRows, kColumns});
    add(".weight_scale", "F16", {kRows, groups}, halves(scales, groups, false));
    if (hasZeroPoints)
      addWords(".weight_zero_point", {kRows / 8, groups}, points);
    expectMatrix(
        {{"quant_method", "compressed-tensors"}}, TensorFormat::Int4G128,
        [&](int64_t r, int64_t k) {
          const size_t g = static_cast<size_t>(r * 2 + k / 128);
          return scales[g] *
                 (static_cast<float>(q[static_cast<size_t>(r * kColumns + k)]) -
                  (hasZeroPoints ? static_cast<float>(zeros[g]) : 8));
        });
  }
}

TEST_F(QuantizedTensors, BytesWithAScaleForEachRow) {
  std::vector<int8_t> bytes(kRows * kColumns);
  for (int8_t &byte : bytes)
    byte = static_cast<int8_t>(random());
  std::vector<float> rowScales(kRows);
  for (float &scale : rowScales)
    scale = 0.01f * static_cast<float>(random() % 50 + 1);
  add(".weight", "I8", {kRows, kColumns}, bytes);
  add(".weight_scale", "F32", {kRows, 1}, rowScales);
  auto byteAt = [&](int64_t r, int64_t k) {
    return static_cast<float>(bytes[static_cast<size_t>(r * kColumns + k)]);
  };
  expectMatrix({{"quant_method", "compressed-tensors"}}, TensorFormat::Int8G128,
               [&](int64_t r, int64_t k) {
                 return rowScales[static_cast<size_t>(r)] * byteAt(r, k);
               });
  tensors[1].name = kBase + ".SCB";
  tensors[1].shape = {kRows};
  expectMatrix({{"quant_method", "bitsandbytes"}}, TensorFormat::Int8G128,
               [&](int64_t r, int64_t k) {
                 return rowScales[static_cast<size_t>(r)] * (1.0f / 127) *
                        byteAt(r, k);
               });
}

TEST_F(QuantizedTensors, FP8) {
  std::vector<uint8_t> codes(kRows * kColumns);
  for (uint8_t &code : codes)
    do
      code = static_cast<uint8_t>(random());
    while ((code & 127) == 127);
  add(".weight", "F8_E4M3", {kRows, kColumns}, codes);
  const std::array<float, 256> values = valuesOfF8(/*isE5M2=*/false);
  auto expected = [&](const std::vector<float> &list, int64_t rows,
                      int64_t columns, int64_t perRow) {
    return [&, rows, columns, perRow](int64_t r, int64_t k) {
      return roundTo(
          TensorFormat::BF16,
          values[codes[static_cast<size_t>(r * kColumns + k)]] *
              list[static_cast<size_t>(r / rows * perRow + k / columns)]);
    };
  };
  const std::vector<float> one = {0.03f};
  // Without a scale, only in a checkpoint that does not name the method.
  expectFailure({{"quant_method", "fp8"}}, StatusCode::NotFound,
                ".weight_scale' is missing");
  config = Json::object();
  auto plain = assembleQuantized(JsonReader(config, "config.json"), tensors);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->front().format, TensorFormat::BF16);

  add(".weight_scale", "F32", {}, one);
  expectMatrix({{"quant_method", "fp8"}}, TensorFormat::BF16,
               expected(one, kRows, kColumns, 0));
  config = Json::object();
  auto unnamed = assembleQuantized(JsonReader(config, "config.json"), tensors);
  ASSERT_FALSE(unnamed);
  EXPECT_NE(unnamed.status().message().find("no 'quantization_config'"),
            std::string::npos);

  std::vector<float> many(kRows);
  for (float &scale : many)
    scale = 0.001f * static_cast<float>(random() % 100 + 1);
  tensors.pop_back();
  add(".weight_scale", "F32", {kRows, 1}, many);
  expectMatrix({{"quant_method", "fbgemm_fp8"}}, TensorFormat::BF16,
               expected(many, 1, kColumns, 1));

  tensors.pop_back();
  many.resize(7 * 3); // Blocks of 5 rows and 100 columns.
  add(".weight_scale_inv", "F32", {7, 3}, many);
  expectMatrix({{"quant_method", "fp8"}, {"weight_block_size", {5, 100}}},
               TensorFormat::BF16, expected(many, 5, 100, 3));
  expectFailure({{"quant_method", "fp8"}}, StatusCode::InvalidFile,
                "does not match a weight of shape [32, 256]");
}

TEST_F(QuantizedTensors, ValuesOfF8) {
  const std::array<float, 256> e4m3 = valuesOfF8(false),
                               e5m2 = valuesOfF8(true);
  EXPECT_EQ(e4m3[0x7e], 448.0f);
  EXPECT_EQ(e4m3[0x01], std::ldexp(1.0f, -9));
  EXPECT_EQ(e4m3[0x38], 1.0f);
  EXPECT_EQ(e4m3[0xb9], -1.125f);
  EXPECT_TRUE(std::isnan(e4m3[0x7f]));
  EXPECT_EQ(e5m2[0x7b], 57344.0f);
  EXPECT_EQ(e5m2[0x01], std::ldexp(1.0f, -16));
  EXPECT_TRUE(std::isinf(e5m2[0x7c]));
  EXPECT_TRUE(std::isnan(e5m2[0x7d]));
}

TEST_F(QuantizedTensors, BitsAndBytesOfFourBits) {
  constexpr int64_t blocks = kRows * kColumns / 64;
  std::vector<uint8_t> nibbles(kRows * kColumns / 2), absmax(blocks);
  for (uint8_t &byte : nibbles)
    byte = static_cast<uint8_t>(random());
  for (uint8_t &byte : absmax)
    byte = static_cast<uint8_t>(random());
  auto floats = [&](size_t count) {
    std::vector<float> list(count);
    for (float &value : list)
      value = static_cast<float>(random() % 2000) / 1000 - 1;
    return list;
  };
  const std::vector<float> table = floats(16), map = floats(256),
                           nested = floats(1);
  const std::string state =
      R"({"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", )"
      R"("shape": [32, 256], "nested_blocksize": 256, )"
      R"("nested_dtype": "float32", "nested_offset": 0.125})";
  add(".weight", "U8", {kRows * kColumns / 2, 1}, nibbles);
  add(".weight.absmax", "U8", {blocks}, absmax);
  add(".weight.quant_map", "F32", {16}, table);
  add(".weight.nested_absmax", "F32", {1}, nested);
  add(".weight.nested_quant_map", "F32", {256}, map);
  add(".weight.quant_state.bitsandbytes__nf4", "U8",
      {static_cast<int64_t>(state.size())},
      std::vector<char>(state.begin(), state.end()));
  expectMatrix({{"quant_method", "bitsandbytes"}}, TensorFormat::BF16,
               [&](int64_t r, int64_t k) {
                 const auto i = static_cast<size_t>(r * kColumns + k);
                 const float scale = map[absmax[i / 64]] * nested[0] + 0.125f;
                 const int code =
                     i % 2 == 0 ? nibbles[i / 2] >> 4 : nibbles[i / 2] & 15;
                 return roundTo(TensorFormat::BF16,
                                table[static_cast<size_t>(code)] * scale);
               });
}

TEST_F(QuantizedTensors, MXFP4) {
  static constexpr float e2m1[] = {0, .5, 1, 1.5, 2, 3, 4, 6};
  std::vector<uint8_t> blocks(2 * kRows * kColumns / 2),
      exponents(2 * kRows * kColumns / 32);
  for (uint8_t &byte : blocks)
    byte = static_cast<uint8_t>(random());
  for (uint8_t &byte : exponents)
    byte = static_cast<uint8_t>(120 + random() % 10);
  add("_blocks", "U8", {2, kRows, kColumns / 32, 16}, blocks);
  add("_scales", "U8", {2, kRows, kColumns / 32}, exponents);
  auto list = read({{"quant_method", "mxfp4"}});
  ASSERT_TRUE(list) << list.status().message();
  ASSERT_EQ(list->size(), 1u);
  const CheckpointTensor &matrices = list->front();
  EXPECT_EQ(matrices.name, kBase);
  EXPECT_EQ(matrices.shape, (std::vector<int64_t>{2, kRows, kColumns}));
  const int64_t rowBytes = *tensorRowBytes(TensorFormat::MXFP4, kColumns);
  std::vector<uint8_t> scratch(static_cast<size_t>(rowBytes));
  std::vector<float> values(kColumns);
  for (int64_t r = 0; r < 2 * kRows; ++r) {
    decodeTensorRow(TensorFormat::MXFP4,
                    matrices.row(r, rowBytes, scratch.data()), kColumns,
                    values.data());
    for (int64_t k = 0; k < kColumns; ++k) {
      const auto i = static_cast<size_t>(r * kColumns + k);
      const int code = blocks[i / 2] >> (i % 2 * 4) & 15;
      const float value = std::ldexp(e2m1[code & 7], exponents[i / 32] - 127);
      ASSERT_EQ(values[static_cast<size_t>(k)], code & 8 ? -value : value);
    }
  }
}

TEST_F(QuantizedTensors, OtherTensorsStay) {
  addAWQ(128);
  add(".bias", "F16", {kRows}, std::vector<uint16_t>(kRows));
  add(".input_scale", "F32", {}, std::vector<float>{1});
  auto list = read({{"quant_method", "awq"}});
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 2u); // The scale of activations is not needed.
  EXPECT_EQ((*list)[1].name, kBase + ".bias");
  config = Json::object();
  auto same = assembleQuantized(JsonReader(config, "config.json"), tensors);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->size(), tensors.size());
}

TEST_F(QuantizedTensors, WhatDoesNotFitIsRefused) {
  expectFailure({{"quant_method", "hqq"}}, StatusCode::Unsupported,
                "'quantization_config.quant_method' is \"hqq\"");
  expectFailure({{"bits", 4}}, StatusCode::NotFound, "quant_method");
  addGPTQ(4, 128, true);
  const Json gptq = {{"quant_method", "gptq"}, {"bits", 4}};
  expectFailure({{"quant_method", "gptq"}}, StatusCode::NotFound, "bits");
  expectFailure({{"quant_method", "gptq"}, {"bits", 3}},
                StatusCode::InvalidFile, ".qweight' of shape [32, 32]");
  expectFailure({{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 64}},
                StatusCode::Unsupported, "groups of 128 elements");
  expectFailure(
      {{"quant_method", "gptq"}, {"bits", 4}, {"checkpoint_format", "marlin"}},
      StatusCode::Unsupported, "is \"marlin\"");
  expectFailure({{"quant_method", "gptq"}, {"bits", 6}},
                StatusCode::Unsupported, "LLMIR reads 2, 3, 4 and 8");
  auto change = [&](size_t tensor, auto edit, StatusCode code,
                    const std::string &words) {
    CheckpointTensor before = tensors[tensor];
    edit(tensors[tensor]);
    expectFailure(gptq, code, words);
    tensors[tensor] = before;
  };
  change(
      1, [](CheckpointTensor &t) { t.shape = {2, 3}; }, StatusCode::InvalidFile,
      ".qzeros' has shape [2, 3]; expected [2, 4]");
  change(
      1, [](CheckpointTensor &t) { t.name = "qzeros"; }, StatusCode::NotFound,
      ".qzeros' is missing");
  change(
      0,
      [](CheckpointTensor &t) {
        t.shape = {0, kRows};
        t.bytes = {};
      },
      StatusCode::InvalidFile, ".qweight' is empty");
  change(
      2, [](CheckpointTensor &t) { t.storageName = "I16"; },
      StatusCode::InvalidFile, "is stored as I16; expected F32 or F16 or BF16");
  change(
      2, [](CheckpointTensor &t) { t.shape = {3, kRows}; },
      StatusCode::InvalidFile, ".qzeros' has shape");
}
