//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a program: its states are sets of places in it, each with the calls that
// are open. They are found as they are needed and kept, with what follows from
// them byte by byte. The tokens that may come next are kept for all automata of
// the program. They are computed without what is kept otherwise, so that no
// limit depends on what came before.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_AUTOMATON_H
#define LLMIR_LIB_CONSTRAINT_AUTOMATON_H

#include "Program.h"
#include "llmir/Constraint/TokenVocabulary.h"

#include <unordered_map>

namespace llmir::constraint {

/// Copies are independent. The program and the vocabulary must outlive it.
class Automaton {
public:
  explicit Automaton(const Program &program);

  /// As ConstraintMatcher has them.
  Expected<Span<const uint64_t>> allowed(const TokenVocabulary &vocabulary);
  Status accept(int32_t token, const TokenVocabulary &vocabulary);
  bool mayEnd() const { return states[current].accepts; }
  bool mustEnd() const {
    return states[current].accepts && states[current].numPlaces == 0;
  }
  /// OutOfRange if the beginning is too ambiguous.
  Status checkStart() const;

private:
  struct Nothing {};
  Automaton(const Program &program, Nothing);

  using State = uint32_t;
  static constexpr State dead = 0, unknown = UINT32_MAX;

  /// Where calls go on that are open; number 0 is that of the root, after which
  /// the text ends.
  struct Frame {
    uint32_t state, parent;
    Digest digest; ///< Of the states from here to the root.
  };
  /// A state of the program and the frame of the innermost open call.
  struct Place {
    uint32_t state, frame;
    bool operator==(const Place &other) const {
      return state == other.state && frame == other.frame;
    }
    bool operator<(const Place &other) const {
      return state != other.state ? state < other.state : frame < other.frame;
    }
  };
  struct StateData {
    uint32_t firstPlace = 0, numPlaces = 0; ///< Sorted.
    bool accepts = false;
  };
  /// A set of places that forgets in constant time.
  class PlaceSet {
  public:
    void clear();
    bool insert(const Place &place); ///< False if it was there.

  private:
    struct Slot {
      Place place;
      uint32_t round = 0;
    };
    std::vector<Slot> slots;
    uint32_t round = 0;
    size_t count = 0;
  };

  Span<const Place> places(State state) const {
    return Span<const Place>(placeList.data() + states[state].firstPlace,
                             states[state].numPlaces);
  }
  uint32_t frameOf(uint32_t state, uint32_t parent);
  State closure(std::vector<Place> seeds);
  State intern(std::vector<Place> &found, bool accepts);
  State next(State state, uint8_t byte) {
    const size_t index =
        size_t(state) * program->numClasses() + program->classOf(byte);
    return transitions[index] != unknown ? transitions[index]
                                         : computeNext(state, byte, index);
  }
  State computeNext(State state, uint8_t byte, size_t index);
  State afterToken(State state, int32_t token,
                   const TokenVocabulary &vocabulary);
  void walk(const TokenVocabulary &vocabulary, std::vector<uint64_t> &mask);
  /// Only the current state, of which nothing is known.
  Automaton alone() const;
  Digest digest() const;
  void shrink();
  Status tooAmbiguous() const;

  const Program *program;
  std::vector<Frame> frames;
  std::unordered_map<uint64_t, uint32_t> frameNumbers;
  std::vector<Place> placeList;
  std::vector<StateData> states;
  std::unordered_multimap<uint64_t, State> stateNumbers; ///< By hash.
  std::vector<State> transitions; ///< [state][class of the byte]
  TokenMask lastMask;             ///< That allowed() has returned.
  State current = dead;
  PlaceSet visited;        ///< Kept to reuse the allocation.
  std::vector<State> path; ///< The same.
  size_t leastKept = 0;    ///< What the last shrink() has left, in bytes.
  uint64_t work = 0;       ///< Of this call, in places.
  bool isExceeded = false; ///< By this call.
};

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_AUTOMATON_H
