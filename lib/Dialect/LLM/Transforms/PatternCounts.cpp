//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts of applied patterns. There is one table per process, since function
// passes run in several threads.
//
//===----------------------------------------------------------------------===//

#include "PatternCounts.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"

#include "llvm/Support/CommandLine.h"

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

  /// List patterns that were tried even if they never matched.
  void mention(StringRef pattern) {
    std::lock_guard<std::mutex> lock(mutex);
    counts.try_emplace(pattern.str(), 0);
  }

  std::map<std::string, uint64_t> get() {
    std::lock_guard<std::mutex> lock(mutex);
    return counts;
  }

  void print(llvm::raw_ostream &os) {
    std::lock_guard<std::mutex> lock(mutex);
    for (const auto &[pattern, count] : counts)
      if (count > 0)
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

} // namespace

// Not a ManagedStatic: tools print after llvm_shutdown.
static PatternCounts &getCounts() {
  static PatternCounts counts;
  return counts;
}

static llvm::cl::opt<bool> *printOption = nullptr;

LogicalResult mlir::llm::applyCountedPatterns(Operation *op,
                                              RewritePatternSet &&patterns,
                                              GreedyRewriteConfig config,
                                              bool *changed) {
  for (const std::unique_ptr<RewritePattern> &pattern :
       patterns.getNativePatterns())
    getCounts().mention(pattern->getDebugName());
  CountingListener listener(getCounts());
  config.setListener(&listener);
  return applyPatternsGreedily(op, std::move(patterns), config, changed);
}

std::map<std::string, uint64_t> mlir::llm::getPatternCounts() {
  return getCounts().get();
}

void mlir::llm::registerPatternCountsOption() {
  static llvm::cl::opt<bool> option(
      "llm-print-pattern-counts",
      llvm::cl::desc(
          "Print how often each pattern of the llm passes was applied"),
      llvm::cl::init(false));
  printOption = &option;
}

void mlir::llm::printPatternCountsIfAsked(llvm::raw_ostream &os) {
  if (printOption && *printOption)
    getCounts().print(os);
}
