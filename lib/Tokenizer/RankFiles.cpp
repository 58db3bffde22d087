//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankFiles.h"
#include "Sources.h"
#include "Stages.h"
#include "Tables.h"

namespace llmir {

void RankedVocabulary::addBytes(std::string_view bytes, uint64_t id) {
  std::string &text = texts.emplace_back();
  appendByteLevel(text, bytes);
  tokens.push_back({text, id, /*isAdded=*/false, /*isSpecial=*/false});
}

void RankedVocabulary::addSpecial(std::string text, uint64_t id,
                                  bool isSpecial) {
  texts.push_back(std::move(text));
  tokens.push_back({texts.back(), id, /*isAdded=*/true, isSpecial});
}

Expected<Tokenizer> rankedTokenizer(RankedVocabulary vocabulary,
                                    const Json &config,
                                    const std::string &name) {
  TokenizerSpec spec;
  TokenCollector collector;
  for (const RankedVocabulary::Token &token : vocabulary.tokens) {
    const uint8_t flags =
        TokenPresent | (token.isAdded ? uint8_t(0) : uint8_t(TokenMergeable));
    LLMIR_RETURN_IF_ERROR(
        collector.add(token.text, token.id, flags).withContext(name));
    if (token.isAdded)
      spec.addedTokens.push_back(
          {static_cast<int32_t>(token.id),
           static_cast<uint8_t>(token.isSpecial ? AddedToken::Special : 0),
           std::string(token.text)});
  }
  LLMIR_RETURN_IF_ERROR(collector.finish(spec).withContext(name));
  TokenTable table;
  LLMIR_RETURN_IF_ERROR(table.build(spec.tokens, spec.flags).withContext(name));
  LLMIR_RETURN_IF_ERROR(addRankedMerges(table, spec).withContext(name));
  spec.ignoreMerges = true;

  if (vocabulary.composes)
    spec.normalizers.push_back({NormalizerStep::NFC, {}, {}});
  spec.preTokenizers.push_back(splitStep(vocabulary.pattern, true));
  spec.preTokenizers.emplace_back().kind = PreTokenizerStep::ByteLevel;
  spec.decoders.emplace_back().kind = DecoderStep::ByteLevel;

  auto idOf = [&](const std::string &text) {
    return text.empty() ? -1 : table.find(text).value_or(-1);
  };
  spec.bos = idOf(vocabulary.bos);
  spec.eos = idOf(vocabulary.eos);
  spec.unknown = idOf(vocabulary.unknown);
  spec.padding = idOf(vocabulary.padding);
  applyConfigTokens(config, spec);
  JsonReader reader(config, "tokenizer_config.json");
  Expected<bool> addsBos =
      reader.booleanOr("add_bos_token", vocabulary.addsBos);
  Expected<bool> addsEos = reader.booleanOr("add_eos_token", false);
  for (Expected<bool> *value : {&addsBos, &addsEos})
    if (!*value)
      return value->takeStatus();
  if (*addsBos && spec.bos >= 0)
    spec.prefix.push_back(spec.bos);
  if (*addsEos && spec.eos >= 0)
    spec.suffix.push_back(spec.eos);
  Expected<Tokenizer> result = buildTokenizer(std::move(spec));
  if (!result)
    return result.takeStatus().withContext(name);
  return result;
}

} // namespace llmir
