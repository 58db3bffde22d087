// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{exclude=.})' | FileCheck %s

!i8 = !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>
!i4 = !llm.quantized_tensor<i4, [64, 8], false, true, 1, 32, 4>

// The weight is dequantized to bf16, and not rounded to it any more.
// CHECK-LABEL: func @linear
// CHECK-SAME: %[[X:.*]]: tensor<?x64xbf16>, %[[Q:.*]]: !llm{{.*}}, %[[S:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>
func.func @linear(%x: tensor<?x64xbf16>, %q: !i8, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x8xbf16> {
  // CHECK-NEXT: %[[Y:.*]] = llm.quantized_matmul %[[X]], %[[Q]], %[[S]] bias(%[[B]]) {transpose_rhs} : {{.*}} -> tensor<?x8xbf16>
  // CHECK-NEXT: return %[[Y]]
  %w = llm.dequantize %q, %s : (!i8, tensor<8xf32>) -> tensor<8x64xbf16>
  %y = llm.linear %x, %w bias %b : tensor<?x64xbf16>, tensor<8x64xbf16>, tensor<8xf32> -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: func @matmul
// CHECK-SAME: %[[X:.*]]: tensor<3x64xf32>, %[[Q:.*]]: !llm{{.*}}, %[[S:.*]]: tensor<2x8xf16>, %[[Z:.*]]: tensor<2x8xi8>
func.func @matmul(%x: tensor<3x64xf32>, %q: !i4, %s: tensor<2x8xf16>, %z: tensor<2x8xi8>) -> tensor<3x8xf32> {
  // CHECK: %[[Y:.*]] = llm.quantized_matmul %[[X]], %[[Q]], %[[S]], %[[Z]] : ({{.*}}) -> tensor<3x8xf32>
  // CHECK: return %[[Y]]
  %w = llm.dequantize %q, %s, %z : (!i4, tensor<2x8xf16>, tensor<2x8xi8>) -> tensor<64x8xf32>
  %zero = arith.constant dense<0.0> : tensor<3x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<3x64xf32>, tensor<64x8xf32>) outs(%zero : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// CHECK-LABEL: func @matmul_transposed
func.func @matmul_transposed(%x: tensor<3x64xf32>, %q: !i8, %s: tensor<8xf32>) -> tensor<3x8xf32> {
  // CHECK: llm.quantized_matmul %{{.*}}, %{{.*}}, %{{.*}} {transpose_rhs} :
  %w = llm.dequantize %q, %s : (!i8, tensor<8xf32>) -> tensor<8x64xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x8xf32>
  %zero = linalg.fill ins(%c : f32) outs(%e : tensor<3x8xf32>) -> tensor<3x8xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
       ins(%x, %w : tensor<3x64xf32>, tensor<8x64xf32>) outs(%zero : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// Must not fire: the product has an addend; the left operand is quantized; the
// result is of another type than x.
// CHECK-LABEL: func @matmuls_that_stay
func.func @matmuls_that_stay(%x: tensor<3x64xf32>, %h: tensor<3x64xf16>, %r: tensor<3x8xf32>, %q: !i4, %s: tensor<2x8xf16>, %z: tensor<2x8xi8>, %v: tensor<8x64xf32>) -> (tensor<3x8xf32>, tensor<64x64xf32>, tensor<3x8xf32>) {
  // CHECK-NOT: llm.quantized_matmul
  %w = llm.dequantize %q, %s, %z : (!i4, tensor<2x8xf16>, tensor<2x8xi8>) -> tensor<64x8xf32>
  %wh = llm.dequantize %q, %s, %z : (!i4, tensor<2x8xf16>, tensor<2x8xi8>) -> tensor<64x8xf16>
  %zero = arith.constant dense<0.0> : tensor<3x8xf32>
  %zero64 = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<3x64xf32>, tensor<64x8xf32>) outs(%r : tensor<3x8xf32>) -> tensor<3x8xf32>
  %1 = linalg.matmul ins(%w, %v : tensor<64x8xf32>, tensor<8x64xf32>) outs(%zero64 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = linalg.matmul ins(%h, %wh : tensor<3x64xf16>, tensor<64x8xf16>) outs(%zero : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %0, %1, %2 : tensor<3x8xf32>, tensor<64x64xf32>, tensor<3x8xf32>
}

// Must not fire: a matrix for each of a batch; x transposed; a result
// transposed.
!stack = !llm.quantized_tensor<i8, [2, 64, 8], true, false, -1, -1, 8>
// CHECK-LABEL: func @other_contractions
func.func @other_contractions(%b: tensor<2x3x64xf32>, %k: tensor<64x3xf32>, %x: tensor<3x64xf32>, %e: !stack, %q: !i4, %s1: tensor<1xf32>, %s: tensor<2x8xf16>, %z: tensor<2x8xi8>) -> (tensor<2x3x8xf32>, tensor<3x8xf32>, tensor<8x3xf32>) {
  // CHECK-NOT: llm.quantized_matmul
  %we = llm.dequantize %e, %s1 : (!stack, tensor<1xf32>) -> tensor<2x64x8xf32>
  %w = llm.dequantize %q, %s, %z : (!i4, tensor<2x8xf16>, tensor<2x8xi8>) -> tensor<64x8xf32>
  %zero_b = arith.constant dense<0.0> : tensor<2x3x8xf32>
  %zero = arith.constant dense<0.0> : tensor<3x8xf32>
  %zero_t = arith.constant dense<0.0> : tensor<8x3xf32>
  %0 = linalg.batch_matmul ins(%b, %we : tensor<2x3x64xf32>, tensor<2x64x8xf32>) outs(%zero_b : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
       ins(%k, %w : tensor<64x3xf32>, tensor<64x8xf32>) outs(%zero : tensor<3x8xf32>) -> tensor<3x8xf32>
  %2 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>]
       ins(%x, %w : tensor<3x64xf32>, tensor<64x8xf32>) outs(%zero_t : tensor<8x3xf32>) -> tensor<8x3xf32>
  return %0, %1, %2 : tensor<2x3x8xf32>, tensor<3x8xf32>, tensor<8x3xf32>
}

// Must not fire: types that say fewer or more sizes than the product's would.
// CHECK-LABEL: func @sizes_that_differ
func.func @sizes_that_differ(%x: tensor<?x64xf32>, %q: !i8, %s: tensor<8xf32>) -> (tensor<?x?xf32>, tensor<3x8xf32>) {
  // CHECK-NOT: llm.quantized_matmul
  %w = llm.dequantize %q, %s : (!i8, tensor<8xf32>) -> tensor<?x?xf32>
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  %known = llm.dequantize %q, %s : (!i8, tensor<8xf32>) -> tensor<8x64xf32>
  %zero = arith.constant dense<0.0> : tensor<3x8xf32>
  %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
       ins(%x, %known : tensor<?x64xf32>, tensor<8x64xf32>) outs(%zero : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<3x8xf32>
}

// Must not fire: x of f64, which no op of the dialect takes.
// CHECK-LABEL: func @double_numbers
func.func @double_numbers(%x: tensor<3x64xf64>, %q: !i4, %s: tensor<2x8xf16>, %z: tensor<2x8xi8>) -> tensor<3x8xf64> {
  // CHECK-NOT: llm.quantized_matmul
  %w = llm.dequantize %q, %s, %z : (!i4, tensor<2x8xf16>, tensor<2x8xi8>) -> tensor<64x8xf32>
  %zero = arith.constant dense<0.0> : tensor<3x8xf64>
  %y = linalg.matmul ins(%x, %w : tensor<3x64xf64>, tensor<64x8xf32>) outs(%zero : tensor<3x8xf64>) -> tensor<3x8xf64>
  return %y : tensor<3x8xf64>
}
