//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `mllm` dialect: its definition, the base class of its ops, and the types
// that they share. One file per level holds the ops; MLLMOps.td includes them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMBASE
#define LLMIR_DIALECT_MLLM_MLLMBASE

include "mlir/IR/OpBase.td"

def MLLM_Dialect : Dialect {
  let name = "mllm";
  let cppNamespace = "::llmir::mllm";
  let summary = "What a model is: its modules, layers and parameters";
  let description = [{
    The form in which a traced model arrives. It says what is computed and
    nothing about how inference does it: there is no batch, no cache layout and
    no device. Ops are grouped by level, and the level is part of the name:

    | level | ops | meaning |
    |---|---|---|
    | `mllm.graph.*` | subgraph, call_graph | the tree of modules |
    | `mllm.linalg.*` | embedding, linear, rms_norm, … | one layer of a module |
    | `mllm.tensor.*` | register | parameters |
    | `mllm.cf.*` | return | control flow |
    | `mllm.program.*` | fragment, instruction, … | the executable program |

    Activations are builtin ranked tensors of f32. Their first dimension counts
    the tokens of one sequence and is `?`, the symbolic dimension, unless the
    model was traced for a fixed number of tokens; all other sizes are static.

    A builtin module that holds a traced model carries `mllm.model`, a
    dictionary of the model's facts (see `ModelFacts`).
  }];
  let dependentDialects = ["::mlir::llm::LLMDialect"];
  let hasOperationAttrVerify = 1;
}

class MLLM_Op<string mnemonic, list<Trait> traits = []>
    : Op<MLLM_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// Sizes after the first are static; the first may be `?`.
def MLLM_HasStaticTail
    : CPred<"::llmir::mllm::hasStaticTail($_self)">;

class MLLM_ActivationOfRank<int rank, string dims>
    : Type<And<[CPred<"::llmir::mllm::isF32TensorOfRank($_self, " # rank # ")">,
                MLLM_HasStaticTail]>,
           "f32 tensor " # dims # " whose sizes after the first are static",
           "::mlir::RankedTensorType">;

def MLLM_Rows : MLLM_ActivationOfRank<2, "[tokens, columns]">;
def MLLM_Heads : MLLM_ActivationOfRank<3, "[tokens, heads, head size]">;

def MLLM_RowsOrHeads
    : Type<Or<[MLLM_Rows.predicate, MLLM_Heads.predicate]>,
           "f32 tensor [tokens, columns] or [tokens, heads, head size] whose "
           "sizes after the first are static",
           "::mlir::RankedTensorType">;

def MLLM_Activation
    : Type<And<[CPred<"::llmir::mllm::isF32Tensor($_self)">,
                MLLM_HasStaticTail]>,
           "f32 tensor of rank 1 or more whose sizes after the first are static",
           "::mlir::RankedTensorType">;

def MLLM_TokenIds
    : Type<CPred<"::llmir::mllm::isTokenIds($_self)">,
           "tensor [tokens] of i32 or i64", "::mlir::RankedTensorType">;

#endif // LLMIR_DIALECT_MLLM_MLLMBASE
