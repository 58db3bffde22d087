// RUN: llmir-frontend-tests --gtest_filter='TensorTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Invalid uses of tensors, and scalars combined with tensors.
//
//===----------------------------------------------------------------------===//

#include "Tracing.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ::mllm;
using llmir::test::Function;

namespace {

class TensorTest : public testing::Test {
protected:
  void SetUp() override { clearStatus(); }
  /// Checks the status since the last call; prints it if it does not contain
  /// the text.
  void expectError(const std::string &part) {
    EXPECT_FALSE(status()) << "want: " << part;
    EXPECT_NE(status().message().find(part), std::string::npos)
        << status().message();
    clearStatus();
  }
};

TEST_F(TensorTest, ATensorThatOutlivesItsTraceIsRefused) {
  Tensor kept;
  Function model([&](Function &, const ir::Tensors &inputs) {
    kept = inputs[0] + 1.0;
    return ir::Tensors{kept};
  });
  model.load(emptyParameters());
  ASSERT_TRUE(ir::trace(model, Tensor::empty({2}))->status());
  // The shape is known as before, the value is the context's.
  EXPECT_EQ(kept.shape(), (std::vector<int64_t>{2}));
  EXPECT_FALSE((kept + 1.0).isValid());
  expectError("a tensor of a trace that has ended is used");
  EXPECT_FALSE((Tensor::full({2}, 1) * kept).isValid());
  expectError("a tensor of a trace that has ended is used");
  EXPECT_FALSE(static_cast<bool>(kept));
  expectError("the value of a tensor is read after the end of its trace");
  Function identity([](Function &, const ir::Tensors &x) { return x; });
  EXPECT_FALSE((-identity(kept)).isValid());
  expectError("a tensor of a trace that has ended is used");
  ir::Tensors chosen = ir::if_(
      kept, [&] { return ir::Tensors{Tensor::full({2}, 1)}; },
      [&] { return ir::Tensors{Tensor::full({2}, 2)}; });
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_FALSE(chosen[0].isValid());
  expectError("is read after the end of its trace");

  // Another trace names it, too, and so does the trace of a failed one.
  Function other([&](Function &, const ir::Tensors &inputs) {
    return ir::Tensors{inputs[0] + kept};
  });
  other.load(emptyParameters());
  auto context = ir::trace(other, Tensor::empty({2}));
  ASSERT_FALSE(context->status());
  EXPECT_NE(context->status().message().find(
                "a tensor of a trace that has ended is used"),
            std::string::npos)
      << context->status().message();
}

TEST_F(TensorTest, AdviceIsAboutWhatWentWrong) {
  auto expectAdvice = [](const Tensor &made, const std::string &part) {
    EXPECT_FALSE(made.isValid());
    EXPECT_NE(status().advice().find(part), std::string::npos)
        << status().message();
    clearStatus();
  };
  const Tensor x = Tensor::full({3}, 1);
  expectAdvice(x + Tensor::full({2}, 1), "shapes");
  expectAdvice(x + Tensor::empty({3}), "Tensor::fromVector");
  expectAdvice(nn::F::gather(x, Tensor::full({1}, 5, kInt32), 0), "values");
  expectAdvice(nn::F::pad(x, {1}, {1}, "mirror"), "use constant");
}

TEST_F(TensorTest, ANumberIsOfTheTypeAndPlaceOfItsTensor) {
  Tensor x = Tensor::fromVector({3}, {0, 1, 2}, kInt32);
  EXPECT_EQ((x > 1.0).toVector(), (std::vector<double>{0, 0, 1}));
  // Rounded to 0, the fraction would be another comparison.
  EXPECT_FALSE((x > 0.5).isValid());
  expectError(
      "0.5, with which a tensor is compared, is not representable in its type, "
      "kInt32");
  EXPECT_FALSE((x < 3e9).isValid());
  expectError("3e+09, with which a tensor is compared");
  // 0.1 is rounded as a float is.
  EXPECT_EQ((Tensor::full({1}, 0.1) < 0.1).item(), 0);

  Tensor there = x.to(kQNN);
  ASSERT_TRUE(there.isValid()) << status().message();
  EXPECT_EQ(there.device(), kQNN);
  Tensor isGreater = there > 1.0;
  ASSERT_TRUE(isGreater.isValid()) << status().message();
  EXPECT_EQ(isGreater.device(), kQNN);
  EXPECT_EQ((-there).device(), kQNN);
  EXPECT_FALSE((there + x).isValid());
  clearStatus();

  Function model([](Function &, const ir::Tensors &inputs) {
    return ir::Tensors{inputs[0] > 1.0};
  });
  model.load(emptyParameters());
  EXPECT_TRUE(ir::trace(model, Tensor::empty({2}, kFp32, kQNN))->status());
}

TEST_F(TensorTest, NamesAndNumbersOfSizesAreChecked) {
  EXPECT_EQ(dim("seq.len_2").str(), "seq.len_2");
  for (const char *name : {"", "seq len", "2seq", "seq-1", "s\xc3\xa4", ".a"}) {
    EXPECT_FALSE(Tensor::empty({1, dim(name)}).isValid());
    expectError("mllm::dim(\"" + std::string(name) +
                "\"): not a valid name of a size");
  }
  EXPECT_FALSE(Tensor::empty({2, -1}).isValid());
  expectError("Tensor::empty: a size of -1 is negative");
  Function model([](Function &, const ir::Tensors &inputs) {
    return ir::Tensors{-inputs[0]};
  });
  model.load(emptyParameters());
  auto context = ir::trace(model, Tensor::empty({dim("a b")}));
  EXPECT_FALSE(context->status());
  context = ir::trace(model, Tensor::empty({kSymbolic, 2}));
  ASSERT_TRUE(context->status());
  EXPECT_NE(llmir::test::dump(*context).find("tensor<[?, 2], kFp32, kCPU>"),
            std::string::npos);
}

TEST_F(TensorTest, NumbersAreOfTheirType) {
  EXPECT_EQ(Tensor::fromVector({3}, {1.7, -1.7, 300}, kInt8).toVector(),
            (std::vector<double>{1, -1, 44}));
  EXPECT_EQ(Tensor::full({1}, 0.1).item(), double(0.1f));
  EXPECT_FALSE(Tensor::full({1}, INFINITY, kInt64).isValid());
  expectError("an integer cannot be infinite or NaN");
  EXPECT_FALSE(Tensor::fromVector({1}, {1e300}, kInt64).isValid());
  expectError("an element overflows 64-bit integers");
  EXPECT_FALSE(Tensor::fromVector({1}, {0x1p63}, kInt32).isValid());
  expectError("an element overflows 64-bit integers");
  EXPECT_EQ(Tensor::full({1}, -0x1p63, kInt64).item(), -0x1p63);
  EXPECT_FALSE(Tensor::full({1}, 1, kUInt8).isValid());
  expectError("LLMIR does not support kUInt8");
  EXPECT_FALSE(Tensor::fromVector({2}, {1}).isValid());
  expectError("1 elements do not match the shape of 2");
}

TEST_F(TensorTest, ASymbolicSizeOfAViewIsComputedWhereAllAreKnown) {
  Tensor x = Tensor::full({6, 4}, 1);
  EXPECT_EQ(x.view({kSymbolic, 2, 2}).shape(), (std::vector<int64_t>{6, 2, 2}));
  EXPECT_FALSE(x.view({kSymbolic, kSymbolic, 2}).isValid());
  expectError("has -1 twice in its shape");
  EXPECT_FALSE(x.view({kSymbolic, 5}).isValid());
  expectError("do not fill rows of 5");
  Function model([](Function &, const ir::Tensors &inputs) {
    return ir::Tensors{inputs[0].view({kSymbolic, -1, 2})};
  });
  model.load(emptyParameters());
  auto context = ir::trace(model, Tensor::empty({dim("seq"), 4}));
  ASSERT_TRUE(context->status());
  EXPECT_NE(llmir::test::dump(*context).find("tensor<[seq, 2, 2], "),
            std::string::npos);
}

TEST_F(TensorTest, AViewComputesOneSizeOfOpenSizes) {
  struct View {
    std::vector<Dim> from;
    std::vector<int64_t> shape;
    const char *text; ///< In the trace's dump, or in its status.
  };
  const Dim n = dim("n"), m = dim("m");
  for (const View &view : {View{{n, 4},
                                {-1},
                                "ReshapeOp(%0:tensor<[n, 4], kFp32, kCPU>) -> "
                                "(%1:tensor<[4 * n], "},
                           View{{1, n, 64}, {-1, 32}, "tensor<[2 * n, 32], "},
                           View{{n * 2, 4}, {-1, 8}, "tensor<[n, 8], "},
                           View{{n, m}, {-1}, "(%1:tensor<[?], "},
                           View{{1, n, 64}, {1, -1, 2, 32}, "ViewOp(%0"},
                           View{{n, 3}, {3, -1}, "tensor<[3, n], "},
                           View{{kSymbolic, 64}, {-1, 8, 8}, "ViewOp(%0"},
                           View{{n, m, 4},
                                {kSymbolic, -1},
                                "cannot view [n, m, 4] as [n, 4 * m]"}}) {
    Function model([&](Function &, const ir::Tensors &inputs) {
      return ir::Tensors{inputs[0].view(view.shape)};
    });
    model.load(emptyParameters());
    auto context = ir::trace(model, Tensor::empty(view.from));
    const std::string text = context->status() ? llmir::test::dump(*context)
                                               : context->status().message();
    EXPECT_NE(text.find(view.text), std::string::npos)
        << "want: " << view.text << "\n"
        << text;
  }
  EXPECT_FALSE(Tensor::full({6}, 1).split({4}, 0)[0].isValid());
  expectError("cannot split 6 slices into parts of 4");
  Function halves([](Function &, const ir::Tensors &inputs) {
    return inputs[0].split({2}, 0);
  });
  halves.load(emptyParameters());
  auto context = ir::trace(halves, Tensor::empty({n}));
  EXPECT_NE(
      context->status().message().find("the number of parts is not known"),
      std::string::npos)
      << context->status().message();
}

// The weight of the layer was found before its bias was not.
TEST_F(TensorTest, AFailedCallLeavesNothingBehind) {
  Function model([](Function &self, const ir::Tensors &inputs) {
    auto linear = self.add<nn::Linear>("linear", 2, 2, /*bias=*/true);
    return ir::Tensors{linear(inputs[0])};
  });
  Tensor x = Tensor::fromVector({1, 2}, {1, 2});
  std::map<std::string, Tensor> given = {
      {"model.linear.weight", Tensor::fromVector({2, 2}, {1, 2, 3, 4})}};
  model.load(parametersOf(given));
  EXPECT_FALSE(model(x).isValid());
  expectError("no elements were given for 'model.linear.bias'");
  given["model.linear.bias"] = Tensor::fromVector({2}, {10, 20});
  model.load(parametersOf(given));
  EXPECT_EQ(model(x).toVector(), (std::vector<double>{15, 31}))
      << status().message();
}

} // namespace
