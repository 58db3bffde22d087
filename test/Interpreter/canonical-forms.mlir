// RUN: llmir-translate --interpret %s > %t.before
// RUN: llmir-opt %s --canonicalize --cse > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: llmir-translate --interpret %t.mlir > %t.after
// RUN: diff %t.before %t.after

// Canonical forms give the same results, to the printed digits.

// CHECK-LABEL: func @rows
func.func @rows(%g: tensor<7x8xbf16>, %u: tensor<7x8xbf16>) -> (tensor<7x8xbf16>, tensor<7x8xbf16>, tensor<7x8xbf16>, tensor<2x8xbf16>) {
  // CHECK-NOT: llm.silu
  // CHECK-NOT: llm.add
  // CHECK: llm.swiglu
  %one = arith.constant dense<1.0> : tensor<8xbf16>
  %zero = arith.constant dense<0.0> : tensor<8xbf16>
  %zeros = arith.constant dense<0.0> : tensor<7x8xbf16>
  %a = arith.constant dense<[6, 2, 3]> : tensor<3xi32>
  %b = arith.constant dense<[2, 0]> : tensor<2xi32>
  %0 = llm.silu %g : tensor<7x8xbf16>
  %1 = llm.mul %u, %0 : tensor<7x8xbf16>
  %2 = llm.rms_norm %u, %one : tensor<7x8xbf16>, tensor<8xbf16>
  %3 = llm.layer_norm %g, %one, %zero : tensor<7x8xbf16>, tensor<8xbf16>, tensor<8xbf16>
  %4 = llm.add %3, %zeros : tensor<7x8xbf16>
  %5 = llm.select_rows %1, %a : tensor<7x8xbf16>, tensor<3xi32> -> tensor<3x8xbf16>
  %6 = llm.select_rows %5, %b : tensor<3x8xbf16>, tensor<2xi32> -> tensor<2x8xbf16>
  return %1, %2, %4, %6 : tensor<7x8xbf16>, tensor<7x8xbf16>, tensor<7x8xbf16>, tensor<2x8xbf16>
}

// CHECK-LABEL: func @ranks
func.func @ranks(%x: tensor<4x8xf32> {llm.shard_dim = 0 : i64}, %w: tensor<24x8xf32>) -> (tensor<4x8xf32> {llm.shard_dim = 0 : i64}, tensor<1x8xf32> {llm.shard_dim = 0 : i64}, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) attributes {llm.num_ranks = 4 : i64} {
  // CHECK-DAG: llm.reduce_scatter %{{.*}} reduce_op = "max"
  // CHECK-DAG: llm.all_reduce %{{.*}} reduce_op = "mean"
  // CHECK-DAG: llm.all_reduce %{{.*}} reduce_op = "min"
  // CHECK-DAG: llm.shard %{{.*}} {dim = 0 : i64, num_shards = 6 : i64, shard_index = 5 : i64}
  // CHECK-NOT: llm.all_gather
  %0 = llm.all_gather %x {dim = 1, group_size = 4} : (tensor<4x8xf32>) -> tensor<4x32xf32>
  %1 = llm.shard %0 {dim = 1, num_shards = 4} : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %2 = llm.all_reduce %x {group_size = 4, reduce_op = "max"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = llm.shard %2 {dim = 0, num_shards = 4} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %4 = llm.reduce_scatter %x {dim = 1, group_size = 4, reduce_op = "mean"} : (tensor<4x8xf32>) -> tensor<4x2xf32>
  %5 = llm.all_gather %4 {dim = 1, group_size = 4} : (tensor<4x2xf32>) -> tensor<4x8xf32>
  %6 = llm.all_reduce %x {group_size = 4, reduce_op = "min"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = llm.all_reduce %6 {group_size = 4, reduce_op = "min"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = llm.shard %w {dim = 0, num_shards = 2, shard_index = 1} : (tensor<24x8xf32>) -> tensor<12x8xf32>
  %9 = llm.shard %8 {dim = 0, num_shards = 3, shard_index = 2} : (tensor<12x8xf32>) -> tensor<4x8xf32>
  return %1, %3, %5, %7, %9 : tensor<4x8xf32>, tensor<1x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
