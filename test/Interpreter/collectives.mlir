// RUN: llmir-translate --interpret %s | FileCheck %s

// SPEC: 164 181-183
// Column shards joined by all_gather are the projection, and row shards summed
// by all_reduce; two ranks.
func.func @tensor_parallel(
    %x: tensor<2x4xf32>, %whole: tensor<4x6xf32>, %stored: tensor<6x4xf32>)
    attributes {llm.num_ranks = 2 : i64} {
  %shard = llm.shard %whole {dim = 1, num_shards = 2} : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %part = llm.sharded_linear %x, %shard {num_shards = 2, shard_dim = 1, shard_id = 0, weight_is_shard}
     : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %y = llm.all_gather %part {dim = 1, group_size = 2} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  %e0 = llm.sharded_linear %x, %whole {num_shards = 1, shard_dim = 1, shard_id = 0}
     : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
  check.expect_equal %y, %e0 : tensor<2x6xf32>

  // The weight of a linear is [outputs, inputs].
  %xs = llm.shard %x {dim = 1, num_shards = 2} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %ws = llm.shard %stored {dim = 1, num_shards = 2} : (tensor<6x4xf32>) -> tensor<6x2xf32>
  %partial = llm.linear %xs, %ws : tensor<2x2xf32>, tensor<6x2xf32> -> tensor<2x6xf32>
  %sum = llm.all_reduce %partial {group_size = 2} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %e1 = llm.linear %x, %stored : tensor<2x4xf32>, tensor<6x4xf32> -> tensor<2x6xf32>
  check.expect_close %sum, %e1 {nmse = 1.0e-12 : f64} : tensor<2x6xf32>
  %slice = llm.reduce_scatter %partial {dim = 1, group_size = 2} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %again = llm.all_gather %slice {dim = 1, group_size = 2} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  check.expect_equal %again, %sum : tensor<2x6xf32>
  return
}

// One function is the share of one rank: its number is in the ops.
func.func @sharded_linear(%x: tensor<2x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %c0 = llm.sharded_linear %x, %w, %b {num_shards = 2, shard_dim = 1, shard_id = 0}
     : (tensor<2x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x3xf32>
  %c1 = llm.sharded_linear %x, %w, %b {num_shards = 2, shard_dim = 1, shard_id = 1}
     : (tensor<2x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x3xf32>
  %columns = tensor.concat dim(1) %c0, %c1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %r0 = llm.sharded_linear %x, %w, %b {num_shards = 2, shard_dim = 0, shard_id = 0}
     : (tensor<2x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x6xf32>
  %s = llm.shard %w {dim = 0, num_shards = 2, shard_index = 1}
     : (tensor<4x6xf32>) -> !llm.sharded_tensor<tensor<4x6xf32>, 0, 2, 1>
  %r1 = llm.sharded_linear %x, %s, %b {num_shards = 2, shard_dim = 0, shard_id = 1}
     : (tensor<2x4xf32>, !llm.sharded_tensor<tensor<4x6xf32>, 0, 2, 1>, tensor<6xf32>) -> tensor<2x6xf32>
  %rows = llm.add %r0, %r1 : tensor<2x6xf32>
  check.expect_close %rows, %columns {nmse = 1.0e-12 : f64} : tensor<2x6xf32>
  return
}

// Ambiguous sizes: both operands are unsharded, unless the op specifies
// otherwise.
// CHECK: @wholes_and_slices result 0: tensor<1x1xf32> {{\[}}[10]]
// CHECK: @wholes_and_slices result 1: tensor<1x1xf32> {{\[}}[11]]
// CHECK: @wholes_and_slices result 2: tensor<1x2xf32> {{\[}}[9, 11]]
func.func @wholes_and_slices() -> (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<1.0> : tensor<1x2xf32>
  %w = arith.constant dense<[[1.0], [10.0]]> : tensor<2x1xf32>
  %whole = llm.sharded_linear %x, %w {num_shards = 2, shard_dim = 0, shard_id = 1}
     : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  %slice = llm.sharded_linear %x, %w {num_shards = 2, shard_dim = 0, shard_id = 1, weight_is_shard, x_is_shard}
     : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  %v = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<5.0> : tensor<2xf32>
  %columns = llm.sharded_linear %x, %v, %b {num_shards = 2, shard_dim = 1, shard_id = 1, bias_is_shard, weight_is_shard}
     : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %whole, %slice, %columns : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x2xf32>
}

// Arguments are cut, results joined; ranks 0 and 1 form a group, 2 and 3.
// CHECK: @reductions result 0: tensor<4xf32> [3, 3, 7, 7]
// CHECK: @reductions result 1: tensor<4xf32> [1.5, 1.5, 3.5, 3.5]
// CHECK: @reductions result 2: tensor<4xf32> [2, 2, 4, 4]
// CHECK: @reductions result 3: tensor<4xf32> [1, 1, 3, 3]
func.func @reductions(%x: tensor<1xf32> {llm.shard_dim = 0 : i64, check.values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>})
    -> (tensor<1xf32> {llm.shard_dim = 0 : i64}, tensor<1xf32> {llm.shard_dim = 0 : i64},
        tensor<1xf32> {llm.shard_dim = 0 : i64}, tensor<1xf32> {llm.shard_dim = 0 : i64})
    attributes {llm.num_ranks = 4 : i64} {
  %sum = llm.all_reduce %x {group_size = 2} : (tensor<1xf32>) -> tensor<1xf32>
  %mean = llm.all_reduce %x {group_size = 2, reduce_op = "mean"} : (tensor<1xf32>) -> tensor<1xf32>
  %max = llm.all_reduce %x {group_size = 2, reduce_op = "max"} : (tensor<1xf32>) -> tensor<1xf32>
  %min = llm.all_reduce %x {group_size = 2, reduce_op = "min"} : (tensor<1xf32>) -> tensor<1xf32>
  return %sum, %mean, %max, %min : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
}
