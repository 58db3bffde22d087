// Weights in int4 in groups of four inputs, with zero points.
//
// RUN: llmir-translate --interpret %s
// RUN: llmir-translate --execute %s
// RUN: llmir-translate --compare %s

!weight = !llm.quantized_tensor<i4, [1, 8], false, false, -1, 4, 4>

func.func @main() {
  // The first group ranges from 0 to 15, the second from -4 to 3.5.
  %w = arith.constant dense<[[0.0, 15.0, 7.0, 2.9, -4.0, 3.5, 0.0, 1.2]]> : tensor<1x8xf32>
  %scales, %zeros = llm.quant_params %w {bits = 4, group_size = 4, symmetric = false}
      : (tensor<1x8xf32>) -> (tensor<1x2xf32>, tensor<1x2xi8>)
  %expected_scales = arith.constant dense<[[1.0, 0.5]]> : tensor<1x2xf32>
  %expected_zeros = arith.constant dense<[[-8, 0]]> : tensor<1x2xi8>
  check.expect_close %scales, %expected_scales {nmse = 1.0e-12 : f64} : tensor<1x2xf32>
  check.expect_equal %zeros, %expected_zeros : tensor<1x2xi8>

  %q = llm.quantize %w, %scales, %zeros {bits = 4, symmetric = false, group_size = 4}
      : (tensor<1x8xf32>, tensor<1x2xf32>, tensor<1x2xi8>) -> !weight
  %rounded = llm.dequantize %q, %scales, %zeros : (!weight, tensor<1x2xf32>, tensor<1x2xi8>) -> tensor<1x8xf32>
  %expected_rounded = arith.constant dense<[[0.0, 15.0, 7.0, 3.0, -4.0, 3.5, 0.0, 1.0]]> : tensor<1x8xf32>
  check.expect_equal %rounded, %expected_rounded : tensor<1x8xf32>

  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
                             [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0]]> : tensor<2x8xf32>
  %bias = arith.constant dense<[0.5]> : tensor<1xf32>
  %y = llm.quantized_matmul %x, %q, %scales, %zeros bias(%bias) {transpose_rhs}
      : (tensor<2x8xf32>, !weight, tensor<1x2xf32>, tensor<1x2xi8>, tensor<1xf32>) -> tensor<2x1xf32>
  %expected = arith.constant dense<[[72.5], [-1.5]]> : tensor<2x1xf32>
  check.expect_close %y, %expected {nmse = 1.0e-12 : f64} : tensor<2x1xf32>
  return
}
