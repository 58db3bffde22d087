//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tokenizer.json with each kind of stage, and tokenizer.model with a map of
// characters.
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include <cstdint>
#include <cstring>

using namespace llmir;
using namespace llmir::fuzz;

// clang-format off
static const char *const normalizers[] = {
    R"({"type":"NFC"})", R"({"type":"NFD"})", R"({"type":"NFKC"})", R"({"type":"NFKD"})",
    R"({"type":"Nmt"})", R"({"type":"StripAccents"})", R"({"type":"Lowercase"})",
    R"({"type":"Prepend","prepend":"a"})", R"({"type":"Strip","strip_left":true,"strip_right":false})",
    R"({"type":"Replace","pattern":{"String":"a"},"content":"b"})",
    R"({"type":"Replace","pattern":{"Regex":"[ab]+|\\s"},"content":""})",
    R"({"type":"Precompiled","precompiled_charsmap":"BAAAAA=="})",
    R"({"type":"Precompiled","precompiled_charsmap":null})",
    R"({"type":"ByteLevel"})", R"({"type":"None"})",
    R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":true,"lowercase":false})",
    R"({"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"StripAccents"},{"type":"NFC"}]})",
};
static const char *const preTokenizers[] = {
    R"({"type":"Digits","individual_digits":true})", R"({"type":"Digits"})",
    R"({"type":"Punctuation","behavior":"Contiguous"})", R"({"type":"Punctuation"})",
    R"({"type":"Whitespace"})", R"({"type":"WhitespaceSplit"})", R"({"type":"BertPreTokenizer"})",
    R"({"type":"CharDelimiterSplit","delimiter":" "})", R"({"type":"FixedLength","length":2})", R"({"type":"None"})",
    R"({"type":"Split","pattern":{"String":"l"},"behavior":"Removed","invert":false})",
    R"({"type":"Split","pattern":{"Regex":"o"},"behavior":"MergedWithPrevious","invert":false})",
    R"({"type":"Split","pattern":{"Regex":"o"},"behavior":"MergedWithNext","invert":false})",
    R"({"type":"Split","pattern":{"Regex":"o"},"behavior":"Contiguous","invert":true})",
    R"({"type":"Split","pattern":{"Regex":"(?i:'s|'t)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},"behavior":"Isolated","invert":false})",
    R"({"type":"Split","pattern":{"Regex":"[\\p{Lu}\\p{Lt}&&[^x]]|\\X|\\h|[[:alpha:]]|\\x{41}|(?<=a)b|a*+"},"behavior":"Isolated","invert":false})",
    R"({"type":"Split","pattern":{"Regex":"(a"},"behavior":"Isolated","invert":false})",
    R"({"type":"Split","pattern":{"Regex":"(a|b|ab)*c|(a+)+$|\\1|\\bx"},"behavior":"Isolated","invert":false})",
    R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true})",
    R"({"type":"Metaspace","replacement":"\u2581","prepend_scheme":"first","split":false})",
    R"({"type":"Metaspace","replacement":"\u2581","add_prefix_space":true})",
    R"({"type":"Metaspace","replacement":"_","prepend_scheme":"never"})",
};
static const char *const decoders[] = {
    R"({"type":"BPEDecoder","suffix":"</w>"})", R"({"type":"ByteFallback"})", R"({"type":"Fuse"})",
    R"({"type":"CTC","pad_token":"a","word_delimiter_token":"b","cleanup":true})",
    R"({"type":"CTC","cleanup":false})", R"({"type":"Strip","content":"a","start":1,"stop":1})",
    R"({"type":"Replace","pattern":{"String":"\u2581"},"content":" "})",
    R"({"type":"Replace","pattern":{"Regex":"b+"},"content":" "})",
    R"({"type":"WordPiece","prefix":"##","cleanup":true})", R"({"type":"WordPiece","cleanup":false})",
    R"({"type":"Metaspace","replacement":"\u2581","prepend_scheme":"always"})", R"({"type":"None"})",
    R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"\u2581"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})",
};
static const char *const postProcessors[] = {
    R"({"type":"RobertaProcessing","sep":["a",0],"cls":["b",1],"trim_offsets":true,"add_prefix_space":false})",
    R"({"type":"BertProcessing","sep":["a",0],"cls":["b",1]})", R"({"type":"ByteLevel","trim_offsets":true})",
    R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"a","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"a":{"id":"a","ids":[0],"tokens":["a"]}}})",
    R"({"type":"Sequence","processors":[{"type":"ByteLevel"}]})", R"({"type":"None"})",
};
static const char *const models[] = {
    R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"c</w>":3,"\u2581":4,"<0x41>":5,"h":6,"e":7},"merges":[["a","b"]],"byte_fallback":true,"unk_token":"a","fuse_unk":true,"ignore_merges":true,"end_of_word_suffix":"</w>","continuing_subword_prefix":"#"})",
    R"({"type":"WordLevel","vocab":{"a":0,"b":1,"Hello":2},"unk_token":"a"})",
    R"({"type":"WordPiece","vocab":{"a":0,"b":1,"##b":2,"hello":3,"he":4,"##llo":5},"unk_token":"a","continuing_subword_prefix":"##","max_input_chars_per_word":10})",
    R"({"type":"Unigram","vocab":[["a",0],["b",-1],["\u2581",-2],["He",-1.5],["l",-3]],"unk_id":0,"byte_fallback":true})",
    R"({"type":"BPE","vocab":{"a":0,"b":1},"merges":["a c"]})",
};
// clang-format on

/// Each stage with each model that can follow it.
std::vector<std::string> fuzz::tokenizersOfAllStages() {
  std::vector<std::string> seeds;
  for (const char *model : models) {
    auto add = [&](const char *stage, const std::string &text) {
      seeds.push_back(
          R"({"added_tokens":[{"id":9,"content":"<s>","special":true,)"
          R"("rstrip":true,"single_word":true,"normalized":true}],")" +
          std::string(stage) + "\":" + text + ",\"model\":" + model + "}");
    };
    for (const char *text : normalizers)
      add("normalizer", text);
    for (const char *text : preTokenizers)
      add("pre_tokenizer", text);
    for (const char *text : decoders)
      add("decoder", text);
    for (const char *text : postProcessors)
      add("post_processor", text);
  }
  return seeds;
}

/// The map of tokenizer.model: a double array in which a byte of `from` leads
/// to a text.
static std::string charsmap(const std::string &from, const std::string &to) {
  std::vector<uint32_t> units(768, 0);
  units[0] = 256u << 10; // The children of the root: 256 ^ label.
  std::string texts;
  for (size_t i = 0; i < from.size(); ++i) {
    const auto byte = static_cast<unsigned char>(from[i]);
    const uint32_t node = 256u ^ byte, value = 512u + static_cast<uint32_t>(i);
    units[node] = byte | 1u << 8 | (node ^ value) << 10;
    units[value] = 1u << 31 | static_cast<uint32_t>(texts.size());
    texts += to + '\0';
  }
  std::string bytes(4 + units.size() * 4, '\0');
  const auto size = static_cast<uint32_t>(units.size() * 4);
  std::memcpy(bytes.data(), &size, 4);
  std::memcpy(bytes.data() + 4, units.data(), size);
  return bytes + texts;
}

std::string fuzz::smallCharsmap() { return charsmap("AHw", "a"); }
