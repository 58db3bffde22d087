// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{scheme=int4:g32})' --verify-diagnostics | FileCheck %s

// Rows that are not whole groups are not quantized; a row of one group has one
// scale.
// CHECK-LABEL: func @rows
func.func @rows(%x: tensor<?x48xf32>, %w: tensor<8x48xf32>, %y: tensor<?x32xf32>, %v: tensor<8x32xf32>, %z: tensor<?x16xf32>, %u: tensor<8x16xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: llm.linear %{{.*}} : tensor<?x48xf32>, tensor<8x48xf32>
  // expected-remark@+1 {{not quantized: its 48 inputs are not a multiple of the group size 32}}
  %0 = llm.linear %x, %w : tensor<?x48xf32>, tensor<8x48xf32> -> tensor<?x8xf32>
  // CHECK: llm.quantized_matmul {{.*}}, !llm.quantized_tensor<i4, [8, 32], true, true, 0, 32, 4>, tensor<8xf32>)
  %1 = llm.linear %y, %v : tensor<?x32xf32>, tensor<8x32xf32> -> tensor<?x8xf32>
  // CHECK: llm.linear %{{.*}} : tensor<?x16xf32>, tensor<8x16xf32>
  // expected-remark@+1 {{not quantized: its 16 inputs are not a multiple of the group size 32}}
  %2 = llm.linear %z, %u : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
