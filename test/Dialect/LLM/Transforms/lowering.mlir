// RUN: llmir-opt %s --llm-lowering | FileCheck %s

!cache = !llm.paged_kv_cache<bf16, 3, 2, 4, 16, 256>

// CHECK-LABEL: @fused_linear
// CHECK: %[[N:.*]] = llm.rms_norm %arg0, %arg1 {eps = 1.000000e-05 : f64}
// CHECK: %[[A:.*]] = llm.linear %[[N]], %arg2 bias %arg4
// CHECK: %[[B:.*]] = llm.linear %[[N]], %arg3 bias %arg5
// CHECK: %[[C:.*]] = llm.linear %arg0, %arg2 :
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @fused_linear(%x: tensor<?x64xf32>, %g: tensor<64xf32>, %w0: tensor<32x64xbf16>, %w1: tensor<16x64xbf16>,
    %b0: tensor<32xf32>, %b1: tensor<16xf32>) -> (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x32xf32>) {
  %a, %b = llm.fused_linear %x norm(%g) weights(%w0, %w1) biases(%b0, %b1) {norm_eps = 1.0e-5 : f64}
    : (tensor<?x64xf32>, tensor<64xf32>, tensor<32x64xbf16>, tensor<16x64xbf16>, tensor<32xf32>, tensor<16xf32>)
      -> (tensor<?x32xf32>, tensor<?x16xf32>)
  %c = llm.fused_linear %x weights(%w0) : (tensor<?x64xf32>, tensor<32x64xbf16>) -> tensor<?x32xf32>
  return %a, %b, %c : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x32xf32>
}

// CHECK-LABEL: @add_rms_norm
// CHECK: %[[S:.*]] = llm.add %arg0, %arg1
// CHECK: %[[N:.*]] = llm.rms_norm %[[S]], %arg2 {eps = 1.000000e-05 : f64}
// CHECK: return %[[N]], %[[S]]
func.func @add_rms_norm(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %g: tensor<64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %n, %s = llm.add_rms_norm %x, %r, %g {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %n, %s : tensor<?x64xf32>, tensor<?x64xf32>
}

// CHECK-LABEL: @rope_append_kv
// CHECK: %[[K:.*]] = llm.rope %arg1, %arg3 {frequencies = array<f64: 1.000000e+00, 1.000000e-01>, interleaved, scaling = 5.000000e-01 : f64}
// CHECK: llm.append_kv %arg0, %[[K]], %arg2 slots(%arg4) layer(%arg5)
func.func @rope_append_kv(%c: !cache, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>,
    %p: tensor<?xi32>, %s: tensor<?xi32>, %l: index) -> !cache {
  %c2 = llm.rope_append_kv %c, %k, %v positions(%p) slots(%s) layer(%l)
    {frequencies = array<f64: 1.0, 0.1>, scaling = 0.5 : f64, interleaved}
    : (!cache, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<?xi32>, index) -> !cache
  return %c2 : !cache
}

// Ops with a kernel are preserved.
// CHECK-LABEL: @kept
// CHECK-NEXT: llm.swiglu
// CHECK-NEXT: llm.softmax
func.func @kept(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = llm.swiglu %x, %x : tensor<?x64xf32>
  %z = llm.softmax %y : tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}
