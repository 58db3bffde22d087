// RUN: llmir-opt %s --convert-llm-to-program="token-budget=8 max-logit-rows=4" --mllm-synchronize-program --split-input-file | FileCheck %s

// When results may overwrite their operands, and where barriers are required.
// Rows of an embedding that matmuls read are replicated in a decode-sized step,
// without a barrier.

!cache = !llm.paged_kv_cache<f32, 1, 1, 16, 16, 128>

mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}

func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %c0 = arith.constant 0 : index
  %e = llm.weight @e : tensor<100x16xf32>
  %w = llm.weight @w : tensor<16x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %y = llm.linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [%t, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  // %y is read again below, under its other name: rope needs a separate buffer.
  // Whole heads are processed by the worker that computed them.
  // CHECK: rope_angles
  // CHECK-NEXT: {{^ +}$}}
  // CHECK-NEXT: instruction replicated {
  // CHECK-NEXT: get_weight @e :
  // CHECK-NEXT: kernel.embedding {{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}label = "embedding_f32_100x16"
  // CHECK-NEXT: {{^ +}$}}
  // CHECK-NEXT: barrier unless_decode{{$}}
  // CHECK-NEXT: instruction {
  // CHECK-NEXT: get_weight @w :
  // CHECK-NEXT: kernel.linear {{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}%[[Y:[0-9]+]]{{[, ]}}{{.*}}label = "linear_f32_16x16"
  // CHECK-NEXT: {{^ +}$}}
  // CHECK-NEXT: instruction {
  // CHECK-NEXT: kernel.rope {{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}%[[Y]]{{[, ]}}{{.*}}%[[R:[0-9]+]]{{[, ]}}{{.*}}label = "rope_1x16"
  // CHECK-NEXT: {{^ +}$}}
  // CHECK-NEXT: instruction {
  // CHECK-NEXT: kernel.elementwise {{.*}}%[[Y]]{{[, ]}}{{.*}}%[[R]]{{[, ]}}{{.*}}%[[Y]]{{[, ]}}{{.*}}label = "add_16"
  // CHECK: program.yield
  // CHECK-NEXT: {{^ +}$}}
  // CHECK-NEXT: {{^ +}$}}
  %r = llm.rope %h, %pos {frequencies = array<f64: 1.0, 0.1>} : tensor<?x1x16xf32>, tensor<?xi32>
  %m = tensor.collapse_shape %r [[0], [1, 2]] : tensor<?x1x16xf32> into tensor<?x16xf32>
  %z = llm.add %y, %m : tensor<?x16xf32>
  %s = llm.select_rows %z, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// A chain ends at a value with a second reader; a tensor that is read twice is
// one input.

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
// CHECK: entry_point
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @e :
// CHECK-NEXT: kernel.embedding {{.*}}%[[BX:[0-9]+]]{{[, ]}}{{.*}}label = "embedding_f32_100x16"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @w :
// CHECK-NEXT: kernel.linear {{.*}}%[[BX]]{{[, ]}}{{.*}}%[[BY:[0-9]+]]{{[, ]}}{{.*}}label = "linear_f32_16x16"
// CHECK-NEXT: {{^ +}$}}
// Every worker multiplies its own columns of the product; %x was complete
// before the barrier and dies here, so the result could overwrite it. But other
// workers may still read %x for their product.
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[BX]]{{[, ]}}{{.*}}%[[BY]]{{[, ]}}{{.*}}%[[BX]]{{[, ]}}{{.*}}label = "mul_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[BX]]{{[, ]}}{{.*}}%[[BB:[0-9]+]]{{[, ]}}{{.*}}label = "silu_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[BB]]{{[, ]}}{{.*}}%[[BX]]{{[, ]}}{{.*}}%[[BY]]{{[, ]}}{{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}label = "mul_add_add_16"
// CHECK-NEXT: ^bb0(%[[B:.*]]: f32, %[[A:.*]]: f32, %[[Y:.*]]: f32):
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[B]], %[[B]]
// CHECK-NEXT: %[[C:.*]] = arith.addf %[[A]], %[[Y]]
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[D]], %[[C]]
// CHECK-NEXT: yield %[[Z]]
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.select_rows {{.*}}label = "select_rows_16
// CHECK-NEXT: {{^ +}$}}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %w = llm.weight @w : tensor<16x16xf32>
  %y = llm.linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  %a = llm.mul %x, %y : tensor<?x16xf32>
  %b = llm.silu %a : tensor<?x16xf32>
  %c = llm.add %a, %y : tensor<?x16xf32>
  %d = llm.mul %b, %b : tensor<?x16xf32>
  %z = llm.add %d, %c : tensor<?x16xf32>
  %s = llm.select_rows %z, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}

// -----

// A value that enters a loop and is also read after it is copied first.

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
mllm.tensor.register @w1 : tensor<16x16xf32> {source = "w1"}
// CHECK: weight @w "tiles16" "f32" [16, 16] bytes 1024 sources ["w", "w1"] at [7168, 8192]{{$}}
// CHECK: instruction replicated {
// CHECK-NEXT: get_weight @e :
// CHECK-NEXT: kernel.embedding {{.*}}%[[X:[0-9]+]]{{[, ]}}{{.*}}label = "embedding_f32_100x16"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier unless_decode{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[X]]{{[, ]}}{{.*}}%[[OWN:[0-9]+]]{{[, ]}}{{.*}}label = "copy_16"
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT: yield %[[E]]
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: set_layer 0
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: label "layers.0"
// A sum does not overwrite the matmul's input, which other workers may still
// read.
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @w :
// CHECK-NEXT: kernel.linear {{.*}}%[[OWN]]{{[, ]}}{{.*}}%[[OWN]]{{[, ]}}{{.*}}%[[Y:[0-9]+]]{{[, ]}}{{.*}}label = "linear_f32_16x16_add"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[Y]]{{[, ]}}{{.*}}%[[OWN]]{{[, ]}}{{.*}}label = "copy_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: jump_next_layer "layers.0" below 2
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[OWN]]{{[, ]}}{{.*}}%[[X]]{{[, ]}}{{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}label = "mul_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %w = llm.weight @w : tensor<16x16xf32>
  %w1 = llm.weight @w1 : tensor<16x16xf32>
  %0 = call @layer(%x, %w) : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %1 = call @layer(%0, %w1) : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %z = llm.mul %1, %x : tensor<?x16xf32>
  %s = llm.select_rows %z, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
func.func private @layer(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> {
  %y = llm.linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  %z = llm.add %x, %y : tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}

// -----

// Calls without data dependence are not a run: each reads the same %x, which
// must not be overwritten.

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
mllm.tensor.register @w1 : tensor<16x16xf32> {source = "w1"}
// CHECK: weight @w "tiles16" "f32" [16, 16] bytes 1024 sources ["w"] at [7168]{{$}}
// CHECK-NEXT: weight @w1 "tiles16" "f32" [16, 16] bytes 1024 sources ["w1"] at [8192]{{$}}
// CHECK: instruction replicated {
// CHECK-NEXT: get_weight @e :
// CHECK-NEXT: kernel.embedding {{.*}}%[[X:[0-9]+]]{{[, ]}}{{.*}}label = "embedding_f32_100x16"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: set_layer 0
// CHECK-NEXT: barrier unless_decode{{$}}
// CHECK-NEXT: label "layers.0"
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @w :
// CHECK-NEXT: kernel.linear {{.*}}%[[X]]{{[, ]}}{{.*}}%[[X]]{{[, ]}}{{.*}}%[[Y:[0-9]+]]{{[, ]}}{{.*}}label = "linear_f32_16x16_add"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK: jump_next_layer "layers.0" below 1
// CHECK: label "layers.1"
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @w1 :
// CHECK-NEXT: kernel.linear {{.*}}%[[X]]{{[, ]}}{{.*}}%[[X]]{{[, ]}}{{.*}}%[[Y1:[0-9]+]]{{[, ]}}{{.*}}label = "linear_f32_16x16_add"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK: jump_next_layer "layers.1" below 1
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[Y]]{{[, ]}}{{.*}}%[[Y1]]{{[, ]}}{{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}label = "mul_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %w = llm.weight @w : tensor<16x16xf32>
  %w1 = llm.weight @w1 : tensor<16x16xf32>
  %0 = call @layer(%x, %w) : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %1 = call @layer(%x, %w1) : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %z = llm.mul %0, %1 : tensor<?x16xf32>
  %s = llm.select_rows %z, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
func.func private @layer(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> {
  %y = llm.linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  %z = llm.add %x, %y : tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}

// -----

// Runs of two functions: each begins at its own layer, as its weights do, and
// a layer out of order ends a run.

!cache = !llm.paged_kv_cache<f32, 6, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w0 : tensor<16x16xf32> {source = "w0"}
mllm.tensor.register @w1 : tensor<16x16xf32> {source = "w1"}
mllm.tensor.register @w2 : tensor<16x16xf32> {source = "w2"}
mllm.tensor.register @w3 : tensor<16x16xf32> {source = "w3"}
mllm.tensor.register @w4 : tensor<16x16xf32> {source = "w4"}
mllm.tensor.register @w5 : tensor<16x16xf32> {source = "w5"}

// CHECK: weight @w0 {{.*}} sources ["w0", "w1"] at [7168, 8192]{{$}}
// CHECK-NEXT: weight @w2 {{.*}} sources ["w2", "w3"] at [9216, 10240] first_layer 2{{$}}
// CHECK-NEXT: weight @w5 {{.*}} sources ["w5"] at [11264] first_layer 5{{$}}
// CHECK-NEXT: weight @w4 {{.*}} sources ["w4"] at [12288] first_layer 4{{$}}
// CHECK: set_layer 0
// CHECK: label "layers.0"
// CHECK: get_weight @w0 :
// CHECK-NEXT: kernel.linear {{.*}} ins(%[[X:[0-9]+]] : {{.*}}label = "linear_f32_16x16_add"
// CHECK: jump_next_layer "layers.0" below 2
// CHECK-NEXT: set_layer 2
// CHECK-NEXT: label "layers.1"
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @w2 :
// CHECK-NEXT: kernel.linear {{.*}} ins(%[[X]] : {{.*}}label = "linear_f32_16x16_mul"
// CHECK: jump_next_layer "layers.1" below 4
// CHECK: set_layer 5
// CHECK: jump_next_layer "layers.2" below 6
// CHECK: set_layer 4
// CHECK: jump_next_layer "layers.3" below 5
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %w0 = llm.weight @w0 : tensor<16x16xf32>
  %c0 = arith.constant 0 : index
  %w1 = llm.weight @w1 : tensor<16x16xf32>
  %c1 = arith.constant 1 : index
  %w2 = llm.weight @w2 : tensor<16x16xf32>
  %c2 = arith.constant 2 : index
  %w3 = llm.weight @w3 : tensor<16x16xf32>
  %c3 = arith.constant 3 : index
  %w4 = llm.weight @w4 : tensor<16x16xf32>
  %c4 = arith.constant 4 : index
  %w5 = llm.weight @w5 : tensor<16x16xf32>
  %c5 = arith.constant 5 : index
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %0 = call @a(%x, %c0, %w0) : (tensor<?x16xf32>, index, tensor<16x16xf32>) -> tensor<?x16xf32>
  %1 = call @a(%0, %c1, %w1) : (tensor<?x16xf32>, index, tensor<16x16xf32>) -> tensor<?x16xf32>
  %2 = call @b(%1, %c2, %w2) : (tensor<?x16xf32>, index, tensor<16x16xf32>) -> tensor<?x16xf32>
  %3 = call @b(%2, %c3, %w3) : (tensor<?x16xf32>, index, tensor<16x16xf32>) -> tensor<?x16xf32>
  %5 = call @b(%3, %c5, %w5) : (tensor<?x16xf32>, index, tensor<16x16xf32>) -> tensor<?x16xf32>
  %4 = call @b(%5, %c4, %w4) : (tensor<?x16xf32>, index, tensor<16x16xf32>) -> tensor<?x16xf32>
  %s = llm.select_rows %4, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
func.func private @a(%x: tensor<?x16xf32>, %layer: index, %w: tensor<16x16xf32>) -> tensor<?x16xf32> attributes {llm.layer} {
  %y = llm.linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  %z = llm.add %x, %y : tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}
func.func private @b(%x: tensor<?x16xf32>, %layer: index, %w: tensor<16x16xf32>) -> tensor<?x16xf32> attributes {llm.layer} {
  %y = llm.linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  %z = llm.mul %x, %y : tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}

// -----

// An op of @step may name its layer; one of a loop is of the loop's layer.

// CHECK: fragment @llmir_step code
// CHECK: set_layer 1
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.append_kv {{.*}}label = "append_kv_f32_1x16
// CHECK-NEXT: {{^ +}$}}

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  %c = llm.append_kv %cache, %h, %h slots(%slots) layer(%c1) : (!cache, tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?xi32>) -> !cache
  %s = llm.select_rows %x, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %c : tensor<?x16xf32>, !cache
}

// -----

// Two loop-carried values with the same initial value are separate in the loop;
// a run after it must not overwrite values that it does not carry.

// CHECK: fragment @llmir_step code
// CHECK: get_weight @e :
// CHECK-NEXT: kernel.embedding {{.*}}%[[X:[0-9]+]]{{[, ]}}{{.*}}label = "embedding_f32_100x16"
// CHECK-NEXT: {{^ +}$}}
// CHECK: kernel.elementwise {{.*}}%[[X]]{{[, ]}}{{.*}}%[[B:[0-9]+]]{{[, ]}}{{.*}}label = "copy_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK: kernel.elementwise {{.*}}%[[X]]{{[, ]}}{{.*}}%[[B]]{{[, ]}}{{.*}}%[[X]]{{[, ]}}{{.*}}label = "add_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK: jump_next_layer
// CHECK: kernel.elementwise {{.*}}%[[X]]{{[, ]}}{{.*}}%[[S:[0-9]+]]{{[, ]}}{{.*}}label = "silu_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK: kernel.elementwise ins(%[[X]], %[[S]] : {{.*}}label = "mul_16"

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %0:2 = call @pair(%x, %x) : (tensor<?x16xf32>, tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>)
  %1:2 = call @pair(%0#0, %0#1) : (tensor<?x16xf32>, tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>)
  %2 = call @one(%1#0) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %z = llm.mul %1#0, %2 : tensor<?x16xf32>
  %s = llm.select_rows %z, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
func.func private @pair(%x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %z = llm.add %x, %y : tensor<?x16xf32>
  return %z, %y : tensor<?x16xf32>, tensor<?x16xf32>
}
func.func private @one(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = llm.silu %x : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// A value that one callee returns twice has two readers of one buffer: the
// first of them must not overwrite it.

// CHECK: fragment @llmir_step code
// CHECK: get_weight @w :
// CHECK-NEXT: kernel.linear {{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}%[[V:[0-9]+]]{{[, ]}}{{.*}}label = "linear_f32_16x16"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NOT: kernel.elementwise ins(%[[V]] : {{.*}} outs(%[[V]] :
// CHECK: kernel.elementwise {{.*}}%[[V]]{{[, ]}}{{.*}}%[[S:[0-9]+]]{{[, ]}}{{.*}}label = "silu_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK: kernel.elementwise ins(%[[V]], %[[S]] : {{.*}}label = "mul_add_16"

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %e = llm.weight @e : tensor<100x16xf32>
  %w = llm.weight @w : tensor<16x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %0:2 = call @twice(%x, %w) : (tensor<?x16xf32>, tensor<16x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>)
  %a = llm.silu %0#0 : tensor<?x16xf32>
  %b = llm.mul %0#1, %a : tensor<?x16xf32>
  %c = llm.add %b, %a : tensor<?x16xf32>
  %s = llm.select_rows %c, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
func.func private @twice(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %y = llm.linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  return %y, %y : tensor<?x16xf32>, tensor<?x16xf32>
}
