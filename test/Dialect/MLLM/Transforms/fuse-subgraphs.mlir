// RUN: llmir-opt %s --mllm-fuse-subgraphs --split-input-file | FileCheck %s
// RUN: llmir-opt %s --mllm-fuse-subgraphs=only=no.* --split-input-file | FileCheck %s --check-prefix=NONE

// SPEC: 277
// CHECK-LABEL: subgraph private @norm_and_mlp(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: %[[A:.*]] = mllm.linalg.silu %[[X]]
// CHECK-NEXT: %[[B:.*]] = mllm.linalg.mul %[[A]], %[[X]]
// CHECK-NEXT: %[[C:.*]] = mllm.linalg.add %[[B]], %[[Y]]
// CHECK-NEXT: mllm.cf.return %[[C]]
// NONE-NOT: @norm_and_mlp
mllm.graph.subgraph @norm(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = mllm.linalg.silu %x : tensor<?x4xf32>
  mllm.cf.return %0, %x : tensor<?x4xf32>, tensor<?x4xf32>
}
mllm.graph.subgraph @mlp(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %z: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.mul %y, %x : tensor<?x4xf32>
  %1 = mllm.linalg.add %0, %z : tensor<?x4xf32>
  mllm.cf.return %1 : tensor<?x4xf32>
}
// CHECK-LABEL: subgraph @model(
// CHECK-SAME: %[[P:.*]]: tensor<?x4xf32>, %[[Q:.*]]: tensor<?x4xf32>)
mllm.graph.subgraph @model(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = mllm.graph.call_graph @norm_and_mlp(%[[P]], %[[Q]])
  %0:2 = mllm.graph.call_graph @norm(%x) : (tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %1 = mllm.graph.call_graph @mlp(%0#1, %0#0, %y) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: mllm.cf.return %[[R]]
  mllm.cf.return %1 : tensor<?x4xf32>
}

// -----

// An op without side effects may be between the two: it is moved before them.
// CHECK-LABEL: subgraph @passes(
mllm.graph.subgraph @passes(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[S:.*]] = mllm.linalg.silu
  // CHECK-NEXT: %{{.*}} = mllm.graph.call_graph @first_and_second(%{{.*}}, %[[S]])
  %0 = mllm.graph.call_graph @first(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = mllm.linalg.silu %x : tensor<?x4xf32>
  %2 = mllm.graph.call_graph @second(%0, %1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %2 : tensor<?x4xf32>
}
// CHECK: subgraph private @first_and_second(
mllm.graph.subgraph @first(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  mllm.cf.return %x : tensor<?x4xf32>
}
mllm.graph.subgraph @second(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.add %x, %y : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}

// -----

// Nothing is joined whose result another op reads, that is called twice, or with
// an effect in between.

// CHECK-NOT: private
mllm.graph.subgraph @a(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  mllm.cf.return %x : tensor<?x4xf32>
}
mllm.graph.subgraph @b(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  mllm.cf.return %x : tensor<?x4xf32>
}
mllm.graph.subgraph @c(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  mllm.cf.return %x : tensor<?x4xf32>
}
mllm.graph.subgraph @d(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  mllm.cf.return %x : tensor<?x4xf32>
}
mllm.graph.subgraph @read_twice(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.graph.call_graph @a(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = mllm.graph.call_graph @b(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = mllm.linalg.add %0, %1 : tensor<?x4xf32>
  mllm.cf.return %2 : tensor<?x4xf32>
}
mllm.graph.subgraph @called_twice(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.graph.call_graph @c(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = mllm.graph.call_graph @c(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %1 : tensor<?x4xf32>
}
mllm.graph.subgraph @in_between(%x: tensor<?x4xf32>, %k: tensor<?x2x4xf32>) -> (tensor<?x4xf32>, tensor<?x2x4xf32>) {
  %0 = mllm.graph.call_graph @d(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1, %2 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  %3 = mllm.graph.call_graph @a2(%0, %x) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %3, %1 : tensor<?x4xf32>, tensor<?x2x4xf32>
}
mllm.graph.subgraph @a2(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  mllm.cf.return %x : tensor<?x4xf32>
}

// -----

// A chain of any length becomes one subgraph.

// CHECK-LABEL: subgraph @chain(
// CHECK-NEXT: %[[R:.*]] = mllm.graph.call_graph @l0_and_l1_and_l2_and_l3(
// CHECK-NEXT: mllm.cf.return %[[R]]
// CHECK: subgraph private @l0_and_l1_and_l2_and_l3(%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[A:.*]] = mllm.linalg.silu %[[X]]
// CHECK-NEXT: %[[B:.*]] = mllm.linalg.neg %[[A]]
// CHECK-NEXT: %[[C:.*]] = mllm.linalg.abs %[[B]]
// CHECK-NEXT: %[[D:.*]] = mllm.linalg.exp %[[C]]
// CHECK-NEXT: mllm.cf.return %[[D]]
// CHECK-NEXT: }
// CHECK-NOT: subgraph
mllm.graph.subgraph @chain(%x: tensor<4xf32>) -> tensor<4xf32> attributes {entry} {
  %0 = mllm.graph.call_graph @l0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = mllm.graph.call_graph @l1(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = mllm.graph.call_graph @l2(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = mllm.graph.call_graph @l3(%2) : (tensor<4xf32>) -> tensor<4xf32>
  mllm.cf.return %3 : tensor<4xf32>
}
mllm.graph.subgraph @l0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.linalg.silu %x : tensor<4xf32>
  mllm.cf.return %0 : tensor<4xf32>
}
mllm.graph.subgraph @l1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.linalg.neg %x : tensor<4xf32>
  mllm.cf.return %0 : tensor<4xf32>
}
mllm.graph.subgraph @l2(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.linalg.abs %x : tensor<4xf32>
  mllm.cf.return %0 : tensor<4xf32>
}
mllm.graph.subgraph @l3(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.linalg.exp %x : tensor<4xf32>
  mllm.cf.return %0 : tensor<4xf32>
}

// -----

// So does a chain of which each part calls others: the calls that end one part
// and begin the next meet in what they have become.

// CHECK-LABEL: subgraph @nested(
// CHECK-NEXT: %{{.*}} = mllm.graph.call_graph @first_and_second(
// CHECK-NEXT: mllm.cf.return
// CHECK: subgraph private @first_and_second(
// CHECK-NEXT: %{{.*}} = mllm.graph.call_graph @a_and_b(
// CHECK-NEXT: mllm.cf.return
// CHECK: subgraph private @a_and_b(
// CHECK-NEXT: %{{.*}} = mllm.linalg.silu
// CHECK-NEXT: %{{.*}} = mllm.linalg.neg
// CHECK-NEXT: mllm.cf.return
// CHECK-NEXT: }
// CHECK-NOT: subgraph
mllm.graph.subgraph @nested(%x: tensor<4xf32>) -> tensor<4xf32> attributes {entry} {
  %0 = mllm.graph.call_graph @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = mllm.graph.call_graph @second(%0) : (tensor<4xf32>) -> tensor<4xf32>
  mllm.cf.return %1 : tensor<4xf32>
}
mllm.graph.subgraph @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.graph.call_graph @a(%x) : (tensor<4xf32>) -> tensor<4xf32>
  mllm.cf.return %0 : tensor<4xf32>
}
mllm.graph.subgraph @second(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.graph.call_graph @b(%x) : (tensor<4xf32>) -> tensor<4xf32>
  mllm.cf.return %0 : tensor<4xf32>
}
mllm.graph.subgraph @a(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.linalg.silu %x : tensor<4xf32>
  mllm.cf.return %0 : tensor<4xf32>
}
mllm.graph.subgraph @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.linalg.neg %x : tensor<4xf32>
  mllm.cf.return %0 : tensor<4xf32>
}
