//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writing GGUF (version 3): keys, and the header of a file.
//
//   GGUFKeys keys;
//   keys.setString("general.architecture", "llama");
//   std::string header = ggufHeader(keys, tensors);
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHECKPOINT_GGUFWRITER_H
#define LLMIR_CHECKPOINT_GGUFWRITER_H

#include "llmir/Checkpoint/GGUF.h"
#include "llmir/Checkpoint/ModelConfig.h"
#include "llmir/Support/TensorFormat.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmir {

/// Keys with values, in the order in which they were first set. Setting a key
/// again replaces its value.
class GGUFKeys {
public:
  void setU16(std::string_view key, uint16_t value);
  void setU32(std::string_view key, uint32_t value);
  void setI32(std::string_view key, int32_t value);
  void setF32(std::string_view key, float value);
  void setBool(std::string_view key, bool value);
  void setString(std::string_view key, std::string_view value);
  void setStrings(std::string_view key, const std::vector<std::string> &values);
  void setFloats(std::string_view key, const std::vector<float> &values);
  void setIntegers(std::string_view key, const std::vector<int32_t> &values);
  void setBools(std::string_view key, const std::vector<bool> &values);
  void setBytes(std::string_view key, std::string_view bytes);
  /// The entry of a file, unchanged.
  void copy(const GGUFEntry &entry);
  void remove(std::string_view key);
  bool has(std::string_view key) const;

  size_t size() const { return list.size(); }
  /// As in a file: names, types and values.
  std::string bytes() const;

private:
  void set(std::string_view key, GGUFType type, const void *value,
           size_t bytes);
  /// Starts the value of an array.
  static std::string arrayStart(GGUFType type, size_t count);
  void setValue(std::string_view key, std::string typeAndValue);

  std::vector<std::pair<std::string, std::string>> list;
};

/// A tensor to write.
struct GGUFTensor {
  std::string name;
  std::vector<int64_t> shape; ///< Outermost first; rows are whole blocks.
  TensorFormat format = TensorFormat::F32;

  int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  int64_t rows() const;
  int64_t bytes() const;
};

/// Each tensor's data starts at a multiple of this, relative to the end of the
/// header, whose size is one, too.
constexpr int64_t ggufAlignment = 32;

/// Everything before the tensors' data. They follow in this order, each padded
/// to ggufAlignment.
std::string ggufHeader(const GGUFKeys &keys,
                       const std::vector<GGUFTensor> &tensors);

/// Adds the keys that describe a model's architecture, by llama.cpp's names;
/// modelConfigFromGGUF() reads them. Unsupported, naming the property, if GGUF
/// has no key for a property that matters.
Status addModelKeys(const ModelConfig &config, GGUFKeys &keys);

/// Adds the recommended sampling parameters, which modelConfigFromGGUF() reads.
/// None if the model is to be decoded greedily.
void addSamplingKeys(const GenerationDefaults &defaults, GGUFKeys &keys);

/// Whether GGUF files of the architecture have rows of q and k for rotation of
/// adjacent pairs.
bool rotatesPairsInGGUF(std::string_view architecture);

} // namespace llmir

#endif // LLMIR_CHECKPOINT_GGUFWRITER_H
