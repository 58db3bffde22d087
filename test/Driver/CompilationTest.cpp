// RUN: llmir-driver-tests --gtest_filter='Compilation*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whole compilations: the metadata of the artifact, the stages at which they
// stop, and errors reported before they start.
//
//===----------------------------------------------------------------------===//

#include "../Frontend/TinyModel.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Artifact/CodeImage.h"
#include "llmir/Driver/Compilation.h"
#include "llmir/Pipelines/Registration.h"

#include "mlir/Parser/Parser.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sstream>

using namespace llmir;
using namespace llmir::test;

namespace {

class CompilationOf : public testing::Test {
protected:
  /// Writes the model as a directory and returns options that compile it.
  CompilationOptions optionsFor(TinyModel model) {
    model.complete();
    auto opened = model.open(folder);
    EXPECT_TRUE(opened) << opened.status().message();
    CompilationOptions options;
    options.model = opened->path();
    options.output = folder / "model.llmir";
    options.target = "x86-64-v3";
    return options;
  }

  Status compile(const CompilationOptions &options) {
    report.clear();
    return Compilation(options).run(report);
  }

  /// Compiles and opens the output.
  std::shared_ptr<const Artifact> artifact(const CompilationOptions &options) {
    Status status = compile(options);
    EXPECT_TRUE(status.isOk()) << status.message();
    if (!status.isOk())
      return nullptr;
    auto opened = Artifact::open(options.output);
    EXPECT_TRUE(opened) << opened.status().message();
    return opened ? *opened : nullptr;
  }

  TempFolder folder;
  std::string report;
};

} // namespace

// SPEC: 19
TEST_F(CompilationOf, HuggingFaceModelGivesAWholeArtifact) {
  TinyModel model;
  CompilationOptions options = optionsFor(model);
  options.tokenBudget = 48;
  options.contextLength = 96;
  auto made = artifact(options);
  ASSERT_TRUE(made);
  const ArtifactInfo &info = made->info();
  EXPECT_EQ(info.architecture, "llama");
  EXPECT_EQ(info.vocabSize, 40);
  EXPECT_EQ(info.logitsRowStride, 48);
  EXPECT_EQ(info.tokenBudget, 48);
  EXPECT_EQ(info.maxLogitRows, 64);
  EXPECT_EQ(info.contextLength, 96);
  EXPECT_EQ(info.numLayers, 2);
  EXPECT_EQ(info.numKVHeads, 2);
  EXPECT_EQ(info.headDim, 16);
  EXPECT_EQ(info.kvBlockSize, 64);
  EXPECT_EQ(info.kvFormat, KVFormat::BF16);
  ASSERT_EQ(info.code.size(), 1u);
  EXPECT_EQ(info.code[0].level, "x86-64-v3");
  EXPECT_GT(info.arenaBytes, 48 * 160 * 4);
  EXPECT_TRUE(made->verifyWeights().isOk());
  EXPECT_NE(made->program().find("mllm.program.fragment @llmir_step code"),
            std::string_view::npos);
  // Packed weights are in the order of the program, without a gap.
  std::string bytes =
      "weight_bytes = " + std::to_string(made->weights().size()) + " : i64";
  EXPECT_NE(made->program().find(bytes), std::string_view::npos) << bytes;
  EXPECT_TRUE(CodeImage::load(*made, 0));
}

TEST_F(CompilationOf, GGUFModelGivesAWholeArtifact) {
  TinyModel model;
  model.complete();
  auto opened = openGGUF(folder, model.gguf(8)); // Q8_0
  ASSERT_TRUE(opened) << opened.status().message();
  CompilationOptions options;
  options.model = opened->path();
  options.output = folder / "model.llmir";
  options.target = "x86-64-v4";
  auto made = artifact(options);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->info().kvFormat, KVFormat::BF16);
  EXPECT_EQ(made->info().code.at(0).level, "x86-64-v4");
  EXPECT_NE(made->info().weightsDescription.find("q8_0"), std::string::npos)
      << made->info().weightsDescription;
  EXPECT_TRUE(made->verifyWeights().isOk());
}

TEST_F(CompilationOf, ArtifactsTellTheMixtureOfTheirFormats) {
  TinyModel model;
  CompilationOptions options = optionsFor(model);
  auto made = artifact(options);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->info().weightsDescription, "BF16");
  auto recipe = mllm::QuantizationRecipe::parse("head=none,*.mlp.*=int8");
  ASSERT_TRUE(recipe) << recipe.status().message();
  options.recipe = *recipe;
  made = artifact(options);
  ASSERT_TRUE(made);
  // The MLP is the greater part, of which fewer bytes are left.
  EXPECT_EQ(made->info().weightsDescription, "int8 + BF16");
}

TEST_F(CompilationOf, RecipesNameTheParameterTheyCannotBeAppliedTo) {
  TinyModel model;
  CompilationOptions options = optionsFor(model);
  auto recipe = mllm::QuantizationRecipe::parse("*.q_proj*=int5:g32");
  ASSERT_TRUE(recipe) << recipe.status().message();
  options.recipe = *recipe;
  Status status = compile(options);
  ASSERT_FALSE(status);
  EXPECT_NE(status.message().find("model.layers.0.self_attn.q_proj"),
            std::string::npos)
      << status.message();
  EXPECT_EQ(status.message().find("loc("), std::string::npos)
      << status.message();
}

TEST_F(CompilationOf, CacheFormatFollowsTheModelOrTheFlag) {
  TinyModel model;
  model.dtype = "F32";
  CompilationOptions options = optionsFor(model);
  auto made = artifact(options);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->info().kvFormat, KVFormat::F32);
  options.kv = "f16";
  made = artifact(options);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->info().kvFormat, KVFormat::F16);
}

// SPEC: 19 21 22: converters, then optimizations, then what makes code.
TEST_F(CompilationOf, GoesThroughTheStagesInTheirOrder) {
  const std::vector<std::string> stages = {"checkpoint", "frontend", "llm",
                                           "optimize",   "lower",    "target",
                                           "artifact"};
  CompilationOptions options = optionsFor({});
  std::vector<double> shares;
  std::vector<std::string> begun, ended;
  options.progress = [&](const char *sentence, double done) {
    EXPECT_NE(std::string(sentence), "");
    shares.push_back(done);
    // Stages say more than once how far they are.
    for (const std::string &name : stages)
      if (std::string(sentence) == stageSentence(*stageFromName(name)) &&
          (begun.empty() || begun.back() != name))
        begun.push_back(name);
  };
  Status status = compile(options);
  ASSERT_TRUE(status.isOk()) << status.message();
  EXPECT_EQ(begun, stages);
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);)
    ended.push_back(line.substr(0, line.find(' ')));
  EXPECT_EQ(ended, stages);
  ASSERT_FALSE(shares.empty());
  EXPECT_EQ(shares.front(), 0.0);
  EXPECT_EQ(shares.back(), 1.0);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
}

TEST_F(CompilationOf, EndsAfterTheStageThatWasNamed) {
  CompilationOptions options = optionsFor({});
  const std::pair<Stage, const char *> last[] = {
      {Stage::Checkpoint, "checkpoint"},
      {Stage::LLM, "llm"},
      {Stage::Lower, "lower"},
      {Stage::Target, "target"}};
  for (auto [stage, name] : last) {
    options.stopAfter = stage;
    ASSERT_TRUE(compile(options).isOk());
    // One line per stage; the last begins with its name.
    size_t line = report.rfind('\n', report.size() - 2);
    std::string text = report.substr(line == std::string::npos ? 0 : line + 1);
    EXPECT_EQ(text.rfind(name, 0), 0u) << report;
    EXPECT_FALSE(std::filesystem::exists(options.output)) << name;
  }
  options.stopAfter = Stage::Serving;
  EXPECT_EQ(compile(options).code(), StatusCode::InvalidArgument);
}

TEST_F(CompilationOf, RefusesOptionsThatMeanNothing) {
  CompilationOptions good = optionsFor({});
  auto refused = [&](auto change, const char *text) {
    CompilationOptions options = good;
    change(options);
    Status status = compile(options);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << text;
    EXPECT_NE(status.message().find(text), std::string::npos)
        << status.message();
    EXPECT_FALSE(std::filesystem::exists(good.output)) << text;
  };
  refused([](auto &o) { o.target = "x86-64-v1"; },
          "unknown target 'x86-64-v1'");
  refused([](auto &o) { o.kv = "q8_0"; }, "unknown KV cache type 'q8_0'");
  refused([](auto &o) { o.kv = "f64"; }, "unknown KV cache type 'f64'");
  refused([](auto &o) { o.tokenBudget = 0; }, "the token budget is 0");
  refused([](auto &o) { o.tokenBudget = 65537; }, "the token budget is 65537");
  refused([](auto &o) { o.contextLength = -1; }, "the context is -1");
  refused([](auto &o) { o.output.clear(); }, "no output file for the artifact");
}

TEST_F(CompilationOf, ReportsWhatCannotBeReadOrWritten) {
  CompilationOptions options = optionsFor({});
  CompilationOptions absent = options;
  absent.model = folder / "absent";
  EXPECT_EQ(compile(absent).code(), StatusCode::NotFound);
  options.output = folder / "absent/model.llmir";
  Status status = compile(options);
  EXPECT_FALSE(status.isOk());
  EXPECT_NE(status.cause().find("absent"), std::string::npos) << status.cause();
}

/// A model that does not return its last product.
static constexpr const char *kWithoutHead = R"(
mllm.tensor.register @up : tensor<32x32xf32> {source = "up"}
mllm.graph.subgraph @model(%x: tensor<2x32xf32>) -> tensor<2x32xf32> attributes {entry} {
  %0 = mllm.linalg.linear %x, @up : tensor<2x32xf32> -> tensor<2x32xf32>
  %1 = mllm.linalg.silu %0 : tensor<2x32xf32>
  mllm.cf.return %1 : tensor<2x32xf32>
})";

// SPEC: 277
TEST(CompilationRecipe, OfASchemeFitsModelsWithoutAHead) {
  mlir::DialectRegistry registry;
  registerAllLLMIRDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kWithoutHead, &context);
  ASSERT_TRUE(module);
  for (const char *scheme : {"q8", "int4:g32", "q4:plain-head"}) {
    auto recipe = mllm::QuantizationRecipe::forAllProjections(scheme);
    ASSERT_TRUE(recipe) << recipe.status().message();
    auto outcome = recipe->apply(*module);
    ASSERT_TRUE(mlir::succeeded(outcome)) << scheme;
    EXPECT_EQ(outcome->matrices, 1) << scheme;
  }
  // Who writes the rule means a matrix.
  auto written = mllm::QuantizationRecipe::parse("head=q8,*=q8");
  ASSERT_TRUE(written) << written.status().message();
  std::string error;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    error = d.str();
    return mlir::success();
  });
  EXPECT_TRUE(mlir::failed(written->apply(*module)));
  EXPECT_NE(
      error.find("no projection of the model has a matrix that matches 'head'"),
      std::string::npos)
      << error;
}

/// A model that returns its only product.
static constexpr const char *kOnlyHead = R"(
mllm.tensor.register @head : tensor<32x32xf32> {source = "head"}
mllm.graph.subgraph @model(%x: tensor<2x32xf32>) -> tensor<2x32xf32> attributes {entry} {
  %0 = mllm.linalg.linear %x, @head : tensor<2x32xf32> -> tensor<2x32xf32>
  mllm.cf.return %0 : tensor<2x32xf32>
})";

TEST(CompilationRecipe, OfASchemeFitsModelsWithNothingButAHead) {
  mlir::DialectRegistry registry;
  registerAllLLMIRDialects(registry);
  mlir::MLIRContext context(registry);
  auto matrices = [&](const char *scheme) -> int64_t {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(kOnlyHead, &context);
    auto recipe = mllm::QuantizationRecipe::forAllProjections(scheme);
    EXPECT_TRUE(module && recipe) << scheme;
    auto outcome = recipe->apply(*module);
    EXPECT_TRUE(mlir::succeeded(outcome)) << scheme;
    return mlir::succeeded(outcome) ? outcome->matrices : -1;
  };
  for (const char *scheme : {"q8", "q4", "int4:g32"})
    EXPECT_EQ(matrices(scheme), 1) << scheme; // As q8.
  for (const char *scheme : {"q8:plain-head", "int8:a32"})
    EXPECT_EQ(matrices(scheme), 0) << scheme; // Which leave it as it is.
}

TEST(CompilationRecipe, NeedsAProjection) {
  mlir::DialectRegistry registry;
  registerAllLLMIRDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "mllm.graph.subgraph @model(%x: tensor<2xf32>) -> tensor<2xf32> "
      "attributes {entry} { mllm.cf.return %x : tensor<2xf32> }",
      &context);
  auto recipe = mllm::QuantizationRecipe::forAllProjections("q8");
  ASSERT_TRUE(module && recipe);
  std::string error;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    error = d.str();
    return mlir::success();
  });
  EXPECT_TRUE(mlir::failed(recipe->apply(*module)));
  EXPECT_EQ(error, "has no projection to quantize; omit the scheme");
}

TEST(CompilationRecipe, PlainHeadIsAWholePart) {
  for (const char *scheme :
       {"int8:plain-head", "int8:plain-head:g32", "int8:g32:plain-head"})
    EXPECT_TRUE(mllm::QuantizationRecipe::forAllProjections(scheme)) << scheme;
  for (const char *scheme : {":plain-headq8", "int8:plain-heads", "plain-head",
                             "int8:plain-head:plain-head"})
    EXPECT_FALSE(mllm::QuantizationRecipe::forAllProjections(scheme)) << scheme;
}
