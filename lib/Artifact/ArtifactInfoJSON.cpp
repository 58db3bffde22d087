//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/ArtifactInfoJSON.h"
#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Artifact/ArtifactFormat.h"
#include "llmir/Support/Json.h"

#include <cmath>
#include <set>

namespace llmir {

static constexpr const char *where = "artifact info";
static constexpr size_t maxTextBytes = 4096;
static constexpr size_t maxListEntries = 4096;
static constexpr size_t maxSites = 65536;

//===----------------------------------------------------------------------===//
// Fields, listed once: visitor(name, reference)
//===----------------------------------------------------------------------===//

/// `Info` is ArtifactInfo or const ArtifactInfo.
template <typename Info, typename Visitor>
static void visitFields(Info &info, Visitor &&visitor) {
  visitor("modelName", info.modelName);
  visitor("architecture", info.architecture);
  visitor("weightsDescription", info.weightsDescription);
  visitor("parameterCount", info.parameterCount);
  visitor("abiVersion", info.abiVersion);
  visitor("code", info.code);
  visitor("vocabSize", info.vocabSize);
  visitor("logitsRowStride", info.logitsRowStride);
  visitor("tokenBudget", info.tokenBudget);
  visitor("maxLogitRows", info.maxLogitRows);
  visitor("arenaBytes", info.arenaBytes);
  visitor("workerBytes", info.workerBytes);
  visitor("contextLength", info.contextLength);
  visitor("pooling", info.pooling);
  visitor("embeddingSize", info.embeddingSize);
  visitor("wholeSequences", info.wholeSequences);
  visitor("numLayers", info.numLayers);
  visitor("numKVHeads", info.numKVHeads);
  visitor("headDim", info.headDim);
  visitor("valuesInKeys", info.valuesInKeys);
  visitor("kvBlockSize", info.kvBlockSize);
  visitor("kvFormat", info.kvFormat);
  visitor("windows", info.windows);
  visitor("stateLayers", info.stateLayers);
  visitor("stateRecordBytes", info.stateRecordBytes);
  visitor("bosToken", info.bosToken);
  visitor("eosTokens", info.eosTokens);
  visitor("generation", info.generation);
  visitor("sites", info.sites);
  visitor("matrices", info.matrices);
}

template <typename Place, typename Visitor>
static void visitMatrix(Place &place, Visitor &&visitor) {
  visitor("offset", place.offset);
  visitor("bytes", place.bytes);
  visitor("count", place.count);
}

template <typename Site, typename Visitor>
static void visitSite(Site &site, Visitor &&visitor) {
  visitor("name", site.name);
  visitor("kind", site.kind);
  visitor("calls", site.calls);
  visitor("inLayerRun", site.inLayerRun);
  visitor("logitRows", site.logitRows);
  visitor("sourceBytes", site.sourceBytes);
  visitor("packedBytes", site.packedBytes);
  visitor("products", site.products);
  visitor("inputs", site.inputs);
  visitor("experts", site.experts);
  visitor("chosen", site.chosen);
}

template <typename Target, typename Visitor>
static void visitTarget(Target &target, Visitor &&visitor) {
  visitor("level", target.level);
  visitor("triple", target.triple);
  visitor("cpuFeatures", target.cpuFeatures);
}

template <typename Defaults, typename Visitor>
static void visitDefaults(Defaults &defaults, Visitor &&visitor) {
  visitor("doSample", defaults.doSample);
  visitor("temperature", defaults.temperature);
  visitor("topK", defaults.topK);
  visitor("topP", defaults.topP);
  visitor("minP", defaults.minP);
  visitor("repetitionPenalty", defaults.repetitionPenalty);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
struct FieldWriter {
  nlohmann::ordered_json &object;

  template <typename T>
  void operator()(const char *name, const T &value) const {
    object[name] = value;
  }
  void operator()(const char *name, const KVFormat &format) const {
    object[name] = kvFormatName(format);
  }
  void operator()(const char *name, const Pooling &pooling) const {
    object[name] = poolingName(pooling);
  }
  void operator()(const char *name, const GenerationDefaults &defaults) const {
    visitDefaults(defaults, FieldWriter{object[name]});
  }
  void operator()(const char *name, const std::vector<StepSite> &sites) const {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const StepSite &site : sites)
      visitSite(site, FieldWriter{list.emplace_back()});
    object[name] = std::move(list);
  }
  void operator()(const char *name,
                  const std::vector<MatrixPlace> &matrices) const {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const MatrixPlace &place : matrices)
      visitMatrix(place, FieldWriter{list.emplace_back()});
    object[name] = std::move(list);
  }
  void operator()(const char *name, const std::vector<CodeTarget> &list) const {
    object[name] = nlohmann::ordered_json::array();
    for (const CodeTarget &target : list) {
      nlohmann::ordered_json entry;
      visitTarget(target, FieldWriter{entry});
      object[name].push_back(std::move(entry));
    }
  }
};
} // namespace

std::string artifactInfoToJSON(const ArtifactInfo &info) {
  nlohmann::ordered_json object;
  visitFields(info, FieldWriter{object});
  // A file name need not be UTF-8: invalid bytes become U+FFFD.
  return object.dump(2, ' ', false,
                     nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Reads the fields and keeps the first failure.
struct FieldReader {
  const JsonReader &reader;
  Status &status;

  template <typename T> void take(Expected<T> value, T &field) const {
    if (value)
      field = std::move(*value);
    else
      status = value.takeStatus();
  }
  void operator()(const char *name, std::string &field) const {
    if (status)
      take(reader.string(name), field);
  }
  void operator()(const char *name, int64_t &field) const {
    if (status)
      take(reader.integer(name), field);
  }
  void operator()(const char *name, double &field) const {
    if (status)
      take(reader.number(name), field);
  }
  void operator()(const char *name, bool &field) const {
    if (status)
      take(reader.boolean(name), field);
  }
  void operator()(const char *name, uint64_t &field) const {
    if (!status)
      return;
    Expected<int64_t> value = reader.integer(name, 0);
    if (value)
      field = static_cast<uint64_t>(*value);
    else
      status = value.takeStatus();
  }
  void operator()(const char *name, KVFormat &field) const {
    std::string text;
    (*this)(name, text);
    std::optional<KVFormat> format = kvFormatFromName(text);
    if (status && !format)
      status = reader.unexpected(name, "\"f32\", \"f16\", \"bf16\" or \"q8\"");
    else if (format)
      field = *format;
  }
  void operator()(const char *name, Pooling &field) const {
    std::string text;
    (*this)(name, text);
    std::optional<Pooling> pooling = poolingFromName(text);
    if (status && !pooling)
      status =
          reader.unexpected(name, "\"none\", \"cls\", \"last\" or \"mean\"");
    else if (pooling)
      field = *pooling;
  }
  void operator()(const char *name, GenerationDefaults &field) const {
    if (!status)
      return;
    Expected<JsonReader> object = reader.object(name);
    if (object)
      visitDefaults(field, FieldReader{*object, status});
    else
      status = object.takeStatus();
  }
  void operator()(const char *name, std::vector<CodeTarget> &field) const {
    if (!status)
      return;
    Expected<const Json *> list = reader.array(name);
    if (!list) {
      status = list.takeStatus();
      return;
    }
    if ((*list)->size() > artifactMaxCodeSections) {
      status = reader.unexpected(name, "a shorter list");
      return;
    }
    for (const Json &element : **list) {
      Expected<JsonReader> object = JsonReader::of(element, where);
      if (!object) {
        status = object.takeStatus();
        return;
      }
      visitTarget(field.emplace_back(), FieldReader{*object, status});
    }
  }
  void operator()(const char *name, std::vector<StepSite> &field) const {
    readObjects(name, field, [](StepSite &site, const FieldReader &fields) {
      visitSite(site, fields);
    });
  }
  void operator()(const char *name, std::vector<MatrixPlace> &field) const {
    readObjects(name, field, [](MatrixPlace &place, const FieldReader &fields) {
      visitMatrix(place, fields);
    });
  }
  /// Reads a list of objects, each with `visit`.
  template <typename T, typename Visit>
  void readObjects(const char *name, std::vector<T> &field,
                   Visit &&visit) const {
    if (!status)
      return;
    Expected<const Json *> list = reader.array(name);
    if (!list) {
      status = list.takeStatus();
      return;
    }
    for (const Json &element : **list) {
      if (!element.is_object() || field.size() >= maxSites) {
        status = reader.unexpected(
            name, "a list of at most " + std::to_string(maxSites) + " objects");
        return;
      }
      std::string path =
          std::string(name) + "." + std::to_string(field.size()) + ".";
      visit(field.emplace_back(),
            FieldReader{JsonReader(element, where, path), status});
      if (!status)
        return;
    }
  }
  template <typename T>
  void operator()(const char *name, std::vector<T> &field) const {
    if (!status)
      return;
    Expected<const Json *> list = reader.array(name);
    if (!list) {
      status = list.takeStatus();
      return;
    }
    for (const Json &element : **list)
      if (!append(element, field)) {
        status = reader.unexpected(name, elementKind(field));
        return;
      }
  }
  static bool append(const Json &element, std::vector<std::string> &field) {
    if (!element.is_string() || field.size() >= maxListEntries)
      return false;
    field.push_back(element.get<std::string>());
    return true;
  }
  static bool append(const Json &element, std::vector<int64_t> &field) {
    if (!element.is_number_integer() || field.size() >= maxListEntries ||
        (element.is_number_unsigned() &&
         element.get<uint64_t>() > uint64_t(INT64_MAX)))
      return false;
    field.push_back(element.get<int64_t>());
    return true;
  }
  static const char *elementKind(const std::vector<std::string> &) {
    return "a list of strings";
  }
  static const char *elementKind(const std::vector<int64_t> &) {
    return "a list of integers";
  }
};
} // namespace

Expected<ArtifactInfo> artifactInfoFromJSON(std::string_view text) {
  JsonLimits limits;
  limits.maxBytes = uint64_t(1) << 26; // Unequal layers result in many sites.
  limits.maxDepth = 8;
  Expected<Json> json = parseJson(text, where, limits);
  if (!json)
    return json.takeStatus();
  Expected<JsonReader> reader = JsonReader::of(*json, where);
  if (!reader)
    return reader.takeStatus();
  ArtifactInfo info;
  Status status;
  visitFields(info, FieldReader{*reader, status});
  if (status)
    status = validateArtifactInfo(info);
  if (!status) // A missing field means that the file is damaged.
    return Status(StatusCode::InvalidFile, status.cause(), status.advice());
  return info;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static Status outOfRange(const std::string &name, const std::string &value,
                         const std::string &expectation) {
  return Status(StatusCode::InvalidFile,
                std::string(where) + ": '" + name + "' is " + value +
                    "; expected " + expectation,
                "compile it again with 'llmir compile'");
}

static Status checkRange(const char *name, int64_t value, int64_t least,
                         int64_t most) {
  if (value >= least && value <= most)
    return Status::ok();
  return outOfRange(name, std::to_string(value),
                    "an integer from " + std::to_string(least) + " to " +
                        std::to_string(most));
}

static Status checkNumber(const char *name, double value, double least,
                          double most) {
  if (value >= least && value <= most) // False for NaN.
    return Status::ok();
  return outOfRange(name, std::to_string(value),
                    "a number from " + std::to_string(least) + " to " +
                        std::to_string(most));
}

static Status checkTexts(const ArtifactInfo &info) {
  const std::pair<const char *, const std::string *> texts[] = {
      {"modelName", &info.modelName},
      {"architecture", &info.architecture},
      {"weightsDescription", &info.weightsDescription}};
  for (const auto &[name, text] : texts)
    if (text->size() > maxTextBytes)
      return outOfRange(name, std::to_string(text->size()) + " bytes long",
                        "at most " + std::to_string(maxTextBytes));
  return Status::ok();
}

static Status checkCode(const ArtifactInfo &info) {
  if (info.code.empty() || info.code.size() > artifactMaxCodeSections)
    return outOfRange("code", std::to_string(info.code.size()) + " levels",
                      "1 to " + std::to_string(artifactMaxCodeSections));
  std::set<std::string> levels;
  for (const CodeTarget &target : info.code) {
    for (const auto &[name, text] : {std::pair("code.level", &target.level),
                                     std::pair("code.triple", &target.triple)})
      if (text->empty() || text->size() > maxTextBytes)
        return outOfRange(name, std::to_string(text->size()) + " bytes long",
                          "a name");
    if (!levels.insert(target.level).second)
      return outOfRange("code.level", "'" + target.level + "' twice",
                        "each level once");
    if (target.cpuFeatures.size() > maxListEntries)
      return outOfRange("code.cpuFeatures", "too long", "a shorter list");
  }
  return Status::ok();
}

/// Products that the runtime computes must not overflow and must be allocatable
/// in principle; indices must fit into an int32.
static Status checkSizes(const ArtifactInfo &info) {
  LLMIR_RETURN_IF_ERROR(checkRange("vocabSize", info.vocabSize, 1, INT32_MAX));
  const bool embeds = info.pooling != Pooling::None;
  LLMIR_RETURN_IF_ERROR(checkRange("embeddingSize", info.embeddingSize,
                                   embeds ? 1 : 0, embeds ? INT32_MAX : 0));
  LLMIR_RETURN_IF_ERROR(checkRange("logitsRowStride", info.logitsRowStride,
                                   info.rowSize(), int64_t(1) << 32));
  LLMIR_RETURN_IF_ERROR(checkRange("tokenBudget", info.tokenBudget, 1, 65536));
  LLMIR_RETURN_IF_ERROR(
      checkRange("maxLogitRows", info.maxLogitRows, 1, 65536));
  LLMIR_RETURN_IF_ERROR(
      checkRange("arenaBytes", info.arenaBytes, 0, int64_t(1) << 40));
  LLMIR_RETURN_IF_ERROR(
      checkRange("workerBytes", info.workerBytes, 0, int64_t(1) << 36));
  for (const auto &[name, bytes] : {std::pair("arenaBytes", info.arenaBytes),
                                    std::pair("workerBytes", info.workerBytes)})
    if (bytes % 64 != 0)
      return outOfRange(name, std::to_string(bytes), "a multiple of 64");
  LLMIR_RETURN_IF_ERROR(
      checkRange("contextLength", info.contextLength, 1, INT32_MAX));
  LLMIR_RETURN_IF_ERROR(
      checkRange("numLayers", info.numLayers, 1, kvMaxLayers));
  LLMIR_RETURN_IF_ERROR(checkRange("numKVHeads", info.numKVHeads, 1, 65536));
  LLMIR_RETURN_IF_ERROR(checkRange("headDim", info.headDim, 1, 65536));
  LLMIR_RETURN_IF_ERROR(
      checkRange("valuesInKeys", info.valuesInKeys, 0, info.headDim));
  LLMIR_RETURN_IF_ERROR(checkRange("kvBlockSize", info.kvBlockSize, 1, 65536));
  const KVBlockLayout layout = info.kvLayout();
  if (info.kvBlockSize % layout.cellElements() != 0)
    return outOfRange("kvBlockSize", std::to_string(info.kvBlockSize),
                      "a multiple of " + std::to_string(layout.cellElements()));
  if (!info.windows.empty() &&
      (info.wholeSequences ||
       static_cast<int64_t>(info.windows.size()) != info.numLayers))
    return outOfRange("windows",
                      std::to_string(info.windows.size()) + " numbers",
                      info.wholeSequences ? "none" : "one for each layer");
  // The reader rejects longer lists.
  if (info.windows.size() > maxListEntries)
    return outOfRange("windows",
                      std::to_string(info.windows.size()) + " numbers",
                      "at most " + std::to_string(maxListEntries));
  for (int64_t window : info.windows)
    LLMIR_RETURN_IF_ERROR(checkRange("windows", window, 0, INT32_MAX));
  LLMIR_RETURN_IF_ERROR(
      checkRange("stateLayers", info.stateLayers, 0, kvMaxLayers));
  LLMIR_RETURN_IF_ERROR(checkRange(
      "stateRecordBytes", info.stateRecordBytes, info.stateLayers > 0 ? 64 : 0,
      info.stateLayers > 0 ? int64_t(1) << 34 : 0));
  if (info.stateRecordBytes % 64 != 0)
    return outOfRange("stateRecordBytes", std::to_string(info.stateRecordBytes),
                      "a multiple of 64");
  return Status::ok();
}

/// Bounds the costs, which users multiply by each other.
static Status checkSites(const ArtifactInfo &info) {
  if (info.sites.size() > maxSites)
    return outOfRange("sites", "too long", "a shorter list");
  for (const StepSite &site : info.sites) {
    if (site.name.size() > maxTextBytes || site.kind.size() > maxTextBytes)
      return outOfRange("sites.name", "too long", "a shorter name");
    if (!site.inputs.empty() && site.inputs != "int8" &&
        site.inputs != "bf16" && site.inputs != "f32")
      return outOfRange("sites.inputs", "another text",
                        "int8, bf16, f32 or nothing");
    const std::pair<const char *, int64_t> numbers[] = {
        {"sites.sourceBytes", site.sourceBytes},
        {"sites.packedBytes", site.packedBytes},
        {"sites.products", site.products}};
    for (const auto &[name, value] : numbers)
      LLMIR_RETURN_IF_ERROR(checkRange(name, value, 0, int64_t(1) << 44));
    LLMIR_RETURN_IF_ERROR(checkRange("sites.calls", site.calls, 1, 65536));
    LLMIR_RETURN_IF_ERROR(
        checkRange("sites.experts", site.experts, 0, 1 << 20));
    LLMIR_RETURN_IF_ERROR(
        checkRange("sites.chosen", site.chosen, 0, site.experts));
  }
  return Status::ok();
}

static Status checkMatrices(const ArtifactInfo &info) {
  if (info.matrices.size() > maxSites)
    return outOfRange("matrices", "too long", "a shorter list");
  constexpr int64_t most = int64_t(1) << 44;
  for (const MatrixPlace &place : info.matrices) {
    LLMIR_RETURN_IF_ERROR(checkRange("matrices.offset", place.offset, 0, most));
    LLMIR_RETURN_IF_ERROR(
        checkRange("matrices.count", place.count, 1, 1 << 20));
    LLMIR_RETURN_IF_ERROR(
        checkRange("matrices.bytes", place.bytes, 1, most / place.count));
  }
  return Status::ok();
}

Status validateArtifactInfo(const ArtifactInfo &info) {
  LLMIR_RETURN_IF_ERROR(checkTexts(info));
  LLMIR_RETURN_IF_ERROR(checkCode(info));
  LLMIR_RETURN_IF_ERROR(
      checkRange("abiVersion", info.abiVersion, 1, INT32_MAX));
  LLMIR_RETURN_IF_ERROR(checkSizes(info));
  LLMIR_RETURN_IF_ERROR(checkSites(info));
  LLMIR_RETURN_IF_ERROR(checkMatrices(info));
  LLMIR_RETURN_IF_ERROR(checkRange("bosToken", info.bosToken, -1, INT32_MAX));
  if (info.eosTokens.size() > maxListEntries)
    return outOfRange("eosTokens", "too long", "a shorter list");
  for (int64_t token : info.eosTokens)
    LLMIR_RETURN_IF_ERROR(checkRange("eosTokens", token, 0, INT32_MAX));
  const GenerationDefaults &generation = info.generation;
  LLMIR_RETURN_IF_ERROR(
      checkNumber("generation.temperature", generation.temperature, 0, 1e6));
  LLMIR_RETURN_IF_ERROR(
      checkRange("generation.topK", generation.topK, 0, INT32_MAX));
  LLMIR_RETURN_IF_ERROR(checkNumber("generation.topP", generation.topP, 0, 1));
  LLMIR_RETURN_IF_ERROR(checkNumber("generation.minP", generation.minP, 0, 1));
  return checkNumber("generation.repetitionPenalty",
                     generation.repetitionPenalty, 1e-6, 1e6);
}

} // namespace llmir
