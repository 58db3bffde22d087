// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Kernels of matrix products. The cases are named by the constraint that they break.

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c1 (unknown)
  // expected-error@+1 {{has the unknown format "int9"}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {format = "int9", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c1 (a block format of GGUF)
  // expected-error@+1 {{has the block format "q4_0", which is called "int4:g32:f16"}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {format = "q4_0", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c2 (no integers)
  // expected-error@+1 {{has segments, but weights of format "bf16"; only integer weights support segments}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {format = "bf16", rows = 64, columns = 64, segment = 32}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c2 (16 bits)
  // expected-error@+1 {{has quantized activations and weights of 16 bits; expected at most 8 bits}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {format = "int16:g32", rows = 64, columns = 64, segment = 32}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c2 (segments that do not divide the groups)
  // expected-error@+1 {{has segments of 24 elements in weights of format "int8:g32:f16", whose groups are not divided into whole lines}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {format = "int8:g32:f16", rows = 64, columns = 64, segment = 24}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c2 (more than an i32 holds)
  // expected-error@+1 {{accumulates segments of 65537 products, expected 65536 or fewer}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {format = "int8", rows = 64, columns = 64, segment = 65537}
  return
}

// -----

func.func @case(%w: memref<8191xi8>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c3
  // expected-error@+1 {{takes 'memref<8191xi8>' as 'weight', expected a contiguous static buffer of 8192 bytes or more}}
  mllm.kernel.linear weights(%w : memref<8191xi8>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {format = "bf16", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<127x16xf32>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c3 (a buffer in which the program has packed it)
  // expected-error@+1 {{takes 'memref<127x16xf32>' as 'weight', expected a contiguous static buffer of 8192 bytes or more}}
  mllm.kernel.linear weights(%w : memref<127x16xf32>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {format = "bf16", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %b: memref<48xf32>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c3 (the bias)
  // expected-error@+1 {{takes 'memref<48xf32>' as 'bias', expected a contiguous static buffer of 256 bytes or more}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) bias(%b : memref<48xf32>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>) {format = "bf16", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x16xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c4 (rows of bf16 words)
  // expected-error@+1 {{takes 'memref<8x16xf32>' as 'x', expected contiguous static rows of 32 or more columns}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x16xf32>) outs(%y : memref<8x64xf32>) {format = "bf16", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x16xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c4 (quantized rows)
  // expected-error@+1 {{takes 'memref<8x16xf32>' as 'x', expected contiguous static rows of 22 or more columns}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x16xf32>) outs(%y : memref<8x64xf32>) {format = "int8:g32:f16", rows = 64, columns = 64, segment = 32}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %y: memref<8x48xf32>) {
  // RULE: kernel.linear.c4 (the result)
  // expected-error@+1 {{takes 'memref<8x48xf32>' as 'out', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x48xf32>) {format = "bf16", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %z: memref<8x48xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c4 (an input of the region)
  // expected-error@+1 {{takes 'memref<8x48xf32>' as 'inputs', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) with(%z : memref<8x48xf32>) outs(%y : memref<8x64xf32>) {format = "bf16", rows = 64, columns = 64} apply {
  ^bb0(%a: f32, %b: f32):
    mllm.program.yield %b : f32
  }
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c5 (no argument for an input)
  // expected-error@+1 {{needs a region that takes ('f32', 'f32') and ends with an mllm.program.yield of 'f32'}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) with(%y : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {format = "bf16", rows = 64, columns = 64} apply {
  ^bb0(%a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c5 (no region)
  // expected-error@+1 {{takes 1 further inputs without a region that reads them}}
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) with(%y : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {format = "bf16", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x16xf32>) {
  // RULE: kernel.pack_integers.c1 (unknown)
  // expected-error@+1 {{has the unknown format "bf16"}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%w : memref<42x16xf32>)
      {format = "bf16", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x16xf32>) {
  // RULE: kernel.pack_integers.c1 (scales)
  // expected-error@+1 {{packs scales of f16; expected f32 scales}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%w : memref<42x16xf32>)
      {format = "int4:g32:f16", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x16xf32>) {
  // RULE: kernel.pack_integers.c1 (minima)
  // expected-error@+1 {{packs integers of format "int4:g32:min"; expected 4, 8 or 16 bits without minima}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%w : memref<42x16xf32>)
      {format = "int4:g32:min", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x16xf32>) {
  // RULE: kernel.pack_integers.c1 (lines of high bits)
  // expected-error@+1 {{packs integers of format "int5:g32"}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%w : memref<42x16xf32>)
      {format = "int5:g32", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x16xf32>) {
  // RULE: kernel.pack_integers.c2
  // expected-error@+1 {{packs integers of format "int4:g32:asym" without zero points}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%w : memref<42x16xf32>)
      {format = "int4:g32:asym", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x16xf32>) {
  // RULE: kernel.pack_integers.c2 (the other way round)
  // expected-error@+1 {{packs integers of format "int4:g32" with zero points}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) zero_points(%s : memref<64x16xf32>) outs(%w : memref<42x16xf32>)
      {format = "int4:g32", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x16xf32>) {
  // RULE: kernel.pack_integers.c3 (the tensor)
  // expected-error@+1 {{has a box that ends at element 4158 of 'q', which has 4096}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%w : memref<42x16xf32>)
      {format = "int4:g32", rows = 64, columns = 64, tensor_columns = 64, row_stride = 65, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x16xf32>) {
  // RULE: kernel.pack_integers.c3 (a negative stride)
  // expected-error@+1 {{has a box in 'q' with stride -64 and size 64; expected a non-negative stride and a smaller tensor}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%w : memref<42x16xf32>)
      {format = "int4:g32", rows = 64, columns = 64, tensor_columns = 64, row_stride = -64, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x16xf32>) {
  // RULE: kernel.pack_integers.c3 (the scales)
  // expected-error@+1 {{has a box that ends at element 190 of 'scales', which has 128}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%w : memref<42x16xf32>)
      {format = "int4:g32", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64, column_stride = 1, grid_columns = 2, scale_row_stride = 3, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x16xf32>, %z: memref<63x16xf32>) {
  // RULE: kernel.pack_integers.c3 (the zero points)
  // expected-error@+1 {{has a box that ends at element 127 of 'zero_points', which has 126}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) zero_points(%z : memref<63x16xf32>) outs(%w : memref<42x16xf32>)
      {format = "int4:g32:asym", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<39x16xf32>) {
  // RULE: kernel.pack_integers.c3 (the result)
  // expected-error@+1 {{has a box that ends at element 639 of 'out', which has 624}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%w : memref<39x16xf32>)
      {format = "int4:g32", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%q: memref<64x64xf32>, %s: memref<64x16xf32>, %w: memref<42x24xf32>) {
  // RULE: kernel.pack_integers.c3 (whole tiles)
  // expected-error@+1 {{takes 'memref<42x24xf32>' as 'out', expected contiguous static rows of 16 or more columns, padded to whole tiles of 16}}
  mllm.kernel.pack_integers ins(%q, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%w : memref<42x24xf32>)
      {format = "int4:g32", rows = 64, columns = 64, tensor_columns = 64, row_stride = 64, column_stride = 1, grid_columns = 2, scale_row_stride = 2, scale_group_stride = 1}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %x: memref<8x32xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.linear.c5 (an op that is not of scalars)
  mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%x : memref<8x32xf32>) outs(%y : memref<8x64xf32>)
      {format = "bf16", rows = 64, columns = 64} apply {
  ^bb0(%a: f32):
    // expected-error@+1 {{is not a speculatable scalar computation}}
    %0 = arith.constant dense<1.0> : vector<4xf32>
    mllm.program.yield %a : f32
  }
  return
}
