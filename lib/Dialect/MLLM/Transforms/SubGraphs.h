//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Call graph utilities for subgraphs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_SUBGRAPHS_H
#define LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_SUBGRAPHS_H

#include "llmir/Dialect/MLLM/MLLM.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace llmir::mllm {

/// Whether a name matches a pattern in which `*` matches any text.
bool matchesPattern(llvm::StringRef pattern, llvm::StringRef name);

/// The called subgraph, or null.
SubGraphOp calleeOf(CallGraphOp call);

/// The calls of a module by callee, including module-level calls.
llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<CallGraphOp>>
callsByCallee(mlir::ModuleOp module);

/// Subgraphs with a body, callees before callers, without recursive ones.
llvm::SmallVector<SubGraphOp> subGraphsBottomUp(mlir::ModuleOp module);

/// The subgraphs of the model: the entry, the callees of module-level calls,
/// and all subgraphs reachable from them; every public subgraph is a root if
/// there are none of these.
llvm::SetVector<SubGraphOp> reachableSubGraphs(mlir::ModuleOp module);

/// Erases unreachable subgraphs and returns their number.
int64_t eraseUnreachable(mlir::ModuleOp module);

/// Symbols in the attributes of an op and of nested ops, without duplicates.
llvm::SetVector<mlir::StringAttr> symbolsUsedIn(mlir::Operation *op);

/// Creates a subgraph `name` (or, if that is in use, `name` with a number)
/// before `before`.
SubGraphOp createSubGraph(SubGraphOp before, llvm::StringRef name,
                          mlir::TypeRange arguments, mlir::TypeRange results);

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_SUBGRAPHS_H
