//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A grammar as a nondeterministic automaton over bytes, whose edges may call
// rules.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_PROGRAM_H
#define LLMIR_LIB_CONSTRAINT_PROGRAM_H

#include "MaskStore.h"
#include "llmir/Constraint/Grammar.h"
#include "llmir/Support/Span.h"

#include <array>

namespace llmir::constraint {

struct Edge {
  enum class Kind : uint8_t {
    Nothing, ///< Reads nothing.
    Bytes,   ///< Reads a byte from `first` to `last`.
    Token,   ///< Reads the token `value`.
    Call,    ///< Reads what the automaton at state `value` matches.
  };
  Kind kind = Kind::Nothing;
  uint8_t first = 0, last = 0;
  uint32_t target = 0;
  uint32_t value = 0;
};

/// From every state that can be reached, an end can be reached.
class Program {
public:
  /// OutOfRange if it would be too large; InvalidArgument for rules that are
  /// not defined, that call themselves before they read anything, and if
  /// nothing matches.
  static Expected<Program> compile(const Grammar &grammar);

  uint32_t start() const { return startState; }
  size_t numStates() const { return ends.size(); }
  Span<const Edge> edges(uint32_t state) const {
    return Span<const Edge>(edgeList.data() + firstEdge[state],
                            firstEdge[state + 1] - firstEdge[state]);
  }
  bool isEnd(uint32_t state) const { return ends[state]; }
  /// Whether a call that goes on there need not come back.
  bool isOnlyEnd(uint32_t state) const {
    return ends[state] && firstEdge[state] == firstEdge[state + 1];
  }

  /// Bytes of the same class cannot be told apart.
  uint32_t numClasses() const { return classCount; }
  uint8_t classOf(uint8_t byte) const { return classes[byte]; }
  /// A byte of each class.
  uint8_t byteOf(uint32_t byteClass) const { return examples[byteClass]; }

  /// Masks that automata of this program have computed.
  MaskStore &masks() const { return *maskStore; }

private:
  friend class ProgramBuilder;

  void computeClasses();

  uint32_t startState = 0;
  std::vector<uint32_t> firstEdge; ///< By state; one more than there are.
  std::vector<Edge> edgeList;
  std::vector<char> ends; ///< By state.
  std::array<uint8_t, 256> classes{}, examples{};
  uint32_t classCount = 0;
  std::unique_ptr<MaskStore> maskStore = std::make_unique<MaskStore>();
};

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_PROGRAM_H
