//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A minimal encoder of protocol buffers for ONNX:
// https://protobuf.dev/programming-guides/encoding/
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_PROTOBUF_H
#define LLMIR_LIB_EXPORT_PROTOBUF_H

#include <cstdint>
#include <cstring>
#include <string>

namespace llmir::protobuf {

/// A message under construction; fields are appended in call order.
class Message {
public:
  void integer(int field, int64_t value) {
    tag(field, 0);
    varint(static_cast<uint64_t>(value));
  }
  void real(int field, float value) {
    tag(field, 5);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 32; shift += 8)
      bytes += static_cast<char>(bits >> shift & 0xff);
  }
  void text(int field, const std::string &value) {
    tag(field, 2);
    varint(value.size());
    bytes += value;
  }
  void message(int field, const Message &value) { text(field, value.bytes); }

  /// Starts a field of `size` bytes, which the caller writes after data().
  void begin(int field, uint64_t size) {
    tag(field, 2);
    varint(size);
  }

  const std::string &data() const { return bytes; }

private:
  void tag(int field, int kind) {
    varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(kind));
  }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }

  std::string bytes;
};

} // namespace llmir::protobuf

#endif // LLMIR_LIB_EXPORT_PROTOBUF_H
