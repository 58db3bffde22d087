//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tokens may come next, so that an answer matches a grammar.
//
//   auto constraint = Constraint::create(grammar, vocabulary);
//   ConstraintMatcher matcher(*constraint);
//   Expected<Span<const uint64_t>> mask = matcher.allowed();
//   ... choose a token whose bit is set
//   Status accepted = matcher.accept(token);
//
// The result depends on the grammar and the accepted tokens only.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONSTRAINT_CONSTRAINT_H
#define LLMIR_CONSTRAINT_CONSTRAINT_H

#include "llmir/Constraint/Grammar.h"
#include "llmir/Constraint/TokenVocabulary.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <memory>

namespace llmir {

namespace constraint {
class Program;
class Automaton;
} // namespace constraint

/// A grammar and the tokens that spell its texts. Immutable: any number of
/// matchers and threads may share it.
class Constraint {
public:
  /// OutOfRange if the grammar is too large; InvalidArgument if it has rules
  /// that are not defined or that call themselves before they read anything, or
  /// if it matches no text. `vocabulary` is not null.
  static Expected<std::shared_ptr<const Constraint>>
  create(const Grammar &grammar,
         std::shared_ptr<const TokenVocabulary> vocabulary);
  ~Constraint();

  const TokenVocabulary &vocabulary() const { return *tokens; }

private:
  friend class ConstraintMatcher;
  Constraint(constraint::Program &&program,
             std::shared_ptr<const TokenVocabulary> vocabulary);

  std::unique_ptr<const constraint::Program> program;
  std::shared_ptr<const TokenVocabulary> tokens;
};

/// How far an answer has matched. Copies go on independently. What it has
/// computed is kept, in a few MiB. Not thread-safe.
class ConstraintMatcher {
public:
  /// `constraint` is not null.
  explicit ConstraintMatcher(std::shared_ptr<const Constraint> constraint);
  ConstraintMatcher(const ConstraintMatcher &other);
  ConstraintMatcher(ConstraintMatcher &&) noexcept;
  ConstraintMatcher &operator=(ConstraintMatcher other) noexcept;
  ~ConstraintMatcher();

  /// The tokens that may come next: token i if bit i % 64 of word i / 64 is
  /// set. Valid until the next call. Fails with OutOfRange where so much has to
  /// be considered at once that it would take long.
  Expected<Span<const uint64_t>> allowed();

  /// Adds a token. Fails with InvalidArgument if it may not come next, or as
  /// allowed() does; the matcher is then as before.
  Status accept(int32_t token);

  /// Whether the answer is complete.
  bool mayEnd() const;
  /// Whether it is complete and no token may follow.
  bool mustEnd() const;

private:
  std::shared_ptr<const Constraint> owner;
  std::unique_ptr<constraint::Automaton> automaton;
};

} // namespace llmir

#endif // LLMIR_CONSTRAINT_CONSTRAINT_H
