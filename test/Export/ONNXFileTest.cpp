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

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>

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

/// A directory for one test's files.
class ONNXFolderTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "/llmir-onnx-" +
             testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static std::string bytesOf(const std::string &path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  std::string folder;
};

TEST_F(ONNXFolderTest,
       AGraphBeyondTwoGigabytesIsRefusedBeforeAnythingIsWritten) {
  GraphParameter named = matrix("", 1, 1);
  named.name.assign(size_t(1) << 27, 'n');
  Model model;
  model.weights.assign(16, {&named, Float}); // Sixteen names of 2^27 letters.
  Expected<AtomicFile> data = AtomicFile::create(folder + "/m.onnx.data");
  ASSERT_TRUE(data) << data.status().message();
  const ExternalData external = {"m.onnx.data", &*data};
  int written = 0;
  Status status = writeModel(
      model, zeros(1),
      [&](std::string_view) {
        ++written;
        return Status::ok();
      },
      &external);
  EXPECT_NE(status.message().find("larger than the 2 GiB of an ONNX file"),
            std::string::npos);
  EXPECT_EQ(written, 0);
  EXPECT_EQ(data->position(), 0u);
}

/// The parameter plus x, negated `count` times.
struct SmallModel {
  explicit SmallModel(int count) {
    parameter.name = "w";
    parameter.shape = {2};
    value("x");
    value("w0");
    value("y0");
    graph.root = std::make_unique<GraphModule>();
    graph.root->operands = {&graph.values[0]};
    add("param", {}, 1).parameters["weight"] = &parameter;
    add("add", {0, 1}, 2);
    for (int i = 0; i < count; ++i) {
      value("y" + std::to_string(i + 1));
      add("neg", {graph.values.size() - 2}, graph.values.size() - 1);
    }
    graph.root->results = {&graph.values.back()};
  }

  void value(const std::string &name) {
    GraphValue value;
    value.name = name;
    value.dtype = mllm::kFp32;
    value.shape = {shapes::DimExpr(2)};
    graph.values.push_back(value);
  }

  GraphOp &add(const char *kind, const std::vector<size_t> &operands,
               size_t result) {
    auto op = std::make_unique<GraphOp>();
    op->kind = kind;
    for (size_t operand : operands)
      op->operands.push_back(&graph.values[operand]);
    op->results = {&graph.values[result]};
    graph.root->items.push_back({std::move(op), nullptr});
    return *graph.root->items.back().op;
  }

  GraphParameter parameter;
  Graph graph;
};

TEST(ONNXNames, AParameterMayNotHaveTheNameOfAValue) {
  SmallModel small(1);
  ASSERT_TRUE(exportONNX(small.graph));
  for (const char *name : {"x", "w0", "y1"}) {
    small.parameter.name = name;
    EXPECT_EQ(exportONNX(small.graph).status().cause(),
              "two tensors of the model have the name '" + std::string(name) +
                  "'");
  }
}

TEST_F(ONNXFolderTest, AFullDiskLeavesTheWeightsOfTheOldModel) {
  const std::string path = folder + "/m.onnx";
  const ONNXOptions options = {zeros(2), ONNXWeights::F32};
  ASSERT_TRUE(writeONNX(SmallModel(0).graph, path, options, true));
  std::ofstream(path + ".data", std::ios::binary) << "weights of the old model";
  const std::string model = bytesOf(path);

  // As on a disk with room for the weights and not for the graph.
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {4096, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status = writeONNX(SmallModel(1000).graph, path, options, true);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << status.message();
  EXPECT_EQ(bytesOf(path + ".data"), "weights of the old model");
  EXPECT_EQ(bytesOf(path), model);
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
  EXPECT_EQ(status.message(),
            "parameter 'w' has a different number of elements");
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
