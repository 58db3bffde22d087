// Ops on rows, compiled and run, against the interpreter: for no token, one, a
// few, and more than two tiles, in every element type, at both widths.

// RUN: sed -e 's/TOKENS/0/g; s/FLOAT/f32/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/TOKENS/1/g; s/FLOAT/f32/g' %s | llmir-translate --compare --level=%quick_level --workers=1 | FileCheck %s
// RUN: sed -e 's/TOKENS/7/g; s/FLOAT/f32/g' %s | llmir-translate --compare --workers=3 | FileCheck %s
// RUN: sed -e 's/TOKENS/33/g; s/FLOAT/f32/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/TOKENS/7/g; s/FLOAT/bf16/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/TOKENS/33/g; s/FLOAT/f16/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/TOKENS/7/g; s/FLOAT/f32/g' %s | llmir-translate --compare --level=x86-64-v3 | FileCheck %s
// RUN: sed -e 's/TOKENS/1/g; s/FLOAT/bf16/g' %s | llmir-translate --compare --level=x86-64-v3 | FileCheck %s

// SPEC: 118
// CHECK: @embedding result 0: nmse
func.func @embedding(%ids: tensor<TOKENSxi32> {check.range = array<i64: 0, 50>},
                     %table: tensor<50x24xbf16>) -> tensor<TOKENSx24xFLOAT> {
  %y = llm.embedding %ids, %table : tensor<TOKENSxi32>, tensor<50x24xbf16> -> tensor<TOKENSx24xFLOAT>
  return %y : tensor<TOKENSx24xFLOAT>
}

// SPEC: 84 116 194
// CHECK: @linear result 0: nmse
func.func @linear(%x: tensor<TOKENSx72xFLOAT>, %w: tensor<20x72xFLOAT>, %b: tensor<20xf32>) -> tensor<TOKENSx20xFLOAT> {
  %y = llm.linear %x, %w bias %b : tensor<TOKENSx72xFLOAT>, tensor<20x72xFLOAT>, tensor<20xf32> -> tensor<TOKENSx20xFLOAT>
  return %y : tensor<TOKENSx20xFLOAT>
}

// A tensor of three dimensions is as many rows as its first two have.
// CHECK: @linear_of_heads result 0: nmse
func.func @linear_of_heads(%x: tensor<TOKENSx3x24xFLOAT>, %w: tensor<33x24xf16>) -> tensor<TOKENSx3x33xFLOAT> {
  %y = llm.linear %x, %w : tensor<TOKENSx3x24xFLOAT>, tensor<33x24xf16> -> tensor<TOKENSx3x33xFLOAT>
  return %y : tensor<TOKENSx3x33xFLOAT>
}

// A stored block format, packed as a checkpoint's is.
// CHECK: @linear_q8_0 result 0: nmse
!q8 = !llm.quantized_tensor<i8, [20, 64], true, false, -1, 32, 8, format = q8_0>
func.func @linear_q8_0(%x: tensor<TOKENSx64xFLOAT>, %w: !q8) -> tensor<TOKENSx20xFLOAT> {
  %y = llm.linear %x, %w : tensor<TOKENSx64xFLOAT>, !q8 -> tensor<TOKENSx20xFLOAT>
  return %y : tensor<TOKENSx20xFLOAT>
}

// CHECK: @linear_q4_0 result 0: nmse
!q4 = !llm.quantized_tensor<i4, [20, 64], true, false, -1, 32, 4, format = q4_0>
func.func @linear_q4_0(%x: tensor<TOKENSx64xFLOAT>, %w: !q4) -> tensor<TOKENSx20xFLOAT> {
  %y = llm.linear %x, %w : tensor<TOKENSx64xFLOAT>, !q4 -> tensor<TOKENSx20xFLOAT>
  return %y : tensor<TOKENSx20xFLOAT>
}

// A weight that is computed is packed by the program; all of a kernel's are.
// CHECK: @linear_of_computed_weight result 0: nmse
func.func @linear_of_computed_weight(%x: tensor<TOKENSx24xFLOAT>, %w: tensor<20x24xFLOAT>,
                                     %b: tensor<20xf32>) -> tensor<TOKENSx20xFLOAT> {
  %twice = llm.add %w, %w : tensor<20x24xFLOAT>
  %y = llm.linear %x, %twice bias %b : tensor<TOKENSx24xFLOAT>, tensor<20x24xFLOAT>, tensor<20xf32> -> tensor<TOKENSx20xFLOAT>
  return %y : tensor<TOKENSx20xFLOAT>
}

// CHECK: @linear_of_constant result 0: nmse
func.func @linear_of_constant(%x: tensor<TOKENSx2xFLOAT>) -> tensor<TOKENSx3xFLOAT> {
  %w = arith.constant dense<[[1.0, 2.0], [-3.0, 4.5], [0.25, 6.0]]> : tensor<3x2xf32>
  %y = llm.linear %x, %w : tensor<TOKENSx2xFLOAT>, tensor<3x2xf32> -> tensor<TOKENSx3xFLOAT>
  return %y : tensor<TOKENSx3xFLOAT>
}

// CHECK: @rms_norm result 0: nmse
func.func @rms_norm(%x: tensor<TOKENSx3x20xFLOAT>, %w: tensor<20xf32>) -> tensor<TOKENSx3x20xFLOAT> {
  %y = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<TOKENSx3x20xFLOAT>, tensor<20xf32>
  return %y : tensor<TOKENSx3x20xFLOAT>
}

// CHECK: @rope result 0: nmse
func.func @rope(%x: tensor<TOKENSx3x20xFLOAT>, %p: tensor<TOKENSxi32> {check.range = array<i64: 0, 500>}) -> tensor<TOKENSx3x20xFLOAT> {
  %y = llm.rope %x, %p {frequencies = array<f64: 1.0, 0.1, 0.01>} : tensor<TOKENSx3x20xFLOAT>, tensor<TOKENSxi32>
  return %y : tensor<TOKENSx3x20xFLOAT>
}

// Each op of a chain rounds, though the chain is one kernel.
// CHECK: @chain result 0: nmse
func.func @chain(%x: tensor<TOKENSx3x20xFLOAT>, %g: tensor<TOKENSx3x20xFLOAT>) -> tensor<TOKENSx3x20xFLOAT> {
  %s = llm.silu %g : tensor<TOKENSx3x20xFLOAT>
  %m = llm.mul %s, %x : tensor<TOKENSx3x20xFLOAT>
  %y = llm.add %m, %x : tensor<TOKENSx3x20xFLOAT>
  return %y : tensor<TOKENSx3x20xFLOAT>
}

// Arguments are never overwritten.
// CHECK: @argument_returned result 0: nmse
// CHECK: @argument_returned result 1: nmse
func.func @argument_returned(%x: tensor<TOKENSx20xFLOAT>) -> (tensor<TOKENSx20xFLOAT>, tensor<TOKENSx20xFLOAT>) {
  %y = llm.add %x, %x : tensor<TOKENSx20xFLOAT>
  return %y, %x : tensor<TOKENSx20xFLOAT>, tensor<TOKENSx20xFLOAT>
}

// A vector is one row.
// CHECK: @vector result 0: nmse
func.func @vector(%x: tensor<37xFLOAT>, %w: tensor<37xf32>) -> tensor<37xFLOAT> {
  %n = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<37xFLOAT>, tensor<37xf32>
  %y = llm.silu %n : tensor<37xFLOAT>
  return %y : tensor<37xFLOAT>
}

// CHECK: @called result 0: nmse
func.func @called(%x: tensor<TOKENSx20xFLOAT>, %w: tensor<20x20xf32>) -> tensor<TOKENSx20xFLOAT> {
  %a = func.call @layer(%x, %w) : (tensor<TOKENSx20xFLOAT>, tensor<20x20xf32>) -> tensor<TOKENSx20xFLOAT>
  %b = func.call @layer(%a, %w) : (tensor<TOKENSx20xFLOAT>, tensor<20x20xf32>) -> tensor<TOKENSx20xFLOAT>
  return %b : tensor<TOKENSx20xFLOAT>
}
func.func private @layer(%x: tensor<TOKENSx20xFLOAT>, %w: tensor<20x20xf32>) -> tensor<TOKENSx20xFLOAT> {
  %y = llm.linear %x, %w : tensor<TOKENSx20xFLOAT>, tensor<20x20xf32> -> tensor<TOKENSx20xFLOAT>
  %z = llm.add %x, %y : tensor<TOKENSx20xFLOAT>
  return %z : tensor<TOKENSx20xFLOAT>
}
