// RUN: llmir-opt %s --convert-llm-to-linalg=cache=runtime | FileCheck %s

!cache = !llm.paged_kv_cache<bf16, 2, 2, 4, 16, 64, valueDim = 6>

// Results of the runtime are passed as memrefs of any layout.
// CHECK-DAG: func.func private @llmirKVCacheCreate(i32, i64, i64, i64, i64, i64, i64) -> !llvm.ptr
// CHECK-DAG: func.func private @llmirKVCacheDestroy(!llvm.ptr)
// CHECK-DAG: func.func private @llmirKVCacheAppendBF16(!llvm.ptr, i64, memref<?x?x?xbf16, strided<[?, ?, ?], offset: ?>>, {{.*}}) attributes {llvm.emit_c_interface}
// CHECK-DAG: func.func private @llmirKVCacheGatherBF16({{.*}}) attributes {llvm.emit_c_interface}

// A cache that does not escape its block is destroyed at its end.
// CHECK-LABEL: func @own(
// CHECK-SAME: %[[K:.*]]: tensor<?x2x4xbf16>
func.func @own(%k: tensor<?x2x4xbf16>, %v: tensor<?x2x6xbf16>, %slots: tensor<?xi32>, %l: index,
               %q: tensor<?x4x4xf32>, %t: tensor<?x?xi32>, %lens: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?x4x6xf32> {
  // CHECK: %[[C:.*]] = call @llmirKVCacheCreate(
  %c = llm.create_paged_cache : !cache
  // CHECK: %[[ANY:.*]] = tensor.cast %[[K]] : tensor<?x2x4xbf16> to tensor<?x?x?xbf16>
  // CHECK: bufferization.to_buffer %[[ANY]] read_only
  // CHECK: call @llmirKVCacheAppendBF16(%[[C]],
  %c2 = llm.append_kv %c, %k, %v slots(%slots) layer(%l) : (!cache, tensor<?x2x4xbf16>, tensor<?x2x6xbf16>, tensor<?xi32>) -> !cache
  // CHECK: call @llmirKVCacheCheckBatch(%[[C]],
  // CHECK: scf.for
  // CHECK: call @llmirKVCacheGatherBF16(%[[C]],
  // CHECK: bufferization.to_tensor %{{.*}} restrict writable : memref<?x2x6xbf16> to tensor<?x2x6xbf16>
  // CHECK: math.exp
  // CHECK: tensor.insert_slice
  %y = llm.paged_attention %q, %c2, %t, %lens offsets(%o) layer(%l)
      : (tensor<?x4x4xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x6xf32>
  // CHECK: call @llmirKVCacheDestroy(%[[C]])
  // CHECK-NEXT: return
  return %y : tensor<?x4x6xf32>
}

// A cache that is an argument or a result is owned by the caller.
// CHECK-LABEL: func @given(
// CHECK-SAME: %[[C:.*]]: !llvm.ptr,
// CHECK-SAME: -> !llvm.ptr
// CHECK-NOT: Destroy
func.func @given(%c: !cache, %ids: tensor<2xi32>) -> !cache {
  // CHECK: call @llmirKVCacheFree(%[[C]],
  %c2 = llm.free_kv %c, %ids : (!cache, tensor<2xi32>) -> !cache
  // CHECK: return %[[C]]
  return %c2 : !cache
}

// CHECK-LABEL: func @made(
// CHECK: %[[C:.*]] = call @llmirKVCacheCreate(
// CHECK-NEXT: return %[[C]]
func.func @made() -> !cache {
  %c = llm.create_paged_cache : !cache
  return %c : !cache
}
