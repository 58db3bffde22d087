// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// CHECK-LABEL: func @layer_norm
func.func @layer_norm(%x: tensor<?x64xf32>, %h: tensor<2x3x64xbf16>, %w: tensor<64xf32>, %b: tensor<64xf32>) {
  // CHECK: llm.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-03 : f64} : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>
  %0 = llm.layer_norm %x, %w, %b {eps = 1.0e-3 : f64} : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>
  // CHECK: llm.layer_norm %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<?x64xf32>, tensor<64xf32>
  %1 = llm.layer_norm %x, %w : tensor<?x64xf32>, tensor<64xf32>
  // CHECK: llm.layer_norm %{{[a-z0-9]*}} : tensor<2x3x64xbf16>
  %2 = llm.layer_norm %h : tensor<2x3x64xbf16>
  return
}

// CHECK-LABEL: func @rms_norm
func.func @rms_norm(%x: tensor<?x64xf32>, %h: tensor<2x3x4x16xf16>, %v: tensor<64xf32>) {
  // CHECK: llm.rms_norm %{{[a-z0-9]*}} {eps = 1.000000e-05 : f64} : tensor<?x64xf32>
  %0 = llm.rms_norm %x {eps = 1.0e-5 : f64} : tensor<?x64xf32>
  // CHECK: llm.rms_norm %{{[a-z0-9]*}} : tensor<2x3x4x16xf16>
  %1 = llm.rms_norm %h : tensor<2x3x4x16xf16>
  // CHECK: llm.rms_norm %{{[a-z0-9]*}} : tensor<64xf32>
  %2 = llm.rms_norm %v : tensor<64xf32>
  return
}

// What examples and tests of the specification write without a definition: one
// operand and the generic form.
// SPEC: 143
// CHECK-LABEL: func @generic_forms
func.func @generic_forms(%x: tensor<4x512x4096xf16>, %y: tensor<?x64xf32>, %w: tensor<172x64xf32>) {
  // CHECK: llm.rms_norm %{{[a-z0-9]*}} : tensor<4x512x4096xf16>
  %0 = "llm.rms_norm"(%x) : (tensor<4x512x4096xf16>) -> tensor<4x512x4096xf16>
  // CHECK: llm.softmax %{{[a-z0-9]*}} : tensor<4x512x4096xf16>
  %1 = "llm.softmax"(%x) : (tensor<4x512x4096xf16>) -> tensor<4x512x4096xf16>
  // CHECK: llm.silu %{{[a-z0-9]*}} : tensor<4x512x4096xf16>
  %2 = "llm.silu"(%x) : (tensor<4x512x4096xf16>) -> tensor<4x512x4096xf16>
  // CHECK: llm.layer_norm %{{[a-z0-9]*}} : tensor<4x512x4096xf16>
  %3 = "llm.layer_norm"(%x) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<4x512x4096xf16>) -> tensor<4x512x4096xf16>
  // CHECK: llm.linear %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<?x64xf32>, tensor<172x64xf32> -> tensor<?x172xf32>
  %4 = "llm.linear"(%y, %w) : (tensor<?x64xf32>, tensor<172x64xf32>) -> tensor<?x172xf32>
  return
}

// CHECK-LABEL: func @activations
func.func @activations(%x: tensor<?x172xf32>, %y: tensor<?x172xf32>, %h: tensor<7xbf16>) {
  // CHECK: llm.softmax %{{.*}} : tensor<?x172xf32>
  %0 = llm.softmax %x : tensor<?x172xf32>
  // CHECK: llm.gelu %{{[a-z0-9]*}} : tensor<?x172xf32>
  %1 = llm.gelu %x : tensor<?x172xf32>
  // CHECK: llm.gelu %{{[a-z0-9]*}} : tensor<7xbf16>
  %2 = llm.gelu %h {approximate = "none"} : tensor<7xbf16>
  // CHECK: llm.gelu %{{[a-z0-9]*}} {approximate = "tanh"} : tensor<?x172xf32>
  %3 = llm.gelu %x {approximate = "tanh"} : tensor<?x172xf32>
  // CHECK: llm.gelu %{{[a-z0-9]*}} {approximate = "quick"} : tensor<?x172xf32>
  %4 = llm.gelu %x {approximate = "quick"} : tensor<?x172xf32>
  // CHECK: llm.swiglu %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<?x172xf32>
  %5 = llm.swiglu %x, %y : tensor<?x172xf32>
  return
}

// CHECK-LABEL: func @rope_of_neighbors
func.func @rope_of_neighbors(%x: tensor<?x4x16xf32>, %positions: tensor<?xi32>) {
  // CHECK: llm.rope %{{.*}}, %{{.*}} {frequencies = array<f64: 1.000000e+00>, interleaved} : tensor<?x4x16xf32>, tensor<?xi32>
  %0 = llm.rope %x, %positions {frequencies = array<f64: 1.0>, interleaved} : tensor<?x4x16xf32>, tensor<?xi32>
  return
}
