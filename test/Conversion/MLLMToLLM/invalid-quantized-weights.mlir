// RUN: llmir-opt %s --convert-mllm-to-llm --split-input-file --verify-diagnostics

// Annotations that the compiler cannot store.
// SPEC: 277
// Three bits.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<8x32xf32> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{which the compiler has no form for; it stores int8 and int4 with a scale for each row or for 32, 64 or 128 numbers of one, and the formats q8_0 and q4_0}}
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
    // expected-error@+1 {{which the compiler has no form for; it stores int8 and int4 with a scale for each row or for 32, 64 or 128 numbers of one, and the formats q8_0 and q4_0}}
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
    // expected-error@+1 {{which the compiler has no form for; it stores int8 and int4 with a scale for each row or for 32, 64 or 128 numbers of one, and the formats q8_0 and q4_0}}
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
    // expected-error@+1 {{which the compiler has no form for; it stores int8 and int4 with a scale for each row or for 32, 64 or 128 numbers of one, and the formats q8_0 and q4_0}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 16>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// Blocks that nothing rounds to.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<8x32xf32> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{which the compiler has no form for; it stores int8 and int4 with a scale for each row or for 32, 64 or 128 numbers of one, and the formats q8_0 and q4_0}}
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
    // expected-error@+1 {{which the compiler has no form for; it stores int8 and int4 with a scale for each row or for 32, 64 or 128 numbers of one, and the formats q8_0 and q4_0}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<lpbq, bits = 4, block = 32>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// Rows that are no blocks.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<8x32xf32> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{has a matrix of rows of 32 numbers, which are no whole blocks of 64}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 64>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// What is quantized already.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : !llm.quantized_tensor<i8, [8, 32], true, false, -1, 32, 8, format = q8_0> {source = "w"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-error@+1 {{which is stored in few bits already}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_channel, bits = 8, axis = 0>} : tensor<?x32xf32> -> tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}

// -----

// One matrix in two ways.
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x32xf32> {source = "embed"}
  mllm.tensor.register @w : tensor<32x32xf32> {source = "w"}
  mllm.tensor.register @h : tensor<8x32xf32> {source = "h"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    // expected-note@+1 {{which is this one}}
    %0 = mllm.linalg.linear %x, @w {mllm.quant.weights = #mllm.quant<sym_per_channel, bits = 8, axis = 0>} : tensor<?x32xf32> -> tensor<?x32xf32>
    // expected-error@+1 {{has a matrix to be stored in another way than another op says}}
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
    // expected-error@+1 {{has 'mllm.quant.weights', but only matrices of mllm.linalg.linear are stored in few bits}}
    %0 = mllm.linalg.silu %x {mllm.quant.weights = #mllm.quant<sym_per_channel, bits = 8, axis = 0>} : tensor<?x8xf32>
    mllm.cf.return %0 : tensor<?x8xf32>
  }
}
