//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts every operator new of the program that links AllocationCount.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_RUNTIME_ALLOCATIONCOUNT_H
#define LLMIR_TEST_RUNTIME_ALLOCATIONCOUNT_H

#include <cstdint>

namespace llmir::test {
int64_t allocationCount();
} // namespace llmir::test

#endif // LLMIR_TEST_RUNTIME_ALLOCATIONCOUNT_H
