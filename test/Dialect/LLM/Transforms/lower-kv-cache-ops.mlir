// RUN: llmir-opt %s --llm-lower-kv-cache-ops --split-input-file | FileCheck %s
// RUN: llmir-opt %s --llm-lower-kv-cache-ops --llm-check-cache-use --split-input-file -o /dev/null

!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
!one_layer = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>

// SPEC: 85 119 192
// CHECK-LABEL: func @append
// CHECK-SAME: (%[[C:.*]]: !llm{{.*}}, %[[K:.*]]: tensor<2x3x2x16xf16>, %[[V:.*]]: tensor<2x3x2x16xf16>, %[[IDS:.*]]: tensor<2xi32>, %[[L:.*]]: index)
// CHECK: %[[C1:.*]], %[[SLOTS:.*]], %[[B:.*]], %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} = llm.reserve_kv %[[C]], %[[IDS]] layer(%[[L]]) {tokens = 3 : i64}
// CHECK-DAG: %[[KR:.*]] = tensor.collapse_shape %[[K]] {{\[\[}}0, 1], [2], [3]] : tensor<2x3x2x16xf16> into tensor<6x2x16xf16>
// CHECK-DAG: %[[VR:.*]] = tensor.collapse_shape %[[V]]
// CHECK: %[[C2:.*]] = llm.append_kv %[[C1]], %[[KR]], %[[VR]] slots(%[[SLOTS]]) layer(%[[L]]) :
// CHECK: return %[[C2]], %[[B]]
func.func @append(%c: !cache, %k: tensor<2x3x2x16xf16>, %v: tensor<2x3x2x16xf16>, %ids: tensor<2xi32>, %l: index) -> (!cache, tensor<2x3xi32>) {
  %0:2 = llm.append_kv %c, %k, %v, %ids layer(%l) {block_size = 8 : i32} : (!cache, tensor<2x3x2x16xf16>, tensor<2x3x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x3xi32>)
  return %0#0, %0#1 : !cache, tensor<2x3xi32>
}

// One token each; without a layer, the ragged form uses layer 0.
// CHECK-LABEL: func @append_one
// CHECK-DAG: %[[L:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]], %[[SLOTS:.*]], %[[B:.*]], %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} = llm.reserve_kv %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} {tokens = 1 : i64}
// CHECK: llm.append_kv %[[C1]], %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} slots(%[[SLOTS]]) layer(%[[L]]) :
// CHECK: tensor.collapse_shape %[[B]] {{\[\[}}0, 1]] : tensor<2x1xi32> into tensor<2xi32>
func.func @append_one(%c: !cache, %k: tensor<2x2x16xf16>, %ids: tensor<2xi32>) -> (!cache, tensor<2xi32>) {
  %0:2 = llm.append_kv %c, %k, %k, %ids : (!cache, tensor<2x2x16xf16>, tensor<2x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2xi32>)
  return %0#0, %0#1 : !cache, tensor<2xi32>
}

// The reservation returns rows of the append's size. The number of sequences
// need not be known.
// CHECK-LABEL: func @append_last_block
// CHECK: %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %[[B:.*]], %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} = llm.reserve_kv {{.*}} tensor<?x1xi32>, tensor<?x8xi32>, tensor<?xi32>)
// CHECK-NOT: layer
// CHECK: return %{{[a-zA-Z0-9_#]+}}, %[[B]]
func.func @append_last_block(%c: !one_layer, %k: tensor<?x3x2x16xf16>, %ids: tensor<?xi32>) -> (!one_layer, tensor<?x1xi32>) {
  %0:2 = llm.append_kv %c, %k, %k, %ids : (!one_layer, tensor<?x3x2x16xf16>, tensor<?x3x2x16xf16>, tensor<?xi32>) -> (!one_layer, tensor<?x1xi32>)
  return %0#0, %0#1 : !one_layer, tensor<?x1xi32>
}

// CHECK-LABEL: func @append_more_blocks
// CHECK: llm.reserve_kv {{.*}} tensor<2x128xi32>, tensor<2x8xi32>, tensor<2xi32>)
func.func @append_more_blocks(%c: !one_layer, %k: tensor<2x3x2x16xf16>, %ids: tensor<2xi32>) -> (!one_layer, tensor<2x128xi32>) {
  %0:2 = llm.append_kv %c, %k, %k, %ids : (!one_layer, tensor<2x3x2x16xf16>, tensor<2x3x2x16xf16>, tensor<2xi32>) -> (!one_layer, tensor<2x128xi32>)
  return %0#0, %0#1 : !one_layer, tensor<2x128xi32>
}

// An append of no tokens begins sequences.
// CHECK-LABEL: func @append_no_tokens
// CHECK: llm.reserve_kv {{.*}} {tokens = 0 : i64}
func.func @append_no_tokens(%c: !one_layer, %k: tensor<2x0x2x16xf16>, %ids: tensor<2xi32>) -> (!one_layer, tensor<2xi32>) {
  %0:2 = llm.append_kv %c, %k, %k, %ids : (!one_layer, tensor<2x0x2x16xf16>, tensor<2x0x2x16xf16>, tensor<2xi32>) -> (!one_layer, tensor<2xi32>)
  return %0#0, %0#1 : !one_layer, tensor<2xi32>
}

// CHECK-LABEL: func @append_without_cache
// CHECK: %[[C:.*]] = llm.create_paged_cache : !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>
// CHECK: llm.reserve_kv %[[C]]
// CHECK: llm.append_kv {{.*}} slots(
func.func @append_without_cache(%k: tensor<2x3x2x16xf16>, %ids: tensor<2xi32>) -> !one_layer {
  %0:2 = llm.append_kv(%k, %k, %ids) : (tensor<2x3x2x16xf16>, tensor<2x3x2x16xf16>, tensor<2xi32>) -> (!one_layer, tensor<2x3xi32>)
  return %0#0 : !one_layer
}

// CHECK-LABEL: func @attention
// CHECK-SAME: (%[[Q:.*]]: tensor<2x3x4x16xf16>, %[[C:.*]]: !llm{{.*}}, %[[T:.*]]: tensor<2x8xi32>, %[[N:.*]]: tensor<2xi32>, %[[M:.*]]: tensor<2x1x3x64xi1>, %[[S:.*]]: tensor<4xf32>, %[[L:.*]]: index)
// CHECK-DAG: %[[O:.*]] = arith.constant dense<[0, 3, 6]> : tensor<3xi32>
// CHECK-DAG: %[[QR:.*]] = tensor.collapse_shape %[[Q]] {{\[\[}}0, 1], [2], [3]] : tensor<2x3x4x16xf16> into tensor<6x4x16xf16>
// CHECK-DAG: %[[MR:.*]] = tensor.collapse_shape %[[M]] {{\[\[}}0, 1, 2], [3]] : tensor<2x1x3x64xi1> into tensor<6x64xi1>
// CHECK-DAG: %[[BT:.*]] = llm.block_tables %[[C]], %[[T]], %[[N]] layer(%[[L]]) : ({{.*}}) -> tensor<2x8xi32>
// CHECK: %[[A:.*]] = llm.paged_attention %[[QR]], %[[C]], %[[BT]], %[[N]] offsets(%[[O]]) layer(%[[L]]) mask(%[[MR]]) sinks(%[[S]]) {alibi_slopes = array<f64: {{.*}}>, scale = 1.250000e-01 : f32, soft_cap = 3.000000e+01 : f64, window = 9 : i64}
// CHECK: %[[R:.*]] = tensor.expand_shape %[[A]] {{\[\[}}0, 1], [2], [3]] output_shape [2, 3, 4, 16] : tensor<6x4x16xf16> into tensor<2x3x4x16xf16>
// CHECK: return %[[R]]
func.func @attention(%q: tensor<2x3x4x16xf16>, %c: !cache, %t: tensor<2x8xi32>, %n: tensor<2xi32>, %m: tensor<2x1x3x64xi1>, %s: tensor<4xf32>, %l: index) -> tensor<2x3x4x16xf16> {
  %0 = llm.paged_attention %q, %c, %t, %n layer(%l) mask(%m) sinks(%s) {scale = 0.125 : f32, window = 9, soft_cap = 30.0, alibi_slopes = array<f64: 1.0, 0.5, 0.25, 0.125>} : (tensor<2x3x4x16xf16>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<2x1x3x64xi1>, tensor<4xf32>) -> tensor<2x3x4x16xf16>
  return %0 : tensor<2x3x4x16xf16>
}

// One query and one block for each sequence.
// CHECK-LABEL: func @attention_one
// CHECK-DAG: %[[O:.*]] = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
// CHECK-DAG: %[[T:.*]] = llm.block_tables %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} : ({{.*}}, tensor<2xi32>, tensor<2xi32>) -> tensor<2x8xi32>
// CHECK: %[[A:.*]] = llm.paged_attention %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %[[T]], %{{[a-zA-Z0-9_#]+}} offsets(%[[O]]) {causal = false} :
// CHECK: return %[[A]]
func.func @attention_one(%q: tensor<2x4x16xf16>, %c: !one_layer, %b: tensor<2xi32>, %n: tensor<2xi32>) -> tensor<2x4x16xf16> {
  %0 = llm.paged_attention %q, %c, %b, %n {causal = false} : (tensor<2x4x16xf16>, !one_layer, tensor<2xi32>, tensor<2xi32>) -> tensor<2x4x16xf16>
  return %0 : tensor<2x4x16xf16>
}

// CHECK-LABEL: func @fused_ragged
// CHECK: %[[C2:.*]] = llm.append_kv %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} slots(%{{[a-zA-Z0-9_#]+}}) layer(%{{[a-zA-Z0-9_#]+}}) :
// CHECK: llm.paged_attention %{{[a-zA-Z0-9_#]+}}, %[[C2]], %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} offsets(%{{[a-zA-Z0-9_#]+}}) layer(%{{[a-zA-Z0-9_#]+}}) {causal = false, window = 9 : i64} :
func.func @fused_ragged(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %c: !cache, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) -> (tensor<?x4x16xf32>, !cache) {
  %0:2 = llm.fused_attention %q, %k, %k, %c, %t, %n slots(%s) offsets(%o) layer(%l) {causal = false, window = 9} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, !cache)
  return %0#0, %0#1 : tensor<?x4x16xf32>, !cache
}

// CHECK-LABEL: func @fused_batched
// CHECK: llm.reserve_kv
// CHECK: %[[C2:.*]] = llm.append_kv {{.*}} slots(
// CHECK: %[[BT:.*]] = llm.block_tables %[[C2]]
// CHECK: llm.paged_attention %{{[a-zA-Z0-9_#]+}}, %[[C2]], %[[BT]], %{{[a-zA-Z0-9_#]+}} offsets(
// CHECK: return %{{[a-zA-Z0-9_#]+}}, %[[C2]], %{{[a-zA-Z0-9_#]+}}
func.func @fused_batched(%q: tensor<2x3x4x16xf16>, %k: tensor<2x3x2x16xf16>, %c: !one_layer, %ids: tensor<2xi32>, %t: tensor<2x8xi32>, %n: tensor<2xi32>) -> (tensor<2x3x4x16xf16>, !one_layer, tensor<2x3xi32>) {
  %0:3 = llm.fused_attention %q, %k, %k, %c, %ids, %t, %n : (tensor<2x3x4x16xf16>, tensor<2x3x2x16xf16>, tensor<2x3x2x16xf16>, !one_layer, tensor<2xi32>, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x3x4x16xf16>, !one_layer, tensor<2x3xi32>)
  return %0#0, %0#1, %0#2 : tensor<2x3x4x16xf16>, !one_layer, tensor<2x3xi32>
}

// -----

// Ops that are preserved.

!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>

// How many tokens to reserve is not known.
// CHECK-LABEL: func @unknown_tokens
// CHECK-NOT: llm.reserve_kv
// CHECK: llm.append_kv
func.func @unknown_tokens(%c: !cache, %k: tensor<2x?x2x16xf16>, %ids: tensor<2xi32>) -> !cache {
  %0:2 = llm.append_kv %c, %k, %k, %ids : (!cache, tensor<2x?x2x16xf16>, tensor<2x?x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x?xi32>)
  return %0#0 : !cache
}

// More tokens than a sequence can have: the op fails when it runs.
// CHECK-LABEL: func @too_many_tokens
// CHECK-NOT: llm.reserve_kv
// CHECK: llm.append_kv
func.func @too_many_tokens(%c: !cache, %k: tensor<2x65x2x16xf16>, %ids: tensor<2xi32>) -> !cache {
  %0:2 = llm.append_kv %c, %k, %k, %ids : (!cache, tensor<2x65x2x16xf16>, tensor<2x65x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x65xi32>)
  return %0#0 : !cache
}

// CHECK-LABEL: func @unknown_batch
// CHECK-NOT: offsets
func.func @unknown_batch(%q: tensor<?x3x4x16xf16>, %c: !cache, %t: tensor<?x8xi32>, %n: tensor<?xi32>) -> tensor<?x3x4x16xf16> {
  %0 = llm.paged_attention %q, %c, %t, %n : (tensor<?x3x4x16xf16>, !cache, tensor<?x8xi32>, tensor<?xi32>) -> tensor<?x3x4x16xf16>
  return %0 : tensor<?x3x4x16xf16>
}

// Masks that differ by head, or that sequences or queries share.
// CHECK-LABEL: func @other_masks
// CHECK-NOT: offsets
func.func @other_masks(%q: tensor<2x3x4x16xf16>, %c: !cache, %t: tensor<2x8xi32>, %n: tensor<2xi32>, %m0: tensor<2x4x3x64xi1>, %m1: tensor<1x1x3x64xi1>, %m2: tensor<2x1x1x64xi1>) -> tensor<2x3x4x16xf16> {
  %0 = llm.paged_attention %q, %c, %t, %n mask(%m0) : (tensor<2x3x4x16xf16>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<2x4x3x64xi1>) -> tensor<2x3x4x16xf16>
  %1 = llm.paged_attention %0, %c, %t, %n mask(%m1) : (tensor<2x3x4x16xf16>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<1x1x3x64xi1>) -> tensor<2x3x4x16xf16>
  %2 = llm.paged_attention %1, %c, %t, %n mask(%m2) : (tensor<2x3x4x16xf16>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<2x1x1x64xi1>) -> tensor<2x3x4x16xf16>
  return %2 : tensor<2x3x4x16xf16>
}

// Offsets would not fit in 32 bits.
// CHECK-LABEL: func @too_many_rows
// CHECK-NOT: offsets
func.func @too_many_rows(%q: tensor<65536x65536x4x16xf16>, %c: !cache, %t: tensor<65536x8xi32>, %n: tensor<65536xi32>) -> tensor<65536x65536x4x16xf16> {
  %0 = llm.paged_attention %q, %c, %t, %n : (tensor<65536x65536x4x16xf16>, !cache, tensor<65536x8xi32>, tensor<65536xi32>) -> tensor<65536x65536x4x16xf16>
  return %0 : tensor<65536x65536x4x16xf16>
}

// A list of offsets that would be longer than the program.
// CHECK-LABEL: func @too_many_sequences
// CHECK-NOT: offsets
func.func @too_many_sequences(%q: tensor<1099511627776x0x4x16xf16>, %c: !cache, %t: tensor<?x8xi32>, %n: tensor<?xi32>) -> tensor<1099511627776x0x4x16xf16> {
  %0 = llm.paged_attention %q, %c, %t, %n : (tensor<1099511627776x0x4x16xf16>, !cache, tensor<?x8xi32>, tensor<?xi32>) -> tensor<1099511627776x0x4x16xf16>
  return %0 : tensor<1099511627776x0x4x16xf16>
}
