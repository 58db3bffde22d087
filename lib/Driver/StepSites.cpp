//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepSites.h"

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Support/IntegerLayout.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir {

using mllm::kernel::KernelOpInterface;

/// Size in bytes of one row of `columns` in a format of the checkpoint, or in a
/// quantization scheme: integers and scales without padding.
static int64_t sourceRowBytes(StringRef formatName, int64_t columns) {
  std::optional<TensorFormat> stored =
      tensorFormatFromName(std::string_view(formatName));
  std::optional<IntegerFormat> integers =
      IntegerFormat::fromName(std::string_view(formatName));
  static constexpr TensorFormat formats[] = {
#define LLMIR_TENSOR_FORMAT(Enum, ...) TensorFormat::Enum,
#include "llmir/Support/TensorFormats.def"
  };
  for (TensorFormat format : formats)
    if (integers && IntegerFormat::ofBlocks(format) == integers)
      stored = format;
  if (stored) {
    const TensorFormatInfo &info = tensorFormatInfo(*stored);
    return llvm::divideCeil(columns, info.valuesPerBlock) * info.bytesPerBlock;
  }
  if (!integers)
    return 0;
  return IntegerMatrixLayout{*integers, kTileRows, columns}.tileBytes() /
         kTileRows;
}

namespace {
class SiteReader {
public:
  SiteReader(ModuleOp module, int64_t tokenBudget)
      : module(module), tokenBudget(tokenBudget) {}

  void read(Operation &op);
  std::vector<StepSite> take() { return std::move(sites); }

private:
  StepSite describe(KernelOpInterface kernel);
  void addWeight(StepSite &site, WeightOp weight, KernelOpInterface user);

  ModuleOp module;
  int64_t tokenBudget;
  std::vector<StepSite> sites;
  int64_t layer = 0;                  ///< The layer register.
  llvm::StringMap<size_t> firstSites; ///< The first site after each label.
};
} // namespace

/// The element type of the activations of the kernel's matmuls.
static std::string inputsOf(KernelOpInterface kernel, StringRef weightFormat) {
  // Kernels with segments take integer activations.
  if (kernel->hasAttr("segment"))
    return "int8";
  return weightFormat == "bf16" ? "bf16" : "f32";
}

void SiteReader::addWeight(StepSite &site, WeightOp weight,
                           KernelOpInterface user) {
  ArrayRef<int64_t> shape = weight.getShape();
  if (shape.size() < 2) {
    site.sourceBytes += weight.getBytes();
    site.packedBytes += weight.getBytes();
    return;
  }
  int64_t matrices = shape.size() == 3 ? shape[0] : 1;
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  site.sourceBytes +=
      matrices * rows * sourceRowBytes(weight.getFormat(), columns);
  site.packedBytes += weight.getBytes();
  if (shape.size() == 3 && columns == 1) // Biases of experts.
    return;
  const bool usesAll = matrices == 1 || isa<mllm::kernel::HeadLinearOp>(user);
  site.products += (usesAll ? matrices : 1) * rows * columns;
  site.inputs = inputsOf(user, weight.getFormat());
  if (usesAll)
    return;
  // The kernel's rows are (token, choice) pairs.
  auto places = cast<MemRefType>(user->getOperands().back().getType());
  site.experts = matrices;
  site.chosen =
      std::clamp<int64_t>(places.getDimSize(0) / tokenBudget, 1, matrices);
  site.products *= site.chosen;
}

StepSite SiteReader::describe(KernelOpInterface kernel) {
  StepSite site;
  site.name = labelOf(kernel).str();
  site.kind = kernel->getName().stripDialect().rsplit('.').second.str();
  site.logitRows =
      kernel.getWorkDivision().over == mllm::kernel::RowSpace::LogitRows;
  // An embedding reads one row per token.
  if (isa<mllm::kernel::EmbeddingOp>(kernel))
    return site;
  for (Value operand : kernel->getOperands())
    if (auto weight = operand.getDefiningOp<GetWeightOp>())
      addWeight(site, findWeight(module, weight), kernel);
  return site;
}

void SiteReader::read(Operation &op) {
  if (auto set = dyn_cast<SetLayerOp>(op)) {
    layer = set.getLayer();
  } else if (auto label = dyn_cast<LabelOp>(op)) {
    firstSites[label.getName()] = sites.size();
  } else if (auto jump = dyn_cast<JumpNextLayerOp>(op)) {
    for (StepSite &site : llvm::MutableArrayRef(sites).drop_front(
             firstSites.lookup(jump.getLabel()))) {
      site.calls = std::max<int64_t>(jump.getLimit() - layer, 1);
      site.inLayerRun = true;
    }
    layer = jump.getLimit();
  } else if (auto instruction = dyn_cast<InstructionOp>(op)) {
    for (KernelOpInterface kernel : kernelsOf(instruction))
      sites.push_back(describe(kernel));
  } else if (numTraceSites(op) == 1) {
    StepSite site;
    auto call = dyn_cast<RuntimeCallOp>(op);
    site.name =
        call ? runtimeFunctionName(call.getRuntimeFunction()) : "barrier";
    site.kind = site.name;
    sites.push_back(site);
  }
}

std::vector<StepSite> describeStepSites(ModuleOp module, int64_t tokenBudget) {
  SiteReader reader(module, tokenBudget);
  for (FragmentOp fragment : module.getOps<FragmentOp>())
    if (fragment.getKind() == FragmentKind::Code)
      for (Operation &op : fragment.getBody().front())
        reader.read(op);
  return reader.take();
}

} // namespace llmir
