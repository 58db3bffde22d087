// RUN: llmir-opt %s --canonicalize | FileCheck %s

mllm.tensor.register @w : tensor<6x4xf32> {source = "w"}
mllm.tensor.register @b : tensor<6xf32> {source = "b"}

// Outputs in two dimensions are a product and a view.
// CHECK-LABEL: mllm.graph.subgraph @split(
// CHECK-SAME: %[[X:.*]]: tensor<2x?x4xf32>)
mllm.graph.subgraph @split(%x: tensor<2x?x4xf32>) -> tensor<2x?x3x2xf32> {
  // CHECK: %[[Y:.*]] = mllm.linalg.linear %[[X]], @w bias @b : tensor<2x?x4xf32> -> tensor<2x?x6xf32>
  // CHECK: %[[Z:.*]] = mllm.linalg.view %[[Y]] : tensor<2x?x6xf32> -> tensor<2x?x3x2xf32>
  // CHECK: mllm.cf.return %[[Z]]
  %y = mllm.linalg.linear %x, @w bias @b : tensor<2x?x4xf32> -> tensor<2x?x3x2xf32>
  mllm.cf.return %y : tensor<2x?x3x2xf32>
}

// The names of the sizes and the device are preserved.
// CHECK-LABEL: mllm.graph.subgraph @named(
mllm.graph.subgraph @named(%x: tensor<?x4xf32, #mllm.tensor<kQNN, dims = (seq, 4)>>) -> tensor<?x3x2xf32, #mllm.tensor<kQNN, dims = (seq, 3, 2)>> {
  // CHECK: mllm.linalg.linear %{{.*}}, @w : tensor<?x4xf32, #mllm.tensor<kQNN, dims = (seq, 4)>> -> tensor<?x6xf32, #mllm.tensor<kQNN, dims = (seq, 6)>>
  // CHECK: mllm.linalg.view %{{.*}} -> tensor<?x3x2xf32, #mllm.tensor<kQNN, dims = (seq, 3, 2)>>
  %y = mllm.linalg.linear %x, @w : tensor<?x4xf32, #mllm.tensor<kQNN, dims = (seq, 4)>> -> tensor<?x3x2xf32, #mllm.tensor<kQNN, dims = (seq, 3, 2)>>
  mllm.cf.return %y : tensor<?x3x2xf32, #mllm.tensor<kQNN, dims = (seq, 3, 2)>>
}

// A single dimension is not changed.
// CHECK-LABEL: mllm.graph.subgraph @whole(
mllm.graph.subgraph @whole(%x: tensor<2x?x4xf32>) -> tensor<2x?x6xf32> {
  // CHECK-NOT: view
  // CHECK: mllm.linalg.linear
  // CHECK-NOT: view
  // CHECK: mllm.cf.return
  %y = mllm.linalg.linear %x, @w : tensor<2x?x4xf32> -> tensor<2x?x6xf32>
  mllm.cf.return %y : tensor<2x?x6xf32>
}

// CHECK-LABEL: mllm.graph.subgraph @relu(
mllm.graph.subgraph @relu(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK: %[[A:.*]] = mllm.linalg.relu %{{.*}} : tensor<?x4xf32>
  // CHECK: %[[G:.*]] = mllm.linalg.gelu %[[A]]
  // CHECK: %[[B:.*]] = mllm.linalg.relu %[[G]]
  // CHECK: mllm.cf.return %[[A]], %[[B]]
  %a = mllm.linalg.relu %x : tensor<?x4xf32>
  %aa = mllm.linalg.relu %a : tensor<?x4xf32>
  %g = mllm.linalg.gelu %aa : tensor<?x4xf32>
  %b = mllm.linalg.relu %g : tensor<?x4xf32>
  mllm.cf.return %aa, %b : tensor<?x4xf32>, tensor<?x4xf32>
}

// The cache is appended to even if the results are unused.
// CHECK-LABEL: mllm.graph.subgraph @cache(
mllm.graph.subgraph @cache(%k: tensor<?x2x4xf32>) {
  // CHECK-COUNT-2: mllm.linalg.kv_cache
  // CHECK-NOT: softmax
  %0, %1 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  %2, %3 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  %4 = mllm.linalg.softmax %0 {axis = 0 : i64} : tensor<?x2x4xf32>
  mllm.cf.return
}

// Transpositions of the matrices go into the product, one at either side and
// both; of other dimensions they stay.
// CHECK-LABEL: mllm.graph.subgraph @matmul(
// CHECK-SAME: %[[A:.*]]: tensor<2x?x4xf32>, %[[B:.*]]: tensor<2x5x4xf32>)
mllm.graph.subgraph @matmul(%a: tensor<2x?x4xf32>, %b: tensor<2x5x4xf32>)
    -> (tensor<2x?x5xf32>, tensor<2x4x4xf32>, tensor<2x4x?xf32>, tensor<5x2x2xf32>) {
  // CHECK: mllm.linalg.matmul %[[A]], %[[B]] {transpose_b} : (tensor<2x?x4xf32>, tensor<2x5x4xf32>) -> tensor<2x?x5xf32>
  %bt = mllm.linalg.transpose %b {dim0 = 1 : i64, dim1 = -1 : i64} : tensor<2x5x4xf32> -> tensor<2x4x5xf32>
  %0 = mllm.linalg.matmul %a, %bt : (tensor<2x?x4xf32>, tensor<2x4x5xf32>) -> tensor<2x?x5xf32>
  // CHECK: mllm.linalg.matmul %[[B]], %[[B]] {transpose_a} : (tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> tensor<2x4x4xf32>
  %1 = mllm.linalg.matmul %bt, %bt {transpose_b} : (tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> tensor<2x4x4xf32>
  // CHECK: mllm.linalg.matmul %{{.*}}, %[[A]] {transpose_a, transpose_b}
  %at = mllm.linalg.transpose %a {dim0 = 2 : i64, dim1 = 1 : i64} : tensor<2x?x4xf32> -> tensor<2x4x?xf32>
  %s = mllm.linalg.softmax %1 {axis = 0 : i64} : tensor<2x4x4xf32>
  %2 = mllm.linalg.matmul %s, %at {transpose_a} : (tensor<2x4x4xf32>, tensor<2x4x?xf32>) -> tensor<2x4x?xf32>
  // CHECK: %[[T:.*]] = mllm.linalg.transpose %[[B]]
  // CHECK: mllm.linalg.matmul %[[T]], %[[T]] {transpose_b}
  %other = mllm.linalg.transpose %b {dim0 = 0 : i64, dim1 = 1 : i64} : tensor<2x5x4xf32> -> tensor<5x2x4xf32>
  %3 = mllm.linalg.matmul %other, %other {transpose_b} : (tensor<5x2x4xf32>, tensor<5x2x4xf32>) -> tensor<5x2x2xf32>
  mllm.cf.return %0, %1, %2, %3 : tensor<2x?x5xf32>, tensor<2x4x4xf32>, tensor<2x4x?xf32>, tensor<5x2x2xf32>
}

// CHECK-LABEL: mllm.graph.subgraph @mask(
mllm.graph.subgraph @mask(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: %[[A:.*]] = mllm.linalg.causal_mask %{{.*}} {window = 2 : i64}
  // CHECK: %[[B:.*]] = mllm.linalg.causal_mask %[[A]] : tensor<4x4xf32>
  // CHECK: mllm.cf.return %[[A]], %[[B]]
  %a = mllm.linalg.causal_mask %x {window = 2 : i64} : tensor<4x4xf32>
  %aa = mllm.linalg.causal_mask %a {window = 2 : i64} : tensor<4x4xf32>
  %b = mllm.linalg.causal_mask %aa : tensor<4x4xf32>
  mllm.cf.return %aa, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// Sizes that are not known, and other steps, may make other pictures.
// CHECK-LABEL: mllm.graph.subgraph @pictures(
// CHECK-SAME: %[[X:.*]]: tensor<1x2x4x4xf32>, %[[Y:.*]]: tensor<1x2x?xf32>)
mllm.graph.subgraph @pictures(%x: tensor<1x2x4x4xf32>, %y: tensor<1x2x?xf32>)
    -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x?xf32>) {
  // CHECK: %[[R:.*]] = mllm.linalg.interpolate %[[X]] {mode = "bilinear", scale_factor
  // CHECK: %[[Z:.*]] = mllm.linalg.interpolate %[[Y]]
  // CHECK: mllm.cf.return %[[X]], %[[R]], %[[Z]]
  %0 = mllm.linalg.interpolate %x {mode = "bicubic", size = array<i64: 4, 4>} : tensor<1x2x4x4xf32>
  %1 = mllm.linalg.interpolate %x {mode = "bilinear", scale_factor = array<f64: 1.1, 1.0>} : tensor<1x2x4x4xf32>
  %2 = mllm.linalg.interpolate %y {mode = "linear", scale_factor = array<f64: 2.0>} : tensor<1x2x?xf32>
  mllm.cf.return %0, %1, %2 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x?xf32>
}
