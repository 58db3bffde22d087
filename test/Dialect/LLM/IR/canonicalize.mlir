// RUN: llmir-opt %s --canonicalize | FileCheck %s

// Rows are chosen before the norm and the projection.
// CHECK-LABEL: func @above_norm_and_projection
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[ROWS:.*]]: tensor<?xi32>,
func.func @above_norm_and_projection(%x: tensor<?x64xf32>, %rows: tensor<?xi32>, %nw: tensor<64xf32>, %w: tensor<8x64xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[S:.*]] = llm.select_rows %[[X]], %[[ROWS]] : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  // CHECK-NEXT: %[[N:.*]] = llm.rms_norm %[[S]], %{{.*}} {eps = 1.000000e-05 : f64} : tensor<?x64xf32>, tensor<64xf32>
  // CHECK-NEXT: %[[Y:.*]] = llm.linear %[[N]], %{{.*}} bias %{{.*}} : tensor<?x64xf32>, tensor<8x64xf32>, tensor<8xf32> -> tensor<?x8xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = llm.rms_norm %x, %nw {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  %1 = llm.linear %0, %w bias %b : tensor<?x64xf32>, tensor<8x64xf32>, tensor<8xf32> -> tensor<?x8xf32>
  %2 = llm.select_rows %1, %rows : tensor<?x8xf32>, tensor<?xi32> -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// The number of rows is the selection's, not the operand's.
// CHECK-LABEL: func @static_rows
func.func @static_rows(%x: tensor<7x64xf32>, %rows: tensor<2xi32>, %w: tensor<8x64xf32>) -> tensor<2x8xf32> {
  // CHECK: %[[S:.*]] = llm.select_rows %{{.*}} : tensor<7x64xf32>, tensor<2xi32> -> tensor<2x64xf32>
  // CHECK: llm.linear %[[S]], %{{.*}} : tensor<2x64xf32>, tensor<8x64xf32> -> tensor<2x8xf32>
  %0 = llm.linear %x, %w : tensor<7x64xf32>, tensor<8x64xf32> -> tensor<7x8xf32>
  %1 = llm.select_rows %0, %rows : tensor<7x8xf32>, tensor<2xi32> -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// Both operands of an element-wise op have rows.
// CHECK-LABEL: func @above_elementwise
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[Y:.*]]: tensor<?x64xf32>,
func.func @above_elementwise(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>, %rows: tensor<?xi32>) -> tensor<?x64xf32> {
  // CHECK-DAG: %[[SX:.*]] = llm.select_rows %[[X]],
  // CHECK-DAG: %[[SY:.*]] = llm.select_rows %[[Y]],
  // CHECK-DAG: %[[A:.*]] = llm.silu %[[SX]]
  // CHECK: %[[M:.*]] = llm.add %[[A]], %[[SY]]
  // CHECK: return %[[M]]
  %0 = llm.silu %x : tensor<?x64xf32>
  %1 = llm.add %0, %y : tensor<?x64xf32>
  %2 = llm.select_rows %1, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}

// One value on both sides is selected twice, for CSE to make one.
// CHECK-LABEL: func @above_square
func.func @above_square(%x: tensor<?x64xf32>, %rows: tensor<?xi32>) -> tensor<?x64xf32> {
  // CHECK: llm.select_rows
  // CHECK: llm.mul
  %0 = llm.mul %x, %x : tensor<?x64xf32>
  %1 = llm.select_rows %0, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

// Must not fire: all rows are needed elsewhere.
// CHECK-LABEL: func @norm_with_other_use
func.func @norm_with_other_use(%x: tensor<?x64xf32>, %rows: tensor<?xi32>, %nw: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  // CHECK: %[[N:.*]] = llm.rms_norm
  // CHECK: llm.select_rows %[[N]]
  %0 = llm.rms_norm %x, %nw {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  %1 = llm.select_rows %0, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  return %0, %1 : tensor<?x64xf32>, tensor<?x64xf32>
}

// Must not fire: rows of attention are not made alone, and rotation depends on
// the position of the row.
// CHECK-LABEL: func @attention_and_rope
func.func @attention_and_rope(%q: tensor<?x4x16xf32>, %c: !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %rows: tensor<?xi32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>) {
  // CHECK: %[[A:.*]] = llm.paged_attention
  // CHECK: llm.select_rows %[[A]]
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) : (tensor<?x4x16xf32>, !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  %1 = llm.select_rows %0, %rows : tensor<?x4x16xf32>, tensor<?xi32> -> tensor<?x4x16xf32>
  // CHECK: %[[R:.*]] = llm.rope
  // CHECK: llm.select_rows %[[R]]
  %2 = llm.rope %q, %n {frequencies = array<f64: 1.0>} : tensor<?x4x16xf32>, tensor<?xi32>
  %3 = llm.select_rows %2, %rows : tensor<?x4x16xf32>, tensor<?xi32> -> tensor<?x4x16xf32>
  return %1, %3 : tensor<?x4x16xf32>, tensor<?x4x16xf32>
}

// Must not fire: in general the rows are known only in the inner block.
// CHECK-LABEL: func @in_another_block
func.func @in_another_block(%x: tensor<?x64xf32>, %w: tensor<8x64xf32>, %b: i1, %rows: tensor<?xi32>, %d: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[L:.*]] = llm.linear
  // CHECK: scf.if
  // CHECK: llm.select_rows %[[L]]
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<8x64xf32> -> tensor<?x8xf32>
  %1 = scf.if %b -> tensor<?x8xf32> {
    %2 = llm.select_rows %0, %rows : tensor<?x8xf32>, tensor<?xi32> -> tensor<?x8xf32>
    scf.yield %2 : tensor<?x8xf32>
  } else {
    scf.yield %d : tensor<?x8xf32>
  }
  return %1 : tensor<?x8xf32>
}

// Unused ops are erased: the ops of the dialect have no side effects.
// CHECK-LABEL: func @unused
func.func @unused(%c: !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>, %k: tensor<?x2x16xf32>, %s: tensor<?xi32>) {
  // CHECK-NEXT: return
  %0 = llm.append_kv %c, %k, %k slots(%s) : (!llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
  return
}
