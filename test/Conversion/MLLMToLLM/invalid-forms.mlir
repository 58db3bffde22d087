// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file --verify-diagnostics
// Heads before tokens, but no explicit attention.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{has heads before tokens and is not part of an attention that mllm-fuse-attention recognizes}}
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
    // expected-error@+1 {{has the form of explicit attention (layout bhsd, q_head), but is not part of an attention that mllm-fuse-attention recognizes}}
    %k, %v = mllm.linalg.kv_cache %h, %h {layer = 0 : i64, q_head = 4 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x4x4xf32>, tensor<?x4x4xf32>)
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Values that are moved between tokens.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  mllm.graph.subgraph @model(%ids: tensor<4xi64>) -> tensor<4x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<4xi64> -> tensor<4x8xf32>
    // expected-error@+1 {{combines different tokens, which a step supports only in attention over the cache}}
    %v = mllm.linalg.view %x : tensor<4x8xf32> -> tensor<2x16xf32>
    mllm.cf.return %x : tensor<4x8xf32>
  }
}

// -----

// A size that is the number of tokens in a trace by coincidence.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{combines different tokens, which a step supports only in attention over the cache}}
    %v = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<8x?xf32>
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Two sequences.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @norm : tensor<8xf32> {source = "norm"}
  // expected-error@+1 {{takes token ids of type 'tensor<2x?xi64>'; a step requires a trace of one sequence, with ids of shape [1, tokens]}}
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
    // expected-error@+1 {{a value has the type 'tensor<?x8xf32>', whose first dimension is not the sequence dimension of size 1}}
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
    // expected-error@+1 {{'mllm.linalg.softmax' op combines different tokens, which a step supports only in attention over the cache}}
    %s = mllm.linalg.softmax %x {axis = 0 : i64} : tensor<?x8xf32>
    mllm.cf.return %s : tensor<?x8xf32>
  }
}

// -----

// A mean of all tokens, with each of them.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<1x?xi64> -> tensor<1x?x8xf32>
    %m = mllm.linalg.mean %x {dim = 1 : i64, keep_dim} : tensor<1x?x8xf32> -> tensor<1x1x8xf32>
    // expected-error@+1 {{'mllm.linalg.add' op combines the pooled rows of sequences with the rows of tokens, or reads them as tokens}}
    %y = mllm.linalg.add %x, %m : (tensor<1x?x8xf32>, tensor<1x1x8xf32>) -> tensor<1x?x8xf32>
    mllm.cf.return %y : tensor<1x?x8xf32>
  }
}

// -----

// The last two tokens only.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{'mllm.linalg.slice' op combines different tokens, which a step supports only in attention over the cache}}
    %l = mllm.linalg.slice %x[-2:, :] : tensor<?x8xf32> -> tensor<?x8xf32>
    mllm.cf.return %l : tensor<?x8xf32>
  }
}

// -----

// The indices of tokens in the batch.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{'mllm.linalg.fill' op combines different tokens, which a step supports only in attention over the cache}}
    %n = mllm.linalg.fill arange %x {start = 0.0 : f64, step = 1.0 : f64} : tensor<?x8xf32>
    mllm.cf.return %n : tensor<?x8xf32>
  }
}

// -----

// Rotations by tables that belong to one number of tokens.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<4xi64>) -> tensor<4x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<4xi64> -> tensor<4x8xf32>
    %h = mllm.linalg.view %x : tensor<4x8xf32> -> tensor<4x2x4xf32>
    %t = mllm.tensor.constant dense<0.5> : tensor<3x4x2xf32>
    // expected-error@+1 {{'mllm.linalg.multimodal_rope' op requires tables with a row for each token of the step, computed from mllm.linalg.positions}}
    %r = mllm.linalg.multimodal_rope %h by %t, %t {mrope_section = array<i64: 1, 1>} : tensor<4x2x4xf32> by tensor<3x4x2xf32>, tensor<3x4x2xf32>
    %y = mllm.linalg.view %r : tensor<4x2x4xf32> -> tensor<4x8xf32>
    mllm.cf.return %y : tensor<4x8xf32>
  }
}

// -----

module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<4xi64>) -> tensor<4x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<4xi64> -> tensor<4x8xf32>
    %h = mllm.linalg.view %x : tensor<4x8xf32> -> tensor<4x2x4xf32>
    %t = mllm.tensor.constant dense<0.5> : tensor<4x2xf32>
    // expected-error@+1 {{'mllm.linalg.rope' op requires tables with a row for each token of the step}}
    %r = mllm.linalg.rope %h by %t, %t {scaling = 1.0 : f64} : tensor<4x2x4xf32> by tensor<4x2xf32>, tensor<4x2xf32>
    %y = mllm.linalg.view %r : tensor<4x2x4xf32> -> tensor<4x8xf32>
    mllm.cf.return %y : tensor<4x8xf32>
  }
}

// -----

// Sinks that differ from token to token.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    %k:2 = mllm.linalg.kv_cache %h, %h {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
    %s = mllm.linalg.mean %x {dim = 1 : i64} : tensor<?x8xf32> -> tensor<?xf32>
    // expected-error@+1 {{'mllm.linalg.flash_attention2_swa_sink' op combines different tokens}}
    %a = mllm.linalg.flash_attention2_swa_sink %h, %k#0, %k#1 sinks %s {scale = 0.5 : f64, sliding_window = 4 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?xf32>) -> tensor<?x2x4xf32>
    %y = mllm.linalg.view %a : tensor<?x2x4xf32> -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
}

// -----

// A window over keys of no cache.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{'mllm.linalg.flash_attention2_swa_sink' op requires k and v to be the results of one kv_cache op}}
    %a = mllm.linalg.flash_attention2_swa_sink %h, %h, %h {scale = 0.5 : f64, sliding_window = 4 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
    %y = mllm.linalg.view %a : tensor<?x2x4xf32> -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
}

// -----

// A dimension for sequences that the ids do not have.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<1x?x2x4xf32>
    // expected-error@+1 {{'mllm.linalg.rope' op has heads of type 'tensor<1x?x2x4xf32>', with a dimension for sequences that the model's ids do not have; in a step they are [tokens, heads, head size]}}
    %r = mllm.linalg.rope %h {frequencies = array<f64: 1.0>, scaling = 1.0 : f64} : tensor<1x?x2x4xf32>
    %y = mllm.linalg.view %r : tensor<1x?x2x4xf32> -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x1x2x4xf32>
    // expected-error@+1 {{'mllm.linalg.kv_cache' op has heads of type 'tensor<?x1x2x4xf32>', with a dimension for sequences}}
    %k:2 = mllm.linalg.kv_cache %h, %h {layer = 0 : i64} : (tensor<?x1x2x4xf32>, tensor<?x1x2x4xf32>) -> (tensor<?x1x2x4xf32>, tensor<?x1x2x4xf32>)
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Keys and values of a layer that are read before there are any of the tokens.
module attributes {mllm.model = {architecture = "own", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 1 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %q = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    %none = mllm.linalg.slice %q[0:0, 0:1, :] : tensor<?x2x4xf32> -> tensor<0x1x4xf32>
    // expected-error@+1 {{adds no tokens and reads those of layer 0, to which no op before it adds any}}
    %all:2 = mllm.linalg.kv_cache %none, %none {layer = 0 : i64} : (tensor<0x1x4xf32>, tensor<0x1x4xf32>) -> (tensor<?x1x4xf32>, tensor<?x1x4xf32>)
    %a = mllm.linalg.flash_attention2 %q, %all#0, %all#1 {causal = true, scale = 0.5 : f64} : (tensor<?x2x4xf32>, tensor<?x1x4xf32>, tensor<?x1x4xf32>) -> tensor<?x2x4xf32>
    %y = mllm.linalg.view %a : tensor<?x2x4xf32> -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
}
