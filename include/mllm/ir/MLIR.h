//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the node API to MLIR's and back: the one header of it that includes
// MLIR.
//
//   for (mlir::Operation &op : *ir::getModule(*context).getBody()) …
//   ir::op_ptr_t handle = ir::wrap(*context, &op);
//
// MLIR tells nobody about an op that is erased without a rewriter. Whoever
// changes the IR by hand therefore does it with getRewriter(), passes
// getListener() to a driver, or calls forgetOps() afterwards; run() does.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_MLIR_H
#define MLLM_IR_MLIR_H

#include "mllm/ir/IRContext.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

namespace mllm::ir {

// Null for a dead node.
mlir::Operation *getOperation(const op_ptr_t &op);
mlir::Value getValue(const val_ptr_t &value);
mlir::Attribute getAttribute(const attr_ptr_t &attr);
mlir::Region *getRegion(const region_ptr_t &region);

mlir::MLIRContext &getMLIRContext(IRContext &context);
mlir::ModuleOp getModule(IRContext &context);

// The object must belong to the context's module. Null for null.
op_ptr_t wrap(IRContext &context, mlir::Operation *op);
val_ptr_t wrap(IRContext &context, mlir::Value value);
attr_ptr_t wrap(IRContext &context, mlir::Attribute attribute);
region_ptr_t wrap(IRContext &context, mlir::Region *region);

/// Tells the context what it removes.
mlir::IRRewriter &getRewriter(IRContext &context);
mlir::RewriterBase::Listener *getListener(IRContext &context);

/// Makes the handles of all ops, values and regions dead, but for the module's.
void forgetOps(IRContext &context);

/// Runs passes over the module. Passes erase ops without a word, so that all
/// handles are dead afterwards, as forgetOps() makes them; ask for new ones. A
/// failure is the context's status.
bool run(IRContext &context, mlir::PassManager &passes);

/// A context with a module that was made elsewhere. It keeps `mlirContext`,
/// which the module belongs to.
IRContext::ptr_t adopt(std::shared_ptr<mlir::MLIRContext> mlirContext,
                       mlir::OwningOpRef<mlir::ModuleOp> module);

} // namespace mllm::ir

#endif // MLLM_IR_MLIR_H
