// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// Ops whose values choose, order or are reduced, in three syntaxes.

// CHECK-LABEL: func.func @choices(
func.func @choices(%t: tensor<100x64xf32>, %ids: tensor<2x?xi32>, %x: tensor<2x8xf32>, %i: tensor<2x3xi32>, %s: tensor<2x3xf32>, %m: tensor<2x1xi1>, %c: tensor<2x8x6xf32>, %j: tensor<3xi64>, %k: tensor<2x1xi32>) {
  // CHECK: mllm.linalg.gather %{{.*}}, %{{.*}} {dim = 0 : i64} : (tensor<100x64xf32>, tensor<2x?xi32>) -> tensor<2x?x64xf32>
  %0 = mllm.linalg.gather %t, %ids {dim = 0 : i64} : (tensor<100x64xf32>, tensor<2x?xi32>) -> tensor<2x?x64xf32>
  // CHECK: mllm.linalg.scatter %{{.*}}, %{{.*}}, %{{.*}} {dim = 1 : i64} : (tensor<2x8xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x8xf32>
  %1 = mllm.linalg.scatter %x, %i, %s {dim = 1 : i64} : (tensor<2x8xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x8xf32>
  // CHECK: mllm.linalg.masked_scatter %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x8xf32>, tensor<2x1xi1>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = mllm.linalg.masked_scatter %x, %m, %x : (tensor<2x8xf32>, tensor<2x1xi1>, tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: mllm.linalg.index %{{.*}}[:, %{{.*}}, 0:4] : tensor<2x8x6xf32>, (tensor<3xi64>) -> tensor<2x3x4xf32>
  %3 = mllm.linalg.index %c[:, %j, 0:4] : tensor<2x8x6xf32>, (tensor<3xi64>) -> tensor<2x3x4xf32>
  // CHECK: mllm.linalg.index %{{.*}}[%{{.*}}, 1:, %{{.*}}] : tensor<2x8x6xf32>, (tensor<3xi64>, tensor<2x1xi32>) -> tensor<2x3x7xf32>
  %4 = mllm.linalg.index %c[%j, 1:, %k] : tensor<2x8x6xf32>, (tensor<3xi64>, tensor<2x1xi32>) -> tensor<2x3x7xf32>
  return
}

// CHECK-LABEL: func.func @order(
func.func @order(%x: tensor<?x100xf32>, %i: tensor<4x2xi64>) {
  // CHECK: mllm.linalg.top_k %{{.*}} {k = 4 : i64} : tensor<?x100xf32> -> tensor<?x4xf32>, tensor<?x4xi32>
  %0:2 = mllm.linalg.top_k %x {k = 4 : i64} : tensor<?x100xf32> -> tensor<?x4xf32>, tensor<?x4xi32>
  // CHECK: mllm.linalg.top_k %{{.*}} {dim = 0 : i64, k = 4 : i64, largest = false, sorted = false} : tensor<4x2xi64> -> tensor<4x2xi64>, tensor<4x2xi32>
  %1:2 = mllm.linalg.top_k %i {dim = 0 : i64, k = 4 : i64, largest = false, sorted = false} : tensor<4x2xi64> -> tensor<4x2xi64>, tensor<4x2xi32>
  // CHECK: mllm.linalg.argsort %{{.*}} : tensor<?x100xf32> -> tensor<?x100xi32>
  %2 = mllm.linalg.argsort %x : tensor<?x100xf32> -> tensor<?x100xi32>
  // CHECK: mllm.linalg.argsort %{{.*}} {descending = true, dim = 0 : i64} : tensor<4x2xi64> -> tensor<4x2xi32>
  %3 = mllm.linalg.argsort %i {descending = true, dim = 0 : i64} : tensor<4x2xi64> -> tensor<4x2xi32>
  return
}

// CHECK-LABEL: func.func @reductions(
func.func @reductions(%x: tensor<?x64xf32, #mllm.tensor<dims = (seq, 64)>>, %i: tensor<2x3xi8>, %m: tensor<4xi1>, %s: tensor<f32>) {
  // CHECK: mllm.linalg.reduce_max %{{.*}} {dim = -1 : i64} : tensor<?x64xf32, #mllm.tensor<dims = (seq, 64)>> -> tensor<?xf32, #mllm.tensor<dims = (seq)>>
  %0 = mllm.linalg.reduce_max %x {dim = -1 : i64} : tensor<?x64xf32, #mllm.tensor<dims = (seq, 64)>> -> tensor<?xf32, #mllm.tensor<dims = (seq)>>
  // CHECK: mllm.linalg.reduce_min %{{.*}} : tensor<4xi1> -> tensor<i1>
  %1 = mllm.linalg.reduce_min %m : tensor<4xi1> -> tensor<i1>
  // CHECK: mllm.linalg.reduce_sum %{{.*}} {dim = 0 : i64, keep_dim} : tensor<2x3xi8> -> tensor<1x3xi8>
  %2 = mllm.linalg.reduce_sum %i {dim = 0 : i64, keep_dim} : tensor<2x3xi8> -> tensor<1x3xi8>
  // CHECK: mllm.linalg.reduce_sum %{{.*}} : tensor<f32>
  %3 = mllm.linalg.reduce_sum %s : tensor<f32>
  // CHECK: mllm.linalg.mean %{{.*}} {dim = 1 : i64, keep_dim} : tensor<?x64xf32, #mllm.tensor<dims = (seq, 64)>> -> tensor<?x1xf32, #mllm.tensor<dims = (seq, 1)>>
  %4 = mllm.linalg.mean %x {dim = 1 : i64, keep_dim} : tensor<?x64xf32, #mllm.tensor<dims = (seq, 64)>> -> tensor<?x1xf32, #mllm.tensor<dims = (seq, 1)>>
  return
}
