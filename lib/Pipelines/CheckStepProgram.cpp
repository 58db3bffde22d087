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
#include "StepKernelNeeds.h"

#include "llmir/Dialect/MLLM/KernelSpec.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

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
  LogicalResult checkNames();
  LogicalResult checkRegion(KernelOp kernel);
  LogicalResult checkOwnRows(InstructionOp op, const KernelCall &call,
                             KernelOp kernel);
  StepLimits limits() const {
    return {info.tokenBudget, info.maxLogitRows, info.contextLength};
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
  if (failed(checkParts()) || failed(checkNames()) || failed(checkWeights()))
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

/// What an instruction names is one thing, in whichever fragment it stands.
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

LogicalResult StepProgramChecker::checkKernel(KernelOp kernel) {
  for (NamedAttribute parameter : kernel.getParameters())
    if (auto number = dyn_cast<IntegerAttr>(parameter.getValue());
        number && !isa<BoolAttr>(number) &&
        !number.getType().isSignlessInteger(64))
      return kernel.emitOpError("parameter '")
             << parameter.getName().strref() << "' is " << number
             << ", expected an integer of type i64";
  FailureOr<StepKernelNeeds> needs = needsOf(kernel, limits());
  if (failed(needs))
    return failure();
  if (needs->rows.size() != kernel.getOperandTypes().size())
    return kernel.emitOpError("takes ")
           << kernel.getOperandTypes().size() << " buffers, its kind "
           << needs->rows.size();
  for (auto [number, attribute, rows] :
       llvm::enumerate(kernel.getOperandTypes(), needs->rows)) {
    auto type = dyn_cast<MemRefType>(cast<TypeAttr>(attribute).getValue());
    if (!type || type.getRank() != 2 || type.getDimSize(0) < rows)
      return kernel.emitOpError("takes ")
             << attribute << " as buffer " << number
             << ", but the largest step has " << rows << " rows for it";
  }
  return failed(checkRegion(kernel)) ? failure() : checkCache(kernel);
}

/// A number that code can be made for.
static bool isScalar(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? integer.getWidth() <= 64
                 : isa<Float16Type, BFloat16Type, Float32Type, Float64Type,
                       IndexType>(type);
}

/// Ops that do nothing but compute, for any operands: a division by zero would
/// end the process.
LogicalResult StepProgramChecker::checkRegion(KernelOp kernel) {
  for (Operation &op : kernel.getBody().getOps())
    if (!isa<YieldOp>(op) && (op.getNumRegions() != 0 || !isPure(&op) ||
                              (op.getDialect()->getNamespace() != "arith" &&
                               op.getDialect()->getNamespace() != "math") ||
                              !llvm::all_of(op.getResultTypes(), isScalar)))
      return op.emitOpError("is no scalar computation of a kernel");
  return success();
}

/// What a kernel says of the cache is what the runtime makes.
LogicalResult StepProgramChecker::checkCache(KernelOp kernel) {
  auto format = kernel.getParameters().getAs<StringAttr>("kv_format");
  if (!format)
    return success();
  int64_t values = kernelParameter(kernel, "value_dim");
  if (format.getValue() != kvFormatName(info.kvFormat) ||
      kernelParameter(kernel, "kv_heads") != info.numKVHeads ||
      kernelParameter(kernel, "head_dim") != info.headDim ||
      kernelParameter(kernel, "block_size") != info.kvBlockSize ||
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
  FailureOr<StepKernelNeeds> needs = needsOf(kernel, limits());
  if (failed(needs) || failed(checkOwnRows(op, call, kernel)))
    return failure();
  if (needs->weights != static_cast<int64_t>(call.weights.size()))
    return op.emitOpError("gives ")
           << call.weights.size() << " weights to " << call.kernel
           << ", which takes " << needs->weights
           << "; a step's weights are those of the artifact";
  for (auto [number, name] : llvm::enumerate(call.weights))
    if (failed(checkShape(op, kernel, find<WeightOp>(name), number)))
      return failure();
  return success();
}

/// What each worker has for itself has the rows of a step of few tokens.
LogicalResult StepProgramChecker::checkOwnRows(InstructionOp op,
                                               const KernelCall &call,
                                               KernelOp kernel) {
  auto few = code->getAttrOfType<IntegerAttr>(kFewTokensAttr);
  if (!few)
    return success();
  StepLimits ofFew = limits();
  ofFew.tokens = std::min(ofFew.tokens, few.getInt());
  ofFew.logitRows = std::min(ofFew.logitRows, few.getInt());
  FailureOr<StepKernelNeeds> needs = needsOf(kernel, ofFew);
  if (failed(needs))
    return failure();
  for (auto [number, value, rows] :
       llvm::enumerate(call.buffers, needs->rows)) {
    auto buffer = value.getDefiningOp<BufferOp>();
    if (!buffer || !buffer.getPerWorker())
      continue;
    int64_t own =
        std::min(cast<MemRefType>(value.getType()).getDimSize(0), few.getInt());
    if (rows > own)
      return op.emitOpError("uses ")
             << rows << " rows of buffer " << number << " of " << call.kernel
             << ", which is per_worker and has " << own
             << " in a step of few tokens";
  }
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
  int64_t rows = kernelParameter(kernel, "rows"),
          columns = kernelParameter(kernel, "columns"),
          experts = kernelParameter(kernel, "experts");
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
                       ? kernelParameter(kernel, "heads")
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
