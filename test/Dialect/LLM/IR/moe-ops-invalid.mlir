// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// A negative test for each constraint of the ops of LLMMoEOps.td, whose labels
// these are.

// RULE: moe_route.c1
func.func @test(%l: tensor<?x8xf32>) {
  // expected-error@+2 {{'llm.moe_route' op top_k is 0, but there are 8 experts}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = llm.moe_route %l {top_k = 0} : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

// RULE: moe_route.c1
func.func @test(%l: tensor<?x8xf32>) {
  // expected-error@+2 {{'llm.moe_route' op top_k is 9, but there are 8 experts}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = llm.moe_route %l {top_k = 9} : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

// RULE: moe_route.c2
func.func @test(%l: tensor<?x8xf32>) {
  // expected-error@+2 {{'llm.moe_route' op score must be softmax or sigmoid, not relu}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = llm.moe_route %l {top_k = 2, score = "relu"} : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

// RULE: moe_ffn.c1
func.func @test(%x: tensor<5x64xf32>, %e: tensor<5x3xi32>, %w: tensor<5x2xf32>, %g: tensor<8x192x64xbf16>, %u: tensor<8x192x64xbf16>, %d: tensor<8x64x192xbf16>) {
  // expected-error@+1 {{'llm.moe_ffn' op has experts of shape [5, 3] and weights of shape [5, 2] for 5 tokens}}
  %0 = llm.moe_ffn %x, %e, %w, %g, %u, %d : (tensor<5x64xf32>, tensor<5x3xi32>, tensor<5x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>) -> tensor<5x64xf32>
  return
}

// -----

// RULE: moe_ffn.c1
func.func @test(%x: tensor<5x64xf32>, %e: tensor<4x2xi32>, %w: tensor<4x2xf32>, %g: tensor<8x192x64xbf16>, %u: tensor<8x192x64xbf16>, %d: tensor<8x64x192xbf16>) {
  // expected-error@+1 {{'llm.moe_ffn' op has experts of shape [4, 2] and weights of shape [4, 2] for 5 tokens}}
  %0 = llm.moe_ffn %x, %e, %w, %g, %u, %d : (tensor<5x64xf32>, tensor<4x2xi32>, tensor<4x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>) -> tensor<5x64xf32>
  return
}

// -----

// RULE: moe_ffn.c2
func.func @test(%x: tensor<5x64xf32>, %e: tensor<5x2xi32>, %w: tensor<5x2xf32>, %g: tensor<8x192x64xbf16>, %u: tensor<8x190x64xbf16>, %d: tensor<8x64x192xbf16>) {
  // expected-error@+1 {{'llm.moe_ffn' op has gates of shape [8, 192, 64], but up projections of shape [8, 190, 64]}}
  %0 = llm.moe_ffn %x, %e, %w, %g, %u, %d : (tensor<5x64xf32>, tensor<5x2xi32>, tensor<5x2xf32>, tensor<8x192x64xbf16>, tensor<8x190x64xbf16>, tensor<8x64x192xbf16>) -> tensor<5x64xf32>
  return
}

// -----

// RULE: moe_ffn.c2
func.func @test(%x: tensor<5x32xf32>, %e: tensor<5x2xi32>, %w: tensor<5x2xf32>, %g: tensor<8x192x64xbf16>, %u: tensor<8x192x64xbf16>, %d: tensor<8x64x192xbf16>) {
  // expected-error@+1 {{'llm.moe_ffn' op has rows of 32 elements, but gates of 64 inputs}}
  %0 = llm.moe_ffn %x, %e, %w, %g, %u, %d : (tensor<5x32xf32>, tensor<5x2xi32>, tensor<5x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>) -> tensor<5x32xf32>
  return
}

// -----

// RULE: moe_ffn.c3
func.func @test(%x: tensor<5x64xf32>, %e: tensor<5x2xi32>, %w: tensor<5x2xf32>, %g: tensor<8x192x64xbf16>, %u: tensor<8x192x64xbf16>, %d: tensor<8x192x64xbf16>) {
  // expected-error@+1 {{'llm.moe_ffn' op has down projections of shape [8, 192, 64] for gates of shape [8, 192, 64]}}
  %0 = llm.moe_ffn %x, %e, %w, %g, %u, %d : (tensor<5x64xf32>, tensor<5x2xi32>, tensor<5x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>) -> tensor<5x64xf32>
  return
}

// -----

// RULE: moe_ffn.c5 (their number)
func.func @test(%x: tensor<5x64xf32>, %e: tensor<5x2xi32>, %w: tensor<5x2xf32>, %g: tensor<8x192x64xbf16>, %d: tensor<8x64x192xbf16>, %b: tensor<8x192x1xf32>) {
  // expected-error@+1 {{'llm.moe_ffn' op has 2 biases, expected none or three}}
  %0 = llm.moe_ffn %x, %e, %w, %g, %g, %d, %b, %b : (tensor<5x64xf32>, tensor<5x2xi32>, tensor<5x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>, tensor<8x192x1xf32>, tensor<8x192x1xf32>) -> tensor<5x64xf32>
  return
}

// -----

// RULE: moe_ffn.c5 (shape)
func.func @test(%x: tensor<5x64xf32>, %e: tensor<5x2xi32>, %w: tensor<5x2xf32>, %g: tensor<8x192x64xbf16>, %d: tensor<8x64x192xbf16>, %b: tensor<8x192x1xf32>) {
  // expected-error@+1 {{'llm.moe_ffn' op has a bias of shape [8, 192, 1] for matrices of shape [8, 64, 192]}}
  %0 = llm.moe_ffn %x, %e, %w, %g, %g, %d, %b, %b, %b : (tensor<5x64xf32>, tensor<5x2xi32>, tensor<5x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>, tensor<8x192x1xf32>, tensor<8x192x1xf32>, tensor<8x192x1xf32>) -> tensor<5x64xf32>
  return
}

// -----

// RULE: moe_ffn.c6
func.func @test(%x: tensor<5x64xf32>, %e: tensor<5x2xi32>, %w: tensor<5x2xf32>, %g: tensor<8x192x64xbf16>, %d: tensor<8x64x192xbf16>) {
  // expected-error@+1 {{'llm.moe_ffn' op swiglu_limit must be finite and positive, not 0.000000e+00 : f64}}
  %0 = llm.moe_ffn %x, %e, %w, %g, %g, %d {swiglu_limit = 0.0} : (tensor<5x64xf32>, tensor<5x2xi32>, tensor<5x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>) -> tensor<5x64xf32>
  return
}

// -----

// RULE: moe_ffn.c7
func.func @test(%x: tensor<5x64xf32>, %e: tensor<5x2xi32>, %w: tensor<5x2xf32>, %g: tensor<8x192x64xbf16>, %d: tensor<8x64x192xbf16>) {
  // expected-error@+1 {{'llm.moe_ffn' op has both swiglu_limit and gelu}}
  %0 = llm.moe_ffn %x, %e, %w, %g, %g, %d {swiglu_limit = 1.0, gelu} : (tensor<5x64xf32>, tensor<5x2xi32>, tensor<5x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>) -> tensor<5x64xf32>
  return
}

// -----

// RULE: moe_ffn.c4
func.func @test(%x: tensor<5x64xf32>, %e: tensor<5x2xi32>, %w: tensor<5x2xf32>, %g: tensor<8x192x64xbf16>, %u: !llm.quantized_tensor<i8, [8, 192, 64], true, false, -1, 32, 8>, %d: tensor<8x64x192xbf16>) {
  // expected-error@+1 {{'llm.moe_ffn' op has a weight of type '!llm.quantized_tensor<i8, [8, 192, 64], true, false, -1, 32, 8>' without a format and therefore without scales}}
  %0 = llm.moe_ffn %x, %e, %w, %g, %u, %d : (tensor<5x64xf32>, tensor<5x2xi32>, tensor<5x2xf32>, tensor<8x192x64xbf16>, !llm.quantized_tensor<i8, [8, 192, 64], true, false, -1, 32, 8>, tensor<8x64x192xbf16>) -> tensor<5x64xf32>
  return
}

// -----

// RULE: head_linear.c1 (heads)
func.func @test(%x: tensor<5x4x64xf32>, %w: tensor<8x32x64xbf16>) {
  // expected-error@+1 {{'llm.head_linear' op has heads of shape [5, 4, 64], but weights of shape [8, 32, 64]}}
  %0 = llm.head_linear %x, %w : (tensor<5x4x64xf32>, tensor<8x32x64xbf16>) -> tensor<5x4x32xf32>
  return
}

// -----

// RULE: head_linear.c1 (their elements)
func.func @test(%x: tensor<5x8x32xf32>, %w: tensor<8x32x64xbf16>) {
  // expected-error@+1 {{'llm.head_linear' op has heads of shape [5, 8, 32], but weights of shape [8, 32, 64]}}
  %0 = llm.head_linear %x, %w : (tensor<5x8x32xf32>, tensor<8x32x64xbf16>) -> tensor<5x8x32xf32>
  return
}

// -----

// RULE: head_linear.c2
func.func @test(%x: tensor<5x8x64xf32>, %w: tensor<8x32x64xbf16>) {
  // expected-error@+1 {{'llm.head_linear' op has a result of type 'tensor<5x8x64xf32>' for heads of type 'tensor<5x8x64xf32>' and weights of shape [8, 32, 64]}}
  %0 = llm.head_linear %x, %w : (tensor<5x8x64xf32>, tensor<8x32x64xbf16>) -> tensor<5x8x64xf32>
  return
}

// -----

// RULE: head_linear.c2 (the element type)
func.func @test(%x: tensor<5x8x64xf32>, %w: tensor<8x32x64xbf16>) {
  // expected-error@+1 {{'llm.head_linear' op has a result of type 'tensor<5x8x32xbf16>' for heads of type 'tensor<5x8x64xf32>'}}
  %0 = llm.head_linear %x, %w : (tensor<5x8x64xf32>, tensor<8x32x64xbf16>) -> tensor<5x8x32xbf16>
  return
}

// -----

// RULE: head_linear.c3
func.func @test(%x: tensor<5x8x64xf32>, %w: !llm.quantized_tensor<i8, [8, 32, 64], true, false, -1, 32, 8>) {
  // expected-error@+1 {{'llm.head_linear' op has a weight of type '!llm.quantized_tensor<i8, [8, 32, 64], true, false, -1, 32, 8>' without a format and therefore without scales}}
  %0 = llm.head_linear %x, %w : (tensor<5x8x64xf32>, !llm.quantized_tensor<i8, [8, 32, 64], true, false, -1, 32, 8>) -> tensor<5x8x32xf32>
  return
}

// -----

// RULE: sample.c1
func.func @test(%l: tensor<3x256xf32>) {
  // expected-error@+1 {{'llm.sample' op temperature must be from 0 to 1000000, not -1.000000e+00 : f64}}
  %0 = llm.sample %l {temperature = -1.0} : (tensor<3x256xf32>) -> tensor<3xi32>
  return
}

// -----

// RULE: sample.c1
func.func @test(%l: tensor<3x256xf32>) {
  // expected-error@+1 {{'llm.sample' op temperature must be from 0 to 1000000, not 0x7FF8000000000000 : f64}}
  %0 = llm.sample %l {temperature = 0x7FF8000000000000 : f64} : (tensor<3x256xf32>) -> tensor<3xi32>
  return
}

// -----

// RULE: sample.c2
func.func @test(%l: tensor<3x256xf32>) {
  // expected-error@+1 {{'llm.sample' op top_k must be 0 (all) or positive, not -1}}
  %0 = llm.sample %l {top_k = -1} : (tensor<3x256xf32>) -> tensor<3xi32>
  return
}

// -----

// RULE: sample.c3
func.func @test(%l: tensor<3x256xf32>) {
  // expected-error@+1 {{'llm.sample' op top_p must be from 0 to 1, not 1.500000e+00 : f64}}
  %0 = llm.sample %l {top_p = 1.5} : (tensor<3x256xf32>) -> tensor<3xi32>
  return
}

// -----

// RULE: sample.c4
func.func @test(%l: tensor<3x256xf32>) {
  // expected-error@+1 {{'llm.sample' op min_p must be from 0 to 1, not -5.000000e-01 : f64}}
  %0 = llm.sample %l {min_p = -0.5} : (tensor<3x256xf32>) -> tensor<3xi32>
  return
}

// -----

// RULE: sample.c5
func.func @test(%l: tensor<3x0xf32>) {
  // expected-error@+1 {{'llm.sample' op has a vocabulary of 0 tokens}}
  %0 = llm.sample %l {} : (tensor<3x0xf32>) -> tensor<3xi32>
  return
}
