//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traces a Qwen2 model and prints its IR in the MLLM text format.
//
//   mllm_trace             the sizes of Qwen2.5-1.5B, from the config alone
//   mllm_trace MODEL       a checkpoint: a Hugging Face model directory or a
//   .gguf file
//
//===----------------------------------------------------------------------===//

#include "mllm/mllm.hpp"

#include <cstdio>
#include <functional>
#include <iostream>
#include <string>

using namespace mllm;

/// Prints an error; returns the exit status.
static int fail(const llmir::Status &status) {
  std::fprintf(stderr, "mllm_trace: %s\n", status.message().c_str());
  return 1;
}

/// Prints the module, if there is one; returns the exit status.
static int dump(const mllm::ir::IRContext::ptr_t &ir_ctx) {
  if (!ir_ctx->status()) // trace() has printed the error.
    return 1;
  auto dump_printer = IRPrinter();
  ir_ctx->topLevelOp()->dump(dump_printer);
  if (!std::cout.flush())
    return fail(llmir::Status(llmir::StatusCode::IoError,
                              "standard output cannot be written",
                              "the output is incomplete"));
  return 0;
}

/// Traces the model without parameters, since only their shapes are needed.
static int traceConfig() {
  mllm::models::QWenConfig cfg;
  mllm::models::QWenForCausalLM llm(cfg);
  llm.load(mllm::emptyParameters(cfg));
  return dump(mllm::ir::trace(llm, Tensor::empty({1, 128}, kInt64)));
}

int main(int argc, char **argv) {
  if (argc < 2)
    return traceConfig();
  if (argc > 2)
    return fail(
        llmir::Status(llmir::StatusCode::InvalidArgument,
                      "there are " + std::to_string(argc - 1) + " arguments",
                      "give one MODEL or none"));
  std::string path = argv[1];
  std::reference_wrapper<std::string> model_files = path;

  llmir::Expected<mllm::models::QWenConfig> read =
      mllm::models::QWenConfig::fromFile(path);
  if (!read)
    return fail(read.status());
  mllm::models::QWenConfig cfg = *read;
  mllm::models::QWenForCausalLM llm(cfg);

  // The model's parameters must be loaded before tracing.
  llm.load(mllm::load(model_files.get()));
  auto ir_ctx = mllm::ir::trace(llm, Tensor::empty({1, 128}, kInt64));
  return dump(ir_ctx);
}
