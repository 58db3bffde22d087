// RUN: llmir-execution-tests
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traced models as machine code, compared with eager calls of the same modules.
//
//===----------------------------------------------------------------------===//

#include "../Frontend/Tracing.h"

#include "mllm/ir/Executable.h"
#include "mllm/models/QWen.h"
#include "mllm/nn/Functional.h"
#include "mllm/nn/Layers.h"

#include "mlir/Dialect/LLM/Transforms/Passes.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace ::mllm;
using llmir::test::Function;
using llmir::test::Numbers;
using llmir::test::numbersFor;

namespace {

Tensor randomTensor(const std::vector<int64_t> &shape) {
  static Numbers numbers;
  return Tensor::fromVector(shape, numbers.random(shape));
}

/// Sets every parameter of the model to random values.
void loadRandom(nn::Module &model, const std::vector<Tensor> &inputs) {
  ASSERT_TRUE(model.load(emptyParameters()));
  ir::IRContext::ptr_t shapes = ir::trace(model, inputs);
  ASSERT_TRUE(shapes->status()) << shapes->status().message();
  ASSERT_TRUE(model.load(numbersFor(*shapes).parameters()));
}

class MLP : public nn::Module {
public:
  MLP()
      : Module("mlp"), up(reg<nn::Linear>("up", 24, 40, true)),
        down(reg<nn::Linear>("down", 40, 24, false)),
        act(reg<nn::SiLU>("act")) {}
  Tensor forward(const Tensor &x) override {
    Tensor wide = up(x);
    return down(act(wide)) + x;
  }

private:
  nn::Linear up, down;
  nn::SiLU act;
};

/// Has a parameter, and is compiled in no time.
class Norm : public nn::Module {
public:
  Norm() : Module("norm"), norm(reg<nn::RMSNorm>("scale", 24, 1e-6)) {}
  Tensor forward(const Tensor &x) override { return norm(x); }

private:
  nn::RMSNorm norm;
};

class Attention : public nn::Module {
public:
  Attention()
      : Module("attention"),
        norm(reg<nn::LayerNorm>("norm", std::vector<int64_t>{16})),
        qkv(reg<nn::Linear>("qkv", 16, 48, true)),
        out(reg<nn::Linear>("out", 16, 16, false)) {}
  Tensor forward(const Tensor &x) override {
    ir::Tensors parts = qkv(norm(x)).split({16}, -1);
    Tensor scores = nn::F::matmul(parts[0], parts[1], false, true) * 0.25;
    Tensor mixed = nn::F::matmul(nn::F::softmax(scores, -1), parts[2]);
    return x + out(mixed);
  }

private:
  nn::LayerNorm norm;
  nn::Linear qkv, out;
};

void expectClose(const Tensor &actual, const Tensor &expected) {
  ASSERT_TRUE(actual.isValid() && expected.isValid()) << status().message();
  ASSERT_EQ(actual.shape(), expected.shape());
  ASSERT_EQ(actual.dtype(), expected.dtype());
  const std::vector<double> a = actual.toVector(), b = expected.toVector();
  double difference = 0, whole = 1e-30;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    whole += b[i] * b[i];
  }
  EXPECT_LT(difference / whole, 1e-10);
}

/// Runs the code, and the model at once.
void expectSame(ir::Executable &executable, nn::Module &model,
                const ir::Tensors &inputs) {
  llmir::Expected<ir::Tensors> results = executable.run(inputs);
  ASSERT_TRUE(results) << results.status().message();
  model.reset();
  const ir::Tensors expected = model.call(inputs);
  ASSERT_EQ(results->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    expectClose((*results)[i], expected[i]);
}

TEST(ExecutableTest, StaticSizesAreCompiledAtOnce) {
  MLP model;
  loadRandom(model, {Tensor::empty({3, 24})});
  auto executable = ir::compile(ir::trace(model, Tensor::empty({3, 24})));
  ASSERT_TRUE(executable) << executable.status().message();
  EXPECT_EQ(executable->numInstances(), 1u);
  expectSame(*executable, model, {randomTensor({3, 24})});
  expectSame(*executable, model, {randomTensor({3, 24})});
  EXPECT_EQ(executable->numInstances(), 1u);
}

TEST(ExecutableTest, OneTraceServesEveryLength) {
  Attention model;
  loadRandom(model, {Tensor::empty({1, dim("seq"), 16})});
  ir::CompileOptions options;
  options.threads = 3;
  auto executable = ir::compile(
      ir::trace(model, Tensor::empty({1, dim("seq"), 16})), options);
  ASSERT_TRUE(executable) << executable.status().message();
  EXPECT_EQ(executable->numInstances(), 0u);
  for (int64_t length : {1, 5, 18})
    expectSame(*executable, model, {randomTensor({1, length, 16})});
  EXPECT_EQ(executable->numInstances(), 3u);
  // The same sizes again find their code.
  for (int64_t length : {18, 1, 5})
    expectSame(*executable, model, {randomTensor({1, length, 16})});
  EXPECT_EQ(executable->numInstances(), 3u);
}

/// Why the code does not run with these inputs.
std::string whyNot(ir::Executable &executable, const ir::Tensors &inputs) {
  llmir::Expected<ir::Tensors> results = executable.run(inputs);
  return results ? "" : results.status().message();
}

// One code serves every size within its bound, shorter ones after longer ones.
TEST(ExecutableTest, OneCodeServesEveryLength) {
  MLP model;
  const Tensor traced = Tensor::empty({1, dim("seq"), 24});
  loadRandom(model, {traced});
  ir::CompileOptions options;
  options.threads = 3;
  options.bounds = {{"seq", 37}};
  auto executable = ir::compile(ir::trace(model, traced), options);
  ASSERT_TRUE(executable) << executable.status().message();
  EXPECT_EQ(executable->whySpecialized(), "");
  EXPECT_EQ(executable->numInstances(), 1u);
  for (int64_t length : {37, 1, 18, 2, 36})
    expectSame(*executable, model, {randomTensor({1, length, 24})});
  EXPECT_EQ(executable->numInstances(), 1u);
  EXPECT_NE(whyNot(*executable, {randomTensor({1, 38, 24})})
                .find("the size 'seq' is 38; the code is compiled for 0 to 37"),
            std::string::npos);
  // It can be used after a rejected size.
  expectSame(*executable, model, {randomTensor({1, 3, 24})});
}

// The reason against common code is reported, and code is compiled for each
// size.
TEST(ExecutableTest, WhatNeedsToKnowSizesIsNamed) {
  Attention model;
  const Tensor traced = Tensor::empty({1, dim("seq"), 16});
  loadRandom(model, {traced});
  ir::CompileOptions options;
  options.bounds = {{"seq", 20}};
  auto executable = ir::compile(ir::trace(model, traced), options);
  ASSERT_TRUE(executable) << executable.status().message();
  if (!executable->whySpecialized().empty()) {
    EXPECT_NE(executable->whySpecialized().find(
                  "cannot be compiled for dynamic sizes"),
              std::string::npos)
        << executable->whySpecialized();
  }
  for (int64_t length : {1, 5, 18})
    expectSame(*executable, model, {randomTensor({1, length, 16})});
  // Without a bound there is none for all.
  Norm norm;
  const Tensor rows = Tensor::empty({dim("rows"), 24});
  loadRandom(norm, {rows});
  auto open = ir::compile(ir::trace(norm, rows));
  ASSERT_TRUE(open) << open.status().message();
  EXPECT_NE(open->whySpecialized().find("its size 'rows' has no range"),
            std::string::npos)
      << open->whySpecialized();
  // A bound is 1 or more.
  options.bounds = {{"rows", 0}};
  auto wrong = ir::compile(ir::trace(norm, rows), options);
  ASSERT_FALSE(wrong);
  EXPECT_NE(
      wrong.status().message().find("the bound of 'rows' is 0, expected 1"),
      std::string::npos)
      << wrong.status().message();
  // A name that no size has would leave another one without a bound.
  options.bounds = {{"row", 9}};
  auto unknown = ir::compile(ir::trace(norm, rows), options);
  ASSERT_FALSE(unknown);
  EXPECT_NE(
      unknown.status().message().find("there is a bound of 'row', but the "
                                      "sizes of the inputs are rows"),
      std::string::npos)
      << unknown.status().message();
}

namespace {
struct Rectifier : nn::Module {
  Rectifier() : Module("model") {}
  Tensor forward(const Tensor &x) override { return nn::F::relu(x); }
};
} // namespace

TEST(ExecutableTest, AModelWithoutParametersNeedsNoLoad) {
  Rectifier model;
  auto context = ir::trace(model, Tensor::empty({2, 2}, kFp32));
  ASSERT_TRUE(context->status()) << context->status().message();
  auto executable = ir::compile(context);
  ASSERT_TRUE(executable) << executable.status().message();
  auto results =
      executable->run({Tensor::fromVector({2, 2}, {-1, 2, -3, 4}, kFp32)});
  ASSERT_TRUE(results) << results.status().message();
  EXPECT_EQ(results->front().toVector(), (std::vector<double>{0, 2, 0, 4}));
}

TEST(ExecutableTest, OnlyCodeUsedLatelyIsKept) {
  Norm model;
  loadRandom(model, {Tensor::empty({dim("rows"), 24})});
  auto executable =
      ir::compile(ir::trace(model, Tensor::empty({dim("rows"), 24})));
  ASSERT_TRUE(executable) << executable.status().message();
  const auto most = static_cast<int64_t>(ir::Executable::kMaxInstances);
  for (int64_t rows = 1; rows <= most + 2; ++rows) {
    expectSame(*executable, model, {randomTensor({rows, 24})});
    EXPECT_EQ(executable->numInstances(),
              static_cast<size_t>(std::min(rows, most)));
    // It is used all the time.
    expectSame(*executable, model, {randomTensor({1, 24})});
  }
  // What had to go comes back.
  expectSame(*executable, model, {randomTensor({2, 24})});
  EXPECT_EQ(executable->numInstances(), static_cast<size_t>(most));
}

// SPEC: 281 282
TEST(ExecutableTest, LoopsAndBranches) {
  // Doubled until the sum is 100 or more; the greater of that and the start.
  Function model([](Function &, const ir::Tensors &inputs) {
    Tensor x = inputs[0];
    ir::Tensors grown = ir::while_(
        {x}, [](const ir::Tensors &v) { return nn::F::sum(v[0], 0) < 100.0; },
        [](const ir::Tensors &v) { return ir::Tensors{v[0] * 2.0}; });
    ir::Tensors counted =
        ir::for_(Tensor::full({1}, 3, kInt64), {grown.at(0), x},
                 [](const Tensor &, const ir::Tensors &v) {
                   return ir::Tensors{v[1] + 1.0, v[0]};
                 });
    return ir::if_(
        nn::F::sum(x, 0) < 100.0, [&] { return ir::Tensors{counted.at(0)}; },
        [&] { return ir::Tensors{counted.at(1)}; });
  });
  ASSERT_TRUE(model.load(emptyParameters()));
  ir::CompileOptions options;
  options.threads = 2;
  auto executable =
      ir::compile(ir::trace(model, Tensor::empty({dim("seq")})), options);
  ASSERT_TRUE(executable) << executable.status().message();
  for (int64_t length : {1, 4, 33}) {
    std::vector<double> numbers(static_cast<size_t>(length), 0.75);
    expectSame(*executable, model, {Tensor::fromVector({length}, numbers)});
    numbers[0] = 1000; // No turn.
    expectSame(*executable, model, {Tensor::fromVector({length}, numbers)});
  }
  EXPECT_EQ(executable->numInstances(), 3u);
}

TEST(ExecutableTest, ADecoderWithItsCaches) {
  models::QWenConfig config;
  config.vocabSize = 37;
  config.hiddenSize = 16;
  config.intermediateSize = 24;
  config.numLayers = 2;
  config.numHeads = 4;
  config.numKVHeads = 2;
  models::QWenForCausalLM model(config);
  const Tensor input = Tensor::empty({1, dim("seq")}, kInt64);
  loadRandom(model, {input});
  auto executable = ir::compile(ir::trace(model, input));
  ASSERT_TRUE(executable) << executable.status().message();
  for (const std::vector<double> &ids :
       {std::vector<double>{3, 1, 4, 1, 5}, std::vector<double>{36},
        std::vector<double>{0, 2, 0}})
    expectSame(*executable, model,
               {Tensor::fromVector({1, static_cast<int64_t>(ids.size())}, ids,
                                   kInt64)});
}

/// How often attention that is written out became one op in this process.
uint64_t countFused() {
  for (const auto &[pattern, count] : mlir::llm::getPatternCounts())
    if (pattern.find("ProductsToAttention") != std::string::npos)
      return count;
  return 0;
}

TEST(ExecutableTest, AttentionThatIsWrittenOutIsOneKernel) {
  // Heads before tokens, keys of a cache, a causal mask.
  models::QWenConfig config;
  config.vocabSize = 19;
  config.hiddenSize = 16;
  config.intermediateSize = 24;
  config.numLayers = 1;
  config.numHeads = 4;
  config.numKVHeads = 2;
  models::QWenForCausalLM decoder(config);
  const Tensor ids = Tensor::empty({1, 4}, kInt64);
  loadRandom(decoder, {ids});
  uint64_t before = countFused();
  auto executable = ir::compile(ir::trace(decoder, ids));
  ASSERT_TRUE(executable) << executable.status().message();
  EXPECT_EQ(countFused(), before + 1);
  expectSame(*executable, decoder,
             {Tensor::fromVector({1, 4}, {3, 1, 4, 1}, kInt64)});

  // Neither mask nor cache nor heads.
  Attention encoder;
  const Tensor x = Tensor::empty({2, 5, 16});
  loadRandom(encoder, {x});
  before = countFused();
  auto other = ir::compile(ir::trace(encoder, x));
  ASSERT_TRUE(other) << other.status().message();
  EXPECT_EQ(countFused(), before + 1);
  expectSame(*other, encoder, {randomTensor({2, 5, 16})});
}

/// Attends over all that its cache holds.
class Memory : public nn::Module {
public:
  Memory()
      : Module("memory"), cache(reg<nn::KVCache>("cache", 0)),
        attention(reg<nn::FlashAttention2>("attention", 0.5)) {}
  Tensor forward(const Tensor &x) override {
    auto [keys, values] = cache(x, x);
    return attention(x, keys, values);
  }

private:
  nn::KVCache cache;
  nn::FlashAttention2 attention;
};

class Twice : public nn::Module {
public:
  Twice() : Module("twice"), memory(reg<Memory>("memory")) {}
  Tensor forward(const Tensor &x) override {
    Tensor once = memory(x);
    return memory(once);
  }

private:
  Memory memory;
};

TEST(ExecutableTest, AModuleThatAppendsTwice) {
  Twice model;
  const Tensor input = Tensor::empty({dim("seq"), 2, 4});
  loadRandom(model, {input});
  auto executable = ir::compile(ir::trace(model, input));
  ASSERT_TRUE(executable) << executable.status().message();
  for (int64_t tokens : {3, 1, 5})
    expectSame(*executable, model, {randomTensor({tokens, 2, 4})});
}

TEST(ExecutableTest, InputsThatDoNotFit) {
  Function model([](Function &, const ir::Tensors &v) {
    return ir::Tensors{v[0] + v[1]};
  });
  ASSERT_TRUE(model.load(emptyParameters()));
  auto executable = ir::compile(ir::trace(model, Tensor::empty({dim("seq"), 4}),
                                          Tensor::empty({dim("seq"), 1})));
  ASSERT_TRUE(executable) << executable.status().message();
  const Tensor x = randomTensor({3, 4}), y = randomTensor({3, 1});
  EXPECT_EQ(whyNot(*executable, {x}),
            "the model has 2 inputs, but 1 were given");
  EXPECT_EQ(whyNot(*executable, {x, Tensor()}), "input 1 has no elements");
  EXPECT_EQ(whyNot(*executable, {x, Tensor::empty({3, 1})}),
            "input 1 has no elements");
  EXPECT_NE(whyNot(*executable, {x, randomTensor({3})})
                .find("input 1 is tensor<3xf32>, but the model was traced "
                      "with tensor<?x1xf32"),
            std::string::npos);
  EXPECT_NE(whyNot(*executable, {Tensor::full({3, 4}, 1, kInt64), y})
                .find("input 0 is tensor<3x4xi64>"),
            std::string::npos);
  EXPECT_EQ(
      whyNot(*executable, {x, randomTensor({2, 1})}),
      "input 1 has 2 as its size 'seq', which is 3 in an earlier dimension");
  EXPECT_EQ(whyNot(*executable, {randomTensor({3, 5}), y}),
            "input 0 has 5 in dimension 1, where 4 is 4");
  EXPECT_EQ(executable->numInstances(), 0u);
  expectSame(*executable, model, {x, y});
}

class Lookup : public nn::Module {
public:
  Lookup() : Module("lookup"), table(reg<nn::Embedding>("table", 3, 16)) {}
  Tensor forward(const Tensor &ids) override { return table(ids); }

private:
  nn::Embedding table;
};

Tensor idsOf(const std::vector<double> &ids) {
  return Tensor::fromVector({1, static_cast<int64_t>(ids.size())}, ids, kInt64);
}

TEST(ExecutableTest, NoNumbersAtAll) {
  MLP model;
  loadRandom(model, {Tensor::empty({dim("rows"), 24})});
  auto executable =
      ir::compile(ir::trace(model, Tensor::empty({dim("rows"), 24})));
  ASSERT_TRUE(executable) << executable.status().message();
  expectSame(*executable, model, {Tensor::fromVector({0, 24}, {})});
  expectSame(*executable, model, {randomTensor({2, 24})});
}

TEST(ExecutableTest, AnglesAndLogarithmsOfAnySize) {
  Function model([](Function &, const ir::Tensors &v) {
    return ir::Tensors{nn::F::sin(v[0]), nn::F::cos(v[0]),
                       nn::F::log(nn::F::abs(v[0]))};
  });
  ASSERT_TRUE(model.load(emptyParameters()));
  auto executable = ir::compile(ir::trace(model, Tensor::empty({12})));
  ASSERT_TRUE(executable) << executable.status().message();
  const std::vector<double> numbers{100, -1000, 4096,  131072, 1e7,   -1e8,
                                    1e9, 1e30,  -3e38, 1e-38,  1e-40, 1e-44};
  expectSame(*executable, model, {Tensor::fromVector({12}, numbers)});
}

TEST(ExecutableTest, IntegersHave64Bits) {
  class Squares : public nn::Module {
  public:
    Squares() : Module("squares") {}
    Tensor forward(const Tensor &x) override { return x * x + 1e12; }
  } model;
  ASSERT_TRUE(model.load(emptyParameters()));
  const Tensor input = Tensor::empty({4}, kInt64);
  auto executable = ir::compile(ir::trace(model, input));
  ASSERT_TRUE(executable) << executable.status().message();
  auto squares =
      executable->run({Tensor::fromVector({4}, {3e9, -5e9, 7, 0}, kInt64)});
  ASSERT_TRUE(squares) << squares.status().message();
  // The second one wraps.
  EXPECT_EQ(squares->front().toVector(),
            (std::vector<double>{9000001000000000000, 6553256926290448384,
                                 1000000000049, 1e12}));
}

TEST(ExecutableTest, IdsThatNoRowHas) {
  Lookup model;
  const Tensor input = Tensor::empty({1, dim("seq")}, kInt64);
  loadRandom(model, {input});
  auto executable = ir::compile(ir::trace(model, input));
  ASSERT_TRUE(executable) << executable.status().message();
  expectSame(*executable, model, {idsOf({2, 0})});
  for (auto [ids, cause] :
       {std::pair(std::vector<double>{2, 3},
                  "cannot be run: id 1 is 3, which is not from 0 to 2"),
        std::pair(std::vector<double>{-1, 0},
                  "cannot be run: id 0 is -1, which is not from 0 to 2"),
        std::pair(std::vector<double>{1e15},
                  "id 0 is 1000000000000000, which is not from 0 to 2")})
    EXPECT_NE(whyNot(*executable, {idsOf(ids)}).find(cause), std::string::npos)
        << whyNot(*executable, {idsOf(ids)});
}

TEST(ExecutableTest, ComputedIdsThatNoRowHasTakeTheNearestRow) {
  class Shifted : public nn::Module {
  public:
    Shifted() : Module("shifted"), lookup(reg<Lookup>("lookup")) {}
    // The lower 32 bits are 0.
    Tensor forward(const Tensor &ids) override {
      return lookup(ids * 4294967296.0);
    }

  private:
    Lookup lookup;
  } model;
  const Tensor input = Tensor::empty({1, 3}, kInt64);
  loadRandom(model, {input});
  auto executable = ir::compile(ir::trace(model, input));
  ASSERT_TRUE(executable) << executable.status().message();
  auto far = executable->run({idsOf({-7, 0, 400})});
  ASSERT_TRUE(far) << far.status().message();
  auto first = executable->run({idsOf({0, 0, 0})});
  ASSERT_TRUE(first) << first.status().message();
  const std::vector<double> rows = far->front().toVector(),
                            row = first->front().toVector();
  ASSERT_EQ(rows.size(), 48u);
  EXPECT_TRUE(std::equal(row.begin(), row.begin() + 32, rows.begin()));
  EXPECT_FALSE(std::equal(row.begin(), row.begin() + 16, rows.begin() + 32));
}

TEST(ExecutableTest, WhatCannotBeCompiledSaysWhy) {
  MLP model;
  // The trace failed.
  EXPECT_NE(ir::compile(ir::trace(model, Tensor::empty({3, 24})))
                .status()
                .message()
                .find("call load()"),
            std::string::npos);
  // Shapes alone.
  ASSERT_TRUE(model.load(emptyParameters()));
  ir::IRContext::ptr_t shapes = ir::trace(model, Tensor::empty({3, 24}));
  EXPECT_NE(ir::compile(shapes).status().message().find(
                "has no elements: emptyParameters()"),
            std::string::npos)
      << ir::compile(shapes).status().message();
  EXPECT_EQ(ir::compile(nullptr).status().message(),
            "there is no context to compile");
  EXPECT_NE(ir::compile(ir::IRContext::make())
                .status()
                .message()
                .find("the context has no model"),
            std::string::npos);
  ir::CompileOptions options;
  for (int64_t threads : {-1, 1025}) {
    options.threads = threads;
    EXPECT_EQ(ir::compile(shapes, options).status().message(),
              std::to_string(threads) +
                  " worker threads; use 1 to 1024, or 0 for one per processor");
  }
  options.threads = 0;
  EXPECT_NE(ir::compile(shapes, options)
                .status()
                .message()
                .find("has no elements: emptyParameters()"),
            std::string::npos);
  // A size that no input has.
  Function sum(
      [](Function &, const ir::Tensors &v) { return ir::Tensors{v[0] + 1.0}; });
  ASSERT_TRUE(sum.load(emptyParameters()));
  auto executable =
      ir::compile(ir::trace(sum, Tensor::empty({dim("seq") + dim("past")})));
  ASSERT_TRUE(executable) << executable.status().message();
  EXPECT_NE(whyNot(*executable, {randomTensor({3})})
                .find("has a name that no input has alone"),
            std::string::npos);
}

} // namespace
