// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Ops that move values; one section for each rule.

// RULE: contiguous.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.contiguous' op result #0 has type 'tensor<5xf32>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.contiguous %a : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

// RULE: clone.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.clone' op result #0 has type 'tensor<5xf32>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.clone %a : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

// RULE: copy.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@+1 {{'mllm.linalg.copy' op operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.copy %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// RULE: copy.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.copy' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.copy %a, %b : (tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>) -> tensor<4xf32>
  return
}

// -----

// RULE: copy.c2
func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error@+1 {{'mllm.linalg.copy' op sizes #0 differ: 4 and 5}}
  %0 = mllm.linalg.copy %a, %b : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

// RULE: copy.c3
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.copy' op result #0 has type 'tensor<4xi32>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.copy %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

// RULE: x2x.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.x2x' op result #0 has type 'tensor<4xf32>', expected 'tensor<4xf32, #mllm.tensor<kQNN>>'}}
  %0 = mllm.linalg.x2x %a to <kQNN> : tensor<4xf32>
  return
}

// -----

// RULE: cast_type.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.cast_type' op casts to f64, expected f32, f16, bf16, i64, i32, i16, i8 or i1}}
  %0 = mllm.linalg.cast_type %a to f64 : tensor<4xf32>
  return
}

// -----

// RULE: cast_type.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.cast_type' op casts to i4, expected f32, f16, bf16, i64, i32, i16, i8 or i1}}
  %0 = mllm.linalg.cast_type %a to i4 : tensor<4xf32>
  return
}

// -----

// RULE: cast_type.c2
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.cast_type' op result #0 has type 'tensor<4xi16>', expected 'tensor<4xi8>'}}
  %0 = mllm.linalg.cast_type %a to i8 : tensor<4xf32> -> tensor<4xi16>
  return
}

// -----

// RULE: transpose.c1
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.transpose' op has 'dim1' 2, expected one from -2 to 1}}
  %0 = mllm.linalg.transpose %a {dim0 = 0 : i64, dim1 = 2 : i64} : tensor<2x4xf32>
  return
}

// -----

// RULE: transpose.c1
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.transpose' op has 'dim0' -3, expected one from -2 to 1}}
  %0 = mllm.linalg.transpose %a {dim0 = -3 : i64, dim1 = 1 : i64} : tensor<2x4xf32>
  return
}

// -----

// RULE: transpose.c2
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.transpose' op result #0 has type 'tensor<2x4xf32>', expected 'tensor<4x2xf32>'}}
  %0 = mllm.linalg.transpose %a {dim0 = 0 : i64, dim1 = 1 : i64} : tensor<2x4xf32>
  return
}

// -----

// RULE: permute.c1
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.permute' op names 1 dimensions of a tensor of rank 2}}
  %0 = mllm.linalg.permute %a {axes = array<i64: 0>} : tensor<2x4xf32>
  return
}

// -----

// RULE: permute.c1
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.permute' op names dimension 1 twice}}
  %0 = mllm.linalg.permute %a {axes = array<i64: 1, -1>} : tensor<2x4xf32>
  return
}

// -----

// RULE: permute.c1
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.permute' op has 'axis' 2, expected one from -2 to 1}}
  %0 = mllm.linalg.permute %a {axes = array<i64: 2, 0>} : tensor<2x4xf32>
  return
}

// -----

// RULE: permute.c2
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.permute' op result #0 has type 'tensor<2x4xf32>', expected 'tensor<4x2xf32>'}}
  %0 = mllm.linalg.permute %a {axes = array<i64: 1, 0>} : tensor<2x4xf32>
  return
}

// -----

// RULE: reshape.c1
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.reshape' op has the size -2 in its shape, expected -1 or more}}
  %0 = mllm.linalg.reshape %a {shape = array<i64: -2, 4>} : tensor<2x4xf32>
  return
}

// -----

// RULE: reshape.c1
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.reshape' op has -1 twice in its shape, expected it once at most}}
  %0 = mllm.linalg.reshape %a {shape = array<i64: -1, -1>} : tensor<2x4xf32>
  return
}

// -----

// RULE: reshape.c1
func.func @f(%a: tensor<0x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.reshape' op has both -1 and a size of 0 in its shape}}
  %0 = mllm.linalg.reshape %a {shape = array<i64: -1, 0>} : tensor<0x4xf32>
  return
}

// -----

// RULE: reshape.c1
func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{'mllm.linalg.reshape' op has a shape whose number of elements overflows}}
  %0 = mllm.linalg.reshape %a {shape = array<i64: 4611686018427387904, 4>} : tensor<8xf32>
  return
}

// -----

// RULE: reshape.c2
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.reshape' op the 8 values of [2, 4] do not fill rows of 3}}
  %0 = mllm.linalg.reshape %a {shape = array<i64: -1, 3>} : tensor<2x4xf32>
  return
}

// -----

// RULE: reshape.c2
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.reshape' op the shape [2, 4] has 8 values, but [7] has 7}}
  %0 = mllm.linalg.reshape %a {shape = array<i64: 7>} : tensor<2x4xf32>
  return
}

// -----

// RULE: reshape.c3
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.reshape' op result #0 has type 'tensor<4x2xf32>', expected 'tensor<8xf32>'}}
  %0 = mllm.linalg.reshape %a {shape = array<i64: 8>} : tensor<2x4xf32> -> tensor<4x2xf32>
  return
}

// -----

// RULE: split.c1
func.func @f(%a: tensor<6xf32>) {
  // expected-error@+1 {{'mllm.linalg.split' op has 'dim' 1, expected one from -1 to 0}}
  %0 = mllm.linalg.split %a {dim = 1 : i64, sections = array<i64: 6>} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

// RULE: split.c2
func.func @f(%a: tensor<6xf32>) {
  // expected-error@+1 {{'mllm.linalg.split' op has no sections, expected at least one}}
  %0 = mllm.linalg.split %a {dim = 0 : i64, sections = array<i64>} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

// RULE: split.c2
func.func @f(%a: tensor<6xf32>) {
  // expected-error@+1 {{'mllm.linalg.split' op has a section of -1}}
  %0:2 = mllm.linalg.split %a {dim = 0 : i64, sections = array<i64: 7, -1>} : (tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

// RULE: split.c2
func.func @f(%a: tensor<6xf32>) {
  // expected-error@+1 {{'mllm.linalg.split' op has a section of 0}}
  %0 = mllm.linalg.split %a {dim = 0 : i64, sections = array<i64: 0>} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

// RULE: split.c3
func.func @f(%a: tensor<6xf32>) {
  // expected-error@+1 {{'mllm.linalg.split' op cannot split 6 slices into parts of 4}}
  %0 = mllm.linalg.split %a {dim = 0 : i64, sections = array<i64: 4>} : (tensor<6xf32>) -> tensor<4xf32>
  return
}

// -----

// RULE: split.c3
func.func @f(%a: tensor<?xf32>) {
  // expected-error@+1 {{'mllm.linalg.split' op cannot split ? slices into parts of 4}}
  %0 = mllm.linalg.split %a {dim = 0 : i64, sections = array<i64: 4>} : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

// RULE: split.c3
func.func @f(%a: tensor<100000xf32>) {
  // expected-error@+1 {{'mllm.linalg.split' op has 100000 parts, expected at most 65536}}
  %0 = mllm.linalg.split %a {dim = 0 : i64, sections = array<i64: 1>} : (tensor<100000xf32>) -> tensor<1xf32>
  return
}

// -----

// RULE: split.c4
func.func @f(%a: tensor<6xf32>) {
  // expected-error@+1 {{'mllm.linalg.split' op the sections' sum is not the size of the dimension: 7 and 6}}
  %0:2 = mllm.linalg.split %a {dim = 0 : i64, sections = array<i64: 4, 3>} : (tensor<6xf32>) -> (tensor<4xf32>, tensor<3xf32>)
  return
}

// -----

// RULE: split.c5
func.func @f(%a: tensor<6xf32>) {
  // expected-error@+1 {{'mllm.linalg.split' op has 2 results, expected 3}}
  %0:2 = mllm.linalg.split %a {dim = 0 : i64, sections = array<i64: 2>} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

// RULE: split.c5
func.func @f(%a: tensor<6xf32>) {
  // expected-error@+1 {{'mllm.linalg.split' op result #1 has type 'tensor<2xf32>', expected 'tensor<4xf32>'}}
  %0:2 = mllm.linalg.split %a {dim = 0 : i64, sections = array<i64: 2, 4>} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

// RULE: concat.c1
func.func @f() {
  // expected-error@+1 {{'mllm.linalg.concat' op has no operands, expected at least one}}
  %0 = mllm.linalg.concat {dim = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

// RULE: concat.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.concat' op has 'dim' 1, expected one from -1 to 0}}
  %0 = mllm.linalg.concat %a, %a {dim = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// RULE: concat.c3
func.func @f(%a: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error@+1 {{'mllm.linalg.concat' op operand #1 has i32 values, but operand #0 has f32}}
  %0 = mllm.linalg.concat %a, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<4xi32>) -> tensor<8xf32>
  return
}

// -----

// RULE: concat.c3
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.concat' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.concat %a, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>) -> tensor<8xf32>
  return
}

// -----

// RULE: stack.c1
func.func @f() {
  // expected-error@+1 {{'mllm.linalg.stack' op has no operands, expected at least one}}
  %0 = mllm.linalg.stack {dim = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

// RULE: stack.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.stack' op has 'dim' 2, expected one from -2 to 1}}
  %0 = mllm.linalg.stack %a, %a {dim = 2 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// RULE: stack.c3
func.func @f(%a: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error@+1 {{'mllm.linalg.stack' op operand #1 has i32 values, but operand #0 has f32}}
  %0 = mllm.linalg.stack %a, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<4xi32>) -> tensor<8xf32>
  return
}

// -----

// RULE: stack.c3
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.stack' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.stack %a, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>) -> tensor<8xf32>
  return
}

// -----

// RULE: concat.c2
func.func @f(%a: tensor<4xf32>, %b: tensor<4x1xf32>) {
  // expected-error@+1 {{'mllm.linalg.concat' op operand #1 has rank 2, expected 1}}
  %0 = mllm.linalg.concat %a, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<4x1xf32>) -> tensor<8xf32>
  return
}

// -----

// RULE: concat.c2
func.func @f(%a: tensor<4x2xf32>, %b: tensor<4x1xf32>) {
  // expected-error@+1 {{'mllm.linalg.concat' op operand #0 and operand #1 differ in size #1: 2 and 1}}
  %0 = mllm.linalg.concat %a, %b {dim = 0 : i64} : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<8x2xf32>
  return
}

// -----

// RULE: concat.c4
func.func @f(%a: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'mllm.linalg.concat' op result #0 has type 'tensor<8xf32>', expected 'tensor<7xf32>'}}
  %0 = mllm.linalg.concat %a, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<3xf32>) -> tensor<8xf32>
  return
}

// -----

// RULE: stack.c2
func.func @f(%a: tensor<4xf32>, %b: tensor<4x1xf32>) {
  // expected-error@+1 {{'mllm.linalg.stack' op the shapes [4] and [4, 1] have different ranks}}
  %0 = mllm.linalg.stack %a, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<4x1xf32>) -> tensor<2x4xf32>
  return
}

// -----

// RULE: stack.c2
func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error@+1 {{'mllm.linalg.stack' op sizes #0 differ: 4 and 5}}
  %0 = mllm.linalg.stack %a, %b {dim = 0 : i64} : (tensor<4xf32>, tensor<5xf32>) -> tensor<2x4xf32>
  return
}

// -----

// RULE: stack.c4
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.stack' op result #0 has type 'tensor<2x4xf32>', expected 'tensor<4x2xf32>'}}
  %0 = mllm.linalg.stack %a, %a {dim = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// RULE: repeat.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.repeat' op has 'dim' 1, expected one from -1 to 0}}
  %0 = mllm.linalg.repeat %a {dim = 1 : i64, times = 2 : i64} : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

// RULE: repeat.c2
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.repeat' op repeats 0 times, expected at least 1}}
  %0 = mllm.linalg.repeat %a {dim = 0 : i64, times = 0 : i64} : tensor<4xf32> -> tensor<0xf32>
  return
}

// -----

// RULE: repeat.c3
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.repeat' op result #0 has type 'tensor<4xf32>', expected 'tensor<8xf32>'}}
  %0 = mllm.linalg.repeat %a {dim = 0 : i64, times = 2 : i64} : tensor<4xf32>
  return
}

// -----

// RULE: slice.c1
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'mllm.linalg.slice' op has 1 ranges for a tensor of rank 2}}
  %0 = mllm.linalg.slice %a[:] : tensor<2x4xf32>
  return
}

// -----

// RULE: slice.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.slice' op has 1 starts, 0 ends and 1 steps, expected equal numbers}}
  %0 = "mllm.linalg.slice"(%a) {starts = array<i64: 0>, ends = array<i64>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// RULE: slice.c2
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.slice' op has a step of -1, expected 1 or more}}
  %0 = mllm.linalg.slice %a[0:4:-1] : tensor<4xf32>
  return
}

// -----

// RULE: slice.c3
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.slice' op result #0 has type 'tensor<4xf32>', expected 'tensor<3xf32>'}}
  %0 = mllm.linalg.slice %a[1:] : tensor<4xf32>
  return
}

// -----

// RULE: pad.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.pad' op pads 2 dimensions of a tensor of rank 1}}
  %0 = mllm.linalg.pad constant %a {high = array<i64: 1>, low = array<i64: 1, 1>} : tensor<4xf32> -> tensor<6xf32>
  return
}

// -----

// RULE: pad.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.pad' op pads dimension 0 by -1, expected 0 or more}}
  %0 = mllm.linalg.pad constant %a {high = array<i64: -1>, low = array<i64: 1>} : tensor<4xf32>
  return
}

// -----

// RULE: pad.c2
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.pad' op pads 4 elements by 4 in mode reflect, expected at most 3}}
  %0 = mllm.linalg.pad reflect %a {high = array<i64: 4>, low = array<i64: 0>} : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

// RULE: pad.c2
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.pad' op pads 4 elements by 5 in mode circular, expected at most 4}}
  %0 = mllm.linalg.pad circular %a {high = array<i64: 0>, low = array<i64: 5>} : tensor<4xf32> -> tensor<9xf32>
  return
}

// -----

// RULE: pad.c2
func.func @f(%a: tensor<0xf32>) {
  // expected-error@+1 {{'mllm.linalg.pad' op pads 0 elements by 1 in mode replicate, expected at most 0}}
  %0 = mllm.linalg.pad replicate %a {high = array<i64: 0>, low = array<i64: 1>} : tensor<0xf32> -> tensor<1xf32>
  return
}

// -----

// RULE: pad.c3
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.pad' op has a 'value' in mode reflect, which does not use it}}
  %0 = mllm.linalg.pad reflect %a {high = array<i64: 1>, low = array<i64: 0>, value = 1.0 : f64} : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

// RULE: pad.c4
func.func @f(%a: tensor<4xi8>) {
  // expected-error@+1 {{'mllm.linalg.pad' op has 'value' 5.000000e-01, expected an integer of the element type}}
  %0 = mllm.linalg.pad constant %a {high = array<i64: 1>, low = array<i64: 0>, value = 0.5 : f64} : tensor<4xi8> -> tensor<5xi8>
  return
}

// -----

// RULE: pad.c5
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.pad' op result #0 has type 'tensor<4xf32>', expected 'tensor<5xf32>'}}
  %0 = mllm.linalg.pad constant %a {high = array<i64: 1>, low = array<i64: 0>} : tensor<4xf32>
  return
}
