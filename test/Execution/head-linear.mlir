// REQUIRES: avx2
// RUN: llmir-translate --compare %s | FileCheck %s
// RUN: llmir-translate --compare --level=x86-64-v3 --workers=3 --seed=5 %s | FileCheck %s

// Projections of heads in compiled programs, against the interpreter. There are
// fewer column tiles than workers, and more than fit into a register tile; one
// token, and more than a panel has.

!q8 = !llm.quantized_tensor<i8, [3, 32, 64], true, false, -1, 32, 8, format = q8_0>
!q4 = !llm.quantized_tensor<i4, [3, 32, 64], true, false, -1, 32, 4, format = q4_0>

// CHECK: @f32 result 0: nmse
// CHECK: @f32 result 1: nmse
func.func @f32(%x: tensor<77x3x48xf32>, %y: tensor<1x3x48xf32>, %w: tensor<3x16x48xf32>) -> (tensor<77x3x16xf32>, tensor<1x3x16xf32>) {
  %a = llm.head_linear %x, %w : (tensor<77x3x48xf32>, tensor<3x16x48xf32>) -> tensor<77x3x16xf32>
  %b = llm.head_linear %y, %w : (tensor<1x3x48xf32>, tensor<3x16x48xf32>) -> tensor<1x3x16xf32>
  return %a, %b : tensor<77x3x16xf32>, tensor<1x3x16xf32>
}

// CHECK: @bf16 result 0: nmse
func.func @bf16(%x: tensor<9x5x32xf32>, %w: tensor<5x80x32xbf16>) -> tensor<9x5x80xf32> {
  %a = llm.head_linear %x, %w : (tensor<9x5x32xf32>, tensor<5x80x32xbf16>) -> tensor<9x5x80xf32>
  return %a : tensor<9x5x80xf32>
}

// CHECK: @f16 result 0: nmse
func.func @f16(%x: tensor<9x2x16xf16>, %w: tensor<2x32x16xf16>) -> tensor<9x2x32xf16> {
  %a = llm.head_linear %x, %w : (tensor<9x2x16xf16>, tensor<2x32x16xf16>) -> tensor<9x2x32xf16>
  return %a : tensor<9x2x32xf16>
}

// CHECK: @q8_0 result 0: nmse
func.func @q8_0(%x: tensor<7x3x64xf32>, %w: !q8) -> tensor<7x3x32xf32> {
  %a = llm.head_linear %x, %w : (tensor<7x3x64xf32>, !q8) -> tensor<7x3x32xf32>
  return %a : tensor<7x3x32xf32>
}

// CHECK: @q4_0 result 0: nmse
func.func @q4_0(%x: tensor<7x3x64xf32>, %w: !q4) -> tensor<7x3x32xf32> {
  %a = llm.head_linear %x, %w : (tensor<7x3x64xf32>, !q4) -> tensor<7x3x32xf32>
  return %a : tensor<7x3x32xf32>
}

// The matrices may be computed.
// CHECK: @computed result 0: nmse
func.func @computed(%x: tensor<7x3x16xf32>, %v: tensor<3x32x16xf32>) -> tensor<7x3x32xf32> {
  %w = llm.add %v, %v : tensor<3x32x16xf32>
  %a = llm.head_linear %x, %w : (tensor<7x3x16xf32>, tensor<3x32x16xf32>) -> tensor<7x3x32xf32>
  return %a : tensor<7x3x32xf32>
}
