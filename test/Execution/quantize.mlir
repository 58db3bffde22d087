// REQUIRES: avx2
// RUN: llmir-translate --compare %s | FileCheck %s
// RUN: llmir-translate --compare --level=x86-64-v3 --workers=3 --seed=5 %s | FileCheck %s

// Quantized tensors that a compiled program makes, bit for bit as the interpreter
// does, and reads.

!tensor = !llm.quantized_tensor<i8, [33, 60], true, false, -1, -1, 8>
!row = !llm.quantized_tensor<i8, [33, 60], true, true, 0, -1, 8>
!column = !llm.quantized_tensor<i8, [33, 60], false, true, 1, -1, 8>
!group = !llm.quantized_tensor<i4, [7, 64], false, false, -1, 32, 4>
!row_group = !llm.quantized_tensor<i4, [7, 60], true, true, 0, 20, 4>
!column_group = !llm.quantized_tensor<i8, [64, 37], false, true, 1, 16, 8>
!wide = !llm.quantized_tensor<i16, [3, 5, 18], false, true, 1, -1, 16>
!wide_group = !llm.quantized_tensor<i16, [3, 5, 18], true, false, -1, 6, 16>

// SPEC: 30 148 173 178 179
// CHECK: @per_tensor result 0: nmse 0.00e+00
// CHECK: @per_tensor result 1: nmse
func.func @per_tensor(%x: tensor<33x60xf32>) -> (tensor<1xf32>, tensor<33x60xf32>) {
  %s = llm.quant_params %x {bits = 8} : (tensor<33x60xf32>) -> tensor<1xf32>
  %q = llm.quantize %x, %s : (tensor<33x60xf32>, tensor<1xf32>) -> !tensor
  %y = llm.dequantize %q, %s : (!tensor, tensor<1xf32>) -> tensor<33x60xf32>
  return %s, %y : tensor<1xf32>, tensor<33x60xf32>
}

// SPEC: 170
// CHECK: @per_axis result 0: equal
// CHECK: @per_axis result 1: nmse
// CHECK: @per_axis result 2: nmse 0.00e+00
// CHECK: @per_axis result 3: equal
// CHECK: @per_axis result 4: equal
// CHECK: @per_axis result 5: nmse
func.func @per_axis(%x: tensor<33x60xf32>)
    -> (!row, tensor<33x60xf32>, tensor<60xf32>, tensor<60xi8>, !column, tensor<33x60xbf16>) {
  %s = llm.quant_params %x {axis = 0, bits = 8} : (tensor<33x60xf32>) -> tensor<33xf32>
  %q = llm.quantize %x, %s : (tensor<33x60xf32>, tensor<33xf32>) -> !row
  %y = llm.dequantize %q, %s : (!row, tensor<33xf32>) -> tensor<33x60xf32>
  %t, %z = llm.quant_params %x {axis = 1, bits = 8, symmetric = false} : (tensor<33x60xf32>) -> (tensor<60xf32>, tensor<60xi8>)
  %p = llm.quantize %x, %t, %z : (tensor<33x60xf32>, tensor<60xf32>, tensor<60xi8>) -> !column
  %v = llm.dequantize %p, %t, %z : (!column, tensor<60xf32>, tensor<60xi8>) -> tensor<33x60xbf16>
  return %q, %y, %t, %z, %p, %v : !row, tensor<33x60xf32>, tensor<60xf32>, tensor<60xi8>, !column, tensor<33x60xbf16>
}

// SPEC: 171
// CHECK: @groups result 0: nmse 0.00e+00
// CHECK: @groups result 1: equal
// CHECK: @groups result 2: equal
// CHECK: @groups result 3: nmse
// CHECK: @groups result 4: nmse
// CHECK: @groups result 5: nmse
func.func @groups(%x: tensor<7x64xf32>, %u: tensor<7x60xf32>, %w: tensor<64x37xf32>)
    -> (tensor<7x2xf32>, tensor<7x2xi8>, !group, tensor<7x64xf32>, tensor<7x60xf32>, tensor<64x37xf32>) {
  %s, %z = llm.quant_params %x {bits = 4, group_size = 32, symmetric = false} : (tensor<7x64xf32>) -> (tensor<7x2xf32>, tensor<7x2xi8>)
  %q = llm.quantize %x, %s, %z : (tensor<7x64xf32>, tensor<7x2xf32>, tensor<7x2xi8>) -> !group
  %y = llm.dequantize %q, %s, %z : (!group, tensor<7x2xf32>, tensor<7x2xi8>) -> tensor<7x64xf32>
  %t = llm.quant_params %u {axis = 0, bits = 4, group_size = 20} : (tensor<7x60xf32>) -> tensor<7x3xf32>
  %p = llm.quantize %u, %t : (tensor<7x60xf32>, tensor<7x3xf32>) -> !row_group
  %v = llm.dequantize %p, %t : (!row_group, tensor<7x3xf32>) -> tensor<7x60xf32>
  // Groups are in the first dimension if the last one has its own scales.
  %a, %b = llm.quant_params %w {axis = 1, bits = 8, group_size = 16, symmetric = false} : (tensor<64x37xf32>) -> (tensor<4x37xf32>, tensor<4x37xi8>)
  %c = llm.quantize %w, %a, %b : (tensor<64x37xf32>, tensor<4x37xf32>, tensor<4x37xi8>) -> !column_group
  %d = llm.dequantize %c, %a, %b : (!column_group, tensor<4x37xf32>, tensor<4x37xi8>) -> tensor<64x37xf32>
  return %s, %z, %q, %y, %v, %d : tensor<7x2xf32>, tensor<7x2xi8>, !group, tensor<7x64xf32>, tensor<7x60xf32>, tensor<64x37xf32>
}

// CHECK: @rank_3 result 0: equal
// CHECK: @rank_3 result 1: equal
// CHECK: @rank_3 result 2: nmse
// CHECK: @rank_3 result 3: nmse
func.func @rank_3(%x: tensor<3x5x18xf32>) -> (tensor<5xi16>, !wide, tensor<3x5x18xf32>, tensor<3x5x18xf32>) {
  %s, %z = llm.quant_params %x {axis = 1, bits = 16, symmetric = false} : (tensor<3x5x18xf32>) -> (tensor<5xf32>, tensor<5xi16>)
  %q = llm.quantize %x, %s, %z : (tensor<3x5x18xf32>, tensor<5xf32>, tensor<5xi16>) -> !wide
  %y = llm.dequantize %q, %s, %z : (!wide, tensor<5xf32>, tensor<5xi16>) -> tensor<3x5x18xf32>
  %t = llm.quant_params %x {bits = 16, group_size = 6} : (tensor<3x5x18xf32>) -> tensor<3x5x3xf32>
  %p = llm.quantize %x, %t : (tensor<3x5x18xf32>, tensor<3x5x3xf32>) -> !wide_group
  %v = llm.dequantize %p, %t : (!wide_group, tensor<3x5x3xf32>) -> tensor<3x5x18xf32>
  return %z, %q, %y, %v : tensor<5xi16>, !wide, tensor<3x5x18xf32>, tensor<3x5x18xf32>
}

// Numbers, scales and zero points of every type, given by the caller.
// CHECK: @given result 0: equal
// CHECK: @given result 1: equal
// CHECK: @given result 2: nmse
// CHECK: @given result 3: nmse
func.func @given(%x: tensor<33x60xbf16>, %h: tensor<7x64xf16>, %q: !column, %g: !group,
                 %s: tensor<f16> {check.range = array<f64: 0.01, 0.1>},
                 %t: tensor<7x2xbf16> {check.range = array<f64: 0.01, 0.1>},
                 %a: tensor<60xf16> {check.range = array<f64: 0.01, 0.1>},
                 %z: tensor<7x2xi4>, %i: tensor<60xi32> {check.range = array<i64: -128, 128>})
    -> (!tensor, !group, tensor<33x60xf16>, tensor<7x64xbf16>) {
  %0 = llm.quantize %x, %s : (tensor<33x60xbf16>, tensor<f16>) -> !tensor
  %1 = llm.quantize %h, %t, %z : (tensor<7x64xf16>, tensor<7x2xbf16>, tensor<7x2xi4>) -> !group
  %2 = llm.dequantize %q, %a, %i : (!column, tensor<60xf16>, tensor<60xi32>) -> tensor<33x60xf16>
  %3 = llm.dequantize %g, %t, %z : (!group, tensor<7x2xbf16>, tensor<7x2xi4>) -> tensor<7x64xbf16>
  return %0, %1, %2, %3 : !tensor, !group, tensor<33x60xf16>, tensor<7x64xbf16>
}

// A scale of 0 represents only zeros; large values are clamped.
// CHECK: @edges result 0: nmse 0.00e+00
// CHECK: @edges result 1: equal
func.func @edges() -> (tensor<2xf32>, !llm.quantized_tensor<i8, [2, 3], false, true, 0, -1, 8>) {
  %x = arith.constant dense<[[0.0, 0.0, 0.0], [1.0e30, -1.0e30, 2.5]]> : tensor<2x3xf32>
  %p = llm.quant_params %x {axis = 0} : (tensor<2x3xf32>) -> tensor<2xf32>
  %s = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %z = arith.constant dense<[5, -3]> : tensor<2xi8>
  %q = llm.quantize %x, %s, %z : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xi8>) -> !llm.quantized_tensor<i8, [2, 3], false, true, 0, -1, 8>
  return %p, %q : tensor<2xf32>, !llm.quantized_tensor<i8, [2, 3], false, true, 0, -1, 8>
}

// Integers of fewer bits than their elements: clamped to their own range.
// CHECK: @fewer_bits result 0: equal
// CHECK: @fewer_bits result 1: nmse 0.00e+00
func.func @fewer_bits() -> (!llm.quantized_tensor<i8, [2, 4], true, true, 0, -1, 4>, tensor<2x4xf32>) {
  %x = arith.constant dense<[[-9.0, -7.0, 6.6, 1.0e9], [0.5, 1.5, 2.5, -0.4]]> : tensor<2x4xf32>
  %s = arith.constant dense<[1.0, 0.5]> : tensor<2xf32>
  %q = llm.quantize %x, %s {bits = 4} : (tensor<2x4xf32>, tensor<2xf32>) -> !llm.quantized_tensor<i8, [2, 4], true, true, 0, -1, 4>
  %y = llm.dequantize %q, %s : (!llm.quantized_tensor<i8, [2, 4], true, true, 0, -1, 4>, tensor<2xf32>) -> tensor<2x4xf32>
  %want = arith.constant dense<[[-7.0, -7.0, 7.0, 7.0], [0.5, 1.5, 2.5, -0.5]]> : tensor<2x4xf32>
  check.expect_equal %y, %want : tensor<2x4xf32>
  return %q, %y : !llm.quantized_tensor<i8, [2, 4], true, true, 0, -1, 4>, tensor<2x4xf32>
}
