module {
  mllm.graph.subgraph @order(%x: tensor<4xf32>) -> tensor<4xi32> attributes {entry} {
    %0 = mllm.linalg.argsort %x {dim = 0 : i64} : tensor<4xf32> -> tensor<4xi32>
    mllm.cf.return %0 : tensor<4xi32>
  }
}
