// RUN: llmir-translate --interpret %s

!per_column = !llm.quantized_tensor<i8, [2, 3], true, true, 1, -1, 8>
!per_row = !llm.quantized_tensor<i8, [3, 2], true, true, 0, -1, 8>
!groups = !llm.quantized_tensor<i4, [3, 8], false, false, -1, 4, 4>
!stored = !llm.quantized_tensor<i8, [4, 32], true, false, -1, 32, 8, format = q8_0>

// Ties are rounded to even, large values are clamped.
func.func @quantize() {
  %x = arith.constant dense<[[1.0, 30.0, 30000.0], [-3.0, -50.0, -250.0]]> : tensor<2x3xf32>
  %s = arith.constant dense<[2.0, 10.0, 100.0]> : tensor<3xf32>
  %q = llm.quantize %x, %s {bits = 8} : (tensor<2x3xf32>, tensor<3xf32>) -> !per_column
  %d = llm.dequantize %q, %s : (!per_column, tensor<3xf32>) -> tensor<2x3xf32>
  %e = arith.constant dense<[[0.0, 30.0, 12700.0], [-4.0, -50.0, -200.0]]> : tensor<2x3xf32>
  check.expect_equal %d, %e : tensor<2x3xf32>
  return
}

func.func @quant_params() {
  %x = arith.constant dense<[[-1.0, 2.0], [0.0, 0.0]]> : tensor<2x2xf32>
  %s = llm.quant_params %x {axis = 0} : (tensor<2x2xf32>) -> tensor<2xf32>
  %e = arith.constant dense<[0.01574803149, 0.0]> : tensor<2xf32>
  check.expect_equal %s, %e : tensor<2xf32>
  %s4, %z4 = llm.quant_params %x {axis = 0, bits = 4, symmetric = false}
     : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xi8>)
  %f = arith.constant dense<[0.2, 0.0]> : tensor<2xf32>
  %z = arith.constant dense<[-3, 0]> : tensor<2xi8>
  check.expect_equal %s4, %f : tensor<2xf32>
  check.expect_equal %z4, %z : tensor<2xi8>
  return
}

// [K, N] and, transposed, [N, K]; with a bias.
func.func @matmul() {
  %x = arith.constant dense<[[1.0, -1.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[[1.0, 20.0, 300.0], [4.0, 50.0, 600.0]]> : tensor<2x3xf32>
  %s = arith.constant dense<[1.0, 10.0, 100.0]> : tensor<3xf32>
  %r = llm.quantize %w, %s : (tensor<2x3xf32>, tensor<3xf32>) -> !per_column
  %y = llm.quantized_matmul %x, %r, %s : (tensor<1x2xf32>, !per_column, tensor<3xf32>) -> tensor<1x3xf32>
  %e = arith.constant dense<[[-3.0, -30.0, -300.0]]> : tensor<1x3xf32>
  check.expect_equal %y, %e : tensor<1x3xf32>
  %wt = arith.constant dense<[[1.0, 4.0], [20.0, 50.0], [300.0, 600.0]]> : tensor<3x2xf32>
  %rt = llm.quantize %wt, %s : (tensor<3x2xf32>, tensor<3xf32>) -> !per_row
  %b = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %z = llm.quantized_matmul %x, %rt, %s bias(%b) {transpose_rhs}
     : (tensor<1x2xf32>, !per_row, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  %f = arith.constant dense<[[-2.0, -28.0, -297.0]]> : tensor<1x3xf32>
  check.expect_equal %z, %f : tensor<1x3xf32>
  return
}

// Activations of 127 and -63.4 in one group have the scale 1.
func.func @int8_activations() {
  %x = arith.constant dense<[[127.0, -63.4]]> : tensor<1x2xf32>
  %w = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]> : tensor<3x2xf32>
  %s = arith.constant dense<1.0> : tensor<3xf32>
  %q = llm.quantize %w, %s : (tensor<3x2xf32>, tensor<3xf32>) -> !per_row
  %y = llm.quantized_matmul %x, %q, %s {transpose_rhs, activation_bits = 8}
     : (tensor<1x2xf32>, !per_row, tensor<3xf32>) -> tensor<1x3xf32>
  %e = arith.constant dense<[[127.0, -63.0, 64.0]]> : tensor<1x3xf32>
  check.expect_equal %y, %e : tensor<1x3xf32>
  return
}

// int4 in groups with zero points is linear on the dequantized weight.
func.func @int4_groups(%w: tensor<3x8xf32>, %x: tensor<2x8xf32>) {
  %s, %z = llm.quant_params %w {bits = 4, symmetric = false, group_size = 4}
     : (tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi8>)
  %q = llm.quantize %w, %s, %z : (tensor<3x8xf32>, tensor<3x2xf32>, tensor<3x2xi8>) -> !groups
  %d = llm.dequantize %q, %s, %z : (!groups, tensor<3x2xf32>, tensor<3x2xi8>) -> tensor<3x8xf32>
  check.expect_close %d, %w {nmse = 1.0e-2 : f64} : tensor<3x8xf32>
  %y = llm.quantized_matmul %x, %q, %s, %z {transpose_rhs}
     : (tensor<2x8xf32>, !groups, tensor<3x2xf32>, tensor<3x2xi8>) -> tensor<2x3xf32>
  %e = llm.linear %x, %d : tensor<2x8xf32>, tensor<3x8xf32> -> tensor<2x3xf32>
  check.expect_close %y, %e {nmse = 1.0e-13 : f64} : tensor<2x3xf32>
  return
}

// A stored format carries its scales.
func.func @stored(%w: !stored) {
  %one = arith.constant dense<1.0> : tensor<1x32xf32>
  %y = llm.linear %one, %w : tensor<1x32xf32>, !stored -> tensor<1x4xf32>
  %ids = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %rows = llm.embedding %ids, %w : tensor<4xi32>, !stored -> tensor<4x32xf32>
  %z = llm.linear %one, %rows : tensor<1x32xf32>, tensor<4x32xf32> -> tensor<1x4xf32>
  check.expect_equal %y, %z : tensor<1x4xf32>
  return
}
