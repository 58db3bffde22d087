// Kernels of loops, gathers, scatters and sorts that would leave their buffers,
// or compute what has no result, are refused before code is emitted.

// RUN: llmir-opt %s --emit-kernels -split-input-file -verify-diagnostics

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has the map affine_map<(d0) -> (0, d0 + 1)> for buffer 0, which goes from 1 to 16 in a dimension of 16}}
  mllm.program.kernel @beyond "loops" {columns = 16 : i64, maps = [affine_map<(i) -> (0, i + 1)>, affine_map<(i) -> (0, i)>], parallel = 1 : i64, sizes = array<i64: 16>} [memref<1x16xf32>, memref<1x16xf32>] {
  ^bb0(%i: index, %x: f32):
    mllm.program.yield %x : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{which is more than sums, multiples, quotients and remainders of numbers that are not negative}}
  mllm.program.kernel @negative "loops" {columns = 16 : i64, maps = [affine_map<(i) -> (0, (i - 4) mod 16)>, affine_map<(i) -> (0, i)>], parallel = 1 : i64, sizes = array<i64: 16>} [memref<1x16xf32>, memref<1x16xf32>] {
  ^bb0(%i: index, %x: f32):
    mllm.program.yield %x : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{; expected row and column of a point of 1 loops}}
  mllm.program.kernel @rank "loops" {columns = 16 : i64, maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (0, i)>], parallel = 1 : i64, sizes = array<i64: 16>} [memref<1x16xf32>, memref<1x16xf32>] {
  ^bb0(%i: index, %x: f32):
    mllm.program.yield %x : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has 2 parallel loops of 1 and 2 maps}}
  mllm.program.kernel @counts "loops" {columns = 16 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (0, i)>], parallel = 2 : i64, sizes = array<i64: 16>} [memref<1x16xf32>, memref<1x16xf32>] {
  ^bb0(%i: index, %x: f32):
    mllm.program.yield %x : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has 3 maps for 2 buffers}}
  mllm.program.kernel @maps "loops" {columns = 16 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (0, i)>, affine_map<(i) -> (0, i)>], parallel = 1 : i64, sizes = array<i64: 16>} [memref<1x16xf32>, memref<1x16xf32>] {
  ^bb0(%i: index, %x: f32):
    mllm.program.yield %x : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{of kind loops needs its scalar region}}
  mllm.program.kernel @none "loops" {columns = 16 : i64, maps = [affine_map<(i) -> (0, i)>], parallel = 1 : i64, sizes = array<i64: 16>} [memref<1x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{of kind loops needs a region that takes 1 indices and the element of each buffer but the last, whose element it yields}}
  mllm.program.kernel @types "loops" {columns = 16 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (0, i)>], parallel = 1 : i64, sizes = array<i64: 16>} [memref<1x16xi32>, memref<1x16xf32>] {
  ^bb0(%i: index, %x: f32):
    mllm.program.yield %x : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  mllm.program.kernel @division "loops" {columns = 16 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (0, i)>], parallel = 1 : i64, sizes = array<i64: 16>} [memref<1x16xi32>, memref<1x16xi32>] {
  ^bb0(%i: index, %x: i32):
    // expected-error@+1 {{cannot stand in the region of a kernel: it is no scalar computation that always has a result}}
    %y = arith.divsi %x, %x : i32
    mllm.program.yield %y : i32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has an output that depends on loop 0, which reduces}}
  mllm.program.kernel @reduced "loops" {columns = 16 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (0, 0)>, affine_map<(i) -> (0, i)>], parallel = 0 : i64, sizes = array<i64: 16>} [memref<1x16xf32>, memref<1x16xf32>, memref<1x16xf32>] {
  ^bb0(%i: index, %x: f32, %sum: f32):
    %y = arith.addf %sum, %x : f32
    mllm.program.yield %y : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has 17 columns in its output, expected so many that less than 16 are padding}}
  mllm.program.kernel @padding "loops" {columns = 17 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (0, i)>], parallel = 1 : i64, sizes = array<i64: 16>} [memref<1x16xf32>, memref<1x16xf32>] {
  ^bb0(%i: index, %x: f32):
    mllm.program.yield %x : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'sizes' is 0, expected 1 to}}
  mllm.program.kernel @sizes "loops" {columns = 16 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (0, i)>], parallel = 1 : i64, sizes = array<i64: 0>} [memref<1x16xf32>, memref<1x16xf32>] {
  ^bb0(%i: index, %x: f32):
    mllm.program.yield %x : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{parameter 'maps' holds something other than affine maps}}
  mllm.program.kernel @no_maps "loops" {columns = 16 : i64, maps = [1 : i64], parallel = 1 : i64, sizes = array<i64: 16>} [memref<1x16xf32>, memref<1x16xf32>] {
  ^bb0(%i: index, %x: f32):
    mllm.program.yield %x : f32
  }
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{goes from 0 to 8 in a dimension of 8}}
  mllm.program.kernel @gather "gather" {bound = 9 : i64, columns = 16 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i)[s] -> (s, i)>, affine_map<(i) -> (0, i)>], sizes = array<i64: 16>} [memref<1x16xi32>, memref<8x16xf32>, memref<1x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{of kind gather needs an index of i32 or i64, and two buffers of one type, with a map for each}}
  mllm.program.kernel @index "gather" {bound = 8 : i64, columns = 16 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i)[s] -> (s, i)>, affine_map<(i) -> (0, i)>], sizes = array<i64: 16>} [memref<1x16xf32>, memref<8x16xf32>, memref<1x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{of kind scatter needs an index of i32 or i64, and two buffers of one type, with a map for each}}
  mllm.program.kernel @scatter "scatter" {bound = 8 : i64, indexed = 1 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i)[s] -> (s, i)>, affine_map<(i) -> (0, i)>], sizes = array<i64: 16>} [memref<1x16xi32>, memref<8x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{has an index that depends on more than 0 of its 1 loops}}
  mllm.program.kernel @indexed "scatter" {bound = 8 : i64, indexed = 0 : i64, maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (0, i)>, affine_map<(i)[s] -> (s, i)>], sizes = array<i64: 16>} [memref<1x16xi32>, memref<1x16xf32>, memref<8x16xf32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{gives 17 numbers of rows of 16}}
  mllm.program.kernel @count "sort" {columns = 16 : i64, count = 17 : i64, descending = true, rows = 1 : i64} [memref<1x16xf32>, memref<1x32xf32>, memref<1x32xi32>, memref<1x16xi32>, memref<1x16xi32>]
}

// -----

mllm.program.fragment @kernels text {
  // expected-error@+1 {{sorts 2 rows; buffer 4 has 1}}
  mllm.program.kernel @rows "sort" {columns = 16 : i64, count = 4 : i64, descending = true, rows = 2 : i64} [memref<2x16xf32>, memref<2x16xf32>, memref<2x16xi32>, memref<2x16xi32>, memref<1x16xi32>]
}
