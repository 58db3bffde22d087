//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `mllm` dialect: its definition, the base class of its ops, and shared
// type constraints. Each level has its own file of ops; MLLMOps.td includes
// them all.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMBASE
#define LLMIR_DIALECT_MLLM_MLLMBASE

include "mlir/IR/OpBase.td"

def MLLM_Dialect : Dialect {
  let name = "mllm";
  let cppNamespace = "::llmir::mllm";
  let summary = "Traced models: modules, layers and parameters";
  let description = [{
    The representation of a traced model. It specifies what is computed,
    independent of how inference executes it: there are no ragged batches and no
    cache layouts. Ops are grouped by level, and the level is part of the name:

    | level | ops | meaning |
    |---|---|---|
    | `mllm.graph.*` | subgraph, call_graph | module tree |
    | `mllm.linalg.*` | embedding, linear, rms_norm, … | layers of a module |
    | `mllm.tensor.*` | register, input, constant, alloc, free | parameters, values and memory |
    | `mllm.cf.*` | return, if, while, for, yield | control flow |
    | `mllm.dbg.*` | comment | annotations without computation |
    | `mllm.program.*` | fragment, instruction, … | executable program |
    | `mllm.kernel.*` | linear, paged_attention, … | computations of its instructions |

    Values are builtin ranked tensors of f32, f16, bf16, i8, i16, i32, i64 or
    i1. Dynamic sizes (`?`) are known at run time. An encoding
    `#mllm.tensor<device, dims>` adds what builtin types cannot express: the
    device (the CPU by default) and symbolic names of dynamic sizes.

    The builtin module of a traced model has the attribute `mllm.model`, a
    dictionary of model properties (see `ModelFacts`). A subgraph may have the
    attribute `mllm.dims`, which maps the symbols of its dynamic sizes to
    ranges: `mllm.dims = {seq = #mllm.range<1, 32768>}`.
  }];
  let dependentDialects = ["::mlir::llm::LLMDialect"];
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// One registration function per file of ops, defined in the corresponding
    /// .cpp file.
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
    void addKernelOps();
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
/// Operands of arithmetic ops.
def MLLM_NumberTensor : RankedTensorOf<MLLM_FloatTypes # MLLM_IntTypes>;
/// Any value of the dialect.
def MLLM_Tensor : RankedTensorOf<MLLM_FloatTypes # MLLM_IntTypes # [I1]>;

#endif // LLMIR_DIALECT_MLLM_MLLMBASE
