// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// The ops of LLMStateOps.td.

!cache = !llm.paged_kv_cache<f32, 2, 2, 16, 16, 64>

// CHECK-LABEL: func @states
func.func @states(%c: !cache, %x: tensor<?x64xf32>, %w: tensor<3x64xf32>, %q: tensor<?x2x16xf32>, %v: tensor<?x4x8xf32>,
                  %g: tensor<?x4xf32>, %slots: tensor<?xi32>, %offs: tensor<?xi32>, %l: index) -> !cache {
  // CHECK: llm.causal_conv %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} slots(%{{[^ ]+}}) offsets(%{{[^ ]+}}) layer(%{{[^ ]+}}) {offset = 0 : i64}
  %0, %c1 = llm.causal_conv %x, %w, %c slots(%slots) offsets(%offs) layer(%l) {offset = 0}
    : (tensor<?x64xf32>, tensor<3x64xf32>, !cache, tensor<?xi32>, tensor<?xi32>, index) -> (tensor<?x64xf32>, !cache)
  // CHECK: llm.linear_attention %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} slots(%{{[^ ]+}}) offsets(%{{[^ ]+}}) layer(%{{[^ ]+}}) beta(%{{[^ ]+}}) {offset = 128 : i64}
  %1, %c2 = llm.linear_attention %q, %q, %v, %g, %c1 slots(%slots) offsets(%offs) layer(%l) beta(%g) {offset = 128}
    : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>, !cache, tensor<?xi32>,
       tensor<?xi32>, index, tensor<?x4xf32>) -> (tensor<?x4x8xf32>, !cache)
  // CHECK: llm.linear_attention %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} slots(%{{[^ ]+}}) offsets(%{{[^ ]+}}) layer(%{{[^ ]+}}) {interleaved, offset = 640 : i64}
  %2, %c3 = llm.linear_attention %q, %q, %v, %g, %c2 slots(%slots) offsets(%offs) layer(%l) {interleaved, offset = 640}
    : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>, !cache,
       tensor<?xi32>, tensor<?xi32>, index) -> (tensor<?x4x8xf32>, !cache)
  return %c3 : !cache
}
