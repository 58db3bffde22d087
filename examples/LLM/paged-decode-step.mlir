// A decode step: two sequences with five and three cached tokens get one token
// each, which is appended and attends in a ragged batch. The result equals that
// of plain attention over all keys and values.
//
// RUN: llmir-translate --interpret %s
// RUN: llmir-translate --execute %s
// RUN: llmir-translate --compare %s

// Two layers; blocks of four tokens; two query heads share a KV head.
!cache = !llm.paged_kv_cache<f32, 2, 1, 4, 4, 16>

// Arguments are filled with random numbers.
func.func @decode_step(
    %keys0: tensor<5x1x4xf32>, %values0: tensor<5x1x4xf32>,
    %keys1: tensor<3x1x4xf32>, %values1: tensor<3x1x4xf32>,
    %q: tensor<2x2x4xf32>, %k: tensor<2x1x4xf32>, %v: tensor<2x1x4xf32>) {
  %layer = arith.constant 1 : index
  %cache = llm.create_paged_cache : !cache

  // Fill the cache. A host reserves blocks before a step; reserve_kv returns the
  // slot of each new token.
  %id0 = arith.constant dense<[7]> : tensor<1xi32>
  %id1 = arith.constant dense<[9]> : tensor<1xi32>
  %r0:5 = llm.reserve_kv %cache, %id0 layer(%layer) {tokens = 5}
      : (!cache, tensor<1xi32>) -> (!cache, tensor<5xi32>, tensor<1x5xi32>, tensor<1x4xi32>, tensor<1xi32>)
  %c0 = llm.append_kv %r0#0, %keys0, %values0 slots(%r0#1) layer(%layer)
      : (!cache, tensor<5x1x4xf32>, tensor<5x1x4xf32>, tensor<5xi32>) -> !cache
  %r1:5 = llm.reserve_kv %c0, %id1 layer(%layer) {tokens = 3}
      : (!cache, tensor<1xi32>) -> (!cache, tensor<3xi32>, tensor<1x3xi32>, tensor<1x4xi32>, tensor<1xi32>)
  %c1 = llm.append_kv %r1#0, %keys1, %values1 slots(%r1#1) layer(%layer)
      : (!cache, tensor<3x1x4xf32>, tensor<3x1x4xf32>, tensor<3xi32>) -> !cache

  // The step: tokens of both sequences in one batch.
  %ids = arith.constant dense<[7, 9]> : tensor<2xi32>
  %step:5 = llm.reserve_kv %c1, %ids layer(%layer) {tokens = 1}
      : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x4xi32>, tensor<2xi32>)
  %lens = arith.constant dense<[6, 4]> : tensor<2xi32>
  check.expect_equal %step#4, %lens : tensor<2xi32>
  %offsets = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %c2 = llm.append_kv %step#0, %k, %v slots(%step#1) layer(%layer)
      : (!cache, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2xi32>) -> !cache
  %o = llm.paged_attention %q, %c2, %step#3, %step#4 offsets(%offsets) layer(%layer)
      : (tensor<2x2x4xf32>, !cache, tensor<2x4xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<2x2x4xf32>

  // The same without a cache.
  %k0 = tensor.extract_slice %k[0, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<2x1x4xf32> to tensor<1x1x4xf32>
  %v0 = tensor.extract_slice %v[0, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<2x1x4xf32> to tensor<1x1x4xf32>
  %q0 = tensor.extract_slice %q[0, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x2x4xf32> to tensor<1x2x4xf32>
  %all_k0 = tensor.concat dim(0) %keys0, %k0 : (tensor<5x1x4xf32>, tensor<1x1x4xf32>) -> tensor<6x1x4xf32>
  %all_v0 = tensor.concat dim(0) %values0, %v0 : (tensor<5x1x4xf32>, tensor<1x1x4xf32>) -> tensor<6x1x4xf32>
  %bq0 = tensor.expand_shape %q0 [[0, 1], [2], [3]] output_shape [1, 1, 2, 4] : tensor<1x2x4xf32> into tensor<1x1x2x4xf32>
  %bk0 = tensor.expand_shape %all_k0 [[0, 1], [2], [3]] output_shape [1, 6, 1, 4] : tensor<6x1x4xf32> into tensor<1x6x1x4xf32>
  %bv0 = tensor.expand_shape %all_v0 [[0, 1], [2], [3]] output_shape [1, 6, 1, 4] : tensor<6x1x4xf32> into tensor<1x6x1x4xf32>
  %e0 = llm.attention %bq0, %bk0, %bv0
      : (tensor<1x1x2x4xf32>, tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>) -> tensor<1x1x2x4xf32>
  %o0 = tensor.extract_slice %o[0, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x2x4xf32> to tensor<1x2x4xf32>
  %bo0 = tensor.expand_shape %o0 [[0, 1], [2], [3]] output_shape [1, 1, 2, 4] : tensor<1x2x4xf32> into tensor<1x1x2x4xf32>
  check.expect_close %bo0, %e0 {nmse = 1.0e-12 : f64} : tensor<1x1x2x4xf32>
  return
}

// Results that can be checked by hand: all keys are equal, so the values have
// equal weights, and the result is their mean.
func.func @mean_of_values() {
  %layer = arith.constant 0 : index
  %cache = llm.create_paged_cache : !cache
  %id = arith.constant dense<[0]> : tensor<1xi32>
  %keys = arith.constant dense<1.0> : tensor<3x1x4xf32>
  %values = arith.constant dense<[[[0.0, 1.0, 2.0, 3.0]], [[3.0, 4.0, 5.0, 6.0]], [[6.0, 1.0, -1.0, 0.0]]]> : tensor<3x1x4xf32>
  %r:5 = llm.reserve_kv %cache, %id layer(%layer) {tokens = 3}
      : (!cache, tensor<1xi32>) -> (!cache, tensor<3xi32>, tensor<1x3xi32>, tensor<1x4xi32>, tensor<1xi32>)
  %c = llm.append_kv %r#0, %keys, %values slots(%r#1) layer(%layer)
      : (!cache, tensor<3x1x4xf32>, tensor<3x1x4xf32>, tensor<3xi32>) -> !cache
  %q = arith.constant dense<0.25> : tensor<1x2x4xf32>
  %offsets = arith.constant dense<[0, 1]> : tensor<2xi32>
  %o = llm.paged_attention %q, %c, %r#3, %r#4 offsets(%offsets) layer(%layer)
      : (tensor<1x2x4xf32>, !cache, tensor<1x4xi32>, tensor<1xi32>, tensor<2xi32>) -> tensor<1x2x4xf32>
  %mean = arith.constant dense<[[[3.0, 2.0, 2.0, 3.0], [3.0, 2.0, 2.0, 3.0]]]> : tensor<1x2x4xf32>
  check.expect_close %o, %mean {nmse = 1.0e-12 : f64} : tensor<1x2x4xf32>
  return
}
