//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass -llm-reduction of llmir-reduce.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_REDUCE_REDUCEFUNCTIONS_H
#define LLMIR_TOOLS_LLMIR_REDUCE_REDUCEFUNCTIONS_H

namespace llmir {

/// Registers -llm-reduction={test=PROGRAM}.
void registerReduceFunctions();

} // namespace llmir

#endif // LLMIR_TOOLS_LLMIR_REDUCE_REDUCEFUNCTIONS_H
