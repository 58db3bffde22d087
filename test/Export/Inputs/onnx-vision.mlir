// Convolutions, norms, activations and moves of values.
module {
  mllm.tensor.register @patch.weight : tensor<8x3x4x4xf32> {source = "a"}
  mllm.tensor.register @patch.bias : tensor<8xf32> {source = "b"}
  mllm.tensor.register @norm.weight : tensor<8xf32> {source = "c"}
  mllm.tensor.register @norm.bias : tensor<8xf32> {source = "d"}
  mllm.tensor.register @deep.weight : tensor<8x1x3x3xf32> {source = "e"}
  mllm.graph.subgraph @vision(%x: tensor<1x3x8x8xf32>) -> tensor<2x1x16x8xf32> attributes {entry} {
    %0 = mllm.linalg.conv2d %x, @patch.weight bias @patch.bias {kernel_size = array<i64: 4, 4>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>} : tensor<1x3x8x8xf32> -> tensor<1x8x4x4xf32>
    %1 = mllm.linalg.layer_norm_2d %0, @norm.weight, @norm.bias {eps = 1.0e-6 : f64} : tensor<1x8x4x4xf32>
    %2 = mllm.linalg.conv2d %1, @deep.weight {kernel_size = array<i64: 3, 3>, padding = array<i64: 1, 1>, groups = 8 : i64} : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32>
    %3 = mllm.linalg.gelu %2 {approximate = "none"} : tensor<1x8x4x4xf32>
    %4 = mllm.linalg.reshape %3 {shape = array<i64: 1, 8, 16>} : tensor<1x8x4x4xf32> -> tensor<1x8x16xf32>
    %5 = mllm.linalg.permute %4 {axes = array<i64: 0, 2, 1>} : tensor<1x8x16xf32> -> tensor<1x16x8xf32>
    %6 = mllm.linalg.layer_norm %5 {normalized_shape = array<i64: 8>, eps = 1.0e-5 : f64} : tensor<1x16x8xf32>
    %a, %b = mllm.linalg.split %6 {dim = -1 : i64, sections = array<i64: 3, 5>} : (tensor<1x16x8xf32>) -> (tensor<1x16x3xf32>, tensor<1x16x5xf32>)
    %7 = mllm.linalg.gelu %b {approximate = "tanh"} : tensor<1x16x5xf32>
    %8 = mllm.linalg.quick_gelu %a : tensor<1x16x3xf32>
    %9 = mllm.linalg.concat %7, %8 {dim = -1 : i64} : (tensor<1x16x5xf32>, tensor<1x16x3xf32>) -> tensor<1x16x8xf32>
    %10 = mllm.linalg.matmul %9, %9 {transpose_b} : (tensor<1x16x8xf32>, tensor<1x16x8xf32>) -> tensor<1x16x16xf32>
    %11 = mllm.linalg.mul %10 {scalar = 0.25 : f64} : tensor<1x16x16xf32>
    %12 = mllm.linalg.softmax %11 {axis = -1 : i64} : tensor<1x16x16xf32>
    %13 = mllm.linalg.matmul %12, %9 : (tensor<1x16x16xf32>, tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    %14 = mllm.linalg.slice %13[:, 1::2, :] : tensor<1x16x8xf32> -> tensor<1x8x8xf32>
    %15 = mllm.linalg.repeat %14 {dim = 1 : i64, times = 2 : i64} : tensor<1x8x8xf32> -> tensor<1x16x8xf32>
    %16 = mllm.linalg.sin %15 : tensor<1x16x8xf32>
    %17 = mllm.linalg.abs %16 : tensor<1x16x8xf32>
    %18 = mllm.linalg.stack %15, %17 {dim = 0 : i64} : (tensor<1x16x8xf32>, tensor<1x16x8xf32>) -> tensor<2x1x16x8xf32>
    mllm.cf.return %18 : tensor<2x1x16x8xf32>
  }
}
