// RUN: llmir-opt %s --mllm-fuse-attention --split-input-file | FileCheck %s

// Attention as it is written out: q, k and v with split outputs, heads before
// tokens, keys repeated by the cache, scores, scale, mask, shares.

mllm.tensor.register @q : tensor<16x8xf32> {source = "q"}
mllm.tensor.register @k : tensor<8x8xf32> {source = "k"}
mllm.tensor.register @o : tensor<8x16xf32> {source = "o"}
// CHECK-LABEL: @whole(
// CHECK-SAME: %[[X:.*]]: tensor<1x?x8xf32>)
mllm.graph.subgraph @whole(%x: tensor<1x?x8xf32>) -> tensor<1x?x8xf32> {
  // CHECK-NEXT: %[[Q0:.*]] = mllm.linalg.linear %[[X]], @q : tensor<1x?x8xf32> -> tensor<1x?x16xf32>
  // CHECK-NEXT: %[[Q1:.*]] = mllm.linalg.view %[[Q0]] : tensor<1x?x16xf32> -> tensor<1x?x4x4xf32>
  // CHECK-NEXT: %[[K0:.*]] = mllm.linalg.linear %[[X]], @k
  // CHECK-NEXT: %[[K1:.*]] = mllm.linalg.view %[[K0]] : tensor<1x?x8xf32> -> tensor<1x?x2x4xf32>
  // CHECK-NEXT: %[[V0:.*]] = mllm.linalg.linear %[[X]], @k {mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 8>}
  // CHECK-NEXT: %[[V1:.*]] = mllm.linalg.view %[[V0]]
  %q = mllm.linalg.linear %x, @q : tensor<1x?x8xf32> -> tensor<1x?x4x4xf32>
  %k = mllm.linalg.linear %x, @k : tensor<1x?x8xf32> -> tensor<1x?x2x4xf32>
  %v = mllm.linalg.linear %x, @k {mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 8>} : tensor<1x?x8xf32> -> tensor<1x?x2x4xf32>
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x?x4x4xf32> -> tensor<1x4x?x4xf32>
  %kt = mllm.linalg.transpose %k {dim0 = -2 : i64, dim1 = 1 : i64} : tensor<1x?x2x4xf32> -> tensor<1x2x?x4xf32>
  %vt = mllm.linalg.transpose %v {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x?x2x4xf32> -> tensor<1x2x?x4xf32>
  // CHECK-NEXT: %[[Q2:.*]] = mllm.linalg.rope %[[Q1]] {frequencies = array<f64: 1.000000e+00, 1.000000e-02>, scaling = 1.000000e+00 : f64} : tensor<1x?x4x4xf32>
  // CHECK-NEXT: %[[K2:.*]] = mllm.linalg.rope %[[K1]]
  %qr = mllm.linalg.rope %qt {frequencies = array<f64: 1.0, 0.01>, layout = "bhsd", scaling = 1.0 : f64} : tensor<1x4x?x4xf32>
  %kr = mllm.linalg.rope %kt {frequencies = array<f64: 1.0, 0.01>, layout = "bhsd", scaling = 1.0 : f64} : tensor<1x2x?x4xf32>
  // CHECK-NEXT: %[[KEYS:.*]], %[[VALUES:.*]] = mllm.linalg.kv_cache %[[K2]], %[[V1]] {layer = 3 : i64} : (tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) -> (tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>)
  %keys, %values = mllm.linalg.kv_cache %kr, %vt {layer = 3 : i64, layout = "bhsd", q_head = 4 : i64}
      : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> (tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>)
  // CHECK-NEXT: %[[Y:.*]] = mllm.linalg.flash_attention2 %[[Q2]], %[[KEYS]], %[[VALUES]] {causal = true, scale = 5.000000e-01 : f64}
  // CHECK-SAME: -> tensor<1x?x4x4xf32>
  %s = mllm.linalg.matmul %qr, %keys {transpose_b} : (tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>) -> tensor<1x4x?x?xf32>
  %t = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<1x4x?x?xf32>
  %m = mllm.linalg.causal_mask %t : tensor<1x4x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<1x4x?x?xf32>
  %y = mllm.linalg.matmul %p, %values : (tensor<1x4x?x?xf32>, tensor<1x4x?x4xf32>) -> tensor<1x4x?x4xf32>
  %yt = mllm.linalg.transpose %y {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x4x?x4xf32> -> tensor<1x?x4x4xf32>
  // CHECK-NEXT: %[[Z:.*]] = mllm.linalg.view %[[Y]] : tensor<1x?x4x4xf32> -> tensor<1x?x16xf32>
  // CHECK-NEXT: %[[R:.*]] = mllm.linalg.linear %[[Z]], @o
  %z = mllm.linalg.view %yt : tensor<1x?x4x4xf32> -> tensor<1x?x16xf32>
  %r = mllm.linalg.linear %z, @o : tensor<1x?x16xf32> -> tensor<1x?x8xf32>
  // A sum has its operands in the order in which they were made.
  // CHECK-NEXT: %[[W:.*]] = mllm.linalg.add %[[X]], %[[R]]
  // CHECK-NEXT: mllm.cf.return %[[W]]
  %w = mllm.linalg.add %r, %x : tensor<1x?x8xf32>
  mllm.cf.return %w : tensor<1x?x8xf32>
}

// -----

// Without a dimension for sequences, without repeated heads, without a scale,
// or divided by one.
// CHECK-LABEL: @plain(
mllm.graph.subgraph @plain(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>) {
  // CHECK-DAG: mllm.linalg.flash_attention2 %{{.*}} {causal = true, scale = 1.000000e+00 : f64}
  %keys, %values = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %q, %keys {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %s : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = 2 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %values : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-DAG: mllm.linalg.flash_attention2 %{{.*}} {causal = true, scale = 2.500000e-01 : f64}
  %keys1, %values1 = mllm.linalg.kv_cache %k, %k {layer = 1 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s1 = mllm.linalg.matmul %q, %keys1 {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %d1 = mllm.linalg.div %s1 {scalar = 4.0 : f64} : tensor<2x?x?xf32>
  %m1 = mllm.linalg.causal_mask %d1 : tensor<2x?x?xf32>
  %p1 = mllm.linalg.softmax %m1 {axis = -1 : i64} : tensor<2x?x?xf32>
  %y1 = mllm.linalg.matmul %p1, %values1 : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK-NOT: softmax
  mllm.cf.return %y, %y1 : tensor<2x?x4xf32>, tensor<2x?x4xf32>
}

// -----

// The mask is none: a token sees those after it.
// CHECK-LABEL: @not_causal(
mllm.graph.subgraph @not_causal(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  // CHECK-NOT: flash_attention2
  // CHECK: mllm.linalg.softmax
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %q, %K {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %c = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<2x?x?xf32>
  %m = mllm.linalg.relu %c : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %V : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  mllm.cf.return %y : tensor<2x?x4xf32>
}

// -----

// A window.
// CHECK-LABEL: @window(
mllm.graph.subgraph @window(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  // CHECK: mllm.linalg.flash_attention2_swa_sink %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64, sliding_window = 4 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  // CHECK-NOT: softmax
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %q, %K {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %c = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %c {window = 4 : i64} : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %V : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  mllm.cf.return %y : tensor<2x?x4xf32>
}

// -----

// Shares of another axis.
// CHECK-LABEL: @other_axis(
mllm.graph.subgraph @other_axis(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  // CHECK-NOT: flash_attention2
  // CHECK: mllm.linalg.softmax
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %q, %K {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %c = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %c : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = 1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %V : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  mllm.cf.return %y : tensor<2x?x4xf32>
}

// -----

// Keys of one layer and values of another.
// CHECK-LABEL: @two_layers(
mllm.graph.subgraph @two_layers(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  // CHECK-NOT: flash_attention2
  // CHECK: mllm.linalg.softmax
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %K1, %V1 = mllm.linalg.kv_cache %k, %k {layer = 1 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %q, %K {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %c = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %c : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %V1 : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  mllm.cf.return %y : tensor<2x?x4xf32>
}

// -----

// Values as keys.
// CHECK-LABEL: @swapped(
mllm.graph.subgraph @swapped(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  // CHECK-NOT: flash_attention2
  // CHECK: mllm.linalg.softmax
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %q, %V {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %c = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %c : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %K : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  mllm.cf.return %y : tensor<2x?x4xf32>
}

// -----

// Keys and values from nowhere.
// CHECK-LABEL: @no_cache(
mllm.graph.subgraph @no_cache(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  // CHECK-NOT: flash_attention2
  // CHECK: mllm.linalg.softmax
  mllm.dbg.comment "no cache"
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %c = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %c : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %k : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  mllm.cf.return %y : tensor<2x?x4xf32>
}

// -----

// A negative scale, which reverses the order of the scores.
// CHECK-LABEL: @negative(
mllm.graph.subgraph @negative(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  // CHECK-NOT: flash_attention2
  // CHECK: mllm.linalg.softmax
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %q, %K {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %c = mllm.linalg.mul %s {scalar = -0.5 : f64} : tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %c : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %V : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  mllm.cf.return %y : tensor<2x?x4xf32>
}

// -----

// Somebody else reads the keys.
// CHECK-LABEL: @keys_read(
mllm.graph.subgraph @keys_read(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>) {
  // CHECK-NOT: flash_attention2
  // CHECK: mllm.linalg.softmax
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %q, %K {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %c = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %c : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %V : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  mllm.cf.return %y, %K : tensor<2x?x4xf32>, tensor<2x?x4xf32>
}

// -----

// Somebody else reads the shares.
// CHECK-LABEL: @scores_read(
mllm.graph.subgraph @scores_read(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x?xf32>) {
  // CHECK-NOT: flash_attention2
  // CHECK: mllm.linalg.softmax
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %q, %K {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %c = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %c : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %V : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  mllm.cf.return %y, %p : tensor<2x?x4xf32>, tensor<2x?x?xf32>
}

// -----

// One query head with two key heads: the product repeats it, attention would
// not.
// CHECK-LABEL: @one_head(
mllm.graph.subgraph @one_head(%q: tensor<1x?x4xf32>, %k: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  // CHECK-NOT: flash_attention2
  // CHECK: mllm.linalg.softmax
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %q, %K {transpose_b} : (tensor<1x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %s : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %V : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  mllm.cf.return %y : tensor<2x?x4xf32>
}

// -----

// Keys times queries, and a cache with tokens first, whose "tokens" are heads here.
// CHECK-LABEL: @turned(
mllm.graph.subgraph @turned(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>, %h: tensor<?x2x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x?xf32>) {
  // CHECK-NOT: flash_attention2
  // CHECK: mllm.linalg.softmax
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64, layout = "bhsd"} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>)
  %s = mllm.linalg.matmul %K, %q {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  %m = mllm.linalg.causal_mask %s : tensor<2x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x?x?xf32>
  %y = mllm.linalg.matmul %p, %V : (tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK: mllm.linalg.softmax
  %K1, %V1 = mllm.linalg.kv_cache %h, %h {layer = 1 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  %s1 = mllm.linalg.matmul %q, %K1 {transpose_b} : (tensor<2x?x4xf32>, tensor<?x2x4xf32>) -> tensor<2x?x2xf32>
  %m1 = mllm.linalg.causal_mask %s1 : tensor<2x?x2xf32>
  %p1 = mllm.linalg.softmax %m1 {axis = -1 : i64} : tensor<2x?x2xf32>
  %y1 = mllm.linalg.matmul %p1, %V1 : (tensor<2x?x2xf32>, tensor<?x2x4xf32>) -> tensor<2x?x4xf32>
  %z = mllm.linalg.matmul %y1, %y {transpose_b} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x?xf32>
  mllm.cf.return %y, %z : tensor<2x?x4xf32>, tensor<2x?x?xf32>
}
