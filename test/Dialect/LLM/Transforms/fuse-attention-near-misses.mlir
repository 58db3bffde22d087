// What looks like attention of [B, H, T, D] and is not: nothing here may fire.
// test/Execution/fuse-attention.mlir has the forms that do.

// RUN: llmir-opt %s --llm-fuse-attention --split-input-file | FileCheck %s --implicit-check-not=llm.attention

// Probabilities of the queries, not of the keys.
// CHECK-LABEL: @other_axis(
func.func @other_axis(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %s {axis = 2 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// Somebody else reads the scores, or the probabilities.
// CHECK-LABEL: @scores_read(
func.func @scores_read(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x5xf32>) {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %s {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o, %s : tensor<2x4x3x8xf32>, tensor<2x4x3x5xf32>
}

// -----

// CHECK-LABEL: @probabilities_read(
func.func @probabilities_read(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x5xf32>) {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %s {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o, %p : tensor<2x4x3x8xf32>, tensor<2x4x3x5xf32>
}

// -----

// A factor for each score, and one that is not known.
// CHECK-LABEL: @other_factors(
func.func @other_factors(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %f: tensor<2x4x3x5xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %t = mllm.linalg.mul %s, %f : tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// CHECK-LABEL: @unknown_factor(
func.func @unknown_factor(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %f: tensor<1xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %t = mllm.linalg.mul %s, %f : (tensor<2x4x3x5xf32>, tensor<1xf32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// A negative factor, which reverses the order of the scores, and an unknown
// one.
// CHECK-LABEL: @negative_factor(
func.func @negative_factor(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %t = mllm.linalg.mul %s {scalar = -0.5 : f64} : tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// CHECK-LABEL: @zero_factor(
func.func @zero_factor(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %t = mllm.linalg.mul %s {scalar = 0.0 : f64} : tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// A number divided by the scores.
// CHECK-LABEL: @inverse(
func.func @inverse(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %one = arith.constant dense<1.0> : tensor<2x4x3x5xf32>
  %t = mllm.linalg.div %one, %s : tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// The mask is scaled, too.
// CHECK-LABEL: @scaled_mask(
func.func @scaled_mask(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %m: tensor<3x5xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %u = mllm.linalg.add %s, %m : (tensor<2x4x3x5xf32>, tensor<3x5xf32>) -> tensor<2x4x3x5xf32>
  %t = mllm.linalg.mul %u {scalar = 0.5 : f64} : tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// Two masks: the op has one operand.
// CHECK-LABEL: @two_masks(
func.func @two_masks(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %m: tensor<3x5xf32>, %n: tensor<2x1x1x5xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %u = mllm.linalg.add %s, %m : (tensor<2x4x3x5xf32>, tensor<3x5xf32>) -> tensor<2x4x3x5xf32>
  %t = mllm.linalg.add %u, %n : (tensor<2x4x3x5xf32>, tensor<2x1x1x5xf32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// A tensor that is subtracted from the scores is not a mask.
// CHECK-LABEL: @subtracted(
func.func @subtracted(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %m: tensor<2x2x3x5xf32>) -> tensor<2x4x3x8xf32> {
  %n = mllm.linalg.repeat %m {dim = 1 : i64, times = 2 : i64} : tensor<2x2x3x5xf32> -> tensor<2x4x3x5xf32>
  %w = mllm.linalg.exp %n : tensor<2x4x3x5xf32>
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %t = mllm.linalg.sub %s, %w : tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// A finite number hides all keys of a row differently than -inf does.
// CHECK-LABEL: @finite(
func.func @finite(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %m: tensor<3x5xi1>) -> tensor<2x4x3x8xf32> {
  %low = arith.constant dense<-1.0e10> : tensor<f32>
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %t = mllm.linalg.where %m, %s, %low : (tensor<3x5xi1>, tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

#all = affine_map<(b, h, i, j) -> (b, h, i, j)>

// A score of -100 is low, and not hidden.
// CHECK-LABEL: @not_hidden(
func.func @not_hidden(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %se = tensor.empty() : tensor<2x4x3x5xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x4x3x5xf32>) outs(%se : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %low = arith.constant -100.0 : f32
    %past = arith.constant 2 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %h = linalg.index 1 : index
    %own = arith.addi %i, %past : index
    %seen = arith.cmpi sle, %j, %own : index
    %d = arith.select %seen, %x, %low : f32
    linalg.yield %d : f32
  } -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

#all = affine_map<(b, h, i, j) -> (b, h, i, j)>

// One position off: a query does not see itself.
// CHECK-LABEL: @without_itself(
func.func @without_itself(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %se = tensor.empty() : tensor<2x4x3x5xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x4x3x5xf32>) outs(%se : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %low = arith.constant 0xFF800000 : f32
    %past = arith.constant 2 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %h = linalg.index 1 : index
    %own = arith.addi %i, %past : index
    %seen = arith.cmpi slt, %j, %own : index
    %d = arith.select %seen, %x, %low : f32
    linalg.yield %d : f32
  } -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

#all = affine_map<(b, h, i, j) -> (b, h, i, j)>

// The first query is taken for the first token, with more keys than queries.
// CHECK-LABEL: @without_past(
func.func @without_past(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %se = tensor.empty() : tensor<2x4x3x5xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x4x3x5xf32>) outs(%se : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %low = arith.constant 0xFF800000 : f32
    %past = arith.constant 2 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %h = linalg.index 1 : index
    %own = arith.addi %i, %past : index
    %seen = arith.cmpi sle, %j, %i : index
    %d = arith.select %seen, %x, %low : f32
    linalg.yield %d : f32
  } -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

#all = affine_map<(b, h, i, j) -> (b, h, i, j)>

// Positions that depend on the head.
// CHECK-LABEL: @by_head(
func.func @by_head(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %se = tensor.empty() : tensor<2x4x3x5xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x4x3x5xf32>) outs(%se : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %low = arith.constant 0xFF800000 : f32
    %past = arith.constant 2 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %h = linalg.index 1 : index
    %own = arith.addi %i, %past : index
    %far = arith.addi %own, %h : index
    %seen = arith.cmpi sle, %j, %far : index
    %d = arith.select %seen, %x, %low : f32
    linalg.yield %d : f32
  } -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

#all = affine_map<(b, h, i, j) -> (b, h, i, j)>

// How many tokens came before is an argument.
// CHECK-LABEL: @unknown_past(
func.func @unknown_past(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %n: index) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %se = tensor.empty() : tensor<2x4x3x5xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x4x3x5xf32>) outs(%se : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %low = arith.constant 0xFF800000 : f32
    %past = arith.constant 2 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %h = linalg.index 1 : index
    %own = arith.addi %i, %past : index
    %far = arith.addi %i, %n : index
    %seen = arith.cmpi sle, %j, %far : index
    %d = arith.select %seen, %x, %low : f32
    linalg.yield %d : f32
  } -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

#all = affine_map<(b, h, i, j) -> (b, h, i, j)>

// Unsigned indices may wrap.
// CHECK-LABEL: @unsigned(
func.func @unsigned(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %se = tensor.empty() : tensor<2x4x3x5xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x4x3x5xf32>) outs(%se : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %low = arith.constant 0xFF800000 : f32
    %past = arith.constant 2 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %h = linalg.index 1 : index
    %own = arith.addi %i, %past : index
    %seen = arith.cmpi ule, %j, %own : index
    %d = arith.select %seen, %x, %low : f32
    linalg.yield %d : f32
  } -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

#all = affine_map<(b, h, i, j) -> (b, h, i, j)>

// One of two conditions: keys up to the query, or of a window.
// CHECK-LABEL: @either(
func.func @either(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %se = tensor.empty() : tensor<2x4x3x5xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x4x3x5xf32>) outs(%se : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %low = arith.constant 0xFF800000 : f32
    %past = arith.constant 2 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %h = linalg.index 1 : index
    %own = arith.addi %i, %past : index
    %c0 = arith.cmpi sle, %j, %own : index
    %c1 = arith.cmpi sgt, %j, %i : index
    %seen = arith.ori %c0, %c1 : i1
    %d = arith.select %seen, %x, %low : f32
    linalg.yield %d : f32
  } -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

#all = affine_map<(b, h, i, j) -> (b, h, i, j)>

// Keys of a window before the query, and all keys after it.
// CHECK-LABEL: @only_before(
func.func @only_before(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %se = tensor.empty() : tensor<2x4x3x5xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x4x3x5xf32>) outs(%se : tensor<2x4x3x5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %low = arith.constant 0xFF800000 : f32
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %seen = arith.cmpi sgt, %j, %i : index
    %d = arith.select %seen, %x, %low : f32
    linalg.yield %d : f32
  } -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// More queries than keys: the first ones see none, and a finite number hides
// none more than another.
// CHECK-LABEL: @more_queries(
func.func @more_queries(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x3x8xf32>) -> tensor<2x4x5x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x5x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x5x3xf32>
  %m = mllm.linalg.causal_mask %s : tensor<2x4x5x3xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x4x5x3xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x5x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x5x8xf32>
  return %o : tensor<2x4x5x8xf32>
}

// -----

// The mask is of the scores before they were transposed: keys hide queries.
// CHECK-LABEL: @mask_of_columns(
func.func @mask_of_columns(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %k, %q {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %m = mllm.linalg.causal_mask %s : tensor<2x4x3x3xf32>
  %t = mllm.linalg.transpose %m {dim0 = 2 : i64, dim1 = 3 : i64} : tensor<2x4x3x3xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x3xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// Keys of one sequence for all of them: llm.attention has keys of each.
// CHECK-LABEL: @shared_sequence(
func.func @shared_sequence(%q: tensor<2x4x3x8xf32>, %k: tensor<1x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<1x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %s {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// The product of scores and values is of other heads.
// CHECK-LABEL: @other_heads(
func.func @other_heads(%q: tensor<4x4x3x8xf32>, %k: tensor<4x4x5x8xf32>) -> tensor<4x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<4x4x3x8xf32>, tensor<4x4x5x8xf32>) -> tensor<4x4x3x5xf32>
  %p = mllm.linalg.softmax %s {axis = -1 : i64} : tensor<4x4x3x5xf32>
  %w = mllm.linalg.view %p : tensor<4x4x3x5xf32> -> tensor<4x3x4x5xf32>
  %x = mllm.linalg.permute %w {axes = array<i64: 0, 2, 1, 3>} : tensor<4x3x4x5xf32> -> tensor<4x4x3x5xf32>
  %o = mllm.linalg.matmul %x, %k : (tensor<4x4x3x5xf32>, tensor<4x4x5x8xf32>) -> tensor<4x4x3x8xf32>
  return %o : tensor<4x4x3x8xf32>
}

// -----

// Ops with named sizes are preserved.
// CHECK-LABEL: @named_sizes(
#named = #mllm.tensor<dims = (1, 4, seq, 8)>
func.func @named_sizes(%q: tensor<1x4x?x8xf32, #named>) -> tensor<1x4x?x8xf32, #named> {
  %s = mllm.linalg.matmul %q, %q {transpose_b} : (tensor<1x4x?x8xf32, #named>, tensor<1x4x?x8xf32, #named>) -> tensor<1x4x?x?xf32, #mllm.tensor<dims = (1, 4, seq, seq)>>
  %p = mllm.linalg.softmax %s {axis = -1 : i64} : tensor<1x4x?x?xf32, #mllm.tensor<dims = (1, 4, seq, seq)>>
  %o = mllm.linalg.matmul %p, %q : (tensor<1x4x?x?xf32, #mllm.tensor<dims = (1, 4, seq, seq)>>, tensor<1x4x?x8xf32, #named>) -> tensor<1x4x?x8xf32, #named>
  return %o : tensor<1x4x?x8xf32, #named>
}

// -----

// Causal, but how many keys there are is not known.
// CHECK-LABEL: @unknown_sizes(
func.func @unknown_sizes(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x?xf32>
  %m = mllm.linalg.causal_mask %s : tensor<2x4x?x?xf32>
  %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<2x4x?x?xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x?x?xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return %o : tensor<2x4x?x8xf32>
}

// -----

// A mask that may hide the only keys that a query sees: then those count that
// were hidden by a finite number.
// CHECK-LABEL: @finite_beside_a_mask(
func.func @finite_beside_a_mask(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>, %n: tensor<2x1x1x5xf32>) -> tensor<2x4x3x8xf32> {
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  %m = mllm.linalg.causal_mask %s : tensor<2x4x3x5xf32>
  %t = mllm.linalg.add %m, %n : (tensor<2x4x3x5xf32>, tensor<2x1x1x5xf32>) -> tensor<2x4x3x5xf32>
  %p = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<2x4x3x5xf32>
  %o = mllm.linalg.matmul %p, %k : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}
