// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Kernels of rows. The cases are named by the constraint that they break.

func.func @case(%c: memref<8x16xf32>, %s: memref<8x16xf32>) {
  // RULE: kernel.rope_angles.c1
  // expected-error@+1 {{takes 'memref<8x16xf32>' as 'cosines', expected contiguous static rows of 17 or more columns, padded to whole tiles of 16}}
  mllm.kernel.rope_angles outs(%c, %s : memref<8x16xf32>, memref<8x16xf32>) {frequencies = array<f64: 1.,2.,3.,4.,5.,6.,7.,8.,9.,1.,2.,3.,4.,5.,6.,7.,8.>}
  return
}

// -----

func.func @case(%c: memref<8x16xf32>, %s: memref<8x24xf32>) {
  // RULE: kernel.rope_angles.c1 (whole tiles)
  // expected-error@+1 {{takes 'memref<8x24xf32>' as 'sines', expected contiguous static rows of 1 or more columns, padded to whole tiles of 16}}
  mllm.kernel.rope_angles outs(%c, %s : memref<8x16xf32>, memref<8x24xf32>) {frequencies = array<f64: 1.0>}
  return
}

// -----

func.func @case(%t: memref<65536xi8>, %y: memref<8x64xf32>) {
  // RULE: kernel.embedding.c1 (unknown)
  // expected-error@+1 {{has the unknown format "bf17"}}
  mllm.kernel.embedding weights(%t : memref<65536xi8>) outs(%y : memref<8x64xf32>) {format = "bf17", rows = 512, columns = 64}
  return
}

// -----

func.func @case(%t: memref<65536xi8>, %y: memref<8x64xf32>) {
  // RULE: kernel.embedding.c1 (a block format of GGUF)
  // expected-error@+1 {{has the block format "q8_0", which is called "int8:g32:f16"}}
  mllm.kernel.embedding weights(%t : memref<65536xi8>) outs(%y : memref<8x64xf32>) {format = "q8_0", rows = 512, columns = 64}
  return
}

// -----

func.func @case(%t: memref<65536xi8>, %y: memref<8x64xf32>) {
  // RULE: kernel.embedding.c1 (zero points)
  // expected-error@+1 {{looks up rows of 64 integers of format "int4:g32:asym"; only rows of whole blocks without zero points are supported}}
  mllm.kernel.embedding weights(%t : memref<65536xi8>) outs(%y : memref<8x64xf32>) {format = "int4:g32:asym", rows = 512, columns = 64}
  return
}

// -----

func.func @case(%t: memref<65536xi8>, %y: memref<8x64xf32>) {
  // RULE: kernel.embedding.c1 (rows that are not whole blocks)
  // expected-error@+1 {{looks up rows of 48 integers of format "int8:g32:f16"}}
  mllm.kernel.embedding weights(%t : memref<65536xi8>) outs(%y : memref<8x64xf32>) {format = "int8:g32:f16", rows = 512, columns = 48}
  return
}

// -----

func.func @case(%t: memref<65535xi8>, %y: memref<8x64xf32>) {
  // RULE: kernel.embedding.c2
  // expected-error@+1 {{takes 'memref<65535xi8>' as 'table', expected a contiguous static buffer of 65536 bytes or more}}
  mllm.kernel.embedding weights(%t : memref<65535xi8>) outs(%y : memref<8x64xf32>) {format = "bf16", rows = 512, columns = 64}
  return
}

// -----

func.func @case(%t: memref<?xi8>, %y: memref<8x64xf32>) {
  // RULE: kernel.embedding.c2 (its size is unknown)
  // expected-error@+1 {{takes 'memref<?xi8>' as 'table', expected a contiguous static buffer of 65536 bytes}}
  mllm.kernel.embedding weights(%t : memref<?xi8>) outs(%y : memref<8x64xf32>) {format = "bf16", rows = 512, columns = 64}
  return
}

// -----

func.func @case(%t: memref<65536xi8>, %y: memref<8x48xf32>) {
  // RULE: kernel.embedding.c3
  // expected-error@+1 {{takes 'memref<8x48xf32>' as 'out', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.embedding weights(%t : memref<65536xi8>) outs(%y : memref<8x48xf32>) {format = "bf16", rows = 512, columns = 64}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.mean_rows.c1
  // expected-error@+1 {{takes 'memref<8x64xf32>' as 'x', expected contiguous static rows of 65 or more columns}}
  mllm.kernel.mean_rows ins(%x : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {columns = 65}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.select_rows.c1
  // expected-error@+1 {{takes 'memref<8x64xf32>' as 'x', expected contiguous static rows of 65 or more columns}}
  mllm.kernel.select_rows ins(%x : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {columns = 65}
  return
}

// -----

func.func @case(%x: memref<?x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.select_rows.c1 (a number of rows that is not static)
  // expected-error@+1 {{takes 'memref<?x64xf32>' as 'x', expected contiguous static rows}}
  mllm.kernel.select_rows ins(%x : memref<?x64xf32>) outs(%y : memref<8x64xf32>) {columns = 64}
  return
}

// -----

func.func @case(%x: memref<8x64xf32, strided<[128, 1]>>, %y: memref<8x64xf32>) {
  // RULE: kernel.select_rows.c1 (a layout)
  // expected-error@+1 {{as 'x', expected contiguous static rows}}
  mllm.kernel.select_rows ins(%x : memref<8x64xf32, strided<[128, 1]>>) outs(%y : memref<8x64xf32>) {columns = 64}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.rms_norm.c1
  // expected-error@+1 {{takes 'memref<8x64xf32>' as 'x', expected contiguous static rows of 80 or more columns}}
  mllm.kernel.rms_norm ins(%x : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {columns = 16, groups = 5, eps = 0.0}
  return
}

// -----

func.func @case(%w: memref<48xf32>, %x: memref<8x64xf32>) {
  // RULE: kernel.rms_norm.c2
  // expected-error@+1 {{takes 'memref<48xf32>' as 'weight', expected a contiguous static buffer of 256 bytes}}
  mllm.kernel.rms_norm weights(%w : memref<48xf32>) ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64, eps = 0.0}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.layer_norm.c1
  // expected-error@+1 {{takes 'memref<8x16xf32>' as 'out', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.layer_norm ins(%x : memref<8x64xf32>) outs(%y : memref<8x16xf32>) {columns = 64, eps = 0.0}
  return
}

// -----

func.func @case(%w: memref<48xf32>, %x: memref<8x64xf32>) {
  // RULE: kernel.layer_norm.c2 (the weight)
  // expected-error@+1 {{takes 'memref<48xf32>' as 'weight', expected a contiguous static buffer of 256 bytes}}
  mllm.kernel.layer_norm weights(%w : memref<48xf32>) ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64, eps = 0.0}
  return
}

// -----

func.func @case(%w: memref<48xf32>, %x: memref<8x64xf32>) {
  // RULE: kernel.layer_norm.c2 (the bias)
  // expected-error@+1 {{takes 'memref<48xf32>' as 'bias', expected a contiguous static buffer of 256 bytes}}
  mllm.kernel.layer_norm bias(%w : memref<48xf32>) ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64, eps = 0.0}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>) {
  // RULE: kernel.softmax.c1
  // expected-error@+1 {{takes 'memref<8x64xf32>' as 'x', expected contiguous static rows of 65 or more columns}}
  mllm.kernel.softmax ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 65}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>, %q: memref<8x32xf32>) {
  // RULE: kernel.quantize_rows.c1 (groups)
  // expected-error@+1 {{has groups of 32 in segments of 24 elements and 24 bytes, expected segments that divide the groups and fit into whole words}}
  mllm.kernel.quantize_rows ins(%x : memref<8x64xf32>) outs(%q : memref<8x32xf32>) {columns = 64, group = 32, segment = 24, padded = 24}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>, %q: memref<8x32xf32>) {
  // RULE: kernel.quantize_rows.c1 (words)
  // expected-error@+1 {{has groups of 32 in segments of 32 elements and 34 bytes}}
  mllm.kernel.quantize_rows ins(%x : memref<8x64xf32>) outs(%q : memref<8x32xf32>) {columns = 64, group = 32, segment = 32, padded = 34}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>, %q: memref<8x32xf32>) {
  // RULE: kernel.quantize_rows.c1 (room)
  // expected-error@+1 {{has groups of 32 in segments of 32 elements and 28 bytes}}
  mllm.kernel.quantize_rows ins(%x : memref<8x64xf32>) outs(%q : memref<8x32xf32>) {columns = 64, group = 32, segment = 32, padded = 28}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>, %q: memref<8x16xf32>) {
  // RULE: kernel.quantize_rows.c2
  // expected-error@+1 {{takes 'memref<8x16xf32>' as 'out', expected contiguous static rows of 22 or more columns}}
  mllm.kernel.quantize_rows ins(%x : memref<8x64xf32>) outs(%q : memref<8x16xf32>) {columns = 64, group = 32, segment = 32, padded = 32}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>, %q: memref<8x16xf32>) {
  // RULE: kernel.round_rows.c1
  // expected-error@+1 {{takes 'memref<8x16xf32>' as 'out', expected contiguous static rows of 32 or more columns}}
  mllm.kernel.round_rows ins(%x : memref<8x64xf32>) outs(%q : memref<8x16xf32>) {columns = 64}
  return
}

// -----

func.func @case(%x: memref<8x16xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.elementwise.c1
  // expected-error@+1 {{takes 'memref<8x16xf32>' as 'inputs', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.elementwise ins(%x : memref<8x16xf32>) outs(%y : memref<8x64xf32>) {columns = 64} apply {
  ^bb0(%a: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<8x64xf32>) {
  // RULE: kernel.elementwise.c2 (arguments)
  // expected-error@+1 {{needs a region that takes ('f32') and ends with an mllm.program.yield of 'f32'}}
  mllm.kernel.elementwise ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64} apply {
  ^bb0(%a: f32, %b: f32):
    mllm.program.yield %a : f32
  }
  return
}

// -----

func.func @case(%x: memref<8x64xf32>) {
  // RULE: kernel.elementwise.c2 (their types)
  // expected-error@+1 {{needs a region that takes ('f32')}}
  mllm.kernel.elementwise ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64} apply {
  ^bb0(%a: i32):
    %0 = arith.constant 1.0 : f32
    mllm.program.yield %0 : f32
  }
  return
}

// -----

func.func @case(%x: memref<8x64xf32>) {
  // RULE: kernel.elementwise.c2 (the result)
  // expected-error@+1 {{needs a region that takes ('f32') and ends with an mllm.program.yield of 'f32'}}
  mllm.kernel.elementwise ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64} apply {
  ^bb0(%a: f32):
    %0 = arith.constant 1 : i32
    mllm.program.yield %0 : i32
  }
  return
}

// -----

func.func @case(%x: memref<8x64xf32>) {
  // RULE: kernel.elementwise.c2 (another terminator)
  // expected-error@+1 {{needs a region that takes ('f32')}}
  mllm.kernel.elementwise ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64} apply {
  ^bb0(%a: f32):
    llvm.unreachable
  }
  return
}

// -----

func.func @case(%c: memref<8x16xf32>, %x: memref<8x64xf32>) {
  // RULE: kernel.rope.c1 (odd)
  // expected-error@+1 {{rotates 15 of 16 elements; expected an even number of at most that size}}
  mllm.kernel.rope ins(%c, %c, %x : memref<8x16xf32>, memref<8x16xf32>, memref<8x64xf32>) outs(%x : memref<8x64xf32>) {heads = 4, head_dim = 16, rotary_dim = 15}
  return
}

// -----

func.func @case(%c: memref<8x16xf32>, %x: memref<8x64xf32>) {
  // RULE: kernel.rope.c1 (more than a head)
  // expected-error@+1 {{rotates 18 of 16 elements}}
  mllm.kernel.rope ins(%c, %c, %x : memref<8x16xf32>, memref<8x16xf32>, memref<8x64xf32>) outs(%x : memref<8x64xf32>) {heads = 4, head_dim = 16, rotary_dim = 18}
  return
}

// -----

func.func @case(%c: memref<8x16xf32>, %x: memref<8x64xf32>) {
  // RULE: kernel.rope.c2
  // expected-error@+1 {{takes 'memref<8x64xf32>' as 'x', expected contiguous static rows of 80 or more columns}}
  mllm.kernel.rope ins(%c, %c, %x : memref<8x16xf32>, memref<8x16xf32>, memref<8x64xf32>) outs(%x : memref<8x64xf32>) {heads = 5, head_dim = 16, rotary_dim = 16}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>) {
  // RULE: kernel.elementwise.c2 (an op with an effect)
  mllm.kernel.elementwise ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64} apply {
  ^bb0(%a: f32):
    // expected-error@+1 {{is not a speculatable scalar computation, which the region of a kernel requires}}
    %0 = memref.alloca() : memref<1xf32>
    mllm.program.yield %a : f32
  }
  return
}

// -----

// Sizes are bounded by their attributes.
func.func @case(%x: memref<8x64xf32>) {
  // expected-error@+1 {{attribute 'columns' failed to satisfy constraint: a size from 1 to 2^28}}
  mllm.kernel.softmax ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 0}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>) {
  // expected-error@+1 {{attribute 'columns' failed to satisfy constraint: a size from 1 to 2^28}}
  mllm.kernel.softmax ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>) {columns = 268435457}
  return
}

// -----

func.func @case(%x: memref<8x64xf32>) {
  // expected-error@+1 {{requires attribute 'eps'}}
  "mllm.kernel.rms_norm"(%x, %x) <{columns = 64 : i64}> : (memref<8x64xf32>, memref<8x64xf32>) -> ()
  return
}

// -----

// The region sees nothing but its arguments.
func.func @case(%x: memref<8x64xf32>, %f: f32) {
  // expected-note@+1 {{required by region isolation constraints}}
  mllm.kernel.elementwise outs(%x : memref<8x64xf32>) {columns = 64} apply {
    // expected-error@+1 {{using value defined outside the region}}
    mllm.program.yield %f : f32
  }
  return
}

// -----

func.func @case(%w: memref<64xf32>, %y: memref<2x64xf32>) {
  // RULE: kernel.unpack_weight.c1 (a vector of two rows)
  // expected-error@+1 {{has 2 rows of a weight without a format, which is a vector}}
  mllm.kernel.unpack_weight weights(%w : memref<64xf32>) outs(%y : memref<2x64xf32>) {rows = 2, columns = 64}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %y: memref<64x64xf32>) {
  // RULE: kernel.unpack_weight.c1 (unknown)
  // expected-error@+1 {{has the unknown format "bf17"}}
  mllm.kernel.unpack_weight weights(%w : memref<8192xi8>) outs(%y : memref<64x64xf32>) {format = "bf17", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<8191xi8>, %v: memref<48xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.unpack_weight.c2
  // expected-error@+1 {{expected a contiguous static buffer of 8192 bytes or more}}
  mllm.kernel.unpack_weight weights(%w : memref<8191xi8>) outs(%y : memref<64x64xf32>) {format = "bf16", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%v: memref<48xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.unpack_weight.c2 (a vector)
  // expected-error@+1 {{expected a contiguous static buffer of 256 bytes or more}}
  mllm.kernel.unpack_weight weights(%v : memref<48xf32>) outs(%y : memref<64x64xf32>) {rows = 1, columns = 64}
  return
}

// -----

func.func @case(%w: memref<8192xi8>, %y: memref<63x64xf32>) {
  // RULE: kernel.unpack_weight.c3
  // expected-error@+1 {{writes 64 rows to a buffer of 63}}
  mllm.kernel.unpack_weight weights(%w : memref<8192xi8>) outs(%y : memref<63x64xf32>) {format = "bf16", rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<64xf32>, %y: memref<1x48xf32>) {
  // RULE: kernel.unpack_weight.c3 (columns)
  // expected-error@+1 {{expected contiguous static rows of 64 or more columns}}
  mllm.kernel.unpack_weight weights(%w : memref<64xf32>) outs(%y : memref<1x48xf32>) {rows = 1, columns = 64}
  return
}

// -----

func.func @case(%y: memref<8x0xi32>) {
  // RULE: kernel.token_ids.c1
  // expected-error@+1 {{expected contiguous static rows of 1 or more columns}}
  mllm.kernel.token_ids outs(%y : memref<8x0xi32>) {by_position}
  return
}
