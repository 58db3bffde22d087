//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which states of an automaton lead anywhere.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_PROGRAMCHECKS_H
#define LLMIR_LIB_CONSTRAINT_PROGRAMCHECKS_H

#include "Program.h"

namespace llmir::constraint {

struct MatchingStates {
  std::vector<char> useful; ///< From here, an end can be reached.
  std::vector<char> empty;  ///< The same without reading anything.
};
MatchingStates findMatching(const Program &program);

/// The starts of what calls itself before anything has been read, so that calls
/// would never end. `empty` is that of findMatching().
std::vector<uint32_t> findLeftRecursion(const Program &program,
                                        const std::vector<char> &empty);

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_PROGRAMCHECKS_H
