// RUN: llmir-opt %s --emit-kernels | FileCheck %s
// RUN: llmir-opt %s --emit-kernels="level=x86-64-v3" | FileCheck %s --check-prefix=V3
// RUN: llmir-opt %s --llmir-kernel-stage | FileCheck %s --check-prefix=VECTOR --implicit-check-not=linalg --implicit-check-not=math.exp

// Each kernel becomes a private function of its name, with its weights before
// its buffers; the text fragment goes away.

// CHECK-NOT: mllm.program.fragment
mllm.program.fragment @kernels text {
  // Packed bytes: 3 tiles of 16 rows, 32 lines of 64 bytes each.
  // CHECK: func.func private @linear(%{{.*}}: !llvm.ptr, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<6144xi8>, %{{.*}}: memref<48xf32>, %{{.*}}: memref<8x32xf32>, %{{.*}}: memref<8x48xf32>)
  // Four tiles of rows and four tokens at a time where there are registers
  // for them, one tile and three tokens where there are not.
  // CHECK: iter_args({{(%[a-z0-9_]+ = %[a-z0-9_]+, ){15}%[a-z0-9_]+ = %[a-z0-9_]+\)}}
  // V3-LABEL: func.func private @linear(
  // V3: iter_args({{(%[a-z0-9_]+ = %[a-z0-9_]+, ){2}%[a-z0-9_]+ = %[a-z0-9_]+\)}}
  // V3-NOT: iter_args({{(%[a-z0-9_]+ = %[a-z0-9_]+, ){3}%}}
  // V3-LABEL: func.func private @norm(
  mllm.program.kernel @linear "linear" {bias = true, columns = 64 : i64, format = "bf16", over = "tokens", rows = 33 : i64} [memref<8x32xf32>, memref<8x48xf32>]
  // CHECK: func.func private @round(%{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x32xf32>)
  mllm.program.kernel @round "round_rows" {columns = 60 : i64, over = "tokens"} [memref<8x64xf32>, memref<8x32xf32>]
  // CHECK: func.func private @norm(%{{.*}}: !llvm.ptr, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<64xf32>, %{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x64xf32>)
  // CHECK: linalg.generic
  // VECTOR-LABEL: func.func private @norm(
  // VECTOR: vector.load
  // VECTOR: math.fma %{{.*}} : vector<16xf32>
  // VECTOR: vector.store
  mllm.program.kernel @norm "rms_norm" {columns = 64 : i64, groups = 1 : i64, eps = 1.0e-5 : f64, over = "tokens"} [memref<8x64xf32>, memref<8x64xf32>]
  // CHECK: func.func private @exp(
  // CHECK: math.exp %{{.*}} : f32
  // VECTOR-LABEL: func.func private @exp(
  mllm.program.kernel @exp "elementwise" {columns = 64 : i64, over = "logit_rows"} [memref<8x64xf32>, memref<8x64xf32>] {
  ^bb0(%x: f32):
    %0 = math.exp %x : f32
    mllm.program.yield %0 : f32
  }
  // CHECK: func.func private @append_kv(
  mllm.program.kernel @append_kv "append_kv" {kv_format = "bf16", kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64} [memref<8x16xf32>, memref<8x16xf32>]
  // CHECK: func.func private @attention(
  mllm.program.kernel @attention "paged_attention" {kv_format = "bf16", heads = 8 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 0.25 : f64} [memref<8x64xf32>, memref<8x64xf32>]
  // Sinks are a weight, or a buffer behind the mask; tokens of blocks of 8 are
  // copied together.
  // CHECK: func.func private @attention_sinks(%{{.*}}, %{{.*}}: memref<16xf32>, %{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x64xf32>)
  // CHECK: %[[PART:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xi32>
  // CHECK: llvm.store %[[PART]], %{{.*}} : vector<8xi32>
  mllm.program.kernel @attention_sinks "paged_attention" {kv_format = "bf16", heads = 8 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 8 : i64, scale = 0.25 : f64, sinks = "weight", window = 4 : i64} [memref<8x64xf32>, memref<8x64xf32>]
  // CHECK: func.func private @attention_mask(%{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x48xf32>, %{{.*}}: memref<1x16xf32>, %{{.*}}: memref<8x32xf32>)
  // CHECK: math.tanh
  // CHECK: vector.maskedload
  // VECTOR-LABEL: func.func private @attention_mask(
  // VECTOR-NOT: math.tanh
  mllm.program.kernel @attention_mask "paged_attention" {kv_format = "f32", heads = 8 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 0.25 : f64, causal = false, value_dim = 4 : i64, soft_cap = 30.0 : f64, sinks = "buffer", mask_strides = array<i64: 0, 0, 0, 48, 1>} [memref<8x64xf32>, memref<8x48xf32>, memref<1x16xf32>, memref<8x32xf32>]
  // Partial results stand before the output.
  // CHECK: func.func private @attention_splits(%{{.*}}: memref<8x64xf32>, %{{.*}}: memref<2048x48xf32>, %{{.*}}: memref<8x64xf32>)
  mllm.program.kernel @attention_splits "paged_attention" {kv_format = "q8", heads = 8 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 0.25 : f64, partial_rows = 2048 : i64} [memref<8x64xf32>, memref<2048x48xf32>, memref<8x64xf32>]
  // CHECK: func.func private @merge(%{{.*}}: memref<1x16xf32>, %{{.*}}: memref<2048x48xf32>, %{{.*}}: memref<8x64xf32>)
  mllm.program.kernel @merge "merge_attention" {kv_format = "q8", heads = 8 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 0.25 : f64, sinks = "buffer", partial_rows = 2048 : i64} [memref<1x16xf32>, memref<2048x48xf32>, memref<8x64xf32>]
  // CHECK: func.func private @lookup_kv(%{{.*}}: memref<8x16xf32>, %{{.*}}: memref<8x32xf32>)
  // VECTOR-LABEL: func.func private @lookup_kv(
  mllm.program.kernel @lookup_kv "lookup_kv" {kv_format = "f16", kv_heads = 2 : i64, head_dim = 8 : i64, value_dim = 12 : i64, block_size = 16 : i64, rows = 8 : i64} [memref<8x16xf32>, memref<8x32xf32>]
  // CHECK: func.func private @rope_angles(
  mllm.program.kernel @rope_angles "rope_angles" {frequencies = array<f64: 1.0, 0.1>, scaling = 1.0 : f64} [memref<8x16xf32>, memref<8x16xf32>]
  // CHECK: func.func private @rope(
  mllm.program.kernel @rope "rope" {heads = 8 : i64, head_dim = 8 : i64, rotary_dim = 4 : i64} [memref<8x16xf32>, memref<8x16xf32>, memref<8x64xf32>, memref<8x64xf32>]
  // CHECK: func.func private @embedding(%{{.*}}, %{{.*}}: memref<1152xi8>, %{{.*}}: memref<8x32xf32>)
  mllm.program.kernel @embedding "embedding" {columns = 32 : i64, format = "int4:g32:f16", rows = 50 : i64} [memref<8x32xf32>]
  // CHECK: func.func private @select_rows(
  mllm.program.kernel @select_rows "select_rows" {columns = 60 : i64} [memref<8x64xf32>, memref<4x64xf32>]
  // The optional weights come in their order; integers are buffers of i32.
  // CHECK: func.func private @layer_norm(%{{.*}}: index, %{{.*}}: memref<64xf32>, %{{.*}}: memref<64xf32>, %{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x64xf32>)
  mllm.program.kernel @layer_norm "layer_norm" {columns = 60 : i64, groups = 1 : i64, eps = 1.0e-5 : f64, weight = true, bias = true, over = "tokens"} [memref<8x64xf32>, memref<8x64xf32>]
  // CHECK: func.func private @bare_norm(%{{.*}}: index, %{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x64xf32>)
  mllm.program.kernel @bare_norm "rms_norm" {columns = 64 : i64, groups = 1 : i64, eps = 1.0e-5 : f64, over = "tokens", weight = false} [memref<8x64xf32>, memref<8x64xf32>]
  // CHECK: func.func private @softmax(
  mllm.program.kernel @softmax "softmax" {columns = 10 : i64, groups = 6 : i64, over = "logit_rows"} [memref<8x64xf32>, memref<8x64xf32>]
  // Rows of 48 become rows of 32: 16 numbers at a time.
  // CHECK: func.func private @reshape(
  // CHECK: vector.load %{{.*}} : memref<8x48xf32>, vector<16xf32>
  // CHECK: vector.store %{{.*}} : memref<12x32xf32>, vector<16xf32>
  mllm.program.kernel @reshape "copy_box" {sizes = array<i64: 384>, from = 0 : i64, from_columns = 48 : i64, from_strides = array<i64: 1>, to = 0 : i64, to_columns = 32 : i64, to_strides = array<i64: 1>} [memref<8x48xf32>, memref<12x32xf32>]
  // CHECK: func.func private @moe_route(%{{.*}}: memref<8x16xf32>, %{{.*}}: memref<8x16xf32>, %{{.*}}: memref<8x2xi32>)
  mllm.program.kernel @moe_route "moe_route" {experts = 5 : i64, top_k = 2 : i64, sigmoid = true, normalize = true} [memref<8x16xf32>, memref<8x16xf32>, memref<8x2xi32>]
  // Five matrices of 2 x 16 rows, 32 bytes of lines for each.
  // CHECK: func.func private @moe_linear(%{{.*}}: index, %{{.*}}: memref<10240xi8>, %{{.*}}: memref<1x6xi32>, %{{.*}}: memref<16x16xf32>, %{{.*}}: memref<16x32xf32>)
  mllm.program.kernel @moe_linear "moe_linear" {experts = 5 : i64, rows = 20 : i64, columns = 32 : i64, format = "bf16"} [memref<1x6xi32>, memref<16x16xf32>, memref<16x32xf32>]
}
