// RUN: llmir-compiler-api-tests --gtest_filter='CompilerAPI*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's one C function, as a program without LLVM's headers calls it.
//
//===----------------------------------------------------------------------===//

#include "llmir-c/Compiler.h"

#include <gtest/gtest.h>
#include <string>

namespace {

/// Compiles and returns the result with the message.
std::pair<int, std::string> compile(const LLMIRCompileOptions *options) {
  char *message = nullptr;
  int result = llmirCompile(options, &message);
  std::string text = message ? message : "";
  llmirCompilerFree(message);
  return {result, text};
}

LLMIRCompileOptions optionsOf(const char *model) {
  LLMIRCompileOptions options = {};
  options.version = LLMIR_COMPILER_API_VERSION;
  options.model = model;
  options.output = "/nowhere/model.llmir";
  return options;
}

/// Expects failure, with a message on one line that holds the text.
void expectRefused(const LLMIRCompileOptions *options, const char *text,
                   int code = 1) {
  auto [result, message] = compile(options);
  EXPECT_EQ(result, code) << text;
  EXPECT_NE(message.find(text), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

} // namespace

TEST(CompilerAPI, RefusesAnotherVersion) {
  LLMIRCompileOptions options = optionsOf("model");
  options.version = LLMIR_COMPILER_API_VERSION + 1;
  expectRefused(&options, "interface");
}

TEST(CompilerAPI, RefusesNullAndEmpty) {
  expectRefused(nullptr, "no options");
  LLMIRCompileOptions options = optionsOf(nullptr);
  expectRefused(&options, "no model");
  options.model = "";
  expectRefused(&options, "no model");
}

TEST(CompilerAPI, RefusesUnknownNames) {
  LLMIRCompileOptions options = optionsOf("/nowhere/model");
  options.emit = "binary";
  expectRefused(&options, "unknown form 'binary'", /*code=*/2);
  options.emit = nullptr;
  options.stop_after = "end";
  expectRefused(&options, "unknown stage 'end'", /*code=*/2);
  options.stop_after = nullptr;
  options.quantize = "q2";
  expectRefused(&options, "--quantize q2", /*code=*/2);
  options.quantize = nullptr;
  options.target = "riscv";
  expectRefused(&options, "unknown target 'riscv'", /*code=*/2);
  options.target = nullptr;
  options.kv = "f64";
  expectRefused(&options, "unknown KV cache type 'f64'", /*code=*/2);
  options.kv = nullptr;
  options.token_budget = 999999999;
  expectRefused(&options, "the token budget is 999999999", /*code=*/2);
  options.token_budget = 0;
  options.recipe = "foo=bar";
  expectRefused(&options, "'bar'", /*code=*/2);
}

TEST(CompilerAPI, NamesTheModelThatIsNotThere) {
  LLMIRCompileOptions options = optionsOf("/nowhere/model");
  expectRefused(&options, "/nowhere/model");
}

TEST(CompilerAPI, NeedsNoPlaceForTheMessage) {
  LLMIRCompileOptions options = optionsOf("/nowhere/model");
  EXPECT_EQ(llmirCompile(&options, nullptr), 1);
  llmirCompilerFree(nullptr);
}

//===----------------------------------------------------------------------===//
// llmirExport
//===----------------------------------------------------------------------===//

/// Expects that the export fails with one line that holds the text.
static void expectExportRefused(const LLMIRExportOptions *options,
                                const char *text) {
  char *message = nullptr;
  EXPECT_EQ(llmirExport(options, &message), 1) << text;
  std::string line = message ? message : "";
  llmirCompilerFree(message);
  EXPECT_NE(line.find(text), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
}

TEST(CompilerAPI, RefusesWrongExports) {
  expectExportRefused(nullptr, "no options");
  LLMIRExportOptions options = {};
  expectExportRefused(&options, "interface");
  options.version = LLMIR_COMPILER_API_VERSION;
  expectExportRefused(&options, "no model");
  options.model = "/nowhere/model";
  options.format = "png";
  expectExportRefused(&options, "unknown export format 'png'");
  options.format = "svg";
  expectExportRefused(&options, "/nowhere/model");
  const std::string demo = LLMIR_SOURCE_DIR "/models/demo";
  options.model = demo.c_str();
  options.format = "onnx";
  expectExportRefused(&options, "is written to a file");
  options.output = "-";
  expectExportRefused(&options, "is written to a file");
  options.weights = "f64";
  expectExportRefused(&options, "unknown type of weights 'f64'");
  options.weights = nullptr;
  options.tokens = -1;
  expectExportRefused(&options, "the number of tokens is -1");
  options.tokens = 513;
  expectExportRefused(&options, "513 tokens; the model is for at most 512; "
                                "give a smaller --tokens");
}
