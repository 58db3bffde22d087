// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// RULE: fused_linear.c1
func.func @f(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>) {
  // expected-error @+1 {{has 2 weights, but 1 results; expected one result per weight}}
  %y = llm.fused_linear %x weights(%w, %w) : (tensor<?x64xf32>, tensor<32x64xbf16>, tensor<32x64xbf16>) -> tensor<?x32xf32>
  return
}

// -----

// RULE: fused_linear.c2
func.func @f(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>, %b: tensor<32xf32>) {
  // expected-error @+1 {{has 1 biases for 2 weights}}
  %y:2 = llm.fused_linear %x weights(%w, %w) biases(%b)
    : (tensor<?x64xf32>, tensor<32x64xbf16>, tensor<32x64xbf16>, tensor<32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>)
  return
}

// -----

// RULE: fused_linear.c3
func.func @f(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>, %g: tensor<64xf32>) {
  // expected-error @+1 {{has a norm weight, but no norm_eps}}
  %y = llm.fused_linear %x norm(%g) weights(%w) : (tensor<?x64xf32>, tensor<64xf32>, tensor<32x64xbf16>) -> tensor<?x32xf32>
  return
}

// -----

// RULE: fused_linear.c4
func.func @f(%x: tensor<?x64xf32>, %w: tensor<32x48xbf16>) {
  // expected-error @+1 {{has rows of 64 elements, but weight 0 has 48 inputs}}
  %y = llm.fused_linear %x weights(%w) : (tensor<?x64xf32>, tensor<32x48xbf16>) -> tensor<?x32xf32>
  return
}

// -----

// RULE: fused_linear.c4
func.func @f(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>, %g: tensor<48xf32>) {
  // expected-error @+1 {{has rows of 64 elements, but a norm weight of 48}}
  %y = llm.fused_linear %x norm(%g) weights(%w) {norm_eps = 0.0 : f64}
    : (tensor<?x64xf32>, tensor<48xf32>, tensor<32x64xbf16>) -> tensor<?x32xf32>
  return
}

// -----

// RULE: fused_linear.c5
func.func @f(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>, %b: tensor<16xf32>) {
  // expected-error @+1 {{has bias 0 of 16 elements, but its weight has 32 outputs}}
  %y = llm.fused_linear %x weights(%w) biases(%b) : (tensor<?x64xf32>, tensor<32x64xbf16>, tensor<16xf32>) -> tensor<?x32xf32>
  return
}

// -----

// RULE: fused_linear.c6
func.func @f(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>) {
  // expected-error @+1 {{result 0 has type 'tensor<?x16xf32>', expected 'tensor<?x32xf32>'}}
  %y = llm.fused_linear %x weights(%w) : (tensor<?x64xf32>, tensor<32x64xbf16>) -> tensor<?x16xf32>
  return
}

// -----

// RULE: fused_linear.c7
func.func @f(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>) {
  // expected-error @+1 {{norm_eps must be finite and not negative, not -1.000000e+00 : f64}}
  %y = llm.fused_linear %x weights(%w) {norm_eps = -1.0 : f64} : (tensor<?x64xf32>, tensor<32x64xbf16>) -> tensor<?x32xf32>
  return
}

// -----

// RULE: add_rms_norm.c1
func.func @f(%x: tensor<?x64xf32>, %g: tensor<48xf32>) {
  // expected-error @+1 {{has rows of 64 elements, but a weight of 48}}
  %n, %s = llm.add_rms_norm %x, %x, %g {eps = 0.0 : f64} : tensor<?x64xf32>, tensor<48xf32>
  return
}

// -----

// RULE: add_rms_norm.c2
func.func @f(%x: tensor<?x64xf32>, %g: tensor<64xf32>) {
  // expected-error @+1 {{eps must be finite and not negative, not 0x7FF8000000000000 : f64}}
  %n, %s = llm.add_rms_norm %x, %x, %g {eps = 0x7FF8000000000000 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return
}

// -----

!cache = !llm.paged_kv_cache<bf16, 1, 2, 4, 16, 256>
// RULE: rope_append_kv.c1
func.func @f(%c: !cache, %k: tensor<5x2x4xf32>, %p: tensor<6xi32>, %s: tensor<5xi32>) {
  // expected-error @+1 {{has keys of 5 tokens, but positions of 6}}
  %c2 = llm.rope_append_kv %c, %k, %k positions(%p) slots(%s) {frequencies = array<f64: 1.0>}
    : (!cache, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<6xi32>, tensor<5xi32>) -> !cache
  return
}

// -----

!cache = !llm.paged_kv_cache<bf16, 1, 2, 4, 16, 256>
// RULE: rope_append_kv.c2
func.func @f(%c: !cache, %k: tensor<5x3x4xf32>, %p: tensor<5xi32>) {
  // expected-error @+1 {{has keys of 3 heads of 4 elements, but the cache has 2 of 4}}
  %c2 = llm.rope_append_kv %c, %k, %k positions(%p) slots(%p) {frequencies = array<f64: 1.0>}
    : (!cache, tensor<5x3x4xf32>, tensor<5x3x4xf32>, tensor<5xi32>, tensor<5xi32>) -> !cache
  return
}

// -----

!cache = !llm.paged_kv_cache<bf16, 1, 2, 4, 16, 256>
// RULE: rope_append_kv.c3
func.func @f(%c: !cache, %k: tensor<5x2x4xf16>, %p: tensor<5xi32>) {
  // expected-error @+1 {{has keys of 'f16', but the cache's element type is 'bf16'}}
  %c2 = llm.rope_append_kv %c, %k, %k positions(%p) slots(%p) {frequencies = array<f64: 1.0>}
    : (!cache, tensor<5x2x4xf16>, tensor<5x2x4xf16>, tensor<5xi32>, tensor<5xi32>) -> !cache
  return
}

// -----

!cache = !llm.paged_kv_cache<bf16, 1, 2, 4, 16, 256>
// RULE: rope_append_kv.c4
func.func @f(%c: !cache, %k: tensor<5x2x4xf32>, %p: tensor<5xi32>) {
  // expected-error @+1 {{has 3 frequencies for heads of 4 elements; expected 1 to half of the head size}}
  %c2 = llm.rope_append_kv %c, %k, %k positions(%p) slots(%p) {frequencies = array<f64: 1.0, 0.1, 0.01>}
    : (!cache, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5xi32>, tensor<5xi32>) -> !cache
  return
}

// -----

!cache = !llm.paged_kv_cache<bf16, 1, 2, 4, 16, 256>
// RULE: rope_append_kv.c5
func.func @f(%c: !cache, %k: tensor<5x2x4xf32>, %p: tensor<5xi32>) {
  // expected-error @+1 {{scaling 0x7FF0000000000000 : f64 is not finite}}
  %c2 = llm.rope_append_kv %c, %k, %k positions(%p) slots(%p) {frequencies = array<f64: 1.0>, scaling = 0x7FF0000000000000 : f64}
    : (!cache, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5xi32>, tensor<5xi32>) -> !cache
  return
}

// -----

!cache = !llm.paged_kv_cache<bf16, 1, 2, 4, 16, 256>
// RULE: rope_append_kv.c5 (frequency)
func.func @f(%c: !cache, %k: tensor<5x2x4xf32>, %p: tensor<5xi32>) {
  // expected-error @+1 {{frequency INF is not finite}}
  %c2 = llm.rope_append_kv %c, %k, %k positions(%p) slots(%p) {frequencies = array<f64: 1.0, 0x7FF0000000000000>}
    : (!cache, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5xi32>, tensor<5xi32>) -> !cache
  return
}

// -----

!cache = !llm.paged_kv_cache<bf16, 2, 2, 4, 16, 256>
// RULE: rope_append_kv.c6
func.func @f(%c: !cache, %k: tensor<5x2x4xf32>, %p: tensor<5xi32>) {
  // expected-error @+1 {{needs a layer: the cache has 2 layers}}
  %c2 = llm.rope_append_kv %c, %k, %k positions(%p) slots(%p) {frequencies = array<f64: 1.0>}
    : (!cache, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5xi32>, tensor<5xi32>) -> !cache
  return
}

// -----

// RULE: fused_linear.c8
func.func @f(%x: tensor<?x64xf32>, %w: !llm.quantized_tensor<i8, [32, 64], true, true, 0, -1, 8>) {
  // expected-error @+1 {{without a format and therefore without scales}}
  %y = llm.fused_linear %x weights(%w)
    : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [32, 64], true, true, 0, -1, 8>) -> tensor<?x32xf32>
  return
}

// -----

// RULE: dialect.c7
// expected-error @+1 {{"llm.stage" is a non-negative i64 attribute of functions, not -1 : i64}}
func.func @f() attributes {llm.stage = -1 : i64} {
  return
}
