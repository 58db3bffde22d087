// Modules to be linked by mllm-link may have declarations. Passes that
// run on one of them leave declarations alone, or say that the body is missing.

// RUN: llmir-opt %s --pass-pipeline="builtin.module(builtin.module(mllm-inline-subgraphs,mllm-fuse-subgraphs,mllm-outline-subgraphs{least=2},mllm-remove-dead-ops,mllm-fold-constants,mllm-fuse-attention,mllm-plan-memory{sizes=?=5},mllm-check-memory{sizes=?=5}))" | FileCheck %s
// RUN: llmir-opt %s --pass-pipeline="builtin.module(builtin.module(mllm-print-statistics,mllm-print-liveness))" | FileCheck %s --check-prefix=PRINT
// RUN: llmir-opt %s --pass-pipeline="builtin.module(builtin.module(mllm-split-stages{stages=2}))" | FileCheck %s --check-prefix=STAGES

// CHECK: mllm.graph.subgraph private @part(tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK: call_graph @part
// PRINT: model
// STAGES: call_graph @stage
module {
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph private @part(tensor<?x8xf32>) -> tensor<?x8xf32>
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %y = mllm.graph.call_graph @part(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %z = mllm.linalg.linear %y, @embed : tensor<?x8xf32> -> tensor<?x8xf32>
    mllm.cf.return %z : tensor<?x8xf32>
  }
}
}
