// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// The linalg level; the cases are named by the constraint that they break.

mllm.graph.subgraph @f(%ids: tensor<?xi64>) {
  // embedding_c1
  // expected-error@+1 {{table @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.embedding %ids, @absent : tensor<?xi64> -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{the symbol is 'mllm.graph.subgraph'}}
mllm.graph.subgraph @f(%ids: tensor<?xi64>) {
  // embedding_c1, another kind of symbol
  // expected-error@+1 {{table @f is not a registered tensor of the module}}
  %0 = mllm.linalg.embedding %ids, @f : tensor<?xi64> -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<9x4xf32> {source = "w"}
mllm.graph.subgraph @f(%ids: tensor<?xi64>) {
  // embedding_c2, columns
  // expected-error@+1 {{table @w has shape 9x4, but the op needs ?x5}}
  %0 = mllm.linalg.embedding %ids, @w : tensor<?xi64> -> tensor<?x5xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<4xf32> {source = "w"}
mllm.graph.subgraph @f(%ids: tensor<?xi64>) {
  // embedding_c2, rank
  // expected-error@+1 {{table @w has shape 4, but the op needs ?x4}}
  %0 = mllm.linalg.embedding %ids, @w : tensor<?xi64> -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<9x4xf32> {source = "w"}
mllm.graph.subgraph @f(%ids: tensor<3xi64>) {
  // embedding_c3
  // expected-error@+1 {{operand has 3 tokens, but result has ?}}
  %0 = mllm.linalg.embedding %ids, @w : tensor<3xi64> -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%ids: tensor<?xi16>) {
  // expected-error@+1 {{operand #0 must be tensor [tokens] of i32 or i64, but got 'tensor<?xi16>'}}
  %0 = mllm.linalg.embedding %ids, @w : tensor<?xi16> -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // linear_c1, the weight
  // expected-error@+1 {{weight @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.linear %x, @absent : tensor<?x4xf32> -> tensor<?x8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // linear_c1, the bias
  // expected-error@+1 {{bias @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.linear %x, @w bias @absent : tensor<?x4xf32> -> tensor<?x8xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : !llm.quantized_tensor<i8, [8, 32], true, false, -1, 32, 8, format = q8_0> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x8xf32>) {
  // linear_c2
  // expected-error@+1 {{weight @w has shape 8x32, but the op needs 32x8}}
  %0 = mllm.linalg.linear %x, @w : tensor<?x8xf32> -> tensor<?x32xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
// expected-note@+1 {{registered here}}
mllm.tensor.register @b : tensor<4xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // linear_c3
  // expected-error@+1 {{bias @b has shape 4, but the op needs 8}}
  %0 = mllm.linalg.linear %x, @w bias @b : tensor<?x4xf32> -> tensor<?x8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<8x4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // linear_c4
  // expected-error@+1 {{operand has ? tokens, but result has 3}}
  %0 = mllm.linalg.linear %x, @w : tensor<?x4xf32> -> tensor<3x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x?xf32>) {
  // expected-error@+1 {{operand #0 must be f32 tensor [tokens, columns] whose sizes after the first are static, but got 'tensor<?x?xf32>'}}
  %0 = mllm.linalg.linear %x, @w : tensor<?x?xf32> -> tensor<?x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // rms_norm_c1
  // expected-error@+1 {{weight @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.rms_norm %x, @absent {eps = 1.0e-5 : f64} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<8xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x8x4xf32>) {
  // rms_norm_c2
  // expected-error@+1 {{weight @w has shape 8, but the op needs 4}}
  %0 = mllm.linalg.rms_norm %x, @w {eps = 1.0e-5 : f64} : tensor<?x8x4xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // rms_norm_c3
  // expected-error@+1 {{'eps' is 0.000000e+00, want a finite positive number}}
  %0 = mllm.linalg.rms_norm %x, @w {eps = 0.0 : f64} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf16>) {
  // expected-error@+1 {{operand #0 must be f32 tensor [tokens, columns] or [tokens, heads, head size]}}
  %0 = mllm.linalg.rms_norm %x, @w {eps = 1.0e-5 : f64} : tensor<?x4xf16>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>) {
  // rope_c1, none
  // expected-error@+1 {{has 0 frequencies for heads of size 4, want 1 to 2}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64>, scaling = 1.0 : f64} : tensor<?x2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x5xf32>) {
  // rope_c1, too many
  // expected-error@+1 {{has 3 frequencies for heads of size 5, want 1 to 2}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0, 0.5, 0.25>, scaling = 1.0 : f64} : tensor<?x2x5xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>) {
  // rope_c2
  // expected-error@+1 {{frequency #1 is INF, want a finite number}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0, 0x7FF0000000000000>, scaling = 1.0 : f64} : tensor<?x2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>) {
  // rope_c3
  // expected-error@+1 {{'scaling' is -1.000000e+00, want a finite positive number}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0>, scaling = -1.0 : f64} : tensor<?x2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{operand #0 must be f32 tensor [tokens, heads, head size] whose sizes after the first are static, but got 'tensor<?x4xf32>'}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0>, scaling = 1.0 : f64} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<3x2x4xf32>) {
  // kv_cache_c1, tokens
  // expected-error@+1 {{k has ? tokens, but v has 3}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0}
      : (tensor<?x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<?x1x4xf32>) {
  // kv_cache_c1, heads
  // expected-error@+1 {{k has 2 heads, but v has 1}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0}
      : (tensor<?x2x4xf32>, tensor<?x1x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x1x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>) {
  // kv_cache_c2, heads of the keys
  // expected-error@+1 {{k has 2 heads, but keys has 3}}
  %0, %1 = mllm.linalg.kv_cache %k, %k {layer = 0}
      : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x3x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>) {
  // kv_cache_c2, head size of the values
  // expected-error@+1 {{v has 4 values per head, but values has 6}}
  %0, %1 = mllm.linalg.kv_cache %k, %k {layer = 0}
      : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x6xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>) {
  // kv_cache_c3
  // expected-error@+1 {{keys has ? tokens, but values has 9}}
  %0, %1 = mllm.linalg.kv_cache %k, %k {layer = 0}
      : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<9x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>) {
  // kv_cache_c4
  // expected-error@+1 {{'layer' is -1, want 0 or more}}
  %0, %1 = mllm.linalg.kv_cache %k, %k {layer = -1}
      : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x5x4xf32>, %k: tensor<?x2x4xf32>) {
  // flash_attention2_c1
  // expected-error@+1 {{q has 5 heads, want a multiple of k's 2}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %k {causal = true, scale = 0.5 : f64}
      : (tensor<?x5x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x5x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x6xf32>, %k: tensor<?x2x4xf32>) {
  // flash_attention2_c2
  // expected-error@+1 {{q has 6 values per head, but k has 4}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %k {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x6xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<8x2x4xf32>, %v: tensor<9x2x4xf32>) {
  // flash_attention2_c3, tokens
  // expected-error@+1 {{k has 8 tokens, but v has 9}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<8x2x4xf32>, tensor<9x2x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x4x4xf32>) {
  // flash_attention2_c3, heads
  // expected-error@+1 {{k has 2 heads, but v has 4}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<?x2x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>) {
  // flash_attention2_c4, tokens
  // expected-error@+1 {{q has ? tokens, but the result has 1}}
  %0 = mllm.linalg.flash_attention2 %q, %q, %q {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<1x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>) {
  // flash_attention2_c4, heads
  // expected-error@+1 {{q has 4 heads, but the result has 2}}
  %0 = mllm.linalg.flash_attention2 %q, %q, %q {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %v: tensor<?x4x6xf32>) {
  // flash_attention2_c4, head size
  // expected-error@+1 {{v has 6 values per head, but the result has 4}}
  %0 = mllm.linalg.flash_attention2 %q, %q, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x6xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>) {
  // flash_attention2_c5
  // expected-error@+1 {{'scale' is nan, want a finite positive number}}
  %0 = mllm.linalg.flash_attention2 %q, %q, %q {causal = true, scale = 0x7FF8000000000000 : f64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // view_c1
  // expected-error@+1 {{operand has the dynamic sizes [?], but result has []}}
  %0 = mllm.linalg.view %x : tensor<?x4xf32> -> tensor<4x2x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // view_c2
  // expected-error@+1 {{operand's static sizes have the product 4, but result's have 6}}
  %0 = mllm.linalg.view %x : tensor<?x4xf32> -> tensor<?x2x3xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // view_c2, a product that overflows
  // expected-error@+1 {{operand's static sizes have the product 4, but result's have too great a one}}
  %0 = mllm.linalg.view %x : tensor<?x4xf32> -> tensor<?x4294967296x4294967296xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %y: tensor<?x5xf32>) {
  // expected-error@+1 {{the shapes [?, 4] and [?, 5] do not broadcast: sizes 4 and 5}}
  %0 = "mllm.linalg.add"(%x, %y) : (tensor<?x4xf32>, tensor<?x5xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %y: tensor<?x5xf32>) {
  // expected-error@+1 {{the shapes [?, 4] and [?, 5] do not broadcast: sizes 4 and 5}}
  %0 = "mllm.linalg.mul"(%x, %y) : (tensor<?x4xf32>, tensor<?x5xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}
