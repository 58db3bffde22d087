//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Harms a valid GGUF file in one place at a time, and expects that it is
// refused.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CHECKPOINT_GGUFHOSTILE_H
#define LLMIR_TEST_CHECKPOINT_GGUFHOSTILE_H

#include "GGUFImage.h"

#include "llmir/Checkpoint/Checkpoint.h"

namespace llmir::test {

struct HostileCase {
  const char *what;
  void (*harm)(GGUFImage &);
  std::vector<std::string> texts;
  StatusCode code = StatusCode::InvalidFile;
};

using Image = GGUFImage;
constexpr StatusCode Unsupported = StatusCode::Unsupported;
constexpr StatusCode NotFound = StatusCode::NotFound;
constexpr uint64_t huge = ~uint64_t(0);

inline void expectAllRefused(const std::vector<HostileCase> &cases) {
  TempFolder folder;
  for (const HostileCase &one : cases) {
    SCOPED_TRACE(one.what);
    Image image = tinyGGUF();
    one.harm(image);
    std::string bytes = image.build();
    std::string path = folder.write("bad.gguf", bytes);
    Refusal refusal{one.code, one.texts};
    refusal.texts.push_back("bad.gguf");
    expectRefusal(refusal, bytes.size(),
                  [&] { return Checkpoint::open(path).takeStatus(); });
  }
}

} // namespace llmir::test

#endif // LLMIR_TEST_CHECKPOINT_GGUFHOSTILE_H
