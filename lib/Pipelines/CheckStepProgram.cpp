//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a program that somebody has written can run on the weights, the
// buffers and the cache that an artifact has.
//
//===----------------------------------------------------------------------===//

#include "ProgramInput.h"

#include "llmir/Dialect/MLLM/KernelSpec.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/StringSwitch.h"

#include <map>

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir {

namespace {
/// What the layer register may hold; empty: the place is not reached.
struct LayerRange {
  int64_t first = 0, last = -1;

  bool empty() const { return last < first; }
  /// Joins the other range; true where that changes anything.
  bool join(LayerRange other) {
    if (other.empty())
      return false;
    LayerRange before = *this;
    first = empty() ? other.first : std::min(first, other.first);
    last = before.empty() ? other.last : std::max(last, other.last);
    return first != before.first || last != before.last;
  }
};

class StepProgramChecker {
public:
  StepProgramChecker(ModuleOp program, ModuleOp base, const ArtifactInfo &info)
      : program(program), base(base), info(info) {}

  LogicalResult check();

private:
  LogicalResult checkParts();
  LogicalResult checkCodeOp(Operation &op);
  LogicalResult checkWeights();
  LogicalResult checkWeight(WeightOp weight);
  LogicalResult checkKernel(KernelOp kernel);
  LogicalResult checkCache(KernelOp kernel);
  LogicalResult checkCall(InstructionOp op, const KernelCall &call);
  LogicalResult checkTable(InstructionOp op, KernelOp kernel, int64_t rows);
  LogicalResult checkShape(InstructionOp op, KernelOp kernel, WeightOp weight,
                           size_t number);
  LogicalResult checkLayers();
  LogicalResult checkLayersOf(Operation &op, LayerRange layers);
  /// Rows that buffer `number` of a kernel needs in the largest step; nothing
  /// for a kind that steps do not have.
  std::optional<int64_t> rowsOf(KernelOp kernel, size_t number) const;
  int64_t parameter(KernelOp kernel, StringRef name) const {
    auto value = kernel.getParameters().getAs<IntegerAttr>(name);
    return value ? value.getInt() : 0;
  }
  template <typename Op> Op find(Attribute name) const {
    for (FragmentOp fragment : program.getBody()->getOps<FragmentOp>())
      if (auto op = dyn_cast_or_null<Op>(SymbolTable::lookupSymbolIn(
              fragment, cast<FlatSymbolRefAttr>(name).getAttr())))
        return op;
    return nullptr;
  }

  mutable ModuleOp program;
  ModuleOp base;
  const ArtifactInfo &info;
  FragmentOp code;
  /// What lies in the weight section, by offset: a weight and which source.
  std::map<int64_t, std::pair<WeightOp, size_t>> stored;
};
} // namespace

LogicalResult StepProgramChecker::check() {
  if (failed(checkParts()) || failed(checkWeights()))
    return failure();
  for (FragmentOp fragment : program.getOps<FragmentOp>())
    for (KernelOp kernel : fragment.getBody().getOps<KernelOp>())
      if (failed(checkKernel(kernel)))
        return failure();
  for (InstructionOp op : code.getBody().getOps<InstructionOp>())
    for (const KernelCall &call : op.getCalls())
      if (failed(checkCall(op, call)))
        return failure();
  return checkLayers();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

LogicalResult StepProgramChecker::checkParts() {
  for (Operation &op : *program.getBody()) {
    auto fragment = dyn_cast<FragmentOp>(op);
    if (!fragment) {
      if (isa<mllm::RegisterOp>(op))
        continue;
      return op.emitOpError("cannot stand beside the fragments of a program");
    }
    if (fragment.getKind() != FragmentKind::Code)
      continue;
    if (code)
      return fragment.emitOpError("is a second code fragment beside '")
             << code.getSymName() << "'; a step has one";
    code = fragment;
  }
  if (!code)
    return program.emitError("the program has no code fragment");
  if (code.getSymName() != "llmir_step")
    return code.emitOpError("is called '")
           << code.getSymName()
           << "', but the runtime calls @llmir_step; give it that name";
  if (auto few = code->getAttrOfType<IntegerAttr>(kFewTokensAttr);
      few && (few.getInt() < 1 || few.getInt() > info.tokenBudget))
    return code.emitOpError("calls a step of ")
           << few.getInt() << " tokens one of few; give 1 to "
           << info.tokenBudget;
  for (Operation &op : code.getBody().front())
    if (failed(checkCodeOp(op)))
      return failure();
  return success();
}

LogicalResult StepProgramChecker::checkCodeOp(Operation &op) {
  if (isa<InputOp, OutputOp, SetFieldOp, RuntimeCallOp>(op))
    return op.emitOpError("belongs to programs of functions; a step gets all "
                          "that from the runtime");
  auto logits = dyn_cast<LogitsOp>(op);
  if (!logits)
    return success();
  auto type = cast<MemRefType>(logits.getBuffer().getType());
  if (type.getRank() != 2 || !type.getElementType().isF32() ||
      type.getDimSize(0) != info.maxLogitRows ||
      type.getDimSize(1) != info.logitsRowStride)
    return logits.emitOpError("is ")
           << type << ", but the artifact's logits are memref<"
           << info.maxLogitRows << "x" << info.logitsRowStride << "xf32>";
  return success();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

LogicalResult StepProgramChecker::checkWeights() {
  for (FragmentOp fragment : base.getOps<FragmentOp>())
    for (WeightOp weight : fragment.getBody().getOps<WeightOp>())
      for (auto [source, offset] : llvm::enumerate(weight.getOffsets()))
        stored.insert({offset, {weight, source}});
  for (FragmentOp fragment : program.getOps<FragmentOp>())
    for (Operation &op : fragment.getBody().getOps()) {
      if (auto weight = dyn_cast<WeightOp>(op))
        if (failed(checkWeight(weight)))
          return failure();
      if (isa<ConstantOp>(op))
        return op.emitOpError("belongs to programs of functions; a step's "
                              "weights are those of the artifact");
    }
  return success();
}

LogicalResult StepProgramChecker::checkWeight(WeightOp weight) {
  for (auto [source, name, offset] :
       llvm::enumerate(weight.getSources(), weight.getOffsets())) {
    auto known = stored.find(offset);
    if (known == stored.end())
      return weight.emitOpError("is at ")
             << offset << ", where no weight of the artifact begins";
    auto [other, number] = known->second;
    if (other.getSources()[number] != name)
      return weight.emitOpError("has ")
             << name << " at " << offset << ", where the artifact has "
             << other.getSources()[number];
    if (other.getLayout() != weight.getLayout() ||
        other.getFormat() != weight.getFormat() ||
        other.getShape() != weight.getShape() ||
        other.getBytes() != weight.getBytes())
      return weight.emitOpError("says of ")
             << name << ": " << weight.getLayout() << " " << weight.getFormat()
             << " [" << weight.getShape() << "], " << weight.getBytes()
             << " bytes; the artifact has it as " << other.getLayout() << " "
             << other.getFormat() << " [" << other.getShape() << "], "
             << other.getBytes() << " bytes";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

std::optional<int64_t> StepProgramChecker::rowsOf(KernelOp kernel,
                                                  size_t number) const {
  auto over = kernel.getParameters().getAs<StringAttr>("over");
  const int64_t rows = over && over.getValue() == "logit_rows"
                           ? info.maxLogitRows
                           : info.tokenBudget;
  // What a mixture of experts has for each token.
  const int64_t places =
      rows * std::clamp<int64_t>(parameter(kernel, "top_k"), 1, 1 << 16);
  const bool isLast = number + 1 == kernel.getOperandTypes().size();
  enum Kind {
    None,
    Rows,
    Select,
    Attention,
    Merge,
    Sort,
    Gather,
    Places,
    Experts,
    Combine
  };
  Kind kind =
      llvm::StringSwitch<Kind>(kernel.getKind())
          .Cases({"rope_angles", "embedding", "rms_norm", "layer_norm"}, Rows)
          .Cases({"softmax", "linear", "quantized_linear"}, Rows)
          .Cases({"round_rows", "elementwise", "rope", "append_kv"}, Rows)
          .Case("moe_route", Rows)
          .Case("quantize_rows", Places)
          .Case("select_rows", Select)
          .Case("paged_attention", Attention)
          .Case("merge_attention", Merge)
          .Case("moe_sort", Sort)
          .Case("moe_gather", Gather)
          .Case("moe_linear", Experts)
          .Case("moe_gate", Places)
          .Case("moe_combine", Combine)
          .Default(None);
  switch (kind) {
  case None:
    return std::nullopt;
  case Rows:
    return rows;
  case Select:
    return isLast ? info.maxLogitRows : info.tokenBudget;
  case Attention: // Queries, then a mask, sinks or partial results, results.
    return number == 0 || isLast ? rows : 1;
  case Merge:
    return isLast ? rows : 1;
  case Sort: // Choices, then lists in one row each.
    return number == 0 ? rows : 1;
  case Gather:
    return number == 0 ? 1 : isLast ? places : rows;
  case Places:
    return places;
  case Experts: // Their places, as many as the inputs have rows.
    return number == 0 ? 1 : rows;
  case Combine:
    return number == 0 ? 1 : number == 2 ? places : rows;
  }
  return std::nullopt;
}

LogicalResult StepProgramChecker::checkKernel(KernelOp kernel) {
  for (auto [number, attribute] : llvm::enumerate(kernel.getOperandTypes())) {
    std::optional<int64_t> rows = rowsOf(kernel, number);
    if (!rows)
      return kernel.emitOpError("is of kind '")
             << kernel.getKind() << "', which the kernels of a step are not";
    auto type = dyn_cast<MemRefType>(cast<TypeAttr>(attribute).getValue());
    if (!type || type.getRank() != 2 || type.getDimSize(0) < *rows)
      return kernel.emitOpError("takes ")
             << attribute << " as buffer " << number
             << ", but the largest step has " << *rows << " rows for it";
  }
  int64_t partial = parameter(kernel, "partial_rows");
  bool merges = kernel.getKind() == "merge_attention";
  if (partial != 0 || merges) {
    // Partial results lie before the results.
    ArrayAttr types = kernel.getOperandTypes();
    auto type = types.size() < 2
                    ? MemRefType()
                    : dyn_cast<MemRefType>(
                          cast<TypeAttr>(types[types.size() - 2]).getValue());
    if (partial < 0 || !type || type.getDimSize(0) < partial)
      return kernel.emitOpError("has ")
             << partial << " rows of partial results and no buffer for them";
  }
  for (Operation &op : kernel.getBody().getOps())
    if (!isa<YieldOp>(op) && (op.getNumRegions() != 0 ||
                              (op.getDialect()->getNamespace() != "arith" &&
                               op.getDialect()->getNamespace() != "math")))
      return op.emitOpError("is no scalar computation of a kernel");
  return checkCache(kernel);
}

/// What a kernel says of the cache is what the runtime makes.
LogicalResult StepProgramChecker::checkCache(KernelOp kernel) {
  auto format = kernel.getParameters().getAs<StringAttr>("kv_format");
  if (!format)
    return success();
  int64_t values = parameter(kernel, "value_dim");
  if (format.getValue() != kvFormatName(info.kvFormat) ||
      parameter(kernel, "kv_heads") != info.numKVHeads ||
      parameter(kernel, "head_dim") != info.headDim ||
      parameter(kernel, "block_size") != info.kvBlockSize ||
      (values != 0 && values != info.headDim))
    return kernel.emitOpError("is for another KV cache than the artifact's, "
                              "which has blocks of ")
           << info.kvBlockSize << " tokens, " << info.numKVHeads << " heads of "
           << info.headDim << " " << kvFormatName(info.kvFormat);
  return success();
}

LogicalResult StepProgramChecker::checkCall(InstructionOp op,
                                            const KernelCall &call) {
  auto kernel = find<KernelOp>(call.kernel);
  if (!kernel)
    return op.emitOpError("calls ")
           << call.kernel << ", which no text fragment declares";
  for (auto [number, name] : llvm::enumerate(call.weights))
    if (failed(checkShape(op, kernel, find<WeightOp>(name), number)))
      return failure();
  return success();
}

/// An embedding's table has a row for every id or position that a step may
/// name.
LogicalResult StepProgramChecker::checkTable(InstructionOp op, KernelOp kernel,
                                             int64_t rows) {
  if (kernel.getKind() != "embedding")
    return success();
  auto tokenIds = kernel.getParameters().getAs<BoolAttr>("token_ids");
  bool positions = tokenIds && !tokenIds.getValue();
  int64_t wanted = positions ? info.contextLength : info.vocabSize;
  if (rows >= wanted)
    return success();
  return op.emitOpError("looks up rows of a table of ")
         << rows << "; there are " << wanted
         << (positions ? " positions" : " tokens");
}

/// The kernel reads of a weight what it says it does: a matrix in its format,
/// or a vector of its length.
LogicalResult StepProgramChecker::checkShape(InstructionOp op, KernelOp kernel,
                                             WeightOp weight, size_t number) {
  ArrayRef<int64_t> shape = weight.getShape();
  int64_t rows = parameter(kernel, "rows"),
          columns = parameter(kernel, "columns"),
          experts = parameter(kernel, "experts");
  auto format = kernel.getParameters().getAs<StringAttr>("format");
  if (format && number == 0) {
    SmallVector<int64_t> wanted{rows, columns};
    if (kernel.getKind() == "moe_linear")
      wanted.insert(wanted.begin(), experts);
    if (shape != ArrayRef(wanted) || weight.getFormat() != format.getValue())
      return op.emitOpError("gives ")
             << kernel.getSymName() << ", which reads " << format.getValue()
             << " [" << wanted << "], a weight of " << weight.getFormat()
             << " [" << shape << "]";
    return checkTable(op, kernel, rows);
  }
  int64_t wanted = format ? rows
                   : kernel.getParameters().get("heads")
                       ? parameter(kernel, "heads")
                       : columns;
  if (shape != ArrayRef(wanted))
    return op.emitOpError("gives ")
           << kernel.getSymName() << ", which reads a vector of " << wanted
           << ", a weight of [" << shape << "]";
  return success();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult StepProgramChecker::checkLayers() {
  // Where a place's label is, and what the register may hold before each op.
  std::vector<Operation *> ops;
  llvm::StringMap<size_t> labels;
  for (Operation &op : code.getBody().front()) {
    if (auto label = dyn_cast<LabelOp>(op))
      labels[label.getName()] = ops.size();
    ops.push_back(&op);
  }
  std::vector<LayerRange> before(ops.size());
  before.front() = {0, 0};
  // What is past all layers is wrong wherever it is used.
  const int64_t past = info.numLayers;
  std::vector<size_t> work{0};
  auto reach = [&](size_t place, LayerRange layers) {
    if (place < ops.size() && before[place].join(layers))
      work.push_back(place);
  };
  while (!work.empty()) {
    size_t place = work.back();
    work.pop_back();
    LayerRange now = before[place];
    if (auto set = dyn_cast<SetLayerOp>(ops[place])) {
      if (static_cast<int64_t>(set.getLayer()) < 0)
        return set.emitOpError("sets a layer before the first one, 0");
      int64_t layer = std::min<uint64_t>(set.getLayer(), past);
      now = {layer, layer};
    } else if (auto next = dyn_cast<JumpNextLayerOp>(ops[place])) {
      if (static_cast<int64_t>(next.getLimit()) < 0)
        return next.emitOpError("has a limit below the first layer, 0");
      int64_t limit = std::min<uint64_t>(next.getLimit(), past + 1);
      LayerRange more{std::min(now.first + 1, past),
                      std::min(now.last + 1, past)};
      reach(labels.lookup(next.getLabel()),
            {more.first, std::min(more.last, limit - 1)});
      now = {std::max(more.first, std::min(limit, past)), more.last};
    } else if (auto always = dyn_cast<JumpOp>(ops[place])) {
      reach(labels.lookup(always.getLabel()), now);
      continue;
    } else if (auto conditional = dyn_cast<JumpIfOp>(ops[place])) {
      reach(labels.lookup(conditional.getLabel()), now);
    }
    reach(place + 1, now);
  }
  for (auto [op, layers] : llvm::zip_equal(ops, before))
    if (!layers.empty() && failed(checkLayersOf(*op, layers)))
      return failure();
  return success();
}

LogicalResult StepProgramChecker::checkLayersOf(Operation &op,
                                                LayerRange layers) {
  auto instruction = dyn_cast<InstructionOp>(op);
  if (!instruction)
    return success();
  auto refuse = [&](const Twine &what, int64_t first, int64_t end) {
    return op.emitOpError("runs for layers ")
           << layers.first << " to " << layers.last << ", but " << what
           << " has layers " << first << " to " << end - 1;
  };
  for (const KernelCall &call : instruction.getCalls()) {
    for (Attribute name : call.weights) {
      auto weight = find<WeightOp>(name);
      int64_t first = weight.getFirstLayer(),
              end = first + static_cast<int64_t>(weight.getOffsets().size());
      if (weight.getOffsets().size() > 1 &&
          (layers.first < first || layers.last >= end))
        return refuse("weight @" + weight.getSymName(), first, end);
    }
    if (find<KernelOp>(call.kernel).getParameters().get("kv_format") &&
        layers.last >= info.numLayers)
      return refuse("the KV cache", 0, info.numLayers);
  }
  return success();
}

LogicalResult checkStepProgram(ModuleOp program, ModuleOp base,
                               const ArtifactInfo &info) {
  return StepProgramChecker(program, base, info).check();
}

} // namespace llmir
