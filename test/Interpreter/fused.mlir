// RUN: llmir-translate --interpret %s

// Each fused op is its parts, in narrow types bit for bit as well.
func.func @fused_linear(%x: tensor<2x4xbf16>, %g: tensor<4xbf16>, %a: tensor<3x4xbf16>, %b: tensor<2x4xbf16>,
                        %ba: tensor<3xbf16>, %bb: tensor<2xbf16>) {
  %ya, %yb = llm.fused_linear %x norm(%g) weights(%a, %b) biases(%ba, %bb) {norm_eps = 1.0e-5 : f64}
      : (tensor<2x4xbf16>, tensor<4xbf16>, tensor<3x4xbf16>, tensor<2x4xbf16>, tensor<3xbf16>, tensor<2xbf16>)
        -> (tensor<2x3xbf16>, tensor<2x2xbf16>)
  %n = llm.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<2x4xbf16>, tensor<4xbf16>
  %ea = llm.linear %n, %a bias %ba : tensor<2x4xbf16>, tensor<3x4xbf16>, tensor<3xbf16> -> tensor<2x3xbf16>
  %eb = llm.linear %n, %b bias %bb : tensor<2x4xbf16>, tensor<2x4xbf16>, tensor<2xbf16> -> tensor<2x2xbf16>
  check.expect_equal %ya, %ea : tensor<2x3xbf16>
  check.expect_equal %yb, %eb : tensor<2x2xbf16>
  return
}

func.func @add_rms_norm(%x: tensor<2x4xbf16>, %r: tensor<2x4xbf16>, %g: tensor<4xbf16>) {
  %n, %s = llm.add_rms_norm %x, %r, %g {eps = 1.0e-5 : f64} : tensor<2x4xbf16>, tensor<4xbf16>
  %es = llm.add %x, %r : tensor<2x4xbf16>
  %en = llm.rms_norm %es, %g {eps = 1.0e-5 : f64} : tensor<2x4xbf16>, tensor<4xbf16>
  check.expect_equal %s, %es : tensor<2x4xbf16>
  check.expect_equal %n, %en : tensor<2x4xbf16>
  return
}

func.func @rope_append_kv(%k: tensor<2x1x4xf32>, %v: tensor<2x1x4xf32>) {
  %c = llm.create_paged_cache : !llm.paged_kv_cache<f32, 1, 1, 4, 4, 8>
  %p = arith.constant dense<[3, 4]> : tensor<2xi32>
  %s = arith.constant dense<[5, 6]> : tensor<2xi32>
  %a = llm.rope_append_kv %c, %k, %v positions(%p) slots(%s) {frequencies = array<f64: 1.0, 0.1>}
      : (!llm.paged_kv_cache<f32, 1, 1, 4, 4, 8>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2xi32>, tensor<2xi32>)
        -> !llm.paged_kv_cache<f32, 1, 1, 4, 4, 8>
  %r = llm.rope %k, %p {frequencies = array<f64: 1.0, 0.1>} : tensor<2x1x4xf32>, tensor<2xi32>
  %b = llm.append_kv %c, %r, %v slots(%s)
      : (!llm.paged_kv_cache<f32, 1, 1, 4, 4, 8>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2xi32>)
        -> !llm.paged_kv_cache<f32, 1, 1, 4, 4, 8>
  check.expect_equal %a, %b : !llm.paged_kv_cache<f32, 1, 1, 4, 4, 8>
  return
}
