// The dialects and passes as a plugin of Debian's own mlir-opt.
// UNSUPPORTED: sanitizer
// RUN: mlir-opt --load-dialect-plugin=%llmir_lib/LLMIRPlugin.so --load-pass-plugin=%llmir_lib/LLMIRPlugin.so \
// RUN:   --pass-pipeline='builtin.module(llm-deduplicate-functions,inline)' %s | FileCheck %s
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: mlir-opt --load-dialect-plugin=%llmir_lib/LLMIRPlugin.so --load-pass-plugin=%llmir_lib/LLMIRPlugin.so --show-dialects | FileCheck %s --check-prefix=DIALECTS

// ALONE: Dialect `llm' not found
// DIALECTS: ,llm,
// DIALECTS-SAME: mllm,

// SPEC: 2 96 330
// One of the two equal functions is left, MLIR's inliner sees through it, and a
// type of the dialect prints as it was.
// CHECK:      func.func @model(%[[X:.*]]: tensor<2x4xf32>, %[[CACHE:.*]]: !llm.paged_kv_cache<f16, 2, 4, 64, 16, 256>)
// CHECK-NEXT:   %[[A:.*]] = llm.silu %[[X]] : tensor<2x4xf32>
// CHECK-NEXT:   %[[B:.*]] = llm.silu %[[A]] : tensor<2x4xf32>
// CHECK-NEXT:   return %[[B]], %[[CACHE]]
func.func private @a(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = llm.silu %x : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func private @b(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = llm.silu %x : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func @model(%x: tensor<2x4xf32>, %cache: !llm.paged_kv_cache<f16, 2, 4, 64, 16, 256>)
    -> (tensor<2x4xf32>, !llm.paged_kv_cache<f16, 2, 4, 64, 16, 256>) {
  %y = call @a(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %z = call @b(%y) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %z, %cache : tensor<2x4xf32>, !llm.paged_kv_cache<f16, 2, 4, 64, 16, 256>
}
