// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// CHECK-LABEL: func @shard
func.func @shard(%w: tensor<64x172xf32>, %x: tensor<?x64xbf16>) {
  // CHECK: llm.shard %{{.*}} {dim = 1 : i64, num_shards = 4 : i64} : (tensor<64x172xf32>) -> tensor<64x43xf32>
  %0 = llm.shard %w {dim = 1, num_shards = 4} : (tensor<64x172xf32>) -> tensor<64x43xf32>
  // CHECK: llm.shard %{{.*}} {dim = 0 : i64, num_shards = 2 : i64, shard_index = 1 : i64} : (tensor<64x172xf32>) -> tensor<32x172xf32>
  %1 = llm.shard %w {dim = 0, numShards = 2, shardIndex = 1 : i32} : tensor<64x172xf32> -> tensor<32x172xf32>
  // CHECK: llm.shard {{.*}} -> !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>
  %2 = llm.shard %w {dim = 1, num_shards = 4, shard_index = 2} : (tensor<64x172xf32>) -> !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>
  // CHECK: llm.shard {{.*}} : (tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %3 = llm.shard %x {dim = 0, num_shards = 3} : (tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// CHECK-LABEL: func @sharded_linear
func.func @sharded_linear(%x: tensor<4x4096xf16>, %w: tensor<4096x4096xf16>, %part: tensor<4096x1024xf16>, %rows: tensor<1024x4096xf16>, %xs: tensor<4x1024xf16>, %b: tensor<4096xf16>, %bs: tensor<1024xf16>, %st: !llm.sharded_tensor<tensor<4096x4096xf16>, 0, 4, 3>) {
  // Column parallel: of the whole weight, then of its shard.
  // CHECK: llm.sharded_linear %{{.*}}, %{{.*}} {num_shards = 4 : i64, shard_dim = 1 : i64, shard_id = 0 : i64} : (tensor<4x4096xf16>, tensor<4096x4096xf16>) -> tensor<4x1024xf16>
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0} : tensor<4x4096xf16>, tensor<4096x4096xf16> -> tensor<4x1024xf16>
  // CHECK: llm.sharded_linear %{{.*}}, %{{.*}}, %{{.*}} {bias_is_shard, num_shards = 4 : i64, shard_dim = 1 : i64, shard_id = 2 : i64, weight_is_shard} : (tensor<4x4096xf16>, tensor<4096x1024xf16>, tensor<1024xf16>) -> tensor<4x1024xf16>
  %1 = llm.sharded_linear %x, %part, %bs {shardDim = 1 : i32, numShards = 4 : i32, shardId = 2 : i32, weightIsShard, biasIsShard} : (tensor<4x4096xf16>, tensor<4096x1024xf16>, tensor<1024xf16>) -> tensor<4x1024xf16>
  // CHECK: llm.sharded_linear %{{.*}}, %{{.*}}, %{{.*}} {{.*}} : (tensor<4x4096xf16>, tensor<4096x4096xf16>, tensor<4096xf16>) -> tensor<4x1024xf16>
  %2 = llm.sharded_linear(%x, %w, %b) {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<4x4096xf16>, tensor<4096x4096xf16>, tensor<4096xf16>) -> (tensor<4x1024xf16>)
  // Row parallel: whole and whole, whole and shard, shard and whole, and the
  // shard that says that it is one.
  // CHECK: llm.sharded_linear %{{.*}}, %{{.*}} {num_shards = 4 : i64, shard_dim = 0 : i64, shard_id = 1 : i64} : ({{.*}}) -> tensor<4x4096xf16>
  // CHECK: llm.sharded_linear %{{.*}}, %{{.*}} {num_shards = 4 : i64, shard_dim = 0 : i64, shard_id = 1 : i64, weight_is_shard} : ({{.*}}) -> tensor<4x4096xf16>
  // CHECK: llm.sharded_linear %{{.*}}, %{{.*}} {num_shards = 4 : i64, shard_dim = 0 : i64, shard_id = 1 : i64, x_is_shard} : ({{.*}}) -> tensor<4x4096xf16>
  %3 = llm.sharded_linear %x, %w {shard_dim = 0, num_shards = 4, shard_id = 1} : (tensor<4x4096xf16>, tensor<4096x4096xf16>) -> tensor<4x4096xf16>
  %4 = llm.sharded_linear %x, %rows {shard_dim = 0, num_shards = 4, shard_id = 1, weight_is_shard} : (tensor<4x4096xf16>, tensor<1024x4096xf16>) -> tensor<4x4096xf16>
  %5 = llm.sharded_linear %xs, %w {shard_dim = 0, num_shards = 4, shard_id = 1, x_is_shard} : (tensor<4x1024xf16>, tensor<4096x4096xf16>) -> tensor<4x4096xf16>
  // CHECK: llm.sharded_linear {{.*}} : (tensor<4x1024xf16>, !llm.sharded_tensor<tensor<4096x4096xf16>, 0, 4, 3>, tensor<4096xf16>) -> tensor<4x4096xf16>
  %6 = llm.sharded_linear %xs, %st, %b {shard_dim = 0, num_shards = 4, shard_id = 3, x_is_shard} : (tensor<4x1024xf16>, !llm.sharded_tensor<tensor<4096x4096xf16>, 0, 4, 3>, tensor<4096xf16>) -> tensor<4x4096xf16>
  // CHECK: llm.sharded_linear {{.*}} : (tensor<4x4096xf16>, !llm.sharded_tensor<tensor<4096x4096xf16>, 0, 4, 3>) -> tensor<4x4096xf16>
  %7 = llm.sharded_linear %x, %st {shard_dim = 0, num_shards = 4, shard_id = 3} : (tensor<4x4096xf16>, !llm.sharded_tensor<tensor<4096x4096xf16>, 0, 4, 3>) -> tensor<4x4096xf16>
  return
}

// SPEC: 143
// CHECK-LABEL: func @all_gather
func.func @all_gather(%x: tensor<16x128xf16>, %d: tensor<?x43xf32>) {
  // CHECK-COUNT-3: llm.all_gather %{{.*}} {dim = 1 : i64, group_size = 8 : i64} : (tensor<16x128xf16>) -> tensor<16x1024xf16>
  %0 = llm.all_gather %x {dim = 1 : i64, groupSize = 8 : i64} : tensor<16x128xf16> -> tensor<16x1024xf16>
  %1 = llm.all_gather(%x) {dim = 1 : i32, group_size = 8 : i32} : (tensor<16x128xf16>) -> tensor<16x1024xf16>
  %2 = llm.all_gather %x {dim = 1, group_size = 8} : (tensor<16x128xf16>) -> (tensor<16x1024xf16>)
  // CHECK: llm.all_gather {{.*}} : (tensor<?x43xf32>) -> tensor<?x43xf32>
  %3 = llm.all_gather %d {dim = 0, group_size = 4} : (tensor<?x43xf32>) -> tensor<?x43xf32>
  return
}

// CHECK-LABEL: func @all_reduce
func.func @all_reduce(%x: tensor<16x1024xf16>) {
  // CHECK-COUNT-2: llm.all_reduce %{{.*}} {group_size = 8 : i64, reduce_op = "sum"} : (tensor<16x1024xf16>) -> tensor<16x1024xf16>
  %0 = llm.all_reduce(%x) {reduction = "sum", group_size = 8 : i32} : (tensor<16x1024xf16>) -> tensor<16x1024xf16>
  %1 = llm.all_reduce %x {groupSize = 8} : tensor<16x1024xf16> -> tensor<16x1024xf16>
  // CHECK: reduce_op = "mean"
  %2 = llm.all_reduce %x {group_size = 8, reduceOp = "mean"} : (tensor<16x1024xf16>) -> tensor<16x1024xf16>
  return
}

// CHECK-LABEL: func @reduce_scatter
func.func @reduce_scatter(%x: tensor<16x1024xf16>, %d: tensor<?x64xf32>) {
  // CHECK-COUNT-2: llm.reduce_scatter %{{.*}} {dim = 1 : i64, group_size = 8 : i64, reduce_op = "sum"} : (tensor<16x1024xf16>) -> tensor<16x128xf16>
  %0 = llm.reduce_scatter %x {dim = 1 : i64, groupSize = 8 : i64, reduceOp = "sum"} : tensor<16x1024xf16> -> tensor<16x128xf16>
  %1 = llm.reduce_scatter %x {dim = 1, group_size = 8} : (tensor<16x1024xf16>) -> tensor<16x128xf16>
  // CHECK: reduce_op = "max"
  %2 = llm.reduce_scatter %x {dim = 0, group_size = 2, reduce_op = "max"} : (tensor<16x1024xf16>) -> tensor<8x1024xf16>
  // CHECK: reduce_op = "min"
  %3 = llm.reduce_scatter %d {dim = 0, group_size = 2, reduce_op = "min"} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// Groups of neighboring ranks.
// CHECK-LABEL: func @two_groups(
// CHECK-SAME: tensor<?x43xf32> {llm.shard_dim = 1 : i64}) -> (tensor<?x86xf32> {llm.shard_dim = 1 : i64}) attributes {llm.num_ranks = 4 : i64}
func.func @two_groups(%x: tensor<?x43xf32> {llm.shard_dim = 1 : i64}) -> (tensor<?x86xf32> {llm.shard_dim = 1 : i64}) attributes {llm.num_ranks = 4 : i64} {
  // CHECK: llm.all_gather %{{.*}} {dim = 1 : i64, group_size = 2 : i64}
  %0 = llm.all_gather %x {dim = 1, group_size = 2} : (tensor<?x43xf32>) -> tensor<?x86xf32>
  return %0 : tensor<?x86xf32>
}

// CHECK-LABEL: func @constants(
// CHECK-SAME: tensor<172x64xf32> {llm.constant})
func.func @constants(%w: tensor<172x64xf32> {llm.constant}) {
  return
}

// Outside of a function, the number of ranks is unknown.
// CHECK-LABEL: module @outside
module @outside {
  // CHECK: llm.all_reduce {{.*}} {group_size = 3 : i64, reduce_op = "sum"}
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %0 = llm.all_reduce %x {group_size = 3} : (tensor<2xf32>) -> tensor<2xf32>
}
