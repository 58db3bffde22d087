//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Hub/Pull.h"

#include <set>
#include <string_view>

using namespace llmir;
using namespace llmir::hub;

/// The sum of `bytesOf(file)` over the files with different contents.
template <typename BytesOf>
static uint64_t sumOfBlobs(const std::vector<PlannedFile> &files,
                           BytesOf bytesOf) {
  std::set<std::string_view> counted;
  uint64_t bytes = 0;
  for (const PlannedFile &file : files)
    if (counted.insert(file.entry.hash).second)
      bytes += bytesOf(file);
  return bytes;
}

uint64_t PullPlan::totalBytes() const {
  return sumOfBlobs(files,
                    [](const PlannedFile &file) { return file.entry.size; });
}

uint64_t PullPlan::presentBytes() const {
  return sumOfBlobs(files,
                    [](const PlannedFile &file) { return file.presentBytes; });
}

uint64_t PullPlan::cachedBytes() const {
  return sumOfBlobs(files, [](const PlannedFile &file) {
    return file.isCached ? file.entry.size : 0;
  });
}
