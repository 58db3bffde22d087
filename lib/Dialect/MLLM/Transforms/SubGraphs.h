//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Subgraphs as a tree of calls: what reaches what, and what they cost.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_SUBGRAPHS_H
#define LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_SUBGRAPHS_H

#include "llmir/Dialect/MLLM/MLLM.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace llmir::mllm {

/// Whether a name matches a pattern in which `*` stands for any text.
bool matchesPattern(llvm::StringRef pattern, llvm::StringRef name);

/// The subgraph that is called; null where there is none of that name.
SubGraphOp calleeOf(CallGraphOp call);

/// The calls of a module by callee, those of the module itself included.
llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<CallGraphOp>>
callsByCallee(mlir::ModuleOp module);

/// Subgraphs with a body, callees before callers; without those that call
/// themselves, directly or not.
llvm::SmallVector<SubGraphOp> subGraphsBottomUp(mlir::ModuleOp module);

/// What the model is made of: the entry, what calls of the module name, and all
/// that these reach; every public subgraph where there is no entry and no such
/// call.
llvm::SetVector<SubGraphOp> reachableSubGraphs(mlir::ModuleOp module);

/// Erases subgraphs out of reach; gives their number.
int64_t eraseUnreachable(mlir::ModuleOp module);

/// Symbols in the attributes of an op and of the ops in its regions, once each.
llvm::SetVector<mlir::StringAttr> symbolsUsedIn(mlir::Operation *op);

/// A new subgraph of `name` (or, where that is taken, the name with a number)
/// in front of `before`.
SubGraphOp createSubGraph(SubGraphOp before, llvm::StringRef name,
                          mlir::TypeRange arguments, mlir::TypeRange results);

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_SUBGRAPHS_H
