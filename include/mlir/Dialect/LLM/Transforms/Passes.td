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
  let summary = "Make equal private functions one";
  let description = [{
    Of private functions that differ in nothing but their names and locations
    the first stays and is called in place of the others, which are erased.
    Callees are compared before their callers, so that whole trees of functions
    become one: equal layers of a model are compiled once and called with their
    weights and their layer number.

    ```mlir
    call @layers.0(%x, %w0)                call @layers.0(%x, %w0)
    call @layers.1(%y, %w1)           ⇒    call @layers.0(%y, %w1)
    func private @layers.0(…) {…}          func private @layers.0(…) {…}
    func private @layers.1(…) {…}
    ```

    Does nothing to public functions, which others may call by name; to
    functions without a body, which could be anything; and to functions that
    call themselves, directly or not, since their bodies differ in the name of
    the callee. A function that differs in an attribute, a type or a constant
    is another function.
  }];
  let statistics = [
    Statistic<"functionsMerged", "functions-merged", "Functions that became another one">
  ];
}

def InlineModules : Pass<"llm-inline-modules", "::mlir::ModuleOp"> {
  let summary = "Inline submodules into their layers, and what is no layer into the step";
  let description = [{
    Leaves two levels of functions: public functions, and the layers that they
    call. A layer is a private function that is marked `llm.layer`, or that is
    called several times from one public function after everything above it was
    inlined. Every other call is inlined; private functions that are not called
    any more are erased.

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

    Where layers have no mark, run `-llm-deduplicate-functions` first: they are
    recognised by being called several times.

    Does nothing to calls of functions without a body, nor to a call in an op
    whose region has one block, as `scf.if` has, of a function of several. Fails
    when functions call each other in a circle.
  }];
  let statistics = [
    Statistic<"callsInlined", "calls-inlined", "Calls that were replaced by the callee's body">,
    Statistic<"functionsErased", "functions-erased", "Private functions without a caller left">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def CheckCacheUse : Pass<"llm-check-cache-use", "::mlir::func::FuncOp"> {
  let summary = "Report a cache value that is used after an append to it";
  let description = [{
    A value of type `!llm.paged_kv_cache` is the cache at one moment. After
    bufferization there is one cache in memory and appends are in place, so
    nothing may use the value of an earlier moment. The pass changes nothing;
    it fails with an error at the later use and a note at the append.

    An op that takes a cache and gives one (`append_kv`, a call) or hands it on
    (a return, a branch) uses the cache up; other ops read it.

    ```mlir
    %c1 = llm.append_kv %c0, %k, %v slots(%s) …
    %o = llm.paged_attention %q, %c0, …   // error: uses the cache after an append to it
    ```

    Also reported: two cache operands of one op that are the same value, and an
    append in a loop to a cache from outside of the loop, which the second
    iteration would use again. Regions of one op that exclude each other (the
    two of an `scf.if`) may each use a cache up.
  }];
  let statistics = [
    Statistic<"cacheValues", "cache-values", "Cache values that were checked">
  ];
}

def FuseAttention : Pass<"llm-fuse-attention"> {
  let summary = "Make attention, and the ops around it, one op each";
  let description = [{
    Attention that is written as two products with a softmax between them
    becomes `llm.attention`, whatever its ops and the layout of its operands.

    ```mlir
    %s = linalg.batch_matmul … (%q, %kt)
    %t = arith.mulf %s, %scale                  ⇒   %o = llm.attention %q, %k, %v mask(%m)
    %u = arith.addf %t, %m                               {scale = 0.125 : f64}
    %p = llm.softmax %u
    %o = linalg.batch_matmul … (%p, %v)
    ```

    Elements are followed through transposes, reshapes, broadcasts and casts, in
    `linalg` (named ops and `linalg.generic`), `tensor`, `arith` on tensors, `llm`
    and `mllm.linalg`, so that these are the same attention:
    - products of `[B, T, D]`, of `[B, H, T, D]`, and of `[B * H, T, D]` that a
      reshape makes of these; `linalg` contractions of any order of dimensions and
      `mllm.linalg.matmul`. Operands become `[B, T, H, D]` by transposes, which
      meet those of the source: what it transposed itself is taken as it was;
    - keys and values that are repeated for the query heads that share them
      (neighbors), by `mllm.linalg.repeat`, a broadcast and a reshape, or by the
      product itself: `llm.attention` gets the heads that there are;
    - a scale as one factor or divisor of the scores, the queries or the keys;
    - a mask that is added, or whose condition selects the scores or -inf
      (`arith.select`, `mllm.linalg.where`), of any shape that broadcasts to
      `[B, H, Tq, Tk]`;
    - a causal mask or a window: `mllm.linalg.causal_mask`, comparisons of indices
      (`linalg.index`, or ranges of `mllm.linalg.fill`), or a constant.

    Scores and probabilities are not rounded to the element type any more, so
    results agree within its rounding. A query that sees no key gives zeros, where
    a softmax of -inf alone may give NaN. Attention to what `llm.lookup_kv` has
    gathered becomes `llm.paged_attention`, which reads the cache in place.

    With `merge-projections`, also
    ```mlir
    linear(x, wq), linear(x, wk), linear(x, wv)  ⇒  fused_linear x weights(wq, wk, wv)
    linear(rms_norm(x, g), w)                    ⇒  fused_linear x norm(g) weights(w)
    rms_norm(add(x, r), g)                       ⇒  add_rms_norm x, r, g
    append_kv(c, rope(k, p), v) slots(s)         ⇒  rope_append_kv c, k, v positions(p) slots(s)
    ```
    These mean the same sums in the same order, so results keep their bits.

    Does nothing to a product that adds to something, since attention has no
    addend; a softmax over another dimension than the keys; scores or
    probabilities that another op reads, too; a scale that is not one positive
    number, or that scales a mask as well; two masks; a mask of some of the heads;
    a comparison that is not shown to be causal or a window, or whose sizes are
    dynamic; a finite number in the place of -inf, unless it is at most -1e9 (f16:
    -6e4) and the mask is causal or a window with at least as many keys as
    queries, and the only one; mixed element types, since each op rounds to its own, and f64; types
    with an encoding; a result whose type says a size that the query's does not;
    reshapes of dynamic sizes; lookups where a sequence may be shorter than what
    was looked up, since its zeros would take part, or whose cache is used up
    before the attention; norms and rotations with another use, which would be
    computed twice; a sum that is used before its norm, or of another rank than 2
    or 3.
  }];
  let options = [
    Option<"mergeProjections", "merge-projections", "bool", /*default=*/"true",
           "Also merge projections, norms, residual connections and rotations">];
  let dependentDialects = ["::mlir::llm::LLMDialect"];
}

def LLMLowering : Pass<"llm-lowering"> {
  let summary = "Take apart the ops that a target has no kernel for";
  let description = [{
    Every op of LLMFusedOps.td becomes the ops that it means:
    ```mlir
    fused_linear x norm(g) weights(w0, w1)   ⇒  n = rms_norm(x, g); linear(n, w0), linear(n, w1)
    add_rms_norm x, r, g                     ⇒  s = add(x, r); rms_norm(s, g)
    rope_append_kv c, k, v positions(p) …    ⇒  append_kv(c, rope(k, p), v) …
    ```
    The op's own description is the definition, so results keep their bits.
    What is left has one kernel per op, or is taken apart by
    `-llm-lower-kv-cache-ops`. Does nothing to other ops.
  }];
  let dependentDialects = ["::mlir::llm::LLMDialect"];
}

def Shard : Pass<"llm-shard", "::mlir::ModuleOp"> {
  let summary = "Divide a model among ranks, by parts of its layers or by layers";
  let description = [{
    `num-ranks`: tensor parallelism (arXiv 1909.08053). The functions become
    what every rank runs on its own values (`llm.num_ranks`). A projection of
    rows that every rank has is divided by outputs when everything up to the
    next projections works on parts of a row (element-wise ops, heads, rotation,
    the cache, attention); the next projections are divided by inputs, and their
    results summed over the ranks: two sums a decoder layer, which is the least.
    ```mlir
    %g = linear %x, %wg                 %g = linear %x, (shard %wg {dim = 0, num_shards = 2})
    %a = swiglu %g, %u             ⇒    %a = swiglu %g, %u
    %y = linear %a, %wd                 %p = linear %a, (shard %wd {dim = 1, num_shards = 2})
                                        %y = all_reduce %p {group_size = 2}
    ```
    A projection that is the function's result is divided by outputs and
    gathered. Caches hold the heads of their rank.

    `num-stages`: pipeline parallelism. A public function that goes through the
    layers of a cache calls one private function per stage (`llm.stage`), each
    with a contiguous range of layers.

    Restrictions: sizes and head counts that the ranks do not divide stay whole;
    so do projections with a bias whose inputs would be divided, since each rank
    would add it, quantized weights (shard first, then quantize), and attention
    with slopes or a mask, which differ by head. Caches are divided everywhere or
    nowhere. Sums over ranks are rounded in another order than one rank's sum
    over k, so results agree within rounding only; with `num-stages` alone they
    keep their bits.
  }];
  let options = [
    Option<"numRanks", "num-ranks", "int64_t", /*default=*/"1",
           "Ranks that share each layer">,
    Option<"numStages", "num-stages", "int64_t", /*default=*/"1",
           "Stages that share the layers">];
  let statistics = [
    Statistic<"columnParallel", "column-parallel", "Projections divided by outputs">,
    Statistic<"rowParallel", "row-parallel", "Projections divided by inputs">,
    Statistic<"collectives", "collectives", "Sums and gathers over ranks">];
  let dependentDialects = ["::mlir::llm::LLMDialect", "::mlir::func::FuncDialect"];
}

def OptimizeKVCache : Pass<"llm-optimize-kv-cache", "::mlir::func::FuncOp"> {
  let summary = "Fewer ops on caches: dead lookups, equal appends, append and attention";
  let description = [{
    ```mlir
    %k, %v = lookup_kv %c, …                            (nobody reads %k or %v)  ⇒  nothing

    %c1 = append_kv %c, %k, %v …
    %c2 = append_kv %c, %k, %v …    the same operands   ⇒  %c1 in place of %c2

    %c1 = append_kv %c, %k, %v slots(%s) layer(%l)
    %o = paged_attention %q, %c1, … offsets(%t) layer(%l)
        ⇒  %o, %c1 = fused_attention %q, %k, %v, %c, … slots(%s) offsets(%t) layer(%l)
    ```
    Each op means what the ops before it meant, in the same order of numbers, so
    results keep their bits.

    Restrictions. Appends are equal only if they are to the same cache value: in
    a chain each append is to another one, so it is never merged, whatever its
    keys and values. Not merged either: appends without a cache operand, since
    each makes a cache. Append and attention are fused only if both are ragged or
    both batched, mean the same layer, and stand in one block at a place where
    all operands are known and before which nobody else uses the appended cache;
    where the attention reads block indices that the append gives, there is no
    such place.
  }];
  let statistics = [
    Statistic<"lookupsErased", "lookups-erased", "Lookups whose results nobody read">,
    Statistic<"appendsMerged", "appends-merged", "Appends that were equal to an earlier one">,
    Statistic<"appendsFused", "appends-fused", "Appends that became one op with an attention">];
}

def LowerKVCacheOps : Pass<"llm-lower-kv-cache-ops", "::mlir::func::FuncOp"> {
  let summary = "Batched cache ops become reserve_kv and ragged ones";
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
    What remains has a kernel, or is a call of the runtime's cache manager
    (create, reserve, fork, free, and finding block tables). Results keep their bits.

    Restrictions: the number of tokens of a sequence must be in the type, since
    `reserve_kv` reserves that many, and for attention the size of the batch, of
    which the offsets are made (2^20 at most); a mask that differs by head, or that sequences or
    queries share, has no ragged form. Such ops stay as they are.
  }];
  let statistics = [
    Statistic<"batchedLeft", "batched-left", "Batched ops that stay">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::llm::LLMDialect",
                           "::mlir::tensor::TensorDialect"];
}

class LLM_BlockSizePass<string flag> : Pass<flag, "::mlir::func::FuncOp"> {
  let options = [
    ListOption<"candidates", "candidates", "int64_t",
               "Block sizes in tokens to choose from (16, 32, 64, 128, 256)">,
    Option<"streamStartBytes", "stream-start-bytes", "int64_t", /*default=*/"256",
           "Bytes that a core of the target could have read while it finds the next block">,
    Option<"typicalLength", "typical-length", "int64_t", /*default=*/"0",
           "Tokens of a usual sequence; 0: half of what block tables have room for">];
}

def AnalyzeBlockSize : LLM_BlockSizePass<"llm-analyze-block-size"> {
  let summary = "Report what block sizes of a cache would cost";
  let description = [{
    A remark for each cache type of a function: the longest sequence that the
    block tables of ragged attention (their static columns times the block size)
    or the type allow, whether
    sequences share prefix blocks (the function forks one), and the candidate
    that costs least; a note for each candidate with its cost. Changes nothing.

    The cost of block size b, with n tokens in a usual sequence:
    ```
    borders = stream-start-bytes / (bytes of K and V of one head in a block)
    unused  = w / (n + w),   w = (b - 1) / 2, twice that where prefixes are shared
    cost    = borders + unused
    ```
    `borders` is the part of reading that is lost each time the next block must
    be found, `unused` the part of memory that the last block of each sequence,
    and the copied block in which sequences part, hold in vain. One counts like
    the other: decoding is bound by reading the cache, and the number of
    sequences by its size.
  }];
}

def OptimizeBlockSize : LLM_BlockSizePass<"llm-optimize-block-size"> {
  let summary = "Give caches the block size that costs least";
  let description = [{
    The cost is that of `-llm-analyze-block-size`.
    ```mlir
    %c = create_paged_cache : !llm.paged_kv_cache<f16, 1, 8, 128, 256, 512>
    %c1, %s, %b, %t, %l = reserve_kv %c, %ids … -> (…, tensor<4x2xi32>, …)
        ⇒  %c = create_paged_cache : !llm.paged_kv_cache<f16, 1, 8, 128, 16, 512>
           %c1, %s, %b, %t, %l = reserve_kv %c, %ids … -> (…, tensor<4x32xi32>, …)
    ```
    All values of the type change together, through regions as well; a remark
    says from what to what, or why not. Numbers in keys, values and attention
    stay the same, sums over positions may be rounded in another order.

    Restrictions: the cache must be made in the function and stay in it, since
    callers have the type too; block indices must come from cache ops, block
    tables and slots from `reserve_kv` or `block_tables`, and go to cache ops
    only, since their numbers mean other tokens with another block size.
  }];
  let statistics = [
    Statistic<"cachesChanged", "caches-changed", "Cache types that got another block size">];
}

def LLMQuantize : Pass<"llm-quantize"> {
  let summary = "Store the weights of projections in few bits";
  let description = [{
    A projection by a plain weight becomes a product with the quantized weight,
    which is made from the plain one and packed once, when compiling:
    ```mlir
    %y = llm.linear %x, %w bias %b     ⇒   %s = llm.quant_params %w {axis = 0, bits = 8 …}
                                           %q = llm.quantize %w, %s
                                           %y = llm.quantized_matmul %x, %q, %s bias(%b)
                                                {transpose_rhs}
    ```
    A weight of several projections is quantized once. With `activations=int8`
    the products have `activation_bits = 8`, so that they are sums of products
    of integers, and `activation_group = 64` where weights have a scale for a
    row or for more than 32 neighbours.

    What is dequantized only to be multiplied is not dequantized, in `llm` and
    in linalg (a contraction `[m, k] x [k, n]` or `[n, k]` into zeros):
    ```mlir
    %w = llm.dequantize %q, %s
    %y = linalg.matmul ins(%x, %w) outs(%zeros)   ⇒   %y = llm.quantized_matmul %x, %q, %s
    ```

    Restrictions:
    - only `llm.linear`: quantize before `-llm-fuse-attention` merges
      projections; tables of embeddings are read a row at a time, so that few
      bits save nothing there; `moe_ffn` is told no scales;
    - not projections whose name `exclude` matches: the projection to the
      vocabulary is left alone unless it is asked for, since an error there
      changes tokens and nothing later makes up for it;
    - and, with a remark that says why: weights that are computed, since they
      would be quantized in every step; weights that an embedding reads too,
      since both forms would be in memory; rows that are not whole groups, since
      a shorter group would have no place in the type.

    Results change by what the weights are rounded; `-llm-analyze-quantization`
    says how much. Weights that are quantized already stay as they are.
  }];
  let options = [
    Option<"scheme", "scheme", "std::string", /*default=*/"\"int8\"",
           "int8 or int4, with a scale per row; :g32, :g64 or :g128 for one per group of that many inputs; :asym for zero points">,
    Option<"activations", "activations", "std::string", /*default=*/"\"none\"",
           "none, or int8: inputs are quantized in each step, in groups of 32">,
    Option<"include", "include", "std::string", /*default=*/"\"\"",
           "Regular expression; only projections that have a matching name (the weight's symbol, or a name in a location)">,
    Option<"exclude", "exclude", "std::string", /*default=*/"\"(^|[.])lm_head([.]|$)\"",
           "Regular expression; no projection that has a matching name">,
    Option<"minElements", "min-elements", "int64_t", /*default=*/"0",
           "Numbers that a weight has at least to be quantized">];
  let statistics = [
    Statistic<"linearsQuantized", "linears-quantized", "Projections whose weight was quantized">,
    Statistic<"linearsSkipped", "linears-skipped", "Projections that were left with a remark">];
  let dependentDialects = ["::mlir::llm::LLMDialect"];
}

def AnalyzeQuantization : Pass<"llm-analyze-quantization"> {
  let summary = "Report what each quantization would do to each weight";
  let description = [{
    For each weight of a projection whose numbers are known, a remark says which
    of `schemes` takes the least memory among those within `bound`, and a note
    for each of them how far off it is:
    ```
    remark: 8 x 64 weight @q_proj: int4:g32 is the smallest within an nmse of 0.01
    note: int8: nmse 3.2e-05, largest error 0.011, 8.5 bits a number
    note: int4:g32: nmse 0.0061, largest error 0.17, 5 bits a number
    ```
    The normalised mean squared error (nmse) is Σ (w - ŵ)² / Σ w²; ŵ is what
    `quantize` and `dequantize` with the scales of `quant_params` give, by the
    reference implementation. Of schemes that take equal memory the nearest one
    is chosen. Schemes whose groups do not divide a row are not named.

    Numbers are known of constants, and of `llm.weight` where the pass was
    created with a source of parameters (`createAnalyzeQuantization(options,
    parameters)`). Changes nothing.
  }];
  let options = [
    ListOption<"schemes", "schemes", "std::string",
               "Schemes as of -llm-quantize; all of them where none is given">,
    Option<"bound", "bound", "double", /*default=*/"0.01",
           "Largest nmse that is acceptable">];
  let statistics = [
    Statistic<"weightsAnalyzed", "weights-analyzed", "Weights that were reported">,
    Statistic<"weightsUnknown", "weights-unknown", "Weights whose numbers are not known">];
}

def FoldConstants : Pass<"llm-fold-constants"> {
  let summary = "Ops of constants become constants";
  let description = [{
    An op of the `llm` dialect whose operands are all constants becomes what the
    reference library says that it is:
    ```mlir
    %t = llm.embedding %ids, %table     (both constant)   ⇒   %t = arith.constant dense<…>
    ```
    The numbers are the reference's, computed in f64 and rounded once; code of a
    target, which sums in f32, agrees within rounding.

    Restrictions: results of more than `max-elements` numbers, which would make
    the program larger; operands of more than 2^24, which would be written out
    for it; results that are no tensors (a quantized tensor has no
    constant); collectives, and slices of the rank that runs them; ops that are
    errors with these operands, which stay for who runs them to report.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", /*default=*/"1024",
           "Numbers that a result has at most">];
  let statistics = [
    Statistic<"opsFolded", "ops-folded", "Ops that became constants">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // LLM_TRANSFORMS_PASSES_TD
