// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file --verify-diagnostics

// No entry.
// expected-error@+1 {{has subgraphs, but none is marked entry}}
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.graph.subgraph @model(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// An entry that is not a model.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  // expected-error@+1 {{is the entry, so it must be (token ids [tokens]) -> (logits [tokens, vocabulary]), not '(tensor<?x8xf32>) -> tensor<?x8xf32>'}}
  mllm.graph.subgraph @model(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {entry} {
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Another op has the name of the step.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  // expected-note@+1 {{the other op is here}}
  mllm.tensor.register @step : tensor<8x8xf32> {source = "embed"}
  // expected-error@+1 {{is converted to @step, but another op has this name; rename it}}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @step : tensor<?xi64> -> tensor<?x8xf32>
    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// A layer number that is out of range.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{belongs to layer 2, but mllm.model specifies 2 layers}}
    %k, %v = mllm.linalg.kv_cache %h, %h {layer = 2 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
    %a = mllm.linalg.flash_attention2 %h, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x2x4xf32>

    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Heads that do not match the model.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x1x8xf32>
    // expected-error@+1 {{stores 1 heads of size 8, but mllm.model specifies 2 heads of size 4}}
    %k, %v = mllm.linalg.kv_cache %h, %h {layer = 0 : i64} : (tensor<?x1x8xf32>, tensor<?x1x8xf32>) -> (tensor<?x1x8xf32>, tensor<?x1x8xf32>)

    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Values that are not the first part of the keys.
module attributes {mllm.model = {architecture = "deepseek2", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 1 : i64, head_dim = 8 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64, values_in_keys = 4 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    %p:2 = mllm.linalg.split %h {dim = 1 : i64, sections = array<i64: 1>} : (tensor<?x2x4xf32>) -> (tensor<?x1x4xf32>, tensor<?x1x4xf32>)
    %k = mllm.linalg.concat %p#0, %p#1 {dim = 2 : i64} : (tensor<?x1x4xf32>, tensor<?x1x4xf32>) -> tensor<?x1x8xf32>
    // expected-error@+1 {{stores values that are not the first part of a concatenation, the keys, although mllm.model specifies that keys contain values}}
    %a, %b = mllm.linalg.kv_cache %k, %p#1 {layer = 0 : i64} : (tensor<?x1x8xf32>, tensor<?x1x4xf32>) -> (tensor<?x1x8xf32>, tensor<?x1x4xf32>)

    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Keys of the cache with another user.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{returns keys and values that may only be used as k and v of an attention op}}
    %k, %v = mllm.linalg.kv_cache %h, %h {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
    // expected-note@+1 {{also used here}}
    %s = mllm.linalg.silu %k : tensor<?x2x4xf32>

    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Keys and values swapped.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{returns keys and values that may only be used as k and v of an attention op}}
    %k, %v = mllm.linalg.kv_cache %h, %h {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
    // expected-note@+1 {{also used here}}
    %a = mllm.linalg.flash_attention2 %h, %v, %k {causal = true, scale = 0.5 : f64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x2x4xf32>

    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// All keys as queries.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{returns keys and values that may only be used as k and v of an attention op}}
    %k, %v = mllm.linalg.kv_cache %h, %h {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
    // expected-note@+1 {{also used here}}
    %a = mllm.linalg.flash_attention2 %k, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x2x4xf32>

    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// Attention to keys that are not cached.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %h = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x2x4xf32>
    // expected-error@+1 {{requires k and v to be the results of one kv_cache op; a step reads them from the paged cache}}
    %a = mllm.linalg.flash_attention2 %h, %h, %h {causal = true, scale = 0.5 : f64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x2x4xf32>

    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// An op of another dialect.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{'math.exp' op has no counterpart in the llm dialect}}
    %e = math.exp %x : tensor<?x8xf32>

    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// A broadcast that combines all pairs of tokens.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %v = mllm.linalg.view %x : tensor<?x8xf32> -> tensor<?x1x8xf32>
    // expected-error@+1 {{'mllm.linalg.add' op combines different tokens, which a step supports only in attention over the cache}}
    %y = mllm.linalg.add %v, %x : (tensor<?x1x8xf32>, tensor<?x8xf32>) -> tensor<?x?x8xf32>

    mllm.cf.return %x : tensor<?x8xf32>
  }
}

// -----

// A loop in a step.
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{'mllm.cf.for' op is control flow, which is not supported in a step}}
    %r = mllm.cf.for %ids (%x) : (tensor<?xi64>, tensor<?x8xf32>) -> tensor<?x8xf32> {
    ^bb0(%i: tensor<?xi64>, %a: tensor<?x8xf32>):
      %q = mllm.linalg.view %a {shape = array<i64: -1, 2, 4>} : tensor<?x8xf32> -> tensor<?x2x4xf32>
      %K, %V = mllm.linalg.kv_cache %q, %q {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
      %o = mllm.linalg.flash_attention2 %q, %K, %V {causal = true, scale = 5.0e-01 : f64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
      %b = mllm.linalg.view %o {shape = array<i64: -1, 8>} : tensor<?x2x4xf32> -> tensor<?x8xf32>
      mllm.cf.yield %b : tensor<?x8xf32>
    }
    %y = mllm.linalg.linear %r, @embed : tensor<?x8xf32> -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
}
