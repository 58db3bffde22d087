//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Less memory than there is, for tests of what happens then.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_ADDRESSSPACELIMIT_H
#define LLMIR_TEST_ADDRESSSPACELIMIT_H

#include <cstdint>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace llmir::test {

/// While it lives, this process gets at most about `more` bytes more.
class AddressSpaceLimit {
public:
  explicit AddressSpaceLimit(int64_t more) {
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before);
    rlimit less = before;
    less.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + more);
    isSet = pages > 0 && setrlimit(RLIMIT_AS, &less) == 0;
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before); }
  AddressSpaceLimit(const AddressSpaceLimit &) = delete;
  AddressSpaceLimit &operator=(const AddressSpaceLimit &) = delete;

  bool isSet = false;

private:
  rlimit before{};
};

// Sanitizers need terabytes of addresses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool canLimitAddressSpace = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool canLimitAddressSpace = false;
#else
inline constexpr bool canLimitAddressSpace = true;
#endif
#else
inline constexpr bool canLimitAddressSpace = true;
#endif

} // namespace llmir::test

#endif // LLMIR_TEST_ADDRESSSPACELIMIT_H
