// RUN: llmir-opt %s --llm-deduplicate-functions --split-input-file | FileCheck %s

// Trees of functions: submodules first, then the layers that call them.
// CHECK-LABEL: func @step
// CHECK: call @layers.0(%arg0, %arg1)
// CHECK: call @layers.0(%0, %arg2)
// CHECK: call @layers.2(%1, %arg2)
func.func @step(%x: tensor<?x64xf32>, %w0: tensor<64xf32>, %w1: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = call @layers.0(%x, %w0) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %1 = call @layers.1(%0, %w1) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %2 = call @layers.2(%1, %w1) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}
// CHECK: func private @layers.0(
// CHECK: call @layers.0.norm(
// CHECK-NOT: @layers.1(
func.func private @layers.0(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> attributes {llm.layer} {
  %0 = call @layers.0.norm(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %1 = llm.add %0, %x : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
func.func private @layers.1(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> attributes {llm.layer} {
  %0 = call @layers.1.norm(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %1 = llm.add %0, %x : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
// Must not fire: mul is not add.
// CHECK: func private @layers.2(
// CHECK: call @layers.0.norm(
func.func private @layers.2(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> attributes {llm.layer} {
  %0 = call @layers.2.norm(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %1 = llm.mul %0, %x : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
// CHECK: func private @layers.0.norm(
// CHECK-NOT: @layers.1.norm
// CHECK-NOT: @layers.2.norm
func.func private @layers.0.norm(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %0 : tensor<?x64xf32>
}
func.func private @layers.1.norm(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %0 : tensor<?x64xf32>
}
func.func private @layers.2.norm(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// Must not fire: functions that differ in an attribute of an op, in a type, in
// the order of operands, in an attribute, or in a callee.
// CHECK-LABEL: func @differences
// CHECK-NEXT: call @a(
// CHECK-NEXT: call @other_eps(
// CHECK-NEXT: call @other_format(
// CHECK-NEXT: call @b(
// CHECK-NEXT: call @other_order(
// CHECK-NEXT: call @marked(
// CHECK-NEXT: call @calls_a(
// CHECK-NEXT: call @calls_other(
func.func @differences(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %h: tensor<64xf16>) {
  call @a(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  call @other_eps(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  call @other_format(%x, %h) : (tensor<?x64xf32>, tensor<64xf16>) -> tensor<?x64xf32>
  call @b(%x, %x) : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  call @other_order(%x, %x) : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  call @marked(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  call @calls_a(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  call @calls_other(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return
}
func.func private @a(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %0 : tensor<?x64xf32>
}
func.func private @other_eps(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = llm.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %0 : tensor<?x64xf32>
}
func.func private @other_format(%x: tensor<?x64xf32>, %w: tensor<64xf16>) -> tensor<?x64xf32> {
  %0 = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf16>
  return %0 : tensor<?x64xf32>
}
func.func private @b(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = llm.silu %x : tensor<?x64xf32>
  %1 = llm.mul %0, %y : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
func.func private @other_order(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = llm.silu %y : tensor<?x64xf32>
  %1 = llm.mul %0, %x : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
func.func private @marked(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> attributes {llm.layer} {
  %0 = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %0 : tensor<?x64xf32>
}
func.func private @calls_a(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = call @a(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
func.func private @calls_other(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = call @other_eps(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// Must not fire: public functions, functions without a body, circles.
// CHECK: func @public_a
// CHECK: func @public_b
// CHECK: call @external_a
// CHECK: call @external_b
// CHECK: call @circle_a
// CHECK: call @circle_b
func.func @public_a() { return }
func.func @public_b() { return }
func.func private @external_a()
func.func private @external_b()
func.func @user() {
  call @external_a() : () -> ()
  call @external_b() : () -> ()
  call @circle_a() : () -> ()
  call @circle_b() : () -> ()
  return
}
func.func private @circle_a() {
  call @circle_a() : () -> ()
  return
}
func.func private @circle_b() {
  call @circle_b() : () -> ()
  return
}

// -----

// Locations do not matter; uses other than calls are updated, too.
// CHECK-LABEL: func @other_locations
// CHECK: call @first
// CHECK: call @first
// CHECK: constant @first
func.func @other_locations() -> (() -> ()) {
  call @first() : () -> ()
  call @second() : () -> ()
  %0 = constant @second : () -> ()
  return %0 : () -> ()
}
func.func private @first() { return loc("a") } loc("b")
func.func private @second() { return loc("c") } loc("d")

// -----

// Must not fire: equal, but one is in a nested module, where the other's name
// means nothing.
module {
  // CHECK-LABEL: module @nested
  // CHECK: func.func private @silu
  module @nested {
    func.func private @silu(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = llm.silu %x : tensor<2xf32>
      return %y : tensor<2xf32>
    }
    func.func @inside(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = call @silu(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %y : tensor<2xf32>
    }
  }
  // CHECK: func.func private @silu
  func.func private @silu(%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = llm.silu %x : tensor<2xf32>
    return %y : tensor<2xf32>
  }
  // CHECK: func.func @outside
  func.func @outside(%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = call @silu(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }
}
