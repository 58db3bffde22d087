//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time that reading any file may take.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_PROCESSORTIME_H
#define LLMIR_TEST_PROCESSORTIME_H

#include "AddressSpaceLimit.h"

#include <ctime>

namespace llmir::test {

/// The thread's own time, which other programs on the machine do not lengthen.
inline double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// The time that reading any file may take. Sanitizers slow everything down.
inline constexpr double timeLimit = canLimitAddressSpace ? 1.0 : 10.0;

} // namespace llmir::test

#endif // LLMIR_TEST_PROCESSORTIME_H
