//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of the `check` dialect.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Dialect/Check/Check.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;

/// " on rank 2" if there are several.
static std::string onRank(Evaluation &e) {
  return e.numRanks() == 1 ? "" : " on rank " + std::to_string(e.rank());
}

static LogicalResult evaluateExpectClose(check::ExpectCloseOp op,
                                         Evaluation &e) {
  const Tensor &actual = e.tensor(op.getActual());
  const Tensor &expected = e.tensor(op.getExpected());
  const double error = nmse(actual, expected);
  if (error <= op.getNmse().convertToDouble())
    return success();
  InFlightDiagnostic diag = op.emitOpError()
                            << "failed" << onRank(e) << ": nmse " << error
                            << " exceeds " << op.getNmseAttr();
  diag.attachNote() << "actual   " << toString(actual);
  diag.attachNote() << "expected " << toString(expected);
  return diag;
}

static LogicalResult evaluateExpectEqual(check::ExpectEqualOp op,
                                         Evaluation &e) {
  const InterpreterValue &actual = e.value(op.getActual());
  const InterpreterValue &expected = e.value(op.getExpected());
  if (sameBits(actual, expected))
    return success();
  InFlightDiagnostic diag = op.emitOpError() << "failed" << onRank(e);
  diag.attachNote() << "actual   " << toString(actual);
  diag.attachNote() << "expected " << toString(expected);
  return diag;
}

void llmir::interpreter::addCheckEvaluators(EvaluatorTable &table) {
  table.add(evaluateExpectClose);
  table.add(evaluateExpectEqual);
}
