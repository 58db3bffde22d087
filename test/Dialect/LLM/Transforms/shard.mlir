// RUN: llmir-opt %s --llm-shard=num-ranks=2 --split-input-file --verify-diagnostics | FileCheck %s

// A gated feed-forward layer: two projections by outputs, one by inputs, one
// sum. SPEC: 89, 126, 149
// CHECK-LABEL: @mlp
// CHECK-SAME: llm.num_ranks = 2
// CHECK: %[[WG:.*]] = llm.shard %arg1 {dim = 0 : i64, num_shards = 2 : i64} : (tensor<128x64xf32>) -> tensor<64x64xf32>
// CHECK: %[[G:.*]] = llm.linear %arg0, %[[WG]] : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
// CHECK: %[[U:.*]] = llm.linear
// CHECK: %[[A:.*]] = llm.swiglu %[[G]], %[[U]] : tensor<?x64xf32>
// CHECK: %[[WD:.*]] = llm.shard %arg3 {dim = 1 : i64, num_shards = 2 : i64} : (tensor<64x128xf32>) -> tensor<64x64xf32>
// CHECK: %[[P:.*]] = llm.linear %[[A]], %[[WD]]
// CHECK: %[[Y:.*]] = llm.all_reduce %[[P]] {group_size = 2 : i64
// CHECK-NOT: llm.all_
// CHECK: llm.add %[[Y]], %arg0
func.func @mlp(%x: tensor<?x64xf32>, %wg: tensor<128x64xf32>, %wu: tensor<128x64xf32>, %wd: tensor<64x128xf32>) -> tensor<?x64xf32> {
  %g = llm.linear %x, %wg : tensor<?x64xf32>, tensor<128x64xf32> -> tensor<?x128xf32>
  %u = llm.linear %x, %wu : tensor<?x64xf32>, tensor<128x64xf32> -> tensor<?x128xf32>
  %a = llm.swiglu %g, %u : tensor<?x128xf32>
  %y = llm.linear %a, %wd : tensor<?x128xf32>, tensor<64x128xf32> -> tensor<?x64xf32>
  %z = llm.add %y, %x : tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>

// Attention: the heads and their cache are divided.
// CHECK-LABEL: @attention
// CHECK-SAME: !llm.paged_kv_cache<f32, 2, 1, 16, 16, 64>
// CHECK: tensor.expand_shape %{{.*}} output_shape [%{{.*}}, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
// CHECK: llm.append_kv %{{.*}} : (!llm.paged_kv_cache<f32, 2, 1, 16, 16, 64>, tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?xi32>)
// CHECK: llm.paged_attention %{{.*}} : (tensor<?x2x16xf32>, !llm.paged_kv_cache<f32, 2, 1, 16, 16, 64>
// CHECK: llm.linear
// CHECK: llm.all_reduce
// CHECK-NOT: llm.all_
// CHECK: return
func.func @attention(%x: tensor<?x64xf32>, %wq: tensor<64x64xf32>, %wk: tensor<32x64xf32>, %wv: tensor<32x64xf32>, %wo: tensor<64x64xf32>,
    %c: !cache, %pos: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %lens: tensor<?xi32>, %offs: tensor<?xi32>, %l: index)
    -> (tensor<?x64xf32>, !cache) {
  %q = llm.linear %x, %wq : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
  %k = llm.linear %x, %wk : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  %v = llm.linear %x, %wv : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  %c0 = arith.constant 0 : index
  %t = tensor.dim %q, %c0 : tensor<?x64xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [%t, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %kh = tensor.expand_shape %k [[0], [1, 2]] output_shape [%t, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
  %vh = tensor.expand_shape %v [[0], [1, 2]] output_shape [%t, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
  %kr = llm.rope %kh, %pos {frequencies = array<f64: 1.0, 0.1>} : tensor<?x2x16xf32>, tensor<?xi32>
  %c2 = llm.append_kv %c, %kr, %vh slots(%slots) layer(%l) : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> !cache
  %o = llm.paged_attention %qh, %c2, %tables, %lens offsets(%offs) layer(%l)
    : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  %of = tensor.collapse_shape %o [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
  %y = llm.linear %of, %wo : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
  return %y, %c2 : tensor<?x64xf32>, !cache
}

// -----

// A projection that is the result is gathered.
// CHECK-LABEL: @logits
// CHECK: %[[P:.*]] = llm.linear {{.*}} -> tensor<?x128xf32>
// CHECK: %[[Y:.*]] = llm.all_gather %[[P]] {dim = 1 : i64, group_size = 2 : i64} : {{.*}}tensor<?x256xf32>
// CHECK: return %[[Y]]
func.func @logits(%x: tensor<?x64xf32>, %w: tensor<256x64xf32>) -> tensor<?x256xf32> {
  %y = llm.linear %x, %w : tensor<?x64xf32>, tensor<256x64xf32> -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

// -----

// Ops that need whole rows are not sharded: a norm, and a bias after a sum.
// CHECK-LABEL: @whole
// CHECK-NOT: llm.shard
// CHECK-NOT: llm.all_
// expected-remark@below {{nothing was sharded: no projection has outputs that can be divided among 2 ranks up to the next projection}}
module {
  func.func @whole(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>, %g: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<?x64xf32> {
    %y = llm.linear %x, %w : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
    %n = llm.rms_norm %y, %g {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
    %u = llm.linear %n, %w : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
    %z = llm.linear %u, %w bias %b : tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32> -> tensor<?x64xf32>
    %r = llm.add %z, %x : tensor<?x64xf32>
    return %r : tensor<?x64xf32>
  }
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 3, 16, 16, 64>

// Three heads cannot be divided among two ranks: the cache is not sharded.
// CHECK-LABEL: @three_heads
// CHECK-SAME: !llm.paged_kv_cache<f32, 2, 3, 16, 16, 64>
// CHECK-NOT: llm.shard
// expected-remark@below {{nothing was sharded}}
module {
  func.func @three_heads(%x: tensor<?x64xf32>, %wk: tensor<48x64xf32>, %c: !cache, %slots: tensor<?xi32>, %l: index) -> !cache {
    %k = llm.linear %x, %wk : tensor<?x64xf32>, tensor<48x64xf32> -> tensor<?x48xf32>
    %c0 = arith.constant 0 : index
    %t = tensor.dim %x, %c0 : tensor<?x64xf32>
    %kh = tensor.expand_shape %k [[0], [1, 2]] output_shape [%t, 3, 16] : tensor<?x48xf32> into tensor<?x3x16xf32>
    %c2 = llm.append_kv %c, %kh, %kh slots(%slots) layer(%l) : (!cache, tensor<?x3x16xf32>, tensor<?x3x16xf32>, tensor<?xi32>) -> !cache
    return %c2 : !cache
  }
}

// -----

// A single head is not divided: rotation pairs elements of both halves.
// CHECK-LABEL: @one_rotated_head
// CHECK: llm.rope {{.*}} : tensor<3x1x8xf32>
// CHECK: llm.shard
// CHECK: llm.all_gather
func.func @one_rotated_head(%x: tensor<3x8xf32>, %p: tensor<3xi32>, %w: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<3x8xf32> {
  %a = llm.linear %x, %w : tensor<3x8xf32>, tensor<8x8xf32> -> tensor<3x8xf32>
  %h = tensor.expand_shape %a [[0], [1, 2]] output_shape [3, 1, 8] : tensor<3x8xf32> into tensor<3x1x8xf32>
  %r = llm.rope %h, %p {frequencies = array<f64: 1.0, 0.1>} : tensor<3x1x8xf32>, tensor<3xi32>
  %c = tensor.collapse_shape %r [[0], [1, 2]] : tensor<3x1x8xf32> into tensor<3x8xf32>
  %y = llm.linear %c, %o : tensor<3x8xf32>, tensor<8x8xf32> -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// -----

// expected-error @below {{is already sharded}}
func.func @twice(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.num_ranks = 2 : i64} {
  return %x : tensor<?x64xf32>
}
