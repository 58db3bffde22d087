//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element-wise ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS_H
#define LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS_H

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

namespace llmir::mllm::detail {
/// The result types of an arithmetic op; either `rhs` or `scalar` is null.
Expected<ResultTypes> arithmeticOf(mlir::Value lhs, mlir::Value rhs,
                                   mlir::FloatAttr scalar);
} // namespace llmir::mllm::detail

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMElementwiseOps.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS_H
