// RUN: llmir-frontend-tests --gtest_filter='TraceTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyModel.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Frontend/Frontend.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace llmir;
using namespace llmir::mllm;
using namespace llmir::test;

namespace {

class TraceTest : public testing::Test {
protected:
  /// Traces a checkpoint, and checks what holds for every trace: it verifies,
  /// and its text is read back as the same text.
  void trace(Expected<Checkpoint> checkpoint) {
    ASSERT_TRUE(checkpoint) << checkpoint.status().message();
    auto traced = traceCheckpoint(context, *checkpoint, FrontendOptions());
    ASSERT_TRUE(traced) << traced.status().message();
    module = std::move(*traced);
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
    auto parsed = mlir::parseSourceString<mlir::ModuleOp>(
        print(*module), mlir::ParserConfig(&context));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(print(*parsed), print(*module));
  }

  static std::string print(mlir::Operation *op) {
    std::string text;
    llvm::raw_string_ostream(text) << *op;
    return text;
  }
  static std::string print(mlir::ModuleOp op) {
    return print(op.getOperation());
  }
  static std::string print(mlir::Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  std::vector<std::string> subgraphs() {
    std::vector<std::string> names;
    for (auto subgraph : module->getOps<SubGraphOp>())
      names.push_back(subgraph.getSymName().str());
    return names;
  }
  std::map<std::string, RegisterOp> registers() {
    std::map<std::string, RegisterOp> found;
    for (auto parameter : module->getOps<RegisterOp>())
      found[parameter.getSymName().str()] = parameter;
    return found;
  }
  /// The text of one subgraph.
  std::string subgraph(llvm::StringRef name) {
    auto op = module->lookupSymbol<SubGraphOp>(name);
    return op ? print(op.getOperation()) : "no such subgraph";
  }
  template <typename Op> int64_t count() {
    int64_t n = 0;
    module->walk([&](Op) { ++n; });
    return n;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  TempFolder folder;
};

TEST_F(TraceTest, LlamaHasOneSubgraphPerModule) {
  trace(TinyModel().complete().open(folder));
  EXPECT_EQ(subgraphs(), (std::vector<std::string>{
                             "LlamaForCausalLM", "model", "model.layers.0",
                             "model.layers.0.self_attn", "model.layers.0.mlp",
                             "model.layers.1", "model.layers.1.self_attn",
                             "model.layers.1.mlp"}));
  EXPECT_EQ(count<CallGraphOp>(), 7);
  EXPECT_EQ(count<KVCacheOp>(), 2);
  SubGraphOp entry = entrySubGraph(*module);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry.getSymName(), "LlamaForCausalLM");
  EXPECT_EQ(print(*module).find("loc("), std::string::npos);
}

// SPEC: 20
TEST_F(TraceTest, LlamaReadsLikeThePaper) {
  TinyModel model;
  model.layers = 1;
  trace(model.complete().open(folder));
  EXPECT_EQ(
      subgraph("LlamaForCausalLM"),
      R"(mllm.graph.subgraph @LlamaForCausalLM(%arg0: tensor<?xi64>) -> tensor<?x40xf32> attributes {entry} {
  %0 = mllm.graph.call_graph @model(%arg0) : (tensor<?xi64>) -> tensor<?x64xf32>
  %1 = mllm.linalg.linear %0, @lm_head.weight : tensor<?x64xf32> -> tensor<?x40xf32>
  mllm.cf.return %1 : tensor<?x40xf32>
})");
  EXPECT_EQ(
      subgraph("model.layers.0.mlp"),
      R"(mllm.graph.subgraph @model.layers.0.mlp(%arg0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = mllm.linalg.linear %arg0, @model.layers.0.mlp.gate_proj.weight : tensor<?x64xf32> -> tensor<?x160xf32>
  %1 = mllm.linalg.silu %0 : tensor<?x160xf32>
  %2 = mllm.linalg.linear %arg0, @model.layers.0.mlp.up_proj.weight : tensor<?x64xf32> -> tensor<?x160xf32>
  %3 = mllm.linalg.mul %1, %2 : tensor<?x160xf32>
  %4 = mllm.linalg.linear %3, @model.layers.0.mlp.down_proj.weight : tensor<?x160xf32> -> tensor<?x64xf32>
  mllm.cf.return %4 : tensor<?x64xf32>
})");
  std::string attention = subgraph("model.layers.0.self_attn");
  for (const char *part :
       {"view %0 : tensor<?x64xf32> -> tensor<?x4x16xf32>",
        "tensor<?x32xf32> -> tensor<?x2x16xf32>", "{layer = 0 : i64}",
        "{causal = true, scale = 2.500000e-01 : f64} : (tensor<?x4x16xf32>, "
        "tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>"})
    EXPECT_NE(attention.find(part), std::string::npos) << part << attention;
}

TEST_F(TraceTest, ModuleCarriesTheModelsFacts) {
  trace(TinyModel().complete().open(folder));
  mlir::FailureOr<ModelFacts> facts = ModelFacts::read(*module);
  ASSERT_TRUE(mlir::succeeded(facts));
  EXPECT_EQ(facts->architecture, "llama");
  EXPECT_EQ(facts->numLayers, 2);
  EXPECT_EQ(facts->numHeads, 4);
  EXPECT_EQ(facts->numKVHeads, 2);
  EXPECT_EQ(facts->headDim, 16);
  EXPECT_EQ(facts->hiddenSize, 64);
  EXPECT_EQ(facts->intermediateSize, 160);
  EXPECT_EQ(facts->vocabSize, 40);
  EXPECT_EQ(facts->contextLength, 512);
}

TEST_F(TraceTest, EveryParameterIsRegisteredOnce) {
  TinyModel model;
  trace(model.complete().open(folder));
  auto found = registers();
  EXPECT_EQ(found.size(), model.tensors.size());
  for (const auto &[name, shape] : model.tensors) {
    ASSERT_TRUE(found.count(name)) << name;
    EXPECT_EQ(found[name].getSource(), name);
    EXPECT_EQ(found[name].getShape().vec(), shape) << name;
    EXPECT_FALSE(found[name].getRopeUnpermuteHeads().has_value()) << name;
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(found[name].getType());
    ASSERT_TRUE(type);
    EXPECT_TRUE(type.getElementType().isBF16());
  }
}

TEST_F(TraceTest, LocationsNameTheLayer) {
  trace(TinyModel().complete().open(folder));
  auto mlp = module->lookupSymbol<SubGraphOp>("model.layers.1.mlp");
  std::vector<std::string> names;
  for (mlir::Operation &op : mlp.getBody().front())
    names.push_back(
        llvm::cast<mlir::NameLoc>(op.getLoc()).getName().getValue().str());
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "model.layers.1.mlp.gate_proj", "model.layers.1.mlp.act_fn",
                "model.layers.1.mlp.up_proj", "model.layers.1.mlp",
                "model.layers.1.mlp.down_proj", "model.layers.1.mlp"}));
}

TEST_F(TraceTest, TiedEmbeddingIsOneParameter) {
  TinyModel model;
  model.tied = true;
  trace(model.complete().open(folder));
  EXPECT_NE(subgraph("LlamaForCausalLM")
                .find("linear %0, @model.embed_tokens.weight"),
            std::string::npos);
  EXPECT_FALSE(module->lookupSymbol("lm_head.weight"));
}

TEST_F(TraceTest, TyingWinsOverACopyAmongTheWeights) {
  TinyModel model;
  model.tied = true;
  model.complete().tensors["lm_head.weight"] = {40, 64};
  trace(model.open(folder));
  EXPECT_FALSE(module->lookupSymbol("lm_head.weight"));
}

TEST_F(TraceTest, LlamaBiasesAreFlagsOfTheConfig) {
  TinyModel model;
  model.attentionBias = model.mlpBias = true;
  trace(model.complete().open(folder));
  EXPECT_EQ(registers().size(), model.tensors.size());
  EXPECT_NE(subgraph("model.layers.0.self_attn")
                .find("@model.layers.0.self_attn.o_proj.weight bias "
                      "@model.layers.0.self_attn.o_proj.bias"),
            std::string::npos);
}

TEST_F(TraceTest, Qwen2HasBiasesOnQueriesKeysAndValues) {
  TinyModel model;
  model.family = "qwen2";
  model.tied = true;
  trace(model.complete().open(folder));
  EXPECT_EQ(subgraphs().front(), "Qwen2ForCausalLM");
  EXPECT_EQ(registers().size(), model.tensors.size());
  EXPECT_FALSE(module->lookupSymbol("model.layers.0.self_attn.o_proj.bias"));
}

TEST_F(TraceTest, Qwen3NormalizesHeadsBeforeTheyAreRotated) {
  TinyModel model;
  model.family = "qwen3";
  model.headDim = 32; // not hidden / heads
  trace(model.complete().open(folder));
  EXPECT_EQ(subgraphs().front(), "Qwen3ForCausalLM");
  std::string attention = subgraph("model.layers.0.self_attn");
  size_t norm = attention.find("rms_norm");
  EXPECT_NE(attention.find("@model.layers.0.self_attn.k_norm.weight {eps = "
                           "1.000000e-05 : f64} : tensor<?x2x32xf32>"),
            std::string::npos);
  EXPECT_LT(norm, attention.find("mllm.linalg.rope"));
  EXPECT_NE(attention.find("tensor<?x128xf32> -> tensor<?x64xf32>"),
            std::string::npos);
}

TEST_F(TraceTest, SizesThatNothingDivides) {
  for (const char *family : {"llama", "qwen2", "qwen3"}) {
    TinyModel model;
    model.family = family;
    model.hidden = 60, model.intermediate = 173, model.heads = 6;
    model.kvHeads = 3, model.headDim = 10, model.vocab = 259;
    trace(model.complete().open(folder));
    EXPECT_EQ(registers()["model.layers.1.mlp.down_proj.weight"].getShape(),
              (llvm::ArrayRef<int64_t>{60, 173}));
  }
  TinyModel smallest;
  smallest.hidden = smallest.intermediate = smallest.layers = smallest.heads =
      smallest.kvHeads = smallest.vocab = 1;
  smallest.headDim = 2;
  trace(smallest.complete().open(folder));
}

TEST_F(TraceTest, ElementTypesOfSafetensors) {
  for (const char *dtype : {"F32", "F16", "BF16"}) {
    TinyModel model;
    model.dtype = dtype;
    trace(model.complete().open(folder));
    auto type = llvm::cast<mlir::RankedTensorType>(
        registers()["model.norm.weight"].getType());
    std::string name = print(type.getElementType());
    for (char &c : name)
      c = static_cast<char>(std::toupper(c));
    EXPECT_EQ(name, dtype);
  }
}

TEST_F(TraceTest, GGUFRowsOfLlamaAreToBePutBackInOrder) {
  TinyModel model;
  model.attentionBias = true;
  trace(openGGUF(folder, model.complete().gguf(1)));
  auto found = registers();
  EXPECT_EQ(found.size(), model.tensors.size());
  for (auto &[name, parameter] : found) {
    std::optional<uint64_t> heads = parameter.getRopeUnpermuteHeads();
    if (name.find("q_proj") != std::string::npos)
      EXPECT_EQ(heads, std::optional<uint64_t>(4)) << name;
    else if (name.find("k_proj") != std::string::npos)
      EXPECT_EQ(heads, std::optional<uint64_t>(2)) << name;
    else
      EXPECT_FALSE(heads.has_value()) << name;
  }
  EXPECT_EQ(found["model.layers.1.mlp.up_proj.weight"].getSource(),
            "blk.1.ffn_up.weight");
  EXPECT_EQ(found["lm_head.weight"].getSource(), "output.weight");
}

TEST_F(TraceTest, GGUFRowsOfQwenAreInOrder) {
  for (const char *family : {"qwen2", "qwen3"}) {
    TinyModel model;
    model.family = family;
    model.tied = true;
    trace(openGGUF(folder, model.complete().gguf(30)));
    EXPECT_EQ(registers().size(), model.tensors.size());
    for (auto parameter : module->getOps<RegisterOp>())
      EXPECT_FALSE(parameter.getRopeUnpermuteHeads().has_value());
  }
}

TEST_F(TraceTest, BlockFormatsAreQuantizedTypes) {
  for (auto [type, text] :
       {std::pair<uint32_t, const char *>{
            8, "!llm.quantized_tensor<i8, [160, 64], true, false, -1, 32, 8, "
               "format = q8_0>"},
        {2, "!llm.quantized_tensor<i4, [160, 64], true, false, -1, 32, 4, "
            "format = q4_0>"}}) {
    TinyModel model;
    trace(openGGUF(folder, model.complete().gguf(type)));
    EXPECT_EQ(print(registers()["model.layers.0.mlp.up_proj.weight"].getType()),
              text);
    EXPECT_EQ(print(registers()["model.norm.weight"].getType()),
              "tensor<64xf32>");
  }
}

// SPEC: 6: what two frameworks store becomes one graph.
TEST_F(TraceTest, BothContainersGiveTheSameGraph) {
  TinyModel model;
  trace(model.complete().open(folder));
  std::string fromSafetensors = subgraph("model.layers.0.self_attn");
  trace(openGGUF(folder, model.gguf(30)));
  EXPECT_EQ(subgraph("model.layers.0.self_attn"), fromSafetensors);
}

TEST_F(TraceTest, ContextLengthIsTheUsers) {
  auto checkpoint = TinyModel().complete().open(folder);
  ASSERT_TRUE(checkpoint);
  FrontendOptions options;
  options.contextLength = 100;
  auto traced = traceCheckpoint(context, *checkpoint, options);
  ASSERT_TRUE(traced);
  EXPECT_EQ(ModelFacts::read(**traced)->contextLength, 100);
}

} // namespace
