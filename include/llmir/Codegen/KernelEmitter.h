//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emitters of a family of targets, by kernel op. Plugins can add emitters
// for the kernel ops of their dialects.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CODEGEN_KERNELEMITTER_H
#define LLMIR_CODEGEN_KERNELEMITTER_H

#include "llmir/Codegen/KernelBuilder.h"

#include "mlir/IR/DialectInterface.h"

#include "llvm/ADT/StringMap.h"

namespace llmir {

/// The emitters of one family of targets.
///
/// Emits the body of a kernel's function: the insertion point is in the entry
/// block, whose arguments are the kernel's operands, and the builder provides
/// the worker's part of the work. The op has been verified. On failure, the
/// emitter has emitted an error at the op.
class KernelEmitters {
public:
  using Emitter = std::function<mlir::LogicalResult(
      KernelBuilder &, mllm::kernel::KernelOpInterface)>;

  /// The emitters for CPUs: those of LLMIR's kernels, and of all loaded
  /// dialects with a `KernelEmitterInterface`.
  static KernelEmitters forCPU(mlir::MLIRContext *context);

  /// Registers the function as the emitter of its kernel op; replaces an
  /// earlier one.
  template <typename OpT>
  void add(mlir::LogicalResult (*emit)(KernelBuilder &, OpT)) {
    emitters[OpT::getOperationName()] =
        [emit](KernelBuilder &kb, mllm::kernel::KernelOpInterface kernel) {
          return emit(kb, mlir::cast<OpT>(kernel.getOperation()));
        };
  }

  /// Returns the emitter of a kernel op, or null.
  const Emitter *find(mlir::Operation *kernel) const {
    auto found = emitters.find(kernel->getName().getStringRef());
    return found == emitters.end() ? nullptr : &found->second;
  }

private:
  llvm::StringMap<Emitter> emitters;
};

/// The interface of dialects with kernel ops: adds their emitters for a family
/// of targets.
class KernelEmitterInterface
    : public mlir::DialectInterface::Base<KernelEmitterInterface> {
public:
  explicit KernelEmitterInterface(mlir::Dialect *dialect) : Base(dialect) {}

  virtual void addCPUEmitters(KernelEmitters &emitters) const = 0;
};

} // namespace llmir

#endif // LLMIR_CODEGEN_KERNELEMITTER_H
