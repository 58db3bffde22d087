// RUN: llmir-opt %s --convert-llm-to-program --mllm-synchronize-program --split-input-file | FileCheck %s

// A function other than a step: arguments and constants are inputs or weights,
// counts are set when they change, results are outputs at the end.

// CHECK: mllm.program.fragment @weights data
// CHECK-NEXT: weight @weight.arg1 "tiles16" "bf16" [20, 24] bytes 1536 sources ["arg1"] at [0]
// CHECK: constant @constant0 dense<{{.*}}> : tensor<7x20xf32>
// CHECK: mllm.program.fragment @llmir_step code
// CHECK-DAG: input "arg0"(%[[X:.*]]) columns 24 : memref<7x32xf32>
// CHECK-DAG: input "constant0"(%[[C:.*]]) columns 20 : memref<7x32xf32>
// CHECK: entry_point
// CHECK-NEXT: set_field num_tokens to 7
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.round_rows {{.*}}%[[X]]{{[, ]}}{{.*}}%[[WORDS:[0-9]+]]{{[, ]}}{{.*}}label = "round_rows_24"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// The sum is added as it is stored.
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @weight.arg1 :
// CHECK-NEXT: kernel.linear {{.*}}%[[WORDS]]{{[, ]}}{{.*}}%[[C]]{{[, ]}}{{.*}}%[[Y:[0-9]+]]{{[, ]}}{{.*}}label = "linear_bf16_20x24_add"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: output "result0"(%[[Y]]) columns 20 : memref<7x32xf32>
// CHECK-NEXT: exit
func.func @f(%x: tensor<7x24xf32>, %w: tensor<20x24xbf16>) -> tensor<7x20xf32> {
  %c = arith.constant dense<1.0> : tensor<7x20xf32>
  %y = llm.linear %x, %w : tensor<7x24xf32>, tensor<20x24xbf16> -> tensor<7x20xf32>
  %z = llm.add %y, %c : tensor<7x20xf32>
  return %z : tensor<7x20xf32>
}

// -----

// Fields of the context point to index arrays; narrow results are rounded.
// CHECK: mllm.program.fragment @llmir_step code
// CHECK: input "arg0"(%[[IDS:.*]]) columns 9 : memref<1x16xi32>
// CHECK: entry_point
// CHECK-NEXT: set_field token_ids at %[[IDS]]
// CHECK-NEXT: set_field num_tokens to 9
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @weight.arg1 :
// CHECK-NEXT: kernel.embedding {{.*}}%[[Y:[0-9]+]]{{[, ]}}{{.*}}label = "embedding_f32_50x16"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[Y]]{{[, ]}}{{.*}}%[[Y]]{{[, ]}}{{.*}}label = "round_bf16_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
func.func @f(%ids: tensor<9xi32>, %t: tensor<50x16xf32>) -> tensor<9x16xbf16> {
  %y = llm.embedding %ids, %t : tensor<9xi32>, tensor<50x16xf32> -> tensor<9x16xbf16>
  return %y : tensor<9x16xbf16>
}

// -----

// Runtime calls are executed by one worker between two barriers, and the layers
// of a rank follow those of the previous ranks.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
// CHECK: mllm.program.fragment @llmir_step code attributes {kv_cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>, num_ranks = 2 : i64}
// CHECK: input "arg1.rank0"(%[[IDS:.*]]) columns 2
// CHECK: entry_point
// CHECK-NEXT: runtime_call reserve_kv(%[[IDS]], %[[SLOTS:.*]], %{{.*}}, %{{.*}}, %{{.*}}) [1, 2, 3, 3, 16]
// CHECK: set_field slot_mapping at %[[SLOTS]]
// CHECK-NEXT: set_layer 1
// CHECK-NEXT: set_field num_tokens to 6
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.append_kv {{.*}}label = "append_kv_f32
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: set_layer 3
// CHECK: kernel.append_kv {{.*}}label = "append_kv_f32
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: exit
func.func @f(%k: tensor<6x1x16xf32>, %ids: tensor<2xi32>) -> !cache attributes {llm.num_ranks = 2 : i64} {
  %c0 = llm.create_paged_cache : !cache
  %layer = arith.constant 1 : index
  %c1, %slots, %blocks, %tables, %lens = llm.reserve_kv %c0, %ids layer(%layer) {tokens = 3}
    : (!cache, tensor<2xi32>) -> (!cache, tensor<6xi32>, tensor<2x3xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %c2 = llm.append_kv %c1, %k, %k slots(%slots) layer(%layer)
    : (!cache, tensor<6x1x16xf32>, tensor<6x1x16xf32>, tensor<6xi32>) -> !cache
  return %c2 : !cache
}

// -----

// In the second append, a worker may write a slot that another one writes in
// the first, so a barrier is needed.
// Slots that do not come from reserve_kv are checked first.
// CHECK: mllm.program.fragment @llmir_step code
// CHECK: runtime_call check_slots(%{{.*}}, %[[S:.*]]) [2]
// CHECK: set_field slot_mapping at %[[S]]
// CHECK: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.append_kv {{.*}}label = "append_kv_f32_3x8
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: runtime_call check_slots(%{{.*}}, %[[T:.*]]) [2]
// CHECK-NEXT: set_field slot_mapping at %[[T]]
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.append_kv {{.*}}label = "append_kv_f32_3x8
// CHECK-NEXT: {{^ +}$}}
!cache = !llm.paged_kv_cache<f32, 1, 3, 8, 8, 64>
func.func @append_twice(%c: !cache, %k: tensor<2x3x8xf32>) -> !cache {
  %s = arith.constant dense<[0, 1]> : tensor<2xi32>
  %t = arith.constant dense<[1, 0]> : tensor<2xi32>
  %a = llm.append_kv %c, %k, %k slots(%s) : (!cache, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2xi32>) -> !cache
  %b = llm.append_kv %a, %k, %k slots(%t) : (!cache, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2xi32>) -> !cache
  return %b : !cache
}

// -----

// A lookup reads the block tables that the runtime finds for its rows.
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
// CHECK: mllm.program.fragment @llmir_step code
// CHECK: input "arg1"(%[[ROWS:.*]]) columns 3
// CHECK: input "arg2"(%[[LENS:.*]]) columns 2
// CHECK: runtime_call find_kv(%[[ROWS]], %[[LENS]], %[[TABLES:.*]], %[[FOUND:.*]]) [1, 2, 3, 16, 20, 16]
// CHECK-DAG: set_field block_tables at %[[TABLES]]
// CHECK-DAG: set_field block_table_stride to 16
// CHECK-DAG: set_field seq_lens at %[[FOUND]]
// CHECK-DAG: set_field num_sequences to 2
// CHECK: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.lookup_kv {{.*}}label = "lookup_kv_f32
// CHECK-NEXT: {{^ +}$}}
func.func @lookup(%c: !cache, %b: tensor<2x3xi32>, %n: tensor<2xi32>) -> tensor<2x20x1x16xf32> {
  %layer = arith.constant 1 : index
  %k, %v = llm.lookup_kv %c, %b, %n layer(%layer)
    : (!cache, tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x20x1x16xf32>, tensor<2x20x1x16xf32>)
  return %k : tensor<2x20x1x16xf32>
}

// -----

// Batched attention finds its tables, a vector having one block in a row, and
// checks them for its queries and its mask.
!cache = !llm.paged_kv_cache<f32, 1, 1, 16, 8, 64>
// CHECK: mllm.program.fragment @llmir_step code
// CHECK: runtime_call find_kv(%{{.*}}, %{{.*}}, %[[TABLES:.*]], %[[FOUND:.*]]) [0, 2, 1, 1, -1, 16]
// CHECK: runtime_call check_kv(%[[TABLES]], %[[FOUND]], %{{.*}}, %[[T:.*]], %[[N:.*]], %[[O:.*]]) [2, 8, 16, 6, 12, 16]
// CHECK-DAG: set_field block_tables at %[[T]]
// CHECK-DAG: set_field seq_lens at %[[N]]
// CHECK-DAG: set_field query_offsets at %[[O]]
// CHECK: kernel.paged_attention {{.*}}label = "paged_attention_f32
// CHECK-NEXT: {{^ +}$}}
func.func @batched(%c: !cache, %q: tensor<2x3x2x16xf32>, %b: tensor<2xi32>, %n: tensor<2xi32>, %m: tensor<2x2x3x12xf32>) -> tensor<2x3x2x16xf32> {
  %o = llm.paged_attention %q, %c, %b, %n mask(%m)
    : (tensor<2x3x2x16xf32>, !cache, tensor<2xi32>, tensor<2xi32>, tensor<2x2x3x12xf32>) -> tensor<2x3x2x16xf32>
  return %o : tensor<2x3x2x16xf32>
}
