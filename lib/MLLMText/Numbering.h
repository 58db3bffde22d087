//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of values, in trace order, and the order of subgraphs.
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

/// Walks a module as it was traced, each call followed by what it calls the
/// first time. An argument of a subgraph bears the name of its first call's
/// operand, the call's result the name of the value that is returned, wherever
/// the name is still free in the scope; every other value gets the next number,
/// or the name that it was given.
class Numbering {
public:
  /// Numbers everything below the op that holds `op` and has no parent.
  /// With `inheritsGivenNames`, a name that is no number goes on into callees
  /// and callers as numbers do.
  Numbering(mlir::Operation *op, int64_t firstNumber, bool inheritsGivenNames);

  /// "4" or "input_tensor". A register op's value is found by its op.
  mlir::StringRef name(mlir::Value value) const;
  mlir::StringRef registerName(mlir::Operation *op) const;

  /// The number after the last.
  int64_t nextFree() const { return nextNumber; }

  /// The subgraphs in the order in which they are entered.
  mlir::ArrayRef<mlir::Operation *> subgraphs() const {
    return entered.getArrayRef();
  }

private:
  struct Frame {
    mlir::Block *block;
    mlir::Block::iterator next;
    mlir::Operation *scope;  ///< Names are unique within it.
    mlir::Operation *call;   ///< Gets its results' names when the frame ends.
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
