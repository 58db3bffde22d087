// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file | FileCheck %s

// Attention in a window, without and with sinks, which are the same for all
// tokens.
module attributes {mllm.model = {architecture = "own", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 1 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @k : tensor<4x8xf32> {source = "k"}
  mllm.tensor.register @sinks : tensor<2xf32> {source = "sinks"}
  // CHECK-LABEL: func.func @step(
  // CHECK-SAME: %{{.*}}: tensor<?xi32>, %{{.*}}: tensor<?xi32>, %[[OFFSETS:.*]]: tensor<?xi32>, %[[LENS:.*]]: tensor<?xi32>, %[[SLOTS:.*]]: tensor<?xi32>, %[[TABLES:.*]]: tensor<?x?xi32>
  // CHECK: %[[SINKS:.*]] = llm.weight @sinks
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // CHECK: %[[Q:.*]] = tensor.expand_shape {{.*}} into tensor<?x2x4xf32>
    %q = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    %p = mllm.linalg.linear %x, @k : tensor<?x8xf32> -> tensor<?x4xf32>
    %k = mllm.linalg.view %p : tensor<?x4xf32> -> tensor<?x1x4xf32>
    // CHECK: %[[C0:.*]] = llm.append_kv
    %k0:2 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x1x4xf32>, tensor<?x1x4xf32>) -> (tensor<?x1x4xf32>, tensor<?x1x4xf32>)
    // CHECK: %[[A:.*]] = llm.paged_attention %[[Q]], %[[C0]], %[[TABLES]], %[[LENS]] offsets(%[[OFFSETS]]) layer(%{{.*}}) {scale = 5.000000e-01 : f64, window = 3 : i64}
    %a = mllm.linalg.flash_attention2_swa_sink %q, %k0#0, %k0#1 {scale = 0.5 : f64, sliding_window = 3 : i64} : (tensor<?x2x4xf32>, tensor<?x1x4xf32>, tensor<?x1x4xf32>) -> tensor<?x2x4xf32>
    // CHECK: %[[C1:.*]] = llm.append_kv %[[C0]]
    %k1:2 = mllm.linalg.kv_cache %k, %k {layer = 1 : i64} : (tensor<?x1x4xf32>, tensor<?x1x4xf32>) -> (tensor<?x1x4xf32>, tensor<?x1x4xf32>)
    %s = mllm.linalg.param @sinks : tensor<2xf32>
    // CHECK: llm.paged_attention %[[A]], %[[C1]], {{.*}} sinks(%[[SINKS]]) {scale = 2.500000e-01 : f64, window = 5 : i64}
    %b = mllm.linalg.flash_attention2_swa_sink %a, %k1#0, %k1#1 sinks %s {scale = 0.25 : f64, sliding_window = 5 : i64} : (tensor<?x2x4xf32>, tensor<?x1x4xf32>, tensor<?x1x4xf32>, tensor<2xf32>) -> tensor<?x2x4xf32>
    %y = mllm.linalg.view %b : tensor<?x2x4xf32> -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
}

// -----

// Rotations by tables of each token, with tokens or heads first; planes are
// chosen as in a function. Subgraphs pass tables on.
module attributes {mllm.model = {architecture = "own", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  // CHECK-LABEL: func.func @step(
  // CHECK: %[[S:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3x?x2xf32>)
  // CHECK: call @rotated(%{{.*}}, %[[S]], %{{.*}}) : (tensor<?x2x4xf32>, tensor<3x?x2xf32>, tensor<3x?x2xf32>) -> tensor<?x2x4xf32>
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    %p = mllm.linalg.positions %ids : tensor<?xi64>
    %f = mllm.linalg.cast_type %p to f32 : tensor<?xi64> -> tensor<?xf32>
    %c = mllm.linalg.view %f : tensor<?xf32> -> tensor<?x1xf32>
    %t = mllm.linalg.concat %c, %c {dim = 1 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
    %a = mllm.linalg.stack %t, %t, %t {dim = 0 : i64} : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<3x?x2xf32>
    %sin = mllm.linalg.sin %a : tensor<3x?x2xf32>
    %cos = mllm.linalg.cos %a : tensor<3x?x2xf32>
    %r = mllm.graph.call_graph @rotated(%h, %sin, %cos) : (tensor<?x2x4xf32>, tensor<3x?x2xf32>, tensor<3x?x2xf32>) -> tensor<?x2x4xf32>
    %y = mllm.linalg.view %r : tensor<?x2x4xf32> -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
  // CHECK-LABEL: func.func private @rotated(
  // CHECK-SAME: %[[X:.*]]: tensor<?x2x4xf32>, %[[SIN:.*]]: tensor<3x?x2xf32>, %[[COS:.*]]: tensor<3x?x2xf32>)
  mllm.graph.subgraph @rotated(%x: tensor<?x2x4xf32>, %sin: tensor<3x?x2xf32>, %cos: tensor<3x?x2xf32>) -> tensor<?x2x4xf32> {
    // CHECK: tensor.extract_slice %[[SIN]][0, 0, 0] [1, %{{.*}}, 1] [1, 1, 1]
    // CHECK: tensor.extract_slice %[[SIN]][2, 0, 1] [1, %{{.*}}, 1] [1, 1, 1]
    // CHECK: tensor.extract_slice %[[COS]][0, 0, 0]
    %r = mllm.linalg.multimodal_rope %x by %sin, %cos {mrope_section = array<i64: 1, 0, 1>} : tensor<?x2x4xf32> by tensor<3x?x2xf32>, tensor<3x?x2xf32>
    %t = mllm.linalg.transpose %r {dim0 = 0 : i64, dim1 = 1 : i64} : tensor<?x2x4xf32> -> tensor<2x?x4xf32>
    // CHECK: linalg.transpose {{.*}} permutation = [0, 2, 1, 3]
    // CHECK: tensor.extract_slice %[[SIN]][1, 0, 0] [1, %{{.*}}, 2] [1, 1, 1]
    %u = mllm.linalg.multimodal_rope %t by %sin, %cos {layout = "bhsd", mrope_section = array<i64: 0, 2>} : tensor<2x?x4xf32> by tensor<3x?x2xf32>, tensor<3x?x2xf32>
    %s = mllm.linalg.slice %sin[0:1, :, :] : tensor<3x?x2xf32> -> tensor<1x?x2xf32>
    %v = mllm.linalg.view %s : tensor<1x?x2xf32> -> tensor<?x2xf32>
    %w = mllm.linalg.rope %u by %v, %v {layout = "bhsd", scaling = 1.0 : f64} : tensor<2x?x4xf32> by tensor<?x2xf32>, tensor<?x2xf32>
    %y = mllm.linalg.transpose %w {dim0 = 0 : i64, dim1 = 1 : i64} : tensor<2x?x4xf32> -> tensor<?x2x4xf32>
    mllm.cf.return %y : tensor<?x2x4xf32>
  }
}

// -----

// A layer that reads the keys and values of another one adds no tokens, and its
// function needs no slots.
module attributes {mllm.model = {architecture = "own", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 1 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  // CHECK-LABEL: func.func @step(
  // CHECK: %[[AFTER:.*]]:2 = call @own(
  // CHECK: call @reader(%[[AFTER]]#0, %{{.*}}, %{{.*}}, %{{.*}}, %[[AFTER]]#1, %{{.*}}) : (tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>, !llm.paged_kv_cache
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %y = mllm.graph.call_graph @own(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %z = mllm.graph.call_graph @reader(%y) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    mllm.cf.return %z : tensor<?x8xf32>
  }
  mllm.graph.subgraph @own(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %q = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    %k = mllm.linalg.slice %q[:, 0:1, :] : tensor<?x2x4xf32> -> tensor<?x1x4xf32>
    // CHECK: llm.append_kv
    %all:2 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x1x4xf32>, tensor<?x1x4xf32>) -> (tensor<?x1x4xf32>, tensor<?x1x4xf32>)
    %a = mllm.linalg.flash_attention2 %q, %all#0, %all#1 {causal = true, scale = 0.5 : f64} : (tensor<?x2x4xf32>, tensor<?x1x4xf32>, tensor<?x1x4xf32>) -> tensor<?x2x4xf32>
    %y = mllm.linalg.view %a : tensor<?x2x4xf32> -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
  // CHECK-LABEL: func.func private @reader(
  // CHECK-SAME: %[[CACHE:[a-z0-9]*]]: !llm.paged_kv_cache<{{.*}}>, %[[LAYER:.*]]: index)
  // CHECK-NOT: llm.append_kv
  // CHECK: llm.paged_attention %{{.*}}, %[[CACHE]], {{.*}} layer(%[[LAYER]])
  // CHECK-NOT: llm.append_kv
  // CHECK: return %{{.*}}, %[[CACHE]]
  mllm.graph.subgraph @reader(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %q = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    %none = mllm.linalg.slice %q[0:0, 0:1, :] : tensor<?x2x4xf32> -> tensor<0x1x4xf32>
    %all:2 = mllm.linalg.kv_cache %none, %none {layer = 0 : i64} : (tensor<0x1x4xf32>, tensor<0x1x4xf32>) -> (tensor<?x1x4xf32>, tensor<?x1x4xf32>)
    %a = mllm.linalg.flash_attention2 %q, %all#0, %all#1 {causal = true, scale = 0.5 : f64} : (tensor<?x2x4xf32>, tensor<?x1x4xf32>, tensor<?x1x4xf32>) -> tensor<?x2x4xf32>
    %y = mllm.linalg.view %a : tensor<?x2x4xf32> -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
}
