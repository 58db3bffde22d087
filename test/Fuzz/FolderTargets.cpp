//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Model directories whose files belong together: quantized weights, embedding
// models, chat templates; and statistics for quantization.
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "../Checkpoint/GGUFImage.h"

#include "llmir/ChatTemplate/ModelTemplates.h"
#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Convert/ImportanceMatrix.h"
#include "llmir/Support/Json.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <filesystem>

using namespace llmir;
using namespace llmir::fuzz;
using llmir::test::bytesOf;
using namespace std::string_literals;

/// The part before the next byte 0, or the rest.
static std::string_view takePart(std::string_view &input) {
  const size_t end = input.find('\0');
  const std::string_view part = input.substr(0, end);
  input.remove_prefix(end == input.npos ? input.size() : end + 1);
  return part;
}

/// Writes a file of the folder for each part of the input; a part that is empty
/// is no file. Returns the path of the folder.
static std::string writeFolder(const std::string &folder,
                               std::string_view input,
                               const std::vector<std::string> &names) {
  const std::string path = write(folder + "/README", "");
  const std::string root = path.substr(0, path.rfind('/'));
  for (const std::string &name : names) {
    const std::string_view part = takePart(input);
    std::filesystem::remove(root + "/" + name);
    if (!part.empty())
      write(folder + "/" + name, part);
  }
  return root;
}

static std::string joined(const std::vector<std::string> &parts) {
  std::string input;
  for (const std::string &part : parts)
    input +=
        (&part == &parts.front() ? std::string() : std::string(1, '\0')) + part;
  return input;
}

//===----------------------------------------------------------------------===//
// Quantized weights
//===----------------------------------------------------------------------===//

/// Reads a few rows of each tensor as the packer does.
static void readRows(const std::vector<CheckpointTensor> &tensors) {
  for (const CheckpointTensor &tensor : tensors) {
    if (!tensor.rows || !tensor.format)
      continue;
    const int64_t columns = tensor.shape.back();
    const auto rowBytes = tensorRowBytes(*tensor.format, columns);
    expect(rowBytes && *rowBytes > 0, "assembled rows have whole blocks");
    std::vector<uint8_t> scratch(static_cast<size_t>(*rowBytes));
    std::vector<float> values(static_cast<size_t>(columns));
    const int64_t rows = tensor.numElements() / columns;
    for (int64_t row = 0; row < rows; row += std::max<int64_t>(1, rows / 4))
      decodeTensorRow(*tensor.format,
                      tensor.row(row, *rowBytes, scratch.data()), columns,
                      values.data());
  }
}

static void readQuantized(std::string_view input) {
  const std::string config(takePart(input));
  const std::string root = writeFolder("quantized", config, {"config.json"});
  write("quantized/model.safetensors", input);
  auto model = Checkpoint::open(root);
  if (!model)
    return checkStatus(model.status());
  readRows(model->tensors());
}

namespace {
struct StoredTensor {
  std::string suffix, type;
  std::vector<int64_t> shape;
  int64_t elementBytes;
  std::string data = {}; ///< Its first bytes; the others are '0'.
};
} // namespace

/// A model with one quantized matrix. Bytes '0' are small numbers as floats.
static std::string quantizedModel(const Json &options,
                                  const std::vector<StoredTensor> &tensors) {
  Json config = {{"model_type", "llama"},
                 {"vocab_size", 32},
                 {"hidden_size", 128},
                 {"intermediate_size", 128},
                 {"num_hidden_layers", 1},
                 {"num_attention_heads", 2},
                 {"max_position_embeddings", 64},
                 {"rms_norm_eps", 1e-5}};
  if (!options.is_null())
    config["quantization_config"] = options;
  Json header = Json::object();
  std::string data;
  for (const StoredTensor &tensor : tensors) {
    int64_t bytes = tensor.elementBytes;
    for (int64_t size : tensor.shape)
      bytes *= size;
    const size_t begin = data.size();
    data += tensor.data;
    data.resize(begin + static_cast<size_t>(bytes), '0');
    header["model.layers.0.mlp.up_proj" + tensor.suffix] = {
        {"dtype", tensor.type},
        {"shape", tensor.shape},
        {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  return config.dump() + std::string(1, '\0') + bytesOf(uint64_t(text.size())) +
         text + data;
}

static std::vector<std::string> quantizedSeeds() {
  std::vector<std::string> seeds;
  auto add = [&](const Json &options, const std::vector<StoredTensor> &list) {
    seeds.push_back(quantizedModel(options, list));
  };
  for (int64_t bits : {2, 3, 4, 8})
    for (int64_t group : {32, 128})
      add({{"quant_method", "gptq"},
           {"bits", bits},
           {"group_size", group},
           {"checkpoint_format", group == 32 ? "gptq" : "gptq_v2"}},
          {{".qweight", "I32", {4 * bits, 32}, 4},
           {".qzeros", "I32", {128 / group, bits}, 4},
           {".scales", "F16", {128 / group, 32}, 2}});
  std::string order;
  for (int32_t column = 0; column < 128; ++column)
    order += bytesOf(column % 2);
  add({{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 64}},
      {{".g_idx", "I32", {128}, 4, order},
       {".qweight", "I32", {16, 32}, 4},
       {".qzeros", "I32", {2, 4}, 4},
       {".scales", "F16", {2, 32}, 2}});
  add({{"quant_method", "awq"}, {"bits", 4}, {"version", "gemm"}},
      {{".qweight", "I32", {128, 4}, 4},
       {".qzeros", "I32", {2, 4}, 4},
       {".scales", "F16", {2, 32}, 2}});
  const std::string sizes = bytesOf(int64_t(32)) + bytesOf(int64_t(128));
  for (const char *type : {"int", "float"})
    add({{"quant_method", "compressed-tensors"},
         {"format", "pack-quantized"},
         {"config_groups",
          {{"group_0",
            {{"targets", {"Linear"}},
             {"weights",
              {{"num_bits", 4},
               {"type", type},
               {"symmetric", true},
               {"strategy", "group"},
               {"group_size", 32}}}}}}}},
        {{".weight_packed", "I32", {32, 16}, 4},
         {".weight_scale", "BF16", {32, 4}, 2},
         {".weight_shape", "I64", {2}, 8, sizes}});
  add({{"quant_method", "compressed-tensors"}, {"format", "pack-quantized"}},
      {{".weight_packed", "I32", {32, 32}, 4},
       {".weight_scale", "F16", {32, 2}, 2},
       {".weight_zero_point", "I32", {8, 2}, 4},
       {".weight_shape", "I64", {2}, 8, sizes}});
  add({{"quant_method", "compressed-tensors"}, {"format", "int-quantized"}},
      {{".weight", "I8", {32, 128}, 1},
       {".weight_scale", "F32", {32, 1}, 4},
       {".weight_zero_point", "I8", {32, 1}, 1},
       {".input_scale", "F32", {1}, 4}});
  for (const char *type : {"F8_E4M3", "F8_E5M2"}) {
    add({{"quant_method", "fp8"}, {"weight_block_size", {32, 64}}},
        {{".weight", type, {32, 128}, 1},
         {".weight_scale_inv", "F32", {1, 2}, 4}});
    add({{"quant_method", "fbgemm_fp8"}},
        {{".weight", type, {32, 128}, 1}, {".weight_scale", "F32", {32}, 4}});
    add({{"quant_method", "compressed-tensors"}, {"format", "float-quantized"}},
        {{".weight", type, {32, 128}, 1}, {".weight_scale", "BF16", {1}, 2}});
    add(nullptr, {{".weight", type, {32, 128}, 1}});
  }
  auto addNibbles = [&](const char *kind, const char *type,
                        const std::vector<StoredTensor> &scales) {
    const std::string state = Json{
        {"shape", {32, 128}},
        {"blocksize", 64},
        {"nested_blocksize", 256},
        {"nested_offset", 0.25},
        {"dtype", type}}.dump();
    std::vector<StoredTensor> list = scales;
    list.push_back({".weight", "U8", {2048, 1}, 1});
    list.push_back({".weight.quant_map", "F32", {16}, 4});
    list.push_back({".weight.quant_state.bitsandbytes__" + std::string(kind),
                    "U8",
                    {static_cast<int64_t>(state.size())},
                    1,
                    state});
    add({{"quant_method", "bitsandbytes"}, {"load_in_4bit", true}}, list);
  };
  addNibbles("nf4", "float16", {{".weight.absmax", "F32", {64}, 4}});
  addNibbles("fp4", "float32", {{".weight.absmax", "F32", {64}, 4}});
  addNibbles("nf4", "bfloat16",
             {{".weight.absmax", "U8", {64}, 1},
              {".weight.nested_absmax", "F32", {1}, 4},
              {".weight.nested_quant_map", "F32", {256}, 4}});
  add({{"quant_method", "bitsandbytes"}, {"load_in_8bit", true}},
      {{".weight", "I8", {32, 128}, 1}, {".SCB", "F32", {32}, 4}});
  add({{"quant_method", "mxfp4"}},
      {{"_blocks", "U8", {2, 32, 4, 16}, 1}, {"_scales", "U8", {2, 32, 4}, 1}});
  add({{"quant_method", "modelopt"}, {"quant_algo", "NVFP4"}},
      {{".weight", "U8", {32, 64}, 1}, {".weight_scale_2", "F32", {}, 4}});
  return seeds;
}

//===----------------------------------------------------------------------===//
// Embedding models
//===----------------------------------------------------------------------===//

static const std::vector<std::string> embeddingFiles = {
    "modules.json", "1_Pooling/config.json", "sentence_bert_config.json",
    "2_Dense/config.json", "config.json"};

static void readEmbedding(std::string_view input) {
  const std::string root = writeFolder("embedding", input, embeddingFiles);
  write("embedding/model.safetensors", bytesOf(uint64_t(2)) + "{}");
  auto model = Checkpoint::open(root, CheckpointUse::Model);
  if (!model)
    checkStatus(model.status());
}

static std::vector<std::string> embeddingSeeds() {
  const std::string modules =
      R"([{"idx":0,"name":"0","path":"","type":"sentence_transformers.models.)"
      R"(Transformer"},{"idx":1,"path":"1_Pooling","type":)"
      R"("sentence_transformers.models.Pooling"},{"path":"2_Dense","type":)"
      R"("sentence_transformers.models.Dense"},{"path":"3_Normalize","type":)"
      R"("sentence_transformers.models.Normalize"}])";
  const std::string dense =
      R"({"in_features":64,"out_features":32,"bias":false,)"
      R"("activation_function":"torch.nn.modules.linear.Identity",)"
      R"("module_input_name":"sentence_embedding"})";
  const std::string texts = R"({"max_seq_length":64,"do_lower_case":false,)"
                            R"("transformer_task":"feature-extraction"})";
  auto config = [](const std::string &family, const std::string &more) {
    return R"({"model_type":")" + family +
           R"(","vocab_size":100,"hidden_size":64,"intermediate_size":96,)"
           R"("num_hidden_layers":2,"num_attention_heads":4,)"
           R"("max_position_embeddings":128,"layer_norm_eps":1e-12,)"
           R"("type_vocab_size":2,"pad_token_id":0,"hidden_act":"gelu")" +
           more + "}";
  };
  std::vector<std::string> seeds;
  for (const char *flag :
       {"cls_token", "mean_tokens", "lasttoken", "max_tokens"})
    seeds.push_back(
        joined({modules,
                R"({"word_embedding_dimension":64,"pooling_mode_)" +
                    std::string(flag) + R"(":true,"include_prompt":true})",
                texts, dense, config("bert", "")}));
  seeds.push_back(joined(
      {"", R"({"embedding_dimension":64,"pooling_mode":"mean"})", "", "",
       config("xlm-roberta", R"(,"position_embedding_type":"absolute")")}));
  seeds.push_back(joined(
      {"", R"({"pooling_mode_cls_token":true,"include_prompt":false})", "", "",
       config("modernbert",
              R"(,"global_attn_every_n_layers":3,"local_attention":128,)"
              R"("global_rope_theta":160000.0,"local_rope_theta":10000.0)")}));
  seeds.push_back(joined(
      {"", R"({"pooling_mode_lasttoken":true})", R"({"do_lower_case":true})",
       "", config("qwen3", R"(,"rms_norm_eps":1e-5,"head_dim":16)")}));
  seeds.push_back(joined(
      {"", R"({"pooling_mode":"max"})", R"({"transformer_task":"fill-mask"})",
       "",
       config("nomic_bert",
              R"(,"n_embd":64,"n_head":4,"n_layer":2,"n_inner":96,)"
              R"("n_positions":128,"rotary_emb_base":1000,)"
              R"("rotary_emb_fraction":1.0,"activation_function":"swiglu")")}));
  seeds.push_back(joined({"", "", "", "", config("roberta", "")}));
  seeds.push_back(joined({"[]", "", "", "", config("bert", "")}));
  seeds.push_back(
      joined({"",
              R"({"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":)"
              R"(true})",
              "", "", config("bert", "")}));
  return seeds;
}

//===----------------------------------------------------------------------===//
// Chat templates
//===----------------------------------------------------------------------===//

static void readTemplates(std::string_view input) {
  const std::string root = writeFolder(
      "templates", input,
      {"tokenizer_config.json", "special_tokens_map.json",
       "chat_template.jinja", "additional_chat_templates/tool_use.jinja"});
  auto templates = ModelTemplates::fromFolder(root);
  if (!templates)
    return checkStatus(templates.status());
  for (bool hasTools : {false, true}) {
    auto chosen = templates->choose(hasTools);
    if (!chosen)
      checkStatus(chosen.status());
  }
  auto bytes = templates->serialize();
  expect(ModelTemplates::load({bytes.data(), bytes.size()}).status().isOk(),
         "what was stored can be loaded");
}

static std::vector<std::string> templatesSeeds() {
  const std::string config =
      R"({"bos_token":{"content":"<s>"},"eos_token":"</s>","unk_token":null,)"
      R"("chat_template":)";
  return {joined({config + "\"{{ messages }}\"}"}),
          joined({config + R"([{"name":"default","template":"a"},)"
                           R"({"name":"tool_use","template":"b"}]})",
                  R"({"pad_token":"<pad>"})"}),
          joined({config + R"([{"name":"rag","template":"a"}]})"}),
          joined({config + R"([{"name":"a","template":"a"},{"name":"b",)"
                           R"("template":""},{"name":"a","template":"c"}]})"}),
          joined({config + R"([{"name":1,"template":"a"}]})"}),
          joined({config + "7}"}),
          joined({config + "null}", "[]"}),
          joined({config + "null}", "{}", "{{ bos_token }}", "{{ tools }}"})};
}

//===----------------------------------------------------------------------===//
// Tokenizers
//===----------------------------------------------------------------------===//

static void readTokenizer(std::string_view input) {
  const std::string configs[] = {std::string(takePart(input)),
                                 std::string(takePart(input))};
  const std::string name(takePart(input));
  const bool isKnown = name == "tokenizer.model" || name == "vocab.txt" ||
                       name == "tokenizer.json" || name == "tekken.json" ||
                       name == "qwen.tiktoken" || name == "vocab.json";
  const std::string root =
      writeFolder("tokenizer", joined({configs[0], configs[1]}),
                  {"tokenizer_config.json", "special_tokens_map.json"});
  const std::string file = isKnown ? name : "tokenizer.model";
  write("tokenizer/" + file, input);
  auto tokenizer = Tokenizer::fromFolder(root);
  std::filesystem::remove(root + "/" + file);
  if (!tokenizer)
    return checkStatus(tokenizer.status());
  if (auto ids = tokenizer->encode("Hello a<x> ab\n"))
    expect(isValidUtf8(tokenizer->decode(*ids)), "decoded text is UTF-8");
}

static std::vector<std::string> tokenizerSeeds() {
  auto config = [](const std::string &type, const std::string &added) {
    return R"({"tokenizer_class":")" + type +
           R"(","bos_token":"a","eos_token":{"content":"b"},"unk_token":null,)"
           R"("add_bos_token":true,"add_eos_token":false,)"
           R"("do_lower_case":true,"legacy":false,"model_max_length":64,)"
           R"("added_tokens_decoder":{)" +
           added + "}}";
  };
  const std::string added =
      R"(:{"content":"<x>","special":true,"lstrip":true,"rstrip":false,)"
      R"("single_word":false})";
  const std::string pieces = "\x0a\x09\x0a\x01"
                             "a\x15\0\0\x80\xbf"s +
                             "\x0a\x08\x0a\x01"
                             "b\x15\0\0\0\xc0"s +
                             "\x0a\x0e\x0a\x05"
                             "<unk>\x15\0\0\0\0\x18\x02"s;
  const std::string ranks = "YQ== 0\nYg== 1\nYWI= 2\n";
  std::vector<std::string> seeds;
  for (const char *type : {"LlamaTokenizer", "GemmaTokenizer", "T5Tokenizer",
                           "XLMRobertaTokenizer", "QWenTokenizer", "None"}) {
    seeds.push_back(
        joined({config(type, "\"3\"" + added), R"({"pad_token":"a"})",
                "tokenizer.model", pieces}));
    seeds.push_back(
        joined({config(type, "\"3\"" + added), "", "qwen.tiktoken", ranks}));
    seeds.push_back(
        joined({config(type, "\"3\"" + added), "", "tokenizer.model", ranks}));
  }
  for (const char *key : {"\"x\"", "\"7\"", "\"0\""})
    for (const std::string &file : {pieces, ranks})
      seeds.push_back(
          joined({config("LlamaTokenizer", key + added), "", "", file}));
  seeds.push_back(joined({config("BertTokenizer", ""), "", "vocab.txt",
                          "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##b\n"}));
  seeds.push_back(joined({"[]", "", "vocab.txt", "a\n"}));
  seeds.push_back(joined({"{}", "{", "vocab.json", R"({"a":0})"}));
  seeds.push_back(joined(
      {"{}", "", "tokenizer.json",
       R"({"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}})"}));
  return seeds;
}

//===----------------------------------------------------------------------===//
// Importance matrices
//===----------------------------------------------------------------------===//

static void readImportance(std::string_view input) {
  auto matrix = ImportanceMatrix::open(write("imatrix", input));
  if (!matrix)
    return checkStatus(matrix.status());
  expect(matrix->chunks() >= 0, "numbers of chunks are not negative");
  for (const char *name : {"blk.0.attn_q.weight", "blk.0.ffn_up_exps.weight"}) {
    auto weights = matrix->find(name, 2, 4);
    if (!weights)
      checkStatus(weights.status());
    else
      for (float weight : *weights)
        expect(weight > 0, "weights are positive");
  }
}

static std::vector<std::string> importanceSeeds() {
  auto text = [](const std::string &words) {
    return bytesOf(int32_t(words.size())) + words;
  };
  auto entry = [&](const std::string &name, const std::vector<float> &values) {
    std::string bytes =
        text(name) + bytesOf(int32_t(5)) + bytesOf(int32_t(values.size()));
    for (float value : values)
      bytes += bytesOf(value);
    return bytes;
  };
  const std::string entries =
      bytesOf(int32_t(2)) +
      entry("blk.0.attn_q.weight", {1, 2, 3, 6, 0, 0, 1, 1}) +
      entry("blk.0.ffn_up.weight", {0, 0, 0, 0});
  test::GGUFImage file;
  file.set("general.type", std::string("imatrix"));
  file.set("imatrix.chunk_count", uint32_t(7));
  file.setStrings("imatrix.datasets", {"a", "b"});
  file.add("blk.0.ffn_up_exps.weight.in_sum2", {4, 2}, 0);
  file.add("blk.0.ffn_up_exps.weight.counts", {1, 2}, 0);
  test::GGUFImage halves = file;
  halves.tensors.clear();
  halves.add("blk.0.attn_q.weight.in_sum2", {4, 2}, 1);
  halves.add("blk.0.attn_q.weight.counts", {1, 2}, 0);
  test::GGUFImage empty = file, alone = file;
  empty.tensors.clear();
  alone.tensors.pop_back();
  return {entries,
          entries + bytesOf(int32_t(40)) + text("wiki"),
          entries + bytesOf(int32_t(-1)),
          bytesOf(int32_t(1)) + entry("a", {-1, 2}),
          bytesOf(int32_t(2)) + entry("a", {1}) + entry("a", {1}),
          file.build(),
          halves.build(),
          empty.build(),
          alone.build()};
}

std::vector<Target> fuzz::folderTargets() {
  return {
      {"quantized", "config.json, a byte 0, model.safetensors", readQuantized,
       quantizedSeeds},
      {"embedding",
       "modules.json, the configs of its modules, config.json, with bytes 0",
       readEmbedding, embeddingSeeds},
      {"template-files",
       "tokenizer_config.json, special_tokens_map.json, two templates, with "
       "bytes 0",
       readTemplates, templatesSeeds},
      {"tokenizer-files",
       "tokenizer_config.json, special_tokens_map.json, the name of a file, "
       "the file, with bytes 0",
       readTokenizer, tokenizerSeeds},
      {"imatrix", "an importance matrix", readImportance, importanceSeeds},
  };
}
