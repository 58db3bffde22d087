// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Ops that compute value by value; one section for each rule.

// RULE: add.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@+1 {{'mllm.linalg.add' op operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.add %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// RULE: add.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.add' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.add %a, %b : (tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>) -> tensor<4xf32>
  return
}

// -----

// RULE: add.c2
func.func @f(%a: tensor<2x4xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'mllm.linalg.add' op the shapes [2, 4] and [3] do not broadcast: sizes 4 and 3}}
  %0 = mllm.linalg.add %a, %b : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// RULE: add.c3
func.func @f(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.add' op result #0 has type 'tensor<3x4xf32>', expected 'tensor<2x4xf32>'}}
  %0 = mllm.linalg.add %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// RULE: add.c4
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.add' op has both 'rhs' and 'scalar', expected one of them}}
  %0 = mllm.linalg.add %a, %a {scalar = 1.0 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: add.c4
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.add' op has neither 'rhs' nor 'scalar', expected one of them}}
  %0 = mllm.linalg.add %a : tensor<4xf32>
  return
}

// -----

// RULE: add.c5
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.add' op has 'scalar' INF, expected a finite number}}
  %0 = mllm.linalg.add %a {scalar = 0x7FF0000000000000 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: add.c5
func.func @f(%a: tensor<4xi8>) {
  // expected-error@+1 {{'mllm.linalg.add' op has 'scalar' 1.500000e+00, expected an integer of the element type}}
  %0 = mllm.linalg.add %a {scalar = 1.5 : f64} : tensor<4xi8>
  return
}

// -----

// RULE: add.c5
func.func @f(%a: tensor<4xi8>) {
  // expected-error@+1 {{'mllm.linalg.add' op has 'scalar' 1.280000e+02, expected an integer of the element type}}
  %0 = mllm.linalg.add %a {scalar = 128.0 : f64} : tensor<4xi8>
  return
}

// -----

// RULE: sub.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@+1 {{'mllm.linalg.sub' op operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.sub %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// RULE: sub.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.sub' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.sub %a, %b : (tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>) -> tensor<4xf32>
  return
}

// -----

// RULE: sub.c2
func.func @f(%a: tensor<2x4xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'mllm.linalg.sub' op the shapes [2, 4] and [3] do not broadcast: sizes 4 and 3}}
  %0 = mllm.linalg.sub %a, %b : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// RULE: sub.c3
func.func @f(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.sub' op result #0 has type 'tensor<3x4xf32>', expected 'tensor<2x4xf32>'}}
  %0 = mllm.linalg.sub %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// RULE: sub.c4
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.sub' op has both 'rhs' and 'scalar', expected one of them}}
  %0 = mllm.linalg.sub %a, %a {scalar = 1.0 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: sub.c4
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.sub' op has neither 'rhs' nor 'scalar', expected one of them}}
  %0 = mllm.linalg.sub %a : tensor<4xf32>
  return
}

// -----

// RULE: sub.c5
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.sub' op has 'scalar' INF, expected a finite number}}
  %0 = mllm.linalg.sub %a {scalar = 0x7FF0000000000000 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: sub.c5
func.func @f(%a: tensor<4xi8>) {
  // expected-error@+1 {{'mllm.linalg.sub' op has 'scalar' 1.500000e+00, expected an integer of the element type}}
  %0 = mllm.linalg.sub %a {scalar = 1.5 : f64} : tensor<4xi8>
  return
}

// -----

// RULE: mul.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@+1 {{'mllm.linalg.mul' op operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.mul %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// RULE: mul.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.mul' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.mul %a, %b : (tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>) -> tensor<4xf32>
  return
}

// -----

// RULE: mul.c2
func.func @f(%a: tensor<2x4xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'mllm.linalg.mul' op the shapes [2, 4] and [3] do not broadcast: sizes 4 and 3}}
  %0 = mllm.linalg.mul %a, %b : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// RULE: mul.c3
func.func @f(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.mul' op result #0 has type 'tensor<3x4xf32>', expected 'tensor<2x4xf32>'}}
  %0 = mllm.linalg.mul %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// RULE: mul.c4
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.mul' op has both 'rhs' and 'scalar', expected one of them}}
  %0 = mllm.linalg.mul %a, %a {scalar = 1.0 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: mul.c4
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.mul' op has neither 'rhs' nor 'scalar', expected one of them}}
  %0 = mllm.linalg.mul %a : tensor<4xf32>
  return
}

// -----

// RULE: mul.c5
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.mul' op has 'scalar' INF, expected a finite number}}
  %0 = mllm.linalg.mul %a {scalar = 0x7FF0000000000000 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: mul.c5
func.func @f(%a: tensor<4xi8>) {
  // expected-error@+1 {{'mllm.linalg.mul' op has 'scalar' 1.500000e+00, expected an integer of the element type}}
  %0 = mllm.linalg.mul %a {scalar = 1.5 : f64} : tensor<4xi8>
  return
}

// -----

// RULE: div.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@+1 {{'mllm.linalg.div' op operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.div %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// RULE: div.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.div' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.div %a, %b : (tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>) -> tensor<4xf32>
  return
}

// -----

// RULE: div.c2
func.func @f(%a: tensor<2x4xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'mllm.linalg.div' op the shapes [2, 4] and [3] do not broadcast: sizes 4 and 3}}
  %0 = mllm.linalg.div %a, %b : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// RULE: div.c3
func.func @f(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.div' op result #0 has type 'tensor<3x4xf32>', expected 'tensor<2x4xf32>'}}
  %0 = mllm.linalg.div %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// RULE: div.c4
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.div' op has both 'rhs' and 'scalar', expected one of them}}
  %0 = mllm.linalg.div %a, %a {scalar = 1.0 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: div.c4
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.div' op has neither 'rhs' nor 'scalar', expected one of them}}
  %0 = mllm.linalg.div %a : tensor<4xf32>
  return
}

// -----

// RULE: div.c5
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.div' op has 'scalar' INF, expected a finite number}}
  %0 = mllm.linalg.div %a {scalar = 0x7FF0000000000000 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: div.c5
func.func @f(%a: tensor<4xi8>) {
  // expected-error@+1 {{'mllm.linalg.div' op has 'scalar' 1.500000e+00, expected an integer of the element type}}
  %0 = mllm.linalg.div %a {scalar = 1.5 : f64} : tensor<4xi8>
  return
}

// -----

// RULE: neg.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.neg' op result #0 has type 'tensor<4xf16>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.neg %a : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

// RULE: abs.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.abs' op result #0 has type 'tensor<4xf16>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.abs %a : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

// RULE: log.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.log' op result #0 has type 'tensor<4xf16>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.log %a : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

// RULE: exp.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.exp' op result #0 has type 'tensor<4xf16>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.exp %a : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

// RULE: sin.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.sin' op result #0 has type 'tensor<4xf16>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.sin %a : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

// RULE: cos.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.cos' op result #0 has type 'tensor<4xf16>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.cos %a : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

// RULE: logical_not.c1
func.func @f(%a: tensor<4xi1>) {
  // expected-error@+1 {{'mllm.linalg.logical_not' op result #0 has type 'tensor<4xi1, #mllm.tensor<kQNN>>', expected 'tensor<4xi1>'}}
  %0 = mllm.linalg.logical_not %a : tensor<4xi1> -> tensor<4xi1, #mllm.tensor<kQNN>>
  return
}

// -----

// RULE: clip.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.clip' op result #0 has type 'tensor<4xf16>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.clip %a : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

// RULE: clip.c2
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.clip' op has 'min_val' 2.000000e+00 and 'max_val' 1.000000e+00, expected numbers in order}}
  %0 = mllm.linalg.clip %a {min_val = 2.0 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: clip.c2
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.clip' op has 'min_val' nan and 'max_val' 1.000000e+00, expected numbers in order}}
  %0 = mllm.linalg.clip %a {min_val = 0x7FF8000000000000 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: clip.c3
func.func @f(%a: tensor<4xi8>) {
  // expected-error@+1 {{'mllm.linalg.clip' op has 'min_val' -5.000000e-01, expected an integer of the element type}}
  %0 = mllm.linalg.clip %a {min_val = -0.5 : f64} : tensor<4xi8>
  return
}

// -----

// RULE: clip.c3
func.func @f(%a: tensor<4xi8>) {
  // expected-error@+1 {{'mllm.linalg.clip' op has 'max_val' 2.000000e+02, expected an integer of the element type}}
  %0 = mllm.linalg.clip %a {max_val = 200.0 : f64} : tensor<4xi8>
  return
}

// -----

// RULE: fill.c1
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.fill' op result #0 has type 'tensor<4xf16>', expected 'tensor<4xf32>'}}
  %0 = mllm.linalg.fill zeros %a : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

// RULE: fill.c2
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.fill' op specific needs 'value'}}
  %0 = mllm.linalg.fill specific %a : tensor<4xf32>
  return
}

// -----

// RULE: fill.c2
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.fill' op zeros does not read 'seed'}}
  %0 = mllm.linalg.fill zeros %a {seed = 1 : i64} : tensor<4xf32>
  return
}

// -----

// RULE: fill.c2
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.fill' op random needs 'seed'}}
  %0 = mllm.linalg.fill random %a {end = 1.0 : f64, start = 0.0 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: fill.c3
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.fill' op has 'value' -INF, expected a finite number}}
  %0 = mllm.linalg.fill specific %a {value = 0xFFF0000000000000 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: fill.c3
func.func @f(%a: tensor<4xi64>) {
  // expected-error@+1 {{'mllm.linalg.fill' op has 'step' 5.000000e-01, expected an integer of the element type}}
  %0 = mllm.linalg.fill arange %a {start = 0.0 : f64, step = 0.5 : f64} : tensor<4xi64>
  return
}

// -----

// RULE: fill.c4
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.fill' op draws from 1.000000e+00 to below 1.000000e+00, expected numbers in order}}
  %0 = mllm.linalg.fill random %a {end = 1.0 : f64, seed = 1 : i64, start = 1.0 : f64} : tensor<4xf32>
  return
}

// -----

// RULE: equal.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@+1 {{'mllm.linalg.equal' op operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.equal %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xi1>
  return
}

// -----

// RULE: equal.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.equal' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.equal %a, %b : (tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>) -> tensor<4xi1>
  return
}

// -----

// RULE: equal.c2
func.func @f(%a: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'mllm.linalg.equal' op the shapes [4] and [3] do not broadcast: sizes 4 and 3}}
  %0 = mllm.linalg.equal %a, %b : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xi1>
  return
}

// -----

// RULE: equal.c3
func.func @f(%a: tensor<4xf32>, %b: tensor<1xf32>) {
  // expected-error@+1 {{'mllm.linalg.equal' op result #0 has type 'tensor<5xi1>', expected 'tensor<4xi1>'}}
  %0 = mllm.linalg.equal %a, %b : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xi1>
  return
}

// -----

// RULE: compare.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@+1 {{'mllm.linalg.compare' op operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.compare less %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xi1>
  return
}

// -----

// RULE: compare.c1
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.compare' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.compare less %a, %b : (tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>) -> tensor<4xi1>
  return
}

// -----

// RULE: compare.c2
func.func @f(%a: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'mllm.linalg.compare' op the shapes [4] and [3] do not broadcast: sizes 4 and 3}}
  %0 = mllm.linalg.compare less %a, %b : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xi1>
  return
}

// -----

// RULE: compare.c3
func.func @f(%a: tensor<4xf32>, %b: tensor<1xf32>) {
  // expected-error@+1 {{'mllm.linalg.compare' op result #0 has type 'tensor<5xi1>', expected 'tensor<4xi1>'}}
  %0 = mllm.linalg.compare less %a, %b : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xi1>
  return
}

// -----

// RULE: logical_and.c1
func.func @f(%a: tensor<4xi1>, %b: tensor<4xi1, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.logical_and' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.logical_and %a, %b : (tensor<4xi1>, tensor<4xi1, #mllm.tensor<kQNN>>) -> tensor<4xi1>
  return
}

// -----

// RULE: logical_and.c2
func.func @f(%a: tensor<4xi1>, %b: tensor<3xi1>) {
  // expected-error@+1 {{'mllm.linalg.logical_and' op the shapes [4] and [3] do not broadcast: sizes 4 and 3}}
  %0 = mllm.linalg.logical_and %a, %b : (tensor<4xi1>, tensor<3xi1>) -> tensor<4xi1>
  return
}

// -----

// RULE: logical_and.c3
func.func @f(%a: tensor<4xi1>, %b: tensor<1xi1>) {
  // expected-error@+1 {{'mllm.linalg.logical_and' op result #0 has type 'tensor<5xi1>', expected 'tensor<4xi1>'}}
  %0 = mllm.linalg.logical_and %a, %b : (tensor<4xi1>, tensor<1xi1>) -> tensor<5xi1>
  return
}

// -----

// RULE: logical_or.c1
func.func @f(%a: tensor<4xi1>, %b: tensor<4xi1, #mllm.tensor<kQNN>>) {
  // expected-error@+1 {{'mllm.linalg.logical_or' op operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.logical_or %a, %b : (tensor<4xi1>, tensor<4xi1, #mllm.tensor<kQNN>>) -> tensor<4xi1>
  return
}

// -----

// RULE: logical_or.c2
func.func @f(%a: tensor<4xi1>, %b: tensor<3xi1>) {
  // expected-error@+1 {{'mllm.linalg.logical_or' op the shapes [4] and [3] do not broadcast: sizes 4 and 3}}
  %0 = mllm.linalg.logical_or %a, %b : (tensor<4xi1>, tensor<3xi1>) -> tensor<4xi1>
  return
}

// -----

// RULE: logical_or.c3
func.func @f(%a: tensor<4xi1>, %b: tensor<1xi1>) {
  // expected-error@+1 {{'mllm.linalg.logical_or' op result #0 has type 'tensor<5xi1>', expected 'tensor<4xi1>'}}
  %0 = mllm.linalg.logical_or %a, %b : (tensor<4xi1>, tensor<1xi1>) -> tensor<5xi1>
  return
}

// -----

// RULE: where.c1
func.func @f(%m: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@+1 {{'mllm.linalg.where' op operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.where %m, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// RULE: where.c1
func.func @f(%m: tensor<4xi1, #mllm.tensor<kQNN>>, %a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.where' op operand #1 is on kCPU, but operand #0 is on kQNN}}
  %0 = mllm.linalg.where %m, %a, %b : (tensor<4xi1, #mllm.tensor<kQNN>>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// RULE: where.c2
func.func @f(%m: tensor<3xi1>, %a: tensor<4xf32>) {
  // expected-error@+1 {{'mllm.linalg.where' op the shapes [3] and [4] do not broadcast: sizes 3 and 4}}
  %0 = mllm.linalg.where %m, %a, %a : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// RULE: where.c2
func.func @f(%m: tensor<3xi1>, %a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error@+1 {{'mllm.linalg.where' op the shapes [4] and [5] do not broadcast: sizes 4 and 5}}
  %0 = mllm.linalg.where %m, %a, %b : (tensor<3xi1>, tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

// RULE: where.c3
func.func @f(%m: tensor<4x1xi1>, %a: tensor<3xf32>) {
  // expected-error@+1 {{'mllm.linalg.where' op result #0 has type 'tensor<3xf32>', expected 'tensor<4x3xf32>'}}
  %0 = mllm.linalg.where %m, %a, %a : (tensor<4x1xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}
