//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Target.h"

#include "../Checkpoint/GGUFImage.h"
#include "Safetensors.h"

#include "llmir/ChatTemplate/FromGGUF.h"
#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Support/Json.h"
#include "llmir/Tokenizer/FromGGUF.h"

#include <filesystem>

using namespace llmir;
using namespace llmir::fuzz;
using llmir::test::bytesOf;
using llmir::test::GGUFImage;

/// Reads every byte that a tensor claims to have.
static void readTensors(const std::vector<CheckpointTensor> &tensors) {
  for (const CheckpointTensor &tensor : tensors) {
    unsigned sum = 0;
    for (uint8_t byte : tensor.bytes)
      sum += byte;
    expect(sum <= tensor.bytes.size() * 255, "the bytes can be read");
    expect(isValidUtf8(tensor.name), "names of tensors are UTF-8");
    (void)tensor.usableFormat();
  }
}

/// Every failure has words, of one line.
//===----------------------------------------------------------------------===//
// GGUF
//===----------------------------------------------------------------------===//

static void readGGUF(std::string_view input) {
  auto model = Checkpoint::open(write("m.gguf", input));
  if (!model) {
    checkStatus(model.status());
    // The tokenizer is read of files whose architecture is unknown, too.
    auto file = GGUFFile::open(write("m.gguf", input));
    if (file)
      (void)tokenizerFromGGUF(file->metadata());
    return;
  }
  readTensors(model->tensors());
  for (const GGUFEntry &entry : model->gguf()->entries()) {
    (void)entry.number();
    for (size_t i = 0; i < entry.array.size; ++i)
      (void)entry.array.number(i);
    size_t count = 0;
    for (std::string_view text : entry.array.strings())
      count += text.size() <= input.size();
    expect(count == entry.array.strings().size(), "texts are in the file");
  }
  (void)templatesFromGGUF(*model->gguf());
  auto tokenizer = tokenizerFromGGUF(*model->gguf());
  if (!tokenizer)
    return checkStatus(tokenizer.status());
  if (auto ids = tokenizer->encode("Hello t4 t5\n<s>\xC3\xA9"))
    expect(isValidUtf8(tokenizer->decode(*ids)), "decoded text is UTF-8");
}

/// A model in two files.
static std::vector<std::string> partSeeds() {
  GGUFImage first = test::tinyGGUF();
  first.tensors.resize(2);
  GGUFImage second;
  second.add("output_norm.weight", {64}, 0);
  uint16_t number = 0;
  for (GGUFImage *part : {&first, &second}) {
    for (auto [key, value] : {std::pair("split.no", number),
                              std::pair("split.count", uint16_t(2))}) {
      part->set(key, uint32_t(0));
      part->key(key).type = 2; // u16
      part->key(key).payload = bytesOf(value);
    }
    ++number;
  }
  first.set("split.tensors.count", int32_t(3));
  GGUFImage wrongCount = first, wrongNumber = second;
  wrongCount.set("split.tensors.count", int32_t(4));
  wrongNumber.set("split.no", uint32_t(0));
  return {first.build(), second.build(), wrongCount.build(),
          wrongNumber.build()};
}

static std::vector<std::string> ggufSeeds() {
  // Little data of tensors, whose bytes say nothing to the fuzzer.
  GGUFImage llama = test::tinyGGUF();
  llama.tensors.clear();
  llama.add("token_embd.weight", {40, 64}, 2);
  llama.add("output_norm.weight", {64}, 0);
  GGUFImage gpt2 = llama, wordpiece = llama, unigram = llama;
  gpt2.set("tokenizer.ggml.model", std::string("gpt2"));
  gpt2.set("tokenizer.ggml.pre", std::string("llama-bpe"));
  gpt2.set("tokenizer.chat_template", std::string("{{ messages[0].content }}"));
  wordpiece.set("tokenizer.ggml.model", std::string("bert"));
  unigram.set("tokenizer.ggml.model", std::string("t5"));
  unigram.setIntegers("llama.attention.head_count_kv", {2, 2});
  unigram.set("llama.rope.scaling.type", std::string("yarn"));
  unigram.set("llama.rope.scaling.factor", 4.0f);
  unigram.set("llama.rope.scaling.original_context_length", uint32_t(64));
  std::vector<std::string> seeds = architectureFiles(llama);
  for (const GGUFImage *image : {&llama, &gpt2, &wordpiece, &unigram})
    seeds.push_back(image->build());
  return seeds;
}

/// The input as each of two parts, beside a valid other one.
static void readParts(std::string_view input) {
  static const std::vector<std::string> valid = partSeeds();
  for (size_t given : {0, 1}) {
    const std::string path =
        write("m-00001-of-00002.gguf", given == 0 ? input : valid[0]);
    write("m-00002-of-00002.gguf", given == 1 ? input : valid[1]);
    auto model = Checkpoint::open(path);
    if (!model)
      checkStatus(model.status());
    else
      readTensors(model->tensors());
  }
  // Under names that say something else.
  for (const char *name : {"m.gguf", "m-00002-of-00002.gguf"}) {
    auto model = Checkpoint::open(write(name, input));
    if (!model)
      checkStatus(model.status());
  }
}

//===----------------------------------------------------------------------===//
// safetensors
//===----------------------------------------------------------------------===//

static std::string safetensors(const std::string &header, size_t dataBytes) {
  return bytesOf(uint64_t(header.size())) + header +
         std::string(dataBytes, 'd');
}

static const char *const oneTensor =
    R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";

static void readSafetensorsFile(std::string_view input) {
  auto file = MappedFile::open(write("m.safetensors", input));
  if (!file)
    return;
  auto tensors =
      readSafetensors(std::make_shared<const MappedFile>(std::move(*file)));
  if (!tensors)
    return checkStatus(tensors.status());
  readTensors(*tensors);
}

static std::vector<std::string> safetensorsSeeds() {
  return {
      safetensors(oneTensor, 4),
      safetensors(R"({"__metadata__":{"format":"pt"},)"
                  R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                  R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},)"
                  R"("c":{"dtype":"I64","shape":[],"data_offsets":[32,40]},)"
                  R"("d":{"dtype":"F4","shape":[2,2],"data_offsets":[40,42]}})",
                  42),
      safetensors("{}", 0)};
}

static const char *const indexFile = "model.safetensors.index.json";

static void readIndex(std::string_view input) {
  static const std::string folder = [] {
    write("index/two.safetensors",
          safetensors(
              R"({"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4));
    std::string path =
        write("index/one.safetensors", safetensors(oneTensor, 4));
    return path.substr(0, path.rfind('/'));
  }();
  write(std::string("index/") + indexFile, input);
  std::vector<std::shared_ptr<const MappedFile>> files;
  auto tensors = readSafetensorsFolder(folder, files);
  if (!tensors)
    return checkStatus(tensors.status());
  readTensors(*tensors);
}

static std::vector<std::string> indexSeeds() {
  return {R"({"metadata":{"total_size":8},"weight_map":)"
          R"({"v":"two.safetensors","w":"one.safetensors"}})",
          R"({"weight_map":{"w":"one.safetensors"}})"};
}

//===----------------------------------------------------------------------===//
// config.json
//===----------------------------------------------------------------------===//

/// config.json, and after a byte 0 generation_config.json.
static void readConfiguration(std::string_view input) {
  static const std::string folder = [] {
    std::string path =
        write("config/model.safetensors", safetensors(oneTensor, 4));
    return path.substr(0, path.rfind('/'));
  }();
  const size_t end = input.find('\0');
  write("config/config.json", input.substr(0, end));
  std::filesystem::remove(folder + "/generation_config.json");
  if (end != input.npos)
    write("config/generation_config.json", input.substr(end + 1));
  for (CheckpointUse use : {CheckpointUse::Model, CheckpointUse::Parameters}) {
    auto model = Checkpoint::open(folder, use);
    if (!model)
      checkStatus(model.status());
  }
}

static std::vector<std::string> configurationSeeds() {
  const std::string sizes =
      R"("vocab_size":100,"hidden_size":64,"intermediate_size":96,)"
      R"("num_hidden_layers":2,"num_attention_heads":4,)"
      R"("num_key_value_heads":2,"max_position_embeddings":128,)"
      R"("rms_norm_eps":1e-5,"bos_token_id":1,"eos_token_id":[2,3])";
  const std::string generation =
      std::string(1, '\0') +
      R"({"do_sample":true,"temperature":0.7,"top_k":20,"top_p":0.8,)"
      R"("min_p":0.05,"eos_token_id":[1,2],"bos_token_id":5})";
  std::vector<std::string> seeds = familyConfigs();
  for (const char *family :
       {"llama",  "mistral",     "qwen2",    "qwen3",   "gemma",
        "gemma2", "gemma3_text", "phi3",     "olmo2",   "granite",
        "cohere", "cohere2",     "smollm3",  "exaone4", "stablelm",
        "glm4",   "internlm2",   "seed_oss", "lfm2",    "gpt_neox"})
    seeds.push_back("{\"model_type\":\"" + std::string(family) + "\"," + sizes +
                    "}" + generation);
  for (const char *rope :
       {R"({"type":"linear","factor":2.0})",
        R"({"rope_type":"llama3","factor":8,"low_freq_factor":1,)"
        R"("high_freq_factor":4,"original_max_position_embeddings":64})",
        R"({"rope_type":"yarn","factor":4,"beta_fast":32,"beta_slow":1,)"
        R"("mscale":1,"original_max_position_embeddings":32})",
        R"({"type":"longrope","short_factor":[1,1,1,1,1,1,1,1],)"
        R"("long_factor":[1,2,3,4,5,6,7,8]})"})
    seeds.push_back("{\"model_type\":\"llama\"," + sizes +
                    R"(,"sliding_window":64,"layer_types":)"
                    R"(["full_attention","sliding_attention"],)"
                    R"("rope_scaling":)" +
                    rope + "}");
  seeds.push_back(
      R"({"model_type":"gpt2","vocab_size":100,"n_embd":64,"n_head":4,)"
      R"("n_layer":2,"n_positions":128,"layer_norm_epsilon":1e-5})");
  return seeds;
}

std::vector<Target> fuzz::checkpointTargets() {
  return {
      {"gguf", "a GGUF file", readGGUF, ggufSeeds},
      {"gguf-parts", "a part of a GGUF model", readParts, partSeeds},
      {"safetensors", "a safetensors file", readSafetensorsFile,
       safetensorsSeeds},
      {"safetensors-index", indexFile, readIndex, indexSeeds},
      {"config", "config.json, a byte 0, generation_config.json",
       readConfiguration, configurationSeeds},
  };
}
