// A step or a function requires the bodies of all subgraphs; only modules that
// are to be linked may declare a subgraph that another one defines.

// RUN: llmir-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(builtin.module(convert-mllm-to-llm))"
// RUN: llmir-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(builtin.module(convert-mllm-to-llm{form=function}))"

// The entry.
module {
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  // expected-error@+1 {{has no body; link the module that defines it first}}
  mllm.graph.subgraph @model(tensor<?xi64>) -> tensor<?x8xf32> attributes {entry}
}
}

// -----

// A callee, in a trace of tokens.
module {
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  // expected-error@+1 {{has no body; link the module that defines it first}}
  mllm.graph.subgraph private @part(tensor<?x8xf32>) -> tensor<?x8xf32>
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %y = mllm.graph.call_graph @part(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %z = mllm.linalg.linear %y, @embed : tensor<?x8xf32> -> tensor<?x8xf32>
    mllm.cf.return %z : tensor<?x8xf32>
  }
}
}

// -----

// A callee, in a trace of one sequence.
module {
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  // expected-error@+1 {{has no body; link the module that defines it first}}
  mllm.graph.subgraph private @part(tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  mllm.graph.subgraph @model(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<1x?xi64> -> tensor<1x?x8xf32>
    %y = mllm.graph.call_graph @part(%x) : (tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
    %z = mllm.linalg.linear %y, @embed : tensor<1x?x8xf32> -> tensor<1x?x8xf32>
    mllm.cf.return %z : tensor<1x?x8xf32>
  }
}
}
