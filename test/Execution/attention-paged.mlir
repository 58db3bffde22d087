// RUN: llmir-translate --compare %s | FileCheck %s
// RUN: llmir-translate --compare --workers=3 --level=x86-64-v3 %s | FileCheck %s

// Attention from a cache in the batched form, with masks that heads and
// sequences share; fused attention; lookups by block and by token.

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 8, 64>
!half = !llm.paged_kv_cache<bf16, 1, 1, 64, 16, 128, valueDim = 40>

// A prompt and one token more, as the LLMIR specification writes it.
// SPEC: 31 36 175 187
// CHECK: @prompt_and_decode result 0: nmse
// CHECK: @prompt_and_decode result 1: nmse
func.func @prompt_and_decode(%q: tensor<2x17x4x16xf32>, %k: tensor<2x17x2x16xf32>, %v: tensor<2x17x2x16xf32>,
                             %q1: tensor<2x4x16xf32>, %k1: tensor<2x2x16xf32>, %v1: tensor<2x2x16xf32>)
    -> (tensor<2x17x4x16xf32>, tensor<2x4x16xf32>) {
  %ids = arith.constant dense<[3, 5]> : tensor<2xi32>
  %c0 = llm.create_paged_cache : !cache
  %c1, %b1 = llm.append_kv %c0, %k, %v, %ids : (!cache, tensor<2x17x2x16xf32>, tensor<2x17x2x16xf32>, tensor<2xi32>) -> (!cache, tensor<2x17xi32>)
  %none, %s0, %bi0, %t0, %l0 = llm.reserve_kv %c1, %ids {tokens = 0}
      : (!cache, tensor<2xi32>) -> (!cache, tensor<0xi32>, tensor<2x0xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %o = llm.paged_attention %q, %none, %t0, %l0 {num_heads = 4 : i32, head_dim = 16 : i32, scale = 0.3 : f32}
      : (tensor<2x17x4x16xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x17x4x16xf32>
  %c2, %s, %bi, %t, %l = llm.reserve_kv %none, %ids {tokens = 1}
      : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %zero = arith.constant 0 : index
  %c3 = llm.append_kv %c2, %k1, %v1 slots(%s) layer(%zero) : (!cache, tensor<2x2x16xf32>, tensor<2x2x16xf32>, tensor<2xi32>) -> !cache
  %p = llm.paged_attention(%q1, %t, %l, %c3) {window = 6}
      : (tensor<2x4x16xf32>, tensor<2x8xi32>, tensor<2xi32>, !cache) -> tensor<2x4x16xf32>
  return %o, %p : tensor<2x17x4x16xf32>, tensor<2x4x16xf32>
}

// CHECK: @batched_masks result 0: nmse
// CHECK: @batched_masks result 1: nmse
// CHECK: @batched_masks result 2: nmse
// CHECK: @batched_masks result 3: nmse
func.func @batched_masks(%q: tensor<2x3x4x16xf32>, %k: tensor<20x2x16xf32>, %v: tensor<20x2x16xf32>,
                         %all: tensor<2x4x3x24xf32>, %head: tensor<1x4x1x24xf32>, %one: tensor<2x1x3x1xf32>,
                         %shown: tensor<1x1x3x24xi1>, %s: tensor<4xf32>)
    -> (tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>) {
  %slots = arith.constant dense<[8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 16, 17, 18, 19, 20, 21, 22]> : tensor<20xi32>
  %t = arith.constant dense<[[1, 0, -1], [2, -1, -1]]> : tensor<2x3xi32>
  %l = arith.constant dense<[13, 7]> : tensor<2xi32>
  %one_layer = arith.constant 1 : index
  %c0 = llm.create_paged_cache : !cache
  // Two sequences that end leave their blocks in reverse order: the next one
  // gets blocks 1 and 0.
  %both = arith.constant dense<[90, 91]> : tensor<2xi32>
  %x = arith.constant dense<7> : tensor<1xi32>
  %y = arith.constant dense<3> : tensor<1xi32>
  %r0:5 = llm.reserve_kv %c0, %both {tokens = 1} : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %ended = llm.free_kv %r0#0, %both : (!cache, tensor<2xi32>) -> !cache
  %r1:5 = llm.reserve_kv %ended, %x layer(%one_layer) {tokens = 13} : (!cache, tensor<1xi32>) -> (!cache, tensor<13xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %r2:5 = llm.reserve_kv %r1#0, %y layer(%one_layer) {tokens = 7} : (!cache, tensor<1xi32>) -> (!cache, tensor<7xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %c = llm.append_kv %r2#0, %k, %v slots(%slots) layer(%one_layer) : (!cache, tensor<20x2x16xf32>, tensor<20x2x16xf32>, tensor<20xi32>) -> !cache
  %a = llm.paged_attention %q, %c, %t, %l layer(%one_layer) mask(%all) {causal = false}
      : (tensor<2x3x4x16xf32>, !cache, tensor<2x3xi32>, tensor<2xi32>, tensor<2x4x3x24xf32>) -> tensor<2x3x4x16xf32>
  %b = llm.paged_attention %q, %c, %t, %l layer(%one_layer) mask(%head) sinks(%s) {window = 5}
      : (tensor<2x3x4x16xf32>, !cache, tensor<2x3xi32>, tensor<2xi32>, tensor<1x4x1x24xf32>, tensor<4xf32>) -> tensor<2x3x4x16xf32>
  %d = llm.paged_attention %q, %c, %t, %l layer(%one_layer) mask(%one) {soft_cap = 1.5 : f64}
      : (tensor<2x3x4x16xf32>, !cache, tensor<2x3xi32>, tensor<2xi32>, tensor<2x1x3x1xf32>) -> tensor<2x3x4x16xf32>
  %e = llm.paged_attention %q, %c, %t, %l layer(%one_layer) mask(%shown) {causal = false, alibi_slopes = array<f64: 0.5, 0.25, 0.125, 0.0>}
      : (tensor<2x3x4x16xf32>, !cache, tensor<2x3xi32>, tensor<2xi32>, tensor<1x1x3x24xi1>) -> tensor<2x3x4x16xf32>
  return %a, %b, %d, %e : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>
}

// One block for each sequence: a vector of blocks.
// SPEC: 188
// CHECK: @one_block_each result 0: nmse
// CHECK: @one_block_each result 1: nmse
func.func @one_block_each(%q: tensor<3x7x64xbf16>, %k: tensor<20x1x64xbf16>, %v: tensor<20x1x40xbf16>)
    -> (tensor<3x7x40xbf16>, tensor<3x16x1x40xbf16>) {
  %slots = arith.constant dense<[16, 17, 18, 0, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47]> : tensor<20xi32>
  %t = arith.constant dense<[1, 0, 2]> : tensor<3xi32>
  %l = arith.constant dense<[3, 1, 16]> : tensor<3xi32>
  %c0 = llm.create_paged_cache : !half
  %a = arith.constant dense<4> : tensor<1xi32>
  %b = arith.constant dense<5> : tensor<1xi32>
  %d = arith.constant dense<6> : tensor<1xi32>
  %r0:5 = llm.reserve_kv %c0, %a {tokens = 1} : (!half, tensor<1xi32>) -> (!half, tensor<1xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %r1:5 = llm.reserve_kv %r0#0, %b {tokens = 3} : (!half, tensor<1xi32>) -> (!half, tensor<3xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %r2:5 = llm.reserve_kv %r1#0, %d {tokens = 16} : (!half, tensor<1xi32>) -> (!half, tensor<16xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %c = llm.append_kv %r2#0, %k, %v slots(%slots) : (!half, tensor<20x1x64xbf16>, tensor<20x1x40xbf16>, tensor<20xi32>) -> !half
  %o = llm.paged_attention %q, %c, %t, %l : (tensor<3x7x64xbf16>, !half, tensor<3xi32>, tensor<3xi32>) -> tensor<3x7x40xbf16>
  %x, %y = llm.lookup_kv %c, %t, %l : (!half, tensor<3xi32>, tensor<3xi32>) -> (tensor<3x16x1x64xbf16>, tensor<3x16x1x40xbf16>)
  return %o, %y : tensor<3x7x40xbf16>, tensor<3x16x1x40xbf16>
}

// Equal to the append and the attention that it fuses.
// CHECK: @fused result 0: nmse
// CHECK: @fused result 1: nmse
func.func @fused(%q: tensor<4x7x64xf32>, %k: tensor<4x1x64xf32>, %v: tensor<4x1x40xf32>,
                 %q2: tensor<2x3x7x64xbf16>, %k2: tensor<2x3x1x64xbf16>, %v2: tensor<2x3x1x40xbf16>)
    -> (tensor<4x7x40xf32>, tensor<2x3x7x40xbf16>) {
  %slots = arith.constant dense<[48, 49, 50, 16]> : tensor<4xi32>
  %t = arith.constant dense<[[3], [1]]> : tensor<2x1xi32>
  %l = arith.constant dense<[3, 1]> : tensor<2xi32>
  %offs = arith.constant dense<[0, 3, 4]> : tensor<3xi32>
  %c0 = llm.create_paged_cache : !half
  %o, %c = llm.fused_attention %q, %k, %v, %c0, %t, %l slots(%slots) offsets(%offs) {causal = false, window = 2}
      : (tensor<4x7x64xf32>, tensor<4x1x64xf32>, tensor<4x1x40xf32>, !half, tensor<2x1xi32>, tensor<2xi32>, tensor<4xi32>, tensor<3xi32>)
        -> (tensor<4x7x40xf32>, !half)
  %a = llm.append_kv %c, %k, %v slots(%slots) : (!half, tensor<4x1x64xf32>, tensor<4x1x40xf32>, tensor<4xi32>) -> !half
  %p = llm.paged_attention %q, %a, %t, %l offsets(%offs) {causal = false, window = 2}
      : (tensor<4x7x64xf32>, !half, tensor<2x1xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<4x7x40xf32>
  check.expect_equal %o, %p : tensor<4x7x40xf32>
  %ids = arith.constant dense<[1, 2]> : tensor<2xi32>
  // The cache has no sequence yet: it allocates blocks 0 and 1.
  %t2 = arith.constant dense<[[0], [1]]> : tensor<2x1xi32>
  %l2 = arith.constant dense<[3, 3]> : tensor<2xi32>
  %r, %d, %i = llm.fused_attention %q2, %k2, %v2, %a, %ids, %t2, %l2
      : (tensor<2x3x7x64xbf16>, tensor<2x3x1x64xbf16>, tensor<2x3x1x40xbf16>, !half, tensor<2xi32>, tensor<2x1xi32>, tensor<2xi32>)
        -> (tensor<2x3x7x40xbf16>, !half, tensor<2x3xi32>)
  return %o, %r : tensor<4x7x40xf32>, tensor<2x3x7x40xbf16>
}

// Blocks in order, and the block of every token; entries after the end are 0.
// SPEC: 177
// CHECK: @lookup result 0: nmse 0.00e+00
// CHECK: @lookup result 1: nmse 0.00e+00
// CHECK: @lookup result 2: nmse 0.00e+00
// CHECK: @lookup result 3: nmse 0.00e+00
func.func @lookup(%k: tensor<12x2x16xf32>, %v: tensor<12x2x16xf32>)
    -> (tensor<3x10x2x16xf32>, tensor<3x10x2x16xf32>, tensor<3x10x2x16xf32>, tensor<3x10x2x16xf32>) {
  %slots = arith.constant dense<[8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 16, 17]> : tensor<12xi32>
  %l = arith.constant dense<[10, 2, 0]> : tensor<3xi32>
  %t = arith.constant dense<[[1, 0], [2, -1], [7, 7]]> : tensor<3x2xi32>
  // As many entries as tokens; the row of no tokens is not read.
  %u = arith.constant dense<[[1, 0, -1, -1, -1, -1, -1, -1, -1, -1], [2, -1, -1, -1, -1, -1, -1, -1, -1, -1],
                             [0, -1, 99, 0, 0, 0, 0, 0, 0, 0]]> : tensor<3x10xi32>
  %zero = arith.constant 0 : index
  %c0 = llm.create_paged_cache : !cache
  // Two sequences that end leave their blocks in reverse order: the next one
  // gets blocks 1 and 0.
  %both = arith.constant dense<[90, 91]> : tensor<2xi32>
  %x = arith.constant dense<7> : tensor<1xi32>
  %y = arith.constant dense<3> : tensor<1xi32>
  %r0:5 = llm.reserve_kv %c0, %both {tokens = 1} : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %ended = llm.free_kv %r0#0, %both : (!cache, tensor<2xi32>) -> !cache
  %r1:5 = llm.reserve_kv %ended, %x {tokens = 10} : (!cache, tensor<1xi32>) -> (!cache, tensor<10xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %r2:5 = llm.reserve_kv %r1#0, %y {tokens = 2} : (!cache, tensor<1xi32>) -> (!cache, tensor<2xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %c = llm.append_kv %r2#0, %k, %v slots(%slots) layer(%zero) : (!cache, tensor<12x2x16xf32>, tensor<12x2x16xf32>, tensor<12xi32>) -> !cache
  %a, %b = llm.lookup_kv %c, %t, %l : (!cache, tensor<3x2xi32>, tensor<3xi32>) -> (tensor<3x10x2x16xf32>, tensor<3x10x2x16xf32>)
  %d, %e = llm.lookup_kv(%u, %l, %c) : (tensor<3x10xi32>, tensor<3xi32>, !cache) -> (tensor<3x10x2x16xf32>, tensor<3x10x2x16xf32>)
  check.expect_equal %a, %d : tensor<3x10x2x16xf32>
  check.expect_equal %b, %e : tensor<3x10x2x16xf32>
  return %a, %b, %d, %e : tensor<3x10x2x16xf32>, tensor<3x10x2x16xf32>, tensor<3x10x2x16xf32>, tensor<3x10x2x16xf32>
}

// No token and no sequence.
// CHECK: @nothing result 0: nmse
// CHECK: @nothing result 1: nmse
func.func @nothing(%q: tensor<0x4x16xf32>, %k: tensor<0x2x16xf32>) -> (tensor<0x4x16xf32>, tensor<1x0x2x16xf32>) {
  %slots = arith.constant dense<> : tensor<0xi32>
  %t = arith.constant dense<0> : tensor<1x1xi32>
  %l = arith.constant dense<0> : tensor<1xi32>
  %offs = arith.constant dense<0> : tensor<2xi32>
  %zero = arith.constant 0 : index
  %c0 = llm.create_paged_cache : !cache
  %c = llm.append_kv %c0, %k, %k slots(%slots) layer(%zero) : (!cache, tensor<0x2x16xf32>, tensor<0x2x16xf32>, tensor<0xi32>) -> !cache
  %o = llm.paged_attention %q, %c, %t, %l offsets(%offs) layer(%zero) : (tensor<0x4x16xf32>, !cache, tensor<1x1xi32>, tensor<1xi32>, tensor<2xi32>) -> tensor<0x4x16xf32>
  %a, %b = llm.lookup_kv %c, %t, %l : (!cache, tensor<1x1xi32>, tensor<1xi32>) -> (tensor<1x0x2x16xf32>, tensor<1x0x2x16xf32>)
  return %o, %a : tensor<0x4x16xf32>, tensor<1x0x2x16xf32>
}
