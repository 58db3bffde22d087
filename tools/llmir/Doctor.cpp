//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir doctor: checks whether this machine can compile and run models,
// measures its memory bandwidth, and estimates what a model needs.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "CompilerLibrary.h"
#include "Console.h"
#include "MemoryBandwidth.h"
#include "ModelResolver.h"
#include "ModelSummary.h"

#include "llmir/ABI/StepContext.h"
#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Runtime/WorkerTeam.h"
#include "llmir/Support/Json.h"
#include "llmir/Support/MessageLine.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct DoctorOptions {
  std::string model; ///< Empty: only the machine is examined.
  CacheOptions cache;
  int64_t threads = 0;
  bool json = false;
};

/// One line of the report.
struct Finding {
  std::string name, value;
  bool good = true;
  std::string advice = {};
};

} // namespace

/// The value of the first line of `file` that starts with `key`.
static std::string lineOf(const char *file, const std::string &key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.compare(0, key.size(), key) == 0) {
      size_t colon = line.find(':');
      size_t start = line.find_first_not_of(" \t", colon + 1);
      return start == std::string::npos ? "" : line.substr(start);
    }
  return "";
}

/// Sizes of the first processor's data caches: "48 kB level 1, 1024 kB level
/// 2".
static std::string cacheSizes() {
  std::string text;
  for (int index = 0; index < 8; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" +
                         std::to_string(index) + "/";
    std::string type, size, level;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "size") >> size;
    std::ifstream(folder + "level") >> level;
    if (type != "Data" && type != "Unified")
      continue;
    text += (text.empty() ? "" : ", ") + size + " level " + level;
  }
  return text.empty() ? "unknown" : text;
}

static Finding checkProcessor() {
  const CpuFeatures &cpu = CpuFeatures::host();
  std::string level = cpu.level();
  Finding finding{"level", level.empty() ? "unknown" : level};
  if (!cpu.hasAll(cpuLevelFeatures("x86-64-v3"))) {
    finding.good = false;
    finding.advice = "compiled models need x86-64-v3 (AVX2, FMA, F16C)";
  }
  return finding;
}

static Finding checkCompiler() {
  Expected<std::string> path = findCompilerLibrary();
  if (!path)
    return {"compiler", path.status().cause(), false, path.status().advice()};
  Stopwatch watch;
  Status loaded = loadCompilerLibrary();
  if (!loaded)
    return {"compiler", loaded.cause(), false, loaded.advice()};
  return {"compiler", *path + " (loads in " +
                          formatNumber(watch.milliseconds(), 0) + " ms)"};
}

static Finding checkCache(const CacheOptions &options) {
  Expected<ArtifactCache> cache = ArtifactCache::open(options);
  if (!cache)
    return {"cache", cache.status().cause(), false, cache.status().advice()};
  Expected<std::vector<CacheEntry>> entries = cache->entries();
  double total = 0;
  size_t count = 0;
  if (entries) {
    count = entries->size();
    for (const CacheEntry &entry : *entries)
      total += static_cast<double>(entry.bytes);
  }
  std::string text = cache->folder() + ": " + std::to_string(count) +
                     " artifacts, " + formatBytes(total);
  struct statvfs disk;
  if (statvfs(cache->folder().c_str(), &disk) == 0)
    text += "; " +
            formatBytes(static_cast<double>(disk.f_bavail) *
                        static_cast<double>(disk.f_frsize)) +
            " free on its disk";
  if (access(cache->folder().c_str(), W_OK) != 0)
    return {"cache", text + "; not writable", false,
            "choose another directory with --cache-dir"};
  return {"cache", text};
}

static Finding checkMemory() {
  double total = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                 static_cast<double>(sysconf(_SC_PAGESIZE));
  std::string text = formatBytes(total);
  if (int64_t available = availableMemory())
    text += ", " + formatBytes(static_cast<double>(available)) + " available";
  return {"memory", text};
}

/// Reads memory of about this size, as decoding reads weights; sets `bytes` to
/// the size that was available.
static Expected<ReadBandwidth> measureReads(int64_t threads, int64_t &bytes) {
  auto team = WorkerTeam::create(threads);
  if (!team)
    return team.takeStatus();
  auto reader = MemoryReader::create(**team, bytes);
  if (!reader)
    return reader.takeStatus();
  bytes = (*reader)->bytes();
  return (*reader)->measure(0.1);
}

static Finding checkBandwidth(int64_t threads) {
  int64_t bytes = int64_t(512) << 20;
  Expected<ReadBandwidth> measured = measureReads(threads, bytes);
  if (!measured)
    return {"memory reads", measured.status().cause(), false,
            measured.status().advice()};
  return {"memory reads", formatNumber(measured->bytesPerSecond / 1e9, 1) +
                              " GB/s (" + measured->reader + ", of " +
                              formatBytes(static_cast<double>(bytes)) + ")"};
}

//===----------------------------------------------------------------------===//
// A model on this machine
//===----------------------------------------------------------------------===//

static Expected<ModelMemory> memoryOfModel(std::string path) {
  std::optional<hub::RemoteHeaders> headers;
  LLMIR_RETURN_IF_ERROR(locateOrDescribe(path, headers));
  Expected<ModelKind> kind = modelKind(path);
  if (!kind)
    return kind.takeStatus();
  if (*kind == ModelKind::Other)
    return notAModel(path);
  if (*kind == ModelKind::Artifact) {
    auto artifact = Artifact::open(path);
    if (!artifact)
      return artifact.takeStatus();
    return memoryOf(**artifact);
  }
  Expected<Checkpoint> checkpoint = Checkpoint::open(path);
  if (!checkpoint)
    return checkpoint.takeStatus();
  return memoryOf(*checkpoint);
}

/// Whether weights, KV cache and states of one sequence fit into the available
/// memory, and the longest context that does.
static Finding checkFit(const ModelMemory &model) {
  std::string text =
      formatBytes(static_cast<double>(model.weights)) + " of weights, " +
      formatBytes(static_cast<double>(model.kvOfContext())) +
      " of KV cache for " + std::to_string(model.contextLength) + " tokens";
  if (model.statePerSequence > 0)
    text += ", " + formatBytes(static_cast<double>(model.statePerSequence)) +
            " of states per sequence";
  const int64_t available = availableMemory();
  if (available == 0) // Unknown.
    return {"model memory", text};
  text += "; " + formatBytes(static_cast<double>(available)) + " available";
  const int64_t rest = available - model.weights - model.statePerSequence;
  if (rest < model.kvOf(1))
    return {"model memory", text, false,
            "choose a smaller quantization, or close other programs"};
  const int64_t longest = model.longestWithin(rest);
  if (longest < model.contextLength)
    text += ", which is enough for " + std::to_string(longest) +
            " tokens (--ctx " + std::to_string(longest) + ")";
  return {"model memory", text};
}

/// The limit of decoding: the weights are read for each token. Those of a small
/// model stay in the caches, so that as many bytes are read for the estimate.
static Finding estimateSpeed(const ModelMemory &model, int64_t threads) {
  int64_t bytes = model.readPerToken;
  Expected<ReadBandwidth> measured = measureReads(threads, bytes);
  if (!measured)
    return {"model speed", measured.status().cause(), false,
            measured.status().advice()};
  const double rate =
      measured->bytesPerSecond /
      static_cast<double>(std::max<int64_t>(model.readPerToken, 1));
  return {"model speed",
          "decodes at most about " + formatNumber(rate, rate < 100 ? 1 : 0) +
              " tokens/s: each reads " +
              formatBytes(static_cast<double>(model.readPerToken)) +
              " of weights, at " +
              formatNumber(measured->bytesPerSecond / 1e9, 1) +
              " GB/s; llmir bench measures it"};
}

static std::vector<Finding> examineModel(const DoctorOptions &options) {
  if (options.model.empty())
    return {};
  Expected<ModelMemory> model = memoryOfModel(options.model);
  if (!model)
    return {{"model", model.status().cause(), false, model.status().advice()}};
  return {{"model", options.model},
          checkFit(*model),
          estimateSpeed(*model, options.threads)};
}

static Outcome examine(const DoctorOptions &options) {
  struct utsname system = {};
  uname(&system);
  std::string features;
  for (const std::string &feature : CpuFeatures::host().features())
    features += (features.empty() ? "" : " ") + feature;
  std::string model = lineOf("/proc/cpuinfo", "model name");

  std::vector<Finding> findings = {
      {"version",
       "llmir " LLMIR_VERSION ", ABI " + std::to_string(LLMIR_ABI_VERSION)},
      {"system", std::string(system.sysname) + " " + system.release + " " +
                     system.machine},
      {"processor", model.empty() ? "unknown" : model},
      checkProcessor(),
      {"features", features},
      {"processors", std::to_string(usableProcessors()) + " usable"},
      {"caches", cacheSizes()},
      checkMemory(),
      checkBandwidth(options.threads),
      checkCompiler(),
      checkCache(options.cache),
  };
  for (Finding &finding : examineModel(options))
    findings.push_back(std::move(finding));

  std::string problems;
  Json object = Json::object();
  for (const Finding &finding : findings) {
    object[finding.name] = {{"ok", finding.good}, {"value", finding.value}};
    if (!finding.good)
      problems += (problems.empty() ? "" : ", ") + finding.name;
    if (options.json)
      continue;
    print((finding.good ? "ok   " : "BAD  ") + finding.name +
          std::string(14 - std::min<size_t>(13, finding.name.size()), ' ') +
          messageLine(finding.value) + "\n");
    if (!finding.good && !finding.advice.empty())
      print("     " + std::string(14, ' ') + finding.advice + "\n");
  }
  if (options.json)
    print(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (problems.empty())
    return Status::ok();
  return Status(StatusCode::Unsupported, "not in order: " + problems,
                "see the advice in the report");
}

void cli::addDoctorCommand(CommandLine &line) {
  auto options = std::make_shared<DoctorOptions>();
  Command command = line.add(
      "doctor",
      "Check whether this machine can compile and run models, or a model",
      "llmir doctor\n  llmir doctor model.gguf");
  command.addArgument(
      "MODEL", options->model,
      std::string(modelHelp) +
          ": whether it fits into memory, and how fast it can be");
  addCacheOptions(command, options->cache);
  addOption(command, "-t,--threads", options->threads,
            "threads of the bandwidth test (default: one per processor)")
      .check(atLeast(1));
  addJsonFlag(command, options->json);
  line.onRun(command, [options] { return examine(*options); });
}
