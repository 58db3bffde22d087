//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThinkingFilter.h"

#include "llmir/Support/Text.h"

#include <algorithm>

namespace llmir::cli {

struct ThinkingTags {
  std::string_view begin, end;
};

/// Of DeepSeek R1, Qwen3, GLM 4.5 and others; Magistral; Command A; Seed-OSS.
static constexpr ThinkingTags allTags[] = {
    {"<think>", "</think>"},
    {"[THINK]", "[/THINK]"},
    {"<|START_THINKING|>", "<|END_THINKING|>"},
    {"<seed:think>", "</seed:think>"},
};

ThinkingFilter::ThinkingFilter(std::string_view prompt) {
  const size_t last = prompt.find_last_not_of(" \n");
  prompt = prompt.substr(0, last == std::string_view::npos ? 0 : last + 1);
  for (const ThinkingTags &tags : allTags)
    if (endsWith(prompt, tags.begin))
      open = &tags;
}

bool ThinkingFilter::isTag(std::string_view text) {
  return std::any_of(std::begin(allTags), std::end(allTags),
                     [&](const ThinkingTags &tags) {
                       return text == tags.begin || text == tags.end;
                     });
}

/// The length of the longest end of `text` that begins `tag`, but is not all of
/// it.
static size_t beginningAtEnd(std::string_view text, std::string_view tag) {
  for (size_t size = std::min(text.size(), tag.size() - 1); size > 0; --size)
    if (endsWith(text, tag.substr(0, size)))
      return size;
  return 0;
}

std::vector<ThinkingFilter::Part> ThinkingFilter::feed(std::string_view piece) {
  std::vector<Part> parts;
  auto take = [&](size_t size) {
    if (size > 0)
      parts.push_back({pending.substr(0, size), open != nullptr});
    pending.erase(0, size);
  };
  pending += piece;
  while (true) {
    // The first tag that changes the state.
    size_t at = std::string::npos, held = 0;
    const ThinkingTags *found = nullptr;
    for (const ThinkingTags &tags : allTags) {
      if (open && open != &tags)
        continue;
      std::string_view tag = open ? tags.end : tags.begin;
      const size_t place = pending.find(tag);
      if (place < at) {
        at = place;
        found = &tags;
      }
      held = std::max(held, beginningAtEnd(pending, tag));
    }
    if (!found) {
      take(pending.size() - held);
      return parts;
    }
    take(at);
    pending.erase(0, open ? found->end.size() : found->begin.size());
    open = open ? nullptr : found;
  }
}

std::vector<ThinkingFilter::Part> ThinkingFilter::flush() {
  std::vector<Part> parts;
  if (!pending.empty())
    parts.push_back({std::move(pending), open != nullptr});
  pending.clear();
  return parts;
}

} // namespace llmir::cli
