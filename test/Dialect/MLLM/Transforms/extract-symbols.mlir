// RUN: llmir-opt %s --mllm-extract-symbols | FileCheck %s
// Twice the same: the table does not count itself.
// RUN: llmir-opt %s --mllm-extract-symbols --mllm-extract-symbols | FileCheck %s

// SPEC: 278
// CHECK: module attributes {mllm.symbols = {
// CHECK-SAME: act = {kind = "subgraph", users = ["model"], uses = 2 : i64}
// CHECK-SAME: model = {kind = "subgraph", users = [], uses = 0 : i64}
// CHECK-SAME: unused.weight = {kind = "parameter", users = [], uses = 0 : i64}
// CHECK-SAME: w = {kind = "parameter", users = ["act", "model"], uses = 2 : i64}
mllm.tensor.register @w : tensor<4xf32> {source = "w"}
mllm.tensor.register @unused.weight : tensor<4xf32> {source = "unused"}
mllm.graph.subgraph @act(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.rms_norm %x, @w {eps = 1.0e-5 : f64} : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
mllm.graph.subgraph @model(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {entry} {
  %0 = mllm.graph.call_graph @act(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = mllm.graph.call_graph @act(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = mllm.linalg.rms_norm %1, @w {eps = 1.0e-5 : f64} : tensor<?x4xf32>
  mllm.cf.return %2 : tensor<?x4xf32>
}
