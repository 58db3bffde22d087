//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramAccesses.h"

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir::mllm {

//===----------------------------------------------------------------------===//
// The step context
//===----------------------------------------------------------------------===//

void StepFields::set(SetFieldOp op) {
  StepField field = op.getStepField();
  StepCount count;
  if (std::optional<uint64_t> value = op.getValue())
    count.number = static_cast<int64_t>(*value);
  if (field == StepField::num_tokens)
    tokens = count;
  else if (field == StepField::num_logit_rows)
    logitRows = count;
  else if (field == StepField::kv_pool)
    hasCallersPool = op.getRestored();
  pointers.erase(field);
  if (op.getBuffer())
    pointers[field].insert(op.getBuffer());
}

bool StepFields::include(const StepFields &other, LabelOp label) {
  bool isNews = other.hasCallersPool && !hasCallersPool;
  hasCallersPool |= other.hasCallersPool;
  for (StepCount StepFields::*count :
       {&StepFields::tokens, &StepFields::logitRows}) {
    StepCount &own = this->*count;
    if (own == other.*count || own.label == label.getOperation())
      continue;
    own = {-1, label};
    isNews = true;
  }
  for (const auto &[field, buffers] : other.pointers)
    for (Value buffer : buffers)
      isNews |= pointers[field].insert(buffer);
  return isNews;
}

namespace {
/// Data-flow analysis of the step context in a code fragment.
class FieldTracker {
public:
  explicit FieldTracker(FragmentOp code) : code(code) {
    for (auto label : code.getBody().getOps<LabelOp>())
      labels[label.getName()] = label;
    // Iterates to a fixed point. Terminates: counts become unknown at most once
    // for each label, and the number of buffers is finite.
    do {
      isNews = false;
      go([](Operation &, const StepFields &) {});
    } while (isNews);
  }

  void go(llvm::function_ref<void(Operation &, const StepFields &)> visit);

private:
  void arrive(StringRef label, const StepFields &fields) {
    auto [entry, isFirst] = arriving.try_emplace(label, fields);
    isNews |= isFirst || entry->second.include(fields, labels.lookup(label));
  }

  FragmentOp code;
  llvm::StringMap<LabelOp> labels;
  llvm::StringMap<StepFields> arriving; ///< The state at each label.
  bool isNews = false;
};
} // namespace

void FieldTracker::go(
    llvm::function_ref<void(Operation &, const StepFields &)> visit) {
  std::optional<StepFields> here = StepFields();
  for (Operation &op : code.getBody().front()) {
    if (auto label = dyn_cast<LabelOp>(op)) {
      if (here)
        arrive(label.getName(), *here);
      here.reset();
      if (auto known = arriving.find(label.getName()); known != arriving.end())
        here = known->second;
    }
    // The accesses of unreachable code do not matter; it gets the caller's
    // state.
    visit(op, here ? *here : StepFields());
    if (!here)
      continue;
    if (auto set = dyn_cast<SetFieldOp>(op)) {
      here->set(set);
    } else if (auto next = dyn_cast<JumpNextLayerOp>(op)) {
      arrive(next.getLabel(), *here);
    } else if (auto conditional = dyn_cast<JumpIfOp>(op)) {
      arrive(conditional.getLabel(), *here);
    } else if (auto jump = dyn_cast<JumpOp>(op)) {
      arrive(jump.getLabel(), *here);
      here.reset();
    }
  }
}

void forEachWithFields(
    FragmentOp code,
    llvm::function_ref<void(Operation &, const StepFields &)> visit) {
  FieldTracker(code).go(visit);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Whether a function of the runtime reads or writes the KV cache or its block
/// tables.
static bool touchesCache(RuntimeFunction function) {
  switch (function) {
  case RuntimeFunction::reserve_kv:
  case RuntimeFunction::find_kv:
  case RuntimeFunction::fork_kv:
  case RuntimeFunction::free_kv:
    return true;
  case RuntimeFunction::barrier:
  case RuntimeFunction::check_kv:
  case RuntimeFunction::check_slots:
  case RuntimeFunction::sample:
  case RuntimeFunction::trace:
    return false;
  }
  llvm_unreachable("not a function of the runtime");
}

SmallVector<ProgramAccess> accessesOf(kernel::KernelOpInterface kernel,
                                      const StepFields &fields) {
  SmallVector<ProgramAccess> touched;
  for (const kernel::KernelAccess &access : kernel.getAccesses()) {
    if (!access.buffer) { // Two kernels may assign a slot to different rows.
      if (fields.hasCallersPool)
        touched.push_back(
            {Value(), access.reads, access.writes, std::nullopt, {}});
      if (auto pools = fields.pointers.find(StepField::kv_pool);
          pools != fields.pointers.end())
        for (Value pool : pools->second)
          touched.push_back(
              {pool, access.reads, access.writes, std::nullopt, {}});
      continue;
    }
    if (access.buffer.getDefiningOp<GetWeightOp>())
      continue; // Weights are read-only.
    StepCount rows;
    if (access.division)
      rows = fields.rows(access.division->over);
    touched.push_back({access.buffer, access.reads, access.writes,
                       access.division, rows, access.condition});
  }
  for (const auto &[field, buffers] : fields.pointers)
    if (field != StepField::kv_pool)
      for (Value buffer : buffers)
        touched.push_back(ProgramAccess::reading(buffer));
  return touched;
}

SmallVector<ProgramAccess> accessesOf(Operation &op, const StepFields &fields) {
  SmallVector<ProgramAccess> touched;
  if (auto instruction = dyn_cast<InstructionOp>(op)) {
    for (kernel::KernelOpInterface kernel : kernelsOf(instruction))
      llvm::append_range(touched, accessesOf(kernel, fields));
  } else if (auto call = dyn_cast<RuntimeCallOp>(op)) {
    for (Value buffer : call.getBuffers())
      touched.push_back({buffer, true, true, std::nullopt, {}});
    if (touchesCache(call.getRuntimeFunction()))
      touched.push_back({Value(), true, true, std::nullopt, {}});
  }
  return touched;
}

} // namespace llmir::mllm
