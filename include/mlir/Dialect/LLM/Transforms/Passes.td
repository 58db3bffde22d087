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

    Does nothing to calls of functions without a body. Fails when functions call
    each other in a circle.
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

#endif // LLM_TRANSFORMS_PASSES_TD
