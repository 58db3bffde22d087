// Ops of the mllm dialect, compiled and interpreted: in functions and in
// subgraphs, which become functions.

// RUN: llmir-translate %s --compare | FileCheck %s
// RUN: llmir-translate %s --compare --workers=1 | FileCheck %s
// RUN: llmir-translate %s --compare --workers=3 --level=x86-64-v3 | FileCheck %s

mllm.tensor.register @embed : tensor<19x16xf32> {source = "embed"}
mllm.tensor.register @proj : tensor<24x16xf32> {source = "proj"}
mllm.tensor.register @bias : tensor<24xf32> {source = "bias"}
mllm.tensor.register @norm : tensor<16xf32> {source = "norm"}
mllm.tensor.register @conv : tensor<6x2x3x2xf32> {source = "conv"}
mllm.tensor.register @conv_bias : tensor<6xf32> {source = "conv_bias"}

// CHECK-DAG: @arithmetic result 0: nmse
// CHECK-DAG: @arithmetic result 1: equal
func.func @arithmetic(%x: tensor<3x5xf32>, %y: tensor<5xf32>,
                      %i: tensor<6xi32> {check.range = array<i64: -9, 9>},
                      %j: tensor<6xi32> {check.range = array<i64: -2, 2>}) -> (tensor<3x5xf32>, tensor<6xi32>) {
  %a = mllm.linalg.add %x, %y : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %b = mllm.linalg.mul %a {scalar = 0.5 : f64} : tensor<3x5xf32>
  %c = mllm.linalg.exp %b : tensor<3x5xf32>
  %d = mllm.linalg.div %x, %c : tensor<3x5xf32>
  %e = mllm.linalg.silu %d : tensor<3x5xf32>
  %f = mllm.linalg.gelu %e : tensor<3x5xf32>
  %q = mllm.linalg.div %i, %j : tensor<6xi32>
  return %f, %q : tensor<3x5xf32>, tensor<6xi32>
}

// CHECK-DAG: @conditions result 0: equal
// CHECK-DAG: @conditions result 1: nmse 0.00e+00
// CHECK-DAG: @conditions result 2: nmse
func.func @conditions(%x: tensor<4x3xf32>, %y: tensor<4x1xf32>) -> (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4xf32>) {
  %m = mllm.linalg.compare less %x, %y : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xi1>
  %w = mllm.linalg.where %m, %x, %y : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %s = mllm.linalg.mean %w {dim = 1 : i64} : tensor<4x3xf32> -> tensor<4xf32>
  return %m, %w, %s : tensor<4x3xi1>, tensor<4x3xf32>, tensor<4xf32>
}

// CHECK-DAG: @moves result 0: nmse 0.00e+00
// CHECK-DAG: @moves result 1: nmse 0.00e+00
// CHECK-DAG: @moves result 2: nmse 0.00e+00
// CHECK-DAG: @moves result 3: nmse 0.00e+00
func.func @moves(%x: tensor<2x3x8xf32>, %i: tensor<4xi32> {check.range = array<i64: 0, 3>})
    -> (tensor<8x3x2xf32>, tensor<2x4x8xf32>, tensor<2x9x4xf32>, tensor<5x5xf32>) {
  %t = mllm.linalg.transpose %x {dim0 = 0 : i64, dim1 = 2 : i64} : tensor<2x3x8xf32> -> tensor<8x3x2xf32>
  %g = mllm.linalg.gather %x, %i {dim = 1 : i64} : (tensor<2x3x8xf32>, tensor<4xi32>) -> tensor<2x4x8xf32>
  %r = mllm.linalg.repeat %x {dim = 1 : i64, times = 3 : i64} : tensor<2x3x8xf32> -> tensor<2x9x8xf32>
  %s = mllm.linalg.slice %r[:, :, 0:8:2] : tensor<2x9x8xf32> -> tensor<2x9x4xf32>
  %v = mllm.linalg.slice %x[0:1, :, 0:3] : tensor<2x3x8xf32> -> tensor<1x3x3xf32>
  %u = mllm.linalg.view %v : tensor<1x3x3xf32> -> tensor<3x3xf32>
  %p = mllm.linalg.pad reflect %u {low = array<i64: 1, 1>, high = array<i64: 1, 1>} : tensor<3x3xf32> -> tensor<5x5xf32>
  return %t, %g, %s, %p : tensor<8x3x2xf32>, tensor<2x4x8xf32>, tensor<2x9x4xf32>, tensor<5x5xf32>
}

// CHECK-DAG: @order result 0: nmse 0.00e+00
// CHECK-DAG: @order result 1: equal
// CHECK-DAG: @order result 2: equal
// CHECK-DAG: @order result 3: nmse 0.00e+00
func.func @order(%x: tensor<3x17xf32>, %i: tensor<20x3xi32> {check.range = array<i64: -3, 3>},
                 %at: tensor<3x4xi32> {check.range = array<i64: 0, 17>}, %new: tensor<3x4xf32>)
    -> (tensor<3x5xf32>, tensor<3x5xi32>, tensor<20x3xi32>, tensor<3x17xf32>) {
  %v, %k = mllm.linalg.top_k %x {k = 5 : i64} : tensor<3x17xf32> -> tensor<3x5xf32>, tensor<3x5xi32>
  %s = mllm.linalg.argsort %i {dim = 0 : i64} : tensor<20x3xi32> -> tensor<20x3xi32>
  %w = mllm.linalg.scatter %x, %at, %new {dim = 1 : i64} : (tensor<3x17xf32>, tensor<3x4xi32>, tensor<3x4xf32>) -> tensor<3x17xf32>
  return %v, %k, %s, %w : tensor<3x5xf32>, tensor<3x5xi32>, tensor<20x3xi32>, tensor<3x17xf32>
}

// CHECK-DAG: @convolution result 0: nmse
func.func @convolution(%x: tensor<1x4x6x7xf32>) -> tensor<1x6x3x7xf32> {
  %y = mllm.linalg.conv2d %x, @conv bias @conv_bias
      {kernel_size = array<i64: 3, 2>, stride = array<i64: 2, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 2>, groups = 2 : i64}
      : tensor<1x4x6x7xf32> -> tensor<1x6x3x7xf32>
  return %y : tensor<1x6x3x7xf32>
}

// CHECK-DAG: @layer result 0: nmse
// CHECK-NOT: @inner
mllm.graph.subgraph private @inner(%x: tensor<1x5x16xf32>) -> tensor<1x5x24xf32> {
  %n = mllm.linalg.rms_norm %x, @norm {eps = 1.0e-5 : f64} : tensor<1x5x16xf32>
  %y = mllm.linalg.linear %n, @proj bias @bias : tensor<1x5x16xf32> -> tensor<1x5x24xf32>
  mllm.cf.return %y : tensor<1x5x24xf32>
}
mllm.graph.subgraph @layer(%ids: tensor<1x5xi64> {check.range = array<i64: 0, 19>}) -> tensor<1x5x4x2xf32> {
  %x = mllm.linalg.embedding %ids, @embed : tensor<1x5xi64> -> tensor<1x5x16xf32>
  %y = mllm.graph.call_graph @inner(%x) : (tensor<1x5x16xf32>) -> tensor<1x5x24xf32>
  %h = mllm.linalg.view %y : tensor<1x5x24xf32> -> tensor<1x5x12x2xf32>
  %q, %k, %v = mllm.linalg.split %h {dim = 2 : i64, sections = array<i64: 4>}
      : (tensor<1x5x12x2xf32>) -> (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>)
  %r = mllm.linalg.rope %q {frequencies = array<f64: 1.0>, scaling = 1.0 : f64} : tensor<1x5x4x2xf32>
  %keys, %values = mllm.linalg.kv_cache %k, %v {layer = 0 : i64}
      : (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>)
  %o = mllm.linalg.flash_attention2 %r, %keys, %values {causal = true, scale = 0.7 : f64}
      : (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  mllm.cf.return %o : tensor<1x5x4x2xf32>
}

// The explicit form of attention.
// CHECK-DAG: @explicit result 0: nmse
func.func @explicit(%q: tensor<2x4x3x8xf32>, %k: tensor<2x1x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x1x5x8xf32>) -> tensor<2x4x3x5xf32>
  %m = mllm.linalg.causal_mask %s : tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x1x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}
