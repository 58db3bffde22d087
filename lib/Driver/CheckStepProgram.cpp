//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that an edited program is compatible with the weights, the buffers and
// the cache of an artifact.
//
//===----------------------------------------------------------------------===//

#include "ProgramInput.h"

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"

#include <map>

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir {

using mllm::kernel::CacheGeometry;
using mllm::kernel::KernelOpInterface;
using mllm::kernel::StatePart;
using mllm::kernel::StepLimits;
using mllm::kernel::WeightNeed;

namespace {
/// The possible values of the layer register; empty if the op is unreachable.
struct LayerRange {
  int64_t first = 0, last = -1;

  bool empty() const { return last < first; }
  /// Joins the other range; returns true if this range has changed.
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
  /// Whether the artifact has a constant of that name and value.
  bool isOfBase(ConstantOp constant);
  LogicalResult checkWeights();
  LogicalResult checkWeight(WeightOp weight);
  LogicalResult checkInstruction(InstructionOp op);
  LogicalResult checkKernel(KernelOpInterface kernel);
  LogicalResult checkRows(KernelOpInterface kernel);
  LogicalResult checkOwnRows(KernelOpInterface kernel);
  LogicalResult checkCache(KernelOpInterface kernel);
  LogicalResult checkWeightsOf(KernelOpInterface kernel);
  LogicalResult checkNeed(KernelOpInterface kernel, const WeightNeed &need);
  LogicalResult checkTable(KernelOpInterface kernel);
  LogicalResult checkLayers();
  LogicalResult checkLayersOf(InstructionOp op, LayerRange layers);
  LogicalResult checkNames();
  /// Whether all layers of the code share the only one of the cache.
  bool sharesCache() const {
    return info.wholeSequences && info.numLayers == 1;
  }
  StepLimits limits() const {
    return {info.tokenBudget, info.maxLogitRows, info.contextLength};
  }

  mutable ModuleOp program;
  ModuleOp base;
  const ArtifactInfo &info;
  FragmentOp code;
  /// The weights of the weight section by offset: a weight and the index of its
  /// source.
  std::map<int64_t, std::pair<WeightOp, size_t>> stored;
};
} // namespace

LogicalResult StepProgramChecker::check() {
  if (failed(checkParts()) || failed(checkNames()) || failed(checkWeights()))
    return failure();
  for (InstructionOp op : code.getBody().getOps<InstructionOp>())
    if (failed(checkInstruction(op)))
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
      return op.emitOpError("is not allowed with the fragments of a program");
    }
    if (fragment.getKind() != FragmentKind::Code)
      continue;
    if (code)
      return fragment.emitOpError("is a second code fragment after '")
             << code.getSymName() << "'; a step has one";
    code = fragment;
  }
  if (!code)
    return program.emitError("the program has no code fragment");
  if (code.getSymName() != "llmir_step")
    return code.emitOpError("is called '")
           << code.getSymName()
           << "', but the runtime calls @llmir_step; rename it";
  if (auto decode = code->getAttrOfType<IntegerAttr>(kDecodeTokensAttr);
      decode && (decode.getInt() < 1 || decode.getInt() > info.tokenBudget))
    return code.emitOpError("has decode_tokens ")
           << decode.getInt() << "; expected 1 to " << info.tokenBudget;
  for (Operation &op : code.getBody().front())
    if (failed(checkCodeOp(op)))
      return failure();
  return success();
}

/// Symbols must be unique across fragments, since instructions reference them
/// without the fragment.
LogicalResult StepProgramChecker::checkNames() {
  llvm::StringMap<Operation *> known;
  for (FragmentOp fragment : program.getOps<FragmentOp>())
    for (Operation &op : fragment.getBody().getOps()) {
      auto name =
          op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
      if (!name || known.try_emplace(name.getValue(), &op).second)
        continue;
      InFlightDiagnostic diag = op.emitOpError("is the second op called '")
                                << name.getValue() << "' in the program";
      diag.attachNote(known[name.getValue()]->getLoc()) << "the first one";
      return diag;
    }
  return success();
}

LogicalResult StepProgramChecker::checkCodeOp(Operation &op) {
  if (isa<InputOp, OutputOp, SetFieldOp, RuntimeCallOp>(op))
    return op.emitOpError("is for programs of functions; a step gets its "
                          "inputs and outputs from the runtime");
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

bool StepProgramChecker::isOfBase(ConstantOp constant) {
  for (FragmentOp fragment : base.getOps<FragmentOp>())
    for (auto known : fragment.getBody().getOps<ConstantOp>())
      if (known.getSymName() == constant.getSymName())
        return known.getValue() == constant.getValue();
  return false;
}

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
      if (auto constant = dyn_cast<ConstantOp>(op);
          constant && !isOfBase(constant))
        return op.emitOpError("is not a constant of the artifact, whose packed "
                              "weights a program uses; leave it as it was");
    }
  return success();
}

LogicalResult StepProgramChecker::checkWeight(WeightOp weight) {
  for (auto [source, name, offset] :
       llvm::enumerate(weight.getSources(), weight.getOffsets())) {
    auto known = stored.find(offset);
    if (known == stored.end())
      return weight.emitOpError("is at ")
             << offset << ", where no weight of the artifact starts";
    auto [other, number] = known->second;
    if (other.getSources()[number] != name)
      return weight.emitOpError("has ")
             << name << " at " << offset << ", where the artifact has "
             << other.getSources()[number];
    if (other.getLayout() != weight.getLayout() ||
        other.getFormat() != weight.getFormat() ||
        other.getShape() != weight.getShape() ||
        other.getBytes() != weight.getBytes())
      return weight.emitOpError("describes ")
             << name << ": " << weight.getLayout() << " " << weight.getFormat()
             << " [" << weight.getShape() << "], " << weight.getBytes()
             << " bytes; in the artifact it is " << other.getLayout() << " "
             << other.getFormat() << " [" << other.getShape() << "], "
             << other.getBytes() << " bytes";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult StepProgramChecker::checkInstruction(InstructionOp op) {
  for (Operation &each : op.getBody().front()) {
    if (auto kernel = dyn_cast<KernelOpInterface>(each)) {
      if (failed(checkKernel(kernel)))
        return failure();
    } else if (isa<CallOp>(each)) {
      return each.emitOpError("calls generated code; expected kernels");
    }
  }
  return success();
}

LogicalResult StepProgramChecker::checkKernel(KernelOpInterface kernel) {
  if (kernel.hasFixedSize() && kernel.getCacheGeometry())
    return kernel->emitOpError(
        "accesses the cache for a fixed number of tokens, as kernels of "
        "functions do; those of a step get theirs from the step");
  if (isa<mllm::kernel::MeanRowsOp>(*kernel) && info.pooling != Pooling::Mean)
    return kernel->emitOpError("takes means of sequences, but the artifact "
                               "yields other rows");
  for (NamedAttribute attribute : kernel->getDiscardableAttrs())
    if (attribute.getName() != kLabelAttr && !attribute.getNameDialect())
      return kernel->emitOpError("has the unknown attribute '")
             << attribute.getName().strref() << "'";
  return success(
      succeeded(checkWeightsOf(kernel)) && succeeded(checkRows(kernel)) &&
      succeeded(checkOwnRows(kernel)) && succeeded(checkCache(kernel)));
}

/// The weight of an operand; null for a buffer.
static GetWeightOp weightOf(OpOperand &operand) {
  return operand.get().getDefiningOp<GetWeightOp>();
}

/// Whether the operand is read as a weight. The op's verifier checks its size.
static bool isWeightOperand(KernelOpInterface kernel, OpOperand &operand) {
  return llvm::any_of(kernel.getWeightNeeds(), [&](const WeightNeed &need) {
    return need.operand == operand.getOperandNumber();
  });
}

LogicalResult StepProgramChecker::checkRows(KernelOpInterface kernel) {
  for (OpOperand &operand : kernel->getOpOperands()) {
    if (isWeightOperand(kernel, operand))
      continue;
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    const int64_t rows = kernel.getRowsOf(operand, limits());
    if (!type || type.getRank() != 2 || type.getDimSize(0) < rows)
      return kernel->emitOpError("takes ")
             << operand.get().getType() << " as operand "
             << operand.getOperandNumber() << ", but the largest step has "
             << rows << " rows for it";
  }
  return success();
}

/// Per-worker buffers have the rows of a decode-sized step.
LogicalResult StepProgramChecker::checkOwnRows(KernelOpInterface kernel) {
  auto decode = code->getAttrOfType<IntegerAttr>(kDecodeTokensAttr);
  if (!decode)
    return success();
  StepLimits inDecodeSteps = limits();
  inDecodeSteps.tokens = std::min(inDecodeSteps.tokens, decode.getInt());
  inDecodeSteps.logitRows = std::min(inDecodeSteps.logitRows, decode.getInt());
  for (OpOperand &operand : kernel->getOpOperands()) {
    auto buffer = operand.get().getDefiningOp<BufferOp>();
    if (!buffer || !buffer.getPerWorker())
      continue;
    const int64_t rows = kernel.getRowsOf(operand, inDecodeSteps);
    const int64_t own = std::min(
        cast<MemRefType>(buffer.getType()).getDimSize(0), decode.getInt());
    if (rows > own)
      return kernel->emitOpError("uses ")
             << rows << " rows of operand " << operand.getOperandNumber()
             << ", which is per_worker and has " << own
             << " in a decode-sized step";
  }
  return success();
}

/// The geometry of a kernel's cache must be that of the runtime's cache, and
/// its state must be within a record.
LogicalResult StepProgramChecker::checkCache(KernelOpInterface kernel) {
  if (std::optional<StatePart> state = kernel.getStatePart();
      state && state->size > info.stateRecordBytes / 4 - state->offset)
    return kernel->emitOpError("keeps ")
           << state->size << " numbers from " << state->offset
           << " on, but a record of the artifact's states has "
           << info.stateRecordBytes / 4;
  std::optional<CacheGeometry> cache = kernel.getCacheGeometry();
  if (!cache)
    return success();
  if (cache->format != llvm::StringRef(kvFormatName(info.kvFormat)) ||
      cache->kvHeads != info.numKVHeads || cache->headDim != info.headDim ||
      cache->valueDim != info.kvLayout().valueDim() ||
      cache->valuesInKeys != (info.valuesInKeys > 0) ||
      cache->blockSize != info.kvBlockSize)
    return kernel->emitOpError("is for another KV cache than the artifact's, "
                               "which has blocks of ")
           << info.kvBlockSize << " tokens, " << info.numKVHeads << " heads of "
           << info.headDim << " " << kvFormatName(info.kvFormat);
  return success();
}

/// Weights may only be passed to weight operands.
LogicalResult StepProgramChecker::checkWeightsOf(KernelOpInterface kernel) {
  for (const WeightNeed &need : kernel.getWeightNeeds())
    if (failed(checkNeed(kernel, need)))
      return failure();
  for (OpOperand &operand : kernel->getOpOperands())
    if (GetWeightOp weight = weightOf(operand);
        weight && !isWeightOperand(kernel, operand))
      return kernel->emitOpError("has the weight ")
             << weight.getWeightAttr() << " as operand "
             << operand.getOperandNumber() << ", which is a buffer";
  return checkTable(kernel);
}

/// The format and the shape of a weight must match: a matrix in its format, or
/// a vector of its length.
LogicalResult StepProgramChecker::checkNeed(KernelOpInterface kernel,
                                            const WeightNeed &need) {
  GetWeightOp get = weightOf(kernel->getOpOperand(need.operand));
  // A vector may also be one row of a buffer.
  if (!get && need.format.empty())
    return success();
  if (!get)
    return kernel->emitOpError("has a buffer as operand ")
           << need.operand << "; a step's weights are those of the artifact";
  auto weight = findWeight(program, get);
  if (weight.getShape() == ArrayRef(need.shape) &&
      (need.format.empty() || weight.getFormat() == need.format))
    return success();
  InFlightDiagnostic diag = kernel->emitOpError("reads ");
  diag << (need.format.empty() ? StringRef("a vector of") : need.format) << " ["
       << ArrayRef(need.shape) << "], and weight " << get.getWeightAttr()
       << " is " << weight.getFormat() << " [" << weight.getShape() << "]";
  return diag;
}

/// The table of an embedding must have a row for every possible id or position
/// of a step.
LogicalResult StepProgramChecker::checkTable(KernelOpInterface kernel) {
  auto embedding = dyn_cast<mllm::kernel::EmbeddingOp>(kernel.getOperation());
  if (!embedding)
    return success();
  const bool byPosition = embedding.getByPosition();
  const auto rows = static_cast<int64_t>(embedding.getRows());
  const int64_t wanted = byPosition ? info.contextLength : info.vocabSize;
  if (rows >= wanted)
    return success();
  return kernel->emitOpError("looks up rows of a table of ")
         << rows << "; there are " << wanted
         << (byPosition ? " positions" : " tokens");
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult StepProgramChecker::checkLayers() {
  // The positions of labels, and the possible values of the register before
  // each op.
  std::vector<Operation *> ops;
  llvm::StringMap<size_t> labels;
  for (Operation &op : code.getBody().front()) {
    if (auto label = dyn_cast<LabelOp>(op))
      labels[label.getName()] = ops.size();
    ops.push_back(&op);
  }
  std::vector<LayerRange> before(ops.size());
  before.front() = {0, 0};
  // Values past all layers are invalid for all uses.
  const int64_t past =
      sharesCache() ? kvMaxLayers : std::max(info.numLayers, info.stateLayers);
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
    if (auto instruction = dyn_cast<InstructionOp>(op);
        instruction && !layers.empty() &&
        failed(checkLayersOf(instruction, layers)))
      return failure();
  return success();
}

LogicalResult StepProgramChecker::checkLayersOf(InstructionOp op,
                                                LayerRange layers) {
  auto refuse = [&](const Twine &what, int64_t first, int64_t end) {
    return op.emitOpError("runs for layers ")
           << layers.first << " to " << layers.last << ", but " << what
           << " has layers " << first << " to " << end - 1;
  };
  for (auto get : op.getBody().getOps<GetWeightOp>()) {
    auto weight = findWeight(program, get);
    int64_t first = weight.getFirstLayer(),
            end = first + static_cast<int64_t>(weight.getOffsets().size());
    if (weight.getOffsets().size() > 1 &&
        (layers.first < first || layers.last >= end))
      return refuse("weight @" + weight.getSymName(), first, end);
  }
  for (KernelOpInterface kernel : kernelsOf(op)) {
    const int64_t cacheLayers = sharesCache() ? kvMaxLayers : info.numLayers;
    if (kernel.getCacheGeometry() && layers.last >= cacheLayers)
      return refuse("the KV cache", 0, cacheLayers);
    auto attention =
        dyn_cast<mllm::kernel::PagedAttentionOp>(kernel.getOperation());
    for (int64_t layer = layers.first;
         attention && !info.windows.empty() && layer <= layers.last; ++layer) {
      const int64_t kept = info.windows[static_cast<size_t>(layer)];
      const auto window = static_cast<int64_t>(attention.getWindow());
      if (kept > 0 && (window == 0 || window > kept))
        return kernel->emitOpError("reads a window of ")
               << window << " tokens (0: all) of layer " << layer
               << ", in which the artifact keeps " << kept;
    }
    if (kernel.getStatePart() && layers.last >= info.stateLayers)
      return refuse("the pool of states", 0, info.stateLayers);
  }
  return success();
}

LogicalResult checkStepProgram(ModuleOp program, ModuleOp base,
                               const ArtifactInfo &info) {
  return StepProgramChecker(program, base, info).check();
}

} // namespace llmir
