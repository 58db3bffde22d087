// RUN: llmir-translate --interpret %s

func.func @embedding() {
  %ids = arith.constant dense<[2, 0]> : tensor<2xi32>
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %y = llm.embedding %ids, %table : tensor<2xi32>, tensor<3x2xf32> -> tensor<2x2xf32>
  %e = arith.constant dense<[[5.0, 6.0], [1.0, 2.0]]> : tensor<2x2xf32>
  check.expect_equal %y, %e : tensor<2x2xf32>
  return
}

func.func @linear() {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %w = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [10.0, 100.0]]> : tensor<3x2xbf16>
  %b = arith.constant dense<[0.5, 0.0, -1.0]> : tensor<3xf32>
  %y = llm.linear %x, %w : tensor<2x2xf32>, tensor<3x2xbf16> -> tensor<2x3xf32>
  %e = arith.constant dense<[[1.0, 2.0, 210.0], [3.0, 4.0, 430.0]]> : tensor<2x3xf32>
  check.expect_equal %y, %e : tensor<2x3xf32>
  %z = llm.linear %x, %w bias %b : tensor<2x2xf32>, tensor<3x2xbf16>, tensor<3xf32> -> tensor<2x3xf32>
  %f = arith.constant dense<[[1.5, 2.0, 209.0], [3.5, 4.0, 429.0]]> : tensor<2x3xf32>
  check.expect_equal %z, %f : tensor<2x3xf32>
  return
}

// Each result is rounded once to its type: 257 is between two bf16 values.
func.func @rounding() {
  %x = arith.constant dense<[[1.0, 1.0]]> : tensor<1x2xbf16>
  %w = arith.constant dense<[[256.0, 1.0]]> : tensor<1x2xbf16>
  %y = llm.linear %x, %w : tensor<1x2xbf16>, tensor<1x2xbf16> -> tensor<1x1xbf16>
  %e = arith.constant dense<256.0> : tensor<1x1xbf16>
  check.expect_equal %y, %e : tensor<1x1xbf16>
  return
}

func.func @norms() {
  %x = arith.constant dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[2.0, -1.0]> : tensor<2xf32>
  %y = llm.rms_norm %x, %w {eps = 3.5 : f64} : tensor<1x2xf32>, tensor<2xf32>
  %e = arith.constant dense<[[1.5, -1.0]]> : tensor<1x2xf32>
  check.expect_close %y, %e : tensor<1x2xf32>
  %p = llm.rms_norm %x {eps = 3.5 : f64} : tensor<1x2xf32>
  %f = arith.constant dense<[[0.75, 1.0]]> : tensor<1x2xf32>
  check.expect_close %p, %f : tensor<1x2xf32>

  %l = arith.constant dense<[[1.0, 5.0]]> : tensor<1x2xf32>
  %v = arith.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %n = llm.layer_norm %l, %v, %b {eps = 12.0 : f64} : tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>
  %g = arith.constant dense<[[9.0, 22.0]]> : tensor<1x2xf32>
  check.expect_close %n, %g : tensor<1x2xf32>
  %o = llm.layer_norm %l {eps = 12.0 : f64} : tensor<1x2xf32>
  %h = arith.constant dense<[[-0.5, 0.5]]> : tensor<1x2xf32>
  check.expect_close %o, %h : tensor<1x2xf32>
  return
}

func.func @softmax() {
  // Logarithms of 1, 2 and 5.
  %x = arith.constant dense<[[0.0, 0.6931471806, 1.6094379124]]> : tensor<1x3xf32>
  %y = llm.softmax %x : tensor<1x3xf32>
  %e = arith.constant dense<[[0.125, 0.25, 0.625]]> : tensor<1x3xf32>
  check.expect_close %y, %e {nmse = 1.0e-13 : f64} : tensor<1x3xf32>
  return
}

func.func @rope() {
  %x = arith.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]], [[1.0, 2.0, 3.0, 4.0, 5.0]]]> : tensor<2x1x5xf32>
  %p = arith.constant dense<[0, 1]> : tensor<2xi32>
  // Angles 0 and a quarter turn at position 1; the fifth number is copied.
  %y = llm.rope %x, %p {frequencies = array<f64: 0.0, 1.5707963267948966>}
     : tensor<2x1x5xf32>, tensor<2xi32>
  %e = arith.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]], [[1.0, -4.0, 3.0, 2.0, 5.0]]]> : tensor<2x1x5xf32>
  check.expect_close %y, %e : tensor<2x1x5xf32>
  %z = llm.rope %x, %p {frequencies = array<f64: 0.0, 1.5707963267948966>, scaling = 2.0 : f64, interleaved}
     : tensor<2x1x5xf32>, tensor<2xi32>
  %f = arith.constant dense<[[[2.0, 4.0, 6.0, 8.0, 5.0]], [[2.0, 4.0, -8.0, 6.0, 5.0]]]> : tensor<2x1x5xf32>
  check.expect_close %z, %f : tensor<2x1x5xf32>
  return
}

func.func @elementwise() {
  %x = arith.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %u = arith.constant dense<[3.0, 2.0]> : tensor<2xf32>
  %silu = llm.silu %x : tensor<2xf32>
  %e0 = arith.constant dense<[0.7310585786, -0.2689414214]> : tensor<2xf32>
  check.expect_close %silu, %e0 {nmse = 1.0e-14 : f64} : tensor<2xf32>
  %none = llm.gelu %x : tensor<2xf32>
  %e1 = arith.constant dense<[0.8413447461, -0.1586552539]> : tensor<2xf32>
  check.expect_close %none, %e1 {nmse = 1.0e-14 : f64} : tensor<2xf32>
  %tanh = llm.gelu %x {approximate = "tanh"} : tensor<2xf32>
  %e2 = arith.constant dense<[0.8411919906, -0.1588080094]> : tensor<2xf32>
  check.expect_close %tanh, %e2 {nmse = 1.0e-14 : f64} : tensor<2xf32>
  %quick = llm.gelu %x {approximate = "quick"} : tensor<2xf32>
  %e3 = arith.constant dense<[0.8457957660, -0.1542042340]> : tensor<2xf32>
  check.expect_close %quick, %e3 {nmse = 1.0e-13 : f64} : tensor<2xf32>
  %sum = llm.add %x, %u : tensor<2xf32>
  %e4 = arith.constant dense<[4.0, 1.0]> : tensor<2xf32>
  check.expect_equal %sum, %e4 : tensor<2xf32>
  %product = llm.mul %x, %u : tensor<2xf32>
  %e5 = arith.constant dense<[3.0, -2.0]> : tensor<2xf32>
  check.expect_equal %product, %e5 : tensor<2xf32>
  // Bit for bit the product after silu, in narrow types too.
  %xb = arith.truncf %x : tensor<2xf32> to tensor<2xbf16>
  %ub = arith.truncf %u : tensor<2xf32> to tensor<2xbf16>
  %sb = llm.silu %xb : tensor<2xbf16>
  %pb = llm.mul %sb, %ub : tensor<2xbf16>
  %gb = llm.swiglu %xb, %ub : tensor<2xbf16>
  check.expect_equal %gb, %pb : tensor<2xbf16>
  %e6 = arith.constant dense<[2.1875, -0.5390625]> : tensor<2xbf16>
  check.expect_equal %gb, %e6 : tensor<2xbf16>
  return
}

func.func @select_rows(%x: tensor<?x2x2xf32> {check.shape = array<i64: 3, 2, 2>}) {
  %rows = arith.constant dense<[2, 2, 0]> : tensor<3xi32>
  %y = llm.select_rows %x, %rows : tensor<?x2x2xf32>, tensor<3xi32> -> tensor<3x2x2xf32>
  %last = tensor.extract_slice %x[2, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<?x2x2xf32> to tensor<1x2x2xf32>
  %first = tensor.extract_slice %x[0, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<?x2x2xf32> to tensor<1x2x2xf32>
  %e = tensor.concat dim(0) %last, %last, %first
     : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<3x2x2xf32>
  check.expect_equal %y, %e : tensor<3x2x2xf32>
  return
}

func.func @mean_rows(%x: tensor<?x1x2xf32> {check.shape = array<i64: 4, 1, 2>}) {
  %y = arith.constant dense<[[[1.0, 2.0]], [[3.0, 6.0]], [[5.0, 7.0]], [[9.0, 9.0]]]> : tensor<4x1x2xf32>
  %offsets = arith.constant dense<[0, 3, 3, 4]> : tensor<4xi32>
  %m = llm.mean_rows %y, %offsets : tensor<4x1x2xf32>, tensor<4xi32> -> tensor<3x1x2xf32>
  %e = arith.constant dense<[[[3.0, 5.0]], [[0.0, 0.0]], [[9.0, 9.0]]]> : tensor<3x1x2xf32>
  check.expect_equal %m, %e : tensor<3x1x2xf32>
  return
}

// No token at all.
func.func @empty(%x: tensor<0x4xf32>, %w: tensor<4xf32>) {
  %y = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<0x4xf32>, tensor<4xf32>
  check.expect_equal %y, %x : tensor<0x4xf32>
  return
}
