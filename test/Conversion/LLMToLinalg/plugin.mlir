// UNSUPPORTED: sanitizer
// The entire lowering with MLIR's own tools and the plugin.
// RUN: mlir-opt %s --load-dialect-plugin=%llmir_lib/LLMIRPlugin.so --load-pass-plugin=%llmir_lib/LLMIRPlugin.so \
// RUN:   --pass-pipeline='builtin.module(convert-llm-to-linalg,one-shot-bufferize{bufferize-function-boundaries},buffer-deallocation-pipeline,func.func(convert-linalg-to-loops),convert-bufferization-to-memref,expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-math-to-libm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)' \
// RUN:   | mlir-runner -e main -entry-point-result=void --shared-libs=%llvm_tools/../lib/libmlir_runner_utils.so | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)

func.func @main() {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = llm.linear %x, %x : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %u = tensor.cast %y : tensor<2x2xf32> to tensor<*xf32>
  // CHECK: [5, 11]
  // CHECK-NEXT: [11, 25]
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
