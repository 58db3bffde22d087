// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// Ops that compute value by value, in three syntaxes.

// CHECK-LABEL: func.func @arithmetic(
func.func @arithmetic(%x: tensor<?x64xf32>, %row: tensor<64xf32>, %i: tensor<2x3xi8>, %h: tensor<4xf16>, %s: tensor<f32>, %n: tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>>) {
  // CHECK: mllm.linalg.add %{{.*}}, %{{.*}} : tensor<?x64xf32>
  %0 = mllm.linalg.add %x, %x : tensor<?x64xf32>
  // CHECK: mllm.linalg.add %{{.*}}, %{{.*}} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %1 = mllm.linalg.add %x, %row : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  // CHECK: mllm.linalg.add %{{.*}} {scalar = 5.000000e-01 : f64} : tensor<?x64xf32>
  %2 = mllm.linalg.add %x {scalar = 5.000000e-01 : f64} : tensor<?x64xf32>
  // CHECK: mllm.linalg.sub %{{.*}}, %{{.*}} : (tensor<64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %3 = mllm.linalg.sub %row, %x : (tensor<64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: mllm.linalg.sub %{{.*}} {scalar = 3.000000e+00 : f64} : tensor<2x3xi8>
  %4 = mllm.linalg.sub %i {scalar = 3.000000e+00 : f64} : tensor<2x3xi8>
  // CHECK: mllm.linalg.mul %{{.*}}, %{{.*}} : (tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xf32>
  %5 = mllm.linalg.mul %x, %s : (tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xf32>
  // CHECK: mllm.linalg.mul %{{.*}} {scalar = -2.000000e+00 : f64} : tensor<4xf16>
  %6 = mllm.linalg.mul %h {scalar = -2.000000e+00 : f64} : tensor<4xf16>
  // CHECK: mllm.linalg.div %{{.*}}, %{{.*}} : tensor<?x64xf32>
  %7 = mllm.linalg.div %x, %x : tensor<?x64xf32>
  // CHECK: mllm.linalg.div %{{.*}}, %{{.*}} : tensor<2x3xi8>
  %8 = mllm.linalg.div %i, %i : tensor<2x3xi8>
  // CHECK: mllm.linalg.add %{{.*}}, %{{.*}} : (tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>>, tensor<64xf32>) -> tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>>
  %9 = mllm.linalg.add %n, %row : (tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>>, tensor<64xf32>) -> tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>>
  return
}

// CHECK-LABEL: func.func @functions(
func.func @functions(%x: tensor<?x64xf32>, %i: tensor<3xi64>, %h: tensor<2x4xbf16>, %s: tensor<f32>, %m: tensor<?xi1>) {
  // CHECK: mllm.linalg.neg %{{.*}} : tensor<?x64xf32>
  %0 = mllm.linalg.neg %x : tensor<?x64xf32>
  // CHECK: mllm.linalg.neg %{{.*}} : tensor<3xi64>
  %1 = mllm.linalg.neg %i : tensor<3xi64>
  // CHECK: mllm.linalg.abs %{{.*}} : tensor<2x4xbf16>
  %2 = mllm.linalg.abs %h : tensor<2x4xbf16>
  // CHECK: mllm.linalg.log %{{.*}} : tensor<f32>
  %3 = mllm.linalg.log %s : tensor<f32>
  // CHECK: mllm.linalg.exp %{{.*}} : tensor<?x64xf32>
  %4 = mllm.linalg.exp %x : tensor<?x64xf32>
  // CHECK: mllm.linalg.sin %{{.*}} : tensor<2x4xbf16>
  %5 = mllm.linalg.sin %h : tensor<2x4xbf16>
  // CHECK: mllm.linalg.cos %{{.*}} : tensor<?x64xf32>
  %6 = mllm.linalg.cos %x : tensor<?x64xf32>
  // CHECK: mllm.linalg.clip %{{.*}} : tensor<?x64xf32>
  %7 = mllm.linalg.clip %x : tensor<?x64xf32>
  // CHECK: mllm.linalg.clip %{{.*}} {max_val = 9.000000e+00 : f64, min_val = 2.000000e+00 : f64} : tensor<3xi64>
  %8 = mllm.linalg.clip %i {max_val = 9.000000e+00 : f64, min_val = 2.000000e+00 : f64} : tensor<3xi64>
  // CHECK: mllm.linalg.logical_not %{{.*}} : tensor<?xi1>
  %9 = mllm.linalg.logical_not %m : tensor<?xi1>
  return
}

// CHECK-LABEL: func.func @fill(
func.func @fill(%x: tensor<?x64xf32>, %i: tensor<2x3xi64>, %m: tensor<4xi1>) {
  // CHECK: mllm.linalg.fill zeros %{{.*}} : tensor<?x64xf32>
  %0 = mllm.linalg.fill zeros %x : tensor<?x64xf32>
  // CHECK: mllm.linalg.fill ones %{{.*}} : tensor<4xi1>
  %1 = mllm.linalg.fill ones %m : tensor<4xi1>
  // CHECK: mllm.linalg.fill specific %{{.*}} {value = 7.000000e+00 : f64} : tensor<2x3xi64>
  %2 = mllm.linalg.fill specific %i {value = 7.000000e+00 : f64} : tensor<2x3xi64>
  // CHECK: mllm.linalg.fill arange %{{.*}} {start = 1.000000e+00 : f64, step = -2.000000e+00 : f64} : tensor<2x3xi64>
  %3 = mllm.linalg.fill arange %i {start = 1.000000e+00 : f64, step = -2.000000e+00 : f64} : tensor<2x3xi64>
  // CHECK: mllm.linalg.fill random %{{.*}} {end = 1.000000e+00 : f64, seed = 42 : i64, start = -1.000000e+00 : f64} : tensor<?x64xf32>
  %4 = mllm.linalg.fill random %x {end = 1.000000e+00 : f64, seed = 42 : i64, start = -1.000000e+00 : f64} : tensor<?x64xf32>
  return
}

// CHECK-LABEL: func.func @conditions(
func.func @conditions(%x: tensor<?x64xf32>, %row: tensor<64xf32>, %i: tensor<1x?xi64>, %p: tensor<1xi64>, %m: tensor<?x1xi1>, %k: tensor<64xi1>, %s: tensor<f32>) {
  // CHECK: mllm.linalg.equal %{{.*}}, %{{.*}} : (tensor<1x?xi64>, tensor<1xi64>) -> tensor<1x?xi1>
  %0 = mllm.linalg.equal %i, %p : (tensor<1x?xi64>, tensor<1xi64>) -> tensor<1x?xi1>
  // CHECK: mllm.linalg.compare not_equal %{{.*}}, %{{.*}} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xi1>
  %1 = mllm.linalg.compare not_equal %x, %row : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xi1>
  // CHECK: mllm.linalg.compare less %{{.*}}, %{{.*}} : (tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xi1>
  %2 = mllm.linalg.compare less %x, %s : (tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xi1>
  // CHECK: mllm.linalg.compare less_equal %{{.*}}, %{{.*}} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %3 = mllm.linalg.compare less_equal %p, %p : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  // CHECK: mllm.linalg.compare greater %{{.*}}, %{{.*}} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %4 = mllm.linalg.compare greater %p, %p : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  // CHECK: mllm.linalg.compare greater_equal %{{.*}}, %{{.*}} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %5 = mllm.linalg.compare greater_equal %p, %p : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  // CHECK: mllm.linalg.logical_and %{{.*}}, %{{.*}} : (tensor<?x1xi1>, tensor<64xi1>) -> tensor<?x64xi1>
  %6 = mllm.linalg.logical_and %m, %k : (tensor<?x1xi1>, tensor<64xi1>) -> tensor<?x64xi1>
  // CHECK: mllm.linalg.logical_or %{{.*}}, %{{.*}} : tensor<64xi1>
  %7 = mllm.linalg.logical_or %k, %k : tensor<64xi1>
  // CHECK: mllm.linalg.where %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x1xi1>, tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xf32>
  %8 = mllm.linalg.where %m, %x, %s : (tensor<?x1xi1>, tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xf32>
  return
}
