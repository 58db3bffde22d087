// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

!cache = !llm.paged_kv_cache<bf16, 4, 2, 16, 16, 256>
!one_layer = !llm.paged_kv_cache<f32, 1, 2, 16, 16, 256>
!q8_0 = !llm.quantized_tensor<i8, [172, 64], true, false, -1, 32, 8, format = q8_0>

mllm.tensor.register @model.norm.weight : tensor<64xf32> {source = "output_norm.weight"}
mllm.tensor.register @up.weight : !q8_0 {source = "blk.0.ffn_up.weight"}

// CHECK-LABEL: func @weight
func.func @weight() -> (tensor<64xf32>, !q8_0) {
  // CHECK: llm.weight @model.norm.weight : tensor<64xf32>
  %0 = llm.weight @model.norm.weight : tensor<64xf32>
  // CHECK: llm.weight @up.weight : !llm.quantized_tensor<i8, [172, 64], true, false, -1, 32, 8, format = q8_0>
  %1 = llm.weight @up.weight : !q8_0
  return %0, %1 : tensor<64xf32>, !q8_0
}

// CHECK-LABEL: func @embedding
func.func @embedding(%ids: tensor<?xi32>, %table: tensor<256x64xbf16>, %packed: !q8_0) {
  // CHECK: llm.embedding %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<256x64xbf16> -> tensor<?x64xf32>
  %0 = llm.embedding %ids, %table : tensor<?xi32>, tensor<256x64xbf16> -> tensor<?x64xf32>
  // CHECK: llm.embedding %{{.*}}, %{{.*}} : tensor<?xi32>, !llm.quantized_tensor<{{.*}}> -> tensor<?x64xf16>
  %1 = llm.embedding %ids, %packed : tensor<?xi32>, !q8_0 -> tensor<?x64xf16>
  return
}

// CHECK-LABEL: func @linear
func.func @linear(%x: tensor<?x64xf32>, %x4: tensor<2x3x64xf16>, %w: tensor<172x64xbf16>, %p: !q8_0, %b: tensor<172xf32>) {
  // CHECK: llm.linear %{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<172x64xbf16> -> tensor<?x172xf32>
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<172x64xbf16> -> tensor<?x172xf32>
  // CHECK: llm.linear %{{.*}}, %{{.*}} bias %{{.*}} : tensor<?x64xf32>, !llm.quantized_tensor<{{.*}}>, tensor<172xf32> -> tensor<?x172xf32>
  %1 = llm.linear %x, %p bias %b : tensor<?x64xf32>, !q8_0, tensor<172xf32> -> tensor<?x172xf32>
  // CHECK: llm.linear %{{.*}}, %{{.*}} : tensor<2x3x64xf16>, tensor<172x64xbf16> -> tensor<2x3x172xf16>
  %2 = llm.linear %x4, %w : tensor<2x3x64xf16>, tensor<172x64xbf16> -> tensor<2x3x172xf16>
  return
}

// CHECK-LABEL: func @rms_norm
func.func @rms_norm(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %h: tensor<?x4x16xf32>, %hw: tensor<16xf16>) {
  // CHECK: llm.rms_norm %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : tensor<?x64xf32>, tensor<64xf32>
  %0 = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  // CHECK: llm.rms_norm %{{.*}}, %{{.*}} {eps = 0.000000e+00 : f64} : tensor<?x4x16xf32>, tensor<16xf16>
  %1 = llm.rms_norm %h, %hw {eps = 0.0 : f64} : tensor<?x4x16xf32>, tensor<16xf16>
  return
}

// CHECK-LABEL: func @rope
func.func @rope(%x: tensor<?x4x16xf32>, %positions: tensor<?xi32>) {
  // CHECK: llm.rope %{{.*}}, %{{.*}} {frequencies = array<f64: 1.000000e+00, 1.000000e-01>} : tensor<?x4x16xf32>, tensor<?xi32>
  %0 = llm.rope %x, %positions {frequencies = array<f64: 1.0, 0.1>} : tensor<?x4x16xf32>, tensor<?xi32>
  // CHECK: llm.rope %{{.*}}, %{{.*}} {frequencies = array<f64: 1.000000e+00>, scaling = 1.250000e+00 : f64} : tensor<?x4x16xf32>, tensor<?xi32>
  %1 = llm.rope %x, %positions {frequencies = array<f64: 1.0>, scaling = 1.25 : f64} : tensor<?x4x16xf32>, tensor<?xi32>
  return
}

// CHECK-LABEL: func @elementwise
func.func @elementwise(%x: tensor<?x172xf32>, %y: tensor<?x172xf32>) {
  // CHECK: llm.silu %{{.*}} : tensor<?x172xf32>
  %0 = llm.silu %x : tensor<?x172xf32>
  // CHECK: llm.mul %{{.*}}, %{{.*}} : tensor<?x172xf32>
  %1 = llm.mul %0, %y : tensor<?x172xf32>
  // CHECK: llm.add %{{.*}}, %{{.*}} : tensor<?x172xf32>
  %2 = llm.add %1, %y : tensor<?x172xf32>
  return
}

// CHECK-LABEL: func @mean_rows
func.func @mean_rows(%x: tensor<?x64xf32>, %h: tensor<5x4x16xbf16>, %offsets: tensor<?xi32>, %three: tensor<3xi32>) {
  // CHECK: llm.mean_rows %{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  %0 = llm.mean_rows %x, %offsets : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  // CHECK: llm.mean_rows %{{.*}}, %{{.*}} : tensor<5x4x16xbf16>, tensor<3xi32> -> tensor<2x4x16xbf16>
  %1 = llm.mean_rows %h, %three : tensor<5x4x16xbf16>, tensor<3xi32> -> tensor<2x4x16xbf16>
  return
}

// CHECK-LABEL: func @select_rows
func.func @select_rows(%x: tensor<?x64xf32>, %h: tensor<5x4x16xf32>, %rows: tensor<?xi32>, %two: tensor<2xi32>) {
  // CHECK: llm.select_rows %{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  %0 = llm.select_rows %x, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  // CHECK: llm.select_rows %{{.*}}, %{{.*}} : tensor<5x4x16xf32>, tensor<2xi32> -> tensor<2x4x16xf32>
  %1 = llm.select_rows %h, %two : tensor<5x4x16xf32>, tensor<2xi32> -> tensor<2x4x16xf32>
  return
}

// CHECK-LABEL: func @append_kv_ragged
func.func @append_kv_ragged(%c: !cache, %c1: !one_layer, %k: tensor<?x2x16xf32>, %kb: tensor<?x2x16xbf16>, %slots: tensor<?xi32>, %l: index) {
  // CHECK: llm.append_kv %{{.*}}, %{{.*}}, %{{.*}} slots(%{{.*}}) layer(%{{.*}}) : (!llm.paged_kv_cache<bf16, 4, 2, 16, 16, 256>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> !llm.paged_kv_cache<bf16, 4, 2, 16, 16, 256>
  %0 = llm.append_kv %c, %k, %k slots(%slots) layer(%l) : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> !cache
  // CHECK: llm.append_kv %{{.*}}, %{{.*}}, %{{.*}} slots(%{{.*}}) layer(%{{.*}}) {block_size = 16 : i64} : (!llm.paged_kv_cache<bf16, 4, 2, 16, 16, 256>, tensor<?x2x16xbf16>,
  %1 = llm.append_kv %c, %kb, %kb slots(%slots) layer(%l) {block_size = 16} : !cache, tensor<?x2x16xbf16>, tensor<?x2x16xbf16>, tensor<?xi32> -> !cache
  // CHECK: llm.append_kv %{{.*}}, %{{.*}}, %{{.*}} slots(%{{.*}}) : (!llm.paged_kv_cache<f32, 1, 2, 16, 16, 256>, tensor<?x2x16xf32>,
  %2 = llm.append_kv %c1, %k, %k slots(%slots) : (!one_layer, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> (!one_layer)
  return
}

// CHECK-LABEL: func @append_kv_batched
func.func @append_kv_batched(%c: !cache, %k: tensor<3x5x2x16xbf16>, %k1: tensor<3x2x16xbf16>, %ids: tensor<3xi32>, %l: index) {
  // CHECK: llm.append_kv %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} layer(%{{.*}}) : ({{.*}}) -> (!llm.paged_kv_cache<bf16, 4, 2, 16, 16, 256>, tensor<3x5xi32>)
  %0:2 = llm.append_kv %c, %k, %k, %ids layer(%l) : (!cache, tensor<3x5x2x16xbf16>, tensor<3x5x2x16xbf16>, tensor<3xi32>) -> (!cache, tensor<3x5xi32>)
  // CHECK: llm.append_kv {{.*}} -> (!llm.paged_kv_cache<bf16, 4, 2, 16, 16, 256>, tensor<3x1xi32>)
  %1:2 = llm.append_kv %c, %k, %k, %ids : !cache, tensor<3x5x2x16xbf16>, tensor<3x5x2x16xbf16>, tensor<3xi32> -> !cache, tensor<3x1xi32>
  // CHECK: llm.append_kv {{.*}} -> (!llm.paged_kv_cache<bf16, 4, 2, 16, 16, 256>, tensor<3xi32>)
  %2:2 = llm.append_kv %c, %k1, %k1, %ids : (!cache, tensor<3x2x16xbf16>, tensor<3x2x16xbf16>, tensor<3xi32>) -> (!cache, tensor<3xi32>)
  return
}

// CHECK-LABEL: func @paged_attention_ragged
func.func @paged_attention_ragged(%q: tensor<?x8x16xf32>, %c: !cache, %tables: tensor<?x?xi32>, %lens: tensor<?xi32>, %offsets: tensor<?xi32>, %l: index) {
  // CHECK: llm.paged_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} offsets(%{{.*}}) layer(%{{.*}}) {scale = 1.250000e-01 : f64} : (tensor<?x8x16xf32>, !llm.paged_kv_cache<bf16, 4, 2, 16, 16, 256>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8x16xf32>
  %0 = llm.paged_attention %q, %c, %tables, %lens offsets(%offsets) layer(%l) {scale = 0.125 : f64} : (tensor<?x8x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8x16xf32>
  // CHECK: llm.paged_attention {{.*}} {causal = false} : (
  %1 = llm.paged_attention %q, %c, %tables, %lens offsets(%offsets) layer(%l) {causal = false} : tensor<?x8x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32> -> tensor<?x8x16xf32>
  return
}

// CHECK-LABEL: func @paged_attention_batched
func.func @paged_attention_batched(%q: tensor<3x5x8x16xbf16>, %q1: tensor<3x8x16xf32>, %c: !cache, %blocks: tensor<3x16xi32>, %one: tensor<3xi32>, %lens: tensor<3xi32>) {
  // CHECK: llm.paged_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {head_dim = 16 : i64, num_heads = 8 : i32} : (tensor<3x5x8x16xbf16>, !llm.paged_kv_cache<bf16, 4, 2, 16, 16, 256>, tensor<3x16xi32>, tensor<3xi32>) -> tensor<3x5x8x16xbf16>
  %0 = llm.paged_attention %q, %c, %blocks, %lens {num_heads = 8 : i32, head_dim = 16} : (tensor<3x5x8x16xbf16>, !cache, tensor<3x16xi32>, tensor<3xi32>) -> tensor<3x5x8x16xbf16>
  // CHECK: llm.paged_attention {{.*}} {scale = 0.000000e+00 : f32} : (tensor<3x8x16xf32>, !llm.paged_kv_cache<bf16, 4, 2, 16, 16, 256>, tensor<3xi32>, tensor<3xi32>) -> tensor<3x8x16xf32>
  %1 = llm.paged_attention %q1, %c, %one, %lens {scale = 0.0 : f32} : (tensor<3x8x16xf32>, !cache, tensor<3xi32>, tensor<3xi32>) -> tensor<3x8x16xf32>
  return
}
