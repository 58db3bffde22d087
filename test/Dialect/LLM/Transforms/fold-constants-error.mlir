// RUN: llmir-opt %s --llm-fold-constants --verify-diagnostics | FileCheck %s

// An op that would fail is not folded; nothing is reported.
// CHECK-LABEL: @outside
func.func @outside() -> tensor<1x2xf32> {
  %ids = arith.constant dense<7> : tensor<1xi32>
  %table = arith.constant dense<1.0> : tensor<3x2xf32>
  // CHECK: llm.embedding
  %t = llm.embedding %ids, %table : tensor<1xi32>, tensor<3x2xf32> -> tensor<1x2xf32>
  return %t : tensor<1x2xf32>
}
