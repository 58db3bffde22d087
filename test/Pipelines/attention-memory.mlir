// RUN: llmir-opt %s --llmir-llm-stage="context-length=64" --llmir-optimize-stage --llmir-program-stage="token-budget=64" --llmir-kernel-stage=level=x86-64-v3 -o %t.short
// RUN: llmir-opt %s --llmir-llm-stage="context-length=65536" --llmir-optimize-stage --llmir-program-stage="token-budget=64" --llmir-kernel-stage=level=x86-64-v3 -o %t.long
// RUN: FileCheck %s < %t.short
// RUN: FileCheck %s < %t.long
// RUN: grep -o "[a-z]*_bytes = [0-9]*" %t.short > %t.short.bytes && grep -o "[a-z]*_bytes = [0-9]*" %t.long | diff %t.short.bytes -

// Attention keeps tiles of scores, never a row of them for the whole context: a step needs the same memory for contexts
// of 64 and of 65536 tokens, of which a matrix of scores would have 16 MB for each head.
// SPEC: 86 121 197
// CHECK-NOT: memref<64x65536x
// CHECK: fragment @llmir_step code attributes {arena_bytes = {{[0-9]+}} : i64{{.*}}worker_bytes = {{[0-9]+}} : i64}
// CHECK: paged_attention

module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 1 : i64, head_dim = 16 : i64, hidden_size = 32 : i64, intermediate_size = 32 : i64, vocab_size = 40 : i64, context_length = 65536 : i64}} {
  mllm.tensor.register @embed : tensor<40x32xbf16> {source = "embed"}
  mllm.tensor.register @k : tensor<16x32xbf16> {source = "k"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x40xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x32xf32>
    %q = mllm.linalg.view %x : tensor<?x32xf32> -> tensor<?x2x16xf32>
    %kr = mllm.linalg.linear %x, @k : tensor<?x32xf32> -> tensor<?x16xf32>
    %k = mllm.linalg.view %kr : tensor<?x16xf32> -> tensor<?x1x16xf32>
    %keys, %values = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x1x16xf32>, tensor<?x1x16xf32>) -> (tensor<?x1x16xf32>, tensor<?x1x16xf32>)
    %a = mllm.linalg.flash_attention2 %q, %keys, %values {causal = true, scale = 0.25 : f64} : (tensor<?x2x16xf32>, tensor<?x1x16xf32>, tensor<?x1x16xf32>) -> tensor<?x2x16xf32>
    %y = mllm.linalg.view %a : tensor<?x2x16xf32> -> tensor<?x32xf32>
    %l = mllm.linalg.linear %y, @embed : tensor<?x32xf32> -> tensor<?x40xf32>
    mllm.cf.return %l : tensor<?x40xf32>
  }
}
