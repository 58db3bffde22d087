// RUN: llmir-opt %s --mllm-inline-subgraphs --split-input-file | FileCheck %s
// RUN: llmir-opt %s --mllm-inline-subgraphs=only=*.act --split-input-file | FileCheck %s --check-prefix=ONLY
// RUN: llmir-opt %s --mllm-inline-subgraphs --split-input-file --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// Callees before callers; ops keep the names of their layers.
// SPEC: 277

// CHECK-NOT: @model.act
// ONLY-NOT: @model.act
mllm.graph.subgraph @model.act(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.silu %x : tensor<?x4xf32> loc("model.act.silu")
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK-NOT: @model.mlp
// ONLY: @model.mlp
mllm.graph.subgraph @model.mlp(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // ONLY: mllm.linalg.silu
  %0 = mllm.graph.call_graph @model.act(%y) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = mllm.linalg.add %0, %x : tensor<?x4xf32>
  mllm.cf.return %1 : tensor<?x4xf32>
}
// CHECK-LABEL: @model(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>)
// ONLY-LABEL: @model(
mllm.graph.subgraph @model(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {entry} {
  // CHECK-NEXT: %[[A:.*]] = mllm.linalg.silu %[[X]]
  // CHECK-NEXT: %[[B:.*]] = mllm.linalg.silu %[[X]]
  // CHECK-NEXT: %[[C:.*]] = mllm.linalg.add %[[B]], %[[A]]
  // CHECK-NEXT: %[[D:.*]] = mllm.linalg.silu %[[A]]
  // CHECK-NEXT: %[[E:.*]] = mllm.linalg.add %[[D]], %[[C]]
  // CHECK-NEXT: mllm.cf.return %[[E]]
  // ONLY-NEXT: mllm.linalg.silu
  // ONLY-NEXT: call_graph @model.mlp
  // ONLY-NEXT: call_graph @model.mlp
  // LOC: mllm.linalg.silu {{.*}} loc(#[[SILU:.*]])
  // LOC: #[[SILU]] = loc("model.act.silu")
  %0 = mllm.graph.call_graph @model.act(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = mllm.graph.call_graph @model.mlp(%0, %x) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = mllm.graph.call_graph @model.mlp(%1, %0) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %2 : tensor<?x4xf32>
}

// -----

// Recursive subgraphs are not inlined.

// CHECK-LABEL: @again(
mllm.graph.subgraph @again(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK-NEXT: call_graph @again
  %0 = mllm.graph.call_graph @again(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: @user(
mllm.graph.subgraph @user(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK-NEXT: call_graph @again
  %0 = mllm.graph.call_graph @again(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
