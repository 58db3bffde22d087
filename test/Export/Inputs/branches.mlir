// A convolution whose channels go two ways that differ in one constant.
module {
  mllm.tensor.register @patch.weight : tensor<16x3x4x4xf32> {source = "patch.weight"}
  mllm.tensor.register @patch.bias : tensor<16xf32> {source = "patch.bias"}
  mllm.graph.subgraph @picture(%x: tensor<1x3x32x32xf32>) -> tensor<1x16x8x8xf32> attributes {entry} {
    %0 = mllm.linalg.conv2d %x, @patch.weight bias @patch.bias {kernel_size = array<i64: 4, 4>, stride = array<i64: 4, 4>} : tensor<1x3x32x32xf32> -> tensor<1x16x8x8xf32>
    %1 = mllm.graph.call_graph @picture.left(%0) : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %2 = mllm.graph.call_graph @picture.right(%1) : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %3 = mllm.linalg.mul %0, %2 : tensor<1x16x8x8xf32>
    %4 = mllm.linalg.add %1, %3 : tensor<1x16x8x8xf32>
    mllm.cf.return %4 : tensor<1x16x8x8xf32>
  }
  mllm.graph.subgraph @picture.left(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
    %0 = mllm.linalg.relu %x : tensor<1x16x8x8xf32>
    %1 = mllm.linalg.softmax %0 {axis = 1 : i64} : tensor<1x16x8x8xf32>
    mllm.cf.return %1 : tensor<1x16x8x8xf32>
  }
  mllm.graph.subgraph @picture.right(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
    %0 = mllm.linalg.relu %x : tensor<1x16x8x8xf32>
    %1 = mllm.linalg.softmax %0 {axis = -1 : i64} : tensor<1x16x8x8xf32>
    mllm.cf.return %1 : tensor<1x16x8x8xf32>
  }
}
