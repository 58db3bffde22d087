// Ranks in lockstep: each has its own buffers, and collectives are kernels
// between them, in ascending order of the ranks.

// RUN: llmir-translate %s --compare | FileCheck %s
// RUN: llmir-translate %s --compare --workers=3 --level=x86-64-v3 | FileCheck %s

// SPEC: 149 182 183
// CHECK: @collectives result 0: nmse
// CHECK: @collectives result 1: nmse
// CHECK: @collectives result 2: nmse
func.func @collectives(%x: tensor<5x12xf32> {llm.shard_dim = 1 : i64})
    -> (tensor<5x48xf32>, tensor<5x12xf32> {llm.shard_dim = 1 : i64}, tensor<5x3xf32> {llm.shard_dim = 1 : i64})
    attributes {llm.num_ranks = 4 : i64} {
  %g = llm.all_gather %x {dim = 1, group_size = 4} : (tensor<5x12xf32>) -> tensor<5x48xf32>
  %r = llm.all_reduce %x {group_size = 2, reduce_op = "mean"} : (tensor<5x12xf32>) -> tensor<5x12xf32>
  %s = llm.reduce_scatter %x {dim = 1, group_size = 4, reduce_op = "sum"} : (tensor<5x12xf32>) -> tensor<5x3xf32>
  return %g, %r, %s : tensor<5x48xf32>, tensor<5x12xf32>, tensor<5x3xf32>
}

// What is reduced is rounded once.
// CHECK: @extremes result 0: nmse
// CHECK: @extremes result 1: nmse
func.func @extremes(%x: tensor<1x12xbf16> {llm.shard_dim = 0 : i64}) -> (tensor<1x12xbf16>, tensor<1x12xbf16>)
    attributes {llm.num_ranks = 3 : i64} {
  %a = llm.all_reduce %x {group_size = 3, reduce_op = "max"} : (tensor<1x12xbf16>) -> tensor<1x12xbf16>
  %b = llm.all_reduce %x {group_size = 3, reduce_op = "sum"} : (tensor<1x12xbf16>) -> tensor<1x12xbf16>
  %c = llm.add %b, %b : tensor<1x12xbf16>
  return %a, %c : tensor<1x12xbf16>, tensor<1x12xbf16>
}

// A feed-forward layer whose projections are divided by outputs, then inputs.
// CHECK: @mlp result 0: nmse
func.func @mlp(%x: tensor<5x24xf32>, %gate: tensor<40x24xf32>, %up: tensor<40x24xf32>, %down: tensor<24x40xf32>)
    -> tensor<5x24xf32> attributes {llm.num_ranks = 2 : i64} {
  %g = llm.shard %gate {dim = 0, num_shards = 2} : (tensor<40x24xf32>) -> tensor<20x24xf32>
  %u = llm.shard %up {dim = 0, num_shards = 2} : (tensor<40x24xf32>) -> tensor<20x24xf32>
  %d = llm.shard %down {dim = 1, num_shards = 2} : (tensor<24x40xf32>) -> tensor<24x20xf32>
  %a = llm.linear %x, %g : tensor<5x24xf32>, tensor<20x24xf32> -> tensor<5x20xf32>
  %b = llm.linear %x, %u : tensor<5x24xf32>, tensor<20x24xf32> -> tensor<5x20xf32>
  %s = llm.silu %a : tensor<5x20xf32>
  %m = llm.mul %s, %b : tensor<5x20xf32>
  %p = llm.linear %m, %d : tensor<5x20xf32>, tensor<24x20xf32> -> tensor<5x24xf32>
  %y = llm.all_reduce %p {group_size = 2, reduce_op = "sum"} : (tensor<5x24xf32>) -> tensor<5x24xf32>
  return %y : tensor<5x24xf32>
}

// SPEC: 164
// CHECK: @shards result 0: nmse
// CHECK: @shards result 1: nmse
func.func @shards(%x: tensor<6x10xf32>) -> (tensor<2x10xf32>, tensor<6x5xf32>) {
  %a = llm.shard %x {dim = 0, num_shards = 3, shard_index = 2} : (tensor<6x10xf32>) -> tensor<2x10xf32>
  %b = llm.shard %x {dim = 1, num_shards = 2, shard_index = 1} : (tensor<6x10xf32>) -> tensor<6x5xf32>
  return %a, %b : tensor<2x10xf32>, tensor<6x5xf32>
}

// Weights [K, N], whole and as shards, with the bias of each form.
// SPEC: 29 181
// CHECK: @column_parallel result 0: nmse
// CHECK: @column_parallel result 1: nmse
!columns = !llm.sharded_tensor<tensor<24x36xf32>, 1, 3, 1>
func.func @column_parallel(%x: tensor<2x3x24xf32>, %w: tensor<24x36xf32>, %b: tensor<36xf32>)
    -> (tensor<2x3x12xf32>, tensor<2x3x12xf32>) {
  %whole = llm.sharded_linear %x, %w, %b {num_shards = 3, shard_dim = 1, shard_id = 2}
    : (tensor<2x3x24xf32>, tensor<24x36xf32>, tensor<36xf32>) -> tensor<2x3x12xf32>
  %s = llm.shard %w {dim = 1, num_shards = 3, shard_index = 1} : (tensor<24x36xf32>) -> !columns
  %part = llm.sharded_linear %x, %s {num_shards = 3, shard_dim = 1, shard_id = 1}
    : (tensor<2x3x24xf32>, !columns) -> tensor<2x3x12xf32>
  return %whole, %part : tensor<2x3x12xf32>, tensor<2x3x12xf32>
}

// The worker that multiplies a column also reads it, or there is a barrier.
// CHECK: @column_parallel_silu result 0: nmse
func.func @column_parallel_silu(%x: tensor<2x3x512xf32>, %w: tensor<512x512xf32>) -> tensor<2x3x256xf32> {
  %y = llm.sharded_linear %x, %w {num_shards = 2, shard_dim = 1, shard_id = 1}
    : (tensor<2x3x512xf32>, tensor<512x512xf32>) -> tensor<2x3x256xf32>
  %s = llm.silu %y : tensor<2x3x256xf32>
  return %s : tensor<2x3x256xf32>
}

// SPEC: 181
// CHECK: @row_parallel result 0: nmse
// CHECK: @row_parallel result 1: nmse
// CHECK: @row_parallel result 2: nmse
func.func @row_parallel(%x: tensor<5x24xbf16>, %w: tensor<24x36xbf16>, %b: tensor<36xf32>, %part: tensor<5x8xbf16>)
    -> (tensor<5x36xbf16>, tensor<5x36xbf16>, tensor<5x36xbf16>) {
  %first = llm.sharded_linear %x, %w, %b {num_shards = 3, shard_dim = 0, shard_id = 0}
    : (tensor<5x24xbf16>, tensor<24x36xbf16>, tensor<36xf32>) -> tensor<5x36xbf16>
  %last = llm.sharded_linear %x, %w, %b {num_shards = 3, shard_dim = 0, shard_id = 2}
    : (tensor<5x24xbf16>, tensor<24x36xbf16>, tensor<36xf32>) -> tensor<5x36xbf16>
  %given = llm.sharded_linear %part, %w {num_shards = 3, shard_dim = 0, shard_id = 1, x_is_shard}
    : (tensor<5x8xbf16>, tensor<24x36xbf16>) -> tensor<5x36xbf16>
  return %first, %last, %given : tensor<5x36xbf16>, tensor<5x36xbf16>, tensor<5x36xbf16>
}

// The attributes of the op describe slices.
// CHECK: @given_slices result 0: nmse
// CHECK: @given_slices result 1: nmse
func.func @given_slices(%x: tensor<5x24xf32>, %w: tensor<24x36xf32>, %b: tensor<36xf32>)
    -> (tensor<5x36xf32>, tensor<5x36xf32>) {
  %rows = llm.sharded_linear %x, %w {num_shards = 3, shard_dim = 0, shard_id = 1, weight_is_shard, x_is_shard}
    : (tensor<5x24xf32>, tensor<24x36xf32>) -> tensor<5x36xf32>
  %columns = llm.sharded_linear %x, %w, %b {num_shards = 3, shard_dim = 1, shard_id = 1, bias_is_shard, weight_is_shard}
    : (tensor<5x24xf32>, tensor<24x36xf32>, tensor<36xf32>) -> tensor<5x36xf32>
  return %rows, %columns : tensor<5x36xf32>, tensor<5x36xf32>
}

// Each rank has its own layers in the single pool.
// CHECK: @caches result 0: nmse
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
func.func @caches(%q: tensor<2x3x1x16xf32> {llm.shard_dim = 2 : i64}, %k: tensor<2x3x1x16xf32> {llm.shard_dim = 2 : i64},
                  %ids: tensor<2xi32> {check.values = dense<[7, 3]> : tensor<2xi32>})
    -> (tensor<2x3x1x16xf32> {llm.shard_dim = 2 : i64}) attributes {llm.num_ranks = 2 : i64} {
  %c0 = llm.create_paged_cache : !cache
  %layer = arith.constant 1 : index
  %c1, %slots, %blocks, %tables, %lens = llm.reserve_kv %c0, %ids layer(%layer) {tokens = 3}
    : (!cache, tensor<2xi32>) -> (!cache, tensor<6xi32>, tensor<2x3xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %rows = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x3x1x16xf32> into tensor<6x1x16xf32>
  %c2 = llm.append_kv %c1, %rows, %rows slots(%slots) layer(%layer)
    : (!cache, tensor<6x1x16xf32>, tensor<6x1x16xf32>, tensor<6xi32>) -> !cache
  %o = llm.paged_attention %q, %c2, %tables, %lens layer(%layer)
    : (tensor<2x3x1x16xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x3x1x16xf32>
  return %o : tensor<2x3x1x16xf32>
}
