//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/ConstraintCache.h"

namespace llmir {

static constexpr size_t mostEntries = 32;

/// All that a grammar is made of, so that equal ones are equal bytes.
static std::string keyOf(const Grammar &grammar) {
  std::string key;
  const auto add = [&](uint32_t number) {
    key.append(reinterpret_cast<const char *>(&number), sizeof(number));
  };
  const auto addText = [&](std::string_view text) {
    add(static_cast<uint32_t>(text.size()));
    key += text;
  };
  for (const Grammar::RuleData &rule : grammar.rules()) {
    add(rule.isDefined ? 2 : 1);
    add(rule.body);
    addText(rule.name); // For messages.
  }
  add(0);
  using Kind = Grammar::Kind;
  for (Grammar::Node node = 0; node < grammar.numNodes(); ++node) {
    const Grammar::NodeData &data = grammar.node(node);
    for (uint32_t number :
         {static_cast<uint32_t>(data.kind), data.count, data.least, data.most})
      add(number);
    if (data.kind == Kind::Text || data.kind == Kind::Until) {
      key += grammar.bytes(data);
    } else if (data.kind == Kind::Class) {
      for (uint32_t i = 0; i < data.count; ++i) {
        add(grammar.ranges(data)[i].first);
        add(grammar.ranges(data)[i].last);
      }
    } else {
      for (uint32_t i = 0; i < data.count; ++i)
        add(grammar.parts(data)[i]);
    }
  }
  return key;
}

std::shared_ptr<const Constraint>
ConstraintCache::find(const std::string &key) {
  const auto found = index.find(key);
  if (found == index.end())
    return nullptr;
  entries.splice(entries.begin(), entries, found->second);
  return found->second->constraint;
}

Expected<std::shared_ptr<const Constraint>>
ConstraintCache::get(const Grammar &grammar,
                     std::shared_ptr<const TokenVocabulary> vocabulary) {
  LLMIR_RETURN_IF_ERROR(grammar.checkSize());
  std::string key = keyOf(grammar);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto known = find(key))
      return known;
  }
  auto made = Constraint::create(grammar, std::move(vocabulary));
  if (!made)
    return made;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto known = find(key)) // Another thread was quicker.
    return known;
  entries.push_front({std::move(key), *made});
  index.emplace(entries.front().key, entries.begin());
  if (entries.size() > mostEntries) {
    index.erase(entries.back().key);
    entries.pop_back();
  }
  return made;
}

} // namespace llmir
