//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GGUF files made field by field, so that a test can make any field wrong.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CHECKPOINT_GGUFIMAGE_H
#define LLMIR_TEST_CHECKPOINT_GGUFIMAGE_H

#include "TestFiles.h"

#include "llmir/Checkpoint/GGUF.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmir::test {

/// The fields of a GGUF file, written by build(). Optional fields override the
/// correct values.
struct GGUFImage {
  struct Key {
    std::string name;
    uint32_t type;
    std::string payload; ///< As stored after the type.
    std::optional<uint64_t> nameLength;
  };
  struct Tensor {
    std::string name;
    std::vector<uint64_t> sizes; ///< As stored: the fastest first.
    uint32_t type = 0;
    uint64_t bytes = 0; ///< That it takes in the data.
    std::optional<uint64_t> nameLength;
    std::optional<uint32_t> dims;
    std::optional<uint64_t> offset;
  };

  std::string magic = "GGUF";
  uint32_t version = 3;
  std::optional<uint64_t> tensorCount, keyCount;
  std::vector<Key> keys;
  std::vector<Tensor> tensors;
  uint64_t alignment = 32;
  uint64_t missingBytes = 0; ///< Cut from the end.

  Key &key(const std::string &name);
  Tensor &tensor(const std::string &name);
  void erase(const std::string &name);
  /// Sets a key to a value of the type that fits the argument.
  void set(const std::string &name, uint32_t value);
  void set(const std::string &name, int32_t value);
  void set(const std::string &name, uint64_t value);
  void set(const std::string &name, float value);
  void set(const std::string &name, bool value);
  void set(const std::string &name, const std::string &value);
  void setStrings(const std::string &name,
                  const std::vector<std::string> &values);
  void setFloats(const std::string &name, const std::vector<float> &values);
  void setIntegers(const std::string &name, const std::vector<int32_t> &values);
  /// A tensor with as many bytes as its type needs (2 per value of a type that
  /// is not in TensorFormats.def); sizes outermost first, as in torch.
  void add(const std::string &name, std::vector<uint64_t> shape, uint32_t type);

  std::string build() const;

private:
  void put(const std::string &name, GGUFType type, std::string payload);
};

/// "8 bytes of length, then the text".
std::string ggufString(const std::string &text);

/// A small valid model: 2 layers, 64 wide, 4 heads, 2 KV heads, 40 tokens, with
/// a tokenizer and tensors of every type that LLMIR computes with.
GGUFImage tinyGGUF();

} // namespace llmir::test

#endif // LLMIR_TEST_CHECKPOINT_GGUFIMAGE_H
