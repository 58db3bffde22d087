// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Each rule of the ops in MLLMNNOps.td.

mllm.graph.subgraph @f(%x: tensor<4xf32>, %y: tensor<4x2xf32>) {
  // RULE: matmul.c1
  // expected-error@+1 {{multiplies [4] and [4, 2], expected tensors of rank 2 or more}}
  %0 = mllm.linalg.matmul %x, %y : (tensor<4xf32>, tensor<4x2xf32>) -> tensor<2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3x4xf32>, %y: tensor<5x2xf32>) {
  // RULE: matmul.c2, SPEC: 314
  // expected-error@+1 {{the columns of the left matrix are not the rows of the right one}}
  %0 = mllm.linalg.matmul %x, %y : (tensor<3x4xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3x4xf32>, %y: tensor<4x2xf32>) {
  // RULE: matmul.c2 (transposed)
  // expected-error@+1 {{the columns of the left matrix are not the rows of the right one}}
  %0 = mllm.linalg.matmul %x, %y {transpose_b} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<2x3x4xf32>, %y: tensor<5x4x2xf32>) {
  // RULE: matmul.c3
  // expected-error@+1 {{broadcast}}
  %0 = mllm.linalg.matmul %x, %y : (tensor<2x3x4xf32>, tensor<5x4x2xf32>) -> tensor<2x3x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3x4xf32>, %y: tensor<4x2xf16>) {
  // RULE: matmul.c4
  // expected-error@+1 {{operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.matmul %x, %y : (tensor<3x4xf32>, tensor<4x2xf16>) -> tensor<3x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3x4xf32>, %y: tensor<4x2xf32, #mllm.tensor<kQNN>>) {
  // RULE: matmul.c4 (device)
  // expected-error@+1 {{operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.matmul %x, %y : (tensor<3x4xf32>, tensor<4x2xf32, #mllm.tensor<kQNN>>) -> tensor<3x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3x4xf32>, %y: tensor<4x2xf32>) {
  // RULE: matmul.c5
  // expected-error@+1 {{result #0 has type 'tensor<3x3xf32>', expected 'tensor<3x2xf32>'}}
  %0 = mllm.linalg.matmul %x, %y : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x3xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%ids: tensor<?xi64>) {
  // RULE: embedding.c1
  // expected-error@+1 {{table @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.embedding %ids, @absent : tensor<?xi64> -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{the symbol is 'mllm.graph.subgraph'}}
mllm.graph.subgraph @f(%ids: tensor<?xi64>) {
  // RULE: embedding.c1 (another kind of symbol)
  // expected-error@+1 {{table @f is not a registered tensor of the module}}
  %0 = mllm.linalg.embedding %ids, @f : tensor<?xi64> -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<9x4xf32> {source = "w"}
mllm.graph.subgraph @f(%ids: tensor<?xi64>) {
  // RULE: embedding.c2 (columns)
  // expected-error@+1 {{table @w has shape 9x4, but the op needs ?x5}}
  %0 = mllm.linalg.embedding %ids, @w : tensor<?xi64> -> tensor<?x5xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<4xf32> {source = "w"}
mllm.graph.subgraph @f(%ids: tensor<?xi64>) {
  // RULE: embedding.c2 (rank)
  // expected-error@+1 {{table @w has shape 4, but the op needs ?x4}}
  %0 = mllm.linalg.embedding %ids, @w : tensor<?xi64> -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<9x4xf32> {source = "w"}
mllm.graph.subgraph @f(%ids: tensor<3xi64>) {
  // RULE: embedding.c3
  // expected-error@+1 {{yields [5, 4] for [3] rows, expected them as leading dimensions}}
  %0 = mllm.linalg.embedding %ids, @w : tensor<3xi64> -> tensor<5x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<9x4xf32> {source = "w"}
mllm.graph.subgraph @f(%ids: tensor<3xi64>) {
  // RULE: embedding.c3 (rank)
  // expected-error@+1 {{yields [3, 4, 1] for ids [3], expected one more dimension}}
  %0 = mllm.linalg.embedding %ids, @w : tensor<3xi64> -> tensor<3x4x1xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%ids: tensor<?xi16>) {
  // RULE: embedding (ids of i16)
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit signless integer or 64-bit signless integer values}}
  %0 = mllm.linalg.embedding %ids, @w : tensor<?xi16> -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: linear.c1
  // expected-error@+1 {{weight @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.linear %x, @absent : tensor<?x4xf32> -> tensor<?x8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: linear.c1 (the bias)
  // expected-error@+1 {{bias @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.linear %x, @w bias @absent : tensor<?x4xf32> -> tensor<?x8xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : !llm.quantized_tensor<i8, [8, 32], true, false, -1, 32, 8, format = q8_0> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x8xf32>) {
  // RULE: linear.c2
  // expected-error@+1 {{weight @w has shape 8x32, but the op needs 32x8}}
  %0 = mllm.linalg.linear %x, @w : tensor<?x8xf32> -> tensor<?x32xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: linear.c2 (split)
  // expected-error@+1 {{weight @w has shape 8x4, but the op needs 6x4}}
  %0 = mllm.linalg.linear %x, @w : tensor<?x4xf32> -> tensor<?x3x2xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
// expected-note@+1 {{registered here}}
mllm.tensor.register @b : tensor<4xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: linear.c3
  // expected-error@+1 {{bias @b has shape 4, but the op needs 8}}
  %0 = mllm.linalg.linear %x, @w bias @b : tensor<?x4xf32> -> tensor<?x8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<2x4xf32>) {
  // RULE: linear.c4
  // expected-error@+1 {{yields [3, 8] for [2] rows, expected them as leading dimensions}}
  %0 = mllm.linalg.linear %x, @w : tensor<2x4xf32> -> tensor<3x8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<2x4xf32>) {
  // RULE: linear.c4 (rank)
  // expected-error@+1 {{yields [8] for [2, 4], expected rows and at least as many dimensions}}
  %0 = mllm.linalg.linear %x, @w : tensor<2x4xf32> -> tensor<8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<2x4xf32>) {
  // RULE: linear.c4 (dynamic outputs)
  // expected-error@+1 {{yields 'tensor<2x?xf32>', whose number of outputs is not static}}
  %0 = mllm.linalg.linear %x, @w : tensor<2x4xf32> -> tensor<2x?xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<2x4xf32>) {
  // RULE: linear.c4 (a product that overflows)
  // expected-error@+1 {{whose number of outputs is not static}}
  %0 = mllm.linalg.linear %x, @w : tensor<2x4xf32> -> tensor<2x4294967296x4294967296xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<2x4xf32>) {
  // RULE: linear.c5
  // expected-error@+1 {{yields 'tensor<2x8xf16>' for 'tensor<2x4xf32>', expected the same element type and device}}
  %0 = mllm.linalg.linear %x, @w : tensor<2x4xf32> -> tensor<2x8xf16>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f() {
  // RULE: param.c1
  // expected-error@+1 {{parameter @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.param @absent : tensor<4xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f() {
  // RULE: param.c2
  // expected-error@+1 {{parameter @w has shape 8x4, but the op needs 4x8}}
  %0 = mllm.linalg.param @w : tensor<4x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: rms_norm.c1
  // expected-error@+1 {{weight @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.rms_norm %x, @absent {eps = 1.0e-5 : f64} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<8xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x8x4xf32>) {
  // RULE: rms_norm.c2
  // expected-error@+1 {{weight @w has shape 8, but the op needs 4}}
  %0 = mllm.linalg.rms_norm %x, @w {eps = 1.0e-5 : f64} : tensor<?x8x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: rms_norm.c3
  // expected-error@+1 {{'eps' is 0.000000e+00, expected a finite positive number}}
  %0 = mllm.linalg.rms_norm %x, @w {eps = 0.0 : f64} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<f32>) {
  // RULE: rms_norm.c4
  // expected-error@+1 {{normalizes a tensor of rank 0, expected rows}}
  %0 = mllm.linalg.rms_norm %x, @w {eps = 1.0e-5 : f64} : tensor<f32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<2x4xf32>) {
  // RULE: rms_norm.c5
  // expected-error@+1 {{result #0 has type 'tensor<3x4xf32>', expected 'tensor<2x4xf32>'}}
  %0 = mllm.linalg.rms_norm %x, @w {eps = 1.0e-5 : f64} : tensor<2x4xf32> -> tensor<3x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: layer_norm.c1
  // expected-error@+1 {{weight @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.layer_norm %x weight @absent {eps = 1.0e-5 : f64, normalized_shape = array<i64: 4>} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: layer_norm.c1 (the bias)
  // expected-error@+1 {{bias @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.layer_norm %x bias @absent {eps = 1.0e-5 : f64, normalized_shape = array<i64: 4>} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: layer_norm.c2
  // expected-error@+1 {{weight @w has shape 3, but the op needs 4}}
  %0 = mllm.linalg.layer_norm %x weight @w {eps = 1.0e-5 : f64, normalized_shape = array<i64: 4>} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @b : tensor<3xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: layer_norm.c2 (the bias)
  // expected-error@+1 {{bias @b has shape 3, but the op needs 4}}
  %0 = mllm.linalg.layer_norm %x bias @b {eps = 1.0e-5 : f64, normalized_shape = array<i64: 4>} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: layer_norm.c3
  // expected-error@+1 {{'eps' is -1.000000e+00, expected a finite positive number}}
  %0 = mllm.linalg.layer_norm %x {eps = -1.0 : f64, normalized_shape = array<i64: 4>} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: layer_norm.c4
  // expected-error@+1 {{normalizes the sizes [3], which are not the last ones of [?, 4]}}
  %0 = mllm.linalg.layer_norm %x {eps = 1.0 : f64, normalized_shape = array<i64: 3>} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: layer_norm.c4 (none)
  // expected-error@+1 {{normalizes the sizes [], which are not the last ones of [?, 4]}}
  %0 = mllm.linalg.layer_norm %x {eps = 1.0 : f64, normalized_shape = array<i64>} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<2x4xf32>) {
  // RULE: layer_norm.c4 (too many)
  // expected-error@+1 {{normalizes the sizes [1, 2, 4], which are not the last ones of [2, 4]}}
  %0 = mllm.linalg.layer_norm %x {eps = 1.0 : f64, normalized_shape = array<i64: 1, 2, 4>} : tensor<2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<2x4xf32>) {
  // RULE: layer_norm.c5
  // expected-error@+1 {{result #0 has type 'tensor<3x4xf32>', expected 'tensor<2x4xf32>'}}
  %0 = mllm.linalg.layer_norm %x {eps = 1.0e-5 : f64, normalized_shape = array<i64: 4>} : tensor<2x4xf32> -> tensor<3x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @b : tensor<3xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<1x3x2x2xf32>) {
  // RULE: layer_norm_2d.c1
  // expected-error@+1 {{weight @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.layer_norm_2d %x, @absent, @b {eps = 1.0e-5 : f64} : tensor<1x3x2x2xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x2x2xf32>) {
  // RULE: layer_norm_2d.c1 (the bias)
  // expected-error@+1 {{bias @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.layer_norm_2d %x, @w, @absent {eps = 1.0e-5 : f64} : tensor<1x3x2x2xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<2xf32> {source = "w"}
mllm.tensor.register @b : tensor<3xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<1x3x2x2xf32>) {
  // RULE: layer_norm_2d.c2
  // expected-error@+1 {{weight @w has shape 2, but the op needs 3}}
  %0 = mllm.linalg.layer_norm_2d %x, @w, @b {eps = 1.0e-5 : f64} : tensor<1x3x2x2xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<3xf32> {source = "w"}
// expected-note@+1 {{registered here}}
mllm.tensor.register @b : tensor<2xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<1x3x2x2xf32>) {
  // RULE: layer_norm_2d.c2 (the bias)
  // expected-error@+1 {{bias @b has shape 2, but the op needs 3}}
  %0 = mllm.linalg.layer_norm_2d %x, @w, @b {eps = 1.0e-5 : f64} : tensor<1x3x2x2xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<3xf32> {source = "w"}
mllm.tensor.register @b : tensor<3xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<1x3x2x2xf32>) {
  // RULE: layer_norm_2d.c3
  // expected-error@+1 {{'eps' is INF, expected a finite positive number}}
  %0 = mllm.linalg.layer_norm_2d %x, @w, @b {eps = 0x7FF0000000000000 : f64} : tensor<1x3x2x2xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<3xf32> {source = "w"}
mllm.tensor.register @b : tensor<3xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<3x2x2xf32>) {
  // RULE: layer_norm_2d.c4
  // expected-error@+1 {{normalizes the channels of [3, 2, 2], expected [batch, channels, height, width]}}
  %0 = mllm.linalg.layer_norm_2d %x, @w, @b {eps = 1.0e-5 : f64} : tensor<3x2x2xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<3xf32> {source = "w"}
mllm.tensor.register @b : tensor<3xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<1x3x2x2xf32>) {
  // RULE: layer_norm_2d.c5
  // expected-error@+1 {{result #0 has type 'tensor<1x3x2x3xf32>', expected 'tensor<1x3x2x2xf32>'}}
  %0 = mllm.linalg.layer_norm_2d %x, @w, @b {eps = 1.0e-5 : f64} : tensor<1x3x2x2xf32> -> tensor<1x3x2x3xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<2x3xf32>) {
  // RULE: softmax.c1
  // expected-error@+1 {{axis}}
  %0 = mllm.linalg.softmax %x {axis = 2 : i64} : tensor<2x3xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<f32>) {
  // RULE: softmax.c1 (rank 0)
  // expected-error@+1 {{axis}}
  %0 = mllm.linalg.softmax %x {axis = -1 : i64} : tensor<f32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<2x3xf32>) {
  // RULE: softmax.c2
  // expected-error@+1 {{result #0 has type 'tensor<2x4xf32>', expected 'tensor<2x3xf32>'}}
  %0 = mllm.linalg.softmax %x {axis = 1 : i64} : tensor<2x3xf32> -> tensor<2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3xf32>) {
  // RULE: gelu.c1
  // expected-error@+1 {{result #0 has type 'tensor<3xf16>', expected 'tensor<3xf32>'}}
  %0 = mllm.linalg.gelu %x : tensor<3xf32> -> tensor<3xf16>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3xf32>) {
  // RULE: quick_gelu.c1
  // expected-error@+1 {{result #0 has type 'tensor<3xf16>', expected 'tensor<3xf32>'}}
  %0 = mllm.linalg.quick_gelu %x : tensor<3xf32> -> tensor<3xf16>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3xf32>) {
  // RULE: relu.c1
  // expected-error@+1 {{result #0 has type 'tensor<3xf16>', expected 'tensor<3xf32>'}}
  %0 = mllm.linalg.relu %x : tensor<3xf32> -> tensor<3xf16>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3xf32>) {
  // RULE: sigmoid.c1
  // expected-error@+1 {{result #0 has type 'tensor<3xf16>', expected 'tensor<3xf32>'}}
  %0 = mllm.linalg.sigmoid %x : tensor<3xf32> -> tensor<3xf16>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3xf32>) {
  // RULE: gelu (the word)
  // expected-error@+1 {{attribute 'approximate' failed to satisfy constraint: one of the words none, tanh}}
  %0 = mllm.linalg.gelu %x {approximate = "erf"} : tensor<3xf32>
  mllm.cf.return
}

// -----

// RULE: register.c1
// expected-error@+1 {{registers @model.up_proj as 'projection', which is not an op of the level}}
mllm.linalg.register @model.up_proj {op_type = "projection"}

// -----

mllm.graph.subgraph @f(%x: tensor<3xf32>) {
  // RULE: customized.c1
  // expected-error@+1 {{has the id 4095, expected 4096 or more}}
  %0 = mllm.linalg.customized "filter" id 4095 (%x) : (tensor<3xf32>) -> tensor<3xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>, %y: tensor<?x4xf32, #mllm.tensor<dims = (seq + past, 4)>>) {
  // RULE: matmul.c5 (named sizes)
  // expected-error@+1 {{expected 'tensor<?x?xf32, #mllm.tensor<dims = (seq, past + seq)>>'}}
  %0 = mllm.linalg.matmul %x, %y {transpose_b} : (tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>, tensor<?x4xf32, #mllm.tensor<dims = (seq + past, 4)>>) -> tensor<?x?xf32, #mllm.tensor<dims = (seq, seq + past + 1)>>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>) {
  // RULE: linear.c4 (named sizes)
  // expected-error@+1 {{yields [seq - 1, 8] for [seq] rows, expected them as leading dimensions}}
  %0 = mllm.linalg.linear %x, @w : tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>> -> tensor<?x8xf32, #mllm.tensor<dims = (seq - 1, 8)>>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c1
  // expected-error@+1 {{gate @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @absent, @g, @d : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c1 (the down projection)
  // expected-error@+1 {{down projection @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @g, @absent : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
// expected-note@+1 {{registered here}}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c2
  // expected-error@+1 {{gate @d has shape 5x4x6, but the op needs 5x4x4}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @d, @g, @d : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
// expected-note@+1 {{registered here}}
mllm.tensor.register @u : tensor<5x7x4xf32> {source = "u"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c2 (the up projection)
  // expected-error@+1 {{up projection @u has shape 5x7x4, but the op needs 5x6x4}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @u, @d : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
// expected-note@+1 {{registered here}}
mllm.tensor.register @m : tensor<6x4xf32> {source = "m"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c2 (the rank)
  // expected-error@+1 {{gate @m has shape 6x4, but the op needs ?x?x4}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @m, @g, @d : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c3
  // expected-error@+1 {{down projection @g has shape 5x6x4, but the op needs 5x4x6}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @g, @g : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x3xf32>) {
  // RULE: experts.c4
  // expected-error@+1 {{has weights of shape [?, 3] for chosen experts of shape [?, 2]}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @g, @d : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x3xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.graph.subgraph @f(%x: tensor<2x4xf32>, %e: tensor<3x2xi32>, %w: tensor<3x2xf32>) {
  // RULE: experts.c4 (the rows)
  // expected-error@+1 {{chooses experts of shape [3, 2] for the rows of [2, 4]}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @g, @d : (tensor<2x4xf32>, tensor<3x2xi32>, tensor<3x2xf32>) -> tensor<2x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xbf16>) {
  // RULE: experts.c5
  // expected-error@+1 {{operand #1 has bf16 values, but operand #0 has f32}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @g, @d : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xbf16>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c6
  // expected-error@+1 {{result #0 has type 'tensor<?x5xf32>', expected 'tensor<?x4xf32>'}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @g, @d : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x5xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.tensor.register @b : tensor<5x6x1xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c7 (some of them)
  // expected-error@+1 {{has some of the three biases; they are given together or not at all}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @g, @d {gate_bias = @b, up_bias = @b} : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
// expected-note@+1 {{registered here}}
mllm.tensor.register @b : tensor<5x6x1xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c7 (shape)
  // expected-error@+1 {{bias @b has shape 5x6x1, but the op needs 5x4x1}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @g, @d {gate_bias = @b, up_bias = @b, down_bias = @b} : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c8
  // expected-error@+1 {{has the 'swiglu_limit' -7.000000e+00 : f64, expected a finite positive number}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @g, @d {swiglu_limit = -7.0} : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @g : tensor<5x6x4xf32> {source = "g"}
mllm.tensor.register @d : tensor<5x4x6xf32> {source = "d"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // RULE: experts.c9
  // expected-error@+1 {{has both 'swiglu_limit' and 'gelu'}}
  %0 = mllm.linalg.experts %x chosen %e weights %w, @g, @g, @d {swiglu_limit = 7.0, gelu} : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @h : tensor<3x8x4xf32> {source = "h"}
mllm.graph.subgraph @f(%x: tensor<?x3x4xf32>) {
  // RULE: head_linear.c1
  // expected-error@+1 {{weight @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.head_linear %x, @absent : tensor<?x3x4xf32> -> tensor<?x3x8xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @h : tensor<3x8x4xf32> {source = "h"}
mllm.graph.subgraph @f(%x: tensor<?x3x4xf32>) {
  // RULE: head_linear.c2
  // expected-error@+1 {{weight @h}}
  %0 = mllm.linalg.head_linear %x, @h : tensor<?x3x4xf32> -> tensor<?x3x6xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @h : tensor<3x8x4xf32> {source = "h"}
mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>) {
  // RULE: head_linear.c2 (the heads)
  // expected-error@+1 {{weight @h}}
  %0 = mllm.linalg.head_linear %x, @h : tensor<?x2x4xf32> -> tensor<?x2x8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @h : tensor<3x8x4xf32> {source = "h"}
mllm.graph.subgraph @f(%x: tensor<4xf32>) {
  // RULE: head_linear.c3 (no heads)
  // expected-error@+1 {{takes [4], expected a static number of heads before the last dimension}}
  %0 = mllm.linalg.head_linear %x, @h : tensor<4xf32> -> tensor<8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @h : tensor<3x8x4xf32> {source = "h"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: head_linear.c3 (a dynamic number)
  // expected-error@+1 {{takes [?, 4], expected a static number of heads before the last dimension}}
  %0 = mllm.linalg.head_linear %x, @h : tensor<?x4xf32> -> tensor<?x8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @h : tensor<3x8x4xf32> {source = "h"}
mllm.graph.subgraph @f(%x: tensor<?x3x4xf32>) {
  // RULE: head_linear.c3 (the rank)
  // expected-error@+1 {{yields [?, 24] for [?, 3, 4], expected the same rank and a static last size}}
  %0 = mllm.linalg.head_linear %x, @h : tensor<?x3x4xf32> -> tensor<?x24xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @h : tensor<3x8x4xf32> {source = "h"}
mllm.graph.subgraph @f(%x: tensor<6x3x4xf32>) {
  // RULE: head_linear.c3 (the rows)
  // expected-error@+1 {{yields [5, 3, 8] for [6, 3] rows, expected them as leading dimensions}}
  %0 = mllm.linalg.head_linear %x, @h : tensor<6x3x4xf32> -> tensor<5x3x8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @h : tensor<3x8x4xf32> {source = "h"}
mllm.graph.subgraph @f(%x: tensor<?x3x4xf32>) {
  // RULE: head_linear.c4
  // expected-error@+1 {{yields 'tensor<?x3x8xbf16>' for 'tensor<?x3x4xf32>', expected the same element type and device}}
  %0 = mllm.linalg.head_linear %x, @h : tensor<?x3x4xf32> -> tensor<?x3x8xbf16>
  mllm.cf.return
}
