//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages of OpenAI's API in the form that a chat template renders.
//
// In the API, the arguments of a tool call are JSON text, content may be a list
// of parts, and the content of a message with calls may be missing. Most
// templates iterate over the arguments as an object, as transformers passes
// them, and concatenate content with other text; a few want the opposite.
//
//   MessageForms forms = MessageForms::of(chat, variables);
//   LLMIR_RETURN_IF_ERROR(adaptMessages(variables["messages"], forms));
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHATTEMPLATE_MESSAGES_H
#define LLMIR_CHATTEMPLATE_MESSAGES_H

#include "llmir/ChatTemplate/ChatTemplate.h"

namespace llmir {

/// What a template wants.
struct MessageForms {
  bool argumentsAreText = false;    ///< Else an object.
  bool absentContentIsText = false; ///< Else null.
  bool contentIsParts = false;      ///< Else text, where all parts are text.

  /// Finds out by rendering small conversations with these variables, of which
  /// `messages` and `tools` are replaced.
  static MessageForms of(const ChatTemplate &chat, OrderedJson variables);
};

/// Rewrites messages. What OpenAI's API does not know is kept; messages that
/// are no objects are left to the template. InvalidArgument, with the place
/// ("messages[2].tool_calls[0]"), if arguments are not the JSON text of an
/// object.
Status adaptMessages(OrderedJson &messages, const MessageForms &forms);

} // namespace llmir

#endif // LLMIR_CHATTEMPLATE_MESSAGES_H
