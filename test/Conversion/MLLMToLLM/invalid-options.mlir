// RUN: not llmir-opt %s --convert-mllm-to-llm="kv-element-type=q4" 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not llmir-opt %s --convert-mllm-to-llm="block-size=24" 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not llmir-opt %s --convert-mllm-to-llm="context-length=-5" 2>&1 | FileCheck %s --check-prefix=CONTEXT

// ELEMENT: error: kv-element-type must be f32, f16, bf16 or q8, not 'q4'
// BLOCK: error: cache blockSize must be a power of two, not 24
// CONTEXT: error: cache maxSeqLen must be positive, not -5
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>

    mllm.cf.return %x : tensor<?x8xf32>
  }
}
