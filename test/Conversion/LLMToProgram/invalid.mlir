// RUN: llmir-opt %s --convert-llm-to-program --split-input-file --verify-diagnostics

// expected-error@+1 {{has no function @step to make a program of}}
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

// An op that nobody has written a kernel for.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  // expected-error@+1 {{has no kernel in a program}}
  %0 = math.absf %x : tensor<?x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
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
  // expected-error@+1 {{reads a 'tensor<?xi32>' that is not the step's own 'positions'; a program can only read the step's}}
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
  // expected-error@+1 {{that is not the step's own 'logit_rows'}}
  %s = llm.select_rows %x, %slots : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  // expected-error@+1 {{that is not the step's own 'token_ids'}}
  %x = llm.embedding %pos, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// A matrix that is computed.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  // expected-error@+1 {{needs a parameter of the model as a weight, not a computed value of type 'tensor<16x16xf32>'}}
  %0 = llm.linear %x, %c : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
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
  // expected-error@+1 {{has no kernel in a program}}
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
  // expected-error@+1 {{uses a value of type 'tensor<4x16xf32>' that no kernel has made}}
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
  // expected-error@+1 {{must be causal and on a ragged batch in a program}}
  %a = llm.paged_attention %h, %cache, %tables, %lens offsets(%offs) layer(%c0) {causal = false} : (tensor<?x1x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x1x16xf32>
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
  // expected-error@+1 {{that is not the step's own 'seq_lens'}}
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
  // expected-error@+1 {{that is not the step's own 'slot_mapping'}}
  %a = llm.append_kv %cache, %h, %h slots(%pos) layer(%c0) : (!cache, tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?xi32>) -> !cache
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// The documents' batched form.
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
  // expected-error@+1 {{is batched; a program appends to a ragged batch}}
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
  // expected-error@+1 {{moves values between rows, which a program cannot}}
  %h = tensor.expand_shape %x [[0, 1], [2]] output_shape [%t, 2, 16] : tensor<?x16xf32> into tensor<?x2x16xf32>
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// Two values that change places from layer to layer.
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
  // expected-error@+1 {{hands result 1 to the next layer in a buffer that another result is copied to; a loop cannot exchange its values}}
  return %y, %x : tensor<?x16xf32>, tensor<?x16xf32>
}
