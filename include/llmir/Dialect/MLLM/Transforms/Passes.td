//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes on the levels of the `mllm` dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_TRANSFORMS_PASSES
#define LLMIR_DIALECT_MLLM_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def RemoveDebugOps : Pass<"mllm-remove-debug-ops", "::mlir::ModuleOp"> {
  let summary = "Remove debug ops";
  let description = [{
    Erases `mllm.dbg` ops without used results.

    ```mlir
    mllm.dbg.comment "attention of the first layer"            // removed
    %0 = mllm.linalg.silu %x : tensor<4x64xf32>
    ```
    Does not change other ops.
  }];
  let statistics = [
    Statistic<"opsRemoved", "ops-removed", "Debug ops removed">];
}

def RemoveDeadOps : Pass<"mllm-remove-dead-ops", "::mlir::ModuleOp"> {
  let summary = "Remove dead ops, subgraphs and parameters";
  let description = [{
    Removes unused ops without side effects, subgraphs not reachable from the
    model, and unreferenced parameters. The model is the `entry` subgraph and
    the callees of module-level calls; without these, every public subgraph is a
    root.

    ```mlir
    %0 = mllm.linalg.silu %x : tensor<4x64xf32>                // removed
    %1 = mllm.linalg.add %x, %x : tensor<4x64xf32>
    mllm.cf.return %1 : tensor<4x64xf32>
    ```

    Does not remove ops with side effects, such as `mllm.linalg.kv_cache` and
    `mllm.dbg.comment`, calls of subgraphs with such ops, or unused arguments.
  }];
  let options = [
    Option<"parameters", "parameters", "bool", /*default=*/"true",
           "remove unreferenced parameters">];
  let statistics = [
    Statistic<"opsRemoved", "ops-removed", "Ops removed">,
    Statistic<"subGraphsRemoved", "subgraphs-removed", "Subgraphs removed">,
      Statistic<"parametersRemoved", "parameters-removed", "Parameters removed">];
}

def FoldMLLMConstants : Pass<"mllm-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Fold ops on constants";
  let description = [{
    Replaces an op of the dialect without side effects whose operands are all
    constants by its results in the reference interpreter, each rounded once to
    its element type.

    ```mlir
    %a = mllm.tensor.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = mllm.linalg.add %a, %a : tensor<2xf32>
    // becomes
    %b = mllm.tensor.constant dense<[2.0, 4.0]> : tensor<2xf32>
    ```
    Does not fold: results with more than `max-elements` elements or with an
    encoding, operands with more than 2^20 elements, ops that read parameters,
    ops without operands (a fill is smaller than its elements), and ops that
    fail with these operands.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", /*default=*/"1024",
           "maximum number of elements of a folded result">];
  let statistics = [
    Statistic<"opsFolded", "ops-folded", "Ops folded to constants">];
}

def ExtractSymbols : Pass<"mllm-extract-symbols", "::mlir::ModuleOp"> {
  let summary = "Record the table of symbols and their users";
  let description = [{
    Sets the module attribute `mllm.symbols`: for each symbol, sorted by name,
    its kind (`subgraph`, `parameter` or the name of another op), the number of
    ops that use it, and the subgraphs that contain these ops. For tools that
    process the textual form.

    ```mlir
    module attributes {mllm.symbols = {
      "model.mlp" = {kind = "subgraph", users = ["model"], uses = 1 : i64},
      "model.mlp.up_proj.weight" = {kind = "parameter", users = ["model.mlp"], uses = 1 : i64}}}
    ```
    Replaces an existing table. Does not change anything else.
  }];
  let statistics = [
    Statistic<"numSymbols", "symbols", "Symbols in the table">];
}

def InlineSubGraphs : Pass<"mllm-inline-subgraphs", "::mlir::ModuleOp"> {
  let summary = "Inline calls of subgraphs";
  let description = [{
    Replaces each call of a subgraph by its body; ops keep their locations,
    which name the layer. Callees are inlined before their callers. Unreachable
    subgraphs are erased.

    ```mlir
    %y = mllm.graph.call_graph @model.act(%x) : (T) -> T
    // becomes
    %y = mllm.linalg.silu %x : T
    ```
    Does not inline: subgraphs whose names do not match `only`, subgraphs
    without a body, recursive subgraphs, and module-level calls.
  }];
  let options = [
    Option<"only", "only", "std::string", /*default=*/"\"*\"",
           "names of the subgraphs to inline; * matches any text">];
  let statistics = [
    Statistic<"callsInlined", "calls-inlined", "Calls inlined">,
      Statistic<"subGraphsRemoved", "subgraphs-removed", "Unreachable subgraphs removed">];
}

def OutlineSubGraphs : Pass<"mllm-outline-subgraphs", "::mlir::ModuleOp"> {
  let summary = "Merge identical subgraphs and outline repeated sequences of ops";
  let description = [{
    Subgraphs that differ only in name and locations are merged into the first
    one, callees before callers. Then each sequence of `least` or more adjacent
    ops that occurs several times, in one or more subgraphs, with the same
    attributes, parameters and data flow is outlined into a subgraph
    `@outlined.N`; longer sequences first.

    ```mlir
    %0 = mllm.graph.call_graph @model.layers.0.act(%x) : (T) -> T
    %1 = mllm.graph.call_graph @model.layers.1.act(%0) : (T) -> T
    // becomes
    %0 = mllm.graph.call_graph @model.layers.0.act(%x) : (T) -> T
    %1 = mllm.graph.call_graph @model.layers.0.act(%0) : (T) -> T
    ```
    Does not merge: subgraphs and sequences that reference different parameters,
    hence no layers with weights of their own; subgraphs with a module-level
    call, which tools find by name, except for the first of identical ones. With
    `least` 0, no sequences are outlined.
  }];
  let options = [
    Option<"least", "least", "int64_t", /*default=*/"4",
           "minimum number of ops of an outlined sequence; 0: merge subgraphs only">];
  let statistics = [
    Statistic<"subGraphsMerged", "subgraphs-merged", "Subgraphs merged">,
      Statistic<"runsOutlined", "runs-outlined", "Sequences of ops outlined">];
}

def FuseSubGraphs : Pass<"mllm-fuse-subgraphs", "::mlir::ModuleOp"> {
  let summary = "Fuse a subgraph with its only consumer";
  let description = [{
    Two calls in one subgraph are fused if the second call is the only user of
    the results of the first, no op between them has side effects, and neither
    callee has another call. The new call replaces the second one. The new
    subgraph has both bodies; its name is both names joined by `_and_`.

    ```mlir
    %0 = mllm.graph.call_graph @model.norm(%x) : (T) -> T
    %1 = mllm.graph.call_graph @model.mlp(%0) : (T) -> T
    // becomes
    %1 = mllm.graph.call_graph @model.norm_and_model.mlp(%x) : (T) -> T
    ```
    Does not fuse: callees whose names do not match `only`, callees without a
    body or with several calls, and calls whose results have other users.
  }];
  let options = [
    Option<"only", "only", "std::string", /*default=*/"\"*\"",
           "names of the subgraphs to fuse; * matches any text">];
  let statistics = [
    Statistic<"callsFused", "calls-fused", "Calls fused with the previous one">];
}

def ApplyQuantizationRecipe : Pass<"mllm-apply-recipe", "::mlir::ModuleOp"> {
  let summary = "Annotate matrices with quantization schemes selected by name";
  let description = [{
    Sets `mllm.quant.weights`, and `mllm.quant.inputs` for integer inputs, on
    the projections whose matrix name matches a pattern of the recipe:
    `PATTERN=SCHEME`, separated by commas or newlines; `#` starts a comment. `*`
    matches any text, the pattern `head` matches the output projection to the
    vocabulary independent of the name of its matrix, and the first matching
    pattern applies. A scheme is `none`; `q8` or `q4`, the block formats Q8_0
    and Q4_0 of GGUF; or `int2` to `int8`, with one scale per row, with `:g128`
    one per 128 elements of a row, or with `:tensor` one for the whole matrix,
    with `:asym` for zero points and `:a32` for products with f32 instead of
    int8 inputs.

    ```mlir
    // recipe=head=q8,*.mlp.*=int4:g128,*=int8
    %y = mllm.linalg.linear %x, @model.mlp.up_proj.weight
        {mllm.quant.inputs = 8 : i64, mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 128>} : T -> U
    ```
    `mllm.linalg.experts` get an array of the annotations of their gate, up and
    down projections; they support `q8` and `q4`.

    Does not annotate: embedding tables, norms and biases, parameters that are
    stored quantized, and, with a remark, matrices whose row length is not a
    multiple of the block size. Fails if a pattern matches no matrix, or only
    matrices matched by earlier patterns, and if experts or an embedding table
    that is also the output projection would be quantized to integers.
    `-convert-mllm-to-llm` implements the annotations.
  }];
  let options = [
    Option<"recipe", "recipe", "std::string", /*default=*/"\"\"",
           "comma-separated list of PATTERN=SCHEME">];
  let statistics = [
    Statistic<"matricesAnnotated", "matrices-annotated", "Matrices annotated">,
      Statistic<"matricesLeft", "matrices-left", "Matrices whose rows do not consist of whole blocks">];
}

def SplitStages : Pass<"mllm-split-stages", "::mlir::ModuleOp"> {
  let summary = "Split the model into pipeline stages of balanced cost";
  let description = [{
    The ops of the entry subgraph are moved, in order, to subgraphs `@stage.0`
    to `@stage.N-1`, which the entry calls in sequence; values from earlier
    stages are passed as arguments. The split minimizes the cost of the most
    expensive stage: the cost of an op is its number of floating-point
    operations or, with dynamic sizes, two per element of its parameters (the
    cost of one token); calls have the cost of their callees.

    ```mlir
    mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x259xf32> attributes {entry} {
      %0 = mllm.graph.call_graph @stage.0(%ids) : (tensor<?xi64>) -> tensor<?x64xf32>
      %1 = mllm.graph.call_graph @stage.1(%0) : (tensor<?x64xf32>) -> tensor<?x259xf32>
      mllm.cf.return %1 : tensor<?x259xf32>
    }
    ```
    The attributes `mllm.stage` and `mllm.flops` of a stage hold its index and
    cost. Fails if there is no entry, or if it has fewer ops than stages; inline
    the subgraphs first to split within layers. Does nothing for one stage.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", /*default=*/"2", "number of stages">];
}

def PrintStatistics : Pass<"mllm-print-statistics", "::mlir::ModuleOp"> {
  let summary = "Print size and cost statistics of each subgraph";
  let description = [{
    Prints one line per subgraph, in module order, and one for the whole model:
    ops, parameters, parameter bytes, floating-point operations, and bytes read
    and written, each including those of all called subgraphs (once per call;
    parameters count once per line). `?` denotes values that depend on dynamic
    sizes. Then prints the number of ops of each name. Prints to standard
    output; does not modify the IR.

    ```
    subgraph    calls  ops  parameters  parameter bytes  flops  bytes
    model.mlp       1    5       12288            49152  98304  66560
    ```
  }];
  let options = [
    Option<"ops", "ops", "bool", /*default=*/"true",
           "also print the number of ops of each name">];
}

def PrintLiveness : Pass<"mllm-print-liveness", "::mlir::ModuleOp"> {
  let summary = "Print the liveness of the values of each subgraph";
  let description = [{
    Prints, for each subgraph, its ops in order, each with the number of live
    bytes and the values whose last use it is, and the peak number of live
    bytes. Dynamic sizes are replaced by `seq`; without it, such values are not
    counted and the line shows `?`. For calls, only operands and results are
    counted. Prints to standard output; does not modify the IR.
  }];
  let options = [
    Option<"seq", "seq", "int64_t", /*default=*/"0",
           "value of dynamic sizes; 0: unknown">];
}

def PlanMemory : Pass<"mllm-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Assign the tensors of a model to offsets in one arena";
  let description = [{
    A tensor is live from its defining op to the last use of it or one of its
    views; tensors with disjoint lifetimes share memory, in lines of 64 bytes
    (`llmir/Support/IntervalPlanner.h`). An `mllm.linalg.copy` after each op
    assigns its result to an `mllm.tensor.alloc` with an offset, and
    `mllm.tensor.free` ends its lifetime:

    ```mlir
    %y = mllm.linalg.silu %x : T
    // becomes
    %m = mllm.tensor.alloc offset 4096 : T
    %0 = mllm.linalg.silu %x : T
    %y = mllm.linalg.copy %m, %0 : (T, T) -> T
    ```
    Results of views share the memory of their operand. With `in-place`, the
    default, the result of an element-wise op or a norm reuses the memory of an
    operand of the same type whose last use it is: `mllm.linalg.copy %x, %0`.

    A subgraph with a single call, in another subgraph, shares the frame of its
    caller: its offsets have the same base. Any other subgraph has its own frame
    (`mllm.frame_bytes`), and each of its calls states the byte offset of that
    frame in the caller's (`mllm.frame`). Returned values are in the callee's
    frame, from which the copy after the call takes them.

    `sizes` gives values for dynamic sizes: `seq=512,past=0`, with `?` for
    unnamed sizes; other sizes are the maximum that `mllm.dims` of a subgraph
    allows. Fails if a size is not known, if a subgraph is recursive, and if
    memory has already been planned. Does not assign: arguments, constants,
    parameters, results of `mllm.linalg.kv_cache`, which are in the cache, and
    i1 values with one element.

    Values of regions are live within them; values captured by a region are live
    until the end of the op. Each result of `mllm.cf.if`, `while` and `for` has
    fixed memory: both branches store it there, and a loop-carried value is
    initialized there, read there by the body, and copied back at the end of
    each iteration (through temporary memory if values are swapped).

    The reference interpreter executes the plan
    (`llmir-translate --interpret --check-memory`) and keeps values in the
    arena. Compiled code has its own plan (`plan-program-memory`), since fusion,
    tiling and quantization result in different buffers; `-convert-mllm-to-llm`
    drops this one.

    `report` prints, for each frame, its size in bytes, the lower bound (the
    peak number of live bytes), and the size without sharing.
  }];
  let options = [
    Option<"sizes", "sizes", "std::string", /*default=*/"\"\"",
           "values of dynamic sizes: comma-separated list of NAME=NUMBER, ?=NUMBER for unnamed sizes">,
    Option<"inPlace", "in-place", "bool", /*default=*/"true",
           "let results reuse the memory of operands without later uses">,
    Option<"report", "report", "bool", /*default=*/"false",
           "print a report of the plan">];
  let statistics = [
    Statistic<"tensorsPlaced", "tensors", "Tensors assigned to memory">,
    Statistic<"tensorsInPlace", "in-place", "Tensors that reuse the memory of an operand">];
}

def CheckMemory : Pass<"mllm-check-memory", "::mlir::ModuleOp"> {
  let summary = "Simulate the memory plan of a model";
  let description = [{
    Simulates an execution of the model, including calls, with a shadow of the
    arena that holds the owner of each line of 64 bytes. Fails if an overwritten
    value is read, if memory of a live value is allocated again, if memory that
    is not allocated is freed, and if a frame leaks memory.

    Visits the body of each loop once and all branches. `sizes` is that of
    `mllm-plan-memory`; the check must succeed for all sizes up to the planned
    ones. Does not modify the IR.
  }];
  let options = [
    Option<"sizes", "sizes", "std::string", /*default=*/"\"\"",
           "values of dynamic sizes: comma-separated list of NAME=NUMBER, ?=NUMBER for unnamed sizes">];
}

def LinkModules : Pass<"mllm-link", "::mlir::ModuleOp"> {
  let summary = "Link nested modules into one module";
  let description = [{
    Moves the ops of nested builtin modules into the outer module, in order. A
    subgraph without a body, or a parameter without a source, is a declaration
    and is replaced by the definition in another module. Private symbols with
    equal names are renamed. Several modules may register the same parameter
    with equal attributes.

    ```mlir
    module {
      module @a { mllm.graph.subgraph @f(tensor<4xf32>) -> tensor<4xf32> … call_graph @f … }
      module @b { mllm.graph.subgraph @f(%x: tensor<4xf32>) -> tensor<4xf32> { … } }
    }
    // becomes
    module {
      … call_graph @f …
      mllm.graph.subgraph @f(%x: tensor<4xf32>) -> tensor<4xf32> { … }
    }
    ```

    Does nothing without nested modules. Fails, with both locations, if a public
    symbol is defined twice, if a declaration and its definition differ in kind
    or type, if a subgraph is declared but not defined, or if modules have
    different model properties.
  }];
  let statistics = [
    Statistic<"modulesLinked", "modules-linked", "Modules linked">,
      Statistic<"symbolsResolved", "symbols-resolved", "Declarations replaced by definitions">,
      Statistic<"symbolsRenamed", "symbols-renamed", "Private symbols renamed">];
}

def FuseAttention : Pass<"mllm-fuse-attention", "::mlir::ModuleOp"> {
  let summary = "Fuse attention into single ops";
  let description = [{
    Fuses causally masked attention over a cache, spelled out with heads before
    tokens, into `mllm.linalg.flash_attention2` with tokens before heads, or,
    with a window, `mllm.linalg.flash_attention2_swa_sink` without sinks. The
    cache then also has tokens before heads and does not repeat heads;
    transpositions are moved past rotations, where they cancel those of the
    model. Split results of linear ops become views, and operands of sums are
    ordered by definition, so that differently written models have one canonical
    form.

    ```mlir
    %keys, %values = mllm.linalg.kv_cache %kt, %vt {layer = 3 : i64, layout = "bhsd", q_head = 12 : i64} : …
    %s = mllm.linalg.matmul %qt, %keys {transpose_b} : …
    %c = mllm.linalg.mul %s {scalar = 0.25 : f64} : …
    %m = mllm.linalg.causal_mask %c : …
    %p = mllm.linalg.softmax %m {axis = -1 : i64} : …
    %y = mllm.linalg.matmul %p, %values : …
    %z = mllm.linalg.transpose %y {dim0 = 1 : i64, dim1 = 2 : i64} : …
    // becomes, where %qt, %kt and %vt are the transposed %q, %k and %v
    %keys, %values = mllm.linalg.kv_cache %k, %v {layer = 3 : i64} : …
    %z = mllm.linalg.flash_attention2 %q, %keys, %values {causal = true, scale = 0.25 : f64} : …
    ```
    A division of the scores by a constant is a scale, too; without one, the
    scale is 1. Does not fuse: attention without a mask, a softmax over another
    axis, keys and values that are not the two results of one cache with heads
    before tokens or that have other users, and queries with a different number
    of heads.
  }];
  let statistics = [
    Statistic<"attentionsFused", "attentions-fused", "Attention ops created">];
}

def SpecializeSizes : Pass<"mllm-specialize", "::mlir::ModuleOp"> {
  let summary = "Specialize a model for given dynamic sizes";
  let description = [{
    `sizes` gives values for dynamic sizes: `seq=17,past=0`, with `?` for
    unnamed sizes of the model inputs. The inputs get these sizes, which are
    propagated through all ops, including branches, loops and calls; then ops
    that became static are canonicalized.

    ```mlir
    // sizes=seq=17
    mllm.graph.subgraph @model(%x: tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>>) -> … {
      %0 = mllm.linalg.transpose %x {dim0 = 1 : i64, dim1 = 2 : i64} : …
    // becomes
    mllm.graph.subgraph @model(%x: tensor<1x17x64xf32>) -> tensor<1x64x17xf32> {
      %0 = mllm.linalg.transpose %x {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x17x64xf32> -> tensor<1x64x17xf32>
    ```
    `past` is the initial number of tokens in the KV caches; each `kv_cache` of
    a layer adds its tokens to those of preceding ones. A subgraph that is
    called with different sizes, including those of caches, is cloned: `@f`,
    `@f.1` and so on. A size that changes between iterations of a loop stays
    dynamic. Bound names are removed from `mllm.dims`.

    Fails if the model does not have a name, a value is outside the range that
    `mllm.dims` of a subgraph states, an op does not support the sizes, a
    subgraph is recursive, or, unless `partial` is set, a size stays dynamic.
  }];
  let options = [
    Option<"sizes", "sizes", "std::string", /*default=*/"\"\"",
           "values of dynamic sizes: comma-separated list of NAME=NUMBER, ?=NUMBER for unnamed sizes">,
    Option<"partial", "partial", "bool", /*default=*/"false",
           "allow sizes that stay dynamic">];
}

def SynchronizeProgram : Pass<"mllm-synchronize-program", "::mlir::ModuleOp"> {
  let summary = "Insert the barriers that a program needs";
  let description = [{
    Inserts a barrier into code fragments before each instruction in which a
    worker accesses elements that another worker has accessed since the last
    barrier, if one of the accesses is a write, and before labels and jumps.
    `KernelOpInterface` provides the accesses of kernels and the division of
    their work; kernels also read the buffers to which fields of the step
    context point.

    With `decode-tokens`, kernels that divide rows of the step are replicated if
    this saves a barrier: in a step of at most that many tokens, every worker
    computes all rows, in `per_worker` buffers. Barriers that only larger steps
    need become `unless_decode`, and those that only steps with split attention
    need become `if_split`.

    All barriers, and all `replicated` and `per_worker` attributes, are removed
    first. Therefore the pass is idempotent, and restores the barriers of a
    program whose kernels have been changed. It must run before memory is
    planned.

    ```mlir
    mllm.program.instruction { mllm.kernel.moe_sort ins(%chosen …) outs(%offsets, …) … }
    mllm.program.barrier                                       // inserted
    mllm.program.instruction { mllm.kernel.moe_gather ins(%pairs, …) … }
    ```

    Fails on an instruction whose kernels need a barrier between them, and on
    calls of generated functions, whose accesses are unknown.
  }];
  let options = [
    Option<"decodeTokens", "decode-tokens", "int64_t", /*default=*/"8",
           "maximum number of tokens of a step in which every worker computes norms and other rows redundantly; 0: never. The attribute decode_tokens of a fragment takes precedence">];
  let statistics = [
    Statistic<"numBarriers", "barriers", "Barriers inserted">,
    Statistic<"numReplicated", "replicated", "Instructions replicated in decode-sized steps">];
}

#endif // LLMIR_DIALECT_MLLM_TRANSFORMS_PASSES
