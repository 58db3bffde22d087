// Attention of the mllm dialect after it has become ops of llm, linalg and
// tensor, and of sizes that are not known. test/Execution/fuse-attention.mlir
// compares the values of each form before and after.

// RUN: llmir-opt %s --convert-mllm-to-llm=form=function --llm-fuse-attention --split-input-file | FileCheck %s
// RUN: llmir-opt %s --llm-fuse-attention --convert-mllm-to-llm=form=function --split-input-file | FileCheck %s

// The heads of a layer are cut, repeated, masked and put together again.
// CHECK-LABEL: func.func @layer(
// CHECK-NOT: softmax
// CHECK: llm.attention {{.*}} {causal = true, scale = 2.500000e-01 : f64} : (tensor<1x3x4x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x4x8xf32>
// CHECK-NOT: softmax
mllm.graph.subgraph @layer(%q: tensor<1x3x32xf32>, %k: tensor<1x3x16xf32>, %v: tensor<1x3x16xf32>) -> tensor<1x3x32xf32> attributes {entry} {
  %qh = mllm.linalg.view %q : tensor<1x3x32xf32> -> tensor<1x3x4x8xf32>
  %kh = mllm.linalg.view %k : tensor<1x3x16xf32> -> tensor<1x3x2x8xf32>
  %vh = mllm.linalg.view %v : tensor<1x3x16xf32> -> tensor<1x3x2x8xf32>
  %qt = mllm.linalg.transpose %qh {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x3x4x8xf32> -> tensor<1x4x3x8xf32>
  %kt = mllm.linalg.transpose %kh {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x3x2x8xf32> -> tensor<1x2x3x8xf32>
  %vt = mllm.linalg.transpose %vh {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x3x2x8xf32> -> tensor<1x2x3x8xf32>
  %kr = mllm.linalg.repeat %kt {dim = 1 : i64, times = 2 : i64} : tensor<1x2x3x8xf32> -> tensor<1x4x3x8xf32>
  %vr = mllm.linalg.repeat %vt {dim = 1 : i64, times = 2 : i64} : tensor<1x2x3x8xf32> -> tensor<1x4x3x8xf32>
  %s = mllm.linalg.matmul %qt, %kr {transpose_b} : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x3xf32>
  %t = mllm.linalg.mul %s {scalar = 0.25 : f64} : tensor<1x4x3x3xf32>
  %m = mllm.linalg.causal_mask %t : tensor<1x4x3x3xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<1x4x3x3xf32>
  %o = mllm.linalg.matmul %p, %vr : (tensor<1x4x3x3xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x8xf32>
  %ot = mllm.linalg.transpose %o {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x4x3x8xf32> -> tensor<1x3x4x8xf32>
  %r = mllm.linalg.view %ot : tensor<1x3x4x8xf32> -> tensor<1x3x32xf32>
  mllm.cf.return %r : tensor<1x3x32xf32>
}

// -----

// A mask that is added, one that selects, and f16, whose products are summed in
// f32.
// CHECK-LABEL: func.func @masks(
// CHECK-SAME: %[[Q:.*]]: tensor<2x4x3x8xf16>, %[[K:.*]]: tensor<2x4x5x8xf16>, %[[M:.*]]: tensor<3x5xf16>, %[[C:.*]]: tensor<2x1x1x5xi1>
// CHECK: %[[MASK:.*]] = tensor.expand_shape %[[M]] {{\[\[}}0, 1, 2], [3]{{\]}} {{.*}} into tensor<1x1x3x5xf16>
// CHECK: llm.attention {{.*}} mask(%[[MASK]]) {scale = 1.000000e+00 : f64} : (tensor<2x3x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>, tensor<1x1x3x5xf16>) -> tensor<2x3x4x8xf16>
// CHECK: llm.attention {{.*}} mask(%[[C]]) {scale = 1.000000e+00 : f64}
// CHECK-NOT: softmax
mllm.graph.subgraph @masks(%q: tensor<2x4x3x8xf16>, %k: tensor<2x4x5x8xf16>, %m: tensor<3x5xf16>, %c: tensor<2x1x1x5xi1>) -> (tensor<2x4x3x8xf16>, tensor<2x4x3x8xf16>) attributes {entry} {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf16>, tensor<2x4x5x8xf16>) -> tensor<2x4x3x5xf16>
  %t = mllm.linalg.add %s, %m : (tensor<2x4x3x5xf16>, tensor<3x5xf16>) -> tensor<2x4x3x5xf16>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf16>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf16>, tensor<2x4x5x8xf16>) -> tensor<2x4x3x8xf16>
  %inf = mllm.tensor.constant dense<0xFC00> : tensor<1xf16>
  %s1 = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf16>, tensor<2x4x5x8xf16>) -> tensor<2x4x3x5xf16>
  %t1 = mllm.linalg.where %c, %s1, %inf : (tensor<2x1x1x5xi1>, tensor<2x4x3x5xf16>, tensor<1xf16>) -> tensor<2x4x3x5xf16>
  %p1 = mllm.linalg.softmax %t1 {axis = -1 : i64} : tensor<2x4x3x5xf16>
  %o1 = mllm.linalg.matmul %p1, %k : (tensor<2x4x3x5xf16>, tensor<2x4x5x8xf16>) -> tensor<2x4x3x8xf16>
  mllm.cf.return %o, %o1 : tensor<2x4x3x8xf16>, tensor<2x4x3x8xf16>
}

// -----

// Dynamic sizes remain dynamic.
// CHECK-LABEL: @dynamic(
// CHECK-SAME: %[[Q:.*]]: tensor<?x?x4x8xf32>, %[[K:.*]]: tensor<?x?x4x8xf32>, %[[M:.*]]: tensor<?x1x?x?xf32>
// CHECK-NOT: tensor.dim
// CHECK: llm.attention %[[Q]], %[[K]], %[[K]] mask(%[[M]]) {scale = 1.250000e-01 : f64} : (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x1x?x?xf32>) -> tensor<?x?x4x8xf32>
// CHECK-NEXT: return
func.func @dynamic(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x4x8xf32>, %m: tensor<?x1x?x?xf32>) -> tensor<?x?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x4x8xf32>
  %i = tensor.dim %q, %c1 : tensor<?x?x4x8xf32>
  %j = tensor.dim %k, %c1 : tensor<?x?x4x8xf32>
  %qe = tensor.empty(%b, %i) : tensor<?x4x?x8xf32>
  %ke = tensor.empty(%b, %j) : tensor<?x4x?x8xf32>
  %qt = linalg.transpose ins(%q : tensor<?x?x4x8xf32>) outs(%qe : tensor<?x4x?x8xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<?x?x4x8xf32>) outs(%ke : tensor<?x4x?x8xf32>) permutation = [0, 2, 1, 3]
  %zero = arith.constant 0.0 : f32
  %eighth = arith.constant 0.125 : f32
  %se = tensor.empty(%b, %i, %j) : tensor<?x4x?x?xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, k) -> (b, h, i, k)>, affine_map<(b, h, i, j, k) -> (b, h, j, k)>, affine_map<(b, h, i, j, k) -> (b, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%qt, %kt : tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) outs(%s0 : tensor<?x4x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %a = arith.mulf %x, %y : f32
    %n = arith.addf %z, %a : f32
    linalg.yield %n : f32
  } -> tensor<?x4x?x?xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, 0, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %m : tensor<?x4x?x?xf32>, tensor<?x1x?x?xf32>) outs(%se : tensor<?x4x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %a = arith.mulf %x, %eighth : f32
    %n = arith.addf %a, %y : f32
    linalg.yield %n : f32
  } -> tensor<?x4x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%t : tensor<?x4x?x?xf32>) outs(%se : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%qe : tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, h, i, d, j) -> (b, h, i, j)>, affine_map<(b, h, i, d, j) -> (b, h, j, d)>, affine_map<(b, h, i, d, j) -> (b, h, i, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %kt : tensor<?x4x?x?xf32>, tensor<?x4x?x8xf32>) outs(%o0 : tensor<?x4x?x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %a = arith.mulf %x, %y : f32
    %n = arith.addf %z, %a : f32
    linalg.yield %n : f32
  } -> tensor<?x4x?x8xf32>
  %re = tensor.empty(%b, %i) : tensor<?x?x4x8xf32>
  %r = linalg.transpose ins(%o : tensor<?x4x?x8xf32>) outs(%re : tensor<?x?x4x8xf32>) permutation = [0, 2, 1, 3]
  return %r : tensor<?x?x4x8xf32>
}
