// Three equal layers in a row.
module {
  mllm.tensor.register @a.w : tensor<8x8xf32> {source = "a"}
  mllm.tensor.register @b.w : tensor<8x8xf32> {source = "b"}
  mllm.tensor.register @c.w : tensor<8x8xf32> {source = "c"}
  mllm.graph.subgraph @row(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {entry} {
    %0 = mllm.graph.call_graph @row.a(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %1 = mllm.graph.call_graph @row.b(%0) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %2 = mllm.graph.call_graph @row.c(%1) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    mllm.cf.return %2 : tensor<?x8xf32>
  }
  mllm.graph.subgraph @row.a(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = mllm.linalg.linear %x, @a.w : tensor<?x8xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
  mllm.graph.subgraph @row.b(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = mllm.linalg.linear %x, @b.w : tensor<?x8xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
  mllm.graph.subgraph @row.c(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = mllm.linalg.linear %x, @c.w : tensor<?x8xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}
