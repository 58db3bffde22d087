// REQUIRES: avx2
// RUN: llmir-translate --compare %s | FileCheck %s
// RUN: llmir-translate --compare --level=x86-64-v3 --workers=3 --seed=5 %s | FileCheck %s

// Mixtures of experts in compiled programs, against the interpreter.

!q8_gate = !llm.quantized_tensor<i8, [4, 96, 64], true, false, -1, 32, 8, format = q8_0>
!q8_down = !llm.quantized_tensor<i8, [4, 64, 96], true, false, -1, 32, 8, format = q8_0>
!q4_gate = !llm.quantized_tensor<i4, [4, 96, 64], true, false, -1, 32, 4, format = q4_0>
!q4_down = !llm.quantized_tensor<i4, [4, 64, 96], true, false, -1, 32, 4, format = q4_0>

// CHECK: @route result 0: equal
// CHECK: @route result 1: nmse
// CHECK: @route result 2: equal
// CHECK: @route result 3: nmse
// CHECK: @route result 4: equal
// CHECK: @route result 5: nmse
func.func @route(%x: tensor<33x8xf32> {check.range = array<f64: -6.0, 6.0>}, %y: tensor<7x60xbf16>)
    -> (tensor<33x2xi32>, tensor<33x2xf32>, tensor<33x8xi32>, tensor<33x8xf32>, tensor<7x3xi32>, tensor<7x3xbf16>) {
  %e0, %w0 = llm.moe_route %x {top_k = 2} : (tensor<33x8xf32>) -> (tensor<33x2xi32>, tensor<33x2xf32>)
  %e1, %w1 = llm.moe_route %x {top_k = 8, score = "sigmoid", normalize = false} : (tensor<33x8xf32>) -> (tensor<33x8xi32>, tensor<33x8xf32>)
  // bf16 has many equal logits: the lower expert is chosen.
  %e2, %w2 = llm.moe_route %y {top_k = 3, score = "sigmoid"} : (tensor<7x60xbf16>) -> (tensor<7x3xi32>, tensor<7x3xbf16>)
  return %e0, %w0, %e1, %w1, %e2, %w2
    : tensor<33x2xi32>, tensor<33x2xf32>, tensor<33x8xi32>, tensor<33x8xf32>, tensor<7x3xi32>, tensor<7x3xbf16>
}

// The experts that the router chose.
// CHECK: @ffn_f32 result 0: nmse
func.func @ffn_f32(%x: tensor<33x37xf32>, %r: tensor<5x37xf32>, %gate: tensor<5x20x37xf32>, %up: tensor<5x20x37xf32>,
                   %down: tensor<5x37x20xf32>) -> tensor<33x37xf32> {
  %l = llm.linear %x, %r : tensor<33x37xf32>, tensor<5x37xf32> -> tensor<33x5xf32>
  %e, %w = llm.moe_route %l {top_k = 2} : (tensor<33x5xf32>) -> (tensor<33x2xi32>, tensor<33x2xf32>)
  %y = llm.moe_ffn %x, %e, %w, %gate, %up, %down
     : (tensor<33x37xf32>, tensor<33x2xi32>, tensor<33x2xf32>, tensor<5x20x37xf32>, tensor<5x20x37xf32>, tensor<5x37x20xf32>)
       -> tensor<33x37xf32>
  return %y : tensor<33x37xf32>
}

// Experts in any order, some twice, one never; one token.
// CHECK: @ffn_bf16 result 0: nmse
// CHECK: @ffn_bf16 result 1: nmse
func.func @ffn_bf16(%x: tensor<9x64xbf16>, %t: tensor<1x64xbf16>, %gate: tensor<4x96x64xbf16>, %up: tensor<4x96x64xbf16>,
                    %down: tensor<4x64x96xbf16>, %e: tensor<9x3xi32> {check.range = array<i64: 0, 3>},
                    %w: tensor<9x3xbf16>) -> (tensor<9x64xbf16>, tensor<1x64xbf16>) {
  %y = llm.moe_ffn %x, %e, %w, %gate, %up, %down
     : (tensor<9x64xbf16>, tensor<9x3xi32>, tensor<9x3xbf16>, tensor<4x96x64xbf16>, tensor<4x96x64xbf16>, tensor<4x64x96xbf16>)
       -> tensor<9x64xbf16>
  %e1 = arith.constant dense<[[3, 0]]> : tensor<1x2xi32>
  %w1 = arith.constant dense<[[0.25, 0.75]]> : tensor<1x2xf32>
  %z = llm.moe_ffn %t, %e1, %w1, %gate, %up, %down
     : (tensor<1x64xbf16>, tensor<1x2xi32>, tensor<1x2xf32>, tensor<4x96x64xbf16>, tensor<4x96x64xbf16>, tensor<4x64x96xbf16>)
       -> tensor<1x64xbf16>
  return %y, %z : tensor<9x64xbf16>, tensor<1x64xbf16>
}

// CHECK: @ffn_f16 result 0: nmse
func.func @ffn_f16(%x: tensor<7x64xf16>, %gate: tensor<4x96x64xf16>, %up: tensor<4x96x64xf16>, %down: tensor<4x64x96xf16>,
                   %e: tensor<7x2xi32> {check.range = array<i64: 0, 4>}, %w: tensor<7x2xf32>) -> tensor<7x64xf16> {
  %y = llm.moe_ffn %x, %e, %w, %gate, %up, %down
     : (tensor<7x64xf16>, tensor<7x2xi32>, tensor<7x2xf32>, tensor<4x96x64xf16>, tensor<4x96x64xf16>, tensor<4x64x96xf16>)
       -> tensor<7x64xf16>
  return %y : tensor<7x64xf16>
}

// CHECK: @ffn_q8_0 result 0: nmse
func.func @ffn_q8_0(%x: tensor<7x64xf32>, %gate: !q8_gate, %up: !q8_gate, %down: !q8_down,
                    %e: tensor<7x2xi32> {check.range = array<i64: 0, 4>}, %w: tensor<7x2xf32>) -> tensor<7x64xf32> {
  %y = llm.moe_ffn %x, %e, %w, %gate, %up, %down
     : (tensor<7x64xf32>, tensor<7x2xi32>, tensor<7x2xf32>, !q8_gate, !q8_gate, !q8_down) -> tensor<7x64xf32>
  return %y : tensor<7x64xf32>
}

// CHECK: @ffn_q4_0 result 0: nmse
func.func @ffn_q4_0(%x: tensor<7x64xf32>, %gate: !q4_gate, %up: !q4_gate, %down: !q4_down,
                    %e: tensor<7x2xi32> {check.range = array<i64: 0, 4>}, %w: tensor<7x2xf32>) -> tensor<7x64xf32> {
  %y = llm.moe_ffn %x, %e, %w, %gate, %up, %down
     : (tensor<7x64xf32>, tensor<7x2xi32>, tensor<7x2xf32>, !q4_gate, !q4_gate, !q4_down) -> tensor<7x64xf32>
  return %y : tensor<7x64xf32>
}

// The weights of experts may be computed; their rows are not whole tiles.
// CHECK: @computed_experts result 0: nmse
func.func @computed_experts(%x: tensor<5x10xf32>, %a: tensor<3x20x10xf32>, %b: tensor<3x20x10xf32>, %down: tensor<3x10x20xf32>,
                            %e: tensor<5x2xi32> {check.range = array<i64: 0, 3>}, %w: tensor<5x2xf32>) -> tensor<5x10xf32> {
  %gate = llm.add %a, %b : tensor<3x20x10xf32>
  %up = llm.mul %a, %b : tensor<3x20x10xf32>
  %d = llm.add %down, %down : tensor<3x10x20xf32>
  %y = llm.moe_ffn %x, %e, %w, %gate, %up, %d
     : (tensor<5x10xf32>, tensor<5x2xi32>, tensor<5x2xf32>, tensor<3x20x10xf32>, tensor<3x20x10xf32>, tensor<3x10x20xf32>)
       -> tensor<5x10xf32>
  return %y : tensor<5x10xf32>
}

// No token, no pair.
// CHECK: @no_tokens result 0: nmse 0
func.func @no_tokens(%x: tensor<0x10xf32>, %l: tensor<0x3xf32>, %gate: tensor<3x20x10xf32>, %down: tensor<3x10x20xf32>) -> tensor<0x10xf32> {
  %e, %w = llm.moe_route %l {top_k = 2} : (tensor<0x3xf32>) -> (tensor<0x2xi32>, tensor<0x2xf32>)
  %y = llm.moe_ffn %x, %e, %w, %gate, %gate, %down
     : (tensor<0x10xf32>, tensor<0x2xi32>, tensor<0x2xf32>, tensor<3x20x10xf32>, tensor<3x20x10xf32>, tensor<3x10x20xf32>)
       -> tensor<0x10xf32>
  return %y : tensor<0x10xf32>
}

// Biases of several formats, and the clamped SwiGLU.
// CHECK: @biases result 0: nmse
// CHECK: @biases result 1: nmse
func.func @biases(%x: tensor<33x37xf32> {check.range = array<f64: -3.0, 3.0>}, %gate: tensor<5x20x37xf32>, %up: tensor<5x20x37xf32>,
                  %down: tensor<5x37x20xf32>, %b: tensor<5x20x1xf32>, %c: tensor<5x20x1xf16>, %d: tensor<5x37x1xbf16>,
                  %e: tensor<33x2xi32> {check.range = array<i64: 0, 5>}, %w: tensor<33x2xf32>) -> (tensor<33x37xf32>, tensor<33x37xf32>) {
  %y = llm.moe_ffn %x, %e, %w, %gate, %up, %down, %b, %c, %d {swiglu_limit = 0.5}
     : (tensor<33x37xf32>, tensor<33x2xi32>, tensor<33x2xf32>, tensor<5x20x37xf32>, tensor<5x20x37xf32>, tensor<5x37x20xf32>,
        tensor<5x20x1xf32>, tensor<5x20x1xf16>, tensor<5x37x1xbf16>) -> tensor<33x37xf32>
  %z = llm.moe_ffn %x, %e, %w, %gate, %up, %down, %b, %c, %d
     : (tensor<33x37xf32>, tensor<33x2xi32>, tensor<33x2xf32>, tensor<5x20x37xf32>, tensor<5x20x37xf32>, tensor<5x37x20xf32>,
        tensor<5x20x1xf32>, tensor<5x20x1xf16>, tensor<5x37x1xbf16>) -> tensor<33x37xf32>
  return %y, %z : tensor<33x37xf32>, tensor<33x37xf32>
}

// Computed biases, and blocks with biases.
// CHECK: @biases_of_blocks result 0: nmse
func.func @biases_of_blocks(%x: tensor<7x64xf32>, %gate: !q8_gate, %up: !q8_gate, %down: !q8_down, %b: tensor<4x96x1xf32>, %d: tensor<4x64x1xf32>,
                            %e: tensor<7x2xi32> {check.range = array<i64: 0, 4>}, %w: tensor<7x2xf32>) -> tensor<7x64xf32> {
  %c = llm.add %b, %b : tensor<4x96x1xf32>
  %y = llm.moe_ffn %x, %e, %w, %gate, %up, %down, %b, %c, %d {swiglu_limit = 0.5}
     : (tensor<7x64xf32>, tensor<7x2xi32>, tensor<7x2xf32>, !q8_gate, !q8_gate, !q8_down, tensor<4x96x1xf32>, tensor<4x96x1xf32>, tensor<4x64x1xf32>)
       -> tensor<7x64xf32>
  return %y : tensor<7x64xf32>
}
