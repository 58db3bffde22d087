// Weights in int8 with a scale per output; optionally activations quantized at
// run time.
//
// RUN: llmir-translate --interpret %s
// RUN: llmir-translate --execute %s
// RUN: llmir-translate --compare %s

!weight = !llm.quantized_tensor<i8, [2, 4], true, true, 0, -1, 8>

func.func @main() {
  // [outputs, inputs], as checkpoints store it.
  %w = arith.constant dense<[[127.0, -63.6, 0.4, 10.0], [6.35, 0.05, -1.0, 0.0]]> : tensor<2x4xf32>

  // The maximum magnitude of each output maps to 127.
  %scales = llm.quant_params %w {axis = 0, bits = 8} : (tensor<2x4xf32>) -> tensor<2xf32>
  %expected_scales = arith.constant dense<[1.0, 0.05]> : tensor<2xf32>
  check.expect_close %scales, %expected_scales {nmse = 1.0e-12 : f64} : tensor<2xf32>

  %q = llm.quantize %w, %scales {axis = 0, bits = 8} : (tensor<2x4xf32>, tensor<2xf32>) -> !weight
  %rounded = llm.dequantize %q, %scales : (!weight, tensor<2xf32>) -> tensor<2x4xf32>
  %expected_rounded = arith.constant dense<[[127.0, -64.0, 0.0, 10.0], [6.35, 0.05, -1.0, 0.0]]> : tensor<2x4xf32>
  check.expect_close %rounded, %expected_rounded {nmse = 1.0e-12 : f64} : tensor<2x4xf32>

  // y = x · wᵀ with the rounded weights.
  %x = arith.constant dense<[[1.0, 2.0, 3.0, -0.5]]> : tensor<1x4xf32>
  %y = llm.quantized_matmul %x, %q, %scales {transpose_rhs} : (tensor<1x4xf32>, !weight, tensor<2xf32>) -> tensor<1x2xf32>
  %expected = arith.constant dense<[[-6.0, 3.45]]> : tensor<1x2xf32>
  check.expect_close %y, %expected {nmse = 1.0e-12 : f64} : tensor<1x2xf32>

  // The same as a projection with the dequantized weights.
  %plain = llm.linear %x, %rounded : tensor<1x4xf32>, tensor<2x4xf32> -> tensor<1x2xf32>
  check.expect_close %y, %plain {nmse = 1.0e-12 : f64} : tensor<1x2xf32>

  // Integer products: activations are quantized to int8 as well, each row with
  // its own scale, here 3/127; 1, 2, 3, -0.5 become 42, 85, 127, -21.
  %y8 = llm.quantized_matmul %x, %q, %scales {transpose_rhs, activation_bits = 8}
      : (tensor<1x4xf32>, !weight, tensor<2xf32>) -> tensor<1x2xf32>
  %expected8 = arith.constant dense<[[-7.4645669291, 3.4003937008]]> : tensor<1x2xf32>
  check.expect_close %y8, %expected8 {nmse = 1.0e-12 : f64} : tensor<1x2xf32>
  return
}
