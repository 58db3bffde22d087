// RUN: llmir-opt %s --llm-fuse-attention --split-input-file | FileCheck %s
// RUN: llmir-opt %s --llm-fuse-attention=merge-projections=false --split-input-file | FileCheck %s --check-prefix=ONLY

// matmul, scale, mask, softmax, matmul, in linalg and arith. SPEC: 8, 39, 120, 197
// CHECK-LABEL: @products
// CHECK-NOT: linalg
// CHECK: llm.attention %arg0, %arg1, %arg2 mask(%arg3) {scale = 1.250000e-01 : f64}
func.func @products(%q: tensor<2x5x64xf32>, %k: tensor<2x7x64xf32>, %v: tensor<2x7x64xf32>, %m: tensor<2x5x7xf32>) -> tensor<2x5x64xf32> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x64x7xf32>
  %kt = linalg.transpose ins(%k : tensor<2x7x64xf32>) outs(%ke : tensor<2x64x7xf32>) permutation = [0, 2, 1]
  %se = tensor.empty() : tensor<2x5x7xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x5x64xf32>, tensor<2x64x7xf32>) outs(%s0 : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %scale = arith.constant dense<0.125> : tensor<2x5x7xf32>
  %t = arith.mulf %s, %scale : tensor<2x5x7xf32>
  %u = arith.addf %t, %m : tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%u : tensor<2x5x7xf32>) outs(%se : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %oe = tensor.empty() : tensor<2x5x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x5x64xf32>) -> tensor<2x5x64xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x64xf32>) outs(%o0 : tensor<2x5x64xf32>) -> tensor<2x5x64xf32>
  return %o : tensor<2x5x64xf32>
}

// -----

// The keys as they are, by the product's own maps; llm ops between; no mask.
// A scale on the left works as well.
// CHECK-LABEL: @transposed_product
// CHECK: llm.attention %arg0, %arg1, %arg2 {scale = 5.000000e-01 : f64}
#q = affine_map<(b, m, n, k) -> (b, m, k)>
#kt = affine_map<(b, m, n, k) -> (b, n, k)>
#s = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @transposed_product(%q: tensor<1x4x16xf32>, %k: tensor<1x4x16xf32>, %v: tensor<1x4x16xf32>) -> tensor<1x4x16xf32> {
  %s0 = arith.constant dense<0.0> : tensor<1x4x4xf32>
  %s = linalg.generic {indexing_maps = [#q, #kt, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<1x4x16xf32>, tensor<1x4x16xf32>) outs(%s0 : tensor<1x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %ab = arith.mulf %a, %b : f32
    %sum = arith.addf %c, %ab : f32
    linalg.yield %sum : f32
  } -> tensor<1x4x4xf32>
  %scale = arith.constant dense<0.5> : tensor<1x4x4xf32>
  %t = llm.mul %scale, %s : tensor<1x4x4xf32>
  %p = llm.softmax %t : tensor<1x4x4xf32>
  %o0 = arith.constant dense<0.0> : tensor<1x4x16xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<1x4x4xf32>, tensor<1x4x16xf32>) outs(%o0 : tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  return %o : tensor<1x4x16xf32>
}

// -----

// A scale on the queries, a division, and both.
// CHECK-LABEL: @scales
// CHECK: llm.attention %arg0, %arg1, %arg2 {scale = 1.250000e-01 : f64}
func.func @scales(%q: tensor<1x4x16xf32>, %k: tensor<1x4x16xf32>, %v: tensor<1x4x16xf32>) -> tensor<1x4x16xf32> {
  %half = arith.constant dense<0.5> : tensor<1x4x16xf32>
  %qs = llm.mul %q, %half : tensor<1x4x16xf32>
  %e = tensor.empty() : tensor<1x16x4xf32>
  %kt = linalg.transpose ins(%k : tensor<1x4x16xf32>) outs(%e : tensor<1x16x4xf32>) permutation = [0, 2, 1]
  %s0 = arith.constant dense<0.0> : tensor<1x4x4xf32>
  %s = linalg.batch_matmul ins(%qs, %kt : tensor<1x4x16xf32>, tensor<1x16x4xf32>) outs(%s0 : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %four = arith.constant dense<4.0> : tensor<1x4x4xf32>
  %t = arith.divf %s, %four : tensor<1x4x4xf32>
  %p = llm.softmax %t : tensor<1x4x4xf32>
  %o0 = arith.constant dense<0.0> : tensor<1x4x16xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<1x4x4xf32>, tensor<1x4x16xf32>) outs(%o0 : tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  return %o : tensor<1x4x16xf32>
}

// -----

// A division by zero, and one by the scores, are not scales.
// CHECK-LABEL: @divisors
// CHECK-NOT: llm.attention
// CHECK: return
func.func @divisors(%q: tensor<1x4x16xf32>, %k: tensor<1x4x16xf32>, %v: tensor<1x4x16xf32>) -> (tensor<1x4x16xf32>, tensor<1x4x16xf32>) {
  %e = tensor.empty() : tensor<1x16x4xf32>
  %kt = linalg.transpose ins(%k : tensor<1x4x16xf32>) outs(%e : tensor<1x16x4xf32>) permutation = [0, 2, 1]
  %s0 = arith.constant dense<0.0> : tensor<1x4x4xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<1x4x16xf32>, tensor<1x16x4xf32>) outs(%s0 : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %four = arith.constant dense<4.0> : tensor<1x4x4xf32>
  %t = arith.divf %s, %s0 : tensor<1x4x4xf32>
  %u = arith.divf %four, %s : tensor<1x4x4xf32>
  %p = llm.softmax %t : tensor<1x4x4xf32>
  %r = llm.softmax %u : tensor<1x4x4xf32>
  %o0 = arith.constant dense<0.0> : tensor<1x4x16xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<1x4x4xf32>, tensor<1x4x16xf32>) outs(%o0 : tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  %x = linalg.batch_matmul ins(%r, %v : tensor<1x4x4xf32>, tensor<1x4x16xf32>) outs(%o0 : tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  return %o, %x : tensor<1x4x16xf32>, tensor<1x4x16xf32>
}

// -----

// A product that accumulates is not attention.
// CHECK-LABEL: @addend
// CHECK-NOT: llm.attention
// CHECK: linalg.batch_matmul
// CHECK: linalg.batch_matmul
func.func @addend(%q: tensor<1x4x16xf32>, %kt: tensor<1x16x4xf32>, %v: tensor<1x4x16xf32>, %o0: tensor<1x4x16xf32>) -> tensor<1x4x16xf32> {
  %s0 = arith.constant dense<0.0> : tensor<1x4x4xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<1x4x16xf32>, tensor<1x16x4xf32>) outs(%s0 : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %p = llm.softmax %s : tensor<1x4x4xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<1x4x4xf32>, tensor<1x4x16xf32>) outs(%o0 : tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  return %o : tensor<1x4x16xf32>
}

// -----

// Neither is a softmax over the queries.
// CHECK-LABEL: @wrong_dimension
// CHECK-NOT: llm.attention
// CHECK: linalg.softmax dimension(1)
func.func @wrong_dimension(%q: tensor<1x4x16xf32>, %k: tensor<1x4x16xf32>, %v: tensor<1x4x16xf32>) -> tensor<1x4x16xf32> {
  %e = tensor.empty() : tensor<1x16x4xf32>
  %kt = linalg.transpose ins(%k : tensor<1x4x16xf32>) outs(%e : tensor<1x16x4xf32>) permutation = [0, 2, 1]
  %s0 = arith.constant dense<0.0> : tensor<1x4x4xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<1x4x16xf32>, tensor<1x16x4xf32>) outs(%s0 : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<1x4x4xf32>) outs(%s0 : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %o0 = arith.constant dense<0.0> : tensor<1x4x16xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<1x4x4xf32>, tensor<1x4x16xf32>) outs(%o0 : tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  return %o : tensor<1x4x16xf32>
}

// -----

// Nor a negative scale: the attribute cannot say it.
// CHECK-LABEL: @negative_scale
// CHECK-NOT: llm.attention
func.func @negative_scale(%q: tensor<1x4x16xf32>, %k: tensor<1x4x16xf32>, %v: tensor<1x4x16xf32>) -> tensor<1x4x16xf32> {
  %e = tensor.empty() : tensor<1x16x4xf32>
  %kt = linalg.transpose ins(%k : tensor<1x4x16xf32>) outs(%e : tensor<1x16x4xf32>) permutation = [0, 2, 1]
  %s0 = arith.constant dense<0.0> : tensor<1x4x4xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<1x4x16xf32>, tensor<1x16x4xf32>) outs(%s0 : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %scale = arith.constant dense<-0.5> : tensor<1x4x4xf32>
  %t = arith.mulf %s, %scale : tensor<1x4x4xf32>
  %p = llm.softmax %t : tensor<1x4x4xf32>
  %o0 = arith.constant dense<0.0> : tensor<1x4x16xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<1x4x4xf32>, tensor<1x4x16xf32>) outs(%o0 : tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  return %o : tensor<1x4x16xf32>
}

// -----

// A constant mask that hides later keys.
// CHECK-LABEL: @causal_mask
// CHECK: llm.attention %arg0, %arg1, %arg1 {causal = true
// CHECK-SAME: : (tensor<1x2x1x16xf32>, tensor<1x3x1x16xf32>, tensor<1x3x1x16xf32>)
func.func @causal_mask(%q: tensor<1x2x1x16xf32>, %k: tensor<1x3x1x16xf32>) -> tensor<1x2x1x16xf32> {
  %m = arith.constant dense<[[[[true, true, false], [true, true, true]]]]> : tensor<1x1x2x3xi1>
  %o = llm.attention %q, %k, %k mask(%m) : (tensor<1x2x1x16xf32>, tensor<1x3x1x16xf32>, tensor<1x3x1x16xf32>, tensor<1x1x2x3xi1>) -> tensor<1x2x1x16xf32>
  return %o : tensor<1x2x1x16xf32>
}

// -----

// One that hides anything else is kept.
// CHECK-LABEL: @other_mask
// CHECK: mask(
func.func @other_mask(%q: tensor<1x2x1x16xf32>, %k: tensor<1x3x1x16xf32>) -> tensor<1x2x1x16xf32> {
  %m = arith.constant dense<[[[[true, false, false], [true, true, true]]]]> : tensor<1x1x2x3xi1>
  %o = llm.attention %q, %k, %k mask(%m) : (tensor<1x2x1x16xf32>, tensor<1x3x1x16xf32>, tensor<1x3x1x16xf32>, tensor<1x1x2x3xi1>) -> tensor<1x2x1x16xf32>
  return %o : tensor<1x2x1x16xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 16, 64>

// Attention to looked-up keys and values reads the cache in place.
// CHECK-LABEL: @lookup
// CHECK-NOT: llm.lookup_kv
// CHECK: llm.paged_attention %arg0, %arg1, %arg2, %{{.*}} {causal = false}
func.func @lookup(%q: tensor<2x1x4x16xf32>, %c: !cache, %b: tensor<2x2xi32>) -> tensor<2x1x4x16xf32> {
  %lens = arith.constant dense<20> : tensor<2xi32>
  %k, %v = llm.lookup_kv %c, %b, %lens : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>)
  %o = llm.attention %q, %k, %v : (tensor<2x1x4x16xf32>, tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>) -> tensor<2x1x4x16xf32>
  return %o : tensor<2x1x4x16xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 16, 64>

// Rows of any form: as many entries as tokens, and one block.
// CHECK-LABEL: @lookup_by_any_row
// CHECK-COUNT-2: llm.paged_attention
// CHECK-NOT: llm.attention
func.func @lookup_by_any_row(%q: tensor<2x1x4x16xf32>, %c: !cache, %b: tensor<2x20xi32>, %one: tensor<2xi32>) -> tensor<2x1x4x16xf32> {
  %lens = arith.constant dense<20> : tensor<2xi32>
  %k, %v = llm.lookup_kv %c, %b, %lens : (!cache, tensor<2x20xi32>, tensor<2xi32>) -> (tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>)
  %o = llm.attention %q, %k, %v : (tensor<2x1x4x16xf32>, tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>) -> tensor<2x1x4x16xf32>
  %k1, %v1 = llm.lookup_kv %c, %one, %lens : (!cache, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>)
  %p = llm.attention %o, %k1, %v1 : (tensor<2x1x4x16xf32>, tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>) -> tensor<2x1x4x16xf32>
  return %p : tensor<2x1x4x16xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 16, 64>

// If a sequence is shorter than the lookup, the zeros contribute to the result.
// CHECK-LABEL: @lookup_of_a_shorter_sequence
// CHECK: llm.attention
func.func @lookup_of_a_shorter_sequence(%q: tensor<2x1x4x16xf32>, %c: !cache, %b: tensor<2x2xi32>) -> tensor<2x1x4x16xf32> {
  %lens = arith.constant dense<[20, 19]> : tensor<2xi32>
  %k, %v = llm.lookup_kv %c, %b, %lens : (!cache, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>)
  %o = llm.attention %q, %k, %v : (tensor<2x1x4x16xf32>, tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>) -> tensor<2x1x4x16xf32>
  return %o : tensor<2x1x4x16xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>

// Ops around attention.
// CHECK-LABEL: @layer
// ONLY-LABEL: @layer
// CHECK: %[[QKV:.*]]:3 = llm.fused_linear %arg0 norm(%arg1) weights(%arg2, %arg3, %arg4) {norm_eps = 1.000000e-05 : f64}
// CHECK: llm.rope_append_kv %{{.*}}, %{{.*}}, %{{.*}} positions(%arg6) slots(%arg7) layer(%arg8)
// CHECK: llm.add_rms_norm %{{.*}}, %arg0, %arg1
// ONLY-COUNT-3: llm.linear
// ONLY: llm.append_kv
// ONLY: llm.add
// ONLY: llm.rms_norm
func.func @layer(%x: tensor<?x64xf32>, %g: tensor<64xf32>, %wq: tensor<64x64xf32>, %wk: tensor<32x64xf32>, %wv: tensor<32x64xf32>,
    %c: !cache, %pos: tensor<?xi32>, %slots: tensor<?xi32>, %l: index) -> (tensor<?x64xf32>, tensor<?x64xf32>, !cache) {
  %n = llm.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  %q = llm.linear %n, %wq : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
  %k = llm.linear %n, %wk : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  %v = llm.linear %n, %wv : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x64xf32>
  %kh = tensor.expand_shape %k [[0], [1, 2]] output_shape [%t, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
  %vh = tensor.expand_shape %v [[0], [1, 2]] output_shape [%t, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
  %kr = llm.rope %kh, %pos {frequencies = array<f64: 1.0, 0.1>} : tensor<?x2x16xf32>, tensor<?xi32>
  %c2 = llm.append_kv %c, %kr, %vh slots(%slots) layer(%l) : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> !cache
  %s = llm.add %q, %x : tensor<?x64xf32>
  %m = llm.rms_norm %s, %g {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return %s, %m, %c2 : tensor<?x64xf32>, tensor<?x64xf32>, !cache
}

// -----

// A norm with another use is not computed twice, and rows used as a weight are
// no rows.
// CHECK-LABEL: @kept
// CHECK: llm.rms_norm
// CHECK: llm.linear %{{.*}}, %arg1
// CHECK-NOT: llm.fused_linear
func.func @kept(%x: tensor<8x64xf32>, %w: tensor<32x64xf32>, %g: tensor<64xf32>) -> (tensor<8x32xf32>, tensor<8x64xf32>, tensor<32x8xf32>) {
  %n = llm.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<8x64xf32>, tensor<64xf32>
  %y = llm.linear %n, %w : tensor<8x64xf32>, tensor<32x64xf32> -> tensor<8x32xf32>
  %z = llm.linear %w, %n : tensor<32x64xf32>, tensor<8x64xf32> -> tensor<32x8xf32>
  return %y, %n, %z : tensor<8x32xf32>, tensor<8x64xf32>, tensor<32x8xf32>
}

// -----

// A weight that is defined later is moved up; a computed one is not.
mllm.tensor.register @w1 : tensor<32x64xf32> {source = "w1"}
// CHECK-LABEL: @weights_above
// CHECK: %[[W:.*]] = llm.weight @w1
// CHECK: llm.fused_linear %arg0 weights(%arg1, %[[W]])
// CHECK: %[[M:.*]] = llm.mul
// CHECK: llm.linear %arg0, %[[M]]
func.func @weights_above(%x: tensor<8x64xf32>, %w0: tensor<32x64xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) {
  %a = llm.linear %x, %w0 : tensor<8x64xf32>, tensor<32x64xf32> -> tensor<8x32xf32>
  %w1 = llm.weight @w1 : tensor<32x64xf32>
  %b = llm.linear %x, %w1 : tensor<8x64xf32>, tensor<32x64xf32> -> tensor<8x32xf32>
  %w2 = llm.mul %w0, %w1 : tensor<32x64xf32>
  %c = llm.linear %x, %w2 : tensor<8x64xf32>, tensor<32x64xf32> -> tensor<8x32xf32>
  return %a, %b, %c : tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>
}

// -----

// A sum that is used before its norm is preserved.
// CHECK-LABEL: @sum_used_before
// CHECK: llm.add
// CHECK: llm.silu
// CHECK: llm.rms_norm
// CHECK-NOT: llm.add_rms_norm
func.func @sum_used_before(%x: tensor<8x64xf32>, %g: tensor<64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %s = llm.add %x, %x : tensor<8x64xf32>
  %a = llm.silu %s : tensor<8x64xf32>
  %n = llm.rms_norm %s, %g {eps = 1.0e-5 : f64} : tensor<8x64xf32>, tensor<64xf32>
  return %a, %n : tensor<8x64xf32>, tensor<8x64xf32>
}

// -----

// A norm and the one projection that reads it, with its bias; weightless too.
// CHECK-LABEL: @norm_and_projection
// CHECK-NEXT: %[[Y:.*]] = llm.fused_linear %arg0 norm(%arg1) weights(%arg2) biases(%arg3) {norm_eps = 1.000000e-05 : f64}
// CHECK-NEXT: %[[Z:.*]] = llm.fused_linear %[[Y]] weights(%arg2) {norm_eps = 0.000000e+00 : f64}
// CHECK-NEXT: return %[[Z]]
func.func @norm_and_projection(%x: tensor<?x64xf32>, %g: tensor<64xf32>, %w: tensor<64x64xbf16>, %b: tensor<64xf32>) -> tensor<?x64xf32> {
  %n = llm.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  %y = llm.linear %n, %w bias %b : tensor<?x64xf32>, tensor<64x64xbf16>, tensor<64xf32> -> tensor<?x64xf32>
  %m = llm.rms_norm %y {eps = 0.0 : f64} : tensor<?x64xf32>
  %z = llm.linear %m, %w : tensor<?x64xf32>, tensor<64x64xbf16> -> tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

// -----

// Must not fire: the normalized rows are the result as well.
// CHECK-LABEL: @norm_is_a_result
// CHECK-NEXT: llm.rms_norm
// CHECK-NEXT: llm.linear
func.func @norm_is_a_result(%x: tensor<?x64xf32>, %g: tensor<64xf32>, %w: tensor<64x64xbf16>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %n = llm.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
  %y = llm.linear %n, %w : tensor<?x64xf32>, tensor<64x64xbf16> -> tensor<?x64xf32>
  return %y, %n : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// Must not fire: constants that attention cannot represent.
// CHECK-LABEL: @double_numbers
// CHECK-NOT: llm.attention
func.func @double_numbers(%q: tensor<2x3x4xf64>, %k: tensor<2x5x4xf64>) -> tensor<2x3x4xf64> {
  %zs = arith.constant dense<0.0> : tensor<2x3x5xf64>
  %zo = arith.constant dense<0.0> : tensor<2x3x4xf64>
  %e = tensor.empty() : tensor<2x4x5xf64>
  %t = linalg.transpose ins(%k : tensor<2x5x4xf64>) outs(%e : tensor<2x4x5xf64>) permutation = [0, 2, 1]
  %s = linalg.batch_matmul ins(%q, %t : tensor<2x3x4xf64>, tensor<2x4x5xf64>) outs(%zs : tensor<2x3x5xf64>) -> tensor<2x3x5xf64>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x3x5xf64>) outs(%zs : tensor<2x3x5xf64>) -> tensor<2x3x5xf64>
  %o = linalg.batch_matmul ins(%p, %k : tensor<2x3x5xf64>, tensor<2x5x4xf64>) outs(%zo : tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
  return %o : tensor<2x3x4xf64>
}

// -----

// Must not fire: a size is static in the result's type only.
// CHECK-LABEL: @size_of_the_result
// CHECK-NOT: llm.attention
func.func @size_of_the_result(%q: tensor<?x3x4xf32>, %k: tensor<2x5x4xf32>) -> tensor<2x3x4xf32> {
  %zs = arith.constant dense<0.0> : tensor<2x3x5xf32>
  %zo = arith.constant dense<0.0> : tensor<2x3x4xf32>
  %e = tensor.empty() : tensor<2x4x5xf32>
  %t = linalg.transpose ins(%k : tensor<2x5x4xf32>) outs(%e : tensor<2x4x5xf32>) permutation = [0, 2, 1]
  %s = linalg.batch_matmul ins(%q, %t : tensor<?x3x4xf32>, tensor<2x4x5xf32>) outs(%zs : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %p = llm.softmax %s : tensor<2x3x5xf32>
  %o = linalg.batch_matmul ins(%p, %k : tensor<2x3x5xf32>, tensor<2x5x4xf32>) outs(%zo : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %o : tensor<2x3x4xf32>
}

// -----

// If the append is after the attention, the attention may read the cache; must
// not fire if the append is between lookup and attention.
!cache = !llm.paged_kv_cache<f16, 1, 2, 4, 4, 64>
// CHECK-LABEL: @read_then_append
// CHECK: llm.paged_attention %{{.*}}, %arg1,
// CHECK-NEXT: llm.append_kv %arg1
// CHECK-LABEL: @append_then_read
// CHECK: llm.lookup_kv %arg1
// CHECK: llm.append_kv %arg1
// CHECK: llm.attention
func.func @read_then_append(%q: tensor<1x1x2x4xf16>, %c: !cache, %b: tensor<1x2xi32>, %k: tensor<1x2x4xf16>, %slot: tensor<1xi32>) -> (tensor<1x1x2x4xf16>, !cache) {
  %lens = arith.constant dense<8> : tensor<1xi32>
  %kk, %vv = llm.lookup_kv %c, %b, %lens : (!cache, tensor<1x2xi32>, tensor<1xi32>) -> (tensor<1x8x2x4xf16>, tensor<1x8x2x4xf16>)
  %o = llm.attention %q, %kk, %vv : (tensor<1x1x2x4xf16>, tensor<1x8x2x4xf16>, tensor<1x8x2x4xf16>) -> tensor<1x1x2x4xf16>
  %c2 = llm.append_kv %c, %k, %k slots(%slot) : (!cache, tensor<1x2x4xf16>, tensor<1x2x4xf16>, tensor<1xi32>) -> !cache
  return %o, %c2 : tensor<1x1x2x4xf16>, !cache
}
func.func @append_then_read(%q: tensor<1x1x2x4xf16>, %c: !cache, %b: tensor<1x2xi32>, %k: tensor<1x2x4xf16>, %slot: tensor<1xi32>) -> (tensor<1x1x2x4xf16>, !cache) {
  %lens = arith.constant dense<8> : tensor<1xi32>
  %kk, %vv = llm.lookup_kv %c, %b, %lens : (!cache, tensor<1x2xi32>, tensor<1xi32>) -> (tensor<1x8x2x4xf16>, tensor<1x8x2x4xf16>)
  %c2 = llm.append_kv %c, %k, %k slots(%slot) : (!cache, tensor<1x2x4xf16>, tensor<1x2x4xf16>, tensor<1xi32>) -> !cache
  %o = llm.attention %q, %kk, %vv : (tensor<1x1x2x4xf16>, tensor<1x8x2x4xf16>, tensor<1x8x2x4xf16>) -> tensor<1x1x2x4xf16>
  return %o, %c2 : tensor<1x1x2x4xf16>, !cache
}

// -----

// Must not fire: add_rms_norm has rows of tokens, or of heads of tokens.
// CHECK-LABEL: @sum_of_other_ranks
// CHECK-NOT: llm.add_rms_norm
func.func @sum_of_other_ranks(%x: tensor<2x3x4x8xf32>, %v: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<2x3x4x8xf32>, tensor<8xf32>) {
  %0 = llm.add %x, %x : tensor<2x3x4x8xf32>
  %1 = llm.rms_norm %0, %g : tensor<2x3x4x8xf32>, tensor<8xf32>
  %2 = llm.add %v, %v : tensor<8xf32>
  %3 = llm.rms_norm %2, %g : tensor<8xf32>, tensor<8xf32>
  return %1, %3 : tensor<2x3x4x8xf32>, tensor<8xf32>
}
