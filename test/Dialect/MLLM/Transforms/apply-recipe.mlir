// RUN: llmir-opt %s --mllm-apply-recipe="recipe=*.mlp.down*=none,*.mlp.*=int4:g4,*.head=int8:tensor:asym,*=int8,*.nothing=int4" --verify-diagnostics | FileCheck %s

// The first pattern that matches counts; one that matches nothing is a warning.
// SPEC: 277
// expected-warning@+1 {{no matrix of the model is called '*.nothing'}}
module {
mllm.tensor.register @model.q_proj : tensor<8x8xf32> {source = "a"}
mllm.tensor.register @model.mlp.up : tensor<6x8xf32> {source = "b"}
mllm.tensor.register @model.mlp.down : tensor<8x6xf32> {source = "c"}
mllm.tensor.register @model.mlp.odd : tensor<6x6xf32> {source = "d"}
mllm.tensor.register @model.head : tensor<4x8xf32> {source = "e"}
mllm.tensor.register @model.norm : tensor<8xf32> {source = "f"}
// CHECK-LABEL: @model(
mllm.graph.subgraph @model(%x: tensor<2x8xf32>) -> tensor<2x4xf32> attributes {entry} {
  // CHECK-NEXT: mllm.linalg.rms_norm
  // CHECK-NOT: mllm.quant
  %0 = mllm.linalg.rms_norm %x, @model.norm {eps = 1.0e-5 : f64} : tensor<2x8xf32>
  // CHECK: @model.q_proj {mllm.quant.weights = #mllm.quant<sym_per_channel, bits = 8, axis = 0>}
  %1 = mllm.linalg.linear %0, @model.q_proj : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: @model.mlp.up {mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 4>}
  %2 = mllm.linalg.linear %1, @model.mlp.up : tensor<2x8xf32> -> tensor<2x6xf32>
  // Rows of 6 are no blocks of 4.
  // CHECK: @model.mlp.odd :
  // expected-remark@+1 {{not quantized: rows of 6 numbers of @model.mlp.odd are no whole blocks of 4}}
  %3 = mllm.linalg.linear %2, @model.mlp.odd : tensor<2x6xf32> -> tensor<2x6xf32>
  // CHECK: @model.mlp.down :
  %4 = mllm.linalg.linear %3, @model.mlp.down : tensor<2x6xf32> -> tensor<2x8xf32>
  // CHECK: @model.head {mllm.quant.weights = #mllm.quant<asym_per_tensor, bits = 8>}
  %5 = mllm.linalg.linear %4, @model.head : tensor<2x8xf32> -> tensor<2x4xf32>
  mllm.cf.return %5 : tensor<2x4xf32>
}
}
