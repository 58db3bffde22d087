// RUN: llmir-translate --execute %s | FileCheck %s
// RUN: llmir-translate --execute --level=x86-64-v3 %s | FileCheck %s
// RUN: llmir-translate --interpret %s | FileCheck %s

// The contents of a byte cache with special scales, as numbers: nothing of a
// head that has a number which is not finite; zero where the scale is. The
// other head of the token is as it would be alone.

!cache = !llm.paged_kv_cache<i8, 1, 3, 2, 4, 8>

// CHECK: {{\[\[\[\[}}nan, nan], [-nan, -nan], [1.26999998, -0.25]
func.func @strange() -> (tensor<1x1x3x2xf32>) {
  %x = arith.constant dense<[[[0x7FC00000, 1.0], [3.0, 0xFF800000], [1.27, -0.25]]]> : tensor<1x3x2xf32>
  %slots = arith.constant dense<[0]> : tensor<1xi32>
  %t = arith.constant dense<[[0]]> : tensor<1x1xi32>
  %l = arith.constant dense<[1]> : tensor<1xi32>
  %zero = arith.constant 0 : index
  %c0 = llm.create_paged_cache : !cache
  %id = arith.constant dense<5> : tensor<1xi32>
  %r:5 = llm.reserve_kv %c0, %id {tokens = 1} : (!cache, tensor<1xi32>) -> (!cache, tensor<1xi32>, tensor<1x1xi32>, tensor<1x2xi32>, tensor<1xi32>)
  %c = llm.append_kv %r#0, %x, %x slots(%slots) layer(%zero) : (!cache, tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1xi32>) -> !cache
  %a, %b = llm.lookup_kv %c, %t, %l layer(%zero) : (!cache, tensor<1x1xi32>, tensor<1xi32>) -> (tensor<1x1x3x2xf32>, tensor<1x1x3x2xf32>)
  return %a : tensor<1x1x3x2xf32>
}
