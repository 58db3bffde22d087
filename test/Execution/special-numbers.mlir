// Results of ops for values at the limits of a format, and for NaN: the
// interpreter and compiled code follow one rule, to the bit.

// RUN: llmir-translate --interpret %s
// RUN: llmir-translate --execute %s
// RUN: llmir-translate --execute --workers=3 --level=x86-64-v3 %s
// RUN: llmir-translate --compare %s | FileCheck %s

// Where exp(-x) overflows f32, which starts between these values.
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

// NaN is ignored; for an infinite range, the zero point is its start.
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

// A float beyond an integer type becomes the nearest integer of it, NaN 0.
func.func @to_integers(%x: tensor<8xf32> {check.values = dense<[0x7FC00000, 0x7F800000, 0xFF800000, -0.5, 300.0, -300.0, 1.0e19, -1.0]> : tensor<8xf32>}) {
  %a = arith.fptosi %x : tensor<8xf32> to tensor<8xi8>
  %ea = arith.constant dense<[0, 127, -128, 0, 127, -128, 127, -1]> : tensor<8xi8>
  check.expect_equal %a, %ea : tensor<8xi8>
  %b = arith.fptoui %x : tensor<8xf32> to tensor<8xi8>
  %eb = arith.constant dense<[0, 255, 0, 0, 255, 0, 255, 0]> : tensor<8xi8>
  check.expect_equal %b, %eb : tensor<8xi8>
  %c = arith.fptoui %x : tensor<8xf32> to tensor<8xi1>
  %ec = arith.constant dense<[false, true, false, false, true, false, true, false]> : tensor<8xi1>
  check.expect_equal %c, %ec : tensor<8xi1>
  %d = arith.fptosi %x : tensor<8xf32> to tensor<8xi32>
  %ed = arith.constant dense<[0, 2147483647, -2147483648, 0, 300, -300, 2147483647, -1]> : tensor<8xi32>
  check.expect_equal %d, %ed : tensor<8xi32>
  %e = arith.fptosi %x : tensor<8xf32> to tensor<8xi64>
  %ee = arith.constant dense<[0, 9223372036854775807, -9223372036854775808, 0, 300, -300, 9223372036854775807, -1]> : tensor<8xi64>
  check.expect_equal %e, %ee : tensor<8xi64>
  %f = arith.fptoui %x : tensor<8xf32> to tensor<8xi64>
  %ef = arith.constant dense<[0, -1, 0, 0, 300, 0, 9999999980506447872, 0]> : tensor<8xi64>
  check.expect_equal %f, %ef : tensor<8xi64>
  return
}

// A shift by the width of the type or more leaves nothing but the sign.
func.func @shifts(%x: tensor<5xi32> {check.values = dense<[-8, -8, 5, -5, 1]> : tensor<5xi32>},
                  %n: tensor<5xi32> {check.values = dense<[31, 32, 33, -1, 2]> : tensor<5xi32>}) {
  %a = arith.shli %x, %n : tensor<5xi32>
  %ea = arith.constant dense<[0, 0, 0, 0, 4]> : tensor<5xi32>
  check.expect_equal %a, %ea : tensor<5xi32>
  %b = arith.shrui %x, %n : tensor<5xi32>
  %eb = arith.constant dense<[1, 0, 0, 0, 0]> : tensor<5xi32>
  check.expect_equal %b, %eb : tensor<5xi32>
  %c = arith.shrsi %x, %n : tensor<5xi32>
  %ec = arith.constant dense<[-1, -1, 0, -1, 0]> : tensor<5xi32>
  check.expect_equal %c, %ec : tensor<5xi32>
  return
}

// A signed number of one bit is 0 or -1.
func.func @one_bit(%x: tensor<4xi1> {check.values = dense<[false, false, true, true]> : tensor<4xi1>},
                   %y: tensor<4xi1> {check.values = dense<[false, true, false, true]> : tensor<4xi1>}) {
  %a = arith.maxsi %x, %y : tensor<4xi1>
  %ea = arith.andi %x, %y : tensor<4xi1>
  check.expect_equal %a, %ea : tensor<4xi1>
  %b = arith.minsi %x, %y : tensor<4xi1>
  %eb = arith.ori %x, %y : tensor<4xi1>
  check.expect_equal %b, %eb : tensor<4xi1>
  return
}

func.func @clamped(%x: tensor<5xf32> {check.values = dense<[-2.0, -0.5, 0.5, 3.0, 0x7FC00000]> : tensor<5xf32>}) {
  %low = arith.constant dense<-1.0> : tensor<5xf32>
  %high = arith.constant dense<2.0> : tensor<5xf32>
  %a = math.clampf %x to [%low, %high] : tensor<5xf32>
  %ea = arith.constant dense<[-1.0, -0.5, 0.5, 2.0, 0x7FC00000]> : tensor<5xf32>
  check.expect_equal %a, %ea : tensor<5xf32>
  return
}

// The same in a kernel of whole tiles.
func.func @clamped_tiles(%x: tensor<2x16xf32>) {
  %low = arith.constant dense<-0.25> : tensor<2x16xf32>
  %high = arith.constant dense<0.5> : tensor<2x16xf32>
  %a = math.clampf %x to [%low, %high] : tensor<2x16xf32>
  %raised = arith.maximumf %x, %low : tensor<2x16xf32>
  %ea = arith.minimumf %raised, %high : tensor<2x16xf32>
  check.expect_equal %a, %ea : tensor<2x16xf32>
  return
}

// Of each type its own: 2^-20 is a normal number of f32, and none of f16.
func.func @classes(%x: tensor<6xf32> {check.values = dense<[0x7FC00000, 0x7F800000, 0xFF800000, 0.0, 1.0e-40, -9.53674316e-07]> : tensor<6xf32>}) {
  %a = math.isinf %x : tensor<6xf32>
  %ea = arith.constant dense<[false, true, true, false, false, false]> : tensor<6xi1>
  check.expect_equal %a, %ea : tensor<6xi1>
  %b = math.isnormal %x : tensor<6xf32>
  %eb = arith.constant dense<[false, false, false, false, false, true]> : tensor<6xi1>
  check.expect_equal %b, %eb : tensor<6xi1>
  %h = arith.truncf %x : tensor<6xf32> to tensor<6xf16>
  %c = math.isnormal %h : tensor<6xf16>
  %ec = arith.constant dense<false> : tensor<6xi1>
  check.expect_equal %c, %ec : tensor<6xi1>
  return
}

// Powers of negative values, of 0, of infinities and of NaN.
// CHECK: @powers result 0: nmse
// CHECK: @powers result 1: nmse
func.func @powers(%x: tensor<6x6xf32> {check.values = dense<[
      [-2.0, -2.0, -2.0, -2.0, 3.0, 2.0], [-1.0, -1.0, -1.0, -1.0, 1.0, 1.0],
      [0.0, -0.0, -0.0, 0.0, 0.0, -0.0], [0x7F800000, 0x7F800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000],
      [0x7FC00000, 0x7FC00000, 2.0, -0.5, 0.5, 4.0], [0.5, -3.0, 3.0e38, 1.0e-40, -1.5, 7.0]]> : tensor<6x6xf32>},
                  %y: tensor<6x6xf32> {check.values = dense<[
      [2.0, 3.0, -3.0, 0.5, -2.0, 0.0], [3.0, 0x7F800000, 0x7FC00000, 1.0e10, 0x7FC00000, 5.0],
      [2.0, 3.0, -3.0, -2.0, 0.0, 0.5], [0.5, -1.0, 3.0, 2.0, -3.0, 0.5],
      [0.0, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0.5], [150.0, 5.0, 2.0, -1.0, 4.0, -3.0]]> : tensor<6x6xf32>})
    -> (tensor<6x6xf32>, tensor<6x6xf32>) {
  %a = math.powf %x, %y : tensor<6x6xf32>
  %c = arith.constant dense<-3.0> : tensor<6x6xf32>
  %b = math.powf %x, %c : tensor<6x6xf32>
  return %a, %b : tensor<6x6xf32>, tensor<6x6xf32>
}

// Small values, whose results are as accurate as others.
// CHECK: @near_zero result 0: nmse
// CHECK: @near_zero result 1: nmse
// CHECK: @near_zero result 2: nmse
// CHECK: @near_zero result 3: nmse
func.func @near_zero(%x: tensor<4xf32> {check.values = dense<[1.0e-8, -1.1e-8, 2.0e-8, 1.7e-8]> : tensor<4xf32>},
                     %y: tensor<3xf32> {check.values = dense<[1.0e-40, -2.0e-40, 1.0e-38]> : tensor<3xf32>})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) {
  %a = math.sinh %x : tensor<4xf32>
  %b = math.asinh %x : tensor<4xf32>
  %c = math.atanh %x : tensor<4xf32>
  %d = math.cbrt %y : tensor<3xf32>
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>
}

// Numbers around the greatest of f32, infinite ones, and NaN.
// CHECK: @far result 0: nmse
// CHECK: @far result 1: nmse
// CHECK: @far result 2: nmse
// CHECK: @far result 3: nmse
// CHECK: @far result 4: nmse
// CHECK: @far result 5: nmse
func.func @far(%x: tensor<5xf32> {check.values = dense<[89.0, -89.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<5xf32>},
               %y: tensor<6xf32> {check.values = dense<[-300.0, 3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<6xf32>})
    -> (tensor<5xf32>, tensor<5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<5xf32>) {
  %a = math.sinh %x : tensor<5xf32>
  %b = math.cosh %x : tensor<5xf32>
  %c = math.asinh %y : tensor<6xf32>
  %d = math.acosh %y : tensor<6xf32>
  %e = math.cbrt %y : tensor<6xf32>
  %f = math.exp2 %x : tensor<5xf32>
  return %a, %b, %c, %d, %e, %f : tensor<5xf32>, tensor<5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<5xf32>
}

// CHECK: @angles result 0: nmse
func.func @angles(%y: tensor<9xf32> {check.values = dense<[0x7F800000, 0x7F800000, 0xFF800000, 0xFF800000, 0.0, 0.0, -0.0, -0.0, 1.0]> : tensor<9xf32>},
                  %x: tensor<9xf32> {check.values = dense<[0x7F800000, 0xFF800000, 0x7F800000, 0xFF800000, 0.0, -0.0, 0.0, -0.0, 0.0]> : tensor<9xf32>})
    -> tensor<9xf32> {
  %a = math.atan2 %y, %x : tensor<9xf32>
  return %a : tensor<9xf32>
}

// What f32 does not hold is infinite, as the interpreter has it.
// CHECK: @overflow result 0: nmse 0.00e+00
func.func @overflow(%x: tensor<2xf32> {check.values = dense<[3.0e38, 1.0]> : tensor<2xf32>}) -> tensor<2xf32> {
  %a = arith.addf %x, %x : tensor<2xf32>
  return %a : tensor<2xf32>
}

// A query whose scores are NaN gives NaN, one without visible keys zeros; what
// is hidden counts for nothing.
func.func @attention(%q: tensor<1x3x1x1xf32> {check.values = dense<[[[[0x7FC00000]], [[1.0]], [[0x7FC00000]]]]> : tensor<1x3x1x1xf32>},
                     %k: tensor<1x3x1x1xf32> {check.values = dense<[[[[1.0]], [[1.0]], [[0x7FC00000]]]]> : tensor<1x3x1x1xf32>},
                     %m: tensor<1x1x3x3xi1> {check.values = dense<[[[[true, true, false], [true, true, false], [false, false, false]]]]> : tensor<1x1x3x3xi1>}) {
  %a = llm.attention %q, %k, %k mask(%m) : (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>, tensor<1x1x3x3xi1>) -> tensor<1x3x1x1xf32>
  %ea = arith.constant dense<[[[[0x7FC00000]], [[1.0]], [[0.0]]]]> : tensor<1x3x1x1xf32>
  check.expect_equal %a, %ea : tensor<1x3x1x1xf32>
  return
}
