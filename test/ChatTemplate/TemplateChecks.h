//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tests of chat templates share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CHATTEMPLATE_TEMPLATECHECKS_H
#define LLMIR_TEST_CHATTEMPLATE_TEMPLATECHECKS_H

#include "llmir/ChatTemplate/ChatTemplate.h"

#include <gtest/gtest.h>

#include <string>

namespace llmir {

inline Expected<std::string> renderText(const std::string &source,
                                        const std::string &variables = "{}") {
  Expected<OrderedJson> json = parseOrderedJson(variables, "variables");
  if (!json)
    return json.takeStatus();
  Expected<ChatTemplate> chat = ChatTemplate::parse(source, "t");
  if (!chat)
    return chat.takeStatus();
  return chat->render(*json);
}

/// The rendering, or the message of the failure.
inline std::string shown(const std::string &source,
                         const std::string &variables = "{}") {
  Expected<std::string> text = renderText(source, variables);
  return text ? *text : "error: " + text.status().message();
}

struct Case {
  const char *source;
  const char *expected;
};

template <size_t N>
void expectAll(const Case (&cases)[N], const std::string &variables = "{}") {
  for (const Case &each : cases)
    EXPECT_EQ(shown(each.source, variables), each.expected) << each.source;
}

} // namespace llmir

#endif // LLMIR_TEST_CHATTEMPLATE_TEMPLATECHECKS_H
