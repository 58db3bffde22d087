// RUN: llmir-transforms-tests --gtest_filter='AnalyzeQuantizationTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The analysis of parameters whose values are stored elsewhere. Reports on
// constants are tested in analyze-quantization.mlir.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

#include <map>

using namespace mlir;

namespace {

/// Parameters in a map.
class MapOfValues : public llm::ParameterValues {
public:
  std::optional<std::vector<double>> read(StringRef symbol) override {
    auto found = values.find(symbol.str());
    if (found == values.end())
      return std::nullopt;
    return found->second;
  }

  std::map<std::string, std::vector<double>> values;
};

// The declarations may be any symbol.
const char *const source = R"mlir(
func.func private @known()
func.func private @unknown()
func.func private @short()
func.func @model(%x: tensor<?x2xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) {
  %0 = llm.weight @known : tensor<1x2xf32>
  %1 = llm.linear %x, %0 : tensor<?x2xf32>, tensor<1x2xf32> -> tensor<?x1xf32>
  %2 = llm.weight @unknown : tensor<1x2xf32>
  %3 = llm.linear %x, %2 : tensor<?x2xf32>, tensor<1x2xf32> -> tensor<?x1xf32>
  %4 = llm.weight @short : tensor<1x2xf32>
  %5 = llm.linear %x, %4 : tensor<?x2xf32>, tensor<1x2xf32> -> tensor<?x1xf32>
  return %1, %3, %5 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
}
)mlir";

TEST(AnalyzeQuantizationTest, ReportsParametersOfASource) {
  MLIRContext context;
  context.loadDialect<llm::LLMDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(module);

  auto values = std::make_shared<MapOfValues>();
  // int4 has steps of 5.
  values->values["known"] = {35.0, 11.0};
  values->values["short"] = {1.0};
  llm::AnalyzeQuantizationOptions options;
  options.schemes = {"int4", "int8"};
  options.bound = 1e-3;

  std::vector<std::string> remarks;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    remarks.push_back(diagnostic.str());
    for (Diagnostic &note : diagnostic.getNotes())
      remarks.push_back(note.str());
    return success();
  });
  PassManager pm(&context);
  pm.addPass(llm::createAnalyzeQuantization(options, values));
  ASSERT_TRUE(succeeded(pm.run(*module)));

  ASSERT_GE(remarks.size(), 3u);
  EXPECT_EQ(
      remarks.front(),
      "1 x 2 weight @known: int4 is the smallest within an nmse of 0.001");
  // 11 becomes 10: 1 / (35² + 11²).
  EXPECT_EQ(remarks[remarks.size() - 2],
            "int4: nmse 0.000743, largest error 1, 20 bits per element");
  // Of the other two, one is unknown and one has too few elements.
  for (const std::string &remark : remarks) {
    EXPECT_EQ(remark.find("@unknown"), std::string::npos);
    EXPECT_EQ(remark.find("@short"), std::string::npos);
  }
}

} // namespace
