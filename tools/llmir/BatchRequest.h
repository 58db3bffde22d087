//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line of `llmir batch`: a request as JSON, with the names of OpenAI's and
// vLLM's APIs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_BATCHREQUEST_H
#define LLMIR_TOOLS_LLMIR_BATCHREQUEST_H

#include "ChatPrompt.h"

#include "llmir/Serving/Engine.h"
#include "llmir/Support/Json.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <optional>
#include <string>
#include <vector>

namespace llmir::cli {

/// What requests need of the model.
struct BatchModel {
  std::shared_ptr<const Artifact> artifact;
  std::optional<Tokenizer> tokenizer; ///< Without one, prompts are ids.
  int64_t bosToken = -1;
  TemplateRequest chatTemplate;
  std::optional<ChatPrompt> chat; ///< Opened for the first conversation.
};

struct BatchRequest {
  Request request;
  std::vector<std::string> stop; ///< Texts that end the result.
  bool includesStop = false;     ///< Whether they, and end tokens, are in it.
  bool skipsSpecialTokens = true;
  Json id; ///< `custom_id`, repeated in the result.
};

/// Parses a line. `defaults` has the values of absent keys. Failures name
/// `where` and the key.
Expected<BatchRequest> parseBatchRequest(const std::string &line,
                                         const std::string &where,
                                         const Request &defaults,
                                         BatchModel &model);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_BATCHREQUEST_H
