//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Log probabilities in the forms of OpenAI's and vLLM's APIs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_LOGPROBSJSON_H
#define LLMIR_SERVER_LOGPROBSJSON_H

#include "llmir/Support/Json.h"
#include "llmir/Support/Logprobs.h"
#include "llmir/Support/Span.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <cstdint>
#include <string>

namespace llmir {

/// The text of a token alone, as it continues a text; "token_id:7" if it is not
/// a text, or without a tokenizer, which may be null.
std::string nameOfToken(const Tokenizer *tokenizer, int32_t id);

/// `logprobs` of a completion: tokens, token_logprobs, top_logprobs and
/// text_offset. A token is also in its top_logprobs; minus infinity is -9999,
/// since JSON has none. `offsets`: the characters of the text before each one.
Json completionLogprobs(const Tokenizer *tokenizer,
                        Span<const TokenLogprobs> logprobs,
                        Span<const int64_t> offsets);

/// The same for a prompt that an answer repeats: `first`, which has no log
/// probability (null), and the tokens after it.
Json echoedLogprobs(const Tokenizer *tokenizer, int32_t first,
                    Span<const TokenLogprobs> others,
                    Span<const int64_t> offsets);

/// `logprobs` of a conversation: content, a list of token, logprob, bytes (null
/// if they are not known) and top_logprobs.
Json chatLogprobs(const Tokenizer *tokenizer,
                  Span<const TokenLogprobs> logprobs);

/// `prompt_logprobs` of vLLM: null for the first token, then for each token an
/// object of ids with logprob, rank and decoded_token.
Json promptLogprobs(const Tokenizer *tokenizer,
                    Span<const TokenLogprobs> logprobs);

} // namespace llmir

#endif // LLMIR_SERVER_LOGPROBSJSON_H
