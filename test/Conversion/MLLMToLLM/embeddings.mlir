// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file | FileCheck %s

// Tokens attend to later ones, too: keys and values of the step are stored in the cache, whose layers are numbered in the
// order of calls. The row of the first token is the embedding.

!x = tensor<?x8xf32>
!h = tensor<?x2x4xf32>
module attributes {mllm.model = {architecture = "bert", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 16 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<16x8xf32> {source = "embed"}
  // CHECK-LABEL: func.func @step(
  // CHECK-SAME: %[[ROWS:[a-z0-9]*]]: tensor<?xi32>, %{{[a-z0-9]*}}: !llm.paged_kv_cache<f32, 2, 2, 4,
  // CHECK: %[[M:.*]]:2 = call @model(
  // CHECK: %[[FIRST:.*]] = llm.select_rows %[[M]]#0, %[[ROWS]]
  // CHECK-NOT: llm.select_rows
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[FIRST]], %[[FIRST]] :
  // CHECK: return %[[SUM]], %[[M]]#1
  mllm.graph.subgraph @bert(%ids: tensor<?xi64>) -> !x attributes {entry} {
    %0 = mllm.graph.call_graph @model(%ids) : (tensor<?xi64>) -> !x
    %1 = mllm.linalg.slice %0[0:1, :] : !x -> !x
    %2 = mllm.linalg.sub %1, %1 : !x
    mllm.cf.return %2 : !x
  }
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> !x {
    %0 = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> !x
    %1 = mllm.graph.call_graph @layers.0(%0) : (!x) -> !x
    %2 = mllm.graph.call_graph @layers.1(%1) : (!x) -> !x
    mllm.cf.return %2 : !x
  }
  // CHECK-LABEL: func.func private @layers.0(
  // CHECK-SAME: attributes {llm.layer}
  // CHECK: %[[C:.*]] = llm.append_kv {{.*}} layer(%[[L:.*]]) :
  // CHECK: llm.paged_attention {{.*}}, %[[C]], {{.*}} layer(%[[L]]) {causal = false, scale = 5.000000e-01 : f64}
  mllm.graph.subgraph @layers.0(%x: !x) -> !x {
    %h = mllm.linalg.view %x : !x -> !h
    %a = mllm.linalg.flash_attention2 %h, %h, %h {causal = false, scale = 0.5 : f64} : (!h, !h, !h) -> !h
    %y = mllm.linalg.view %a : !h -> !x
    mllm.cf.return %y : !x
  }
  // CHECK-LABEL: func.func private @layers.1(
  // CHECK: llm.append_kv
  mllm.graph.subgraph @layers.1(%x: !x) -> !x {
    %h = mllm.linalg.view %x : !x -> !h
    %a = mllm.linalg.flash_attention2 %h, %h, %h {causal = false, scale = 0.5 : f64} : (!h, !h, !h) -> !h
    %y = mllm.linalg.view %a : !h -> !x
    mllm.cf.return %y : !x
  }
}

// -----

// A decoder whose embedding is the row of the last token.

!x = tensor<?x8xf32>
!h = tensor<?x2x4xf32>
module attributes {mllm.model = {architecture = "qwen3", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 16 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<16x8xf32> {source = "embed"}
  // CHECK-LABEL: func.func @step(
  // CHECK: %[[A:.*]] = llm.paged_attention
  // CHECK: llm.select_rows
  // CHECK-NOT: llm.select_rows
  // CHECK: return
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> !x attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> !x
    %h = mllm.linalg.view %x : !x -> !h
    %k, %v = mllm.linalg.kv_cache %h, %h {layer = 0 : i64} : (!h, !h) -> (!h, !h)
    %a = mllm.linalg.flash_attention2 %h, %k, %v {causal = true, scale = 0.5 : f64} : (!h, !h, !h) -> !h
    %y = mllm.linalg.view %a : !h -> !x
    %last = mllm.linalg.slice %y[-1:, :] : !x -> !x
    mllm.cf.return %last : !x
  }
}

// -----

// The mean of all tokens, which attend to those of a window on both sides, and a projection of it.

!x = tensor<?x8xf32>
!h = tensor<?x2x4xf32>
module attributes {mllm.model = {architecture = "modern-bert", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 16 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<16x8xf32> {source = "embed"}
  mllm.tensor.register @dense : tensor<4x8xf32> {source = "dense"}
  // CHECK-LABEL: func.func @step(
  // CHECK-SAME: %{{[a-z0-9_]*}}: tensor<?xi32>, %{{[a-z0-9_]*}}: tensor<?xi32>, %[[OFFSETS:[a-z0-9_]*]]: tensor<?xi32>,
  // CHECK: llm.append_kv
  // CHECK: %[[A:.*]] = llm.paged_attention {{.*}} {causal = false, scale = 5.000000e-01 : f64, window = 3 : i64}
  // CHECK: %[[MEAN:.*]] = llm.mean_rows %{{.*}}, %[[OFFSETS]] : tensor<?x8xf32>, tensor<?xi32> -> tensor<?x8xf32>
  // CHECK: %[[Y:.*]] = llm.linear %[[MEAN]]
  // CHECK-NOT: llm.select_rows
  // CHECK: return %[[Y]]
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x4xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> !x
    %h = mllm.linalg.view %x : !x -> !h
    %a = mllm.linalg.flash_attention2_swa_sink %h, %h, %h {causal = false, scale = 0.5 : f64, sliding_window = 3 : i64} : (!h, !h, !h) -> !h
    %y = mllm.linalg.view %a : !h -> !x
    %mean = mllm.linalg.mean %y {dim = 0 : i64, keep_dim} : !x -> !x
    %z = mllm.linalg.linear %mean, @dense : !x -> tensor<?x4xf32>
    mllm.cf.return %z : tensor<?x4xf32>
  }
}
