// RUN: llmir-mllmtext-tests --gtest_filter='MLIRFormsTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text that is passed to MLIR's parser, and text that is rejected before.
//
//===----------------------------------------------------------------------===//

#include "llmir/MLLMText/MLIRForms.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Diagnostics.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using llmir::mllm::whyNotMLIRForm;
using llmir::mllm::whyNotMLIRText;

namespace {

constexpr int kDepth = 64;

constexpr const char *kForms[] = {
    "17 : i64",
    "-5 : i8",
    "0x7FC00000 : f32",
    "-1.5e+30 : bf16",
    "3 : index",
    "true",
    "unit",
    "\"a \\\"text\\\"\\0A\"",
    "@a::@\"b c\"",
    "[1, [\"a\"], {b = 2 : i8, c}]",
    "{\"a b\" = [], c = unit}",
    "array<i64: 1, -2>",
    "array<i1: true, false>",
    "array<f64: 1.0, 0x7FF0000000000000>",
    "array<i32>",
    "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>",
    "dense<0.5> : tensor<4xf16>",
    "dense<true> : tensor<2xi1>",
    "dense<\"0x0102\"> : tensor<2xi8>",
    "dense<> : tensor<0xi64>",
    "dense<(1.0,2.0)> : tensor<complex<f32>>",
    "f32",
    "ui4",
    "tensor<?x4xf32, #mllm.tensor<kQNN>>",
    "memref<4x?xf32, strided<[?, 1], offset: 7>, 3>",
    "affine_map<() -> ()>",
    "affine_map<(d0, d1)[s0] -> (d0 * 2 + s0 - 1, -(d1 + 3) mod 7)>",
    "affine_map<(d0) -> (d0 floordiv 4, d0 ceildiv 4)>",
    "vector<4xi32>",
    "tuple<i32, tuple<>>",
    "(tensor<2xf32>, index) -> (f32, f64)",
    "((i8) -> i8) -> ()",
    "#mllm.range<1, 64, multiple of 8>",
    "#mllm.quant<sym_per_block, bits = 4, block = 32>",
    "#mllm<comparison less>",
    "#mllm.device<kQNN>",
    "#arith.fastmath<none>",
    "!llm.paged_kv_cache<bf16, 2, 4, 64, 16, 128, valueDim = 32>",
    "!llm.quantized_tensor<i8, [64 x 64], symmetric, per_channel, 0, -1, 8>",
    "!llm.sharded_tensor<tensor<4x4xf32>, 1, 2, 0>",
    "loc(\"a.mllm\":1:2)",
    "loc(fused[\"a\", \"b\"(\"c\")])",
    "loc(callsite(\"a\" at unknown))",
};

class MLIRFormsTest : public testing::Test {
protected:
  MLIRFormsTest() {
    context.loadDialect<llmir::mllm::MLLMDialect, llm::LLMDialect,
                        arith::ArithDialect>();
  }
  /// Whether MLIR's parser, which may terminate the process, accepts the text.
  bool isRead(const std::string &text) {
    ScopedDiagnosticHandler handler(&context,
                                    [](Diagnostic &) { return success(); });
    return static_cast<bool>(parseAttribute(text, &context));
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

TEST_F(MLIRFormsTest, OfValidAttributesAreTaken) {
  for (const char *form : kForms) {
    EXPECT_EQ(whyNotMLIRForm(form, kDepth), "") << form;
    EXPECT_TRUE(isRead(form)) << form;
  }
}

TEST_F(MLIRFormsTest, OfNoAttributeAreRefused) {
  const std::pair<const char *, const char *> cases[] = {
      {"array<index: 1>", "array<…> holds numbers of type i1, i8"},
      {"array <\n index : 1>", "not 'index'"},
      {"[array<index: 1>]", "not 'index'"},
      {"{a = array<none: 1>}", "not 'none'"},
      {"#mllm.range<array<index: 1>, 2>", "not 'index'"},
      {"!llm.quantized_tensor<i8, [1], array<index: 1>>", "not 'index'"},
      {"tensor<4xf32, array<index: 1>>", "not 'index'"},
      {"loc(fused<array<index: 1>>[\"a\"])", "not 'index'"},
      {"affine_map<(d0) - (d0)>", "'- (d0)>' begins none"},
      {"affine_map<(d0) -> (d0 +)>", "')>' begins none"},
      {"affine_map<(d0) -> (d0 mod 0)>", "'0)>' begins none"},
      {"affine_map<(d0) -> (d0 floordiv -2)>", "'-2)>' begins none"},
      {"affine_map<(d0) -> (d0 ceildiv d0)>", "'d0)>' begins none"},
      {"affine_map<(d0) -> (1234567890123)>", "'1234567890123)>' begins none"},
      {"affine_map<(d0) -> ((d0)>", "'>' begins none"},
      {"affine_map<(d0) -> (array<index: 1>)>", "'<index: 1>)>' begins none"},
      {"affine_set<(d0) : (d0 >= 0)>", "begins none of these"},
      {"sparse<0, 1> : tensor<2xi8>", "begins none of these"},
      {"dense_resource<a> : tensor<2xi8>", "begins none of these"},
      {"distinct[0]<1>", "begins none of these"},
      {"#nobody.knows<1>", "begins none of these"},
      {"5 : i16777215", "begins none of these"},
      {"1 // comment", "begins none of these"},
      {"1 2", "'2' begins none of these"},
      {"", "the text is not complete"},
      {"[1", "the text is not complete"},
      {"\"a", "a text in MLIR's text does not end"},
      {"loc(nowhere)", "this is not a location"},
      {"@\"\"", "a symbol has no name"},
      {"[@a::@\"\"]", "a symbol has no name"},
  };
  for (auto [text, part] : cases)
    EXPECT_NE(whyNotMLIRForm(text, kDepth).find(part), std::string::npos)
        << text << ": " << whyNotMLIRForm(text, kDepth);
  EXPECT_NE(whyNotMLIRForm(std::string(70, '9'), kDepth).find("64 characters"),
            std::string::npos);
  std::string sum = "d0";
  for (int i = 0; i < 1000; ++i)
    sum += " + d0";
  EXPECT_NE(whyNotMLIRForm("affine_map<(d0) -> (" + sum + ")>", kDepth)
                .find("an affine map has more than 1024 characters"),
            std::string::npos);
  for (const char *open :
       {"[", "(", "{a = ", "tuple<", "#mllm.a<", "loc(a(", "#mllm.a<(",
        "() -> (", "affine_map<() -> (", "affine_map<() -> (("}) {
    std::string text;
    for (int i = 0; i < 100000; ++i)
      text += open;
    EXPECT_NE(whyNotMLIRForm(text, kDepth), "") << open;
  }
}

TEST_F(MLIRFormsTest, OfRandomTextsAreSurvived) {
  std::mt19937 random(7);
  auto below = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  int numTaken = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = kForms[below(std::size(kForms))];
    const std::string other = kForms[below(std::size(kForms))];
    for (size_t changes = 1 + below(2); changes-- > 0 && !text.empty();) {
      size_t at = below(text.size());
      size_t length = std::min(below(8) + 1, text.size() - at);
      switch (below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 2:
        text.replace(at, length, other);
        break;
      case 3:
        text[at] = static_cast<char>(32 + below(95));
        break;
      }
    }
    if (!whyNotMLIRForm(text, kDepth).empty())
      continue;
    ++numTaken;
    isRead(text);
  }
  EXPECT_GT(numTaken, 500);
}

TEST_F(MLIRFormsTest, StandAnywhereInAModule) {
  const std::string module = R"(#alias = array<i64: 1>
module attributes {a = #alias, b = dense<1> : tensor<2xi8>} { // array<index: 1>
  "mllm.program.fragment"() <{kind = 0 : i32, sym_name = "array<index: 1>"}> ({
    %0:2 = arith.addui_extended %a#1, %b : i32, i1
    %x = arith.addf %y, %z fastmath<nnan, contract> : f32 loc("a":1:1)
  }) : () -> ()
}
)";
  EXPECT_EQ(whyNotMLIRText(module, kDepth), "");
  auto with = [&](const std::string &part, const std::string &by) {
    std::string text = module;
    return whyNotMLIRText(text.replace(text.find(part), part.size(), by),
                          kDepth);
  };
  EXPECT_EQ(with("array<i64", "array<index").find("line 1: array<…> holds"),
            0u);
  EXPECT_EQ(with("dense<1>", "sparse<0, 1>").find("line 2: MLIR's text is"),
            0u);
  EXPECT_EQ(with("fastmath<nnan", "fastmath<array<index: 1>")
                .find("line 5: MLIR's text is"),
            0u);
  EXPECT_EQ(with("%x = ", "{-# dialect_resources: {} #-}").find("line 5: "),
            0u);
  // MLIR's parser reads bytecode as well.
  EXPECT_EQ(whyNotMLIRText("ML\xefR\x0dMLIR22.1.8", kDepth),
            "line 1: the byte 239 has no meaning in MLIR's text");
}

} // namespace
