// Explicit attention of [B, H, T, D] gives the same results before and after it
// is fused, and compiled; each function holds its own expectation.

// RUN: llmir-translate --interpret %s | FileCheck %s --check-prefix=VALUES
// RUN: llmir-opt %s --llm-fuse-attention -o %t.fused.mlir
// RUN: FileCheck %s < %t.fused.mlir
// RUN: llmir-translate --interpret %t.fused.mlir | FileCheck %s --check-prefix=VALUES
// RUN: llmir-translate --compare %t.fused.mlir | FileCheck %s --check-prefix=COMPILED
// RUN: llmir-opt %t.fused.mlir --canonicalize --cse | llmir-translate --interpret | FileCheck %s --check-prefix=VALUES

// SPEC: 8 39 120
// VALUES-COUNT-17: {{1 expectation holds|2 expectations hold}}
// COMPILED-COUNT-18: nmse

#qk_q = affine_map<(b, h, i, j, k) -> (b, h, i, k)>
#qk_k = affine_map<(b, h, i, j, k) -> (b, h, j, k)>
#qk_s = affine_map<(b, h, i, j, k) -> (b, h, i, j)>
#pv_p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#pv_v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#pv_o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#all = affine_map<(b, h, i, j) -> (b, h, i, j)>
#scores = {indexing_maps = [#qk_q, #qk_k, #qk_s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#mixed = {indexing_maps = [#pv_p, #pv_v, #pv_o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}

//===----------------------------------------------------------------------===//
// What each one must be
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func private @plain(
func.func private @plain(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %qe = tensor.empty() : tensor<2x3x4x8xf32>
  %ke = tensor.empty() : tensor<2x5x4x8xf32>
  %ve = tensor.empty() : tensor<2x5x4x6xf32>
  %oe = tensor.empty() : tensor<2x4x3x6xf32>
  %qt = linalg.transpose ins(%q : tensor<2x4x3x8xf32>) outs(%qe : tensor<2x3x4x8xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<2x4x5x8xf32>) outs(%ke : tensor<2x5x4x8xf32>) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v : tensor<2x4x5x6xf32>) outs(%ve : tensor<2x5x4x6xf32>) permutation = [0, 2, 1, 3]
  %a = llm.attention %qt, %kt, %vt {scale = 0.25 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>) -> tensor<2x3x4x6xf32>
  %o = linalg.transpose ins(%a : tensor<2x3x4x6xf32>) outs(%oe : tensor<2x4x3x6xf32>) permutation = [0, 2, 1, 3]
  return %o : tensor<2x4x3x6xf32>
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

// Heads before tokens: attention has tokens before heads.
// CHECK-LABEL: @heads_first(
// CHECK-SAME: %[[Q:.*]]: tensor<2x4x3x8xf32>, %[[K:.*]]: tensor<2x4x5x8xf32>, %[[V:.*]]: tensor<2x4x5x6xf32>
// CHECK-DAG: %[[QT:.*]] = linalg.transpose ins(%[[Q]] : {{.*}} permutation = [0, 2, 1, 3]
// CHECK-DAG: %[[KT:.*]] = linalg.transpose ins(%[[K]] : {{.*}} permutation = [0, 2, 1, 3]
// CHECK-DAG: %[[VT:.*]] = linalg.transpose ins(%[[V]] : {{.*}} permutation = [0, 2, 1, 3]
// CHECK: %[[A:.*]] = llm.attention %[[QT]], %[[KT]], %[[VT]] {scale = 2.500000e-01 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK: linalg.transpose ins(%[[A]] : {{.*}} permutation = [0, 2, 1, 3]
// CHECK-NOT: softmax
// CHECK: return
func.func @heads_first(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %s0 = arith.constant dense<0.0> : tensor<2x4x3x5xf32>
  %s = linalg.generic #scores ins(%q, %k : tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) outs(%s0 : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<2x4x3x5xf32>
  %scale = arith.constant dense<0.25> : tensor<2x4x3x5xf32>
  %t = arith.mulf %s, %scale : tensor<2x4x3x5xf32>
  %p = llm.softmax %t : tensor<2x4x3x5xf32>
  %o0 = arith.constant dense<0.0> : tensor<2x4x3x6xf32>
  %o = linalg.generic #mixed ins(%p, %v : tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) outs(%o0 : tensor<2x4x3x6xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %m, %z : f32
    linalg.yield %n : f32
  } -> tensor<2x4x3x6xf32>
  %e = call @plain(%q, %k, %v) : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  check.expect_close %o, %e : tensor<2x4x3x6xf32>
  return %o : tensor<2x4x3x6xf32>
}

// The source transposes itself: nothing is left of it.
// CHECK-LABEL: @transposed_itself(
// CHECK-SAME: %[[Q:.*]]: tensor<2x3x4x8xf32>, %[[K:.*]]: tensor<2x5x4x8xf32>, %[[V:.*]]: tensor<2x5x4x8xf32>
// CHECK-NOT: linalg
// CHECK: llm.attention %[[Q]], %[[K]], %[[V]] {scale = 5.000000e-01 : f64}
// CHECK-NOT: linalg.{{transpose|generic}}
// CHECK: llm.attention
func.func @transposed_itself(%q: tensor<2x3x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x8xf32>) -> tensor<2x3x4x8xf32> {
  %qe = tensor.empty() : tensor<2x4x3x8xf32>
  %ke = tensor.empty() : tensor<2x4x8x5xf32>
  %ve = tensor.empty() : tensor<2x4x5x8xf32>
  %oe = tensor.empty() : tensor<2x3x4x8xf32>
  %qt = linalg.transpose ins(%q : tensor<2x3x4x8xf32>) outs(%qe : tensor<2x4x3x8xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<2x5x4x8xf32>) outs(%ke : tensor<2x4x8x5xf32>) permutation = [0, 2, 3, 1]
  %vt = linalg.transpose ins(%v : tensor<2x5x4x8xf32>) outs(%ve : tensor<2x4x5x8xf32>) permutation = [0, 2, 1, 3]
  %qc = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<2x4x3x8xf32> into tensor<8x3x8xf32>
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x4x8x5xf32> into tensor<8x8x5xf32>
  %vc = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<2x4x5x8xf32> into tensor<8x5x8xf32>
  %s0 = arith.constant dense<0.0> : tensor<8x3x5xf32>
  %s = linalg.batch_matmul ins(%qc, %kc : tensor<8x3x8xf32>, tensor<8x8x5xf32>) outs(%s0 : tensor<8x3x5xf32>) -> tensor<8x3x5xf32>
  %two = arith.constant dense<2.0> : tensor<8x3x5xf32>
  %t = arith.divf %s, %two : tensor<8x3x5xf32>
  %p = llm.softmax %t : tensor<8x3x5xf32>
  %o0 = arith.constant dense<0.0> : tensor<8x3x8xf32>
  %o = linalg.batch_matmul ins(%p, %vc : tensor<8x3x5xf32>, tensor<8x5x8xf32>) outs(%o0 : tensor<8x3x8xf32>) -> tensor<8x3x8xf32>
  %ox = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 4, 3, 8] : tensor<8x3x8xf32> into tensor<2x4x3x8xf32>
  %r = linalg.transpose ins(%ox : tensor<2x4x3x8xf32>) outs(%oe : tensor<2x3x4x8xf32>) permutation = [0, 2, 1, 3]
  %e = llm.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> tensor<2x3x4x8xf32>
  check.expect_close %r, %e : tensor<2x3x4x8xf32>
  return %r : tensor<2x3x4x8xf32>
}

// Products that read tokens before heads by their own maps; the probabilities
// are the right operand.
// CHECK-LABEL: @by_maps(
// CHECK-NOT: linalg
// CHECK: llm.attention %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64}
// CHECK-NOT: linalg
// CHECK: llm.attention
func.func @by_maps(%q: tensor<2x3x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x8xf32>) -> tensor<2x3x4x8xf32> {
  %s0 = arith.constant dense<0.0> : tensor<2x4x3x5xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, k) -> (b, i, h, k)>, affine_map<(b, h, i, j, k) -> (b, j, h, k)>, #qk_s],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>) outs(%s0 : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %y, %x : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<2x4x3x5xf32>
  %p = llm.softmax %s : tensor<2x4x3x5xf32>
  %o0 = arith.constant dense<0.0> : tensor<2x3x4x8xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(j, d, i, h, b) -> (b, j, h, d)>, affine_map<(j, d, i, h, b) -> (b, h, i, j)>, affine_map<(j, d, i, h, b) -> (b, i, h, d)>],
      iterator_types = ["reduction", "parallel", "parallel", "parallel", "parallel"]}
      ins(%v, %p : tensor<2x5x4x8xf32>, tensor<2x4x3x5xf32>) outs(%o0 : tensor<2x3x4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<2x3x4x8xf32>
  %e = llm.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> tensor<2x3x4x8xf32>
  check.expect_close %o, %e : tensor<2x3x4x8xf32>
  return %o : tensor<2x3x4x8xf32>
}

// One token of each sequence, as when decoding.
// CHECK-LABEL: @one_query(
// CHECK: llm.attention
// CHECK-SAME: (tensor<2x1x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> tensor<2x1x4x8xf32>
// CHECK-NOT: softmax
// CHECK: llm.attention
func.func @one_query(%q: tensor<2x1x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x8xf32>) -> tensor<2x1x4x8xf32> {
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x1x4x8xf32> -> tensor<2x4x1x8xf32>
  %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = -2 : i64} : tensor<2x5x4x8xf32> -> tensor<2x4x5x8xf32>
  %vt = mllm.linalg.transpose %v {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x5x4x8xf32> -> tensor<2x4x5x8xf32>
  %s = mllm.linalg.matmul %qt, %kt {transpose_b} : (tensor<2x4x1x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x1x5xf32>
  %m = mllm.linalg.causal_mask %s : tensor<2x4x1x5xf32>
  %p = mllm.linalg.softmax %m {axis = 3 : i64} : tensor<2x4x1x5xf32>
  %o = mllm.linalg.matmul %p, %vt : (tensor<2x4x1x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x1x8xf32>
  %r = mllm.linalg.view %o : tensor<2x4x1x8xf32> -> tensor<2x1x4x8xf32>
  %e = llm.attention %q, %k, %v {causal = true, scale = 1.0 : f64} : (tensor<2x1x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> tensor<2x1x4x8xf32>
  check.expect_close %r, %e : tensor<2x1x4x8xf32>
  return %r : tensor<2x1x4x8xf32>
}

// Rank 3 is preserved: one head.
// CHECK-LABEL: @one_head(
// CHECK: llm.attention %arg0, %arg1, %arg2 mask(%arg3) {scale = 2.500000e-01 : f64} : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x3x5xf32>)
func.func @one_head(%q: tensor<2x3x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>, %m: tensor<2x3x5xf32>) -> tensor<2x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x3x8xf32>, tensor<2x5x8xf32>) -> tensor<2x3x5xf32>
  %t = mllm.linalg.div %s {scalar = 4.0 : f64} : tensor<2x3x5xf32>
  %u = mllm.linalg.add %m, %t : tensor<2x3x5xf32>
  %p = mllm.linalg.softmax %u {axis = -1 : i64} : tensor<2x3x5xf32>
  %o = mllm.linalg.matmul %p, %v : (tensor<2x3x5xf32>, tensor<2x5x8xf32>) -> tensor<2x3x8xf32>
  %e = llm.attention %q, %k, %v mask(%m) {scale = 0.25 : f64} : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x3x5xf32>) -> tensor<2x3x8xf32>
  check.expect_close %o, %e : tensor<2x3x8xf32>
  return %o : tensor<2x3x8xf32>
}

//===----------------------------------------------------------------------===//
// Shared heads
//===----------------------------------------------------------------------===//

// Each of two heads of keys and values is repeated for two of the queries:
// attention takes the two.
// CHECK-LABEL: @broadcast_heads(
// CHECK-SAME: %[[Q:.*]]: tensor<2x3x4x8xf32>, %[[K:.*]]: tensor<2x5x2x8xf32>, %[[V:.*]]: tensor<2x5x2x8xf32>
// CHECK-NOT: linalg
// CHECK: llm.attention %[[Q]], %[[K]], %[[V]]
// CHECK-NOT: linalg
// CHECK: llm.attention
func.func @broadcast_heads(%q: tensor<2x3x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x8xf32>) -> tensor<2x3x4x8xf32> {
  %qe = tensor.empty() : tensor<2x4x3x8xf32>
  %qt = linalg.transpose ins(%q : tensor<2x3x4x8xf32>) outs(%qe : tensor<2x4x3x8xf32>) permutation = [0, 2, 1, 3]
  %he = tensor.empty() : tensor<2x2x5x8xf32>
  %kt = linalg.transpose ins(%k : tensor<2x5x2x8xf32>) outs(%he : tensor<2x2x5x8xf32>) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v : tensor<2x5x2x8xf32>) outs(%he : tensor<2x2x5x8xf32>) permutation = [0, 2, 1, 3]
  %re = tensor.empty() : tensor<2x2x2x5x8xf32>
  %kb = linalg.broadcast ins(%kt : tensor<2x2x5x8xf32>) outs(%re : tensor<2x2x2x5x8xf32>) dimensions = [2]
  %vb = linalg.broadcast ins(%vt : tensor<2x2x5x8xf32>) outs(%re : tensor<2x2x2x5x8xf32>) dimensions = [2]
  %qc = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<2x4x3x8xf32> into tensor<8x3x8xf32>
  %kc = tensor.collapse_shape %kb [[0, 1, 2], [3], [4]] : tensor<2x2x2x5x8xf32> into tensor<8x5x8xf32>
  %vc = tensor.collapse_shape %vb [[0, 1, 2], [3], [4]] : tensor<2x2x2x5x8xf32> into tensor<8x5x8xf32>
  %s = mllm.linalg.matmul %qc, %kc {transpose_b} : (tensor<8x3x8xf32>, tensor<8x5x8xf32>) -> tensor<8x3x5xf32>
  %t = mllm.linalg.mul %s {scalar = 0.25 : f64} : tensor<8x3x5xf32>
  %p = llm.softmax %t : tensor<8x3x5xf32>
  %o0 = arith.constant dense<0.0> : tensor<8x3x8xf32>
  %o = linalg.batch_matmul ins(%p, %vc : tensor<8x3x5xf32>, tensor<8x5x8xf32>) outs(%o0 : tensor<8x3x8xf32>) -> tensor<8x3x8xf32>
  %ox = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 4, 3, 8] : tensor<8x3x8xf32> into tensor<2x4x3x8xf32>
  %oe = tensor.empty() : tensor<2x3x4x8xf32>
  %r = linalg.transpose ins(%ox : tensor<2x4x3x8xf32>) outs(%oe : tensor<2x3x4x8xf32>) permutation = [0, 2, 1, 3]
  %e = llm.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x8xf32>) -> tensor<2x3x4x8xf32>
  check.expect_close %r, %e : tensor<2x3x4x8xf32>
  return %r : tensor<2x3x4x8xf32>
}

// mllm's own repetition, and columns cut into heads by a view.
// CHECK-LABEL: @repeated_heads(
// CHECK-SAME: %[[Q:.*]]: tensor<1x3x32xf32>, %[[K:.*]]: tensor<1x5x16xf32>, %[[V:.*]]: tensor<1x5x16xf32>
// CHECK-NOT: repeat
// CHECK-DAG: %[[QH:.*]] = mllm.linalg.view %[[Q]]
// CHECK-DAG: %[[KH:.*]] = mllm.linalg.view %[[K]]
// CHECK-DAG: %[[VH:.*]] = mllm.linalg.view %[[V]]
// CHECK: llm.attention %[[QH]], %[[KH]], %[[VH]] {causal = true, scale = 2.500000e-01 : f64}
// CHECK-SAME: (tensor<1x3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>)
func.func @repeated_heads(%q: tensor<1x3x32xf32>, %k: tensor<1x5x16xf32>, %v: tensor<1x5x16xf32>) -> tensor<1x3x32xf32> {
  %qh = mllm.linalg.view %q : tensor<1x3x32xf32> -> tensor<1x3x4x8xf32>
  %kh = mllm.linalg.view %k : tensor<1x5x16xf32> -> tensor<1x5x2x8xf32>
  %vh = mllm.linalg.view %v : tensor<1x5x16xf32> -> tensor<1x5x2x8xf32>
  %qt = mllm.linalg.permute %qh {axes = array<i64: 0, 2, 1, 3>} : tensor<1x3x4x8xf32> -> tensor<1x4x3x8xf32>
  %kt = mllm.linalg.transpose %kh {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x5x2x8xf32> -> tensor<1x2x5x8xf32>
  %vt = mllm.linalg.transpose %vh {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x5x2x8xf32> -> tensor<1x2x5x8xf32>
  %kr = mllm.linalg.repeat %kt {dim = 1 : i64, times = 2 : i64} : tensor<1x2x5x8xf32> -> tensor<1x4x5x8xf32>
  %vr = mllm.linalg.repeat %vt {dim = 1 : i64, times = 2 : i64} : tensor<1x2x5x8xf32> -> tensor<1x4x5x8xf32>
  %s = mllm.linalg.matmul %qt, %kr {transpose_b} : (tensor<1x4x3x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x5xf32>
  %t = mllm.linalg.mul %s {scalar = 0.25 : f64} : tensor<1x4x3x5xf32>
  %m = mllm.linalg.causal_mask %t : tensor<1x4x3x5xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<1x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %vr : (tensor<1x4x3x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32>
  %ot = mllm.linalg.transpose %o {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x4x3x8xf32> -> tensor<1x3x4x8xf32>
  %r = mllm.linalg.view %ot : tensor<1x3x4x8xf32> -> tensor<1x3x32xf32>
  %a = llm.attention %qh, %kh, %vh {causal = true, scale = 0.25 : f64} : (tensor<1x3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>) -> tensor<1x3x4x8xf32>
  %e = mllm.linalg.view %a : tensor<1x3x4x8xf32> -> tensor<1x3x32xf32>
  check.expect_close %r, %e : tensor<1x3x32xf32>
  return %r : tensor<1x3x32xf32>
}

// One head of keys and values for all, which the product repeats.
// CHECK-LABEL: @one_head_for_all(
// CHECK: llm.attention
// CHECK-SAME: (tensor<2x3x4x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x1x8xf32>) -> tensor<2x3x4x8xf32>
func.func @one_head_for_all(%q: tensor<2x4x3x8xf32>, %k: tensor<2x1x5x8xf32>, %v: tensor<2x1x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x1x5x8xf32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %s {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %v : (tensor<2x4x3x5xf32>, tensor<2x1x5x8xf32>) -> tensor<2x4x3x8xf32>
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x1x5x8xf32> -> tensor<2x5x1x8xf32>
  %vt = mllm.linalg.transpose %v {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x1x5x8xf32> -> tensor<2x5x1x8xf32>
  %a = llm.attention %qt, %kt, %vt {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x1x8xf32>) -> tensor<2x3x4x8xf32>
  %e = mllm.linalg.transpose %a {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x3x4x8xf32> -> tensor<2x4x3x8xf32>
  check.expect_close %o, %e : tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// Heads that share keys in another order than attention's remain repeated.
// CHECK-LABEL: @tiled_heads(
// CHECK: llm.attention
// CHECK-SAME: (tensor<1x3x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>) -> tensor<1x3x4x8xf32>
func.func @tiled_heads(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x4x3x8xf32> {
  %re = tensor.empty() : tensor<1x2x2x5x8xf32>
  %kb = linalg.broadcast ins(%k : tensor<1x2x5x8xf32>) outs(%re : tensor<1x2x2x5x8xf32>) dimensions = [1]
  %kr = tensor.collapse_shape %kb [[0], [1, 2], [3], [4]] : tensor<1x2x2x5x8xf32> into tensor<1x4x5x8xf32>
  %s = mllm.linalg.matmul %q, %kr {transpose_b} : (tensor<1x4x3x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x5xf32>
  %p = mllm.linalg.softmax %s {axis = -1 : i64} : tensor<1x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %kr : (tensor<1x4x3x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32>
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x4x3x8xf32> -> tensor<1x3x4x8xf32>
  %kt = mllm.linalg.transpose %kr {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x4x5x8xf32> -> tensor<1x5x4x8xf32>
  %a = llm.attention %qt, %kt, %kt {scale = 1.0 : f64} : (tensor<1x3x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>) -> tensor<1x3x4x8xf32>
  %e = mllm.linalg.transpose %a {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x3x4x8xf32> -> tensor<1x4x3x8xf32>
  check.expect_close %o, %e : tensor<1x4x3x8xf32>
  return %o : tensor<1x4x3x8xf32>
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

// A mask that all heads share is added between a reshape there and back.
// CHECK-LABEL: @mask_of_four(
// CHECK: llm.attention {{.*}} mask(%arg3) {scale = 5.000000e-01 : f64}
// CHECK-SAME: tensor<2x1x3x5xf32>)
func.func @mask_of_four(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %m: tensor<2x1x3x5xf32>) -> tensor<2x4x3x8xf32> {
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x3x8xf32> into tensor<8x3x8xf32>
  %kc = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x4x5x8xf32> into tensor<8x5x8xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x5x8xf32> into tensor<8x5x8xf32>
  %s = mllm.linalg.matmul %qc, %kc {transpose_b} : (tensor<8x3x8xf32>, tensor<8x5x8xf32>) -> tensor<8x3x5xf32>
  %sx = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 4, 3, 5] : tensor<8x3x5xf32> into tensor<2x4x3x5xf32>
  %half = arith.constant 0.5 : f32
  %se = tensor.empty() : tensor<2x4x3x5xf32>
  %t = linalg.generic {indexing_maps = [#all, affine_map<(b, h, i, j) -> (b, 0, i, j)>, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sx, %m : tensor<2x4x3x5xf32>, tensor<2x1x3x5xf32>) outs(%se : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %c = arith.mulf %half, %x : f32
    %d = arith.addf %c, %y : f32
    linalg.yield %d : f32
  } -> tensor<2x4x3x5xf32>
  %p = llm.softmax %t : tensor<2x4x3x5xf32>
  %pc = tensor.collapse_shape %p [[0, 1], [2], [3]] : tensor<2x4x3x5xf32> into tensor<8x3x5xf32>
  %o = mllm.linalg.matmul %pc, %vc : (tensor<8x3x5xf32>, tensor<8x5x8xf32>) -> tensor<8x3x8xf32>
  %r = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 4, 3, 8] : tensor<8x3x8xf32> into tensor<2x4x3x8xf32>
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x5x8xf32> -> tensor<2x5x4x8xf32>
  %vt = mllm.linalg.transpose %v {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x5x8xf32> -> tensor<2x5x4x8xf32>
  %a = llm.attention %qt, %kt, %vt mask(%m) {scale = 0.5 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x1x3x5xf32>) -> tensor<2x3x4x8xf32>
  %e = mllm.linalg.transpose %a {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x3x4x8xf32> -> tensor<2x4x3x8xf32>
  check.expect_close %r, %e : tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// The visible keys as the condition of a select; here the condition selects
// which do not.
// CHECK-LABEL: @selected(
// CHECK: llm.attention {{.*}} mask(%arg2) {scale = 1.000000e+00 : f64}
// CHECK-SAME: tensor<2x1x1x5xi1>)
// CHECK: %[[NOT:.*]] = linalg.generic {{.*}} ins(%arg2 :
// CHECK: arith.xori
// CHECK: llm.attention {{.*}} mask(%[[NOT]])
func.func @selected(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>,
    %m: tensor<2x1x1x5xi1> {check.values = dense<[[[[true, true, false, true, false]]], [[[false, true, false, false, true]]]]> : tensor<2x1x1x5xi1>})
    -> (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) {
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %t = mllm.linalg.where %m, %s, %inf : (tensor<2x1x1x5xi1>, tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  %s1 = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %t1 = mllm.linalg.where %m, %inf, %s1 : (tensor<2x1x1x5xi1>, tensor<f32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p1 = mllm.linalg.softmax %t1 {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o1 = mllm.linalg.matmul %p1, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x5x8xf32> -> tensor<2x5x4x8xf32>
  %a = llm.attention %qt, %kt, %kt mask(%m) {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x1x1x5xi1>) -> tensor<2x3x4x8xf32>
  %e = mllm.linalg.transpose %a {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x3x4x8xf32> -> tensor<2x4x3x8xf32>
  check.expect_close %o, %e : tensor<2x4x3x8xf32>
  %n = mllm.linalg.logical_not %m : tensor<2x1x1x5xi1>
  %a1 = llm.attention %qt, %kt, %kt mask(%n) {scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x1x1x5xi1>) -> tensor<2x3x4x8xf32>
  %e1 = mllm.linalg.transpose %a1 {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x3x4x8xf32> -> tensor<2x4x3x8xf32>
  check.expect_close %o1, %e1 : tensor<2x4x3x8xf32>
  return %o, %o1 : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>
}

// Positions that are compared in the body of a linalg op, together with the
// scale.
// CHECK-LABEL: @compared_indices(
// CHECK: llm.attention {{.*}} {causal = true, scale = 2.500000e-01 : f64}
// CHECK-NOT: softmax
// CHECK: llm.attention
func.func @compared_indices(%q: tensor<2x3x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x8xf32>) -> tensor<2x3x4x8xf32> {
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x3x4x8xf32> -> tensor<2x4x3x8xf32>
  %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x5x4x8xf32> -> tensor<2x4x5x8xf32>
  %vt = mllm.linalg.transpose %v {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x5x4x8xf32> -> tensor<2x4x5x8xf32>
  %s = mllm.linalg.matmul %qt, %kt {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %se = tensor.empty() : tensor<2x4x3x5xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x3x5xf32>) outs(%se : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %quarter = arith.constant 0.25 : f32
    %low = arith.constant -1.0e10 : f32
    %past = arith.constant 2 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %own = arith.addi %i, %past : index
    %seen = arith.cmpi sle, %j, %own : index
    %c = arith.mulf %x, %quarter : f32
    %d = arith.select %seen, %c, %low : f32
    linalg.yield %d : f32
  } -> tensor<2x4x3x5xf32>
  %p = llm.softmax %t : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %vt : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  %r = mllm.linalg.transpose %o {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %e = llm.attention %q, %k, %v {causal = true, scale = 0.25 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> tensor<2x3x4x8xf32>
  check.expect_close %r, %e : tensor<2x3x4x8xf32>
  return %r : tensor<2x3x4x8xf32>
}

// A mask of [Tq, Tk] that is made from comparisons and added: causal, with a
// window of 2 keys.
// CHECK-LABEL: @added_window(
// CHECK: llm.attention {{.*}} {causal = true, scale = 5.000000e-01 : f64, window = 2 : i64}
func.func @added_window(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32> {
  %me = tensor.empty() : tensor<5x5xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%me : tensor<5x5xf32>) {
  ^bb0(%z: f32):
    %zero = arith.constant 0.0 : f32
    %inf = arith.constant 0xFF800000 : f32
    %two = arith.constant 2 : i32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %later = arith.cmpi sgt, %jj, %ii : i32
    %first = arith.subi %ii, %two : i32
    %far = arith.cmpi sle, %jj, %first : i32
    %hidden = arith.ori %later, %far : i1
    %d = arith.select %hidden, %inf, %zero : f32
    linalg.yield %d : f32
  } -> tensor<5x5xf32>
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x5x5xf32>
  %t = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<2x4x5x5xf32>
  %u = mllm.linalg.add %t, %m : (tensor<2x4x5x5xf32>, tensor<5x5xf32>) -> tensor<2x4x5x5xf32>
  %p = mllm.linalg.softmax %u {axis = -1 : i64} : tensor<2x4x5x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x5x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x5x8xf32> -> tensor<2x5x4x8xf32>
  %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x5x8xf32> -> tensor<2x5x4x8xf32>
  %a = llm.attention %qt, %kt, %kt {causal = true, scale = 0.5 : f64, window = 2} : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
  %e = mllm.linalg.transpose %a {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x5x4x8xf32> -> tensor<2x4x5x8xf32>
  check.expect_close %o, %e : tensor<2x4x5x8xf32>
  return %o : tensor<2x4x5x8xf32>
}

// The same positions as tensors of mllm, and a mask of the sequence.
// CHECK-LABEL: @compared_ranges(
// CHECK: llm.attention {{.*}} mask(%arg2) {causal = true, scale = 1.000000e+00 : f64}
func.func @compared_ranges(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %m: tensor<2x1x1x5xf32>) -> tensor<2x4x3x8xf32> {
  %r0 = mllm.tensor.constant dense<0> : tensor<3x1xi32>
  %c0 = mllm.tensor.constant dense<0> : tensor<5xi32>
  %rows = mllm.linalg.fill arange %r0 {start = 0.0 : f64, step = 1.0 : f64} : tensor<3x1xi32>
  %columns = mllm.linalg.fill arange %c0 {start = 0.0 : f64, step = 1.0 : f64} : tensor<5xi32>
  %own = mllm.linalg.add %rows {scalar = 2.0 : f64} : tensor<3x1xi32>
  %later = mllm.linalg.compare greater %columns, %own : (tensor<5xi32>, tensor<3x1xi32>) -> tensor<3x5xi1>
  %seen = mllm.linalg.logical_not %later : tensor<3x5xi1>
  %inf = mllm.tensor.constant dense<0xFF800000> : tensor<1xf32>
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %t = mllm.linalg.where %seen, %s, %inf : (tensor<3x5xi1>, tensor<2x4x3x5xf32>, tensor<1xf32>) -> tensor<2x4x3x5xf32>
  %u = mllm.linalg.add %m, %t : (tensor<2x1x1x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %u {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x5x8xf32> -> tensor<2x5x4x8xf32>
  %a = llm.attention %qt, %kt, %kt mask(%m) {causal = true, scale = 1.0 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x1x1x5xf32>) -> tensor<2x3x4x8xf32>
  %e = mllm.linalg.transpose %a {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x3x4x8xf32> -> tensor<2x4x3x8xf32>
  check.expect_close %o, %e : tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// A constant of [Tq, Tk] becomes causal.
// CHECK-LABEL: @constant_mask(
// CHECK: llm.attention {{.*}} {causal = true, scale = 1.000000e+00 : f64}
func.func @constant_mask(%q: tensor<2x4x2x8xf32>, %k: tensor<2x4x3x8xf32>) -> tensor<2x4x2x8xf32> {
  %m = mllm.tensor.constant dense<[[0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x2x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x2x3xf32>
  %u = mllm.linalg.add %s, %m : (tensor<2x4x2x3xf32>, tensor<2x3xf32>) -> tensor<2x4x2x3xf32>
  %p = mllm.linalg.softmax %u {axis = -1 : i64} : tensor<2x4x2x3xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x2x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x2x8xf32>
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x2x8xf32> -> tensor<2x2x4x8xf32>
  %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %a = llm.attention %qt, %kt, %kt {causal = true, scale = 1.0 : f64} : (tensor<2x2x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>) -> tensor<2x2x4x8xf32>
  %e = mllm.linalg.transpose %a {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x2x4x8xf32> -> tensor<2x4x2x8xf32>
  check.expect_close %o, %e : tensor<2x4x2x8xf32>
  return %o : tensor<2x4x2x8xf32>
}

//===----------------------------------------------------------------------===//
// f16
//===----------------------------------------------------------------------===//

// Scores and probabilities are rounded in the explicit form: results agree
// within the rounding of f16.
// CHECK-LABEL: @half(
// CHECK: llm.attention %arg0, %arg1, %arg2 {causal = true, scale = 5.000000e-01 : f64} : (tensor<2x5x2x8xf16>, tensor<2x5x2x8xf16>, tensor<2x5x2x8xf16>) -> tensor<2x5x2x8xf16>
// CHECK-NOT: softmax
// CHECK: llm.attention
func.func @half(%q: tensor<2x5x2x8xf16>, %k: tensor<2x5x2x8xf16>, %v: tensor<2x5x2x8xf16>) -> tensor<2x5x2x8xf16> {
  %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x5x2x8xf16> -> tensor<2x2x5x8xf16>
  %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x5x2x8xf16> -> tensor<2x2x5x8xf16>
  %vt = mllm.linalg.transpose %v {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x5x2x8xf16> -> tensor<2x2x5x8xf16>
  %qs = mllm.linalg.mul %qt {scalar = 0.5 : f64} : tensor<2x2x5x8xf16>
  %s = mllm.linalg.matmul %qs, %kt {transpose_b} : (tensor<2x2x5x8xf16>, tensor<2x2x5x8xf16>) -> tensor<2x2x5x5xf16>
  %m = mllm.linalg.causal_mask %s : tensor<2x2x5x5xf16>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x2x5x5xf16>
  %o = mllm.linalg.matmul %p, %vt : (tensor<2x2x5x5xf16>, tensor<2x2x5x8xf16>) -> tensor<2x2x5x8xf16>
  %r = mllm.linalg.transpose %o {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<2x2x5x8xf16> -> tensor<2x5x2x8xf16>
  %e = llm.attention %q, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<2x5x2x8xf16>, tensor<2x5x2x8xf16>, tensor<2x5x2x8xf16>) -> tensor<2x5x2x8xf16>
  check.expect_close %r, %e {nmse = 1.0e-6 : f64} : tensor<2x5x2x8xf16>
  return %r : tensor<2x5x2x8xf16>
}

// Sums and the softmax in f32, and rounded at the end, as frameworks do it.
// CHECK-LABEL: @half_in_full(
// CHECK: llm.attention %{{.*}} {scale = 1.000000e+00 : f64} : (tensor<3x5x8xf16>, tensor<3x5x8xf16>, tensor<3x5x8xf16>) -> tensor<3x5x8xf16>
// CHECK-NOT: softmax
// CHECK: llm.attention
func.func @half_in_full(%q: tensor<3x5x8xf16>, %k: tensor<3x5x8xf16>, %v: tensor<3x5x8xf16>) -> tensor<3x5x8xf16> {
  %s0 = arith.constant dense<0.0> : tensor<3x5x5xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, j, k)>, affine_map<(b, i, j, k) -> (b, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<3x5x8xf16>, tensor<3x5x8xf16>) outs(%s0 : tensor<3x5x5xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %a = arith.extf %x : f16 to f32
    %b = arith.extf %y : f16 to f32
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<3x5x5xf32>
  %p = llm.softmax %s : tensor<3x5x5xf32>
  %h = mllm.linalg.cast_type %p to f16 : tensor<3x5x5xf32> -> tensor<3x5x5xf16>
  %o0 = arith.constant dense<0.0> : tensor<3x5x8xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, i, d, j) -> (b, i, j)>, affine_map<(b, i, d, j) -> (b, j, d)>, affine_map<(b, i, d, j) -> (b, i, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%h, %v : tensor<3x5x5xf16>, tensor<3x5x8xf16>) outs(%o0 : tensor<3x5x8xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %a = arith.extf %x : f16 to f32
    %b = arith.extf %y : f16 to f32
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<3x5x8xf32>
  %r = mllm.linalg.cast_type %o to f16 : tensor<3x5x8xf32> -> tensor<3x5x8xf16>
  %e = llm.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<3x5x8xf16>, tensor<3x5x8xf16>, tensor<3x5x8xf16>) -> tensor<3x5x8xf16>
  check.expect_close %r, %e {nmse = 1.0e-6 : f64} : tensor<3x5x8xf16>
  return %r : tensor<3x5x8xf16>
}
