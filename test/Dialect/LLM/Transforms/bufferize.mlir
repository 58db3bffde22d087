// RUN: llmir-opt %s --one-shot-bufferize='bufferize-function-boundaries allow-unknown-ops' --split-input-file --verify-diagnostics | FileCheck %s

!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>
!keys = tensor<5x2x16xf32>

// The cache is taken from its place, and put there again: in place. Attention
// reads after that.
// CHECK-LABEL: func @append_and_attend
// CHECK-SAME: (%[[P:[a-z0-9]*]]: memref<!llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>>, %[[Q:[a-z0-9]*]]: memref<5x4x16xf32{{[^%]*}}%[[K:[a-z0-9]*]]: memref<5x2x16xf32
// CHECK: %[[C:.*]] = memref.load %[[P]][] : memref<!llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>>
// CHECK: %[[KT:.*]] = bufferization.to_tensor %[[K]]
// CHECK: %[[C2:.*]] = llm.append_kv %[[C]], %[[KT]], %{{.*}} slots(
// CHECK: memref.store %[[C2]], %[[P]][]
// CHECK: %[[C3:.*]] = memref.load %[[P]][]
// CHECK: %[[O:.*]] = llm.paged_attention %{{.*}}, %[[C3]],
// CHECK: %[[OB:.*]] = bufferization.to_buffer %[[O]]
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return %[[OB]], %[[P]]
func.func @append_and_attend(%c: !cache, %q: tensor<5x4x16xf32>, %k: !keys, %v: !keys, %s: tensor<5xi32>, %t: tensor<2x8xi32>, %n: tensor<2xi32>, %o: tensor<3xi32>) -> (tensor<5x4x16xf32>, !cache) {
  %c2 = llm.append_kv %c, %k, %v slots(%s) : (!cache, !keys, !keys, tensor<5xi32>) -> !cache
  %r = llm.paged_attention %q, %c2, %t, %n offsets(%o) : (tensor<5x4x16xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<5x4x16xf32>
  return %r, %c2 : tensor<5x4x16xf32>, !cache
}

// A chain of all that writes to a cache has one place.
// CHECK-LABEL: func @chain
// CHECK-SAME: (%[[IDS:[a-z0-9]*]]: memref<2xi32
// CHECK: %[[P:.*]] = memref.alloc() {{.*}}: memref<!llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>>
// CHECK: %[[C:.*]] = llm.create_paged_cache
// CHECK: memref.store %[[C]], %[[P]][]
// CHECK: llm.reserve_kv
// CHECK: memref.store %{{.*}}, %[[P]][]
// CHECK: llm.fork_kv
// CHECK: memref.store %{{.*}}, %[[P]][]
// CHECK: llm.free_kv
// CHECK: memref.store %{{.*}}, %[[P]][]
// CHECK-NOT: memref.alloc
// CHECK: return %[[P]]
func.func @chain(%ids: tensor<2xi32>, %more: tensor<2xi32>) -> !cache {
  %c = llm.create_paged_cache : !cache
  %r:5 = llm.reserve_kv %c, %ids {tokens = 1} : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %f = llm.fork_kv %r#0, %ids, %more : (!cache, tensor<2xi32>, tensor<2xi32>) -> !cache
  %g = llm.free_kv %f, %ids : (!cache, tensor<2xi32>) -> !cache
  return %g : !cache
}

// -----

!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>

// MLIR's loops can only carry tensors.
func.func @loop(%c: !cache, %k: tensor<5x2x16xf32>, %s: tensor<5xi32>, %n: index) -> !cache {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %c) -> !cache {
    // expected-error@+1 {{'llm.append_kv' op cannot be bufferized: 'scf.for' forwards tensors, but not caches}}
    %0 = llm.append_kv %x, %k, %k slots(%s) : (!cache, tensor<5x2x16xf32>, tensor<5x2x16xf32>, tensor<5xi32>) -> !cache
    scf.yield %0 : !cache
  }
  return %r : !cache
}

// -----

!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>

func.func @branch(%c: !cache, %ids: tensor<2xi32>, %b: i1) -> !cache {
  %r = scf.if %b -> !cache {
    // expected-error@+1 {{'llm.free_kv' op cannot be bufferized: 'scf.yield' forwards tensors, but not caches}}
    %0 = llm.free_kv %c, %ids : (!cache, tensor<2xi32>) -> !cache
    scf.yield %0 : !cache
  } else {
    scf.yield %c : !cache
  }
  return %r : !cache
}

// -----

!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>

// The value of an earlier moment is read: there is no copy of a cache.
func.func @old_value(%c: !cache, %k: tensor<5x2x16xf32>, %s: tensor<5xi32>, %t: tensor<2x8xi32>, %n: tensor<2xi32>) -> (tensor<2x64x2x16xf16>, !cache) {
  // expected-note@+1 {{appended to here}}
  %c2 = llm.append_kv %c, %k, %k slots(%s) : (!cache, tensor<5x2x16xf32>, tensor<5x2x16xf32>, tensor<5xi32>) -> !cache
  // expected-error@+1 {{uses the cache after an append to it}}
  %0:2 = llm.lookup_kv %c, %t, %n : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  return %0#0, %c2 : tensor<2x64x2x16xf16>, !cache
}
