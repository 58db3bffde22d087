//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Continues a prompt with a compiled model, greedily:
//
//   llmir compile MODEL -o model.llmir
//   run_artifact model.llmir "In the beginning" 20
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/Artifact.h"
#include "llmir/Runtime/Executor.h"
#include "llmir/Serving/Generator.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <cstdio>
#include <cstdlib>

using namespace llmir;

static int fail(const Status &status) {
  std::fprintf(stderr, "run_artifact: %s\n", status.message().c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: run_artifact FILE.llmir PROMPT TOKENS\n");
    return 2;
  }
  Expected<std::shared_ptr<const Artifact>> artifact = Artifact::open(argv[1]);
  if (!artifact)
    return fail(artifact.takeStatus());
  Expected<Tokenizer> tokenizer = Tokenizer::load((*artifact)->tokenizer());
  if (!tokenizer)
    return fail(tokenizer.takeStatus());
  Expected<std::vector<int32_t>> prompt = tokenizer->encode(argv[2]);
  if (!prompt)
    return fail(prompt.takeStatus());

  // Selects the code for this processor and allocates all memory.
  Expected<std::unique_ptr<Executor>> executor = Executor::create(*artifact);
  if (!executor)
    return fail(executor.takeStatus());
  Expected<std::unique_ptr<Engine>> engine =
      Engine::create(std::move(*executor));
  if (!engine)
    return fail(engine.takeStatus());
  Request request;
  request.prompt = std::move(*prompt);
  request.maxTokens = std::atoll(argv[3]);
  request.sampling.temperature = 0;
  Expected<GenerateResult> result = generate(**engine, std::move(request));
  if (!result)
    return fail(result.takeStatus());
  std::printf("%s\n", tokenizer->decode(result->ids).c_str());
  return 0;
}
