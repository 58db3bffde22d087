// RUN: %python %S/mutant_models.py --llmir %llmir_bin/llmir --work %t.models
// RUN: env LLMIR_MUTANT_MODELS=%t.models llmir-mutants-tests
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mutated programs: texts of real programs with numbers, operands, names, words
// and lines changed. Each is rejected in one line, or runs without touching
// memory that is not its own.
//
//   LLMIR_MUTANTS=5000 LLMIR_MUTANT_SEED=7   more of them, all of which run
//
// Each mutant runs in its own process; arena, logits, tables and cache are
// between unreadable pages there.
//
//===----------------------------------------------------------------------===//

#include "AddressSpaceLimit.h"
#include "ProgramMutator.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Driver/Compilation.h"
#include "llmir/Runtime/Executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace llmir;
using namespace llmir::test;

namespace {

//===----------------------------------------------------------------------===//
// What becomes of one
//===----------------------------------------------------------------------===//

enum Verdict : int { Ran = 0, Refused = 3, RefusedBadly = 4, Accepted = 5 };

std::string readFile(const std::string &path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// One line of cause and advice.
Verdict verdictOf(const Status &status) {
  const std::string &message = status.message();
  std::fprintf(stderr, "%s\n", message.substr(0, 300).c_str());
  return message.empty() || message.find('\n') != std::string::npos
             ? RefusedBadly
             : Refused;
}

Status runSteps(const std::string &artifact) {
  auto opened = Artifact::open(artifact);
  if (!opened)
    return opened.takeStatus();
  ExecutorOptions options;
  options.threads = 2;
  options.guardPages = true;
  options.contextLength = 128;
  options.kvBlocks = 8;
  auto executor = Executor::create(*opened, options);
  if (!executor)
    return executor.takeStatus();
  LLMIR_RETURN_IF_ERROR((*executor)->cache().createSequence(0));
  // Many tokens and few.
  for (int64_t tokens : {100, 1, 7, 1}) {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < tokens; ++i)
      ids.push_back(
          static_cast<int32_t>((i * 37 + 5) % (*executor)->info().vocabSize));
    SequenceStep step;
    step.sequence = 0;
    step.tokens = ids;
    auto logits = (*executor)->step({&step, 1});
    if (!logits)
      return logits.takeStatus();
  }
  return Status::ok();
}

Verdict judge(const std::string &base, const std::string &program, bool runs) {
  CompilationOptions options;
  options.model = base;
  options.program = program;
#if defined(__x86_64__)
  options.target = "x86-64-v3";
#endif
  options.form = Form::Lowered;
  options.formOutput = program + ".lowered";
  std::string report;
  if (Status status = Compilation(options).run(report); !status.isOk())
    return verdictOf(status);
  if (!runs)
    return Accepted;
  options.form = std::nullopt;
  options.output = program + ".llmir";
  if (Status status = Compilation(options).run(report); !status.isOk())
    return verdictOf(status);
  Status status = runSteps(options.output);
  unlink(options.output.c_str());
  return status.isOk() ? Ran : verdictOf(status);
}

int64_t numberFrom(const char *variable, int64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoll(text, nullptr, 10) : otherwise;
}

//===----------------------------------------------------------------------===//
// The test
//===----------------------------------------------------------------------===//

class ProgramMutants : public testing::TestWithParam<const char *> {
protected:
  /// Seconds that a mutant may run: one may jump for ever.
  static constexpr unsigned kMaxSeconds = 120;

  /// Checks a mutant in a child process; returns its status from waitpid.
  int judgeApart(const std::string &base, const std::string &program,
                 bool runs) {
    pid_t child = fork();
    if (child == 0) {
      alarm(kMaxSeconds);
      std::optional<AddressSpaceLimit> limit;
      if (canLimitAddressSpace)
        limit.emplace(int64_t(6) << 30);
      _exit(judge(base, program, runs));
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
};

TEST_P(ProgramMutants, AreRefusedOrKeepToTheirMemory) {
  const char *folder = std::getenv("LLMIR_MUTANT_MODELS");
  ASSERT_TRUE(folder) << "LLMIR_MUTANT_MODELS names the directory";
  const std::string base = std::string(folder) + "/" + GetParam() + ".llmir";
  const std::string original =
      readFile(std::string(folder) + "/" + GetParam() + ".txt");
  const std::string program =
      std::string(folder) + "/" + GetParam() + "-mutant.txt";
  ASSERT_FALSE(original.empty());
  const bool isLong = std::getenv("LLMIR_MUTANTS");
  const int64_t count = numberFrom("LLMIR_MUTANTS", 300) / 3;
  const auto seed = static_cast<unsigned>(numberFrom("LLMIR_MUTANT_SEED", 1));
  const int64_t mostRuns = isLong ? count : 12;

  std::ofstream(program) << original;
  int status = judgeApart(base, program, true);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == Ran)
      << "the program itself does not run: status " << status;

  int64_t refused = 0, ran = 0, accepted = 0, endless = 0;
  for (int64_t i = 0; i < count; ++i) {
    const unsigned own = seed * 100003 + static_cast<unsigned>(i);
    const std::string mutant = Mutator(original, own).mutant();
    std::ofstream(program) << mutant;
    status = judgeApart(base, program, ran + endless < mostRuns);
    const int verdict = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ran += verdict == Ran;
    refused += verdict == Refused;
    accepted += verdict == Accepted;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
      ++endless;
      continue;
    }
    if (verdict != Ran && verdict != Refused && verdict != Accepted) {
      const std::string kept = std::string(folder) + "/" + GetParam() + "-" +
                               std::to_string(own) + ".txt";
      std::ofstream(kept) << mutant;
      ADD_FAILURE() << "mutant " << own << ": "
                    << (WIFSIGNALED(status) ? "signal " : "exit code ")
                    << (WIFSIGNALED(status) ? WTERMSIG(status) : verdict)
                    << "; kept as " << kept;
    }
  }
  std::printf("%s: %lld refused, %lld ran, %lld would compile, %lld did not "
              "end\n",
              GetParam(), static_cast<long long>(refused),
              static_cast<long long>(ran), static_cast<long long>(accepted),
              static_cast<long long>(endless));
  if (count < 60) // Too few to say more.
    return;
  // Changes that mean nothing and changes that mean everything.
  EXPECT_GT(refused, count / 5);
  EXPECT_GT(ran, std::min<int64_t>(mostRuns, count / 20) / 2);
}

INSTANTIATE_TEST_SUITE_P(Programs, ProgramMutants,
                         testing::Values("llama", "gpt2", "moe"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
