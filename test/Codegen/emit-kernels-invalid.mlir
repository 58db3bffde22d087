// RUN: llmir-opt %s --emit-kernels --split-input-file --verify-diagnostics
// RUN: not llmir-opt %s --split-input-file --emit-kernels="level=z80" 2>&1 | FileCheck %s --check-prefix=LEVEL

// LEVEL: unknown CPU level 'z80'

mllm.program.fragment @kernels text {
  // expected-error@+1 {{is of the unknown kind 'convolution'}}
  mllm.program.kernel @k "convolution" {} []
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+4 {{kind 'linear' needs the parameter 'rows', an integer}}
  // expected-error@+3 {{kind 'linear' needs the parameter 'bias', a bool}}
  // expected-error@+2 {{kind 'linear' needs the parameter 'format', a string}}
  // expected-error@+1 {{kind 'linear' needs the parameter 'over', "tokens" or "logit_rows"}}
  mllm.program.kernel @k "linear" {columns = 64 : i64, format = 1 : i64} [memref<8x64xf32>, memref<8x48xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+2 {{kind 'rope_angles' needs the parameter 'frequencies', an array of f64}}
  // expected-error@+1 {{kind 'rope_angles' needs the parameter 'scaling', a float}}
  mllm.program.kernel @k "rope_angles" {frequencies = array<i64: 1>} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'over' is "rows", expected "tokens" or "logit_rows"}}
  mllm.program.kernel @k "elementwise" {columns = 16 : i64, over = "rows"} [memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has the unknown format "q9_9"}}
  mllm.program.kernel @k "linear" {bias = false, columns = 64 : i64, format = "q9_9", over = "tokens", rows = 33 : i64} [memref<8x64xf32>, memref<8x48xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{takes 1 buffers, its kind 2}}
  mllm.program.kernel @k "select_rows" {columns = 64 : i64} [memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // Too few columns.
  // expected-error@+1 {{buffer 1 is 'memref<8x48xf32>', expected static rows of f32 with 64 columns or more, in whole tiles of 16}}
  mllm.program.kernel @k "select_rows" {columns = 64 : i64} [memref<8x64xf32>, memref<8x48xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // Not whole tiles.
  // expected-error@+1 {{buffer 0 is 'memref<8x70xf32>', expected static rows of f32 with 64 columns or more, in whole tiles of 16}}
  mllm.program.kernel @k "select_rows" {columns = 64 : i64} [memref<8x70xf32>, memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{buffer 0 is 'memref<8x64xf64>', expected static rows of f32}}
  mllm.program.kernel @k "select_rows" {columns = 64 : i64} [memref<8x64xf64>, memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{buffer 0 is 'memref<512xf32>', expected static rows of f32}}
  mllm.program.kernel @k "select_rows" {columns = 64 : i64} [memref<512xf32>, memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{of kind elementwise needs its scalar region}}
  mllm.program.kernel @k "elementwise" {columns = 16 : i64, over = "tokens"} [memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'kv_heads' is 0, expected 1 to 268435456}}
  mllm.program.kernel @k "append_kv" {kv_format = "f32", kv_heads = 0 : i64, head_dim = 8 : i64, block_size = 16 : i64} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has block size 7, which is not a multiple of the 2 values in a cell of the cache}}
  mllm.program.kernel @k "append_kv" {kv_format = "bf16", kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 7 : i64} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'value_dim' is -1, expected 1 to 268435456}}
  mllm.program.kernel @k "append_kv" {kv_format = "f32", kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, value_dim = -1 : i64} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // V is wider than K.
  // expected-error@+1 {{buffer 1 is 'memref<8x16xf32>', expected static rows of f32 with 24 columns or more, in whole tiles of 16}}
  mllm.program.kernel @k "append_kv" {kv_format = "f32", kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, value_dim = 12 : i64} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'rows' is 0, expected 1 to 268435456}}
  mllm.program.kernel @k "lookup_kv" {kv_format = "f32", kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, rows = 0 : i64} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has the window -1, expected 0 (none) or more}}
  mllm.program.kernel @k "paged_attention" {kv_format = "f32", heads = 2 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 1.0 : f64, window = -1 : i64} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has 1 ALiBi slopes for 2 heads}}
  mllm.program.kernel @k "paged_attention" {kv_format = "f32", heads = 2 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 1.0 : f64, alibi_slopes = array<f64: 0.5>} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has the mask strides 0, 0, 16, 0, 2; expected those of sequence, head, query, token and key, the last 0 or 1}}
  mllm.program.kernel @k "paged_attention" {kv_format = "f32", heads = 2 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 1.0 : f64, mask_strides = array<i64: 0, 0, 16, 0, 2>} [memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{takes 2 buffers, its kind 4}}
  mllm.program.kernel @k "paged_attention" {kv_format = "f32", heads = 2 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 1.0 : f64, mask_strides = array<i64: 0, 0, 16, 0, 1>, sinks = "buffer"} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'sinks' is "drain", expected "weight" or "buffer"}}
  mllm.program.kernel @k "paged_attention" {kv_format = "f32", heads = 2 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 1.0 : f64, sinks = "drain"} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'block_size' is 0, expected 1 to 268435456}}
  mllm.program.kernel @k "paged_attention" {kv_format = "f32", heads = 4 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 0 : i64, scale = 1.0 : f64} [memref<8x32xf32>, memref<8x32xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has 5 heads, which 2 KV heads do not divide}}
  mllm.program.kernel @k "paged_attention" {kv_format = "f32", heads = 5 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 1.0 : f64} [memref<8x48xf32>, memref<8x48xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'rows' is -5, expected 1 to}}
  mllm.program.kernel @k "linear" {bias = false, columns = 64 : i64, format = "bf16", over = "tokens", rows = -5 : i64} [memref<8x64xf32>, memref<8x48xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'columns' is 1000000000000, expected 1 to}}
  mllm.program.kernel @k "embedding" {columns = 1000000000000 : i64, format = "f32", rows = 100 : i64} [memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'columns' is 0, expected 1 to}}
  mllm.program.kernel @k "rms_norm" {columns = 0 : i64, groups = 1 : i64, eps = 1.0 : f64, over = "tokens"} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'groups' is 0, expected 1 to}}
  mllm.program.kernel @k "rms_norm" {columns = 16 : i64, groups = 0 : i64, eps = 1.0 : f64, over = "tokens"} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'columns' is -1, expected 1 to}}
  mllm.program.kernel @k "select_rows" {columns = -1 : i64} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{rotates 5 of 8 dimensions; expected an even number, at most all of them}}
  mllm.program.kernel @k "rope" {heads = 1 : i64, head_dim = 8 : i64, rotary_dim = 5 : i64} [memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{rotates 10 of 8 dimensions}}
  mllm.program.kernel @k "rope" {heads = 1 : i64, head_dim = 8 : i64, rotary_dim = 10 : i64} [memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has 5 partial results in 8 rows, expected 2048}}
  mllm.program.kernel @k "paged_attention" {kv_format = "f32", heads = 2 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 1.0 : f64, partial_rows = 5 : i64} [memref<8x16xf32>, memref<8x48xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has 2048 partial results in 8 rows, expected 2048}}
  mllm.program.kernel @k "merge_attention" {kv_format = "f32", heads = 2 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64, scale = 1.0 : f64, partial_rows = 2048 : i64} [memref<8x48xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has heads of 5000 numbers; at most 4096 are known to fit}}
  mllm.program.kernel @k "paged_attention" {kv_format = "f32", heads = 1 : i64, kv_heads = 1 : i64, head_dim = 5000 : i64, block_size = 16 : i64, scale = 1.0 : f64} [memref<8x5008xf32>, memref<8x5008xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has block size 2, which is not a multiple of the 4 values in a cell}}
  mllm.program.kernel @k "append_kv" {kv_format = "q8", kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 2 : i64} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has a cache of the unknown format "q8_0"}}
  mllm.program.kernel @k "append_kv" {kv_format = "q8_0", kv_heads = 2 : i64, head_dim = 8 : i64, block_size = 16 : i64} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'columns' is 0, expected 1 to}}
  mllm.program.kernel @k "elementwise" {columns = 0 : i64, over = "tokens"} [memref<8x16xf32>, memref<8x16xf32>] {
  ^bb0(%x: f32):
    mllm.program.yield %x : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{of kind elementwise needs a scalar region of f32 arguments that ends in mllm.program.yield}}
  mllm.program.kernel @k "elementwise" {columns = 16 : i64, over = "tokens"} [memref<8x16xf32>] {
    %0 = arith.constant 1.0 : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{of kind elementwise needs a scalar region of f32 arguments that ends in mllm.program.yield}}
  mllm.program.kernel @k "elementwise" {columns = 16 : i64, over = "tokens"} [memref<8x16xf32>, memref<8x16xf32>] {
  ^bb0(%a: f64):
    %b = arith.truncf %a : f64 to f32
    mllm.program.yield %b : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'groups' is 0, expected 1 to}}
  mllm.program.kernel @k "softmax" {columns = 16 : i64, groups = 0 : i64, over = "tokens"} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{kind 'layer_norm' needs the parameter 'bias', a bool}}
  mllm.program.kernel @k "layer_norm" {columns = 16 : i64, groups = 1 : i64, eps = 1.0 : f64, weight = true, over = "tokens"} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has 1 strides for a box of 2 dimensions}}
  mllm.program.kernel @k "copy_box" {sizes = array<i64: 2, 8>, from = 0 : i64, from_columns = 16 : i64, from_strides = array<i64: 1>, to = 0 : i64, to_columns = 16 : i64, to_strides = array<i64: 16, 1>} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has a box with start 0, stride -1 and size 8}}
  mllm.program.kernel @k "copy_box" {sizes = array<i64: 8>, from = 0 : i64, from_columns = 16 : i64, from_strides = array<i64: -1>, to = 0 : i64, to_columns = 16 : i64, to_strides = array<i64: 1>} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has a box that ends at element 128 of buffer 1, which has 128}}
  mllm.program.kernel @k "copy_box" {sizes = array<i64: 9>, from = 0 : i64, from_columns = 16 : i64, from_strides = array<i64: 1>, to = 120 : i64, to_columns = 16 : i64, to_strides = array<i64: 1>} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has a box of sizes ; expected 1 to 8 dimensions}}
  mllm.program.kernel @k "copy_box" {sizes = array<i64>, from = 0 : i64, from_columns = 16 : i64, from_strides = array<i64>, to = 0 : i64, to_columns = 16 : i64, to_strides = array<i64>} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // Integers are not copied into numbers.
  // expected-error@+1 {{buffer 1 is 'memref<8x16xf32>', expected static rows of i32 with 16 columns or more}}
  mllm.program.kernel @k "copy_box" {sizes = array<i64: 8>, from = 0 : i64, from_columns = 16 : i64, from_strides = array<i64: 1>, to = 0 : i64, to_columns = 16 : i64, to_strides = array<i64: 1>} [memref<8x16xi32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has integers of 5 bits; expected 4, 8 or 16}}
  mllm.program.kernel @k "quantize" {shape = array<i64: 8, 16>, cell = array<i64: 8, 16>, columns = 16 : i64, grid_columns = 1 : i64, bits = 5 : i64, symmetric = true} [memref<8x16xf32>, memref<1x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has cells of 1 dimensions in a tensor of 2}}
  mllm.program.kernel @k "quant_params" {shape = array<i64: 8, 16>, cell = array<i64: 8>, columns = 16 : i64, grid_columns = 1 : i64, bits = 8 : i64, symmetric = true} [memref<8x16xf32>, memref<1x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has 8 numbers in rows of 3, which are not the whole rows of buffer 1}}
  mllm.program.kernel @k "dequantize" {shape = array<i64: 8, 16>, cell = array<i64: 1, 16>, columns = 16 : i64, grid_columns = 3 : i64, symmetric = true} [memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has 128 numbers in rows of 16, which are not the whole rows of buffer 0}}
  mllm.program.kernel @k "quantize" {shape = array<i64: 8, 16>, cell = array<i64: 8, 16>, columns = 16 : i64, grid_columns = 1 : i64, bits = 8 : i64, symmetric = true} [memref<7x16xf32>, memref<1x16xf32>, memref<7x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{chooses 3 of 2 experts}}
  mllm.program.kernel @k "moe_route" {experts = 2 : i64, top_k = 3 : i64, sigmoid = false, normalize = true} [memref<8x16xf32>, memref<8x16xf32>, memref<8x3xi32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{buffer 2 is 'memref<8x16xf32>', expected static rows of i32 with 2 columns or more}}
  mllm.program.kernel @k "moe_route" {experts = 4 : i64, top_k = 2 : i64, sigmoid = false, normalize = true} [memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // Two pairs for each of eight tokens.
  // expected-error@+1 {{buffer 2 is 'memref<1x15xi32>', expected static rows of i32 with 16 columns or more}}
  mllm.program.kernel @k "moe_sort" {experts = 4 : i64, top_k = 2 : i64} [memref<8x2xi32>, memref<1x5xi32>, memref<1x15xi32>, memref<1x16xi32>]
}

// -----

mllm.program.fragment @kernels text {
  // A weight that the program packs: 64 rows of 64 f32 numbers.
  // expected-error@+1 {{buffer 0 is 'memref<255x16xf32>', which is to be a weight of 16384 bytes}}
  mllm.program.kernel @k "linear" {bias = false, columns = 64 : i64, format = "f32", over = "tokens", rows = 64 : i64} [memref<255x16xf32>, memref<8x64xf32>, memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{buffer 0 is 'memref<256x16xf32, strided<[32, 1]>>', which is to be a weight of 16384 bytes}}
  mllm.program.kernel @k "linear" {bias = false, columns = 64 : i64, format = "f32", over = "tokens", rows = 64 : i64} [memref<256x16xf32, strided<[32, 1]>>, memref<8x64xf32>, memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{buffer 1 is 'memref<8x64xf32, strided<[65, 1]>>', expected static rows of f32 with 64 columns or more, in whole tiles of 16}}
  mllm.program.kernel @k "softmax" {columns = 64 : i64, groups = 1 : i64, over = "tokens"} [memref<8x64xf32>, memref<8x64xf32, strided<[65, 1]>>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has the parameter 'top_k', which kind 'softmax' does not know}}
  mllm.program.kernel @k "softmax" {columns = 64 : i64, groups = 1 : i64, over = "tokens", top_k = 2 : i64} [memref<8x64xf32>, memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'groups' is 1 : i8, expected an integer of type i64}}
  mllm.program.kernel @k "softmax" {columns = 64 : i64, groups = 1 : i8, over = "tokens"} [memref<8x64xf32>, memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{sorts by 65537 experts; the most are 65536}}
  mllm.program.kernel @k "moe_sort" {experts = 65537 : i64, top_k = 2 : i64} [memref<8x2xi32>, memref<1x65538xi32>, memref<1x16xi32>, memref<1x16xi32>]
}
