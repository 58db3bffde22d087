// RUN: llmir-opt %s --split-input-file --verify-diagnostics
// A negative test for each constraint of the ops of LLMStateOps.td, whose labels
// are in their descriptions.

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>
func.func @f(%x: tensor<?x64xf32>, %w: tensor<3x32xf32>, %c: !cache, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // RULE: causal_conv.c1
  // expected-error@+1 {{has inputs of type}}
  %0, %1 = llm.causal_conv %x, %w, %c slots(%s) offsets(%o) layer(%l) {offset = 0}
    : (tensor<?x64xf32>, tensor<3x32xf32>, !cache, tensor<?xi32>, tensor<?xi32>, index) -> (tensor<?x64xf32>, !cache)
  return
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>
func.func @f(%x: tensor<?x64xf32>, %w: tensor<65x64xf32>, %c: !cache, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // RULE: causal_conv.c2
  // expected-error@+1 {{has 65 factors per channel, expected 1 to 64}}
  %0, %1 = llm.causal_conv %x, %w, %c slots(%s) offsets(%o) layer(%l) {offset = 0}
    : (tensor<?x64xf32>, tensor<65x64xf32>, !cache, tensor<?xi32>, tensor<?xi32>, index) -> (tensor<?x64xf32>, !cache)
  return
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>
func.func @f(%x: tensor<?x64xf32>, %w: tensor<3x64xf32>, %c: !cache, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // RULE: causal_conv.c3
  // expected-error@+1 {{has its state at 8, expected a multiple of 16, 0 or more}}
  %0, %1 = llm.causal_conv %x, %w, %c slots(%s) offsets(%o) layer(%l) {offset = 8}
    : (tensor<?x64xf32>, tensor<3x64xf32>, !cache, tensor<?xi32>, tensor<?xi32>, index) -> (tensor<?x64xf32>, !cache)
  return
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>
func.func @f(%q: tensor<?x2x8xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x4x8xf32>, %g: tensor<?x4xf32>, %c: !cache, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // RULE: linear_attention.c1
  // expected-error@+1 {{has queries of type}}
  %0, %1 = llm.linear_attention %q, %k, %v, %g, %c slots(%s) offsets(%o) layer(%l) {offset = 0}
    : (tensor<?x2x8xf32>, tensor<?x2x16xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>, !cache, tensor<?xi32>, tensor<?xi32>, index) -> (tensor<?x4x8xf32>, !cache)
  return
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>
func.func @f(%q: tensor<3x2x8xf32>, %k: tensor<3x2x8xf32>, %v: tensor<4x4x8xf32>, %g: tensor<4x4xf32>, %c: !cache, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // RULE: linear_attention.c2
  // expected-error@+1 {{has keys of type}}
  %0, %1 = llm.linear_attention %q, %k, %v, %g, %c slots(%s) offsets(%o) layer(%l) {offset = 0}
    : (tensor<3x2x8xf32>, tensor<3x2x8xf32>, tensor<4x4x8xf32>, tensor<4x4xf32>, !cache, tensor<?xi32>, tensor<?xi32>, index) -> (tensor<4x4x8xf32>, !cache)
  return
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>
func.func @f(%q: tensor<?x3x8xf32>, %k: tensor<?x3x8xf32>, %v: tensor<?x4x8xf32>, %g: tensor<?x4xf32>, %c: !cache, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // RULE: linear_attention.c3
  // expected-error@+1 {{has 4 value heads, which is not a multiple of the number of key heads, 3}}
  %0, %1 = llm.linear_attention %q, %k, %v, %g, %c slots(%s) offsets(%o) layer(%l) {offset = 0}
    : (tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>, !cache, tensor<?xi32>, tensor<?xi32>, index) -> (tensor<?x4x8xf32>, !cache)
  return
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>
func.func @f(%q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x4x8xf32>, %g: tensor<?x4xf32>, %b: tensor<?x2xf32>, %c: !cache, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // RULE: linear_attention.c4
  // expected-error@+1 {{but factors of type}}
  %0, %1 = llm.linear_attention %q, %k, %v, %g, %c slots(%s) offsets(%o) layer(%l) beta(%b) {offset = 0}
    : (tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>, !cache, tensor<?xi32>, tensor<?xi32>, index, tensor<?x2xf32>) -> (tensor<?x4x8xf32>, !cache)
  return
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>
func.func @f(%q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x4x8xf32>, %g: tensor<?x4xf32>, %c: !cache, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // RULE: linear_attention.c5
  // expected-error@+1 {{has its state at -16, expected a multiple of 16, 0 or more}}
  %0, %1 = llm.linear_attention %q, %k, %v, %g, %c slots(%s) offsets(%o) layer(%l) {offset = -16}
    : (tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>, !cache, tensor<?xi32>, tensor<?xi32>, index) -> (tensor<?x4x8xf32>, !cache)
  return
}
