// RUN: llmir-frontend-tests --gtest_filter='TraceContextTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traces by the node API, and the same modules called at once.
//
//===----------------------------------------------------------------------===//

#include "Tracing.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ::mllm;
using llmir::test::dump;
using llmir::test::Function;
using llmir::test::interpret;
using llmir::test::Numbers;
using llmir::test::numbersFor;

namespace {

models::QWenConfig smallConfig() {
  models::QWenConfig config;
  config.vocabSize = 37;
  config.hiddenSize = 16;
  config.intermediateSize = 24;
  config.numLayers = 2;
  config.numHeads = 4;
  config.numKVHeads = 2;
  return config;
}

TEST(TraceContextTest, TheDocumentsSampleFromAConfigAlone) {
  models::QWenConfig cfg;
  models::QWenForCausalLM llm(cfg);
  ASSERT_TRUE(llm.load(emptyParameters(cfg)));
  auto ir_ctx = ir::trace(llm, Tensor::empty({1, 128}, kInt64));
  ASSERT_TRUE(ir_ctx->status()) << ir_ctx->status().message();
  const std::string text = dump(*ir_ctx, 453);
  for (const char *line :
       {"@main () -> (){\n",
        "    graph.CallGraphOp @model (%453:tensor<[1, 128], kInt64, kCPU>) -> "
        "(%1212:tensor<[1, 128, 151936], kFp32, kCPU>)\n",
        "    graph.SubGraphOp @model <kCPU>{\n",
        "            linalg.kCPU.LLMEmbeddingTokenOp(%453:tensor<[1, 128], "
        "kInt64, kCPU>) -> (%454:tensor<[1, 128, 1536], kFp32, kCPU>)\n",
        "            graph.CallGraphOp @model.layers.0 (%454:tensor<[1, 128, "
        "1536], kFp32, kCPU>) -> (%481:tensor<[1, 128, 1536], kFp32, kCPU>)\n",
        "            graph.CallGraphOp @model.layers.4 (%562:tensor<[1, 128, "
        "1536], kFp32, kCPU>) -> (%589:tensor<[1, 128, 1536], kFp32, kCPU>)\n",
        "            linalg.kCPU.LinearOp(%455:tensor<[1, 128, 1536], kFp32, "
        "kCPU>) -> (%456:tensor<[1, 128, 12, 128], kFp32, kCPU>)\n",
        "    graph.SubGraphOp @model.layers.0.mlp <kCPU>{\n"
        "        (%475:tensor<[1, 128, 1536], kFp32, kCPU>) -> "
        "(%480:tensor<[1, 128, 1536], kFp32, kCPU>){\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line;
}

TEST(TraceContextTest, ARootWithoutANameMayHaveAModuleCalledModel) {
  Function root(
      [](Function &self, const ir::Tensors &x) {
        auto model =
            self.add<Function>("model", [](Function &, const ir::Tensors &y) {
              return ir::Tensors{y[0] + y[0]};
            });
        return model.call(x);
      },
      "");
  root.load(emptyParameters());
  auto context = ir::trace(root, Tensor::empty({2}));
  ASSERT_TRUE(context->status()) << context->status().message();
  const std::string text = dump(*context);
  for (const char *line :
       {"graph.CallGraphOp @model (", "graph.CallGraphOp @model_1 (",
        "graph.SubGraphOp @model <kCPU>", "graph.SubGraphOp @model_1 <kCPU>"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(TraceContextTest, TracingBeforeLoadingSaysWhatToDo) {
  models::QWenForCausalLM llm(smallConfig());
  auto context = ir::trace(llm, Tensor::empty({1, 4}, kInt64));
  ASSERT_FALSE(context->status());
  EXPECT_NE(context->status().message().find("call load()"), std::string::npos)
      << context->status().message();
  EXPECT_FALSE(llm.load(load("/no/such/folder")));
  context = ir::trace(llm, Tensor::empty({1, 4}, kInt64));
  EXPECT_NE(context->status().message().find("/no/such/folder"),
            std::string::npos);
}

TEST(TraceContextTest, AConfigWithoutSenseIsRefused) {
  models::QWenConfig config = smallConfig();
  config.numKVHeads = 3;
  EXPECT_FALSE(emptyParameters(config).status());
  config.numKVHeads = 0;
  EXPECT_FALSE(emptyParameters(config).status());
}

TEST(TraceContextTest, EagerIsWhatTheTraceComputesPromptAndNextToken) {
  const models::QWenConfig config = smallConfig();
  models::QWenForCausalLM llm(config);
  ASSERT_TRUE(llm.load(emptyParameters(config)));
  auto context = ir::trace(llm, Tensor::empty({1, dim("seq")}, kInt64));
  ASSERT_TRUE(context->status()) << context->status().message();
  Numbers numbers = numbersFor(*context);
  ASSERT_TRUE(llm.load(numbers.parameters()));
  llmir::ModelState state;
  for (const std::vector<double> &ids :
       {std::vector<double>{3, 1, 4, 1, 5}, std::vector<double>{36}}) {
    Tensor input =
        Tensor::fromVector({1, static_cast<int64_t>(ids.size())}, ids, kInt64);
    Tensor logits = llm(input);
    ASSERT_TRUE(logits.isValid()) << mllm::status().message();
    // SPEC: 283
    EXPECT_EQ(logits.toVector(),
              interpret(*context, numbers.tensors, input, &state));
  }
  // A new sequence gives the prompt's logits again; a single step gives the
  // last token's.
  llm.reset();
  Tensor whole = llm(Tensor::fromVector({1, 6}, {3, 1, 4, 1, 5, 36}, kInt64));
  ASSERT_TRUE(whole.isValid());
  llm.reset();
  llm(Tensor::fromVector({1, 5}, {3, 1, 4, 1, 5}, kInt64));
  Tensor last = llm(Tensor::fromVector({1, 1}, {36}, kInt64));
  const std::vector<double> all = whole.toVector(), one = last.toVector();
  for (size_t i = 0; i < one.size(); ++i)
    EXPECT_NEAR(all[all.size() - one.size() + i], one[i], 1e-5);
}

TEST(TraceContextTest, AConditionOnATracedTensorNamesItsLine) {
  Function model([](Function &, const ir::Tensors &inputs) {
    Tensor isGreater = inputs[0] > inputs[1];
    if (isGreater)
      return ir::Tensors{inputs[0]};
    return ir::Tensors{inputs[1]};
  });
  model.load(emptyParameters());
  auto context = ir::trace(model, Tensor::empty({1}), Tensor::empty({1}));
  ASSERT_FALSE(context->status());
  EXPECT_NE(context->status().message().find("TraceContextTest.cpp:"),
            std::string::npos)
      << context->status().message();
  EXPECT_NE(context->status().message().find("mllm::ir::if_"),
            std::string::npos);
  // Outside a trace the value decides. SPEC: 283
  ir::Tensors chosen =
      model(Tensor::fromVector({1}, {2}), Tensor::fromVector({1}, {5}));
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(chosen[0].item(), 5);
}

TEST(TraceContextTest, BranchesAndLoopsTracedAndAtOnce) {
  // |x|, then doubled until it is 100, then three times plus one.
  Function model([](Function &, const ir::Tensors &inputs) {
    Tensor x = inputs[0];
    x = ir::if_(
            x < 0.0, [&] { return ir::Tensors{-x}; },
            [&] { return ir::Tensors{x}; })
            .at(0);
    x = ir::while_(
            {x}, [](const ir::Tensors &v) { return v[0] < 100.0; },
            [](const ir::Tensors &v) { return ir::Tensors{v[0] * 2.0}; })
            .at(0);
    return ir::for_(Tensor::full({1}, 3, kInt64), {x},
                    [](const Tensor &, const ir::Tensors &v) {
                      return ir::Tensors{v[0] + 1.0};
                    });
  });
  model.load(emptyParameters());
  auto context = ir::trace(model, Tensor::empty({1}));
  ASSERT_TRUE(context->status()) << context->status().message();
  for (double x : {-3.0, 7.0, 200.0}) {
    Tensor input = Tensor::fromVector({1}, {x});
    double expected = std::fabs(x);
    while (expected < 100)
      expected *= 2;
    expected += 3;
    EXPECT_EQ(model(input).item(), expected);
    EXPECT_EQ(interpret(*context, {}, input), std::vector<double>{expected});
  }
}

TEST(TraceContextTest, AModuleInAnotherStateComputesWhatTheEagerCallDoes) {
  double factor = 0;
  Function model([&](Function &self, const ir::Tensors &inputs) {
    auto scale = self.add<Function>(
        "scale",
        [&](Function &, const ir::Tensors &v) {
          return ir::Tensors{v[0] * factor};
        },
        "");
    factor = 2;
    Tensor y = scale(inputs[0]);
    factor = 5;
    return ir::Tensors{scale(y) + scale(nn::F::concat({y, y}, 0))};
  });
  model.load(emptyParameters());
  auto context = ir::trace(model, Tensor::empty({1}));
  ASSERT_TRUE(context->status()) << context->status().message();
  Tensor input = Tensor::fromVector({1}, {3});
  EXPECT_EQ(model(input).toVector(), (std::vector<double>{60, 60}));
  EXPECT_EQ(interpret(*context, {}, input), (std::vector<double>{60, 60}));
}

// Values that a branch assigned to a captured variable are invalid after it.
TEST(TraceContextTest, AfterAFailedBranchNothingIsTraced) {
  Function model([](Function &, const ir::Tensors &inputs) {
    Tensor x = inputs[0];
    ir::if_(
        x < 0.0,
        [&] {
          x = -x;
          return ir::Tensors{x};
        },
        [&] { return ir::Tensors{x, x}; });
    return ir::Tensors{x + 1.0};
  });
  model.load(emptyParameters());
  auto context = ir::trace(model, Tensor::empty({1}));
  EXPECT_FALSE(context->status());
  Function loop([](Function &, const ir::Tensors &inputs) {
    return ir::while_(
        {inputs[0], Tensor::empty({1})},
        [](const ir::Tensors &v) { return v[0] < 100.0; },
        [](const ir::Tensors &v) { return v; });
  });
  loop.load(emptyParameters());
  context = ir::trace(loop, Tensor::empty({1}));
  ASSERT_FALSE(context->status());
  EXPECT_NE(context->status().message().find("neither belongs to this trace"),
            std::string::npos)
      << context->status().message();
}

/// Patches by a convolution, a block of attention over them, a head.
class TinyViT : public nn::Module {
public:
  TinyViT()
      : Module("vit"),
        patch(reg<nn::Conv2D>("patch", 3, 8, std::vector<int64_t>{4, 4},
                              nn::ConvOptions{{4, 4}, {}, {}, 1, true})),
        norm2d(reg<nn::LayerNorm2D>("norm2d", 8)),
        norm(reg<nn::LayerNorm>("norm", std::vector<int64_t>{8})),
        qkv(reg<nn::Linear>("qkv", 8, 24, true)),
        head(reg<nn::Linear>("head", 8, 5, true)), act(reg<nn::GELU>("act")) {}

  Tensor forward(const Tensor &picture) override {
    Tensor grown = nn::F::interpolate(picture, {16, 16}, "bilinear");
    Tensor x = norm2d(patch(grown));                   // [B, 8, 4, 4]
    x = x.reshape({x.size(0), 8, 16}).transpose(1, 2); // [B, 16, 8]
    ir::Tensors parts = qkv(norm(x)).split({8}, -1);
    Tensor scores = nn::F::matmul(parts[0], parts[1], false, true);
    Tensor mixed = nn::F::matmul(nn::F::softmax(scores, -1), parts[2]);
    x = x + act(mixed);
    return head(nn::F::mean(x, 1));
  }

private:
  nn::Conv2D patch;
  nn::LayerNorm2D norm2d;
  nn::LayerNorm norm;
  nn::Linear qkv, head;
  nn::GELU act;
};

TEST(TraceContextTest, AModelOfPicturesTracesAndRuns) {
  Numbers numbers;
  numbers.add("vit.patch.weight", {8, 3, 4, 4});
  numbers.add("vit.patch.bias", {8});
  numbers.add("vit.norm2d.weight", {8});
  numbers.add("vit.norm2d.bias", {8});
  numbers.add("vit.norm.weight", {8});
  numbers.add("vit.norm.bias", {8});
  numbers.add("vit.qkv.weight", {24, 8});
  numbers.add("vit.qkv.bias", {24});
  numbers.add("vit.head.weight", {5, 8});
  numbers.add("vit.head.bias", {5});
  TinyViT vit;
  ASSERT_TRUE(vit.load(parametersOf(numbers.tensors)));
  auto context = ir::trace(vit, Tensor::empty({2, 3, 8, 8}));
  ASSERT_TRUE(context->status()) << context->status().message();
  Tensor picture =
      Tensor::fromVector({2, 3, 8, 8}, numbers.random({2, 3, 8, 8}));
  Tensor classes = vit(picture);
  ASSERT_TRUE(classes.isValid()) << mllm::status().message();
  EXPECT_EQ(classes.shape(), (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(classes.toVector(), interpret(*context, numbers.tensors, picture));
}

TEST(TraceContextTest, WhatGoesWrongAtOnceIsAStatusThatNamesTheLayer) {
  mllm::clearStatus();
  Tensor a = Tensor::fromVector({2}, {1, 2}),
         b = Tensor::fromVector({3}, {1, 2, 3});
  EXPECT_FALSE((a + b).isValid());
  EXPECT_NE(mllm::status().message().find("do not broadcast"),
            std::string::npos)
      << mllm::status().message();
  mllm::clearStatus();
  EXPECT_FALSE((Tensor::empty({2}) + a).isValid());
  EXPECT_FALSE(mllm::status());
  mllm::clearStatus();
  models::QWenForCausalLM llm(smallConfig());
  EXPECT_FALSE(llm(Tensor::fromVector({1, 1}, {1}, kInt64)).isValid());
  EXPECT_NE(mllm::status().message().find("model.embed_tokens"),
            std::string::npos)
      << mllm::status().message();
  mllm::clearStatus();
  EXPECT_EQ((a * 2.0 + 1.0).toVector(), (std::vector<double>{3, 5}));
}

} // namespace
