// Weights of every stored block format, packed as a checkpoint's are, compiled
// and run, against the interpreter: tables, projections, experts. In a function
// inputs are f32, so that only sums are rounded.

// RUN: sed -e 's/HEAD/i8/g; s/TAIL/true, false, -1, 32, 8, format = q8_0/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i4/g; s/TAIL/true, false, -1, 32, 4, format = q4_0/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i4/g; s/TAIL/false, false, -1, 32, 4, format = q4_1/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i4/g; s/TAIL/false, false, -1, 256, 4, format = q4_k/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i5/g; s/TAIL/false, false, -1, 256, 5, format = q5_k/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i6/g; s/TAIL/true, false, -1, 256, 6, format = q6_k/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i5/g; s/TAIL/true, false, -1, 32, 5, format = q5_0/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i5/g; s/TAIL/false, false, -1, 32, 5, format = q5_1/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i2/g; s/TAIL/false, false, -1, 256, 2, format = q2_k/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i3/g; s/TAIL/true, false, -1, 256, 3, format = q3_k/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i4/g; s/TAIL/true, false, -1, 32, 4, format = iq4_nl/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i4/g; s/TAIL/true, false, -1, 256, 4, format = iq4_xs/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i4/g; s/TAIL/true, false, -1, 32, 4, format = mxfp4/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i2/g; s/TAIL/true, false, -1, 256, 2, format = tq1_0/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i2/g; s/TAIL/true, false, -1, 256, 2, format = tq2_0/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i3/g; s/TAIL/true, false, -1, 256, 3, format = iq1_s/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i3/g; s/TAIL/true, false, -1, 256, 3, format = iq1_m/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i3/g; s/TAIL/true, false, -1, 256, 3, format = iq2_xxs/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i3/g; s/TAIL/true, false, -1, 256, 3, format = iq2_xs/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i3/g; s/TAIL/true, false, -1, 256, 3, format = iq2_s/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i4/g; s/TAIL/true, false, -1, 256, 4, format = iq3_xxs/g' %s | llmir-translate --compare | FileCheck %s
// RUN: sed -e 's/HEAD/i4/g; s/TAIL/true, false, -1, 256, 4, format = iq3_s/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/HEAD/i4/g; s/TAIL/false, false, -1, 256, 4, format = q4_k/g' %s | llmir-translate --compare --workers=3 --level=x86-64-v3 | FileCheck %s
// RUN: sed -e 's/HEAD/i6/g; s/TAIL/true, false, -1, 256, 6, format = q6_k/g' %s | llmir-translate --compare --workers=3 --level=x86-64-v3 | FileCheck %s

!table = !llm.quantized_tensor<HEAD, [50, 512], TAIL>
!weight = !llm.quantized_tensor<HEAD, [37, 512], TAIL>
!gate = !llm.quantized_tensor<HEAD, [3, 256, 512], TAIL>
!down = !llm.quantized_tensor<HEAD, [3, 512, 256], TAIL>

// Rows of a table are exact.
// CHECK: @embedding result 0: nmse 0.00e+00
func.func @embedding(%ids: tensor<9xi32> {check.range = array<i64: 0, 50>}, %table: !table) -> tensor<9x512xf32> {
  %y = llm.embedding %ids, %table : tensor<9xi32>, !table -> tensor<9x512xf32>
  return %y : tensor<9x512xf32>
}

// CHECK: @linear result 0: nmse
func.func @linear(%x: tensor<9x512xf32>, %w: !weight, %b: tensor<37xf32>) -> tensor<9x37xf32> {
  %y = llm.linear %x, %w bias %b : tensor<9x512xf32>, !weight, tensor<37xf32> -> tensor<9x37xf32>
  return %y : tensor<9x37xf32>
}

// CHECK: @of_one_token result 0: nmse
func.func @of_one_token(%x: tensor<1x512xf32>, %w: !weight) -> tensor<1x37xf32> {
  %y = llm.linear %x, %w : tensor<1x512xf32>, !weight -> tensor<1x37xf32>
  return %y : tensor<1x37xf32>
}

// CHECK: @experts result 0: nmse
func.func @experts(%x: tensor<7x512xf32>, %gate: !gate, %up: !gate, %down: !down,
                   %chosen: tensor<7x2xi32> {check.range = array<i64: 0, 3>},
                   %weights: tensor<7x2xf32>) -> tensor<7x512xf32> {
  %y = llm.moe_ffn %x, %chosen, %weights, %gate, %up, %down : tensor<7x512xf32>, tensor<7x2xi32>, tensor<7x2xf32>, !gate, !gate, !down -> tensor<7x512xf32>
  return %y : tensor<7x512xf32>
}
