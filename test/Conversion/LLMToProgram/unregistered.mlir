// An unregistered op is rejected as one without a kernel.
// RUN: not llmir-opt %s --allow-unregistered-dialect --convert-llm-to-program 2>&1 | FileCheck %s

func.func @f(%x: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // CHECK: unregistered.mlir:[[# @LINE + 1]]:{{.*}} error: 'foo.bar' op has no kernel in a program
  %0 = "foo.bar"(%x) : (tensor<2x16xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}
