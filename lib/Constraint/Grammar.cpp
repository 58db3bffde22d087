//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Constraint/Grammar.h"

#include <algorithm>

namespace llmir {

static constexpr size_t mostNodes = size_t(1) << 17,
                        mostListed = size_t(1) << 18,
                        mostTextBytes = size_t(1) << 20;

static constexpr uint32_t lastCharacter = 0x10ffff;

std::vector<CodePoints> normalized(std::vector<CodePoints> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const CodePoints &a, const CodePoints &b) {
              return a.first < b.first;
            });
  std::vector<CodePoints> result;
  for (const CodePoints &range : ranges) {
    if (!result.empty() && range.first <= result.back().last + 1)
      result.back().last = std::max(result.back().last, range.last);
    else
      result.push_back(range);
  }
  return result;
}

std::vector<CodePoints> complement(std::vector<CodePoints> ranges) {
  ranges.push_back({0xd800, 0xdfff});
  std::vector<CodePoints> result;
  uint32_t next = 0;
  for (const CodePoints &range : normalized(std::move(ranges))) {
    if (range.first > next)
      result.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= lastCharacter)
    result.push_back({next, lastCharacter});
  return result;
}

Grammar::Grammar() {
  nodes.push_back({}); // The empty text.
  addRule("root");
}

Grammar::Rule Grammar::addRule(std::string name) {
  if (ruleList.size() >= mostNodes) {
    isTooLarge = true;
    return root();
  }
  ruleList.push_back({std::move(name), 0, false});
  return static_cast<Rule>(ruleList.size() - 1);
}

void Grammar::define(Rule rule, Node body) {
  ruleList[rule].body = body;
  ruleList[rule].isDefined = true;
}

Grammar::Node Grammar::add(NodeData data) {
  if (nodes.size() >= mostNodes || lists.size() > mostListed ||
      rangeLists.size() > mostListed || texts.size() > mostTextBytes) {
    isTooLarge = true;
    return empty();
  }
  nodes.push_back(data);
  return static_cast<Node>(nodes.size() - 1);
}

Grammar::Node Grammar::addList(Kind kind, const std::vector<uint32_t> &list) {
  NodeData data;
  data.kind = kind;
  data.first = static_cast<uint32_t>(lists.size());
  data.count = static_cast<uint32_t>(list.size());
  const Node node = add(data);
  if (node != empty())
    lists.insert(lists.end(), list.begin(), list.end());
  return node;
}

Grammar::Node Grammar::text(std::string_view bytes) {
  if (bytes.empty())
    return empty();
  NodeData data;
  data.kind = Kind::Text;
  data.first = static_cast<uint32_t>(texts.size());
  data.count = static_cast<uint32_t>(bytes.size());
  isTooLarge |= bytes.size() > mostTextBytes;
  const Node node = isTooLarge ? empty() : add(data);
  if (node != empty())
    texts += bytes;
  return node;
}

Grammar::Node Grammar::characters(std::vector<CodePoints> ranges) {
  ranges = normalized(std::move(ranges));
  NodeData data;
  data.kind = Kind::Class;
  data.first = static_cast<uint32_t>(rangeLists.size());
  data.count = static_cast<uint32_t>(ranges.size());
  const Node node = add(data);
  if (node != empty())
    rangeLists.insert(rangeLists.end(), ranges.begin(), ranges.end());
  return node;
}

Grammar::Node Grammar::token(const std::vector<int32_t> &ids) {
  return addList(Kind::Token, std::vector<uint32_t>(ids.begin(), ids.end()));
}

Grammar::Node Grammar::sequence(const std::vector<Node> &parts) {
  return parts.size() == 1 ? parts.front() : addList(Kind::Sequence, parts);
}

Grammar::Node Grammar::choice(const std::vector<Node> &alternatives) {
  return alternatives.size() == 1 ? alternatives.front()
                                  : addList(Kind::Choice, alternatives);
}

Grammar::Node Grammar::repeat(Node part, uint32_t least, uint32_t most) {
  if (most == 0)
    return empty();
  if (least == 1 && most == 1)
    return part;
  const Node node = addList(Kind::Repeat, {part});
  if (node != empty()) {
    nodes[node].least = least;
    nodes[node].most = most;
  }
  return node;
}

Grammar::Node Grammar::reference(Rule rule) {
  return addList(Kind::Reference, {rule});
}

Grammar::Node Grammar::until(std::string_view bytes) {
  const Node node = text(bytes);
  if (node != empty())
    nodes[node].kind = Kind::Until;
  return node;
}

Status Grammar::checkSize() const {
  if (!isTooLarge)
    return Status::ok();
  return Status(StatusCode::OutOfRange,
                "the constraint is larger than " + std::to_string(mostNodes) +
                    " parts or " + std::to_string(mostTextBytes) +
                    " bytes of text",
                "simplify it");
}

} // namespace llmir
