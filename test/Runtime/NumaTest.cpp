// RUN: llmir-runtime-tests --gtest_filter='Numa*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nodes of memory: from directories as the system has them and as it should
// not, and what is done with several. This machine may have one node; threads
// are bound and weights copied all the same where a directory says that it has
// two.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/NumaNodes.h"
#include "Runtime/HandwrittenStep.h"
#include "llmir/Runtime/Executor.h"
#include "llmir/Runtime/WorkerTeam.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>

using namespace llmir;
using namespace llmir::test;

namespace {
/// Stands for /sys/devices/system/node; removed with the object.
class Folder {
public:
  Folder() {
    std::string pattern = testing::TempDir() + "llmir-nodesXXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(folder); }
  const std::string &path() const { return folder; }
  void write(const std::string &name, const std::string &text) const {
    std::filesystem::path file = std::filesystem::path(folder) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  Expected<std::vector<NumaNode>> nodes(std::vector<int> usable) const {
    return readNumaNodes(folder, usable);
  }

private:
  std::string folder;
};

/// A machine whose two nodes share out the processors that there are, or have
/// the same one.
void writeTwoNodes(const Folder &folder) {
  std::vector<int> all = usableProcessorList();
  ASSERT_FALSE(all.empty());
  folder.write("online", "0-1\n");
  folder.write("node0/cpulist", std::to_string(all.front()) + "\n");
  folder.write("node1/cpulist", std::to_string(all.back()) + "\n");
}
} // namespace

TEST(Numa, NodesAreRead) {
  Folder folder;
  folder.write("online", "0-1,4\n");
  folder.write("node0/cpulist", "0-3,8-11\n");
  folder.write("node1/cpulist", "4-7,12-15\n");
  folder.write("node4/cpulist", "\n"); // Memory without processors.
  auto nodes = folder.nodes({1, 2, 5, 8, 9, 15});
  ASSERT_TRUE(nodes) << nodes.status().message();
  ASSERT_EQ(nodes->size(), 2u);
  EXPECT_EQ((*nodes)[0].processors, (std::vector<int>{1, 2, 8, 9}));
  EXPECT_EQ((*nodes)[1].number, 1);
  EXPECT_EQ((*nodes)[1].processors, (std::vector<int>{5, 15}));
  // A process that may use one node has one node.
  EXPECT_EQ(folder.nodes({5, 6})->size(), 1u);
}

TEST(Numa, WithoutTheFolderThereIsOneNode) {
  auto nodes = readNumaNodes("/no/such/folder", {3, 4});
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->size(), 1u);
  EXPECT_EQ((*nodes)[0].processors, (std::vector<int>{3, 4}));
}

TEST(Numa, WhatIsNoListIsRefused) {
  for (const std::string &text :
       {std::string("x"), std::string("-1"), std::string("1-"),
        std::string("3-1"), std::string("0,0"), std::string("0 1"),
        std::string("0,,1"), std::string("0,"), std::string("0-4294967296"),
        std::string("1024"), std::string("99999999999999999999"),
        std::string("0-1\n2"), std::string(70000, '1'),
        std::string("0\0 1", 4)}) {
    Folder folder;
    folder.write("online", text);
    auto nodes = folder.nodes({0});
    ASSERT_FALSE(nodes) << text.substr(0, 20);
    EXPECT_NE(nodes.status().message().find(folder.path() + "/online"),
              std::string::npos)
        << nodes.status().message();
  }
  Folder folder;
  folder.write("online", "0");
  folder.write("node0/cpulist", "0-9000");
  EXPECT_FALSE(folder.nodes({0}));
  folder.write("node0/cpulist", "7");
  EXPECT_FALSE(folder.nodes({0})); // No node has processor 0.
}

TEST(Numa, NeighboursAreNearEachOther) {
  std::vector<NumaNode> nodes{{0, {0, 1, 4, 5}}, {2, {2, 3, 6, 7}}};
  auto nodesOf = [&](int64_t workers) {
    std::string text;
    for (const WorkerPlace &place : placeWorkers(nodes, workers, true)) {
      EXPECT_EQ(place.processors.size(), 1u);
      text += static_cast<char>('0' + place.node);
    }
    return text;
  };
  EXPECT_EQ(nodesOf(8), "00001111");
  EXPECT_EQ(nodesOf(4), "0011");
  EXPECT_EQ(nodesOf(3), "001");
  EXPECT_EQ(nodesOf(1), "0");
  EXPECT_EQ(nodesOf(16), "0000000011111111");
  std::vector<WorkerPlace> free = placeWorkers(nodes, 2, false);
  EXPECT_EQ(free[0].processors, nodes[0].processors);
  EXPECT_EQ(free[1].processors, nodes[1].processors);
}

TEST(Numa, PagesOfANodeThatIsNotThereAreRefused) {
  alignas(4096) static uint8_t memory[3 * 4096];
  Status status = interleavePages(memory, sizeof memory, {{1023, {0}}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  // Less than a page has nothing to spread.
  EXPECT_TRUE(interleavePages(memory + 1, 4096, {{1023, {0}}}));
}

namespace {
/// Logits of the handwritten step for three tokens.
std::vector<float> logitsOf(Executor &executor) {
  std::vector<int32_t> tokens{3, 1, 4};
  SequenceStep part;
  part.sequence = 1;
  part.tokens = tokens;
  EXPECT_TRUE(executor.cache().createSequence(1));
  Expected<StepLogits> logits = executor.step({&part, 1});
  EXPECT_TRUE(logits) << logits.status().message();
  Span<const float> row = logits->row(0);
  return {row.begin(), row.end()};
}

Expected<std::unique_ptr<Executor>> placed(NumaPolicy policy,
                                           const std::string &root,
                                           ArtifactInfo info = sampleInfo()) {
  ExecutorOptions options;
  options.threads = 3;
  options.kvBlocks = 8;
  options.numa = policy;
  options.numaRoot = root;
  return Executor::create(info, handwrittenStep, handwrittenWeightBytes(),
                          options);
}

ArtifactInfo infoOfOneMatrix() {
  ArtifactInfo info = sampleInfo();
  info.matrices = {{0, 16, 2}};
  return info;
}
} // namespace

TEST(Numa, OneNodeChangesNothingAndSaysSo) {
  Folder folder;
  for (NumaPolicy policy : {NumaPolicy::FirstTouch, NumaPolicy::Interleave}) {
    auto executor = placed(policy, folder.path());
    ASSERT_TRUE(executor) << executor.status().message();
    EXPECT_NE((*executor)->placement().find("has no effect"),
              std::string::npos);
    EXPECT_TRUE((*executor)->processors().empty());
  }
  auto off = placed(NumaPolicy::Off, folder.path());
  ASSERT_TRUE(off);
  EXPECT_EQ((*off)->placement(), "");
}

TEST(Numa, FirstTouchBindsWorkersAndCopiesTheirWeights) {
  Folder folder;
  ASSERT_NO_FATAL_FAILURE(writeTwoNodes(folder));
  cpu_set_t before, during, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  auto plain = placed(NumaPolicy::Off, folder.path());
  ASSERT_TRUE(plain);
  std::vector<float> expected = logitsOf(**plain);
  {
    auto executor =
        placed(NumaPolicy::FirstTouch, folder.path(), infoOfOneMatrix());
    ASSERT_TRUE(executor) << executor.status().message();
    EXPECT_NE((*executor)->placement().find("2 memory nodes"),
              std::string::npos)
        << (*executor)->placement();
    EXPECT_GT((*executor)->memoryBytes(), (*plain)->memoryBytes());
    EXPECT_EQ((*executor)->processors().size(), 3u);
    ASSERT_EQ(sched_getaffinity(0, sizeof during, &during), 0);
    EXPECT_EQ(CPU_COUNT(&during), 1);
    EXPECT_EQ(logitsOf(**executor), expected);
  }
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Numa, InterleavingOverANodeThatIsNotThereFails) {
  Folder folder;
  std::vector<int> all = usableProcessorList();
  folder.write("online", "0,1023\n");
  folder.write("node0/cpulist", std::to_string(all.front()) + "\n");
  folder.write("node1023/cpulist", std::to_string(all.back()) + "\n");
  auto executor =
      placed(NumaPolicy::Interleave, folder.path(), infoOfOneMatrix());
  if (executor) // The kernel accepts the existing nodes.
    EXPECT_NE((*executor)->placement().find("interleaving"), std::string::npos);
  else
    EXPECT_EQ(executor.status().code(), StatusCode::Unsupported);
}

TEST(Numa, MatricesOutsideOfTheWeightsAreRefused) {
  Folder folder;
  ASSERT_NO_FATAL_FAILURE(writeTwoNodes(folder));
  for (std::vector<MatrixPlace> matrices :
       {std::vector<MatrixPlace>{{0, 32, 3}},
        std::vector<MatrixPlace>{{0, 32, 1}, {16, 16, 1}},
        std::vector<MatrixPlace>{{int64_t(1) << 44, 16, 1}}}) {
    ArtifactInfo info = sampleInfo();
    info.matrices = std::move(matrices);
    auto executor = placed(NumaPolicy::FirstTouch, folder.path(), info);
    ASSERT_FALSE(executor);
    EXPECT_EQ(executor.status().code(), StatusCode::InvalidFile);
  }
}

TEST(Numa, NamesOfPolicies) {
  EXPECT_EQ(numaPolicyFromName("first-touch"), NumaPolicy::FirstTouch);
  EXPECT_EQ(numaPolicyFromName("interleave"), NumaPolicy::Interleave);
  EXPECT_EQ(numaPolicyFromName("off"), NumaPolicy::Off);
  EXPECT_FALSE(numaPolicyFromName("on"));
}

// Placements for a team if another one has bound the calling thread.
TEST(Numa, ATeamBesideABoundOneHasThePlacesOfThat) {
  std::vector<int> all = usableProcessorList();
  auto first = WorkerTeam::create(2, /*pin=*/true);
  ASSERT_TRUE(first);
  auto second = WorkerTeam::create((*first)->processors());
  ASSERT_TRUE(second);
  int where[2] = {};
  (*second)->run([&](int64_t worker) { where[worker] = sched_getcpu(); });
  EXPECT_EQ(where[0], all[0]);
  EXPECT_EQ(where[1], all[1 % all.size()]);
  EXPECT_FALSE(WorkerTeam::create(std::vector<std::vector<int>>()));
}
