// RUN: llmir-opt %s --convert-llm-to-linalg=cache=runtime --verify-diagnostics

// Calls write in place, so that no cache may be used after an append to it.

!cache = !llm.paged_kv_cache<f32, 1, 2, 4, 16, 64>

func.func @later(%c: !cache, %k: tensor<2x2x4xf32>, %slots: tensor<2xi32>, %ids: tensor<1xi32>) -> (!cache, !cache) {
  // expected-note @+1 {{appended to here}}
  %c2 = llm.append_kv %c, %k, %k slots(%slots) : (!cache, tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2xi32>) -> !cache
  // expected-error @+1 {{uses the cache after an append to it}}
  %c3 = llm.free_kv %c, %ids : (!cache, tensor<1xi32>) -> !cache
  return %c2, %c3 : !cache, !cache
}
