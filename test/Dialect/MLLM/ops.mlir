// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK: module attributes {mllm.model = {architecture = "qwen2", context_length = 512 : i64, head_dim = 16 : i64, hidden_size = 64 : i64, intermediate_size = 160 : i64, num_heads = 4 : i64, num_kv_heads = 2 : i64, num_layers = 1 : i64, vocab_size = 259 : i64}}
module attributes {mllm.model = {
    architecture = "qwen2", num_layers = 1 : i64, num_heads = 4 : i64,
    num_kv_heads = 2 : i64, head_dim = 16 : i64, hidden_size = 64 : i64,
    intermediate_size = 160 : i64, vocab_size = 259 : i64,
    context_length = 512 : i64}} {

// CHECK: mllm.tensor.register @embed.weight : tensor<259x64xbf16> {source = "model.embed_tokens.weight"}
// GENERIC: "mllm.tensor.register"() <{source = "model.embed_tokens.weight", sym_name = "embed.weight", type = tensor<259x64xbf16>}> : () -> ()
mllm.tensor.register @embed.weight : tensor<259x64xbf16> {source = "model.embed_tokens.weight"}
// CHECK: mllm.tensor.register @norm.weight : tensor<64xf32> {source = "output_norm.weight"}
mllm.tensor.register @norm.weight : tensor<64xf32> {source = "output_norm.weight"}
// CHECK: mllm.tensor.register @head_norm.weight : tensor<16xf32> {source = "blk.0.attn_q_norm.weight"}
mllm.tensor.register @head_norm.weight : tensor<16xf32> {source = "blk.0.attn_q_norm.weight"}
// CHECK: mllm.tensor.register @q.weight : tensor<64x64xf16> {rope_unpermute_heads = 4 : i64, source = "blk.0.attn_q.weight"}
mllm.tensor.register @q.weight : tensor<64x64xf16> {source = "blk.0.attn_q.weight", rope_unpermute_heads = 4}
// CHECK: mllm.tensor.register @q.bias : tensor<64xf32> {rope_unpermute_heads = 4 : i64, source = "blk.0.attn_q.bias"}
mllm.tensor.register @q.bias : tensor<64xf32> {source = "blk.0.attn_q.bias", rope_unpermute_heads = 4}
// CHECK: mllm.tensor.register @experts : !llm.quantized_tensor<i8, [3, 16, 64], true, false, -1, 32, 8, format = q8_0> {source = "blk.0.ffn_up_exps.weight"}
mllm.tensor.register @experts : !llm.quantized_tensor<i8, [3, 16, 64], true, false, -1, 32, 8, format = q8_0> {source = "blk.0.ffn_up_exps.weight"}
// CHECK: mllm.tensor.register @k.weight : !llm.quantized_tensor<i8, [32, 64], true, false, -1, 32, 8, format = q8_0> {source = "blk.0.attn_k.weight"}
mllm.tensor.register @k.weight : !llm.quantized_tensor<i8, [32, 64], true, false, -1, 32, 8, format = q8_0> {source = "blk.0.attn_k.weight"}
// CHECK: mllm.tensor.register @v.weight : !llm.quantized_tensor<i4, [32, 64], true, false, -1, 32, 4, format = q4_0> {source = "blk.0.attn_v.weight"}
mllm.tensor.register @v.weight : !llm.quantized_tensor<i4, [32, 64], true, false, -1, 32, 4, format = q4_0> {source = "blk.0.attn_v.weight"}

// CHECK-LABEL: mllm.graph.subgraph @Model(
// CHECK-SAME: %[[IDS:.*]]: tensor<?xi64>) -> tensor<?x259xf32> attributes {entry} {
// GENERIC: "mllm.graph.subgraph"() <{entry, function_type = (tensor<?xi64>) -> tensor<?x259xf32>, sym_name = "Model"}> ({
mllm.graph.subgraph @Model(%ids: tensor<?xi64>) -> tensor<?x259xf32> attributes {entry} {
  // CHECK: %[[X:.*]] = mllm.linalg.embedding %[[IDS]], @embed.weight : tensor<?xi64> -> tensor<?x64xf32>
  // GENERIC: "mllm.linalg.embedding"(%{{.*}}) <{weight = @embed.weight}> : (tensor<?xi64>) -> tensor<?x64xf32>
  %x = mllm.linalg.embedding %ids, @embed.weight : tensor<?xi64> -> tensor<?x64xf32>
  // CHECK: %[[Y:.*]] = mllm.graph.call_graph @model.layers.0.self_attn(%[[X]]) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  // GENERIC: "mllm.graph.call_graph"(%{{.*}}) <{callee = @model.layers.0.self_attn}> : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = mllm.graph.call_graph @model.layers.0.self_attn(%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: %[[N:.*]] = mllm.linalg.rms_norm %[[Y]], @norm.weight {eps = 1.000000e-05 : f64} : tensor<?x64xf32>
  // GENERIC: "mllm.linalg.rms_norm"(%{{.*}}) <{eps = 1.000000e-05 : f64, weight = @norm.weight}> : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %n = mllm.linalg.rms_norm %y, @norm.weight {eps = 1.0e-5 : f64} : tensor<?x64xf32>
  // CHECK: %[[L:.*]] = mllm.linalg.linear %[[N]], @embed.weight : tensor<?x64xf32> -> tensor<?x259xf32>
  // GENERIC: "mllm.linalg.linear"(%{{.*}}) <{weight = @embed.weight}> : (tensor<?x64xf32>) -> tensor<?x259xf32>
  %l = mllm.linalg.linear %n, @embed.weight : tensor<?x64xf32> -> tensor<?x259xf32>
  // CHECK: mllm.cf.return %[[L]] : tensor<?x259xf32>
  // GENERIC: "mllm.cf.return"(%{{.*}}) : (tensor<?x259xf32>) -> ()
  mllm.cf.return %l : tensor<?x259xf32>
}

// CHECK-LABEL: mllm.graph.subgraph @model.layers.0.self_attn(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>) -> tensor<?x64xf32> {
mllm.graph.subgraph @model.layers.0.self_attn(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: %[[Q0:.*]] = mllm.linalg.linear %[[X]], @q.weight bias @q.bias : tensor<?x64xf32> -> tensor<?x64xf32>
  // GENERIC: "mllm.linalg.linear"(%{{.*}}) <{bias = @q.bias, weight = @q.weight}> : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %q0 = mllm.linalg.linear %x, @q.weight bias @q.bias : tensor<?x64xf32> -> tensor<?x64xf32>
  // CHECK: mllm.linalg.linear %[[X]], @k.weight : tensor<?x64xf32> -> tensor<?x32xf32>
  %k0 = mllm.linalg.linear %x, @k.weight : tensor<?x64xf32> -> tensor<?x32xf32>
  %v0 = mllm.linalg.linear %x, @v.weight : tensor<?x64xf32> -> tensor<?x32xf32>
  // CHECK: %[[Q1:.*]] = mllm.linalg.view %[[Q0]] : tensor<?x64xf32> -> tensor<?x4x16xf32>
  // GENERIC: "mllm.linalg.view"(%{{.*}}) : (tensor<?x64xf32>) -> tensor<?x4x16xf32>
  %q1 = mllm.linalg.view %q0 : tensor<?x64xf32> -> tensor<?x4x16xf32>
  %k1 = mllm.linalg.view %k0 : tensor<?x32xf32> -> tensor<?x2x16xf32>
  %v1 = mllm.linalg.view %v0 : tensor<?x32xf32> -> tensor<?x2x16xf32>
  // CHECK: %[[Q2:.*]] = mllm.linalg.rms_norm %[[Q1]], @head_norm.weight {eps = 9.9999999999999995E-7 : f64} : tensor<?x4x16xf32>
  %q2 = mllm.linalg.rms_norm %q1, @head_norm.weight {eps = 1.0e-6 : f64} : tensor<?x4x16xf32>
  // CHECK: %[[Q3:.*]] = mllm.linalg.rope %[[Q2]] {frequencies = array<f64: 1.000000e+00, 0.33333333333333331>, scaling = 1.250000e+00 : f64} : tensor<?x4x16xf32>
  // GENERIC: "mllm.linalg.rope"(%{{.*}}) <{frequencies = array<f64: 1.000000e+00, 0.33333333333333331>, layout = "bshd", scaling = 1.250000e+00 : f64}> : (tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
  %q3 = mllm.linalg.rope %q2 {frequencies = array<f64: 1.0, 0.3333333333333333>, scaling = 1.25 : f64} : tensor<?x4x16xf32>
  // CHECK: %[[KEYS:.*]], %[[VALUES:.*]] = mllm.linalg.kv_cache %{{.*}}, %{{.*}} {layer = 3 : i64} : (tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
  // GENERIC: "mllm.linalg.kv_cache"(%{{.*}}, %{{.*}}) <{layer = 3 : i64, layout = "bshd"}> : (tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
  %keys, %values = mllm.linalg.kv_cache %k1, %v1 {layer = 3}
      : (tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
  // CHECK: %[[A:.*]] = mllm.linalg.flash_attention2 %[[Q3]], %[[KEYS]], %[[VALUES]] {causal = true, scale = 2.500000e-01 : f64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
  // GENERIC: "mllm.linalg.flash_attention2"(%{{.*}}, %{{.*}}, %{{.*}}) <{causal = true, scale = 2.500000e-01 : f64}>
  %a = mllm.linalg.flash_attention2 %q3, %keys, %values {causal = true, scale = 0.25 : f64}
      : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
  // CHECK: %[[B:.*]] = mllm.linalg.view %[[A]] : tensor<?x4x16xf32> -> tensor<?x64xf32>
  %b = mllm.linalg.view %a : tensor<?x4x16xf32> -> tensor<?x64xf32>
  // CHECK: %[[C:.*]] = mllm.linalg.silu %[[B]] : tensor<?x64xf32>
  // GENERIC: "mllm.linalg.silu"(%{{.*}}) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %c = mllm.linalg.silu %b : tensor<?x64xf32>
  // CHECK: %[[D:.*]] = mllm.linalg.mul %[[C]], %[[B]] : tensor<?x64xf32>
  // GENERIC: "mllm.linalg.mul"(%{{.*}}, %{{.*}}) : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %d = mllm.linalg.mul %c, %b : tensor<?x64xf32>
  // CHECK: %[[E:.*]] = mllm.linalg.add %[[D]], %[[X]] : tensor<?x64xf32>
  // GENERIC: "mllm.linalg.add"(%{{.*}}, %{{.*}}) : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %e = mllm.linalg.add %d, %x : tensor<?x64xf32>
  mllm.cf.return %e : tensor<?x64xf32>
}

// Neither arguments nor results, a fixed number of tokens, and a name that
// needs quotes.
// CHECK-LABEL: mllm.graph.subgraph private @nothing() {
// CHECK-NEXT: mllm.cf.return
mllm.graph.subgraph private @nothing() {
  mllm.cf.return
}
// CHECK-LABEL: mllm.graph.subgraph @"a block"(
// CHECK-SAME: tensor<7x4xf32>) -> (tensor<7x4xf32>, tensor<7x2x2xf32>)
mllm.graph.subgraph @"a block"(%x: tensor<7x4xf32>) -> (tensor<7x4xf32>, tensor<7x2x2xf32>) {
  %0 = mllm.linalg.view %x : tensor<7x4xf32> -> tensor<7x2x2xf32>
  mllm.cf.return %x, %0 : tensor<7x4xf32>, tensor<7x2x2xf32>
}
}
