// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Ops whose values choose, order or are reduced; one section for each rule.

// RULE: gather.c1
func.func @f(%t: tensor<4x2xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{'mllm.linalg.gather' op has 'dim' 2, expected one from -2 to 1}}
  %0 = mllm.linalg.gather %t, %i {dim = 2 : i64} : (tensor<4x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  return
}

// -----

// RULE: gather.c2
func.func @f(%t: tensor<4x2xf32>, %i: tensor<3xi32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.gather' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.gather %t, %i {dim = 0 : i64} : (tensor<4x2xf32>, tensor<3xi32, #mllm.tensor<kQNN>>) -> tensor<3x2xf32>
  return
}

// -----

// RULE: gather.c3
func.func @f(%t: tensor<4x2xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{'mllm.linalg.gather' op result #0 has type 'tensor<4x2xf32>', expected 'tensor<3x2xf32>'}}
  %0 = mllm.linalg.gather %t, %i {dim = 0 : i64} : (tensor<4x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return
}

// -----

// RULE: scatter.c1
func.func @f(%x: tensor<2x8xf32>, %i: tensor<2x3xi32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{'mllm.linalg.scatter' op has 'dim' 2, expected one from -2 to 1}}
  %0 = mllm.linalg.scatter %x, %i, %s {dim = 2 : i64} : (tensor<2x8xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x8xf32>
  return
}

// -----

// RULE: scatter.c2
func.func @f(%x: tensor<2x8xf32>, %i: tensor<2x3xi32>, %s: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.scatter' op sizes #1 differ: 3 and 4}}
  %0 = mllm.linalg.scatter %x, %i, %s {dim = 1 : i64} : (tensor<2x8xf32>, tensor<2x3xi32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

// RULE: scatter.c2
func.func @f(%x: tensor<2x8xf32>, %i: tensor<3xi32>, %s: tensor<3xf32>) {
  // expected-error@+1 {{'mllm.linalg.scatter' op has indices of rank 1 for a tensor of rank 2}}
  %0 = mllm.linalg.scatter %x, %i, %s {dim = 1 : i64} : (tensor<2x8xf32>, tensor<3xi32>, tensor<3xf32>) -> tensor<2x8xf32>
  return
}

// -----

// RULE: scatter.c2
func.func @f(%x: tensor<2x8xf32>, %i: tensor<3x3xi32>, %s: tensor<3x3xf32>) {
  // expected-error@+1 {{'mllm.linalg.scatter' op has 3 indices in dimension 0, in which 'x' has 2}}
  %0 = mllm.linalg.scatter %x, %i, %s {dim = 1 : i64} : (tensor<2x8xf32>, tensor<3x3xi32>, tensor<3x3xf32>) -> tensor<2x8xf32>
  return
}

// -----

// RULE: scatter.c3
func.func @f(%x: tensor<2x8xf32>, %i: tensor<2x3xi32>, %s: tensor<2x3xf16>) {
  // expected-error@+1 {{'mllm.linalg.scatter' op operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.scatter %x, %i, %s {dim = 1 : i64} : (tensor<2x8xf32>, tensor<2x3xi32>, tensor<2x3xf16>) -> tensor<2x8xf32>
  return
}

// -----

// RULE: scatter.c3
func.func @f(%x: tensor<2x8xf32>, %i: tensor<2x3xi32, #mllm.tensor<kQNN>>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{'mllm.linalg.scatter' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.scatter %x, %i, %s {dim = 1 : i64} : (tensor<2x8xf32>, tensor<2x3xi32, #mllm.tensor<kQNN>>, tensor<2x3xf32>) -> tensor<2x8xf32>
  return
}

// -----

// RULE: scatter.c4
func.func @f(%x: tensor<2x8xf32>, %i: tensor<2x3xi32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{'mllm.linalg.scatter' op result #0 has type 'tensor<2x3xf32>', expected 'tensor<2x8xf32>'}}
  %0 = mllm.linalg.scatter %x, %i, %s {dim = 1 : i64} : (tensor<2x8xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// RULE: masked_scatter.c1
func.func @f(%x: tensor<2x8xf32>, %m: tensor<3x1xi1>, %s: tensor<16xf32>) {
  // expected-error@+1 {{'mllm.linalg.masked_scatter' op the shapes [2, 8] and [3, 1] do not broadcast: sizes 2 and 3}}
  %0 = mllm.linalg.masked_scatter %x, %m, %s : (tensor<2x8xf32>, tensor<3x1xi1>, tensor<16xf32>) -> tensor<2x8xf32>
  return
}

// -----

// RULE: masked_scatter.c1
func.func @f(%x: tensor<1x8xf32>, %m: tensor<3x1xi1>, %s: tensor<16xf32>) {
  // expected-error@+1 {{'mllm.linalg.masked_scatter' op has a mask [3, 1] that is larger than [1, 8]}}
  %0 = mllm.linalg.masked_scatter %x, %m, %s : (tensor<1x8xf32>, tensor<3x1xi1>, tensor<16xf32>) -> tensor<1x8xf32>
  return
}

// -----

// RULE: masked_scatter.c2
func.func @f(%x: tensor<2x8xf32>, %m: tensor<2x1xi1>, %s: tensor<16xf16>) {
  // expected-error@+1 {{'mllm.linalg.masked_scatter' op operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.masked_scatter %x, %m, %s : (tensor<2x8xf32>, tensor<2x1xi1>, tensor<16xf16>) -> tensor<2x8xf32>
  return
}

// -----

// RULE: masked_scatter.c2
func.func @f(%x: tensor<2x8xf32>, %m: tensor<2x1xi1, #mllm.tensor<kQNN>>, %s: tensor<16xf32>) {
  // expected-error@+1 {{'mllm.linalg.masked_scatter' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.masked_scatter %x, %m, %s : (tensor<2x8xf32>, tensor<2x1xi1, #mllm.tensor<kQNN>>, tensor<16xf32>) -> tensor<2x8xf32>
  return
}

// -----

// RULE: masked_scatter.c3
func.func @f(%x: tensor<2x8xf32>, %m: tensor<2x1xi1>, %s: tensor<16xf32>) {
  // expected-error@+1 {{'mllm.linalg.masked_scatter' op result #0 has type 'tensor<2x1xf32>', expected 'tensor<2x8xf32>'}}
  %0 = mllm.linalg.masked_scatter %x, %m, %s : (tensor<2x8xf32>, tensor<2x1xi1>, tensor<16xf32>) -> tensor<2x1xf32>
  return
}

// -----

// RULE: index.c1
func.func @f(%x: tensor<2x8xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{'mllm.linalg.index' op has 1 ranges for a tensor of rank 2}}
  %0 = mllm.linalg.index %x[%i] : tensor<2x8xf32>, (tensor<3xi32>) -> tensor<3x8xf32>
  return
}

// -----

// RULE: index.c2
func.func @f(%x: tensor<2x8xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{'mllm.linalg.index' op has a step of 0, expected 1 or more}}
  %0 = mllm.linalg.index %x[%i, ::0] : tensor<2x8xf32>, (tensor<3xi32>) -> tensor<3x8xf32>
  return
}

// -----

// RULE: index.c3
func.func @f(%x: tensor<2xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{'mllm.linalg.index' op names 0 dimensions for 1 index tensors}}
  %0 = "mllm.linalg.index"(%x, %i) {dims = array<i64>, starts = array<i64: 0>, ends = array<i64: 2>, steps = array<i64: 1>} : (tensor<2xf32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

// RULE: index.c3
func.func @f(%x: tensor<2xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{'mllm.linalg.index' op names dimension 1, expected ascending ones from 0 to below 1}}
  %0 = "mllm.linalg.index"(%x, %i) {dims = array<i64: 1>, starts = array<i64: 0>, ends = array<i64: 2>, steps = array<i64: 1>} : (tensor<2xf32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

// RULE: index.c4
func.func @f(%x: tensor<2x8xf32>, %i: tensor<3xi32>, %j: tensor<4xi32>) {
  // expected-error@+1 {{'mllm.linalg.index' op the shapes [3] and [4] do not broadcast: sizes 3 and 4}}
  %0 = mllm.linalg.index %x[%i, %j] : tensor<2x8xf32>, (tensor<3xi32>, tensor<4xi32>) -> tensor<3xf32>
  return
}

// -----

// RULE: index.c4
func.func @f(%x: tensor<2x8xf32>, %i: tensor<3xi32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.index' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.index %x[%i, :] : tensor<2x8xf32>, (tensor<3xi32, #mllm.tensor<kQNN>>) -> tensor<3x8xf32>
  return
}

// -----

// RULE: index.c5
func.func @f(%x: tensor<2x8xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{'mllm.linalg.index' op result #0 has type 'tensor<3x2xf32>', expected 'tensor<2x3xf32>'}}
  %0 = mllm.linalg.index %x[:, %i] : tensor<2x8xf32>, (tensor<3xi32>) -> tensor<3x2xf32>
  return
}

// -----

// RULE: top_k.c1
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.top_k' op has 'dim' 2, expected one from -2 to 1}}
  %0:2 = mllm.linalg.top_k %x {dim = 2 : i64, k = 1 : i64} : tensor<2x8xf32> -> tensor<2x1xf32>, tensor<2x1xi32>
  return
}

// -----

// RULE: top_k.c2
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.top_k' op has 'k' 9 for a dimension of 8}}
  %0:2 = mllm.linalg.top_k %x {k = 9 : i64} : tensor<2x8xf32> -> tensor<2x9xf32>, tensor<2x9xi32>
  return
}

// -----

// RULE: top_k.c2
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.top_k' op has 'k' -1 for a dimension of 8}}
  %0:2 = mllm.linalg.top_k %x {k = -1 : i64} : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2x8xi32>
  return
}

// -----

// RULE: top_k.c3
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.top_k' op result #0 has type 'tensor<2x3xf32>', expected 'tensor<2x2xf32>'}}
  %0:2 = mllm.linalg.top_k %x {k = 2 : i64} : tensor<2x8xf32> -> tensor<2x3xf32>, tensor<2x2xi32>
  return
}

// -----

// RULE: top_k.c3
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.top_k' op result #1 has type 'tensor<2x2xi64>', expected 'tensor<2x2xi32>'}}
  %0:2 = mllm.linalg.top_k %x {k = 2 : i64} : tensor<2x8xf32> -> tensor<2x2xf32>, tensor<2x2xi64>
  return
}

// -----

// RULE: argsort.c1
func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'mllm.linalg.argsort' op has 'dim' -1, but a tensor of rank 0 has no dimensions}}
  %0 = mllm.linalg.argsort %x : tensor<f32> -> tensor<i32>
  return
}

// -----

// RULE: argsort.c2
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.argsort' op result #0 has type 'tensor<2x8xi64>', expected 'tensor<2x8xi32>'}}
  %0 = mllm.linalg.argsort %x : tensor<2x8xf32> -> tensor<2x8xi64>
  return
}

// -----

// RULE: reduce_max.c1
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.reduce_max' op has 'dim' 2, expected one from -2 to 1}}
  %0 = mllm.linalg.reduce_max %x {dim = 2 : i64} : tensor<2x8xf32> -> tensor<2xf32>
  return
}

// -----

// RULE: reduce_max.c2
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.reduce_max' op result #0 has type 'tensor<2x1xf32>', expected 'tensor<2xf32>'}}
  %0 = mllm.linalg.reduce_max %x {dim = 1 : i64} : tensor<2x8xf32> -> tensor<2x1xf32>
  return
}

// -----

// RULE: reduce_min.c1
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.reduce_min' op has 'dim' 2, expected one from -2 to 1}}
  %0 = mllm.linalg.reduce_min %x {dim = 2 : i64} : tensor<2x8xf32> -> tensor<2xf32>
  return
}

// -----

// RULE: reduce_min.c2
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.reduce_min' op result #0 has type 'tensor<2x1xf32>', expected 'tensor<2xf32>'}}
  %0 = mllm.linalg.reduce_min %x {dim = 1 : i64} : tensor<2x8xf32> -> tensor<2x1xf32>
  return
}

// -----

// RULE: reduce_sum.c1
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.reduce_sum' op has 'dim' 2, expected one from -2 to 1}}
  %0 = mllm.linalg.reduce_sum %x {dim = 2 : i64} : tensor<2x8xf32> -> tensor<2xf32>
  return
}

// -----

// RULE: reduce_sum.c2
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.reduce_sum' op result #0 has type 'tensor<2x1xf32>', expected 'tensor<2xf32>'}}
  %0 = mllm.linalg.reduce_sum %x {dim = 1 : i64} : tensor<2x8xf32> -> tensor<2x1xf32>
  return
}

// -----

// RULE: mean.c1
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.mean' op has 'dim' 2, expected one from -2 to 1}}
  %0 = mllm.linalg.mean %x {dim = 2 : i64} : tensor<2x8xf32> -> tensor<2xf32>
  return
}

// -----

// RULE: mean.c2
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'mllm.linalg.mean' op result #0 has type 'tensor<2x1xf32>', expected 'tensor<2xf32>'}}
  %0 = mllm.linalg.mean %x {dim = 1 : i64} : tensor<2x8xf32> -> tensor<2x1xf32>
  return
}
