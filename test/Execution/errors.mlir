// What can go wrong when compiled functions run, one case a module.

// RUN: split-file %s %t
// RUN: not llmir-translate %t/full.mlir --execute 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not llmir-translate %t/expectation.mlir --execute 2>&1 | FileCheck %s --check-prefix=EXPECTATION
// RUN: not llmir-translate %t/expectation.mlir --execute --level=pdp11 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not llmir-translate %t/error.mlir --compare --max-nmse=0 2>&1 | FileCheck %s --check-prefix=NMSE
// RUN: not llmir-translate %t/scatter.mlir --execute 2>&1 | FileCheck %s --check-prefix=SCATTER
// RUN: not llmir-translate %t/order.mlir --compare 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not llmir-translate %t/kernel.mlir --compare 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not llmir-translate %t/ranks.mlir --execute 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not llmir-translate %t/caches.mlir --execute 2>&1 | FileCheck %s --check-prefix=CACHES
// RUN: not llmir-translate %t/indices.mlir --execute 2>&1 | FileCheck %s --check-prefix=INDICES
// RUN: not llmir-translate %t/nothing.mlir --execute 2>&1 | FileCheck %s --check-prefix=NOTHING

//--- indices.mlir
// The interpreter, which runs first, refuses what code takes the nearest row for.
// INDICES: indices.mlir:5:8: error: 'llm.embedding' op cannot be evaluated: id 1 is 5000000, which is not from 0 to 7
func.func @f(%table: tensor<8x16xf32>) -> tensor<2x16xf32> {
  %ids = arith.constant dense<[3, 5000000]> : tensor<2xi32>
  %x = llm.embedding %ids, %table : tensor<2xi32>, tensor<8x16xf32> -> tensor<2x16xf32>
  return %x : tensor<2x16xf32>
}

//--- nothing.mlir
// What makes something of nothing has no kernel.
// NOTHING: nothing.mlir:4:8: error: 'llm.linear' op has an operand of type 'tensor<2x0xf32>', which is empty; compiled code needs at least one element
func.func @f(%x: tensor<2x0xf32>, %w: tensor<3x0xf32>) -> tensor<2x3xf32> {
  %y = llm.linear %x, %w : tensor<2x0xf32>, tensor<3x0xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

//--- full.mlir
// The runtime's own failure reaches the caller.
// FULL: full.mlir:4:1: error: cannot be run: sequence 1 would have 60 + 5 tokens; the maximum of the cache is 64
!cache = !llm.paged_kv_cache<f32, 1, 1, 16, 8, 64>
func.func @f(%id: tensor<1xi32> {check.values = dense<1> : tensor<1xi32>}) -> tensor<5xi32> {
  %c0 = llm.create_paged_cache : !cache
  %c1, %s1, %b1, %t1, %l1 = llm.reserve_kv %c0, %id {tokens = 60}
    : (!cache, tensor<1xi32>) -> (!cache, tensor<60xi32>, tensor<1x60xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %c2, %s2, %b2, %t2, %l2 = llm.reserve_kv %c1, %id {tokens = 5}
    : (!cache, tensor<1xi32>) -> (!cache, tensor<5xi32>, tensor<1x5xi32>, tensor<1x8xi32>, tensor<1xi32>)
  return %s2 : tensor<5xi32>
}

//--- expectation.mlir
// LEVEL: error: cannot be run: no code is generated for the CPU level 'pdp11'
func.func @f(%x: tensor<2xf32> {check.values = dense<[1.0, 2.0]> : tensor<2xf32>}) {
  %y = llm.add %x, %x : tensor<2xf32>
  // EXPECTATION: expectation.mlir:7:3: error: 'check.expect_close' op failed: nmse {{.*}} exceeds 1.000000e-10
  // EXPECTATION: note: actual   tensor<2xf32> [2, 4]
  // EXPECTATION: note: expected tensor<2xf32> [1, 2]
  check.expect_close %y, %x : tensor<2xf32>
  return
}

//--- error.mlir
// NMSE: error: result 0 differs from the expected value: the error {{.*}} (sum of error^2 over sum of expected^2) is more than 0, the value of --max-nmse
// NMSE: note: compiled
// NMSE: note: interpreted
func.func @f(%x: tensor<9x33xf32>) -> tensor<9x33xf32> {
  %y = llm.silu %x : tensor<9x33xf32>
  return %y : tensor<9x33xf32>
}

//--- scatter.mlir
// Functions of several ranks have known sizes, of which the verifier sees that they divide.
// SCATTER: scatter.mlir:3:1: error: 'func.func' op cannot be compiled: it has dynamic sizes and several ranks; specify static sizes
func.func @f(%x: tensor<4x?xf32> {check.shape = array<i64: 4, 7>}) -> tensor<4x?xf32> attributes {llm.num_ranks = 2 : i64} {
  %y = llm.reduce_scatter %x {dim = 1, group_size = 2} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

//--- order.mlir
// In f32 the middle number is lost.
// ORDER-DAG: @f result 0: nmse 1.00e+00 of at most 1e-10
// ORDER-DAG: error: result 0 differs from the expected value: the error 1 (sum of error^2 over sum of expected^2) is more than 1e-10, 1e-5 of its magnitude: compiled code accumulates in f32, the interpreter in f64; use --max-nmse to allow more
func.func @f(%x: tensor<3xf32> {check.values = dense<[1.0e8, 1.0, -1.0e8]> : tensor<3xf32>}) -> tensor<f32> {
  %y = mllm.linalg.reduce_sum %x : tensor<3xf32> -> tensor<f32>
  return %y : tensor<f32>
}

//--- kernel.mlir
// KERNEL: error: 'arith.remf' op has no kernel in a program; write x - y * trunc(x / y) with arith.divf and math.trunc
func.func @f(%x: tensor<9x33xf32>) -> tensor<9x33xf32> {
  %y = arith.remf %x, %x : tensor<9x33xf32>
  return %y : tensor<9x33xf32>
}

//--- ranks.mlir
// RANKS: error: result 0 has no llm.shard_dim, but differs between ranks
func.func @f(%x: tensor<2x3xf32> {llm.shard_dim = 0 : i64}) -> tensor<2x3xf32> attributes {llm.num_ranks = 2 : i64} {
  %y = llm.add %x, %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

//--- caches.mlir
!cache = !llm.paged_kv_cache<f32, 1, 1, 16, 8, 64>
func.func @f(%c: !cache) {
  // CACHES: error: 'check.expect_equal' op compares caches, which compiled code does not return
  check.expect_equal %c, %c : !cache
  return
}
