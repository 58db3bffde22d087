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

#endif // LLMIR_DIALECT_MLLM_MLLMCFOPS
