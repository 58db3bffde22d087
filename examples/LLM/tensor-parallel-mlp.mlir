// A gated feed-forward layer on two ranks: gate and up are sharded by outputs,
// down by inputs, and an all_reduce adds the partial results. Each rank runs the
// function on its shards; the result is that of the whole layer. (`-llm-shard`
// derives such a function from the whole one.)
//
// RUN: llmir-translate --interpret %s | FileCheck %s
// RUN: llmir-translate --execute %s | FileCheck %s
// RUN: llmir-translate --compare %s

// CHECK: @mlp result 0: tensor<1x2xf32> {{\[\[}}7.17756{{[0-9]*}}, 0{{\]\]}}

// `llm.shard_dim` shards the caller's tensor along that dimension;
// `check.values` are the caller's. Weights are [outputs, inputs].
func.func @mlp(
    %x: tensor<1x2xf32> {check.values = dense<[[1.0, 2.0]]> : tensor<1x2xf32>},
    %gate: tensor<2x2xf32> {llm.shard_dim = 0 : i64,
        check.values = dense<[[1.0, 0.0], [0.0, 0.0], [2.0, -1.0], [1.0, 1.0]]> : tensor<4x2xf32>},
    %up: tensor<2x2xf32> {llm.shard_dim = 0 : i64,
        check.values = dense<[[2.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]> : tensor<4x2xf32>},
    %down: tensor<2x2xf32> {llm.shard_dim = 1 : i64,
        check.values = dense<[[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0, 0.0]]> : tensor<2x4xf32>})
    -> tensor<1x2xf32> attributes {llm.num_ranks = 2 : i64} {
  // Column parallel: each rank has half of the hidden elements.
  %g = llm.linear %x, %gate : tensor<1x2xf32>, tensor<2x2xf32> -> tensor<1x2xf32>
  %u = llm.linear %x, %up : tensor<1x2xf32>, tensor<2x2xf32> -> tensor<1x2xf32>
  %h = llm.swiglu %g, %u : tensor<1x2xf32>
  // Row parallel: each rank has a part of every sum.
  %part = llm.linear %h, %down : tensor<1x2xf32>, tensor<2x2xf32> -> tensor<1x2xf32>
  %y = llm.all_reduce %part {group_size = 2} : (tensor<1x2xf32>) -> tensor<1x2xf32>

  // 2 · silu(1) + 2 · silu(3), and 2 · 3 · silu(0).
  %expected = arith.constant dense<[[7.177561918, 0.0]]> : tensor<1x2xf32>
  check.expect_close %y, %expected {nmse = 1.0e-12 : f64} : tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// The whole layer, and one of its projections as an llm.sharded_linear, whose
// weight is [inputs, outputs] and whose rank is an attribute.
func.func @whole() {
  %x = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %gate = arith.constant dense<[[1.0, 0.0], [0.0, 0.0], [2.0, -1.0], [1.0, 1.0]]> : tensor<4x2xf32>
  %up = arith.constant dense<[[2.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]> : tensor<4x2xf32>
  %down = arith.constant dense<[[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0, 0.0]]> : tensor<2x4xf32>
  %g = llm.linear %x, %gate : tensor<1x2xf32>, tensor<4x2xf32> -> tensor<1x4xf32>
  %u = llm.linear %x, %up : tensor<1x2xf32>, tensor<4x2xf32> -> tensor<1x4xf32>
  %h = llm.swiglu %g, %u : tensor<1x4xf32>
  %y = llm.linear %h, %down : tensor<1x4xf32>, tensor<2x4xf32> -> tensor<1x2xf32>
  %expected = arith.constant dense<[[7.177561918, 0.0]]> : tensor<1x2xf32>
  check.expect_close %y, %expected {nmse = 1.0e-12 : f64} : tensor<1x2xf32>

  %gate_in_out = arith.constant dense<[[1.0, 0.0, 2.0, 1.0], [0.0, 0.0, -1.0, 1.0]]> : tensor<2x4xf32>
  %g0 = llm.sharded_linear %x, %gate_in_out {shard_dim = 1, num_shards = 2, shard_id = 0}
      : (tensor<1x2xf32>, tensor<2x4xf32>) -> tensor<1x2xf32>
  %g1 = llm.sharded_linear %x, %gate_in_out {shard_dim = 1, num_shards = 2, shard_id = 1}
      : (tensor<1x2xf32>, tensor<2x4xf32>) -> tensor<1x2xf32>
  %joined = tensor.concat dim(1) %g0, %g1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  check.expect_close %joined, %g {nmse = 1.0e-12 : f64} : tensor<1x4xf32>
  return
}
