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
  // The dot products alone, without all of AVX-512, are no level.
  vnni = cpuLevelFeatures("x86-64-v3");
  vnni.push_back("avx512vnni");
  EXPECT_EQ(CpuFeatures("x86_64", vnni).level(), "x86-64-v3");
  EXPECT_EQ(CpuFeatures("aarch64", {"neon"}).level(), "aarch64");
}

// What the kernel says of the same processor. Names differ in a few places.
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

TEST(CpuFeatures, TheWrongProcessorIsNamed) {
  ArtifactInfo info = sampleInfo();
  info.targetTriple = "x86_64-unknown-linux-gnu";
  info.targetLevel = "x86-64-v4";
  info.cpuFeatures = {"avx2", "avx512vnni"};
  CpuFeatures v3("x86_64", cpuLevelFeatures("x86-64-v3"));
  Status status = checkCpu(info, v3);
  EXPECT_EQ(status.code(), StatusCode::IncompatibleTarget);
  EXPECT_EQ(status.message(),
            "compiled for x86-64-v4; this processor lacks avx512bw, avx512cd, "
            "avx512dq, avx512f, avx512vl, avx512vnni; compile it again with "
            "'llmir compile --target x86-64-v3'");
  std::vector<std::string> enough = cpuLevelFeatures("x86-64-v4");
  enough.push_back("avx512vnni");
  EXPECT_TRUE(checkCpu(info, CpuFeatures("x86_64", enough)));
  EXPECT_EQ(checkCpu(info, CpuFeatures("aarch64", {"neon"})).code(),
            StatusCode::IncompatibleTarget);
  // A level with one feature more than the processor has.
  info.targetLevel = "x86-64-v4-vnni";
  info.cpuFeatures = {};
  Status one =
      checkCpu(info, CpuFeatures("x86_64", cpuLevelFeatures("x86-64-v4")));
  EXPECT_EQ(one.cause(),
            "compiled for x86-64-v4-vnni; this processor lacks avx512vnni");
  EXPECT_TRUE(checkCpu(info, CpuFeatures("x86_64", enough)));
  info.targetLevel = "x86-64-v9";
  EXPECT_EQ(checkCpu(info, CpuFeatures("x86_64", enough)).code(),
            StatusCode::IncompatibleTarget);
  info.targetLevel = "x86-64";
  info.cpuFeatures = {"no-such-feature"};
  EXPECT_EQ(checkCpu(info).code(), StatusCode::IncompatibleTarget);
}
