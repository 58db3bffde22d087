//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sends the requests of a load, and records their answers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LOADGENERATOR_LOADRUN_H
#define LLMIR_LOADGENERATOR_LOADRUN_H

#include "llmir/LoadGenerator/AnswerReader.h"
#include "llmir/LoadGenerator/Workload.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace llmir {

struct Load {
  std::vector<Conversation> conversations;
  std::vector<double> arrivals; ///< Seconds; one for each conversation.
  /// Conversations at once; later ones wait. 0: no limit.
  int64_t maxConcurrency = 0;
};

struct LoadResult {
  std::vector<AnswerRecord> records; ///< In the order in which they ended.
  double duration = 0; ///< Seconds from the start to the last answer's end.
  int64_t peakConcurrency = 0;
};

/// Sends the requests of `load` and waits for all answers. A conversation ends
/// with its first request that fails. `onEnd` is called after each answer, with
/// the number of them. Fails only if the client cannot go on: requests that
/// fail are part of the result.
Expected<LoadResult> runLoad(StreamClient &client, const LoadTarget &target,
                             const Load &load,
                             const std::function<void(int64_t)> &onEnd);

} // namespace llmir

#endif // LLMIR_LOADGENERATOR_LOADRUN_H
