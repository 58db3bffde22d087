// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// Every kernel, with and without optional operands and attributes.

// CHECK-LABEL: func.func @rows(
func.func @rows(%w: memref<64xf32>,
    %b: memref<64xf32>,
    %w16: memref<16xf32>,
    %t: memref<65536xi8>,
    %x: memref<8x64xf32>,
    %y: memref<8x64xf32>,
    %c: memref<8x16xf32>,
    %s: memref<8x16xf32>,
    %half: memref<8x32xf32>,
    %l: memref<4x64xf32>,
    %m: memref<16x64xf32>,
    %mq: memref<16x32xf32>) {
  // CHECK: mllm.kernel.rope_angles outs(%{{.*}}, %{{.*}} : memref<8x16xf32>, memref<8x16xf32>) {frequencies = array<f64: 1.000000e+00, 1.000000e-01>}
  mllm.kernel.rope_angles outs(%c, %s : memref<8x16xf32>, memref<8x16xf32>) {frequencies = array<f64: 1.000000e+00, 1.000000e-01>}
  // CHECK: mllm.kernel.rope_angles outs(%{{.*}}, %{{.*}} : memref<8x16xf32>, memref<8x16xf32>) {frequencies = array<f64: 1.000000e+00>, scaling = 1.250000e+00 : f64}
  mllm.kernel.rope_angles outs(%c, %s : memref<8x16xf32>, memref<8x16xf32>) {frequencies = array<f64: 1.000000e+00>, scaling = 1.250000e+00 : f64}
  // CHECK: mllm.kernel.embedding weights(%{{.*}} : memref<65536xi8>) outs(%{{.*}} : memref<8x64xf32>) {columns = 64 : i64, format = "bf16", rows = 512 : i64}
  mllm.kernel.embedding weights(%t : memref<65536xi8>) outs(%y : memref<8x64xf32>) {columns = 64 : i64, format = "bf16", rows = 512 : i64}
  // CHECK: mllm.kernel.embedding weights(%{{.*}} : memref<65536xi8>) outs(%{{.*}} : memref<8x64xf32>) {by_position, columns = 64 : i64, format = "f32", rows = 256 : i64}
  mllm.kernel.embedding weights(%t : memref<65536xi8>) outs(%y : memref<8x64xf32>) {by_position, columns = 64 : i64, format = "f32", rows = 256 : i64}
  // CHECK: mllm.kernel.unpack_weight weights(%{{.*}} : memref<65536xi8>) outs(%{{.*}} : memref<8x64xf32>) {columns = 64 : i64, format = "bf16", rows = 8 : i64}
  mllm.kernel.unpack_weight weights(%t : memref<65536xi8>) outs(%y : memref<8x64xf32>) {columns = 64 : i64, format = "bf16", rows = 8 : i64}
  // CHECK: mllm.kernel.mean_rows ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<4x64xf32>) {columns = 64 : i64}
  mllm.kernel.mean_rows ins(%x : memref<8x64xf32>) outs(%l : memref<4x64xf32>) {columns = 64 : i64}
  // CHECK: mllm.kernel.select_rows ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<4x64xf32>) {columns = 64 : i64}
  mllm.kernel.select_rows ins(%x : memref<8x64xf32>) outs(%l : memref<4x64xf32>) {columns = 64 : i64}
  // CHECK: mllm.kernel.rms_norm ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<8x64xf32>) {columns = 64 : i64, eps = 1.000000e-05 : f64}
  mllm.kernel.rms_norm ins(%x : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {columns = 64 : i64, eps = 1.000000e-05 : f64}
  // CHECK: mllm.kernel.rms_norm over logit_rows weights(%{{.*}} : memref<16xf32>) ins(%{{.*}} : memref<4x64xf32>) outs(%{{.*}} : memref<4x64xf32>) {columns = 16 : i64, eps = 1.000000e-05 : f64, groups = 4 : i64}
  mllm.kernel.rms_norm over logit_rows weights(%w16 : memref<16xf32>) ins(%l : memref<4x64xf32>) outs(%l : memref<4x64xf32>) {columns = 16 : i64, eps = 1.000000e-05 : f64, groups = 4 : i64}
  // CHECK: mllm.kernel.layer_norm weights(%{{.*}} : memref<64xf32>) bias(%{{.*}} : memref<64xf32>) ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<8x64xf32>) {columns = 64 : i64, eps = 1.000000e-05 : f64}
  mllm.kernel.layer_norm weights(%w : memref<64xf32>) bias(%b : memref<64xf32>) ins(%x : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {columns = 64 : i64, eps = 1.000000e-05 : f64}
  // CHECK: mllm.kernel.layer_norm over logit_rows bias(%{{.*}} : memref<64xf32>) ins(%{{.*}} : memref<4x64xf32>) outs(%{{.*}} : memref<4x64xf32>) {columns = 64 : i64, eps = 1.000000e-05 : f64}
  mllm.kernel.layer_norm over logit_rows bias(%b : memref<64xf32>) ins(%l : memref<4x64xf32>) outs(%l : memref<4x64xf32>) {columns = 64 : i64, eps = 1.000000e-05 : f64}
  // CHECK: mllm.kernel.softmax ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<8x64xf32>) {columns = 32 : i64, groups = 2 : i64}
  mllm.kernel.softmax ins(%x : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {columns = 32 : i64, groups = 2 : i64}
  // CHECK: mllm.kernel.softmax over logit_rows ins(%{{.*}} : memref<4x64xf32>) outs(%{{.*}} : memref<4x64xf32>) {columns = 64 : i64}
  mllm.kernel.softmax over logit_rows ins(%l : memref<4x64xf32>) outs(%l : memref<4x64xf32>) {columns = 64 : i64}
  // CHECK: mllm.kernel.quantize_rows ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<8x32xf32>) {columns = 64 : i64, group = 32 : i64, padded = 32 : i64, segment = 32 : i64}
  mllm.kernel.quantize_rows ins(%x : memref<8x64xf32>) outs(%half : memref<8x32xf32>) {columns = 64 : i64, group = 32 : i64, padded = 32 : i64, segment = 32 : i64}
  // CHECK: mllm.kernel.quantize_rows ins(%{{.*}} : memref<16x64xf32>) outs(%{{.*}} : memref<16x32xf32>) {choices = 2 : i64, columns = 64 : i64, group = 32 : i64, padded = 32 : i64, segment = 32 : i64}
  mllm.kernel.quantize_rows ins(%m : memref<16x64xf32>) outs(%mq : memref<16x32xf32>) {choices = 2 : i64, columns = 64 : i64, group = 32 : i64, padded = 32 : i64, segment = 32 : i64}
  // CHECK: mllm.kernel.round_rows ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<8x32xf32>) {columns = 64 : i64}
  mllm.kernel.round_rows ins(%x : memref<8x64xf32>) outs(%half : memref<8x32xf32>) {columns = 64 : i64}
  // CHECK: mllm.kernel.elementwise ins(%{{.*}}, %{{.*}} : memref<8x64xf32>, memref<8x64xf32>) outs(%{{.*}} : memref<8x64xf32>) {columns = 64 : i64, grain = 2 : i64} apply {
  mllm.kernel.elementwise ins(%x, %y : memref<8x64xf32>, memref<8x64xf32>) outs(%y : memref<8x64xf32>) {columns = 64 : i64, grain = 2 : i64} apply {
  ^bb0(%e0: f32, %e1: f32):
    %0 = arith.addf %e0, %e1 : f32
    mllm.program.yield %0 : f32
  }
  // CHECK: mllm.kernel.elementwise over logit_rows outs(%{{.*}} : memref<4x64xf32>) {columns = 64 : i64} apply {
  mllm.kernel.elementwise over logit_rows outs(%l : memref<4x64xf32>) {columns = 64 : i64} apply {
    %0 = arith.constant 0.000000e+00 : f32
    mllm.program.yield %0 : f32
  }
  // CHECK: mllm.kernel.rope ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<8x16xf32>, memref<8x16xf32>, memref<8x64xf32>) outs(%{{.*}} : memref<8x64xf32>) {head_dim = 16 : i64, heads = 4 : i64, rotary_dim = 16 : i64}
  mllm.kernel.rope ins(%c, %s, %x : memref<8x16xf32>, memref<8x16xf32>, memref<8x64xf32>) outs(%x : memref<8x64xf32>) {head_dim = 16 : i64, heads = 4 : i64, rotary_dim = 16 : i64}
  // CHECK: mllm.kernel.rope ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<8x16xf32>, memref<8x16xf32>, memref<8x64xf32>) outs(%{{.*}} : memref<8x64xf32>) {head_dim = 32 : i64, heads = 2 : i64, interleaved, rotary_dim = 8 : i64}
  mllm.kernel.rope ins(%c, %s, %x : memref<8x16xf32>, memref<8x16xf32>, memref<8x64xf32>) outs(%y : memref<8x64xf32>) {head_dim = 32 : i64, heads = 2 : i64, interleaved, rotary_dim = 8 : i64}
  return
}

// CHECK-LABEL: func.func @matmul(
func.func @matmul(%w: memref<8192xi8>,
    %w8: memref<5120xi8>,
    %wf: memref<256x16xf32>,
    %b: memref<64xf32>,
    %x: memref<8x32xf32>,
    %f: memref<8x64xf32>,
    %q: memref<8x32xf32>,
    %y: memref<8x64xf32>,
    %t: memref<64x64xf32>,
    %g: memref<64x16xf32>,
    %p: memref<160x16xf32>,
    %p0: memref<192x16xf32>) {
  // CHECK: mllm.kernel.linear weights(%{{.*}} : memref<8192xi8>) ins(%{{.*}} : memref<8x32xf32>) outs(%{{.*}} : memref<8x64xf32>) {columns = 64 : i64, format = "bf16", rows = 64 : i64}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {columns = 64 : i64, format = "bf16", rows = 64 : i64}
  // CHECK: mllm.kernel.linear over logit_rows weights(%{{.*}} : memref<256x16xf32>) bias(%{{.*}} : memref<64xf32>) ins(%{{.*}} : memref<8x64xf32>) with(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<8x64xf32>) {columns = 64 : i64, format = "f32", grain = 4 : i64, rows = 64 : i64} apply {
  mllm.kernel.linear over logit_rows weights(%wf : memref<256x16xf32>) bias(%b : memref<64xf32>) ins(%f : memref<8x64xf32>) with(%y : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {columns = 64 : i64, format = "f32", grain = 4 : i64, rows = 64 : i64} apply {
  ^bb0(%e0: f32, %e1: f32):
    %0 = arith.addf %e0, %e1 : f32
    mllm.program.yield %0 : f32
  }
  // CHECK: mllm.kernel.linear weights(%{{.*}} : memref<5120xi8>) ins(%{{.*}} : memref<8x32xf32>) outs(%{{.*}} : memref<8x64xf32>) {columns = 64 : i64, format = "int8:g32:f16", rows = 64 : i64, segment = 32 : i64}
  mllm.kernel.linear weights(%w8 : memref<5120xi8>) ins(%q : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {columns = 64 : i64, format = "int8:g32:f16", rows = 64 : i64, segment = 32 : i64}
  // CHECK: mllm.kernel.pack_integers ins(%{{.*}}, %{{.*}} : memref<64x64xf32>, memref<64x16xf32>) outs(%{{.*}} : memref<160x16xf32>) {column_stride = 1 : i64, columns = 64 : i64, format = "int4:g32", grid_columns = 2 : i64, row_stride = 64 : i64, rows = 64 : i64, scale_group_stride = 1 : i64, scale_row_stride = 2 : i64, tensor_columns = 64 : i64}
  mllm.kernel.pack_integers ins(%t, %g : memref<64x64xf32>, memref<64x16xf32>) outs(%p : memref<160x16xf32>) {column_stride = 1 : i64, columns = 64 : i64, format = "int4:g32", grid_columns = 2 : i64, row_stride = 64 : i64, rows = 64 : i64, scale_group_stride = 1 : i64, scale_row_stride = 2 : i64, tensor_columns = 64 : i64}
  // CHECK: mllm.kernel.pack_integers ins(%{{.*}}, %{{.*}} : memref<64x64xf32>, memref<64x16xf32>) zero_points(%{{.*}} : memref<64x16xf32>) outs(%{{.*}} : memref<192x16xf32>) {column_stride = 1 : i64, columns = 64 : i64, format = "int4:g32:asym", grid_columns = 2 : i64, row_stride = 64 : i64, rows = 64 : i64, scale_group_stride = 1 : i64, scale_row_stride = 2 : i64, scale_rows = 2 : i64, tensor_columns = 64 : i64}
  mllm.kernel.pack_integers ins(%t, %g : memref<64x64xf32>, memref<64x16xf32>) zero_points(%g : memref<64x16xf32>) outs(%p0 : memref<192x16xf32>) {column_stride = 1 : i64, columns = 64 : i64, format = "int4:g32:asym", grid_columns = 2 : i64, row_stride = 64 : i64, rows = 64 : i64, scale_group_stride = 1 : i64, scale_row_stride = 2 : i64, scale_rows = 2 : i64, tensor_columns = 64 : i64}
  return
}

// CHECK-LABEL: func.func @cache(
func.func @cache(%k: memref<8x32xf32>,
    %v: memref<8x64xf32>,
    %q: memref<8x64xf32>,
    %y: memref<8x64xf32>,
    %m: memref<8x16xf32>,
    %sw: memref<16xf32>,
    %sr: memref<1x16xf32>,
    %p: memref<2048x48xf32>,
    %ck: memref<64x32xf32>) {
  // CHECK: mllm.kernel.append_kv ins(%{{.*}}, %{{.*}} : memref<8x32xf32>, memref<8x64xf32>) {block_size = 16 : i64, head_dim = 16 : i64, kv_format = "bf16", kv_heads = 2 : i64, value_dim = 32 : i64}
  mllm.kernel.append_kv ins(%k, %v : memref<8x32xf32>, memref<8x64xf32>) {block_size = 16 : i64, head_dim = 16 : i64, kv_format = "bf16", kv_heads = 2 : i64, value_dim = 32 : i64}
  // CHECK: mllm.kernel.lookup_kv outs(%{{.*}}, %{{.*}} : memref<64x32xf32>, memref<64x32xf32>) {block_size = 16 : i64, head_dim = 16 : i64, kv_format = "f32", kv_heads = 2 : i64, rows = 32 : i64, value_dim = 16 : i64}
  mllm.kernel.lookup_kv outs(%ck, %ck : memref<64x32xf32>, memref<64x32xf32>) {block_size = 16 : i64, head_dim = 16 : i64, kv_format = "f32", kv_heads = 2 : i64, rows = 32 : i64, value_dim = 16 : i64}
  // CHECK: mllm.kernel.paged_attention ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<8x64xf32>) {block_size = 16 : i64, head_dim = 16 : i64, heads = 4 : i64, kv_format = "bf16", kv_heads = 2 : i64, scale = 2.500000e-01 : f64, value_dim = 16 : i64}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {block_size = 16 : i64, head_dim = 16 : i64, heads = 4 : i64, kv_format = "bf16", kv_heads = 2 : i64, scale = 2.500000e-01 : f64, value_dim = 16 : i64}
  // CHECK: mllm.kernel.paged_attention sinks(%{{.*}} : memref<16xf32>) ins(%{{.*}} : memref<8x64xf32>) mask(%{{.*}} : memref<8x16xf32>) partials(%{{.*}} : memref<2048x48xf32>) outs(%{{.*}} : memref<8x64xf32>) {alibi_slopes = array<f64: 5.000000e-01, 2.500000e-01, 1.250000e-01, 6.250000e-02>, block_size = 16 : i64, causal = false, head_dim = 16 : i64, heads = 4 : i64, kv_format = "bf16", kv_heads = 2 : i64, mask_strides = array<i64: 0, 0, 0, 16, 1>, scale = 2.500000e-01 : f64, soft_cap = 5.000000e+01 : f64, value_dim = 16 : i64, window = 4 : i64}
  mllm.kernel.paged_attention sinks(%sw : memref<16xf32>) ins(%q : memref<8x64xf32>) mask(%m : memref<8x16xf32>) partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {alibi_slopes = array<f64: 5.000000e-01, 2.500000e-01, 1.250000e-01, 6.250000e-02>, block_size = 16 : i64, causal = false, head_dim = 16 : i64, heads = 4 : i64, kv_format = "bf16", kv_heads = 2 : i64, mask_strides = array<i64: 0, 0, 0, 16, 1>, scale = 2.500000e-01 : f64, soft_cap = 5.000000e+01 : f64, value_dim = 16 : i64, window = 4 : i64}
  // CHECK: mllm.kernel.merge_attention sinks(%{{.*}} : memref<1x16xf32>) partials(%{{.*}} : memref<2048x48xf32>) outs(%{{.*}} : memref<8x64xf32>) {block_size = 16 : i64, head_dim = 16 : i64, heads = 4 : i64, kv_format = "bf16", kv_heads = 2 : i64, scale = 2.500000e-01 : f64, value_dim = 16 : i64}
  mllm.kernel.merge_attention sinks(%sr : memref<1x16xf32>) partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {block_size = 16 : i64, head_dim = 16 : i64, heads = 4 : i64, kv_format = "bf16", kv_heads = 2 : i64, scale = 2.500000e-01 : f64, value_dim = 16 : i64}
  return
}

// CHECK-LABEL: func.func @heads(
func.func @heads(%w: memref<4096xi8>, %w4: memref<5120xi8>, %x: memref<8x64xf32>, %q: memref<8x256xf32>, %y: memref<8x32xf32>) {
  // CHECK: mllm.kernel.head_linear weights(%{{.*}} : memref<4096xi8>) ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<8x32xf32>) {columns = 64 : i64, format = "bf16", heads = 2 : i64, rows = 16 : i64}
  mllm.kernel.head_linear weights(%w : memref<4096xi8>) ins(%x : memref<8x64xf32>) outs(%y : memref<8x32xf32>) {columns = 64 : i64, format = "bf16", heads = 2 : i64, rows = 16 : i64}
  // CHECK: mllm.kernel.quantize_rows ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<8x256xf32>) {columns = 32 : i64, group = 32 : i64, padded = 32 : i64, parts = 2 : i64, segment = 32 : i64}
  mllm.kernel.quantize_rows ins(%x : memref<8x64xf32>) outs(%q : memref<8x256xf32>) {columns = 32 : i64, group = 32 : i64, padded = 32 : i64, parts = 2 : i64, segment = 32 : i64}
  return
}

// CHECK-LABEL: func.func @experts(
func.func @experts(%l: memref<8x16xf32>,
    %r: memref<8x16xf32>,
    %c: memref<8x16xi32>,
    %o: memref<1x16xi32>,
    %p: memref<1x16xi32>,
    %x: memref<8x64xf32>,
    %g: memref<16x64xf32>,
    %h: memref<16x32xf32>,
    %w: memref<65536xi8>,
    %w4: memref<20480xi8>) {
  // CHECK: mllm.kernel.moe_route ins(%{{.*}} : memref<8x16xf32>) outs(%{{.*}}, %{{.*}} : memref<8x16xf32>, memref<8x16xi32>) {experts = 8 : i64, normalize, sigmoid, top_k = 2 : i64}
  mllm.kernel.moe_route ins(%l : memref<8x16xf32>) outs(%r, %c : memref<8x16xf32>, memref<8x16xi32>) {experts = 8 : i64, normalize, sigmoid, top_k = 2 : i64}
  // CHECK: mllm.kernel.token_ids outs(%{{.*}} : memref<8x16xi32>) {by_position}
  mllm.kernel.token_ids outs(%c : memref<8x16xi32>) {by_position}
  // CHECK: mllm.kernel.token_ids outs(%{{.*}} : memref<8x16xi32>)
  mllm.kernel.token_ids outs(%c : memref<8x16xi32>)
  // CHECK: mllm.kernel.moe_sort ins(%{{.*}} : memref<8x16xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<1x16xi32>, memref<1x16xi32>, memref<1x16xi32>) {experts = 8 : i64, top_k = 2 : i64}
  mllm.kernel.moe_sort ins(%c : memref<8x16xi32>) outs(%o, %p, %p : memref<1x16xi32>, memref<1x16xi32>, memref<1x16xi32>) {experts = 8 : i64, top_k = 2 : i64}
  // CHECK: mllm.kernel.moe_gather ins(%{{.*}}, %{{.*}} : memref<1x16xi32>, memref<8x64xf32>) outs(%{{.*}} : memref<16x64xf32>) {columns = 64 : i64, top_k = 2 : i64}
  mllm.kernel.moe_gather ins(%p, %x : memref<1x16xi32>, memref<8x64xf32>) outs(%g : memref<16x64xf32>) {columns = 64 : i64, top_k = 2 : i64}
  // CHECK: mllm.kernel.moe_linear weights(%{{.*}} : memref<65536xi8>) ins(%{{.*}}, %{{.*}} : memref<1x16xi32>, memref<16x32xf32>) outs(%{{.*}} : memref<16x64xf32>) {columns = 64 : i64, experts = 8 : i64, format = "bf16", rows = 64 : i64}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) ins(%o, %h : memref<1x16xi32>, memref<16x32xf32>) outs(%g : memref<16x64xf32>) {columns = 64 : i64, experts = 8 : i64, format = "bf16", rows = 64 : i64}
  // CHECK: mllm.kernel.moe_linear weights(%{{.*}} : memref<20480xi8>) ins(%{{.*}}, %{{.*}} : memref<1x16xi32>, memref<16x32xf32>) outs(%{{.*}} : memref<16x64xf32>) {columns = 64 : i64, experts = 8 : i64, format = "int4:g32:f16", rows = 64 : i64, segment = 32 : i64}
  mllm.kernel.moe_linear weights(%w4 : memref<20480xi8>) ins(%o, %h : memref<1x16xi32>, memref<16x32xf32>) outs(%g : memref<16x64xf32>) {columns = 64 : i64, experts = 8 : i64, format = "int4:g32:f16", rows = 64 : i64, segment = 32 : i64}
  // CHECK: mllm.kernel.moe_linear weights(%{{.*}} : memref<65536xi8>) bias(%{{.*}} : memref<20480xi8>) ins(%{{.*}} {bias_format = "bf16", columns = 64 : i64, experts = 8 : i64, format = "bf16", rows = 64 : i64}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) bias(%w4 : memref<20480xi8>) ins(%o, %h : memref<1x16xi32>, memref<16x32xf32>) outs(%g : memref<16x64xf32>) {bias_format = "bf16", columns = 64 : i64, experts = 8 : i64, format = "bf16", rows = 64 : i64}
  // CHECK: mllm.kernel.moe_gate {{.*}} {columns = 64 : i64, swiglu_limit = 7.000000e+00 : f64, top_k = 2 : i64}
  mllm.kernel.moe_gate ins(%g, %g : memref<16x64xf32>, memref<16x64xf32>) outs(%g : memref<16x64xf32>) {columns = 64 : i64, swiglu_limit = 7.0, top_k = 2 : i64}
  // CHECK: mllm.kernel.moe_gate {{.*}} {columns = 64 : i64, gelu, top_k = 2 : i64}
  mllm.kernel.moe_gate ins(%g, %g : memref<16x64xf32>, memref<16x64xf32>) outs(%g : memref<16x64xf32>) {columns = 64 : i64, gelu, top_k = 2 : i64}
  // CHECK: mllm.kernel.moe_gate ins(%{{.*}}, %{{.*}} : memref<16x64xf32>, memref<16x64xf32>) outs(%{{.*}} : memref<16x32xf32>) {columns = 64 : i64, rounded, top_k = 2 : i64}
  mllm.kernel.moe_gate ins(%g, %g : memref<16x64xf32>, memref<16x64xf32>) outs(%h : memref<16x32xf32>) {columns = 64 : i64, rounded, top_k = 2 : i64}
  // CHECK: mllm.kernel.moe_combine ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<1x16xi32>, memref<8x16xf32>, memref<16x64xf32>) outs(%{{.*}} : memref<8x64xf32>) {columns = 64 : i64, top_k = 2 : i64}
  mllm.kernel.moe_combine ins(%p, %r, %g : memref<1x16xi32>, memref<8x16xf32>, memref<16x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64 : i64, top_k = 2 : i64}
  return
}

// CHECK-LABEL: func.func @nests(
func.func @nests(%x: memref<4x16xf32>,
    %y: memref<8x16xf32>,
    %s: memref<4x16xf32>,
    %i: memref<1x16xi32>,
    %i4: memref<4x16xi32>,
    %b: memref<4x32xf32>,
    %z: memref<4x32xi32>) {
  // CHECK: mllm.kernel.copy_box ins(%{{.*}} : memref<4x16xf32>) outs(%{{.*}} : memref<8x16xf32>) {from_columns = 8 : i64, from_strides = array<i64: 1>, sizes = array<i64: 31>, to = 1 : i64, to_columns = 4 : i64, to_strides = array<i64: 1>}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>) {from_columns = 8 : i64, from_strides = array<i64: 1>, sizes = array<i64: 31>, to = 1 : i64, to_columns = 4 : i64, to_strides = array<i64: 1>}
  // CHECK: mllm.kernel.loops ins(%{{.*}}, %{{.*}} : memref<4x16xf32>, memref<4x16xf32>) outs(%{{.*}} : memref<4x16xf32>) {columns = 1 : i64, maps = [{{.*}}], parallel = 1 : i64, sizes = array<i64: 4, 16>} apply {
  mllm.kernel.loops ins(%x, %s : memref<4x16xf32>, memref<4x16xf32>) outs(%s : memref<4x16xf32>) {columns = 1 : i64, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, 0)>], parallel = 1 : i64, sizes = array<i64: 4, 16>} apply {
  ^bb0(%d0: index, %d1: index, %e0: f32, %e1: f32):
    %0 = arith.addf %e0, %e1 : f32
    mllm.program.yield %0 : f32
  }
  // CHECK: mllm.kernel.gather ins(%{{.*}}, %{{.*}} : memref<1x16xi32>, memref<8x16xf32>) outs(%{{.*}} : memref<4x16xf32>) {bound = 8 : i64, columns = 16 : i64, maps = [{{.*}}], sizes = array<i64: 4, 16>}
  mllm.kernel.gather ins(%i, %y : memref<1x16xi32>, memref<8x16xf32>) outs(%x : memref<4x16xf32>) {bound = 8 : i64, columns = 16 : i64, maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], sizes = array<i64: 4, 16>}
  // CHECK: mllm.kernel.scatter ins(%{{.*}}, %{{.*}} : memref<1x16xi32>, memref<4x16xf32>) outs(%{{.*}} : memref<8x16xf32>) {bound = 8 : i64, indexed = 1 : i64, maps = [{{.*}}], sizes = array<i64: 4, 16>}
  mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x16xf32>) outs(%y : memref<8x16xf32>) {bound = 8 : i64, indexed = 1 : i64, maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1)[s0] -> (s0, d1)>], sizes = array<i64: 4, 16>}
  // CHECK: mllm.kernel.sort ins(%{{.*}} : memref<4x32xf32>) outs(%{{.*}}, %{{.*}} : memref<4x16xf32>, memref<4x16xi32>) scratch(%{{.*}}, %{{.*}} : memref<4x32xi32>, memref<4x32xi32>) {columns = 32 : i64, count = 8 : i64, descending, rows = 4 : i64}
  mllm.kernel.sort ins(%b : memref<4x32xf32>) outs(%x, %i4 : memref<4x16xf32>, memref<4x16xi32>) scratch(%z, %z : memref<4x32xi32>, memref<4x32xi32>) {columns = 32 : i64, count = 8 : i64, descending, rows = 4 : i64}
  return
}

// CHECK-LABEL: func.func @quantized(
func.func @quantized(%x: memref<64x64xf32>,
    %q: memref<64x64xf32>,
    %s: memref<64x16xf32>,
    %z: memref<64x16xi32>) {
  // CHECK: mllm.kernel.quantize ins(%{{.*}}, %{{.*}} : memref<64x64xf32>, memref<64x16xf32>) outs(%{{.*}} : memref<64x64xf32>) {bits = 8 : i64, cell = array<i64: 1, 32>, columns = 64 : i64, grid_columns = 2 : i64, shape = array<i64: 64, 64>}
  mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%q : memref<64x64xf32>) {bits = 8 : i64, cell = array<i64: 1, 32>, columns = 64 : i64, grid_columns = 2 : i64, shape = array<i64: 64, 64>}
  // CHECK: mllm.kernel.quantize ins(%{{.*}}, %{{.*}} : memref<64x64xf32>, memref<64x16xf32>) zero_points(%{{.*}} : memref<64x16xi32>) outs(%{{.*}} : memref<64x64xf32>) {bits = 4 : i64, cell = array<i64: 1, 32>, columns = 64 : i64, grid_columns = 2 : i64, shape = array<i64: 64, 64>}
  mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) zero_points(%z : memref<64x16xi32>) outs(%q : memref<64x64xf32>) {bits = 4 : i64, cell = array<i64: 1, 32>, columns = 64 : i64, grid_columns = 2 : i64, shape = array<i64: 64, 64>}
  // CHECK: mllm.kernel.dequantize ins(%{{.*}}, %{{.*}} : memref<64x64xf32>, memref<64x16xf32>) zero_points(%{{.*}} : memref<64x16xf32>) outs(%{{.*}} : memref<64x64xf32>) {cell = array<i64: 1, 32>, columns = 64 : i64, grid_columns = 2 : i64, shape = array<i64: 64, 64>}
  mllm.kernel.dequantize ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) zero_points(%s : memref<64x16xf32>) outs(%x : memref<64x64xf32>) {cell = array<i64: 1, 32>, columns = 64 : i64, grid_columns = 2 : i64, shape = array<i64: 64, 64>}
  // CHECK: mllm.kernel.quant_params ins(%{{.*}} : memref<64x64xf32>) outs(%{{.*}} : memref<64x16xf32>) zero_points(%{{.*}} : memref<64x16xf32>) {bits = 16 : i64, cell = array<i64: 1, 32>, columns = 64 : i64, grid_columns = 2 : i64, shape = array<i64: 64, 64>}
  mllm.kernel.quant_params ins(%x : memref<64x64xf32>) outs(%s : memref<64x16xf32>) zero_points(%s : memref<64x16xf32>) {bits = 16 : i64, cell = array<i64: 1, 32>, columns = 64 : i64, grid_columns = 2 : i64, shape = array<i64: 64, 64>}
  return
}
