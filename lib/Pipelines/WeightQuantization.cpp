//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Pipelines/WeightQuantization.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Support/IntegerLayout.h"

#include "llvm/ADT/MapVector.h"

#include <optional>
#include <utility>
#include <vector>

using namespace mlir;

namespace llmir {

/// The parts between the colons.
static std::vector<std::string> partsOf(const std::string &name) {
  std::vector<std::string> parts(1);
  for (char c : name)
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

namespace {
/// What is said behind the first part of a name.
struct Parts {
  IntegerFormat format;
  std::optional<bool> byteActivations;
  bool plainHead = false;
};
} // namespace

/// Reads a part behind the first one; false for one that is unknown or says
/// again what another has said.
static bool readPart(const std::string &part, Parts &said) {
  IntegerFormat &format = said.format;
  for (int64_t group : {32, 64, 128})
    if (part == "g" + std::to_string(group))
      return std::exchange(format.group, group) == 0;
  if (part == "asym")
    return !std::exchange(format.zeroPoints, true);
  if (part == "plain-head")
    return !std::exchange(said.plainHead, true);
  if (part != "a8" && part != "a32")
    return false;
  return !std::exchange(said.byteActivations, part == "a8");
}

Expected<WeightQuantization>
WeightQuantization::fromName(const std::string &name) {
  WeightQuantization result;
  if (name == "none")
    return result;
  std::vector<std::string> parts = partsOf(name);
  bool isBlocks = parts[0] == "q8" || parts[0] == "q4";
  bool isKnown = isBlocks || parts[0] == "int8" || parts[0] == "int4";
  Parts said;
  said.format.bits = isKnown && parts[0].back() == '4' ? 4 : 8;
  for (size_t i = 1; i < parts.size(); ++i)
    isKnown = isKnown && readPart(parts[i], said) &&
              (!isBlocks || parts[i] == "plain-head");
  if (!isKnown)
    return Status(
        StatusCode::InvalidArgument,
        "--quantize " + (name.empty() ? "''" : name) + " is not known",
        "choose none, q8, q4, or int8 or int4, followed by :g32, "
        ":g64 or :g128, by :asym and by :a32 as wanted; "
        ":plain-head behind any leaves the projection to the vocabulary alone");
  if (isBlocks) {
    result.blocks =
        said.format.bits == 4 ? TensorFormat::Q4_0 : TensorFormat::Q8_0;
  } else {
    result.scheme = said.format.name();
    result.byteActivations = said.byteActivations.value_or(true);
  }
  if (!said.plainHead && said.byteActivations.value_or(true))
    result.vocabulary = TensorFormat::Q8_0;
  return result;
}

std::string WeightQuantization::name() const {
  if (blocks)
    return *blocks == TensorFormat::Q4_0 ? "q4" : "q8";
  return scheme.empty() ? "none" : scheme;
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// True for the product that gives a token's logits.
static bool isVocabularyProjection(mllm::LinearOp linear) {
  auto subgraph = linear->getParentOfType<mllm::SubGraphOp>();
  return subgraph.getEntry() &&
         llvm::any_of(linear->getUsers(), llvm::IsaPred<mllm::ReturnOp>);
}

/// Changes the type of a weight; false where its rows are not whole blocks.
static bool storeAs(mllm::RegisterOp weight, TensorFormat format) {
  const TensorFormatInfo &info = tensorFormatInfo(format);
  auto type = cast<RankedTensorType>(weight.getType());
  if (type.getShape().back() % info.valuesPerBlock != 0)
    return false;
  weight.setTypeAttr(TypeAttr::get(
      mllm::storedType(weight.getContext(), type.getShape(), format)));
  return true;
}

StoredInBlocks storeInBlocks(ModuleOp module,
                             const WeightQuantization &wanted) {
  SymbolTable symbols(module);
  // The vocabulary's format counts where a matrix serves both.
  llvm::MapVector<Operation *, TensorFormat> formats;
  module.walk([&](mllm::LinearOp linear) {
    bool isVocabulary = isVocabularyProjection(linear);
    std::optional<TensorFormat> format =
        isVocabulary ? wanted.vocabulary : wanted.blocks;
    auto weight = symbols.lookup<mllm::RegisterOp>(linear.getWeight());
    if (!format || !isa<RankedTensorType>(weight.getType()))
      return;
    TensorFormat &chosen = formats.try_emplace(weight, *format).first->second;
    if (isVocabulary)
      chosen = *format;
  });
  StoredInBlocks result;
  for (auto [weight, format] : formats)
    ++(storeAs(cast<mllm::RegisterOp>(weight), format) ? result.changed
                                                       : result.left);
  return result;
}

} // namespace llmir
