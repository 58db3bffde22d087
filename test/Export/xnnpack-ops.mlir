// REQUIRES: xnnpack
// RUN: llmir-translate --run-xnnpack %s | FileCheck %s
// RUN: llmir-translate --run-xnnpack %s --seed=7 --xnnpack-threads=2 | FileCheck %s
// Roundings of f32 are there: the comparison sees them.
// RUN: not llmir-translate --run-xnnpack %s --xnnpack-bound=0 2>&1 | FileCheck --check-prefix=BOUND %s

// Every op that XNNPACK runs, in each form, against the reference interpreter.
// Results that need another order of dimensions than a subgraph made are made
// by the next one.
// SPEC: 276
// CHECK: xnnpack, 1 tokens after 0: 42 of 42 ops, 100.0 % of {{[0-9]+}} floating-point operations, in 1 parts of {{[2-9]}} subgraphs
// CHECK-NEXT: step 1
// CHECK-COUNT-27: result {{[0-9]+}} of {{[0-9]+}} numbers: NMSE {{0[.]0e[+]00|[0-9.]+e-[1-9][0-9]}}
// CHECK-NOT: left to the reference
// BOUND: error: result {{[0-9]+}} of XNNPACK has an NMSE of {{.*}} to the reference, more than 0.0e+00
module {
  mllm.tensor.register @w : tensor<12x8xf32> {source = "w"}
  mllm.tensor.register @b : tensor<12xf32> {source = "b"}
  mllm.tensor.register @g : tensor<8xf32> {source = "g"}
  mllm.tensor.register @h : tensor<8xf32> {source = "h"}
  mllm.tensor.register @two : tensor<3x8xf32> {source = "two"}
  mllm.tensor.register @k2 : tensor<6x2x3x2xf32> {source = "k2"}
  mllm.tensor.register @kb : tensor<6xf32> {source = "kb"}
  mllm.tensor.register @depth : tensor<4x1x3x3xf32> {source = "depth"}
  mllm.tensor.register @k1 : tensor<5x3x4xf32> {source = "k1"}
  mllm.tensor.register @n2 : tensor<4xf32> {source = "n2"}
  mllm.tensor.register @m2 : tensor<4xf32> {source = "m2"}
  mllm.graph.subgraph @ops(%x: tensor<2x3x8xf32>, %picture: tensor<2x4x6x7xf32>, %row: tensor<8xf32>,
                           %positive: tensor<2x3x8xf32> {check.range = array<f64: 0.5, 2.0>})
      -> (tensor<2x3x12xf32>, tensor<2x3x3x4xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
          tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x8x3xf32>, tensor<2x3x8xf32>, tensor<2x8xf32>,
          tensor<2x1x8xf32>, tensor<2x3xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
          tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x6x4x3xf32>,
          tensor<2x4x6x7xf32>, tensor<2x4x9x14xf32>, tensor<2x5x9xf32>, tensor<2x4x8x10xf32>, tensor<2x42x4xf32>,
          tensor<8x3x2xf32>, tensor<2x24xf32>) attributes {entry} {
    // Products, with and without a bias; columns that are split.
    %0 = mllm.linalg.linear %x, @w bias @b : tensor<2x3x8xf32> -> tensor<2x3x12xf32>
    %1 = mllm.linalg.linear %x, @w : tensor<2x3x8xf32> -> tensor<2x3x3x4xf32>
    // Norms and sums.
    %2 = mllm.linalg.rms_norm %x, @g {eps = 1.0e-5 : f64} : tensor<2x3x8xf32>
    %3 = mllm.linalg.rms_norm %x, @g {eps = 1.0e-5 : f64, unit_offset} : tensor<2x3x8xf32>
    %4 = mllm.linalg.layer_norm %x weight @g bias @h {normalized_shape = array<i64: 8>, eps = 1.0e-5 : f64} : tensor<2x3x8xf32>
    %5 = mllm.linalg.layer_norm %x {normalized_shape = array<i64: 3, 8>, eps = 1.0e-5 : f64} : tensor<2x3x8xf32>
    %6 = mllm.linalg.softmax %x {axis = -1 : i64} : tensor<2x3x8xf32>
    %t = mllm.linalg.transpose %x {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x3x8xf32> -> tensor<2x8x3xf32>
    %7 = mllm.linalg.softmax %t {axis = 1 : i64} : tensor<2x8x3xf32>
    %8 = mllm.linalg.softmax %x {axis = 1 : i64} : tensor<2x3x8xf32>
    %9 = mllm.linalg.mean %x {dim = 1 : i64} : tensor<2x3x8xf32> -> tensor<2x8xf32>
    %10 = mllm.linalg.reduce_sum %x {dim = 1 : i64, keep_dim} : tensor<2x3x8xf32> -> tensor<2x1x8xf32>
    %11 = mllm.linalg.mean %x {dim = -1 : i64} : tensor<2x3x8xf32> -> tensor<2x3xf32>
    // One value at a time; sizes of 1 and missing ones repeat.
    %c = mllm.linalg.param @two : tensor<3x8xf32>
    %a0 = mllm.linalg.add %x, %row : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
    %a1 = mllm.linalg.sub %c, %a0 : (tensor<3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
    %a2 = mllm.linalg.mul %a1, %10 : (tensor<2x3x8xf32>, tensor<2x1x8xf32>) -> tensor<2x3x8xf32>
    %12 = mllm.linalg.div %a2, %positive : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
    %a3 = mllm.linalg.add %x {scalar = 2.5e-01 : f64} : tensor<2x3x8xf32>
    %a4 = mllm.linalg.sub %a3 {scalar = 3.0 : f64} : tensor<2x3x8xf32>
    %a5 = mllm.linalg.mul %a4 {scalar = -1.5 : f64} : tensor<2x3x8xf32>
    %13 = mllm.linalg.div %a5 {scalar = 3.0 : f64} : tensor<2x3x8xf32>
    %n = mllm.linalg.neg %x : tensor<2x3x8xf32>
    %14 = mllm.linalg.relu %n : tensor<2x3x8xf32>
    %ab = mllm.linalg.abs %x : tensor<2x3x8xf32>
    %15 = mllm.linalg.clip %ab {min_val = 0.25 : f64, max_val = 0.75 : f64} : tensor<2x3x8xf32>
    %si = mllm.linalg.sigmoid %x : tensor<2x3x8xf32>
    %16 = mllm.linalg.silu %si : tensor<2x3x8xf32>
    %17 = mllm.linalg.gelu %x {approximate = "tanh"} : tensor<2x3x8xf32>
    %18 = mllm.linalg.quick_gelu %x : tensor<2x3x8xf32>
    // Pictures.
    %19 = mllm.linalg.conv2d %picture, @k2 bias @kb {kernel_size = array<i64: 3, 2>, stride = array<i64: 2, 3>, padding = array<i64: 2, 1>, dilation = array<i64: 1, 2>, groups = 2 : i64} : tensor<2x4x6x7xf32> -> tensor<2x6x4x3xf32>
    %d = mllm.linalg.conv2d %picture, @depth {kernel_size = array<i64: 3, 3>, padding = array<i64: 1, 1>, groups = 4 : i64} : tensor<2x4x6x7xf32> -> tensor<2x4x6x7xf32>
    %20 = mllm.linalg.layer_norm_2d %d, @n2, @m2 {eps = 1.0e-6 : f64} : tensor<2x4x6x7xf32>
    %21 = mllm.linalg.interpolate %20 {mode = "bilinear", size = array<i64: 9, 14>} : tensor<2x4x6x7xf32> -> tensor<2x4x9x14xf32>
    %22 = mllm.linalg.conv1d %x, @k1 {kernel_size = array<i64: 4>, padding = array<i64: 2>, dilation = array<i64: 1>, stride = array<i64: 1>} : tensor<2x3x8xf32> -> tensor<2x5x9xf32>
    %s22 = mllm.linalg.contiguous %22 : tensor<2x5x9xf32>
    %p = mllm.linalg.interpolate %picture {mode = "bilinear", align_corners, size = array<i64: 5, 8>} : tensor<2x4x6x7xf32> -> tensor<2x4x5x8xf32>
    %23 = mllm.linalg.pad constant %p {low = array<i64: 0, 0, 1, 2>, high = array<i64: 0, 0, 2, 0>, value = 0.5 : f64} : tensor<2x4x5x8xf32> -> tensor<2x4x8x10xf32>
    // Channels last throughout, and with reordering.
    %f = mllm.linalg.reshape %20 {shape = array<i64: 2, 4, 42>} : tensor<2x4x6x7xf32> -> tensor<2x4x42xf32>
    %24 = mllm.linalg.permute %f {axes = array<i64: 0, 2, 1>} : tensor<2x4x42xf32> -> tensor<2x42x4xf32>
    %25 = mllm.linalg.permute %6 {axes = array<i64: 2, 1, 0>} : tensor<2x3x8xf32> -> tensor<8x3x2xf32>
    %26 = mllm.linalg.view %7 : tensor<2x8x3xf32> -> tensor<2x24xf32>
    mllm.cf.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %s22, %23, %24, %25, %26
        : tensor<2x3x12xf32>, tensor<2x3x3x4xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
          tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x8x3xf32>, tensor<2x3x8xf32>, tensor<2x8xf32>,
          tensor<2x1x8xf32>, tensor<2x3xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
          tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x6x4x3xf32>,
          tensor<2x4x6x7xf32>, tensor<2x4x9x14xf32>, tensor<2x5x9xf32>, tensor<2x4x8x10xf32>, tensor<2x42x4xf32>,
          tensor<8x3x2xf32>, tensor<2x24xf32>
  }
}
