//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion between the node API and MLIR; the only header of the API that
// includes MLIR.
//
//   for (mlir::Operation &op : *ir::getModule(*context).getBody()) …
//   ir::op_ptr_t handle = ir::wrap(*context, &op);
//
// MLIR does not notify of ops that are erased without a rewriter. Clients that
// modify the IR must therefore use getRewriter(), pass getListener() to a
// driver, or call forgetOps() afterwards, as run() does.
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

// Returns the handle of an object of the context's module. Null for null.
op_ptr_t wrap(IRContext &context, mlir::Operation *op);
val_ptr_t wrap(IRContext &context, mlir::Value value);
attr_ptr_t wrap(IRContext &context, mlir::Attribute attribute);
region_ptr_t wrap(IRContext &context, mlir::Region *region);

/// A rewriter that notifies the context of removed objects.
mlir::IRRewriter &getRewriter(IRContext &context);
mlir::RewriterBase::Listener *getListener(IRContext &context);

/// Marks the handles of all ops, values and regions as dead, except that of the
/// module.
void forgetOps(IRContext &context);

/// Runs passes over the module. All handles are dead afterwards, as after
/// forgetOps(), since passes erase ops without notification. Sets the context's
/// status on failure.
bool run(IRContext &context, mlir::PassManager &passes);

/// Creates a context for an existing module of `mlirContext`, which it keeps
/// alive.
IRContext::ptr_t adopt(std::shared_ptr<mlir::MLIRContext> mlirContext,
                       mlir::OwningOpRef<mlir::ModuleOp> module);

} // namespace mllm::ir

#endif // MLLM_IR_MLIR_H
