// RUN: llmir-opt %s --llm-inline-modules --allow-unregistered-dialect --split-input-file --verify-diagnostics | FileCheck %s

// Modules above the layers are inlined into the step, those below into the
// layers.
// CHECK-LABEL: func @step
// CHECK-NEXT: %[[A:.*]] = call @layers.0(
// CHECK-NEXT: %[[B:.*]] = call @layers.0(%[[A]]
// CHECK-NEXT: %[[N:.*]] = llm.rms_norm %[[B]]
// CHECK-NEXT: return %[[N]]
func.func @step(%x: tensor<?x64xf32>, %w0: tensor<64xf32>, %w1: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = call @model(%x, %w0, %w1) : (tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
// CHECK-NOT: @model
func.func private @model(%x: tensor<?x64xf32>, %w0: tensor<64xf32>, %w1: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = call @layers.0(%x, %w0) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %1 = call @layers.0(%0, %w1) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %2 = llm.rms_norm %1, %w0 {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %2 : tensor<?x64xf32>
}
// CHECK: func private @layers.0(%[[X:.*]]: tensor<?x64xf32>, %[[W:.*]]: tensor<64xf32>)
// CHECK-NEXT: %[[M:.*]] = llm.rms_norm %[[X]], %[[W]]
// CHECK-NEXT: %[[M2:.*]] = llm.rms_norm %[[M]], %[[W]]
// CHECK-NEXT: %[[S:.*]] = llm.add %[[M2]], %[[X]]
// CHECK-NEXT: return %[[S]]
func.func private @layers.0(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = call @norm(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %1 = call @norm(%0, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %2 = llm.add %1, %x : tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}
// CHECK-NOT: @norm
func.func private @norm(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// A marked function is a layer although it is called once; its own marked
// parts are not.
// CHECK-LABEL: func @one_layer
// CHECK-NEXT: call @layer(
func.func @one_layer(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = call @layer(%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
// CHECK: func private @layer({{.*}} attributes {llm.layer}
// CHECK-NEXT: llm.silu
func.func private @layer(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.layer} {
  %0 = call @inner(%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
// CHECK-NOT: @inner
func.func private @inner(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.layer} {
  %0 = llm.silu %x : tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// Must not fire: functions without a body, and public ones.
// CHECK-LABEL: func @others
// CHECK-NEXT: call @external
// CHECK-NEXT: call @public
func.func @others() {
  call @external() : () -> ()
  call @public() : () -> ()
  return
}
// CHECK: func private @external
func.func private @external()
// CHECK: func @public
func.func @public() {
  return
}

// -----

// expected-error@+1 {{function is recursive, directly or indirectly: modules must form a tree}}
func.func private @circle(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = call @circle(%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
func.func @step(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = call @circle(%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// An op whose dialect does not say that it may be inlined.
// expected-note@+1 {{function defined here}}
func.func private @foreign(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = "foreign.op"(%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
func.func @step(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error@+1 {{cannot inline @foreign}}
  %0 = call @foreign(%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// Several blocks do not fit into a branch of scf.if, but into a function.
// CHECK-LABEL: func private @several_blocks
func.func private @several_blocks(%x: tensor<?x64xf32>, %c: i1) -> tensor<?x64xf32> {
  cf.cond_br %c, ^then, ^end(%x : tensor<?x64xf32>)
^then:
  %0 = llm.silu %x : tensor<?x64xf32>
  cf.br ^end(%0 : tensor<?x64xf32>)
^end(%1: tensor<?x64xf32>):
  return %1 : tensor<?x64xf32>
}
// CHECK-LABEL: func @in_one_block
func.func @in_one_block(%x: tensor<?x64xf32>, %c: i1) -> tensor<?x64xf32> {
  // CHECK: scf.if
  // CHECK-NEXT: func.call @several_blocks
  %0 = scf.if %c -> tensor<?x64xf32> {
    %1 = func.call @several_blocks(%x, %c) : (tensor<?x64xf32>, i1) -> tensor<?x64xf32>
    scf.yield %1 : tensor<?x64xf32>
  } else {
    scf.yield %x : tensor<?x64xf32>
  }
  return %0 : tensor<?x64xf32>
}
// CHECK-LABEL: func @in_a_function
// CHECK-NOT: call
func.func @in_a_function(%x: tensor<?x64xf32>, %c: i1) -> tensor<?x64xf32> {
  %0 = call @several_blocks(%x, %c) : (tensor<?x64xf32>, i1) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
