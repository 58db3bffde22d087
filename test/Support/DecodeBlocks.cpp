//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-decode-blocks FORMAT: decodes the blocks of standard input to f32, for
// comparisons with other decoders (test/reference/block_decoding.py).
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/TensorFormat.h"

#include <cstdio>
#include <optional>
#include <vector>

using namespace llmir;

int main(int argc, char **argv) {
  std::optional<TensorFormat> format;
  if (argc == 2)
    format = tensorFormatFromName(argv[1]);
  if (!format) {
    std::fputs("usage: llmir-decode-blocks FORMAT < BLOCKS > FLOATS\n", stderr);
    return 2;
  }
  std::vector<uint8_t> stored;
  uint8_t piece[1 << 16];
  for (size_t size; (size = std::fread(piece, 1, sizeof piece, stdin)) > 0;)
    stored.insert(stored.end(), piece, piece + size);
  const TensorFormatInfo &info = tensorFormatInfo(*format);
  const int64_t blocks =
      static_cast<int64_t>(stored.size()) / info.bytesPerBlock;
  std::vector<float> values(blocks * info.valuesPerBlock);
  decodeTensorRow(*format, stored.data(), static_cast<int64_t>(values.size()),
                  values.data());
  return std::fwrite(values.data(), sizeof(float), values.size(), stdout) ==
                 values.size()
             ? 0
             : 1;
}
