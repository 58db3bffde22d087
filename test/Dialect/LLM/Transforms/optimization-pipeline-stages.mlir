// RUN: llmir-opt %s --llm-optimization-pipeline="level=0 num-stages=2" | FileCheck %s
// RUN: llmir-opt %s --llm-optimization-pipeline="level=1 num-stages=2" | FileCheck %s
// RUN: llmir-opt %s --llm-optimization-pipeline="level=2 num-stages=2" | FileCheck %s
// RUN: llmir-opt %s --llm-optimization-pipeline="level=3 num-stages=2 num-ranks=2" | FileCheck %s

// Stages are called once and remain functions at every level; modules do not.
!cache = !llm.paged_kv_cache<f32, 2, 2, 4, 16, 64>

// CHECK-NOT: @module
// CHECK: func.func private @step.stage0
// CHECK: llm.append_kv
// CHECK: func.func private @step.stage1
// CHECK: llm.append_kv
// CHECK: func.func @step
// CHECK: call @step.stage0
// CHECK-NEXT: call @step.stage1
func.func private @module(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %0 = llm.silu %x : tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}
func.func @step(%c: !cache, %x: tensor<1x2x4xf32>, %slots: tensor<1xi32>) -> !cache {
  %first = arith.constant 0 : index
  %second = arith.constant 1 : index
  %c1 = llm.append_kv %c, %x, %x slots(%slots) layer(%first) : (!cache, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1xi32>) -> !cache
  %y = call @module(%x) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %c2 = llm.append_kv %c1, %y, %x slots(%slots) layer(%second) : (!cache, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1xi32>) -> !cache
  return %c2 : !cache
}
