// Rows and lengths that are refused, by the interpreter and by compiled code in
// the same words.

// RUN: not llmir-translate %s --interpret 2>&1 | FileCheck %s --implicit-check-not="result 0" --check-prefixes=CHECK,INTERPRET
// RUN: not llmir-translate %s --execute 2>&1 | FileCheck %s --implicit-check-not="result 0" --check-prefixes=CHECK,EXECUTE
// RUN: not llmir-translate %s --execute --workers=3 --level=x86-64-v3 2>&1 | FileCheck %s --implicit-check-not="result 0" --check-prefixes=CHECK,EXECUTE
// RUN: llmir-opt %s --llm-lower-kv-cache-ops --canonicalize -o %t.lowered.mlir
// RUN: not llmir-translate %t.lowered.mlir --interpret 2>&1 | FileCheck %s --implicit-check-not="result 0"
// RUN: llmir-opt %s --llm-optimize-kv-cache --canonicalize -o %t.optimized.mlir
// RUN: not llmir-translate %t.optimized.mlir --execute 2>&1 | FileCheck %s --implicit-check-not="result 0"

// Two layers; blocks of 4 tokens; 32 blocks, since the pool is for 8 sequences of
// 16 tokens.
!cache = !llm.paged_kv_cache<f32, 2, 1, 2, 4, 16>

// INTERPRET: error: 'llm.lookup_kv' op cannot be evaluated:
// EXECUTE: error: cannot be run:

// CHECK: KV cache: row 0 has length 6, but sequence 7 has 5 tokens in layer 0
func.func @longer() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[6, 5]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// CHECK: KV cache: row 1 has length 7, but sequence 3 has 5 tokens in layer 0
func.func @longer_of_other() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 7]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// CHECK: KV cache: row 0 has length 17, {{which is not from 0 to the cache's maximum of 16|but the result has room for 16 tokens}}
func.func @beyond_the_cache() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[17, 5]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// CHECK: KV cache: row 1 has length -1, which is not from 0 to the cache's maximum of 16
func.func @negative() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, -1]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// CHECK: KV cache: row 0 has length 5, but the result has room for 4 tokens
func.func @no_room() -> tensor<2x4x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 4]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x4x1x2xf32>, tensor<2x4x1x2xf32>)
  return %o : tensor<2x4x1x2xf32>
}

// CHECK: KV cache: row 0 has length 1, but none of its entries is a block
func.func @no_block() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[-1, -1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[1, 5]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// CHECK: KV cache: row 1 has block 9 in entry 1, which belongs to no sequence
func.func @unowned() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[0, 1], [2, 9]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 5]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// CHECK: KV cache: row 1 has block 32 in entry 0; the cache has blocks 0 to 31
func.func @beyond_the_pool() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[0, 1], [32, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 5]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// CHECK: KV cache: row 1 has block -2 in entry 0; the cache has blocks 0 to 31
func.func @below_the_pool() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[0, 1], [-2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 5]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// CHECK: KV cache: row 0 mixes sequences: block 3 in entry 1 belongs to sequence 3, which has block 2 where entry 0 has block 0
func.func @mixed() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[0, 3], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 5]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// CHECK: KV cache: row 0 mixes sequences: block 0 in entry 1 belongs to sequence 7, which has 0 blocks before it, not 1
func.func @backward() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 5]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// CHECK: KV cache: row 0 has block 1 in entry 1, after -1 in entry 0; only entries after the last block are -1
func.func @padded_first() -> tensor<2x16x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %rows = arith.constant dense<[[-1, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 5]> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %rows, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x16x1x2xf32>, tensor<2x16x1x2xf32>)
  return %o : tensor<2x16x1x2xf32>
}

// What is in another layer does not count; nor does a cache without sequences.
// CHECK: KV cache: row 0 has length 5, but sequence 7 has 0 tokens in layer 1
func.func @other_layer() -> tensor<2x5x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %l = arith.constant 1 : index
  %lens = arith.constant dense<5> : tensor<2xi32>
  %o, %v = llm.lookup_kv %c, %b, %lens layer(%l)
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>)
  return %o : tensor<2x5x1x2xf32>
}

// CHECK: KV cache: row 0 has block 0 in entry 0, which belongs to no sequence
func.func @new_cache() -> tensor<1x5x1x2xf32> {
  %c = llm.create_paged_cache : !cache
  %row = arith.constant dense<0> : tensor<1xi32>
  %lens = arith.constant dense<5> : tensor<1xi32>
  %o, %v = llm.lookup_kv %c, %row, %lens
      : (!cache, tensor<1xi32>, tensor<1xi32>) -> (tensor<1x5x1x2xf32>, tensor<1x5x1x2xf32>)
  return %o : tensor<1x5x1x2xf32>
}

// Two sequences that part after the block that the row ends with.
// CHECK: KV cache: row 0 has length 6, but its last block 0 belongs to sequences 3 and 7, which differ from token 4 on; use a row that ends with a block of only one of them
func.func @parted() -> tensor<1x6x1x2xf32> {
  %a = arith.constant dense<7> : tensor<1xi32>
  %b = arith.constant dense<3> : tensor<1xi32>
  %ab = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<1x5x1x2xf32>
  %k1 = arith.constant dense<2.0> : tensor<2x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c1, %first = llm.append_kv %c0, %k, %k, %a : (!cache, tensor<1x5x1x2xf32>, tensor<1x5x1x2xf32>, tensor<1xi32>) -> (!cache, tensor<1x1xi32>)
  %c2 = llm.fork_kv %c1, %a, %b : (!cache, tensor<1xi32>, tensor<1xi32>) -> !cache
  %c3, %rows = llm.append_kv %c2, %k1, %k1, %ab : (!cache, tensor<2x1x2xf32>, tensor<2x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  %row = arith.constant dense<0> : tensor<1xi32>
  %lens = arith.constant dense<6> : tensor<1xi32>
  %o, %v = llm.lookup_kv %c3, %row, %lens
      : (!cache, tensor<1xi32>, tensor<1xi32>) -> (tensor<1x6x1x2xf32>, tensor<1x6x1x2xf32>)
  return %o : tensor<1x6x1x2xf32>
}

// Zero keys would join the softmax.
// CHECK: KV cache: row 1 has length 6, but sequence 3 has 5 tokens in layer 0
func.func @attention(%q: tensor<2x1x1x2xf32>) -> tensor<2x1x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %lens = arith.constant dense<[5, 6]> : tensor<2xi32>
  %o = llm.paged_attention %q, %c, %b, %lens
      : (tensor<2x1x1x2xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x1x1x2xf32>
  return %o : tensor<2x1x1x2xf32>
}

// A mask for each head keeps the batched form; it must have the columns.
// CHECK: paged attention: row 0 has length 5, but the mask has 4 columns
func.func @mask(%q: tensor<2x1x2x2xf32>, %m: tensor<2x2x1x4xf32>) -> tensor<2x1x2x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %lens = arith.constant dense<[5, 5]> : tensor<2xi32>
  %o = llm.paged_attention %q, %c, %b, %lens mask(%m)
      : (tensor<2x1x2x2xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>, tensor<2x2x1x4xf32>) -> tensor<2x1x2x2xf32>
  return %o : tensor<2x1x2x2xf32>
}

// CHECK: paged attention: row 1 has 3 queries, but only 2 tokens
func.func @queries(%q: tensor<2x3x1x2xf32>) -> tensor<2x3x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %lens = arith.constant dense<[5, 2]> : tensor<2xi32>
  %o = llm.paged_attention %q, %c, %b, %lens
      : (tensor<2x3x1x2xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x3x1x2xf32>
  return %o : tensor<2x3x1x2xf32>
}

// CHECK: KV cache: row 0 has length 7, but sequence 7 has 6 tokens in layer 0
func.func @fused(%q: tensor<2x1x1x2xf32>) -> tensor<2x1x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %lens = arith.constant dense<[7, 6]> : tensor<2xi32>
  %k1 = arith.constant dense<2.0> : tensor<2x1x1x2xf32>
  %o, %d, %r = llm.fused_attention %q, %k1, %k1, %c, %ids, %b, %lens
      : (tensor<2x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2x1x1x2xf32>, !cache, tensor<2xi32>, tensor<2x2xi32>, tensor<2xi32>)
        -> (tensor<2x1x1x2xf32>, !cache, tensor<2x1xi32>)
  return %o : tensor<2x1x1x2xf32>
}

// CHECK: KV cache: row 0 has length 6, but sequence 7 has 5 tokens in layer 0
func.func @block_tables() -> tensor<2x4xi32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %lens = arith.constant dense<6> : tensor<2xi32>
  %t = llm.block_tables %c, %b, %lens : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x4xi32>
  return %t : tensor<2x4xi32>
}

// The ragged form: explicit tables, which the caller answers for, and of which
// nothing is read that is not there.
// CHECK: paged attention: row 0 has block 32 in entry 1; the cache has blocks 0 to 31
func.func @ragged_block(%q: tensor<3x1x2xf32>) -> tensor<3x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %tables = arith.constant dense<[[0, 32], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 5]> : tensor<2xi32>
  %offs = arith.constant dense<[0, 1, 3]> : tensor<3xi32>
  %l = arith.constant 0 : index
  %o = llm.paged_attention %q, %c, %tables, %lens offsets(%offs) layer(%l)
      : (tensor<3x1x2xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<3x1x2xf32>
  return %o : tensor<3x1x2xf32>
}

// CHECK: paged attention: row 1 has length 9, but 2 blocks of 4 tokens
func.func @ragged_length(%q: tensor<3x1x2xf32>) -> tensor<3x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %tables = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 9]> : tensor<2xi32>
  %offs = arith.constant dense<[0, 1, 3]> : tensor<3xi32>
  %l = arith.constant 0 : index
  %o = llm.paged_attention %q, %c, %tables, %lens offsets(%offs) layer(%l)
      : (tensor<3x1x2xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<3x1x2xf32>
  return %o : tensor<3x1x2xf32>
}

// CHECK: paged attention: row 0 has length 17, which is not from 0 to the cache's maximum of 16
func.func @ragged_longest(%q: tensor<3x1x2xf32>) -> tensor<3x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %tables = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[17, 5]> : tensor<2xi32>
  %offs = arith.constant dense<[0, 1, 3]> : tensor<3xi32>
  %l = arith.constant 0 : index
  %o = llm.paged_attention %q, %c, %tables, %lens offsets(%offs) layer(%l)
      : (tensor<3x1x2xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<3x1x2xf32>
  return %o : tensor<3x1x2xf32>
}

// CHECK: paged attention: offsets go from 0 to 4 for 3 query rows
func.func @ragged_offsets(%q: tensor<3x1x2xf32>) -> tensor<3x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %tables = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 5]> : tensor<2xi32>
  %offs = arith.constant dense<[0, 1, 4]> : tensor<3xi32>
  %l = arith.constant 0 : index
  %o = llm.paged_attention %q, %c, %tables, %lens offsets(%offs) layer(%l)
      : (tensor<3x1x2xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<3x1x2xf32>
  return %o : tensor<3x1x2xf32>
}

// CHECK: paged attention: the offsets of row 1 descend from 4 to 3
func.func @ragged_descending(%q: tensor<3x1x2xf32>) -> tensor<3x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %tables = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 5]> : tensor<2xi32>
  %offs = arith.constant dense<[0, 4, 3]> : tensor<3xi32>
  %l = arith.constant 0 : index
  %o = llm.paged_attention %q, %c, %tables, %lens offsets(%offs) layer(%l)
      : (tensor<3x1x2xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<3x1x2xf32>
  return %o : tensor<3x1x2xf32>
}

// CHECK: paged attention: row 1 has 2 queries, but only 1 token
func.func @ragged_queries(%q: tensor<3x1x2xf32>) -> tensor<3x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %tables = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[5, 1]> : tensor<2xi32>
  %offs = arith.constant dense<[0, 1, 3]> : tensor<3xi32>
  %l = arith.constant 0 : index
  %o = llm.paged_attention %q, %c, %tables, %lens offsets(%offs) layer(%l)
      : (tensor<3x1x2xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<3x1x2xf32>
  return %o : tensor<3x1x2xf32>
}

// CHECK: paged attention: row 1 has length 5, but the mask has 4 columns
func.func @ragged_mask(%q: tensor<3x1x2xf32>, %m: tensor<3x4xf32>) -> tensor<3x1x2xf32> {
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %k = arith.constant dense<1.0> : tensor<2x5x1x2xf32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x5x1x2xf32>, tensor<2x5x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x2xi32>)
  %tables = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<[4, 5]> : tensor<2xi32>
  %offs = arith.constant dense<[0, 1, 3]> : tensor<3xi32>
  %l = arith.constant 0 : index
  %o = llm.paged_attention %q, %c, %tables, %lens offsets(%offs) layer(%l) mask(%m)
      : (tensor<3x1x2xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3x4xf32>) -> tensor<3x1x2xf32>
  return %o : tensor<3x1x2xf32>
}

// CHECK: KV cache: token 1 goes to slot 128; there are 128
func.func @slots(%k: tensor<2x1x2xf32>) -> !cache {
  %c0 = llm.create_paged_cache : !cache
  %slots = arith.constant dense<[127, 128]> : tensor<2xi32>
  %l = arith.constant 0 : index
  %c = llm.append_kv %c0, %k, %k slots(%slots) layer(%l)
      : (!cache, tensor<2x1x2xf32>, tensor<2x1x2xf32>, tensor<2xi32>) -> !cache
  return %c : !cache
}

// CHECK: KV cache: sequence 7 is listed twice
func.func @append_twice(%k: tensor<2x1x1x2xf32>) -> tensor<2xi32> {
  %ids = arith.constant dense<7> : tensor<2xi32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<2x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2xi32>)
  return %b : tensor<2xi32>
}

// CHECK: 17 tokens{{.* (the maximum of the cache is|at most) 16}}
func.func @append_too_many(%k: tensor<1x17x1x2xf32>) -> tensor<1xi32> {
  %ids = arith.constant dense<7> : tensor<1xi32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<1x17x1x2xf32>, tensor<1x17x1x2xf32>, tensor<1xi32>) -> (!cache, tensor<1xi32>)
  return %b : tensor<1xi32>
}

// The sources of a fork are there before it.
// CHECK: sequence 8 does not exist
func.func @fork_of_a_fork(%k: tensor<1x1x1x2xf32>) -> !cache {
  %ids = arith.constant dense<7> : tensor<1xi32>
  %from = arith.constant dense<[7, 8]> : tensor<2xi32>
  %to = arith.constant dense<[8, 9]> : tensor<2xi32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi32>) -> (!cache, tensor<1xi32>)
  %c2 = llm.fork_kv %c, %from, %to : (!cache, tensor<2xi32>, tensor<2xi32>) -> !cache
  return %c2 : !cache
}

// CHECK: KV cache: sequence 7 is listed twice
func.func @free_twice(%k: tensor<1x1x1x2xf32>) -> !cache {
  %ids = arith.constant dense<7> : tensor<1xi32>
  %both = arith.constant dense<7> : tensor<2xi32>
  %c0 = llm.create_paged_cache : !cache
  %c, %b = llm.append_kv %c0, %k, %k, %ids : (!cache, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi32>) -> (!cache, tensor<1xi32>)
  %c2 = llm.free_kv %c, %both : (!cache, tensor<2xi32>) -> !cache
  return %c2 : !cache
}
