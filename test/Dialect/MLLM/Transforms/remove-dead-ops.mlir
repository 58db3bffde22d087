// RUN: llmir-opt %s --mllm-remove-dead-ops --split-input-file | FileCheck %s
// RUN: llmir-opt %s --mllm-remove-dead-ops=parameters=false --split-input-file | FileCheck %s --check-prefix=KEEP
// RUN: llmir-opt %s --mllm-remove-debug-ops --split-input-file | FileCheck %s --check-prefix=DEBUG

// Ops, subgraphs and parameters that nothing needs.
// SPEC: 277

// CHECK-NOT: @unused.weight
// KEEP: @unused.weight
mllm.tensor.register @unused.weight : tensor<4xf32> {source = "unused"}
// Referenced only by dead ops.
// CHECK-NOT: @dead.weight
mllm.tensor.register @dead.weight : tensor<4xf32> {source = "dead"}
// CHECK: mllm.tensor.register @norm.weight
mllm.tensor.register @norm.weight : tensor<4xf32> {source = "norm"}

// CHECK-NOT: @never_called
mllm.graph.subgraph @never_called(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  mllm.cf.return %x : tensor<?x4xf32>
}
// Its results are unused, and it has no side effects.
// CHECK-NOT: @pure_callee
mllm.graph.subgraph @pure_callee(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.silu %x : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: @model
mllm.graph.subgraph @model(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {entry} {
  // A chain from its end.
  %0 = mllm.linalg.rms_norm %x, @dead.weight {eps = 1.0e-5 : f64} : tensor<?x4xf32>
  %1 = mllm.linalg.silu %0 : tensor<?x4xf32>
  // The other pass leaves dead ops alone.
  // DEBUG: mllm.linalg.add
  %2 = mllm.linalg.add %0, %1 : tensor<?x4xf32>
  %3 = mllm.graph.call_graph @pure_callee(%2) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // Removed by a separate pass.
  // DEBUG-NOT: mllm.dbg.comment
  // CHECK-NEXT: mllm.dbg.comment "here"
  mllm.dbg.comment "here"
  // CHECK-NEXT: %[[R:.*]] = mllm.linalg.rms_norm %{{.*}}, @norm.weight
  // DEBUG: mllm.linalg.rms_norm %{{.*}}, @norm.weight
  %4 = mllm.linalg.rms_norm %x, @norm.weight {eps = 1.0e-5 : f64} : tensor<?x4xf32>
  // CHECK-NEXT: mllm.cf.return %[[R]]
  mllm.cf.return %4 : tensor<?x4xf32>
}

// -----

// A cache has an effect: neither it nor a call of it is dead. Without an entry
// public subgraphs are the model.

// CHECK-LABEL: @attention
mllm.graph.subgraph private @attention(%k: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  // CHECK-NEXT: mllm.linalg.kv_cache
  %0:2 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  // CHECK-NOT: silu
  %1 = mllm.linalg.silu %0#0 : tensor<?x2x4xf32>
  mllm.cf.return %k : tensor<?x2x4xf32>
}
// CHECK-LABEL: @public
mllm.graph.subgraph @public(%k: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  // CHECK-NEXT: mllm.graph.call_graph @attention
  %0 = mllm.graph.call_graph @attention(%k) : (tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  // CHECK-NEXT: mllm.cf.return
  mllm.cf.return %k : tensor<?x2x4xf32>
}
// CHECK-NOT: @nobody
mllm.graph.subgraph private @nobody(%k: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  mllm.cf.return %k : tensor<?x2x4xf32>
}
