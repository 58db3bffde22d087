//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers of the program level.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLM.h"

using namespace mlir;

namespace llmir::mllm::program {

//===----------------------------------------------------------------------===//
// FragmentOp
//===----------------------------------------------------------------------===//

/// c1: buffers, then one entry_point, then code that ends with exit.
static LogicalResult verifyCode(FragmentOp fragment) {
  Block &block = fragment.getBody().front();
  int64_t entries = 0;
  for (Operation &op : block) {
    if (isa<EntryPointOp>(op))
      ++entries;
    else if (entries == 0 && !isa<BufferOp, LogitsOp>(op))
      return op.emitOpError("stands before the entry_point of code fragment '")
             << fragment.getSymName() << "', where only buffers may";
  }
  if (entries != 1)
    return fragment.emitOpError("code needs one entry_point, found ")
           << entries;
  if (!isa<ExitOp>(block.back()))
    return fragment.emitOpError("code must end with mllm.program.exit");
  return success();
}

template <typename... Allowed>
static LogicalResult verifyHoldsOnly(FragmentOp fragment, StringRef what) {
  for (Operation &op : fragment.getBody().front())
    if (!isa<Allowed...>(op))
      return op.emitOpError("cannot stand in a fragment of ")
             << stringifyFragmentKind(fragment.getKind()) << ", which holds "
             << what << " only";
  return success();
}

LogicalResult FragmentOp::verify() {
  if (getKind() == FragmentKind::Code) {
    if (getBody().front().empty())
      return emitOpError("code needs one entry_point, found 0");
    return verifyCode(*this);
  }
  if (getKind() == FragmentKind::Data)
    return verifyHoldsOnly<WeightOp>(*this, "mllm.program.weight");
  return verifyHoldsOnly<KernelOp>(*this, "mllm.program.kernel");
}

//===----------------------------------------------------------------------===//
// WeightOp
//===----------------------------------------------------------------------===//

LogicalResult WeightOp::verify() {
  if (getOffsets().empty() || getOffsets().size() != getSources().size())
    return emitOpError("has ")
           << getSources().size() << " sources and " << getOffsets().size()
           << " offsets; each source needs one offset, and one is the least";
  for (int64_t offset : getOffsets())
    if (offset < 0 || offset % 64 != 0)
      return emitOpError("offset ")
             << offset << " is not a non-negative multiple of 64";
  return success();
}

//===----------------------------------------------------------------------===//
// JumpNextLayerOp
//===----------------------------------------------------------------------===//

LogicalResult JumpNextLayerOp::verify() {
  for (LabelOp label : (*this)->getBlock()->getOps<LabelOp>())
    if (label.getName() == getLabel())
      return success();
  return emitOpError("jumps to label \"")
         << getLabel() << "\", which this fragment lacks";
}

//===----------------------------------------------------------------------===//
// InstructionOp
//===----------------------------------------------------------------------===//

/// Looks a symbol up in every fragment of the enclosing module.
template <typename SymbolOp>
static SymbolOp lookupInFragments(SymbolTableCollection &tables,
                                  ModuleOp module, FlatSymbolRefAttr name) {
  for (FragmentOp fragment : module.getOps<FragmentOp>())
    if (auto op = tables.lookupSymbolIn<SymbolOp>(fragment, name.getAttr()))
      return op;
  return nullptr;
}

LogicalResult InstructionOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  for (auto name : getWeights().getAsRange<FlatSymbolRefAttr>())
    if (!lookupInFragments<WeightOp>(tables, module, name))
      return emitOpError("uses weight ")
             << name << ", which no data fragment declares";
  auto kernel = lookupInFragments<KernelOp>(tables, module, getKernelAttr());
  if (!kernel) {
    // Emitted kernels are functions; their signature says what they take.
    if (tables.lookupSymbolIn(module, getKernelAttr().getAttr()))
      return success();
    return emitOpError("calls kernel ")
           << getKernelAttr()
           << ", which neither a text fragment nor the module defines";
  }
  ArrayAttr expected = kernel.getOperandTypes();
  if (expected.size() != getBuffers().size())
    return emitOpError("passes ")
           << getBuffers().size() << " buffers to " << getKernelAttr()
           << ", which takes " << expected.size();
  for (auto [index, buffer, type] :
       llvm::enumerate(getBuffers(), expected.getAsValueRange<TypeAttr>()))
    if (buffer.getType() != type)
      return emitOpError("buffer ")
             << index << " is " << buffer.getType() << ", but "
             << getKernelAttr() << " takes " << type;
  return success();
}

} // namespace llmir::mllm::program
