//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowering of `mllm.quant.weights`, the annotation of products by the
// recipe pass, which alone determines how the compiler quantizes weights.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_MLLMTOLLM_QUANTIZEDWEIGHTS_H
#define LLMIR_LIB_CONVERSION_MLLMTOLLM_QUANTIZEDWEIGHTS_H

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/IR/Builders.h"

namespace llmir {

/// Changes the types of parameters to the block formats of annotations; values
/// are rounded when they are packed. Fails, with a diagnostic, if an annotation
/// has an unsupported format.
mlir::LogicalResult storeQuantizedWeights(mlir::ModuleOp module);

/// Creates x * transposed(weight) + bias (may be null), with the weight
/// quantized as annotated on `op`. Fails, with a diagnostic, if the format is
/// not supported.
mlir::FailureOr<mlir::Value>
createAnnotatedProduct(mlir::OpBuilder &builder, mllm::LinearOp op,
                       mlir::Value x, mlir::Value weight, mlir::Value bias);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_MLLMTOLLM_QUANTIZEDWEIGHTS_H
