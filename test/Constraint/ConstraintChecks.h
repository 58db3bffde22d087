//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vocabularies and matching for the tests of constraints.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CONSTRAINT_CONSTRAINTCHECKS_H
#define LLMIR_TEST_CONSTRAINT_CONSTRAINTCHECKS_H

#include "llmir/Constraint/Constraint.h"
#include "llmir/Constraint/Sources.h"

#include <gtest/gtest.h>

namespace llmir::test {

/// Token i is byte i; then come these texts.
inline std::shared_ptr<const TokenVocabulary>
makeVocabulary(const std::vector<std::string> &more = {}) {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte)
    texts.emplace_back(1, static_cast<char>(byte));
  texts.insert(texts.end(), more.begin(), more.end());
  return std::make_shared<const TokenVocabulary>(std::move(texts));
}

using Source = std::function<Expected<Grammar::Node>(Grammar &)>;

inline Source regex(const std::string &pattern) {
  return [=](Grammar &grammar) { return addRegex(grammar, pattern); };
}
inline Source gbnf(const std::string &text) {
  return [=](Grammar &grammar) { return addGBNF(grammar, text); };
}
inline Source schema(const std::string &json, bool hasSpace = true) {
  return [=](Grammar &grammar) {
    return addJsonSchema(grammar, OrderedJson::parse(json), {hasSpace});
  };
}

inline Expected<std::shared_ptr<const Constraint>>
compile(const Source &source, const std::vector<std::string> &more = {}) {
  Grammar grammar;
  Expected<Grammar::Node> root = source(grammar);
  if (!root)
    return root.takeStatus();
  grammar.define(grammar.root(), *root);
  return Constraint::create(grammar, makeVocabulary(more));
}

/// Whether a constraint matches a text, byte by byte.
inline bool matches(const std::shared_ptr<const Constraint> &constraint,
                    std::string_view text) {
  ConstraintMatcher matcher(constraint);
  for (char byte : text)
    if (!matcher.accept(static_cast<uint8_t>(byte)))
      return false;
  return matcher.mayEnd();
}

inline void expectMatches(const Source &source,
                          const std::vector<std::string> &matching,
                          const std::vector<std::string> &others) {
  auto constraint = compile(source);
  ASSERT_TRUE(constraint) << constraint.status().message();
  for (const std::string &text : matching)
    EXPECT_TRUE(matches(*constraint, text)) << text;
  for (const std::string &text : others)
    EXPECT_FALSE(matches(*constraint, text)) << text;
}

inline void expectRefused(const Source &source, StatusCode code,
                          const std::string &words) {
  SCOPED_TRACE(words);
  auto constraint = compile(source);
  ASSERT_FALSE(constraint) << words;
  EXPECT_EQ(constraint.status().code(), code) << constraint.status().message();
  EXPECT_NE(constraint.status().message().find(words), std::string::npos)
      << constraint.status().message();
}

inline bool isAllowed(Span<const uint64_t> mask, size_t token) {
  return (mask[token / 64] >> (token % 64)) & 1;
}

} // namespace llmir::test

#endif // LLMIR_TEST_CONSTRAINT_CONSTRAINTCHECKS_H
