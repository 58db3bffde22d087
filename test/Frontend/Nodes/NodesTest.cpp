// RUN: llmir-nodes-tests --gtest_filter='NodesTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Handles and what keeps them right: removal, replacement, changes during a
// walk, changes through MLIR's own interface, and the end of the context.
//
//===----------------------------------------------------------------------===//

#include "NodesFixture.h"

#include "mlir/Transforms/Passes.h"

using namespace mllm;
using namespace mllm::ir;

namespace {

TEST_F(NodesTest, OneHandlePerObject) {
  EXPECT_EQ(add->operand(0), neg->result());
  EXPECT_EQ(neg->result()->producerOp(), neg);
  EXPECT_EQ(context->lookupSymbol("model"), model);
  EXPECT_EQ(neg->nextOp(), add);
  EXPECT_EQ(add->prevOp(), neg);
  EXPECT_EQ(neg->prevOp(), nullptr);
  EXPECT_EQ(add->belongsTo(), model);
  EXPECT_EQ(x->belongsTo(), model);
  EXPECT_EQ(x->consumerOps(), (std::list<op_ptr_t>{neg, add}));
  // SPEC: 311 312
  EXPECT_EQ(add->inputs(), (std::list<node_ptr_t>{neg->result(), x}));
  EXPECT_EQ(add->outputs(), (std::list<node_ptr_t>{add->result()}));
  // SPEC: 245
  EXPECT_TRUE(add->operand(0)->isa_<tensor::TensorValue>());
  EXPECT_EQ(getOperation(add)->getNumOperands(), 2u);
  EXPECT_EQ(wrap(*context, getOperation(add)), add);
}

TEST_F(NodesTest, RemovedNodesAreDeadAndSayWhatTheyWere) {
  val_ptr_t sum = add->result();
  EXPECT_FALSE(writer->removeOp(neg));
  expectError("linalg.NegOp cannot be removed: result 0 of linalg.NegOp is "
              "used by linalg.AddOp");
  ASSERT_TRUE(writer->removeOp(ret));
  ASSERT_TRUE(writer->removeOp(add));
  EXPECT_TRUE(errors.empty());
  EXPECT_FALSE(add->isAlive());
  EXPECT_FALSE(sum->isAlive());
  EXPECT_EQ(add->getKind(), RK_None);
  EXPECT_FALSE(add->isa_<Op>());
  EXPECT_EQ(add->name(), "");
  expectError(
      "its name was queried of linalg.AddOp, which is no longer in the IR");
  EXPECT_EQ(add->operand(0), nullptr);
  expectError("its operands was queried of linalg.AddOp");
  EXPECT_EQ(sum->producerOp(), nullptr);
  expectError("its producer was queried of result 0 of linalg.AddOp");
  EXPECT_FALSE(writer->removeOp(add));
  expectError("linalg.AddOp cannot be removed: it is not in the IR");
  EXPECT_EQ(writer->create<linalg::NegOp>(sum), nullptr);
  expectError("operand 0 is result 0 of linalg.AddOp, which is no longer in "
              "the IR");
  // A new op, maybe at the same address, is another node.
  auto again = writer->create<linalg::AddOp>(neg->result(), x);
  EXPECT_NE(again, add);
  EXPECT_TRUE(again->isAlive());
  EXPECT_FALSE(add->isAlive());
}

TEST_F(NodesTest, WhatAnOpHoldsDiesWithIt) {
  region_ptr_t body = model->getTopRegion();
  ASSERT_TRUE(writer->removeOp(model));
  EXPECT_FALSE(body->isAlive());
  EXPECT_FALSE(x->isAlive());
  EXPECT_FALSE(neg->isAlive());
  EXPECT_FALSE(neg->isa_<linalg::NegOp>());
  EXPECT_TRUE(errors.empty());
  EXPECT_EQ(body->ops().front(), nullptr);
  expectError(
      "the first op was queried of a region that is no longer in the IR");
  EXPECT_EQ(writer->create<dbg::CommentOp>("nowhere"), nullptr);
  expectError("the writer's region is no longer in the IR");
  EXPECT_FALSE(writer->walk<Op>(
      [](IRWriter &, const op_ptr_t &) { return IRWriter::WALK_CONTINUE; }));
  expectError("the writer's region is no longer in the IR");
}

TEST_F(NodesTest, HandlesOutliveTheContext) {
  attr_ptr_t attr = context->create<IntAttr>(3);
  region_ptr_t body = model->getTopRegion();
  writer.reset();
  context.reset();
  EXPECT_FALSE(add->isAlive());
  EXPECT_FALSE(attr->isAlive());
  EXPECT_FALSE(body->isAlive());
  EXPECT_EQ(add->getContext(), nullptr);
  EXPECT_EQ(add->name(), "");
  EXPECT_FALSE(errors.empty());
}

TEST_F(NodesTest, AWalkGoesOnWhateverIsChanged) {
  // SPEC: 384
  std::vector<std::string> seen;
  EXPECT_TRUE(writer->walk<Op>([&](IRWriter &inner, const op_ptr_t &op) {
    seen.push_back(op->describe());
    if (op == neg) {
      // Replaced, removed and inserted: the walk continues with the add.
      auto other = inner.createAtPos<linalg::AbsOp>(op, IRWriter::AFTER, x);
      EXPECT_TRUE(inner.replaceOp(neg, other));
    } else if (op == add) {
      EXPECT_NE(inner.createAndReplaceOp<linalg::MulOp>(add, x, x), nullptr);
    }
    return IRWriter::WALK_CONTINUE;
  }));
  EXPECT_EQ(seen, (std::vector<std::string>{"linalg.NegOp", "linalg.AddOp",
                                            "cf.ReturnOp"}));
  EXPECT_TRUE(context->verify());
  EXPECT_TRUE(errors.empty());
  // An op that is removed before its turn is left out.
  seen.clear();
  writer->walk<Op>([&](IRWriter &inner, const op_ptr_t &op) {
    seen.push_back(op->describe());
    if (op->isa_<linalg::AbsOp>()) {
      EXPECT_FALSE(inner.removeOp(ret->prevOp())); // The return uses it.
    }
    if (seen.size() == 1) {
      EXPECT_TRUE(inner.removeOp(ret));
    }
    return IRWriter::WALK_CONTINUE;
  });
  EXPECT_EQ(seen.back(), "linalg.MulOp");
}

TEST_F(NodesTest, RecursiveWalksDescendAndFollowCalls) {
  // SPEC: 279
  auto outer = context->create<graph::SubGraphOp>("outer", type, type);
  IRWriter inOuter(context, outer->getTopRegion());
  val_ptr_t a = outer->getTopRegion()->inputs().front();
  auto first = inOuter.create<graph::CallGraphOp>("model", a);
  ASSERT_NE(first, nullptr);
  auto second = inOuter.create<graph::CallGraphOp>("model", first->result());
  ASSERT_NE(second, nullptr);
  inOuter.create<cf::ReturnOp>(second->result());
  IRWriter top(context);
  int calls = 0, adds = 0;
  top.walkRecursive<graph::CallGraphOp>(
      [&](IRWriter &, const graph::CallGraphOp::ptr_t &) {
        ++calls;
        return IRWriter::WALK_CONTINUE;
      });
  // SPEC: 246-249
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(second->operand(0), first->result());
  EXPECT_EQ(first->getAttr("callee")->cast_<SymbolAttr>()->data(), "model");
  inOuter.walkRecursive<linalg::AddOp>(
      [&](IRWriter &, const linalg::AddOp::ptr_t &) {
        ++adds;
        return IRWriter::WALK_CONTINUE;
      },
      /*followCalls=*/true);
  EXPECT_EQ(adds, 1); // Both calls are of one subgraph.
  EXPECT_FALSE(top.walkRecursive<linalg::NegOp>(
      [&](IRWriter &, const linalg::NegOp::ptr_t &) {
        return IRWriter::WALK_BREAK;
      }));
}

TEST_F(NodesTest, AnIterationOverARemovedOpEnds) {
  auto &ops = model->getTopRegion()->ops();
  EXPECT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops.back(), ret);
  auto it = ops.begin();
  ASSERT_TRUE(writer->createAndReplaceOp<linalg::AbsOp>(neg, x));
  ++it;
  // SPEC: 385
  EXPECT_EQ(it, ops.end());
  expectError("the iteration ends at linalg.NegOp, which was removed");
}

TEST_F(NodesTest, WhatIsWrongIsNotCreated) {
  std::string was = text();
  // SPEC: 314 316
  TensorType other{{3, 4}, kFp32, kCPU};
  EXPECT_EQ(writer->create<linalg::NegOp>(x, other), nullptr);
  expectError("in graph.SubGraphOp @model: linalg.NegOp is not valid: ");
  EXPECT_EQ(writer->create<linalg::LinearOp>(x, "missing", type), nullptr);
  expectError("in graph.SubGraphOp @model: linalg.LinearOp is not valid: ");
  EXPECT_EQ(context->create<graph::SubGraphOp>("model", type, type), nullptr);
  expectError("the subgraph @model is not created: the name is in use by "
              "graph.SubGraphOp @model");
  EXPECT_EQ(context->create<graph::CallGraphOp>("nobody", x), nullptr);
  EXPECT_FALSE(errors.empty());
  errors.clear();
  EXPECT_EQ(writer->create<linalg::NegOp>(val_ptr_t()), nullptr);
  expectError("mllm.linalg.neg: operand 0 is null");
  auto stranger = IRContext::make();
  EXPECT_EQ(stranger->create<linalg::NegOp>(x), nullptr);
  expectError("belongs to another context");
  // SPEC: 323
  EXPECT_FALSE(context->create<IntAttr>(1)->setAttr("a", 1));
  expectError("is immutable");
  EXPECT_EQ(text(), was);
  EXPECT_FALSE(context->status().isOk());
  context->clearStatus();
  EXPECT_TRUE(context->status().isOk());
}

TEST_F(NodesTest, WhatCannotBeReplacedIsNot) {
  std::string was = text();
  auto user =
      writer->createAtPos<linalg::NegOp>(add, IRWriter::AFTER, add->result());
  EXPECT_FALSE(writer->replaceOp(add, user));
  expectError("linalg.AddOp cannot be replaced: linalg.NegOp uses it itself");
  auto late = writer->createAtPos<linalg::AbsOp>(user, IRWriter::AFTER, x);
  EXPECT_FALSE(writer->replaceOp(neg, late));
  expectError("linalg.AbsOp comes after its user linalg.AddOp");
  EXPECT_FALSE(writer->replaceOp(neg, ret));
  expectError("cf.ReturnOp has a different number or types of results");
  EXPECT_FALSE(writer->insertOpAtFront(add));
  expectError("linalg.AddOp cannot be moved there: a value would be used "
              "before its definition");
  EXPECT_FALSE(writer->insertOpAtLast(model));
  expectError("cannot be moved into itself");
  EXPECT_TRUE(writer->insertOpAtFront(late));
  EXPECT_EQ(late->nextOp(), neg);
  EXPECT_TRUE(writer->insertOpAtPos(neg, IRWriter::AFTER, late));
  EXPECT_EQ(neg->nextOp(), late);
  EXPECT_TRUE(writer->insertOpAtLast(late));
  EXPECT_EQ(ret->prevOp(), late);
  EXPECT_TRUE(writer->removeOp(late));
  EXPECT_TRUE(writer->removeOp(user));
  EXPECT_EQ(text(), was);
  EXPECT_FALSE(writer->removeOp(context->topLevelOp()));
  expectError("the module cannot be removed from its context");
}

TEST_F(NodesTest, WhatIsOfAnotherContextIsRefused) {
  auto stranger = IRContext::make();
  auto other = stranger->create<graph::SubGraphOp>("other", type, type);
  IRWriter inside(stranger, other->getTopRegion());
  val_ptr_t y = other->getTopRegion()->inputs().front();
  auto abs = inside.create<linalg::AbsOp>(y);
  inside.create<cf::ReturnOp>(abs->result());
  std::ostringstream was, now;
  IRPrinter before(was), after(now);
  stranger->topLevelOp()->dump(before);
  const std::string mine = text();

  auto refused = [&](bool done, const std::string &what) {
    EXPECT_FALSE(done);
    expectError(what + " belongs to another context");
  };
  refused(writer->insertOpAtLast(abs), "linalg.AbsOp");
  refused(writer->insertOpAtFront(abs), "linalg.AbsOp");
  refused(writer->insertOpAtPos(neg, IRWriter::AFTER, abs), "linalg.AbsOp");
  refused(writer->insertOpAtPos(abs, IRWriter::AFTER, neg), "linalg.AbsOp");
  refused(writer->removeOp(other), "graph.SubGraphOp @other");
  refused(writer->replaceOp(neg, abs), "linalg.AbsOp");
  refused(writer->replaceOp(other, model), "graph.SubGraphOp @other");
  refused(writer->createAtPos<linalg::NegOp>(abs, IRWriter::BEFORE, x) !=
              nullptr,
          "linalg.AbsOp");
  refused(writer->createAndReplaceOp<linalg::NegOp>(abs, x) != nullptr,
          "linalg.AbsOp");
  refused(writer->removeValue(y), "argument 0 of graph.SubGraphOp @other");
  refused(writer->replaceValue(neg->result(), y),
          "argument 0 of graph.SubGraphOp @other");
  refused(writer->replaceValue(y, x), "argument 0 of graph.SubGraphOp @other");
  refused(context->addToSymbolTable(y, "y"),
          "argument 0 of graph.SubGraphOp @other");
  refused(context->setValueName(y, "y"),
          "argument 0 of graph.SubGraphOp @other");
  refused(neg->setAttr("note", attr_ptr_t(stranger->create<IntAttr>(5))),
          "5 : i64");

  // A writer of this context for a region of the other one.
  IRWriter lost(context, other->getTopRegion());
  const std::string region = "the region of graph.SubGraphOp @other";
  refused(lost.create<linalg::NegOp>(x) != nullptr, region);
  refused(lost.insertOpAtLast(neg), region);
  refused(lost.insertOpAtFront(neg), region);
  refused(lost.walk<Op>([](IRWriter &, const op_ptr_t &) {
    return IRWriter::WALK_CONTINUE;
  }),
          region);
  context->resetRegion(other->getTopRegion());
  expectError(region + " belongs to another context");
  EXPECT_EQ(context->getCurInsertRegion(),
            context->topLevelOp()->getTopRegion());

  stranger->topLevelOp()->dump(after);
  EXPECT_EQ(now.str(), was.str());
  EXPECT_EQ(text(), mine);
  EXPECT_TRUE(stranger->verify());
  EXPECT_TRUE(context->verify());
  // The other context's own writer removes it, and the handles hear of it.
  EXPECT_TRUE(IRWriter(stranger).removeOp(other));
  EXPECT_FALSE(other->isAlive());
  EXPECT_FALSE(abs->isAlive());
  EXPECT_FALSE(y->isAlive());
}

TEST_F(NodesTest, ValuesAreRemovedWhereNothingUsesThem) {
  EXPECT_FALSE(writer->removeValue(x));
  expectError("argument 0 of graph.SubGraphOp @model cannot be removed: it is "
              "used by linalg.AddOp");
  EXPECT_TRUE(x->isAlive());
  IRWriterGuard guard(context, model->getTopRegion());
  auto extra = context->create<tensor::TensorValue>(type, "extra");
  ASSERT_NE(extra, nullptr);
  EXPECT_EQ(model->getTopRegion()->inputs().size(), 2u);
  EXPECT_TRUE(writer->removeValue(extra));
  EXPECT_FALSE(extra->isAlive());
  EXPECT_EQ(model->getTopRegion()->inputs().size(), 1u);
  EXPECT_EQ(context->lookupSymbol("extra"), nullptr);
  EXPECT_EQ(extra->name(), "");
  expectError("argument 1 of graph.SubGraphOp @model");
  EXPECT_TRUE(context->verify());
  auto unused = writer->create<linalg::AbsOp>(x);
  EXPECT_TRUE(writer->removeValue(unused->result()));
  EXPECT_FALSE(unused->isAlive());
  EXPECT_TRUE(writer->replaceValue(neg->result(), x));
  EXPECT_EQ(add->operand(0), x);
}

TEST_F(NodesTest, MLIRsOwnTextIsAStyle) {
  const std::string module = text(IRPrinter::MLIR);
  EXPECT_NE(module.find("mllm.graph.subgraph @model"), std::string::npos)
      << module;
  std::ostringstream stream;
  IRPrinter printer(stream, IRPrinter::MLIR);
  model->getTopRegion()->dump(printer);
  EXPECT_NE(stream.str().find("mllm.linalg.neg"), std::string::npos);
  EXPECT_NE(stream.str().find("mllm.cf.return"), std::string::npos);
  EXPECT_TRUE(errors.empty());
}

TEST_F(NodesTest, ValuesHaveNamesSymbolsAndMetadata) {
  // SPEC: 264 265 344
  ASSERT_TRUE(context->setValueName(x, "input_tensor"));
  EXPECT_EQ(x->name(), "%input_tensor");
  EXPECT_FALSE(context->setValueName(neg->result(), "input_tensor"));
  expectError("%input_tensor is argument 0 of graph.SubGraphOp @model already");
  EXPECT_FALSE(context->setValueName(x, "9 lives"));
  expectError("'9 lives' is not a value's name");
  ASSERT_TRUE(context->addToSymbolTable(add->result(), "sum"));
  EXPECT_EQ(context->lookupSymbol("sum"), add->result());
  // SPEC: 332
  EXPECT_EQ(add->result()->symbol(), "sum");
  EXPECT_FALSE(context->addToSymbolTable(x, "model"));
  expectError("@model is in use by graph.SubGraphOp @model");
  EXPECT_FALSE(context->addToSymbolTable(x, "sum"));
  expectError("@sum is in use by result 0 of linalg.AddOp");
  EXPECT_EQ(context->getUniqueModuleName("model"), "model_1");
  ASSERT_TRUE(add->result()->setAttr("range", std::vector<double>{-1, 1}));
  ASSERT_TRUE(add->result()->setAttr("range", std::vector<double>{-2, 2}));
  EXPECT_EQ(add->result()->getAttr("range")->cast_<VectorFP64Attr>()->data(),
            (std::vector<double>{-2, 2}));
  EXPECT_EQ(add->result()->attrNum(), 1u);
  EXPECT_NE(text().find("%1:tensor<[2, 4], Float32, CPU>[@sum]"
                        "[mllm.range:mlir\"array<f64: -2.000000e+00, "
                        "2.000000e+00>\"])"),
            std::string::npos)
      << text();
  EXPECT_TRUE(add->result()->removeAttr("range"));
  EXPECT_FALSE(add->result()->removeAttr("range"));
  EXPECT_TRUE(context->removeFromSymbolTable("sum"));
  EXPECT_EQ(context->lookupSymbol("sum"), nullptr);
  EXPECT_TRUE(context->verify());
}

TEST_F(NodesTest, AttributesOfOpsAreVerified) {
  // SPEC: 263 313
  ASSERT_TRUE(add->setAttr("note", "here"));
  EXPECT_EQ(add->getAttr("note")->cast_<StrAttr>()->data(), "here");
  ASSERT_TRUE(add->setAttr("note", 7));
  EXPECT_EQ(add->getAttr("note")->cast_<IntAttr>()->data(), 7);
  std::ostringstream stream;
  IRPrinter printer(stream);
  add->dumpAttributes(printer);
  EXPECT_EQ(stream.str(), "[note:7 : i64]");
  EXPECT_TRUE(add->removeAttr("note"));
  EXPECT_EQ(add->attrNum(), 0u);
  auto softmax = writer->create<linalg::SoftmaxOp>(x, 1);
  ASSERT_NE(softmax, nullptr);
  EXPECT_FALSE(softmax->setAttr("axis", 9));
  expectError("linalg.SoftmaxOp rejects 'axis': ");
  EXPECT_EQ(softmax->getAttr("axis")->cast_<IntAttr>()->data(), 1);
  // Attributes do not affect an op's operands.
  // SPEC: 321 322 325
  EXPECT_TRUE(softmax->setAttr("axis", 0));
  EXPECT_EQ(softmax->inputs(), (std::list<node_ptr_t>{x}));
  EXPECT_FALSE(softmax->removeAttr("axis"));
  expectError("linalg.SoftmaxOp needs 'axis': ");
  EXPECT_FALSE(model->setAttr("sym_name", "other"));
  expectError("keeps its name");
}

TEST_F(NodesTest, ASubGraphKeepsItsNameAndType) {
  // One with a body, one whose body is not written yet, one without any.
  auto open = context->create<graph::SubGraphOp>("open", type, type);
  const std::string was = text(IRPrinter::MLIR);
  for (const op_ptr_t &each : {op_ptr_t(model), op_ptr_t(open)}) {
    for (const char *name : {"sym_name", "function_type"}) {
      EXPECT_FALSE(each->removeAttr(name));
      expectError("graph.SubGraphOp @" + each->symbol() + " needs '" + name +
                  "': ");
    }
    EXPECT_FALSE(each->setAttr("function_type", type));
    expectError("graph.SubGraphOp @" + each->symbol() +
                " rejects 'function_type': ");
    EXPECT_FALSE(each->setAttr("function_type", 5));
    expectError("rejects 'function_type': ");
  }
  EXPECT_EQ(text(IRPrinter::MLIR), was);
  // Their users are preserved.
  IRWriter body(context, open->getTopRegion());
  val_ptr_t y = open->getTopRegion()->inputs().front();
  EXPECT_TRUE(body.create<cf::ReturnOp>(y));
  EXPECT_TRUE(context->verify());
  EXPECT_FALSE(body.removeValue(y));
  expectError("it is used by cf.ReturnOp");
}

TEST_F(NodesTest, MLIRIsOneCallAway) {
  // SPEC: 268 330
  mlir::Operation *op = getOperation(add);
  EXPECT_EQ(op->getName().getStringRef(), "mllm.linalg.add");
  EXPECT_EQ(getModule(*context).getOperation(),
            getOperation(context->topLevelOp()));
  // What the context's rewriter does, handles hear of.
  mlir::IRRewriter &rewriter = getRewriter(*context);
  rewriter.replaceOp(op, op->getOperand(1));
  EXPECT_FALSE(add->isAlive());
  EXPECT_EQ(ret->operand(0), x);
  // Passes do not notify: all handles become dead, and none is invalid.
  mlir::PassManager passes(&getMLIRContext(*context));
  passes.addPass(mlir::createCanonicalizerPass());
  EXPECT_TRUE(run(*context, passes));
  EXPECT_FALSE(neg->isAlive());
  EXPECT_FALSE(model->isAlive());
  EXPECT_TRUE(context->topLevelOp()->isAlive());
  EXPECT_NE(context->lookupSymbol("model"), model);
}

TEST_F(NodesTest, EveryNodePrintsItself) {
  auto printed = [](auto &node, IRPrinter::Style style) {
    std::ostringstream stream;
    IRPrinter printer(stream, style);
    printer.setFirstNumber(7);
    node.dump(printer);
    return stream.str();
  };
  EXPECT_EQ(printed(*neg, IRPrinter::DOCUMENT),
            "linalg.kCPU.NegOp(%7:tensor<[2, 4], kFp32, kCPU>) -> "
            "(%8:tensor<[2, 4], kFp32, kCPU>)\n");
  EXPECT_EQ(printed(*neg, IRPrinter::FULL),
            "linalg.CPU.NegOp (%7:tensor<[2, 4], Float32, CPU>) -> "
            "(%8:tensor<[2, 4], Float32, CPU>)\n");
  EXPECT_EQ(printed(*x, IRPrinter::FULL), "%7");
  EXPECT_EQ(printed(*context->create<IntAttr>(5), IRPrinter::FULL), "5 : i64");
  std::string region = printed(*model->getTopRegion(), IRPrinter::FULL);
  EXPECT_EQ(region.find("(%7:tensor<[2, 4], Float32, CPU>) -> "
                        "(%9:tensor<[2, 4], Float32, CPU>) {\n"),
            0u)
      << region;
  EXPECT_EQ(context->getAutoIndexedValueName(), "3");
  EXPECT_EQ(add->result()->name(), "%2");
}

TEST_F(NodesTest, EveryKindOfOpHasItsClass) {
  EXPECT_EQ(context->topLevelOp()->getKind(), RK_Op_BuiltinIROp_ModuleOp);
  // SPEC: 304
  EXPECT_TRUE(model->isa_<graph::GraphIROp>());
  EXPECT_FALSE(model->isa_<linalg::LinalgIROp>());
  EXPECT_EQ(ret->getKind(), RK_Op_CfIROp_ReturnOp);
  // SPEC: 305 326
  EXPECT_EQ(x->cast_<tensor::TensorValue>()->shape(),
            (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(x->cast_<tensor::TensorValue>()->dtype(), kFp32);
  // SPEC: 207
  EXPECT_EQ(x->cast_<tensor::TensorValue>()->getDevice(), kCPU);
  TensorType onNPU{{1, kSymbolic}, kFp16, kQNN};
  auto other = context->create<graph::SubGraphOp>("npu", onNPU, onNPU);
  ASSERT_NE(other, nullptr);
  val_ptr_t y = other->getTopRegion()->inputs().front();
  EXPECT_EQ(y->cast_<tensor::TensorValue>()->type(), onNPU);
  // A parameter is registered by its name.
  // SPEC: 204
  auto weight =
      context->create<tensor::RegisterOp>("w", TensorType{{8, 4}, kFp32, kCPU});
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(context->lookupSymbol("@w"), weight);
  // SPEC: 306
  EXPECT_EQ(weight->getAttr("type")->cast_<TypeAttr>()->data(),
            (TensorType{{8, 4}, kFp32, kCPU}));
  auto linear =
      writer->create<linalg::LinearOp>(x, "w", TensorType{{2, 8}, kFp32, kCPU});
  ASSERT_NE(linear, nullptr);
  EXPECT_FALSE(writer->removeOp(weight));
  expectError("@w is referenced by linalg.LinearOp");
}

} // namespace
