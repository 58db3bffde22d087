//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Element-wise ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS
#define LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"

def MLLM_SiLUOp : MLLM_UnaryElementwise<"silu", "1e-10"> {
  let summary = "Sigmoid-weighted linear unit";
  let description = [{
    `result = x / (1 + exp(-x))`, element-wise, computed like `llm.silu`.

    Fails verification when
    - c1: the result type differs from the operand type.

    Example:

    ```mlir
    %y = mllm.linalg.silu %x : tensor<?x64xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

// Element-wise lhs and rhs, or lhs and a scalar.
class MLLM_ArithmeticOp<string mnemonic, string symbol, list<Trait> traits = []>
    : MLLM_LinalgOp<mnemonic, "1e-12", traits # [Pure]> {
  let arguments = (ins
    Arg<MLLM_NumberTensor, "left operand of any shape">:$lhs,
    Arg<Optional<MLLM_NumberTensor>, "right operand, broadcastable with `lhs`; exclusive with `scalar`">:$rhs,
    Arg<OptionalAttr<F64Attr>, "scalar right operand; exclusive with `rhs`">:$scalar
  );
  let results = (outs Res<MLLM_NumberTensor, "element-wise result of the broadcast shape">:$result);
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
  code meaning = "\n    `result = lhs " # symbol # " rhs`, element-wise with broadcasting. A `scalar`\n    is a right operand with that value.";
  code rules = [{

    Fails verification when
    - c1: the operands differ in element type or device;
    - c2: the shapes cannot be broadcast;
    - c3: the result type is not the broadcast type;
    - c4: not exactly one of `rhs` and `scalar` is given;
    - c5: `scalar` is not finite, or not an integer for integer operands.

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
  let summary = "Element-wise addition";
  let description = meaning # " Integers wrap around." # rules;
  let hasFolder = 1;
}

def MLLM_SubOp : MLLM_ArithmeticOp<"sub", "-"> {
  let summary = "Element-wise subtraction";
  let description = meaning # " Integers wrap around." # rules;
  let hasFolder = 1;
}

def MLLM_MulOp : MLLM_ArithmeticOp<"mul", "*", [Commutative]> {
  let summary = "Element-wise multiplication";
  let description = meaning # " Integers wrap around." # rules;
  let hasFolder = 1;
}

def MLLM_DivOp : MLLM_ArithmeticOp<"div", "/"> {
  let summary = "Element-wise division";
  let description = meaning # [{ Integer quotients are
    rounded toward zero; division by 0 yields 0, and the least integer divided by
    -1 wraps around to itself.}] # rules;
  let hasFolder = 1;
}

// An element-wise function with a generated description.
class MLLM_FunctionOp<string mnemonic, string bound, string formula, Type type>
    : MLLM_UnaryElementwise<mnemonic, bound, type> {
  let description = "\n    `result = " # formula # "`, element-wise." # [{

    Fails verification when
    - c1: the result type differs from the operand type.

    Example:

    ```mlir
    %y = mllm.linalg.}] # mnemonic # [{ %x : tensor<?x64x}] #
    !cond(!eq(mnemonic, "logical_not"): "i1", true: "f32") # [{>
    ```
  }];
}

def MLLM_NegOp : MLLM_FunctionOp<"neg", "0", "-x", MLLM_NumberTensor> {
  let summary = "Element-wise negation; integers wrap around";
  let hasFolder = 1;
}

def MLLM_AbsOp : MLLM_FunctionOp<"abs", "0", "|x|", MLLM_NumberTensor> {
  let summary = "Element-wise absolute value; integers wrap around";
  let hasFolder = 1;
}

def MLLM_LogOp : MLLM_FunctionOp<"log", "1e-10", "ln(x)", MLLM_FloatTensor> {
  let summary = "Element-wise natural logarithm";
}

def MLLM_ExpOp : MLLM_FunctionOp<"exp", "1e-10", "e^x", MLLM_FloatTensor> {
  let summary = "Element-wise exponential";
}

def MLLM_SinOp : MLLM_FunctionOp<"sin", "1e-10", "sin(x)`, where sin(-0) is `-0", MLLM_FloatTensor> {
  let summary = "Element-wise sine of angles in radians";
}

def MLLM_CosOp : MLLM_FunctionOp<"cos", "1e-10", "cos(x)", MLLM_FloatTensor> {
  let summary = "Element-wise cosine of angles in radians";
}

def MLLM_ClipOp : MLLM_UnaryElementwise<"clip", "0", MLLM_NumberTensor> {
  let summary = "Clamp elements to a range";
  let description = [{
    `result = min(max(x, min_val), max_val)`, element-wise; NaN is preserved.

    Fails verification when
    - c1: the result type differs from the operand type;
    - c2: `min_val` or `max_val` is NaN, or `max_val` is less than `min_val`;
    - c3: for integer operands, `min_val` or `max_val` is not representable in
      the element type.

    Example:

    ```mlir
    %y = mllm.linalg.clip %x {max_val = 6.0 : f64, min_val = 0.0 : f64} : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_NumberTensor, "input of any shape">:$x,
    Arg<DefaultValuedAttr<F64Attr, "-1.0">, "lower bound">:$min_val,
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "upper bound">:$max_val
  );
  let hasVerifier = 1;
}

def MLLM_FillOp : MLLM_UnaryElementwise<"fill", "1e-12", MLLM_Tensor> {
  let summary = "Create a filled tensor with the type of another";
  let description = [{
    Element i of the result, in row-major order, depends on `kind`:
    - `zeros`: 0; `ones`: 1; `specific`: `value`;
    - `arange`: `start + i * step`;
    - `random`: drawn uniformly from [`start`, `end`), the same in every run:
      with z the output of step i + 1 of SplitMix64 with `seed`, a float is
      `start + (end - start) * floor(z / 2^11) / 2^53`, an integer
      `start + z mod (end - start)`. Rounding to f16 or bf16 may yield `end`.

    The elements of `x` are not read.

    Fails verification when
    - c1: the result type differs from the operand type;
    - c2: an attribute that the kind uses is absent, or one that it does not use
      is given;
    - c3: `value`, `start`, `end` or `step` is not finite, or not an integer for
      integer elements;
    - c4: `start` is not less than `end`.

    Example:

    ```mlir
    %z = mllm.linalg.fill zeros %x : tensor<?x64xf32>
    %p = mllm.linalg.fill arange %ids {start = 0.0 : f64, step = 1.0 : f64} : tensor<?xi64>
    %r = mllm.linalg.fill random %x {end = 1.0 : f64, seed = 42 : i64, start = -1.0 : f64} : tensor<4x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_FillKindAttr, "kind of values: zeros, ones, specific, random or arange">:$kind,
    Arg<MLLM_Tensor, "determines shape, element type and device">:$x,
    Arg<OptionalAttr<F64Attr>, "value of `specific`">:$value,
    Arg<OptionalAttr<F64Attr>, "first value of `arange`, inclusive lower bound of `random`">:$start,
    Arg<OptionalAttr<F64Attr>, "exclusive upper bound of `random`">:$end,
    Arg<OptionalAttr<F64Attr>, "step of `arange`">:$step,
    Arg<OptionalAttr<I64Attr>, "seed of `random`">:$seed
  );
  let assemblyFormat = "$kind $x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

// An element-wise predicate.
class MLLM_ConditionOp<string mnemonic, Type type, list<Trait> traits = []>
    : MLLM_LinalgOp<mnemonic, "0", traits # [Pure]> {
  dag pair = (ins
    Arg<type, "left operand of any shape">:$lhs,
    Arg<type, "right operand, broadcastable with `lhs`">:$rhs
  );
  let arguments = pair;
  let results = (outs Res<MLLM_BoolTensor, "element-wise truth value of the broadcast shape">:$result);
  code rules = [{

    Fails verification when
    - c1: the operands differ in element type or device;
    - c2: the shapes cannot be broadcast;
    - c3: the result type is not the broadcast type with element type i1.

    Example:

    ```mlir
    }];
}

def MLLM_EqualOp : MLLM_ConditionOp<"equal", MLLM_Tensor, [Commutative]> {
  let summary = "Element-wise equality";
  let description = [{
    `result = lhs == rhs`, element-wise with broadcasting. NaN is not equal to
    any value.}] # rules # [{%m = mllm.linalg.equal %ids, %pad : (tensor<1x?xi64>, tensor<1xi64>) -> tensor<1x?xi1>
    ```
  }];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def MLLM_CompareOp : MLLM_ConditionOp<"compare", MLLM_NumberTensor> {
  let summary = "Element-wise comparison";
  let description = [{
    `result = lhs < rhs` for `less`, and likewise `less_equal`, `greater`,
    `greater_equal` and `not_equal`, element-wise with broadcasting. NaN is not
    equal to, less than or greater than any value.}] # rules # [{%m = mllm.linalg.compare less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    ```
  }];
  let arguments = !con(
      (ins Arg<MLLM_ComparisonAttr, "predicate: less, less_equal, greater, greater_equal or not_equal">:$comparison),
      pair);
  let assemblyFormat = "$comparison $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

class MLLM_LogicalOp<string mnemonic, string meaning>
    : MLLM_BinaryElementwise<mnemonic, "0", [Commutative], MLLM_BoolTensor> {
  let description = "\n    `result = lhs " # meaning # " rhs`, element-wise with broadcasting." # [{

    Fails verification when
    - c1: the operands are on different devices;
    - c2: the shapes cannot be broadcast;
    - c3: the result type is not the broadcast type.

    Example:

    ```mlir
    %m = mllm.linalg.}] # mnemonic # [{ %a, %b : tensor<1x?xi1>
    ```
  }];
  let hasFolder = 1;
}

def MLLM_LogicalAndOp : MLLM_LogicalOp<"logical_and", "and"> {
  let summary = "Element-wise logical and";
}

def MLLM_LogicalOrOp : MLLM_LogicalOp<"logical_or", "or"> {
  let summary = "Element-wise logical or";
}

def MLLM_LogicalNotOp : MLLM_FunctionOp<"logical_not", "0", "not x", MLLM_BoolTensor> {
  let summary = "Element-wise logical not";
  let hasFolder = 1;
}

def MLLM_WhereOp : MLLM_MoveOp<"where"> {
  let summary = "Element-wise selection by a condition";
  let description = [{
    `result = condition ? lhs : rhs`, element-wise with broadcasting of all
    three operands.

    Fails verification when
    - c1: `lhs` and `rhs` differ in element type, or operands are on different
      devices;
    - c2: the shapes cannot be broadcast;
    - c3: the result type is not the broadcast type.

    Example:

    ```mlir
    %y = mllm.linalg.where %m, %x, %zero : (tensor<?x1xi1>, tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_BoolTensor, "condition, broadcastable with the other operands">:$condition,
    Arg<MLLM_Tensor, "values where the condition is true">:$lhs,
    Arg<MLLM_Tensor, "values where the condition is false">:$rhs
  );
  let results = (outs Res<MLLM_Tensor, "selected values">:$result);
  let assemblyFormat = [{
    $condition `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMELEMENTWISEOPS
