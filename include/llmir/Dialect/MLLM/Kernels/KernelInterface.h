//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `KernelOpInterface` and helpers of its default implementations.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_KERNELINTERFACE_H
#define LLMIR_DIALECT_MLLM_KERNELS_KERNELINTERFACE_H

#include "llmir/Dialect/MLLM/Kernels/KernelAccess.h"

#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace llmir::mllm::kernel {

/// The KV cache of the step, which kernels access through the step context.
struct KVCacheResource : mlir::SideEffects::Resource::Base<KVCacheResource> {
  llvm::StringRef getName() final { return "KVCache"; }
};

/// The pool of the states of layers. A worker accesses only the elements of a
/// state that it is given by the division of the kernel, the only one that uses
/// that part of the layer's record.
struct StatePoolResource
    : mlir::SideEffects::Resource::Base<StatePoolResource> {
  llvm::StringRef getName() final { return "StatePool"; }
};

/// Whether the op may read, or write, the operand, according to its memory
/// effects.
bool readsOperand(mlir::Operation *op, mlir::OpOperand &operand);
bool writesOperand(mlir::Operation *op, mlir::OpOperand &operand);

/// See KernelOpInterface::getAccesses and getScalarRegion.
llvm::SmallVector<KernelAccess> accessesOf(mlir::Operation *op);
mlir::Block *scalarRegionOf(mlir::Operation *op);

} // namespace llmir::mllm::kernel

#include "llmir/Dialect/MLLM/Kernels/KernelInterface.h.inc"

#endif // LLMIR_DIALECT_MLLM_KERNELS_KERNELINTERFACE_H
