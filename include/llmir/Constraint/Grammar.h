//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context-free grammar over the bytes of texts, and over tokens that are no
// text. Whatever constrains an answer is translated into one of these.
//
//   Grammar grammar;
//   Grammar::Node digits = grammar.repeat(grammar.range('0', '9'), 1, 4);
//   grammar.define(grammar.root(), grammar.choice({grammar.text("-"),
//   digits}));
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONSTRAINT_GRAMMAR_H
#define LLMIR_CONSTRAINT_GRAMMAR_H

#include "llmir/Support/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmir {

/// Code points, both ends included.
struct CodePoints {
  uint32_t first = 0, last = 0;
};

/// Sorts ranges and joins those that touch.
std::vector<CodePoints> normalized(std::vector<CodePoints> ranges);
/// All characters except those of the ranges. Surrogates are no characters.
std::vector<CodePoints> complement(std::vector<CodePoints> ranges);

/// Rules and the nodes of their bodies. Grows only, up to a limit: what is
/// added beyond it is lost, and checkSize() fails.
class Grammar {
public:
  using Node = uint32_t;
  using Rule = uint32_t;

  enum class Kind {
    Empty,     ///< The empty text.
    Text,      ///< These bytes.
    Class,     ///< A character of a set, in UTF-8.
    Token,     ///< One of several tokens, whatever their text.
    Sequence,  ///< One after the other.
    Choice,    ///< One of several.
    Repeat,    ///< `least` to `most` times.
    Reference, ///< What a rule matches.
    Until,     ///< Any bytes up to the first occurrence of a text, included.
  };

  static constexpr uint32_t noLimit = UINT32_MAX;

  struct NodeData {
    Kind kind = Kind::Empty;
    uint32_t first = 0, count = 0; ///< In the list of the kind.
    uint32_t least = 0, most = 0;  ///< Of Repeat.
  };
  struct RuleData {
    std::string name; ///< For messages.
    Node body = 0;
    bool isDefined = false;
  };

  Grammar();

  Rule root() const { return 0; }
  Rule addRule(std::string name);
  void define(Rule rule, Node body);

  Node empty() const { return 0; }
  Node text(std::string_view bytes);
  Node characters(std::vector<CodePoints> ranges);
  Node range(uint32_t first, uint32_t last) {
    return characters({{first, last}});
  }
  /// One of the ids; with none, nothing matches.
  Node token(const std::vector<int32_t> &ids);
  Node sequence(const std::vector<Node> &parts);
  Node choice(const std::vector<Node> &alternatives);
  Node repeat(Node part, uint32_t least, uint32_t most);
  Node optional(Node part) { return repeat(part, 0, 1); }
  Node reference(Rule rule);
  Node until(std::string_view bytes);

  const std::vector<RuleData> &rules() const { return ruleList; }
  size_t numNodes() const { return nodes.size(); }
  const NodeData &node(Node node) const { return nodes[node]; }
  /// The parts of a Sequence or Choice; of a Repeat, the one part; of a
  /// Reference, the rule.
  const uint32_t *parts(const NodeData &data) const {
    return lists.data() + data.first;
  }
  std::string_view bytes(const NodeData &data) const {
    return std::string_view(texts).substr(data.first, data.count);
  }
  const CodePoints *ranges(const NodeData &data) const {
    return rangeLists.data() + data.first;
  }

  /// OutOfRange if more was added than a grammar may have.
  Status checkSize() const;

private:
  Node add(NodeData data);
  Node addList(Kind kind, const std::vector<uint32_t> &list);

  std::vector<RuleData> ruleList;
  std::vector<NodeData> nodes;
  std::vector<uint32_t> lists;
  std::vector<CodePoints> rangeLists;
  std::string texts;
  bool isTooLarge = false;
};

} // namespace llmir

#endif // LLMIR_CONSTRAINT_GRAMMAR_H
