//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `KernelOpInterface`: the properties of kernels. The synchronization pass, the
// memory planner, the checks of edited programs, profiles and emitters query
// this interface and do not depend on specific kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_KERNELINTERFACE
#define LLMIR_DIALECT_MLLM_KERNELS_KERNELINTERFACE

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MLLM_KernelOpInterface : OpInterface<"KernelOpInterface", [MemoryEffectsOpInterface]> {
  let cppNamespace = "::llmir::mllm::kernel";
  let description = [{
    A kernel of the program level: a computation on whole buffers that is
    divided among workers. Its operands are memrefs: weights, then inputs, then
    outputs, distinguished by their memory effects. The interface specifies how
    the work is divided, which elements and how many rows of each operand a
    worker accesses, and which weights and cache the kernel requires.

    A worker is a CPU thread or a GPU workgroup; kernel ops do not depend on
    which.
  }];

  let methods = [
    InterfaceMethod<[{
        How the work is divided among workers. Emitters must derive the range of
        a worker from it.
      }], "::llmir::mllm::kernel::WorkDivision", "getWorkDivision">,

    InterfaceMethod<[{
        The elements of the operand that a worker accesses: those of the
        returned division, or any if there is none. By default, a worker writes
        the elements of its part of the kernel's work division and reads any.
      }], "std::optional<::llmir::mllm::kernel::WorkDivision>", "getDivisionOf",
      (ins "::mlir::OpOperand &":$operand), [{}], [{
        ::llmir::mllm::kernel::WorkDivision own = $_op.getWorkDivision();
        if (!own.isKnown() ||
            !::llmir::mllm::kernel::writesOperand($_op.getOperation(), operand))
          return std::nullopt;
        return own;
      }]>,

    InterfaceMethod<[{
        The steps in which the kernel accesses the operand. By default, all.
      }], "::llmir::mllm::kernel::SplitCondition", "getConditionOf",
      (ins "::mlir::OpOperand &":$operand), [{}], [{
        return ::llmir::mllm::kernel::SplitCondition::Always;
      }]>,

    InterfaceMethod<[{
        The number of leading rows of the operand that the kernel accesses in a
        step of at most the given sizes. By default, those of the row space that
        the kernel processes.
      }], "int64_t", "getRowsOf",
      (ins "::mlir::OpOperand &":$operand,
           "const ::llmir::mllm::kernel::StepLimits &":$limits), [{}], [{
        return limits.rows($_op.getWorkDivision().over);
      }]>,

    InterfaceMethod<[{
        The requirements on the weights of the kernel. By default, it has no
        weights.
      }], "::llvm::SmallVector<::llmir::mllm::kernel::WeightNeed>",
      "getWeightNeeds", (ins), [{}], [{
        return {};
      }]>,

    InterfaceMethod<[{
        The geometry of the KV cache that the kernel accesses, if any. The
        memory effects on `KVCacheResource` specify the kind of access.
      }], "std::optional<::llmir::mllm::kernel::CacheGeometry>",
      "getCacheGeometry", (ins), [{}], [{
        return std::nullopt;
      }]>,

    InterfaceMethod<[{
        The part of the layer's record in the pool of states that the kernel
        uses, if any.
      }], "std::optional<::llmir::mllm::kernel::StatePart>",
      "getStatePart", (ins), [{}], [{
        return std::nullopt;
      }]>,

    InterfaceMethod<[{
        Whether the number of rows is given by the kernel's attributes instead
        of the step context. In a step, such kernels compute values that are the
        same for all tokens. By default, true if the work is divided by
        elements.
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
    /// All accesses of the kernel: its operands in order, then the KV cache.
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
