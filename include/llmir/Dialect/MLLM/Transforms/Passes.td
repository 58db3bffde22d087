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

def RemoveDeadOps : Pass<"mllm-remove-dead-ops", "::mlir::ModuleOp"> {
  let summary = "Remove what nothing needs, and what is there for people only";
  let description = [{
    Removes ops without effects whose results nobody uses, subgraphs that the
    model does not reach, and parameters that no op names any more. With
    `debug`, the default, ops of `mllm.dbg` go too. The model is the subgraph
    marked `entry` and what a call of the module names; in a module with neither
    every public subgraph counts.

    ```mlir
    %0 = mllm.linalg.silu %x : tensor<4x64xf32>                // removed
    %1 = mllm.linalg.add %x, %x : tensor<4x64xf32>
    mllm.cf.return %1 : tensor<4x64xf32>
    ```

    Leaves alone: ops with effects, as `mllm.linalg.kv_cache` has; calls of
    subgraphs with such ops; arguments that nobody uses.
  }];
  let options = [
    Option<"debug", "debug", "bool", /*default=*/"true",
           "remove ops of mllm.dbg as well">,
    Option<"parameters", "parameters", "bool", /*default=*/"true",
           "remove parameters that no op names">];
  let statistics = [
    Statistic<"opsRemoved", "ops-removed", "Ops without users or for debugging">,
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
    by the second alone, nothing else of the second's operands comes between
    them, and both callees are called there only. The new subgraph has the
    second's name behind the first's and the bodies of both.

    ```mlir
    %0 = mllm.graph.call_graph @model.norm(%x) : (T) -> T
    %1 = mllm.graph.call_graph @model.mlp(%0) : (T) -> T
    // becomes
    %1 = mllm.graph.call_graph @model.norm+model.mlp(%x) : (T) -> T
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

#endif // LLMIR_DIALECT_MLLM_TRANSFORMS_PASSES
