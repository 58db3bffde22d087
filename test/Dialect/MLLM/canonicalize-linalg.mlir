// RUN: llmir-opt %s --canonicalize | FileCheck %s

// Ops that fold to an operand, and ops that are merged: positive cases, and
// similar ops that must not change.

// CHECK-LABEL: func.func @neutral(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[I:.*]]: tensor<4xi32>)
func.func @neutral(%x: tensor<?x4xf32>, %i: tensor<4xi32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[I]]
  %0 = mllm.linalg.add %x {scalar = -0.0 : f64} : tensor<?x4xf32>
  %1 = mllm.linalg.sub %x {scalar = 0.0 : f64} : tensor<?x4xf32>
  %2 = mllm.linalg.mul %x {scalar = 1.0 : f64} : tensor<?x4xf32>
  %3 = mllm.linalg.div %x {scalar = 1.0 : f64} : tensor<?x4xf32>
  %4 = mllm.linalg.add %i {scalar = 0.0 : f64} : tensor<4xi32>
  return %0, %1, %2, %3, %4 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xi32>
}

// Adding 0 turns -0 into 0; a result may have more static sizes.
// CHECK-LABEL: func.func @not_neutral(
func.func @not_neutral(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<2x4xf32>) {
  // CHECK: mllm.linalg.add %{{.*}} {scalar = 0.000000e+00 : f64}
  %0 = mllm.linalg.add %x {scalar = 0.0 : f64} : tensor<?x4xf32>
  // CHECK: mllm.linalg.mul %{{.*}} {scalar = 0.000000e+00 : f64}
  %1 = mllm.linalg.mul %x {scalar = 0.0 : f64} : tensor<?x4xf32>
  // CHECK: mllm.linalg.mul %{{.*}} {scalar = 1.000000e+00 : f64} : tensor<?x4xf32> -> tensor<2x4xf32>
  %2 = mllm.linalg.mul %x {scalar = 1.0 : f64} : tensor<?x4xf32> -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @signs(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>)
func.func @signs(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK-NEXT: %[[ABS:.*]] = mllm.linalg.abs %[[X]] : tensor<?xf32>
  // CHECK-NEXT: %[[EXP:.*]] = mllm.linalg.exp %[[X]] : tensor<?xf32>
  // CHECK-NEXT: %[[OTHER:.*]] = mllm.linalg.abs %[[EXP]] : tensor<?xf32>
  // CHECK-NEXT: return %[[X]], %[[ABS]], %[[OTHER]]
  %0 = mllm.linalg.neg %x : tensor<?xf32>
  %1 = mllm.linalg.neg %0 : tensor<?xf32>
  %2 = mllm.linalg.abs %0 : tensor<?xf32>
  %3 = mllm.linalg.abs %2 : tensor<?xf32>
  %4 = mllm.linalg.exp %x : tensor<?xf32>
  %5 = mllm.linalg.abs %4 : tensor<?xf32>
  return %1, %3, %5 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @conditions(
// CHECK-SAME: %[[M:.*]]: tensor<4xi1>, %[[N:.*]]: tensor<4xi1>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @conditions(%m: tensor<4xi1>, %n: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>) {
  // CHECK-NEXT: %[[AND:.*]] = mllm.linalg.logical_and %[[M]], %[[N]]
  // CHECK-NEXT: %[[WHERE:.*]] = mllm.linalg.where %[[M]], %[[X]], %[[Y]]
  // CHECK-NEXT: return %[[M]], %[[M]], %[[M]], %[[X]], %[[AND]], %[[WHERE]]
  %0 = mllm.linalg.logical_not %m : tensor<4xi1>
  %1 = mllm.linalg.logical_not %0 : tensor<4xi1>
  %2 = mllm.linalg.logical_and %m, %m : tensor<4xi1>
  %3 = mllm.linalg.logical_or %m, %m : tensor<4xi1>
  %4 = mllm.linalg.where %n, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = mllm.linalg.logical_and %m, %n : tensor<4xi1>
  %6 = mllm.linalg.where %m, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %2, %3, %4, %5, %6 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>
}

// CHECK-LABEL: func.func @same_values(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>)
func.func @same_values(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]]
  %0 = mllm.linalg.contiguous %x : tensor<?x4xf32>
  %1 = mllm.linalg.clone %x : tensor<?x4xf32>
  %2 = mllm.linalg.cast_type %x to f32 : tensor<?x4xf32>
  %3 = mllm.linalg.x2x %x to <kCPU> : tensor<?x4xf32>
  return %0, %1, %2, %3 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// Rounding and transfers to another device are preserved.
// CHECK-LABEL: func.func @other_values(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
func.func @other_values(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>) {
  // CHECK-NEXT: %[[SHORT:.*]] = mllm.linalg.cast_type %[[X]] to f16
  // CHECK-NEXT: %[[LONG:.*]] = mllm.linalg.cast_type %[[SHORT]] to f32
  // CHECK-NEXT: %[[QNN:.*]] = mllm.linalg.x2x %[[X]] to <kQNN>
  // CHECK-NEXT: return %[[LONG]], %[[X]], %[[QNN]]
  %0 = mllm.linalg.cast_type %x to f16 : tensor<4xf32> -> tensor<4xf16>
  %1 = mllm.linalg.cast_type %0 to f32 : tensor<4xf16> -> tensor<4xf32>
  %2 = mllm.linalg.x2x %x to <kQNN> : tensor<4xf32> -> tensor<4xf32, #mllm.tensor<kQNN>>
  %3 = mllm.linalg.x2x %2 to <kCPU> : tensor<4xf32, #mllm.tensor<kQNN>> -> tensor<4xf32>
  return %1, %3, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32, #mllm.tensor<kQNN>>
}

// CHECK-LABEL: func.func @views(
// CHECK-SAME: %[[X:.*]]: tensor<1x?x64xf32>)
func.func @views(%x: tensor<1x?x64xf32>) -> (tensor<1x?x64xf32>, tensor<?x2x32xf32>, tensor<1x?x4x16xf32>, tensor<?x32xf32>) {
  // CHECK-NEXT: %[[V:.*]] = mllm.linalg.view %[[X]] : tensor<1x?x64xf32> -> tensor<?x2x32xf32>
  // CHECK-NEXT: %[[W:.*]] = mllm.linalg.view %[[X]] : tensor<1x?x64xf32> -> tensor<1x?x4x16xf32>
  // CHECK-NEXT: %[[R:.*]] = mllm.linalg.reshape %[[X]] {shape = array<i64: -1, 32>} : tensor<1x?x64xf32> -> tensor<?x32xf32>
  // CHECK-NEXT: return %[[X]], %[[V]], %[[W]], %[[R]]
  %0 = mllm.linalg.view %x : tensor<1x?x64xf32> -> tensor<1x?x4x16xf32>
  %1 = mllm.linalg.view %0 : tensor<1x?x4x16xf32> -> tensor<1x?x64xf32>
  %2 = mllm.linalg.view %0 : tensor<1x?x4x16xf32> -> tensor<?x2x32xf32>
  %3 = mllm.linalg.reshape %x {shape = array<i64: 1, -1, 4, 16>} : tensor<1x?x64xf32> -> tensor<1x?x4x16xf32>
  %4 = mllm.linalg.reshape %x {shape = array<i64: -1, 32>} : tensor<1x?x64xf32> -> tensor<?x32xf32>
  return %1, %2, %3, %4 : tensor<1x?x64xf32>, tensor<?x2x32xf32>, tensor<1x?x4x16xf32>, tensor<?x32xf32>
}

// CHECK-LABEL: func.func @permutations(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>)
func.func @permutations(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<4x3x2xf32>, tensor<3x4x2xf32>) {
  // CHECK-NEXT: %[[T:.*]] = mllm.linalg.transpose %[[X]] {dim0 = 0 : i64, dim1 = 1 : i64}
  // CHECK-NEXT: %[[P:.*]] = mllm.linalg.permute %[[X]] {axes = array<i64: 2, 0, 1>} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  // CHECK-NEXT: %[[U:.*]] = mllm.linalg.transpose %[[T]] {dim0 = 1 : i64, dim1 = 2 : i64}
  // CHECK-NEXT: %[[A:.*]] = mllm.linalg.transpose %[[X]] {dim0 = 0 : i64, dim1 = 2 : i64}
  // CHECK-NEXT: return %[[X]], %[[P]], %[[X]], %[[A]], %[[U]]
  %0 = mllm.linalg.transpose %x {dim0 = 0 : i64, dim1 = 1 : i64} : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
  %1 = mllm.linalg.transpose %0 {dim0 = 1 : i64, dim1 = -3 : i64} : tensor<3x2x4xf32> -> tensor<2x3x4xf32>
  %2 = mllm.linalg.permute %x {axes = array<i64: 1, 2, 0>} : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %3 = mllm.linalg.permute %2 {axes = array<i64: 1, -1, 0>} : tensor<3x4x2xf32> -> tensor<4x2x3xf32>
  %4 = mllm.linalg.permute %2 {axes = array<i64: 2, 0, 1>} : tensor<3x4x2xf32> -> tensor<2x3x4xf32>
  %5 = mllm.linalg.transpose %0 {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<3x2x4xf32> -> tensor<3x4x2xf32>
  %6 = mllm.linalg.transpose %x {dim0 = 0 : i64, dim1 = 2 : i64} : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
  return %1, %3, %4, %6, %5 : tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<4x3x2xf32>, tensor<3x4x2xf32>
}

// CHECK-LABEL: func.func @joins(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>)
func.func @joins(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  %0 = mllm.linalg.concat %x {dim = 0 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = mllm.linalg.split %x {dim = 1 : i64, sections = array<i64: 4>} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = mllm.linalg.repeat %x {dim = 0 : i64, times = 1 : i64} : tensor<?x4xf32>
  %3 = mllm.linalg.slice %x[:, :] : tensor<?x4xf32>
  %4 = mllm.linalg.pad reflect %x {high = array<i64: 0, 0>, low = array<i64: 0, 0>} : tensor<?x4xf32>
  return %0, %1, %2, %3, %4 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @parts(
func.func @parts(%x: tensor<4x4xf32>, %i: tensor<2xi32>) -> (tensor<8x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: mllm.linalg.concat
  // CHECK-NEXT: mllm.linalg.split
  // CHECK-NEXT: mllm.linalg.slice %{{.*}}[2:, :]
  // CHECK-NEXT: mllm.linalg.index
  // CHECK-NEXT: return
  %0 = mllm.linalg.concat %x, %x {dim = 0 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1:2 = mllm.linalg.split %x {dim = 0 : i64, sections = array<i64: 2>} : (tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %2 = mllm.linalg.index %x[2:, :] : tensor<4x4xf32>, () -> tensor<2x4xf32>
  %3 = mllm.linalg.index %x[%i, :] : tensor<4x4xf32>, (tensor<2xi32>) -> tensor<2x4xf32>
  return %0, %1#1, %x, %2, %3 : tensor<8x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
