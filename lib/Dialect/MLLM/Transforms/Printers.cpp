//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mllm-print-statistics and mllm-print-liveness.
//
//===----------------------------------------------------------------------===//

#include "Costs.h"

#include "llmir/Dialect/CheckOption.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "mlir/Analysis/Liveness.h"
#include "mlir/IR/AsmState.h"

#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;

namespace llmir::mllm {

#define GEN_PASS_DEF_PRINTSTATISTICS
#define GEN_PASS_DEF_PRINTLIVENESS
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

/// Prints rows of cells as columns, left-aligning the first one and
/// right-aligning numbers.
static void printTable(ArrayRef<SmallVector<std::string>> rows,
                       llvm::raw_ostream &os) {
  SmallVector<size_t> widths(rows.front().size(), 0);
  for (const SmallVector<std::string> &row : rows)
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      width = std::max(width, cell.size());
  for (const SmallVector<std::string> &row : rows) {
    os << row.front();
    os.indent(widths.front() - row.front().size());
    for (size_t i = 1; i < row.size(); ++i) {
      os.indent(2 + widths[i] - row[i].size());
      os << row[i];
    }
    os << "\n";
  }
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

namespace {
struct PrintStatisticsPass : impl::PrintStatisticsBase<PrintStatisticsPass> {
  using PrintStatisticsBase::PrintStatisticsBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    CostTable costs(module);
    auto calls = callsByCallee(module);
    SmallVector<SmallVector<std::string>> rows{{"subgraph", "calls", "ops",
                                                "parameters", "parameter bytes",
                                                "flops", "bytes"}};
    auto addRow = [&](StringRef name, const std::string &numCalls,
                      const Cost &cost) {
      rows.push_back({name.str(), numCalls, std::to_string(cost.ops),
                      costs.values(cost).text(),
                      costs.parameterBytes(cost).text(), cost.flops.text(),
                      cost.bytes.text()});
    };
    for (auto subgraph : module.getOps<SubGraphOp>())
      addRow(subgraph.getSymName(),
             std::to_string(calls[subgraph.getSymNameAttr()].size()),
             costs.of(subgraph));
    addRow("whole model", "", wholeModel(costs));
    printTable(rows, llvm::outs());
    if (ops)
      printOps();
  }

private:
  /// The entry and the callees of module-level calls, otherwise all roots.
  Cost wholeModel(const CostTable &costs) {
    ModuleOp module = getOperation();
    Cost whole;
    if (SubGraphOp entry = entrySubGraph(module))
      return costs.of(entry);
    auto calls = callsByCallee(module);
    bool hasCalls = !module.getOps<CallGraphOp>().empty();
    for (auto call : module.getOps<CallGraphOp>())
      whole.add(costs.of(call));
    if (!hasCalls)
      for (auto subgraph : module.getOps<SubGraphOp>())
        if (calls[subgraph.getSymNameAttr()].empty())
          whole.add(costs.of(subgraph));
    return whole;
  }

  void printOps() {
    std::map<std::string, int64_t> counts;
    getOperation().walk([&](Operation *op) {
      if (op != getOperation())
        ++counts[op->getName().getStringRef().str()];
    });
    SmallVector<SmallVector<std::string>> rows{{"op", "count"}};
    for (const auto &[name, count] : counts)
      rows.push_back({name, std::to_string(count)});
    llvm::outs() << "\n";
    printTable(rows, llvm::outs());
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Liveness
//===----------------------------------------------------------------------===//

namespace {
struct PrintLivenessPass : impl::PrintLivenessBase<PrintLivenessPass> {
  using PrintLivenessBase::PrintLivenessBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(checkOption(getOperation().getLoc(), seq, 0)))
      return signalPassFailure();
    for (auto subgraph : getOperation().getOps<SubGraphOp>())
      if (!subgraph.isExternal())
        print(subgraph);
  }

private:
  void print(SubGraphOp subgraph);
  /// Size of a value in bytes, with `seq` for dynamic sizes.
  Amount bytes(Value value) const {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return Amount(0);
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t &size : shape)
      if (ShapedType::isDynamic(size) && seq > 0)
        size = seq;
    return Amount(bytesOf(RankedTensorType::get(shape, type.getElementType())));
  }
};
} // namespace

void PrintLivenessPass::print(SubGraphOp subgraph) {
  Block &block = subgraph.getBody().front();
  // The index of each op, and of the last use of each value.
  llvm::DenseMap<Operation *, size_t> places;
  for (auto [place, op] : llvm::enumerate(block))
    places[&op] = place;
  std::vector<std::string> ends(places.size());
  std::vector<Amount> live(places.size());
  AsmState names(subgraph);
  auto visit = [&](Value value, size_t first) {
    size_t last = first;
    for (Operation *user : value.getUsers())
      last = std::max(last, places.lookup(block.findAncestorOpInBlock(*user)));
    for (size_t place = first; place <= last; ++place)
      live[place] += bytes(value);
    llvm::raw_string_ostream os(ends[last]);
    os << " ";
    value.printAsOperand(os, names);
  };
  for (Value argument : block.getArguments())
    visit(argument, 0);
  for (auto [place, op] : llvm::enumerate(block))
    for (Value result : op.getResults())
      visit(result, place);

  llvm::outs() << subgraph.getSymName() << "\n";
  SmallVector<SmallVector<std::string>> rows{{"  op", "live bytes", "ends"}};
  Amount most;
  for (auto [place, op] : llvm::enumerate(block)) {
    rows.push_back({("  " + op.getName().getStringRef()).str(),
                    live[place].text(), StringRef(ends[place]).ltrim().str()});
    if (!live[place].isKnown())
      most = Amount(std::nullopt);
    else if (most.isKnown() && *live[place] > *most)
      most = live[place];
  }
  printTable(rows, llvm::outs());
  llvm::outs() << "  peak live bytes: " << most.text() << "\n\n";
}

} // namespace llmir::mllm
