//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `llmir compile --program`: the stages from a program's text to an artifact.
//
//===----------------------------------------------------------------------===//

#include "ProgramInput.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Codegen/Passes.h"
#include "llmir/Dialect/Diagnostics.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/ModelFacts.h"
#include "llmir/Dialect/MLLM/Pooling.h"
#include "llmir/Driver/Compilation.h"
#include "llmir/MLLMText/MLIRForms.h"
#include "llmir/MLLMText/Text.h"
#include "llmir/Pipelines/Registration.h"
#include "llmir/Support/MappedFile.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;

namespace llmir {

static constexpr uint64_t kMaxTextBytes = uint64_t(64) << 20;
static constexpr int kMaxDepth = 256;

/// "model.layers.3.mlp" for an op of a module, "file:2:5" for a file location;
/// empty for an unknown location.
static std::string placeText(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto place = dyn_cast<FileLineColLoc>(location))
    return place.getFilename().str() + ":" + std::to_string(place.getLine()) +
           ":" + std::to_string(place.getColumn());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return placeText(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string text = placeText(part); !text.empty())
        return text;
  return {};
}

Status withDiagnostics(MLIRContext &context, StatusCode code,
                       const std::string &prefix, const std::string &advice,
                       const std::function<LogicalResult()> &action) {
  std::vector<ReportedError> errors = collectErrors(context, action);
  if (errors.empty())
    return Status::ok();
  // Later errors are usually consequences of the first one.
  const ReportedError &first = errors.front();
  std::string place = placeText(first.location);
  if (!place.empty())
    place += ": ";
  return Status(code, prefix + place + first.message, advice);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// The maximum nesting of brackets and of consecutive signs, for which the
/// parser of affine expressions recurses; includes those in strings.
static int nestingOf(std::string_view text) {
  int depth = 0, signs = 0, deepest = 0;
  for (char c : text) {
    if (c == '-')
      ++signs;
    else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      signs = 0;
    if (c == '(' || c == '[' || c == '{' || c == '<')
      ++depth;
    else if ((c == ')' || c == ']' || c == '}' || c == '>') && depth > 0)
      --depth;
    deepest = std::max(deepest, depth + signs);
  }
  return deepest;
}

Expected<OwningOpRef<ModuleOp>> parseProgram(MLIRContext &context,
                                             std::string_view text,
                                             const std::string &name) {
  return parseModule(
      context, text, name,
      "'llmir-translate --disassemble-program FILE.llmir' shows the form");
}

Expected<OwningOpRef<ModuleOp>> parseModule(MLIRContext &context,
                                            std::string_view text,
                                            const std::string &name,
                                            const std::string &advice) {
  if (text.size() > kMaxTextBytes)
    return Status(StatusCode::InvalidFile,
                  "'" + name + "' has " + std::to_string(text.size()) +
                      " bytes, which exceeds the limit of programs",
                  advice);
  if (nestingOf(text) > kMaxDepth)
    return Status(StatusCode::InvalidFile,
                  "'" + name + "' nests more than " +
                      std::to_string(kMaxDepth) + " brackets or signs",
                  advice);
  context.loadDialect<math::MathDialect>(); // Of scalar regions.
  const std::string owned(text);            // An empty file has no address.
  OwningOpRef<ModuleOp> module;
  // The mllm text format starts with the module's name.
  const bool isNotation = llvm::StringRef(owned).ltrim().starts_with("@");
  if (!isNotation)
    if (std::string why = mllm::whyNotMLIRText(owned, kMaxDepth); !why.empty())
      return Status(StatusCode::InvalidFile, "'" + name + "': " + why, advice);
  LLMIR_RETURN_IF_ERROR(withDiagnostics(
      context, StatusCode::InvalidFile, "'" + name + "': ", advice, [&] {
        module = isNotation ? mllm::parseText(owned, name, context)
                            : parseSourceString<ModuleOp>(
                                  owned, ParserConfig(&context), name);
        return success(static_cast<bool>(module));
      }));
  return module;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Whether a model returns rows of texts, not of tokens.
static bool poolsTokensOf(mllm::SubGraphOp entry) {
  if (entry.isExternal())
    return false; // Reported by the conversion.
  for (Operation &op : entry.getBody().front())
    if (mllm::poolsTokens(&op) &&
        cast<RankedTensorType>(op.getOperand(0).getType()).isDynamicDim(0))
      return true;
  return false;
}

Expected<OwningOpRef<ModuleOp>> Compilation::readGraph() {
  Expected<MappedFile> file = MappedFile::open(options.graph);
  if (!file)
    return file.takeStatus();
  auto parsed = parseModule(
      *context, file->text(), options.graph,
      "'llmir compile MODEL --emit mllm' shows the form of a traced model");
  if (!parsed)
    return parsed.takeStatus();
  FailureOr<mllm::ModelFacts> facts = failure();
  LLMIR_RETURN_IF_ERROR(withDiagnostics(
      *context, StatusCode::InvalidFile, "'" + options.graph + "': ",
      "ModelFacts::write() sets the attribute of a traced module", [&] {
        facts = mllm::ModelFacts::read(**parsed);
        return LogicalResult(facts);
      }));
  mllm::SubGraphOp entry = mllm::entrySubGraph(**parsed);
  auto logits = entry && entry.getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(entry.getResultTypes()[0])
                    : RankedTensorType();
  if (logits && poolsTokensOf(entry))
    return Status(StatusCode::Unsupported,
                  "'" + options.graph + "' pools the rows of its tokens",
                  "a graph must return logits for each token");
  if (logits && logits.getRank() > 0 &&
      logits.getShape().back() != facts->vocabSize)
    return Status(StatusCode::InvalidFile,
                  "'" + options.graph + "' returns " +
                      std::to_string(logits.getShape().back()) +
                      " logits for each token, but its vocab_size is " +
                      std::to_string(facts->vocabSize),
                  "give the size of the vocabulary in mllm.model");
  if (options.contextLength > facts->contextLength)
    return Status(StatusCode::InvalidArgument,
                  "the context is " + std::to_string(options.contextLength) +
                      " tokens, but '" + options.graph + "' was traced for " +
                      std::to_string(facts->contextLength),
                  "give a number up to that, or 0 for all of them");
  if (facts->vocabSize != config.vocabSize)
    return Status(StatusCode::InvalidFile,
                  "'" + options.graph + "' has a vocabulary of " +
                      std::to_string(facts->vocabSize) + ", '" + options.model +
                      "' one of " + std::to_string(config.vocabSize),
                  "give the checkpoint that the graph was traced for");
  config.architecture = facts->architecture;
  config.numLayers = facts->numLayers;
  config.numHeads = facts->numHeads;
  config.numKVHeads = facts->numKVHeads;
  config.headDim = facts->headDim;
  config.valuesInKeys = facts->valuesInKeys;
  config.hiddenSize = facts->hiddenSize;
  config.intermediateSize = facts->intermediateSize;
  config.contextLength = facts->contextLength;
  return parsed;
}

Status Compilation::readBase() {
  auto opened = Artifact::open(options.model);
  if (!opened)
    return opened.takeStatus();
  base = std::move(*opened);
  const ArtifactInfo &info = base->info();
  tokenBudget = info.tokenBudget;
  options.maxLogitRows = info.maxLogitRows;
  kvFormat = info.kvFormat;
  Span<const uint8_t> stored = base->tokenizer();
  tokenizer.assign(stored.begin(), stored.end());
  stored = base->chatTemplates();
  chatTemplates.assign(stored.begin(), stored.end());
  note("weights of " + info.modelName + ", " +
       std::to_string(base->weights().size() >> 10) + " KiB");
  return Status::ok();
}

Status Compilation::parseProgramFile() {
  Expected<MappedFile> file = MappedFile::open(options.program, kMaxTextBytes);
  if (!file)
    return file.takeStatus();
  context = createCompilerContext();
  auto parsed = parseProgram(*context, file->text(), options.program);
  if (!parsed)
    return parsed.takeStatus();
  module = std::move(*parsed);
  note("a program of " + std::to_string(file->bytes().size()) + " bytes");
  return Status::ok();
}

Status Compilation::checkProgram() {
  auto own = parseProgram(*context, base->program(), options.model);
  if (!own)
    return own.takeStatus();
  return withDiagnostics(
      *context, StatusCode::InvalidFile, "", "correct the program's text",
      [&] { return checkStepProgram(*module, **own, base->info()); });
}

} // namespace llmir
