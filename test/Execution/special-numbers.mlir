// What ops make of numbers at the ends of a format, and of what is no number:
// the interpreter and compiled code follow one rule, to the bit.

// RUN: llmir-translate --interpret %s
// RUN: llmir-translate --execute %s
// RUN: llmir-translate --execute --workers=3 --level=x86-64-v3 %s
// RUN: llmir-translate --compare %s | FileCheck %s

// Where f32 does not hold exp(-x), which begins between these numbers.
func.func @silu() {
  %x = arith.constant dense<[-88.7228394, -90.0, -104.0, -1000.0, -0.0]> : tensor<5xf32>
  %zero = arith.constant dense<-0.0> : tensor<5xf32>
  %a = llm.silu %x : tensor<5xf32>
  check.expect_equal %a, %zero : tensor<5xf32>
  %b = mllm.linalg.silu %x : tensor<5xf32>
  check.expect_equal %b, %zero : tensor<5xf32>
  %one = arith.constant dense<1.0> : tensor<5xf32>
  %c = llm.swiglu %x, %one : tensor<5xf32>
  check.expect_equal %c, %zero : tensor<5xf32>
  return
}

// CHECK: @before result 0: nmse
// CHECK: @before result 1: nmse
func.func @before(%x: tensor<2xf32> {check.values = dense<[-88.7228317, -88.0]> : tensor<2xf32>}) -> (tensor<2xf32>, tensor<2xf32>) {
  %y = llm.silu %x : tensor<2xf32>
  %z = mllm.linalg.sigmoid %x : tensor<2xf32>
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %s = llm.add %z, %one : tensor<2xf32>
  return %y, %s : tensor<2xf32>, tensor<2xf32>
}

// The same exponential in the other functions that have one.
func.func @gates() {
  %tanh = arith.constant dense<[-10.2, -11.0, -40.0]> : tensor<3xf32>
  %quick = arith.constant dense<[-52.2, -60.0, -1000.0]> : tensor<3xf32>
  %below = arith.constant dense<[-88.8, -104.0, -1000.0]> : tensor<3xf32>
  %zero = arith.constant dense<-0.0> : tensor<3xf32>
  %none = arith.constant dense<0.0> : tensor<3xf32>
  %a = llm.gelu %tanh {approximate = "tanh"} : tensor<3xf32>
  check.expect_equal %a, %zero : tensor<3xf32>
  %b = llm.gelu %quick {approximate = "quick"} : tensor<3xf32>
  check.expect_equal %b, %zero : tensor<3xf32>
  %c = mllm.linalg.quick_gelu %quick : tensor<3xf32>
  check.expect_equal %c, %zero : tensor<3xf32>
  %d = mllm.linalg.sigmoid %below : tensor<3xf32>
  check.expect_equal %d, %none : tensor<3xf32>
  return
}

func.func @sine() {
  %x = arith.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %a = mllm.linalg.sin %x : tensor<2xf32>
  check.expect_equal %a, %x : tensor<2xf32>
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %b = mllm.linalg.cos %x : tensor<2xf32>
  check.expect_equal %b, %one : tensor<2xf32>
  return
}

// NaN and what has a scale of NaN are the least integer, infinities the ends of
// the range, and all numbers of a scale of 0 the zero point.
!q = !llm.quantized_tensor<i8, [3, 4], true, true, 0, -1, 8>
!z = !llm.quantized_tensor<i8, [3, 4], false, true, 0, -1, 8>
func.func @quantized() {
  %x = arith.constant dense<[[0x7FC00000, 0x7F800000, 0xFF800000, 1.0],
                             [0x7FC00000, 1.0, -1.0, 0x7F800000],
                             [0xFFC00000, 1.0, -1.0, 0.0]]> : tensor<3x4xf32>
  %s = arith.constant dense<[1.0, 0.0, 0x7FC00000]> : tensor<3xf32>
  %points = arith.constant dense<[3, 5, 7]> : tensor<3xi8>
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %none = arith.constant dense<0> : tensor<3xi8>
  %q = llm.quantize %x, %s : (tensor<3x4xf32>, tensor<3xf32>) -> !q
  %a = llm.dequantize %q, %one : (!q, tensor<3xf32>) -> tensor<3x4xf32>
  %ea = arith.constant dense<[[-127.0, 127.0, -127.0, 1.0], [0.0, 0.0, 0.0, 0.0], [-127.0, -127.0, -127.0, -127.0]]> : tensor<3x4xf32>
  check.expect_equal %a, %ea : tensor<3x4xf32>
  %p = llm.quantize %x, %s, %points : (tensor<3x4xf32>, tensor<3xf32>, tensor<3xi8>) -> !z
  %b = llm.dequantize %p, %one, %none : (!z, tensor<3xf32>, tensor<3xi8>) -> tensor<3x4xf32>
  %eb = arith.constant dense<[[-128.0, 127.0, -128.0, 4.0], [5.0, 5.0, 5.0, 5.0], [-128.0, -128.0, -128.0, -128.0]]> : tensor<3x4xf32>
  check.expect_equal %b, %eb : tensor<3x4xf32>
  return
}

// NaN does not count; beside an infinite range the zero point is its start.
func.func @ranges() {
  %x = arith.constant dense<[[0x7FC00000, 2.55, 0.0, 1.0], [0xFF800000, 1.0, 2.0, 3.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<3x4xf32>
  %s, %z = llm.quant_params %x {axis = 0, bits = 8, group_size = -1, symmetric = false}
    : (tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3xi8>)
  %es = arith.constant dense<[0.01, 0x7F800000, 0.0]> : tensor<3xf32>
  %ez = arith.constant dense<[-128, -128, 0]> : tensor<3xi8>
  check.expect_equal %s, %es : tensor<3xf32>
  check.expect_equal %z, %ez : tensor<3xi8>
  return
}
