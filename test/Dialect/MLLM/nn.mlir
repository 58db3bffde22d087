// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// The ops of MLLMNNOps.td in their three syntaxes.

mllm.tensor.register @w : tensor<6x4xf32> {source = "w"}
mllm.tensor.register @b : tensor<6xf32> {source = "b"}
mllm.tensor.register @n : tensor<4xf32> {source = "n"}
mllm.tensor.register @n34 : tensor<3x4xf32> {source = "n34"}
mllm.tensor.register @c : tensor<3xf32> {source = "c"}
mllm.tensor.register @table : tensor<9x4xbf16> {source = "table"}

// CHECK-LABEL: mllm.graph.subgraph @products(
mllm.graph.subgraph @products(%a: tensor<?x4xf32>, %b: tensor<4x5xf32>, %c: tensor<2x1x?x4xf16>, %d: tensor<7x4x?xf16>) {
  // CHECK: mllm.linalg.matmul %{{[^ ]+}}, %{{[^ ]+}} : (tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  %0 = mllm.linalg.matmul %a, %b : (tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  // CHECK: mllm.linalg.matmul %{{[^ ]+}}, %{{[^ ]+}} {transpose_a, transpose_b} : (tensor<2x1x?x4xf16>, tensor<7x4x?xf16>) -> tensor<2x7x4x4xf16>
  %1 = mllm.linalg.matmul %c, %d {transpose_a, transpose_b} : (tensor<2x1x?x4xf16>, tensor<7x4x?xf16>) -> tensor<2x7x4x4xf16>
  // CHECK: mllm.linalg.matmul %{{[^ ]+}}, %{{[^ ]+}} {transpose_b} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  %2 = mllm.linalg.matmul %a, %a {transpose_b} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  // CHECK: mllm.linalg.linear %{{[^ ]+}}, @w : tensor<?x4xf32> -> tensor<?x6xf32>
  %3 = mllm.linalg.linear %a, @w : tensor<?x4xf32> -> tensor<?x6xf32>
  // CHECK: mllm.linalg.linear %{{[^ ]+}}, @w bias @b : tensor<?x4xf32> -> tensor<?x3x2xf32>
  %4 = mllm.linalg.linear %a, @w bias @b : tensor<?x4xf32> -> tensor<?x3x2xf32>
  // CHECK: mllm.linalg.param @table : tensor<9x4xf32>
  %5 = mllm.linalg.param @table : tensor<9x4xf32>
  mllm.cf.return
}

// CHECK-LABEL: mllm.graph.subgraph @tables(
mllm.graph.subgraph @tables(%ids: tensor<?xi64>, %batch: tensor<2x?xi32>) {
  // CHECK: mllm.linalg.embedding %{{[^ ]+}}, @table : tensor<?xi64> -> tensor<?x4xf32>
  %0 = mllm.linalg.embedding %ids, @table : tensor<?xi64> -> tensor<?x4xf32>
  // CHECK: mllm.linalg.embedding %{{[^ ]+}}, @table : tensor<2x?xi32> -> tensor<2x?x4xbf16>
  %1 = mllm.linalg.embedding %batch, @table : tensor<2x?xi32> -> tensor<2x?x4xbf16>
  mllm.cf.return
}

// CHECK-LABEL: mllm.graph.subgraph @norms(
mllm.graph.subgraph @norms(%x: tensor<1x?x4xf32>, %y: tensor<2x3x4xbf16>, %p: tensor<1x3x8x8xf32>) {
  // CHECK: mllm.linalg.rms_norm %{{[^ ]+}}, @n {eps = 1.000000e-05 : f64} : tensor<1x?x4xf32>
  %0 = mllm.linalg.rms_norm %x, @n {eps = 1.000000e-05 : f64} : tensor<1x?x4xf32>
  // CHECK: mllm.linalg.rms_norm %{{[^ ]+}}, @n {eps = 1.000000e-05 : f64, unit_offset} : tensor<2x3x4xbf16>
  %1 = mllm.linalg.rms_norm %y, @n {eps = 1.000000e-05 : f64, unit_offset} : tensor<2x3x4xbf16>
  // CHECK: mllm.linalg.layer_norm %{{[^ ]+}} weight @n bias @n {eps = 1.000000e-05 : f64, normalized_shape = array<i64: 4>} : tensor<1x?x4xf32>
  %2 = mllm.linalg.layer_norm %x weight @n bias @n {eps = 1.000000e-05 : f64, normalized_shape = array<i64: 4>} : tensor<1x?x4xf32>
  // CHECK: mllm.linalg.layer_norm %{{[^ ]+}} weight @n34 {eps = 1.000000e-05 : f64, normalized_shape = array<i64: 3, 4>} : tensor<2x3x4xbf16>
  %3 = mllm.linalg.layer_norm %y weight @n34 {eps = 1.000000e-05 : f64, normalized_shape = array<i64: 3, 4>} : tensor<2x3x4xbf16>
  // CHECK: mllm.linalg.layer_norm %{{[^ ]+}} bias @n {eps = 1.000000e-05 : f64, normalized_shape = array<i64: 4>} : tensor<1x?x4xf32> -> tensor<1x7x4xf32>
  %4 = mllm.linalg.layer_norm %x bias @n {eps = 1.000000e-05 : f64, normalized_shape = array<i64: 4>} : tensor<1x?x4xf32> -> tensor<1x7x4xf32>
  // CHECK: mllm.linalg.layer_norm_2d %{{[^ ]+}}, @c, @c {eps = 1.000000e-05 : f64} : tensor<1x3x8x8xf32>
  %5 = mllm.linalg.layer_norm_2d %p, @c, @c {eps = 1.000000e-05 : f64} : tensor<1x3x8x8xf32>
  // CHECK: mllm.linalg.softmax %{{[^ ]+}} {axis = -1 : i64} : tensor<1x?x4xf32>
  %6 = mllm.linalg.softmax %x {axis = -1 : i64} : tensor<1x?x4xf32>
  mllm.cf.return
}

mllm.tensor.register @gates : tensor<5x6x4xf32> {source = "gates"}
mllm.tensor.register @downs : tensor<5x4x6xbf16> {source = "downs"}
mllm.tensor.register @gate_bias : tensor<5x6x1xbf16> {slice = array<i64: 1, 12, 1, 2>, source = "bias"}
mllm.tensor.register @down_bias : tensor<5x4x1xf32> {source = "down_bias"}

mllm.tensor.register @heads : tensor<3x8x4xbf16>
// CHECK-LABEL: mllm.graph.subgraph @head_linear(
mllm.graph.subgraph @head_linear(%x: tensor<?x3x4xf32>, %y: tensor<2x5x3x4xbf16>) {
  // CHECK: mllm.linalg.head_linear %{{[^ ]+}}, @heads : tensor<?x3x4xf32> -> tensor<?x3x8xf32>
  %0 = mllm.linalg.head_linear %x, @heads : tensor<?x3x4xf32> -> tensor<?x3x8xf32>
  // CHECK: mllm.linalg.head_linear %{{[^ ]+}}, @heads : tensor<2x5x3x4xbf16> -> tensor<2x5x3x8xbf16>
  %1 = mllm.linalg.head_linear %y, @heads : tensor<2x5x3x4xbf16> -> tensor<2x5x3x8xbf16>
  mllm.cf.return
}

// CHECK-LABEL: mllm.graph.subgraph @experts(
mllm.graph.subgraph @experts(%x: tensor<?x4xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>, %y: tensor<2x3x4xbf16>,
                             %f: tensor<2x3x1xi64>, %v: tensor<2x3x1xbf16>) {
  // CHECK: mllm.linalg.experts %{{[^ ]+}} chosen %{{[^ ]+}} weights %{{[^ ]+}}, @gates, @gates, @downs : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  %0 = mllm.linalg.experts %x chosen %e weights %w, @gates, @gates, @downs : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  // CHECK: mllm.linalg.experts %{{[^ ]+}} chosen %{{[^ ]+}} weights %{{[^ ]+}}, @gates, @gates, @downs : (tensor<2x3x4xbf16>, tensor<2x3x1xi64>, tensor<2x3x1xbf16>) -> tensor<2x3x4xbf16>
  %1 = mllm.linalg.experts %y chosen %f weights %v, @gates, @gates, @downs : (tensor<2x3x4xbf16>, tensor<2x3x1xi64>, tensor<2x3x1xbf16>) -> tensor<2x3x4xbf16>
  // CHECK: mllm.linalg.experts {{.*}}, @gates, @gates, @downs {down_bias = @down_bias, gate_bias = @gate_bias, swiglu_limit = 7.000000e+00 : f64, up_bias = @gate_bias} : (tensor<?x4xf32>
  %2 = mllm.linalg.experts %x chosen %e weights %w, @gates, @gates, @downs {gate_bias = @gate_bias, up_bias = @gate_bias, down_bias = @down_bias, swiglu_limit = 7.0} : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  // CHECK: mllm.linalg.experts {{.*}}, @gates, @gates, @downs {gelu} : (tensor<?x4xf32>
  %3 = mllm.linalg.experts %x chosen %e weights %w, @gates, @gates, @downs {gelu} : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// CHECK-LABEL: mllm.graph.subgraph @activations(
mllm.graph.subgraph @activations(%x: tensor<?x4xf32>) {
  // CHECK: mllm.linalg.gelu %{{[^ ]+}} : tensor<?x4xf32>
  %0 = mllm.linalg.gelu %x : tensor<?x4xf32>
  // CHECK: mllm.linalg.gelu %{{[^ ]+}} {approximate = "none"} : tensor<?x4xf32>
  %1 = mllm.linalg.gelu %x {approximate = "none"} : tensor<?x4xf32>
  // CHECK: mllm.linalg.quick_gelu %{{[^ ]+}} : tensor<?x4xf32>
  %2 = mllm.linalg.quick_gelu %x : tensor<?x4xf32>
  // CHECK: mllm.linalg.relu %{{[^ ]+}} : tensor<?x4xf32>
  %3 = mllm.linalg.relu %x : tensor<?x4xf32>
  // CHECK: mllm.linalg.sigmoid %{{[^ ]+}} : tensor<?x4xf32>
  %4 = mllm.linalg.sigmoid %x : tensor<?x4xf32>
  mllm.cf.return
}

// CHECK-LABEL: mllm.graph.subgraph @own(
mllm.graph.subgraph @own(%x: tensor<?x4xf32>, %i: tensor<3xi1>) {
  // CHECK: mllm.linalg.customized "my_filter" id 4097(%{{[^ ]+}}, %{{[^ ]+}}) {taps = 3 : i64} : (tensor<?x4xf32>, tensor<3xi1>) -> (tensor<?x4xf32>, tensor<3xi1>)
  %0:2 = mllm.linalg.customized "my_filter" id 4097(%x, %i) {taps = 3 : i64} : (tensor<?x4xf32>, tensor<3xi1>) -> (tensor<?x4xf32>, tensor<3xi1>)
  // CHECK: mllm.linalg.customized "my_probe" id 4096(%{{[^ ]+}}) : (tensor<?x4xf32>) -> ()
  mllm.linalg.customized "my_probe" id 4096(%x) : (tensor<?x4xf32>) -> ()
  mllm.cf.return
}

// CHECK: mllm.linalg.register @model.layers.0.mlp.up_proj {op_type = "linear"}
mllm.linalg.register @model.layers.0.mlp.up_proj {op_type = "linear"}
