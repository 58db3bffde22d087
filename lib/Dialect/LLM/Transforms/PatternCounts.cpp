//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts of patterns that fired. One table serves the process: passes on
// functions run in several threads.
//
//===----------------------------------------------------------------------===//

#include "PatternCounts.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ManagedStatic.h"

#include <map>
#include <mutex>

using namespace mlir;

namespace {

class PatternCounts {
public:
  void add(StringRef pattern) {
    std::lock_guard<std::mutex> lock(mutex);
    ++counts[pattern.str()];
  }

  void print(llvm::raw_ostream &os) {
    std::lock_guard<std::mutex> lock(mutex);
    for (const auto &[pattern, count] : counts)
      os << count << ' ' << pattern << '\n';
  }

private:
  std::mutex mutex;
  std::map<std::string, uint64_t> counts; ///< Sorted, so that output is stable.
};

struct CountingListener : RewriterBase::Listener {
  explicit CountingListener(PatternCounts &counts) : counts(counts) {}

  void notifyPatternEnd(const Pattern &pattern, LogicalResult status) override {
    if (succeeded(status))
      counts.add(pattern.getDebugName());
  }

  PatternCounts &counts;
};

struct PrintOption {
  llvm::cl::opt<bool> print{
      "llm-print-pattern-counts",
      llvm::cl::desc("Print how often each pattern of the llm passes fired"),
      llvm::cl::init(false)};
};

} // namespace

static llvm::ManagedStatic<PatternCounts> patternCounts;
static llvm::ManagedStatic<PrintOption> printOption;

LogicalResult mlir::llm::applyCountedPatterns(Operation *op,
                                              RewritePatternSet &&patterns,
                                              GreedyRewriteConfig config,
                                              bool *changed) {
  CountingListener listener(*patternCounts);
  config.setListener(&listener);
  return applyPatternsGreedily(op, std::move(patterns), config, changed);
}

void mlir::llm::registerPatternCountsOption() { *printOption; }

void mlir::llm::printPatternCountsIfAsked(llvm::raw_ostream &os) {
  if (printOption.isConstructed() && printOption->print)
    patternCounts->print(os);
}
