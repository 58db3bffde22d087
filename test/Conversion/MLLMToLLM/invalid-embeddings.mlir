// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file --verify-diagnostics

// Rows of sequences with rows of tokens.
!x = tensor<?x8xf32>
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> !x attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> !x
    %f = mllm.linalg.slice %x[0:1, :] : !x -> !x
    // expected-error@+1 {{'mllm.linalg.mul' op combines the pooled rows of sequences with the rows of tokens, or reads them as tokens}}
    %y = mllm.linalg.mul %x, %f : !x
    mllm.cf.return %y : !x
  }
}

// -----

// Pooled twice.
!x = tensor<?x8xf32>
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> !x attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> !x
    %f = mllm.linalg.slice %x[0:1, :] : !x -> !x
    // expected-error@+1 {{'mllm.linalg.slice' op combines the pooled rows of sequences}}
    %y = mllm.linalg.slice %f[0:1, :] : !x -> !x
    mllm.cf.return %y : !x
  }
}

// -----

// The second token.
!x = tensor<?x8xf32>
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> !x attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> !x
    // expected-error@+1 {{'mllm.linalg.slice' op combines different tokens}}
    %y = mllm.linalg.slice %x[1:2, :] : !x -> !x
    mllm.cf.return %y : !x
  }
}

// -----

// In a subgraph.
!x = tensor<?x8xf32>
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> !x attributes {entry} {
    // expected-error@+1 {{pools the tokens of sequences in a subgraph; in a step, only the entry may}}
    %x = mllm.graph.call_graph @inner(%ids) : (tensor<?xi64>) -> !x
    mllm.cf.return %x : !x
  }
  mllm.graph.subgraph @inner(%ids: tensor<?xi64>) -> !x {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> !x
    %f = mllm.linalg.slice %x[0:1, :] : !x -> !x
    mllm.cf.return %f : !x
  }
}

// -----

// Passed to a subgraph.
!x = tensor<?x8xf32>
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> !x attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> !x
    %f = mllm.linalg.slice %x[0:1, :] : !x -> !x
    // expected-error@+1 {{passes the pooled rows of sequences to a subgraph; in a step, they must remain in the entry}}
    %y = mllm.graph.call_graph @inner(%f) : (!x) -> !x
    mllm.cf.return %y : !x
  }
  mllm.graph.subgraph @inner(%x: !x) -> !x {
    mllm.cf.return %x : !x
  }
}

// -----

// Attention of all tokens in a model with a cache, which continues sequences.
!x = tensor<?x8xf32>
!h = tensor<?x2x4xf32>
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> !x attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> !x
    %h = mllm.linalg.view %x : !x -> !h
    %k, %v = mllm.linalg.kv_cache %h, %h {layer = 0 : i64} : (!h, !h) -> (!h, !h)
    %a = mllm.linalg.flash_attention2 %h, %k, %v {causal = true, scale = 0.5 : f64} : (!h, !h, !h) -> !h
    // expected-error@+1 {{requires k and v to be the results of one kv_cache op}}
    %b = mllm.linalg.flash_attention2 %a, %h, %h {causal = false, scale = 0.5 : f64} : (!h, !h, !h) -> !h
    %y = mllm.linalg.view %b : !h -> !x
    mllm.cf.return %y : !x
  }
}
