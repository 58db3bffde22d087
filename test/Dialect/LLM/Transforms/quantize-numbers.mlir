// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{exclude=plain})' | llmir-translate --interpret
// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{exclude=plain scheme=int8:g32:asym})' | llmir-translate --interpret
// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{exclude=plain activations=int8})' | llmir-translate --interpret
// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{exclude=plain scheme=int4:g32})' | not llmir-translate --interpret 2>&1 | FileCheck %s --check-prefix=INT4

// SPEC: 9 40
// What the pass makes is near what there was: int8 within 1e-4 of its square,
// int4 not.

// INT4: 'check.expect_close' op failed: nmse {{[0-9.]+}}e-0{{[23]}} exceeds 1.000000e-04
func.func @projection(%x: tensor<7x64xf32>, %w: tensor<24x64xf32>, %b: tensor<24xf32>) {
  %0 = llm.linear %x, %w bias %b : tensor<7x64xf32>, tensor<24x64xf32>, tensor<24xf32> -> tensor<7x24xf32> loc("plain")
  %1 = llm.linear %x, %w bias %b : tensor<7x64xf32>, tensor<24x64xf32>, tensor<24xf32> -> tensor<7x24xf32> loc("quantized")
  check.expect_close %1, %0 {nmse = 1.0e-4 : f64} : tensor<7x24xf32>
  return
}
