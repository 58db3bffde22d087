// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Kernels of heads. The cases are named by the constraint that they break.

func.func @case(%w: memref<4096xi8>, %x: memref<8x64xf32>, %y: memref<8x32xf32>) {
  // RULE: kernel.head_linear.c1 (unknown)
  // expected-error@+1 {{has the unknown format "int"}}
  mllm.kernel.head_linear weights(%w : memref<4096xi8>) ins(%x : memref<8x64xf32>) outs(%y : memref<8x32xf32>) {format = "int", heads = 2, rows = 16, columns = 64}
  return
}

// -----

func.func @case(%w: memref<4096xi8>, %x: memref<8x64xf32>, %y: memref<8x32xf32>) {
  // RULE: kernel.head_linear.c1 (a block format of GGUF)
  // expected-error@+1 {{has the block format "q8_0", which is called "int8:g32:f16"}}
  mllm.kernel.head_linear weights(%w : memref<4096xi8>) ins(%x : memref<8x64xf32>) outs(%y : memref<8x32xf32>) {format = "q8_0", heads = 2, rows = 16, columns = 64}
  return
}

// -----

func.func @case(%w: memref<4096xi8>, %x: memref<8x64xf32>, %y: memref<8x32xf32>) {
  // RULE: kernel.head_linear.c2 (no integers)
  // expected-error@+1 {{has segments, but weights of format "bf16"}}
  mllm.kernel.head_linear weights(%w : memref<4096xi8>) ins(%x : memref<8x64xf32>) outs(%y : memref<8x32xf32>) {format = "bf16", heads = 2, rows = 16, columns = 64, segment = 32}
  return
}

// -----

func.func @case(%w: memref<4096xi8>, %x: memref<8x64xf32>, %y: memref<8x32xf32>) {
  // RULE: kernel.head_linear.c3 (rows)
  // expected-error@+1 {{has matrices of 12 x 64, expected multiples of 16}}
  mllm.kernel.head_linear weights(%w : memref<4096xi8>) ins(%x : memref<8x64xf32>) outs(%y : memref<8x32xf32>) {format = "bf16", heads = 2, rows = 12, columns = 64}
  return
}

// -----

func.func @case(%w: memref<4096xi8>, %x: memref<8x64xf32>, %y: memref<8x32xf32>) {
  // RULE: kernel.head_linear.c3 (columns)
  // expected-error@+1 {{has matrices of 16 x 60, expected multiples of 16}}
  mllm.kernel.head_linear weights(%w : memref<4096xi8>) ins(%x : memref<8x64xf32>) outs(%y : memref<8x32xf32>) {format = "bf16", heads = 2, rows = 16, columns = 60}
  return
}

// -----

func.func @case(%w: memref<4096xi8>, %x: memref<8x64xf32>, %y: memref<8x32xf32>) {
  // RULE: kernel.head_linear.c4
  // expected-error@+1 {{takes 'memref<4096xi8>' as 'weight', expected a contiguous static buffer of 6144 bytes}}
  mllm.kernel.head_linear weights(%w : memref<4096xi8>) ins(%x : memref<8x64xf32>) outs(%y : memref<8x32xf32>) {format = "bf16", heads = 3, rows = 16, columns = 64}
  return
}

// -----

func.func @case(%w: memref<4096xi8>, %x: memref<8x64xf32>, %y: memref<8x32xf32>) {
  // RULE: kernel.head_linear.c4 (bytes that cannot be counted)
  // expected-error@+1 {{matrices of}}
  mllm.kernel.head_linear weights(%w : memref<4096xi8>) ins(%x : memref<8x64xf32>) outs(%y : memref<8x32xf32>) {format = "f32", heads = 268435456, rows = 268435456, columns = 268435456}
  return
}

// -----

func.func @case(%w: memref<4096xi8>, %x: memref<8x64xf32>, %y: memref<8x16xf32>) {
  // RULE: kernel.head_linear.c5 (out)
  // expected-error@+1 {{takes 'memref<8x16xf32>' as 'out', expected contiguous static rows of 32 or more columns}}
  mllm.kernel.head_linear weights(%w : memref<4096xi8>) ins(%x : memref<8x64xf32>) outs(%y : memref<8x16xf32>) {format = "bf16", heads = 2, rows = 16, columns = 64}
  return
}
