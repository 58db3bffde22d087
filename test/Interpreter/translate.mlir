// RUN: llmir-translate --interpret %s | FileCheck %s
// RUN: llmir-translate --interpret --function=two --seed=7 %s > %t.a
// RUN: llmir-translate --interpret --function=two --seed=7 %s > %t.b
// RUN: llmir-translate --interpret --function=two --seed=8 %s > %t.c
// RUN: cmp %t.a %t.b && not cmp %t.a %t.c
// RUN: not llmir-translate --interpret --function=none %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: there is no function to run named none

// CHECK: @one result 0: tensor<2xf32> [1, 2.5]
// CHECK-NEXT: @one result 1: tensor<i64> 7
func.func @one() -> (tensor<2xf32>, index) {
  %a = arith.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %i = arith.constant 7 : index
  return %a, %i : tensor<2xf32>, index
}

// Only functions that others can see are run without being named.
func.func private @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// CHECK-NEXT: @two result 0: tensor<2xf32> [
// CHECK-NEXT: @two result 1: cache of 16 blocks with sequences {3: 1, 9: 1}
func.func @two(%x: tensor<2xf32>, %k: tensor<2x1x2xf32>) -> (tensor<2xf32>, !llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>) {
  %y = call @inner(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %ids = arith.constant dense<[9, 3]> : tensor<2xi32>
  %c = llm.create_paged_cache : !llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>
  %c1, %b = llm.append_kv %c, %k, %k, %ids
      : (!llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>, tensor<2x1x2xf32>, tensor<2x1x2xf32>, tensor<2xi32>)
        -> (!llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>, tensor<2xi32>)
  return %y, %c1 : tensor<2xf32>, !llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>
}
