//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/CpuFeatures.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace llmir {

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

namespace {
/// The part of a row of CPULevels.def with the requirements on a CPU.
struct Level {
  std::string_view name;
  std::string_view architecture;
  std::string_view includes; ///< The level that this one extends, or empty.
  std::string_view features; ///< Additional ones, separated by spaces.
  bool hasCode;              ///< Code can be generated for it.
};
} // namespace

static constexpr Level levelTable[] = {
#define LLMIR_CPU_BASELINE(name, architecture, includes, features)             \
  {name, architecture, includes, features, false},
#define LLMIR_CPU_LEVEL(name, architecture, includes, features, ...)           \
  {name, architecture, includes, features, true},
#include "llmir/Support/CPULevels.def"
};

static const Level *findLevel(std::string_view name) {
  for (const Level &level : levelTable)
    if (level.name == name)
      return &level;
  return nullptr;
}

bool cpuLevelIncludes(std::string_view name, std::string_view lower) {
  for (const Level *level = findLevel(name); level;
       level = findLevel(level->includes))
    if (level->name == lower)
      return true;
  return false;
}

bool isKnownCpuLevel(std::string_view level) { return findLevel(level); }

std::vector<std::string> cpuLevelFeatures(std::string_view name) {
  std::vector<std::string> result;
  for (const Level *level = findLevel(name); level;
       level = findLevel(level->includes)) {
    std::istringstream words{std::string(level->features)};
    for (std::string feature; words >> feature;)
      result.push_back(feature);
  }
  std::sort(result.begin(), result.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Detection
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

/// Register state that features require to be saved, as bits of XCR0.
static constexpr uint64_t noState = 0;
static constexpr uint64_t avxState = 0x6;     // XMM, YMM.
static constexpr uint64_t avx512State = 0xe6; // and opmask, ZMM.
static constexpr uint64_t amxState = 0x60000; // Tile configuration and data.

namespace {
enum Register { EAX, EBX, ECX, EDX };
struct FeatureBit {
  const char *name;
  uint32_t leaf, subleaf;
  Register reg;
  int bit;
  uint64_t state;
};
} // namespace

static const FeatureBit featureBits[] = {
    {"cx8", 1, 0, EDX, 8, noState},
    {"cmov", 1, 0, EDX, 15, noState},
    {"mmx", 1, 0, EDX, 23, noState},
    {"fxsr", 1, 0, EDX, 24, noState},
    {"sse", 1, 0, EDX, 25, noState},
    {"sse2", 1, 0, EDX, 26, noState},
    {"sse3", 1, 0, ECX, 0, noState},
    {"pclmul", 1, 0, ECX, 1, noState},
    {"ssse3", 1, 0, ECX, 9, noState},
    {"fma", 1, 0, ECX, 12, avxState},
    {"cx16", 1, 0, ECX, 13, noState},
    {"sse4.1", 1, 0, ECX, 19, noState},
    {"sse4.2", 1, 0, ECX, 20, noState},
    {"crc32", 1, 0, ECX, 20, noState},
    {"movbe", 1, 0, ECX, 22, noState},
    {"popcnt", 1, 0, ECX, 23, noState},
    {"aes", 1, 0, ECX, 25, noState},
    {"xsave", 1, 0, ECX, 27, noState}, // OSXSAVE: enabled by the system.
    {"avx", 1, 0, ECX, 28, avxState},
    {"f16c", 1, 0, ECX, 29, avxState},
    {"rdrnd", 1, 0, ECX, 30, noState},
    {"bmi", 7, 0, EBX, 3, noState},
    {"avx2", 7, 0, EBX, 5, avxState},
    {"bmi2", 7, 0, EBX, 8, noState},
    {"avx512f", 7, 0, EBX, 16, avx512State},
    {"avx512dq", 7, 0, EBX, 17, avx512State},
    {"adx", 7, 0, EBX, 19, noState},
    {"avx512ifma", 7, 0, EBX, 21, avx512State},
    {"avx512cd", 7, 0, EBX, 28, avx512State},
    {"sha", 7, 0, EBX, 29, noState},
    {"avx512bw", 7, 0, EBX, 30, avx512State},
    {"avx512vl", 7, 0, EBX, 31, avx512State},
    {"avx512vbmi", 7, 0, ECX, 1, avx512State},
    {"avx512vbmi2", 7, 0, ECX, 6, avx512State},
    {"gfni", 7, 0, ECX, 8, noState},
    {"vaes", 7, 0, ECX, 9, avxState},
    {"vpclmulqdq", 7, 0, ECX, 10, avxState},
    {"avx512vnni", 7, 0, ECX, 11, avx512State},
    {"avx512bitalg", 7, 0, ECX, 12, avx512State},
    {"avx512vpopcntdq", 7, 0, ECX, 14, avx512State},
    {"avx512vp2intersect", 7, 0, EDX, 8, avx512State},
    {"amx-bf16", 7, 0, EDX, 22, amxState},
    {"avx512fp16", 7, 0, EDX, 23, avx512State},
    {"amx-tile", 7, 0, EDX, 24, amxState},
    {"amx-int8", 7, 0, EDX, 25, amxState},
    {"avxvnni", 7, 1, EAX, 4, avxState},
    {"avx512bf16", 7, 1, EAX, 5, avx512State},
    {"avxifma", 7, 1, EAX, 23, avxState},
    {"avxvnniint8", 7, 1, EDX, 4, avxState},
    {"avxneconvert", 7, 1, EDX, 5, avxState},
    {"avxvnniint16", 7, 1, EDX, 10, avxState},
    {"sahf", 0x80000001, 0, ECX, 0, noState},
    {"lzcnt", 0x80000001, 0, ECX, 5, noState},
    {"sse4a", 0x80000001, 0, ECX, 6, noState},
    {"prfchw", 0x80000001, 0, ECX, 8, noState},
};

/// The register state that the operating system saves.
static uint64_t savedState() {
  uint32_t eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 27)))
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

static std::vector<std::string> detectFeatures() {
  const uint64_t saved = savedState();
  std::vector<std::string> result;
  for (const FeatureBit &feature : featureBits) {
    uint32_t registers[4] = {};
    bool isBit =
        __get_cpuid_count(feature.leaf, feature.subleaf, &registers[0],
                          &registers[1], &registers[2], &registers[3]) &&
        ((registers[feature.reg] >> feature.bit) & 1);
    if (isBit && (saved & feature.state) == feature.state)
      result.push_back(feature.name);
  }
  return result;
}

static const char *hostArchitecture() { return "x86_64"; }

#elif defined(__aarch64__)

static std::vector<std::string> detectFeatures() {
  struct Bit {
    const char *name;
    bool second; ///< In AT_HWCAP2.
    int bit;
  };
  const Bit bits[] = {{"neon", false, 1},     {"fullfp16", false, 10},
                      {"dotprod", false, 20}, {"sve", false, 22},
                      {"i8mm", true, 13},     {"bf16", true, 14}};
  const unsigned long first = getauxval(AT_HWCAP),
                      second = getauxval(AT_HWCAP2);
  std::vector<std::string> result;
  for (const Bit &bit : bits)
    if (((bit.second ? second : first) >> bit.bit) & 1)
      result.push_back(bit.name);
  return result;
}

static const char *hostArchitecture() { return "aarch64"; }

#else

static std::vector<std::string> detectFeatures() { return {}; }
static const char *hostArchitecture() { return ""; }

#endif

//===----------------------------------------------------------------------===//
// CpuFeatures
//===----------------------------------------------------------------------===//

const CpuFeatures &CpuFeatures::host() {
  static const CpuFeatures features(hostArchitecture(), detectFeatures());
  return features;
}

CpuFeatures::CpuFeatures(std::string architecture,
                         std::vector<std::string> features)
    : arch(std::move(architecture)), names(std::move(features)) {
  std::sort(names.begin(), names.end());
}

bool CpuFeatures::has(std::string_view feature) const {
  return std::binary_search(names.begin(), names.end(), feature);
}

bool CpuFeatures::hasAll(const std::vector<std::string> &features) const {
  return std::all_of(features.begin(), features.end(),
                     [this](const std::string &name) { return has(name); });
}

std::string CpuFeatures::level() const {
  std::string_view best = arch;
  for (const Level &level : levelTable)
    if (level.architecture == arch && hasAll(cpuLevelFeatures(level.name)))
      best = level.name;
  return std::string(best);
}

//===----------------------------------------------------------------------===//
// Compatibility
//===----------------------------------------------------------------------===//

/// Index of a level in the table; -1 for an unknown name.
static int levelRank(std::string_view name) {
  const Level *level = findLevel(name);
  return level ? static_cast<int>(level - levelTable) : -1;
}

static std::string architectureOf(const CodeTarget &target) {
  return target.triple.substr(0, target.triple.find('-'));
}

/// "lacks avx512f, avx512vnni" or "is not of the architecture aarch64": why the
/// processor cannot run code for the target; empty if it can.
static std::string whyNot(const CodeTarget &target, const CpuFeatures &cpu) {
  if (architectureOf(target) != cpu.architecture())
    return "is not of the architecture " + architectureOf(target);
  if (levelRank(target.level) < 0)
    return "cannot run '" + target.level +
           "', a level unknown to this build of LLMIR";
  std::vector<std::string> needed = cpuLevelFeatures(target.level);
  needed.insert(needed.end(), target.cpuFeatures.begin(),
                target.cpuFeatures.end());
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  std::string missing;
  for (const std::string &feature : needed)
    if (!cpu.has(feature))
      missing += (missing.empty() ? "lacks " : ", ") + feature;
  return missing;
}

static std::string levelNames(const ArtifactInfo &info) {
  std::string names;
  for (const CodeTarget &target : info.code)
    names += (names.empty() ? "" : ", ") + target.level;
  return names;
}

/// "this processor (x86-64-v3) ".
static std::string thisProcessor(const CpuFeatures &cpu) {
  std::string level = cpu.level();
  return "this processor (" + (level.empty() ? "of an unknown kind" : level) +
         ") ";
}

/// Succeeds if the processor can run code for the requested target.
static Status checkAskedFor(const CodeTarget &target, const CpuFeatures &cpu) {
  std::string reason = whyNot(target, cpu);
  if (reason.empty())
    return Status::ok();
  return Status(StatusCode::IncompatibleTarget,
                "code for " + target.level + " was requested; " +
                    thisProcessor(cpu) + reason,
                "omit --level, or give another level");
}

Status checkCpuLevel(std::string_view name, const CpuFeatures &cpu) {
  const Level *level = findLevel(name);
  if (level && level->hasCode)
    return checkAskedFor(
        {std::string(name), std::string(level->architecture), {}}, cpu);
  std::string known;
  for (const Level &row : levelTable)
    if (row.hasCode)
      known += (known.empty() ? "" : ", ") + std::string(row.name);
  return Status(StatusCode::InvalidArgument,
                "no code is generated for level '" + std::string(name) + "'",
                "give one of " + known);
}

static Expected<size_t> chooseNamed(const ArtifactInfo &info,
                                    const std::string &level,
                                    const CpuFeatures &cpu) {
  const Level *known = findLevel(level);
  std::string advice = "give one of these";
  if (known && known->hasCode)
    advice += ", or compile it again with --target " + level;
  for (size_t i = 0; i < info.code.size(); ++i) {
    if (info.code[i].level != level)
      continue;
    LLMIR_RETURN_IF_ERROR(checkAskedFor(info.code[i], cpu));
    return i;
  }
  return Status(StatusCode::IncompatibleTarget,
                "it has no code for level '" + level + "', only for " +
                    levelNames(info),
                advice);
}

/// Why none of the images can run: for the one of this architecture that lacks
/// the fewest features, otherwise for the first.
static std::string closestReason(const ArtifactInfo &info,
                                 const CpuFeatures &cpu) {
  std::string closest;
  for (const CodeTarget &target : info.code) {
    std::string reason = whyNot(target, cpu);
    if (architectureOf(target) == cpu.architecture() &&
        (closest.empty() || reason.size() < closest.size()))
      closest = reason;
  }
  return closest.empty() ? whyNot(info.code.front(), cpu) : closest;
}

Expected<size_t> chooseCode(const ArtifactInfo &info, std::string_view level,
                            const CpuFeatures &cpu) {
  if (!level.empty())
    return chooseNamed(info, std::string(level), cpu);
  std::optional<size_t> best;
  for (size_t i = 0; i < info.code.size(); ++i)
    if (whyNot(info.code[i], cpu).empty() &&
        (!best ||
         levelRank(info.code[i].level) > levelRank(info.code[*best].level)))
      best = i;
  if (best)
    return *best;
  return Status(StatusCode::IncompatibleTarget,
                "compiled for " + levelNames(info) + "; " + thisProcessor(cpu) +
                    closestReason(info, cpu),
                "compile it again with 'llmir compile' on this machine");
}

Status enableCpuState(const CodeTarget &target) {
#if defined(__x86_64__) && defined(__linux__)
  if (std::find(target.cpuFeatures.begin(), target.cpuFeatures.end(),
                "amx-tile") == target.cpuFeatures.end())
    return Status::ok();
  constexpr long requestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr long tileData = 18;              // XFEATURE_XTILEDATA
  if (syscall(SYS_arch_prctl, requestPermission, tileData) != 0)
    return Status(StatusCode::IncompatibleTarget,
                  "the system does not let this process use AMX tiles",
                  "select a lower level with --level");
#else
  (void)target;
#endif
  return Status::ok();
}

} // namespace llmir
