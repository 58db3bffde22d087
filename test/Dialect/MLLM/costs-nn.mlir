// RUN: llmir-opt %s --mllm-print-statistics=ops=false -o /dev/null | FileCheck %s

// What ops of neural nets, attention, pictures and signals cost: calls, ops,
// parameters and their bytes, floating-point operations, bytes read and written.

// CHECK: subgraph
// 30 results of 4 products.
// CHECK-NEXT: matmul 0 1 0 0 240 296{{ *$}}
// CHECK-NEXT: matmul_transposed 0 1 0 0 120 188{{ *$}}
// CHECK-NEXT: linear 0 1 30 120 384 440{{ *$}}
// CHECK-NEXT: embedding 0 1 36 72 0 144{{ *$}}
// CHECK-NEXT: rms_norm 0 1 4 16 128 272{{ *$}}
// CHECK-NEXT: layer_norm 0 1 4 16 224 288{{ *$}}
// CHECK-NEXT: softmax 0 1 0 0 128 256{{ *$}}
// CHECK-NEXT: gelu 0 1 0 0 32 128{{ *$}}
// CHECK-NEXT: rope 0 1 0 0 192 512{{ *$}}
// CHECK-NEXT: causal_mask 0 1 0 0 0 512{{ *$}}
// 12 queries see 5 keys: 8 + 6 products and an exponential each.
// CHECK-NEXT: flash_attention2 0 1 0 0 1920 1232{{ *$}}
// CHECK-NEXT: conv1d 0 1 36 144 360 408{{ *$}}
// CHECK-NEXT: conv2d 0 1 240 960 1920 1808{{ *$}}
// CHECK-NEXT: stft 0 1 0 0 1760 552{{ *$}}
// CHECK-NEXT: istft 0 1 0 0 1760 552{{ *$}}
// CHECK-NEXT: dynamic 0 1 0 0 ? ?{{ *$}}

mllm.tensor.register @w : tensor<6x4xf32> {source = "w"}
mllm.tensor.register @b : tensor<6xf32> {source = "b"}
mllm.tensor.register @n : tensor<4xf32> {source = "n"}
mllm.tensor.register @table : tensor<9x4xbf16> {source = "table"}
mllm.tensor.register @groups : tensor<6x2x3xf32> {source = "groups"}
mllm.tensor.register @patches : tensor<5x3x4x4xf32> {source = "patches"}
mllm.graph.subgraph @matmul(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) {
  %0 = mllm.linalg.matmul %x, %y : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  mllm.cf.return
}
mllm.graph.subgraph @matmul_transposed(%x: tensor<4x3xf32>, %y: tensor<5x4xf32>) {
  %0 = mllm.linalg.matmul %x, %y {transpose_a, transpose_b} : (tensor<4x3xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  mllm.cf.return
}
mllm.graph.subgraph @linear(%x: tensor<8x4xf32>) {
  %0 = mllm.linalg.linear %x, @w bias @b : tensor<8x4xf32> -> tensor<8x3x2xf32>
  mllm.cf.return
}
mllm.graph.subgraph @embedding(%x: tensor<3xi64>) {
  %0 = mllm.linalg.embedding %x, @table : tensor<3xi64> -> tensor<3x4xf32>
  mllm.cf.return
}
mllm.graph.subgraph @rms_norm(%x: tensor<8x4xf32>) {
  %0 = mllm.linalg.rms_norm %x, @n {eps = 1.0 : f64} : tensor<8x4xf32>
  mllm.cf.return
}
mllm.graph.subgraph @layer_norm(%x: tensor<8x4xf32>) {
  %0 = mllm.linalg.layer_norm %x weight @n bias @n {eps = 1.0 : f64, normalized_shape = array<i64: 4>} : tensor<8x4xf32>
  mllm.cf.return
}
mllm.graph.subgraph @softmax(%x: tensor<8x4xf32>) {
  %0 = mllm.linalg.softmax %x {axis = 0 : i64} : tensor<8x4xf32>
  mllm.cf.return
}
mllm.graph.subgraph @gelu(%x: tensor<8x4xf16>) {
  %0 = mllm.linalg.gelu %x : tensor<8x4xf16>
  mllm.cf.return
}
mllm.graph.subgraph @rope(%x: tensor<8x2x4xf32>) {
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0, 0.5>, scaling = 1.0 : f64} : tensor<8x2x4xf32>
  mllm.cf.return
}
mllm.graph.subgraph @causal_mask(%x: tensor<8x8xf32>) {
  %0 = mllm.linalg.causal_mask %x : tensor<8x8xf32>
  mllm.cf.return
}
mllm.graph.subgraph @flash_attention2(%q: tensor<3x4x8xf32>, %k: tensor<5x2x8xf32>, %v: tensor<5x2x6xf32>) {
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 1.0 : f64} : (tensor<3x4x8xf32>, tensor<5x2x8xf32>, tensor<5x2x6xf32>) -> tensor<3x4x6xf32>
  mllm.cf.return
}
mllm.graph.subgraph @conv1d(%x: tensor<1x4x9xf32>) {
  %0 = mllm.linalg.conv1d %x, @groups {dilation = array<i64: 2>, groups = 2 : i64, kernel_size = array<i64: 3>} : tensor<1x4x9xf32> -> tensor<1x6x5xf32>
  mllm.cf.return
}
mllm.graph.subgraph @conv2d(%x: tensor<1x3x8x8xf32>) {
  %0 = mllm.linalg.conv2d %x, @patches {kernel_size = array<i64: 4, 4>, stride = array<i64: 4, 4>} : tensor<1x3x8x8xf32> -> tensor<1x5x2x2xf32>
  mllm.cf.return
}
mllm.graph.subgraph @stft(%x: tensor<20xf32>, %w: tensor<8xf32>) {
  %0 = mllm.linalg.stft %x, %w {n_fft = 8 : i64} : (tensor<20xf32>, tensor<8xf32>) -> tensor<5x11x2xf32>
  mllm.cf.return
}
mllm.graph.subgraph @istft(%x: tensor<5x11x2xf32>, %w: tensor<8xf32>) {
  %0 = mllm.linalg.istft %x, %w {n_fft = 8 : i64} : (tensor<5x11x2xf32>, tensor<8xf32>) -> tensor<20xf32>
  mllm.cf.return
}
mllm.graph.subgraph @dynamic(%q: tensor<?x4x8xf32>) {
  %0 = mllm.linalg.flash_attention2 %q, %q, %q {causal = true, scale = 1.0 : f64} : (tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  mllm.cf.return
}
