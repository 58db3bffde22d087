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

// Names and device of the sizes stay.
// CHECK-LABEL: mllm.graph.subgraph @named(
mllm.graph.subgraph @named(%x: tensor<?x4xf32, #mllm.tensor<kQNN, dims = (seq, 4)>>) -> tensor<?x3x2xf32, #mllm.tensor<kQNN, dims = (seq, 3, 2)>> {
  // CHECK: mllm.linalg.linear %{{.*}}, @w : tensor<?x4xf32, #mllm.tensor<kQNN, dims = (seq, 4)>> -> tensor<?x6xf32, #mllm.tensor<kQNN, dims = (seq, 6)>>
  // CHECK: mllm.linalg.view %{{.*}} -> tensor<?x3x2xf32, #mllm.tensor<kQNN, dims = (seq, 3, 2)>>
  %y = mllm.linalg.linear %x, @w : tensor<?x4xf32, #mllm.tensor<kQNN, dims = (seq, 4)>> -> tensor<?x3x2xf32, #mllm.tensor<kQNN, dims = (seq, 3, 2)>>
  mllm.cf.return %y : tensor<?x3x2xf32, #mllm.tensor<kQNN, dims = (seq, 3, 2)>>
}

// What is one dimension stays.
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

// The cache keeps what it has been given, whether anyone looks or not.
// CHECK-LABEL: mllm.graph.subgraph @cache(
mllm.graph.subgraph @cache(%k: tensor<?x2x4xf32>) {
  // CHECK-COUNT-2: mllm.linalg.kv_cache
  // CHECK-NOT: softmax
  %0, %1 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  %2, %3 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  %4 = mllm.linalg.softmax %0 {axis = 0 : i64} : tensor<?x2x4xf32>
  mllm.cf.return
}
