// RUN: llmir-opt %s --canonicalize --split-input-file | FileCheck %s

!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>

// CHECK-LABEL: func @dead_lookup
// CHECK-NOT: llm.lookup_kv
func.func @dead_lookup(%c: !cache, %blocks: tensor<2x8xi32>, %lens: tensor<2xi32>) {
  %0:2 = llm.lookup_kv %c, %blocks, %lens : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  return
}

// A lookup with one used result is preserved.
// CHECK-LABEL: func @live_lookup
// CHECK: llm.lookup_kv
func.func @live_lookup(%c: !cache, %blocks: tensor<2x8xi32>, %lens: tensor<2xi32>) -> tensor<2x64x2x16xf16> {
  %0:2 = llm.lookup_kv %c, %blocks, %lens : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  return %0#1 : tensor<2x64x2x16xf16>
}

// CHECK-LABEL: func @repeated_sizes_of_lookup
// CHECK: llm.lookup_kv %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}} :
func.func @repeated_sizes_of_lookup(%c: !cache, %blocks: tensor<2x8xi32>, %lens: tensor<2xi32>) -> tensor<2x64x2x16xf16> {
  %0:2 = llm.lookup_kv %c, %blocks, %lens {num_heads = 2, head_dim = 16} : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  return %0#0 : tensor<2x64x2x16xf16>
}

// CHECK-LABEL: func @lookup_nothing
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<2x64x2x16xf16>
// CHECK-NOT: llm.
// CHECK: return %[[ZERO]], %[[ZERO]]
func.func @lookup_nothing(%c: !cache, %blocks: tensor<2x8xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>) {
  %lens = arith.constant dense<0> : tensor<2xi32>
  %0:2 = llm.lookup_kv %c, %blocks, %lens : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  return %0#0, %0#1 : tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>
}

// Must not fire: the length may differ, also in a cache without sequences,
// which is an error at run time; the shape is unknown.
// CHECK-LABEL: func @lookup_something
// CHECK-COUNT-3: llm.lookup_kv
func.func @lookup_something(%blocks: tensor<2x8xi32>, %any: tensor<2x?xi32>, %n: tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>, tensor<2x?x2x16xf16>) {
  %c = llm.create_paged_cache : !cache
  %none = arith.constant dense<0> : tensor<2xi32>
  %lens = arith.constant dense<[0, 1]> : tensor<2xi32>
  %0:2 = llm.lookup_kv %c, %blocks, %lens : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  %1:2 = llm.lookup_kv %c, %any, %n : (!cache, tensor<2x?xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  %2:2 = llm.lookup_kv %c, %any, %none : (!cache, tensor<2x?xi32>, tensor<2xi32>) -> (tensor<2x?x2x16xf16>, tensor<2x?x2x16xf16>)
  return %0#0, %1#0, %2#0 : tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>, tensor<2x?x2x16xf16>
}

// -----

!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>

// CHECK-LABEL: func @missing_cache
// CHECK: %[[C:.*]] = llm.create_paged_cache : !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>
// CHECK: llm.append_kv %[[C]], %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}} : (!llm.paged_kv_cache
func.func @missing_cache(%k: tensor<2x2x16xf16>, %ids: tensor<2xi32>) -> !cache {
  %0:2 = llm.append_kv(%k, %k, %ids) {block_size = 8 : i32} : (tensor<2x2x16xf16>, tensor<2x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  return %0#0 : !cache
}

// CHECK-LABEL: func @repeated_sizes
// CHECK: llm.append_kv %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}} :
func.func @repeated_sizes(%c: !cache, %k: tensor<2x2x16xf16>, %ids: tensor<2xi32>) -> !cache {
  %0:2 = llm.append_kv %c, %k, %k, %ids {block_size = 8 : i32, max_seq_len = 64 : i32} : (!cache, tensor<2x2x16xf16>, tensor<2x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  return %0#0 : !cache
}

// CHECK-LABEL: func @append_nothing
// CHECK-SAME: %[[C:[^:]*]]: !llm
// CHECK-NOT: llm.append_kv
// CHECK: return %[[C]], %{{[a-z0-9_#]+}} :
func.func @append_nothing(%c: !cache, %k: tensor<0x2x16xf16>, %b: tensor<0x3x2x16xf16>, %slots: tensor<0xi32>) -> (!cache, tensor<0x3xi32>) {
  %0 = llm.append_kv %c, %k, %k slots(%slots) : (!cache, tensor<0x2x16xf16>, tensor<0x2x16xf16>, tensor<0xi32>) -> !cache
  %1:2 = llm.append_kv %0, %b, %b, %slots : (!cache, tensor<0x3x2x16xf16>, tensor<0x3x2x16xf16>, tensor<0xi32>) -> (!cache, tensor<0x3xi32>)
  return %1#0, %1#1 : !cache, tensor<0x3xi32>
}

// A sequence that gets no tokens may begin with this append.
// CHECK-LABEL: func @append_no_tokens
// CHECK: llm.append_kv
func.func @append_no_tokens(%c: !cache, %k: tensor<2x0x2x16xf16>, %ids: tensor<2xi32>) -> !cache {
  %0:2 = llm.append_kv %c, %k, %k, %ids : (!cache, tensor<2x0x2x16xf16>, tensor<2x0x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x0xi32>)
  return %0#0 : !cache
}

// Equal appends without a cache make two caches, and so do two creations.
// CHECK-LABEL: func @two_caches
// CHECK-COUNT-3: llm.create_paged_cache
func.func @two_caches(%k: tensor<2x2x16xf16>, %ids: tensor<2xi32>) -> (!cache, !cache, !cache) {
  %0:2 = llm.append_kv(%k, %k, %ids) : (tensor<2x2x16xf16>, tensor<2x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  %1:2 = llm.append_kv(%k, %k, %ids) : (tensor<2x2x16xf16>, tensor<2x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  %2 = llm.create_paged_cache : !cache
  return %0#0, %1#0, %2 : !cache, !cache, !cache
}

// CHECK-LABEL: func @unused_cache
// CHECK-NEXT: return
func.func @unused_cache() {
  %0 = llm.create_paged_cache : !cache
  return
}

// CHECK-LABEL: func @no_sequences
// CHECK-SAME: %[[C:[^:]*]]: !llm
// CHECK-NEXT: return %[[C]]
func.func @no_sequences(%c: !cache, %none: tensor<0xi32>) -> !cache {
  %0 = llm.fork_kv %c, %none, %none : (!cache, tensor<0xi32>, tensor<0xi32>) -> !cache
  %1 = llm.free_kv %0, %none : (!cache, tensor<0xi32>) -> !cache
  return %1 : !cache
}

// CHECK-LABEL: func @some_sequences
// CHECK: llm.fork_kv
// CHECK: llm.free_kv
func.func @some_sequences(%c: !cache, %some: tensor<?xi32>) -> !cache {
  %0 = llm.fork_kv %c, %some, %some : (!cache, tensor<?xi32>, tensor<?xi32>) -> !cache
  %1 = llm.free_kv %0, %some : (!cache, tensor<?xi32>) -> !cache
  return %1 : !cache
}

// -----

// CHECK-LABEL: func @default_scale
// CHECK: llm.attention %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}} : (
// CHECK: llm.attention %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}} : (
func.func @default_scale(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>) -> (tensor<2x3x4x16xf16>, tensor<2x3x4x16xf16>) {
  %0 = llm.attention %q, %k, %k {scale = 0.25 : f32, num_heads = 4, head_dim = 16} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  %1 = llm.attention %q, %0, %0 {scale = 0.0 : f64} : (tensor<2x3x4x16xf16>, tensor<2x3x4x16xf16>, tensor<2x3x4x16xf16>) -> tensor<2x3x4x16xf16>
  return %0, %1 : tensor<2x3x4x16xf16>, tensor<2x3x4x16xf16>
}

// An f32 near to 1 / sqrt(80) is another number; a head size that only the
// attribute says is not said twice.
// CHECK-LABEL: func @other_scale
// CHECK: scale = 0.1118
// CHECK: head_dim = 16 : i64, scale = 2.500000e-01 : f32
func.func @other_scale(%q: tensor<2x3x4x80xf16>, %k: tensor<2x5x2x80xf16>, %r: tensor<2x3x4x?xf16>) -> (tensor<2x3x4x80xf16>, tensor<2x3x4x?xf16>) {
  %0 = llm.attention %q, %k, %k {scale = 0.1118034 : f32} : (tensor<2x3x4x80xf16>, tensor<2x5x2x80xf16>, tensor<2x5x2x80xf16>) -> tensor<2x3x4x80xf16>
  %1 = llm.attention %r, %r, %r {scale = 0.25 : f32, head_dim = 16} : (tensor<2x3x4x?xf16>, tensor<2x3x4x?xf16>, tensor<2x3x4x?xf16>) -> tensor<2x3x4x?xf16>
  return %0, %1 : tensor<2x3x4x80xf16>, tensor<2x3x4x?xf16>
}

// CHECK-LABEL: func @empty_masks
// CHECK: llm.attention %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}} : (
// CHECK: llm.attention %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}} : (
func.func @empty_masks(%q: tensor<2x3x16xf16>) -> tensor<2x3x16xf16> {
  %true = arith.constant dense<true> : tensor<1x3x3xi1>
  %zeros = arith.constant dense<0.0> : tensor<2x3x3xf32>
  %0 = llm.attention %q, %q, %q mask(%true) : (tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<1x3x3xi1>) -> tensor<2x3x16xf16>
  %1 = llm.attention %0, %0, %0 mask(%zeros) {alibi_slopes = array<f64: 0.0>} : (tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<2x3x3xf32>) -> tensor<2x3x16xf16>
  return %1 : tensor<2x3x16xf16>
}

// CHECK-LABEL: func @other_masks
// CHECK: llm.attention {{.*}} mask(
// CHECK: llm.attention {{.*}} mask({{.*}}alibi_slopes
// CHECK: llm.attention {{.*}} mask(
func.func @other_masks(%q: tensor<2x3x16xf16>, %m: tensor<2x3x3xi1>) -> tensor<2x3x16xf16> {
  %false = arith.constant dense<false> : tensor<1x3x3xi1>
  %ones = arith.constant dense<1.0> : tensor<2x3x3xf32>
  %0 = llm.attention %q, %q, %q mask(%false) : (tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<1x3x3xi1>) -> tensor<2x3x16xf16>
  %1 = llm.attention %0, %0, %0 mask(%ones) {alibi_slopes = array<f64: 0.5>} : (tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<2x3x3xf32>) -> tensor<2x3x16xf16>
  %2 = llm.attention %1, %1, %1 mask(%m) : (tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<2x3x3xi1>) -> tensor<2x3x16xf16>
  return %2 : tensor<2x3x16xf16>
}

// One query is the last token, which sees all keys.
// CHECK-LABEL: func @one_query
// CHECK: llm.attention %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}} : (
func.func @one_query(%q: tensor<2x1x16xf16>, %k: tensor<2x5x16xf16>) -> tensor<2x1x16xf16> {
  %0 = llm.attention %q, %k, %k {causal = true, window = 5} : (tensor<2x1x16xf16>, tensor<2x5x16xf16>, tensor<2x5x16xf16>) -> tensor<2x1x16xf16>
  return %0 : tensor<2x1x16xf16>
}

// CHECK-LABEL: func @several_queries
// CHECK: llm.attention {{.*}} {causal = true, window = 4 : i64}
// CHECK: llm.attention {{.*}} {causal = true, window = 5 : i64}
func.func @several_queries(%q: tensor<2x2x16xf16>, %k: tensor<2x5x16xf16>, %r: tensor<2x?x16xf16>) -> (tensor<2x2x16xf16>, tensor<2x?x16xf16>) {
  %0 = llm.attention %q, %k, %k {causal = true, window = 4} : (tensor<2x2x16xf16>, tensor<2x5x16xf16>, tensor<2x5x16xf16>) -> tensor<2x2x16xf16>
  %1 = llm.attention %r, %r, %r {causal = true, window = 5} : (tensor<2x?x16xf16>, tensor<2x?x16xf16>, tensor<2x?x16xf16>) -> tensor<2x?x16xf16>
  return %0, %1 : tensor<2x2x16xf16>, tensor<2x?x16xf16>
}

// In both directions, the first of more queries than keys are before all keys.
// CHECK-LABEL: func @both_directions
// CHECK: llm.attention %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}} : (
// CHECK: llm.attention {{.*}} {window = 6 : i64}
// CHECK: llm.attention {{.*}} {chunked, window = 7 : i64}
func.func @both_directions(%q: tensor<2x7x16xf16>, %k: tensor<2x5x16xf16>) -> (tensor<2x7x16xf16>, tensor<2x7x16xf16>, tensor<2x7x16xf16>) {
  %0 = llm.attention %q, %k, %k {window = 7} : (tensor<2x7x16xf16>, tensor<2x5x16xf16>, tensor<2x5x16xf16>) -> tensor<2x7x16xf16>
  %1 = llm.attention %q, %k, %k {window = 6} : (tensor<2x7x16xf16>, tensor<2x5x16xf16>, tensor<2x5x16xf16>) -> tensor<2x7x16xf16>
  %2 = llm.attention %q, %k, %k {window = 7, chunked} : (tensor<2x7x16xf16>, tensor<2x5x16xf16>, tensor<2x5x16xf16>) -> tensor<2x7x16xf16>
  return %0, %1, %2 : tensor<2x7x16xf16>, tensor<2x7x16xf16>, tensor<2x7x16xf16>
}

// -----

!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>

// CHECK-LABEL: func @paged
// CHECK: llm.paged_attention %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}}, %{{[a-z0-9_#]+}} : (
func.func @paged(%q: tensor<2x1x4x16xf16>, %c: !cache, %blocks: tensor<2x8xi32>, %lens: tensor<2xi32>) -> tensor<2x1x4x16xf16> {
  %0 = llm.paged_attention %q, %c, %blocks, %lens {causal = false, scale = 0.25, num_heads = 4, head_dim = 16, window = 64} : (tensor<2x1x4x16xf16>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x1x4x16xf16>
  return %0 : tensor<2x1x4x16xf16>
}

// Ragged queries may be several of one sequence; a window below the longest
// sequence counts.
// CHECK-LABEL: func @paged_ragged
// CHECK: llm.paged_attention {{.*}} {causal = false, scale = 1.250000e-01 : f64, window = 63 : i64}
func.func @paged_ragged(%q: tensor<2x4x16xf16>, %c: !cache, %blocks: tensor<2x8xi32>, %lens: tensor<2xi32>, %offs: tensor<3xi32>) -> tensor<2x4x16xf16> {
  %0 = llm.paged_attention %q, %c, %blocks, %lens offsets(%offs) {causal = false, scale = 0.125, window = 63} : (tensor<2x4x16xf16>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<2x4x16xf16>
  return %0 : tensor<2x4x16xf16>
}

// CHECK-LABEL: func @fused
// CHECK: llm.fused_attention {{.*}} : (
func.func @fused(%q: tensor<2x1x4x16xf16>, %k: tensor<2x1x2x16xf16>, %c: !cache, %ids: tensor<2xi32>, %blocks: tensor<2x8xi32>, %lens: tensor<2xi32>) -> (tensor<2x1x4x16xf16>, !cache) {
  // CHECK-NOT: causal
  %true = arith.constant dense<true> : tensor<1x1x1x64xi1>
  %0:3 = llm.fused_attention %q, %k, %k, %c, %ids, %blocks, %lens mask(%true) {causal = false, scale = 0.25} : (tensor<2x1x4x16xf16>, tensor<2x1x2x16xf16>, tensor<2x1x2x16xf16>, !cache, tensor<2xi32>, tensor<2x8xi32>, tensor<2xi32>, tensor<1x1x1x64xi1>) -> (tensor<2x1x4x16xf16>, !cache, tensor<2x1xi32>)
  return %0#0, %0#1 : tensor<2x1x4x16xf16>, !cache
}
