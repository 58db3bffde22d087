//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a Tensor is a handle of, and between its types and MLIR's.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_TENSORIMPL_H
#define LLMIR_LIB_FRONTEND_TENSORIMPL_H

#include "llmir/Reference/Tensor.h"
#include "mllm/Tensor.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace mllm {

class Engine;

namespace detail {

/// Shared by a trace and the tensors that it made, which may outlive it.
struct TraceLife {
  Engine *tracer; ///< Null when the trace has ended.
};

struct TensorImpl {
  llmir::shapes::Shape dims;
  DataTypes dtype = kFp32;
  DeviceTypes device = kCPU;

  std::shared_ptr<TraceLife> trace; ///< Of a traced value; else null.
  mlir::Value value; ///< Null outside a trace, dead when the trace has ended.
  std::optional<llmir::reference::Tensor> numbers;

  const char *file = nullptr; ///< Where an operator made it; may be null.
  int line = 0;

  /// The trace that goes on and that the value belongs to, or null.
  Engine *tracer() const { return trace ? trace->tracer : nullptr; }
  /// Whether the value belonged to a trace that has ended.
  bool isStale() const { return trace && !trace->tracer; }
};

} // namespace detail

/// Null for a type that LLMIR computes nothing in (kFp64, kUInt8, …).
mlir::Type elementType(mlir::MLIRContext *context, DataTypes dtype);
/// Null for a shape that says less than nothing, or an element type as above.
mlir::RankedTensorType tensorType(mlir::MLIRContext *context,
                                  const llmir::shapes::Shape &dims,
                                  DataTypes dtype, DeviceTypes device);
std::optional<llmir::reference::ElementKind> elementKind(DataTypes dtype);

/// A handle of what is filled in by the caller, of this type.
std::shared_ptr<detail::TensorImpl> tensorOf(mlir::RankedTensorType type);
Tensor numbersOf(llmir::reference::Tensor numbers, DeviceTypes device = kCPU);

/// Keeps the first failure of this thread, and prints it. Gives a null tensor.
Tensor failEagerly(llmir::Status failure);

} // namespace mllm

#endif // LLMIR_LIB_FRONTEND_TENSORIMPL_H
