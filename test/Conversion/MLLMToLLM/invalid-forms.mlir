// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file --verify-diagnostics
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

// Values that move from token to token.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  mllm.graph.subgraph @model(%ids: tensor<4xi64>) -> tensor<4x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<4xi64> -> tensor<4x8xf32>
    // expected-error@+1 {{combines the tokens of a sequence, which a step does in attention over the cache only}}
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
    // expected-error@+1 {{combines the tokens of a sequence, which a step does in attention over the cache only}}
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

// -----

// Softmax over tokens.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{'mllm.linalg.softmax' op combines the tokens of a sequence, which a step does in attention over the cache only}}
    %s = mllm.linalg.softmax %x {axis = 0 : i64} : tensor<?x8xf32>
    mllm.cf.return %s : tensor<?x8xf32>
  }
}

// -----

// A mean of all tokens.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<1x?xi64> -> tensor<1x?x8xf32>
    // expected-error@+1 {{'mllm.linalg.mean' op combines the tokens of a sequence, which a step does in attention over the cache only}}
    %m = mllm.linalg.mean %x {dim = 1 : i64, keep_dim} : tensor<1x?x8xf32> -> tensor<1x1x8xf32>
    %y = mllm.linalg.add %x, %m : (tensor<1x?x8xf32>, tensor<1x1x8xf32>) -> tensor<1x?x8xf32>
    mllm.cf.return %y : tensor<1x?x8xf32>
  }
}

// -----

// The last token only.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{'mllm.linalg.slice' op combines the tokens of a sequence, which a step does in attention over the cache only}}
    %l = mllm.linalg.slice %x[-1:, :] : tensor<?x8xf32> -> tensor<?x8xf32>
    mllm.cf.return %l : tensor<?x8xf32>
  }
}

// -----

// The numbers of tokens in the batch.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{'mllm.linalg.fill' op combines the tokens of a sequence, which a step does in attention over the cache only}}
    %n = mllm.linalg.fill arange %x {start = 0.0 : f64, step = 1.0 : f64} : tensor<?x8xf32>
    mllm.cf.return %n : tensor<?x8xf32>
  }
}
