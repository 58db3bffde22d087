// RUN: llmir-opt %s --emit-kernels --split-input-file --verify-diagnostics

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has the unknown format "int7"}}
  mllm.program.kernel @k "quantized_linear" {format = "int7", rows = 16 : i64, columns = 32 : i64, bias = false, segment = 0 : i64, over = "tokens"} [memref<8x32xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'rows' is 0, expected 1 to}}
  mllm.program.kernel @k "quantized_linear" {format = "int8", rows = 0 : i64, columns = 32 : i64, bias = false, segment = 0 : i64, over = "tokens"} [memref<8x32xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{buffer 0 is 'memref<8x16xf32>', expected static rows of f32 with 32 columns or more}}
  mllm.program.kernel @k "quantized_linear" {format = "int8", rows = 16 : i64, columns = 32 : i64, bias = false, segment = 0 : i64, over = "tokens"} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // 64 bytes, 2 scales, 2 sums and 2 scaled sums are 22 words.
  // expected-error@+1 {{buffer 0 is 'memref<8x16xf32>', expected static rows of f32 with 22 columns or more}}
  mllm.program.kernel @k "quantized_linear" {format = "int8", rows = 16 : i64, columns = 64 : i64, bias = false, segment = 32 : i64, over = "tokens"} [memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has quantized activations and weights of 16 bits; kernels multiply bytes}}
  mllm.program.kernel @k "quantized_linear" {format = "int16", rows = 16 : i64, columns = 64 : i64, bias = false, segment = 32 : i64, over = "tokens"} [memref<8x32xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{adds up segments of 65540 products, expected 65536 or fewer}}
  mllm.program.kernel @k "quantized_linear" {format = "int8", rows = 16 : i64, columns = 65540 : i64, bias = false, segment = 65540 : i64, over = "tokens"} [memref<8x32xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has segments of 24 values in weights of format "int8:g32", whose groups they do not divide into whole lines}}
  mllm.program.kernel @k "quantized_linear" {format = "int8:g32", rows = 16 : i64, columns = 64 : i64, bias = false, segment = 24 : i64, over = "tokens"} [memref<8x32xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // Nibbles lie eight to a line: a line would hold values of two segments.
  // expected-error@+1 {{has segments of 4 values in weights of format "int4:g32", whose groups they do not divide into whole lines}}
  mllm.program.kernel @k "quantized_linear" {format = "int4:g32", rows = 16 : i64, columns = 64 : i64, bias = false, segment = 4 : i64, over = "tokens"} [memref<8x64xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has groups of 32 in segments of 24 values and 24 bytes, expected segments that divide the groups and fit into whole words}}
  mllm.program.kernel @k "quantize_rows" {columns = 64 : i64, group = 32 : i64, segment = 24 : i64, padded = 24 : i64, over = "tokens"} [memref<8x64xf32>, memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has groups of 32 in segments of 16 values and 12 bytes}}
  mllm.program.kernel @k "quantize_rows" {columns = 64 : i64, group = 32 : i64, segment = 16 : i64, padded = 12 : i64, over = "tokens"} [memref<8x64xf32>, memref<8x64xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'top_k' is -1, expected 1 to 268435456}}
  mllm.program.kernel @k "quantize_rows" {columns = 64 : i64, group = 32 : i64, segment = 32 : i64, padded = 32 : i64, over = "tokens", top_k = -1 : i64} [memref<8x64xf32>, memref<8x32xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{buffer 1 is 'memref<8x16xf32>', expected static rows of f32 with 22 columns or more}}
  mllm.program.kernel @k "quantize_rows" {columns = 64 : i64, group = 32 : i64, segment = 32 : i64, padded = 32 : i64, over = "tokens"} [memref<8x64xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{packs scales of f16; a program has f32 ones}}
  mllm.program.kernel @k "pack_integers" {format = "int8:f16", rows = 16 : i64, columns = 32 : i64, tensor_columns = 32 : i64, row_stride = 32 : i64, column_stride = 1 : i64, grid_columns = 16 : i64, scale_row_stride = 1 : i64, scale_group_stride = 0 : i64, scale_rows = 1 : i64} [memref<16x32xf32>, memref<1x16xf32>, memref<9x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{packs integers of format "int6:g32"; a program has those of 4, 8 or 16 bits, without minima}}
  mllm.program.kernel @k "pack_integers" {format = "int6:g32", rows = 16 : i64, columns = 32 : i64, tensor_columns = 32 : i64, row_stride = 32 : i64, column_stride = 1 : i64, grid_columns = 16 : i64, scale_row_stride = 1 : i64, scale_group_stride = 0 : i64, scale_rows = 1 : i64} [memref<16x32xf32>, memref<1x16xf32>, memref<9x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{packs integers of format "int4:g32:min"; a program has those of 4, 8 or 16 bits, without minima}}
  mllm.program.kernel @k "pack_integers" {format = "int4:g32:min", rows = 16 : i64, columns = 32 : i64, tensor_columns = 32 : i64, row_stride = 32 : i64, column_stride = 1 : i64, grid_columns = 16 : i64, scale_row_stride = 1 : i64, scale_group_stride = 0 : i64, scale_rows = 1 : i64} [memref<16x32xf32>, memref<1x16xf32>, memref<9x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // One row of the matrix too few.
  // expected-error@+1 {{has a box that ends at element 511 of buffer 0, which has 480}}
  mllm.program.kernel @k "pack_integers" {format = "int8", rows = 16 : i64, columns = 32 : i64, tensor_columns = 32 : i64, row_stride = 32 : i64, column_stride = 1 : i64, grid_columns = 16 : i64, scale_row_stride = 1 : i64, scale_group_stride = 0 : i64, scale_rows = 1 : i64} [memref<15x32xf32>, memref<1x16xf32>, memref<9x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // Eight lines and the scales are nine rows of sixteen words.
  // expected-error@+1 {{has a box that ends at element 143 of buffer 2, which has 128}}
  mllm.program.kernel @k "pack_integers" {format = "int8", rows = 16 : i64, columns = 32 : i64, tensor_columns = 32 : i64, row_stride = 32 : i64, column_stride = 1 : i64, grid_columns = 16 : i64, scale_row_stride = 1 : i64, scale_group_stride = 0 : i64, scale_rows = 1 : i64} [memref<16x32xf32>, memref<1x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // Lines begin anew every 10 values.
  // expected-error@+1 {{has segments of 20 values in weights of format "int8:g60:s10", whose groups they do not divide into whole lines}}
  mllm.program.kernel @k "quantized_linear" {format = "int8:g60:s10", rows = 16 : i64, columns = 60 : i64, bias = false, segment = 20 : i64, over = "tokens"} [memref<8x64xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has segments, but weights of format "bf16"; only integers are multiplied by bytes}}
  mllm.program.kernel @k "moe_linear" {format = "bf16", experts = 2 : i64, rows = 16 : i64, columns = 32 : i64, segment = 32 : i64} [memref<1x3xi32>, memref<8x32xf32>, memref<8x16xf32>]
}
