// RUN: llmir-artifact-tests --gtest_filter='CpuFeatures.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Artifact/CpuFeatures.h"
#include "Artifact/Handmade.h"

#include <algorithm>
#include <sstream>

using namespace llmir;
using namespace llmir::test;

TEST(CpuFeatures, LevelsIncludeTheLowerOnes) {
  std::vector<std::string> v4 = cpuLevelFeatures("x86-64-v4");
  for (const char *level : {"x86-64-v2", "x86-64-v3"})
    for (const std::string &feature : cpuLevelFeatures(level))
      EXPECT_TRUE(std::binary_search(v4.begin(), v4.end(), feature)) << feature;
  EXPECT_TRUE(cpuLevelFeatures("x86-64").empty());
  EXPECT_TRUE(isKnownCpuLevel("x86-64"));
  EXPECT_FALSE(isKnownCpuLevel("x86-64-v5"));
  EXPECT_TRUE(cpuLevelFeatures("x86-64-v5").empty());
}

TEST(CpuFeatures, LevelIsTheHighestThatIsWhole) {
  EXPECT_EQ(CpuFeatures("x86_64", {}).level(), "x86-64");
  std::vector<std::string> v3 = cpuLevelFeatures("x86-64-v3");
  EXPECT_EQ(CpuFeatures("x86_64", v3).level(), "x86-64-v3");
  v3.push_back("avx512f");
  EXPECT_EQ(CpuFeatures("x86_64", v3).level(), "x86-64-v3");
  EXPECT_EQ(CpuFeatures("x86_64", cpuLevelFeatures("x86-64-v4")).level(),
            "x86-64-v4");
  std::vector<std::string> vnni = cpuLevelFeatures("x86-64-v4");
  vnni.push_back("avx512vnni");
  EXPECT_EQ(CpuFeatures("x86_64", vnni).level(), "x86-64-v4-vnni");
  // The dot products alone, without all of AVX-512, are not a level.
  vnni = cpuLevelFeatures("x86-64-v3");
  vnni.push_back("avx512vnni");
  EXPECT_EQ(CpuFeatures("x86_64", vnni).level(), "x86-64-v3");
  EXPECT_EQ(CpuFeatures("aarch64", {"neon"}).level(), "aarch64");
}

// The features of this processor according to the kernel. Some names differ.
TEST(CpuFeatures, HostAgreesWithTheKernel) {
  std::ifstream file("/proc/cpuinfo");
  std::string line, flags;
  while (std::getline(file, line))
    if (line.rfind("flags", 0) == 0)
      flags = line.substr(line.find(':') + 1) + " ";
  if (flags.empty())
    GTEST_SKIP() << "/proc/cpuinfo has no flags here";
  const std::pair<const char *, const char *> names[] = {
      {"avx", "avx"},
      {"avx2", "avx2"},
      {"fma", "fma"},
      {"f16c", "f16c"},
      {"bmi2", "bmi2"},
      {"movbe", "movbe"},
      {"lzcnt", "abm"},
      {"sse4.2", "sse4_2"},
      {"avx512f", "avx512f"},
      {"avx512bw", "avx512bw"},
      {"avx512vl", "avx512vl"},
      {"avx512dq", "avx512dq"},
      {"avx512cd", "avx512cd"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512bf16", "avx512_bf16"},
      {"avx512fp16", "avx512_fp16"},
      {"avxvnni", "avx_vnni"},
      {"gfni", "gfni"},
      {"amx-tile", "amx_tile"}};
  for (const auto &[ours, kernels] : names)
    EXPECT_EQ(CpuFeatures::host().has(ours),
              flags.find(std::string(" ") + kernels + " ") != std::string::npos)
        << ours;
}

namespace {
/// A processor of exactly that level.
CpuFeatures cpuOf(const std::string &level) {
  bool arm = level.rfind("aarch64", 0) == 0;
  return CpuFeatures(arm ? "aarch64" : "x86_64", cpuLevelFeatures(level));
}

ArtifactInfo infoFor(const std::vector<std::string> &levels) {
  ArtifactInfo info = sampleInfo();
  info.code.clear();
  for (const std::string &level : levels)
    info.code.push_back({level,
                         cpuOf(level).architecture() + "-unknown-linux-gnu",
                         cpuLevelFeatures(level)});
  return info;
}
} // namespace

TEST(CpuFeatures, LevelsThatAreAskedFor) {
  CpuFeatures cpu = cpuOf("x86-64-v4");
  EXPECT_TRUE(checkCpuLevel("x86-64-v3", cpu));
  EXPECT_TRUE(checkCpuLevel("x86-64-v4", cpu));
  for (const char *level : {"x86-64-v4-vnni", "aarch64"})
    EXPECT_EQ(checkCpuLevel(level, cpu).code(), StatusCode::IncompatibleTarget)
        << level;
  for (const char *level : {"x86-64", "x86-64-v3+", "native", ""})
    EXPECT_EQ(checkCpuLevel(level, cpu).code(), StatusCode::InvalidArgument)
        << level;
}

TEST(CpuFeatures, EveryLevelIsItsOwnBest) {
  for (const char *level : {"x86-64-v3", "x86-64-v3-vnni", "x86-64-v4",
                            "x86-64-v4-vnni", "x86-64-v4-bf16", "x86-64-v4-amx",
                            "aarch64", "aarch64-dotprod", "aarch64-i8mm"}) {
    EXPECT_TRUE(isKnownCpuLevel(level)) << level;
    EXPECT_EQ(cpuOf(level).level(), level);
    EXPECT_TRUE(cpuLevelIncludes(level, level));
  }
  EXPECT_TRUE(cpuLevelIncludes("x86-64-v4-amx", "x86-64"));
  EXPECT_TRUE(cpuLevelIncludes("x86-64-v4-amx", "x86-64-v4-vnni"));
  EXPECT_FALSE(cpuLevelIncludes("x86-64-v4", "x86-64-v3-vnni"));
  EXPECT_FALSE(cpuLevelIncludes("x86-64-v3", "x86-64-v4"));
  EXPECT_FALSE(cpuLevelIncludes("aarch64", "x86-64"));
  EXPECT_FALSE(cpuLevelIncludes("", ""));
}

TEST(CpuFeatures, TheBestCodeThatRunsIsChosen) {
  ArtifactInfo info = infoFor({"aarch64-dotprod", "x86-64-v4-vnni", "x86-64-v3",
                               "aarch64", "x86-64-v4"});
  auto chosen = [&](const CpuFeatures &cpu) {
    Expected<size_t> index = chooseCode(info, {}, cpu);
    return index ? info.code[*index].level : index.status().cause();
  };
  EXPECT_EQ(chosen(cpuOf("x86-64-v4-amx")), "x86-64-v4-vnni");
  EXPECT_EQ(chosen(cpuOf("x86-64-v4-vnni")), "x86-64-v4-vnni");
  EXPECT_EQ(chosen(cpuOf("x86-64-v4")), "x86-64-v4");
  EXPECT_EQ(chosen(cpuOf("x86-64-v3-vnni")), "x86-64-v3");
  EXPECT_EQ(chosen(cpuOf("aarch64-i8mm")), "aarch64-dotprod");
  EXPECT_EQ(chosen(cpuOf("aarch64")), "aarch64");
  EXPECT_EQ(chosen(cpuOf("x86-64-v2")),
            "compiled for aarch64-dotprod, x86-64-v4-vnni, x86-64-v3, aarch64, "
            "x86-64-v4; this processor (x86-64-v2) lacks avx, avx2, bmi, bmi2, "
            "f16c, fma, lzcnt, movbe, xsave");
}

TEST(CpuFeatures, ALowerLevelCanBeForced) {
  ArtifactInfo info = infoFor({"x86-64-v3", "x86-64-v4"});
  Expected<size_t> lower = chooseCode(info, "x86-64-v3", cpuOf("x86-64-v4"));
  ASSERT_TRUE(lower) << lower.status().message();
  EXPECT_EQ(*lower, 0u);
  Status absent =
      chooseCode(info, "x86-64-v4-vnni", cpuOf("x86-64-v4-vnni")).takeStatus();
  EXPECT_EQ(absent.code(), StatusCode::IncompatibleTarget);
  EXPECT_EQ(absent.message(),
            "it has no code for level 'x86-64-v4-vnni', only for x86-64-v3, "
            "x86-64-v4; give one of these, or compile it again with --target "
            "x86-64-v4-vnni");
  // No code is generated for a baseline or an unknown level.
  for (const char *level : {"x86-64", "nothing"}) {
    Status none = chooseCode(info, level, cpuOf("x86-64-v4")).takeStatus();
    EXPECT_EQ(none.code(), StatusCode::IncompatibleTarget);
    EXPECT_EQ(none.advice(), "give one of these");
  }
  Status higher =
      chooseCode(info, "x86-64-v4", cpuOf("x86-64-v3")).takeStatus();
  EXPECT_EQ(higher.code(), StatusCode::IncompatibleTarget);
  EXPECT_NE(higher.cause().find("lacks avx512bw"), std::string::npos);
}

TEST(CpuFeatures, TheWrongProcessorIsNamed) {
  ArtifactInfo info = infoFor({"x86-64-v4"});
  info.code[0].cpuFeatures = {"avx2", "avx512vnni"};
  Status status = chooseCode(info, {}, cpuOf("x86-64-v3")).takeStatus();
  EXPECT_EQ(status.code(), StatusCode::IncompatibleTarget);
  EXPECT_EQ(status.message(),
            "compiled for x86-64-v4; this processor (x86-64-v3) lacks "
            "avx512bw, avx512cd, avx512dq, avx512f, avx512vl, avx512vnni; "
            "compile it again with 'llmir compile' on this machine");
  EXPECT_TRUE(chooseCode(info, {}, cpuOf("x86-64-v4-vnni")));
  EXPECT_EQ(chooseCode(info, {}, cpuOf("aarch64")).status().cause(),
            "compiled for x86-64-v4; this processor (aarch64) is not of the "
            "architecture x86_64");
  // The features in the file determine the result, not the name of its level.
  info.code[0] = {"x86-64-v9", "x86_64-unknown-linux-gnu", {}};
  EXPECT_EQ(chooseCode(info, {}, cpuOf("x86-64-v4")).status().code(),
            StatusCode::IncompatibleTarget);
  info.code[0] = {"x86-64", "x86_64-unknown-linux-gnu", {"no-such-feature"}};
  EXPECT_EQ(chooseCode(info).status().code(), StatusCode::IncompatibleTarget);
}
