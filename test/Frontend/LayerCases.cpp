//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerCases.h"

using namespace ::mllm;
using namespace llmir::test;
namespace F = ::mllm::nn::F;
using In = ir::Tensors;

namespace {

/// Adds rows to the table; inputs are random and differ from row to row.
class Table {
public:
  Tensor floats(const std::vector<int64_t> &shape) {
    return Tensor::fromVector(shape, numbers.random(shape));
  }
  static Tensor ints(const std::vector<int64_t> &shape,
                     std::vector<double> values, DataTypes type = kInt32) {
    return Tensor::fromVector(shape, std::move(values), type);
  }
  LayerCase &add(const std::string &name, Function::Body body, In inputs) {
    cases.push_back({name, std::move(body), std::move(inputs), {}, {}});
    return cases.back();
  }
  /// A function of tensors.
  LayerCase &fn(const std::string &name, std::function<In(const In &)> function,
                In inputs) {
    return add(
        name, [function](Function &, const In &in) { return function(in); },
        inputs);
  }
  /// A layer made from `options` and called with all inputs.
  template <typename Layer, typename... Options>
  LayerCase &layer(const std::string &name, In inputs, Options... options) {
    return add(
        name,
        [=](Function &self, const In &in) {
          auto made = self.add<Layer>("layer", options...);
          return In{callWith(made, in)};
        },
        inputs);
  }

  std::vector<LayerCase> cases;

private:
  template <typename Layer>
  static auto callWith(const Layer &layer, const In &in)
      -> decltype(layer(in[0])) {
    return layer(in[0]);
  }
  template <typename Layer>
  static auto callWith(const Layer &layer, const In &in)
      -> decltype(layer(in[0], in[1])) {
    return layer(in[0], in[1]);
  }

  Numbers numbers;
};

void addElementwise(Table &t) {
  struct Unary {
    const char *name;
    Tensor (*function)(const Tensor &);
  };
  for (Unary each : {Unary{"quickGelu", F::quickGelu},
                     {"relu", F::relu},
                     {"sigmoid", F::sigmoid},
                     {"silu", F::silu},
                     {"exp", F::exp},
                     {"sin", F::sin},
                     {"cos", F::cos},
                     {"abs", F::abs},
                     {"zerosLike", F::zerosLike},
                     {"onesLike", F::onesLike}})
    t.fn(each.name, [=](const In &in) { return In{each.function(in[0])}; },
         {t.floats({3, 5})});
  t.fn("log", [](const In &in) { return In{F::log(in[0] + 1.0)}; },
       {t.floats({3, 5})});
  t.fn("gelu",
       [](const In &in) { return In{F::gelu(in[0]), F::gelu(in[0], true)}; },
       {t.floats({3, 5})})
      .mentions = {"approximate = \"none\""};
  t.fn("clip", [](const In &in) { return In{F::clip(in[0], -0.2, 0.3)}; },
       {t.floats({3, 5})});
  t.fn("neg", [](const In &in) { return In{-in[0]}; }, {t.floats({3, 5})});
  t.fn("arithmetic",
       [](const In &in) {
         Tensor sum = in[0] + in[1];
         Tensor difference = sum - in[1] * 2.0;
         return In{difference * in[1], in[0] / (in[1] + 2.0), in[0] - 1.0};
       },
       {t.floats({3, 5}), t.floats({5})});
  t.fn("comparisons",
       [](const In &in) {
         const Tensor &a = in[0], &b = in[1];
         Tensor isLess = a<b, isMore = a> b;
         return In{isLess, isMore, a <= b, a >= b, a == b, a != b};
       },
       {Table::ints({4}, {0, 1, 2, 3}), Table::ints({4}, {3, 1, 2, 0})});
  t.fn("comparedWithANumber",
       [](const In &in) {
         Tensor isLess = in[0] < 1.0, isMore = in[0] > 1.0;
         return In{isLess, isMore};
       },
       {Table::ints({4}, {0, 1, 2, 3})})
      .gap = "'mllm.tensor.constant' op has no kernel";
  t.fn("logic",
       [](const In &in) {
         return In{F::logicalAnd(in[0], in[1]), F::logicalOr(in[0], in[1]),
                   F::logicalNot(in[0])};
       },
       {Table::ints({4}, {0, 0, 1, 1}, kBool),
        Table::ints({4}, {0, 1, 0, 1}, kBool)});
  t.fn("where", [](const In &in) { return In{F::where(in[0], in[1], in[2])}; },
       {Table::ints({2, 1}, {0, 1}, kBool), t.floats({2, 3}), t.floats({3})});
  t.fn("fill",
       [](const In &in) {
         return In{F::fullLike(in[0], 2.5), F::arangeLike(in[0], 3, -1),
                   F::randomLike(in[0], -1, 1, 42), F::copy(in[0], in[1])};
       },
       {t.floats({2, 3}), t.floats({2, 3})})
      .mentions = {"specific %arg0", "value = 2.5", "start = 3.0",
                   "step = -1.0", "seed = 42"};
}

void addShapes(Table &t) {
  t.fn("joined",
       [](const In &in) {
         return In{F::concat({in[0], in[1]}, -1), F::stack({in[0], in[0]}, 1)};
       },
       {t.floats({2, 3}), t.floats({2, 1})});
  t.fn("moved",
       [](const In &in) {
         In parts = in[0].split({1, 2}, 1);
         return In{parts[0],
                   parts[1],
                   in[0].transpose(0, 2),
                   in[0].permute({1, 2, 0}),
                   in[0].reshape({-1, 6}),
                   in[0].view({2, 12}).contiguous().clone(),
                   in[0].repeat(1, 2)};
       },
       {t.floats({2, 3, 4})});
  t.fn("cast",
       [](const In &in) {
         return In{(in[0] * 10.0).to(kInt32), in[1].to(kFp32)};
       },
       {t.floats({6}), Table::ints({3}, {-1, 0, 7})});
  LayerCase &deviceCase =
      t.fn("device", [](const In &in) { return In{in[0].to(kCUDA).to(kCPU)}; },
           {t.floats({6})});
  deviceCase.mentions = {"kCUDA"};
  deviceCase.gap = "only tensors on the CPU can be compiled";
  t.fn("slice",
       [](const In &in) {
         return In{F::slice(in[0], {{-2}, {0, 5, 2}}),
                   F::slice(in[0], {{1, 3}})};
       },
       {t.floats({4, 6})})
      .mentions = {"[-2:, 0:5:2]"};
  t.fn("index",
       [](const In &in) {
         return In{F::index(in[0], {{}, in[1], F::Range{0, 4}}),
                   F::index(in[0], {in[1]})};
       },
       {t.floats({5, 8, 6}), Table::ints({3}, {4, 0, 2})});
  t.fn("pad",
       [](const In &in) {
         return In{F::pad(in[0], {0, 1}, {2, 0}, "constant", 1.5),
                   F::pad(in[0], {1, 1}, {1, 2}, "reflect"),
                   F::pad(in[0], {1, 0}, {0, 4}, "replicate"),
                   F::pad(in[0], {2, 3}, {1, 1}, "circular")};
       },
       {t.floats({2, 3})})
      .mentions = {"constant %arg0", "value = 1.5", "reflect %arg0",
                   "replicate %arg0", "circular %arg0"};
  t.fn("gather", [](const In &in) { return In{F::gather(in[0], in[1], 1)}; },
       {t.floats({2, 5, 3}), Table::ints({2, 2}, {4, 0, 0, 3}, kInt64)});
  t.fn("scatter",
       [](const In &in) { return In{F::scatter(in[0], in[1], in[2], 1)}; },
       {t.floats({2, 5}), Table::ints({2, 3}, {4, 0, 4, 1, 2, 3}),
        t.floats({2, 3})});
  t.fn("maskedScatter",
       [](const In &in) { return In{F::maskedScatter(in[0], in[1], in[2])}; },
       {t.floats({2, 3}), Table::ints({2, 3}, {1, 0, 1, 0, 0, 1}, kBool),
        t.floats({4})});
}

void addAlongADimension(Table &t) {
  t.fn("reductions",
       [](const In &in) {
         return In{F::max(in[0], 0), F::min(in[0], -1, true), F::sum(in[0], 1),
                   F::mean(in[0], 1, true)};
       },
       {t.floats({3, 5})});
  t.fn("topk",
       [](const In &in) {
         auto [most, where] = F::topk(in[0], 2);
         auto [least, places] = F::topk(in[0], 3, 0, /*largest=*/false);
         return In{most, where, least, places};
       },
       {t.floats({4, 5})})
      .mentions = {"largest = false"};
  t.fn("argsort",
       [](const In &in) {
         return In{F::argsort(in[0]), F::argsort(in[0], 0, true)};
       },
       {t.floats({4, 5})})
      .mentions = {"descending = true"};
  t.fn("matmul",
       [](const In &in) {
         return In{F::matmul(in[0], in[1]),
                   F::matmul(in[0], in[0], true, false),
                   F::softmax(F::matmul(in[0], in[0], false, true), -1)};
       },
       {t.floats({2, 3, 4}), t.floats({4, 5})});
  LayerCase &interpolateCase = t.fn(
      "interpolate",
      [](const In &in) {
        return In{F::interpolate(in[0], {5, 3}, "bilinear", true),
                  F::interpolateBy(in[0], {2.0, 0.5}, "bicubic", false, true)};
      },
      {t.floats({1, 2, 4, 6})});
  interpolateCase.mentions = {"align_corners", "antialias", "scale_factor"};
}

void addLayers(Table &t) {
  t.layer<nn::Embedding>("Embedding", {Table::ints({4}, {6, 0, 3, 3}, kInt64)},
                         7, 5);
  t.layer<nn::Linear>("Linear", {t.floats({3, 8})}, 8, 6, true);
  t.add("LinearOfHeads",
        [](Function &self, const In &in) {
          auto linear = self.add<nn::Linear>("layer", 8, 6, false);
          return In{linear(in[0], {2, 3})};
        },
        {t.floats({3, 8})});
  t.add("Experts",
        [](Function &self, const In &in) {
          auto gate =
              self.add<nn::ExpertMatrices>("gate", 4, 8, 6, nn::Storage());
          auto up = self.add<nn::ExpertMatrices>("up", 4, 8, 6, nn::Storage());
          auto down =
              self.add<nn::ExpertMatrices>("down", 4, 6, 8, nn::Storage());
          auto experts = self.add<nn::Experts>("layer", gate, up, down);
          return In{experts(in[0], in[1], in[2])};
        },
        {t.floats({3, 8}), Table::ints({3, 2}, {0, 3, 2, 1, 0, 1}, kInt32),
         t.floats({3, 2})});
  t.layer<nn::HeadLinear>("HeadLinear", {t.floats({3, 2, 16})}, 2, 16, 32);
  t.add("ExpertsWithBiases",
        [](Function &self, const In &in) {
          const nn::Storage plain;
          auto gate = self.add<nn::ExpertMatrices>("gate", 4, 8, 6, plain,
                                                   "weight", true);
          auto up = self.add<nn::ExpertMatrices>("up", 4, 8, 6, plain, "weight",
                                                 true);
          auto down = self.add<nn::ExpertMatrices>("down", 4, 6, 8, plain,
                                                   "weight", true);
          auto experts = self.add<nn::Experts>("layer", gate, up, down, 0.5);
          return In{experts(in[0], in[1], in[2])};
        },
        {t.floats({3, 8}), Table::ints({3, 2}, {0, 3, 2, 1, 0, 1}, kInt32),
         t.floats({3, 2})})
      .mentions = {"gate_bias", "swiglu_limit"};
  t.add("ExpertsWithGELU",
        [](Function &self, const In &in) {
          const nn::Storage plain;
          auto gate = self.add<nn::ExpertMatrices>("gate", 4, 8, 6, plain);
          auto up = self.add<nn::ExpertMatrices>("up", 4, 8, 6, plain);
          auto down = self.add<nn::ExpertMatrices>("down", 4, 6, 8, plain);
          auto experts = self.add<nn::Experts>("layer", gate, up, down,
                                               /*swigluLimit=*/0.0,
                                               /*usesGELU=*/true);
          return In{experts(in[0], in[1], in[2])};
        },
        {t.floats({3, 8}), Table::ints({3, 2}, {0, 3, 2, 1, 0, 1}, kInt32),
         t.floats({3, 2})})
      .mentions = {"gelu"};
  t.layer<nn::RMSNorm>("RMSNorm", {t.floats({3, 16})}, 16, 1e-5);
  t.layer<nn::RMSNorm>("RMSNormOfOffsets", {t.floats({3, 16})}, 16, 1e-5, true)
      .mentions = {"unit_offset"};
  t.layer<nn::LayerNorm>("LayerNorm", {t.floats({3, 16})}, 16, 1e-5);
  t.layer<nn::LayerNorm2D>("LayerNorm2D", {t.floats({1, 4, 3, 2})}, 4, 1e-5);
  t.layer<nn::Conv1D>("Conv1D", {t.floats({1, 2, 9})}, 2, 4, 3,
                      nn::ConvOptions{{2}, {1}, {}, 2, true});
  t.layer<nn::Conv2D>("Conv2D", {t.floats({1, 2, 5, 6})}, 2, 3,
                      std::vector<int64_t>{3, 2});
  t.layer<nn::Conv3D>("Conv3D", {t.floats({1, 1, 3, 4, 4})}, 1, 2,
                      std::vector<int64_t>{2, 2, 2});
  t.layer<nn::SiLU>("SiLU", {t.floats({7})});
  t.layer<nn::GELU>("GELU", {t.floats({7})}, true).mentions = {"\"none\""};
  t.layer<nn::QuickGELU>("QuickGELU", {t.floats({7})});
  t.layer<nn::ReLU>("ReLU", {t.floats({7})});
  t.layer<nn::Sigmoid>("Sigmoid", {t.floats({7})});
  t.layer<nn::Softmax>("Softmax", {t.floats({3, 4})}, 0);
  t.add("Param",
        [](Function &self, const In &in) {
          auto bias =
              self.add<nn::Param>("layer", "bias", std::vector<int64_t>{4});
          return In{in[0] + bias()};
        },
        {t.floats({3, 4})})
      .mentions = {"@model.layer.bias"};
}

void addPositions(Table &t) {
  t.layer<nn::Positions>("Positions", {Table::ints({4}, {9, 9, 9, 9}, kInt64)});
  t.layer<nn::RoPE>("RoPE", {t.floats({4, 2, 6})},
                    std::vector<double>{1.0, 0.1, 0.01}, 1.5)
      .mentions = {"scaling = 1.5"};
  t.add("TableRoPE",
        [](Function &self, const In &in) {
          auto rope = self.add<nn::TableRoPE>("layer", 1.0, nn::Layout::BHSD);
          return In{rope(in[0], F::sin(in[1]), F::cos(in[1]))};
        },
        {t.floats({1, 2, 4, 6}), t.floats({4, 3})})
      .mentions = {"\"bhsd\""};
  t.add("MultimodalRoPE",
        [](Function &self, const In &in) {
          auto rope = self.add<nn::MultimodalRoPE>(
              "layer", std::vector<int64_t>{2, 1, 1, 1});
          return In{rope(in[0], F::sin(in[1]), F::cos(in[1]))};
        },
        {t.floats({3, 2, 12}), t.floats({3, 3, 5})})
      .mentions = {"mrope_section = array<i64: 2, 1, 1, 1>"};
  LayerCase &visionRoPECase =
      t.layer<nn::VisionRoPE>("VisionRoPE", {t.floats({24, 2, 8})},
                              std::vector<int64_t>{1, 4, 6}, 2, 100.0);
  visionRoPECase.mentions = {"grid = array<i64: 1, 4, 6>",
                             "theta = 1.000000e+02"};
}

void addAttention(Table &t) {
  t.add("KVCache",
        [](Function &self, const In &in) {
          auto cache = self.add<nn::KVCache>("layer", 0);
          auto [keys, values] = cache(in[0], in[1]);
          auto attention = self.add<nn::FlashAttention2>("attention", 0.5);
          return In{attention(in[2], keys, values)};
        },
        {t.floats({4, 2, 16}), t.floats({4, 2, 16}), t.floats({4, 4, 16})})
      .gap = "functions require static sizes";
  t.layer<nn::CausalMask>("CausalMask", {t.floats({2, 3, 5})}, 2).mentions = {
      "window = 2"};
  const In qkv = {t.floats({1, 3, 4, 16}), t.floats({1, 5, 2, 16}),
                  t.floats({1, 5, 2, 16})};
  t.add(
       "FlashAttention2",
       [](Function &self, const In &in) {
         auto causal = self.add<nn::FlashAttention2>("causal", 0.25);
         auto all = self.add<nn::FlashAttention2>("all", 0.25, false);
         return In{causal(in[0], in[1], in[2]), all(in[0], in[1], in[2])};
       },
       qkv)
      .mentions = {"causal = true", "causal = false", "scale = 2.5"};
  auto withSinks = qkv;
  withSinks.push_back(t.floats({4}));
  t.add(
       "FlashAttention2SwaSink",
       [](Function &self, const In &in) {
         auto swa = self.add<nn::FlashAttention2SwaSink>("layer", 0.25, 2);
         auto bothSides = self.add<nn::FlashAttention2SwaSink>(
             "both", 0.25, 3, /*softCap=*/0, /*chunked=*/false,
             /*causal=*/false);
         return In{swa(in[0], in[1], in[2]), swa(in[0], in[1], in[2], in[3]),
                   bothSides(in[0], in[1], in[2])};
       },
       withSinks)
      .mentions = {"sliding_window = 2", "sinks", "causal = false"};
  auto paged = qkv;
  paged.push_back(Table::ints({4}, {4, 0, 2, 3}));
  t.add(
      "PagedAttention",
      [](Function &self, const In &in) {
        auto layer = self.add<nn::PagedAttention>("layer", 0.25);
        return In{layer(in[0], in[1], in[2], in[3])};
      },
      paged);
  t.add(
      "PagedAttentionWithWeights",
      [](Function &self, const In &in) {
        auto layer = self.add<nn::PagedAttention>("layer", 0.25);
        auto [mixed, weights] = layer.withWeights(in[0], in[1], in[2], in[3]);
        return In{mixed, weights};
      },
      paged);
  const In pools = {t.floats({3, 4, 16}), t.floats({9, 2, 16}),
                    t.floats({9, 2, 8}), Table::ints({5}, {8, 1, 0, 4, 2}),
                    Table::ints({5}, {3, 1, 7, 5, 5})};
  t.add(
      "RadixAttention",
      [](Function &self, const In &in) {
        auto layer = self.add<nn::RadixAttention>("layer", 0.25);
        return In{layer(in[0], in[1], in[2], in[3], in[4])};
      },
      pools);
  auto sunk = pools;
  sunk.push_back(t.floats({4}));
  t.add(
       "RadixAttentionSwaSink",
       [](Function &self, const In &in) {
         auto layer =
             self.add<nn::RadixAttentionSwaSink>("layer", 0.25, 2, "append");
         return In{layer(in[0], in[1], in[2], in[3], in[4]),
                   layer(in[0], in[1], in[2], in[3], in[4], in[5])};
       },
       sunk)
      .mentions = {"pattern = \"append\"", "sliding_window = 2", "sinks"};
}

void addSignals(Table &t) {
  nn::FrameOptions frames;
  frames.frameSize = 8;
  frames.hop = 3;
  frames.padMode = "constant";
  frames.normalized = true;
  t.layer<nn::STFT>("STFT", {t.floats({2, 20}), t.floats({6})}, frames)
      .mentions = {"n_fft = 8", "hop_length = 3", "pad_mode = \"constant\"",
                   "normalized"};
  LayerCase &iSTFTCase =
      t.add("ISTFT",
            [=](Function &self, const In &in) {
              auto forward = self.add<nn::STFT>("forward", frames);
              auto back = self.add<nn::ISTFT>("back", frames, 20);
              return In{back(forward(in[0], in[1]), in[1])};
            },
            {t.floats({2, 20}), t.floats({8})});
  iSTFTCase.mentions = {"length = 20"};
}

} // namespace

std::vector<LayerCase> llmir::test::layerCases() {
  Table table;
  addElementwise(table);
  addShapes(table);
  addAlongADimension(table);
  addLayers(table);
  addPositions(table);
  addAttention(table);
  addSignals(table);
  return table.cases;
}
