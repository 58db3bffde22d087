// RUN: llmir-packing-tests
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The packed layout byte by byte, as PackedLayout.h describes it: every
// element's place is computed here in another way than the packer does.
//
//===----------------------------------------------------------------------===//

#include "llmir/Packing/PackWeights.h"
#include "AddressSpaceLimit.h"
#include "llmir/Support/Quantization.h"
#include "llmir/Support/SmallFloat.h"
#include "llmir/Support/StoredBlock.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace llmir;

namespace {

using Bytes = std::vector<uint8_t>;

/// Stored bytes that all differ from adjacent ones.
Bytes storedBytes(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<uint8_t>(i * 37 + i / 256 * 11 + 5);
  return bytes;
}

CheckpointTensor tensorOf(TensorFormat format, std::vector<int64_t> shape,
                          const Bytes &stored) {
  CheckpointTensor tensor;
  tensor.name = "w";
  tensor.format = format;
  tensor.shape = std::move(shape);
  tensor.bytes = stored;
  return tensor;
}

PackJob matrixJob(TensorFormat format, int64_t rows, int64_t columns) {
  PackJob job;
  job.source = "w";
  job.rows = rows;
  job.columns = columns;
  job.integers = IntegerFormat::ofBlocks(format);
  job.bytes = job.integers
                  ? IntegerMatrixLayout{*job.integers, rows, columns}.bytes()
                  : PackedMatrixLayout{format, rows, columns}.bytes();
  return job;
}

Bytes packMatrix(TensorFormat format, int64_t rows, int64_t columns,
                 const Bytes &stored, int64_t unpermuteHeads = 0) {
  PackJob job = matrixJob(format, rows, columns);
  job.unpermuteHeads = unpermuteHeads;
  Bytes packed(job.bytes, 0xee);
  Status status =
      packTensor(tensorOf(format, {rows, columns}, stored), job, packed);
  EXPECT_TRUE(status.isOk()) << status.message();
  return packed;
}

/// Stored row number `row` of a matrix.
const uint8_t *rowOf(TensorFormat format, int64_t columns, const Bytes &stored,
                     int64_t row) {
  return stored.data() + row * *tensorRowBytes(format, columns);
}

} // namespace

TEST(PackWeights, PlainFormatsKeepTheirBytesInLinesOfSixteenRows) {
  for (TensorFormat format :
       {TensorFormat::F32, TensorFormat::F16, TensorFormat::BF16})
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1},
                                 {5, 7},
                                 {16, 8},
                                 {33, 12},
                                 {70, 3}}) {
      int64_t size = tensorFormatInfo(format).bytesPerBlock;
      Bytes stored = storedBytes(rows * columns * size);
      Bytes packed = packMatrix(format, rows, columns, stored);
      int64_t linesPerTile = (columns * size + 3) / 4;
      Bytes expected((rows + 15) / 16 * linesPerTile * 64, 0);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t k = 0; k < columns; ++k) {
          int64_t line = r / 16 * linesPerTile + k * size / 4;
          std::memcpy(&expected[line * 64 + r % 16 * 4 + k * size % 4],
                      &stored[(r * columns + k) * size], size);
        }
      EXPECT_EQ(packed, expected) << rows << " x " << columns;
    }
}

TEST(PackWeights, BlockFormatsKeepValuesAndScales) {
  for (TensorFormat format : {TensorFormat::Q8_0, TensorFormat::Q4_0})
    for (auto [rows, columns] :
         {std::pair<int64_t, int64_t>{1, 32}, {18, 96}, {32, 64}}) {
      int64_t size = tensorFormatInfo(format).bytesPerBlock;
      Bytes stored = storedBytes(rows * columns / 32 * size);
      Bytes packed = packMatrix(format, rows, columns, stored);
      int64_t lines = format == TensorFormat::Q8_0 ? 8 : 4;
      int64_t blockBytes = lines * 64 + 32, blocks = columns / 32;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t b = 0; b < blocks; ++b) {
          const uint8_t *from = rowOf(format, columns, stored, r) + b * size;
          const uint8_t *to = &packed[(r / 16 * blocks + b) * blockBytes];
          EXPECT_EQ(std::memcmp(to + lines * 64 + r % 16 * 2, from, 2), 0);
          for (int64_t i = 0; i < 32; ++i) {
            int stored = format == TensorFormat::Q8_0 ? from[2 + i]
                         : i < 16                     ? from[2 + i] & 15
                                                      : from[i - 14] >> 4;
            const uint8_t *words = to + r % 16 * 4;
            int found = format == TensorFormat::Q8_0
                            ? words[i / 4 * 64 + i % 4]
                            : words[i / 8 * 64 + i % 4] >> (i % 8 / 4 * 4) & 15;
            ASSERT_EQ(found, stored) << "row " << r << ", value " << i;
          }
        }
    }
}

TEST(PackWeights, PackedBytesAreLittleMoreThanTheSource) {
  for (TensorFormat format :
       {TensorFormat::F32, TensorFormat::BF16, TensorFormat::Q8_0,
        TensorFormat::Q4_0, TensorFormat::Q4_1, TensorFormat::Q4_K,
        TensorFormat::Q5_K, TensorFormat::Q6_K}) {
    int64_t packed = matrixJob(format, 2048, 2048).bytes;
    int64_t stored = *tensorRowBytes(format, 2048) * 2048;
    EXPECT_LE(packed * 100, stored * 103) << tensorFormatInfo(format).name;
  }
}

TEST(PackWeights, RowsInPairsComeBackInHalves) {
  // Two heads of four rows: stored (0, 2, 1, 3), (4, 6, 5, 7).
  Bytes stored(8 * 4);
  const float order[] = {0, 2, 1, 3, 4, 6, 5, 7};
  std::memcpy(stored.data(), order, sizeof order);
  Bytes packed = packMatrix(TensorFormat::F32, 8, 1, stored, 2);
  PackJob job;
  job.isVector = true;
  job.rows = 8;
  job.bytes = packedVectorBytes(8);
  job.unpermuteHeads = 2;
  Bytes vector(job.bytes, 0xee);
  ASSERT_TRUE(
      packTensor(tensorOf(TensorFormat::F32, {8}, stored), job, vector).isOk());
  for (int row = 0; row < 16; ++row) {
    float inMatrix, inVector, expected = row < 8 ? static_cast<float>(row) : 0;
    std::memcpy(&inMatrix, &packed[row * 4], 4);
    std::memcpy(&inVector, &vector[row * 4], 4);
    EXPECT_EQ(inMatrix, expected);
    EXPECT_EQ(inVector, expected);
  }
}

/// Transposes stored [rows, columns] of elements of `size` bytes.
static Bytes transposed(const Bytes &stored, int64_t rows, int64_t columns,
                        int64_t size) {
  Bytes result(stored.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < columns; ++k)
      std::memcpy(&result[(k * rows + r) * size],
                  &stored[(r * columns + k) * size], size);
  return result;
}

// Rows in the middle of a tensor that several parameters share, as they are
// stored and as columns, are packed like a tensor of those rows alone.
TEST(PackWeights, PartsOfATensorAndTransposedOnes) {
  constexpr int64_t total = 57, first = 19, rows = 21, columns = 7;
  for (TensorFormat format :
       {TensorFormat::F32, TensorFormat::F16, TensorFormat::BF16}) {
    int64_t size = tensorFormatInfo(format).bytesPerBlock;
    Bytes whole = storedBytes(total * columns * size);
    Bytes part(whole.begin() + first * columns * size,
               whole.begin() + (first + rows) * columns * size);
    Bytes expected = packMatrix(format, rows, columns, part);
    PackJob job = matrixJob(format, rows, columns);
    job.firstRow = first;
    job.storedRows = total;
    Bytes packed(job.bytes, 0xee);
    ASSERT_TRUE(
        packTensor(tensorOf(format, {total, columns}, whole), job, packed)
            .isOk());
    EXPECT_EQ(packed, expected);
    job.isTransposed = true;
    Bytes turned = transposed(whole, total, columns, size);
    Bytes again(job.bytes, 0xee);
    ASSERT_TRUE(
        packTensor(tensorOf(format, {columns, total}, turned), job, again)
            .isOk());
    EXPECT_EQ(again, expected);
  }
}

// Matrices that are columns of parts of stored ones are packed like a stack of
// these matrices alone.
TEST(PackWeights, TransposedMatricesOfAStack) {
  constexpr int64_t matrices = 3, total = 29, first = 5;
  constexpr int64_t rows = 21, columns = 8;
  for (TensorFormat format : {TensorFormat::F32, TensorFormat::BF16}) {
    int64_t size = tensorFormatInfo(format).bytesPerBlock;
    Bytes whole = storedBytes(matrices * total * rows * size), alone;
    for (int64_t i = 0; i < matrices; ++i) {
      auto part = whole.begin() + (i * total + first) * rows * size;
      Bytes turned = transposed(Bytes(part, part + columns * rows * size),
                                columns, rows, size);
      alone.insert(alone.end(), turned.begin(), turned.end());
    }
    PackJob job = matrixJob(format, rows, columns);
    job.matrices = matrices;
    job.bytes *= matrices;
    Bytes expected(job.bytes, 0), packed(job.bytes, 0xee);
    ASSERT_TRUE(packTensor(tensorOf(format, {matrices, rows, columns}, alone),
                           job, expected)
                    .isOk());
    job.slicesColumns = true;
    job.firstRow = first;
    job.storedRows = total;
    ASSERT_TRUE(packTensor(tensorOf(format, {matrices * total, rows}, whole),
                           job, packed)
                    .isOk());
    EXPECT_EQ(packed, expected);
  }
}

// Rows in groups, possibly stored for adjacent pairs, are packed like a tensor
// of those rows alone.
TEST(PackWeights, GroupsOfRows) {
  constexpr int64_t total = 60, first = 4, group = 8, stride = 20, rows = 24;
  constexpr int64_t columns = 7, bytes = columns * 4;
  Bytes whole = storedBytes(total * bytes), part;
  for (int64_t start = first; start < total; start += stride)
    part.insert(part.end(), whole.begin() + start * bytes,
                whole.begin() + (start + group) * bytes);
  PackJob job = matrixJob(TensorFormat::F32, rows, columns);
  job.firstRow = first;
  job.storedRows = total;
  job.groupRows = group;
  job.groupStride = stride;
  for (int64_t heads : {0, 3}) {
    PackJob alone = matrixJob(TensorFormat::F32, rows, columns);
    alone.unpermuteHeads = job.unpermuteHeads = heads;
    Bytes expected(alone.bytes, 0), packed(job.bytes, 0xee);
    ASSERT_TRUE(packTensor(tensorOf(TensorFormat::F32, {rows, columns}, part),
                           alone, expected)
                    .isOk());
    ASSERT_TRUE(packTensor(tensorOf(TensorFormat::F32, {total, columns}, whole),
                           job, packed)
                    .isOk());
    EXPECT_EQ(packed, expected);
  }
}

// Alternating columns of each matrix of a stack are packed like their rows.
TEST(PackWeights, ColumnsOfStacks) {
  constexpr int64_t count = 3, total = 42, rows = 21, columns = 7;
  for (TensorFormat format : {TensorFormat::F32, TensorFormat::BF16}) {
    int64_t size = tensorFormatInfo(format).bytesPerBlock;
    int64_t bytes = total * columns * size;
    Bytes whole = storedBytes(count * bytes), turned;
    for (int64_t m = 0; m < count; ++m) {
      Bytes matrix(whole.begin() + m * bytes, whole.begin() + (m + 1) * bytes);
      Bytes columnsOfIt = transposed(matrix, total, columns, size);
      turned.insert(turned.end(), columnsOfIt.begin(), columnsOfIt.end());
    }
    PackJob job = matrixJob(format, rows, columns);
    job.matrices = count;
    job.bytes *= count;
    job.firstRow = 1;
    job.storedRows = total;
    job.groupRows = 1;
    job.groupStride = 2;
    Bytes expected(job.bytes, 0), packed(job.bytes, 0xee);
    ASSERT_TRUE(packTensor(tensorOf(format, {count, total, columns}, whole),
                           job, expected)
                    .isOk());
    job.isTransposed = true;
    ASSERT_TRUE(packTensor(tensorOf(format, {count, columns, total}, turned),
                           job, packed)
                    .isOk());
    EXPECT_EQ(packed, expected);
  }
}

TEST(PackWeights, PartsOfBlocksAndOfVectors) {
  constexpr int64_t total = 40, first = 3, rows = 20, columns = 64;
  int64_t rowBytes = *tensorRowBytes(TensorFormat::Q8_0, columns);
  Bytes whole = storedBytes(total * rowBytes);
  Bytes part(whole.begin() + first * rowBytes,
             whole.begin() + (first + rows) * rowBytes);
  PackJob job = matrixJob(TensorFormat::Q8_0, rows, columns);
  job.firstRow = first;
  job.storedRows = total;
  Bytes packed(job.bytes, 0xee);
  ASSERT_TRUE(packTensor(tensorOf(TensorFormat::Q8_0, {total, columns}, whole),
                         job, packed)
                  .isOk());
  EXPECT_EQ(packed, packMatrix(TensorFormat::Q8_0, rows, columns, part));

  std::vector<float> numbers(total);
  for (int64_t i = 0; i < total; ++i)
    numbers[i] = static_cast<float>(i);
  Bytes stored(total * 4);
  std::memcpy(stored.data(), numbers.data(), stored.size());
  PackJob vector;
  vector.isVector = true;
  vector.rows = rows;
  vector.firstRow = first;
  vector.storedRows = total;
  vector.bytes = packedVectorBytes(rows);
  Bytes out(vector.bytes, 0xee);
  ASSERT_TRUE(
      packTensor(tensorOf(TensorFormat::F32, {total}, stored), vector, out)
          .isOk());
  for (int64_t i = 0; i < 32; ++i) {
    float found;
    std::memcpy(&found, &out[i * 4], 4);
    EXPECT_EQ(found, i < rows ? static_cast<float>(first + i) : 0.0f);
  }
}

TEST(PackWeights, ColumnsOfBlocksAreRefused) {
  Bytes stored = storedBytes(*tensorRowBytes(TensorFormat::Q8_0, 64) * 64);
  PackJob job = matrixJob(TensorFormat::Q8_0, 64, 64);
  job.isTransposed = true;
  Bytes packed(job.bytes);
  EXPECT_EQ(
      packTensor(tensorOf(TensorFormat::Q8_0, {64, 64}, stored), job, packed)
          .code(),
      StatusCode::Unsupported);
}

TEST(PackWeights, APartNeedsTheWholeTensor) {
  Bytes stored = storedBytes(4 * 8 * 4);
  PackJob job = matrixJob(TensorFormat::F32, 2, 8);
  job.firstRow = 2;
  for (int64_t total : {int64_t(3), int64_t(5), INT64_MAX}) {
    job.storedRows = total;
    Bytes packed(job.bytes);
    EXPECT_EQ(
        packTensor(tensorOf(TensorFormat::F32, {4, 8}, stored), job, packed)
            .code(),
        StatusCode::InvalidFile)
        << total;
  }
}

TEST(PackWeights, VectorsBecomeF32WithZeroBehind) {
  Bytes stored(5 * 2);
  for (int i = 0; i < 5; ++i) {
    uint16_t bits = floatToBf16(0.5f * static_cast<float>(i) - 1.0f);
    std::memcpy(&stored[2 * i], &bits, 2);
  }
  PackJob job;
  job.isVector = true;
  job.rows = 5;
  job.bytes = packedVectorBytes(5);
  EXPECT_EQ(job.bytes, 64);
  Bytes packed(64, 0xee);
  ASSERT_TRUE(packTensor(tensorOf(TensorFormat::BF16, {5}, stored), job, packed)
                  .isOk());
  for (int i = 0; i < 16; ++i) {
    float value;
    std::memcpy(&value, &packed[4 * i], 4);
    EXPECT_EQ(value, i < 5 ? 0.5f * static_cast<float>(i) - 1.0f : 0.0f);
  }
}

TEST(PackWeights, RefusesBytesThatAreNotTheShape) {
  Bytes stored(4 * 4 * 4 - 1), packed(4096);
  PackJob job = matrixJob(TensorFormat::F32, 4, 4);
  packed.resize(job.bytes);
  Status status =
      packTensor(tensorOf(TensorFormat::F32, {4, 4}, stored), job, packed);
  EXPECT_EQ(status.code(), StatusCode::InvalidFile);
  EXPECT_NE(status.cause().find("63 bytes"), std::string::npos)
      << status.cause();
}

TEST(PackWeights, SaysWhereThereIsNoMemory) {
  if (!test::canLimitAddressSpace)
    GTEST_SKIP() << "a sanitizer has the addresses";
  // Its elements as f32 are needed again.
  constexpr int64_t rows = int64_t(16) << 20;
  Bytes stored(rows * 4), packed(packedVectorBytes(rows));
  PackJob job;
  job.source = "w";
  job.isVector = true;
  job.rows = rows;
  job.bytes = packedVectorBytes(rows);
  CheckpointTensor tensor = tensorOf(TensorFormat::F32, {rows}, stored);
  {
    test::AddressSpaceLimit limit(int64_t(16) << 20);
    ASSERT_TRUE(limit.isSet);
    Status status = packTensor(tensor, job, packed);
    EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  }
  EXPECT_TRUE(packTensor(tensor, job, packed).isOk());
}

TEST(PackWeights, ProgressHasARateWhereTimeHasPassed) {
  PackProgress progress;
  progress.bytes = 5000000;
  EXPECT_EQ(progress.text(), "packing weights");
  progress.seconds = 1e-300;
  EXPECT_EQ(progress.text(), "packing weights");
  progress.seconds = 0.01;
  EXPECT_EQ(progress.text(), "packing weights, 500 MB/s");
  progress.bytes = 0;
  EXPECT_EQ(progress.text(), "packing weights, 0 MB/s");
}

TEST(PackWeights, RefusesAFormatItCannotUse) {
  Bytes stored(16), packed(64);
  CheckpointTensor tensor = tensorOf(TensorFormat::F32, {4, 1}, stored);
  tensor.format.reset();
  tensor.storageName = "iq2_s";
  Status status =
      packTensor(tensor, matrixJob(TensorFormat::F32, 4, 1), packed);
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Blocks of arbitrary bytes with finite scales.
static Bytes storedBlocks(TensorFormat format, int64_t blocks) {
  int64_t size = tensorFormatInfo(format).bytesPerBlock;
  Bytes stored = storedBytes(blocks * size);
  for (int64_t b = 0; b < blocks; ++b)
    setBlockScales(format, &stored[b * size],
                   0.25f * static_cast<float>(b % 7 + 1),
                   -0.5f * static_cast<float>(b % 5));
  return stored;
}

static std::vector<TensorFormat> blockFormats() {
  std::vector<TensorFormat> formats;
#define LLMIR_TENSOR_FORMAT(Enum, ...) formats.push_back(TensorFormat::Enum);
#include "llmir/Support/TensorFormats.def"
  formats.erase(std::remove_if(
                    formats.begin(), formats.end(),
                    [](TensorFormat format) { return !isBlockFormat(format); }),
                formats.end());
  return formats;
}

TEST(PackWeights, DoublesAreRoundedToF32) {
  const int64_t rows = 5, columns = 3;
  for (bool isTransposed : {false, true}) {
    Bytes stored, singles;
    for (int64_t i = 0; i < rows * columns; ++i) {
      double value = 1.0 / static_cast<double>(i + 1);
      auto rounded = static_cast<float>(value);
      const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
      stored.insert(stored.end(), bytes, bytes + 8);
      bytes = reinterpret_cast<const uint8_t *>(&rounded);
      singles.insert(singles.end(), bytes, bytes + 4);
    }
    PackJob job = matrixJob(TensorFormat::F32, rows, columns);
    job.isTransposed = isTransposed;
    Bytes packed(job.bytes, 0xee), expected(job.bytes, 0xdd);
    std::vector<int64_t> shape{rows, columns};
    if (isTransposed)
      std::swap(shape[0], shape[1]);
    ASSERT_TRUE(
        packTensor(tensorOf(TensorFormat::F64, shape, stored), job, packed)
            .isOk());
    ASSERT_TRUE(
        packTensor(tensorOf(TensorFormat::F32, shape, singles), job, expected)
            .isOk());
    EXPECT_EQ(packed, expected);
  }
}

TEST(PackWeights, BlocksBecomeIntegersThatMeanTheSame) {
  for (TensorFormat format : blockFormats())
    for (int64_t heads : {0, 2}) {
      const int64_t rows = 40, columns = 768;
      IntegerMatrixLayout layout{*IntegerFormat::ofBlocks(format), rows,
                                 columns};
      Bytes stored = storedBlocks(
          format, rows * columns / tensorFormatInfo(format).valuesPerBlock);
      Bytes packed = packMatrix(format, rows, columns, stored, heads);
      ASSERT_EQ(packed.size(), static_cast<size_t>(layout.bytes()));
      std::vector<float> values(columns), expected(columns);
      for (int64_t row = 0; row < rows; ++row) {
        // With heads, true row j of a head is stored at 2j, j + 10 at 2j + 1.
        int64_t r = row % 20, place = row;
        if (heads)
          place = row - r + (r < 10 ? 2 * r : 2 * (r - 10) + 1);
        unpackIntegerRow(layout, row, packed.data(), values.data());
        decodeTensorRow(format, rowOf(format, columns, stored, place), columns,
                        expected.data());
        ASSERT_EQ(values, expected)
            << tensorFormatInfo(format).name << " row " << row;
      }
    }
}

TEST(PackWeights, BlocksAreQuantizedWhereOtherIntegersAreWanted) {
  const int64_t rows = 16, columns = 256;
  Bytes stored = storedBlocks(TensorFormat::Q4_K, rows);
  PackJob job = matrixJob(TensorFormat::Q4_K, rows, columns);
  job.integers = IntegerFormat::fromName("int8:g32");
  IntegerMatrixLayout layout{*job.integers, rows, columns};
  job.bytes = layout.bytes();
  Bytes packed(job.bytes, 0xee), expected(job.bytes);
  ASSERT_TRUE(packTensor(tensorOf(TensorFormat::Q4_K, {rows, columns}, stored),
                         job, packed)
                  .isOk());
  std::vector<float> values(columns);
  for (int64_t row = 0; row < rows; ++row) {
    decodeTensorRow(TensorFormat::Q4_K,
                    rowOf(TensorFormat::Q4_K, columns, stored, row), columns,
                    values.data());
    quantizeAndPackRow(layout, row, values.data(), expected.data());
  }
  EXPECT_EQ(packed, expected);
}

TEST(PackWeights, RefusesRoomForAnotherFormat) {
  Bytes stored(4 * 4 * 4), packed(4096);
  PackJob job = matrixJob(TensorFormat::F32, 4, 4);
  job.bytes += 64;
  packed.resize(job.bytes);
  EXPECT_EQ(packTensor(tensorOf(TensorFormat::F32, {4, 4}, stored), job, packed)
                .code(),
            StatusCode::Internal);
}

TEST(PackWeights, QuantizesEachTrueRowOnItsOwn) {
  const int64_t rows = 40, columns = 70, heads = 2;
  std::vector<float> values;
  for (int64_t i = 0; i < rows * columns; ++i)
    values.push_back(bf16ToFloat(
        floatToBf16(static_cast<float>((i * 7919) % 1009) / 500.0f - 1.0f)));
  Bytes stored;
  for (float value : values) {
    uint16_t bits = floatToBf16(value);
    stored.push_back(static_cast<uint8_t>(bits));
    stored.push_back(static_cast<uint8_t>(bits >> 8));
  }
  for (const char *name : {"int8", "int4:g32:asym"}) {
    PackJob job = matrixJob(TensorFormat::BF16, rows, columns);
    job.integers = IntegerFormat::fromName(name);
    job.unpermuteHeads = heads;
    IntegerMatrixLayout layout{*job.integers, rows, columns};
    job.bytes = layout.bytes();
    Bytes packed(job.bytes, 0xee), expected(job.bytes);
    Status status = packTensor(
        tensorOf(TensorFormat::BF16, {rows, columns}, stored), job, packed);
    ASSERT_TRUE(status.isOk()) << status.message();
    // True row j of a head is stored at 2j, row j + 10 at 2j + 1.
    for (int64_t row = 0; row < rows; ++row) {
      int64_t head = row / 20, r = row % 20;
      int64_t place = head * 20 + (r < 10 ? 2 * r : 2 * (r - 10) + 1);
      quantizeAndPackRow(layout, row, &values[place * columns],
                         expected.data());
    }
    EXPECT_EQ(packed, expected) << name;
  }
}
