// RUN: llmir-opt %s --convert-llm-to-program --split-input-file --verify-diagnostics

// expected-error@+1 {{has no function to convert to a program}}
module {
}

// -----

// expected-error@+1 {{is not a step: it takes 1 operands, expected the 7 arrays of a ragged batch and a cache}}
func.func @step(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  return %x : tensor<?x16xf32>
}

// -----

// A second cache group has no place in the step's arguments.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
!other = !llm.paged_kv_cache<f32, 1, 2, 32, 16, 128>
// expected-error@+1 {{is not a step: it takes 9 operands}}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache, %second: !other) {
  return
}

// -----

// Positions other than the step's.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  // expected-error@+1 {{has an operand of type 'tensor<?xi32>' that is not the argument 'positions' of the step; pass that argument}}
  %r = llm.rope %h, %lens {frequencies = array<f64: 1.0>} : tensor<?x1x16xf32>, tensor<?xi32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  // expected-error@+1 {{that is not the argument 'logit_rows' of the step}}
  %s = llm.select_rows %x, %slots : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  // expected-error@+1 {{that is not the argument 'query_offsets' of the step}}
  %m = llm.mean_rows %x, %lens : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %m, %cache : tensor<?x16xf32>, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  // expected-error@+1 {{that is not the argument 'token_ids' of the step}}
  %x = llm.embedding %slots, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// A constant among the rows.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c = arith.constant dense<1.0> : tensor<4x16xf32>
  // expected-error@+1 {{uses a value that is the same for all tokens as one row per token}}
  %d = tensor.cast %c : tensor<4x16xf32> to tensor<?x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c = arith.constant dense<1.0> : tensor<4x16xf32>
  // expected-error@+1 {{computes a value of type 'tensor<4x16xf32>', which is the same for all tokens}}
  %y = llm.add %c, %c : tensor<4x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  // expected-error@+1 {{is batched; a step is a ragged batch: run -llm-lower-kv-cache-ops first}}
  %a = llm.paged_attention %h, %cache, %tables, %lens layer(%c0) : (tensor<?x1x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>) -> tensor<?x1x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  // expected-error@+1 {{that is not the argument 'seq_lens' of the step}}
  %a = llm.paged_attention %h, %cache, %tables, %pos offsets(%offs) layer(%c0) : (tensor<?x1x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x1x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  // expected-error@+1 {{that is not the argument 'slot_mapping' of the step}}
  %a = llm.append_kv %cache, %h, %h slots(%pos) layer(%c0) : (!cache, tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?xi32>) -> !cache
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// A step has its block tables; sequences are identified by the runtime.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  // expected-error@+1 {{cannot be part of a step: the runtime computes block tables before it}}
  %t = llm.block_tables %cache, %tables, %lens : (!cache, tensor<?x?xi32>, tensor<?xi32>) -> tensor<?x8xi32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// The batched form.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  %k = arith.constant dense<1.0> : tensor<3x5x1x16xf32>
  %i = arith.constant dense<1> : tensor<3xi32>
  // expected-error@+1 {{is batched; programs append to ragged batches}}
  %a:2 = llm.append_kv %cache, %k, %k, %i layer(%c0) : (!cache, tensor<3x5x1x16xf32>, tensor<3x5x1x16xf32>, tensor<3xi32>) -> (!cache, tensor<3x5xi32>)
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// Rows that are split.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  // expected-error@+1 {{moves elements between rows of the step}}
  %h = tensor.expand_shape %x [[0, 1], [2]] output_shape [%t, 2, 16] : tensor<?x16xf32> into tensor<?x2x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// Two values that are swapped from layer to layer.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %w = llm.weight @w : tensor<16x16xf32>
  %y = llm.linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  %0:2 = call @layer(%x, %y) : (tensor<?x16xf32>, tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>)
  %1:2 = call @layer(%0#0, %0#1) : (tensor<?x16xf32>, tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>)
  %s = llm.select_rows %1#0, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
func.func private @layer(%x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  // expected-error@+1 {{passes result 1 to the next layer in a buffer that another result overwrites; a loop over layers cannot exchange carried values}}
  return %y, %x : tensor<?x16xf32>, tensor<?x16xf32>
}

// -----

// A step that is only declared.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
// expected-error@+1 {{has no body, but is to be converted to a program}}
func.func private @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache)

// -----

// Logits of every token.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  // expected-error@+1 {{must return logits as the first result, computed in @step for the rows that llm.select_rows selects}}
  return %x, %cache : tensor<?x16xf32>, !cache
}

// -----

// Rows that are selected twice.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  // expected-error@+1 {{requires an operand with a row per token, not the rows that llm.select_rows selects}}
  %s2 = llm.select_rows %s, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s2, %cache : tensor<?x16xf32>, !cache
}

// -----

// Tokens and selected rows in one sum.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  // expected-error@+1 {{combines rows of all tokens with rows that were selected}}
  %z = llm.add %s, %x : tensor<?x16xf32>
  return %z, %cache : tensor<?x16xf32>, !cache
}

// -----

// A projection of each head.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x8xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 2, 8] : tensor<?x16xf32> into tensor<?x2x8xf32>
  %w = llm.weight @w : tensor<16x8xf32>
  // expected-error@+1 {{requires rows of 8 elements, but the operand has 16 elements per token; in a step, a row has all elements of a token}}
  %p = llm.linear %h, %w : tensor<?x2x8xf32>, tensor<16x8xf32> -> tensor<?x2x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// A layer number that no caller fixes.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %0 = arith.constant 0 : index
  %y = call @layer(%x, %slots, %cache, %0) : (tensor<?x16xf32>, tensor<?xi32>, !cache, index) -> tensor<?x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
func.func private @layer(%x: tensor<?x16xf32>, %slots: tensor<?xi32>, %cache: !cache, %l: index) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  // expected-error@+1 {{requires the layer number argument of its function}}
  %c = llm.append_kv %cache, %h, %h slots(%slots) layer(%c1) : (!cache, tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?xi32>) -> !cache
  return %x : tensor<?x16xf32>
}

// -----

// Layers within layers.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %y = call @layer(%x) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
func.func private @layer(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error@+1 {{is in a function that is called from @step; calls in layers are not supported, inline them first}}
  %y = call @inner(%x) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
func.func private @inner(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = llm.silu %x : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// A layer that is somewhere else.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  // expected-error@+1 {{calls @layer, which has no body}}
  %y = call @layer(%x) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
func.func private @layer(tensor<?x16xf32>) -> tensor<?x16xf32>

// -----

// The same weight of two layers, stored in different orders.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
// expected-note@+1 {{the weight of the other layer}}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
// expected-error@+1 {{stores its rows in another order than the same weight of another layer}}
mllm.tensor.register @w1 : tensor<16x16xf32> {source = "w1", rope_unpermute_heads = 2 : i64}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %w = llm.weight @w : tensor<16x16xf32>
  %w1 = llm.weight @w1 : tensor<16x16xf32>
  %0 = call @layer(%x, %w) : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %1 = call @layer(%0, %w1) : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %s = llm.select_rows %1, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
func.func private @layer(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> {
  %y = llm.linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
