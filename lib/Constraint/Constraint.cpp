//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Constraint/Constraint.h"

#include "Automaton.h"

namespace llmir {

Constraint::Constraint(constraint::Program &&given,
                       std::shared_ptr<const TokenVocabulary> vocabulary)
    : program(std::make_unique<const constraint::Program>(std::move(given))),
      tokens(std::move(vocabulary)) {}
Constraint::~Constraint() = default;

Expected<std::shared_ptr<const Constraint>>
Constraint::create(const Grammar &grammar,
                   std::shared_ptr<const TokenVocabulary> vocabulary) {
  Expected<constraint::Program> program = constraint::Program::compile(grammar);
  if (!program)
    return program.takeStatus();
  LLMIR_RETURN_IF_ERROR(constraint::Automaton(*program).checkStart());
  return std::shared_ptr<const Constraint>(
      new Constraint(std::move(*program), std::move(vocabulary)));
}

ConstraintMatcher::ConstraintMatcher(std::shared_ptr<const Constraint> given)
    : owner(std::move(given)),
      automaton(std::make_unique<constraint::Automaton>(*owner->program)) {}
ConstraintMatcher::ConstraintMatcher(const ConstraintMatcher &other)
    : owner(other.owner),
      automaton(std::make_unique<constraint::Automaton>(*other.automaton)) {}
ConstraintMatcher::ConstraintMatcher(ConstraintMatcher &&) noexcept = default;
ConstraintMatcher &
ConstraintMatcher::operator=(ConstraintMatcher other) noexcept {
  std::swap(owner, other.owner);
  std::swap(automaton, other.automaton);
  return *this;
}
ConstraintMatcher::~ConstraintMatcher() = default;

Expected<Span<const uint64_t>> ConstraintMatcher::allowed() {
  return automaton->allowed(owner->vocabulary());
}
Status ConstraintMatcher::accept(int32_t token) {
  return automaton->accept(token, owner->vocabulary());
}
bool ConstraintMatcher::mayEnd() const { return automaton->mayEnd(); }
bool ConstraintMatcher::mustEnd() const { return automaton->mustEnd(); }

} // namespace llmir
