// Appends keys and values of two sequences to a paged cache and reads them back.
//
// RUN: llmir-translate --interpret %s
// RUN: llmir-translate --execute %s
// RUN: llmir-translate --compare %s

// Layers, heads, head size, tokens per block, maximum sequence length.
!cache = !llm.paged_kv_cache<f32, 1, 1, 2, 2, 8>

func.func @main() {
  %cache = llm.create_paged_cache : !cache
  %seq_ids = arith.constant dense<[100, 101]> : tensor<2xi32>
  // [batch, tokens, heads, head size]
  %keys = arith.constant dense<[[[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]],
                                [[[7.0, 8.0]], [[9.0, 10.0]], [[11.0, 12.0]]]]> : tensor<2x3x1x2xf32>
  %values = llm.add %keys, %keys : tensor<2x3x1x2xf32>

  // Three tokens of each sequence fill one block of two and half of another. The
  // append returns the block table of each sequence, as many blocks as fit into
  // its result, followed by -1.
  %1, %blocks = llm.append_kv %cache, %keys, %values, %seq_ids {block_size = 2 : i32, max_seq_len = 8 : i32}
      : (!cache, tensor<2x3x1x2xf32>, tensor<2x3x1x2xf32>, tensor<2xi32>) -> (!cache, tensor<2x3xi32>)
  %expected_blocks = arith.constant dense<[[0, 1, -1], [2, 3, -1]]> : tensor<2x3xi32>
  check.expect_equal %blocks, %expected_blocks : tensor<2x3xi32>

  // The lookup returns what was appended.
  %seq_lens = arith.constant dense<3> : tensor<2xi32>
  %k, %v = llm.lookup_kv %1, %blocks, %seq_lens
      : (!cache, tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3x1x2xf32>, tensor<2x3x1x2xf32>)
  check.expect_equal %k, %keys : tensor<2x3x1x2xf32>
  check.expect_equal %v, %values : tensor<2x3x1x2xf32>

  // Elements past a sequence's length are zero.
  %short_lens = arith.constant dense<[1, 0]> : tensor<2xi32>
  %short, %unused = llm.lookup_kv %1, %blocks, %short_lens
      : (!cache, tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3x1x2xf32>, tensor<2x3x1x2xf32>)
  %first = arith.constant dense<[[[[1.0, 2.0]], [[0.0, 0.0]], [[0.0, 0.0]]],
                                 [[[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]]]]> : tensor<2x3x1x2xf32>
  check.expect_equal %short, %first : tensor<2x3x1x2xf32>

  // A fork shares its parent's blocks; tokens appended to it are its own.
  %from = arith.constant dense<[100]> : tensor<1xi32>
  %to = arith.constant dense<[200]> : tensor<1xi32>
  %2 = llm.fork_kv %1, %from, %to : (!cache, tensor<1xi32>, tensor<1xi32>) -> !cache
  %token = arith.constant dense<[[[[-1.0, -2.0]]]]> : tensor<1x1x1x2xf32>
  %3, %fork_block = llm.append_kv %2, %token, %token, %to
      : (!cache, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi32>) -> (!cache, tensor<1x1xi32>)
  // One block is enough to identify a sequence: all four tokens of the fork.
  %fork_len = arith.constant dense<4> : tensor<1xi32>
  %k_fork, %v_fork = llm.lookup_kv %3, %fork_block, %fork_len
      : (!cache, tensor<1x1xi32>, tensor<1xi32>) -> (tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>)
  %fork_keys = arith.constant dense<[[[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]], [[-1.0, -2.0]]]]> : tensor<1x4x1x2xf32>
  check.expect_equal %k_fork, %fork_keys : tensor<1x4x1x2xf32>
  %k_after, %v_after = llm.lookup_kv %3, %blocks, %seq_lens
      : (!cache, tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3x1x2xf32>, tensor<2x3x1x2xf32>)
  check.expect_equal %k_after, %keys : tensor<2x3x1x2xf32>
  return
}
