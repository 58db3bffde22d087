// RUN: llmir-opt %s --convert-llm-to-linalg=weights=arguments | FileCheck %s
// RUN: llmir-opt %s --convert-llm-to-linalg=weights=arguments | mlir-opt -o /dev/null

// Parameters become arguments, in the order of first use; callers pass those of
// their callees; unused declarations are erased.

// CHECK-NOT: mllm.tensor.register
mllm.tensor.register @up : tensor<6x4xf32> {source = "up"}
mllm.tensor.register @down : tensor<4x6xf32> {source = "down"}
mllm.tensor.register @table : !llm.quantized_tensor<i8, [8, 32], true, false, -1, 32, 8, format = q8_0> {source = "table"}

// CHECK-LABEL: func @model(
// CHECK-SAME: %[[IDS:.*]]: tensor<?xi32>, %[[X:.*]]: tensor<?x4xf32>,
// CHECK-SAME: %[[DOWN:[a-z0-9]*]]: tensor<4x6xf32> {llmir.weight = "down"},
// CHECK-SAME: %[[UP:[a-z0-9]*]]: tensor<6x4xf32> {llmir.weight = "up"},
// CHECK-SAME: %[[TABLE:[a-z0-9]*]]: tensor<8x34xi8> {llmir.weight = "table"}) ->
func.func @model(%ids: tensor<?xi32>, %x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x32xf32>) {
  // CHECK: call @layer(%[[X]], %[[DOWN]], %[[UP]]) :
  %y = func.call @layer(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: call @layer(%{{.*}}, %[[DOWN]], %[[UP]]) :
  %z = func.call @layer(%y) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %t = llm.weight @table : !llm.quantized_tensor<i8, [8, 32], true, false, -1, 32, 8, format = q8_0>
  // CHECK: tensor.extract %[[TABLE]]
  %e = llm.embedding %ids, %t : tensor<?xi32>, !llm.quantized_tensor<i8, [8, 32], true, false, -1, 32, 8, format = q8_0> -> tensor<?x32xf32>
  return %z, %e : tensor<?x4xf32>, tensor<?x32xf32>
}

// CHECK-LABEL: func private @layer(
// CHECK-SAME: tensor<?x4xf32>, %{{.*}}: tensor<4x6xf32> {llmir.weight = "down"}, %{{.*}}: tensor<6x4xf32> {llmir.weight = "up"}
func.func private @layer(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %v = llm.weight @down : tensor<4x6xf32>
  %w = llm.weight @up : tensor<6x4xf32>
  %y = llm.linear %x, %w : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
  %z = llm.linear %y, %v : tensor<?x6xf32>, tensor<4x6xf32> -> tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}
