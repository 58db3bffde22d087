// RUN: llmir-translate --compare %s | FileCheck %s
// RUN: llmir-translate --compare --workers=3 --level=x86-64-v3 %s | FileCheck %s

// A cache of bytes with a scale per head and token: lookup_kv returns exactly what
// append_kv stored, and attention reads the same values, but multiplies queries
// and weights rounded to 16 bits. The interpreter rounds in the same way.

!cache = !llm.paged_kv_cache<i8, 2, 2, 16, 8, 64>
!odd = !llm.paged_kv_cache<i8, 1, 1, 37, 4, 128, valueDim = 50>

// CHECK: @lookup result 0: nmse 0.00e+00
// CHECK: @lookup result 1: nmse 0.00e+00
func.func @lookup(%k: tensor<20x2x16xf32>, %v: tensor<20x2x16xf32>) -> (tensor<2x13x2x16xf32>, tensor<2x13x2x16xf32>) {
  %slots = arith.constant dense<[8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 16, 17, 18, 19, 20, 21, 22]> : tensor<20xi32>
  %t = arith.constant dense<[[1, 0], [2, -1]]> : tensor<2x2xi32>
  %l = arith.constant dense<[13, 7]> : tensor<2xi32>
  %one = arith.constant 1 : index
  %c0 = llm.create_paged_cache : !cache
  // Two sequences that end leave their blocks in reverse order: the next one
  // gets blocks 1 and 0.
  %both = arith.constant dense<[90, 91]> : tensor<2xi32>
  %x = arith.constant dense<7> : tensor<1xi32>
  %y = arith.constant dense<3> : tensor<1xi32>
  %r0:5 = llm.reserve_kv %c0, %both {tokens = 1} : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %ended = llm.free_kv %r0#0, %both : (!cache, tensor<2xi32>) -> !cache
  %r1:5 = llm.reserve_kv %ended, %x layer(%one) {tokens = 13} : (!cache, tensor<1xi32>) -> (!cache, tensor<13xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %r2:5 = llm.reserve_kv %r1#0, %y layer(%one) {tokens = 7} : (!cache, tensor<1xi32>) -> (!cache, tensor<7xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %c = llm.append_kv %r2#0, %k, %v slots(%slots) layer(%one) : (!cache, tensor<20x2x16xf32>, tensor<20x2x16xf32>, tensor<20xi32>) -> !cache
  %a, %b = llm.lookup_kv %c, %t, %l layer(%one) : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x13x2x16xf32>, tensor<2x13x2x16xf32>)
  return %a, %b : tensor<2x13x2x16xf32>, tensor<2x13x2x16xf32>
}

// A scale that is subnormal has few digits: its codes keep to 127 steps. (The
// numbers are so many times 2^-149.)
// CHECK: @few_digits result 0: nmse 0.00e+00
func.func @few_digits() -> tensor<1x1x2x16xf32> {
  %x = arith.constant dense<[[[2.6624670822171524e-43, -2.6624670822171524e-43, 1.401298464324817e-43, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                             [8.8281803252463475e-44, -1.401298464324817e-44, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x2x16xf32>
  %slots = arith.constant dense<[0]> : tensor<1xi32>
  %t = arith.constant dense<[[0]]> : tensor<1x1xi32>
  %l = arith.constant dense<[1]> : tensor<1xi32>
  %zero = arith.constant 0 : index
  %c0 = llm.create_paged_cache : !cache
  %id = arith.constant dense<5> : tensor<1xi32>
  %r:5 = llm.reserve_kv %c0, %id {tokens = 1} : (!cache, tensor<1xi32>) -> (!cache, tensor<1xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %c = llm.append_kv %r#0, %x, %x slots(%slots) layer(%zero) : (!cache, tensor<1x2x16xf32>, tensor<1x2x16xf32>, tensor<1xi32>) -> !cache
  %a, %b = llm.lookup_kv %c, %t, %l layer(%zero) : (!cache, tensor<1x1xi32>, tensor<1xi32>) -> (tensor<1x1x2x16xf32>, tensor<1x1x2x16xf32>)
  return %a : tensor<1x1x2x16xf32>
}

// CHECK: @attention result 0: nmse
// CHECK: @attention result 1: nmse
func.func @attention(%q: tensor<2x3x4x16xf32>, %k: tensor<20x2x16xf32>, %v: tensor<20x2x16xf32>,
                     %all: tensor<2x4x3x24xf32>, %s: tensor<4xf32>)
    -> (tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>) {
  %slots = arith.constant dense<[8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 16, 17, 18, 19, 20, 21, 22]> : tensor<20xi32>
  %t = arith.constant dense<[[1, 0, -1], [2, -1, -1]]> : tensor<2x3xi32>
  %l = arith.constant dense<[13, 7]> : tensor<2xi32>
  %one = arith.constant 1 : index
  %c0 = llm.create_paged_cache : !cache
  // Two sequences that end leave their blocks in reverse order: the next one
  // gets blocks 1 and 0.
  %both = arith.constant dense<[90, 91]> : tensor<2xi32>
  %x = arith.constant dense<7> : tensor<1xi32>
  %y = arith.constant dense<3> : tensor<1xi32>
  %r0:5 = llm.reserve_kv %c0, %both {tokens = 1} : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %ended = llm.free_kv %r0#0, %both : (!cache, tensor<2xi32>) -> !cache
  %r1:5 = llm.reserve_kv %ended, %x layer(%one) {tokens = 13} : (!cache, tensor<1xi32>) -> (!cache, tensor<13xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %r2:5 = llm.reserve_kv %r1#0, %y layer(%one) {tokens = 7} : (!cache, tensor<1xi32>) -> (!cache, tensor<7xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %c = llm.append_kv %r2#0, %k, %v slots(%slots) layer(%one) : (!cache, tensor<20x2x16xf32>, tensor<20x2x16xf32>, tensor<20xi32>) -> !cache
  %a = llm.paged_attention %q, %c, %t, %l layer(%one) : (tensor<2x3x4x16xf32>, !cache, tensor<2x3xi32>, tensor<2xi32>) -> tensor<2x3x4x16xf32>
  %b = llm.paged_attention %q, %c, %t, %l layer(%one) mask(%all) sinks(%s) {causal = false, soft_cap = 4.0 : f64}
      : (tensor<2x3x4x16xf32>, !cache, tensor<2x3xi32>, tensor<2xi32>, tensor<2x4x3x24xf32>, tensor<4xf32>) -> tensor<2x3x4x16xf32>
  return %a, %b : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>
}

// Heads that no word and no line divides, in blocks of one word of tokens.
// CHECK: @odd result 0: nmse
func.func @odd(%q: tensor<1x9x3x37xf32>, %k: tensor<1x70x1x37xf32>, %v: tensor<1x70x1x50xf32>) -> tensor<1x9x3x50xf32> {
  %ids = arith.constant dense<[3]> : tensor<1xi32>
  %c0 = llm.create_paged_cache : !odd
  %c1, %b1 = llm.append_kv %c0, %k, %v, %ids : (!odd, tensor<1x70x1x37xf32>, tensor<1x70x1x50xf32>, tensor<1xi32>) -> (!odd, tensor<1x70xi32>)
  %c2, %s, %bi, %t, %l = llm.reserve_kv %c1, %ids {tokens = 0}
      : (!odd, tensor<1xi32>) -> (!odd, tensor<0xi32>, tensor<1x0xi32>, tensor<1x32xi32>, tensor<1xi32>)
  %o = llm.paged_attention %q, %c2, %t, %l {num_heads = 3 : i32, head_dim = 37 : i32, scale = 0.3 : f32}
      : (tensor<1x9x3x37xf32>, !odd, tensor<1x32xi32>, tensor<1xi32>) -> tensor<1x9x3x50xf32>
  return %o : tensor<1x9x3x50xf32>
}
