//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Separates what a model writes between the tags of its reasoning from its
// answer, while the text arrives in pieces.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_THINKINGFILTER_H
#define LLMIR_TOOLS_LLMIR_THINKINGFILTER_H

#include <string>
#include <string_view>
#include <vector>

namespace llmir::cli {

class ThinkingFilter {
public:
  /// `prompt` is the text that the model continues; some templates end with an
  /// opening tag.
  explicit ThinkingFilter(std::string_view prompt);

  struct Part {
    std::string text;
    bool isThinking;
  };
  /// The parts of the text so far that are certain: the beginning of a tag is
  /// held back. Tags are left out.
  std::vector<Part> feed(std::string_view piece);
  /// What was held back.
  std::vector<Part> flush();

  /// Whether this token text is a tag, which must reach the filter even if the
  /// token is special.
  static bool isTag(std::string_view text);

private:
  std::string pending;
  const struct ThinkingTags *open = nullptr; ///< Null outside of reasoning.
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_THINKINGFILTER_H
