// RUN: llmir-opt %s --convert-mllm-to-llm | FileCheck %s

// Conversion of annotations: block formats become types of parameters, integers
// become products with quantized weights.
// SPEC: 277
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 4 : i64, num_kv_heads = 2 : i64, head_dim = 16 : i64, hidden_size = 64 : i64, intermediate_size = 96 : i64, vocab_size = 256 : i64, context_length = 128 : i64}} {
  // CHECK: mllm.tensor.register @embed : !llm.quantized_tensor<i8, [256, 64], true, false, -1, 32, 8, format = q8_0>
  mllm.tensor.register @embed : tensor<256x64xbf16> {source = "embed"}
  // CHECK: mllm.tensor.register @up : tensor<96x64xbf16>
  mllm.tensor.register @up : tensor<96x64xbf16> {source = "up"}
  // CHECK: mllm.tensor.register @down : !llm.quantized_tensor<i4, [64, 96], true, false, -1, 32, 4, format = q4_0>
  mllm.tensor.register @down : tensor<64x96xbf16> {source = "down"}
  mllm.tensor.register @plain : tensor<64x64xbf16> {source = "plain"}
  // CHECK-LABEL: func.func @step
  // CHECK: %[[UP:.*]] = llm.weight @up
  // CHECK-NEXT: %[[S:.*]] = llm.quant_params %[[UP]] {axis = 0 : i64, bits = 4 : i64, group_size = 32 : i64
  // CHECK-NEXT: %[[Q:.*]] = llm.quantize %[[UP]], %[[S]]
  // CHECK: llm.quantized_matmul %{{.*}}, %[[Q]], %[[S]] {activation_bits = 8 : i64
  // CHECK: llm.linear %{{.*}} : tensor<?x96xf32>, !llm.quantized_tensor<i4, [64, 96]
  // CHECK: llm.linear %{{.*}} : tensor<?x64xf32>, tensor<64x64xbf16>
  // CHECK: llm.linear %{{.*}} : tensor<?x64xf32>, !llm.quantized_tensor<i8, [256, 64]
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x256xf32> attributes {entry} {
    %0 = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x64xf32>
    %1 = mllm.linalg.linear %0, @up {mllm.quant.inputs = 8 : i64, mllm.quant.weights = #mllm.quant<sym_per_block, bits = 4, block = 32>} : tensor<?x64xf32> -> tensor<?x96xf32>
    %2 = mllm.linalg.linear %1, @down {mllm.quant.weights = #mllm.quant<q4_0, bits = 4, block = 32>} : tensor<?x96xf32> -> tensor<?x64xf32>
    %3 = mllm.linalg.linear %2, @plain {mllm.quant.weights = #mllm.quant<raw>} : tensor<?x64xf32> -> tensor<?x64xf32>
    %4 = mllm.linalg.linear %3, @embed {mllm.quant.weights = #mllm.quant<q8_0, bits = 8, block = 32>} : tensor<?x64xf32> -> tensor<?x256xf32>
    mllm.cf.return %4 : tensor<?x256xf32>
  }
}
