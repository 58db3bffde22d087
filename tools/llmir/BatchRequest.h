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

#include "llmir/Server/RequestReader.h"

#include <string>

namespace llmir::cli {

struct BatchRequest {
  GenerationFields fields; ///< With the prompt.
  Json id;                 ///< `custom_id`, repeated in the result.
};

/// Parses a line. `defaults` has the values of absent keys. Failures name
/// `where` and the key.
Expected<BatchRequest> parseBatchRequest(const std::string &line,
                                         const std::string &where,
                                         const Request &defaults,
                                         PromptModel &model);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_BATCHREQUEST_H
