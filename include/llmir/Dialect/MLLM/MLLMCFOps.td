//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The control-flow level.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMCFOPS
#define LLMIR_DIALECT_MLLM_MLLMCFOPS

include "llmir/Dialect/MLLM/MLLMBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MLLM_ReturnOp : MLLM_Op<"cf.return", [
    Pure, Terminator, ReturnLike, HasParent<"::llmir::mllm::SubGraphOp">]> {
  let summary = "Return from a subgraph";
  let description = [{
    The operands are the results of the enclosing subgraph.

    Fails verification when
    - c1: the number or types of the operands differ from those of the
      subgraph's results.

    Example:

    ```mlir
    mllm.cf.return %y : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<AnyRankedTensor>, "results of the subgraph">:$operands
  );
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Branches and loops. Their regions are not isolated from above.
//===----------------------------------------------------------------------===//

def MLLM_YieldOp : MLLM_Op<"cf.yield", [
    Pure, Terminator, ParentOneOf<["::llmir::mllm::IfOp", "::llmir::mllm::WhileOp", "::llmir::mllm::ForOp"]>,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "Yield values from a region of a branch or loop";
  let description = [{
    The operands are the results of the branch, or the next values carried by a
    loop. In the condition of a `while`, the first operand is the condition, and
    the others are the arguments of the body or, finally, the results of the
    loop.

    Verified with the enclosing op.

    Example:

    ```mlir
    mllm.cf.yield %y : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<MLLM_Tensor>, "yielded values">:$operands
  );
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

// A branch or loop, whose regions yield values compatible with their
// destinations.
class MLLM_RegionOp<string mnemonic, list<string> methods = []>
    : MLLM_Op<"cf." # mnemonic, [
        RecursiveMemoryEffects, SingleBlock,
        DeclareOpInterfaceMethods<RegionBranchOpInterface, methods>]> {
  string branchDeclaration = [{
    /// Dynamic sizes are compatible with any size; symbolic names may be
    /// dropped.
    bool areTypesCompatible(::mlir::Type from, ::mlir::Type to) {
      return ::llmir::mllm::fits(from, to);
    }
  }];
  let extraClassDeclaration = branchDeclaration;
  let hasRegionVerifier = 1;
}

def MLLM_IfOp : MLLM_RegionOp<"if"> {
  let summary = "Conditional with two regions";
  let description = [{
    Yields the values of the `then` region if the condition is true, otherwise
    those of the `else` region.

    Fails verification when
    - c1: the condition does not have exactly one element;
    - c2: a region does not end with `mllm.cf.yield`;
    - c3: the yielded values of a region are not compatible with the results.

    Example:

    ```mlir
    %y = mllm.cf.if %c : tensor<i1> -> tensor<4xf32> {
      mllm.cf.yield %a : tensor<4xf32>
    } else {
      mllm.cf.yield %b : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Arg<MLLM_BoolTensor, "condition with one element, of any rank">:$condition);
  let results = (outs Res<Variadic<MLLM_Tensor>, "values yielded by the selected region">:$results);
  let regions = (region SizedRegion<1>:$then, SizedRegion<1>:$otherwise);
  let assemblyFormat = "$condition attr-dict `:` type($condition) (`->` type($results)^)? $then `else` $otherwise";
}

def MLLM_WhileOp : MLLM_RegionOp<"while", ["getEntrySuccessorOperands"]> {
  let summary = "While loop";
  let description = [{
    The condition region takes the carried values and yields a condition and
    values. While the condition is true, the body takes these values and yields
    the next carried values; otherwise, they are the results.

    Fails verification when
    - c1: the first value that the condition region yields is not a condition
      with one element;
    - c2: a region does not end with `mllm.cf.yield`;
    - c3: a yielded or initial value is not compatible with the argument or
      result that receives it.

    Example:

    ```mlir
    %r = mllm.cf.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %c = mllm.tensor.constant dense<false> : tensor<i1>
      mllm.cf.yield %c, %a : tensor<i1>, tensor<4xf32>
    } do {
    ^bb0(%a: tensor<4xf32>):
      mllm.cf.yield %a : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Arg<Variadic<MLLM_Tensor>, "initial carried values">:$inits);
  let results = (outs Res<Variadic<MLLM_Tensor>, "final carried values">:$results);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inits `)` attr-dict `:` functional-type($inits, $results) $condition `do` $body";
}

def MLLM_ForOp : MLLM_RegionOp<"for", ["getEntrySuccessorOperands"]> {
  let summary = "Counted loop";
  let description = [{
    The body takes the 0-based iteration number and the carried values, and
    yields the next carried values. A count of 0 or less yields the initial
    values.

    Fails verification when
    - c1: the count does not have exactly one element, or the first argument of
      the body has a different type;
    - c2: the body does not end with `mllm.cf.yield`;
    - c3: a yielded or initial value is not compatible with the argument or
      result that receives it.

    Example:

    ```mlir
    %r = mllm.cf.for %n (%x) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
      %b = mllm.linalg.add %a, %a : tensor<4xf32>
      mllm.cf.yield %b : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins
    Arg<MLLM_IndexTensor, "trip count: one integer, of any rank">:$count,
    Arg<Variadic<MLLM_Tensor>, "initial carried values">:$inits
  );
  let results = (outs Res<Variadic<MLLM_Tensor>, "final carried values">:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count `(` $inits `)` attr-dict `:` functional-type(operands, $results) $body";
}

#endif // LLMIR_DIALECT_MLLM_MLLMCFOPS
