//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that compute value by value.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS
#define LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_SiLUOp : MLLM_UnaryElementwise<"silu", "1e-10"> {
  let summary = "Sigmoid-weighted linear unit";
  let description = [{
    `result = x / (1 + exp(-x))`, for each value, as `llm.silu` has it.

    Fails verification when
    - c1: the result's type is not the operand's.

    Example:

    ```mlir
    %y = mllm.linalg.silu %x : tensor<?x64xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

// lhs and rhs, or lhs and a number. `type` is that of the values.
class MLLM_ArithmeticOp<string mnemonic, string symbol, list<Trait> traits = []>
    : MLLM_LinalgOp<mnemonic, "1e-12", traits # [Pure]> {
  let arguments = (ins
    Arg<MLLM_NumberTensor, "left values, of any shape">:$lhs,
    Arg<Optional<MLLM_NumberTensor>, "right values, of a shape that broadcasts with `lhs`; absent beside `scalar`">:$rhs,
    Arg<OptionalAttr<F64Attr>, "the number that stands for all right values; absent beside `rhs`">:$scalar
  );
  let results = (outs Res<MLLM_NumberTensor, "one value for each pair">:$result);
  let assemblyFormat = [{
    $lhs (`,` $rhs^)? attr-dict `:`
    custom<ArithmeticTypes>(ref($rhs), type($lhs), type($rhs), type($result))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
      build($_builder, $_state, lhs, rhs, ::mlir::FloatAttr());
    }]>,
    OpBuilder<(ins "::mlir::Value":$lhs, "double":$scalar), [{
      build($_builder, $_state, lhs, ::mlir::Value(),
            $_builder.getF64FloatAttr(scalar));
    }]>
  ];
  code meaning = "\n    `result = lhs " # symbol # " rhs`, for each pair of values; sizes of 1 repeat. A `scalar` stands\n    for a `rhs` of that number.";
  code rules = [{

    Fails verification when
    - c1: the operands differ in element type or lie on different devices;
    - c2: their shapes do not broadcast;
    - c3: the result's type is not that of the broadcast;
    - c4: there are both `rhs` and `scalar`, or neither;
    - c5: `scalar` is not a finite number, or not a whole one beside integers.

    Example:

    ```mlir
    %y = mllm.linalg.}] # mnemonic # [{ %x, %row : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %z = mllm.linalg.}] # mnemonic # [{ %x {scalar = 5.0e-01 : f64} : tensor<?x64xf32>
    ```
  }];
  let extraClassDefinition = [{
    ::llmir::Expected<::llmir::mllm::ResultTypes> $cppClass::inferResults(Adaptor op) {
      return ::llmir::mllm::detail::arithmeticOf(op.getLhs(), op.getRhs(), op.getScalarAttr());
    }
  }];
}

def MLLM_AddOp : MLLM_ArithmeticOp<"add", "+", [Commutative]> {
  let summary = "Sum of two tensors";
  let description = meaning # " Integers wrap around." # rules;
  let hasFolder = 1;
}

def MLLM_SubOp : MLLM_ArithmeticOp<"sub", "-"> {
  let summary = "Difference of two tensors";
  let description = meaning # " Integers wrap around." # rules;
  let hasFolder = 1;
}

def MLLM_MulOp : MLLM_ArithmeticOp<"mul", "*", [Commutative]> {
  let summary = "Product of two tensors, value by value";
  let description = meaning # " Integers wrap around." # rules;
  let hasFolder = 1;
}

def MLLM_DivOp : MLLM_ArithmeticOp<"div", "/"> {
  let summary = "Quotient of two tensors, value by value";
  let description = meaning # [{ A quotient of integers is cut
    toward zero; it is 0 where `rhs` is 0, and the least integer divided by -1
    is itself.}] # rules;
  let hasFolder = 1;
}

// The description of f(x) for each value.
class MLLM_FunctionOp<string mnemonic, string bound, string formula, Type type>
    : MLLM_UnaryElementwise<mnemonic, bound, type> {
  let description = "\n    `result = " # formula # "`, for each value." # [{

    Fails verification when
    - c1: the result's type is not the operand's.

    Example:

    ```mlir
    %y = mllm.linalg.}] # mnemonic # [{ %x : tensor<?x64x}] #
    !cond(!eq(mnemonic, "logical_not"): "i1", true: "f32") # [{>
    ```
  }];
}

def MLLM_NegOp : MLLM_FunctionOp<"neg", "0", "-x", MLLM_NumberTensor> {
  let summary = "Negation; the least integer stays as it is";
  let hasFolder = 1;
}

def MLLM_AbsOp : MLLM_FunctionOp<"abs", "0", "|x|", MLLM_NumberTensor> {
  let summary = "Absolute value; the least integer stays as it is";
  let hasFolder = 1;
}

def MLLM_LogOp : MLLM_FunctionOp<"log", "1e-10", "ln(x)", MLLM_FloatTensor> {
  let summary = "Natural logarithm";
}

def MLLM_ExpOp : MLLM_FunctionOp<"exp", "1e-10", "e^x", MLLM_FloatTensor> {
  let summary = "Exponential function";
}

def MLLM_SinOp : MLLM_FunctionOp<"sin", "1e-10", "sin(x)`, which is `-0` of `-0", MLLM_FloatTensor> {
  let summary = "Sine of an angle in radians";
}

def MLLM_CosOp : MLLM_FunctionOp<"cos", "1e-10", "cos(x)", MLLM_FloatTensor> {
  let summary = "Cosine of an angle in radians";
}

def MLLM_ClipOp : MLLM_UnaryElementwise<"clip", "0", MLLM_NumberTensor> {
  let summary = "Values brought into a range";
  let description = [{
    `result = min(max(x, min_val), max_val)`, for each value; NaN stays NaN.

    Fails verification when
    - c1: the result's type is not the operand's;
    - c2: `min_val` is not a number, or `max_val` not one that is as great;
    - c3: `min_val` or `max_val` is not a whole number of the element type beside
      integers.

    Example:

    ```mlir
    %y = mllm.linalg.clip %x {max_val = 6.0 : f64, min_val = 0.0 : f64} : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_NumberTensor, "values of any shape">:$x,
    Arg<DefaultValuedAttr<F64Attr, "-1.0">, "the least value, -1 unless said">:$min_val,
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "the greatest value, 1 unless said">:$max_val
  );
  let hasVerifier = 1;
}

def MLLM_FillOp : MLLM_UnaryElementwise<"fill", "1e-12", MLLM_Tensor> {
  let summary = "A tensor shaped as another one, with values of its own";
  let description = [{
    What stands in the i-th value of the result, in row-major order, by `kind`:
    - `zeros`: 0; `ones`: 1; `specific`: `value`;
    - `arange`: `start + i * step`;
    - `random`: a number drawn evenly from [`start`, `end`), the same in every run:
      z being what SplitMix64 with `seed` gives in step i + 1, a float is
      `start + (end - start) * floor(z / 2^11) / 2^53`, an integer
      `start + z mod (end - start)`. Rounding to f16 or bf16 may give `end`.

    The values of `x` are not read.

    Fails verification when
    - c1: the result's type is not the operand's;
    - c2: an attribute that the kind reads is absent, or one that it does not
      read is there;
    - c3: `value`, `start`, `end` or `step` is not a finite number, or not a whole
      one beside integers;
    - c4: `start` is not less than `end`.

    Example:

    ```mlir
    %z = mllm.linalg.fill zeros %x : tensor<?x64xf32>
    %p = mllm.linalg.fill arange %ids {start = 0.0 : f64, step = 1.0 : f64} : tensor<?xi64>
    %r = mllm.linalg.fill random %x {end = 1.0 : f64, seed = 42 : i64, start = -1.0 : f64} : tensor<4x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FillKindAttr, "zeros, ones, specific, random or arange">:$kind,
    Arg<MLLM_Tensor, "gives shape, element type and device">:$x,
    Arg<OptionalAttr<F64Attr>, "all values of `specific`">:$value,
    Arg<OptionalAttr<F64Attr>, "first value of `arange`, least of `random`">:$start,
    Arg<OptionalAttr<F64Attr>, "what values of `random` stay below">:$end,
    Arg<OptionalAttr<F64Attr>, "distance of neighbours of `arange`">:$step,
    Arg<OptionalAttr<I64Attr>, "what `random` numbers are made from">:$seed
  );
  let assemblyFormat = "$kind $x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

// An op on pairs of values that gives true or false.
class MLLM_ConditionOp<string mnemonic, Type type, list<Trait> traits = []>
    : MLLM_LinalgOp<mnemonic, "0", traits # [Pure]> {
  dag pair = (ins
    Arg<type, "left values, of any shape">:$lhs,
    Arg<type, "right values, of a shape that broadcasts with `lhs`">:$rhs
  );
  let arguments = pair;
  let results = (outs Res<MLLM_BoolTensor, "true or false for each pair">:$result);
  code rules = [{

    Fails verification when
    - c1: the operands differ in element type or lie on different devices;
    - c2: their shapes do not broadcast;
    - c3: the result's type is not that of the broadcast, with elements of i1.

    Example:

    ```mlir
    }];
}

def MLLM_EqualOp : MLLM_ConditionOp<"equal", MLLM_Tensor, [Commutative]> {
  let summary = "Where two tensors are equal";
  let description = [{
    `result = lhs == rhs`, true or false for each pair of values; sizes of 1
    repeat. NaN is equal to nothing.}] # rules # [{%m = mllm.linalg.equal %ids, %pad : (tensor<1x?xi64>, tensor<1xi64>) -> tensor<1x?xi1>
    ```
  }];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def MLLM_CompareOp : MLLM_ConditionOp<"compare", MLLM_NumberTensor> {
  let summary = "Where one tensor is less or greater than another";
  let description = [{
    `result = lhs < rhs` for `less`, and likewise `less_equal`, `greater`,
    `greater_equal` and `not_equal`; true or false for each pair of values, sizes
    of 1 repeat. NaN is not equal to anything, and neither less nor greater.}] # rules # [{%m = mllm.linalg.compare less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    ```
  }];
  let arguments = !con(
      (ins Arg<MLLM_ComparisonAttr, "less, less_equal, greater, greater_equal or not_equal">:$comparison),
      pair);
  let assemblyFormat = "$comparison $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

class MLLM_LogicalOp<string mnemonic, string meaning>
    : MLLM_BinaryElementwise<mnemonic, "0", [Commutative], MLLM_BoolTensor> {
  let description = "\n    `result = lhs " # meaning # " rhs`, for each pair of values; sizes of 1 repeat." # [{

    Fails verification when
    - c1: the operands lie on different devices;
    - c2: their shapes do not broadcast;
    - c3: the result's type is not that of the broadcast.

    Example:

    ```mlir
    %m = mllm.linalg.}] # mnemonic # [{ %a, %b : tensor<1x?xi1>
    ```
  }];
  let hasFolder = 1;
}

def MLLM_LogicalAndOp : MLLM_LogicalOp<"logical_and", "and"> {
  let summary = "Where two conditions hold";
}

def MLLM_LogicalOrOp : MLLM_LogicalOp<"logical_or", "or"> {
  let summary = "Where one of two conditions holds";
}

def MLLM_LogicalNotOp : MLLM_FunctionOp<"logical_not", "0", "not x", MLLM_BoolTensor> {
  let summary = "Where a condition does not hold";
  let hasFolder = 1;
}

def MLLM_WhereOp : MLLM_MoveOp<"where"> {
  let summary = "Values of one tensor where a condition holds, else of another";
  let description = [{
    `result = condition ? lhs : rhs`, for each value; all three operands
    broadcast.

    Fails verification when
    - c1: `lhs` and `rhs` differ in element type, or operands lie on different
      devices;
    - c2: the shapes do not broadcast;
    - c3: the result's type is not that of the broadcast.

    Example:

    ```mlir
    %y = mllm.linalg.where %m, %x, %zero : (tensor<?x1xi1>, tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_BoolTensor, "chooses, of a shape that broadcasts with the others">:$condition,
    Arg<MLLM_Tensor, "values where the condition holds">:$lhs,
    Arg<MLLM_Tensor, "values where it does not">:$rhs
  );
  let results = (outs Res<MLLM_Tensor, "the chosen values">:$result);
  let assemblyFormat = [{
    $condition `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS
