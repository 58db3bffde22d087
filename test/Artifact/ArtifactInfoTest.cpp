// RUN: llmir-artifact-tests --gtest_filter='ArtifactInfo.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Artifact/Handmade.h"
#include "llmir/Artifact/ArtifactInfoJSON.h"

#include <cmath>
#include <functional>

using namespace llmir;
using namespace llmir::test;

TEST(ArtifactInfo, ComesBackFromItsText) {
  ArtifactInfo before = sampleInfo();
  before.code.push_back({"x86-64-v9", "x86_64-none", {"avx2", "avx9"}});
  Expected<ArtifactInfo> after =
      artifactInfoFromJSON(artifactInfoToJSON(before));
  ASSERT_TRUE(after) << after.status().message();
  EXPECT_EQ(after->modelName, before.modelName);
  EXPECT_EQ(after->architecture, before.architecture);
  EXPECT_EQ(after->weightsDescription, before.weightsDescription);
  EXPECT_EQ(after->parameterCount, before.parameterCount);
  EXPECT_EQ(after->abiVersion, before.abiVersion);
  ASSERT_EQ(after->code.size(), 2u);
  for (size_t i = 0; i < after->code.size(); ++i) {
    EXPECT_EQ(after->code[i].level, before.code[i].level);
    EXPECT_EQ(after->code[i].triple, before.code[i].triple);
    EXPECT_EQ(after->code[i].cpuFeatures, before.code[i].cpuFeatures);
  }
  ASSERT_EQ(after->sites.size(), before.sites.size());
  for (size_t i = 0; i < after->sites.size(); ++i) {
    EXPECT_EQ(after->sites[i].name, before.sites[i].name);
    EXPECT_EQ(after->sites[i].kind, before.sites[i].kind);
    EXPECT_EQ(after->sites[i].calls, before.sites[i].calls);
    EXPECT_EQ(after->sites[i].inLayerRun, before.sites[i].inLayerRun);
    EXPECT_EQ(after->sites[i].logitRows, before.sites[i].logitRows);
    EXPECT_EQ(after->sites[i].sourceBytes, before.sites[i].sourceBytes);
    EXPECT_EQ(after->sites[i].packedBytes, before.sites[i].packedBytes);
    EXPECT_EQ(after->sites[i].products, before.sites[i].products);
    EXPECT_EQ(after->sites[i].inputs, before.sites[i].inputs);
  }
  ASSERT_EQ(after->matrices.size(), before.matrices.size());
  for (size_t i = 0; i < after->matrices.size(); ++i) {
    EXPECT_EQ(after->matrices[i].offset, before.matrices[i].offset);
    EXPECT_EQ(after->matrices[i].bytes, before.matrices[i].bytes);
    EXPECT_EQ(after->matrices[i].count, before.matrices[i].count);
  }
  EXPECT_EQ(after->vocabSize, before.vocabSize);
  EXPECT_EQ(after->logitsRowStride, before.logitsRowStride);
  EXPECT_EQ(after->tokenBudget, before.tokenBudget);
  EXPECT_EQ(after->maxLogitRows, before.maxLogitRows);
  EXPECT_EQ(after->arenaBytes, before.arenaBytes);
  EXPECT_EQ(after->workerBytes, before.workerBytes);
  EXPECT_EQ(after->contextLength, before.contextLength);
  EXPECT_EQ(after->numLayers, before.numLayers);
  EXPECT_EQ(after->numKVHeads, before.numKVHeads);
  EXPECT_EQ(after->headDim, before.headDim);
  EXPECT_EQ(after->kvBlockSize, before.kvBlockSize);
  EXPECT_EQ(after->kvFormat, before.kvFormat);
  EXPECT_EQ(after->bosToken, before.bosToken);
  EXPECT_EQ(after->eosTokens, before.eosTokens);
  EXPECT_EQ(after->generation.doSample, before.generation.doSample);
  EXPECT_EQ(after->generation.temperature, before.generation.temperature);
  EXPECT_EQ(after->generation.topK, before.generation.topK);
  EXPECT_EQ(after->generation.topP, before.generation.topP);
  EXPECT_EQ(after->generation.minP, before.generation.minP);
  EXPECT_EQ(after->generation.repetitionPenalty,
            before.generation.repetitionPenalty);
}

TEST(ArtifactInfo, ANameNeedNotBeUTF8) {
  ArtifactInfo info = sampleInfo();
  info.modelName = "caf\xe9 \x01 \"quoted\"";
  Expected<ArtifactInfo> after = artifactInfoFromJSON(artifactInfoToJSON(info));
  ASSERT_TRUE(after) << after.status().message();
  EXPECT_EQ(after->modelName, "caf\xef\xbf\xbd \x01 \"quoted\"");
}

TEST(ArtifactInfo, EveryRangeIsChecked) {
  struct Case {
    const char *field;
    std::function<void(ArtifactInfo &)> change;
  };
  const Case cases[] = {
      {"code", [](ArtifactInfo &i) { i.code.clear(); }},
      {"code", [](ArtifactInfo &i) { i.code.resize(65); }},
      {"code.triple", [](ArtifactInfo &i) { i.code[0].triple.clear(); }},
      {"code.level", [](ArtifactInfo &i) { i.code[0].level.clear(); }},
      {"code.level", [](ArtifactInfo &i) { i.code.push_back(i.code[0]); }},
      {"modelName", [](ArtifactInfo &i) { i.modelName.assign(5000, 'x'); }},
      {"code.cpuFeatures",
       [](ArtifactInfo &i) { i.code[0].cpuFeatures.resize(5000); }},
      {"abiVersion", [](ArtifactInfo &i) { i.abiVersion = 0; }},
      {"vocabSize", [](ArtifactInfo &i) { i.vocabSize = 0; }},
      {"vocabSize", [](ArtifactInfo &i) { i.vocabSize = int64_t(1) << 31; }},
      {"logitsRowStride", [](ArtifactInfo &i) { i.logitsRowStride = 49; }},
      {"logitsRowStride",
       [](ArtifactInfo &i) { i.logitsRowStride = INT64_MAX; }},
      {"tokenBudget", [](ArtifactInfo &i) { i.tokenBudget = 0; }},
      {"tokenBudget", [](ArtifactInfo &i) { i.tokenBudget = 100000; }},
      {"maxLogitRows", [](ArtifactInfo &i) { i.maxLogitRows = -1; }},
      {"arenaBytes", [](ArtifactInfo &i) { i.arenaBytes = -1; }},
      {"workerBytes", [](ArtifactInfo &i) { i.workerBytes = -1; }},
      {"workerBytes", [](ArtifactInfo &i) { i.workerBytes = INT64_MAX; }},
      {"arenaBytes", [](ArtifactInfo &i) { i.arenaBytes = INT64_MAX; }},
      {"arenaBytes", [](ArtifactInfo &i) { i.arenaBytes = 4100; }},
      {"workerBytes", [](ArtifactInfo &i) { i.workerBytes = 4100; }},
      {"matrices.offset", [](ArtifactInfo &i) { i.matrices[0].offset = -1; }},
      {"matrices.bytes", [](ArtifactInfo &i) { i.matrices[1].bytes = -1; }},
      {"matrices.bytes", [](ArtifactInfo &i) { i.matrices[1].bytes = 0; }},
      {"matrices.bytes",
       [](ArtifactInfo &i) { i.matrices[1] = {0, int64_t(1) << 44, 2}; }},
      {"matrices.count", [](ArtifactInfo &i) { i.matrices[1].count = 0; }},
      {"matrices", [](ArtifactInfo &i) { i.matrices.resize(70000); }},
      {"contextLength", [](ArtifactInfo &i) { i.contextLength = 0; }},
      {"contextLength", [](ArtifactInfo &i) { i.contextLength = INT64_MAX; }},
      {"numLayers", [](ArtifactInfo &i) { i.numLayers = 0; }},
      {"numKVHeads", [](ArtifactInfo &i) { i.numKVHeads = 70000; }},
      {"headDim", [](ArtifactInfo &i) { i.headDim = INT64_MIN; }},
      {"kvBlockSize", [](ArtifactInfo &i) { i.kvBlockSize = 0; }},
      {"kvBlockSize",
       [](ArtifactInfo &i) {
         i.kvBlockSize = 3;
         i.kvFormat = KVFormat::BF16;
       }},
      {"bosToken", [](ArtifactInfo &i) { i.bosToken = -2; }},
      {"eosTokens", [](ArtifactInfo &i) { i.eosTokens.push_back(-1); }},
      {"generation.temperature",
       [](ArtifactInfo &i) { i.generation.temperature = NAN; }},
      {"generation.topK", [](ArtifactInfo &i) { i.generation.topK = -1; }},
      {"generation.topP", [](ArtifactInfo &i) { i.generation.topP = 1.5; }},
      {"generation.minP", [](ArtifactInfo &i) { i.generation.minP = -0.1; }},
      {"generation.repetitionPenalty",
       [](ArtifactInfo &i) { i.generation.repetitionPenalty = 0; }},
      {"sites", [](ArtifactInfo &i) { i.sites.resize(70000); }},
      {"sites.name",
       [](ArtifactInfo &i) { i.sites[0].name.assign(5000, 'x'); }},
      {"sites.inputs", [](ArtifactInfo &i) { i.sites[0].inputs = "int7"; }},
      {"sites.calls", [](ArtifactInfo &i) { i.sites[0].calls = 0; }},
      {"sites.sourceBytes",
       [](ArtifactInfo &i) { i.sites[0].sourceBytes = -1; }},
      {"sites.packedBytes",
       [](ArtifactInfo &i) { i.sites[0].packedBytes = INT64_MAX; }},
      {"sites.products", [](ArtifactInfo &i) { i.sites[0].products = -1; }},
      {"sites.experts", [](ArtifactInfo &i) { i.sites[0].experts = -1; }},
      {"sites.chosen", [](ArtifactInfo &i) { i.sites[0].chosen = 1; }},
  };
  EXPECT_TRUE(validateArtifactInfo(sampleInfo()));
  for (const Case &c : cases) {
    ArtifactInfo info = sampleInfo();
    c.change(info);
    Status status = validateArtifactInfo(info);
    EXPECT_EQ(status.code(), StatusCode::InvalidFile) << c.field;
    EXPECT_NE(status.cause().find(std::string("'") + c.field + "'"),
              std::string::npos)
        << status.message();
  }
}
