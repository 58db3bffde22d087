//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-property: random programs mean the same before and after each
// pass.
//
//   llmir-property --count=200 --seed=1
//   llmir-property --program=failing.mlir --pipeline=cse --seed=17
//
// The second form ends with 1 where results differ and with 0 otherwise, also
// if the program has no semantics: the query of llmir-reduce.
//
//===----------------------------------------------------------------------===//

#include "Checker.h"
#include "Generator.h"

#include "llmir/Pipelines/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace llmir::property;
namespace cl = llvm::cl;

namespace {
cl::opt<uint64_t> seed("seed", cl::desc("Seed of the first program"),
                       cl::init(1));
cl::opt<uint64_t> count("count", cl::desc("Programs to run"), cl::init(200));
cl::opt<std::string> programFile("program", cl::desc("A program instead"));
cl::opt<std::string> pipelineText("pipeline", cl::desc("This pipeline only"));
cl::opt<bool> print("print", cl::desc("Print the program of the seed"));
cl::opt<std::string> folder("output", cl::desc("Where failing programs go"),
                            cl::init("."));

struct Totals {
  uint64_t failures = 0;
  Firings firings;
};
} // namespace

/// The requested pipelines.
static std::vector<Pipeline> selectedPipelines() {
  if (pipelineText.empty())
    return getPipelines();
  for (const Pipeline &pipeline : getPipelines())
    if (pipelineText == pipeline.text)
      return {pipeline};
  return {{pipelineText.c_str(), Promise::Bits}};
}

/// Writes the program and a script that tests whether it fails.
static void writeFailure(uint64_t programSeed, const std::string &text,
                         const Pipeline &pipeline, const char *executable) {
  const std::string base =
      folder + "/property-failure-" + std::to_string(programSeed);
  std::error_code error;
  llvm::raw_fd_ostream program(base + ".mlir", error);
  program << text;
  llvm::raw_fd_ostream script(base + ".sh", error);
  script << "#!/bin/sh\nexec '" << executable << "' --pipeline='"
         << pipeline.text << "' --seed=" << programSeed
         << " --program=\"$1\" >/dev/null 2>&1\n";
  script.close();
  llvm::sys::fs::setPermissions(base + ".sh", llvm::sys::fs::all_exe |
                                                  llvm::sys::fs::all_read |
                                                  llvm::sys::fs::owner_write);
  llvm::outs() << "to reduce it: llmir-reduce " << base
               << ".mlir -llm-reduction='test=" << base << ".sh'\n";
}

static void runProgram(mlir::MLIRContext &context, uint64_t programSeed,
                       const char *executable, Totals &totals) {
  const std::string text = generateProgram(programSeed);
  auto report = [&](const Pipeline &pipeline, const std::string &what) {
    ++totals.failures;
    llvm::outs() << "seed " << programSeed << ", " << pipeline.text << ": "
                 << what << "\n";
    writeFailure(programSeed, text, pipeline, executable);
  };
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return report({"", Promise::Bits}, "the program is not well-formed");
  Checker checker(*module, programSeed);
  if (checker.failure())
    return report({"", Promise::Bits}, *checker.failure());
  for (const Pipeline &pipeline : selectedPipelines())
    if (auto difference = checker.check(pipeline, totals.firings))
      report(pipeline, *difference);
}

/// Prints the counts; in a run of 200 programs no pattern may be idle.
static void reportFirings(Totals &totals) {
  for (const auto &[pipeline, patterns] : totals.firings) {
    llvm::outs() << pipeline << "\n";
    for (const auto &[pattern, fired] : patterns) {
      llvm::outs() << llvm::format("%8u ", unsigned(fired)) << pattern << "\n";
      if (fired == 0 && count >= 200) {
        llvm::outs() << "   the pattern never fired: no program has its case\n";
        ++totals.failures;
      }
    }
  }
}

/// 1 if the file's results change, else 0.
static int runFile(mlir::MLIRContext &context) {
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(programFile, &context);
  if (!module)
    return 0;
  Checker checker(*module, seed);
  if (checker.failure()) {
    llvm::outs() << *checker.failure() << "\n";
    return 0;
  }
  Firings firings;
  for (const Pipeline &pipeline : selectedPipelines())
    if (auto difference = checker.check(pipeline, firings)) {
      llvm::outs() << pipeline.text << ": " << *difference << "\n";
      return 1;
    }
  return 0;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Random programs through all passes");
  if (print) {
    llvm::outs() << generateProgram(seed);
    return 0;
  }
  mlir::DialectRegistry registry;
  llmir::registerAllLLMIRDialects(registry);
  mlir::registerAllPasses();
  llmir::registerAllLLMIRPasses();
  registerPropertyPasses();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  if (!programFile.empty())
    return runFile(context);

  const auto start = std::chrono::steady_clock::now();
  llvm::outs() << "seeds " << seed << " to " << seed + count - 1 << "\n";
  const std::string executable = llvm::sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&main));
  Totals totals;
  for (uint64_t i = 0; i < count; ++i)
    runProgram(context, seed + i, executable.c_str(), totals);
  reportFirings(totals);
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  llvm::outs() << count << " programs, " << totals.failures << " failures, "
               << llvm::format("%.1f", seconds.count()) << " s\n";
  return totals.failures > 0;
}
