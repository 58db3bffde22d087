// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{is equivalent to no encoding; omit it}}
func.func private @nothing(tensor<4xf32, #mllm.tensor<kCPU>>)

// -----

// expected-error@+1 {{names no dynamic size; omit 'dims'}}
func.func private @no_name(tensor<4x?xf32, #mllm.tensor<dims = (4, ?)>>)

// -----

// expected-error@+1 {{encoding has 1 sizes for a tensor of rank 2}}
func.func private @rank(tensor<4x?xf32, #mllm.tensor<dims = (seq)>>)

// -----

// expected-error@+1 {{encoding has size #0 5, but the tensor has 4}}
func.func private @number(tensor<4x?xf32, #mllm.tensor<dims = (5, seq)>>)

// -----

// expected-error@+1 {{encoding has size #0 seq, but the tensor has 4}}
func.func private @named_static(tensor<4x?xf32, #mllm.tensor<dims = (seq, n)>>)

// -----

// expected-error@+1 {{expected a device or 'dims'}}
func.func private @nothing(tensor<4xf32, #mllm.tensor<>>)

// -----

// expected-error@+1 {{'kTPU' is not a device, expected kCPU, kCUDA, kOpenCL, kQNN or kAscend}}
func.func private @device(tensor<4xf32, #mllm.tensor<kTPU>>)

// -----

// expected-error@+1 {{the size is not a linear combination of symbols with 64-bit coefficients}}
func.func private @product(tensor<?xf32, #mllm.tensor<dims = (n * m)>>)

// -----

// expected-error@+1 {{expected a number or a symbol in a size}}
func.func private @cut(tensor<?xf32, #mllm.tensor<dims = (n + )>>)

// -----

// expected-error@+1 {{has the range 5 to 4, expected nonnegative bounds in ascending order}}
module attributes {a = #mllm.range<5, 4>} {}

// -----

// expected-error@+1 {{has multiples of 0, expected at least 1}}
module attributes {a = #mllm.range<1, 4, multiple of 0>} {}

// -----

// expected-error@+1 {{has no multiple of 8 from 1 to 7}}
module attributes {a = #mllm.range<1, 7, multiple of 8>} {}

// -----

// expected-error@+1 {{'fine' is not a scheme, expected one of raw, sym_per_tensor, }}
module attributes {a = #mllm.quant<fine, bits = 4>} {}

// -----

// expected-error@+1 {{sym_per_tensor has 9 bits, expected 2 to 8}}
module attributes {a = #mllm.quant<sym_per_tensor, bits = 9>} {}

// -----

// expected-error@+1 {{sym_per_tensor has axis 1, expected none}}
module attributes {a = #mllm.quant<sym_per_tensor, bits = 8, axis = 1>} {}

// -----

// expected-error@+1 {{sym_per_block has blocks of 0, expected 1 or more}}
module attributes {a = #mllm.quant<sym_per_block, bits = 4>} {}

// -----

// expected-error@+1 {{'width' is not one of bits, axis, block}}
module attributes {a = #mllm.quant<sym_per_block, width = 4>} {}

// -----

// expected-error@+1 {{q8_0 has 8 bits in blocks of 64, expected 8 in blocks of 32}}
module attributes {a = #mllm.quant<q8_0, bits = 8, block = 64>} {}

// -----

// expected-error@+1 {{q8_0 has blocks of 0, expected 1 or more}}
module attributes {a = #mllm.quant<q8_0, bits = 8>} {}

// -----

// expected-error@+1 {{has 'mllm.dims', which must be a dictionary on a subgraph or a function}}
module attributes {mllm.dims = 3} {}

// -----

// expected-error@+1 {{'mllm.dims' has 4 : i64 for 'seq', expected #mllm.range<…>}}
mllm.graph.subgraph @m() attributes {mllm.dims = {seq = 4}} {
  mllm.cf.return
}

// -----

// RULE: graph.subgraph.c6
// expected-error@+1 {{has the device kCPU; omit it}}
mllm.graph.subgraph @m() attributes {device = #mllm.device<kCPU>} {
  mllm.cf.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 'mllm.res_attrs' [], expected one dictionary for each of its 1 results}}
  %0 = mllm.linalg.silu %x {mllm.res_attrs = []} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 'mllm.quant.weights' 3 : i64, expected #mllm.quant<…>}}
  %0 = mllm.linalg.silu %x {mllm.quant.weights = 3} : tensor<4xf32>
  return
}

// -----

mllm.tensor.register @up : tensor<4x32x64xf32> {source = "u"}
mllm.tensor.register @down : tensor<4x64x32xf32> {source = "d"}
func.func @f(%x: tensor<2x64xf32>, %e: tensor<2x2xi32>, %w: tensor<2x2xf32>) {
  // expected-error@+1 {{expected an array of three #mllm.quant<…>, for the gate, up and down projections}}
  %y = mllm.linalg.experts %x chosen %e weights %w, @up, @up, @down {mllm.quant.weights = #mllm.quant<raw>}
      : (tensor<2x64xf32>, tensor<2x2xi32>, tensor<2x2xf32>) -> tensor<2x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32, #mllm.tensor<kCUDA>>) {
  // expected-error@+1 {{operand #1 is on kCUDA, but operand #0 is on kCPU}}
  %0 = mllm.linalg.add %x, %y : (tensor<4xf32>, tensor<4xf32, #mllm.tensor<kCUDA>>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>) {
  // expected-error@+1 {{result #0 has type 'tensor<4x?xf32, #mllm.tensor<dims = (4, seq + 1)>>', expected 'tensor<4x?xf32, #mllm.tensor<dims = (4, seq)>>'}}
  %0 = mllm.linalg.transpose %x {dim0 = 0, dim1 = 1}
      : tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>> -> tensor<4x?xf32, #mllm.tensor<dims = (4, seq + 1)>>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 'mllm.quant.inputs' 16 : i64, expected 8 : i64}}
  %0 = mllm.linalg.silu %x {mllm.quant.inputs = 16} : tensor<4xf32>
  return
}
