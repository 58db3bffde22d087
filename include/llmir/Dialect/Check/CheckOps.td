//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `check` dialect: expectations of tests about values.
//
//===----------------------------------------------------------------------===//

#ifndef CHECK_OPS_TD
#define CHECK_OPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::llmir::check";
  let summary = "Expectations and inputs of tests";
  let description = [{
    A function with ops of this dialect is a test: the executor (the
    interpreter, or the runner of compiled code) evaluates the expectations and
    fails with both values if one is not met. Passes preserve the ops, since
    they have side effects.

    Attributes of a function argument, or of an `mllm.tensor.register`, specify
    its value in a test:
    - `check.values = dense<…>` or an integer or float: this value;
    - `check.range = array<i64: least, end>`: random integers in [`least`,
      `end`); the same for floats with `array<f64: least, end>`;
    - `check.shape = array<i64: …>`: the shape of a tensor with dynamic sizes.
    For an argument that is sharded across ranks, they describe the unsharded
    tensor, whereas the type is that of one rank's slice.
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
  let summary = "Expect two float tensors to be equal up to an error bound";
  let description = [{
    Met if `Σ (actual - expected)² ≤ nmse · Σ expected²`. For f16 and bf16,
    differences are reduced by half a unit in the last place of `expected`,
    which may be caused by rounding alone. NaN equals NaN, and an infinity
    equals itself.

    Fails verification when
    - c1: `nmse` is negative or not finite.

    Example: `check.expect_close %a, %b {nmse = 1.0e-12 : f64} : tensor<4x64xf32>`
  }];
  let arguments = (ins
    Arg<TensorOf<[F16, BF16, F32]>, "computed value">:$actual,
    Arg<TensorOf<[F16, BF16, F32]>, "expected value">:$expected,
    Arg<DefaultValuedAttr<F64Attr, "1.0e-10">, "maximum normalized mean squared error">:$nmse);
  let assemblyFormat = "$actual `,` $expected attr-dict `:` type($actual)";
  let hasVerifier = 1;
}

def Check_ExpectEqualOp : Check_Op<"expect_equal", [SameTypeOperands]> {
  let summary = "Expect two values to be bitwise equal";
  let description = [{
    Met if the shapes and all elements are equal; 0 and -0 differ, NaN equals
    NaN.

    Example: `check.expect_equal %a, %b : tensor<4xi32>`
  }];
  let arguments = (ins Arg<AnyType, "computed value">:$actual,
                       Arg<AnyType, "expected value">:$expected);
  let assemblyFormat = "$actual `,` $expected attr-dict `:` type($actual)";
}

#endif // CHECK_OPS_TD
