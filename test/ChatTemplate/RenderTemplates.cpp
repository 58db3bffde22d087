//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Renders templates for differential.py: reads lines of {"template": …,
// "variables": {…}}, writes lines of {"rendered": …} or {"error": …}.
//
//===----------------------------------------------------------------------===//

#include "llmir/ChatTemplate/ChatTemplate.h"

#include <iostream>

using namespace llmir;

static Expected<std::string> render(const std::string &line) {
  JsonLimits limits;
  limits.maxDepth = 500;
  Expected<OrderedJson> request = parseOrderedJson(line, "line", limits);
  if (!request)
    return request.takeStatus();
  Expected<ChatTemplate> chat = ChatTemplate::parse(
      request->at("template").get_ref<const std::string &>(), "template");
  if (!chat)
    return chat.takeStatus();
  return chat->render(request->at("variables"));
}

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    Expected<std::string> text = render(line);
    Json answer = text ? Json{{"rendered", *text}}
                       : Json{{"error", text.status().message()}};
    std::cout << answer.dump(-1, ' ', true) << std::endl;
  }
  return 0;
}
