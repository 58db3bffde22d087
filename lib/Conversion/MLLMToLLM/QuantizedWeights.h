//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `mllm.quant.weights` on a product comes to: the recipe pass writes it,
// and nothing else says how the compiler quantizes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_QUANTIZEDWEIGHTS_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_QUANTIZEDWEIGHTS_H

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/IR/Builders.h"

namespace llmir {

/// Gives parameters the block formats that annotations name: their types
/// change, values are rounded when they are packed. Fails, with a diagnostic,
/// where an annotation asks for what cannot be stored.
mlir::LogicalResult storeQuantizedWeights(mlir::ModuleOp module);

/// x * transposed(weight) + bias (may be null), where `builder` stands, with
/// the weight quantized as `op` says. Fails, with a diagnostic, where that
/// cannot be stored.
mlir::FailureOr<mlir::Value>
createAnnotatedProduct(mlir::OpBuilder &builder, mllm::LinearOp op,
                       mlir::Value x, mlir::Value weight, mlir::Value bias);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_QUANTIZEDWEIGHTS_H
