// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

!i8 = !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
!i8_tensor = !llm.quantized_tensor<i8, [172, 64], true, false, -1, -1, 8>
!i4 = !llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>
!i4_down = !llm.quantized_tensor<i4, [64, 172], true, true, 1, 32, 4>

// The shapes of scales follow from the parameters.
// CHECK-LABEL: func @quant_params
func.func @quant_params(%w: tensor<172x64xf32>, %e: tensor<8x172x64xbf16>) {
  // CHECK: llm.quant_params %{{.*}} {axis = -1 : i64, bits = 8 : i64, group_size = -1 : i64, symmetric = true} : (tensor<172x64xf32>) -> tensor<1xf32>
  %0 = llm.quant_params %w : (tensor<172x64xf32>) -> tensor<1xf32>
  // CHECK: llm.quant_params %{{.*}} {axis = 0 : i64, bits = 8 : i64, group_size = -1 : i64, symmetric = true} : (tensor<172x64xf32>) -> tensor<172xf32>
  %1 = llm.quant_params %w {axis = 0, bits = 8 : i32} : (tensor<172x64xf32>) -> tensor<172xf32>
  // CHECK: {axis = -1 : i64, bits = 4 : i64, group_size = 32 : i64, symmetric = false} : (tensor<172x64xf32>) -> (tensor<172x2xf32>, tensor<172x2xi8>)
  %2:2 = llm.quant_params %w {bits = 4, groupSize = 32, symmetric = false} : (tensor<172x64xf32>) -> (tensor<172x2xf32>, tensor<172x2xi8>)
  // Groups are in the first dimension if the last one has its own scales.
  // CHECK: -> (tensor<43x64xf32>, tensor<43x64xi16>)
  %3:2 = llm.quant_params %w {axis = 1, bits = 16, group_size = 4, symmetric = false} : (tensor<172x64xf32>) -> (tensor<43x64xf32>, tensor<43x64xi16>)
  // A group as long as a row is none.
  // CHECK: -> tensor<172xf32>
  %4 = llm.quant_params %w {axis = 0, group_size = 64} : (tensor<172x64xf32>) -> tensor<172xf32>
  // CHECK: -> tensor<8x172x2xf32>
  %5 = llm.quant_params %e {group_size = 32} : (tensor<8x172x64xbf16>) -> tensor<8x172x2xf32>
  return
}

// CHECK-LABEL: func @quantize
func.func @quantize(%w: tensor<172x64xf16>, %s: tensor<172xf32>, %s0: tensor<f32>, %s4: tensor<172x2xbf16>, %z4: tensor<172x2xi8>, %down: tensor<64x172xf32>, %sd: tensor<2x172xf16>) {
  // CHECK: llm.quantize %{{.*}}, %{{.*}} : (tensor<172x64xf16>, tensor<172xf32>) -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
  %0 = llm.quantize %w, %s : (tensor<172x64xf16>, tensor<172xf32>) -> !i8
  // CHECK: llm.quantize %{{.*}}, %{{.*}} : (tensor<172x64xf16>, tensor<f32>) ->
  %1 = llm.quantize %w, %s0 : (tensor<172x64xf16>, tensor<f32>) -> !i8_tensor
  // CHECK: llm.quantize %{{.*}}, %{{.*}}, %{{.*}} {bits = 4 : i64} : (tensor<172x64xf16>, tensor<172x2xbf16>, tensor<172x2xi8>) -> !llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>
  %2 = llm.quantize %w, %s4, %z4 {bits = 4} : (tensor<172x64xf16>, tensor<172x2xbf16>, tensor<172x2xi8>) -> !i4
  // CHECK: llm.quantize %{{.*}}, %{{.*}} : (tensor<64x172xf32>, tensor<2x172xf16>) ->
  %3 = llm.quantize %down, %sd : (tensor<64x172xf32>, tensor<2x172xf16>) -> !i4_down
  return
}

// The spellings of the LLMIR specification: names in camel case, 32-bit
// integers, types without parentheses, operands in parentheses, attributes on a
// line of their own. One is printed.
// SPEC: 143
// CHECK-LABEL: func @quantize_spellings
func.func @quantize_spellings(%x: tensor<16x1024xf16>, %s: tensor<1024xf32>) {
  // CHECK-COUNT-4: llm.quantize %{{.*}}, %{{.*}} {axis = 1 : i64, bits = 8 : i64, group_size = 128 : i64, symmetric = true} : (tensor<16x1024xf16>, tensor<1024xf32>) -> !llm.quantized_tensor<i8, [16, 1024], true, true, 1, 128, 8>
  %0 = llm.quantize %x, %s {bits = 8 : i32, symmetric = true, axis = 1 : i64, groupSize = 128 : i64} :
    tensor<16x1024xf16>, tensor<1024xf32> -> !llm.quantized_tensor<i8, [16, 1024], true, true, 1, 128, 8>
  %1 = llm.quantize %x, %s {bits = 8, symmetric = true, axis = 1, group_size = 128}
    : (tensor<16x1024xf16>, tensor<1024xf32>) -> !llm.quantized_tensor<i8, [16 x 1024], symmetric, per_channel, 1, 128, 8>
  %2 = llm.quantize(%x, %s) {
    bits = 8 : i32, symmetric = true,
    axis = 1 : i32, group_size = 128 : i32
  } : (tensor<16x1024xf16>, tensor<1024xf32>) -> (!llm.quantized_tensor<i8, [16, 1024], true, true, 1, 128, 8>)
  %3 = "llm.quantize"(%x, %s) {bits = 8 : i64, symmetric = true, axis = 1 : i64, group_size = 128 : i64}
    : (tensor<16x1024xf16>, tensor<1024xf32>) -> !llm.quantized_tensor<i8, [16, 1024], true, true, 1, 128, 8>
  return
}

// CHECK-LABEL: func @dequantize
func.func @dequantize(%q: !i8, %s: tensor<172xf32>, %q4: !i4, %s4: tensor<172x2xf16>, %z4: tensor<172x2xi4>) {
  // CHECK: llm.dequantize %{{.*}}, %{{.*}} : (!llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>) -> tensor<172x64xf16>
  %0 = llm.dequantize %q, %s : (!i8, tensor<172xf32>) -> tensor<172x64xf16>
  // CHECK: llm.dequantize %{{.*}}, %{{.*}}, %{{.*}} : ({{.*}}, tensor<172x2xf16>, tensor<172x2xi4>) -> tensor<172x64xf32>
  %1 = llm.dequantize %q4, %s4, %z4 : !i4, tensor<172x2xf16>, tensor<172x2xi4> -> tensor<172x64xf32>
  return
}

// CHECK-LABEL: func @quantized_matmul
func.func @quantized_matmul(%x: tensor<?x64xf32>, %y: tensor<2x3x172xf16>, %q: !i8, %s: tensor<172xf32>, %q4: !i4, %s4: tensor<172x2xf16>, %z4: tensor<172x2xi8>, %b: tensor<172xf32>, %b64: tensor<64xf16>) {
  // CHECK: llm.quantized_matmul %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} {transpose_rhs} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>) -> tensor<?x172xf32>
  %0 = llm.quantized_matmul %x, %q, %s {transpose_rhs} : (tensor<?x64xf32>, !i8, tensor<172xf32>) -> tensor<?x172xf32>
  // CHECK: llm.quantized_matmul %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} bias(%{{[a-z0-9]*}}) {activation_bits = 8 : i64, activation_group = 16 : i64, transpose_rhs} : (tensor<?x64xf32>, !llm.quantized_tensor<{{.*}}>, tensor<172x2xf16>, tensor<172x2xi8>, tensor<172xf32>) -> tensor<?x172xf32>
  %1 = llm.quantized_matmul %x, %q4, %s4, %z4 bias(%b) {transposeRhs, activationBits = 8, activationGroup = 16 : i32} : (tensor<?x64xf32>, !i4, tensor<172x2xf16>, tensor<172x2xi8>, tensor<172xf32>) -> tensor<?x172xf32>
  // The layout with inputs first.
  // CHECK: llm.quantized_matmul %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} bias(%{{[a-z0-9]*}}) {bits = 8 : i64, group_size = -1 : i64} : (tensor<2x3x172xf16>, {{.*}}) -> tensor<2x3x64xf16>
  %2 = llm.quantized_matmul(%y, %q, %s) bias(%b64) {bits = 8 : i32, group_size = -1 : i32} : (tensor<2x3x172xf16>, !i8, tensor<172xf32>, tensor<64xf16>) -> (tensor<2x3x64xf16>)
  return
}

// A line of the public code's tests.
// CHECK-LABEL: func @quantized_matmul_inputs_first
func.func @quantized_matmul_inputs_first(%x: tensor<4x512x4096xf16>, %q_weight: !llm.quantized_tensor<i8, [4096, 4096], true, true, 0, -1, 8>, %scales: tensor<4096xf32>) -> tensor<4x512x4096xf16> {
  // CHECK: llm.quantized_matmul %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x512x4096xf16>, !llm.quantized_tensor<i8, [4096, 4096], true, true, 0, -1, 8>, tensor<4096xf32>) -> tensor<4x512x4096xf16>
  %0 = llm.quantized_matmul %x, %q_weight, %scales
      : tensor<4x512x4096xf16>, !llm.quantized_tensor<i8, [4096, 4096], true, true, 0, -1, 8>,
        tensor<4096xf32> -> tensor<4x512x4096xf16>
  return %0 : tensor<4x512x4096xf16>
}
