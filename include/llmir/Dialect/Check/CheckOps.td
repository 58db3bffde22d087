//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `check` dialect: what a test expects of values while a function runs.
//
//===----------------------------------------------------------------------===//

#ifndef CHECK_OPS_TD
#define CHECK_OPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::llmir::check";
  let summary = "Expectations of tests and the values that tests run with";
  let description = [{
    A function with ops of this dialect is a test: who runs it (the interpreter,
    or the code compiled for a target) evaluates the expectations and fails with
    both values where one does not hold. Passes keep the ops, for they have
    effects.

    Attributes of a function's argument, or of an `mllm.tensor.register`, say with
    which value a test runs it:
    - `check.values = dense<…>` or an integer or float: this value;
    - `check.range = array<i64: least, end>`: random integers from `least` up to
      but without `end`; `array<f64: least, end>` likewise for floats;
    - `check.shape = array<i64: …>`: the sizes of a tensor whose type has dynamic
      ones.
    Where ranks share the work and the argument is cut for them, these are the
    caller's tensor, of which the type is one rank's slice.
  }];
  let hasRegionArgAttrVerify = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getValuesAttrName() { return "check.values"; }
    static ::llvm::StringRef getRangeAttrName() { return "check.range"; }
    static ::llvm::StringRef getShapeAttrName() { return "check.shape"; }
  }];
}

class Check_Op<string mnemonic, list<Trait> traits = []>
    : Op<Check_Dialect, mnemonic, traits>;

def Check_ExpectCloseOp : Check_Op<"expect_close", [SameTypeOperands]> {
  let summary = "Two tensors of floats agree up to an error";
  let description = [{
    Holds where `Σ (actual - expected)² ≤ nmse · Σ expected²`. For f16 and bf16
    what counts is the distance beyond half a unit in the last place of
    `expected`, which rounding alone may cause. NaN agrees with NaN, and an
    infinity with itself.

    Fails verification when
    - c1: `nmse` is negative or not finite.

    Example: `check.expect_close %a, %b {nmse = 1.0e-12 : f64} : tensor<4x64xf32>`
  }];
  let arguments = (ins
    Arg<TensorOf<[F16, BF16, F32]>, "What was computed">:$actual,
    Arg<TensorOf<[F16, BF16, F32]>, "What it should be">:$expected,
    Arg<DefaultValuedAttr<F64Attr, "1.0e-10">, "Greatest normalised mean squared error">:$nmse);
  let assemblyFormat = "$actual `,` $expected attr-dict `:` type($actual)";
  let hasVerifier = 1;
}

def Check_ExpectEqualOp : Check_Op<"expect_equal", [SameTypeOperands]> {
  let summary = "Two values agree bit for bit";
  let description = [{
    Holds where the shapes and all numbers are equal; 0 and -0 differ, NaN equals
    NaN.

    Example: `check.expect_equal %a, %b : tensor<4xi32>`
  }];
  let arguments = (ins Arg<AnyType, "What was computed">:$actual,
                       Arg<AnyType, "What it should be">:$expected);
  let assemblyFormat = "$actual `,` $expected attr-dict `:` type($actual)";
}

#endif // CHECK_OPS_TD
