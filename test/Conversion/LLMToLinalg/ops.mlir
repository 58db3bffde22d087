// RUN: llmir-opt %s --convert-llm-to-linalg | FileCheck %s

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[MX:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[MW:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[MY:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[MQ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1, d2, d5)>
// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d1, d5)>
// CHECK-DAG: #[[SCORES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
// CHECK-DAG: #[[MV:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d2, d5)>
// CHECK-DAG: #[[GROUPED:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
// CHECK-DAG: #[[SCALES:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2)>

// Computed in f32, rounded once.
// CHECK-LABEL: func @silu(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf16>
func.func @silu(%x: tensor<?x8xf16>) -> tensor<?x8xf16> {
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[X]], %{{.*}}
  // CHECK: %[[EMPTY:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x8xf16>
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], iterator_types = ["parallel", "parallel"]}
  // CHECK-SAME: ins(%[[X]] : tensor<?x8xf16>) outs(%[[EMPTY]] : tensor<?x8xf16>)
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: f16, %{{.*}}: f16):
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[IN]] : f16 to f32
  // CHECK-NEXT: %[[POWER:.*]] = arith.negf %[[WIDE]]
  // CHECK-NEXT: %[[EXP:.*]] = math.exp %[[POWER]]
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %y = llm.silu %x : tensor<?x8xf16>
  return %y : tensor<?x8xf16>
}

// With bf16 weights, inputs are rounded to bf16; sums are f32.
// CHECK-LABEL: func @linear(
func.func @linear(%x: tensor<?x8xf32>, %w: tensor<4x8xbf16>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[SUMS:.*]] = linalg.generic {indexing_maps = [#[[MX]], #[[MW]], #[[MY]]], iterator_types = ["parallel", "parallel", "reduction"]}
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[WEIGHT:.*]]: bf16, %[[SUM:.*]]: f32):
  // CHECK: arith.truncf %[[IN]] : f32 to bf16
  // CHECK: arith.addf %[[SUM]], %{{.*}}
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[COLUMN]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[SUMS]], %{{.*}} : tensor<?x4xf32>, tensor<4xf32>)
  %y = llm.linear %x, %w bias %b : tensor<?x8xf32>, tensor<4x8xbf16>, tensor<4xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// Query heads are split into groups, so that no map divides.
// CHECK-LABEL: func @attention(
// CHECK-SAME: %[[QUERY:.*]]: tensor<1x3x4x8xf32>, %[[KEY:.*]]: tensor<1x?x2x8xf32>, %[[VALUE:.*]]: tensor<1x?x2x8xf32>
func.func @attention(%q: tensor<1x3x4x8xf32>, %k: tensor<1x?x2x8xf32>, %v: tensor<1x?x2x8xf32>) -> tensor<1x3x4x8xf32> {
  // CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[QUERY]] {{\[\[}}0], [1], [2, 3], [4]] output_shape [1, 3, 2, 2, 8]
  // CHECK: linalg.generic {indexing_maps = [#[[MQ]], #[[MK]], #[[SCORES]]]
  // CHECK-SAME: ins(%[[SPLIT]], %[[KEY]] : tensor<1x3x2x2x8xf32>, tensor<1x?x2x8xf32>)
  // CHECK: linalg.generic
  // CHECK: linalg.index 3
  // CHECK: arith.cmpi sgt
  // CHECK: arith.maximumf
  // CHECK: math.exp
  // CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[MV]], #{{.*}}]
  // CHECK: arith.divf
  // CHECK: tensor.collapse_shape
  %o = llm.attention %q, %k, %v {causal = true} : (tensor<1x3x4x8xf32>, tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>) -> tensor<1x3x4x8xf32>
  return %o : tensor<1x3x4x8xf32>
}

!group = !llm.quantized_tensor<i4, [6, 32], true, false, -1, 8, 4>
!blocks = !llm.quantized_tensor<i8, [6, 64], true, false, -1, 32, 8, format = q8_0>
!slice = !llm.sharded_tensor<tensor<8x6xf32>, 0, 2, 1>

// Quantized tensors are their integers, or the bytes of their blocks; slices are
// tensors; attributes of the dialect are dropped.
// CHECK: func private @outside(tensor<6x32xi4>, tensor<6x68xi8>) -> tensor<4x6xf32>
func.func private @outside(%q: !group, %b: !blocks) -> !slice
// CHECK-LABEL: func @types(
// CHECK-SAME: %[[Q4:.*]]: tensor<6x32xi4>, %[[Q8:.*]]: tensor<6x68xi8>, %[[S:.*]]: tensor<6x4xf32>, %[[ROWS:.*]]: tensor<2x32xf32>) -> (tensor<2x6xf32>, tensor<4x6xf32>) {
func.func @types(%q: !group, %b: !blocks, %s: tensor<6x4xf32>, %x: tensor<2x32xf32> {llm.constant}) -> (tensor<2x6xf32>, !slice) attributes {llm.layer} {
  // The scale is applied to each integer; there is no matrix of floats.
  // CHECK-DAG: %[[XS:.*]] = tensor.expand_shape %[[ROWS]] {{\[\[}}0], [1, 2]] output_shape [2, 4, 8]
  // CHECK-DAG: %[[QS:.*]] = tensor.expand_shape %[[Q4]] {{\[\[}}0], [1, 2]] output_shape [6, 4, 8]
  // CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[GROUPED]], #[[SCALES]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
  // CHECK-SAME: ins(%[[XS]], %[[QS]], %[[S]] : tensor<2x4x8xf32>, tensor<6x4x8xi4>, tensor<6x4xf32>)
  // CHECK: arith.sitofp %{{.*}} : i4 to f32
  // CHECK: call @outside(%[[Q4]], %[[Q8]]) : (tensor<6x32xi4>, tensor<6x68xi8>) -> tensor<4x6xf32>
  %y = llm.quantized_matmul %x, %q, %s {transpose_rhs} : (tensor<2x32xf32>, !group, tensor<6x4xf32>) -> tensor<2x6xf32>
  %t = call @outside(%q, %b) : (!group, !blocks) -> !slice
  return %y, %t : tensor<2x6xf32>, !slice
}

// Cosines and sines are those of angles in f64.
// CHECK-LABEL: func @rope(
func.func @rope(%x: tensor<?x2x6xf32>, %p: tensor<?xi32>) -> tensor<?x2x6xf32> {
  // CHECK: arith.sitofp %{{.*}} : i32 to f64
  // CHECK: math.cos %{{.*}} : f64
  // CHECK: math.sin %{{.*}} : f64
  // CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [%{{.*}}, 2, 2] [1, 1, 2]
  // CHECK: tensor.extract_slice %{{.*}}[0, 0, 1] [%{{.*}}, 2, 2] [1, 1, 2]
  // CHECK: tensor.insert_slice
  // CHECK: tensor.insert_slice
  %y = llm.rope %x, %p {frequencies = array<f64: 1.0, 0.1>, interleaved} : tensor<?x2x6xf32>, tensor<?xi32>
  return %y : tensor<?x2x6xf32>
}

// Ops that are decomposed into others, and a collective of one rank.
// CHECK-LABEL: func @fused(
// CHECK-NOT: llm.
func.func @fused(%x: tensor<?x8xf32>, %r: tensor<?x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %n, %s = llm.add_rms_norm %x, %r, %g {eps = 1.0e-5 : f64} : tensor<?x8xf32>, tensor<8xf32>
  %a = llm.all_reduce %n {group_size = 1, reduce_op = "sum"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %a, %s : tensor<?x8xf32>, tensor<?x8xf32>
}

// Ops of other dialects are preserved.
// CHECK-LABEL: func @others(
func.func @others(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: check.expect_close
  check.expect_close %x, %x {nmse = 1.0e-12 : f64} : tensor<4xf32>
  // CHECK: linalg.add
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %z = llm.silu %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
