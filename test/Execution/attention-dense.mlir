// RUN: llmir-translate --compare %s | FileCheck %s

// Attention of tensors: every feature, every way in which a mask can be shared,
// and sizes of nothing and of one.

// SPEC: 31 84 115 174 197
// CHECK: @plain result 0: nmse
func.func @plain(%q: tensor<2x5x8x64xf32>, %k: tensor<2x33x2x64xf32>, %v: tensor<2x33x2x64xf32>) -> tensor<2x5x8x64xf32> {
  %o = llm.attention %q, %k, %v : (tensor<2x5x8x64xf32>, tensor<2x33x2x64xf32>, tensor<2x33x2x64xf32>) -> tensor<2x5x8x64xf32>
  return %o : tensor<2x5x8x64xf32>
}

// Values are wider than keys, and elements have half a word.
// CHECK: @causal_bf16 result 0: nmse
func.func @causal_bf16(%q: tensor<1x17x7x80xbf16>, %k: tensor<1x17x1x80xbf16>, %v: tensor<1x17x1x96xbf16>) -> tensor<1x17x7x96xbf16> {
  %o = llm.attention %q, %k, %v {causal = true} : (tensor<1x17x7x80xbf16>, tensor<1x17x1x80xbf16>, tensor<1x17x1x96xbf16>) -> tensor<1x17x7x96xbf16>
  return %o : tensor<1x17x7x96xbf16>
}

// More queries than keys: the first five see nothing.
// CHECK: @more_queries result 0: nmse
func.func @more_queries(%q: tensor<2x9x2x16xf32>, %k: tensor<2x4x2x16xf32>, %v: tensor<2x4x2x16xf32>) -> tensor<2x9x2x16xf32> {
  %o = llm.attention %q, %k, %v {causal = true} : (tensor<2x9x2x16xf32>, tensor<2x4x2x16xf32>, tensor<2x4x2x16xf32>) -> tensor<2x9x2x16xf32>
  %s = tensor.extract_slice %o[0, 0, 0, 0] [2, 5, 2, 16] [1, 1, 1, 1] : tensor<2x9x2x16xf32> to tensor<2x5x2x16xf32>
  %zero = arith.constant dense<0.0> : tensor<2x5x2x16xf32>
  check.expect_equal %s, %zero : tensor<2x5x2x16xf32>
  return %o : tensor<2x9x2x16xf32>
}

// CHECK: @window result 0: nmse
func.func @window(%q: tensor<1x40x4x32xf32>, %k: tensor<1x40x2x32xf32>, %v: tensor<1x40x2x32xf32>) -> tensor<1x40x4x32xf32> {
  %o = llm.attention %q, %k, %v {causal = true, window = 11} : (tensor<1x40x4x32xf32>, tensor<1x40x2x32xf32>, tensor<1x40x2x32xf32>) -> tensor<1x40x4x32xf32>
  return %o : tensor<1x40x4x32xf32>
}

// CHECK: @soft_cap_and_slopes result 0: nmse
func.func @soft_cap_and_slopes(%q: tensor<2x3x2x128xf16>, %k: tensor<2x100x1x128xf16>, %v: tensor<2x100x1x128xf16>) -> tensor<2x3x2x128xf16> {
  %o = llm.attention %q, %k, %v {causal = true, soft_cap = 2.0 : f64, alibi_slopes = array<f64: 0.25, 0.0625>}
      : (tensor<2x3x2x128xf16>, tensor<2x100x1x128xf16>, tensor<2x100x1x128xf16>) -> tensor<2x3x2x128xf16>
  return %o : tensor<2x3x2x128xf16>
}

// Sinks that are an argument, a constant (one of them none), and computed.
// CHECK: @sinks result 0: nmse
// CHECK: @sinks result 1: nmse
// CHECK: @sinks result 2: nmse
func.func @sinks(%q: tensor<2x3x4x16xf32>, %k: tensor<2x20x2x16xf32>, %v: tensor<2x20x2x16xf32>, %s: tensor<4xf32>)
    -> (tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>) {
  %a = llm.attention %q, %k, %v sinks(%s) : (tensor<2x3x4x16xf32>, tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>, tensor<4xf32>) -> tensor<2x3x4x16xf32>
  %c = arith.constant dense<[0.5, 0xFF800000, -1.0, 2.0]> : tensor<4xf32>
  %b = llm.attention %q, %k, %v sinks(%c) {causal = true} : (tensor<2x3x4x16xf32>, tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>, tensor<4xf32>) -> tensor<2x3x4x16xf32>
  %t = llm.add %s, %s : tensor<4xf32>
  %d = llm.attention %q, %k, %v sinks(%t) {window = 4} : (tensor<2x3x4x16xf32>, tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>, tensor<4xf32>) -> tensor<2x3x4x16xf32>
  return %a, %b, %d : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>
}

// CHECK: @mask_of_all result 0: nmse
func.func @mask_of_all(%q: tensor<2x3x4x16xf32>, %k: tensor<2x19x2x16xf32>, %v: tensor<2x19x2x16xf32>, %m: tensor<2x4x3x19xf32>) -> tensor<2x3x4x16xf32> {
  %o = llm.attention %q, %k, %v mask(%m) : (tensor<2x3x4x16xf32>, tensor<2x19x2x16xf32>, tensor<2x19x2x16xf32>, tensor<2x4x3x19xf32>) -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// CHECK: @mask_of_keys result 0: nmse
func.func @mask_of_keys(%q: tensor<2x3x4x16xf32>, %k: tensor<2x19x2x16xf32>, %v: tensor<2x19x2x16xf32>, %m: tensor<2x1x1x19xf32>) -> tensor<2x3x4x16xf32> {
  %o = llm.attention %q, %k, %v mask(%m) {causal = true} : (tensor<2x3x4x16xf32>, tensor<2x19x2x16xf32>, tensor<2x19x2x16xf32>, tensor<2x1x1x19xf32>) -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// The same for all keys: it has an effect only if it masks.
// CHECK: @mask_of_queries result 0: nmse
func.func @mask_of_queries(%q: tensor<2x3x4x16xf32>, %k: tensor<2x19x2x16xf32>, %v: tensor<2x19x2x16xf32>) -> tensor<2x3x4x16xf32> {
  %m = arith.constant dense<[[[[1.0], [0xFF800000], [-3.0e38]]]]> : tensor<1x1x3x1xf32>
  %o = llm.attention %q, %k, %v mask(%m) : (tensor<2x3x4x16xf32>, tensor<2x19x2x16xf32>, tensor<2x19x2x16xf32>, tensor<1x1x3x1xf32>) -> tensor<2x3x4x16xf32>
  %s = tensor.extract_slice %o[0, 1, 0, 0] [2, 1, 4, 16] [1, 1, 1, 1] : tensor<2x3x4x16xf32> to tensor<2x1x4x16xf32>
  %zero = arith.constant dense<0.0> : tensor<2x1x4x16xf32>
  check.expect_equal %s, %zero : tensor<2x1x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// CHECK: @mask_of_heads result 0: nmse
func.func @mask_of_heads(%q: tensor<2x3x4x16xf32>, %k: tensor<2x19x2x16xf32>, %v: tensor<2x19x2x16xf32>, %m: tensor<1x4x1x19xf16>) -> tensor<2x3x4x16xf32> {
  %o = llm.attention %q, %k, %v mask(%m) : (tensor<2x3x4x16xf32>, tensor<2x19x2x16xf32>, tensor<2x19x2x16xf32>, tensor<1x4x1x19xf16>) -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// i1: which scores count. Its constants and its arguments are the same.
// CHECK: @mask_i1 result 0: nmse
// CHECK: @mask_i1 result 1: nmse
func.func @mask_i1(%q: tensor<1x3x2x16xf32>, %k: tensor<1x5x2x16xf32>, %v: tensor<1x5x2x16xf32>, %n: tensor<1x2x3x5xi1>)
    -> (tensor<1x3x2x16xf32>, tensor<1x3x2x16xf32>) {
  %m = arith.constant dense<[[[[true, false, false, true, true], [false, false, false, false, false],
                               [true, true, true, true, true]]]]> : tensor<1x1x3x5xi1>
  %o = llm.attention %q, %k, %v mask(%m) : (tensor<1x3x2x16xf32>, tensor<1x5x2x16xf32>, tensor<1x5x2x16xf32>, tensor<1x1x3x5xi1>) -> tensor<1x3x2x16xf32>
  %p = llm.attention %q, %k, %v mask(%n) : (tensor<1x3x2x16xf32>, tensor<1x5x2x16xf32>, tensor<1x5x2x16xf32>, tensor<1x2x3x5xi1>) -> tensor<1x3x2x16xf32>
  return %o, %p : tensor<1x3x2x16xf32>, tensor<1x3x2x16xf32>
}

// Rank 3 is one head.
// CHECK: @one_head result 0: nmse
func.func @one_head(%q: tensor<3x2x24xf32>, %k: tensor<3x18x24xf32>, %v: tensor<3x18x10xf32>, %m: tensor<3x1x18xf32>) -> tensor<3x2x10xf32> {
  %o = llm.attention %q, %k, %v mask(%m) : (tensor<3x2x24xf32>, tensor<3x18x24xf32>, tensor<3x18x10xf32>, tensor<3x1x18xf32>) -> tensor<3x2x10xf32>
  return %o : tensor<3x2x10xf32>
}

// CHECK: @one_of_each result 0: nmse
func.func @one_of_each(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x1x1xf32>, %v: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %o = llm.attention %q, %k, %v {causal = true} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %o : tensor<1x1x1x1xf32>
}

// CHECK: @no_queries result 0: nmse
func.func @no_queries(%q: tensor<2x0x4x16xf32>, %k: tensor<2x3x2x16xf32>, %v: tensor<2x3x2x16xf32>) -> tensor<2x0x4x16xf32> {
  %o = llm.attention %q, %k, %v : (tensor<2x0x4x16xf32>, tensor<2x3x2x16xf32>, tensor<2x3x2x16xf32>) -> tensor<2x0x4x16xf32>
  return %o : tensor<2x0x4x16xf32>
}

// Without visible keys, the result is zero, with and without a sink.
// CHECK: @no_keys result 0: nmse
// CHECK: @no_keys result 1: nmse
func.func @no_keys(%q: tensor<2x3x4x16xf32>, %k: tensor<2x0x2x16xf32>, %v: tensor<2x0x2x16xf32>, %s: tensor<4xf32>) -> (tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>) {
  %o = llm.attention %q, %k, %v : (tensor<2x3x4x16xf32>, tensor<2x0x2x16xf32>, tensor<2x0x2x16xf32>) -> tensor<2x3x4x16xf32>
  %p = llm.attention %q, %k, %v sinks(%s) : (tensor<2x3x4x16xf32>, tensor<2x0x2x16xf32>, tensor<2x0x2x16xf32>, tensor<4xf32>) -> tensor<2x3x4x16xf32>
  %zero = arith.constant dense<0.0> : tensor<2x3x4x16xf32>
  check.expect_equal %o, %zero : tensor<2x3x4x16xf32>
  check.expect_equal %p, %zero : tensor<2x3x4x16xf32>
  return %o, %p : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>
}

// What a mask hides may be anything.
// CHECK: @hidden_infinity result 0: nmse
func.func @hidden_infinity(%q: tensor<1x2x1x4xf32>) -> tensor<1x2x1x4xf32> {
  %k = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0]], [[0x7FC00000, 0x7F800000, 0.0, 1.0]], [[4.0, 3.0, 2.0, 1.0]]]]> : tensor<1x3x1x4xf32>
  %v = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0]], [[0x7FC00000, 0x7F800000, 0xFF800000, 1.0]], [[8.0, 7.0, 6.0, 5.0]]]]> : tensor<1x3x1x4xf32>
  %m = arith.constant dense<[[[[true, false, true]]]]> : tensor<1x1x1x3xi1>
  %o = llm.attention %q, %k, %v mask(%m) : (tensor<1x2x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x1x1x3xi1>) -> tensor<1x2x1x4xf32>
  return %o : tensor<1x2x1x4xf32>
}
