//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads what requests say about the form of answers, with the names of the APIs
// of OpenAI, vLLM and llama.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_CONSTRAINTREADER_H
#define LLMIR_SERVER_CONSTRAINTREADER_H

#include "llmir/ChatOutput/ChatOutput.h"
#include "llmir/ChatTemplate/OrderedJson.h"
#include "llmir/Constraint/Constraint.h"
#include "llmir/Server/RequestReader.h"
#include "llmir/Support/Span.h"

#include <optional>
#include <string>
#include <string_view>

namespace llmir {

/// The fields of requests that are read here.
Span<const std::string_view> constraintFields();

/// Which tools an answer must call.
struct ForcedCalls {
  std::string tool;         ///< Empty: any of them.
  bool severalCalls = true; ///< At once.
};

/// What a conversation has, beside the fields of its request.
struct ConversationForm {
  const ChatOutputFormat &format;
  std::string_view prompt; ///< The text that the answer continues.
  /// Of the request, in OpenAI's form; null if no calls may be made.
  OrderedJson tools;
  std::optional<ForcedCalls> forced;
};

/// The constraint of a request's answer; null if it has none. Failures name the
/// field.
Expected<std::shared_ptr<const Constraint>>
readConstraint(const OrderedJson &request, const std::string &where,
               const PromptModel &model);

/// The same for an answer in a conversation: what the request says holds for
/// the content after the reasoning, and for the calls of tools where they are
/// forced.
Expected<std::shared_ptr<const Constraint>>
readConversationConstraint(const OrderedJson &request, const std::string &where,
                           const PromptModel &model,
                           const ConversationForm &conversation);

} // namespace llmir

#endif // LLMIR_SERVER_CONSTRAINTREADER_H
