//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The implementation of Tensor, and conversion between its types and MLIR's.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_TENSORIMPL_H
#define LLMIR_LIB_FRONTEND_TENSORIMPL_H

#include "llmir/Frontend/Elements.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace mllm {

class Engine;

namespace detail {

/// Shared by a trace and its tensors, which may outlive it.
struct TraceLife {
  Engine *tracer; ///< Null after the trace has ended.
};

struct TensorImpl {
  llmir::shapes::Shape dims;
  DataTypes dtype = kFp32;
  DeviceTypes device = kCPU;

  std::shared_ptr<TraceLife> trace; ///< Set for traced values.
  mlir::Value value; ///< Null outside a trace, dead after its end.
  std::optional<llmir::reference::Tensor> numbers;

  const char *file = nullptr; ///< Location of the operator; may be null.
  int line = 0;

  /// The active trace of the value, or null.
  Engine *tracer() const { return trace ? trace->tracer : nullptr; }
  /// Whether the value belonged to a trace that has ended.
  bool isStale() const { return trace && !trace->tracer; }
};

} // namespace detail

/// Returns null for unsupported types (kFp64, kUInt8, …).
mlir::Type elementType(mlir::MLIRContext *context, DataTypes dtype);
/// Returns null for a negative size or an unsupported element type.
mlir::RankedTensorType tensorType(mlir::MLIRContext *context,
                                  const llmir::shapes::Shape &dims,
                                  DataTypes dtype, DeviceTypes device);
std::optional<llmir::reference::ElementKind> elementKind(DataTypes dtype);

/// Creates an implementation of this type, to be completed by the caller.
std::shared_ptr<detail::TensorImpl> tensorOf(mlir::RankedTensorType type);

/// Records and prints the first failure of this thread. Returns a null tensor.
Tensor failEagerly(llmir::Status failure);

} // namespace mllm

#endif // LLMIR_LIB_FRONTEND_TENSORIMPL_H
