// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file --verify-diagnostics

// Unsupported annotations.
// SPEC: 277
// Three bits.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<8x32xf32> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{which is not supported; use int8 or int4 with a scale for each row or for each 32, 64 or 128 elements of a row, or the formats q8_0 and q4_0}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_channel, bits = 3, axis = 0>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// One scale for all.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<8x32xf32> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{which is not supported; use int8 or int4 with a scale for each row or for each 32, 64 or 128 elements of a row, or the formats q8_0 and q4_0}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_tensor, bits = 8>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// Scales of columns.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<8x32xf32> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{which is not supported; use int8 or int4 with a scale for each row or for each 32, 64 or 128 elements of a row, or the formats q8_0 and q4_0}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_channel, bits = 8, axis = 1>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// Groups of 16.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<8x32xf32> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{which is not supported; use int8 or int4 with a scale for each row or for each 32, 64 or 128 elements of a row, or the formats q8_0 and q4_0}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 16>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// An unsupported block format.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<8x32xf32> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{which is not supported; use int8 or int4 with a scale for each row or for each 32, 64 or 128 elements of a row, or the formats q8_0 and q4_0}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<q4_1, bits = 4, block = 32>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// A 4-bit scale for each block.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<8x32xf32> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{which is not supported; use int8 or int4 with a scale for each row or for each 32, 64 or 128 elements of a row, or the formats q8_0 and q4_0}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<lpbq, bits = 4, block = 32>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// Rows that are not whole blocks.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<8x32xf32> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{has weights with rows of 32 elements, which is not a multiple of the block size 64}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 64>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// Weights that are already quantized.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : !llm.quantized_tensor<i8, [8, 32], true, false, -1, 32, 8, format = q8_0> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{but the parameter is already quantized}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_channel, bits = 8, axis = 0>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// Two formats for one parameter.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<32x32xf32> {source = "w"}
  mllm.tensor.register @h : tensor<8x32xf32> {source = "h"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-note@+1 {{the other op is here}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_channel, bits = 8, axis = 0>} : tensor<?x32xf32> -> tensor<?x32xf32>
    // expected-error@+1 {{has weights of a different format than another op with the same parameter}}
    %1 = mllm.linalg.linear %0, @w : tensor<?x32xf32> -> tensor<?x32xf32>
    %2 = mllm.linalg.linear %1, @h : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %2 : tensor<?x8xf32>
  }
}

// -----

// An op without a matrix.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    // expected-error@+1 {{has 'mllm.quant.weights', but only weights of mllm.linalg.linear and mllm.linalg.experts can be quantized}}
    %0 = mllm.linalg.silu %x {mllm.quant.weights = #mllm.quant<sym_per_channel, bits = 8, axis = 0>} : tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// Integers for experts.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @router : tensor<4x32xf32> {source = "router"}
  mllm.tensor.register @up : tensor<4x32x32xf32> {source = "up"}
  mllm.tensor.register @down : tensor<4x32x32xf32> {source = "down"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x32xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    %logits = mllm.linalg.linear %x, @router : tensor<?x32xf32> -> tensor<?x4xf32>
    %w, %e = mllm.linalg.top_k %logits {k = 2 : i64} : tensor<?x4xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
    // expected-error@+1 {{has weights of the format #mllm.quant<sym_per_block, bits = 4, block = 32>, which is not supported for experts; use the formats q8_0 and q4_0}}
    %0 = mllm.linalg.experts %x chosen %e weights %w, @up, @up, @down {mllm.quant.weights = [#mllm.quant<raw>, #mllm.quant<raw>, #mllm.quant<sym_per_block, bits = 4, block = 32>]} : (tensor<?x32xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x32xf32>
    mllm.cf.return %0 : tensor<?x32xf32>
  }
}
