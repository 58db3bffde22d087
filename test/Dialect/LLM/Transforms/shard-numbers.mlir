// RUN: llmir-translate --interpret %s > %t.before
// RUN: llmir-opt %s --llm-shard=num-stages=2 -o %t.stages.mlir && llmir-translate --interpret %t.stages.mlir | diff %t.before -
// RUN: llmir-opt %s --llm-shard=num-ranks=2 -o %t.ranks.mlir && llmir-translate --interpret %t.ranks.mlir > %t.ranks
// RUN: llmir-opt %s --llm-shard="num-stages=2 num-ranks=2" -o %t.both.mlir && llmir-translate --interpret %t.both.mlir | diff %t.ranks -
// RUN: FileCheck %s --check-prefix=ROW < %t.before
// RUN: FileCheck %s --check-prefix=ROW < %t.ranks
// RUN: FileCheck %s --check-prefix=STAGES < %t.stages.mlir
// RUN: FileCheck %s --check-prefix=RANKS < %t.ranks.mlir
// RUN: llmir-translate --compare --level=x86-64-v3 %t.both.mlir | FileCheck %s --check-prefix=RUNS

// Two layers of a decoder, run as two stages of a pipeline, on two ranks, and as both. Stages keep every bit; ranks add
// up in another order. The result of the last of five tokens depends on all of
// them, in both layers.
// SPEC: 89 90 126 127 149

// ROW: @two_layers result 0: tensor<1x40xf32> {{\[\[}}-0.62497{{[0-9]+}}, 2.08517{{[0-9]+}}, -3.10926{{[0-9]+}}, -0.95634{{[0-9]+}}, -1.57681{{[0-9]+}}, -3.60684{{[0-9]+}}, 0.36064{{[0-9]+}}, 2.07903
// STAGES: call @two_layers.stage0(
// STAGES: call @two_layers.stage1(
// RANKS: attributes {llm.num_ranks = 2 : i64}
// RANKS: llm.all_reduce
// RUNS: @two_layers result 0: nmse {{[0-9.]+}}e-1{{[0-9]}}

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 8, 32>

func.func @two_layers(%x: tensor<5x64xf32>, %g: tensor<64xf32>, %wq: tensor<64x64xf32>, %wk: tensor<32x64xf32>, %wv: tensor<32x64xf32>, %wo: tensor<64x64xf32>, %wg: tensor<96x64xf32>, %wu: tensor<96x64xf32>, %wd: tensor<64x96xf32>, %head: tensor<40x64xf32>) -> tensor<1x40xf32> {
  %c0 = llm.create_paged_cache : !cache
  %l0 = arith.constant 0 : index
  %l1 = arith.constant 1 : index
  %slots = arith.constant dense<[8, 9, 10, 11, 12]> : tensor<5xi32>
  %x1, %c1 = call @layer(%x, %c0, %slots, %l0, %g, %wq, %wk, %wv, %wo, %wg, %wu, %wd) : (tensor<5x64xf32>, !cache, tensor<5xi32>, index, tensor<64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<96x64xf32>, tensor<96x64xf32>, tensor<64x96xf32>) -> (tensor<5x64xf32>, !cache)
  %x2, %c2 = call @layer(%x1, %c1, %slots, %l1, %g, %wq, %wk, %wv, %wo, %wg, %wu, %wd) : (tensor<5x64xf32>, !cache, tensor<5xi32>, index, tensor<64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<96x64xf32>, tensor<96x64xf32>, tensor<64x96xf32>) -> (tensor<5x64xf32>, !cache)
  %n = llm.rms_norm %x2, %g {eps = 1.0e-5 : f64} : tensor<5x64xf32>, tensor<64xf32>
  %last = arith.constant dense<4> : tensor<1xi32>
  %row = llm.select_rows %n, %last : tensor<5x64xf32>, tensor<1xi32> -> tensor<1x64xf32>
  %y = llm.linear %row, %head : tensor<1x64xf32>, tensor<40x64xf32> -> tensor<1x40xf32>
  return %y : tensor<1x40xf32>
}
func.func private @layer(%x: tensor<5x64xf32>, %c: !cache, %slots: tensor<5xi32>, %l: index, %g: tensor<64xf32>, %wq: tensor<64x64xf32>, %wk: tensor<32x64xf32>, %wv: tensor<32x64xf32>, %wo: tensor<64x64xf32>, %wg: tensor<96x64xf32>, %wu: tensor<96x64xf32>, %wd: tensor<64x96xf32>) -> (tensor<5x64xf32>, !cache) {
  %tables = arith.constant dense<1> : tensor<1x1xi32>
  %lens = arith.constant dense<5> : tensor<1xi32>
  %offsets = arith.constant dense<[0, 5]> : tensor<2xi32>
  %h = llm.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<5x64xf32>, tensor<64xf32>
  %q = llm.linear %h, %wq : tensor<5x64xf32>, tensor<64x64xf32> -> tensor<5x64xf32>
  %k = llm.linear %h, %wk : tensor<5x64xf32>, tensor<32x64xf32> -> tensor<5x32xf32>
  %v = llm.linear %h, %wv : tensor<5x64xf32>, tensor<32x64xf32> -> tensor<5x32xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [5, 4, 16] : tensor<5x64xf32> into tensor<5x4x16xf32>
  %kh = tensor.expand_shape %k [[0], [1, 2]] output_shape [5, 2, 16] : tensor<5x32xf32> into tensor<5x2x16xf32>
  %vh = tensor.expand_shape %v [[0], [1, 2]] output_shape [5, 2, 16] : tensor<5x32xf32> into tensor<5x2x16xf32>
  %c1 = llm.append_kv %c, %kh, %vh slots(%slots) layer(%l) : (!cache, tensor<5x2x16xf32>, tensor<5x2x16xf32>, tensor<5xi32>) -> !cache
  %a = llm.paged_attention %qh, %c1, %tables, %lens offsets(%offsets) layer(%l) : (tensor<5x4x16xf32>, !cache, tensor<1x1xi32>, tensor<1xi32>, tensor<2xi32>) -> tensor<5x4x16xf32>
  %ar = tensor.collapse_shape %a [[0], [1, 2]] : tensor<5x4x16xf32> into tensor<5x64xf32>
  %o = llm.linear %ar, %wo : tensor<5x64xf32>, tensor<64x64xf32> -> tensor<5x64xf32>
  %r = llm.add %x, %o : tensor<5x64xf32>
  %gate = llm.linear %r, %wg : tensor<5x64xf32>, tensor<96x64xf32> -> tensor<5x96xf32>
  %up = llm.linear %r, %wu : tensor<5x64xf32>, tensor<96x64xf32> -> tensor<5x96xf32>
  %m = llm.swiglu %gate, %up : tensor<5x96xf32>
  %down = llm.linear %m, %wd : tensor<5x96xf32>, tensor<64x96xf32> -> tensor<5x64xf32>
  %y = llm.add %r, %down : tensor<5x64xf32>
  return %y, %c1 : tensor<5x64xf32>, !cache
}
