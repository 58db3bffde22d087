//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that compute value by value.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS_H
#define LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS_H

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

namespace llmir::mllm::detail {
/// The results of an arithmetic op, one of `rhs` and `scalar` being null.
Expected<ResultTypes> arithmeticOf(mlir::Value lhs, mlir::Value rhs,
                                   mlir::FloatAttr scalar);
} // namespace llmir::mllm::detail

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMElementwiseOps.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS_H
