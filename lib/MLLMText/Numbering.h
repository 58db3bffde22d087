//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbering of values in trace order, and the order of subgraphs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_MLLMTEXT_NUMBERING_H
#define LLMIR_LIB_MLLMTEXT_NUMBERING_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace llmir::mllm {

/// Walks a module in trace order: the first call of a subgraph is followed by
/// its body. An argument of a subgraph has the name of the operand of the first
/// call, and a result of the call that of the returned value, if the name is
/// unused in the scope; any other value has its given name or the next number.
class Numbering {
public:
  /// Numbers all values below the top-level ancestor of `op`. With
  /// `inheritsGivenNames`, given names are propagated to callees and callers
  /// like numbers.
  Numbering(mlir::Operation *op, int64_t firstNumber, bool inheritsGivenNames);

  /// "4" or "input_tensor". The value of a register op is found by the op.
  mlir::StringRef name(mlir::Value value) const;
  mlir::StringRef registerName(mlir::Operation *op) const;

  /// The next unused number.
  int64_t nextFree() const { return nextNumber; }

  /// The subgraphs in the order of their first calls.
  mlir::ArrayRef<mlir::Operation *> subgraphs() const {
    return entered.getArrayRef();
  }

private:
  struct Frame {
    mlir::Block *block;
    mlir::Block::iterator next;
    mlir::Operation *scope;  ///< Names are unique within it.
    mlir::Operation *call;   ///< Its results are named at the end of the frame.
    mlir::Operation *holder; ///< Likewise, the op whose last region it is.
  };

  void enterSubGraph(mlir::Operation *subgraph, mlir::Operation *call);
  void pushRegion(mlir::Region &region, mlir::Operation *scope,
                  mlir::Operation *holder);
  void run();
  void visit(mlir::Operation *op, mlir::Operation *scope);
  void assign(mlir::Value value, mlir::Operation *scope,
              mlir::StringRef inherited = {});

  int64_t nextNumber;
  bool inheritsGivenNames;
  mlir::SmallVector<Frame> stack;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::DenseMap<mlir::Operation *, std::string> registers;
  llvm::DenseMap<mlir::Operation *, llvm::StringSet<>> taken;
  llvm::SetVector<mlir::Operation *> entered;
};

} // namespace llmir::mllm

#endif // LLMIR_LIB_MLLMTEXT_NUMBERING_H
