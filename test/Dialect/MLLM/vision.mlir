// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// The ops of MLLMVisionOps.td in their three syntaxes.

mllm.tensor.register @w1 : tensor<4x3x3xf32> {source = "w1"}
mllm.tensor.register @w2 : tensor<4x3x4x4xf32> {source = "w2"}
mllm.tensor.register @w3 : tensor<4x3x2x4x4xf32> {source = "w3"}
mllm.tensor.register @d2 : tensor<3x1x3x3xf32> {source = "d2"}
mllm.tensor.register @b : tensor<4xf32> {source = "b"}

// CHECK-LABEL: mllm.graph.subgraph @convolutions(
mllm.graph.subgraph @convolutions(%x1: tensor<1x3x?xf32>, %x2: tensor<1x3x32x32xf32>, %x3: tensor<1x3x2x32x32xf32>) {
  // CHECK: mllm.linalg.conv1d %{{[^ ]+}}, @w1 bias @b {kernel_size = array<i64: 3>, padding = array<i64: 1>} : tensor<1x3x?xf32> -> tensor<1x4x?xf32>
  %0 = mllm.linalg.conv1d %x1, @w1 bias @b {kernel_size = array<i64: 3>, padding = array<i64: 1>} : tensor<1x3x?xf32> -> tensor<1x4x?xf32>
  // CHECK: mllm.linalg.conv2d %{{[^ ]+}}, @w2 {kernel_size = array<i64: 4, 4>, stride = array<i64: 4, 4>} : tensor<1x3x32x32xf32> -> tensor<1x4x8x8xf32>
  %1 = mllm.linalg.conv2d %x2, @w2 {kernel_size = array<i64: 4, 4>, stride = array<i64: 4, 4>} : tensor<1x3x32x32xf32> -> tensor<1x4x8x8xf32>
  // CHECK: mllm.linalg.conv2d %{{[^ ]+}}, @d2 {dilation = array<i64: 2, 1>, groups = 3 : i64, kernel_size = array<i64: 3, 3>} : tensor<1x3x32x32xf32> -> tensor<1x3x28x30xf32>
  %2 = mllm.linalg.conv2d %x2, @d2 {dilation = array<i64: 2, 1>, groups = 3 : i64, kernel_size = array<i64: 3, 3>} : tensor<1x3x32x32xf32> -> tensor<1x3x28x30xf32>
  // CHECK: mllm.linalg.conv3d %{{[^ ]+}}, @w3 bias @b {kernel_size = array<i64: 2, 4, 4>, stride = array<i64: 2, 4, 4>} : tensor<1x3x2x32x32xf32> -> tensor<1x4x1x8x8xf32>
  %3 = mllm.linalg.conv3d %x3, @w3 bias @b {kernel_size = array<i64: 2, 4, 4>, stride = array<i64: 2, 4, 4>} : tensor<1x3x2x32x32xf32> -> tensor<1x4x1x8x8xf32>
  mllm.cf.return
}

// CHECK-LABEL: mllm.graph.subgraph @resampling(
mllm.graph.subgraph @resampling(%x: tensor<1x3x4x4xf32>, %l: tensor<1x3x?xf32>) {
  // CHECK: mllm.linalg.interpolate %{{[^ ]+}} {size = array<i64: 8, 8>} : tensor<1x3x4x4xf32> -> tensor<1x3x8x8xf32>
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8, 8>} : tensor<1x3x4x4xf32> -> tensor<1x3x8x8xf32>
  // CHECK: mllm.linalg.interpolate %{{[^ ]+}} {align_corners, mode = "bilinear", scale_factor = array<f64: 2.000000e+00, 1.500000e+00>} : tensor<1x3x4x4xf32> -> tensor<1x3x8x6xf32>
  %1 = mllm.linalg.interpolate %x {align_corners, mode = "bilinear", scale_factor = array<f64: 2.000000e+00, 1.500000e+00>} : tensor<1x3x4x4xf32> -> tensor<1x3x8x6xf32>
  // CHECK: mllm.linalg.interpolate %{{[^ ]+}} {antialias, mode = "bicubic", size = array<i64: 2, 2>} : tensor<1x3x4x4xf32> -> tensor<1x3x2x2xf32>
  %2 = mllm.linalg.interpolate %x {antialias, mode = "bicubic", size = array<i64: 2, 2>} : tensor<1x3x4x4xf32> -> tensor<1x3x2x2xf32>
  // CHECK: mllm.linalg.interpolate %{{[^ ]+}} {mode = "linear", scale_factor = array<f64: 2.000000e+00>} : tensor<1x3x?xf32>
  %3 = mllm.linalg.interpolate %l {mode = "linear", scale_factor = array<f64: 2.000000e+00>} : tensor<1x3x?xf32>
  mllm.cf.return
}
