//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-analyze-block-size and -llm-optimize-block-size.
//
//===----------------------------------------------------------------------===//

#include "BlockSizeModel.h"

#include "llmir/Dialect/CheckOption.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::llm {
#define GEN_PASS_DEF_ANALYZEBLOCKSIZE
#define GEN_PASS_DEF_OPTIMIZEBLOCKSIZE
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

std::string toPercent(double share) {
  return llvm::formatv("{0:F2} %", 100 * share);
}

/// The options of both passes.
struct BlockSizeSearch {
  SmallVector<int64_t> candidates = {16, 32, 64, 128, 256};
  BlockSizeModel model;

  /// Fails with an error if an option is invalid.
  template <typename Option>
  LogicalResult initialize(func::FuncOp func, ArrayRef<int64_t> given,
                           const Option &streamStartBytes,
                           const Option &typicalLength) {
    if (!given.empty())
      candidates.assign(given.begin(), given.end());
    for (int64_t candidate : candidates)
      if (candidate <= 0 || !llvm::isPowerOf2_64(candidate))
        return func.emitError("block size ")
               << candidate << " among the candidates is not a power of two";
    if (failed(llmir::checkOption(func.getLoc(), streamStartBytes, 0)) ||
        failed(llmir::checkOption(func.getLoc(), typicalLength, 0)))
      return failure();
    model = {streamStartBytes, typicalLength};
    return success();
  }
};

struct AnalyzeBlockSizePass
    : llm::impl::AnalyzeBlockSizeBase<AnalyzeBlockSizePass> {
  using AnalyzeBlockSizeBase::AnalyzeBlockSizeBase;

  void runOnOperation() override {
    BlockSizeSearch search;
    if (failed(search.initialize(getOperation(), candidates, streamStartBytes,
                                 typicalLength)))
      return signalPassFailure();
    for (const CacheUse &use : collectCacheUses(getOperation()))
      report(use, search);
    markAllAnalysesPreserved();
  }

private:
  void report(const CacheUse &use, const BlockSizeSearch &search) {
    int64_t best = chooseBlockSize(use, search.candidates, search.model);
    InFlightDiagnostic remark =
        emitRemark(getOperation().getLoc(), "cache ")
        << use.type << ", sequences up to " << use.longest << " tokens, "
        << (use.sharesPrefixes ? "which share prefix blocks"
                               : "which share no prefix blocks")
        << ": block size " << best << " has the lowest cost";
    for (int64_t candidate : search.candidates) {
      BlockSizeCost cost = getBlockSizeCost(use, candidate, search.model);
      remark.attachNote() << "block size " << candidate << " costs "
                          << toPercent(cost.total()) << ": "
                          << toPercent(cost.borders)
                          << " of read bandwidth lost at block borders, "
                          << toPercent(cost.unused) << " of memory unused";
    }
  }
};

struct OptimizeBlockSizePass
    : llm::impl::OptimizeBlockSizeBase<OptimizeBlockSizePass> {
  using OptimizeBlockSizeBase::OptimizeBlockSizeBase;

  void runOnOperation() override {
    BlockSizeSearch search;
    if (failed(search.initialize(getOperation(), candidates, streamStartBytes,
                                 typicalLength)))
      return signalPassFailure();
    for (const CacheUse &use : collectCacheUses(getOperation())) {
      int64_t now = use.type.getBlockSize();
      int64_t best = chooseBlockSize(use, search.candidates, search.model);
      if (best == now)
        continue;
      if (!use.obstacle.empty()) {
        InFlightDiagnostic remark =
            emitRemark(getOperation().getLoc(), "block size ")
            << now << " is kept, although " << best << " has a lower cost";
        remark.attachNote(use.obstacleLoc) << use.obstacle;
        continue;
      }
      change(use, withBlockSize(use.type, best));
      emitRemark(getOperation().getLoc(), "block size ")
          << now << " changed to " << best << ": cost "
          << toPercent(getBlockSizeCost(use, now, search.model).total())
          << " changed to "
          << toPercent(getBlockSizeCost(use, best, search.model).total());
      ++cachesChanged;
    }
  }

private:
  /// Changes all values to the new type, and block tables to its number of
  /// columns.
  static void change(const CacheUse &use, PagedKVCacheType type) {
    for (Value value : use.values)
      value.setType(type);
    for (Operation *op : use.ops) {
      if (auto append = dyn_cast<AppendKVOp>(op))
        append.removeBlockSizeAttr();
      Value tables;
      if (auto reserve = dyn_cast<ReserveKVOp>(op))
        tables = reserve.getBlockTables();
      else if (auto found = dyn_cast<BlockTablesOp>(op))
        tables = found.getBlockTables();
      if (!tables)
        continue;
      auto before = cast<RankedTensorType>(tables.getType());
      tables.setType(
          before.clone({before.getDimSize(0), type.getMaxBlocksPerSequence()}));
    }
  }
};

} // namespace
