// RUN: llmir-frontend-tests --gtest_filter='ModelsTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The models with explicit attention: the text of a whole trace follows from
// the config as the sample of MLLM's documentation does, and attention step by
// step computes what attention in one op does.
//
//===----------------------------------------------------------------------===//

#include "TinyModel.h"
#include "Tracing.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

using namespace ::mllm;
using namespace ::mllm::models;
using llmir::test::interpret;
using llmir::test::Numbers;
using llmir::test::numbersFor;

namespace {

//===----------------------------------------------------------------------===//
// The text of a trace, from the sizes of a model
//===----------------------------------------------------------------------===//

/// What the text shows of a model.
struct Sizes {
  int64_t vocab, hidden, intermediate, layers, heads, kvHeads, headDim;
  bool isGPT2 = false, qkNorm = false;

  explicit Sizes(const RotaryConfig &c, bool qkNorm = false)
      : vocab(c.vocabSize), hidden(c.hiddenSize),
        intermediate(c.intermediateSize), layers(c.numLayers),
        heads(c.numHeads), kvHeads(c.numKVHeads), headDim(c.headDim()),
        qkNorm(qkNorm) {}
  explicit Sizes(const GPT2Config &c)
      : vocab(c.vocabSize), hidden(c.hiddenSize),
        intermediate(c.intermediateSize), layers(c.numLayers),
        heads(c.numHeads), kvHeads(c.numHeads),
        headDim(c.hiddenSize / c.numHeads), isGPT2(true) {}

  int64_t valuesPerLayer() const { return isGPT2 ? 23 : qkNorm ? 29 : 27; }
};

/// Writes the expected trace with explicit attention: each line from the sizes
/// alone, with value numbers as in the sample.
class Form {
public:
  Form(const Sizes &sizes, int64_t batch, int64_t tokens, int64_t firstNumber)
      : sizes(sizes), batch(batch), tokens(tokens), next(firstNumber) {}

  std::string text() {
    const std::string root = sizes.isGPT2 ? "transformer" : "model";
    std::string ids = value({batch, tokens}, "kInt64");
    std::string logits = subgraph(root, ids, [&] { return whole(root, ids); });
    std::string result = "@main () -> (){\n    graph.CallGraphOp @" + root +
                         " (" + ids + ") -> (" + logits + ")\n";
    for (const std::string &each : subgraphs)
      result += each;
    return result + "}\n";
  }

private:
  using Shape = std::vector<int64_t>; // -1: `?`
  using Body = std::function<std::string()>;

  std::string value(const Shape &shape, const char *type = "kFp32") {
    std::string text = "%" + std::to_string(next++) + ":tensor<[";
    for (size_t i = 0; i < shape.size(); ++i)
      text += (i ? ", " : "") + (shape[i] < 0 ? "?" : std::to_string(shape[i]));
    return text + "], " + type + ", kCPU>";
  }
  void line(const std::string &text) { lines += "            " + text + "\n"; }
  std::string op(const std::string &name, const std::string &operands,
                 const Shape &shape, const char *type = "kFp32") {
    std::string result = value(shape, type);
    line("linalg.kCPU." + name + "Op(" + operands + ") -> (" + result + ")");
    return result;
  }
  /// The subgraphs are in the order in which they are entered.
  std::string subgraph(const std::string &name, const std::string &input,
                       const Body &body) {
    const size_t place = subgraphs.size();
    subgraphs.emplace_back();
    std::string outer = std::exchange(lines, "");
    std::string result = body();
    line("cf.ReturnOp(" + result + ") -> ()");
    subgraphs[place] = "    graph.SubGraphOp @" + name + " <kCPU>{\n        (" +
                       input + ") -> (" + result + "){\n" + lines +
                       "        }\n    }\n";
    lines = std::move(outer);
    return result;
  }
  std::string call(const std::string &name, const std::string &input,
                   const Body &body) {
    std::string result = subgraph(name, input, body);
    line("graph.CallGraphOp @" + name + " (" + input + ") -> (" + result + ")");
    return result;
  }

  Shape wide() const { return {batch, tokens, sizes.hidden}; }
  std::string norm(const std::string &x) {
    return op(sizes.isGPT2 ? "LayerNorm" : "RMSNorm", x, wide());
  }

  std::string whole(const std::string &root, const std::string &ids) {
    std::string x = op("LLMEmbeddingToken", ids, wide());
    if (sizes.isGPT2) {
      std::string places = op("Positions", ids, {batch, tokens}, "kInt64");
      places = op("LLMEmbeddingToken", places, wide());
      x = op("Add", x + ", " + places, wide());
    }
    for (int64_t i = 0; i < sizes.layers; ++i) {
      const std::string name =
          root + (sizes.isGPT2 ? ".h." : ".layers.") + std::to_string(i);
      const int64_t before = next;
      x = call(name, x, [&] { return layer(name, x); });
      EXPECT_EQ(next - before, sizes.valuesPerLayer());
    }
    return op("Linear", norm(x), {batch, tokens, sizes.vocab});
  }

  std::string layer(const std::string &name, const std::string &x) {
    std::string y = norm(x);
    y = call(name + (sizes.isGPT2 ? ".attn" : ".self_attn"), y,
             [&] { return attention(y); });
    std::string h = op("Add", x + ", " + y, wide());
    y = norm(h);
    y = call(name + ".mlp", y, [&] { return mlp(y); });
    return op("Add", h + ", " + y, wide());
  }

  std::string attention(const std::string &x) {
    const int64_t B = batch, T = tokens, H = sizes.heads, G = sizes.kvHeads,
                  D = sizes.headDim;
    std::string q = op("Linear", x, {B, T, H, D});
    std::string k = op("Linear", x, {B, T, G, D});
    std::string v = op("Linear", x, {B, T, G, D});
    if (sizes.qkNorm) {
      q = op("RMSNorm", q, {B, T, H, D});
      k = op("RMSNorm", k, {B, T, G, D});
    }
    q = op("Transpose", q, {B, H, T, D});
    k = op("Transpose", k, {B, G, T, D});
    v = op("Transpose", v, {B, G, T, D});
    if (!sizes.isGPT2) {
      q = op("RoPE", q, {B, H, T, D});
      k = op("RoPE", k, {B, G, T, D});
    }
    std::string keys = value({B, H, -1, D}), values = value({B, H, -1, D});
    line("linalg.kCPU.KVCacheOp(" + k + ", " + v + ") -> (" + keys + ", " +
         values + ")");
    std::string scores = op("MatMul", q + ", " + keys, {B, H, T, -1});
    for (const char *name : {"Mul", "CausalMask", "Softmax"})
      scores = op(name, scores, {B, H, T, -1});
    std::string mixed = op("MatMul", scores + ", " + values, {B, H, T, D});
    mixed = op("Transpose", mixed, {B, T, H, D});
    mixed = op("View", mixed, {B, T, H * D});
    return op("Linear", mixed, wide());
  }

  std::string mlp(const std::string &x) {
    const Shape inner = {batch, tokens, sizes.intermediate};
    if (sizes.isGPT2)
      return op("Linear", op("GELU", op("Linear", x, inner), inner), wide());
    std::string gate = op("SiLU", op("Linear", x, inner), inner);
    std::string up = op("Linear", x, inner);
    return op("Linear", op("Mul", gate + ", " + up, inner), wide());
  }

  Sizes sizes;
  int64_t batch, tokens, next;
  std::string lines;
  std::vector<std::string> subgraphs;
};

/// The lines in which two texts differ first; empty when they are equal.
std::string firstDifference(const std::string &a, const std::string &b) {
  std::istringstream left(a), right(b);
  for (int number = 1;; ++number) {
    std::string x, y;
    const bool hasX = static_cast<bool>(std::getline(left, x));
    const bool hasY = static_cast<bool>(std::getline(right, y));
    if (!hasX && !hasY)
      return {};
    if (x != y || hasX != hasY)
      return "line " + std::to_string(number) + ":\n" + x + "\n" + y;
  }
}

template <typename Model, typename Config, typename... Options>
void expectForm(const Config &config, int64_t batch, int64_t tokens,
                int64_t firstNumber, Options... options) {
  Model model(config);
  ASSERT_TRUE(model.load(emptyParameters(config)));
  auto context = ir::trace(model, Tensor::empty({batch, tokens}, kInt64));
  ASSERT_TRUE(context->status()) << context->status().message();
  EXPECT_EQ(
      firstDifference(
          llmir::test::dump(*context, firstNumber),
          Form(Sizes(config, options...), batch, tokens, firstNumber).text()),
      "");
}

TEST(ModelsTest, PublishedSizesTraceInTheFormOfTheSample) {
  // SPEC: 287 288 291
  expectForm<QWenForCausalLM>(QWenConfig(), 1, 128, 453);
  expectForm<LlamaForCausalLM>(LlamaConfig(), 1, 128, 0);
  expectForm<Qwen3ForCausalLM>(Qwen3Config(), 1, 128, 0, /*qkNorm=*/true);
  expectForm<GPT2ForCausalLM>(GPT2Config(), 1, 128, 0);
}

/// Configs of any sizes that a model may have.
class Draw {
public:
  explicit Draw(uint64_t seed) : generator(seed) {}
  int64_t from(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(
                       generator() % static_cast<uint64_t>(most - least + 1));
  }
  template <typename Config> Config rotary(bool hasHeadSize) {
    Config config;
    config.vocabSize = from(1, 200000);
    config.intermediateSize = from(1, 9000);
    config.numLayers = from(1, 6);
    config.numKVHeads = from(1, 6);
    config.numHeads = config.numKVHeads * from(1, 5);
    const int64_t headDim = 2 * from(1, 100);
    config.hiddenSize = hasHeadSize ? from(1, 4000) : config.numHeads * headDim;
    config.headSize = hasHeadSize ? headDim : 0;
    config.tieWordEmbeddings = from(0, 1) == 1;
    return config;
  }
  GPT2Config gpt2() {
    GPT2Config config;
    config.vocabSize = from(1, 200000);
    config.intermediateSize = from(1, 9000);
    config.numLayers = from(1, 6);
    config.numHeads = from(1, 20);
    config.hiddenSize = config.numHeads * from(1, 200);
    config.tieWordEmbeddings = from(0, 1) == 1;
    return config;
  }

private:
  std::mt19937_64 generator;
};

TEST(ModelsTest, RandomSizesTraceInTheFormOfTheSample) {
  const char *given = std::getenv("LLMIR_TEST_SEED");
  const uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  const std::string replay = "LLMIR_TEST_SEED=" + std::to_string(seed);
  std::printf("%s draws these configs again\n", replay.c_str());
  SCOPED_TRACE(replay);
  Draw draw(seed);
  for (int i = 0; i < 2; ++i) {
    auto expect = [&](auto make) {
      const int64_t batch = draw.from(1, 3), tokens = draw.from(1, 300);
      make(batch, tokens, draw.from(0, 1000));
    };
    // SPEC: 287 297
    expect([&](int64_t batch, int64_t tokens, int64_t first) {
      expectForm<QWenForCausalLM>(draw.rotary<QWenConfig>(false), batch, tokens,
                                  first);
    });
    expect([&](int64_t batch, int64_t tokens, int64_t first) {
      expectForm<LlamaForCausalLM>(draw.rotary<LlamaConfig>(i == 1), batch,
                                   tokens, first);
    });
    expect([&](int64_t batch, int64_t tokens, int64_t first) {
      expectForm<Qwen3ForCausalLM>(draw.rotary<Qwen3Config>(true), batch,
                                   tokens, first, /*qkNorm=*/true);
    });
    expect([&](int64_t batch, int64_t tokens, int64_t first) {
      expectForm<GPT2ForCausalLM>(draw.gpt2(), batch, tokens, first);
    });
  }
}

//===----------------------------------------------------------------------===//
// What the two forms compute
//===----------------------------------------------------------------------===//

template <typename Config> Config small() {
  Config config;
  config.vocabSize = 37;
  config.hiddenSize = 16;
  config.intermediateSize = 24;
  config.numLayers = 2;
  config.numHeads = 4;
  return config;
}

/// Calls the model with explicit attention with a prompt and a next token, and
/// the family's trace with the same parameters.
void expectSameLogits(nn::Module &model, const char *architecture,
                      const DecoderConfig &config) {
  ASSERT_TRUE(model.load(emptyParameters()));
  auto shape = Tensor::empty({1, dim("seq")}, kInt64);
  auto context = ir::trace(model, shape);
  ASSERT_TRUE(context->status()) << context->status().message();
  Numbers numbers = numbersFor(*context);
  ASSERT_TRUE(model.load(numbers.parameters()));
  std::unique_ptr<nn::Module> family =
      findModelFamily(architecture)->build(config);
  ASSERT_TRUE(family->load(numbers.parameters()));
  llmir::ModelState state;
  for (const std::vector<double> &ids :
       {std::vector<double>{3, 1, 4, 1, 5}, std::vector<double>{36}}) {
    const int64_t count = static_cast<int64_t>(ids.size());
    Tensor input = Tensor::fromVector({1, count}, ids, kInt64);
    Tensor logits = model(input);
    ASSERT_TRUE(logits.isValid()) << mllm::status().message();
    EXPECT_EQ(logits.toVector(),
              interpret(*context, numbers.tensors, input, &state));
    Tensor fused = (*family)(Tensor::fromVector({count}, ids, kInt64));
    ASSERT_TRUE(fused.isValid()) << mllm::status().message();
    llmir::reference::Tensor flat = llmir::test::referenceOf(logits);
    flat.shape = fused.shape();
    EXPECT_LE(llmir::reference::nmse(llmir::test::referenceOf(fused), flat),
              1e-12);
  }
}

TEST(ModelsTest, StepByStepIsWhatTheFamiliesCompute) {
  auto qwen = small<QWenConfig>();
  qwen.numKVHeads = 2;
  QWenForCausalLM qwenModel(qwen);
  DecoderConfig config = qwen.decoder(qwen.check());
  expectSameLogits(qwenModel, "qwen2", config);

  auto llama = small<LlamaConfig>();
  llama.numKVHeads = 1;
  llama.qkvBias = llama.outputBias = llama.mlpBias = true;
  LlamaForCausalLM llamaModel(llama);
  config = llama.decoder(llama.check());
  config.qkvBias = config.attentionOutputBias = config.mlpBias = true;
  expectSameLogits(llamaModel, "llama", config);

  auto qwen3 = small<Qwen3Config>();
  qwen3.numKVHeads = 4;
  qwen3.headSize = 6;
  Qwen3ForCausalLM qwen3Model(qwen3);
  expectSameLogits(qwen3Model, "qwen3", qwen3.decoder(qwen3.check()));

  auto gpt2 = small<GPT2Config>();
  gpt2.contextLength = 9;
  GPT2ForCausalLM gpt2Model(gpt2);
  expectSameLogits(gpt2Model, "gpt2", gpt2.decoder());
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

template <typename Model, typename Config>
void expectTraceOf(const char *family) {
  llmir::test::TinyModel tiny;
  tiny.family = family;
  tiny.attentionBias = std::string(family) == "llama";
  llmir::test::TempFolder folder;
  tiny.complete();
  llmir::Expected<llmir::Checkpoint> written = tiny.open(folder);
  ASSERT_TRUE(written) << written.status().message();
  llmir::Expected<Config> config = Config::fromFile(folder.path());
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->vocabSize, tiny.vocab);
  EXPECT_EQ(config->headDim(), tiny.headDim);
  EXPECT_EQ(config->numKVHeads, tiny.kvHeads);
  Model model(*config);
  ASSERT_TRUE(model.load(load(folder.path())));
  auto context = ir::trace(model, Tensor::empty({1, 3}, kInt64));
  ASSERT_TRUE(context->status()) << context->status().message();
  EXPECT_TRUE(
      context->lookupSymbolTable("@model.layers.1.self_attn.q_proj.weight"));
  // A checkpoint of another family is refused.
  EXPECT_NE(GPT2Config::fromFile(folder.path())
                .status()
                .message()
                .find(std::string("of the family ") + family + ", not gpt2"),
            std::string::npos);
}

TEST(ModelsTest, ConfigsComeFromCheckpoints) {
  expectTraceOf<LlamaForCausalLM, LlamaConfig>("llama");
  expectTraceOf<QWenForCausalLM, QWenConfig>("qwen2");
  expectTraceOf<Qwen3ForCausalLM, Qwen3Config>("qwen3");
  EXPECT_FALSE(GPT2Config::fromFile("/no/such/folder"));
}

/// A model with an invalid config reports the error for all uses.
template <typename Model, typename Config>
void expectRefused(const Config &config, const std::string &part) {
  SCOPED_TRACE(part);
  llmir::Status checked = config.check();
  EXPECT_NE(checked.message().find(part), std::string::npos)
      << checked.message();
  EXPECT_FALSE(emptyParameters(config).status());
  Model model(config);
  EXPECT_FALSE(model.load(emptyParameters()));
  auto context = ir::trace(model, Tensor::empty({1, 4}, kInt64));
  EXPECT_EQ(context->status().message(), checked.message());
  clearStatus();
  EXPECT_FALSE(model(Tensor::fromVector({1, 1}, {0}, kInt64)).isValid());
  EXPECT_EQ(mllm::status().message(), checked.message());
  clearStatus();
}

TEST(ModelsTest, ConfigsWithoutSenseAreRefused) {
  auto with = [](auto change) {
    LlamaConfig config;
    change(config);
    return config;
  };
  using Llama = LlamaForCausalLM;
  expectRefused<Llama>(with([](LlamaConfig &c) { c.numHeads = 0; }),
                       "LlamaConfig: numHeads is 0");
  expectRefused<Llama>(with([](LlamaConfig &c) { c.numLayers = -1; }),
                       "numLayers is -1");
  expectRefused<Llama>(with([](LlamaConfig &c) { c.numKVHeads = 5; }),
                       "numHeads is not a multiple of numKVHeads");
  expectRefused<Llama>(with([](LlamaConfig &c) { c.hiddenSize = 2049; }),
                       "hiddenSize / numHeads, is not even");
  expectRefused<Llama>(with([](LlamaConfig &c) { c.headSize = 3; }),
                       "hiddenSize / numHeads, is not even");
  expectRefused<Llama>(with([](LlamaConfig &c) { c.headSize = -2; }),
                       "hiddenSize / numHeads, is not even");
  expectRefused<Llama>(with([](LlamaConfig &c) { c.ropeTheta = -1; }),
                       "must be positive numbers");
  expectRefused<Llama>(with([](LlamaConfig &c) { c.ropeFrequencies = {1}; }),
                       "does not have one element per pair of a head");
  QWenConfig qwen;
  qwen.vocabSize = int64_t(1) << 40;
  expectRefused<QWenForCausalLM>(qwen, "QWenConfig: vocabSize is");
  Qwen3Config qwen3;
  qwen3.rmsNormEps = 0;
  expectRefused<Qwen3ForCausalLM>(qwen3, "Qwen3Config: rmsNormEps");
  GPT2Config gpt2;
  gpt2.hiddenSize = 100;
  expectRefused<GPT2ForCausalLM>(gpt2,
                                 "hiddenSize is not a multiple of numHeads");
  gpt2 = GPT2Config();
  gpt2.contextLength = 0;
  expectRefused<GPT2ForCausalLM>(gpt2, "GPT2Config: contextLength is 0");
}

// The models with explicit attention take a batch; one sequence without it
// would be traced with its dimensions exchanged.
TEST(ModelsTest, IdsOfOneDimensionAreRefused) {
  GPT2Config gpt2 = small<GPT2Config>();
  GPT2ForCausalLM first(gpt2);
  QWenConfig qwen = small<QWenConfig>();
  qwen.numKVHeads = 2;
  QWenForCausalLM second(qwen);
  for (nn::Module *model : {static_cast<nn::Module *>(&first),
                            static_cast<nn::Module *>(&second)}) {
    ASSERT_TRUE(model->load(emptyParameters()));
    for (const auto &[shape, text] :
         {std::pair(std::vector<Dim>{8}, "[8]"),
          std::pair(std::vector<Dim>{}, "[]"),
          std::pair(std::vector<Dim>{1, 1, 8}, "[1, 1, 8]")}) {
      auto context = ir::trace(*model, Tensor::empty(shape, kInt64));
      EXPECT_FALSE(context->status());
      EXPECT_NE(context->status().message().find(
                    "the model takes token ids [sequences, tokens], not of "
                    "shape " +
                    std::string(text) +
                    "; use [1, n] for one sequence of n tokens"),
                std::string::npos)
          << context->status().message();
    }
  }
}

} // namespace
