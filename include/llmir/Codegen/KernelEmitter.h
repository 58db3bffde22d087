//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emitters of a family of targets, by kernel op. A dialect of a plugin adds
// those of its own kernel ops.
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
/// An emitter writes the body of a kernel's function: the builder is in the
/// entry block, its arguments are the kernel's operands, and it knows which
/// part of the work is the worker's. The op has been verified. An emitter that
/// fails has reported why at the op.
class KernelEmitters {
public:
  using Emitter = std::function<mlir::LogicalResult(
      KernelBuilder &, mllm::kernel::KernelOpInterface)>;

  /// Those for CPUs: of LLMIR's own kernels, and of the dialects that are
  /// loaded in the context and have a `KernelEmitterInterface`.
  static KernelEmitters forCPU(mlir::MLIRContext *context);

  /// Makes the function the emitter of its kernel op, in place of any earlier
  /// one.
  template <typename OpT>
  void add(mlir::LogicalResult (*emit)(KernelBuilder &, OpT)) {
    emitters[OpT::getOperationName()] =
        [emit](KernelBuilder &kb, mllm::kernel::KernelOpInterface kernel) {
          return emit(kb, mlir::cast<OpT>(kernel.getOperation()));
        };
  }

  /// The emitter of a kernel op, or null.
  const Emitter *find(mlir::Operation *kernel) const {
    auto found = emitters.find(kernel->getName().getStringRef());
    return found == emitters.end() ? nullptr : &found->second;
  }

private:
  llvm::StringMap<Emitter> emitters;
};

/// The interface of a dialect with kernel ops of its own: it adds their
/// emitters, one family of targets at a time.
class KernelEmitterInterface
    : public mlir::DialectInterface::Base<KernelEmitterInterface> {
public:
  explicit KernelEmitterInterface(mlir::Dialect *dialect) : Base(dialect) {}

  virtual void addCPUEmitters(KernelEmitters &emitters) const = 0;
};

} // namespace llmir

#endif // LLMIR_CODEGEN_KERNELEMITTER_H
