// RUN: llmir-opt %s --mllm-plan-memory='sizes=?=4' --split-input-file | FileCheck %s
// RUN: llmir-opt %s --mllm-plan-memory='sizes=?=4' --mllm-check-memory='sizes=?=4' --split-input-file -o %t
// RUN: llmir-opt %s --mllm-plan-memory='sizes=?=4 in-place=false' --mllm-check-memory='sizes=?=4' --split-input-file -o %t

// The memory of values in regions: planned, and used by one value at a time.

// Both branches store the result at the same offset; the values local to a
// branch ends in it, and the branches share its bytes.
// CHECK-LABEL: subgraph @branches(
// CHECK: %[[HOME:.*]] = mllm.tensor.alloc offset [[AT:[0-9]+]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R:.*]] = mllm.cf.if
// CHECK: %[[M:.*]] = mllm.tensor.alloc offset [[INNER:[0-9]+]] : tensor<?x4xf32>
// CHECK: %[[S:.*]] = mllm.linalg.silu
// CHECK-NEXT: %[[IN:.*]] = mllm.linalg.copy %[[M]], %[[S]]
// CHECK-NEXT: %[[Y:.*]] = mllm.linalg.copy %[[HOME]], %[[IN]]
// CHECK-NEXT: mllm.tensor.free %[[IN]]
// CHECK-NEXT: mllm.cf.yield %[[Y]]
// CHECK: } else {
// CHECK: mllm.tensor.alloc offset [[INNER]] : tensor<?x4xf32>
// CHECK: mllm.linalg.copy %[[HOME]]
// CHECK: mllm.cf.yield
mllm.graph.subgraph @branches(%c: tensor<i1>, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = mllm.cf.if %c : tensor<i1> -> tensor<?x4xf32> {
    %0 = mllm.linalg.silu %x : tensor<?x4xf32>
    mllm.cf.yield %0 : tensor<?x4xf32>
  } else {
    %0 = mllm.linalg.exp %x : tensor<?x4xf32>
    mllm.cf.yield %0 : tensor<?x4xf32>
  }
  mllm.cf.return %r : tensor<?x4xf32>
}

// -----

// Two values that are swapped in each iteration: both are copied to temporary
// memory before the first home is written.
// CHECK-LABEL: subgraph @swap(
// CHECK: %[[H0:.*]] = mllm.tensor.alloc
// CHECK-NEXT: %[[I0:.*]] = mllm.linalg.copy %[[H0]], %{{.*}}
// CHECK-NEXT: %[[H1:.*]] = mllm.tensor.alloc
// CHECK-NEXT: %[[I1:.*]] = mllm.linalg.copy %[[H1]], %{{.*}}
// CHECK-NEXT: mllm.cf.for %{{.*}}(%[[I0]], %[[I1]])
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %[[A:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<8x4xf32>):
// CHECK: %[[W0:.*]] = mllm.linalg.copy %{{.*}}, %[[B]]
// CHECK: %[[W1:.*]] = mllm.linalg.copy %{{.*}}, %[[A]]
// CHECK: %[[Y0:.*]] = mllm.linalg.copy %[[A]], %[[W0]]
// CHECK: %[[Y1:.*]] = mllm.linalg.copy %[[B]], %[[W1]]
// CHECK: mllm.cf.yield %[[Y0]], %[[Y1]]
mllm.graph.subgraph @swap(%n: tensor<i64>, %x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r:2 = mllm.cf.for %n (%x, %y) : (tensor<i64>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<8x4xf32>, %b: tensor<8x4xf32>):
    mllm.cf.yield %b, %a : tensor<8x4xf32>, tensor<8x4xf32>
  }
  %s = mllm.linalg.sub %r#0, %r#1 : tensor<8x4xf32>
  mllm.cf.return %s : tensor<8x4xf32>
}

// -----

// A captured value is live during the whole loop; the counter is carried like
// any other value; conditions are not stored.
// CHECK-LABEL: subgraph @turns(
// CHECK: %[[K:.*]] = mllm.linalg.copy %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK: mllm.cf.while
// CHECK-NEXT: ^bb0(%[[T:.*]]: tensor<i64>, %[[A:.*]]: tensor<8x4xf32>):
// CHECK-NEXT: %[[MORE:.*]] = mllm.linalg.compare
// CHECK-NEXT: mllm.cf.yield %[[MORE]], %[[T]], %[[A]]
// CHECK: mllm.linalg.copy %[[A]], %{{.*}} : (tensor<8x4xf32>
// CHECK: mllm.cf.yield
// CHECK: }
// CHECK: mllm.tensor.free %[[K]]
mllm.graph.subgraph @turns(%n: tensor<i64>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %k = mllm.linalg.neg %x : tensor<8x4xf32>
  %zero = mllm.tensor.constant dense<0> : tensor<i64>
  %r:2 = mllm.cf.while (%zero, %x) : (tensor<i64>, tensor<8x4xf32>) -> (tensor<i64>, tensor<8x4xf32>) {
  ^bb0(%t: tensor<i64>, %a: tensor<8x4xf32>):
    %more = mllm.linalg.compare less %t, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    mllm.cf.yield %more, %t, %a : tensor<i1>, tensor<i64>, tensor<8x4xf32>
  } do {
  ^bb0(%t: tensor<i64>, %a: tensor<8x4xf32>):
    %b = mllm.linalg.add %a, %k : tensor<8x4xf32>
    %next = mllm.linalg.add %t {scalar = 1.0 : f64} : tensor<i64>
    mllm.cf.yield %next, %b : tensor<i64>, tensor<8x4xf32>
  }
  mllm.cf.return %r#1 : tensor<8x4xf32>
}

// -----

// Calls in a region have frames with separate lifetimes: the result of the
// first is live while the second runs.
// CHECK-LABEL: subgraph @calls(
// CHECK: mllm.cf.if
// CHECK: mllm.graph.call_graph @part({{.*}}) {mllm.frame = {{[0-9]+}} : i64}
// CHECK: mllm.graph.call_graph @part({{.*}}) {mllm.frame = {{[0-9]+}} : i64}
mllm.graph.subgraph @calls(%c: tensor<i1>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = mllm.cf.if %c : tensor<i1> -> tensor<8x4xf32> {
    %0 = mllm.graph.call_graph @part(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = mllm.graph.call_graph @part(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = mllm.linalg.sub %0, %1 : tensor<8x4xf32>
    mllm.cf.yield %2 : tensor<8x4xf32>
  } else {
    mllm.cf.yield %x : tensor<8x4xf32>
  }
  mllm.cf.return %r : tensor<8x4xf32>
}
mllm.graph.subgraph private @part(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = mllm.linalg.exp %x : tensor<8x4xf32>
  mllm.cf.return %0 : tensor<8x4xf32>
}
