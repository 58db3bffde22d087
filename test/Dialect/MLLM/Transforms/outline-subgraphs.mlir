// RUN: llmir-opt %s --mllm-outline-subgraphs=least=3 --split-input-file | FileCheck %s
// RUN: llmir-opt %s --mllm-outline-subgraphs=least=0 --split-input-file | FileCheck %s --check-prefix=MERGE

// Equal subgraphs become the first of them, callees first.
// SPEC: 266 277

mllm.tensor.register @w0 : tensor<4xf32> {source = "w0"}
mllm.tensor.register @w1 : tensor<4xf32> {source = "w1"}
// CHECK-LABEL: subgraph @layers.0.act
mllm.graph.subgraph @layers.0.act(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.silu %x : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK-NOT: subgraph @layers.1.act
mllm.graph.subgraph @layers.1.act(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.silu %x : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK: subgraph @layers.0.mlp
mllm.graph.subgraph @layers.0.mlp(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.graph.call_graph @layers.0.act(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK-NOT: subgraph @layers.1.mlp
mllm.graph.subgraph @layers.1.mlp(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.graph.call_graph @layers.1.act(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// Other parameters are another subgraph.
// CHECK: subgraph @layers.0.norm
mllm.graph.subgraph @layers.0.norm(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.rms_norm %x, @w0 {eps = 1.0e-5 : f64} : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK: subgraph @layers.1.norm
mllm.graph.subgraph @layers.1.norm(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.rms_norm %x, @w1 {eps = 1.0e-5 : f64} : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: subgraph @model
mllm.graph.subgraph @model(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {entry} {
  // CHECK-NEXT: call_graph @layers.0.mlp
  %0 = mllm.graph.call_graph @layers.0.mlp(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: call_graph @layers.0.norm
  %1 = mllm.graph.call_graph @layers.0.norm(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: call_graph @layers.0.mlp
  %2 = mllm.graph.call_graph @layers.1.mlp(%1) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: call_graph @layers.1.norm
  %3 = mllm.graph.call_graph @layers.1.norm(%2) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %3 : tensor<?x4xf32>
}

// -----

// Runs of ops with the same flow of values, in one subgraph and in another one.
// The third one has a different data flow.

// CHECK-LABEL: subgraph private @outlined.0(
// CHECK-SAME: %[[P:.*]]: tensor<4x4xf32>, %[[Q:.*]]: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[S:.*]] = mllm.linalg.silu %[[P]]
// CHECK-NEXT: %[[M:.*]] = mllm.linalg.mul %[[S]], %[[Q]]
// CHECK-NEXT: %[[R:.*]] = mllm.linalg.add %[[M]], %[[P]]
// CHECK-NEXT: mllm.cf.return %[[R]]
// CHECK-LABEL: subgraph @f(
// CHECK-SAME: %[[X:.*]]: tensor<4x4xf32>, %[[Y:.*]]: tensor<4x4xf32>)
// MERGE-NOT: outlined
mllm.graph.subgraph @f(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[A:.*]] = mllm.graph.call_graph @outlined.0(%[[X]], %[[Y]])
  %0 = mllm.linalg.silu %x : tensor<4x4xf32>
  %1 = mllm.linalg.mul %0, %y : tensor<4x4xf32>
  %2 = mllm.linalg.add %1, %x : tensor<4x4xf32>
  // CHECK-NEXT: %[[B:.*]] = mllm.linalg.sub %[[A]], %[[X]]
  %3 = mllm.linalg.sub %2, %x : tensor<4x4xf32>
  // CHECK-NEXT: %[[C:.*]] = mllm.graph.call_graph @outlined.0(%[[B]], %[[A]])
  %4 = mllm.linalg.silu %3 : tensor<4x4xf32>
  %5 = mllm.linalg.mul %4, %2 : tensor<4x4xf32>
  %6 = mllm.linalg.add %5, %3 : tensor<4x4xf32>
  // CHECK-NEXT: mllm.cf.return %[[C]]
  mllm.cf.return %6 : tensor<4x4xf32>
}
// CHECK-LABEL: subgraph @g(
mllm.graph.subgraph @g(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: call_graph @outlined.0
  %0 = mllm.linalg.silu %y : tensor<4x4xf32>
  %1 = mllm.linalg.mul %0, %x : tensor<4x4xf32>
  %2 = mllm.linalg.add %1, %y : tensor<4x4xf32>
  mllm.cf.return %2 : tensor<4x4xf32>
}
// CHECK-LABEL: subgraph @other_flow(
mllm.graph.subgraph @other_flow(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: silu
  // CHECK-NEXT: mul
  // CHECK-NEXT: add
  %0 = mllm.linalg.silu %x : tensor<4x4xf32>
  %1 = mllm.linalg.mul %0, %y : tensor<4x4xf32>
  %2 = mllm.linalg.add %1, %y : tensor<4x4xf32>
  mllm.cf.return %2 : tensor<4x4xf32>
}

// -----

// A result that one of the places needs is a result of the subgraph; ops with
// effects and runs that are too short stay.

// CHECK-LABEL: subgraph private @outlined.0(
// CHECK-SAME: -> (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK-LABEL: subgraph @two_results(
mllm.graph.subgraph @two_results(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: %[[A:.*]]:2 = mllm.graph.call_graph @outlined.0
  %0 = mllm.linalg.silu %x : tensor<4x4xf32>
  %1 = mllm.linalg.silu %0 : tensor<4x4xf32>
  %2 = mllm.linalg.add %1, %0 : tensor<4x4xf32>
  // CHECK-NEXT: %[[B:.*]] = mllm.linalg.mul %[[A]]#1, %[[A]]#0
  %3 = mllm.linalg.mul %2, %0 : tensor<4x4xf32>
  // CHECK-NEXT: %[[C:.*]]:2 = mllm.graph.call_graph @outlined.0(%[[B]])
  %4 = mllm.linalg.silu %3 : tensor<4x4xf32>
  %5 = mllm.linalg.silu %4 : tensor<4x4xf32>
  %6 = mllm.linalg.add %5, %4 : tensor<4x4xf32>
  // CHECK-NEXT: mllm.cf.return %[[C]]#1, %[[B]]
  mllm.cf.return %6, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}
// CHECK-LABEL: subgraph @caches(
mllm.graph.subgraph @caches(%k: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  // CHECK-NOT: call_graph
  // CHECK: mllm.cf.return
  %0:2 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  %1 = mllm.linalg.silu %0#0 : tensor<?x2x4xf32>
  %2 = mllm.linalg.add %1, %0#1 : tensor<?x2x4xf32>
  %3:2 = mllm.linalg.kv_cache %2, %2 {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  %4 = mllm.linalg.silu %3#0 : tensor<?x2x4xf32>
  %5 = mllm.linalg.add %4, %3#1 : tensor<?x2x4xf32>
  mllm.cf.return %5 : tensor<?x2x4xf32>
}
