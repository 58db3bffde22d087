// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --canonicalize | FileCheck %s --check-prefix=CANON

!cache = !llm.paged_kv_cache<bf16, 3, 2, 4, 16, 256>

// CHECK-LABEL: @fused_linear
// CHECK: llm.fused_linear %{{.*}} norm(%{{.*}}) weights(%{{.*}}, %{{.*}}, %{{.*}}) {norm_eps = 1.000000e-05 : f64}
// CHECK-SAME: : (tensor<?x64xf32>, tensor<64xf32>, tensor<64x64xbf16>, tensor<32x64xbf16>, tensor<32x64xbf16>) -> (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>)
// CHECK: llm.fused_linear %{{.*}} weights(%{{.*}}, %{{.*}}) biases(%{{.*}}, %{{.*}}) :
func.func @fused_linear(%x: tensor<?x64xf32>, %g: tensor<64xf32>, %wq: tensor<64x64xbf16>,
    %wk: tensor<32x64xbf16>, %wv: tensor<32x64xbf16>, %bk: tensor<32xf32>, %bv: tensor<32xf32>)
    -> (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) {
  %q, %k, %v = llm.fused_linear %x norm(%g) weights(%wq, %wk, %wv) {norm_eps = 1.0e-5 : f64}
    : (tensor<?x64xf32>, tensor<64xf32>, tensor<64x64xbf16>, tensor<32x64xbf16>, tensor<32x64xbf16>)
      -> (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>)
  %a, %b = llm.fused_linear %x weights(%wk, %wv) biases(%bk, %bv)
    : (tensor<?x64xf32>, tensor<32x64xbf16>, tensor<32x64xbf16>, tensor<32xf32>, tensor<32xf32>)
      -> (tensor<?x32xf32>, tensor<?x32xf32>)
  return %q, %k, %v, %a, %b : tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}

// CHECK-LABEL: @add_rms_norm
// CHECK: llm.add_rms_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : tensor<?x64xf32>, tensor<64xf32>
func.func @add_rms_norm(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %g: tensor<64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %n, %s = llm.add_rms_norm %x, %r, %g {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %n, %s : tensor<?x64xf32>, tensor<?x64xf32>
}

// CHECK-LABEL: @rope_append_kv
// CHECK: llm.rope_append_kv %{{.*}}, %{{.*}}, %{{.*}} positions(%{{.*}}) slots(%{{.*}}) layer(%{{.*}}) {frequencies = array<f64: 1.000000e+00, 1.000000e-01>}
func.func @rope_append_kv(%c: !cache, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>,
    %p: tensor<?xi32>, %s: tensor<?xi32>, %l: index) -> !cache {
  %c2 = llm.rope_append_kv %c, %k, %v positions(%p) slots(%s) layer(%l) {frequencies = array<f64: 1.0, 0.1>}
    : (!cache, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<?xi32>, index) -> !cache
  return %c2 : !cache
}

// One projection without a norm is a linear op.
// CANON-LABEL: @one_projection
// CANON-NEXT: llm.linear %arg0, %arg1 :
// CANON-NEXT: return
func.func @one_projection(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>) -> tensor<?x32xf32> {
  %y = llm.fused_linear %x weights(%w) : (tensor<?x64xf32>, tensor<32x64xbf16>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// With a norm, it is preserved.
// CANON-LABEL: @one_projection_with_norm
// CANON-NEXT: llm.fused_linear %arg0 norm(%arg2) weights(%arg1)
func.func @one_projection_with_norm(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>, %g: tensor<64xf32>) -> tensor<?x32xf32> {
  %y = llm.fused_linear %x norm(%g) weights(%w) {norm_eps = 0.0 : f64}
    : (tensor<?x64xf32>, tensor<64xf32>, tensor<32x64xbf16>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// A projection without a use is not computed.
// CANON-LABEL: @unused_projection
// CANON-NEXT: %[[R:.*]]:2 = llm.fused_linear %arg0 weights(%arg1, %arg3) biases(%arg4, %arg6)
// CANON-NEXT: return %[[R]]#0, %[[R]]#1
func.func @unused_projection(%x: tensor<?x64xf32>, %w0: tensor<32x64xbf16>, %w1: tensor<16x64xbf16>, %w2: tensor<8x64xbf16>,
    %b0: tensor<32xf32>, %b1: tensor<16xf32>, %b2: tensor<8xf32>) -> (tensor<?x32xf32>, tensor<?x8xf32>) {
  %y:3 = llm.fused_linear %x weights(%w0, %w1, %w2) biases(%b0, %b1, %b2)
    : (tensor<?x64xf32>, tensor<32x64xbf16>, tensor<16x64xbf16>, tensor<8x64xbf16>, tensor<32xf32>, tensor<16xf32>, tensor<8xf32>)
      -> (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x8xf32>)
  return %y#0, %y#2 : tensor<?x32xf32>, tensor<?x8xf32>
}

// Without a use of the norm only the sum is left.
// CANON-LABEL: @unused_norm
// CANON-NEXT: llm.add %arg0, %arg1
// CANON-NEXT: return
func.func @unused_norm(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %g: tensor<64xf32>) -> tensor<?x64xf32> {
  %n, %s = llm.add_rms_norm %x, %r, %g {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %s : tensor<?x64xf32>
}
