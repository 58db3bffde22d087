// Names that contain markup, or are not valid text.
module {
  mllm.tensor.register @"w\22 onload=\22evil()" : tensor<8x8xf32> {source = "w"}
  mllm.graph.subgraph @"<b>bold</b>&amp;\22]; evil -> node; \\"(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {entry} {
    %0 = mllm.graph.call_graph @"]]><script>evil()</script>"(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %1 = mllm.graph.call_graph @"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"(%0) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    mllm.cf.return %1 : tensor<?x8xf32>
  }
  mllm.graph.subgraph @"]]><script>evil()</script>"(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = mllm.linalg.linear %x, @"w\22 onload=\22evil()" : tensor<?x8xf32> -> tensor<?x8xf32> loc("a<b>\0A\00\01\FF\C0\AF\ED\A0\80 evil")
    mllm.cf.return %0 : tensor<?x8xf32>
  }
  mllm.graph.subgraph @"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = mllm.linalg.relu %x : tensor<?x8xf32> loc("\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC\E2\82\AC")
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}
