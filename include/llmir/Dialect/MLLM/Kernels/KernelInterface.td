//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `KernelOpInterface`: what every user of a kernel asks it. Barriers, the
// memory planner, checks of foreign programs, profiles and emitters know no
// kernel by name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_KERNELINTERFACE
#define LLMIR_DIALECT_MLLM_KERNELS_KERNELINTERFACE

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MLLM_KernelOpInterface : OpInterface<"KernelOpInterface", [MemoryEffectsOpInterface]> {
  let cppNamespace = "::llmir::mllm::kernel";
  let description = [{
    A kernel of the program level: a computation over whole buffers that
    several workers do together. Its operands are memrefs, first the weights,
    then what it reads, then what it writes; their memory effects say which is
    which. The interface says the rest: how the work is divided, which elements
    of each operand a worker touches, how many rows, and which weights and cache
    it needs.

    A worker is a CPU thread or a work group of a GPU; a kernel op does not
    depend on which.
  }];

  let methods = [
    InterfaceMethod<[{
        How the work is divided among workers. Emitters take the range of a
        worker from it and from nowhere else.
      }], "::llmir::mllm::kernel::WorkDivision", "getWorkDivision">,

    InterfaceMethod<[{
        Which elements of the operand a worker touches: those of the division,
        or, without value, any of them. By default a worker writes the elements
        of the kernel's own division and reads any.
      }], "std::optional<::llmir::mllm::kernel::WorkDivision>", "getDivisionOf",
      (ins "::mlir::OpOperand &":$operand), [{}], [{
        ::llmir::mllm::kernel::WorkDivision own = $_op.getWorkDivision();
        if (!own.isKnown() ||
            !::llmir::mllm::kernel::writesOperand($_op.getOperation(), operand))
          return std::nullopt;
        return own;
      }]>,

    InterfaceMethod<[{
        In which steps the kernel touches the operand. By default in all.
      }], "::llmir::mllm::kernel::SplitCondition", "getConditionOf",
      (ins "::mlir::OpOperand &":$operand), [{}], [{
        return ::llmir::mllm::kernel::SplitCondition::Always;
      }]>,

    InterfaceMethod<[{
        How many rows of the operand, from the first on, the kernel touches in a
        step of at most the given sizes. By default those of the row space that
        the kernel works over.
      }], "int64_t", "getRowsOf",
      (ins "::mlir::OpOperand &":$operand,
           "const ::llmir::mllm::kernel::StepLimits &":$limits), [{}], [{
        return limits.rows($_op.getWorkDivision().over);
      }]>,

    InterfaceMethod<[{
        What the kernel reads of each of its weights. By default it has none.
      }], "::llvm::SmallVector<::llmir::mllm::kernel::WeightNeed>",
      "getWeightNeeds", (ins), [{}], [{
        return {};
      }]>,

    InterfaceMethod<[{
        The geometry of the KV cache that the kernel accesses, or nothing. The
        memory effects on `KVCacheResource` say how it does.
      }], "std::optional<::llmir::mllm::kernel::CacheGeometry>",
      "getCacheGeometry", (ins), [{}], [{
        return std::nullopt;
      }]>,

    InterfaceMethod<[{
        Whether the number of rows is in the kernel's attributes rather than in
        the step context. Such kernels belong to functions, not to steps. By
        default those whose work is divided by elements.
      }], "bool", "hasFixedSize", (ins), [{}], [{
        return $_op.getWorkDivision().unit ==
               ::llmir::mllm::kernel::WorkUnit::Elements;
      }]>,
  ];

  let extraSharedClassDeclaration = [{
    /// Whether the kernel may read, or may write, the operand.
    bool readsOperand(::mlir::OpOperand &operand) {
      return ::llmir::mllm::kernel::readsOperand($_op.getOperation(), operand);
    }
    bool writesOperand(::mlir::OpOperand &operand) {
      return ::llmir::mllm::kernel::writesOperand($_op.getOperation(), operand);
    }
    /// Everything that the kernel touches: its operands in order, then the KV
    /// cache.
    ::llvm::SmallVector<::llmir::mllm::kernel::KernelAccess> getAccesses() {
      return ::llmir::mllm::kernel::accessesOf($_op.getOperation());
    }
    /// The scalar region that is applied to elements, or null.
    ::mlir::Block *getScalarRegion() {
      return ::llmir::mllm::kernel::scalarRegionOf($_op.getOperation());
    }
  }];
}

#endif // LLMIR_DIALECT_MLLM_KERNELS_KERNELINTERFACE
