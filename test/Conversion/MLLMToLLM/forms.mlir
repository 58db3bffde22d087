// RUN: llmir-opt %s --convert-mllm-to-llm | FileCheck %s

// A trace by the node API: a module-level call specifies the model, values have
// a sequence dimension of size 1, and attention is explicit. None of this remains
// in the step.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 1 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @k : tensor<4x8xf32> {source = "k"}
  // CHECK-NOT: mllm.tensor.input
  // CHECK-NOT: mllm.graph
  %in = mllm.tensor.input : tensor<1x6xi64>
  %out = mllm.graph.call_graph @model(%in) : (tensor<1x6xi64>) -> tensor<1x6x8xf32>
  // CHECK-LABEL: func.func @step(
  // CHECK-SAME: %[[IDS:.*]]: tensor<?xi32>, %[[POSITIONS:.*]]: tensor<?xi32>, %[[OFFSETS:.*]]: tensor<?xi32>, %[[LENS:.*]]: tensor<?xi32>, %[[SLOTS:.*]]: tensor<?xi32>, %[[TABLES:.*]]: tensor<?x?xi32>, %[[ROWS:.*]]: tensor<?xi32>, %[[CACHE:.*]]: !llm.paged_kv_cache
  // CHECK: %[[X:.*]] = llm.embedding %[[IDS]]
  // CHECK: call @attention(%[[X]]
  mllm.graph.subgraph @model(%ids: tensor<1x6xi64>) -> tensor<1x6x8xf32> {
    %x = mllm.linalg.embedding %ids, @embed : tensor<1x6xi64> -> tensor<1x6x8xf32>
    %a = mllm.graph.call_graph @attention(%x) : (tensor<1x6x8xf32>) -> tensor<1x6x8xf32>
    // Rows are selected before they are added; the operands of the sum are in the
    // order in which they are defined.
    // CHECK: %[[XS:.*]] = llm.select_rows %[[X]], %[[ROWS]]
    // CHECK: %[[AS:.*]] = llm.select_rows
    // CHECK: llm.add %[[XS]], %[[AS]]
    %s = mllm.linalg.add %a, %x : tensor<1x6x8xf32>
    mllm.cf.return %s : tensor<1x6x8xf32>
  }
  // CHECK-LABEL: func.func private @attention(
  // CHECK-SAME: %[[Y:[a-z0-9]*]]: tensor<?x8xf32>
  mllm.graph.subgraph @attention(%x: tensor<1x6x8xf32>) -> tensor<1x6x8xf32> {
    // CHECK: %[[Q:.*]] = llm.linear %[[Y]], %{{.*}} : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
    // CHECK: %[[QH:.*]] = tensor.expand_shape %[[Q]] {{.*}} into tensor<?x2x4xf32>
    // CHECK: %[[K:.*]] = llm.linear %[[Y]], %{{.*}} -> tensor<?x4xf32>
    // CHECK: %[[KH:.*]] = tensor.expand_shape %[[K]] {{.*}} into tensor<?x1x4xf32>
    %q = mllm.linalg.linear %x, @embed : tensor<1x6x8xf32> -> tensor<1x6x2x4xf32>
    %k = mllm.linalg.linear %x, @k : tensor<1x6x8xf32> -> tensor<1x6x1x4xf32>
    // CHECK: %[[QR:.*]] = llm.rope %[[QH]]
    // CHECK: %[[KR:.*]] = llm.rope %[[KH]]
    %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x6x2x4xf32> -> tensor<1x2x6x4xf32>
    %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x6x1x4xf32> -> tensor<1x1x6x4xf32>
    %qr = mllm.linalg.rope %qt {frequencies = array<f64: 1.0, 0.01>, layout = "bhsd", scaling = 1.0 : f64} : tensor<1x2x6x4xf32>
    %kr = mllm.linalg.rope %kt {frequencies = array<f64: 1.0, 0.01>, layout = "bhsd", scaling = 1.0 : f64} : tensor<1x1x6x4xf32>
    // CHECK: %[[C:.*]] = llm.append_kv %{{.*}}, %[[KR]], %[[KH]] slots
    // CHECK: %[[A:.*]] = llm.paged_attention %[[QR]], %[[C]], {{.*}} {scale = 5.000000e-01 : f64}
    %keys, %values = mllm.linalg.kv_cache %kr, %kt {layer = 0 : i64, layout = "bhsd", q_head = 2 : i64} : (tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>) -> (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>)
    %s = mllm.linalg.matmul %qr, %keys {transpose_b} : (tensor<1x2x6x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x6x?xf32>
    %c = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<1x2x6x?xf32>
    %m = mllm.linalg.causal_mask %c : tensor<1x2x6x?xf32>
    %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<1x2x6x?xf32>
    %y = mllm.linalg.matmul %p, %values : (tensor<1x2x6x?xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x6x4xf32>
    %t = mllm.linalg.transpose %y {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x2x6x4xf32> -> tensor<1x6x2x4xf32>
    // CHECK: %[[Z:.*]] = tensor.collapse_shape %[[A]] {{.*}} into tensor<?x8xf32>
    // CHECK: llm.linear %[[Z]]
    %z = mllm.linalg.view %t : tensor<1x6x2x4xf32> -> tensor<1x6x8xf32>
    %o = mllm.linalg.linear %z, @embed : tensor<1x6x8xf32> -> tensor<1x6x8xf32>
    mllm.cf.return %o : tensor<1x6x8xf32>
  }
}
