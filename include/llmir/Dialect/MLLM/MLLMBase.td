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
    nothing about how inference does it: there is no ragged batch and no cache
    layout. Ops are grouped by level, and the level is part of the name:

    | level | ops | meaning |
    |---|---|---|
    | `mllm.graph.*` | subgraph, call_graph | the tree of modules |
    | `mllm.linalg.*` | embedding, linear, rms_norm, … | one layer of a module |
    | `mllm.tensor.*` | register, input, constant, alloc, free | parameters, values and memory |
    | `mllm.cf.*` | return, if, while, for, yield | control flow |
    | `mllm.dbg.*` | comment | notes that compute nothing |
    | `mllm.program.*` | fragment, instruction, … | the executable program |

    Values are builtin ranked tensors of f32, f16, bf16, i8, i16, i32, i64 or i1.
    A size that is `?` is known when the model runs. An encoding
    `#mllm.tensor<device, dims>` says what the builtin type cannot: the device
    (the CPU where nothing is said) and the names of dynamic sizes.

    A builtin module that holds a traced model carries `mllm.model`, a
    dictionary of the model's facts (see `ModelFacts`). A subgraph may carry
    `mllm.dims`, which says of the names of its dynamic sizes what values they
    take: `mllm.dims = {seq = #mllm.range<1, 32768>}`.
  }];
  let dependentDialects = ["::mlir::llm::LLMDialect"];
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// One function per file of ops, each in the .cpp of that name.
    void addGraphOps();
    void addCFOps();
    void addTensorOps();
    void addElementwiseOps();
    void addShapeOps();
    void addIndexOps();
    void addNNOps();
    void addAttentionOps();
    void addVisionOps();
    void addSignalOps();
    void addProgramOps();
    void addAttributes();
  }];
}

class MLLM_Op<string mnemonic, list<Trait> traits = []>
    : Op<MLLM_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

defvar MLLM_FloatTypes = [F32, F16, BF16];
defvar MLLM_IntTypes = [I8, I16, I32, I64];

def MLLM_FloatTensor : RankedTensorOf<MLLM_FloatTypes>;
def MLLM_IntTensor : RankedTensorOf<MLLM_IntTypes>;
/// Indices and token ids.
def MLLM_IndexTensor : RankedTensorOf<[I32, I64]>;
def MLLM_BoolTensor : RankedTensorOf<[I1]>;
/// What arithmetic takes.
def MLLM_NumberTensor : RankedTensorOf<MLLM_FloatTypes # MLLM_IntTypes>;
/// Any value of the dialect.
def MLLM_Tensor : RankedTensorOf<MLLM_FloatTypes # MLLM_IntTypes # [I1]>;

#endif // LLMIR_DIALECT_MLLM_MLLMBASE
