//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SubGraphs.h"

#include "llmir/Dialect/CheckOption.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>
#include <set>

using namespace mlir;

namespace llmir::mllm {

#define GEN_PASS_DEF_OUTLINESUBGRAPHS
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

//===----------------------------------------------------------------------===//
// Identical subgraphs
//===----------------------------------------------------------------------===//

/// The attributes of a subgraph except its name.
static DictionaryAttr attributesButName(SubGraphOp subgraph) {
  NamedAttrList attributes(subgraph->getAttrDictionary());
  attributes.erase(subgraph.getSymNameAttrName());
  return attributes.getDictionary(subgraph.getContext());
}

/// Merges identical subgraphs into the first one; returns the number of merged
/// ones.
static int64_t mergeEqual(ModuleOp module) {
  llvm::DenseSet<StringAttr> named; // By module-level calls.
  for (auto call : module.getOps<CallGraphOp>())
    named.insert(call.getCalleeAttr().getAttr());
  auto calls = callsByCallee(module);
  // Bodies compare equal only after calls of equal callees have been replaced
  // by calls of the same callee, which the visiting order guarantees.
  llvm::DenseMap<DictionaryAttr, SmallVector<SubGraphOp>> kept;
  int64_t merged = 0;
  for (SubGraphOp subgraph : subGraphsBottomUp(module)) {
    SmallVector<SubGraphOp> &alike = kept[attributesButName(subgraph)];
    auto *same = llvm::find_if(alike, [&](SubGraphOp other) {
      return OperationEquivalence::isRegionEquivalentTo(
          &subgraph.getBody(), &other.getBody(),
          OperationEquivalence::IgnoreLocations);
    });
    bool stays = same == alike.end() || subgraph.getEntry() ||
                 named.contains(subgraph.getSymNameAttr());
    if (stays) {
      alike.push_back(subgraph);
      continue;
    }
    for (CallGraphOp call : calls[subgraph.getSymNameAttr()])
      call.setCalleeAttr(FlatSymbolRefAttr::get(same->getSymNameAttr()));
    subgraph.erase();
    ++merged;
  }
  return merged;
}

//===----------------------------------------------------------------------===//
// Repeated sequences of ops
//===----------------------------------------------------------------------===//

namespace {
/// Adjacent ops of one block, by index in the list of all ops.
struct Run {
  size_t begin, length;
};

/// The key of a sequence: its ops without value names, and the origin of each
/// operand.
using RunKey = std::vector<const void *>;

class RunOutliner {
public:
  RunOutliner(ModuleOp module, int64_t least) : module(module), least(least) {}

  /// Returns the number of outlined sequences.
  int64_t run();

private:
  void collect();
  size_t longestRepeat() const;
  /// The key of a sequence, and its inputs in order of first use.
  RunKey keyOf(Run run, SmallVectorImpl<Value> &inputs) const;
  bool isFree(Run run) const;
  void outline(ArrayRef<Run> runs);
  SubGraphOp makeSubGraph(Run run, ArrayRef<std::pair<size_t, size_t>> results);
  /// Results used outside the sequence, by op index and result number.
  void addResults(Run run, std::set<std::pair<size_t, size_t>> &results) const;

  ModuleOp module;
  int64_t least;
  std::vector<Operation *> ops;    ///< Null between blocks and after outlining.
  std::vector<const void *> kinds; ///< Equal for equal ops; null: not outlined.
  int64_t count = 0;
};
} // namespace

void RunOutliner::collect() {
  // Attributes and types are uniqued, so that one array holds both.
  Builder b(module.getContext());
  for (auto subgraph : module.getOps<SubGraphOp>()) {
    if (subgraph.isExternal())
      continue;
    for (Operation &op : subgraph.getBody().front().without_terminator()) {
      ops.push_back(&op);
      bool moves = op.getNumRegions() == 0 && isMemoryEffectFree(&op);
      SmallVector<Attribute> parts{
          b.getStringAttr(op.getName().getStringRef()), op.getAttrDictionary(),
          b.getTypeArrayAttr(SmallVector<Type>(op.getOperandTypes())),
          b.getTypeArrayAttr(SmallVector<Type>(op.getResultTypes()))};
      kinds.push_back(moves ? b.getArrayAttr(parts).getAsOpaquePointer()
                            : nullptr);
    }
    ops.push_back(nullptr);
    kinds.push_back(nullptr);
  }
}

/// The length of the longest sequence common to two positions, including
/// overlaps.
size_t RunOutliner::longestRepeat() const {
  size_t longest = 0;
  std::vector<size_t> behind(kinds.size() + 1, 0), here(kinds.size() + 1, 0);
  for (size_t i = kinds.size(); i-- > 0;) {
    for (size_t j = kinds.size(); j-- > i + 1;) {
      here[j] = kinds[i] && kinds[i] == kinds[j] ? behind[j + 1] + 1 : 0;
      longest = std::max(longest, here[j]);
    }
    std::swap(behind, here);
  }
  return longest;
}

bool RunOutliner::isFree(Run run) const {
  for (size_t i = run.begin; i < run.begin + run.length; ++i)
    if (!ops[i] || !kinds[i])
      return false;
  return true;
}

RunKey RunOutliner::keyOf(Run run, SmallVectorImpl<Value> &inputs) const {
  RunKey key;
  llvm::SmallDenseMap<Value, size_t> made, taken;
  // Encodes numbers as pointers: even for values defined in the sequence, odd
  // for inputs.
  auto number = [](size_t value) {
    return reinterpret_cast<const void *>(value);
  };
  for (size_t i = run.begin; i < run.begin + run.length; ++i) {
    key.push_back(kinds[i]);
    for (Value operand : ops[i]->getOperands()) {
      if (auto own = made.find(operand); own != made.end()) {
        key.push_back(number(2 * own->second));
        continue;
      }
      auto [input, isNew] = taken.try_emplace(operand, taken.size());
      if (isNew)
        inputs.push_back(operand);
      key.push_back(number(2 * input->second + 1));
    }
    for (Value result : ops[i]->getResults())
      made.try_emplace(result, made.size());
  }
  return key;
}

void RunOutliner::addResults(
    Run run, std::set<std::pair<size_t, size_t>> &results) const {
  llvm::SmallDenseSet<Operation *> inside;
  for (size_t i = 0; i < run.length; ++i)
    inside.insert(ops[run.begin + i]);
  for (size_t i = 0; i < run.length; ++i)
    for (OpResult result : ops[run.begin + i]->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !inside.contains(
                result.getParentBlock()->findAncestorOpInBlock(*user));
          }))
        results.insert({i, result.getResultNumber()});
}

SubGraphOp
RunOutliner::makeSubGraph(Run run,
                          ArrayRef<std::pair<size_t, size_t>> results) {
  SmallVector<Value> inputs;
  keyOf(run, inputs);
  SmallVector<Type> types;
  for (auto [op, result] : results)
    types.push_back(ops[run.begin + op]->getResult(result).getType());
  auto around = ops[run.begin]->getParentOfType<SubGraphOp>();
  SubGraphOp outlined = createSubGraph(
      around, ("outlined." + Twine(count)).str(), ValueRange(inputs), types);
  OpBuilder b = OpBuilder::atBlockEnd(&outlined.getBody().front());
  IRMapping mapping;
  mapping.map(ValueRange(inputs), outlined.getBody().getArguments());
  for (size_t i = 0; i < run.length; ++i)
    b.clone(*ops[run.begin + i], mapping);
  SmallVector<Value> returned;
  for (auto [op, result] : results)
    returned.push_back(mapping.lookup(ops[run.begin + op]->getResult(result)));
  ReturnOp::create(b, outlined.getLoc(), returned);
  return outlined;
}

/// The sequences are equal and do not overlap.
void RunOutliner::outline(ArrayRef<Run> runs) {
  std::set<std::pair<size_t, size_t>> needed;
  for (Run run : runs)
    addResults(run, needed);
  SmallVector<std::pair<size_t, size_t>> results(needed.begin(), needed.end());
  SubGraphOp outlined = makeSubGraph(runs.front(), results);
  for (Run run : runs) {
    SmallVector<Value> inputs;
    keyOf(run, inputs);
    SmallVector<Location> locations;
    for (size_t i = 0; i < run.length; ++i)
      locations.push_back(ops[run.begin + i]->getLoc());
    // After the last op, where all inputs are defined. There are no other ops
    // in between, so all users follow.
    OpBuilder b(ops[run.begin + run.length - 1]);
    auto call =
        CallGraphOp::create(b, b.getFusedLoc(locations), outlined, inputs);
    for (auto [number, place] : llvm::enumerate(results))
      ops[run.begin + place.first]
          ->getResult(place.second)
          .replaceAllUsesWith(call.getResult(number));
    for (size_t i = run.length; i-- > 0;) {
      ops[run.begin + i]->erase();
      ops[run.begin + i] = nullptr;
    }
    ++count;
  }
}

int64_t RunOutliner::run() {
  // Limits the compile time for large modules.
  constexpr size_t mostOps = 4096, mostLength = 64;
  collect();
  if (least < 1 || ops.size() > mostOps)
    return 0;
  size_t longest = std::min(longestRepeat(), mostLength);
  for (size_t length = longest; length >= static_cast<size_t>(least);
       --length) {
    std::map<RunKey, SmallVector<Run>> equal;
    std::vector<RunKey> order; // By first position, not by address.
    for (size_t begin = 0; begin + length <= ops.size(); ++begin) {
      Run run{begin, length};
      if (!isFree(run))
        continue;
      SmallVector<Value> inputs;
      RunKey key = keyOf(run, inputs);
      SmallVector<Run> &same = equal[key];
      if (same.empty())
        order.push_back(key);
      if (same.empty() || same.back().begin + length <= begin)
        same.push_back(run);
    }
    for (const RunKey &key : order) {
      SmallVector<Run> &same = equal[key];
      llvm::erase_if(same, [&](Run run) { return !isFree(run); });
      if (same.size() > 1)
        outline(same);
    }
  }
  return count;
}

namespace {
struct OutlineSubGraphsPass : impl::OutlineSubGraphsBase<OutlineSubGraphsPass> {
  using OutlineSubGraphsBase::OutlineSubGraphsBase;

  void runOnOperation() override {
    if (failed(checkOption(getOperation().getLoc(), least, 0)))
      return signalPassFailure();
    subGraphsMerged += mergeEqual(getOperation());
    runsOutlined += RunOutliner(getOperation(), least).run();
  }
};
} // namespace

} // namespace llmir::mllm
