// RUN: llmir-opt %s --mllm-apply-recipe="recipe=head=q4,*.mlp.down*=none,*.mlp.*=int4:g4,*.k_proj=int8:tensor:asym:a32,*=int8" --verify-diagnostics | FileCheck %s

// The first matching pattern applies; `head` is the projection whose result the
// entry returns.
// SPEC: 277
module {
mllm.tensor.register @model.embed : tensor<4x32xf32> {source = "e"}
mllm.tensor.register @model.q_proj : tensor<8x32xf32> {source = "a"}
mllm.tensor.register @model.k_proj : tensor<32x8xf32> {source = "k"}
mllm.tensor.register @model.mlp.up : tensor<6x32xf32> {source = "b"}
mllm.tensor.register @model.mlp.down : tensor<6x6xf32> {source = "c"}
// Rows of 6 are not whole blocks of 4.
// expected-remark@+1 {{not quantized: rows of 6 elements are not a multiple of the block size 4}}
mllm.tensor.register @model.mlp.odd : tensor<32x6xf32> {source = "d"}
mllm.tensor.register @model.stored : !llm.quantized_tensor<i8, [32, 32], true, false, -1, 32, 8, format = q8_0> {source = "s"}
mllm.tensor.register @model.norm : tensor<32xf32> {source = "f"}
// CHECK-LABEL: @model(
mllm.graph.subgraph @model(%ids: tensor<2xi64>) -> tensor<2x4xf32> attributes {entry} {
  // The head's matrix is this table, too: it is stored once.
  // CHECK-NEXT: mllm.linalg.embedding %{{.*}}, @model.embed :
  %x = mllm.linalg.embedding %ids, @model.embed : tensor<2xi64> -> tensor<2x32xf32>
  // CHECK-NEXT: mllm.linalg.rms_norm
  // CHECK-NOT: mllm.quant
  %0 = mllm.linalg.rms_norm %x, @model.norm {eps = 1.0e-5 : f64} : tensor<2x32xf32>
  // CHECK: @model.q_proj {mllm.quant.inputs = 8 : i64, mllm.quant.weights = #mllm.quant<sym_per_channel, bits = 8, axis = 0>}
  %1 = mllm.linalg.linear %0, @model.q_proj : tensor<2x32xf32> -> tensor<2x8xf32>
  // CHECK: @model.k_proj {mllm.quant.weights = #mllm.quant<asym_per_tensor, bits = 8>}
  %2 = mllm.linalg.linear %1, @model.k_proj : tensor<2x8xf32> -> tensor<2x32xf32>
  // CHECK: @model.mlp.up {mllm.quant.inputs = 8 : i64, mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 4>}
  %3 = mllm.linalg.linear %2, @model.mlp.up : tensor<2x32xf32> -> tensor<2x6xf32>
  // CHECK: @model.mlp.down :
  %4 = mllm.linalg.linear %3, @model.mlp.down : tensor<2x6xf32> -> tensor<2x6xf32>
  // CHECK: @model.mlp.odd :
  %5 = mllm.linalg.linear %4, @model.mlp.odd : tensor<2x6xf32> -> tensor<2x32xf32>
  // Quantized parameters are not changed.
  // CHECK: @model.stored :
  %6 = mllm.linalg.linear %5, @model.stored : tensor<2x32xf32> -> tensor<2x32xf32>
  // CHECK: @model.embed {mllm.quant.weights = #mllm.quant<q4_0, bits = 4, block = 32>}
  %7 = mllm.linalg.linear %6, @model.embed : tensor<2x32xf32> -> tensor<2x4xf32>
  mllm.cf.return %7 : tensor<2x4xf32>
}
}
