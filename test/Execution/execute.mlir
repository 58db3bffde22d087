// Running compiled functions: the output, and expectations.

// RUN: llmir-translate %s --execute | FileCheck %s
// RUN: llmir-translate %s --execute --function=parameter --seed=5 | FileCheck %s --check-prefix=ONE
// RUN: llmir-translate %s --compare | FileCheck %s --check-prefix=COMPARE

// CHECK: @double result 0: tensor<3xf32> [2, 4, -6]
// CHECK: @double result 1: tensor<2xi32> [5, -7]
// COMPARE: @double result 0: nmse 0.00e+00
// COMPARE: @double result 1: equal
func.func @double(%x: tensor<3xf32> {check.values = dense<[1.0, 2.0, -3.0]> : tensor<3xf32>},
                  %i: tensor<2xi32> {check.values = dense<[5, -7]> : tensor<2xi32>}) -> (tensor<3xf32>, tensor<2xi32>) {
  %y = llm.add %x, %x : tensor<3xf32>
  return %y, %i : tensor<3xf32>, tensor<2xi32>
}

// Expectations hold, on every rank; a cache has no value to print.
// CHECK: @expected result 0: a cache
// COMPARE-NOT: @expected result 0
!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
func.func @expected(%c: !cache, %x: tensor<4x8xbf16> {llm.shard_dim = 0 : i64}) -> !cache
    attributes {llm.num_ranks = 2 : i64} {
  %a = llm.all_gather %x {dim = 0, group_size = 2} : (tensor<4x8xbf16>) -> tensor<8x8xbf16>
  %b = llm.all_gather %x {dim = 0, group_size = 2} : (tensor<4x8xbf16>) -> tensor<8x8xbf16>
  check.expect_close %a, %b : tensor<8x8xbf16>
  check.expect_equal %a, %b : tensor<8x8xbf16>
  return %c : !cache
}

// Parameters have values of their names.
// ONE-NOT: @double
// ONE: @parameter result 0: tensor<2x3xf32>
// COMPARE: @parameter result 0: nmse
mllm.tensor.register @w : tensor<3x5xbf16> {source = "w"}
func.func @parameter(%x: tensor<2x5xf32>) -> tensor<2x3xf32> {
  %w = llm.weight @w : tensor<3x5xbf16>
  %y = llm.linear %x, %w : tensor<2x5xf32>, tensor<3x5xbf16> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// What is called is run with it, its parameters too.
// COMPARE: @calls result 0: nmse
func.func @calls(%x: tensor<2x5xf32>) -> tensor<2x3xf32> {
  %y = func.call @projection(%x) : (tensor<2x5xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
func.func private @projection(%x: tensor<2x5xf32>) -> tensor<2x3xf32> {
  %w = llm.weight @w : tensor<3x5xbf16>
  %y = llm.linear %x, %w : tensor<2x5xf32>, tensor<3x5xbf16> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
