// REQUIRES: avx2
// RUN: llmir-translate --compare %s | FileCheck %s
// RUN: llmir-translate --compare --level=x86-64-v3 --workers=3 --seed=5 %s | FileCheck %s

// Norms, softmax, activations and rotations in the forms that rows.mlir does not
// have: of heads and of rank 4, with computed weights, far out, of nothing.

// SPEC: 84 117
// CHECK: @layer_norm result 0: nmse
// CHECK: @layer_norm result 1: nmse
// CHECK: @layer_norm result 2: nmse
func.func @layer_norm(%x: tensor<7x60xf32>, %w: tensor<60xf32>, %b: tensor<60xf32>)
    -> (tensor<7x60xf32>, tensor<7x60xf32>, tensor<7x60xf32>) {
  %0 = llm.layer_norm %x : tensor<7x60xf32>
  %1 = llm.layer_norm %x, %w {eps = 1.0e-6 : f64} : tensor<7x60xf32>, tensor<60xf32>
  %2 = llm.layer_norm %x, %w, %b : tensor<7x60xf32>, tensor<60xf32>, tensor<60xf32>
  return %0, %1, %2 : tensor<7x60xf32>, tensor<7x60xf32>, tensor<7x60xf32>
}

// Heads of a row, and rows of a tensor of rank 4; narrow weights and results.
// CHECK: @layer_norm_narrow result 0: nmse
// CHECK: @layer_norm_narrow result 1: nmse
func.func @layer_norm_narrow(%x: tensor<3x4x10xbf16>, %y: tensor<2x3x2x33xf16>,
                             %w: tensor<10xbf16>, %b: tensor<10xf32>)
    -> (tensor<3x4x10xbf16>, tensor<2x3x2x33xf16>) {
  %0 = llm.layer_norm %x, %w, %b : tensor<3x4x10xbf16>, tensor<10xbf16>, tensor<10xf32>
  %1 = llm.layer_norm %y : tensor<2x3x2x33xf16>
  return %0, %1 : tensor<3x4x10xbf16>, tensor<2x3x2x33xf16>
}

// The weight and the bias may be computed.
// CHECK: @computed_weight result 0: nmse
func.func @computed_weight(%x: tensor<5x20xf32>, %w: tensor<20xf32>, %v: tensor<20xf32>)
    -> tensor<5x20xf32> {
  %s = llm.add %w, %v : tensor<20xf32>
  %b = llm.silu %w : tensor<20xf32>
  %0 = llm.layer_norm %x, %s, %b : tensor<5x20xf32>, tensor<20xf32>, tensor<20xf32>
  return %0 : tensor<5x20xf32>
}

// CHECK: @rms_norm result 0: nmse
// CHECK: @rms_norm result 1: nmse
func.func @rms_norm(%x: tensor<7x60xf32>, %y: tensor<3x4x10xbf16>)
    -> (tensor<7x60xf32>, tensor<3x4x10xbf16>) {
  %0 = llm.rms_norm %x {eps = 1.0e-5 : f64} : tensor<7x60xf32>
  %1 = llm.rms_norm %y {eps = 1.0e-5 : f64} : tensor<3x4x10xbf16>
  return %0, %1 : tensor<7x60xf32>, tensor<3x4x10xbf16>
}

// SPEC: 118
// CHECK: @softmax result 0: nmse
// CHECK: @softmax result 1: nmse
// CHECK: @softmax result 2: nmse
func.func @softmax(%x: tensor<33x37xf32> {check.range = array<f64: -50.0, 50.0>},
                   %y: tensor<2x3x5x6xbf16>, %z: tensor<19xf16>)
    -> (tensor<33x37xf32>, tensor<2x3x5x6xbf16>, tensor<19xf16>) {
  %0 = llm.softmax %x : tensor<33x37xf32>
  %1 = llm.softmax %y : tensor<2x3x5x6xbf16>
  %2 = llm.softmax %z : tensor<19xf16>
  return %0, %1, %2 : tensor<33x37xf32>, tensor<2x3x5x6xbf16>, tensor<19xf16>
}

// Masked elements remain masked; a row of only masked elements gives 0.
// CHECK: @softmax_of_infinities result 0: nmse
func.func @softmax_of_infinities() -> tensor<2x3xf32> {
  // The second row is -inf alone, the first has 0 and -inf.
  %x = arith.constant dense<[[0.0, 0xFF800000, 1.0], [0xFF800000, 0xFF800000, 0xFF800000]]> : tensor<2x3xf32>
  %0 = llm.softmax %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK: @gelu result 0: nmse
// CHECK: @gelu result 1: nmse
// CHECK: @gelu result 2: nmse
func.func @gelu(%x: tensor<9x50xf32> {check.range = array<f64: -12.0, 12.0>})
    -> (tensor<9x50xf32>, tensor<9x50xf32>, tensor<9x50xf32>) {
  %0 = llm.gelu %x : tensor<9x50xf32>
  %1 = llm.gelu %x {approximate = "tanh"} : tensor<9x50xf32>
  %2 = llm.gelu %x {approximate = "quick"} : tensor<9x50xf32>
  return %0, %1, %2 : tensor<9x50xf32>, tensor<9x50xf32>, tensor<9x50xf32>
}

// Where gelu is next to nothing its error is as small.
// CHECK: @gelu_of_negatives result 0: nmse
// CHECK: @gelu_of_negatives result 1: nmse
func.func @gelu_of_negatives(%x: tensor<64xf32> {check.range = array<f64: -9.0, -4.0>})
    -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = llm.gelu %x : tensor<64xf32>
  %1 = llm.gelu %x {approximate = "tanh"} : tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// Each op of a chain rounds, although one kernel computes all of them.
// CHECK: @chain result 0: nmse
// CHECK: @chain result 1: nmse
func.func @chain(%x: tensor<5x33xbf16>, %y: tensor<5x33xbf16>, %u: tensor<40xf16>, %v: tensor<40xf16>)
    -> (tensor<5x33xbf16>, tensor<40xf16>) {
  %0 = llm.gelu %x {approximate = "tanh"} : tensor<5x33xbf16>
  %1 = llm.mul %0, %y : tensor<5x33xbf16>
  %2 = llm.add %1, %x : tensor<5x33xbf16>
  %3 = llm.swiglu %u, %v : tensor<40xf16>
  %4 = llm.gelu %3 : tensor<40xf16>
  return %2, %4 : tensor<5x33xbf16>, tensor<40xf16>
}

// Neighbouring pairs, halves, and a part of each head.
// CHECK: @rope result 0: nmse
// CHECK: @rope result 1: nmse
// CHECK: @rope result 2: nmse
func.func @rope(%x: tensor<5x3x6xf16>, %y: tensor<5x2x80xbf16>, %z: tensor<5x4x64xf32>,
                %p: tensor<5xi32> {check.range = array<i64: 0, 4000>})
    -> (tensor<5x3x6xf16>, tensor<5x2x80xbf16>, tensor<5x4x64xf32>) {
  %0 = llm.rope %x, %p {interleaved, frequencies = array<f64: 1.0, 0.1, 0.01>} : tensor<5x3x6xf16>, tensor<5xi32>
  %1 = llm.rope %y, %p {interleaved, frequencies = array<f64: 1.0, 0.3>, scaling = 1.5 : f64} : tensor<5x2x80xbf16>, tensor<5xi32>
  %2 = llm.rope %z, %p {frequencies = array<f64: 1.0, 0.3>} : tensor<5x4x64xf32>, tensor<5xi32>
  return %0, %1, %2 : tensor<5x3x6xf16>, tensor<5x2x80xbf16>, tensor<5x4x64xf32>
}

// Nothing to do is done.
// CHECK: @empty result 0: nmse 0
// CHECK: @empty result 1: nmse 0
// CHECK: @empty result 2: nmse 0
// CHECK: @empty result 3: nmse 0
func.func @empty(%x: tensor<0x8xf32>, %y: tensor<4x0xf32>, %z: tensor<4x0xbf16>)
    -> (tensor<0x8xf32>, tensor<0x8xf32>, tensor<4x0xf32>, tensor<4x0xbf16>) {
  %0 = llm.layer_norm %x : tensor<0x8xf32>
  %1 = llm.gelu %0 : tensor<0x8xf32>
  %2 = llm.softmax %y : tensor<4x0xf32>
  %3 = llm.rms_norm %z {eps = 1.0e-5 : f64} : tensor<4x0xbf16>
  %4 = llm.gelu %3 : tensor<4x0xbf16>
  return %0, %1, %2, %4 : tensor<0x8xf32>, tensor<0x8xf32>, tensor<4x0xf32>, tensor<4x0xbf16>
}
