// Lookups and attention take the results of appends: rows of block indices of
// every form name their sequences, in the interpreter and in compiled code.

// RUN: llmir-translate %s --interpret
// RUN: llmir-translate %s --execute | FileCheck %s --check-prefix=VALUE
// RUN: llmir-translate %s --compare | FileCheck %s
// RUN: llmir-translate %s --compare --workers=3 --level=x86-64-v3 | FileCheck %s
// RUN: llmir-opt %s --llm-optimize-kv-cache --canonicalize | llmir-translate --compare | FileCheck %s
// RUN: llmir-opt %s --llm-lower-kv-cache-ops --canonicalize | llmir-translate --compare | FileCheck %s
// RUN: llmir-opt %s --llm-optimize-block-size --canonicalize | llmir-translate --execute | FileCheck %s --check-prefix=VALUE

!cache = !llm.paged_kv_cache<f32, 1, 1, 1, 2, 8>
!two = !llm.paged_kv_cache<f32, 2, 2, 4, 4, 32>
!kv = tensor<2x5x2x4xf32>

// Append, then attention by block indices: the mean of 0, 0 and 9, whose keys are equal.
// CHECK: @mean result 0: nmse 0.00e+00
// VALUE: @mean result 0: tensor<1x1x1x1xf32> {{\[\[\[\[3\]\]\]\]}}
func.func @mean() -> tensor<1x1x1x1xf32> {
  %ids = arith.constant dense<100> : tensor<1xi32>
  %keys = arith.constant dense<0.0> : tensor<1x3x1x1xf32>
  %values = arith.constant dense<[[[[0.0]], [[0.0]], [[9.0]]]]> : tensor<1x3x1x1xf32>
  %query = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %lens = arith.constant dense<3> : tensor<1xi32>
  %c0 = llm.create_paged_cache : !cache
  %c1, %blocks = llm.append_kv %c0, %keys, %values, %ids
      : (!cache, tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>, tensor<1xi32>) -> (!cache, tensor<1x3xi32>)
  %o = llm.paged_attention %query, %c1, %blocks, %lens
      : (tensor<1x1x1x1xf32>, !cache, tensor<1x3xi32>, tensor<1xi32>) -> tensor<1x1x1x1xf32>
  return %o : tensor<1x1x1x1xf32>
}

// A prompt of five tokens and a decode step, in layer 1: the row of one block
// that the step gives, its vector, wider rows, a full table, a table that is
// found and the middle of a table all give the same.
// CHECK: @forms result 0: nmse
// CHECK: @forms result 1: equal
// CHECK: @forms result 2: equal
// CHECK: @forms result 3: equal
func.func @forms(%k: !kv, %v: !kv, %k1: tensor<2x2x4xf32>, %v1: tensor<2x2x4xf32>, %k2: !kv, %q: tensor<2x1x4x4xf32>)
    -> (tensor<2x1x4x4xf32>, tensor<2x1xi32>, tensor<2x12xi32>, tensor<2x8xi32>) {
  %l = arith.constant 1 : index
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %c0 = llm.create_paged_cache : !two
  %c1, %prompt = llm.append_kv %c0, %k, %v, %ids layer(%l) : (!two, !kv, !kv, tensor<2xi32>) -> (!two, tensor<2x5xi32>)
  %c2, %wide = llm.append_kv %c1, %k2, %k2, %ids layer(%l) : (!two, !kv, !kv, tensor<2xi32>) -> (!two, tensor<2x12xi32>)
  %c3, %vector = llm.append_kv %c2, %k1, %v1, %ids layer(%l)
      : (!two, tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2xi32>) -> (!two, tensor<2xi32>)
  %c4, %step = llm.append_kv %c3, %k1, %v1, %ids layer(%l)
      : (!two, tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2xi32>) -> (!two, tensor<2x1xi32>)
  %lens = arith.constant dense<[12, 11]> : tensor<2xi32>

  %table = llm.block_tables %c4, %step, %lens layer(%l) : (!two, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x8xi32>
  %whole = arith.constant dense<[[0, 1, 4, -1, -1, -1, -1, -1], [2, 3, 5, -1, -1, -1, -1, -1]]> : tensor<2x8xi32>
  check.expect_equal %table, %whole : tensor<2x8xi32>
  %newest = arith.constant dense<[[4], [5]]> : tensor<2x1xi32>
  check.expect_equal %step, %newest : tensor<2x1xi32>
  %middle = arith.constant dense<[[1, -1], [2, 3]]> : tensor<2x2xi32>

  %o = llm.paged_attention %q, %c4, %step, %lens layer(%l)
      : (tensor<2x1x4x4xf32>, !two, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x1x4x4xf32>
  %o1 = llm.paged_attention %q, %c4, %vector, %lens layer(%l)
      : (tensor<2x1x4x4xf32>, !two, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1x4x4xf32>
  check.expect_equal %o1, %o : tensor<2x1x4x4xf32>
  %o2 = llm.paged_attention %q, %c4, %wide, %lens layer(%l)
      : (tensor<2x1x4x4xf32>, !two, tensor<2x12xi32>, tensor<2xi32>) -> tensor<2x1x4x4xf32>
  check.expect_equal %o2, %o : tensor<2x1x4x4xf32>
  %o3 = llm.paged_attention %q, %c4, %table, %lens layer(%l)
      : (tensor<2x1x4x4xf32>, !two, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x1x4x4xf32>
  check.expect_equal %o3, %o : tensor<2x1x4x4xf32>
  %o4 = llm.paged_attention %q, %c4, %middle, %lens layer(%l)
      : (tensor<2x1x4x4xf32>, !two, tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x1x4x4xf32>
  check.expect_equal %o4, %o : tensor<2x1x4x4xf32>
  %o5 = llm.paged_attention %q, %c4, %prompt, %lens layer(%l)
      : (tensor<2x1x4x4xf32>, !two, tensor<2x5xi32>, tensor<2xi32>) -> tensor<2x1x4x4xf32>
  check.expect_equal %o5, %o : tensor<2x1x4x4xf32>
  // A mask for each head keeps the batched form.
  %shown = arith.constant dense<0.0> : tensor<1x4x1x16xf32>
  %o6 = llm.paged_attention %q, %c4, %step, %lens layer(%l) mask(%shown)
      : (tensor<2x1x4x4xf32>, !two, tensor<2x1xi32>, tensor<2xi32>, tensor<1x4x1x16xf32>) -> tensor<2x1x4x4xf32>
  check.expect_close %o6, %o : tensor<2x1x4x4xf32>

  %kt = tensor.expand_shape %k1 [[0], [1, 2], [3]] output_shape [2, 1, 2, 4] : tensor<2x2x4xf32> into tensor<2x1x2x4xf32>
  %all = tensor.concat dim(1) %k, %k2, %kt, %kt : (!kv, !kv, tensor<2x1x2x4xf32>, tensor<2x1x2x4xf32>) -> tensor<2x12x2x4xf32>
  %full = arith.constant dense<12> : tensor<2xi32>
  %x, %xv = llm.lookup_kv %c4, %step, %full layer(%l)
      : (!two, tensor<2x1xi32>, tensor<2xi32>) -> (tensor<2x12x2x4xf32>, tensor<2x12x2x4xf32>)
  check.expect_equal %x, %all : tensor<2x12x2x4xf32>
  // With as many entries as tokens, the entries have their usual meaning.
  %y, %yv = llm.lookup_kv %c4, %wide, %full layer(%l)
      : (!two, tensor<2x12xi32>, tensor<2xi32>) -> (tensor<2x12x2x4xf32>, tensor<2x12x2x4xf32>)
  check.expect_equal %y, %x : tensor<2x12x2x4xf32>
  check.expect_equal %yv, %xv : tensor<2x12x2x4xf32>
  return %o, %step, %wide, %table : tensor<2x1x4x4xf32>, tensor<2x1xi32>, tensor<2x12xi32>, tensor<2x8xi32>
}

// A fork: until one of the two is extended, they share all blocks; then each
// row names one of them.
// CHECK: @forks result 0: {{equal|nmse 0.00e}}
// CHECK: @forks result 1: equal
// CHECK: @forks result 2: equal
func.func @forks(%k: tensor<1x6x2x4xf32>, %new: tensor<1x1x2x4xf32>) -> (tensor<2x7x2x4xf32>, tensor<1x3xi32>, tensor<1xi32>) {
  %a = arith.constant dense<4> : tensor<1xi32>
  %b = arith.constant dense<9> : tensor<1xi32>
  %six = arith.constant dense<6> : tensor<1xi32>
  %c0 = llm.create_paged_cache : !two
  %c1, %row = llm.append_kv %c0, %k, %k, %a
      : (!two, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1xi32>) -> (!two, tensor<1x3xi32>)
  %c2 = llm.fork_kv %c1, %a, %b : (!two, tensor<1xi32>, tensor<1xi32>) -> !two
  %shared, %sv = llm.lookup_kv %c2, %row, %six : (!two, tensor<1x3xi32>, tensor<1xi32>) -> (tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>)
  check.expect_equal %shared, %k : tensor<1x6x2x4xf32>
  %c3, %of_fork = llm.append_kv %c2, %new, %new, %b
      : (!two, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1xi32>) -> (!two, tensor<1xi32>)
  %copy = arith.constant dense<2> : tensor<1xi32>
  check.expect_equal %of_fork, %copy : tensor<1xi32>
  %rows = arith.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %lens = arith.constant dense<[6, 7]> : tensor<2xi32>
  %o, %ov = llm.lookup_kv %c3, %rows, %lens : (!two, tensor<2x1xi32>, tensor<2xi32>) -> (tensor<2x7x2x4xf32>, tensor<2x7x2x4xf32>)
  return %o, %row, %of_fork : tensor<2x7x2x4xf32>, tensor<1x3xi32>, tensor<1xi32>
}

// The fused form, with rows of the prompt; ids are in no order.
// CHECK: @fused result 0: nmse
// CHECK: @fused result 1: equal
func.func @fused(%k: !kv, %v: !kv, %q: tensor<2x1x4x4xf32>, %k1: tensor<2x1x2x4xf32>) -> (tensor<2x1x4x4xf32>, tensor<2xi32>) {
  %ids = arith.constant dense<[9, 2]> : tensor<2xi32>
  %lens = arith.constant dense<6> : tensor<2xi32>
  %c0 = llm.create_paged_cache : !two
  %c1, %prompt = llm.append_kv %c0, %k, %v, %ids : (!two, !kv, !kv, tensor<2xi32>) -> (!two, tensor<2x5xi32>)
  %o, %c2, %last = llm.fused_attention %q, %k1, %k1, %c1, %ids, %prompt, %lens
      : (tensor<2x1x4x4xf32>, tensor<2x1x2x4xf32>, tensor<2x1x2x4xf32>, !two, tensor<2xi32>, tensor<2x5xi32>, tensor<2xi32>)
        -> (tensor<2x1x4x4xf32>, !two, tensor<2xi32>)
  %p = llm.paged_attention %q, %c2, %last, %lens
      : (tensor<2x1x4x4xf32>, !two, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1x4x4xf32>
  check.expect_equal %o, %p : tensor<2x1x4x4xf32>
  return %o, %last : tensor<2x1x4x4xf32>, tensor<2xi32>
}

// An append of no token begins sequences and names none.
// CHECK: @nothing result 0: equal
// CHECK: @nothing result 1: {{equal|nmse 0.00e}}
func.func @nothing(%k: tensor<2x0x2x4xf32>) -> (tensor<2x2xi32>, tensor<2x3x2x4xf32>) {
  %ids = arith.constant dense<[1, 2]> : tensor<2xi32>
  %lens = arith.constant dense<0> : tensor<2xi32>
  %c0 = llm.create_paged_cache : !two
  %c1, %rows = llm.append_kv %c0, %k, %k, %ids
      : (!two, tensor<2x0x2x4xf32>, tensor<2x0x2x4xf32>, tensor<2xi32>) -> (!two, tensor<2x2xi32>)
  %none = arith.constant dense<-1> : tensor<2x2xi32>
  check.expect_equal %rows, %none : tensor<2x2xi32>
  %o, %ov = llm.lookup_kv %c1, %rows, %lens : (!two, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>)
  return %rows, %o : tensor<2x2xi32>, tensor<2x3x2x4xf32>
}
