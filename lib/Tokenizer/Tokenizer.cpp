//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Tokenizer/Tokenizer.h"

#include "TokenizerImpl.h"
#include "WordCache.h"

#include <algorithm>

namespace llmir {
namespace {

/// Maximum text size for encoding and decoding.
constexpr size_t maxTextBytes = size_t(1) << 28;
/// Maximum decoded size per id: most tokens are far shorter, but a file may
/// contain tokens of any length.
constexpr size_t maxBytesPerId = 1024;
constexpr size_t freeDecodedBytes = size_t(1) << 16;

/// An encoding in progress.
class Encoding {
public:
  Encoding(const TokenizerImpl &impl, std::string_view text,
           EncodeOptions options)
      : impl(impl), text(text), options(options), limit(text.size()),
        words(text.size()) {}

  Expected<std::vector<int32_t>> run() {
    const TokenizerSpec &spec = impl.spec;
    if (options.addSpecialTokens)
      ids = spec.prefix;
    std::vector<AddedTokenMatcher::Part> parts;
    impl.rawTokens.split(text, options.matchSpecialTokens, parts);
    for (AddedTokenMatcher::Part part : parts) {
      if (part.id >= 0)
        ids.push_back(part.id);
      else
        LLMIR_RETURN_IF_ERROR(encodeSegment(
            text.substr(part.begin, part.end - part.begin), part.begin == 0));
    }
    if (options.addSpecialTokens)
      ids.insert(ids.end(), spec.suffix.begin(), spec.suffix.end());
    return std::move(ids);
  }

private:
  /// Encodes text between tokens that are matched in raw text.
  Status encodeSegment(std::string_view segment, bool isFirst) {
    std::string normal(segment);
    LLMIR_RETURN_IF_ERROR(normalize(impl.normalizers, normal, isFirst, limit));
    if (impl.normalizedTokens.empty())
      return encodePieces(std::move(normal), isFirst);
    std::vector<AddedTokenMatcher::Part> parts;
    impl.normalizedTokens.split(normal, options.matchSpecialTokens, parts);
    for (AddedTokenMatcher::Part part : parts) {
      if (part.id < 0) {
        LLMIR_RETURN_IF_ERROR(
            encodePieces(normal.substr(part.begin, part.end - part.begin),
                         isFirst && part.begin == 0));
        continue;
      }
      ids.push_back(part.id);
      limit.finishSegment(part.end - part.begin);
    }
    return Status::ok();
  }

  Status encodePieces(std::string normal, bool isFirst) {
    if (normal.empty())
      return Status::ok();
    Pieces pieces;
    pieces.text = std::move(normal);
    pieces.pieces.push_back(
        {0, static_cast<uint32_t>(pieces.text.size()), isFirst});
    // Only words that are not in the cache are mapped.
    const size_t steps = impl.preTokenizers.size() - impl.mapsBytesLast();
    for (size_t i = 0; i < steps; ++i)
      LLMIR_RETURN_IF_ERROR(impl.preTokenizers[i].apply(pieces, limit));
    limit.finishSegment(pieces.text.size());
    for (Pieces::Piece piece : pieces.pieces) {
      const std::string_view word =
          std::string_view(pieces.text)
              .substr(piece.begin, piece.end - piece.begin);
      if (!word.empty())
        LLMIR_RETURN_IF_ERROR(
            words.append(word, ids, [&] { return encodeWord(word); }));
    }
    return Status::ok();
  }

  Status encodeWord(std::string_view word) {
    if (!impl.mapsBytesLast())
      return impl.encodePiece(word, ids);
    mapped.clear();
    appendByteLevel(mapped, word);
    return impl.encodePiece(mapped, ids);
  }

  const TokenizerImpl &impl;
  std::string_view text;
  EncodeOptions options;
  GrowthLimit limit;
  WordCache words;
  std::string mapped; ///< A word in the byte-level alphabet.
  std::vector<int32_t> ids;
};

} // namespace

Tokenizer::Tokenizer(std::shared_ptr<const TokenizerImpl> impl)
    : representation(std::move(impl)) {}

Expected<std::vector<int32_t>> Tokenizer::encode(std::string_view text,
                                                 EncodeOptions options) const {
  if (text.size() > maxTextBytes)
    return Status(StatusCode::OutOfRange,
                  "the text has " + std::to_string(text.size()) +
                      " bytes; the limit is " + std::to_string(maxTextBytes),
                  "encode it in parts");
  if (size_t valid = validUtf8Length(text); valid != text.size())
    return Status(StatusCode::InvalidArgument,
                  "the text is not UTF-8 at byte " + std::to_string(valid),
                  "convert it to UTF-8");
  return Encoding(impl(), text, options).run();
}

Status Tokenizer::checkIds(Span<const int32_t> ids) const {
  size_t bytes = 0; // At most 2^22 for an id.
  for (int32_t id : ids) {
    if (id < 0 || id >= vocabSize())
      return Status(StatusCode::OutOfRange,
                    "token id " + std::to_string(id) +
                        " is not in the vocabulary of " +
                        std::to_string(vocabSize()),
                    "use ids from 0 to " + std::to_string(vocabSize() - 1));
    bytes += (impl().decodedText(id).size() + 1) * impl().decoderGrowth;
  }
  const size_t limit =
      std::min(maxTextBytes, freeDecodedBytes + ids.size() * maxBytesPerId);
  if (bytes <= limit)
    return Status::ok();
  return Status(StatusCode::OutOfRange,
                std::to_string(ids.size()) + " ids may decode to " +
                    std::to_string(bytes) + " bytes; the limit is " +
                    std::to_string(limit),
                "decode them in parts");
}

std::string Tokenizer::decode(Span<const int32_t> ids,
                              bool skipSpecialTokens) const {
  DecoderChainOptions options;
  options.wholeByteRows = true;
  DecoderChain chain(impl().spec.decoders, options);
  std::string text;
  for (int32_t id : ids)
    if (hasToken(id) && !(skipSpecialTokens && impl().skipsInDecoding(id)))
      chain.feed(impl().decodedText(id), text);
  chain.finish(text);
  return text;
}

int64_t Tokenizer::vocabSize() const {
  return static_cast<int64_t>(impl().spec.tokens.size());
}

bool Tokenizer::hasToken(int32_t id) const {
  const TokenizerSpec &spec = impl().spec;
  return id >= 0 && static_cast<size_t>(id) < spec.tokens.size() &&
         (spec.flags[id] & TokenPresent);
}

std::string_view Tokenizer::tokenText(int32_t id) const {
  return hasToken(id) ? impl().spec.tokens[id] : std::string_view();
}

std::optional<int32_t> Tokenizer::tokenId(std::string_view text) const {
  return impl().tokens.find(text);
}

bool Tokenizer::isSpecial(int32_t id) const {
  const TokenizerImpl::AddedFacts *facts = impl().addedFacts(id);
  return facts && facts->isSpecial;
}

int32_t Tokenizer::bosId() const { return impl().spec.bos; }
int32_t Tokenizer::eosId() const { return impl().spec.eos; }
int32_t Tokenizer::unkId() const { return impl().spec.unknown; }
int32_t Tokenizer::padId() const { return impl().spec.padding; }

Span<const int32_t> Tokenizer::prefixIds() const { return impl().spec.prefix; }
Span<const int32_t> Tokenizer::suffixIds() const { return impl().spec.suffix; }

} // namespace llmir
