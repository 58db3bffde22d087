//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tokenizer's tests share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_TOKENIZER_TESTSUPPORT_H
#define LLMIR_TEST_TOKENIZER_TESTSUPPORT_H

#include "llmir/Support/Json.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <sys/stat.h>

namespace llmir {

/// A path below LLMIR_TEST_DATA (by default ../shared/data beside the sources);
/// empty where it is absent.
inline std::string testData(const std::string &path) {
  const char *root = std::getenv("LLMIR_TEST_DATA");
  std::string full =
      (root ? std::string(root) : LLMIR_SOURCE_DIR "/../shared/data") + "/" +
      path;
  struct stat info;
  return stat(full.c_str(), &info) == 0 ? full : std::string();
}

} // namespace llmir

#endif // LLMIR_TEST_TOKENIZER_TESTSUPPORT_H
