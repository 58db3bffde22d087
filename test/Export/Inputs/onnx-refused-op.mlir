module {
  mllm.graph.subgraph @sound(%x: tensor<3x4x2xf32>, %w: tensor<4xf32>) -> tensor<6xf32> attributes {entry} {
    %0 = mllm.linalg.istft %x, %w {n_fft = 4 : i64, hop_length = 2 : i64} : (tensor<3x4x2xf32>, tensor<4xf32>) -> tensor<6xf32>
    mllm.cf.return %0 : tensor<6xf32>
  }
}
