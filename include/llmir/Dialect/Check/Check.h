//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `check` dialect: expectations of tests, and attributes that say with
// which arguments a test runs a function. docs/Interpreter.md shows its use.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_CHECK_CHECK_H
#define LLMIR_DIALECT_CHECK_CHECK_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "llmir/Dialect/Check/CheckDialect.h.inc"

#define GET_OP_CLASSES
#include "llmir/Dialect/Check/CheckOps.h.inc"

#endif // LLMIR_DIALECT_CHECK_CHECK_H
