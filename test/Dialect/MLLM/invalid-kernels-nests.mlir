// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Kernels over loop nests. The cases are named by the constraint that they break.

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c1 (dimensions)
  // expected-error@+1 {{has a box of sizes [1, 1, 1, 1, 1, 1, 1, 1, 1]; expected 1 to 8 dimensions and at most 2^40 elements}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 1, 1, 1, 1, 1, 1, 1, 1, 1>, from_columns = 8, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: 1>}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c1 (none)
  // expected-error@+1 {{has a box of sizes []; expected 1 to 8 dimensions}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64>, from_columns = 8, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: 1>}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c1 (elements)
  // expected-error@+1 {{has a box of sizes [1099511627777]; expected 1 to 8 dimensions and at most 2^40 elements}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 1099511627777>, from_columns = 8, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: 1>}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c1 (elements beyond 64 bits)
  // expected-error@+1 {{has a box of sizes [8589934592, 8589934592]}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 8589934592, 8589934592>, from_columns = 8, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: 1>}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c1 (strides)
  // expected-error@+1 {{has 2 strides for a box of 1 dimensions}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 31>, from_columns = 8, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: 1, 1>}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c2 (beyond the end)
  // expected-error@+1 {{has a box that ends at element 32 of 'x', which has 32}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 33>, from_columns = 8, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: 1>}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c2 (of the result)
  // expected-error@+1 {{has a box that ends at element 32 of 'out', which has 32}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 32>, from_columns = 8, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: 1>, to = 1}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c2 (a negative start)
  // expected-error@+1 {{starts at element -1 of 'x'}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 31>, from_columns = 8, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: 1>, from = -1}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c2 (a negative stride)
  // expected-error@+1 {{has a box in 'out' with stride -1 and size 31}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 31>, from_columns = 8, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: -1>, to = 31}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xi32>) {
  // RULE: kernel.copy_box.c3 (types)
  // expected-error@+1 {{copies elements of 'f32' to a buffer of 'i32'}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xi32>)
      {sizes = array<i64: 31>, from_columns = 8, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: 1>}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c3 (columns)
  // expected-error@+1 {{takes 'memref<4x16xf32>' as 'x', expected contiguous static rows of 17 or more columns}}
  mllm.kernel.copy_box ins(%x : memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 31>, from_columns = 17, from_strides = array<i64: 1>, to_columns = 4, to_strides = array<i64: 1>}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c1 (their number)
  // expected-error@+1 {{has loops of [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]; expected at most 16 with at most 2^40 points}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>, parallel = 17, columns = 16,
       maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, d16) -> (0, 0)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, d16) -> (0, 0)>]} apply {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index, %i5: index, %i6: index, %i7: index, %i8: index, %i9: index, %i10: index, %i11: index, %i12: index, %i13: index, %i14: index, %i15: index, %i16: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c1 (points)
  // expected-error@+1 {{has loops of [1048577, 1048577]; expected at most 16 with at most 2^40 points}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 1048577, 1048577>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c1 (parallel ones)
  // expected-error@+1 {{has 3 parallel loops of 2}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 3, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c1 (less than none)
  // expected-error@+1 {{has -1 parallel loops of 2}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = -1, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c2 (one map per buffer)
  // expected-error@+1 {{has 1 maps for 2 buffers}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%s: memref<4x16xf32>) {
  // RULE: kernel.loops.c2 (no initial value)
  // expected-error@+1 {{has reductions without an initial value}}
  mllm.kernel.loops outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4>, parallel = 0, columns = 16, maps = [affine_map<(d0) -> (0, 0)>]} apply {
  ^bb0(%i: index):
    %0 = arith.constant 1.0 : f32
    mllm.program.yield %0 : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c2 (the loops)
  // expected-error@+1 {{has the map affine_map<(d0) -> (d0, 0)> for buffer 0; expected the row and column of a point of 2 loops}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c2 (a symbol)
  // expected-error@+1 {{expected the row and column of a point of 2 loops}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1)[s0] -> (d0, s0)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c2 (beyond the buffer)
  // expected-error@+1 {{which ranges from 1 to 4 in a dimension of 4}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0 + 1, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c2 (before it)
  // expected-error@+1 {{which ranges from -1 to 14 in a dimension of 16}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1 - 1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c2 (a quotient of a negative value)
  // expected-error@+1 {{which has other expressions than sums, multiples, quotients and remainders of non-negative values}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, (d1 - 1) floordiv 2)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c3 (the result)
  // expected-error@+1 {{has a result that depends on loop 1, which is a reduction}}
  mllm.kernel.loops ins(%x, %s : memref<4x16xf32>, memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 1, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32, %b: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c3 (the initial value)
  // expected-error@+1 {{has a result that depends on loop 1, which is a reduction}}
  mllm.kernel.loops ins(%x, %s : memref<4x16xf32>, memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 1, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32, %b: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c4 (arguments)
  // expected-error@+1 {{needs a region that takes ('index', 'index', 'f32') and ends with an mllm.program.yield of 'f32'}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xi32>) {
  // RULE: kernel.loops.c4 (an element of another type)
  // expected-error@+1 {{needs a region that takes ('index', 'index', 'f32') and ends with an mllm.program.yield of 'i32'}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xi32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c5 (columns)
  // expected-error@+1 {{has 17 columns of 16 in its result, expected fewer than 16 to be padding}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 17,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>, %s: memref<4x32xf32>) {
  // RULE: kernel.loops.c5 (padding)
  // expected-error@+1 {{has 16 columns of 32 in its result, expected fewer than 16 to be padding}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%s : memref<4x32xf32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x24xf32>, %s: memref<4x16xf32>) {
  // RULE: kernel.loops.c5 (whole tiles)
  // expected-error@+1 {{takes 'memref<4x24xf32>' as 'buffer', expected contiguous static rows of 1 or more columns, padded to whole tiles of 16}}
  mllm.kernel.loops ins(%x : memref<4x24xf32>) outs(%s : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<8x16xf32>, %y: memref<4x16xi32>) {
  // RULE: kernel.gather.c1 (types)
  // expected-error@+1 {{copies elements of 'f32' to a buffer of 'i32'}}
  mllm.kernel.gather ins(%i, %x : memref<1x16xi32>, memref<8x16xf32>) outs(%y : memref<4x16xi32>)
      {sizes = array<i64: 4, 16>, bound = 8, columns = 16,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<8x16xf32>, %y: memref<4x16xf32>) {
  // RULE: kernel.gather.c1 (maps)
  // expected-error@+1 {{has 2 maps for 3 buffers}}
  mllm.kernel.gather ins(%i, %x : memref<1x16xi32>, memref<8x16xf32>) outs(%y : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 8, columns = 16,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<8x16xf32>, %y: memref<4x16xf32>) {
  // RULE: kernel.gather.c1 (a symbol)
  // expected-error@+1 {{has a symbol in the map of buffer 2; only that of buffer 1 may use the index}}
  mllm.kernel.gather ins(%i, %x : memref<1x16xi32>, memref<8x16xf32>) outs(%y : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 8, columns = 16,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>, affine_map<(d0, d1)[s0] -> (d0, s0)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<8x16xf32>, %y: memref<4x16xf32>) {
  // RULE: kernel.gather.c2 (loops)
  // expected-error@+1 {{has loops of [1048577, 1048577]; expected at most 16}}
  mllm.kernel.gather ins(%i, %x : memref<1x16xi32>, memref<8x16xf32>) outs(%y : memref<4x16xf32>)
      {sizes = array<i64: 1048577, 1048577>, bound = 8, columns = 16,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<8x16xf32>, %y: memref<4x16xf32>) {
  // RULE: kernel.gather.c2 (beyond the buffer)
  // expected-error@+1 {{which ranges from 0 to 8 in a dimension of 8}}
  mllm.kernel.gather ins(%i, %x : memref<1x16xi32>, memref<8x16xf32>) outs(%y : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 9, columns = 16,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<8x16xf32>, %y: memref<4x16xf32>) {
  // RULE: kernel.gather.c2 (a remainder by a loop)
  // expected-error@+1 {{which has other expressions than sums, multiples, quotients and remainders of non-negative values}}
  mllm.kernel.gather ins(%i, %x : memref<1x16xi32>, memref<8x16xf32>) outs(%y : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 8, columns = 16,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, (d1 - 3) mod 16)>, affine_map<(d0, d1) -> (d0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<8x16xf32>, %y: memref<4x16xf32>) {
  // RULE: kernel.gather.c3 (columns)
  // expected-error@+1 {{has 17 columns of 16 in its result}}
  mllm.kernel.gather ins(%i, %x : memref<1x16xi32>, memref<8x16xf32>) outs(%y : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 8, columns = 17,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<8x24xf32>, %y: memref<4x16xf32>) {
  // RULE: kernel.gather.c3 (whole tiles)
  // expected-error@+1 {{takes 'memref<8x24xf32>' as 'buffer', expected contiguous static rows}}
  mllm.kernel.gather ins(%i, %x : memref<1x16xi32>, memref<8x24xf32>) outs(%y : memref<4x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 8, columns = 16,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<4x16xf32>, %y: memref<8x16xi64>) {
  // RULE: kernel.scatter.c1 (types)
  // expected-error@+1 {{copies elements of 'f32' to a buffer of 'i64'}}
  mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x16xf32>) outs(%y : memref<8x16xi64>)
      {sizes = array<i64: 4, 16>, bound = 8, indexed = 1,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1)[s0] -> (s0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.scatter.c1 (maps)
  // expected-error@+1 {{has 4 maps for 3 buffers}}
  mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 8, indexed = 1,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1)[s0] -> (s0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.scatter.c1 (a symbol)
  // expected-error@+1 {{has a symbol in the map of buffer 1; only that of buffer 2 may use the index}}
  mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 8, indexed = 1,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>, affine_map<(d0, d1)[s0] -> (s0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.scatter.c2 (loops)
  // expected-error@+1 {{has loops of [1048577, 1048577]; expected at most 16}}
  mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 1048577, 1048577>, bound = 8, indexed = 1,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1)[s0] -> (s0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.scatter.c2 (beyond the buffer)
  // expected-error@+1 {{which ranges from 0 to 8 in a dimension of 8}}
  mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 9, indexed = 1,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1)[s0] -> (s0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.scatter.c3
  // expected-error@+1 {{has an index that depends on more than 0 of its 2 loops}}
  mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 8, indexed = 0,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1)[s0] -> (s0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.scatter.c3 (more than there are)
  // expected-error@+1 {{has an index that depends on more than 3 of its 2 loops}}
  mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 8, indexed = 3,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1)[s0] -> (s0, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<4x24xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.scatter.c4
  // expected-error@+1 {{takes 'memref<4x24xf32>' as 'buffer', expected contiguous static rows}}
  mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x24xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 4, 16>, bound = 8, indexed = 1,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1)[s0] -> (s0, d1)>]}
  return
}

// -----

func.func @case(%x: memref<4x32xf32>, %v: memref<4x16xf32>, %i: memref<4x16xi32>, %z: memref<4x32xi32>) {
  // RULE: kernel.sort.c1
  // expected-error@+1 {{keeps 33 elements of rows of 32}}
  mllm.kernel.sort ins(%x : memref<4x32xf32>) outs(%v, %i : memref<4x16xf32>, memref<4x16xi32>)
      scratch(%z, %z : memref<4x32xi32>, memref<4x32xi32>) {rows = 4, columns = 32, count = 33}
  return
}

// -----

func.func @case(%x: memref<4x32xf32>, %v: memref<4x16xi32>, %i: memref<4x16xi32>, %z: memref<4x32xi32>) {
  // RULE: kernel.sort.c2
  // expected-error@+1 {{sorts elements of 'f32' into a buffer of 'i32'}}
  mllm.kernel.sort ins(%x : memref<4x32xf32>) outs(%v, %i : memref<4x16xi32>, memref<4x16xi32>)
      scratch(%z, %z : memref<4x32xi32>, memref<4x32xi32>) {rows = 4, columns = 32, count = 8}
  return
}

// -----

func.func @case(%x: memref<4x32xf32>, %v: memref<4x16xf32>, %i: memref<4x16xi32>, %z: memref<4x16xi32>) {
  // RULE: kernel.sort.c3 (columns)
  // expected-error@+1 {{takes 'memref<4x16xi32>' as 'scratch0', expected contiguous static rows of 32 or more columns}}
  mllm.kernel.sort ins(%x : memref<4x32xf32>) outs(%v, %i : memref<4x16xf32>, memref<4x16xi32>)
      scratch(%z, %z : memref<4x16xi32>, memref<4x16xi32>) {rows = 4, columns = 32, count = 8}
  return
}

// -----

func.func @case(%x: memref<4x32xf32>, %v: memref<4x16xf32>, %i: memref<4x16xi32>, %z: memref<4x32xi32>) {
  // RULE: kernel.sort.c3 (rows)
  // expected-error@+1 {{sorts 5 rows, but has a buffer of 4}}
  mllm.kernel.sort ins(%x : memref<4x32xf32>) outs(%v, %i : memref<4x16xf32>, memref<4x16xi32>)
      scratch(%z, %z : memref<4x32xi32>, memref<4x32xi32>) {rows = 5, columns = 32, count = 8}
  return
}

// -----

func.func @case(%x: memref<4x16xi32>) {
  // RULE: kernel.loops.c4 (a quotient that could trap)
  mllm.kernel.loops ins(%x : memref<4x16xi32>) outs(%x : memref<4x16xi32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: i32):
    // expected-error@+1 {{is not a speculatable scalar computation}}
    %0 = arith.divsi %a, %a : i32
    mllm.program.yield %0 : i32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xi32>) {
  // RULE: kernel.loops.c4 (by -1)
  mllm.kernel.loops ins(%x : memref<4x16xi32>) outs(%x : memref<4x16xi32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: i32):
    %minus = arith.constant -1 : i32
    // expected-error@+1 {{is not a speculatable scalar computation}}
    %0 = arith.remsi %a, %minus : i32
    mllm.program.yield %0 : i32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xi32>) {
  // RULE: kernel.loops.c4 (an integer that code cannot be generated for)
  mllm.kernel.loops ins(%x : memref<4x16xi32>) outs(%x : memref<4x16xi32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: i32):
    // expected-error@+1 {{is not a speculatable scalar computation}}
    %0 = arith.extsi %a : i32 to i1024
    mllm.program.yield %a : i32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xi32>) {
  // Quotients that always have a result.
  mllm.kernel.loops ins(%x : memref<4x16xi32>) outs(%x : memref<4x16xi32>)
      {sizes = array<i64: 4, 16>, parallel = 2, columns = 16,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
  ^bb0(%i: index, %j: index, %a: i32):
    %three = arith.constant 3 : i32
    %one = arith.constant 1 : i32
    %0 = arith.divsi %a, %three : i32
    %1 = arith.maxui %a, %one : i32
    %2 = arith.remui %0, %1 : i32
    mllm.program.yield %2 : i32
  }
  return
}

// -----

func.func @case(%x: memref<8x16xf32>, %y: memref<4x16xf32>) {
  // RULE: kernel.copy_box.c4 (from rows that are not the step's)
  // expected-error@+1 {{is over rows of the step, but its first dimension does not go from row to row of both buffers}}
  mllm.kernel.copy_box ins(%x : memref<8x16xf32>) outs(%y : memref<4x16xf32>)
      {sizes = array<i64: 4, 8>, from_columns = 8, from_strides = array<i64: 0, 1>,
       to_columns = 8, to_strides = array<i64: 8, 1>, over = 0 : i32}
  return
}

// -----

func.func @case(%x: memref<4x16xf32>) {
  // RULE: kernel.loops.c6 (columns are written at the points of the first loop)
  // expected-error@+1 {{is over rows of the step, but its first loop does not write row i of the result at point i}}
  mllm.kernel.loops ins(%x : memref<4x16xf32>) outs(%x : memref<4x16xf32>)
      {sizes = array<i64: 4, 4>, parallel = 2, columns = 16, over = 0 : i32,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>]} apply {
  ^bb0(%i: index, %j: index, %a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<4x16xf32>) {
  // RULE: kernel.loops.c6 (tokens are added up)
  // expected-error@+1 {{is over rows of the step, but its first loop does not write row i of the result at point i}}
  mllm.kernel.loops ins(%x, %x : memref<4x16xf32>, memref<4x16xf32>) outs(%x : memref<4x16xf32>)
      {sizes = array<i64: 4>, parallel = 0, columns = 16, over = 0 : i32,
       maps = [affine_map<(d0) -> (d0, 0)>, affine_map<(d0) -> (0, 0)>, affine_map<(d0) -> (0, 0)>]} apply {
  ^bb0(%i: index, %a: f32, %s: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<8x16xf32>, %y: memref<4x16xf32>) {
  // RULE: kernel.gather.c4
  // expected-error@+1 {{is over rows of the step, but its first loop does not write row i of the result at point i}}
  mllm.kernel.gather ins(%i, %x : memref<1x16xi32>, memref<8x16xf32>) outs(%y : memref<4x16xf32>)
      {sizes = array<i64: 2, 16>, bound = 8, columns = 16, over = 1 : i32,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1)[s0] -> (s0, d1)>,
               affine_map<(d0, d1) -> (d0 * 2, d1)>]}
  return
}

// -----

func.func @case(%i: memref<1x16xi32>, %x: memref<4x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.scatter.c5
  // expected-error@+1 {{is over rows of the step, but its first loop does not write row i of the result at point i}}
  mllm.kernel.scatter ins(%i, %x : memref<1x16xi32>, memref<4x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 4, 16>, indexed = 1, bound = 8, over = 0 : i32,
       maps = [affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d0, d1)>,
               affine_map<(d0, d1)[s0] -> (s0, d1)>]}
  return
}

// -----

func.func @case(%x: memref<8x16xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.copy_box.c4 (an element of another row)
  // expected-error@+1 {{is over rows of the step, but its first dimension does not go from row to row of both buffers}}
  mllm.kernel.copy_box ins(%x : memref<8x16xf32>) outs(%y : memref<8x16xf32>)
      {sizes = array<i64: 4, 4>, from_columns = 8, from_strides = array<i64: 8, 8>,
       to_columns = 8, to_strides = array<i64: 8, 1>, over = 0 : i32}
  return
}
