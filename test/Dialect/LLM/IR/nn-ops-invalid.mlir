// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// A negative test for each constraint of norms and activations; the labels are
// those of LLMOps.td.

// RULE: layer_norm.c1
func.func @test(%x: tensor<?x64xf32>, %w: tensor<32xf32>) {
  // expected-error@+1 {{'llm.layer_norm' op has rows of 64 elements, but a weight of 32}}
  %0 = llm.layer_norm %x, %w : tensor<?x64xf32>, tensor<32xf32>
  return
}

// -----

// RULE: layer_norm.c2
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %b: tensor<65xf32>) {
  // expected-error@+1 {{'llm.layer_norm' op has rows of 64 elements, but a bias of 65}}
  %0 = llm.layer_norm %x, %w, %b : tensor<?x64xf32>, tensor<64xf32>, tensor<65xf32>
  return
}

// -----

// RULE: layer_norm.c3
func.func @test(%x: tensor<?x64xf32>, %b: tensor<64xf32>) {
  // expected-error@+1 {{'llm.layer_norm' op has a bias of 64 elements, but no weight}}
  %0 = "llm.layer_norm"(%x, %b) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// RULE: layer_norm.c4
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+1 {{'llm.layer_norm' op eps must be finite and not negative, not -1.000000e+00 : f64}}
  %0 = llm.layer_norm %x {eps = -1.0 : f64} : tensor<?x64xf32>
  return
}

// -----

// RULE: rms_norm.c2, without a weight
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+1 {{'llm.rms_norm' op eps must be finite and not negative, not 0x7FF0000000000000 : f64}}
  %0 = llm.rms_norm %x {eps = 0x7FF0000000000000 : f64} : tensor<?x64xf32>
  return
}

// -----

// RULE: gelu.c1
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+1 {{'llm.gelu' op approximate must be none, tanh or quick, not erf}}
  %0 = llm.gelu %x {approximate = "erf"} : tensor<?x64xf32>
  return
}

// -----

// swiglu: one type
func.func @test(%x: tensor<?x64xf32>, %y: tensor<?x32xf32>) {
  // expected-error@+1 {{'llm.swiglu' op requires the same type for all operands and results}}
  %0 = "llm.swiglu"(%x, %y) : (tensor<?x64xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  return
}

// -----

// softmax: floats
func.func @test(%i: tensor<4xi32>) {
  // expected-error@+1 {{'llm.softmax' op operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float values, but got 'tensor<4xi32>'}}
  %0 = "llm.softmax"(%i) : (tensor<4xi32>) -> tensor<4xi32>
  return
}
