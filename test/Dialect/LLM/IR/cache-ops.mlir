// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// Attention and the cache ops: every spelling is read, one is printed.

!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
!one_layer = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>
!narrow = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64, valueDim = 4>
// The default, written out.
!plain = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64, valueDim = 16>

!inside = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64, valuesInKeys = 12>
!whole = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64, valuesInKeys = 16>

// CHECK-LABEL: func.func private @values_in_keys
// CHECK-SAME: !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64, valuesInKeys = 12>
// CHECK-SAME: !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64, valuesInKeys = 16>
func.func private @values_in_keys(!inside, !whole)

// CHECK-LABEL: func.func private @types
// CHECK-SAME: !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64, valueDim = 4>
// CHECK-SAME: !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
func.func private @types(!narrow, !plain)

// CHECK-LABEL: func @attention
func.func @attention(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>, %w: tensor<2x5x2x8xf16>, %m: tensor<1x1x3x5xi1>, %add: tensor<2x4x3x5xf32>, %s: tensor<4xf32>) {
  // CHECK: llm.attention %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  %0 = llm.attention %q, %k, %v : tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16> -> tensor<2x3x4x16xf16>
  // The mask as a fourth operand, and by name.
  // CHECK: llm.attention %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} mask(%{{[a-zA-Z0-9_#]+}}) {causal = true, scale = 1.250000e-01 : f32} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>, tensor<1x1x3x5xi1>) -> tensor<2x3x4x16xf16>
  %1 = llm.attention %q, %k, %v, %m {scale = 0.125 : f32, causal = true} : tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>, tensor<1x1x3x5xi1> -> tensor<2x3x4x16xf16>
  // CHECK: llm.attention %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} mask(%{{[a-zA-Z0-9_#]+}}) sinks(%{{[a-zA-Z0-9_#]+}}) {alibi_slopes = array<f64: 5.000000e-01, 2.500000e-01, 1.250000e-01, 0.000000e+00>, head_dim = 16 : i32, num_heads = 4 : i64, soft_cap = 3.000000e+01 : f64, window = 2 : i64} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>, tensor<2x4x3x5xf32>, tensor<4xf32>) -> tensor<2x3x4x16xf16>
  %2 = llm.attention(%q, %k, %v) mask(%add) sinks(%s) {
    numHeads = 4, headDim = 16 : i32, softCap = 30.0, window = 2,
    alibiSlopes = array<f64: 0.5, 0.25, 0.125, 0.0>
  } : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>, tensor<2x4x3x5xf32>, tensor<4xf32>) -> tensor<2x3x4x16xf16>
  // Values with a different head size; named operands in another order.
  // CHECK: llm.attention %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} mask(%{{[a-zA-Z0-9_#]+}}) sinks(%{{[a-zA-Z0-9_#]+}}) : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x8xf16>, tensor<1x1x3x5xi1>, tensor<4xf32>) -> tensor<2x3x4x8xf16>
  %3 = llm.attention %q, %k, %w sinks(%s) mask(%m) {causal = false} : tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x8xf16>, tensor<4xf32>, tensor<1x1x3x5xi1> -> tensor<2x3x4x8xf16>
  return
}

// CHECK-LABEL: func @attention_one_head
func.func @attention_one_head(%q: tensor<?x3x16xf32>, %k: tensor<?x?x16xf32>, %m: tensor<1x3x?xi1>) {
  // CHECK: llm.attention %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} mask(%{{[a-zA-Z0-9_#]+}}) : (tensor<?x3x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<1x3x?xi1>) -> tensor<?x3x16xf32>
  %0 = llm.attention %q, %k, %k, %m : tensor<?x3x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<1x3x?xi1> -> tensor<?x3x16xf32>
  return
}

// The formal specification's order of operands, with and without a cache.
// SPEC: 143
// CHECK-LABEL: func @append_kv
func.func @append_kv(%c: !cache, %k: tensor<3x5x2x16xf16>, %ids: tensor<3xi32>, %l: index) {
  // CHECK: llm.append_kv %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} layer(%{{[a-zA-Z0-9_#]+}}) {block_size = 8 : i32, max_seq_len = 64 : i64} : (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<3xi32>) -> (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<3x5xi32>)
  %0:2 = llm.append_kv(%k, %k, %ids, %c) layer(%l) {blockSize = 8 : i32, maxSeqLen = 64} : (tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<3xi32>, !cache) -> (!cache, tensor<3x5xi32>)
  // CHECK: llm.append_kv %[[K:.*]], %[[K]], %{{[a-zA-Z0-9_#]+}} : (tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<3xi32>) -> (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<3x1xi32>)
  %1:2 = llm.append_kv(%k, %k, %ids) : (tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<3xi32>) -> (!cache, tensor<3x1xi32>)
  // Form (a) without a cache, as it is printed.
  // CHECK: llm.append_kv %[[K]], %[[K]], %{{[a-zA-Z0-9_#]+}} : (tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<3xi32>) -> (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<3xi32>)
  %2:2 = llm.append_kv %k, %k, %ids : (tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<3xi32>) -> (!cache, tensor<3xi32>)
  // CHECK: llm.append_kv {{.*}} -> (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<3x128xi32>)
  %3:2 = llm.append_kv %c, %k, %k, %ids : (!cache, tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<3xi32>) -> (!cache, tensor<3x128xi32>)
  return
}

// CHECK-LABEL: func @append_kv_value_dim
func.func @append_kv_value_dim(%c: !narrow, %k: tensor<?x2x16xf32>, %v: tensor<?x2x4xf32>, %slots: tensor<?xi32>) {
  // CHECK: llm.append_kv %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} slots(%{{[a-zA-Z0-9_#]+}}) : (!llm.paged_kv_cache<f32, 1, 2, 16, 8, 64, valueDim = 4>, tensor<?x2x16xf32>, tensor<?x2x4xf32>, tensor<?xi32>) -> !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64, valueDim = 4>
  %0 = llm.append_kv %c, %k, %v slots(%slots) : (!narrow, tensor<?x2x16xf32>, tensor<?x2x4xf32>, tensor<?xi32>) -> !narrow
  return
}

// CHECK-LABEL: func @lookup_kv
func.func @lookup_kv(%c: !cache, %tokens: tensor<2x32xi32>, %blocks: tensor<2x8xi32>, %one: tensor<2xi32>, %lens: tensor<2xi32>, %l: index) {
  // CHECK: llm.lookup_kv %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} {head_dim = 16 : i32, num_heads = 2 : i32} : (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2x32xi32>, tensor<2xi32>) -> (tensor<2x32x2x16xf16>, tensor<2x32x2x16xf16>)
  %0:2 = llm.lookup_kv %c, %tokens, %lens {num_heads = 2 : i32, head_dim = 16 : i32} : (!cache, tensor<2x32xi32>, tensor<2xi32>) -> (tensor<2x32x2x16xf16>, tensor<2x32x2x16xf16>)
  // CHECK: llm.lookup_kv %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} layer(%{{[a-zA-Z0-9_#]+}}) {head_dim = 16 : i64, num_heads = 2 : i64} : (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  %1:2 = llm.lookup_kv %c, %blocks, %lens layer(%l) {numHeads = 2, headDim = 16} : !cache, tensor<2x8xi32>, tensor<2xi32> -> tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>
  // CHECK: llm.lookup_kv %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} : (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x8x2x16xf16>, tensor<2x8x2x16xf16>)
  %2:2 = llm.lookup_kv(%one, %lens, %c) : (tensor<2xi32>, tensor<2xi32>, !cache) -> (tensor<2x8x2x16xf16>, tensor<2x8x2x16xf16>)
  // CHECK: llm.lookup_kv {{.*}} tensor<2xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  %3:2 = llm.lookup_kv %c, %one, %lens : (!cache, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  // CHECK: llm.block_tables %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} layer(%{{[a-zA-Z0-9_#]+}}) : (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x8xi32>
  %4 = llm.block_tables %c, %one, %lens layer(%l) : (!cache, tensor<2xi32>, tensor<2xi32>) -> tensor<2x8xi32>
  // CHECK: llm.block_tables %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} : (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2x32xi32>, tensor<2xi32>) -> tensor<2x8xi32>
  %5 = llm.block_tables %c, %tokens, %lens : (!cache, tensor<2x32xi32>, tensor<2xi32>) -> tensor<2x8xi32>
  return
}

// CHECK-LABEL: func @paged_attention
func.func @paged_attention(%q: tensor<2x3x4x16xf16>, %r: tensor<?x4x16xf32>, %c: !cache, %d: !narrow, %blocks: tensor<2x8xi32>, %lens: tensor<2xi32>, %offs: tensor<3xi32>, %l: index, %m: tensor<2x1x3x64xi1>, %add: tensor<?x64xf32>, %s: tensor<4xf32>) {
  // CHECK: llm.paged_attention %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} mask(%{{[a-zA-Z0-9_#]+}}) {scale = 2.500000e-01 : f64} : (tensor<2x3x4x16xf16>, !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2x8xi32>, tensor<2xi32>, tensor<2x1x3x64xi1>) -> tensor<2x3x4x16xf16>
  %0 = llm.paged_attention(%q, %blocks, %lens, %c) mask(%m) {scale = 0.25, causal = true} : (tensor<2x3x4x16xf16>, tensor<2x8xi32>, tensor<2xi32>, !cache, tensor<2x1x3x64xi1>) -> tensor<2x3x4x16xf16>
  // CHECK: llm.paged_attention %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} offsets(%{{[a-zA-Z0-9_#]+}}) layer(%{{[a-zA-Z0-9_#]+}}) mask(%{{[a-zA-Z0-9_#]+}}) sinks(%{{[a-zA-Z0-9_#]+}}) {alibi_slopes = array<f64: 1.000000e+00, 5.000000e-01, 2.500000e-01, 1.250000e-01>, soft_cap = 5.000000e+01 : f32, window = 32 : i32} : (tensor<?x4x16xf32>, !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2x8xi32>, tensor<2xi32>, tensor<3xi32>, tensor<?x64xf32>, tensor<4xf32>) -> tensor<?x4x16xf32>
  %1 = llm.paged_attention %r, %c, %blocks, %lens offsets(%offs) layer(%l) mask(%add) sinks(%s) {window = 32 : i32, softCap = 50.0 : f32, alibi_slopes = array<f64: 1.0, 0.5, 0.25, 0.125>} : (tensor<?x4x16xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<3xi32>, tensor<?x64xf32>, tensor<4xf32>) -> tensor<?x4x16xf32>
  // CHECK: llm.paged_attention {{.*}} {causal = false} : {{.*}} -> tensor<?x4x4xf32>
  %2 = llm.paged_attention %r, %d, %blocks, %lens offsets(%offs) {causal = false} : (tensor<?x4x16xf32>, !narrow, tensor<2x8xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<?x4x4xf32>
  return
}

// CHECK-LABEL: func @fused_attention
func.func @fused_attention(%q: tensor<2x3x4x16xf16>, %k: tensor<2x3x2x16xf16>, %r: tensor<?x4x16xf32>, %n: tensor<?x2x16xf32>, %c: !cache, %ids: tensor<2xi32>, %blocks: tensor<2x8xi32>, %lens: tensor<2xi32>, %slots: tensor<?xi32>, %offs: tensor<3xi32>, %l: index, %s: tensor<4xf32>) {
  // CHECK: llm.fused_attention %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} : (tensor<2x3x4x16xf16>, tensor<2x3x2x16xf16>, tensor<2x3x2x16xf16>, !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2xi32>, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x3x4x16xf16>, !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2x3xi32>)
  %0:3 = llm.fused_attention %q, %k, %k, %c, %ids, %blocks, %lens : (tensor<2x3x4x16xf16>, tensor<2x3x2x16xf16>, tensor<2x3x2x16xf16>, !cache, tensor<2xi32>, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x3x4x16xf16>, !cache, tensor<2x3xi32>)
  // CHECK: llm.fused_attention %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} slots(%{{[a-zA-Z0-9_#]+}}) offsets(%{{[a-zA-Z0-9_#]+}}) layer(%{{[a-zA-Z0-9_#]+}}) sinks(%{{[a-zA-Z0-9_#]+}}) {scale = 2.500000e-01 : f64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2x8xi32>, tensor<2xi32>, tensor<?xi32>, tensor<3xi32>, tensor<4xf32>) -> (tensor<?x4x16xf32>, !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>)
  %1:2 = llm.fused_attention %r, %n, %n, %c, %blocks, %lens slots(%slots) offsets(%offs) layer(%l) sinks(%s) {scale = 0.25} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<?xi32>, tensor<3xi32>, tensor<4xf32>) -> (tensor<?x4x16xf32>, !cache)
  // CHECK: llm.fused_attention {{.*}} -> (tensor<2x3x4x16xf16>, !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2xi32>)
  %2:3 = llm.fused_attention %q, %k, %k, %c, %ids, %blocks, %lens : (tensor<2x3x4x16xf16>, tensor<2x3x2x16xf16>, tensor<2x3x2x16xf16>, !cache, tensor<2xi32>, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x3x4x16xf16>, !cache, tensor<2xi32>)
  return
}

// CHECK-LABEL: func @sequences
func.func @sequences(%from: tensor<2xi32>, %to: tensor<2xi32>, %l: index) -> !cache {
  // CHECK: %[[C:.*]] = llm.create_paged_cache : !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
  %c = llm.create_paged_cache : !cache
  // CHECK: llm.reserve_kv %[[C]], %{{[a-zA-Z0-9_#]+}} layer(%{{[a-zA-Z0-9_#]+}}) {tokens = 3 : i64} : (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2xi32>) -> (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<6xi32>, tensor<2x3xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %r:5 = llm.reserve_kv %c, %from layer(%l) {tokens = 3} : (!cache, tensor<2xi32>) -> (!cache, tensor<6xi32>, tensor<2x3xi32>, tensor<2x8xi32>, tensor<2xi32>)
  // CHECK: llm.reserve_kv {{.*}} tensor<6xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %s:5 = llm.reserve_kv %r#0, %from layer(%l) {tokens = 3} : (!cache, tensor<2xi32>) -> (!cache, tensor<6xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  // CHECK: llm.fork_kv %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} : (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2xi32>, tensor<2xi32>) -> !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
  %f = llm.fork_kv %s#0, %from, %to : (!cache, tensor<2xi32>, tensor<2xi32>) -> !cache
  // CHECK: llm.free_kv %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} : (!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2xi32>) -> !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
  %g = llm.free_kv %f, %from : (!cache, tensor<2xi32>) -> !cache
  return %g : !cache
}
