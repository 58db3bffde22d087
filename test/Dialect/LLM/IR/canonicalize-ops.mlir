// RUN: llmir-opt %s --canonicalize | FileCheck %s

// Simplifications, and similar cases that must be preserved.

// CHECK-LABEL: func @add_zero
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @add_zero(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: return %[[X]], %[[X]]
  %zero = arith.constant dense<0.0> : tensor<2x3xf32>
  %minus_zero = arith.constant dense<-0.0> : tensor<2x3xf32>
  %0 = llm.add %zero, %x : tensor<2x3xf32>
  %1 = llm.add %x, %minus_zero : tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// Must not fire: one element is not zero; a zero is not a factor of one.
// CHECK-LABEL: func @add_nearly_zero
func.func @add_nearly_zero(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: llm.add
  // CHECK: llm.mul
  %c = arith.constant dense<[0.0, 1.0e-30]> : tensor<2xf32>
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %0 = llm.add %x, %c : tensor<2xf32>
  %1 = llm.mul %x, %zero : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @mul_one
// CHECK-SAME: %[[X:.*]]: tensor<2x3xbf16>
func.func @mul_one(%x: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
  // CHECK-NEXT: return %[[X]]
  %one = arith.constant dense<1.0> : tensor<2x3xbf16>
  %0 = llm.mul %one, %x : tensor<2x3xbf16>
  return %0 : tensor<2x3xbf16>
}

// Must not fire.
// CHECK-LABEL: func @mul_minus_one
func.func @mul_minus_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: llm.mul
  %c = arith.constant dense<-1.0> : tensor<2x3xf32>
  %0 = llm.mul %x, %c : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func @swiglu
// CHECK-SAME: %[[G:.*]]: tensor<?x8xf32>, %[[U:.*]]: tensor<?x8xf32>
func.func @swiglu(%g: tensor<?x8xf32>, %u: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = llm.swiglu %[[G]], %[[U]] : tensor<?x8xf32>
  // CHECK-NEXT: %[[B:.*]] = llm.swiglu %[[G]], %[[U]] : tensor<?x8xf32>
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = llm.silu %g : tensor<?x8xf32>
  %1 = llm.mul %0, %u : tensor<?x8xf32>
  %2 = llm.silu %g : tensor<?x8xf32>
  %3 = llm.mul %u, %2 : tensor<?x8xf32>
  return %1, %3 : tensor<?x8xf32>, tensor<?x8xf32>
}

// Must not fire: silu has another use; a sum is not a product; gelu is not
// silu.
// CHECK-LABEL: func @no_swiglu
func.func @no_swiglu(%g: tensor<?x8xf32>, %u: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-NOT: llm.swiglu
  %0 = llm.silu %g : tensor<?x8xf32>
  %1 = llm.mul %0, %u : tensor<?x8xf32>
  %2 = llm.silu %u : tensor<?x8xf32>
  %3 = llm.add %2, %g : tensor<?x8xf32>
  %4 = llm.gelu %u : tensor<?x8xf32>
  %5 = llm.mul %4, %g : tensor<?x8xf32>
  return %0, %1, %3, %5 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func @norm_weights
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
func.func @norm_weights(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK-NEXT: llm.rms_norm %[[X]] {eps = 1.000000e-05 : f64} : tensor<?x4xf32>
  // CHECK-NEXT: llm.layer_norm %[[X]] : tensor<?x4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %0 = llm.rms_norm %x, %one {eps = 1.0e-5 : f64} : tensor<?x4xf32>, tensor<4xf32>
  %1 = llm.layer_norm %x, %one, %zero : tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// Must not fire: a weight that is not one everywhere; a bias needs the weight.
// CHECK-LABEL: func @norm_weights_that_stay
func.func @norm_weights_that_stay(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  // CHECK: llm.rms_norm %{{.*}}, %{{.*}} : tensor<?x2xf32>, tensor<2xf32>
  // CHECK: llm.layer_norm %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>
  // CHECK: llm.layer_norm %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}} : tensor<?x2xf32>, tensor<2xf32>
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %w = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = llm.rms_norm %x, %w : tensor<?x2xf32>, tensor<2xf32>
  %1 = llm.layer_norm %x, %one, %w : tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>
  %2 = llm.layer_norm %x, %w, %zero : tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>
  return %0, %1, %2 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}

!i8 = !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>
!i4 = !llm.quantized_tensor<i4, [8, 64], false, false, -1, 32, 4>

// CHECK-LABEL: func @linear_of_dequantized
// CHECK-SAME: %[[X:.*]]: tensor<?x64xbf16>, %[[Q:.*]]: !llm{{.*}}, %[[S:.*]]: tensor<8x2xf32>, %[[Z:.*]]: tensor<8x2xi8>, %[[B:.*]]: tensor<8xf32>
func.func @linear_of_dequantized(%x: tensor<?x64xbf16>, %q: !i4, %s: tensor<8x2xf32>, %z: tensor<8x2xi8>, %b: tensor<8xf32>) -> tensor<?x8xbf16> {
  // CHECK-NEXT: %[[Y:.*]] = llm.quantized_matmul %[[X]], %[[Q]], %[[S]], %[[Z]] bias(%[[B]]) {transpose_rhs} :
  // CHECK-NEXT: return %[[Y]]
  %w = llm.dequantize %q, %s, %z : (!i4, tensor<8x2xf32>, tensor<8x2xi8>) -> tensor<8x64xf32>
  %y = llm.linear %x, %w bias %b : tensor<?x64xbf16>, tensor<8x64xf32>, tensor<8xf32> -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// Must not fire: the weight was rounded to bf16, which quantized_matmul does
// not do.
// CHECK-LABEL: func @linear_of_rounded
func.func @linear_of_rounded(%x: tensor<?x64xbf16>, %q: !i8, %s: tensor<8xf32>) -> tensor<?x8xbf16> {
  // CHECK: llm.dequantize
  // CHECK: llm.linear
  %w = llm.dequantize %q, %s : (!i8, tensor<8xf32>) -> tensor<8x64xbf16>
  %y = llm.linear %x, %w : tensor<?x64xbf16>, tensor<8x64xbf16> -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// Must not fire: quantize rounds, so there is no way back; and rounding twice
// depends on the scales.
// CHECK-LABEL: func @quantize_and_back
func.func @quantize_and_back(%x: tensor<8x64xf32>, %q: !i8, %s: tensor<8xf32>) -> (tensor<8x64xf32>, !i8) {
  // CHECK: llm.quantize
  // CHECK: llm.dequantize
  // CHECK: llm.dequantize
  // CHECK: llm.quantize
  %0 = llm.quantize %x, %s : (tensor<8x64xf32>, tensor<8xf32>) -> !i8
  %1 = llm.dequantize %0, %s : (!i8, tensor<8xf32>) -> tensor<8x64xf32>
  %2 = llm.dequantize %q, %s : (!i8, tensor<8xf32>) -> tensor<8x64xf32>
  %3 = llm.quantize %2, %s : (tensor<8x64xf32>, tensor<8xf32>) -> !i8
  return %1, %3 : tensor<8x64xf32>, !i8
}

// Must not fire: softmax of softmax is another distribution.
// CHECK-LABEL: func @softmax_twice
func.func @softmax_twice(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-COUNT-2: llm.softmax
  %0 = llm.softmax %x : tensor<?x8xf32>
  %1 = llm.softmax %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: func @alone
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @alone(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]]
  %0 = llm.all_gather %x {dim = 1, group_size = 1} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = llm.all_reduce %x {group_size = 1, reduce_op = "mean"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = llm.reduce_scatter %x {dim = 1, group_size = 1} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = llm.shard %x {dim = 1, num_shards = 1} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0, %1, %2, %3 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// Must not fire: a group of two, even if the unknown size hides it; one shard
// with a sharded type.
// CHECK-LABEL: func @not_alone
func.func @not_alone(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, !llm.sharded_tensor<tensor<4x8xf32>, 0, 1, 0>) {
  // CHECK: llm.all_gather
  // CHECK: llm.all_reduce
  // CHECK: llm.shard
  %0 = llm.all_gather %x {dim = 0, group_size = 2} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = llm.all_reduce %x {group_size = 2} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = llm.shard %w {dim = 0, num_shards = 1, shard_index = 0} : (tensor<4x8xf32>) -> !llm.sharded_tensor<tensor<4x8xf32>, 0, 1, 0>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, !llm.sharded_tensor<tensor<4x8xf32>, 0, 1, 0>
}

// The greatest of equal elements.
// CHECK-LABEL: func @greatest_twice
func.func @greatest_twice(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[M:.*]] = llm.all_reduce %{{.*}} {group_size = 4 : i64, reduce_op = "max"}
  // CHECK-NEXT: return %[[M]]
  %0 = llm.all_reduce %x {group_size = 4, reduce_op = "max"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = llm.all_reduce %0 {group_size = 4, reduce_op = "max"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// Must not fire: sums grow, means round, groups differ.
// CHECK-LABEL: func @reduced_twice
func.func @reduced_twice(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-COUNT-6: llm.all_reduce
  %0 = llm.all_reduce %x {group_size = 4} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = llm.all_reduce %0 {group_size = 4} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = llm.all_reduce %x {group_size = 4, reduce_op = "mean"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = llm.all_reduce %2 {group_size = 4, reduce_op = "mean"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %4 = llm.all_reduce %x {group_size = 2, reduce_op = "max"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %5 = llm.all_reduce %4 {group_size = 4, reduce_op = "max"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1, %3, %5 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func @shard_of_shard
func.func @shard_of_shard(%x: tensor<24x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[S:.*]] = llm.shard %{{.*}} {dim = 0 : i64, num_shards = 6 : i64, shard_index = 5 : i64} : (tensor<24x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: return %[[S]]
  %0 = llm.shard %x {dim = 0, num_shards = 2, shard_index = 1} : (tensor<24x8xf32>) -> tensor<12x8xf32>
  %1 = llm.shard %0 {dim = 0, num_shards = 3, shard_index = 2} : (tensor<12x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Must not fire: another dimension; the rank's own shard, whose number is not
// known.
// CHECK-LABEL: func @shards_that_stay
func.func @shards_that_stay(%x: tensor<24x8xf32>) -> (tensor<12x4xf32>, tensor<4x8xf32>) {
  // CHECK-COUNT-4: llm.shard
  %0 = llm.shard %x {dim = 0, num_shards = 2, shard_index = 1} : (tensor<24x8xf32>) -> tensor<12x8xf32>
  %1 = llm.shard %0 {dim = 1, num_shards = 2, shard_index = 0} : (tensor<12x8xf32>) -> tensor<12x4xf32>
  %2 = llm.shard %x {dim = 0, num_shards = 2} : (tensor<24x8xf32>) -> tensor<12x8xf32>
  %3 = llm.shard %2 {dim = 0, num_shards = 3, shard_index = 2} : (tensor<12x8xf32>) -> tensor<4x8xf32>
  return %1, %3 : tensor<12x4xf32>, tensor<4x8xf32>
}

// What was gathered and cut again, reduced and cut, cut and gathered.
// CHECK-LABEL: func @round_trips
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @round_trips(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x2xf32>, tensor<?x8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = llm.reduce_scatter %[[X]] {dim = 1 : i64, group_size = 4 : i64, reduce_op = "min"} : (tensor<?x8xf32>) -> tensor<?x2xf32>
  // CHECK-NEXT: %[[B:.*]] = llm.all_reduce %[[X]] {group_size = 4 : i64, reduce_op = "sum"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: return %[[X]], %[[A]], %[[B]]
  %0 = llm.all_gather %x {dim = 1, group_size = 4} : (tensor<?x8xf32>) -> tensor<?x32xf32>
  %1 = llm.shard %0 {dim = 1, num_shards = 4} : (tensor<?x32xf32>) -> tensor<?x8xf32>
  %2 = llm.all_reduce %x {group_size = 4, reduce_op = "min"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = llm.shard %2 {dim = 1, num_shards = 4} : (tensor<?x8xf32>) -> tensor<?x2xf32>
  %4 = llm.reduce_scatter %x {dim = 1, group_size = 4} : (tensor<?x8xf32>) -> tensor<?x2xf32>
  %5 = llm.all_gather %4 {dim = 1, group_size = 4} : (tensor<?x2xf32>) -> tensor<?x8xf32>
  return %1, %3, %5 : tensor<?x8xf32>, tensor<?x2xf32>, tensor<?x8xf32>
}

// Must not fire: the shard of one rank for all; groups of other sizes; another
// dimension; the reduced value has another use.
// CHECK-LABEL: func @no_round_trips
func.func @no_round_trips(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x16xf32>, tensor<32x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) {
  // CHECK: llm.all_gather
  // CHECK: llm.shard {{.*}} shard_index = 0
  // CHECK: llm.shard {{.*}} num_shards = 2
  // CHECK: llm.reduce_scatter
  // CHECK: llm.all_gather
  // CHECK: llm.all_reduce
  // CHECK: llm.shard
  %0 = llm.all_gather %x {dim = 1, group_size = 4} : (tensor<8x8xf32>) -> tensor<8x32xf32>
  %1 = llm.shard %0 {dim = 1, num_shards = 4, shard_index = 0} : (tensor<8x32xf32>) -> tensor<8x8xf32>
  %2 = llm.shard %0 {dim = 1, num_shards = 2} : (tensor<8x32xf32>) -> tensor<8x16xf32>
  %3 = llm.reduce_scatter %x {dim = 1, group_size = 4} : (tensor<8x8xf32>) -> tensor<8x2xf32>
  %4 = llm.all_gather %3 {dim = 0, group_size = 4} : (tensor<8x2xf32>) -> tensor<32x2xf32>
  %5 = llm.all_reduce %x {group_size = 4} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = llm.shard %5 {dim = 1, num_shards = 4} : (tensor<8x8xf32>) -> tensor<8x2xf32>
  return %1, %2, %4, %5, %6 : tensor<8x8xf32>, tensor<8x16xf32>, tensor<32x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>
}

// CHECK-LABEL: func @selected_twice
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
func.func @selected_twice(%x: tensor<?x4xf32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: %[[ROWS:.*]] = arith.constant dense<[5, 9, 9]> : tensor<3xi32>
  // CHECK-NEXT: %[[S:.*]] = llm.select_rows %[[X]], %[[ROWS]] : tensor<?x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  // CHECK-NEXT: return %[[S]]
  %a = arith.constant dense<[9, 5]> : tensor<2xi32>
  %b = arith.constant dense<[1, 0, 0]> : tensor<3xi32>
  %0 = llm.select_rows %x, %a : tensor<?x4xf32>, tensor<2xi32> -> tensor<2x4xf32>
  %1 = llm.select_rows %0, %b : tensor<2x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// CHECK-LABEL: func @all_rows
// CHECK-SAME: %[[X:.*]]: tensor<3x4xf32>
func.func @all_rows(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: return %[[X]]
  %a = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %0 = llm.select_rows %x, %a : tensor<3x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// Must not fire: another order; not all rows; unknown indices; a row that is
// not there.
// CHECK-LABEL: func @selections_that_stay
func.func @selections_that_stay(%x: tensor<3x4xf32>, %r: tensor<3xi32>) -> (tensor<3x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) {
  // CHECK-COUNT-5: llm.select_rows
  %a = arith.constant dense<[0, 2, 1]> : tensor<3xi32>
  %b = arith.constant dense<[0, 1]> : tensor<2xi32>
  %c = arith.constant dense<[0, 3]> : tensor<2xi32>
  %0 = llm.select_rows %x, %a : tensor<3x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  %1 = llm.select_rows %x, %b : tensor<3x4xf32>, tensor<2xi32> -> tensor<2x4xf32>
  %2 = llm.select_rows %x, %r : tensor<3x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  %3 = llm.select_rows %2, %a : tensor<3x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  %4 = llm.select_rows %0, %c : tensor<3x4xf32>, tensor<2xi32> -> tensor<2x4xf32>
  return %0, %1, %3, %4 : tensor<3x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>
}

// Rows are chosen before the other ops that treat each row alone, too.
// CHECK-LABEL: func @rows_early
func.func @rows_early(%x: tensor<?x64xf32>, %q: !i8, %s: tensor<8xf32>, %r: tensor<2xi32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: llm.select_rows %{{.*}} -> tensor<2x64xf32>
  // CHECK-NEXT: llm.layer_norm %{{.*}} : tensor<2x64xf32>
  // CHECK-NEXT: llm.gelu %{{.*}} : tensor<2x64xf32>
  // CHECK-NEXT: llm.quantized_matmul {{.*}} -> tensor<2x8xf32>
  // CHECK-NEXT: llm.softmax %{{.*}} : tensor<2x8xf32>
  // CHECK-NEXT: return
  %0 = llm.layer_norm %x : tensor<?x64xf32>
  %1 = llm.gelu %0 : tensor<?x64xf32>
  %2 = llm.quantized_matmul %1, %q, %s {transpose_rhs} : (tensor<?x64xf32>, !i8, tensor<8xf32>) -> tensor<?x8xf32>
  %3 = llm.softmax %2 : tensor<?x8xf32>
  %4 = llm.select_rows %3, %r : tensor<?x8xf32>, tensor<2xi32> -> tensor<2x8xf32>
  return %4 : tensor<2x8xf32>
}

// Must not fire: at position 0 the rotation is the identity, but an infinity
// would yield its partner NaN.
// CHECK-LABEL: func @rope_at_the_start
func.func @rope_at_the_start(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  // CHECK: llm.rope
  %zero = arith.constant dense<0> : tensor<1xi32>
  %0 = llm.rope %x, %zero {frequencies = array<f64: 1.0, 0.1>} : tensor<1x2x4xf32>, tensor<1xi32>
  return %0 : tensor<1x2x4xf32>
}

// Must not fire: gathered and reduced in one dimension or group, cut in
// another; the shard of one rank for all; parts with other uses; a shard whose
// type must remain sharded.
// CHECK-LABEL: func @more_that_stay
func.func @more_that_stay(%x: tensor<8x8xf32>) -> (tensor<2x32xf32>, tensor<8x2xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x2xf32>, !llm.sharded_tensor<tensor<4x8xf32>, 0, 2, 1>) {
  // CHECK: llm.all_gather
  // CHECK: llm.shard {{.*}} {dim = 0 : i64, num_shards = 4 : i64}
  // CHECK: llm.all_reduce
  // CHECK: llm.shard {{.*}} shard_index = 1
  // CHECK: llm.all_reduce
  // CHECK: llm.shard {{.*}} num_shards = 2
  // CHECK: llm.reduce_scatter
  // CHECK: llm.all_gather {{.*}} group_size = 2
  // CHECK: llm.reduce_scatter
  // CHECK: llm.all_gather
  // CHECK: llm.shard
  // CHECK: llm.shard
  %0 = llm.all_gather %x {dim = 1, group_size = 4} : (tensor<8x8xf32>) -> tensor<8x32xf32>
  %1 = llm.shard %0 {dim = 0, num_shards = 4} : (tensor<8x32xf32>) -> tensor<2x32xf32>
  %2 = llm.all_reduce %x {group_size = 4} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = llm.shard %2 {dim = 1, num_shards = 4, shard_index = 1} : (tensor<8x8xf32>) -> tensor<8x2xf32>
  %4 = llm.all_reduce %x {group_size = 4, reduce_op = "max"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = llm.shard %4 {dim = 1, num_shards = 2} : (tensor<8x8xf32>) -> tensor<8x4xf32>
  %6 = llm.reduce_scatter %x {dim = 1, group_size = 4} : (tensor<8x8xf32>) -> tensor<8x2xf32>
  %7 = llm.all_gather %6 {dim = 1, group_size = 2} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  %8 = llm.reduce_scatter %x {dim = 1, group_size = 4, reduce_op = "max"} : (tensor<8x8xf32>) -> tensor<8x2xf32>
  %9 = llm.all_gather %8 {dim = 1, group_size = 4} : (tensor<8x2xf32>) -> tensor<8x8xf32>
  %10 = llm.shard %x {dim = 0, num_shards = 2, shard_index = 0} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %11 = llm.shard %10 {dim = 0, num_shards = 2, shard_index = 1} : (tensor<4x8xf32>) -> !llm.sharded_tensor<tensor<4x8xf32>, 0, 2, 1>
  return %1, %3, %5, %7, %9, %8, %11 : tensor<2x32xf32>, tensor<8x2xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x2xf32>, !llm.sharded_tensor<tensor<4x8xf32>, 0, 2, 1>
}

// CHECK-LABEL: func @rows_of_swiglu
// CHECK-SAME: %[[G:.*]]: tensor<?x4xf32>, %[[U:.*]]: tensor<?x4xf32>
func.func @rows_of_swiglu(%g: tensor<?x4xf32>, %u: tensor<?x4xf32>, %r: tensor<2xi32>) -> tensor<2x4xf32> {
  // CHECK-DAG: %[[A:.*]] = llm.select_rows %[[G]]
  // CHECK-DAG: %[[B:.*]] = llm.select_rows %[[U]]
  // CHECK: llm.swiglu %[[A]], %[[B]] : tensor<2x4xf32>
  %0 = llm.swiglu %g, %u : tensor<?x4xf32>
  %1 = llm.select_rows %0, %r : tensor<?x4xf32>, tensor<2xi32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// Must not fire: the number of slices would not fit in 64 bits; a list of rows
// longer than the program.
// CHECK-LABEL: func @numbers_that_are_too_large
func.func @numbers_that_are_too_large(%x: tensor<0x4xf32>, %y: tensor<2x4xf32>) -> (tensor<0x4xf32>, tensor<2x4xf32>) {
  // CHECK-COUNT-2: llm.shard
  %0 = llm.shard %x {dim = 0, num_shards = 4611686018427387904, shard_index = 1} : (tensor<0x4xf32>) -> tensor<0x4xf32>
  %1 = llm.shard %0 {dim = 0, num_shards = 4611686018427387904, shard_index = 1} : (tensor<0x4xf32>) -> tensor<0x4xf32>
  // CHECK-COUNT-2: llm.select_rows
  %many = arith.constant dense<0> : tensor<2000000000xi32>
  %few = arith.constant dense<[1, 0]> : tensor<2xi32>
  %2 = llm.select_rows %y, %many : tensor<2x4xf32>, tensor<2000000000xi32> -> tensor<2000000000x4xf32>
  %3 = llm.select_rows %2, %few : tensor<2000000000x4xf32>, tensor<2xi32> -> tensor<2x4xf32>
  return %1, %3 : tensor<0x4xf32>, tensor<2x4xf32>
}

// Must not fire: the type of the weight has fewer static sizes.
// CHECK-LABEL: func @linear_of_unknown_sizes
func.func @linear_of_unknown_sizes(%x: tensor<2x64xf32>, %q: !i8, %s: tensor<8xf32>) -> tensor<2x?xf32> {
  // CHECK: llm.linear
  %w = llm.dequantize %q, %s : (!i8, tensor<8xf32>) -> tensor<?x?xf32>
  %y = llm.linear %x, %w : tensor<2x64xf32>, tensor<?x?xf32> -> tensor<2x?xf32>
  return %y : tensor<2x?xf32>
}

// Must not fire: more rows are listed than there are.
// CHECK-LABEL: func @rows_that_are_listed_often
func.func @rows_that_are_listed_often(%x: tensor<2x64xf32>, %w: tensor<8x64xf32>, %r: tensor<3xi32>) -> tensor<3x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = llm.linear
  // CHECK-NEXT: llm.select_rows %[[Y]]
  %y = llm.linear %x, %w : tensor<2x64xf32>, tensor<8x64xf32> -> tensor<2x8xf32>
  %z = llm.select_rows %y, %r : tensor<2x8xf32>, tensor<3xi32> -> tensor<3x8xf32>
  return %z : tensor<3x8xf32>
}
