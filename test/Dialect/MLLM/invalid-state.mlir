// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Each rule of the ops in MLLMStateOps.td.

mllm.graph.subgraph @f(%x: tensor<?x64xf32>, %w: tensor<3x32xf32>) {
  // RULE: causal_conv.c1
  // expected-error@+1 {{has rows of 64 channels, but factors of 32}}
  %0 = mllm.linalg.causal_conv %x, %w {layer = 0 : i64} : (tensor<?x64xf32>, tensor<3x32xf32>) -> tensor<?x64xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x64xf32>, %w: tensor<0x64xf32>) {
  // RULE: causal_conv.c2
  // expected-error@+1 {{has 0 factors for each channel, expected 1 to 64}}
  %0 = mllm.linalg.causal_conv %x, %w {layer = 0 : i64} : (tensor<?x64xf32>, tensor<0x64xf32>) -> tensor<?x64xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x64xf32>, %w: tensor<3x64xf32>) {
  // RULE: causal_conv.c3
  // expected-error@+1 {{'layer' is -1, expected 0 or more}}
  %0 = mllm.linalg.causal_conv %x, %w {layer = -1 : i64} : (tensor<?x64xf32>, tensor<3x64xf32>) -> tensor<?x64xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x64xf32>, %w: tensor<3x64xf16>) {
  // RULE: causal_conv.c4
  // expected-error@+1 {{operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.causal_conv %x, %w {layer = 0 : i64} : (tensor<?x64xf32>, tensor<3x64xf16>) -> tensor<?x64xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x64xf32>, %w: tensor<3x64xf32>) {
  // RULE: causal_conv.c5
  // expected-error@+1 {{result #0 has type 'tensor<?x32xf32>', expected 'tensor<?x64xf32>'}}
  %0 = mllm.linalg.causal_conv %x, %w {layer = 0 : i64} : (tensor<?x64xf32>, tensor<3x64xf32>) -> tensor<?x32xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x2x8xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x4x8xf32>, %g: tensor<?x4xf32>) {
  // RULE: linear_attention.c1
  // expected-error@+1 {{has queries of shape}}
  %0 = mllm.linalg.linear_attention %q, %k, %v, %g {layer = 0 : i64} : (tensor<?x2x8xf32>, tensor<?x2x16xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>) -> tensor<?x4x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<3x2x8xf32>, %k: tensor<3x2x8xf32>, %v: tensor<4x4x8xf32>, %g: tensor<4x4xf32>) {
  // RULE: linear_attention.c2
  // expected-error@+1 {{has keys of 3 tokens, but values of 4}}
  %0 = mllm.linalg.linear_attention %q, %k, %v, %g {layer = 0 : i64} : (tensor<3x2x8xf32>, tensor<3x2x8xf32>, tensor<4x4x8xf32>, tensor<4x4xf32>) -> tensor<4x4x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x3x8xf32>, %k: tensor<?x3x8xf32>, %v: tensor<?x4x8xf32>, %g: tensor<?x4xf32>) {
  // RULE: linear_attention.c3
  // expected-error@+1 {{has 4 value heads, expected a multiple of the 3 key heads}}
  %0 = mllm.linalg.linear_attention %q, %k, %v, %g {layer = 0 : i64} : (tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>) -> tensor<?x4x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x4x8xf32>, %g: tensor<?x4xf32>, %b: tensor<?x2xf32>) {
  // RULE: linear_attention.c4
  // expected-error@+1 {{but betas of shape}}
  %0 = mllm.linalg.linear_attention %q, %k, %v, %g, %b {layer = 0 : i64} : (tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>, tensor<?x2xf32>) -> tensor<?x4x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x4x8xf32>, %g: tensor<?x4xf32>) {
  // RULE: linear_attention.c5
  // expected-error@+1 {{'layer' is -2, expected 0 or more}}
  %0 = mllm.linalg.linear_attention %q, %k, %v, %g {layer = -2 : i64} : (tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>) -> tensor<?x4x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x4x8xf16>, %g: tensor<?x4xf32>) {
  // RULE: linear_attention.c6
  // expected-error@+1 {{operand #2 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.linear_attention %q, %k, %v, %g {layer = 0 : i64} : (tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x4x8xf16>, tensor<?x4xf32>) -> tensor<?x4x8xf16>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x4x8xf32>, %g: tensor<?x4xf32>) {
  // RULE: linear_attention.c7
  // expected-error@+1 {{result #0 has type 'tensor<?x4x4xf32>', expected 'tensor<?x4x8xf32>'}}
  %0 = mllm.linalg.linear_attention %q, %k, %v, %g {layer = 0 : i64} : (tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}
