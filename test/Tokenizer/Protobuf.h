//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fields of protocol buffers, of which tests compose SentencePiece models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_TOKENIZER_PROTOBUF_H
#define LLMIR_TEST_TOKENIZER_PROTOBUF_H

#include <cstdint>
#include <cstring>
#include <string>

namespace llmir::test::protobuf {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
inline std::string number(uint32_t field, uint64_t value) {
  return varint(field << 3) + varint(value);
}
inline std::string bytes(uint32_t field, const std::string &data) {
  return varint(field << 3 | 2) + varint(data.size()) + data;
}
inline std::string floating(uint32_t field, float value) {
  char raw[4];
  std::memcpy(raw, &value, 4);
  return varint(field << 3 | 5) + std::string(raw, 4);
}

} // namespace llmir::test::protobuf

#endif // LLMIR_TEST_TOKENIZER_PROTOBUF_H
