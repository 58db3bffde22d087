//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes from one dialect to another.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_PASSES_TD
#define LLMIR_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertMLLMToLLM : Pass<"convert-mllm-to-llm", "::mlir::ModuleOp"> {
  let summary = "Say how inference runs a traced model: ragged batch and paged cache";
  let description = [{
    Replaces the subgraphs of a traced model by functions on the `llm` dialect.
    Parameters (`mllm.tensor.register`) stay.

    The subgraph marked `entry` becomes the public function `@step`, whose
    operands describe one step of a ragged batch (T tokens of S sequences, R
    rows whose logits are wanted):
    ```mlir
    func.func @step(%token_ids: tensor<?xi32>, %positions: tensor<?xi32>,
        %query_offsets: tensor<?xi32>, %seq_lens: tensor<?xi32>,
        %slot_mapping: tensor<?xi32>, %block_tables: tensor<?x?xi32>,
        %logit_rows: tensor<?xi32>, %cache: !llm.paged_kv_cache<…>)
        -> (tensor<?xVxf32>, !llm.paged_kv_cache<…>)
    ```
    Every other subgraph becomes a private function of its own name. It takes
    its data inputs; those of `%positions, %query_offsets, %seq_lens,
    %slot_mapping, %block_tables` that it or a callee needs; the cache, where it
    touches it; its layer number (`index`), where it touches exactly one layer;
    and its weights, in the order of first use. It gives its results and the
    cache. `llm.weight` stands in `@step` only, so that equal layers have equal
    functions. The outermost functions with one layer are marked `llm.layer`.

    ```mlir
    %K, %V = mllm.linalg.kv_cache %k, %v {layer = 3}
    %o = mllm.linalg.flash_attention2 %q, %K, %V {scale = 0.25, causal = true}
    ```
    ⇒
    ```mlir
    %c1 = llm.append_kv %c0, %k, %v slots(%slot_mapping) layer(%layer)
    %o = llm.paged_attention %q, %c1, %block_tables, %seq_lens
           offsets(%query_offsets) layer(%layer) {scale = 0.25, causal = true}
    ```
    Logits are made for `%logit_rows` only: `llm.select_rows` stands before the
    ops that treat each row alone and end in the logits.

    Attention that is written out is fused first (`mllm-fuse-attention`), and a
    leading 1 of all values, the model's one sequence, is dropped: a trace of
    `[1, tokens]` gives the same step as one of `[tokens]`.

    With `form=function` every subgraph becomes a function of its own name with
    the same arguments and results, all of static shapes, and each op what it is
    made of: an op of `llm` where there is one, else loops (`linalg.generic`) and
    moves (`tensor`). Ops that have no such counterpart (gathers by an index in a
    tensor, sorts) stay; `convert-llm-to-program` has kernels for them. Caches are
    empty before a function runs. Fails when a size is dynamic,
    or a tensor lies elsewhere than on the CPU.

    Does nothing to a module without a subgraph. Fails when there is no `entry`
    and no call of the module that names the model; when the entry is not (token
    ids) -> (logits), or is for several sequences; when layers of the cache
    differ in heads or head size; and when keys or values from the cache go
    anywhere but into an attention op.
  }];
  let options = [
    Option<"form", "form", "std::string", "\"step\"",
           "step: one step of a decoder; function: functions of static shapes">,
    Option<"kvElementType", "kv-element-type", "std::string", "\"f32\"",
           "Element type of the cache: f32, f16 or bf16">,
    Option<"blockSize", "block-size", "int64_t", "16",
           "Tokens in a block of the cache, a power of two; llmir compile has 64">,
    Option<"contextLength", "context-length", "int64_t", "0",
           "Most tokens of a sequence; 0 means what the model was trained for">
  ];
  let statistics = [
    Statistic<"subgraphsConverted", "subgraphs-converted", "Subgraphs that became functions">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::llm::LLMDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def ConvertLLMToLinalg : Pass<"convert-llm-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Turn ops on tensors into linalg, tensor, arith and math, for any backend";
  let description = [{
    Each op of the `llm` dialect becomes loops over tensors (`linalg.generic`,
    whose maps are projected permutations), slices and reshapes; sizes may be
    dynamic. Ops of other dialects stay as they are. Sums and intermediate
    results are f32 whatever the tensors hold, and a result is rounded once, as
    the op's description says.

    | ops | become |
    |---|---|
    | `attention` | products, scores, a softmax relative to the greatest score, and the sum of the values; query heads are split into groups, so that no map divides |
    | `rms_norm`, `layer_norm`, `softmax` | a reduction for each row, then loops over elements |
    | `rope` | cosines and sines of angles in f64, then a rotation of two slices of each head |
    | `silu`, `gelu`, `swiglu`, `add`, `mul` | one loop nest |
    | `select_rows`, `embedding` | a gather (`tensor.extract` in a loop) |
    | `linear`, `sharded_linear` | a reduction over ascending k, then the bias |
    | `shard` with `shard_index`, or in a function of one rank | `tensor.extract_slice`; a size that only a run knows is checked there (`cf.assert`) |
    | `fused_linear`, `add_rms_norm` | the ops that they mean, as by `-llm-lowering` |
    | `quant_params`, `quantize`, `dequantize`, `quantized_matmul` | loops over integers; a grouped dimension is split in two; the matrix is never dequantized as a whole |
    | `moe_route` | ranks of logits, counted by comparison, then the chosen experts |
    | `moe_ffn` | products that gather each token's experts, summed in ascending order of their numbers |
    | `sample` without a temperature | the best token |
    | `all_gather`, `all_reduce`, `reduce_scatter` with `group_size` 1 | their operand |
    | with `cache=runtime`: `create_paged_cache`, `reserve_kv`, `append_kv`, `rope_append_kv`, `lookup_kv`, `block_tables`, `fork_kv`, `free_kv` | calls of the C runtime `llmir-c/KVCache.h` |
    | with `cache=runtime`: `paged_attention`, `fused_attention` | a loop over sequences, each of which gathers its keys and values and attends to them as `attention` does |

    Refused, each with an error that names the op and the way out:

    | ops | instead |
    |---|---|
    | `weight` | `weights=arguments`: each parameter that a function or its callees name becomes an argument after the others, in the order of first use, with its name in `llmir.weight` |
    | ops on a paged cache, and functions that pass one on | `cache=runtime` |
    | `all_gather`, `all_reduce`, `reduce_scatter` of several ranks | `convert-llm-to-program` |
    | `shard` of the rank's own slice where `llm.num_ranks` is given | a `shard_index` |
    | `sample` with a temperature | a temperature of 0 |

    Types: `!llm.quantized_tensor` becomes the tensor of its integers (scales and
    zero points are operands of the ops that use them); with a `format` it
    becomes the i8 tensor of its bytes, as in a checkpoint, of which a row is
    the blocks of a row. `!llm.sharded_tensor` becomes the slice. With
    `cache=runtime` `!llm.paged_kv_cache` becomes `!llvm.ptr`, the runtime's
    cache, and arrays go to calls through `bufferization` and `memref`; no cache
    may be used after an append to it (`-llm-check-cache-use`). A cache that a
    block makes and that does not leave it (the block is its region's only one
    and its terminator has no cache among its operands) is destroyed at its end;
    all others are the caller's. Functions, calls, branches and ops of `scf` are
    converted with them. Attributes of the
    dialect (`llm.constant`, `llm.layer`, …) are dropped.

    ```mlir
    %y = llm.silu %x : tensor<?x8xf16>
    ```
    becomes
    ```mlir
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?x8xf16>
    %e = tensor.empty(%d) : tensor<?x8xf16>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x8xf16>) outs(%e : tensor<?x8xf16>) { … } -> tensor<?x8xf16>
    ```
  }];
  let options = [
    Option<"weights", "weights", "std::string", "\"refuse\"",
           "refuse: llm.weight is an error; arguments: it becomes an argument of its function">,
    Option<"cache", "cache", "std::string", "\"refuse\"",
           "refuse: ops on a paged cache are errors; runtime: they call the C runtime of llmir-c/KVCache.h">
  ];
  let statistics = [
    Statistic<"numConverted", "ops-converted", "Ops of llm that were converted">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::llm::LLMDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def ConvertLLMToProgram : Pass<"convert-llm-to-program", "::mlir::ModuleOp"> {
  let summary = "Turn the optimised step, or any one function, into a program of kernels and barriers";
  let description = [{
    Replaces the functions of the step `@step`, or the one function of a module
    without a step, by three fragments: `@weights` (where
    each packed weight lies), `@kernels` (what is computed) and `@llmir_step`
    (the instructions that every worker runs).

    Each op becomes an instruction; element-wise ops that feed each other become
    one kernel; a run of calls of one layer function becomes a loop over the
    layer register. A barrier stands wherever a worker would touch elements that
    another worker has touched since the last one, and nowhere else. In a step of
    few tokens each worker computes the rows that matmuls read for itself, and the
    barriers behind them are passed by.

    ```mlir
    %y = llm.linear %x, %w : tensor<?x64xf32>, tensor<172x64xbf16> -> tensor<?x172xf32>
    ```
    becomes
    ```mlir
    mllm.program.instruction @linear_bf16_172x64 weights [@…up_proj.weight] (%x, %y)
    ```
    A function that is no step has static shapes. Its program sets the fields of
    the step context for each kernel (`set_field`), names the buffers of its
    arguments, constants and results (`input`, `constant`, `output`), and has a
    buffer of each value for each of `llm.num_ranks` ranks; see docs/Codegen.md.
    Ops of `arith`, `math`, `tensor` and `linalg` are kernels as those of `llm`
    are, scalars are tensors of rank 0, and `scf.if`, `scf.for` and `scf.while`
    become labels and jumps as `mllm.cf` does.

    Fails on an op that has no kernel; on operands of a step that are not the
    step's own (positions, block tables, …) and calls of a step whose results do
    not feed the next layer; on dynamic sizes, a second cache, calls, control flow
    and layer numbers that are not constant in any other function.
  }];
  let options = [
    Option<"tokenBudget", "token-budget", "int64_t", /*default=*/"512",
           "Most tokens of a step: rows of the buffers">,
    Option<"maxLogitRows", "max-logit-rows", "int64_t", /*default=*/"64",
           "Most rows of logits of a step">,
    Option<"fewTokens", "few-tokens", "int64_t", /*default=*/"8",
           "Most tokens of a step in which each worker computes norms and "
           "other rows for itself, so that none waits for them; 0 for never">];
  let statistics = [
    Statistic<"numInstructions", "instructions", "Instructions written">,
    Statistic<"numBarriers", "barriers", "Barriers written">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::llmir::mllm::MLLMDialect"];
}

def ConvertProgramToLLVM : Pass<"convert-program-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turn a program into one native SPMD function";
  let description = [{
    The code fragment becomes `llvm.func @llmir_step(ctx, worker, workers)`:
    buffers are addresses in the arena, weights are addresses in the weight
    section (by a constant table of offsets where they differ by layer), labels
    and jumps are blocks and branches, and a barrier or a call of the runtime is a
    call through the runtime's table. Where the program sets fields, each worker
    has a copy of the step context on its stack. Kernels are `llvm.func` already.

    Fails when a buffer has no offset yet or a kernel has no function.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // LLMIR_CONVERSION_PASSES_TD
