// RUN: llmir-opt %s --pass-pipeline='builtin.module(func.func(llm-optimize-kv-cache))' --split-input-file | FileCheck %s
// RUN: llmir-opt %s --llm-optimize-kv-cache --llm-print-pattern-counts --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNTS

// Each pattern fires.
// SPEC: 7 38 85 119 120 191
// COUNTS-DAG: 6 {{.*}}FuseAppendAndAttention
// COUNTS-DAG: 1 {{.*}}MergeEqualAppends

!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
!keys = tensor<?x2x16xf16>
!query = tensor<?x4x16xf32>
!tables = tensor<?x?xi32>
!ints = tensor<?xi32>

// CHECK-LABEL: func @dead_lookup
// CHECK-NOT: llm.lookup_kv
func.func @dead_lookup(%c: !cache, %t: tensor<2x8xi32>, %n: tensor<2xi32>) {
  %0:2 = llm.lookup_kv %c, %t, %n : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  return
}

// CHECK-LABEL: func @fuse_ragged
// CHECK-SAME: (%[[Q:.*]]: tensor<?x4x16xf32>, %[[K:.*]]: tensor<?x2x16xf16>, %[[V:.*]]: tensor<?x2x16xf16>, %[[C:.*]]: !llm{{.*}}, %[[T:.*]]: tensor<?x?xi32>, %[[N:.*]]: tensor<?xi32>, %[[S:.*]]: tensor<?xi32>, %[[O:.*]]: tensor<?xi32>, %[[L:.*]]: index, %[[SINKS:.*]]: tensor<4xf32>)
// CHECK: %[[R:.*]], %[[C2:.*]] = llm.fused_attention %[[Q]], %[[K]], %[[V]], %[[C]], %[[T]], %[[N]] slots(%[[S]]) offsets(%[[O]]) layer(%[[L]]) sinks(%[[SINKS]]) {causal = false, scale = 1.250000e-01 : f64, soft_cap = 3.000000e+01 : f64, window = 7 : i64}
// CHECK-NEXT: return %[[R]], %[[C2]]
func.func @fuse_ragged(%q: !query, %k: !keys, %v: !keys, %c: !cache, %t: !tables, %n: !ints, %s: !ints, %o: !ints, %l: index, %sinks: tensor<4xf32>) -> (!query, !cache) {
  %c2 = llm.append_kv %c, %k, %v slots(%s) layer(%l) {block_size = 8} : (!cache, !keys, !keys, !ints) -> !cache
  %r = llm.paged_attention %q, %c2, %t, %n offsets(%o) layer(%l) sinks(%sinks) {causal = false, scale = 0.125, window = 7, soft_cap = 30.0} : (!query, !cache, !tables, !ints, !ints, tensor<4xf32>) -> !query
  return %r, %c2 : !query, !cache
}

// CHECK-LABEL: func @fuse_batched
// CHECK: %{{[a-zA-Z0-9_#]+}}, %[[C2:.*]], %[[B:.*]] = llm.fused_attention
// CHECK-NEXT: return %{{[a-zA-Z0-9_#]+}}, %[[C2]], %[[B]]
func.func @fuse_batched(%q: tensor<2x3x4x16xf16>, %k: tensor<2x3x2x16xf16>, %c: !cache, %ids: tensor<2xi32>, %t: tensor<2x8xi32>, %n: tensor<2xi32>) -> (tensor<2x3x4x16xf16>, !cache, tensor<2x3xi32>) {
  %c2:2 = llm.append_kv %c, %k, %k, %ids : (!cache, tensor<2x3x2x16xf16>, tensor<2x3x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x3xi32>)
  %r = llm.paged_attention %q, %c2#0, %t, %n : (tensor<2x3x4x16xf16>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x3x4x16xf16>
  return %r, %c2#0, %c2#1 : tensor<2x3x4x16xf16>, !cache, tensor<2x3xi32>
}

// Block indices keep their form.
// CHECK-LABEL: func @fuse_one_block
// CHECK: llm.fused_attention {{.*}} -> (tensor<2x3x4x16xf16>, !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>, tensor<2xi32>)
func.func @fuse_one_block(%q: tensor<2x3x4x16xf16>, %k: tensor<2x3x2x16xf16>, %c: !cache, %ids: tensor<2xi32>, %t: tensor<2x8xi32>, %n: tensor<2xi32>) -> (tensor<2x3x4x16xf16>, !cache, tensor<2xi32>) {
  %c2:2 = llm.append_kv %c, %k, %k, %ids : (!cache, tensor<2x3x2x16xf16>, tensor<2x3x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2xi32>)
  %r = llm.paged_attention %q, %c2#0, %t, %n : (tensor<2x3x4x16xf16>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x3x4x16xf16>
  return %r, %c2#0, %c2#1 : tensor<2x3x4x16xf16>, !cache, tensor<2xi32>
}

// Queries defined between the two: the fused op is at the position of the
// attention.
// CHECK-LABEL: func @fuse_late
// CHECK: llm.add
// CHECK: llm.fused_attention
func.func @fuse_late(%q: !query, %k: !keys, %c: !cache, %t: !tables, %n: !ints, %s: !ints, %o: !ints, %l: index) -> (!query, !cache) {
  %c2 = llm.append_kv %c, %k, %k slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  %q2 = llm.add %q, %q : !query
  %r = llm.paged_attention %q2, %c2, %t, %n offsets(%o) layer(%l) : (!query, !cache, !tables, !ints, !ints) -> !query
  return %r, %c2 : !query, !cache
}

// The appended cache is read before the attention: the fused op is at the
// position of the append.
// CHECK-LABEL: func @fuse_early
// CHECK: %{{[a-zA-Z0-9_#]+}}, %[[C2:.*]] = llm.fused_attention
// CHECK: llm.lookup_kv %[[C2]]
func.func @fuse_early(%q: !query, %k: !keys, %c: !cache, %t: !tables, %n: !ints, %s: !ints, %o: !ints, %l: index, %b: tensor<2x8xi32>, %m: tensor<2xi32>) -> (!query, tensor<2x64x2x16xf16>) {
  %c2 = llm.append_kv %c, %k, %k slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  %0:2 = llm.lookup_kv %c2, %b, %m layer(%l) : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  %r = llm.paged_attention %q, %c2, %t, %n offsets(%o) layer(%l) : (!query, !cache, !tables, !ints, !ints) -> !query
  return %r, %0#0 : !query, tensor<2x64x2x16xf16>
}

// Layers that are the same constant.
// CHECK-LABEL: func @fuse_constant_layers
// CHECK: llm.fused_attention
func.func @fuse_constant_layers(%q: !query, %k: !keys, %c: !cache, %t: !tables, %n: !ints, %s: !ints, %o: !ints) -> (!query, !cache) {
  %l0 = arith.constant 2 : index
  %l1 = arith.constant 2 : index
  %c2 = llm.append_kv %c, %k, %k slots(%s) layer(%l0) : (!cache, !keys, !keys, !ints) -> !cache
  %r = llm.paged_attention %q, %c2, %t, %n offsets(%o) layer(%l1) : (!query, !cache, !tables, !ints, !ints) -> !query
  return %r, %c2 : !query, !cache
}

// CHECK-LABEL: func @equal_appends
// CHECK: %[[C2:.*]] = llm.append_kv
// CHECK-NOT: llm.append_kv
// CHECK: return %[[C2]], %[[C2]]
func.func @equal_appends(%k: !keys, %v: !keys, %c: !cache, %s: !ints, %l: index) -> (!cache, !cache) {
  %0 = llm.append_kv %c, %k, %v slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  %1 = llm.append_kv %c, %k, %v slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  return %0, %1 : !cache, !cache
}

// -----

// Must not fire.

!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
!keys = tensor<?x2x16xf16>
!query = tensor<?x4x16xf32>
!tables = tensor<?x?xi32>
!ints = tensor<?xi32>

// A chain: each append is to another cache, even with the same keys, values
// and slots.
// CHECK-LABEL: func @chain_of_equal_appends
// CHECK: %[[C2:.*]] = llm.append_kv %{{[a-zA-Z0-9_#]+}}, %[[K:.*]], %[[K]] slots
// CHECK: %[[C3:.*]] = llm.append_kv %[[C2]], %[[K]], %[[K]] slots
// CHECK: return %[[C3]]
func.func @chain_of_equal_appends(%k: !keys, %c: !cache, %s: !ints, %l: index) -> !cache {
  %0 = llm.append_kv %c, %k, %k slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  %1 = llm.append_kv %0, %k, %k slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  return %1 : !cache
}

// Two appends of other keys and values to one cache value are both kept.
// CHECK-LABEL: func @different_appends
// CHECK-COUNT-4: llm.append_kv
func.func @different_appends(%k: !keys, %v: !keys, %c: !cache, %s: !ints, %s2: !ints, %l: index, %l2: index) -> (!cache, !cache, !cache, !cache) {
  %0 = llm.append_kv %c, %k, %v slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  %1 = llm.append_kv %c, %v, %k slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  %2 = llm.append_kv %c, %k, %v slots(%s2) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  %3 = llm.append_kv %c, %k, %v slots(%s) layer(%l2) : (!cache, !keys, !keys, !ints) -> !cache
  return %0, %1, %2, %3 : !cache, !cache, !cache, !cache
}

// Each creates a separate cache.
// CHECK-LABEL: func @appends_without_cache
// CHECK-COUNT-2: llm.append_kv
func.func @appends_without_cache(%k: tensor<2x2x16xf16>, %ids: tensor<2xi32>) -> (!cache, !cache) {
  %0:2 = llm.append_kv(%k, %k, %ids) : (tensor<2x2x16xf16>, tensor<2x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  %1:2 = llm.append_kv(%k, %k, %ids) : (tensor<2x2x16xf16>, tensor<2x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  return %0#0, %1#0 : !cache, !cache
}

// Attention in another layer, or one that may be another.
// CHECK-LABEL: func @other_layer
// CHECK-COUNT-2: llm.paged_attention
func.func @other_layer(%q: !query, %k: !keys, %c: !cache, %t: !tables, %n: !ints, %s: !ints, %o: !ints, %l: index) -> (!query, !query) {
  %l0 = arith.constant 0 : index
  %l1 = arith.constant 1 : index
  %c2 = llm.append_kv %c, %k, %k slots(%s) layer(%l0) : (!cache, !keys, !keys, !ints) -> !cache
  %r = llm.paged_attention %q, %c2, %t, %n offsets(%o) layer(%l1) : (!query, !cache, !tables, !ints, !ints) -> !query
  %u = llm.paged_attention %q, %c2, %t, %n offsets(%o) layer(%l) : (!query, !cache, !tables, !ints, !ints) -> !query
  return %r, %u : !query, !query
}

// Attention to the cache before the append.
// CHECK-LABEL: func @cache_before
// CHECK: llm.paged_attention
// CHECK: llm.append_kv
func.func @cache_before(%q: !query, %k: !keys, %c: !cache, %t: !tables, %n: !ints, %s: !ints, %o: !ints, %l: index) -> (!query, !cache) {
  %r = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) : (!query, !cache, !tables, !ints, !ints) -> !query
  %c2 = llm.append_kv %c, %k, %k slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  return %r, %c2 : !query, !cache
}

// The append returns the blocks that the attention reads.
// CHECK-LABEL: func @blocks_of_the_append
// CHECK: llm.append_kv
// CHECK: llm.paged_attention
func.func @blocks_of_the_append(%q: tensor<2x1x4x16xf16>, %k: tensor<2x1x2x16xf16>, %c: !cache, %ids: tensor<2xi32>, %n: tensor<2xi32>) -> (tensor<2x1x4x16xf16>, !cache) {
  %c2:2 = llm.append_kv %c, %k, %k, %ids : (!cache, tensor<2x1x2x16xf16>, tensor<2x1x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  %r = llm.paged_attention %q, %c2#0, %c2#1, %n : (tensor<2x1x4x16xf16>, !cache, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x1x4x16xf16>
  return %r, %c2#0 : tensor<2x1x4x16xf16>, !cache
}

// The cache is read in between, and the query depends on what is read.
// CHECK-LABEL: func @no_place
// CHECK: llm.append_kv
// CHECK: llm.paged_attention
// CHECK: llm.paged_attention
func.func @no_place(%q: !query, %k: !keys, %c: !cache, %t: !tables, %n: !ints, %s: !ints, %o: !ints, %l: index, %l2: index) -> (!query, !cache) {
  %c2 = llm.append_kv %c, %k, %k slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  %0 = llm.paged_attention %q, %c2, %t, %n offsets(%o) layer(%l2) : (!query, !cache, !tables, !ints, !ints) -> !query
  %r = llm.paged_attention %0, %c2, %t, %n offsets(%o) layer(%l) : (!query, !cache, !tables, !ints, !ints) -> !query
  return %r, %c2 : !query, !cache
}

// A ragged append, a batched attention.
// CHECK-LABEL: func @other_form
// CHECK: llm.append_kv
// CHECK: llm.paged_attention
func.func @other_form(%q: tensor<2x4x16xf16>, %k: tensor<2x2x16xf16>, %c: !cache, %t: tensor<2x8xi32>, %n: tensor<2xi32>, %s: tensor<2xi32>) -> (tensor<2x4x16xf16>, !cache) {
  %l = arith.constant 0 : index
  %c2 = llm.append_kv %c, %k, %k slots(%s) layer(%l) : (!cache, tensor<2x2x16xf16>, tensor<2x2x16xf16>, tensor<2xi32>) -> !cache
  %r = llm.paged_attention %q, %c2, %t, %n : (tensor<2x4x16xf16>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x4x16xf16>
  return %r, %c2 : tensor<2x4x16xf16>, !cache
}

// In two blocks.
// CHECK-LABEL: func @other_block
// CHECK: llm.append_kv
// CHECK: llm.paged_attention
func.func @other_block(%q: !query, %k: !keys, %c: !cache, %t: !tables, %n: !ints, %s: !ints, %o: !ints, %l: index, %b: i1) -> (!query, !cache) {
  %c2 = llm.append_kv %c, %k, %k slots(%s) layer(%l) : (!cache, !keys, !keys, !ints) -> !cache
  %r = scf.if %b -> !query {
    %0 = llm.paged_attention %q, %c2, %t, %n offsets(%o) layer(%l) : (!query, !cache, !tables, !ints, !ints) -> !query
    scf.yield %0 : !query
  } else {
    scf.yield %q : !query
  }
  return %r, %c2 : !query, !cache
}
