// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file --verify-diagnostics

// Scales to which 1 is added.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{adds 1 to its scales (unit_offset), which no norm of a step does; store the sums as the parameter}}
    %y = mllm.linalg.rms_norm %x, @norm {eps = 1.0e-5 : f64, unit_offset} : tensor<?x8xf32>
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Angles from tables.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @table : tensor<16x2xf32> {source = "table"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %p = mllm.linalg.positions %ids : tensor<?xi64>
    %t = mllm.linalg.embedding %p, @table : tensor<?xi64> -> tensor<?x2xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{reads its angles from tables; a step rotates by frequencies and each token's position}}
    %r = mllm.linalg.rope %h by %t, %t {scaling = 1.0 : f64} : tensor<?x2x4xf32> by tensor<?x2xf32>, tensor<?x2xf32>
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Heads before tokens, and no attention that is written out.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{has heads before tokens, and is part of no attention that mllm-fuse-attention knows}}
    %r = mllm.linalg.rope %h {frequencies = array<f64: 1.0>, layout = "bhsd", scaling = 1.0 : f64} : tensor<?x2x4xf32>
    %z = mllm.linalg.silu %r : tensor<?x2x4xf32>
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Repeated heads that no attention reads.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{gives its keys and values as one attention written out would read them (layout bhsd, q_head), but is part of none that mllm-fuse-attention knows}}
    %k, %v = mllm.linalg.kv_cache %h, %h {layer = 0 : i64, q_head = 4 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x4x4xf32>, tensor<?x4x4xf32>)
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// A transposition that nothing cancels.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{has no counterpart in the llm dialect; attention that is written out has one where mllm-fuse-attention finds its whole form}}
    %t = mllm.linalg.transpose %h {dim0 = 0 : i64, dim1 = 1 : i64} : tensor<?x2x4xf32> -> tensor<2x?x4xf32>
    %z = mllm.linalg.silu %t : tensor<2x?x4xf32>
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Values that move from token to token.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  mllm.graph.subgraph @model(%ids: tensor<4xi64>) -> tensor<4x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<4xi64> -> tensor<4x8xf32>
    // expected-error@+1 {{moves values from token to token; a step's views divide what each token has}}
    %v = mllm.linalg.view %x : tensor<4x8xf32> -> tensor<2x16xf32>
    mllm.cf.return %x : tensor<4x8xf32>
  }
}

// -----

// A size that happens to be the number of tokens in one trace.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{moves values from token to token; a step's views divide what each token has}}
    %v = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<8x?xf32>
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Two sequences.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  // expected-error@+1 {{takes token ids of type 'tensor<2x?xi64>'; a step is made from a trace of one sequence, and batches are those of the llm dialect}}
  mllm.graph.subgraph @model(%ids: tensor<2x?xi64>) -> tensor<2x?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<2x?xi64> -> tensor<2x?x8xf32>
    mllm.cf.return %x : tensor<2x?x8xf32>
  }
}

// -----

// The dimension of the sequence is moved.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  mllm.graph.subgraph @model(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<1x?xi64> -> tensor<1x?x8xf32>
    // expected-error@+1 {{a value has the type 'tensor<?x8xf32>', which does not begin with the model's one sequence}}
    %v = mllm.linalg.view %x : tensor<1x?x8xf32> -> tensor<?x8xf32>
    mllm.cf.return %x : tensor<1x?x8xf32>
  }
}
