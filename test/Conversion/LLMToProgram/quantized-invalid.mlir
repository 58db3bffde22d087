// RUN: llmir-opt %s --convert-llm-to-program --split-input-file --verify-diagnostics

// In a step, only parameters that are operands of products are quantized.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
!w8 = !llm.quantized_tensor<i8, [16, 64], true, true, 0, -1, 8>
mllm.tensor.register @w : tensor<16x64xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) {
  %w = llm.weight @w : tensor<16x64xf32>
  // expected-error@+1 {{cannot be computed in a step: only parameters of the model are quantized, as weights of llm.quantized_matmul}}
  %s = llm.quant_params %w {axis = 0 : i64, bits = 8 : i64} : (tensor<16x64xf32>) -> tensor<16xf32>
  %q = llm.quantize %w, %s : (tensor<16x64xf32>, tensor<16xf32>) -> !w8
  %d = llm.dequantize %q, %s : (!w8, tensor<16xf32>) -> tensor<16x64xf32>
  return
}

// -----

// Scales of another matrix.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
!w8 = !llm.quantized_tensor<i8, [64, 64], true, true, 0, -1, 8>
mllm.tensor.register @e : tensor<100x64xf32> {source = "e"}
mllm.tensor.register @w : tensor<64x64xf32> {source = "w"}
mllm.tensor.register @v : tensor<64x64xf32> {source = "v"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) {
  %e = llm.weight @e : tensor<100x64xf32>
  %w = llm.weight @w : tensor<64x64xf32>
  %v = llm.weight @v : tensor<64x64xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x64xf32> -> tensor<?x64xf32>
  %s = llm.quant_params %v {axis = 0 : i64, bits = 8 : i64} : (tensor<64x64xf32>) -> tensor<64xf32>
  %q = llm.quantize %w, %s : (tensor<64x64xf32>, tensor<64xf32>) -> !w8
  // expected-error@+1 {{has a weight in a step that is not a parameter of the model, quantized with its own llm.quant_params}}
  %y = llm.quantized_matmul %x, %q, %s {transpose_rhs} : (tensor<?x64xf32>, !w8, tensor<64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// One scale for all rows: packing sees a row at a time.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
!w8 = !llm.quantized_tensor<i8, [64, 64], true, false, -1, -1, 8>
mllm.tensor.register @e : tensor<100x64xf32> {source = "e"}
mllm.tensor.register @w : tensor<64x64xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) {
  %e = llm.weight @e : tensor<100x64xf32>
  %w = llm.weight @w : tensor<64x64xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x64xf32> -> tensor<?x64xf32>
  %s = llm.quant_params %w {bits = 8 : i64} : (tensor<64x64xf32>) -> tensor<1xf32>
  %q = llm.quantize %w, %s : (tensor<64x64xf32>, tensor<1xf32>) -> !w8
  // expected-error@+1 {{has a weight in a step that is quantized along more than a row; weights [N, K] of a step have scales for each row}}
  %y = llm.quantized_matmul %x, %q, %s {transpose_rhs} : (tensor<?x64xf32>, !w8, tensor<1xf32>) -> tensor<?x64xf32>
  return
}

// -----

// Weights [K, N] in a step.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
!w8 = !llm.quantized_tensor<i8, [64, 64], true, true, 1, -1, 8>
mllm.tensor.register @e : tensor<100x64xf32> {source = "e"}
mllm.tensor.register @w : tensor<64x64xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) {
  %e = llm.weight @e : tensor<100x64xf32>
  %w = llm.weight @w : tensor<64x64xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x64xf32> -> tensor<?x64xf32>
  %s = llm.quant_params %w {axis = 1 : i64, bits = 8 : i64} : (tensor<64x64xf32>) -> tensor<64xf32>
  %q = llm.quantize %w, %s : (tensor<64x64xf32>, tensor<64xf32>) -> !w8
  // expected-error@+1 {{has a weight in a step that is quantized along its columns}}
  %y = llm.quantized_matmul %x, %q, %s : (tensor<?x64xf32>, !w8, tensor<64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// Sixteen bits times eight have no kernel.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
!w16 = !llm.quantized_tensor<i16, [64, 64], true, true, 0, -1, 16>
mllm.tensor.register @e : tensor<100x64xf32> {source = "e"}
mllm.tensor.register @w : tensor<64x64xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) {
  %e = llm.weight @e : tensor<100x64xf32>
  %w = llm.weight @w : tensor<64x64xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x64xf32> -> tensor<?x64xf32>
  %s = llm.quant_params %w {axis = 0 : i64, bits = 16 : i64} : (tensor<64x64xf32>) -> tensor<64xf32>
  %q = llm.quantize %w, %s : (tensor<64x64xf32>, tensor<64xf32>) -> !w16
  // expected-error@+1 {{has integers of more than 8 bits, which kernels of a step cannot multiply}}
  %y = llm.quantized_matmul %x, %q, %s {activation_bits = 8 : i64, transpose_rhs} : (tensor<?x64xf32>, !w16, tensor<64xf32>) -> tensor<?x64xf32>
  return
}
