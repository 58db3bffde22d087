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
  let summary = "Ends a subgraph and gives its results";
  let description = [{
    The operands are the results of the subgraph around it.

    Fails verification when
    - c1: the number or the types of the operands are not those of the
      subgraph's results.

    Example:

    ```mlir
    mllm.cf.return %y : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<AnyRankedTensor>, "the subgraph's results, in order">:$operands
  );
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Branches and loops. Their regions see the values around them.
//===----------------------------------------------------------------------===//

def MLLM_YieldOp : MLLM_Op<"cf.yield", [
    Pure, Terminator, ParentOneOf<["::llmir::mllm::IfOp", "::llmir::mllm::WhileOp", "::llmir::mllm::ForOp"]>,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "Ends a region of a branch or loop and gives its values";
  let description = [{
    The operands are the results of the branch, or the values with which a loop
    goes on. In the condition of a `while` the first operand says whether it goes
    on, and the others are what the body takes and the loop finally gives.

    Fails verification when the op around it does.

    Example:

    ```mlir
    mllm.cf.yield %y : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<MLLM_Tensor>, "the region's values, in order">:$operands
  );
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

// A branch or loop: what its regions yield fits what takes it.
class MLLM_RegionOp<string mnemonic, list<string> methods = []>
    : MLLM_Op<"cf." # mnemonic, [
        RecursiveMemoryEffects, SingleBlock,
        DeclareOpInterfaceMethods<RegionBranchOpInterface, methods>]> {
  string branchDeclaration = [{
    /// A size that is `?` fits every size; a name may get lost.
    bool areTypesCompatible(::mlir::Type from, ::mlir::Type to) {
      return ::llmir::mllm::fits(from, to);
    }
  }];
  let extraClassDeclaration = branchDeclaration;
  let hasRegionVerifier = 1;
}

def MLLM_IfOp : MLLM_RegionOp<"if"> {
  let summary = "One of two regions";
  let description = [{
    The values of `then` where the condition is true, else those of `else`.

    Fails verification when
    - c1: the condition is not one value;
    - c2: a region does not end in `mllm.cf.yield`;
    - c3: what a region yields does not fit the results.

    Example:

    ```mlir
    %y = mllm.cf.if %c : tensor<i1> -> tensor<4xf32> {
      mllm.cf.yield %a : tensor<4xf32>
    } else {
      mllm.cf.yield %b : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Arg<MLLM_BoolTensor, "one truth value, of any rank">:$condition);
  let results = (outs Res<Variadic<MLLM_Tensor>, "what the chosen region yields">:$results);
  let regions = (region SizedRegion<1>:$then, SizedRegion<1>:$otherwise);
  let assemblyFormat = "$condition attr-dict `:` type($condition) (`->` type($results)^)? $then `else` $otherwise";
}

def MLLM_WhileOp : MLLM_RegionOp<"while", ["getEntrySuccessorOperands"]> {
  let summary = "A body again and again, as long as a condition holds";
  let description = [{
    The condition takes the carried values and yields a truth value, and values;
    where it is true, the body takes those and yields the next carried values,
    else they are the results.

    Fails verification when
    - c1: the condition does not yield one truth value first;
    - c2: a region does not end in `mllm.cf.yield`;
    - c3: what a region yields, or what the loop begins with, does not fit what
      takes it.

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
  let arguments = (ins Arg<Variadic<MLLM_Tensor>, "the carried values at first">:$inits);
  let results = (outs Res<Variadic<MLLM_Tensor>, "the carried values at last">:$results);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inits `)` attr-dict `:` functional-type($inits, $results) $condition `do` $body";
}

def MLLM_ForOp : MLLM_RegionOp<"for", ["getEntrySuccessorOperands"]> {
  let summary = "A body as often as a number says";
  let description = [{
    The body takes the number of the turn, from 0, and the carried values; it
    yields the next ones. A count of 0 or less gives the values of the beginning.

    Fails verification when
    - c1: the count is not one integer, or the body's first argument does not have
      its type;
    - c2: the body does not end in `mllm.cf.yield`;
    - c3: what the body yields, or what the loop begins with, does not fit what
      takes it.

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
    Arg<MLLM_IndexTensor, "how often; one integer, of any rank">:$count,
    Arg<Variadic<MLLM_Tensor>, "the carried values at first">:$inits
  );
  let results = (outs Res<Variadic<MLLM_Tensor>, "the carried values at last">:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count `(` $inits `)` attr-dict `:` functional-type(operands, $results) $body";
}

#endif // LLMIR_DIALECT_MLLM_MLLMCFOPS
