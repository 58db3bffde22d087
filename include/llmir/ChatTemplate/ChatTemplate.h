//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chat templates: Jinja as transformers runs it, without Python.
//
//   Expected<ChatTemplate> chat = ChatTemplate::parse(source);
//   Expected<OrderedJson> variables = parseOrderedJson(line, "line 1");
//   Expected<std::string> prompt = chat->render(*variables);
//
// Templates come with a model and are not trusted. They can neither reach the
// file system nor change their inputs, and the work, memory and output of a
// rendering are limited. Every failure is a Status that names the line and
// column; no exception leaves the library.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHATTEMPLATE_CHATTEMPLATE_H
#define LLMIR_CHATTEMPLATE_CHATTEMPLATE_H

#include "llmir/ChatTemplate/OrderedJson.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace llmir {

namespace chat {
struct Template;
} // namespace chat

/// What one template may use; exceeding a limit gives OutOfRange.
struct ChatTemplateLimits {
  uint64_t sourceBytes = uint64_t(1) << 20;
  /// Evaluated nodes; work on long texts counts by its size.
  uint64_t steps = 20'000'000;
  /// Memory for values that exist at the same time.
  uint64_t memoryBytes = uint64_t(256) << 20;
  uint64_t outputBytes = uint64_t(64) << 20;
};

/// A parsed template. Immutable: threads may render one template concurrently.
class ChatTemplate {
public:
  /// `name` begins the messages of errors: "NAME:LINE:COLUMN: …". InvalidFile
  /// for invalid syntax, Unsupported for tags that load other templates.
  static Expected<ChatTemplate> parse(std::string_view source,
                                      std::string name = "chat template",
                                      const ChatTemplateLimits &limits = {});

  /// Renders with an object of variables; JSON null is none. As in
  /// transformers, the caller provides `messages`, `tools`, `documents`,
  /// `add_generation_prompt` and the special tokens. InvalidArgument if the
  /// template fails, which includes raise_exception().
  Expected<std::string> render(const OrderedJson &variables) const;

private:
  explicit ChatTemplate(std::shared_ptr<const chat::Template> parsed);

  std::shared_ptr<const chat::Template> parsed;
};

} // namespace llmir

#endif // LLMIR_CHATTEMPLATE_CHATTEMPLATE_H
