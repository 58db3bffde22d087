// RUN: llmir-translate --compare %s | FileCheck %s

// Ops that passes make: each runs as it is, and is what its parts are.

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 8, 32>

// CHECK-COUNT-3: @fused_linear result {{[0-2]}}: nmse
func.func @fused_linear(%x: tensor<5x64xf32>, %g: tensor<64xf32>, %wq: tensor<64x64xbf16>, %wk: tensor<32x64xbf16>,
    %wv: tensor<32x64xf32>, %bq: tensor<64xf32>, %bk: tensor<32xf32>, %bv: tensor<32xf32>)
    -> (tensor<5x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>) {
  %q, %k, %v = llm.fused_linear %x norm(%g) weights(%wq, %wk, %wv) biases(%bq, %bk, %bv) {norm_eps = 1.0e-5 : f64}
    : (tensor<5x64xf32>, tensor<64xf32>, tensor<64x64xbf16>, tensor<32x64xbf16>, tensor<32x64xf32>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>)
      -> (tensor<5x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>)
  %n = llm.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<5x64xf32>, tensor<64xf32>
  %k1 = llm.linear %n, %wk bias %bk : tensor<5x64xf32>, tensor<32x64xbf16>, tensor<32xf32> -> tensor<5x32xf32>
  check.expect_close %k, %k1 : tensor<5x32xf32>
  return %q, %k, %v : tensor<5x64xf32>, tensor<5x32xf32>, tensor<5x32xf32>
}

// CHECK-COUNT-2: @add_rms_norm result {{[01]}}: nmse
func.func @add_rms_norm(%x: tensor<3x48xf32>, %r: tensor<3x48xf32>, %g: tensor<48xf32>) -> (tensor<3x48xf32>, tensor<3x48xf32>) {
  %n, %s = llm.add_rms_norm %x, %r, %g {eps = 1.0e-5 : f64} : tensor<3x48xf32>, tensor<48xf32>
  %s1 = llm.add %x, %r : tensor<3x48xf32>
  %n1 = llm.rms_norm %s1, %g {eps = 1.0e-5 : f64} : tensor<3x48xf32>, tensor<48xf32>
  check.expect_close %n, %n1 : tensor<3x48xf32>
  check.expect_equal %s, %s1 : tensor<3x48xf32>
  return %n, %s : tensor<3x48xf32>, tensor<3x48xf32>
}

// Nine tokens, over the border of a block, rotated on their way into layer 1.
// CHECK: @rope_append_kv result 0: nmse
func.func @rope_append_kv(%k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %q: tensor<9x4x16xf32>) -> tensor<9x4x16xf32> {
  %l = arith.constant 1 : index
  %id = arith.constant dense<[3]> : tensor<1xi32>
  %positions = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8]> : tensor<9xi32>
  %offsets = arith.constant dense<[0, 9]> : tensor<2xi32>
  %c = llm.create_paged_cache : !cache
  %r:5 = llm.reserve_kv %c, %id layer(%l) {tokens = 9}
      : (!cache, tensor<1xi32>) -> (!cache, tensor<9xi32>, tensor<1x9xi32>, tensor<1x4xi32>, tensor<1xi32>)
  %c2 = llm.rope_append_kv %r#0, %k, %v positions(%positions) slots(%r#1) layer(%l) {frequencies = array<f64: 1.0, 0.5, 0.25, 0.125>}
      : (!cache, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<9xi32>, tensor<9xi32>, index) -> !cache
  %o = llm.paged_attention %q, %c2, %r#3, %r#4 offsets(%offsets) layer(%l)
      : (tensor<9x4x16xf32>, !cache, tensor<1x4xi32>, tensor<1xi32>, tensor<2xi32>) -> tensor<9x4x16xf32>
  return %o : tensor<9x4x16xf32>
}

// Two sequences, three tokens each, in the batched and in the ragged form.
// CHECK: @fused_attention result 0: nmse
// CHECK: @fused_attention result 1: equal
// CHECK: @fused_attention result 2: nmse
func.func @fused_attention(%q: tensor<2x3x4x16xf32>, %k: tensor<2x3x2x16xf32>, %v: tensor<2x3x2x16xf32>)
    -> (tensor<2x3x4x16xf32>, tensor<2x3xi32>, tensor<6x4x16xf32>) {
  %ids = arith.constant dense<[1, 2]> : tensor<2xi32>
  %tables = arith.constant dense<[[0, -1, -1, -1], [1, -1, -1, -1]]> : tensor<2x4xi32>
  %lens = arith.constant dense<3> : tensor<2xi32>
  %l = arith.constant 0 : index
  %c = llm.create_paged_cache : !cache
  %o, %c2, %blocks = llm.fused_attention %q, %k, %v, %c, %ids, %tables, %lens layer(%l) {soft_cap = 20.0 : f64}
      : (tensor<2x3x4x16xf32>, tensor<2x3x2x16xf32>, tensor<2x3x2x16xf32>, !cache, tensor<2xi32>, tensor<2x4xi32>, tensor<2xi32>)
        -> (tensor<2x3x4x16xf32>, !cache, tensor<2x3xi32>)

  %others = arith.constant dense<[3, 4]> : tensor<2xi32>
  %r:5 = llm.reserve_kv %c2, %others layer(%l) {tokens = 3}
      : (!cache, tensor<2xi32>) -> (!cache, tensor<6xi32>, tensor<2x3xi32>, tensor<2x4xi32>, tensor<2xi32>)
  %qr = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x3x4x16xf32> into tensor<6x4x16xf32>
  %kr = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x3x2x16xf32> into tensor<6x2x16xf32>
  %vr = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x3x2x16xf32> into tensor<6x2x16xf32>
  %offsets = arith.constant dense<[0, 3, 6]> : tensor<3xi32>
  %p, %d2 = llm.fused_attention %qr, %kr, %vr, %r#0, %r#3, %r#4 slots(%r#1) offsets(%offsets) layer(%l) {soft_cap = 20.0 : f64}
      : (tensor<6x4x16xf32>, tensor<6x2x16xf32>, tensor<6x2x16xf32>, !cache, tensor<2x4xi32>, tensor<2xi32>, tensor<6xi32>, tensor<3xi32>)
        -> (tensor<6x4x16xf32>, !cache)
  %or = tensor.collapse_shape %o [[0, 1], [2], [3]] : tensor<2x3x4x16xf32> into tensor<6x4x16xf32>
  check.expect_close %or, %p : tensor<6x4x16xf32>
  return %o, %blocks, %p : tensor<2x3x4x16xf32>, tensor<2x3xi32>, tensor<6x4x16xf32>
}
