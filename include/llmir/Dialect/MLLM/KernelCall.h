//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel of an instruction of a program.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELCALL_H
#define LLMIR_DIALECT_MLLM_KERNELCALL_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ValueRange.h"

namespace llmir::mllm::program {

/// A kernel that an instruction calls, with what it is called on. Valid as long
/// as the instruction is not changed.
struct KernelCall {
  mlir::FlatSymbolRefAttr kernel;
  llvm::ArrayRef<mlir::Attribute> weights; ///< Symbols, in the kernel's order.
  mlir::OperandRange buffers;              ///< In the kernel's order.
};

} // namespace llmir::mllm::program

#endif // LLMIR_DIALECT_MLLM_KERNELCALL_H
