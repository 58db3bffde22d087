//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a dialect beside the project's own says what its ops compute. A dialect
// that has this interface is interpreted, and its constants are folded
// (-mllm-fold-constants), like those of the mllm dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_INTERPRETER_OPEVALUATORINTERFACE_H
#define LLMIR_INTERPRETER_OPEVALUATORINTERFACE_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"

#include "mlir/IR/Operation.h"

namespace llmir {

class OpEvaluatorInterface
    : public mlir::DialectInterface::Base<OpEvaluatorInterface> {
public:
  explicit OpEvaluatorInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// The results of one op of the dialect, given its operands, which are
  /// rounded to their types. Shapes are those of the run: where a type has `?`,
  /// they may be any. Results are not rounded; the interpreter rounds them to
  /// their types and checks their number and shapes. Fails, with what is wrong
  /// in words that go behind "cannot be evaluated: ", where the op has no
  /// value.
  virtual Expected<std::vector<reference::Tensor>>
  evaluate(mlir::Operation *op,
           const std::vector<reference::Tensor> &operands) const = 0;
};

} // namespace llmir

#endif // LLMIR_INTERPRETER_OPEVALUATORINTERFACE_H
