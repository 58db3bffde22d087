// RUN: llmir-frontend-tests --gtest_filter='MistakesTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs that go wrong: none ends by it, and a trace and an eager call say
// the same.
//
//===----------------------------------------------------------------------===//

#include "Tracing.h"

#include <gtest/gtest.h>

using namespace ::mllm;
using llmir::test::Function;

namespace {

using Tensors = ir::Tensors;
using Body = std::function<Tensors(const Tensors &)>;

class MistakesTest : public testing::Test {
protected:
  void SetUp() override { clearStatus(); }
  void TearDown() override { clearStatus(); }

  static void expectIn(const llmir::Status &status, const std::string &part) {
    EXPECT_FALSE(status) << "want: " << part;
    EXPECT_NE(status.message().find(part), std::string::npos)
        << status.message();
    EXPECT_FALSE(status.advice().empty()) << status.message();
  }
  /// The error of the eager call.
  static void expectStatus(const std::string &part) {
    expectIn(status(), part);
    clearStatus();
  }
  static llmir::Status traceOf(const Body &body, const Tensors &inputs) {
    Function model(
        [&](Function &, const Tensors &given) { return body(given); });
    model.load(emptyParameters());
    Tensors shapes;
    for (const Tensor &input : inputs)
      shapes.push_back(Tensor::empty(input.dims(), input.dtype()));
    return ir::trace(model, shapes)->status();
  }
  /// The errors of a trace, and of the same call with values.
  static void expectBoth(const Body &body, const Tensors &inputs,
                         const std::string &part) {
    expectIn(traceOf(body, inputs), part);
    Function model(
        [&](Function &, const Tensors &given) { return body(given); });
    model.load(emptyParameters());
    for (const Tensor &result : model.call(inputs))
      EXPECT_FALSE(result.isValid());
    expectStatus(part);
  }

  const Tensor x = Tensor::fromVector({2, 3}, {1, -2, 3, 4, 0, -6});
  const Tensor yes = Tensor::full({}, 1, kBool);
  const Tensor three = Tensor::full({}, 3, kInt64);
};

//===----------------------------------------------------------------------===//
// After a failure
//===----------------------------------------------------------------------===//

TEST_F(MistakesTest, ABadTokenDoesNotEndTheProgram) {
  Function model([](Function &self, const Tensors &ids) {
    Tensor y = self.add<nn::Embedding>("w", 100, 4)(ids[0]);
    EXPECT_EQ(y.isValid() ? 1 : 0, y.rank() > 0 ? 1 : 0);
    Tensor isGreat = nn::F::sum(nn::F::sum(y, 0), 0) > 0.0;
    Tensors pair = ir::if_(
        isGreat, [&] { return Tensors{y, -y}; },
        [&] { return Tensors{-y, y}; });
    EXPECT_EQ(pair.size(), 2u);
    Tensor turned = ir::for_(Tensor::full({}, 2, kInt64), {pair[0], pair[1]},
                             [](const Tensor &, const Tensors &v) {
                               return Tensors{v[1], v[0]};
                             })[1];
    return Tensors{ir::while_(
        {turned},
        [](const Tensors &v) {
          return nn::F::sum(nn::F::sum(v[0], 0), 0) > 1e9;
        },
        [](const Tensors &v) { return v; })[0]};
  });
  model.load(parametersOf({{"model.w.weight", Tensor::full({100, 4}, 1.0)}}));
  EXPECT_EQ(model(Tensor::full({1}, 7, kInt64)).toVector(),
            std::vector<double>(4, -1.0))
      << status().message();
  Tensor failed = model(Tensor::full({1}, 100, kInt64));
  EXPECT_FALSE(failed.isValid());
  EXPECT_EQ(failed.shape(), std::vector<int64_t>());
  EXPECT_EQ(failed.size(-1), 0);
  EXPECT_FALSE(failed.view({-1}).isValid());
  expectStatus("model.w: ");
}

TEST_F(MistakesTest, AFailedBranchOrLoopGivesNullTensors) {
  auto branch = [](const Tensor &condition) {
    return [condition](const Tensors &v) {
      return Tensors{ir::if_(
          condition.isValid() ? condition : v[0] > 0.0,
          [&] { return Tensors{v[0], v[0]}; },
          [&] { return Tensors{v[0], v[0]}; })[1]};
    };
  };
  // [2, 3] truth values; none.
  expectBoth(branch(Tensor()), {x}, "'mllm.cf.if' op has a condition of type");
  EXPECT_EQ(ir::if_(
                Tensor(), [&] { return Tensors{x, x}; },
                [&] { return Tensors{x, x}; })
                .size(),
            2u);
  expectStatus("operand #0 of mllm.cf.if is a null tensor");
  EXPECT_EQ(ir::while_(
                {x, Tensor()}, [](const Tensors &) { return Tensor(); },
                [](const Tensors &v) { return v; })
                .size(),
            2u);
  expectStatus("operand #1 of mllm.cf.while is a null tensor");
  EXPECT_EQ(ir::for_(Tensor(), {x},
                     [](const Tensor &, const Tensors &v) { return v; })
                .size(),
            1u);
  expectStatus("operand #0 of mllm.cf.for is a null tensor");
}

// The condition that would end the recursion is null.
TEST_F(MistakesTest, ARecursionOfBranchesEnds) {
  std::function<Tensors(const Tensor &)> down = [&](const Tensor &n) {
    return ir::if_(
        n > 0.0, [&] { return down(n - 1.0); }, [&] { return Tensors{n}; });
  };
  EXPECT_EQ(down(Tensor::full({1}, 3)).at(0).item(), 0);
  EXPECT_FALSE(down(Tensor()).at(0).isValid());
  expectStatus("is a null tensor");
}

TEST_F(MistakesTest, AModuleGivesAsManyNullTensorsAsBefore) {
  Function model([](Function &, const Tensors &v) {
    return Tensors{v[0] + v[1], v[0] - v[1]};
  });
  EXPECT_FALSE(model(Tensor(), x)[0].isValid());
  expectStatus("operand #0 of a call is a null tensor");
  ASSERT_TRUE(model(x, x)[1].isValid());
  EXPECT_FALSE(model(x, Tensor())[1].isValid());
  expectStatus("operand #1 of a call is a null tensor");
  Function two(
      [](Function &, const Tensors &v) { return Tensors{v[0], v[0]}; });
  EXPECT_FALSE(two(x).isValid());
  expectStatus("returns 2 tensors, but one is expected");
  Function none([](Function &, const Tensors &) { return Tensors(); });
  EXPECT_FALSE(none(x).isValid());
  expectStatus("model: forward() returned no tensor");
}

//===----------------------------------------------------------------------===//
// Null tensors
//===----------------------------------------------------------------------===//

TEST_F(MistakesTest, ANullOperandIsAFailure) {
  const std::string isNull = " is a null tensor";
  expectBoth([](const Tensors &) { return Tensors{nn::F::concat({}, 0)}; }, {x},
             "mllm.linalg.concat has no operands");
  expectBoth(
      [](const Tensors &v) {
        return Tensors{nn::F::concat({v[0], Tensor()}, 0)};
      },
      {x}, "operand #1 of mllm.linalg.concat" + isNull);
  expectBoth([](const Tensors &v) { return Tensors{v[0] + Tensor()}; }, {x},
             "operand #1 of mllm.linalg.add" + isNull);
  expectBoth(
      [](const Tensors &v) { return Tensors{nn::F::matmul(Tensor(), v[0])}; },
      {x}, "operand #0 of mllm.linalg.matmul" + isNull);
  expectBoth([](const Tensors &) { return Tensors{Tensor().view({1})}; }, {x},
             "operand #0 of mllm.linalg.view" + isNull);
  expectBoth([](const Tensors &) { return Tensors{Tensor() > 1.0}; }, {x},
             "operand #0 of mllm.linalg.compare" + isNull);
  expectBoth(
      [](const Tensors &v) { return Tensors{nn::F::index(v[0], {Tensor()})}; },
      {x}, "operand #1 of mllm.linalg.index" + isNull);
  expectBoth(
      [](const Tensors &v) {
        auto [k, values] = nn::KVCache(0)(v[0], Tensor());
        return Tensors{k, values};
      },
      {x}, "operand #1 of mllm.linalg.kv_cache" + isNull);
}

//===----------------------------------------------------------------------===//
// Two layers of one name
//===----------------------------------------------------------------------===//

TEST_F(MistakesTest, TwoLayersOfOneNameWantOneShape) {
  Function model([](Function &self, const Tensors &v) {
    auto a = self.add<nn::Linear>("w", 3, 3, false);
    auto b = self.add<nn::Linear>("w", 3, 400, false);
    return Tensors{b(a(v[0])) * 2.0};
  });
  model.load(parametersOf({{"model.w.weight", Tensor::full({3, 3}, 1.0)}}));
  const std::string refused =
      "weight @model.w.weight has shape 3x3, but the op needs 400x3";
  EXPECT_FALSE(model(x).isValid());
  expectStatus(refused);
  expectIn(ir::trace(model, Tensor::empty({2, 3}))->status(), refused);
}

//===----------------------------------------------------------------------===//
// Values that a trace does not have
//===----------------------------------------------------------------------===//

TEST_F(MistakesTest, AskingForValuesEndsATraceWithTheLine) {
  const std::string here = "MistakesTest.cpp:";
  int line = 0;
  llmir::Status status = traceOf(
      [&](const Tensors &v) {
        line = __LINE__ + 1;
        return Tensors{v[0] * nn::F::sum(v[0], 0).item()};
      },
      {x});
  expectIn(status, here + std::to_string(line) +
                       ": item() reads the value of a traced tensor");
  status = traceOf(
      [&](const Tensors &v) {
        line = __LINE__ + 1;
        const std::vector<double> numbers = v[0].toVector();
        EXPECT_EQ(numbers, std::vector<double>(6));
        return Tensors{v[0] * numbers[5]};
      },
      {x});
  expectIn(status, here + std::to_string(line) +
                       ": toVector() reads the value of a traced tensor");
  EXPECT_EQ(status.message().find("shapes"), std::string::npos);
}

TEST_F(MistakesTest, AConditionWithoutALineIsNamed) {
  auto choose = [](const Tensor &condition, const Tensor &y) {
    return condition ? y : y * 2.0;
  };
  expectIn(
      traceOf([&](const Tensors &v) { return Tensors{choose(v[1], v[0])}; },
              {x, yes}),
      "model: input #1: a C++ condition reads the value");
  expectIn(traceOf(
               [&](const Tensors &v) {
                 return Tensors{choose(nn::F::sum(v[1], 0), v[0])};
               },
               {x, three.view({1})}),
           "model: a result of mllm.linalg.reduce_sum: a C++ condition");
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

TEST_F(MistakesTest, ATraceAndAnEagerCallTakeTheSameConditions) {
  auto branch = [](const Tensors &v) {
    return ir::if_(
        v[1], [&] { return Tensors{v[0]}; }, [&] { return Tensors{-v[0]}; });
  };
  EXPECT_TRUE(traceOf(branch, {x, yes}));
  EXPECT_EQ(branch({x, yes})[0].toVector(), x.toVector());
  expectBoth(
      branch, {x, x > 0.0},
      "'mllm.cf.if' op has a condition of type 'tensor<2x3xi1>', expected a "
      "single element");
  expectBoth(branch, {x, Tensor::full({}, 0.5)},
             "'mllm.cf.if' op operand #0 must be");
  auto loop = [](const Tensors &v) {
    return ir::while_(
        {v[0], v[1]}, [](const Tensors &c) { return c[1]; },
        [](const Tensors &c) { return c; });
  };
  expectBoth(loop, {x, three},
             "'mllm.cf.while' op has a condition that does not yield a single "
             "truth value first");
}

TEST_F(MistakesTest, TheTurnsOfALoopKeepItsTypes) {
  auto loop = [](std::function<Tensors(const Tensor &)> turn) {
    return [turn](const Tensors &v) {
      return ir::for_(v[1], {v[0]}, [turn](const Tensor &, const Tensors &c) {
        return turn(c[0]);
      });
    };
  };
  const std::string flow = "along control flow edge";
  auto cast = [](const Tensor &c) { return Tensors{c.to(kInt64)}; };
  auto grow = [](const Tensor &c) { return Tensors{nn::F::concat({c, c}, 0)}; };
  auto none = [](const Tensor &) { return Tensors(); };
  expectBoth(loop(cast), {x, three}, "'mllm.cf.for' op " + flow);
  expectBoth(loop(grow), {x, three}, "'mllm.cf.for' op " + flow);
  expectBoth(loop(none), {x, three}, "'mllm.cf.for' op " + flow);
  expectBoth(loop([](const Tensor &c) { return Tensors{-c}; }),
             {x, Tensor::full({}, 3)}, "'mllm.cf.for' op operand #0 must be");
  expectBoth(
      [&](const Tensors &v) {
        return ir::while_(
            {v[0]},
            [](const Tensors &c) {
              return nn::F::sum(nn::F::sum(c[0], 0), 0) < 9.0;
            },
            [&](const Tensors &c) { return grow(c[0]); });
      },
      {x}, "'mllm.cf.while' op " + flow);
}

//===----------------------------------------------------------------------===//
// Advice
//===----------------------------------------------------------------------===//

TEST_F(MistakesTest, OnlyShapesThatDoNotFitAreSaidToBeSo) {
  auto hasNoShapes = [](const Body &body, const Tensors &inputs) {
    llmir::Status status = traceOf(body, inputs);
    EXPECT_FALSE(status);
    EXPECT_EQ(status.message().find("shapes"), std::string::npos)
        << status.message();
    EXPECT_FALSE(status.advice().empty());
  };
  hasNoShapes(
      [](const Tensors &v) {
        return Tensors{nn::F::pad(v[0], {1, 1}, {1, 1}, "foo")};
      },
      {x});
  hasNoShapes(
      [](const Tensors &v) { return Tensors{v[0] > 0.0 ? v[0] : -v[0]}; },
      {yes.to(kFp32)});
  Function self([&](Function &me, const Tensors &v) { return me.call(v); });
  self.load(emptyParameters());
  llmir::Status status = ir::trace(self, Tensor::empty({2}))->status();
  expectIn(status, "'model' is called recursively");
  EXPECT_EQ(status.message().find("shapes"), std::string::npos);
}

} // namespace
