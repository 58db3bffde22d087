// RUN: llmir-opt %s --mllm-split-stages=stages=2 --split-input-file --verify-diagnostics | FileCheck %s
// RUN: llmir-opt %s --mllm-split-stages=stages=1 --split-input-file | FileCheck %s --check-prefix=ONE

// By floating-point operations: the product of matrices costs more than all
// else together, so the split is after it. The values that the second stage
// needs of the first, and of the arguments, are its arguments.
// SPEC: 277

mllm.tensor.register @w : tensor<64x4xf32> {source = "w"}
// CHECK-LABEL: subgraph private @stage.0(
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x64xf32>) attributes {mllm.flops = {{[0-9]+}} : i64, mllm.stage = 0 : i64}
// CHECK-NEXT: %[[A:.*]] = mllm.linalg.silu %[[X]]
// CHECK-NEXT: %[[B:.*]] = mllm.linalg.silu %[[A]]
// CHECK-NEXT: %[[C:.*]] = mllm.linalg.add %[[B]], %[[A]]
// CHECK-NEXT: %[[D:.*]] = mllm.linalg.linear %[[C]], @w
// CHECK-NEXT: mllm.cf.return %[[B]], %[[D]]
// CHECK-LABEL: subgraph private @stage.1(
// CHECK-SAME: %[[P:.*]]: tensor<8x64xf32>, %[[Y:.*]]: tensor<8x64xf32>, %[[Q:.*]]: tensor<8x4xf32>) -> (tensor<8x64xf32>, tensor<8x4xf32>) attributes {mllm.flops = {{[0-9]+}} : i64, mllm.stage = 1 : i64}
// CHECK-NEXT: mllm.linalg.add %[[P]], %[[Y]]
// CHECK-NEXT: mllm.linalg.silu %[[Q]]
// CHECK-LABEL: subgraph @model(
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32>, %[[Y:.*]]: tensor<8x64xf32>)
// CHECK-NEXT: %[[S:.*]]:2 = mllm.graph.call_graph @stage.0(%[[X]])
// CHECK-NEXT: %[[T:.*]]:2 = mllm.graph.call_graph @stage.1(%[[S]]#1, %[[Y]], %[[S]]#0)
// CHECK-NEXT: mllm.cf.return %[[T]]#0, %[[T]]#1
// ONE-NOT: @stage
mllm.graph.subgraph @model(%x: tensor<8x4xf32>, %y: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x4xf32>) attributes {entry} {
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.linalg.silu %0 : tensor<8x4xf32>
  %2 = mllm.linalg.add %1, %0 : tensor<8x4xf32>
  %3 = mllm.linalg.linear %2, @w : tensor<8x4xf32> -> tensor<8x64xf32>
  %4 = mllm.linalg.add %3, %y : tensor<8x64xf32>
  %5 = mllm.linalg.silu %1 : tensor<8x4xf32>
  mllm.cf.return %4, %5 : tensor<8x64xf32>, tensor<8x4xf32>
}

// -----

// With dynamic sizes, the cost is that of the parameters; calls have the cost
// of their callees. Of three equal layers the first stage gets two: the cuts
// come as late as they may.

mllm.tensor.register @w : tensor<4x4xf32> {source = "w"}
mllm.graph.subgraph @layer(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.linear %x, @w : tensor<?x4xf32> -> tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: subgraph private @stage.0(
// CHECK-SAME: mllm.flops = 64 : i64
// CHECK-NEXT: call_graph @layer
// CHECK-NEXT: call_graph @layer
// CHECK-NEXT: return
// CHECK-LABEL: subgraph private @stage.1(
// CHECK-SAME: mllm.flops = 32 : i64
mllm.graph.subgraph @model(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {entry} {
  %0 = mllm.graph.call_graph @layer(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = mllm.graph.call_graph @layer(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = mllm.graph.call_graph @layer(%1) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %2 : tensor<?x4xf32>
}
