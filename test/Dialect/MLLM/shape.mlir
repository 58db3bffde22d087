// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// Ops that move values, in three syntaxes.

// CHECK-LABEL: func.func @same_values(
func.func @same_values(%x: tensor<1x?x64xf32>, %i: tensor<3xi64>, %m: tensor<1x?x64xf32>) {
  // CHECK: mllm.linalg.contiguous %{{.*}} : tensor<1x?x64xf32>
  %0 = mllm.linalg.contiguous %x : tensor<1x?x64xf32>
  // CHECK: mllm.linalg.clone %{{.*}} : tensor<3xi64>
  %1 = mllm.linalg.clone %i : tensor<3xi64>
  // CHECK: mllm.linalg.copy %{{.*}}, %{{.*}} : (tensor<1x?x64xf32>, tensor<1x?x64xf32>) -> tensor<1x?x64xf32>
  %2 = mllm.linalg.copy %m, %x : (tensor<1x?x64xf32>, tensor<1x?x64xf32>) -> tensor<1x?x64xf32>
  // CHECK: mllm.linalg.x2x %{{.*}} to <kQNN> : tensor<1x?x64xf32> -> tensor<1x?x64xf32, #mllm.tensor<kQNN>>
  %3 = mllm.linalg.x2x %x to <kQNN> : tensor<1x?x64xf32> -> tensor<1x?x64xf32, #mllm.tensor<kQNN>>
  // CHECK: mllm.linalg.x2x %{{.*}} to <kCPU> : tensor<1x?x64xf32, #mllm.tensor<kQNN>> -> tensor<1x?x64xf32>
  %4 = mllm.linalg.x2x %3 to <kCPU> : tensor<1x?x64xf32, #mllm.tensor<kQNN>> -> tensor<1x?x64xf32>
  // CHECK: mllm.linalg.cast_type %{{.*}} to f16 : tensor<1x?x64xf32> -> tensor<1x?x64xf16>
  %5 = mllm.linalg.cast_type %x to f16 : tensor<1x?x64xf32> -> tensor<1x?x64xf16>
  // CHECK: mllm.linalg.cast_type %{{.*}} to i1 : tensor<3xi64> -> tensor<3xi1>
  %6 = mllm.linalg.cast_type %i to i1 : tensor<3xi64> -> tensor<3xi1>
  return
}

// CHECK-LABEL: func.func @views(
func.func @views(%x: tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>>, %y: tensor<2x3xi32>) {
  // CHECK: mllm.linalg.view %{{.*}} : tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>> -> tensor<1x?x4x16xf32, #mllm.tensor<dims = (1, seq, 4, 16)>>
  %0 = mllm.linalg.view %x : tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>> -> tensor<1x?x4x16xf32, #mllm.tensor<dims = (1, seq, 4, 16)>>
  // CHECK: mllm.linalg.reshape %{{.*}} {shape = array<i64: -1, 32>} : tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>> -> tensor<?x32xf32, #mllm.tensor<dims = (2 * seq, 32)>>
  %1 = mllm.linalg.reshape %x {shape = array<i64: -1, 32>} : tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>> -> tensor<?x32xf32, #mllm.tensor<dims = (2 * seq, 32)>>
  // CHECK: mllm.linalg.reshape %{{.*}} {shape = array<i64: 6>} : tensor<2x3xi32> -> tensor<6xi32>
  %2 = mllm.linalg.reshape %y {shape = array<i64: 6>} : tensor<2x3xi32> -> tensor<6xi32>
  // CHECK: mllm.linalg.transpose %{{.*}} {dim0 = 1 : i64, dim1 = -1 : i64} : tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>> -> tensor<1x64x?xf32, #mllm.tensor<dims = (1, 64, seq)>>
  %3 = mllm.linalg.transpose %x {dim0 = 1 : i64, dim1 = -1 : i64} : tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>> -> tensor<1x64x?xf32, #mllm.tensor<dims = (1, 64, seq)>>
  // CHECK: mllm.linalg.permute %{{.*}} {axes = array<i64: 2, 0, 1>} : tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>> -> tensor<64x1x?xf32, #mllm.tensor<dims = (64, 1, seq)>>
  %4 = mllm.linalg.permute %x {axes = array<i64: 2, 0, 1>} : tensor<1x?x64xf32, #mllm.tensor<dims = (1, seq, 64)>> -> tensor<64x1x?xf32, #mllm.tensor<dims = (64, 1, seq)>>
  return
}

// CHECK-LABEL: func.func @joins(
func.func @joins(%x: tensor<1x?x96xf32>, %a: tensor<1x?x64xf32>, %b: tensor<1x4x64xf32>, %n: tensor<?x2xf32, #mllm.tensor<dims = (seq, 2)>>, %p: tensor<?x2xf32, #mllm.tensor<dims = (past, 2)>>) {
  // CHECK: mllm.linalg.split %{{.*}} {dim = -1 : i64, sections = array<i64: 64, 32>} : (tensor<1x?x96xf32>) -> (tensor<1x?x64xf32>, tensor<1x?x32xf32>)
  %0:2 = mllm.linalg.split %x {dim = -1 : i64, sections = array<i64: 64, 32>} : (tensor<1x?x96xf32>) -> (tensor<1x?x64xf32>, tensor<1x?x32xf32>)
  // CHECK: mllm.linalg.split %{{.*}} {dim = 2 : i64, sections = array<i64: 32>} : (tensor<1x?x96xf32>) -> (tensor<1x?x32xf32>, tensor<1x?x32xf32>, tensor<1x?x32xf32>)
  %1:3 = mllm.linalg.split %x {dim = 2 : i64, sections = array<i64: 32>} : (tensor<1x?x96xf32>) -> (tensor<1x?x32xf32>, tensor<1x?x32xf32>, tensor<1x?x32xf32>)
  // CHECK: mllm.linalg.concat %{{.*}}, %{{.*}} {dim = 1 : i64} : (tensor<1x?x64xf32>, tensor<1x4x64xf32>) -> tensor<1x?x64xf32>
  %2 = mllm.linalg.concat %a, %b {dim = 1 : i64} : (tensor<1x?x64xf32>, tensor<1x4x64xf32>) -> tensor<1x?x64xf32>
  // CHECK: mllm.linalg.concat %{{.*}}, %{{.*}} {dim = 0 : i64} : (tensor<?x2xf32, #mllm.tensor<dims = (past, 2)>>, tensor<?x2xf32, #mllm.tensor<dims = (seq, 2)>>) -> tensor<?x2xf32, #mllm.tensor<dims = (past + seq, 2)>>
  %3 = mllm.linalg.concat %p, %n {dim = 0 : i64} : (tensor<?x2xf32, #mllm.tensor<dims = (past, 2)>>, tensor<?x2xf32, #mllm.tensor<dims = (seq, 2)>>) -> tensor<?x2xf32, #mllm.tensor<dims = (past + seq, 2)>>
  // CHECK: mllm.linalg.stack %{{.*}}, %{{.*}} {dim = 1 : i64} : (tensor<1x?x64xf32>, tensor<1x?x64xf32>) -> tensor<1x2x?x64xf32>
  %4 = mllm.linalg.stack %a, %a {dim = 1 : i64} : (tensor<1x?x64xf32>, tensor<1x?x64xf32>) -> tensor<1x2x?x64xf32>
  // CHECK: mllm.linalg.repeat %{{.*}} {dim = 0 : i64, times = 3 : i64} : tensor<1x?x64xf32> -> tensor<3x?x64xf32>
  %5 = mllm.linalg.repeat %a {dim = 0 : i64, times = 3 : i64} : tensor<1x?x64xf32> -> tensor<3x?x64xf32>
  return
}

// CHECK-LABEL: func.func @ranges(
func.func @ranges(%x: tensor<1x?x64xf32>, %y: tensor<4x?xf32>, %i: tensor<5xi64>) {
  // CHECK: mllm.linalg.slice %{{.*}}[:, -1:, 0:64:2] : tensor<1x?x64xf32> -> tensor<1x?x32xf32>
  %0 = mllm.linalg.slice %x[:, -1:, 0:64:2] : tensor<1x?x64xf32> -> tensor<1x?x32xf32>
  // CHECK: mllm.linalg.slice %{{.*}}[1:-1] : tensor<5xi64> -> tensor<3xi64>
  %1 = mllm.linalg.slice %i[1:-1] : tensor<5xi64> -> tensor<3xi64>
  // CHECK: mllm.linalg.slice %{{.*}}[::2] : tensor<5xi64> -> tensor<3xi64>
  %2 = mllm.linalg.slice %i[::2] : tensor<5xi64> -> tensor<3xi64>
  // CHECK: mllm.linalg.pad constant %{{.*}} {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 5.000000e-01 : f64} : tensor<4x?xf32>
  %3 = mllm.linalg.pad constant %y {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 5.000000e-01 : f64} : tensor<4x?xf32>
  // CHECK: mllm.linalg.pad reflect %{{.*}} {high = array<i64: 1>, low = array<i64: 1>} : tensor<5xi64> -> tensor<7xi64>
  %4 = mllm.linalg.pad reflect %i {high = array<i64: 1>, low = array<i64: 1>} : tensor<5xi64> -> tensor<7xi64>
  // CHECK: mllm.linalg.pad replicate %{{.*}} {high = array<i64: 9>, low = array<i64: 0>} : tensor<5xi64> -> tensor<14xi64>
  %5 = mllm.linalg.pad replicate %i {high = array<i64: 9>, low = array<i64: 0>} : tensor<5xi64> -> tensor<14xi64>
  // CHECK: mllm.linalg.pad circular %{{.*}} {high = array<i64: 2>, low = array<i64: 3>} : tensor<5xi64> -> tensor<10xi64>
  %6 = mllm.linalg.pad circular %i {high = array<i64: 2>, low = array<i64: 3>} : tensor<5xi64> -> tensor<10xi64>
  return
}
