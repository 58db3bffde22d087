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
  let summary = "Lower a traced model to ragged batches and a paged cache";
  let description = [{
    Replaces the subgraphs of a traced model by functions in the `llm` dialect.
    Parameters (`mllm.tensor.register`) are kept.

    The subgraph marked `entry` becomes the public function `@step`, whose
    operands describe one step of a ragged batch (T tokens of S sequences, R
    rows whose logits are needed):
    ```mlir
    func.func @step(%token_ids: tensor<?xi32>, %positions: tensor<?xi32>,
        %query_offsets: tensor<?xi32>, %seq_lens: tensor<?xi32>,
        %slot_mapping: tensor<?xi32>, %block_tables: tensor<?x?xi32>,
        %logit_rows: tensor<?xi32>, %cache: !llm.paged_kv_cache<…>)
        -> (tensor<?xVxf32>, !llm.paged_kv_cache<…>)
    ```
    Every other subgraph becomes a private function of the same name. Its
    arguments are its data inputs; those of `%positions, %query_offsets,
    %seq_lens, %slot_mapping, %block_tables` that it or a callee needs; the
    cache, if it uses it; its layer index (`index`), if it uses exactly one
    layer; and its weights, in order of first use. It returns its results and
    the cache. `llm.weight` is used in `@step` only, so that identical layers
    have identical functions. The outermost functions with a single layer are
    marked `llm.layer`.

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
    Logits are computed for `%logit_rows` only: `llm.select_rows` is placed
    before the row-wise ops that compute the logits.

    Attention is fused first (`mllm-fuse-attention`), and a leading dimension of
    size 1 of all values, the single sequence of the model, is dropped: a trace
    with `[1, tokens]` yields the same step as one with `[tokens]`. All other ops
    are lowered as with `form=function`; one dimension of a value, that of the
    tokens, may then be dynamic. An op that combines or moves tokens, other than
    attention over the cache, is refused.

    With `form=function`, every subgraph becomes a function of the same name
    with the same arguments and results, all of static shapes.

    By one table for both forms, each op is lowered to an op of `llm` if there is
    one, otherwise to loops (`linalg.generic`) and `tensor` ops. Ops without such a counterpart (gathers
    by index tensors, sorts) are kept; `convert-llm-to-program` has kernels for
    them. Caches are empty when a function starts. Fails if a size is dynamic,
    or if a tensor is not on the CPU.

    Does nothing to a module without subgraphs. Fails if there is neither an
    `entry` nor a module-level call of the model; if the entry is not (token
    ids) -> (logits), or has several sequences; if layers of the cache differ in
    the number of heads or the head size; and if keys or values from the cache
    are used by ops other than attention.
  }];
  let options = [
    Option<"form", "form", "std::string", "\"step\"",
           "step: one step of a decoder; function: functions with static shapes">,
    Option<"kvElementType", "kv-element-type", "std::string", "\"f32\"",
           "Element type of the cache: f32, f16, bf16 or q8 (i8 with scales)">,
    Option<"blockSize", "block-size", "int64_t", "16",
           "Number of tokens per cache block, a power of two (llmir compile uses 64)">,
    Option<"contextLength", "context-length", "int64_t", "0",
           "Maximum number of tokens of a sequence; 0: that of the model">
  ];
  let statistics = [
    Statistic<"subgraphsConverted", "subgraphs-converted", "Subgraphs converted to functions">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::llm::LLMDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def ConvertLLMToLinalg : Pass<"convert-llm-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower the llm dialect to linalg, tensor, arith and math";
  let description = [{
    Lowers each op of the `llm` dialect to loops over tensors (`linalg.generic`,
    whose maps are projected permutations), slices and reshapes; sizes may be
    dynamic. Ops of other dialects are not changed. Sums and intermediate
    results are f32 for all element types, and a result is rounded once, as the
    description of the op specifies.

    | ops | lowered to |
    |---|---|
    | `attention` | products, scores, a softmax relative to the maximum score, and the weighted sum of the values; query heads are split into groups, so that no map divides |
    | `rms_norm`, `layer_norm`, `softmax` | a reduction per row, then loops over elements |
    | `rope` | cosines and sines of angles in f64, then a rotation of two slices of each head |
    | `silu`, `gelu`, `swiglu`, `add`, `mul` | one loop nest |
    | `select_rows`, `embedding` | a gather (`tensor.extract` in a loop) |
    | `mean_rows` | a sum over all rows, of which those of the sequence are added |
    | `linear`, `sharded_linear` | a reduction over ascending k, then the bias |
    | `shard` with `shard_index`, or in a function of one rank | `tensor.extract_slice`; dynamic sizes are checked at run time (`cf.assert`) |
    | `fused_linear`, `add_rms_norm` | their decomposition, as by `-llm-lowering` |
    | `quant_params`, `quantize`, `dequantize`, `quantized_matmul` | loops over integers; a grouped dimension is split into two; the matrix is never dequantized as a whole |
    | `moe_route` | ranks of logits, counted by comparison, then the selected experts |
    | `moe_ffn` | products that gather each token's experts, summed in ascending order of experts |
    | `sample` without a temperature | the token with the greatest logit |
    | `all_gather`, `all_reduce`, `reduce_scatter` with `group_size` 1 | their operand |
    | with `cache=runtime`: `create_paged_cache`, `reserve_kv`, `append_kv`, `rope_append_kv`, `lookup_kv`, `block_tables`, `fork_kv`, `free_kv` | calls to the C runtime `llmir-c/KVCache.h` |
    | with `cache=runtime`: `paged_attention`, `fused_attention` | a loop over sequences that gathers keys and values and computes `attention` |

    Rejected, each with an error that names the op and the alternative:

    | ops | alternative |
    |---|---|
    | `weight` | `weights=arguments`: each parameter that a function or its callees reference becomes a trailing argument, in order of first use, with its name in `llmir.weight` |
    | ops on a paged cache, and functions that take or return one | `cache=runtime` |
    | `all_gather`, `all_reduce`, `reduce_scatter` of several ranks | `convert-llm-to-program` |
    | `shard` without `shard_index` in a function with `llm.num_ranks` | a `shard_index` |
    | `sample` with a temperature | a temperature of 0 |

    Types: `!llm.quantized_tensor` becomes the tensor of its integers (scales
    and zero points are operands of the ops that use them); with a `format`, it
    becomes the i8 tensor of its bytes, as in a checkpoint, where a row holds
    the blocks of a row. `!llm.sharded_tensor` becomes the slice. With
    `cache=runtime`, `!llm.paged_kv_cache` becomes `!llvm.ptr`, the cache of the
    runtime, and arrays are passed to calls through `bufferization` and
    `memref`; no cache may be used after an append to it
    (`-llm-check-cache-use`). A cache that is created in a block and does not
    leave it (the block is the only one of its region, and no operand of its
    terminator is a cache) is destroyed at the end of the block; all other
    caches belong to the caller. Functions, calls, branches and `scf` ops are
    converted accordingly. Attributes of the dialect (`llm.constant`,
    `llm.layer`, …) are dropped.

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
           "refuse: llm.weight is an error; arguments: it becomes a function argument">,
    Option<"cache", "cache", "std::string", "\"refuse\"",
           "refuse: ops on a paged cache are errors; runtime: they become calls to the C runtime llmir-c/KVCache.h">
  ];
  let statistics = [
    Statistic<"numConverted", "ops-converted", "llm ops converted">
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
  let summary = "Convert the optimized step, or a single function, to a program of kernels and barriers";
  let description = [{
    Replaces the functions of the step `@step`, or the only function of a module
    without a step, by two fragments: `@weights` (the location of each packed
    weight) and `@llmir_step` (the instructions that every worker runs).

    Each op becomes an instruction with a kernel; chains of element-wise ops become
    one kernel; consecutive calls of one layer function become a loop over the layer
    register. The only barriers are those of steps with split attention:
    `-mllm-synchronize-program` inserts all others.

    ```mlir
    %y = llm.linear %x, %w : tensor<?x64xf32>, tensor<172x64xbf16> -> tensor<?x172xf32>
    ```
    becomes
    ```mlir
    mllm.program.instruction {
      %w = mllm.program.get_weight @…up_proj.weight : memref<22528xi8>
      mllm.kernel.linear weights(%w : memref<22528xi8>) ins(%x : memref<512x32xf32>)
          outs(%y : memref<512x176xf32>) {format = "bf16", rows = 172, columns = 64}
    }
    ```
    A function other than a step must have static shapes. Its program sets the
    fields of the step context for each kernel (`set_field`), declares the
    buffers of its arguments, constants and results (`input`, `constant`,
    `output`), and has one buffer per value and rank (`llm.num_ranks`); see
    docs/Codegen.md. Ops of `arith`, `math`, `tensor` and `linalg` become
    kernels like those of `llm`, scalars are tensors of rank 0, and `scf.if`,
    `scf.for` and `scf.while` become labels and jumps like `mllm.cf` ops.

    Fails for ops without a kernel; in a step, for index operands that are not
    the step's arguments (positions, block tables, …) and for calls whose
    results do not feed the next layer; in other functions, for dynamic sizes, a
    second cache, calls, unsupported control flow and layer indices that are not
    constant.
  }];
  let options = [
    Option<"tokenBudget", "token-budget", "int64_t", /*default=*/"512",
           "Maximum number of tokens of a step, which is the number of buffer rows">,
    Option<"maxLogitRows", "max-logit-rows", "int64_t", /*default=*/"64",
           "Maximum number of logit rows of a step">];
  let statistics = [
    Statistic<"numInstructions", "instructions", "Instructions created">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::llmir::mllm::MLLMDialect"];
}

def ConvertProgramToLLVM : Pass<"convert-program-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower a program to a single SPMD function";
  let description = [{
    The code fragment becomes `llvm.func @llmir_step(ctx, worker, workers)`:
    buffers become addresses in the arena, weights become addresses in the
    weight section (through a constant table of offsets if they differ by
    layer), labels and jumps become blocks and branches, and barriers and
    runtime calls become calls through the runtime's table. If the program sets
    fields, each worker has a copy of the step context on its stack. Kernels are
    already functions, which `mllm.program.call` calls.

    Fails if a buffer has no offset or a kernel has no function.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // LLMIR_CONVERSION_PASSES_TD
