// RUN: llmir-translate --interpret %s > %t.before
// RUN: llmir-opt %s --canonicalize | llmir-translate --interpret | diff %t.before -
// RUN: llmir-opt %s --llm-optimize-kv-cache | llmir-translate --interpret | diff %t.before -
// RUN: llmir-opt %s --llm-lower-kv-cache-ops --canonicalize | llmir-translate --interpret | diff %t.before -
// RUN: llmir-opt %s --llm-optimize-kv-cache --canonicalize --llm-lower-kv-cache-ops --llm-optimize-block-size --canonicalize | llmir-translate --interpret | diff %t.before -
// RUN: llmir-opt %s --llm-optimize-block-size | FileCheck %s --check-prefix=BLOCKS
// RUN: llmir-opt %s --llm-optimize-kv-cache | FileCheck %s --check-prefix=FUSED
// RUN: FileCheck %s --input-file=%t.before --check-prefix=RAN

// SPEC: 7 38 85
// The passes on caches preserve every bit. The values are generated from a
// seed; each of the functions is changed by a pass.

// RAN-DAG: @generate result 0: tensor<2x1x4x8xf32>
// RAN-DAG: @prefill result 0: tensor<2x5x4x8xf32>
// RAN-DAG: @fork result 0: tensor<2x3x2x8xf32>

// FUSED: llm.fused_attention
// BLOCKS-LABEL: func @generate
// BLOCKS: llm.create_paged_cache : !llm.paged_kv_cache<f32, 2, 2, 8, 16, 64>

!cache = !llm.paged_kv_cache<f32, 2, 2, 8, 4, 64>

// Five tokens, then one, in both layers; attention in the second.
func.func @generate(%q: tensor<2x1x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x8xf32>, %k1: tensor<2x1x2x8xf32>, %m: tensor<2x1x1x64xf32>, %s: tensor<4xf32>) -> tensor<2x1x4x8xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %l1 = arith.constant 1 : index
  %c0 = llm.create_paged_cache : !cache
  %c1:2 = llm.append_kv %c0, %k, %v, %ids : (!cache, tensor<2x5x2x8xf32>, tensor<2x5x2x8xf32>, tensor<2xi32>) -> (!cache, tensor<2x5xi32>)
  %c2:2 = llm.append_kv %c1#0, %v, %k, %ids layer(%l1) : (!cache, tensor<2x5x2x8xf32>, tensor<2x5x2x8xf32>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  %c3:2 = llm.append_kv %c2#0, %k1, %k1, %ids : (!cache, tensor<2x1x2x8xf32>, tensor<2x1x2x8xf32>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  %r:5 = llm.reserve_kv %c3#0, %ids layer(%l1) {tokens = 1} : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x16xi32>, tensor<2xi32>)
  %kr = tensor.collapse_shape %k1 [[0, 1], [2], [3]] : tensor<2x1x2x8xf32> into tensor<2x2x8xf32>
  %c4 = llm.append_kv %r#0, %kr, %kr slots(%r#1) layer(%l1) : (!cache, tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2xi32>) -> !cache
  %o = llm.paged_attention %q, %c4, %r#3, %r#4 layer(%l1) mask(%m) sinks(%s) {causal = false, window = 5, soft_cap = 20.0, alibi_slopes = array<f64: 0.5, 0.25, 0.125, 0.0>} : (tensor<2x1x4x8xf32>, !cache, tensor<2x16xi32>, tensor<2xi32>, tensor<2x1x1x64xf32>, tensor<4xf32>) -> tensor<2x1x4x8xf32>
  return %o : tensor<2x1x4x8xf32>
}

!small = !llm.paged_kv_cache<f16, 1, 2, 8, 8, 8>

// Whole prompts that fit in one block each, whose number the append gives.
func.func @prefill(%q: tensor<2x5x4x8xf16>, %k: tensor<2x5x2x8xf16>, %v: tensor<2x5x2x8xf16>) -> (tensor<2x5x4x8xf32>, tensor<2xi32>) {
  %ids = arith.constant dense<[0, 1]> : tensor<2xi32>
  %lens = arith.constant dense<5> : tensor<2xi32>
  %tables = arith.constant dense<[[0], [1]]> : tensor<2x1xi32>
  %c:2 = llm.append_kv(%k, %v, %ids) {block_size = 8 : i32} : (tensor<2x5x2x8xf16>, tensor<2x5x2x8xf16>, tensor<2xi32>) -> (!small, tensor<2xi32>)
  %o = llm.paged_attention %q, %c#0, %c#1, %lens {scale = 0.5 : f32, num_heads = 4} : (tensor<2x5x4x8xf16>, !small, tensor<2xi32>, tensor<2xi32>) -> tensor<2x5x4x8xf16>
  %x = arith.extf %o : tensor<2x5x4x8xf16> to tensor<2x5x4x8xf32>
  return %x, %c#1 : tensor<2x5x4x8xf32>, tensor<2xi32>
}

// An append and attention of the same tokens, which becomes one op.
func.func @fuse(%q: tensor<2x1x4x8xf32>, %k: tensor<2x1x2x8xf32>, %v: tensor<2x1x2x8xf32>) -> tensor<2x1x4x8xf32> {
  %ids = arith.constant dense<[0, 1]> : tensor<2xi32>
  %lens = arith.constant dense<1> : tensor<2xi32>
  %tables = arith.constant dense<[[0], [1]]> : tensor<2x1xi32>
  %c0 = llm.create_paged_cache : !cache
  %c:2 = llm.append_kv %c0, %k, %v, %ids : (!cache, tensor<2x1x2x8xf32>, tensor<2x1x2x8xf32>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  %o = llm.paged_attention %q, %c#0, %tables, %lens : (tensor<2x1x4x8xf32>, !cache, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x1x4x8xf32>
  return %o : tensor<2x1x4x8xf32>
}

// A fork, and another token for one of the two: the other keeps its own.
func.func @fork(%k: tensor<1x2x2x8xf32>, %k1: tensor<2x1x2x8xf32>) -> tensor<2x3x2x8xf32> {
  %from = arith.constant dense<4> : tensor<1xi32>
  %to = arith.constant dense<9> : tensor<1xi32>
  %both = arith.constant dense<[4, 9]> : tensor<2xi32>
  %c0 = llm.create_paged_cache : !cache
  %c1:2 = llm.append_kv %c0, %k, %k, %from : (!cache, tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<1xi32>) -> (!cache, tensor<1x2xi32>)
  %c2 = llm.fork_kv %c1#0, %from, %to : (!cache, tensor<1xi32>, tensor<1xi32>) -> !cache
  %c3:2 = llm.append_kv %c2, %k1, %k1, %both : (!cache, tensor<2x1x2x8xf32>, tensor<2x1x2x8xf32>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  %r:5 = llm.reserve_kv %c3#0, %both {tokens = 0} : (!cache, tensor<2xi32>) -> (!cache, tensor<0xi32>, tensor<2x0xi32>, tensor<2x16xi32>, tensor<2xi32>)
  %x:2 = llm.lookup_kv %r#0, %r#3, %r#4 : (!cache, tensor<2x16xi32>, tensor<2xi32>) -> (tensor<2x3x2x8xf32>, tensor<2x3x2x8xf32>)
  return %x#0 : tensor<2x3x2x8xf32>
}
