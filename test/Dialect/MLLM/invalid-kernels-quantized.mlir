// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Kernels that quantize. The cases are named by the constraint that they break.

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.quantize.c1
  // expected-error@+1 {{has integers of 5 bits; expected 4, 8 or 16}}
  mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {bits = 5, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.quantize.c2 (ranks)
  // expected-error@+1 {{has cells of 1 dimensions in a tensor of 2}}
  mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.quantize.c2 (elements)
  // expected-error@+1 {{has a tensor of shape [16384, 16385]; expected at most 2^28 elements}}
  mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {bits = 8, shape = array<i64: 16384, 16385>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.quantize.c3 (whole rows)
  // expected-error@+1 {{has 4096 elements in rows of 60, which do not fill whole rows of 'x'}}
  mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 60, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.quantize.c3 (as many as the buffer has)
  // expected-error@+1 {{has 4160 elements in rows of 64, which do not fill whole rows of 'x'}}
  mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {bits = 8, shape = array<i64: 65, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.quantize.c3 (cells)
  // expected-error@+1 {{has 128 elements in rows of 1, which do not fill whole rows of 'scales'}}
  mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 1}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x24xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.quantize.c3 (whole tiles)
  // expected-error@+1 {{takes 'memref<64x24xf32>' as 'scales', expected contiguous static rows of 2 or more columns, padded to whole tiles of 16}}
  mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x24xf32>) outs(%y : memref<64x64xf32>)
      {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<63x64xf32>) {
  // RULE: kernel.quantize.c3 (the result)
  // expected-error@+1 {{has 4096 elements in rows of 64, which do not fill whole rows of 'out'}}
  mllm.kernel.quantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<63x64xf32>)
      {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.dequantize.c1 (ranks)
  // expected-error@+1 {{has cells of 1 dimensions in a tensor of 2}}
  mllm.kernel.dequantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {shape = array<i64: 64, 64>, cell = array<i64: 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.dequantize.c1 (elements)
  // expected-error@+1 {{has a tensor of shape [16384, 16385]; expected at most 2^28 elements}}
  mllm.kernel.dequantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {shape = array<i64: 16384, 16385>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.dequantize.c2 (whole rows)
  // expected-error@+1 {{has 4096 elements in rows of 60, which do not fill whole rows of 'q'}}
  mllm.kernel.dequantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 60, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.dequantize.c2 (as many as the buffer has)
  // expected-error@+1 {{has 4160 elements in rows of 64, which do not fill whole rows of 'q'}}
  mllm.kernel.dequantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {shape = array<i64: 65, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.dequantize.c2 (cells)
  // expected-error@+1 {{has 128 elements in rows of 1, which do not fill whole rows of 'scales'}}
  mllm.kernel.dequantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<64x64xf32>)
      {shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 1}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x24xf32>, %y: memref<64x64xf32>) {
  // RULE: kernel.dequantize.c2 (whole tiles)
  // expected-error@+1 {{takes 'memref<64x24xf32>' as 'scales', expected contiguous static rows of 2 or more columns, padded to whole tiles of 16}}
  mllm.kernel.dequantize ins(%x, %s : memref<64x64xf32>, memref<64x24xf32>) outs(%y : memref<64x64xf32>)
      {shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>, %y: memref<63x64xf32>) {
  // RULE: kernel.dequantize.c2 (the result)
  // expected-error@+1 {{has 4096 elements in rows of 64, which do not fill whole rows of 'out'}}
  mllm.kernel.dequantize ins(%x, %s : memref<64x64xf32>, memref<64x16xf32>) outs(%y : memref<63x64xf32>)
      {shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>) {
  // RULE: kernel.quant_params.c1
  // expected-error@+1 {{has integers of 5 bits; expected 4, 8 or 16}}
  mllm.kernel.quant_params ins(%x : memref<64x64xf32>) outs(%s : memref<64x16xf32>) {bits = 5, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>) {
  // RULE: kernel.quant_params.c2 (ranks)
  // expected-error@+1 {{has cells of 1 dimensions in a tensor of 2}}
  mllm.kernel.quant_params ins(%x : memref<64x64xf32>) outs(%s : memref<64x16xf32>) {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>) {
  // RULE: kernel.quant_params.c2 (elements)
  // expected-error@+1 {{has a tensor of shape [16384, 16385]; expected at most 2^28 elements}}
  mllm.kernel.quant_params ins(%x : memref<64x64xf32>) outs(%s : memref<64x16xf32>) {bits = 8, shape = array<i64: 16384, 16385>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>) {
  // RULE: kernel.quant_params.c3 (whole rows)
  // expected-error@+1 {{has 4096 elements in rows of 60, which do not fill whole rows of 'x'}}
  mllm.kernel.quant_params ins(%x : memref<64x64xf32>) outs(%s : memref<64x16xf32>) {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 60, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>) {
  // RULE: kernel.quant_params.c3 (as many as the buffer has)
  // expected-error@+1 {{has 4160 elements in rows of 64, which do not fill whole rows of 'x'}}
  mllm.kernel.quant_params ins(%x : memref<64x64xf32>) outs(%s : memref<64x16xf32>) {bits = 8, shape = array<i64: 65, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x16xf32>) {
  // RULE: kernel.quant_params.c3 (cells)
  // expected-error@+1 {{has 128 elements in rows of 1, which do not fill whole rows of 'scales'}}
  mllm.kernel.quant_params ins(%x : memref<64x64xf32>) outs(%s : memref<64x16xf32>) {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 1}
  return
}

// -----

func.func @case(%x: memref<64x64xf32>, %s: memref<64x24xf32>) {
  // RULE: kernel.quant_params.c3 (whole tiles)
  // expected-error@+1 {{takes 'memref<64x24xf32>' as 'scales', expected contiguous static rows of 2 or more columns, padded to whole tiles of 16}}
  mllm.kernel.quant_params ins(%x : memref<64x64xf32>) outs(%s : memref<64x24xf32>) {bits = 8, shape = array<i64: 64, 64>, cell = array<i64: 1, 32>, columns = 64, grid_columns = 2}
  return
}
