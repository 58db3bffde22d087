// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Kernels of the KV cache. The cases are named by the constraint that they break.

func.func @case(%k: memref<8x32xf32>, %v: memref<8x32xf32>) {
  // RULE: kernel.append_kv.c1 (unknown)
  // expected-error@+1 {{has a cache of the unknown format "f8"}}
  mllm.kernel.append_kv ins(%k, %v : memref<8x32xf32>, memref<8x32xf32>) {kv_format = "f8", kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16}
  return
}

// -----

func.func @case(%k: memref<8x32xf32>, %v: memref<8x32xf32>) {
  // RULE: kernel.append_kv.c1 (blocks)
  // expected-error@+1 {{has block size 15, which is not a multiple of the 2 elements in a cell of the cache}}
  mllm.kernel.append_kv ins(%k, %v : memref<8x32xf32>, memref<8x32xf32>) {kv_format = "bf16", kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 15}
  return
}

// -----

func.func @case(%k: memref<8x32xf32>, %v: memref<8x32xf32>) {
  // RULE: kernel.append_kv.c2 (keys)
  // expected-error@+1 {{takes 'memref<8x32xf32>' as 'keys', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.append_kv ins(%k, %v : memref<8x32xf32>, memref<8x32xf32>) {kv_format = "bf16", kv_heads = 2, head_dim = 32, value_dim = 16, block_size = 16}
  return
}

// -----

func.func @case(%k: memref<8x32xf32>, %v: memref<8x32xf32>) {
  // RULE: kernel.append_kv.c2 (values)
  // expected-error@+1 {{takes 'memref<8x32xf32>' as 'values', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.append_kv ins(%k, %v : memref<8x32xf32>, memref<8x32xf32>) {kv_format = "bf16", kv_heads = 2, head_dim = 16, value_dim = 32, block_size = 16}
  return
}

// -----

func.func @case(%k: memref<8x32xf32>, %v: memref<8x32xf32>) {
  // RULE: kernel.lookup_kv.c1 (unknown)
  // expected-error@+1 {{has a cache of the unknown format "f8"}}
  mllm.kernel.lookup_kv outs(%k, %v : memref<8x32xf32>, memref<8x32xf32>) {kv_format = "f8", kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, rows = 4}
  return
}

// -----

func.func @case(%k: memref<8x32xf32>, %v: memref<8x32xf32>) {
  // RULE: kernel.lookup_kv.c1 (blocks)
  // expected-error@+1 {{has block size 15, which is not a multiple of the 2 elements in a cell of the cache}}
  mllm.kernel.lookup_kv outs(%k, %v : memref<8x32xf32>, memref<8x32xf32>) {kv_format = "bf16", kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 15, rows = 4}
  return
}

// -----

func.func @case(%k: memref<8x32xf32>, %v: memref<8x32xf32>) {
  // RULE: kernel.lookup_kv.c2 (keys)
  // expected-error@+1 {{takes 'memref<8x32xf32>' as 'keys', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.lookup_kv outs(%k, %v : memref<8x32xf32>, memref<8x32xf32>) {kv_format = "bf16", kv_heads = 2, head_dim = 32, value_dim = 16, block_size = 16, rows = 4}
  return
}

// -----

func.func @case(%k: memref<8x32xf32>, %v: memref<8x32xf32>) {
  // RULE: kernel.lookup_kv.c2 (values)
  // expected-error@+1 {{takes 'memref<8x32xf32>' as 'values', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.lookup_kv outs(%k, %v : memref<8x32xf32>, memref<8x32xf32>) {kv_format = "bf16", kv_heads = 2, head_dim = 16, value_dim = 32, block_size = 16, rows = 4}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.paged_attention.c1 (unknown)
  // expected-error@+1 {{has a cache of the unknown format "f8"}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {kv_format = "f8", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.paged_attention.c1 (blocks)
  // expected-error@+1 {{has block size 6, which is not a multiple of the 4 elements in a cell of the cache}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {kv_format = "q8", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 6, scale = 0.25}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.paged_attention.c2 (KV heads)
  // expected-error@+1 {{has 4 heads, which is not a multiple of the 3 KV heads}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 3, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.paged_attention.c2 (head size)
  // expected-error@+1 {{has heads of 4097 elements; at most 4096 are supported}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 4097, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.paged_attention.c2 (window)
  // expected-error@+1 {{has the window -1, expected a non-negative value}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25, window = -1}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.paged_attention.c3
  // expected-error@+1 {{has 2 ALiBi slopes for 4 heads}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25, alibi_slopes = array<f64: 0.5, 0.25>}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>, %m: memref<8x16xf32>) {
  // RULE: kernel.paged_attention.c4 (no strides)
  // expected-error@+1 {{has a mask without strides}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) mask(%m : memref<8x16xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.paged_attention.c4 (no mask)
  // expected-error@+1 {{has mask strides without a mask}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25, mask_strides = array<i64: 0, 0, 0, 16, 1>}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>, %m: memref<8x16xf32>) {
  // RULE: kernel.paged_attention.c4 (their number)
  // expected-error@+1 {{has the mask strides [0, 0, 16, 1]; expected those of sequence, head, query, token and key, the last 0 or 1}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) mask(%m : memref<8x16xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25, mask_strides = array<i64: 0, 0, 16, 1>}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>, %m: memref<8x16xf32>) {
  // RULE: kernel.paged_attention.c4 (negative)
  // expected-error@+1 {{has the mask strides [0, 0, 0, -16, 1]}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) mask(%m : memref<8x16xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25, mask_strides = array<i64: 0, 0, 0, -16, 1>}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>, %m: memref<8x16xf32>) {
  // RULE: kernel.paged_attention.c4 (keys)
  // expected-error@+1 {{has the mask strides [0, 0, 0, 16, 2]}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) mask(%m : memref<8x16xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25, mask_strides = array<i64: 0, 0, 0, 16, 2>}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.paged_attention.c5 (the result)
  // expected-error@+1 {{takes 'memref<8x64xf32>' as 'out', expected contiguous static rows of 128 or more columns}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 32, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>, %s: memref<1x24xf32>) {
  // RULE: kernel.paged_attention.c5 (a row of sinks)
  // expected-error@+1 {{takes 'memref<1x24xf32>' as 'sinks', expected contiguous static rows of 4 or more columns, padded to whole tiles of 16}}
  mllm.kernel.paged_attention sinks(%s : memref<1x24xf32>) ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %y: memref<8x64xf32>, %s: memref<15xf32>) {
  // RULE: kernel.paged_attention.c5 (a vector of sinks)
  // expected-error@+1 {{takes 'memref<15xf32>' as 'sinks', expected a contiguous static buffer of 64 bytes}}
  mllm.kernel.paged_attention sinks(%s : memref<15xf32>) ins(%q : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%q: memref<8x64xf32>, %p: memref<2047x48xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.paged_attention.c6
  // expected-error@+1 {{has 2047 rows of partial results, expected 2048}}
  mllm.kernel.paged_attention ins(%q : memref<8x64xf32>) partials(%p : memref<2047x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%p: memref<2048x48xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.merge_attention.c1 (unknown)
  // expected-error@+1 {{has a cache of the unknown format "f8"}}
  mllm.kernel.merge_attention partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "f8", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%p: memref<2048x48xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.merge_attention.c1 (blocks)
  // expected-error@+1 {{has block size 6, which is not a multiple of the 4 elements in a cell of the cache}}
  mllm.kernel.merge_attention partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "q8", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 6, scale = 0.25}
  return
}

// -----

func.func @case(%p: memref<2048x48xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.merge_attention.c2 (KV heads)
  // expected-error@+1 {{has 4 heads, which is not a multiple of the 3 KV heads}}
  mllm.kernel.merge_attention partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 3, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%p: memref<2048x48xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.merge_attention.c2 (head size)
  // expected-error@+1 {{has heads of 4097 elements; at most 4096 are supported}}
  mllm.kernel.merge_attention partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 4097, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%p: memref<2048x48xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.merge_attention.c2 (window)
  // expected-error@+1 {{has the window -1, expected a non-negative value}}
  mllm.kernel.merge_attention partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25, window = -1}
  return
}

// -----

func.func @case(%p: memref<2048x48xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.merge_attention.c3
  // expected-error@+1 {{has 2 ALiBi slopes for 4 heads}}
  mllm.kernel.merge_attention partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25, alibi_slopes = array<f64: 0.5, 0.25>}
  return
}

// -----

func.func @case(%p: memref<2048x48xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.merge_attention.c4 (the result)
  // expected-error@+1 {{takes 'memref<2048x48xf32>' as 'partials', expected contiguous static rows of 64 or more columns}}
  mllm.kernel.merge_attention partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 32, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%p: memref<2048x48xf32>, %y: memref<8x64xf32>, %s: memref<1x24xf32>) {
  // RULE: kernel.merge_attention.c4 (a row of sinks)
  // expected-error@+1 {{takes 'memref<1x24xf32>' as 'sinks', expected contiguous static rows of 4 or more columns, padded to whole tiles of 16}}
  mllm.kernel.merge_attention sinks(%s : memref<1x24xf32>) partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%p: memref<2048x48xf32>, %y: memref<8x64xf32>, %s: memref<15xf32>) {
  // RULE: kernel.merge_attention.c4 (a vector of sinks)
  // expected-error@+1 {{takes 'memref<15xf32>' as 'sinks', expected a contiguous static buffer of 64 bytes}}
  mllm.kernel.merge_attention sinks(%s : memref<15xf32>) partials(%p : memref<2048x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}

// -----

func.func @case(%p: memref<2047x48xf32>, %y: memref<8x64xf32>) {
  // RULE: kernel.merge_attention.c5
  // expected-error@+1 {{has 2047 rows of partial results, expected 2048}}
  mllm.kernel.merge_attention partials(%p : memref<2047x48xf32>) outs(%y : memref<8x64xf32>) {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  return
}
