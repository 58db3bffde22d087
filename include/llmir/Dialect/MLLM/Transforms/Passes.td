//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes on the graph, linalg and tensor levels of the `mllm` dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_TRANSFORMS_PASSES
#define LLMIR_DIALECT_MLLM_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def RemoveDebugOps : Pass<"mllm-remove-debug-ops", "::mlir::ModuleOp"> {
  let summary = "Remove the ops that are there for people only";
  let description = [{
    Erases every op of `mllm.dbg` whose results nobody uses; they compute
    nothing.

    ```mlir
    mllm.dbg.comment "attention of the first layer"            // removed
    %0 = mllm.linalg.silu %x : tensor<4x64xf32>
    ```
    Leaves alone all other ops.
  }];
  let statistics = [
    Statistic<"opsRemoved", "ops-removed", "Ops for debugging">];
}

def RemoveDeadOps : Pass<"mllm-remove-dead-ops", "::mlir::ModuleOp"> {
  let summary = "Remove what nothing needs";
  let description = [{
    Removes ops without effects whose results nobody uses, subgraphs that the
    model does not reach, and parameters that no op names any more. The model is
    the subgraph marked `entry` and what a call of the module names; in a module
    with neither every public subgraph counts.

    ```mlir
    %0 = mllm.linalg.silu %x : tensor<4x64xf32>                // removed
    %1 = mllm.linalg.add %x, %x : tensor<4x64xf32>
    mllm.cf.return %1 : tensor<4x64xf32>
    ```

    Leaves alone: ops with effects, as `mllm.linalg.kv_cache` and
    `mllm.dbg.comment` have; calls of subgraphs with such ops; arguments that
    nobody uses.
  }];
  let options = [
    Option<"parameters", "parameters", "bool", /*default=*/"true",
           "remove parameters that no op names">];
  let statistics = [
    Statistic<"opsRemoved", "ops-removed", "Ops without users">,
    Statistic<"subGraphsRemoved", "subgraphs-removed", "Subgraphs out of reach">,
    Statistic<"parametersRemoved", "parameters-removed", "Parameters without users">];
}

def FoldMLLMConstants : Pass<"mllm-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Compute ops whose operands are constants";
  let description = [{
    An op of the dialect without effects becomes constants where all its operands
    are constants, with the numbers that the reference interpreter gives it; each
    result is rounded to its element type once.

    ```mlir
    %a = mllm.tensor.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = mllm.linalg.add %a, %a : tensor<2xf32>
    // becomes
    %b = mllm.tensor.constant dense<[2.0, 4.0]> : tensor<2xf32>
    ```
    Leaves alone: results of more than `max-elements` elements or with an
    encoding, operands of more than 2^20 elements, ops that read parameters, ops
    without operands (a fill says less than its numbers), and ops without a value
    for these operands.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", /*default=*/"1024",
           "most elements of a result that becomes a constant">];
  let statistics = [
    Statistic<"opsFolded", "ops-folded", "Ops that became constants">];
}

def ExtractSymbols : Pass<"mllm-extract-symbols", "::mlir::ModuleOp"> {
  let summary = "Write the table of all symbols and who uses them";
  let description = [{
    Gives the module the attribute `mllm.symbols`: for each symbol, sorted by
    name, what it is (`subgraph`, `parameter` or another op's name), how many ops
    use it, and the subgraphs in which they stand. Tools that see the text only
    need not collect that.

    ```mlir
    module attributes {mllm.symbols = {
      "model.mlp" = {kind = "subgraph", users = ["model"], uses = 1 : i64},
      "model.mlp.up_proj.weight" = {kind = "parameter", users = ["model.mlp"], uses = 1 : i64}}}
    ```
    Replaces a table that is there. Changes nothing else.
  }];
  let statistics = [
    Statistic<"numSymbols", "symbols", "Symbols in the table">];
}

def InlineSubGraphs : Pass<"mllm-inline-subgraphs", "::mlir::ModuleOp"> {
  let summary = "Put the body of a subgraph where it is called";
  let description = [{
    Replaces each call of a subgraph by what the subgraph computes; ops keep
    their locations, which name the layer. Callees are inlined before their
    callers. Subgraphs that nothing reaches any more are erased.

    ```mlir
    %y = mllm.graph.call_graph @model.act(%x) : (T) -> T
    // becomes
    %y = mllm.linalg.silu %x : T
    ```
    Leaves alone: subgraphs whose names do not match `only`, subgraphs without a
    body, subgraphs that call themselves, and calls of the module itself.
  }];
  let options = [
    Option<"only", "only", "std::string", /*default=*/"\"*\"",
           "names of the subgraphs to inline; * stands for any text">];
  let statistics = [
    Statistic<"callsInlined", "calls-inlined", "Calls that became ops">,
    Statistic<"subGraphsRemoved", "subgraphs-removed", "Subgraphs out of reach">];
}

def OutlineSubGraphs : Pass<"mllm-outline-subgraphs", "::mlir::ModuleOp"> {
  let summary = "Make equal subgraphs, and equal runs of ops, one subgraph";
  let description = [{
    Subgraphs that differ in nothing but their names and locations become the
    first of them, callees before callers. Then runs of `least` or more
    neighbouring ops that stand several times, in one subgraph or in many, with
    the same attributes and parameters and the same flow of values, become a
    subgraph `@outlined.N` each, called in their places; longer runs first.

    ```mlir
    %0 = mllm.graph.call_graph @model.layers.0.act(%x) : (T) -> T
    %1 = mllm.graph.call_graph @model.layers.1.act(%0) : (T) -> T
    // becomes
    %0 = mllm.graph.call_graph @model.layers.0.act(%x) : (T) -> T
    %1 = mllm.graph.call_graph @model.layers.0.act(%0) : (T) -> T
    ```
    Leaves alone: subgraphs and runs that name different parameters, and so all
    layers with weights of their own; subgraphs with a call of the module, which
    tools find by name, but for the first of their kind; with `least` 0 all runs.
  }];
  let options = [
    Option<"least", "least", "int64_t", /*default=*/"4",
           "fewest ops of a run that is outlined; 0: subgraphs only">];
  let statistics = [
    Statistic<"subGraphsMerged", "subgraphs-merged", "Subgraphs that became another one">,
    Statistic<"runsOutlined", "runs-outlined", "Runs of ops that became calls">];
}

def FuseSubGraphs : Pass<"mllm-fuse-subgraphs", "::mlir::ModuleOp"> {
  let summary = "Make one subgraph of two of which one feeds the other only";
  let description = [{
    Two calls in one subgraph become one where all results of the first are used
    by the second alone, what is between them has no effect, and both callees are
    called there only. The new call stands where the second one stood. The new
    subgraph has the names of both with `_and_` between them, and both bodies.

    ```mlir
    %0 = mllm.graph.call_graph @model.norm(%x) : (T) -> T
    %1 = mllm.graph.call_graph @model.mlp(%0) : (T) -> T
    // becomes
    %1 = mllm.graph.call_graph @model.norm_and_model.mlp(%x) : (T) -> T
    ```
    Leaves alone: callees whose names do not match `only`, callees without a body
    or called more than once, and results that somebody else reads.
  }];
  let options = [
    Option<"only", "only", "std::string", /*default=*/"\"*\"",
           "names of the subgraphs to fuse; * stands for any text">];
  let statistics = [
    Statistic<"callsFused", "calls-fused", "Calls joined to the one before">];
}

def ApplyQuantizationRecipe : Pass<"mllm-apply-recipe", "::mlir::ModuleOp"> {
  let summary = "Say by name how the matrices of a model are to be quantized";
  let description = [{
    Writes `mllm.quant.weights`, and `mllm.quant.inputs` where inputs are integers
    too, on the projections whose matrix has a name that matches a pattern of the
    recipe: `PATTERN=SCHEME` with commas or ends of
    lines between, `#` before comments. `*` stands for any text, the pattern
    `head` for the projection to the vocabulary, whatever its matrix is called,
    and the first pattern that matches counts. A scheme is `none`; `q8` or `q4`,
    the blocks of GGUF's Q8_0 and Q4_0; or `int2` to `int8` with one scale for
    each row, with `:g128` for each 128 numbers of a row, or with `:tensor` for
    the whole matrix, with `:asym` for zero points and `:a32` for products with
    inputs of f32 instead of int8.

    ```mlir
    // recipe=head=q8,*.mlp.*=int4:g128,*=int8
    %y = mllm.linalg.linear %x, @model.mlp.up_proj.weight
        {mllm.quant.inputs = 8 : i64, mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 128>} : T -> U
    ```
    Leaves alone: tables of embeddings, norms and biases, parameters that are
    stored quantized, and, with a remark, matrices whose rows are not whole
    blocks. Fails where a pattern matches no matrix, or none that earlier patterns
    have left, and where a table of embeddings that is the projection to the
    vocabulary too would become integers. The annotation is what is wanted;
    `-convert-mllm-to-llm` makes it so.
  }];
  let options = [
    Option<"recipe", "recipe", "std::string", /*default=*/"\"\"",
           "PATTERN=SCHEME with commas between">];
  let statistics = [
    Statistic<"matricesAnnotated", "matrices-annotated", "Matrices that got a scheme">,
    Statistic<"matricesLeft", "matrices-left", "Matrices whose rows are no whole blocks">];
}

def SplitStages : Pass<"mllm-split-stages", "::mlir::ModuleOp"> {
  let summary = "Cut the model into stages of equal work for a pipeline";
  let description = [{
    The ops of the entry subgraph, in their order, become subgraphs `@stage.0` to
    `@stage.N-1`, which the entry calls one after the other; what a stage needs
    from an earlier one is its argument. The cuts make the work of the heaviest
    stage as small as it can be: the work of an op is its floating-point
    operations, or, where a size is dynamic, two for each value of its
    parameters, as a token costs them; calls count what they reach.

    ```mlir
    mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x259xf32> attributes {entry} {
      %0 = mllm.graph.call_graph @stage.0(%ids) : (tensor<?xi64>) -> tensor<?x64xf32>
      %1 = mllm.graph.call_graph @stage.1(%0) : (tensor<?x64xf32>) -> tensor<?x259xf32>
      mllm.cf.return %1 : tensor<?x259xf32>
    }
    ```
    Each stage says in `mllm.stage` which it is and in `mllm.flops` its work.
    Fails where there is no entry, or it has fewer ops than stages; inline the
    subgraphs first to cut within layers. Does nothing with one stage.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", /*default=*/"2", "number of stages">];
}

def PrintStatistics : Pass<"mllm-print-statistics", "::mlir::ModuleOp"> {
  let summary = "Print what each subgraph has and costs";
  let description = [{
    One line for each subgraph, in the order of the module, and one for the whole
    model: ops, parameters, bytes of parameters, floating-point operations and
    bytes read and written, each with those of the subgraphs that it calls, as
    often as it calls them; a parameter counts once for each line. `?` stands for
    what a dynamic size leaves open. Behind that, how many ops of each name there
    are. Goes to standard output; changes nothing.

    ```
    subgraph    calls  ops  parameters  parameter bytes  flops  bytes
    model.mlp       1    5       12288            49152  98304  66560
    ```
  }];
  let options = [
    Option<"ops", "ops", "bool", /*default=*/"true",
           "print the number of ops of each name as well">];
}

def PrintLiveness : Pass<"mllm-print-liveness", "::mlir::ModuleOp"> {
  let summary = "Print how long each value of a subgraph lives";
  let description = [{
    For each subgraph its ops in order, each with the bytes that live while it
    runs and the values that it is the last to use, and the greatest number of
    bytes that live at one time. A dynamic size counts as `seq`; without it such
    values count as nothing and the line says `?`. Calls count their own operands
    and results only. Goes to standard output; changes nothing.
  }];
  let options = [
    Option<"seq", "seq", "int64_t", /*default=*/"0",
           "what dynamic sizes count as; 0: unknown">];
}

def PlanMemory : Pass<"mllm-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give the tensors of a model their places in one arena";
  let description = [{
    A tensor lives from the op that makes it to the last op that touches it or
    one of its views; tensors whose lives do not meet share memory, in lines of 64
    bytes (`llmir/Support/IntervalPlanner.h`). Each op's result is said to lie in
    an `mllm.tensor.alloc` with an offset by an `mllm.linalg.copy` behind the op,
    and `mllm.tensor.free` ends its life:

    ```mlir
    %y = mllm.linalg.silu %x : T
    // becomes
    %m = mllm.tensor.alloc offset 4096 : T
    %0 = mllm.linalg.silu %x : T
    %y = mllm.linalg.copy %m, %0 : (T, T) -> T
    ```
    Results of views lie where their operand lies. With `in-place`, the default,
    the result of an element-wise op or of a norm lies where an operand of its
    type ends: `mllm.linalg.copy %x, %0`, without memory of its own.

    A subgraph that is called once, by a subgraph, shares the frame of its caller:
    its offsets count from the same byte. Any other one has a frame of its own
    (`mllm.frame_bytes`), and each call of it says where that begins in the
    caller's (`mllm.frame`, bytes). What it returns lies in its frame, from where
    the copy behind the call takes it.

    A dynamic size counts as what `sizes` says: `seq=512,past=0`, with `?` for
    sizes without a name, else as the greatest that `mllm.dims` of a subgraph
    allows. Fails where a size is
    not said, where a subgraph calls itself, and where memory is planned already.
    Leaves alone: arguments, constants, parameters, results of
    `mllm.linalg.kv_cache`, which lie in the cache, and truth values of one
    number.

    Values of regions live inside them; what a region reads of outside lives as
    long as the op. Each result of `mllm.cf.if`, `while` and `for` has a home: both
    branches leave it there, and a loop's value begins there, is an argument of
    the body there, and is copied back at the end of each turn (by way of memory
    of its own, where values change places).

    The plan is executed by the reference interpreter
    (`llmir-translate --interpret --check-memory`), which keeps values in the
    arena. Compiled code has a plan of its own (`plan-program-memory`), since
    fusion, tiling and quantization leave other buffers than these tensors;
    `-convert-mllm-to-llm` drops this one.

    `report` prints for each frame the bytes, the least that any plan needs (the
    most bytes that live at one time), and the bytes without sharing.
  }];
  let options = [
    Option<"sizes", "sizes", "std::string", /*default=*/"\"\"",
           "what dynamic sizes count as: NAME=NUMBER with commas between, ?=NUMBER for those without a name">,
    Option<"inPlace", "in-place", "bool", /*default=*/"true",
           "let results lie where an operand ends">,
    Option<"report", "report", "bool", /*default=*/"false",
           "print what was planned">];
  let statistics = [
    Statistic<"tensorsPlaced", "tensors", "Tensors with a place">,
    Statistic<"tensorsInPlace", "in-place", "Those that lie where an operand ended">];
}

def CheckMemory : Pass<"mllm-check-memory", "::mlir::ModuleOp"> {
  let summary = "Run the memory of a planned model without its numbers";
  let description = [{
    Goes through the model as it runs, calls included, with a shadow of the
    arena that knows for each line of 64 bytes whose it is. Fails where a value is
    read over which another one was written, where memory is given out that still
    belongs to a live value, where something is freed that is not there, and where
    a frame leaves memory behind that is not returned.

    Runs the body of each loop once and all branches. `sizes` is as for
    `mllm-plan-memory`; any sizes up to those that were planned for must hold.
    Changes nothing.
  }];
  let options = [
    Option<"sizes", "sizes", "std::string", /*default=*/"\"\"",
           "what dynamic sizes count as: NAME=NUMBER with commas between, ?=NUMBER for those without a name">];
}

def LinkModules : Pass<"mllm-link", "::mlir::ModuleOp"> {
  let summary = "Make one module of the modules inside a module";
  let description = [{
    Moves the ops of the builtin modules that stand in the module into it, in
    their order. A subgraph without a body, or a parameter without a source, is
    a declaration: the definition of another module takes its place. Private
    symbols of equal names are renamed. Two modules may register one parameter
    if they say the same of it.

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

    Does nothing in a module without modules. Fails, with the places of both,
    when a public symbol is defined twice, when a declaration and its definition
    differ in kind or type, when a subgraph is declared and not defined, or when
    modules say different facts of the model.
  }];
  let statistics = [
    Statistic<"modulesLinked", "modules-linked", "Modules that became part of one">,
    Statistic<"symbolsResolved", "symbols-resolved", "Declarations that gave way to definitions">,
    Statistic<"symbolsRenamed", "symbols-renamed", "Private symbols with a new name">];
}

def FuseAttention : Pass<"mllm-fuse-attention", "::mlir::ModuleOp"> {
  let summary = "Make one op of attention that is written out";
  let description = [{
    The scores of queries and a cache's keys, scaled, masked causally and made
    shares of the values, with heads before tokens, become
    `mllm.linalg.flash_attention2` with tokens before heads. The cache then keeps
    tokens before heads too and repeats no head; transpositions move down over
    rotations, where those of the model cancel them. Split results of linear ops
    become views, and sums get their operands in the order in which these were
    made, so that a model has one form however it was written.

    ```mlir
    %keys, %values = mllm.linalg.kv_cache %kt, %vt {layer = 3 : i64, layout = "bhsd", q_head = 12 : i64} : …
    %s = mllm.linalg.matmul %qt, %keys {transpose_b} : …
    %c = mllm.linalg.mul %s {scalar = 0.25 : f64} : …
    %m = mllm.linalg.causal_mask %c : …
    %p = mllm.linalg.softmax %m {axis = -1 : i64} : …
    %y = mllm.linalg.matmul %p, %values : …
    %z = mllm.linalg.transpose %y {dim0 = 1 : i64, dim1 = 2 : i64} : …
    // becomes, %qt, %kt and %vt being transposed %q, %k and %v
    %keys, %values = mllm.linalg.kv_cache %k, %v {layer = 3 : i64} : …
    %z = mllm.linalg.flash_attention2 %q, %keys, %values {causal = true, scale = 0.25 : f64} : …
    ```
    A division of the scores by a number is a scale too, and none is 1. Leaves
    alone: masks with a window or none, shares of another axis, keys and values
    that are not the two results of one cache with heads before tokens, or that
    another op reads too, and queries that have another number of heads.
  }];
  let statistics = [
    Statistic<"attentionsFused", "attentions-fused", "Ops of attention that were made">];
}

def SpecializeSizes : Pass<"mllm-specialize", "::mlir::ModuleOp"> {
  let summary = "Bind the dynamic sizes of a model to numbers";
  let description = [{
    `sizes` says what dynamic sizes are: `seq=17,past=0`, with `?` for sizes of
    the model's inputs that have no name. The inputs get these sizes, and what
    follows from them goes through the ops, one by one, into branches, loops and
    calls; then what has become static is canonicalized.

    ```mlir
    // sizes=seq=17
    mllm.graph.subgraph @model(%x: tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>>) -> … {
      %0 = mllm.linalg.transpose %x {dim0 = 1 : i64, dim1 = 2 : i64} : …
    // becomes
    mllm.graph.subgraph @model(%x: tensor<1x17x64xf32>) -> tensor<1x64x17xf32> {
      %0 = mllm.linalg.transpose %x {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x17x64xf32> -> tensor<1x64x17xf32>
    ```
    `past` is how many tokens the KV caches hold before; each `kv_cache` of a layer
    adds its own to those of the ones in front of it. A subgraph that is called
    with several sizes, of caches too, becomes one for each, `@f`, `@f.1` and so
    on. A loop whose turns change a size keeps it open. Names that are bound leave
    `mllm.dims`.

    Fails where a name is none of the model's, a number lies outside the range
    that `mllm.dims` of a subgraph says, an op has no result for the sizes, a
    subgraph calls itself, or, unless `partial`, a size stays open.
  }];
  let options = [
    Option<"sizes", "sizes", "std::string", /*default=*/"\"\"",
           "what dynamic sizes are: NAME=NUMBER with commas between, ?=NUMBER for those without a name">,
    Option<"partial", "partial", "bool", /*default=*/"false",
           "leave sizes that are not said open">];
}

#endif // LLMIR_DIALECT_MLLM_TRANSFORMS_PASSES
