// RUN: llmir-translate --interpret %s

!cache = !llm.paged_kv_cache<f32, 2, 2, 4, 4, 32>
!wide = !llm.paged_kv_cache<f16, 1, 1, 4, 4, 32, valueDim = 2>

// Attention over a cache is attention over the appended tokens: two sequences
// of 5 and 3 tokens, then a token each, in layer 1.
// SPEC: 58: [batch, tokens, heads, head size]
func.func @append_then_attend(
    %k: tensor<2x5x2x4xf32>, %v: tensor<2x5x2x4xf32>, %k1: tensor<2x1x2x4xf32>, %v1: tensor<2x1x2x4xf32>,
    %q: tensor<2x1x4x4xf32>) {
  %c0 = llm.create_paged_cache : !cache
  %ids = arith.constant dense<[7, 3]> : tensor<2xi32>
  %c1, %b1 = llm.append_kv %c0, %k, %v, %ids
      : (!cache, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2xi32>) -> (!cache, tensor<2x5xi32>)
  // The last five blocks of each table, which has two.
  %blocks = arith.constant dense<[[0, 1, -1, -1, -1], [2, 3, -1, -1, -1]]> : tensor<2x5xi32>
  check.expect_equal %b1, %blocks : tensor<2x5xi32>
  %c2, %b2 = llm.append_kv %c1, %k1, %v1, %ids
      : (!cache, tensor<2x1x2x4xf32>, tensor<2x1x2x4xf32>, tensor<2xi32>) -> (!cache, tensor<2xi32>)
  %last = arith.constant dense<[1, 3]> : tensor<2xi32>
  check.expect_equal %b2, %last : tensor<2xi32>

  %tables = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %lens = arith.constant dense<6> : tensor<2xi32>
  %o = llm.paged_attention %q, %c2, %tables, %lens {window = 4}
      : (tensor<2x1x4x4xf32>, !cache, tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x1x4x4xf32>
  %keys = tensor.concat dim(1) %k, %k1 : (tensor<2x5x2x4xf32>, tensor<2x1x2x4xf32>) -> tensor<2x6x2x4xf32>
  %values = tensor.concat dim(1) %v, %v1 : (tensor<2x5x2x4xf32>, tensor<2x1x2x4xf32>) -> tensor<2x6x2x4xf32>
  %e = llm.attention %q, %keys, %values {causal = true, window = 4}
      : (tensor<2x1x4x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) -> tensor<2x1x4x4xf32>
  check.expect_equal %o, %e : tensor<2x1x4x4xf32>

  // A table, and the results of both appends: all identify the same sequences.
  %kk, %vv = llm.lookup_kv %c2, %tables, %lens
      : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>)
  check.expect_equal %kk, %keys : tensor<2x6x2x4xf32>
  check.expect_equal %vv, %values : tensor<2x6x2x4xf32>
  %kf, %vf = llm.lookup_kv %c2, %b1, %lens
      : (!cache, tensor<2x5xi32>, tensor<2xi32>) -> (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>)
  check.expect_equal %kf, %keys : tensor<2x6x2x4xf32>
  check.expect_equal %vf, %values : tensor<2x6x2x4xf32>
  %kl, %vl = llm.lookup_kv %c2, %b2, %lens
      : (!cache, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>)
  check.expect_equal %kl, %keys : tensor<2x6x2x4xf32>
  check.expect_equal %vl, %values : tensor<2x6x2x4xf32>
  %ol = llm.paged_attention %q, %c2, %b2, %lens {window = 4}
      : (tensor<2x1x4x4xf32>, !cache, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1x4x4xf32>
  check.expect_equal %ol, %e : tensor<2x1x4x4xf32>
  %of = llm.paged_attention %q, %c2, %b1, %lens {window = 4}
      : (tensor<2x1x4x4xf32>, !cache, tensor<2x5xi32>, tensor<2xi32>) -> tensor<2x1x4x4xf32>
  check.expect_equal %of, %e : tensor<2x1x4x4xf32>
  // Zeros after the lengths; a row of length 0 is not read.
  %short = arith.constant dense<[5, 0]> : tensor<2xi32>
  %anything = arith.constant dense<[[0, 1, -1, -1, -1], [99, 0, -1, -7, 3]]> : tensor<2x5xi32>
  %ks, %vs = llm.lookup_kv %c2, %anything, %short
      : (!cache, tensor<2x5xi32>, tensor<2xi32>) -> (tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>)
  %k0 = tensor.extract_slice %k[0, 0, 0, 0] [1, 5, 2, 4] [1, 1, 1, 1] : tensor<2x5x2x4xf32> to tensor<1x5x2x4xf32>
  %zero = arith.constant dense<0.0> : tensor<1x5x2x4xf32>
  %expected = tensor.concat dim(0) %k0, %zero : (tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>) -> tensor<2x5x2x4xf32>
  check.expect_equal %ks, %expected : tensor<2x5x2x4xf32>
  return
}

// The batched append is a reservation and the ragged append.
func.func @reserve(%k: tensor<2x3x2x4xf32>, %v: tensor<2x3x2x4xf32>) {
  %one = arith.constant 1 : index
  %c0 = llm.create_paged_cache : !cache
  %ids = arith.constant dense<[4, 9]> : tensor<2xi32>
  %a, %ba = llm.append_kv %c0, %k, %v, %ids layer(%one)
      : (!cache, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2xi32>) -> (!cache, tensor<2x3xi32>)
  %r, %slots, %br, %tables, %lens = llm.reserve_kv %c0, %ids layer(%one) {tokens = 3}
      : (!cache, tensor<2xi32>) -> (!cache, tensor<6xi32>, tensor<2x3xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %kt = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x3x2x4xf32> into tensor<6x2x4xf32>
  %vt = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x3x2x4xf32> into tensor<6x2x4xf32>
  %b = llm.append_kv %r, %kt, %vt slots(%slots) layer(%one)
      : (!cache, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6xi32>) -> !cache
  check.expect_equal %a, %b : !cache
  check.expect_equal %ba, %br : tensor<2x3xi32>
  %s = arith.constant dense<[0, 1, 2, 4, 5, 6]> : tensor<6xi32>
  check.expect_equal %slots, %s : tensor<6xi32>
  %t = arith.constant dense<[[0, -1, -1, -1, -1, -1, -1, -1], [1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<2x8xi32>
  check.expect_equal %tables, %t : tensor<2x8xi32>
  %l = arith.constant dense<3> : tensor<2xi32>
  check.expect_equal %lens, %l : tensor<2xi32>
  return
}

// Two sequences of a ragged batch; keys of f32 are rounded to the cache's f16,
// and values have heads of another size.
func.func @ragged(%k: tensor<5x1x4xf32>, %v: tensor<5x1x2xf32>, %q: tensor<3x3x4xf16>) {
  %c0 = llm.create_paged_cache : !wide
  %slots = arith.constant dense<[8, 9, 4, 5, 6]> : tensor<5xi32>
  %c1 = llm.append_kv %c0, %k, %v slots(%slots)
      : (!wide, tensor<5x1x4xf32>, tensor<5x1x2xf32>, tensor<5xi32>) -> !wide
  %tables = arith.constant dense<[[2], [1]]> : tensor<2x1xi32>
  %lens = arith.constant dense<[2, 3]> : tensor<2xi32>
  %offsets = arith.constant dense<[0, 1, 3]> : tensor<3xi32>
  %o = llm.paged_attention %q, %c1, %tables, %lens offsets(%offsets)
      : (tensor<3x3x4xf16>, !wide, tensor<2x1xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<3x3x2xf16>

  %kh = arith.truncf %k : tensor<5x1x4xf32> to tensor<5x1x4xf16>
  %vh = arith.truncf %v : tensor<5x1x2xf32> to tensor<5x1x2xf16>
  %q1 = tensor.extract_slice %q[1, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<3x3x4xf16> to tensor<2x3x4xf16>
  %k1 = tensor.extract_slice %kh[2, 0, 0] [3, 1, 4] [1, 1, 1] : tensor<5x1x4xf16> to tensor<3x1x4xf16>
  %v1 = tensor.extract_slice %vh[2, 0, 0] [3, 1, 2] [1, 1, 1] : tensor<5x1x2xf16> to tensor<3x1x2xf16>
  %q2 = tensor.expand_shape %q1 [[0, 1], [2], [3]] output_shape [1, 2, 3, 4] : tensor<2x3x4xf16> into tensor<1x2x3x4xf16>
  %k2 = tensor.expand_shape %k1 [[0, 1], [2], [3]] output_shape [1, 3, 1, 4] : tensor<3x1x4xf16> into tensor<1x3x1x4xf16>
  %v2 = tensor.expand_shape %v1 [[0, 1], [2], [3]] output_shape [1, 3, 1, 2] : tensor<3x1x2xf16> into tensor<1x3x1x2xf16>
  %e = llm.attention %q2, %k2, %v2 {causal = true}
      : (tensor<1x2x3x4xf16>, tensor<1x3x1x4xf16>, tensor<1x3x1x2xf16>) -> tensor<1x2x3x2xf16>
  %o2 = tensor.extract_slice %o[1, 0, 0] [2, 3, 2] [1, 1, 1] : tensor<3x3x2xf16> to tensor<2x3x2xf16>
  %o1 = tensor.expand_shape %o2 [[0, 1], [2], [3]] output_shape [1, 2, 3, 2] : tensor<2x3x2xf16> into tensor<1x2x3x2xf16>
  check.expect_equal %o1, %e : tensor<1x2x3x2xf16>
  return
}

// A fork shares blocks until one of the two writes; freeing releases them.
func.func @fork_and_free(%k: tensor<1x6x2x4xf32>, %v: tensor<1x6x2x4xf32>, %k1: tensor<1x1x2x4xf32>, %v1: tensor<1x1x2x4xf32>) {
  %a = arith.constant dense<1> : tensor<1xi32>
  %b = arith.constant dense<2> : tensor<1xi32>
  %c0 = llm.create_paged_cache : !cache
  %c1, %b1 = llm.append_kv %c0, %k, %v, %a
      : (!cache, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1xi32>) -> (!cache, tensor<1x6xi32>)
  %c2 = llm.fork_kv %c1, %a, %b : (!cache, tensor<1xi32>, tensor<1xi32>) -> !cache
  %c3, %b3 = llm.append_kv %c2, %k1, %v1, %b
      : (!cache, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1xi32>) -> (!cache, tensor<1xi32>)
  %two = arith.constant dense<2> : tensor<1xi32>
  check.expect_equal %b3, %two : tensor<1xi32>
  %table = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %seven = arith.constant dense<7> : tensor<1xi32>
  %kk, %vv = llm.lookup_kv %c3, %table, %seven
      : (!cache, tensor<1x2xi32>, tensor<1xi32>) -> (tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>)
  %keys = tensor.concat dim(1) %k, %k1 : (tensor<1x6x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x7x2x4xf32>
  check.expect_equal %kk, %keys : tensor<1x7x2x4xf32>
  // The original still reads its own: by what its append gave, which was the
  // fork's as well then.
  %six = arith.constant dense<6> : tensor<1xi32>
  %k7, %v7 = llm.lookup_kv %c3, %b1, %six
      : (!cache, tensor<1x6xi32>, tensor<1xi32>) -> (tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>)
  %zero = arith.constant dense<0.0> : tensor<1x1x2x4xf32>
  %own = tensor.concat dim(1) %k, %zero : (tensor<1x6x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x7x2x4xf32>
  check.expect_equal %k7, %own : tensor<1x7x2x4xf32>
  // The block that only the freed sequence had is the next one to be given out.
  %c4 = llm.free_kv %c3, %a : (!cache, tensor<1xi32>) -> !cache
  %c5, %b5 = llm.append_kv %c4, %k1, %v1, %a
      : (!cache, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1xi32>) -> (!cache, tensor<1xi32>)
  %freed = arith.constant dense<1> : tensor<1xi32>
  check.expect_equal %b5, %freed : tensor<1xi32>
  return
}

// Exactly the append and then the attention, in both forms.
func.func @fused(%q: tensor<2x4x4xf32>, %k: tensor<2x2x4xf32>, %v: tensor<2x2x4xf32>) {
  %one = arith.constant 1 : index
  %c0 = llm.create_paged_cache : !cache
  %ids = arith.constant dense<[0, 1]> : tensor<2xi32>
  %r, %slots, %br, %tables, %lens = llm.reserve_kv %c0, %ids layer(%one) {tokens = 1}
      : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %offsets = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %o, %c1 = llm.fused_attention %q, %k, %v, %r, %tables, %lens slots(%slots) offsets(%offsets) layer(%one)
      : (tensor<2x4x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>,
         tensor<2xi32>, tensor<3xi32>) -> (tensor<2x4x4xf32>, !cache)
  %a = llm.append_kv %r, %k, %v slots(%slots) layer(%one)
      : (!cache, tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2xi32>) -> !cache
  %p = llm.paged_attention %q, %a, %tables, %lens offsets(%offsets) layer(%one)
      : (tensor<2x4x4xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<2x4x4xf32>
  check.expect_equal %o, %p : tensor<2x4x4xf32>
  check.expect_equal %c1, %a : !cache

  %ob, %cb, %ib = llm.fused_attention %q, %k, %v, %c0, %ids, %tables, %lens layer(%one)
      : (tensor<2x4x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>, !cache, tensor<2xi32>, tensor<2x8xi32>,
         tensor<2xi32>) -> (tensor<2x4x4xf32>, !cache, tensor<2x1xi32>)
  check.expect_equal %ob, %p : tensor<2x4x4xf32>
  check.expect_equal %cb, %a : !cache
  return
}

// Without a cache the tokens go to a new one.
func.func @append_to_none(%k: tensor<1x2x2x4xf32>, %v: tensor<1x2x2x4xf32>) {
  %id = arith.constant dense<5> : tensor<1xi32>
  %c, %b = llm.append_kv(%k, %v, %id)
      : (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1xi32>) -> (!cache, tensor<1x2xi32>)
  %lens = arith.constant dense<2> : tensor<1xi32>
  %kk, %vv = llm.lookup_kv(%b, %lens, %c)
      : (tensor<1x2xi32>, tensor<1xi32>, !cache) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>)
  check.expect_equal %kk, %k : tensor<1x2x2x4xf32>
  check.expect_equal %vv, %v : tensor<1x2x2x4xf32>
  return
}
