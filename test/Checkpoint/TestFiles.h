//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers of the tests of the readers: temporary directories, files with given
// bytes, and a counter of allocations.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CHECKPOINT_TESTFILES_H
#define LLMIR_TEST_CHECKPOINT_TESTFILES_H

#include "../ProcessorTime.h"

#include "llmir/Support/MappedFile.h"
#include "llmir/Support/Status.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace llmir::test {

/// A temporary directory that is removed with its contents; in memory if the
/// system offers it, for these tests write files by the thousand.
class TempFolder {
public:
  TempFolder() {
    for (const std::string &place :
         {std::string("/dev/shm"), testing::TempDir()}) {
      std::string pattern = place + "/llmir-test-XXXXXX";
      if (mkdtemp(pattern.data())) {
        folder = pattern;
        return;
      }
    }
    ADD_FAILURE() << "no place for temporary files";
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }
  const std::string &path() const { return folder; }
  std::string operator/(const std::string &name) const {
    return folder + "/" + name;
  }
  /// Writes a file; returns its path.
  std::string write(const std::string &name, const std::string &bytes) const {
    std::string path = folder + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

private:
  std::string folder;
};

template <typename T> std::string bytesOf(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// The largest single request and the sum of all since the last reset. The
/// program's operator new feeds it.
struct AllocationMeter {
  /// The n-th request from now on fails, once; 0 lets all succeed.
  static void failAt(size_t n);
  static void reset();
  static size_t largest();
  static size_t total();
};

/// What every refusal of a hostile file must be: the code, all of the texts in
/// its message, in little time, and without excessive allocations.
struct Refusal {
  StatusCode code = StatusCode::InvalidFile;
  std::vector<std::string> texts;
};

/// Runs `open` (a callable that returns a Status) on a file of `fileBytes`
/// bytes.
template <typename Open>
void expectRefusal(const Refusal &refusal, size_t fileBytes, Open open) {
  AllocationMeter::reset();
  double start = cpuSeconds();
  Status status = open();
  double time = cpuSeconds() - start;
  size_t largest = AllocationMeter::largest(), total = AllocationMeter::total();
  ASSERT_FALSE(status.isOk()) << "was accepted";
  EXPECT_STREQ(statusCodeName(status.code()), statusCodeName(refusal.code))
      << status.message();
  for (const std::string &text : refusal.texts)
    EXPECT_NE(status.message().find(text), std::string::npos)
        << "'" << text << "' is not in: " << status.message();
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  EXPECT_LT(time, timeLimit);
  EXPECT_LT(largest, 2 * fileBytes + (size_t(64) << 10));
  EXPECT_LT(total, 64 * fileBytes + (size_t(1) << 20));
}

} // namespace llmir::test

#endif // LLMIR_TEST_CHECKPOINT_TESTFILES_H
