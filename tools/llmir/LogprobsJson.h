//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Log probabilities as OpenAI's and vLLM's APIs report them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_LOGPROBSJSON_H
#define LLMIR_TOOLS_LLMIR_LOGPROBSJSON_H

#include "llmir/Support/Json.h"
#include "llmir/Support/Logprobs.h"
#include "llmir/Support/Span.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <cstdint>
#include <string>

namespace llmir::cli {

/// The text of a token in the middle of others; "token_id:N" if it is not a
/// text on its own, or if there is no tokenizer (null).
std::string nameOfToken(const Tokenizer *tokenizer, int32_t id);

/// `logprobs` of a choice, as OpenAI's completions API has it: "tokens",
/// "token_logprobs", "top_logprobs" and "text_offset", each with one element
/// per token. `offsets` are the characters of the text before each token.
/// Probabilities of 0 have the logarithm -9999, as in vLLM.
Json completionLogprobs(const Tokenizer *tokenizer,
                        Span<const TokenLogprobs> logprobs,
                        Span<const int64_t> offsets);

/// vLLM's `prompt_logprobs`: null for the first token, then for each token an
/// object from ids to "logprob", "rank" and "decoded_token".
Json promptLogprobs(const Tokenizer *tokenizer,
                    Span<const TokenLogprobs> logprobs);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_LOGPROBSJSON_H
