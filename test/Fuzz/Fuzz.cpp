//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libFuzzer's entry points: llmir-fuzz --target=NAME [libFuzzer's arguments].
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace llmir::fuzz;

static const Target *chosen = nullptr;

/// libFuzzer itself ignores arguments that begin with two dashes.
extern "C" __attribute__((visibility("default"))) int
LLVMFuzzerInitialize(int *count, char ***arguments) {
  const char *option = "--target=";
  for (int i = 1; i < *count; ++i)
    if (std::strncmp((*arguments)[i], option, std::strlen(option)) == 0)
      chosen = findTarget((*arguments)[i] + std::strlen(option));
  if (chosen)
    return 0;
  std::fprintf(stderr, "give --target=NAME with one of:\n");
  for (const Target &target : targets())
    std::fprintf(stderr, "  %-18s %s\n", target.name, target.input);
  std::exit(2);
}

extern "C" __attribute__((visibility("default"))) int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  chosen->run({reinterpret_cast<const char *>(data), size});
  return 0;
}
