module {
  mllm.graph.subgraph @half(%x: tensor<4xf16>) -> tensor<4xf16> attributes {entry} {
    %0 = mllm.linalg.relu %x : tensor<4xf16>
    mllm.cf.return %0 : tensor<4xf16>
  }
}
