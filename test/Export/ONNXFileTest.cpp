// RUN: llmir-onnx-tests
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ONNXBuilder.h"

#include <gtest/gtest.h>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

namespace {

GraphParameter matrix(const char *name, int64_t rows, int64_t columns) {
  GraphParameter result;
  result.name = name;
  result.shape = {rows, columns};
  return result;
}

ParameterReader zeros(int64_t count) {
  return [count](const GraphParameter &,
                 const std::function<Status(Span<const float>)> &take) {
    const std::vector<float> row(static_cast<size_t>(count));
    return take(Span<const float>(row.data(), row.size()));
  };
}

TEST(ONNXFileTest, WeightsBeyondTwoGigabytesDoNotFit) {
  const GraphParameter large = matrix("large", 1 << 15, 1 << 14);
  Model model;
  model.weights = {{&large, BFloat16}}; // 1 GiB.
  EXPECT_TRUE(fitsOneFile(model));
  model.weights = {{&large, Float}}; // 2 GiB.
  EXPECT_FALSE(fitsOneFile(model));
  int written = 0;
  Status status = writeModel(model, zeros(1), [&](std::string_view) {
    ++written;
    return Status::ok();
  });
  EXPECT_NE(status.message().find("larger than the 2 GiB of an ONNX file"),
            std::string::npos);
  EXPECT_EQ(written, 0);
}

TEST(ONNXFileTest, TheHeaderCountsWhatFollows) {
  const GraphParameter small = matrix("w", 2, 3);
  Model model;
  model.graph = "\x12\x01g"; // GraphProto.name = "g".
  model.weights = {{&small, Float}};
  std::string file;
  Status status = writeModel(model, zeros(6), [&](std::string_view bytes) {
    file += bytes;
    return Status::ok();
  });
  ASSERT_TRUE(status) << status.message();
  // The graph is the last field: tag 7 of bytes, its length, and that is all.
  const size_t graph = file.find(model.graph);
  ASSERT_NE(graph, std::string::npos);
  ASSERT_GE(graph, 2u);
  EXPECT_EQ(file[graph - 2], 0x3a);
  EXPECT_EQ(static_cast<size_t>(file[graph - 1]), file.size() - graph);
}

TEST(ONNXFileTest, AReaderThatGivesTooLittleIsAnError) {
  const GraphParameter small = matrix("w", 2, 3);
  Model model;
  model.weights = {{&small, Float16}};
  Status status = writeModel(model, zeros(5),
                             [](std::string_view) { return Status::ok(); });
  EXPECT_EQ(status.message(), "parameter 'w' has another number of values");
}

TEST(ONNXFileTest, AFullDiskIsTheSinksFailure) {
  const GraphParameter small = matrix("w", 2, 3);
  Model model;
  model.weights = {{&small, Float}};
  Status status = writeModel(model, zeros(6), [](std::string_view) {
    return Status(StatusCode::ResourceExhausted, "no space");
  });
  EXPECT_EQ(status.message(), "no space");
}

} // namespace
