// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

!stack = !llm.quantized_tensor<i8, [8, 192, 64], true, false, -1, 32, 8, format = q8_0>

// CHECK-LABEL: func @moe_route
func.func @moe_route(%logits: tensor<?x8xf32>, %h: tensor<5x8xbf16>) {
  // CHECK: llm.moe_route %{{.*}} {normalize = true, score = "softmax", top_k = 2 : i64} : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  %0:2 = llm.moe_route %logits {top_k = 2} : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  // CHECK: llm.moe_route %{{.*}} {normalize = false, score = "sigmoid", top_k = 8 : i64} : (tensor<5x8xbf16>) -> (tensor<5x8xi32>, tensor<5x8xbf16>)
  %1:2 = llm.moe_route %h {topK = 8 : i32, score = "sigmoid", normalize = false} : tensor<5x8xbf16> -> tensor<5x8xi32>, tensor<5x8xbf16>
  return
}

// CHECK-LABEL: func @moe_ffn
func.func @moe_ffn(%x: tensor<?x64xf32>, %e: tensor<?x2xi32>, %w: tensor<?x2xf32>, %gate: tensor<8x192x64xbf16>, %q: !stack, %down: tensor<8x64x192xbf16>,
                   %b: tensor<8x192x1xf32>, %c: tensor<8x64x1xbf16>) {
  // CHECK: llm.moe_ffn %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x64xf32>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>) -> tensor<?x64xf32>
  %0 = llm.moe_ffn %x, %e, %w, %gate, %gate, %down : (tensor<?x64xf32>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>) -> tensor<?x64xf32>
  // CHECK: llm.moe_ffn {{.*}} : (tensor<?x64xf32>, tensor<?x2xi32>, tensor<?x2xf32>, !llm.quantized_tensor<i8, [8, 192, 64], true, false, -1, 32, 8, format = q8_0>,
  %1 = llm.moe_ffn %x, %e, %w, %q, %q, %down : tensor<?x64xf32>, tensor<?x2xi32>, tensor<?x2xf32>, !stack, !stack, tensor<8x64x192xbf16> -> tensor<?x64xf32>
  // CHECK: llm.moe_ffn {{.*}}, %[[B:[^ ,]*]], %[[B]], %{{[^ ]*}} {swiglu_limit = 7.000000e+00 : f64} : (tensor<?x64xf32>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>, tensor<8x192x1xf32>, tensor<8x192x1xf32>, tensor<8x64x1xbf16>) -> tensor<?x64xf32>
  %2 = llm.moe_ffn %x, %e, %w, %gate, %gate, %down, %b, %b, %c {swiglu_limit = 7.0} : (tensor<?x64xf32>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>, tensor<8x192x1xf32>, tensor<8x192x1xf32>, tensor<8x64x1xbf16>) -> tensor<?x64xf32>
  // CHECK: llm.moe_ffn {{.*}} {gelu} : (tensor<?x64xf32>
  %3 = llm.moe_ffn %x, %e, %w, %gate, %gate, %down {gelu} : (tensor<?x64xf32>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>, tensor<8x192x64xbf16>, tensor<8x64x192xbf16>) -> tensor<?x64xf32>
  return
}

// CHECK-LABEL: func @head_linear
func.func @head_linear(%x: tensor<?x8x64xf32>, %w: tensor<8x32x64xbf16>, %y: tensor<3x8x64xf16>, %q: !stack) {
  // CHECK: llm.head_linear %{{.*}}, %{{.*}} : (tensor<?x8x64xf32>, tensor<8x32x64xbf16>) -> tensor<?x8x32xf32>
  %0 = llm.head_linear %x, %w : (tensor<?x8x64xf32>, tensor<8x32x64xbf16>) -> tensor<?x8x32xf32>
  // CHECK: llm.head_linear %{{.*}}, %{{.*}} : (tensor<3x8x64xf16>, !llm.quantized_tensor<i8, [8, 192, 64], true, false, -1, 32, 8, format = q8_0>) -> tensor<3x8x192xf16>
  %1 = llm.head_linear %y, %q : tensor<3x8x64xf16>, !stack -> tensor<3x8x192xf16>
  return
}

// CHECK-LABEL: func @sample
func.func @sample(%logits: tensor<?x256xf32>, %h: tensor<3x?xf16>) {
  // CHECK: llm.sample %{{.*}} {min_p = 0.000000e+00 : f64, seed = 0 : i64, temperature = 0.000000e+00 : f64, top_k = 0 : i64, top_p = 1.000000e+00 : f64} : (tensor<?x256xf32>) -> tensor<?xi32>
  %0 = llm.sample %logits : (tensor<?x256xf32>) -> tensor<?xi32>
  // CHECK: llm.sample %{{.*}} {min_p = 6.250000e-02 : f64, seed = -1 : i64, temperature = 5.000000e-01 : f64, top_k = 40 : i64, top_p = 9.375000e-01 : f64} : (tensor<3x?xf16>) -> tensor<3xi32>
  %1 = llm.sample %h {temperature = 0.5 : f32, topK = 40 : i32, topP = 0.9375, minP = 0.0625, seed = -1} : tensor<3x?xf16> -> tensor<3xi32>
  return
}
