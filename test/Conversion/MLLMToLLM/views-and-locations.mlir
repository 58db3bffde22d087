// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file | FileCheck %s
// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file --mlir-print-debuginfo | FileCheck %s --check-prefix=LOCATIONS

// Views between all ranks, and static numbers of tokens, which become dynamic in
// a ragged batch. One layer, in the entry itself: its number is a constant, and
// no function is marked as a layer.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  // CHECK-LABEL: func.func @step
  // CHECK-NOT: llm.layer
  mllm.graph.subgraph @model(%ids: tensor<3xi64>) -> tensor<3x8xf32> attributes {entry} {
    // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
    // CHECK: %[[X:.*]] = llm.embedding %arg0, %{{.*}} : tensor<?xi32>, tensor<8x8xf32> -> tensor<?x8xf32>
    // LOCATIONS: llm.embedding {{.*}} loc(#[[EMBED:.*]])
    %x = mllm.linalg.embedding %ids, @embed : tensor<3xi64> -> tensor<3x8xf32> loc("the embedding")
    // CHECK: %[[H:.*]] = call @views(%[[X]]) : (tensor<?x8xf32>) -> tensor<?x2x4xf32>
    %h = mllm.graph.call_graph @views(%x) : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
    // CHECK: %[[C:.*]] = llm.append_kv %arg7, %[[H]], %[[H]] slots(%arg4) layer(%[[ZERO]])
    %keys, %values = mllm.linalg.kv_cache %h, %h {layer = 0 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
    // CHECK: %[[A:.*]] = llm.paged_attention {{.*}} {causal = false, scale = 5.000000e-01 : f64}
    %a = mllm.linalg.flash_attention2 %h, %keys, %values {causal = false, scale = 0.5 : f64} : (tensor<3x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<3x2x4xf32>
    %m = mllm.linalg.view %a : tensor<3x2x4xf32> -> tensor<3x8xf32>
    // Rows are selected after the heads are merged, since earlier ops combine rows.
    // CHECK: %[[M:.*]] = tensor.collapse_shape %[[A]]
    // CHECK: %[[S:.*]] = llm.select_rows %[[M]], %arg6
    // CHECK: %[[G:.*]] = llm.silu %[[S]]
    // CHECK: %[[P:.*]] = llm.mul %[[G]], %{{.*}}
    // CHECK: return %[[P]], %[[C]]
    %g = mllm.linalg.silu %m : tensor<3x8xf32>
    %p = mllm.linalg.mul %g, %x : tensor<3x8xf32>
    mllm.cf.return %p : tensor<3x8xf32>
  }

  // CHECK-LABEL: func.func private @views(
  // CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>) -> tensor<?x2x4xf32>
  mllm.graph.subgraph @views(%x: tensor<3x8xf32>) -> tensor<3x2x4xf32> {
    // CHECK: %[[H:.*]] = tensor.expand_shape %[[X]] {{\[\[0\], \[1, 2\]\]}} {{.*}} : tensor<?x8xf32> into tensor<?x2x4xf32>
    %0 = mllm.linalg.view %x : tensor<3x8xf32> -> tensor<3x2x4xf32>
    // CHECK: %[[F:.*]] = tensor.collapse_shape %[[H]] {{\[\[0\], \[1, 2\]\]}} : tensor<?x2x4xf32> into tensor<?x8xf32>
    // CHECK: %[[T:.*]] = tensor.expand_shape %[[F]] {{\[\[0\], \[1, 2\]\]}} {{.*}} : tensor<?x8xf32> into tensor<?x4x2xf32>
    %1 = mllm.linalg.view %0 : tensor<3x2x4xf32> -> tensor<3x4x2xf32>
    // CHECK: %[[F2:.*]] = tensor.collapse_shape %[[T]] {{.*}} into tensor<?x8xf32>
    // CHECK: %[[D4:.*]] = tensor.expand_shape %[[F2]] {{\[\[0\], \[1, 2, 3\]\]}} {{.*}} : tensor<?x8xf32> into tensor<?x2x2x2xf32>
    %2 = mllm.linalg.view %1 : tensor<3x4x2xf32> -> tensor<3x2x2x2xf32>
    // CHECK: %[[F3:.*]] = tensor.collapse_shape %[[D4]] {{\[\[0\], \[1, 2, 3\]\]}}
    // CHECK: %[[B:.*]] = tensor.expand_shape %[[F3]] {{.*}} into tensor<?x2x4xf32>
    %3 = mllm.linalg.view %2 : tensor<3x2x2x2xf32> -> tensor<3x2x4xf32>
    // A view to the same shape is erased.
    // CHECK-NEXT: return %[[B]]
    %4 = mllm.linalg.view %3 : tensor<3x2x4xf32> -> tensor<3x2x4xf32>
    mllm.cf.return %4 : tensor<3x2x4xf32>
  }
}
// LOCATIONS: #[[EMBED]] = loc("the embedding")

// -----

// Does nothing to a module without a subgraph.
// CHECK-LABEL: func.func @other
func.func @other(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
