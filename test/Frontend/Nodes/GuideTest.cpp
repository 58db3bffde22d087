// RUN: llmir-node-guide-tests --gtest_filter='GuideTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code that MLLM's guide to its nodes shows, without changes. No header of
// MLIR is included.
//
//===----------------------------------------------------------------------===//

#include "../TinyModel.h"

// The headers that the guide names. SPEC: 354 366
#include "mllm/Utils/RTTIHelper.hpp"
#include "mllm/ir/GeneratedRTTIKind.hpp"
#include "mllm/mllm.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <sstream>
#include <type_traits>

#ifdef MLIR_IR_OPERATION_H
#error "mllm/mllm.hpp leads to MLIR's headers"
#endif

namespace mllm {
namespace {

// The guide's code starts here; process() and NewOp are defined by this test.
using NewOp = ir::linalg::NegOp;
using SpecificOpType = ir::linalg::AddOp;
using ir::IRWriter;
using ir::cf::ReturnOp;

std::vector<std::string> processed;
void process(const ir::op_ptr_t &op) { processed.push_back(op->describe()); }

/// @model returns x + x; a call of it precedes it.
struct Example {
  ir::IRContext::ptr_t context = ir::IRContext::make();
  ir::graph::SubGraphOp::ptr_t model;
  ir::linalg::AddOp::ptr_t add;

  Example() {
    TensorType type{{2, 4}, kFp32, kCPU};
    model = context->create<ir::graph::SubGraphOp>("model", type, type);
    ir::IRWriter writer(context, model->getTopRegion());
    ir::val_ptr_t x = model->getTopRegion()->inputs().front();
    add = writer.create<ir::linalg::AddOp>(x, x);
    writer.create<ReturnOp>(add->result());
  }
};

class GuideTest : public testing::Test {
protected:
  void SetUp() override {
    before = setErrorHandler(
        [this](const std::string &sentence) { errors.push_back(sentence); });
    processed.clear();
  }
  void TearDown() override { setErrorHandler(before); }

  ErrorHandler before;
  std::vector<std::string> errors;
};

TEST_F(GuideTest, KindsAreAnEnumerationOfNestedRanges) {
  // SPEC: 353 355-358
  static_assert(ir::RK_None < ir::RK_Op && ir::RK_Op < ir::RK_Val &&
                ir::RK_Val < ir::RK_Attr);
  static_assert(ir::RK_Op < ir::RK_Op_LinalgIROp_AddOp &&
                ir::RK_Op_LinalgIROp_AddOp < ir::RK_Op_Last);
  static_assert(std::is_enum_v<ir::NodeKind>);
  Example example;
  // SPEC: 359
  EXPECT_EQ(example.add->getKind(), ir::RK_Op_LinalgIROp_AddOp);
  EXPECT_EQ(example.add->result()->getKind(), ir::RK_Val_TensorIRVal_TensorVal);
  EXPECT_EQ(example.context->create<ir::IntAttr>(5)->getKind(),
            ir::RK_Attr_BuiltinIRAttr_IntAttr);
}

// The guide's classof, in classes of the user's.
struct AnyOp : ir::Op {
  using ir::Op::Op;
  static inline bool classof(const ir::Node *node) {
    RTTI_RK_OP_IMPL(node); // SPEC: 360 361
  }
};
struct AnyAttr : ir::Attr {
  using ir::Attr::Attr;
  static inline bool classof(const ir::Node *node) {
    RTTI_RK_ATTR_IMPL(node); // SPEC: 362
  }
};
struct Named {
  DEFINE_SPECIFIC_IR_CLASS(Named); // SPEC: 363
};
static_assert(std::is_same_v<Named::self_ptr_t, std::shared_ptr<Named>>);
static_assert(std::is_same_v<Named::ptr_t, std::shared_ptr<Named>>);

TEST_F(GuideTest, ClassesSayWhatTheyAre) {
  Example example;
  ir::node_ptr_t op = example.add;
  ir::node_ptr_t attr = example.context->create<ir::IntAttr>(5);
  EXPECT_TRUE(AnyOp::classof(op.get()));
  EXPECT_FALSE(AnyOp::classof(attr.get()));
  EXPECT_TRUE(AnyAttr::classof(attr.get()));
  EXPECT_FALSE(AnyAttr::classof(op.get()));
  // SPEC: 364
  EXPECT_TRUE(op->isa_<ir::Op>());
  EXPECT_TRUE(op->isa_<ir::linalg::LinalgIROp>());
  EXPECT_TRUE(op->isa_<ir::linalg::AddOp>());
  EXPECT_FALSE(op->isa_<ir::linalg::MulOp>());
  // SPEC: 365
  std::shared_ptr<ir::linalg::AddOp> add = op->cast_<ir::linalg::AddOp>();
  EXPECT_EQ(add, example.add);
  EXPECT_TRUE(isa<ir::linalg::AddOp>(op));
  EXPECT_EQ(cast<ir::linalg::AddOp>(op), example.add);
  EXPECT_TRUE(errors.empty());
  EXPECT_EQ(op->cast_<ir::linalg::MulOp>(), nullptr);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0],
            "linalg.AddOp is not what it is cast to; ask isa_ first");
}

TEST_F(GuideTest, RegionsAreSharedAndHoldLists) {
  // SPEC: 372
  static_assert(
      std::is_base_of_v<std::enable_shared_from_this<ir::Region>, ir::Region>);
  Example example;
  ir::region_ptr_t region = example.model->getTopRegion();
  EXPECT_EQ(region->shared_from_this(), region);
  // SPEC: 369
  std::list<ir::op_ptr_t> ops_(region->ops().begin(), region->ops().end());
  EXPECT_EQ(ops_.size(), 2u);
  // SPEC: 370
  std::list<ir::val_ptr_t> inputs_ = region->inputs();
  ASSERT_EQ(inputs_.size(), 1u);
  EXPECT_EQ(inputs_.front(), example.add->operand(0));
  // SPEC: 371
  std::list<ir::val_ptr_t> outputs_ = region->outputs();
  ASSERT_EQ(outputs_.size(), 1u);
  EXPECT_EQ(outputs_.front(), example.add->result());
}

TEST_F(GuideTest, AWalkFindsTheTopCall) {
  Example example;
  ir::val_ptr_t x =
      example.context
          ->create<ir::tensor::InputOp>(ir::Types{{{2, 4}, kFp32, kCPU}})
          ->result();
  ASSERT_NE(x, nullptr);
  auto call = example.context->create<ir::graph::CallGraphOp>("model", x);
  ASSERT_NE(call, nullptr);
  ir::IRWriter r(example.context);

  ir::graph::CallGraphOp::self_ptr_t found = nullptr;
  auto findTopCall = [&] {
    // SPEC: 373 374 376 377
    // clang-format off
// Find the top CallGraphOp
ir::graph::CallGraphOp::self_ptr_t call_main_graph_op = nullptr;
r.walk<ir::graph::CallGraphOp>(
    [&](ir::IRWriter& remover,
        const ir::graph::CallGraphOp::self_ptr_t& op) -> ir::IRWriter::WalkResult {
    // Make sure there is only one call graph op in the ModuleOp
    MLLM_RT_ASSERT_EQ(call_main_graph_op, nullptr);

    call_main_graph_op = op;
    return ir::IRWriter::WalkResult::WALK_CONTINUE;
});
    // clang-format on
    found = call_main_graph_op;
  };
  findTopCall();
  EXPECT_EQ(found, call);
  EXPECT_TRUE(errors.empty());
  // A second call breaks the assertion.
  auto second = example.context->create<ir::graph::CallGraphOp>("model", x);
  ASSERT_NE(second, nullptr);
  findTopCall();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("call_main_graph_op == nullptr does not hold"),
            std::string::npos)
      << errors[0];
  errors.clear();
  // WALK_BREAK ends the walk.
  int visited = 0;
  // SPEC: 375
  EXPECT_FALSE(r.walk<ir::graph::CallGraphOp>(
      [&](ir::IRWriter &, const ir::graph::CallGraphOp::self_ptr_t &op) {
        ++visited;
        MLLM_RT_ASSERT_EQ(op, second);
        return ir::IRWriter::WALK_BREAK;
      }));
  EXPECT_EQ(visited, 1);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("op == second does not hold"), std::string::npos);
}

TEST_F(GuideTest, RegionsAreIteratedBothWays) {
  Example example;
  ir::region_ptr_t region = example.model->getTopRegion();

  // SPEC: 378 379
  // clang-format off
// Get region's operation list
auto& ops = region->ops();

// Forward iteration
for (const auto& op : ops) {
    process(op);
}

// Reverse iteration
for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
    process(*it);
}
  // clang-format on

  EXPECT_EQ(processed,
            (std::vector<std::string>{"linalg.AddOp", "cf.ReturnOp",
                                      "cf.ReturnOp", "linalg.AddOp"}));
}

TEST_F(GuideTest, NodesAreInsertedReplacedAndRemoved) {
  Example example;
  ir::IRWriter writer(example.context, example.model->getTopRegion());
  ir::op_ptr_t target_op = example.add;
  ir::val_ptr_t args = example.add->result();

  // SPEC: 380 381
  // Insert at specific position
  auto new_op = writer.createAtPos<NewOp>(target_op, IRWriter::AFTER, args);

  ASSERT_NE(new_op, nullptr);
  EXPECT_EQ(target_op->nextOp(), new_op);
  auto before = writer.createAtPos<NewOp>(target_op, IRWriter::BEFORE,
                                          example.add->operand(0));
  EXPECT_EQ(target_op->prevOp(), before);

  ir::op_ptr_t op_to_remove = new_op, old_op = target_op;
  // SPEC: 383
  // Remove operation
  writer.removeOp(op_to_remove);

  EXPECT_FALSE(new_op->isAlive());
  ir::op_ptr_t replacement = before;
  {
    ir::op_ptr_t new_op = replacement;
    // SPEC: 382
    // Replace existing node
    writer.replaceOp(old_op, new_op);
  }
  EXPECT_FALSE(old_op->isAlive());
  EXPECT_EQ(example.model->getTopRegion()->outputs().front(),
            replacement->result());
  EXPECT_TRUE(example.context->verify());
  EXPECT_TRUE(errors.empty());

  // SPEC: 386
  Example other;
  std::vector<std::string> valid;
  for (ir::op_ptr_t op : {ir::op_ptr_t(example.add), ir::op_ptr_t(other.add),
                          ir::op_ptr_t(other.model)})
    if (op->isa_<SpecificOpType>()) {
      auto specific_op = op->cast_<SpecificOpType>();
      valid.push_back(specific_op->describe());
    }
  // Neither one that is removed nor one of another kind.
  EXPECT_EQ(valid, std::vector<std::string>{"linalg.AddOp"});
}

TEST_F(GuideTest, CreationKnowsOpsAndValues) {
  Example example;
  // An op is inserted at the end of the current region, before its terminator,
  // and is verified there.
  // SPEC: 367
  {
    ir::IRWriterGuard guard(example.context, example.model->getTopRegion());
    auto neg =
        example.context->create<ir::linalg::NegOp>(example.add->operand(0));
    ASSERT_NE(neg, nullptr);
    EXPECT_EQ(neg->belongsTo(), example.model);
    EXPECT_EQ(example.model->getTopRegion()->ops().back()->prevOp(), neg);
    EXPECT_EQ(example.context->create<ir::linalg::NegOp>(
                  example.add->operand(0), TensorType{{3, 4}, kFp32, kCPU}),
              nullptr);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_NE(errors[0].find("linalg.NegOp is not valid"), std::string::npos)
        << errors[0];
    errors.clear();
  }
  // SPEC: 368
  ir::IRWriterGuard guard(example.context, [&] {
    auto other = example.context->create<ir::graph::SubGraphOp>(
        "other", ir::Types(), ir::Types());
    return other->getTopRegion();
  }());
  auto value = example.context->create<ir::tensor::TensorValue>(
      TensorType{{1, 3}, kInt64, kCPU}, "table");
  ASSERT_NE(value, nullptr);
  // SPEC: 334 335
  EXPECT_EQ(example.context->lookupSymbol("table"), value);
  EXPECT_EQ(example.context->lookupSymbolTable("@model"), example.model);
  // SPEC: 336
  EXPECT_EQ(example.context->create<ir::tensor::TensorValue>(
                TensorType{{1, 3}, kInt64, kCPU}, "model"),
            nullptr);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0], "the value is not created: @model is in use by "
                       "graph.SubGraphOp @model");
}

TEST_F(GuideTest, TheModuleIsDumped) {
  Example example;
  std::ostringstream text;
  auto dump_printer = IRPrinter(text);
  example.context->topLevelOp()->dump(dump_printer);
  // SPEC: 289-291 293 294 298
  EXPECT_EQ(text.str(),
            "@main () -> (){\n"
            "    graph.SubGraphOp @model <kCPU>{\n"
            "        (%0:tensor<[2, 4], kFp32, kCPU>) -> "
            "(%1:tensor<[2, 4], kFp32, kCPU>){\n"
            "            linalg.kCPU.AddOp(%0:tensor<[2, 4], kFp32, kCPU>, "
            "%0:tensor<[2, 4], kFp32, kCPU>) -> "
            "(%1:tensor<[2, 4], kFp32, kCPU>)\n"
            "            cf.ReturnOp(%1:tensor<[2, 4], kFp32, kCPU>) -> ()\n"
            "        }\n"
            "    }\n"
            "}\n");
}

//===----------------------------------------------------------------------===//
// Tracing
//===----------------------------------------------------------------------===//

/// The lines of the guide's sample.
const char *const sampleLines[] = {
    "@main () -> (){",
    "    graph.CallGraphOp @model (%453:tensor<[1, 128], kInt64, kCPU>) -> "
    "(%1212:tensor<[1, 128, 151936], kFp32, kCPU>)",
    "    graph.SubGraphOp @model <kCPU>{",
    "        (%453:tensor<[1, 128], kInt64, kCPU>) -> (%1212:tensor<[1, 128, "
    "151936], kFp32, kCPU>){",
    "            linalg.kCPU.LLMEmbeddingTokenOp(%453:tensor<[1, 128], kInt64, "
    "kCPU>) -> (%454:tensor<[1, 128, 1536], kFp32, kCPU>)",
    "            graph.CallGraphOp @model.layers.0 (%454:tensor<[1, 128, "
    "1536], kFp32, kCPU>) -> (%481:tensor<[1, 128, 1536], kFp32, kCPU>)",
    "            graph.CallGraphOp @model.layers.1 (%481:tensor<[1, 128, "
    "1536], kFp32, kCPU>) -> (%508:tensor<[1, 128, 1536], kFp32, kCPU>)",
    "            graph.CallGraphOp @model.layers.2 (%508:tensor<[1, 128, "
    "1536], kFp32, kCPU>) -> (%535:tensor<[1, 128, 1536], kFp32, kCPU>)",
    "            graph.CallGraphOp @model.layers.3 (%535:tensor<[1, 128, "
    "1536], kFp32, kCPU>) -> (%562:tensor<[1, 128, 1536], kFp32, kCPU>)",
    "            graph.CallGraphOp @model.layers.4 (%562:tensor<[1, 128, "
    "1536], kFp32, kCPU>) -> (%589:tensor<[1, 128, 1536], kFp32, kCPU>)",
};

/// A text whose values are counted from 0, with 453 for 0 as in the sample.
std::string countedFrom453(const std::string &text) {
  static const std::regex number("%([0-9]+):");
  std::string result;
  auto at = text.begin();
  for (std::sregex_iterator it(text.begin(), text.end(), number), end;
       it != end; ++it) {
    result.append(at, text.begin() + it->position(0));
    result += "%" + std::to_string(std::stoll((*it)[1]) + 453) + ":";
    at = text.begin() + it->position(0) + it->length(0);
  }
  return result.append(at, text.end());
}

// SPEC: 286: parameters are loaded before the trace.
TEST_F(GuideTest, AModelWithoutParametersIsNotTraced) {
  mllm::models::QWenConfig cfg;
  mllm::models::QWenForCausalLM llm(cfg);
  auto ir_ctx = mllm::ir::trace(llm, Tensor::empty({1, 128}, kInt64));
  ASSERT_NE(ir_ctx, nullptr);
  ASSERT_FALSE(ir_ctx->status());
  EXPECT_EQ(ir_ctx->status().cause(), "model: the model has no parameters yet");
  EXPECT_NE(
      ir_ctx->status().message().find("call load() with mllm::load(path)"),
      std::string::npos)
      << ir_ctx->status().message();
}

// A checkpoint of the sizes of Qwen2.5-1.5B, of which a trace reads the names
// and shapes alone.
TEST_F(GuideTest, AModelIsTraced) {
  llmir::test::TinyModel published;
  published.family = "qwen2";
  published.hidden = 1536;
  published.intermediate = 8960;
  published.layers = 28;
  published.heads = 12;
  published.kvHeads = 2;
  published.headDim = 128;
  published.vocab = 151936;
  published.tied = true;
  llmir::test::TempFolder folder;
  ASSERT_TRUE(published.complete().open(folder));
  std::string path = folder.path();
  std::reference_wrapper<std::string> model_files = path;
  testing::internal::CaptureStdout();

  // SPEC: 284 285 286 287 288 289
  // clang-format off
// ... context init
mllm::models::QWenConfig cfg;
mllm::models::QWenForCausalLM llm(cfg);

// the model's parameters must be loaded before trace.
llm.load(mllm::load(model_files.get()));
auto ir_ctx = mllm::ir::trace(llm, Tensor::empty({1, 128}, kInt64));
auto dump_printer = IRPrinter();
ir_ctx->topLevelOp()->dump(dump_printer);
  // clang-format on

  const std::string text =
      countedFrom453(testing::internal::GetCapturedStdout());
  ASSERT_TRUE(ir_ctx->status()) << ir_ctx->status().message();
  std::istringstream lines(text);
  for (const char *wanted : sampleLines) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(line, wanted); // SPEC: 292 295-300
  }
  for (const char *wanted :
       {// The guide's LinearOp, and the MLP of its first layer.
        "    linalg.kCPU.LinearOp(%455:tensor<[1, 128, 1536], kFp32, kCPU>) -> "
        "(%456:tensor<[1, 128, 12, 128], kFp32, kCPU>)\n",
        "    graph.SubGraphOp @model.layers.0.mlp <kCPU>{\n"
        "        (%475:tensor<[1, 128, 1536], kFp32, kCPU>) -> "
        "(%480:tensor<[1, 128, 1536], kFp32, kCPU>){\n"
        "            linalg.kCPU.LinearOp(%475:tensor<[1, 128, 1536], kFp32, "
        "kCPU>) -> (%476:tensor<[1, 128, 8960], kFp32, kCPU>)\n"})
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted;
  EXPECT_TRUE(errors.empty()) << errors.front();
}

} // namespace
} // namespace mllm
