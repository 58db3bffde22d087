// Ops that move elements, and the choice of rows and tokens: equal to the bit.

// RUN: llmir-translate %s --compare --max-nmse=0 | FileCheck %s
// RUN: llmir-translate %s --compare --max-nmse=0 --workers=5 --level=x86-64-v3 | FileCheck %s

// CHECK: @select_rows result 0: nmse 0.00e+00
func.func @select_rows(%x: tensor<7x20xf32>,
                       %rows: tensor<3xi32> {check.values = dense<[6, 0, 6]> : tensor<3xi32>}) -> tensor<3x20xf32> {
  %y = llm.select_rows %x, %rows : tensor<7x20xf32>, tensor<3xi32> -> tensor<3x20xf32>
  return %y : tensor<3x20xf32>
}

// CHECK: @mean_rows result 0: nmse 0.00e+00
func.func @mean_rows(%x: tensor<7x20xf32> {check.values = dense<2.5> : tensor<7x20xf32>},
                     %offsets: tensor<4xi32> {check.values = dense<[0, 4, 4, 7]> : tensor<4xi32>}) -> tensor<3x20xf32> {
  %y = llm.mean_rows %x, %offsets : tensor<7x20xf32>, tensor<4xi32> -> tensor<3x20xf32>
  return %y : tensor<3x20xf32>
}

// CHECK: @select_heads result 0: nmse 0.00e+00
func.func @select_heads(%x: tensor<7x2x10xbf16>,
                        %rows: tensor<0xi32> {check.range = array<i64: 0, 7>}) -> tensor<0x2x10xbf16> {
  %y = llm.select_rows %x, %rows : tensor<7x2x10xbf16>, tensor<0xi32> -> tensor<0x2x10xbf16>
  return %y : tensor<0x2x10xbf16>
}

// CHECK: @slice result 0: nmse 0.00e+00
// CHECK: @slice result 1: equal
// CHECK: @slice result 2: nmse 0.00e+00
func.func @slice(%x: tensor<7x20xf32>, %i: tensor<4x6xi32> {check.range = array<i64: -99, 99>})
    -> (tensor<3x5xf32>, tensor<2x6xi32>, tensor<20xf32>) {
  %a = tensor.extract_slice %x[1, 2] [3, 5] [2, 3] : tensor<7x20xf32> to tensor<3x5xf32>
  %b = tensor.extract_slice %i[1, 0] [2, 6] [1, 1] : tensor<4x6xi32> to tensor<2x6xi32>
  %c = tensor.extract_slice %x[6, 0] [1, 20] [1, 1] : tensor<7x20xf32> to tensor<20xf32>
  return %a, %b, %c : tensor<3x5xf32>, tensor<2x6xi32>, tensor<20xf32>
}

// CHECK: @concat result 0: nmse 0.00e+00
// CHECK: @concat result 1: nmse 0.00e+00
func.func @concat(%x: tensor<7x20xf32>, %y: tensor<7x3xf32>) -> (tensor<14x20xf32>, tensor<7x23xf32>) {
  %a = tensor.concat dim(0) %x, %x : (tensor<7x20xf32>, tensor<7x20xf32>) -> tensor<14x20xf32>
  %b = tensor.concat dim(1) %x, %y : (tensor<7x20xf32>, tensor<7x3xf32>) -> tensor<7x23xf32>
  return %a, %b : tensor<14x20xf32>, tensor<7x23xf32>
}

// Another view of the rows, and rows of another length.
// CHECK: @reshape result 0: nmse 0.00e+00
// CHECK: @reshape result 1: nmse 0.00e+00
func.func @reshape(%x: tensor<6x20xf32>, %w: tensor<40xf32>) -> (tensor<120xf32>, tensor<3x40xf32>) {
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<6x20xf32> into tensor<120xf32>
  %b = tensor.expand_shape %a [[0, 1]] output_shape [3, 40] : tensor<120xf32> into tensor<3x40xf32>
  %c = llm.add %b, %b : tensor<3x40xf32>
  return %a, %c : tensor<120xf32>, tensor<3x40xf32>
}

// CHECK: @sample result 0: equal
// CHECK: @sample result 1: equal
func.func @sample(%x: tensor<7x20xf32>) -> (tensor<7xi32>, tensor<7xi32>) {
  %drawn = llm.sample %x {temperature = 0.8, top_k = 10, top_p = 0.9, min_p = 0.05, seed = 7} : (tensor<7x20xf32>) -> tensor<7xi32>
  %best = llm.sample %x : (tensor<7x20xf32>) -> tensor<7xi32>
  return %drawn, %best : tensor<7xi32>, tensor<7xi32>
}

// The id of the selected token is read by the next kernel.
// CHECK: @sample_and_embed result 0: nmse 0.00e+00
func.func @sample_and_embed(%x: tensor<3x20xf32>, %table: tensor<20x32xbf16>) -> tensor<3x32xf32> {
  %ids = llm.sample %x : (tensor<3x20xf32>) -> tensor<3xi32>
  %y = llm.embedding %ids, %table : tensor<3xi32>, tensor<20x32xbf16> -> tensor<3x32xf32>
  return %y : tensor<3x32xf32>
}

// CHECK: @constants result 0: nmse 0.00e+00
// CHECK: @constants result 1: equal
func.func @constants(%x: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<3xi32>) {
  %c = arith.constant dense<[[1.0, 2.0, 3.0], [-4.0, 0.5, 6.0]]> : tensor<2x3xf16>
  %i = arith.constant dense<[3, -1, 2]> : tensor<3xi32>
  %y = llm.add %x, %c : tensor<2x3xf16>
  return %y, %i : tensor<2x3xf16>, tensor<3xi32>
}

// Of a single number the step is anything.
// CHECK: @long_step result 0: nmse 0.00e+00
func.func @long_step(%x: tensor<2x3xf32>) -> tensor<1x2xf32> {
  %y = mllm.linalg.slice %x[0:9223372036854775806:9223372036854775807, 0:3:2] : tensor<2x3xf32> -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// Ops on empty tensors return empty tensors.
// CHECK: @nothing result 0: nmse 0.00e+00
// CHECK: @nothing result 1: nmse 0.00e+00
func.func @nothing(%x: tensor<0x16xf32>, %w: tensor<24x16xf32>, %n: tensor<16xf32>) -> (tensor<0x24xf32>, tensor<3x24xf32>) {
  %z = arith.constant dense<0.0> : tensor<3x24xf32>
  %y = llm.rms_norm %x, %n {eps = 1.0e-5 : f64} : tensor<0x16xf32>, tensor<16xf32>
  %p = llm.linear %y, %w : tensor<0x16xf32>, tensor<24x16xf32> -> tensor<0x24xf32>
  %s = llm.silu %p : tensor<0x24xf32>
  %c = tensor.concat dim(0) %s, %z : (tensor<0x24xf32>, tensor<3x24xf32>) -> tensor<3x24xf32>
  return %s, %c : tensor<0x24xf32>, tensor<3x24xf32>
}
