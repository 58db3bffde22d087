//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenizerFile.h"

#include "llmir/Support/JsonEvents.h"

namespace llmir {
namespace {

/// Maximum number of other values: a tree takes far more memory than its text.
/// Real files are below 50,000.
constexpr size_t maxTreeValues = 1u << 18;

/// A score as the reference implementation's parser rounds it: all digits as an
/// integer, divided by a power of ten. The last bit decides between
/// segmentations of equal probability, such as those of a run of one letter.
double scoreOf(double value, std::string_view text) {
  constexpr size_t mostDigits = 19; // Of an integer of 64 bits.
  uint64_t digits = 0;
  size_t count = 0, fraction = 0;
  bool inFraction = false;
  for (char c : text.substr(text[0] == '-')) {
    if (c == '.') {
      inFraction = true;
    } else if (c >= '0' && c <= '9' && ++count <= mostDigits) {
      digits = digits * 10 + static_cast<uint64_t>(c - '0');
      fraction += inFraction;
    } else {
      return value; // An exponent, or more digits than any score has.
    }
  }
  double power = 1;
  for (size_t i = 0; i < fraction; ++i)
    power *= 10; // Exact: less than 10^22.
  const double score = static_cast<double>(digits) / power;
  return text[0] == '-' ? -score : score;
}

class TokenizerFileEvents : public JsonEvents {
public:
  explicit TokenizerFileEvents(TokenizerFile &file) : file(file) {}

  Status beginObject() override {
    if (mode == Mode::Tree && isAt("vocab")) {
      mode = Mode::Vocabulary;
      file.hasVocabulary = true;
      return Status::ok();
    }
    return mode == Mode::Tree ? open(Json::object()) : unexpected();
  }
  Status endObject() override {
    if (mode == Mode::Vocabulary) {
      mode = Mode::Tree;
      return Status::ok();
    }
    return close();
  }
  Status beginArray() override {
    if (mode == Mode::Tree && isAt("vocab")) {
      mode = Mode::Pieces;
      file.hasPieces = true;
      return Status::ok();
    }
    if (mode == Mode::Pieces) {
      mode = Mode::Piece;
      return Status::ok();
    }
    if (mode == Mode::Tree && isAt("merges")) {
      mode = Mode::Merges;
      file.hasMerges = true;
      return Status::ok();
    }
    if (mode == Mode::Merges) {
      mode = Mode::MergePair;
      return Status::ok();
    }
    return mode == Mode::Tree ? open(Json::array()) : unexpected();
  }
  Status endArray() override {
    if (mode == Mode::Piece) {
      if (file.scores.size() != file.vocabulary.size())
        return badPiece();
      mode = Mode::Pieces;
      return Status::ok();
    }
    if (mode == Mode::Pieces) {
      mode = Mode::Tree;
      return Status::ok();
    }
    if (mode == Mode::MergePair) {
      if (file.merges.size() % 2 != 0 || file.merges.size() != pairStart + 2)
        return badMerge();
      pairStart = file.merges.size();
      mode = Mode::Merges;
      return Status::ok();
    }
    if (mode == Mode::Merges) {
      mode = Mode::Tree;
      return Status::ok();
    }
    return close();
  }
  Status key(std::string &&text) override {
    if (mode == Mode::Vocabulary) {
      file.vocabulary.append(text);
      return checkSize(file.vocabulary);
    }
    auto &object = stack.back()->get_ref<Json::object_t &>();
    auto [place, isNew] = object.try_emplace(std::move(text), nullptr);
    lastKey = place->first;
    slot = &place->second;
    if (isNew)
      return Status::ok();
    return Status(StatusCode::InvalidFile,
                  "the key '" + printable(place->first) + "' is given twice");
  }
  Status string(std::string &&text) override {
    if (mode == Mode::Merges)
      return splitMerge(text);
    if (mode == Mode::MergePair) {
      file.merges.append(text);
      return checkSize(file.merges);
    }
    if (mode == Mode::Piece) {
      if (file.scores.size() != file.vocabulary.size())
        return badPiece();
      file.vocabulary.append(text);
      return checkSize(file.vocabulary);
    }
    return add(std::move(text));
  }
  Status unsignedInteger(uint64_t value) override {
    if (mode == Mode::Vocabulary) {
      file.ids.push_back(value);
      return Status::ok();
    }
    return mode == Mode::Piece ? addScore(static_cast<double>(value))
                               : add(value);
  }
  Status negativeInteger(int64_t value) override {
    return mode == Mode::Piece ? addScore(static_cast<double>(value))
                               : add(value);
  }
  Status number(double value) override { return add(value); }
  Status writtenNumber(double value, std::string_view text) override {
    return mode == Mode::Piece ? addScore(scoreOf(value, text)) : add(value);
  }
  Status boolean(bool value) override { return add(value); }
  Status null() override { return add(nullptr); }

private:
  enum class Mode { Tree, Vocabulary, Pieces, Piece, Merges, MergePair };

  Status addScore(double score) {
    if (file.scores.size() + 1 != file.vocabulary.size())
      return badPiece();
    file.scores.push_back(score);
    return Status::ok();
  }

  /// Whether the next value is that of model.<key>.
  bool isAt(const char *key) const {
    return stack.size() == 2 && slot && lastKey == key && inModel;
  }
  Status unexpected() const {
    if (mode == Mode::Pieces || mode == Mode::Piece)
      return badPiece();
    return Status(StatusCode::InvalidFile,
                  mode == Mode::Vocabulary
                      ? "'model.vocab' must map tokens to ids"
                      : "'model.merges' must be a list of pairs");
  }
  Status badPiece() const {
    return Status(StatusCode::InvalidFile,
                  "'model.vocab' entry " + std::to_string(file.scores.size()) +
                      " is not a pair of a token and its score");
  }
  Status badMerge() const {
    return Status(StatusCode::InvalidFile, "'model.merges' entry " +
                                               std::to_string(pairStart / 2) +
                                               " is not a pair of tokens");
  }
  Status checkSize(const TokenTexts &texts) const {
    if (texts.size() < size_t(maxTokenIds) * 2)
      return Status::ok();
    return Status(StatusCode::Unsupported, "more than " +
                                               std::to_string(maxTokenIds) +
                                               " tokens or merges");
  }
  /// Splits "left right"; skips the header line of an old merges.txt.
  Status splitMerge(const std::string &text) {
    if (text.compare(0, 8, "#version") == 0)
      return Status::ok();
    size_t space = text.find(' ');
    if (space == std::string::npos ||
        text.find(' ', space + 1) != std::string::npos)
      return badMerge();
    file.merges.append(std::string_view(text).substr(0, space));
    file.merges.append(std::string_view(text).substr(space + 1));
    pairStart = file.merges.size();
    return checkSize(file.merges);
  }

  Json &place(Json value) {
    if (stack.empty())
      return file.rest = std::move(value);
    if (stack.back()->is_array()) {
      stack.back()->push_back(std::move(value));
      return stack.back()->back();
    }
    return *slot = std::move(value);
  }
  Status add(Json value) {
    if (mode != Mode::Tree)
      return unexpected();
    place(std::move(value));
    slot = nullptr;
    return countValue();
  }
  Status countValue() {
    if (++treeValues <= maxTreeValues)
      return Status::ok();
    return Status(StatusCode::Unsupported,
                  "more than " + std::to_string(maxTreeValues) +
                      " values besides the vocabulary and the merges");
  }
  Status open(Json value) {
    if (stack.size() == 1)
      inModel = slot && lastKey == "model" && value.is_object();
    stack.push_back(&place(std::move(value)));
    slot = nullptr;
    return countValue();
  }
  Status close() {
    stack.pop_back();
    slot = nullptr;
    return Status::ok();
  }

  TokenizerFile &file;
  Mode mode = Mode::Tree;
  std::vector<Json *> stack; ///< Open objects and lists of the tree.
  Json *slot = nullptr;      ///< Where the value of the last key is stored.
  std::string lastKey;
  bool inModel = false;
  size_t pairStart = 0;
  size_t treeValues = 0;
};

} // namespace

Expected<TokenizerFile> TokenizerFile::parse(std::string_view json,
                                             const std::string &name) {
  TokenizerFile file;
  TokenizerFileEvents events(file);
  LLMIR_RETURN_IF_ERROR(parseJsonEvents(json, name, JsonLimits(), events));
  return file;
}

} // namespace llmir
