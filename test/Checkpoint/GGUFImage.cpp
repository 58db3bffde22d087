//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GGUFImage.h"

#include "llmir/Support/TensorFormat.h"

#include <algorithm>
#include <stdexcept>

namespace llmir::test {

std::string ggufString(const std::string &text) {
  return bytesOf(uint64_t(text.size())) + text;
}

GGUFImage::Key &GGUFImage::key(const std::string &name) {
  for (Key &key : keys)
    if (key.name == name)
      return key;
  throw std::out_of_range(name);
}

GGUFImage::Tensor &GGUFImage::tensor(const std::string &name) {
  for (Tensor &tensor : tensors)
    if (tensor.name == name)
      return tensor;
  throw std::out_of_range(name);
}

void GGUFImage::erase(const std::string &name) {
  keys.erase(std::remove_if(keys.begin(), keys.end(),
                            [&](const Key &key) { return key.name == name; }),
             keys.end());
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [&](const Tensor &t) { return t.name == name; }),
                tensors.end());
}

void GGUFImage::put(const std::string &name, GGUFType type,
                    std::string payload) {
  for (Key &key : keys)
    if (key.name == name) {
      key.type = static_cast<uint32_t>(type);
      key.payload = std::move(payload);
      return;
    }
  keys.push_back({name, static_cast<uint32_t>(type), std::move(payload), {}});
}

void GGUFImage::set(const std::string &name, uint32_t value) {
  put(name, GGUFType::U32, bytesOf(value));
}
void GGUFImage::set(const std::string &name, int32_t value) {
  put(name, GGUFType::I32, bytesOf(value));
}
void GGUFImage::set(const std::string &name, uint64_t value) {
  put(name, GGUFType::U64, bytesOf(value));
}
void GGUFImage::set(const std::string &name, float value) {
  put(name, GGUFType::F32, bytesOf(value));
}
void GGUFImage::set(const std::string &name, bool value) {
  put(name, GGUFType::Bool, bytesOf(uint8_t(value)));
}
void GGUFImage::set(const std::string &name, const std::string &value) {
  put(name, GGUFType::String, ggufString(value));
}

static std::string arrayHead(GGUFType type, size_t count) {
  return bytesOf(static_cast<uint32_t>(type)) + bytesOf(uint64_t(count));
}

void GGUFImage::setStrings(const std::string &name,
                           const std::vector<std::string> &values) {
  std::string payload = arrayHead(GGUFType::String, values.size());
  for (const std::string &value : values)
    payload += ggufString(value);
  put(name, GGUFType::Array, payload);
}

void GGUFImage::setFloats(const std::string &name,
                          const std::vector<float> &values) {
  std::string payload = arrayHead(GGUFType::F32, values.size());
  for (float value : values)
    payload += bytesOf(value);
  put(name, GGUFType::Array, payload);
}

void GGUFImage::setIntegers(const std::string &name,
                            const std::vector<int32_t> &values) {
  std::string payload = arrayHead(GGUFType::I32, values.size());
  for (int32_t value : values)
    payload += bytesOf(value);
  put(name, GGUFType::Array, payload);
}

void GGUFImage::add(const std::string &name, std::vector<uint64_t> shape,
                    uint32_t type) {
  uint64_t values = 1;
  for (uint64_t size : shape)
    values *= size;
  std::reverse(shape.begin(), shape.end());
  uint64_t bytes = values * 2;
  if (std::optional<TensorFormat> format = tensorFormatFromGGUF(type)) {
    const TensorFormatInfo &info = tensorFormatInfo(*format);
    bytes = values / info.valuesPerBlock * info.bytesPerBlock;
  }
  Tensor tensor;
  tensor.name = name;
  tensor.sizes = std::move(shape);
  tensor.type = type;
  tensor.bytes = bytes;
  tensors.push_back(std::move(tensor));
}

std::string GGUFImage::build() const {
  std::string file = magic + bytesOf(version) +
                     bytesOf(tensorCount.value_or(tensors.size())) +
                     bytesOf(keyCount.value_or(keys.size()));
  for (const Key &key : keys)
    file += bytesOf(key.nameLength.value_or(key.name.size())) + key.name +
            bytesOf(key.type) + key.payload;
  std::string data;
  for (const Tensor &tensor : tensors) {
    file += bytesOf(tensor.nameLength.value_or(tensor.name.size())) +
            tensor.name +
            bytesOf(tensor.dims.value_or(uint32_t(tensor.sizes.size())));
    for (uint64_t size : tensor.sizes)
      file += bytesOf(size);
    file += bytesOf(tensor.type) +
            bytesOf(tensor.offset.value_or(uint64_t(data.size())));
    for (uint64_t i = 0; i < tensor.bytes; ++i)
      data += static_cast<char>(i * 7 + tensor.name.size());
    data.resize((data.size() + alignment - 1) / alignment * alignment);
  }
  file.resize((file.size() + alignment - 1) / alignment * alignment);
  file += data;
  file.resize(file.size() - missingBytes);
  return file;
}

GGUFImage tinyGGUF() {
  GGUFImage image;
  image.set("general.architecture", std::string("llama"));
  image.set("general.name", std::string("tiny"));
  image.set("general.alignment", uint32_t(32));
  image.set("llama.block_count", uint32_t(2));
  image.set("llama.context_length", uint32_t(128));
  image.set("llama.embedding_length", uint32_t(64));
  image.set("llama.feed_forward_length", uint32_t(96));
  image.set("llama.attention.head_count", uint32_t(4));
  image.set("llama.attention.head_count_kv", uint32_t(2));
  image.set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  image.set("llama.rope.freq_base", 10000.0f);
  image.set("llama.rope.dimension_count", uint32_t(16));
  image.set("tokenizer.ggml.model", std::string("llama"));
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>", "<0x0A>"};
  std::vector<int32_t> types = {2, 3, 3, 6};
  for (int i = 4; i < 40; ++i) {
    tokens.push_back("t" + std::to_string(i));
    types.push_back(1);
  }
  image.setStrings("tokenizer.ggml.tokens", tokens);
  image.setFloats("tokenizer.ggml.scores", std::vector<float>(40, -1.5f));
  image.setIntegers("tokenizer.ggml.token_type", types);
  image.setStrings("tokenizer.ggml.merges", {"a b", "t1 t2"});
  image.set("tokenizer.ggml.bos_token_id", uint32_t(1));
  image.set("tokenizer.ggml.eos_token_id", uint32_t(2));
  image.set("tokenizer.ggml.add_bos_token", true);
  image.add("token_embd.weight", {40, 64}, 8);
  image.add("output_norm.weight", {64}, 0);
  image.add("blk.0.attn_q.weight", {64, 64}, 2);
  image.add("blk.0.attn_k.weight", {32, 64}, 30);
  image.add("blk.0.ffn_down.weight", {64, 96}, 1);
  return image;
}

} // namespace llmir::test
