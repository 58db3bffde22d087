// RUN: llmir-frontend-tests --gtest_filter='ModuleTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model-building API: user-defined modules.
//
//===----------------------------------------------------------------------===//

#include "TraceModel.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "mllm/nn/Layers.h"

#include <gtest/gtest.h>

#include <functional>

using namespace llmir;
using ::mllm::kSymbolic;
using ::mllm::Tensor;
namespace nn = ::mllm::nn;
namespace ir = ::mllm::ir;

namespace {

/// Binds every parameter to an f32 tensor with its name.
struct AnyParameters : ir::ParameterSource {
  Expected<ir::ParameterBinding> bind(mlir::MLIRContext &context,
                                      const nn::Parameter &parameter) override {
    names.push_back(parameter.path());
    if (parameter.path() == refused)
      return Status(StatusCode::NotFound, "no " + refused);
    ir::ParameterBinding binding;
    binding.type = mlir::RankedTensorType::get(
        parameter.shape(), mlir::Float32Type::get(&context));
    binding.source = parameter.path();
    return binding;
  }
  std::vector<std::string> names;
  std::string refused;
};

/// A module whose forward() is a function.
class Function : public nn::Module {
public:
  explicit Function(std::function<Tensor(Function &, const Tensor &)> body)
      : body(std::move(body)) {}
  Tensor forward(const Tensor &x) override { return body(*this, x); }
  template <typename T, typename... Args>
  T add(const std::string &name, Args &&...args) {
    return reg<T>(name, std::forward<Args>(args)...);
  }

private:
  std::function<Tensor(Function &, const Tensor &)> body;
};

class ModuleTest : public testing::Test {
protected:
  /// Traces a model that embeds its tokens in 8 columns and runs `body`.
  Expected<mlir::OwningOpRef<mlir::ModuleOp>>
  trace(std::function<Tensor(Function &, const Tensor &)> body) {
    Function model([&](Function &self, const Tensor &ids) {
      return body(self, self.add<nn::Embedding>("embed", 10, 8)(ids));
    });
    return ir::traceModel(context, model, "Model", parameters);
  }

  void expectRefused(std::function<Tensor(Function &, const Tensor &)> body,
                     const std::string &text) {
    auto traced = trace(std::move(body));
    ASSERT_FALSE(traced) << "was accepted";
    EXPECT_EQ(traced.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(traced.status().cause().find(text), std::string::npos)
        << traced.status().message();
  }

  mlir::MLIRContext context;
  AnyParameters parameters;
};

TEST_F(ModuleTest, PathsFollowTheTree) {
  auto traced = trace([](Function &self, const Tensor &x) {
    auto block =
        self.add<Function>("block", [](Function &inner, const Tensor &y) {
          return inner.add<nn::Linear>("proj", 8, 8, true)(y);
        });
    EXPECT_EQ(self.path(), "");
    EXPECT_EQ(block.path(), "block");
    return block(x);
  });
  ASSERT_TRUE(traced) << traced.status().message();
  EXPECT_EQ(parameters.names,
            (std::vector<std::string>{"embed.weight", "block.proj.weight",
                                      "block.proj.bias"}));
}

TEST_F(ModuleTest, ASharedModuleIsTracedOnceAndCalledTwice) {
  auto traced = trace([](Function &self, const Tensor &x) {
    auto block = self.add<Function>(
        "block", [](Function &, const Tensor &y) { return y + y; });
    return block(block(x));
  });
  ASSERT_TRUE(traced) << traced.status().message();
  int64_t subgraphs = 0, calls = 0;
  (**traced)->walk([&](llmir::mllm::SubGraphOp) { ++subgraphs; });
  (**traced)->walk([&](llmir::mllm::CallGraphOp) { ++calls; });
  EXPECT_EQ(subgraphs, 2);
  EXPECT_EQ(calls, 2);
}

TEST_F(ModuleTest, ASharedParameterIsBoundOnce) {
  auto traced = trace([](Function &self, const Tensor &x) {
    auto first = self.add<nn::Linear>("first", 8, 8, false);
    auto second = self.add<nn::Linear>("second", first.weight());
    return second(first(x));
  });
  ASSERT_TRUE(traced) << traced.status().message();
  EXPECT_EQ(parameters.names,
            (std::vector<std::string>{"embed.weight", "first.weight"}));
}

TEST_F(ModuleTest, AMissingParameterEndsTheTrace) {
  parameters.refused = "first.weight";
  auto traced = trace([](Function &self, const Tensor &x) {
    auto y = self.add<nn::Linear>("first", 8, 8, false)(x);
    EXPECT_FALSE(y.isValid());
    // All later calls have no effect.
    y = self.add<nn::RMSNorm>("norm", 8, 1e-5)(y * y + x);
    y = self.add<nn::SiLU>("act")(y.view({kSymbolic, 2, 4}));
    auto [keys, values] = self.add<nn::KVCache>("cache", 0)(y, y);
    y = self.add<nn::FlashAttention2>("attention", 1.0)(y, keys, values);
    y = self.add<nn::RoPE>("rope", std::vector<double>{1.0})(y);
    y = self.add<Function>("block",
                           [](Function &, const Tensor &z) { return z; })(y);
    return self.add<nn::Linear>("last", 8, 8, false)(y);
  });
  ASSERT_FALSE(traced);
  EXPECT_EQ(traced.status().code(), StatusCode::NotFound);
  EXPECT_EQ(traced.status().cause(), "no first.weight");
}

TEST_F(ModuleTest, AWeightThatDoesNotFitNamesTheLayer) {
  expectRefused(
      [](Function &self, const Tensor &x) {
        return self.add<nn::Linear>("proj", 9, 4, false)(x);
      },
      "proj: 'mllm.linalg.linear' op weight @proj.weight has shape 4x9, but "
      "the op needs 4x8");
}

TEST_F(ModuleTest, AnInputOfAnotherRankNamesTheLayer) {
  expectRefused(
      [](Function &self, const Tensor &x) {
        return self.add<nn::RoPE>("rope", std::vector<double>{1.0})(x);
      },
      "rope: 'mllm.linalg.rope' op operand #0 must be");
}

TEST_F(ModuleTest, OperandsOfDifferentShapes) {
  expectRefused(
      [](Function &, const Tensor &x) { return x + x.view({kSymbolic, 2, 4}); },
      "do not broadcast");
}

TEST_F(ModuleTest, AViewThatDoesNotFit) {
  expectRefused(
      [](Function &, const Tensor &x) { return x.view({kSymbolic, 3, 3}); },
      "operand's static sizes have the product 8, but result's have 9");
}

TEST_F(ModuleTest, AModuleThatCallsItself) {
  expectRefused(
      [](Function &self, const Tensor &x) {
        auto block = std::make_shared<std::optional<Function>>();
        block->emplace(self.add<Function>(
            "block",
            [block = std::weak_ptr(block)](Function &, const Tensor &y) {
              return (**block.lock())(y);
            }));
        return (**block)(x);
      },
      "'block' is called recursively");
}

/// The symbols of subgraphs, and of those that are called, in their order.
static std::pair<std::vector<std::string>, std::vector<std::string>>
symbolsOf(mlir::ModuleOp module) {
  std::pair<std::vector<std::string>, std::vector<std::string>> found;
  for (auto subgraph : module.getOps<llmir::mllm::SubGraphOp>())
    found.first.push_back(subgraph.getSymName().str());
  module.walk([&](llmir::mllm::CallGraphOp call) {
    found.second.push_back(call.getCallee().str());
  });
  return found;
}

TEST_F(ModuleTest, AModuleThatIsCalledWithTwoShapesBecomesTwoSubgraphs) {
  auto traced = trace([](Function &self, const Tensor &x) {
    auto block = self.add<Function>(
        "block", [](Function &, const Tensor &y) { return y + y; });
    // A module of this name does not lose it to the other's second subgraph.
    auto other = self.add<Function>(
        "block_1", [](Function &, const Tensor &y) { return -y; });
    Tensor once = block(other(x));
    Tensor again = block(x.view({kSymbolic, 2, 4}));
    Tensor last = block(x.view({kSymbolic, 2, 4}));
    return once + (again + last).view({kSymbolic, 8});
  });
  ASSERT_TRUE(traced) << traced.status().message();
  auto [subgraphs, calls] = symbolsOf(**traced);
  EXPECT_EQ(subgraphs,
            (std::vector<std::string>{"Model", "block_1", "block", "block_2"}));
  EXPECT_EQ(calls, (std::vector<std::string>{"block_1", "block", "block_2",
                                             "block_2"}));
}

TEST_F(ModuleTest, AModuleInAnotherStateBecomesAnotherSubgraph) {
  auto traced = trace([](Function &self, const Tensor &x) {
    double factor = 2;
    auto inner = self.add<Function>(
        "inner", [&](Function &, const Tensor &y) { return y * factor; });
    auto outer = self.add<Function>(
        "outer", [&](Function &, const Tensor &y) { return -inner(y); });
    Tensor y = outer(x);
    factor = 5;
    y = outer(y);
    factor = 2;
    return outer(y);
  });
  ASSERT_TRUE(traced) << traced.status().message();
  auto [subgraphs, calls] = symbolsOf(**traced);
  EXPECT_EQ(subgraphs, (std::vector<std::string>{"Model", "outer", "inner",
                                                 "outer_1", "inner_1"}));
  EXPECT_EQ(calls, (std::vector<std::string>{"outer", "outer_1", "outer",
                                             "inner", "inner_1"}));
}

// A module that hands values out by the back door is refused, not crashed on.
TEST_F(ModuleTest, AValueOfASecondCallDoesNotLeaveIt) {
  auto traced = trace([](Function &self, const Tensor &x) {
    Tensor kept;
    auto block = self.add<Function>("block", [&](Function &, const Tensor &y) {
      kept = -y;
      return kept;
    });
    Tensor y = block(block(x));
    return y + kept;
  });
  EXPECT_FALSE(traced);
}

TEST_F(ModuleTest, AValueOfTheCallerDoesNotEnterASecondCall) {
  auto traced = trace([](Function &self, const Tensor &x) {
    Tensor outside = -x;
    auto block = self.add<Function>(
        "block", [&](Function &, const Tensor &y) { return y + outside; });
    return block(block(x));
  });
  EXPECT_FALSE(traced);
}

TEST_F(ModuleTest, AModuleThatGivesNothing) {
  expectRefused(
      [](Function &self, const Tensor &x) {
        return self.add<Function>(
            "block", [](Function &, const Tensor &) { return Tensor(); })(x);
      },
      "block: forward() returned no tensor");
}

} // namespace
