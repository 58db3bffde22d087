// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Kernels of experts. The cases are named by the constraint that they break.

func.func @case(%l: memref<8x16xf32>, %c: memref<8x16xi32>) {
  // RULE: kernel.moe_route.c1
  // expected-error@+1 {{chooses 9 of 8 experts}}
  mllm.kernel.moe_route ins(%l : memref<8x16xf32>) outs(%l, %c : memref<8x16xf32>, memref<8x16xi32>) {experts = 8, top_k = 9}
  return
}

// -----

func.func @case(%l: memref<8x16xf32>, %c: memref<8x16xi32>) {
  // RULE: kernel.moe_route.c2 (scores)
  // expected-error@+1 {{takes 'memref<8x16xf32>' as 'logits', expected contiguous static rows of 17 or more columns}}
  mllm.kernel.moe_route ins(%l : memref<8x16xf32>) outs(%l, %c : memref<8x16xf32>, memref<8x16xi32>) {experts = 17, top_k = 2}
  return
}

// -----

func.func @case(%l: memref<8x16xf32>, %c: memref<8x1xi32>) {
  // RULE: kernel.moe_route.c2 (choices)
  // expected-error@+1 {{takes 'memref<8x1xi32>' as 'chosen', expected contiguous static rows of 2 or more columns}}
  mllm.kernel.moe_route ins(%l : memref<8x16xf32>) outs(%l, %c : memref<8x16xf32>, memref<8x1xi32>) {experts = 8, top_k = 2}
  return
}

// -----

func.func @case(%c: memref<8x16xi32>, %o: memref<1x16xi32>) {
  // RULE: kernel.moe_sort.c1
  // expected-error@+1 {{sorts by 65537 experts; the maximum is 65536}}
  mllm.kernel.moe_sort ins(%c : memref<8x16xi32>) outs(%o, %o, %o : memref<1x16xi32>, memref<1x16xi32>, memref<1x16xi32>) {experts = 65537, top_k = 2}
  return
}

// -----

func.func @case(%c: memref<8x16xi32>, %o: memref<1x16xi32>) {
  // RULE: kernel.moe_sort.c2 (one more than the experts)
  // expected-error@+1 {{takes 'memref<1x16xi32>' as 'offsets', expected contiguous static rows of 17 or more columns}}
  mllm.kernel.moe_sort ins(%c : memref<8x16xi32>) outs(%o, %o, %o : memref<1x16xi32>, memref<1x16xi32>, memref<1x16xi32>) {experts = 16, top_k = 2}
  return
}

// -----

func.func @case(%c: memref<8x2xi32>, %o: memref<1x16xi32>) {
  // RULE: kernel.moe_sort.c2 (choices)
  // expected-error@+1 {{takes 'memref<8x2xi32>' as 'chosen', expected contiguous static rows of 3 or more columns}}
  mllm.kernel.moe_sort ins(%c : memref<8x2xi32>) outs(%o, %o, %o : memref<1x16xi32>, memref<1x16xi32>, memref<1x16xi32>) {experts = 8, top_k = 3}
  return
}

// -----

func.func @case(%c: memref<8x16xi32>, %o: memref<1x16xi32>) {
  // RULE: kernel.moe_sort.c2 (places)
  // expected-error@+1 {{takes 'memref<1x16xi32>' as 'pairs', expected contiguous static rows of 24 or more columns}}
  mllm.kernel.moe_sort ins(%c : memref<8x16xi32>) outs(%o, %o, %o : memref<1x16xi32>, memref<1x16xi32>, memref<1x16xi32>) {experts = 8, top_k = 3}
  return
}

// -----

func.func @case(%p: memref<1x16xi32>, %x: memref<8x64xf32>, %g: memref<24x64xf32>) {
  // RULE: kernel.moe_gather.c1 (pairs)
  // expected-error@+1 {{takes 'memref<1x16xi32>' as 'pairs', expected contiguous static rows of 24 or more columns}}
  mllm.kernel.moe_gather ins(%p, %x : memref<1x16xi32>, memref<8x64xf32>) outs(%g : memref<24x64xf32>) {columns = 64, top_k = 3}
  return
}

// -----

func.func @case(%p: memref<1x16xi32>, %x: memref<8x64xf32>, %g: memref<24x64xf32>) {
  // RULE: kernel.moe_gather.c1 (rows)
  // expected-error@+1 {{takes 'memref<8x64xf32>' as 'x', expected contiguous static rows of 65 or more columns}}
  mllm.kernel.moe_gather ins(%p, %x : memref<1x16xi32>, memref<8x64xf32>) outs(%g : memref<24x64xf32>) {columns = 65, top_k = 2}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c1 (unknown)
  // expected-error@+1 {{has the unknown format "int"}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "int", experts = 8, rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c1 (a block format of GGUF)
  // expected-error@+1 {{has the block format "q8_0", which is called "int8:g32:f16"}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "q8_0", experts = 8, rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c2 (no integers)
  // expected-error@+1 {{has segments, but weights of format "bf16"}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "bf16", experts = 8, rows = 64, columns = 64, segment = 32}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c2 (groups)
  // expected-error@+1 {{has segments of 24 elements in weights of format "int8:g32:f16"}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "int8:g32:f16", experts = 8, rows = 64, columns = 64, segment = 24}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c3
  // expected-error@+1 {{takes 'memref<65536xi8>' as 'weight', expected a contiguous static buffer of 73728 bytes}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "bf16", experts = 9, rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c3 (bytes that cannot be counted)
  // expected-error@+1 {{has 268435456 matrices of 288230376151711744 bytes, which exceeds the address space}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "f32", experts = 268435456, rows = 268435456, columns = 268435456}
  return
}

// -----

func.func @case(%w: memref<131072xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c4 (offsets)
  // expected-error@+1 {{takes 'memref<1x16xi32>' as 'offsets', expected contiguous static rows of 17 or more columns}}
  mllm.kernel.moe_linear weights(%w : memref<131072xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "bf16", experts = 16, rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x48xf32>) {
  // RULE: kernel.moe_linear.c4 (the result)
  // expected-error@+1 {{takes 'memref<16x48xf32>' as 'out', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x48xf32>) {format = "bf16", experts = 8, rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %b: memref<2048xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c5 (no format)
  // expected-error@+1 {{has a bias without its format}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) bias(%b : memref<2048xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "bf16", experts = 8, rows = 64, columns = 64}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %b: memref<2048xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c5 (no bias)
  // expected-error@+1 {{has the format of a bias, but no bias}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "bf16", experts = 8, rows = 64, columns = 64, bias_format = "f32"}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %b: memref<2048xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c5 (format)
  // expected-error@+1 {{has biases of format "q8_0", expected f32, f16 or bf16}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) bias(%b : memref<2048xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "bf16", experts = 8, rows = 64, columns = 64, bias_format = "q8_0"}
  return
}

// -----

func.func @case(%w: memref<65536xi8>, %b: memref<1984xi8>, %o: memref<1x16xi32>, %x: memref<16x32xf32>, %y: memref<16x64xf32>) {
  // RULE: kernel.moe_linear.c3 (the bias)
  // expected-error@+1 {{takes 'memref<1984xi8>' as 'bias'}}
  mllm.kernel.moe_linear weights(%w : memref<65536xi8>) bias(%b : memref<1984xi8>) ins(%o, %x : memref<1x16xi32>, memref<16x32xf32>) outs(%y : memref<16x64xf32>) {format = "bf16", experts = 8, rows = 64, columns = 64, bias_format = "f32"}
  return
}

// -----

func.func @case(%g: memref<16x64xf32>, %y: memref<16x48xf32>) {
  // RULE: kernel.moe_gate.c1
  // expected-error@+1 {{takes 'memref<16x48xf32>' as 'out', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.moe_gate ins(%g, %g : memref<16x64xf32>, memref<16x64xf32>) outs(%y : memref<16x48xf32>) {columns = 64, top_k = 2}
  return
}

// -----

func.func @case(%g: memref<16x64xf32>) {
  // RULE: kernel.moe_gate.c2
  // expected-error@+1 {{has the limit 0.000000e+00, expected a finite positive number}}
  mllm.kernel.moe_gate ins(%g, %g : memref<16x64xf32>, memref<16x64xf32>) outs(%g : memref<16x64xf32>) {columns = 64, swiglu_limit = 0.0, top_k = 2}
  return
}

// -----

func.func @case(%g: memref<16x64xf32>) {
  // RULE: kernel.moe_gate.c3
  // expected-error@+1 {{has both a limit and gelu}}
  mllm.kernel.moe_gate ins(%g, %g : memref<16x64xf32>, memref<16x64xf32>) outs(%g : memref<16x64xf32>) {columns = 64, gelu, swiglu_limit = 1.0, top_k = 2}
  return
}

// -----

func.func @case(%g: memref<16x64xf32>, %y: memref<16x16xf32>) {
  // RULE: kernel.moe_gate.c1 (words)
  // expected-error@+1 {{takes 'memref<16x16xf32>' as 'out', expected contiguous static rows of 32 or more columns}}
  mllm.kernel.moe_gate ins(%g, %g : memref<16x64xf32>, memref<16x64xf32>) outs(%y : memref<16x16xf32>) {columns = 64, top_k = 2, rounded}
  return
}

// -----

func.func @case(%p: memref<1x16xi32>, %r: memref<8x16xf32>, %g: memref<16x64xf32>, %x: memref<8x64xf32>) {
  // RULE: kernel.moe_combine.c1 (places)
  // expected-error@+1 {{takes 'memref<1x16xi32>' as 'places', expected contiguous static rows of 24 or more columns}}
  mllm.kernel.moe_combine ins(%p, %r, %g : memref<1x16xi32>, memref<8x16xf32>, memref<16x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64, top_k = 3}
  return
}

// -----

func.func @case(%p: memref<1x16xi32>, %r: memref<8x16xf32>, %g: memref<16x64xf32>, %x: memref<8x64xf32>) {
  // RULE: kernel.moe_combine.c1 (weights)
  // expected-error@+1 {{takes 'memref<8x16xf32>' as 'weights', expected contiguous static rows of 17 or more columns}}
  mllm.kernel.moe_combine ins(%p, %r, %g : memref<1x16xi32>, memref<8x16xf32>, memref<16x64xf32>) outs(%x : memref<8x64xf32>) {columns = 64, top_k = 17}
  return
}
