//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stage 7: writes the artifact.
//
//===----------------------------------------------------------------------===//

#include "llmir/ABI/StepContext.h"
#include "llmir/Artifact/Artifact.h"
#include "llmir/Artifact/ArtifactWriter.h"
#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/ChatTemplate/FromGGUF.h"
#include "llmir/Checkpoint/StoredParameter.h"
#include "llmir/Driver/Compilation.h"
#include "llmir/Support/IntegerLayout.h"
#include "llmir/Target/CPU/CPUTarget.h"
#include "llmir/Tokenizer/FromGGUF.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace llmir {

/// The packed format of a matrix: that of its checkpoint, or the integer format
/// to which it is quantized.
static std::string formatOf(const PackJob &job,
                            const CheckpointTensor &stored) {
  const bool isAsStored =
      !job.integers || (stored.format && IntegerFormat::ofBlocks(
                                             *stored.format) == job.integers);
  return isAsStored ? stored.storageName : job.integers->name();
}

/// "int4:g128 + BF16": the formats of the matrices, in descending order of
/// total size.
static std::string describeWeights(const Checkpoint &checkpoint,
                                   const std::vector<PackJob> &jobs) {
  std::map<std::string, int64_t> bytes;
  for (const PackJob &job : jobs)
    if (const CheckpointTensor *stored =
            checkpoint.find(matrixSource(job.source, 0));
        stored && !job.isVector)
      bytes[formatOf(job, *stored)] += job.bytes;
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto &[format, count] : bytes)
    order.emplace_back(-count, format);
  std::sort(order.begin(), order.end());
  std::string text;
  for (const auto &entry : order)
    text += (text.empty() ? "" : " + ") + entry.second;
  return text;
}

ArtifactInfo Compilation::infoOfCheckpoint() const {
  ArtifactInfo info;
  info.modelName = config.modelName;
  info.architecture = config.architecture;
  info.weightsDescription = describeWeights(*checkpoint, jobs);
  // A tensor, or a slice of it, may be packed in two ways.
  std::set<std::pair<std::string, int64_t>> counted;
  for (const PackJob &job : jobs)
    if (!job.constant && counted.insert({job.source, job.firstRow}).second)
      info.parameterCount +=
          static_cast<uint64_t>(job.matrices) * job.rows * job.columns;
  for (const PackJob &job : jobs)
    if (!job.isVector && !job.constant)
      info.matrices.push_back(
          {job.offset, job.bytes / job.matrices, job.matrices});

  info.vocabSize = config.vocabSize;
  info.tokenBudget = tokenBudget;
  info.maxLogitRows = options.maxLogitRows;
  info.contextLength =
      options.contextLength ? options.contextLength : config.contextLength;

  info.pooling = config.pooling;
  if (config.pooling != Pooling::None)
    info.embeddingSize = config.embeddingSize();
  info.wholeSequences = wholeSequences;

  // Keys and values of whole sequences are not needed after their layer: all
  // layers share the memory of one. In a graph, layers may overlap.
  const bool sharesCache = wholeSequences && options.graph.empty();
  info.numLayers = sharesCache ? 1 : config.numCacheLayers();
  info.numKVHeads = config.numKVHeads;
  info.headDim = config.headDim;
  info.valuesInKeys = config.valuesInKeys;
  info.kvBlockSize = options.kvBlockSize;
  info.kvFormat = kvFormat;
  // A window of the whole context is none.
  for (int64_t window : windows)
    info.windows.push_back(window < info.contextLength ? window : 0);
  info.windows.resize(static_cast<size_t>(info.numLayers), 0);
  if (info.wholeSequences ||
      std::count(info.windows.begin(), info.windows.end(), 0) == info.numLayers)
    info.windows.clear();
  info.stateLayers = stateLayers;
  info.stateRecordBytes = stateRecordBytes;

  info.bosToken = config.bosToken;
  info.eosTokens = config.eosTokens;
  info.generation = config.generation;
  return info;
}

ArtifactInfo Compilation::makeInfo() const {
  ArtifactInfo info = fromProgram() ? base->info() : infoOfCheckpoint();
  info.sites = sites;
  info.abiVersion = LLMIR_ABI_VERSION;
  info.code.clear();
  for (const CPULevel *level : levels)
    info.code.push_back({level->name.str(), level->triple(),
                         cpuLevelFeatures(level->name.str())});
  info.logitsRowStride = logitsRowStride;
  info.arenaBytes = arenaBytes;
  info.workerBytes = workerBytes;
  return info;
}

Status Compilation::readTokenizer() {
  const GGUFMetadata *metadata = checkpoint->gguf();
  if (metadata ? !hasTokenizer(*metadata) : !hasTokenizer(checkpoint->path()))
    return Status::ok();
  Expected<Tokenizer> read = metadata
                                 ? tokenizerFromGGUF(*metadata)
                                 : Tokenizer::fromFolder(checkpoint->path());
  if (!read)
    return read.takeStatus();
  tokenizer = read->serialize();
  return readChatTemplates();
}

Status Compilation::readChatTemplates() {
  const GGUFMetadata *metadata = checkpoint->gguf();
  Expected<ModelTemplates> read =
      metadata ? templatesFromGGUF(*metadata)
               : ModelTemplates::fromFolder(checkpoint->path());
  if (!read)
    return read.takeStatus();
  if (!read->templates.empty() || !read->tokens.empty())
    chatTemplates = read->serialize();
  return Status::ok();
}

static Span<const uint8_t> bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// Copies the weights of `from`, which are whole.
static Status copyWeights(const Artifact &from, ArtifactWriter &writer) {
  LLMIR_RETURN_IF_ERROR(from.verifyWeights());
  constexpr size_t pieceBytes = size_t(8) << 20;
  LLMIR_RETURN_IF_ERROR(writer.beginSection(ArtifactSection::Weights));
  Span<const uint8_t> weights = from.weights();
  for (size_t done = 0; done < weights.size(); done += pieceBytes)
    LLMIR_RETURN_IF_ERROR(writer.append(
        {weights.data() + done, std::min(pieceBytes, weights.size() - done)}));
  return writer.endSection();
}

Status Compilation::writeWeights(ArtifactWriter &writer) const {
  if (fromProgram())
    return copyWeights(*base, writer);
  return packWeights(*checkpoint, jobs, writer, [&](const PackProgress &done) {
    if (!options.progress)
      return;
    options.progress(done.text().c_str(),
                     0.3 + 0.7 * static_cast<double>(done.bytes) /
                               static_cast<double>(done.totalBytes));
  });
}

Status Compilation::writeArtifact() {
  Expected<ArtifactWriter> writer = ArtifactWriter::begin(options.output);
  if (!writer)
    return writer.takeStatus();
  LLMIR_RETURN_IF_ERROR(writer->setInfo(makeInfo()));
  LLMIR_RETURN_IF_ERROR(
      writer->addSection(ArtifactSection::Program, bytesOf(programText)));
  if (!tokenizer.empty())
    LLMIR_RETURN_IF_ERROR(
        writer->addSection(ArtifactSection::Tokenizer, tokenizer));
  if (!chatTemplates.empty())
    LLMIR_RETURN_IF_ERROR(
        writer->addSection(ArtifactSection::ChatTemplates, chatTemplates));
  for (const std::vector<uint8_t> &image : images)
    LLMIR_RETURN_IF_ERROR(writer->addSection(ArtifactSection::Code, image));
  LLMIR_RETURN_IF_ERROR(writeWeights(*writer));
  LLMIR_RETURN_IF_ERROR(writer->finish());
  const uint64_t bytes = fromProgram() ? base->weights().size() : weightBytes();
  note(options.output + ", " + std::to_string(bytes >> 10) + " KiB of weights" +
       (fromProgram() ? " of " + options.model : ""));
  return Status::ok();
}

} // namespace llmir
