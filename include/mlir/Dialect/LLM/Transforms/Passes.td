//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes on the `llm` dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_TRANSFORMS_PASSES_TD
#define LLM_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def DeduplicateFunctions : Pass<"llm-deduplicate-functions", "::mlir::ModuleOp"> {
  let summary = "Merge identical private functions";
  let description = [{
    Private functions that differ only in name and locations are merged into the
    first one. Callees are compared before their callers, so that whole call
    trees are merged: identical layers of a model are compiled once and called
    with their weights and layer index.

    ```mlir
    call @layers.0(%x, %w0)                call @layers.0(%x, %w0)
    call @layers.1(%y, %w1)           ⇒    call @layers.0(%y, %w1)
    func private @layers.0(…) {…}          func private @layers.0(…) {…}
    func private @layers.1(…) {…}
    ```

    Does not merge public functions, which other modules may call by name;
    functions without a body; and recursive functions, directly or indirectly,
    since their bodies differ in the name of the callee. Functions that differ
    in an attribute, a type or a constant are not identical.
  }];
  let statistics = [
    Statistic<"functionsMerged", "functions-merged", "Functions merged into another one">
  ];
}

def InlineModules : Pass<"llm-inline-modules", "::mlir::ModuleOp"> {
  let summary = "Inline submodules into layers, and all but the layers into the step";
  let description = [{
    Leaves two levels of functions: public functions, and the layers that they
    call. A layer is a private function with the attribute `llm.layer`, or one
    that a public function calls more than once after everything above it has
    been inlined. All other calls are inlined, and private functions without
    remaining callers are erased.

    ```mlir
    func @step(…) {                          func @step(…) {
      call @model(…)                           embedding
    }                                          call @layers.0(…)
    func private @model(…) {                   call @layers.0(…)
      embedding                       ⇒      }
      call @layers.0(…)                      func private @layers.0(…) {
      call @layers.0(…)                        append_kv, paged_attention
    }                                          linear, silu, mul, linear
    func private @layers.0(…) {              }
      call @attn(…)
      call @mlp(…)
    }
    ```

    If layers do not have the attribute, run `-llm-deduplicate-functions` first:
    layers are then recognized by having several calls.

    Does not inline calls of functions without a body, nor calls of functions
    with several blocks inside an op with single-block regions such as `scf.if`.
    Fails on recursive functions.
  }];
  let statistics = [
    Statistic<"callsInlined", "calls-inlined", "Calls inlined">,
    Statistic<"functionsErased", "functions-erased", "Private functions erased because no caller remained">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def CheckCacheUse : Pass<"llm-check-cache-use", "::mlir::func::FuncOp"> {
  let summary = "Report uses of a cache value after an append to it";
  let description = [{
    A value of type `!llm.paged_kv_cache` is the state of the cache at one point
    of the program. Bufferization keeps one cache in memory and makes appends in
    place, so that an earlier state may not be used any more. The pass does not
    modify the IR; it fails with an error at the later use and a note at the
    append.

    An op with a cache operand and a cache result (`append_kv`, a call), or one
    that forwards the cache (a return, a branch), consumes the cache; other ops
    read it.

    ```mlir
    %c1 = llm.append_kv %c0, %k, %v slots(%s) …
    %o = llm.paged_attention %q, %c0, …   // error: uses the cache after an append to it
    ```

    Also reported: two cache operands of one op that are the same value, and an
    append in a loop to a cache defined outside the loop, which the second
    iteration would use again. Mutually exclusive regions of one op (such as
    those of `scf.if`) may each consume a cache.
  }];
  let statistics = [
    Statistic<"cacheValues", "cache-values", "Cache values checked">
  ];
}

def FuseAttention : Pass<"llm-fuse-attention"> {
  let summary = "Fuse attention, and the ops around it, into single ops";
  let description = [{
    Fuses attention written as two matrix products with a softmax between them
    into `llm.attention`, independent of the ops used and of the layout of the
    operands.

    ```mlir
    %s = linalg.batch_matmul … (%q, %kt)
    %t = arith.mulf %s, %scale                  ⇒   %o = llm.attention %q, %k, %v mask(%m)
    %u = arith.addf %t, %m                               {scale = 0.125 : f64}
    %p = llm.softmax %u
    %o = linalg.batch_matmul … (%p, %v)
    ```

    Elements are followed through transposes, reshapes, broadcasts and casts, in
    `linalg` (named ops and `linalg.generic`), `tensor`, `arith` on tensors,
    `llm` and `mllm.linalg`, so that all of the following are recognized:
    - products of `[B, T, D]`, of `[B, H, T, D]`, and of `[B * H, T, D]`
      reshaped from these; `linalg` contractions with any order of dimensions,
      and `mllm.linalg.matmul`. Operands are transposed to `[B, T, H, D]`;
      transposes that cancel those of the source are not created;
    - keys and values repeated for the (consecutive) query heads that share
      them, by `mllm.linalg.repeat`, by a broadcast and a reshape, or by the
      product itself: `llm.attention` takes the KV heads that are not repeated;
    - a scale that multiplies or divides the scores, the queries or the keys;
    - an additive mask, or a condition that selects between the scores and -inf
      (`arith.select`, `mllm.linalg.where`), of any shape that broadcasts to
      `[B, H, Tq, Tk]`;
    - a causal mask or a window: `mllm.linalg.causal_mask`, comparisons of
      indices (`linalg.index`, or ranges of `mllm.linalg.fill`), or a constant.

    Scores and probabilities are no longer rounded to the element type, so
    results agree up to that rounding. A query without visible keys yields
    zeros, where a softmax of -inf alone may yield NaN. Attention over the
    results of `llm.lookup_kv` becomes `llm.paged_attention`, which reads the
    cache in place.

    With `merge-projections`, also
    ```mlir
    linear(x, wq), linear(x, wk), linear(x, wv)  ⇒  fused_linear x weights(wq, wk, wv)
    linear(rms_norm(x, g), w)                    ⇒  fused_linear x norm(g) weights(w)
    rms_norm(add(x, r), g)                       ⇒  add_rms_norm x, r, g
    append_kv(c, rope(k, p), v) slots(s)         ⇒  rope_append_kv c, k, v positions(p) slots(s)
    ```
    These compute the same sums in the same order, so results are bit-identical.

    Does not fuse: products that accumulate into a nonzero tensor; a softmax
    over a dimension other than the keys; scores or probabilities with other
    uses; a scale that is not one positive constant, or that scales a mask as
    well; two masks; a mask of some of the heads; a comparison that cannot be
    proved to be causal or a window, or whose sizes are dynamic; a finite
    constant in place of -inf, unless it is at most -1e9 (f16: -6e4) and the
    mask is causal or a window with at least as many keys as queries, and the
    only one; mixed element types, since each op rounds to its own, and f64;
    types with an encoding; a result type with a static size that is dynamic in
    the query type; reshapes of dynamic sizes; lookups where a sequence may be
    shorter than the number of looked-up tokens, since the zero padding would
    contribute, or whose cache is consumed before the attention; norms and
    rotations with other uses, which would be computed twice; a sum that is used
    before its norm, or whose rank is neither 2 nor 3.
  }];
  let options = [
    Option<"mergeProjections", "merge-projections", "bool", /*default=*/"true",
           "Also merge projections, norms, residual connections and rotations">];
  let dependentDialects = ["::mlir::llm::LLMDialect"];
}

def LLMLowering : Pass<"llm-lowering"> {
  let summary = "Decompose fused ops";
  let description = [{
    Replaces every op of LLMFusedOps.td by the equivalent ops:
    ```mlir
    fused_linear x norm(g) weights(w0, w1)   ⇒  n = rms_norm(x, g); linear(n, w0), linear(n, w1)
    add_rms_norm x, r, g                     ⇒  s = add(x, r); rms_norm(s, g)
    rope_append_kv c, k, v positions(p) …    ⇒  append_kv(c, rope(k, p), v) …
    ```
    The decomposition is the definition of the op, so results are bit-identical.
    Each remaining op has a kernel or is lowered by `-llm-lower-kv-cache-ops`.
    Does not change other ops.
  }];
  let dependentDialects = ["::mlir::llm::LLMDialect"];
}

def Shard : Pass<"llm-shard", "::mlir::ModuleOp"> {
  let summary = "Shard a model among ranks by tensor and pipeline parallelism";
  let description = [{
    `num-ranks`: tensor parallelism (arXiv 1909.08053). Every rank runs the
    resulting functions on its own values (`llm.num_ranks`). A projection of
    rows that every rank has is divided by outputs if all ops up to the next
    projections can work on parts of a row (element-wise ops, heads, rotation,
    the cache, attention); the next projections are divided by inputs, and their
    results are summed over the ranks: two sums per decoder layer, the minimum.
    ```mlir
    %g = linear %x, %wg                 %g = linear %x, (shard %wg {dim = 0, num_shards = 2})
    %a = swiglu %g, %u             ⇒    %a = swiglu %g, %u
    %y = linear %a, %wd                 %p = linear %a, (shard %wd {dim = 1, num_shards = 2})
                                        %y = all_reduce %p {group_size = 2}
    ```
    A projection whose result the function returns is divided by outputs and
    gathered. Caches hold the heads of their rank.

    `num-stages`: pipeline parallelism. A public function that runs the layers
    of a cache is split into one private function per stage (`llm.stage`), each
    with a contiguous range of layers.

    Restrictions: sizes and head counts that the number of ranks does not divide
    are not sharded; neither are projections with a bias whose inputs would be
    divided, since each rank would add it, quantized weights (shard first, then
    quantize), and attention with slopes or a mask, which differ by head. Caches
    are sharded everywhere or nowhere. Sums over ranks are rounded in a
    different order than one rank's sum over k, so results agree up to rounding;
    with `num-stages` alone they are bit-identical.
  }];
  let options = [
    Option<"numRanks", "num-ranks", "int64_t", /*default=*/"1",
           "Number of ranks that each layer is sharded among">,
    Option<"numStages", "num-stages", "int64_t", /*default=*/"1",
           "Number of pipeline stages that the layers are divided into">];
  let statistics = [
    Statistic<"columnParallel", "column-parallel", "Projections sharded by outputs">,
    Statistic<"rowParallel", "row-parallel", "Projections sharded by inputs">,
    Statistic<"collectives", "collectives", "Sums and gathers over ranks">];
  let dependentDialects = ["::mlir::llm::LLMDialect", "::mlir::func::FuncDialect"];
}

def OptimizeKVCache : Pass<"llm-optimize-kv-cache", "::mlir::func::FuncOp"> {
  let summary = "Erase dead lookups, merge equal appends, and fuse appends with attention";
  let description = [{
    ```mlir
    %k, %v = lookup_kv %c, …                            (%k and %v unused)             ⇒  erased

    %c1 = append_kv %c, %k, %v …
    %c2 = append_kv %c, %k, %v …    the same operands   ⇒  %c1 in place of %c2

    %c1 = append_kv %c, %k, %v slots(%s) layer(%l)
    %o = paged_attention %q, %c1, … offsets(%t) layer(%l)
        ⇒  %o, %c1 = fused_attention %q, %k, %v, %c, … slots(%s) offsets(%t) layer(%l)
    ```
    Results are bit-identical.

    Restrictions: appends are equal only if they have the same cache operand, so
    the appends of a chain are never merged. Appends without a cache operand are
    not merged either, since each creates a cache. Append and attention are
    fused only if both are ragged or both batched, refer to the same layer, are
    in one block, and that block has a point that all operands dominate and
    before which the updated cache has no other use; if the attention reads
    block indices that the append yields, there is no such point.
  }];
  let statistics = [
    Statistic<"lookupsErased", "lookups-erased", "Lookups erased because their results were unused">,
    Statistic<"appendsMerged", "appends-merged", "Appends merged into an equal earlier one">,
    Statistic<"appendsFused", "appends-fused", "Appends fused with an attention">];
}

def LowerKVCacheOps : Pass<"llm-lower-kv-cache-ops", "::mlir::func::FuncOp"> {
  let summary = "Lower batched cache ops to reserve_kv and ragged ops";
  let description = [{
    ```mlir
    %c2, %b = append_kv %c, %k, %v, %ids
        ⇒  %c1, %slots, %b, %tables, %lens = reserve_kv %c, %ids {tokens = n}
           %c2 = append_kv %c1, (collapse_shape %k), (collapse_shape %v) slots(%slots)
    paged_attention %q, %c, %blocks, %lens
        ⇒  %tables = block_tables %c, %blocks, %lens
           paged_attention (collapse_shape %q), %c, %tables, %lens offsets([0, n, 2n, …])
    fused_attention …                ⇒  append_kv, paged_attention
    append_kv(%k, %v, %ids)          ⇒  append_kv(%k, %v, %ids, (create_paged_cache))
    ```
    Each remaining op has a kernel or is a call to the runtime's cache manager
    (create, reserve, fork, free, and block table lookup). Results are
    bit-identical.

    Restrictions: the number of tokens per sequence must be static, since
    `reserve_kv` reserves that many; so must, for attention, the batch size,
    which determines the offsets (at most 2^20); a mask that differs by head, or
    that is broadcast over sequences or queries, has no ragged form. Such ops
    are not lowered.
  }];
  let statistics = [
    Statistic<"batchedLeft", "batched-left", "Batched ops not lowered">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::llm::LLMDialect",
                           "::mlir::tensor::TensorDialect"];
}

class LLM_BlockSizePass<string flag> : Pass<flag, "::mlir::func::FuncOp"> {
  let options = [
    ListOption<"candidates", "candidates", "int64_t",
               "Candidate block sizes in tokens (default: 16, 32, 64, 128, 256)">,
    Option<"streamStartBytes", "stream-start-bytes", "int64_t", /*default=*/"256",
           "Cost of switching to the next block, in bytes that a core of the target could have read meanwhile">,
    Option<"typicalLength", "typical-length", "int64_t", /*default=*/"0",
           "Typical sequence length in tokens; 0: half of the capacity of the block tables">];
}

def AnalyzeBlockSize : LLM_BlockSizePass<"llm-analyze-block-size"> {
  let summary = "Report the cost of block sizes of a cache";
  let description = [{
    Emits a remark for each cache type of a function with the maximum sequence
    length that the block tables of ragged attention (their static columns times
    the block size) or the type allow, whether sequences share prefix blocks
    (the function forks one), and the candidate with the lowest cost; and a note
    for each candidate with its cost. Does not modify the IR.

    The cost of block size b, for a typical sequence length n, is
    ```
    borders = stream-start-bytes / (bytes of K and V of one head in a block)
    unused  = w / (n + w),   w = (b - 1) / 2, twice that where prefixes are shared
    cost    = borders + unused
    ```
    `borders` is the fraction of read bandwidth lost on switching between
    blocks; `unused` is the fraction of memory left unused in the last block of
    each sequence and in the block copied when sequences diverge. Both have
    equal weight: decoding is bound by reading the cache, and the number of
    sequences by its size.
  }];
}

def OptimizeBlockSize : LLM_BlockSizePass<"llm-optimize-block-size"> {
  let summary = "Change caches to the block size with the lowest cost";
  let description = [{
    Uses the cost model of `-llm-analyze-block-size`.
    ```mlir
    %c = create_paged_cache : !llm.paged_kv_cache<f16, 1, 8, 128, 256, 512>
    %c1, %s, %b, %t, %l = reserve_kv %c, %ids … -> (…, tensor<4x2xi32>, …)
        ⇒  %c = create_paged_cache : !llm.paged_kv_cache<f16, 1, 8, 128, 16, 512>
           %c1, %s, %b, %t, %l = reserve_kv %c, %ids … -> (…, tensor<4x32xi32>, …)
    ```
    All values of the type change together, including those in regions; a remark
    reports the old and the new block size, or why there is no change. Keys,
    values and attention are computed alike, except that sums over positions may
    be rounded in a different order.

    Restrictions: the cache must be created in the function and not leave it,
    since callers depend on the type; block indices must be results of cache
    ops, block tables and slots must be results of `reserve_kv` or
    `block_tables`, and all of them may be used by cache ops only, since their
    values depend on the block size.
  }];
  let statistics = [
    Statistic<"cachesChanged", "caches-changed", "Cache types whose block size changed">];
}

def LLMQuantize : Pass<"llm-quantize"> {
  let summary = "Quantize the weights of projections";
  let description = [{
    A projection with a plain weight becomes a product with the quantized
    weight, which is quantized and packed once, at compile time:
    ```mlir
    %y = llm.linear %x, %w bias %b     ⇒   %s = llm.quant_params %w {axis = 0, bits = 8 …}
                                           %q = llm.quantize %w, %s
                                           %y = llm.quantized_matmul %x, %q, %s bias(%b)
                                                {transpose_rhs}
    ```
    A weight that several projections use is quantized once. With
    `activations=int8`, the products have `activation_bits = 8`, so that they
    are sums of integer products, and `activation_group = 64` if weights have
    one scale per row or per more than 32 elements.

    A dequantization whose only use is a product is folded into it, in `llm` and
    in linalg (a contraction `[m, k] x [k, n]` or `[n, k]` into zeros):
    ```mlir
    %w = llm.dequantize %q, %s
    %y = linalg.matmul ins(%x, %w) outs(%zeros)   ⇒   %y = llm.quantized_matmul %x, %q, %s
    ```

    Restrictions:
    - only `llm.linear` is quantized, so run the pass before
      `-llm-fuse-attention` merges projections; embedding tables are read one
      row at a time, so that quantization saves nothing; `moe_ffn` does not take
      scales;
    - projections whose name matches `exclude` are not quantized: by default the
      output projection to the vocabulary, where an error changes tokens
      directly;
    - not quantized either, with a remark that states the reason: weights that
      are computed, since they would be quantized in every step; weights that an
      embedding also reads, since both forms would be in memory; weights whose
      row length is not a multiple of the group size.

    Results change by the rounding of the weights, which
    `-llm-analyze-quantization` reports. Quantized weights are not changed.
  }];
  let options = [
    Option<"scheme", "scheme", "std::string", /*default=*/"\"int8\"",
           "int8 or int4, with one scale per row; :g32, :g64 or :g128 for one per group of that many inputs; :asym for zero points">,
    Option<"activations", "activations", "std::string", /*default=*/"\"none\"",
           "Quantization of inputs at run time: none or int8">,
    Option<"include", "include", "std::string", /*default=*/"\"\"",
           "Regular expression; quantize only projections with a matching name (the symbol of the weight, or a name in a location)">,
    Option<"exclude", "exclude", "std::string", /*default=*/"\"(^|[.])lm_head([.]|$)\"",
           "Regular expression; do not quantize projections with a matching name">,
    Option<"minElements", "min-elements", "int64_t", /*default=*/"0",
           "Minimum number of elements of a weight to be quantized">];
  let statistics = [
    Statistic<"linearsQuantized", "linears-quantized", "Projections quantized">,
    Statistic<"linearsSkipped", "linears-skipped", "Projections not quantized, with a remark">];
  let dependentDialects = ["::mlir::llm::LLMDialect"];
}

def AnalyzeQuantization : Pass<"llm-analyze-quantization"> {
  let summary = "Report the error of quantization schemes for each weight";
  let description = [{
    For each weight of a projection whose elements are known, emits a remark
    with the scheme that takes the least memory among those of `schemes` within
    `bound`, and a note with the error of each scheme:
    ```
    remark: 8 x 64 weight @q_proj: int4:g32 is the smallest within an nmse of 0.01
    note: int8: nmse 3.2e-05, largest error 0.011, 8.5 bits per element
    note: int4:g32: nmse 0.0061, largest error 0.17, 5 bits per element
    ```
    The normalized mean squared error (nmse) is Σ (w - ŵ)² / Σ w², where ŵ is
    the result of `quantize` and `dequantize` with the scales of `quant_params`
    in the reference implementation. Among schemes of equal size, the one with
    the smallest error is chosen. Schemes whose groups do not divide a row are
    not listed.

    Elements are known for constants, and for `llm.weight` if the pass was
    created with a source of parameters (`createAnalyzeQuantization(options,
    parameters)`). Does not modify the IR.
  }];
  let options = [
    ListOption<"schemes", "schemes", "std::string",
               "Schemes to compare, as for -llm-quantize (default: all)">,
    Option<"bound", "bound", "double", /*default=*/"0.01",
           "Maximum acceptable nmse">];
  let statistics = [
    Statistic<"weightsAnalyzed", "weights-analyzed", "Weights analyzed">,
    Statistic<"weightsUnknown", "weights-unknown", "Weights whose elements are not known">];
}

def FoldConstants : Pass<"llm-fold-constants"> {
  let summary = "Fold ops on constants with the reference implementation";
  let description = [{
    Replaces an op of the `llm` dialect whose operands are all constants by its
    result in the reference implementation:
    ```mlir
    %t = llm.embedding %ids, %table     (both constant)   ⇒   %t = arith.constant dense<…>
    ```
    The reference computes in f64 and rounds once; compiled code, which
    accumulates in f32, agrees up to rounding.

    Does not fold: results with more than `max-elements` elements, which would
    enlarge the program; operands with more than 2^24 elements, which would have
    to be materialized; results that are not plain tensors (quantized tensors
    have no constants); collectives, and slices selected by the rank; ops that
    fail with these operands, so that the error is reported at run time.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", /*default=*/"1024",
           "Maximum number of elements of a result">];
  let statistics = [
    Statistic<"opsFolded", "ops-folded", "Ops folded to constants">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // LLM_TRANSFORMS_PASSES_TD
