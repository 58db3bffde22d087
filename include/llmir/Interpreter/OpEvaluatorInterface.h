//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dialect interface with which external dialects define the semantics of their
// ops. The ops of a dialect with this interface are interpreted and folded
// (-mllm-fold-constants) like those of the mllm dialect.
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

  /// Returns the results of an op of the dialect for the given operands, which
  /// are rounded to their types. Shapes are those at run time. Results are not
  /// rounded; the interpreter rounds them to their types and checks their
  /// number and shapes. Fails, with a message that follows "cannot be
  /// evaluated: ", if the op is an error for these operands.
  virtual Expected<std::vector<reference::Tensor>>
  evaluate(mlir::Operation *op,
           const std::vector<reference::Tensor> &operands) const = 0;
};

} // namespace llmir

#endif // LLMIR_INTERPRETER_OPEVALUATORINTERFACE_H
