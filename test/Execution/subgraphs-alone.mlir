// A traced model, as it comes: a call at module level, subgraphs, no function.

// RUN: llmir-translate %s --compare | FileCheck %s

// CHECK: @model result 0: nmse
mllm.tensor.register @norm : tensor<16xf32> {source = "norm"}
%in = mllm.tensor.input : tensor<4x16xf32>
%out = mllm.graph.call_graph @model(%in) : (tensor<4x16xf32>) -> tensor<4x16xf32>
mllm.graph.subgraph @model(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = mllm.graph.call_graph @model.act(%x) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = mllm.linalg.rms_norm %0, @norm {eps = 1.0e-5 : f64} : tensor<4x16xf32>
  mllm.cf.return %1 : tensor<4x16xf32>
}
mllm.graph.subgraph @model.act(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = mllm.linalg.silu %x : tensor<4x16xf32>
  mllm.cf.return %0 : tensor<4x16xf32>
}
