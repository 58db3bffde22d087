//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonStages.h"
#include "Base64.h"
#include "Sources.h"

#include <functional>

namespace llmir {
namespace {

/// Reads a value, or returns the failure from the enclosing function.
#define LLMIR_READ(variable, expression)                                       \
  auto variable##OrError = (expression);                                       \
  if (!variable##OrError)                                                      \
    return variable##OrError.takeStatus();                                     \
  auto &variable = *variable##OrError

Status unsupportedStage(const char *kind, const std::string &where,
                        const std::string &type) {
  return Status(StatusCode::Unsupported,
                where + ": the " + kind + " '" + printable(type) +
                    "' is not supported",
                "export the tokenizer without this stage");
}

/// Calls `add` for every member of a Sequence's list.
Status addSequence(const JsonReader &reader, const char *key,
                   const std::function<Status(const Json &)> &add) {
  LLMIR_READ(list, reader.array(key));
  for (const Json &member : *list)
    LLMIR_RETURN_IF_ERROR(add(member));
  return Status::ok();
}

/// {"String": …}, {"Regex": …} or a plain string.
struct Pattern {
  std::string text;
  bool isRegex = false;
};
Expected<Pattern> readPattern(const JsonReader &reader) {
  const Json *value = reader.find("pattern");
  if (!value)
    return reader.missing("pattern", "a string or a regular expression");
  Pattern pattern;
  if (value->is_object() && value->size() == 1) {
    pattern.isRegex = value->contains("Regex");
    value = &*value->begin();
    if (!pattern.isRegex && !reader.find("pattern")->contains("String"))
      value = nullptr;
  }
  if (!value || !value->is_string())
    return reader.unexpected("pattern", "a string or a regular expression");
  pattern.text = value->get<std::string>();
  return pattern;
}

//===----------------------------------------------------------------------===//
// Normalizers
//===----------------------------------------------------------------------===//

Status addStripNormalizer(const JsonReader &reader, TokenizerSpec &spec) {
  LLMIR_READ(left, reader.booleanOr("strip_left", true));
  LLMIR_READ(right, reader.booleanOr("strip_right", true));
  if (left)
    spec.normalizers.push_back({NormalizerStep::StripLeft, {}, {}});
  if (right)
    spec.normalizers.push_back({NormalizerStep::StripRight, {}, {}});
  return Status::ok();
}

Status addBertNormalizer(const JsonReader &reader, TokenizerSpec &spec) {
  LLMIR_READ(cleans, reader.booleanOr("clean_text", true));
  LLMIR_READ(separates, reader.booleanOr("handle_chinese_chars", true));
  LLMIR_READ(lowercases, reader.booleanOr("lowercase", true));
  LLMIR_READ(strips, reader.booleanOr("strip_accents", lowercases));
  spec.normalizers.push_back(
      bertNormalizer(cleans, separates, strips, lowercases));
  return Status::ok();
}

Status addPrecompiled(const JsonReader &reader, TokenizerSpec &spec) {
  const Json *map = reader.find("precompiled_charsmap");
  if (!map || map->is_null())
    return Status::ok();
  LLMIR_READ(text, reader.string("precompiled_charsmap"));
  if (text.empty())
    return Status::ok();
  std::optional<std::string> bytes = decodeBase64(text);
  if (!bytes)
    return reader.unexpected("precompiled_charsmap", "base64");
  spec.normalizers.push_back(
      {NormalizerStep::CharsmapClusters, {}, std::move(*bytes)});
  return Status::ok();
}

Status addReplaceNormalizer(const JsonReader &reader, TokenizerSpec &spec) {
  LLMIR_READ(pattern, readPattern(reader));
  LLMIR_READ(content, reader.string("content"));
  spec.normalizers.push_back({pattern.isRegex ? NormalizerStep::ReplaceRegex
                                              : NormalizerStep::ReplaceString,
                              pattern.text, content});
  return Status::ok();
}

} // namespace

NormalizerStep bertNormalizer(bool cleans, bool separates, bool strips,
                              bool lowercases) {
  NormalizerStep step;
  step.kind = NormalizerStep::Bert;
  step.flags =
      static_cast<uint8_t>((cleans ? NormalizerStep::CleanText : 0) |
                           (separates ? NormalizerStep::SeparateChinese : 0) |
                           (strips ? NormalizerStep::RemoveAccents : 0) |
                           (lowercases ? NormalizerStep::LowercaseLetters : 0));
  return step;
}

Status addNormalizers(const Json &stage, const std::string &where,
                      TokenizerSpec &spec) {
  LLMIR_READ(reader, JsonReader::of(stage, where + ": normalizer"));
  LLMIR_READ(type, reader.string("type"));
  if (type == "Sequence")
    return addSequence(reader, "normalizers", [&](const Json &member) {
      return addNormalizers(member, where, spec);
    });
  if (type == "Strip")
    return addStripNormalizer(reader, spec);
  if (type == "Replace")
    return addReplaceNormalizer(reader, spec);
  if (type == "BertNormalizer")
    return addBertNormalizer(reader, spec);
  if (type == "Precompiled")
    return addPrecompiled(reader, spec);
  if (type == "Prepend") {
    LLMIR_READ(content, reader.string("prepend"));
    spec.normalizers.push_back({NormalizerStep::Prepend, {}, content});
    return Status::ok();
  }
  constexpr std::pair<const char *, NormalizerStep::Kind> plain[] = {
      {"NFC", NormalizerStep::NFC},
      {"NFD", NormalizerStep::NFD},
      {"NFKC", NormalizerStep::NFKC},
      {"NFKD", NormalizerStep::NFKD},
      {"Nmt", NormalizerStep::Nmt},
      {"Lowercase", NormalizerStep::Lowercase},
      {"StripAccents", NormalizerStep::StripAccents},
      {"ByteLevel", NormalizerStep::ByteLevel}};
  for (auto [name, kind] : plain) {
    if (type != name)
      continue;
    spec.normalizers.push_back({kind, {}, {}});
    return Status::ok();
  }
  return unsupportedStage("normalizer", where, type);
}

//===----------------------------------------------------------------------===//
// Pre-tokenizers
//===----------------------------------------------------------------------===//

namespace {

using Behavior = PreTokenizerStep::Behavior;

PreTokenizerStep splitStep(Pattern pattern, Behavior behavior,
                           bool invert = false) {
  PreTokenizerStep step =
      splitStep(std::move(pattern.text), pattern.isRegex, behavior);
  step.invert = invert;
  return step;
}

Expected<Behavior> readBehavior(const JsonReader &reader,
                                const char *otherwise) {
  constexpr std::pair<const char *, Behavior> names[] = {
      {"Isolated", PreTokenizerStep::Isolated},
      {"Removed", PreTokenizerStep::Removed},
      {"MergedWithPrevious", PreTokenizerStep::MergedWithPrevious},
      {"MergedWithNext", PreTokenizerStep::MergedWithNext},
      {"Contiguous", PreTokenizerStep::Contiguous}};
  LLMIR_READ(text, reader.stringOr("behavior", otherwise));
  for (auto [name, behavior] : names)
    if (text == name)
      return behavior;
  return reader.unexpected("behavior", "Isolated, Removed, MergedWithPrevious, "
                                       "MergedWithNext or Contiguous");
}

Status addSplit(const JsonReader &reader, TokenizerSpec &spec) {
  LLMIR_READ(pattern, readPattern(reader));
  LLMIR_READ(behavior, readBehavior(reader, ""));
  LLMIR_READ(invert, reader.booleanOr("invert", false));
  spec.preTokenizers.push_back(splitStep(pattern, behavior, invert));
  return Status::ok();
}

Status addByteLevel(const JsonReader &reader, TokenizerSpec &spec) {
  LLMIR_READ(prefixes, reader.booleanOr("add_prefix_space", true));
  LLMIR_READ(splits, reader.booleanOr("use_regex", true));
  PreTokenizerStep step;
  if (prefixes) {
    step.kind = PreTokenizerStep::PrefixSpace;
    spec.preTokenizers.push_back(step);
  }
  if (splits)
    spec.preTokenizers.push_back(
        splitStep({gpt2Pattern, true}, PreTokenizerStep::Isolated));
  step.kind = PreTokenizerStep::ByteLevel;
  spec.preTokenizers.push_back(step);
  return Status::ok();
}

/// The scheme of a Metaspace stage, in its current or its old spelling.
Expected<PreTokenizerStep::Scheme> readScheme(const JsonReader &reader) {
  LLMIR_READ(name, reader.stringOr("prepend_scheme", "always"));
  LLMIR_READ(prefixes, reader.booleanOr("add_prefix_space", true));
  if (name == "never" || (!prefixes && !reader.has("prepend_scheme")))
    return PreTokenizerStep::Never;
  if (!prefixes)
    return reader.unexpected("add_prefix_space",
                             "true if 'prepend_scheme' prepends");
  if (name == "always")
    return PreTokenizerStep::Always;
  if (name == "first")
    return PreTokenizerStep::First;
  return reader.unexpected("prepend_scheme", "always, first or never");
}

Status addMetaspace(const JsonReader &reader, TokenizerSpec &spec) {
  LLMIR_READ(replacement, reader.stringOr("replacement", "\xE2\x96\x81"));
  LLMIR_READ(scheme, readScheme(reader));
  LLMIR_READ(splits, reader.booleanOr("split", true));
  PreTokenizerStep step;
  step.kind = PreTokenizerStep::Metaspace;
  step.scheme = scheme;
  step.pattern = replacement;
  spec.preTokenizers.push_back(step);
  if (splits)
    spec.preTokenizers.push_back(
        splitStep({replacement, false}, PreTokenizerStep::MergedWithNext));
  return Status::ok();
}

constexpr const char *whiteSpacePattern = "\\s";
constexpr const char *punctuationPattern = "[!-/:-@\\[-`{-~\\p{P}]";

} // namespace

void addBertPreTokenizer(TokenizerSpec &spec) {
  spec.preTokenizers.push_back(
      splitStep({whiteSpacePattern, true}, PreTokenizerStep::Removed));
  spec.preTokenizers.push_back(
      splitStep({punctuationPattern, true}, PreTokenizerStep::Isolated));
}

Status addPreTokenizers(const Json &stage, const std::string &where,
                        TokenizerSpec &spec) {
  LLMIR_READ(reader, JsonReader::of(stage, where + ": pre_tokenizer"));
  LLMIR_READ(type, reader.string("type"));
  auto split = [&](const char *regex, Behavior behavior, bool invert = false) {
    spec.preTokenizers.push_back(splitStep({regex, true}, behavior, invert));
    return Status::ok();
  };
  if (type == "Sequence")
    return addSequence(reader, "pretokenizers", [&](const Json &member) {
      return addPreTokenizers(member, where, spec);
    });
  if (type == "Split")
    return addSplit(reader, spec);
  if (type == "ByteLevel")
    return addByteLevel(reader, spec);
  if (type == "Metaspace")
    return addMetaspace(reader, spec);
  if (type == "Digits") {
    LLMIR_READ(individual, reader.booleanOr("individual_digits", false));
    return split("\\p{N}", individual ? PreTokenizerStep::Isolated
                                      : PreTokenizerStep::Contiguous);
  }
  if (type == "Punctuation") {
    LLMIR_READ(behavior, readBehavior(reader, "Isolated"));
    return split(punctuationPattern, behavior);
  }
  if (type == "Whitespace")
    return split("[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}]+|"
                 "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}\\s]+",
                 PreTokenizerStep::Removed, /*invert=*/true);
  if (type == "WhitespaceSplit")
    return split(whiteSpacePattern, PreTokenizerStep::Removed);
  if (type == "BertPreTokenizer") {
    addBertPreTokenizer(spec);
    return Status::ok();
  }
  if (type == "CharDelimiterSplit") {
    LLMIR_READ(delimiter, reader.string("delimiter"));
    spec.preTokenizers.push_back(
        splitStep({delimiter, false}, PreTokenizerStep::Removed));
    return Status::ok();
  }
  if (type == "FixedLength") {
    LLMIR_READ(length, reader.integerOr("length", 5, 1, 65535));
    std::string pattern = "(?s:.){1," + std::to_string(length) + "}";
    return split(pattern.c_str(), PreTokenizerStep::Isolated);
  }
  return unsupportedStage("pre_tokenizer", where, type);
}

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

static DecoderStep replaceDecoder(std::string pattern, std::string content) {
  DecoderStep step;
  step.kind = DecoderStep::ReplaceString;
  step.pattern = std::move(pattern);
  step.content = std::move(content);
  return step;
}

void addWordPieceDecoder(std::string prefix, bool cleans, TokenizerSpec &spec) {
  DecoderStep step;
  step.kind = DecoderStep::WordPiece;
  step.pattern = std::move(prefix);
  spec.decoders.push_back(step);
  if (cleans)
    spec.decoders.emplace_back().kind = DecoderStep::CleanUp;
}

/// CTC: repeated tokens are one, then padding is removed.
static Status addConnectionistDecoder(const JsonReader &reader,
                                      TokenizerSpec &spec) {
  LLMIR_READ(padding, reader.stringOr("pad_token", "<pad>"));
  LLMIR_READ(delimiter, reader.stringOr("word_delimiter_token", "|"));
  LLMIR_READ(cleans, reader.booleanOr("cleanup", true));
  spec.decoders.emplace_back().kind = DecoderStep::Collapse;
  spec.decoders.push_back(replaceDecoder(padding, ""));
  if (cleans) {
    spec.decoders.emplace_back().kind = DecoderStep::CleanUp;
    spec.decoders.push_back(replaceDecoder(delimiter, " "));
  }
  spec.decoders.emplace_back().kind = DecoderStep::DropEmpty;
  return Status::ok();
}

Status addDecoders(const Json &stage, const std::string &where,
                   TokenizerSpec &spec) {
  LLMIR_READ(reader, JsonReader::of(stage, where + ": decoder"));
  LLMIR_READ(type, reader.string("type"));
  DecoderStep step;
  if (type == "Sequence")
    return addSequence(reader, "decoders", [&](const Json &member) {
      return addDecoders(member, where, spec);
    });
  if (type == "ByteLevel") {
    step.kind = DecoderStep::ByteLevel;
  } else if (type == "ByteFallback") {
    step.kind = DecoderStep::ByteFallback;
  } else if (type == "Fuse") {
    step.kind = DecoderStep::Fuse;
  } else if (type == "Replace") {
    LLMIR_READ(pattern, readPattern(reader));
    LLMIR_READ(content, reader.string("content"));
    if (pattern.isRegex)
      return unsupportedStage("decoder", where, "Replace with a Regex");
    step.kind = DecoderStep::ReplaceString;
    step.pattern = pattern.text;
    step.content = content;
  } else if (type == "Strip") {
    LLMIR_READ(content, reader.string("content"));
    LLMIR_READ(start, reader.integerOr("start", 0, 0, UINT16_MAX));
    LLMIR_READ(stop, reader.integerOr("stop", 0, 0, UINT16_MAX));
    step.kind = DecoderStep::Strip;
    step.pattern = content;
    step.start = static_cast<uint32_t>(start);
    step.stop = static_cast<uint32_t>(stop);
  } else if (type == "Metaspace") {
    LLMIR_READ(replacement, reader.stringOr("replacement", "\xE2\x96\x81"));
    LLMIR_READ(scheme, readScheme(reader));
    step.kind = DecoderStep::Metaspace;
    step.pattern = replacement;
    step.dropFirst = scheme != PreTokenizerStep::Never;
  } else if (type == "WordPiece") {
    LLMIR_READ(prefix, reader.stringOr("prefix", "##"));
    LLMIR_READ(cleans, reader.booleanOr("cleanup", true));
    addWordPieceDecoder(prefix, cleans, spec);
    return Status::ok();
  } else if (type == "BPEDecoder") {
    LLMIR_READ(suffix, reader.stringOr("suffix", "</w>"));
    step.kind = DecoderStep::WordSuffix;
    step.pattern = suffix;
  } else if (type == "CTC") {
    return addConnectionistDecoder(reader, spec);
  } else {
    return unsupportedStage("decoder", where, type);
  }
  spec.decoders.push_back(step);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Post-processors
//===----------------------------------------------------------------------===//

namespace {

Status missingToken(const JsonReader &reader, const std::string &token) {
  return Status(StatusCode::InvalidFile,
                reader.file() + ": the token '" + printable(token) +
                    "' is not among its special_tokens");
}

/// Appends the ids of a template's special token.
Status appendTemplateToken(const JsonReader &reader, const std::string &name,
                           std::vector<int32_t> &ids) {
  const Json *tokens = reader.find("special_tokens");
  if (!tokens || !tokens->is_object() || !tokens->contains(name))
    return missingToken(reader, name);
  LLMIR_READ(token, JsonReader::of((*tokens)[name],
                                   reader.file() + ": special_tokens"));
  LLMIR_READ(list, token.array("ids"));
  for (const Json &id : *list) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= maxTokenIds)
      return token.unexpected("ids", "token ids");
    ids.push_back(static_cast<int32_t>(id.get<uint64_t>()));
  }
  return Status::ok();
}

Status addTemplate(const JsonReader &reader, TokenizerSpec &spec) {
  LLMIR_READ(items, reader.array("single"));
  std::vector<int32_t> prefix, suffix;
  size_t sequences = 0;
  for (const Json &item : *items) {
    if (!item.is_object() || item.size() != 1)
      return reader.unexpected("single", "a list of SpecialToken and Sequence");
    LLMIR_READ(part, JsonReader::of(*item.begin(), reader.file() + ": single"));
    LLMIR_READ(id, part.string("id"));
    if (item.contains("Sequence") && id == "A")
      ++sequences;
    else if (item.contains("SpecialToken"))
      LLMIR_RETURN_IF_ERROR(
          appendTemplateToken(reader, id, sequences ? suffix : prefix));
    else
      return reader.unexpected("single",
                               "a list of SpecialToken and Sequence A");
  }
  if (sequences != 1)
    return Status(StatusCode::Unsupported,
                  reader.file() + ": 'single' names the sequence " +
                      std::to_string(sequences) + " times; expected once");
  // A later processor is applied to the result of the earlier ones.
  spec.prefix.insert(spec.prefix.begin(), prefix.begin(), prefix.end());
  spec.suffix.insert(spec.suffix.end(), suffix.begin(), suffix.end());
  return Status::ok();
}

/// ["text", id] of the processors of Bert and Roberta.
Expected<int32_t> readTokenPair(const JsonReader &reader, const char *key) {
  LLMIR_READ(list, reader.array(key));
  if (list->size() != 2 || !(*list)[1].is_number_unsigned() ||
      (*list)[1].get<uint64_t>() >= maxTokenIds)
    return reader.unexpected(key, "a token and its id");
  return static_cast<int32_t>((*list)[1].get<uint64_t>());
}

} // namespace

Status addPostProcessors(const Json &stage, const std::string &where,
                         TokenizerSpec &spec) {
  LLMIR_READ(reader, JsonReader::of(stage, where + ": post_processor"));
  LLMIR_READ(type, reader.string("type"));
  if (type == "Sequence")
    return addSequence(reader, "processors", [&](const Json &member) {
      return addPostProcessors(member, where, spec);
    });
  if (type == "ByteLevel") // Only affects offsets.
    return Status::ok();
  if (type == "TemplateProcessing")
    return addTemplate(reader, spec);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    LLMIR_READ(first, readTokenPair(reader, "cls"));
    LLMIR_READ(last, readTokenPair(reader, "sep"));
    spec.prefix.insert(spec.prefix.begin(), first);
    spec.suffix.push_back(last);
    return Status::ok();
  }
  return unsupportedStage("post_processor", where, type);
}

} // namespace llmir
