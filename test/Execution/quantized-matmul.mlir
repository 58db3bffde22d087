// REQUIRES: avx2
// Every way of quantizing a matrix, with inputs as they are and of int8, against
// the float64 reference: 0, 1, 2, 7 and 33 tokens, two levels.
// RUN: sed -e 's/TOKENS/0/g; s/FLOAT/f32/g' %s | llmir-translate --compare --level=%quick_level | FileCheck %s
// RUN: sed -e 's/TOKENS/1/g; s/FLOAT/f32/g' %s | llmir-translate --compare --workers=2 --seed=3 | FileCheck %s
// RUN: sed -e 's/TOKENS/2/g; s/FLOAT/bf16/g' %s | llmir-translate --compare --level=%quick_level --workers=3 | FileCheck %s
// RUN: sed -e 's/TOKENS/33/g; s/FLOAT/f32/g' %s | llmir-translate --compare --workers=2 --seed=7 | FileCheck %s
// RUN: sed -e 's/TOKENS/7/g; s/FLOAT/f16/g' %s | llmir-translate --compare --level=x86-64-v3 --workers=3 | FileCheck %s

// One scale per output, per matrix, per group; weights [N, K].
// CHECK: @int8_rows result 0: nmse
func.func @int8_rows(%x: tensor<TOKENSx40xFLOAT>,
    %q: !llm.quantized_tensor<i8, [17, 40], true, true, 0, -1, 8>,
    %s: tensor<17xf32> {check.range = array<f64: 0.01, 0.1>},
    %b: tensor<17xFLOAT>) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s bias(%b) {transpose_rhs}
      : (tensor<TOKENSx40xFLOAT>, !llm.quantized_tensor<i8, [17, 40], true, true, 0, -1, 8>, tensor<17xf32>, tensor<17xFLOAT>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}

// CHECK: @int8_tensor result 0: nmse
func.func @int8_tensor(%x: tensor<TOKENSx100xFLOAT>,
    %q: !llm.quantized_tensor<i8, [16, 100], true, false, -1, -1, 8>,
    %s: tensor<1xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx16xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {transpose_rhs}
      : (tensor<TOKENSx100xFLOAT>, !llm.quantized_tensor<i8, [16, 100], true, false, -1, -1, 8>, tensor<1xf32>) -> tensor<TOKENSx16xFLOAT>
  return %y : tensor<TOKENSx16xFLOAT>
}

// CHECK: @int8_groups result 0: nmse
func.func @int8_groups(%x: tensor<TOKENSx64xFLOAT>,
    %q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, 32, 8>,
    %s: tensor<172x2xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx172xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {transpose_rhs}
      : (tensor<TOKENSx64xFLOAT>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, 32, 8>, tensor<172x2xf32>) -> tensor<TOKENSx172xFLOAT>
  return %y : tensor<TOKENSx172xFLOAT>
}

// CHECK: @int8_rows_asym result 0: nmse
func.func @int8_rows_asym(%x: tensor<TOKENSx100xFLOAT>,
    %q: !llm.quantized_tensor<i8, [33, 100], false, true, 0, -1, 8>,
    %s: tensor<33xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<33xi8>,
    %b: tensor<33xFLOAT>) -> tensor<TOKENSx33xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z bias(%b) {transpose_rhs}
      : (tensor<TOKENSx100xFLOAT>, !llm.quantized_tensor<i8, [33, 100], false, true, 0, -1, 8>, tensor<33xf32>, tensor<33xi8>, tensor<33xFLOAT>) -> tensor<TOKENSx33xFLOAT>
  return %y : tensor<TOKENSx33xFLOAT>
}

// CHECK: @int4_groups result 0: nmse
func.func @int4_groups(%x: tensor<TOKENSx256xFLOAT>,
    %q: !llm.quantized_tensor<i4, [15, 256], true, true, 0, 128, 4>,
    %s: tensor<15x2xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx15xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {transpose_rhs}
      : (tensor<TOKENSx256xFLOAT>, !llm.quantized_tensor<i4, [15, 256], true, true, 0, 128, 4>, tensor<15x2xf32>) -> tensor<TOKENSx15xFLOAT>
  return %y : tensor<TOKENSx15xFLOAT>
}

// CHECK: @int4_groups_asym result 0: nmse
func.func @int4_groups_asym(%x: tensor<TOKENSx128xFLOAT>,
    %q: !llm.quantized_tensor<i4, [16, 128], false, true, 0, 64, 4>,
    %s: tensor<16x2xf16> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<16x2xi8>,
    %b: tensor<16xFLOAT>) -> tensor<TOKENSx16xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z bias(%b) {transpose_rhs}
      : (tensor<TOKENSx128xFLOAT>, !llm.quantized_tensor<i4, [16, 128], false, true, 0, 64, 4>, tensor<16x2xf16>, tensor<16x2xi8>, tensor<16xFLOAT>) -> tensor<TOKENSx16xFLOAT>
  return %y : tensor<TOKENSx16xFLOAT>
}

// CHECK: @int16_rows_asym result 0: nmse
func.func @int16_rows_asym(%x: tensor<TOKENSx40xFLOAT>,
    %q: !llm.quantized_tensor<i16, [17, 40], false, true, 0, -1, 16>,
    %s: tensor<17xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<17xi16> {check.range = array<i64: -300, 300>}) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z {transpose_rhs}
      : (tensor<TOKENSx40xFLOAT>, !llm.quantized_tensor<i16, [17, 40], false, true, 0, -1, 16>, tensor<17xf32>, tensor<17xi16>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}

// Weights [K, N].
// CHECK: @inputs_first_int8 result 0: nmse
func.func @inputs_first_int8(%x: tensor<TOKENSx40xFLOAT>,
    %q: !llm.quantized_tensor<i8, [40, 17], true, true, 1, -1, 8>,
    %s: tensor<17xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s
      : (tensor<TOKENSx40xFLOAT>, !llm.quantized_tensor<i8, [40, 17], true, true, 1, -1, 8>, tensor<17xf32>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}

// CHECK: @inputs_first_groups result 0: nmse
func.func @inputs_first_groups(%x: tensor<TOKENSx64xFLOAT>,
    %q: !llm.quantized_tensor<i8, [64, 16], true, true, 1, 32, 8>,
    %s: tensor<2x16xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx16xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s
      : (tensor<TOKENSx64xFLOAT>, !llm.quantized_tensor<i8, [64, 16], true, true, 1, 32, 8>, tensor<2x16xf32>) -> tensor<TOKENSx16xFLOAT>
  return %y : tensor<TOKENSx16xFLOAT>
}

// CHECK: @inputs_first_asym result 0: nmse
func.func @inputs_first_asym(%x: tensor<TOKENSx96xFLOAT>,
    %q: !llm.quantized_tensor<i4, [96, 15], false, true, 1, 32, 4>,
    %s: tensor<3x15xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<3x15xi8>,
    %b: tensor<15xFLOAT>) -> tensor<TOKENSx15xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z bias(%b)
      : (tensor<TOKENSx96xFLOAT>, !llm.quantized_tensor<i4, [96, 15], false, true, 1, 32, 4>, tensor<3x15xf32>, tensor<3x15xi8>, tensor<15xFLOAT>) -> tensor<TOKENSx15xFLOAT>
  return %y : tensor<TOKENSx15xFLOAT>
}

// Scales along K, and groups along N: each input has its own scales.
// CHECK: @scale_per_input result 0: nmse
func.func @scale_per_input(%x: tensor<TOKENSx40xFLOAT>,
    %q: !llm.quantized_tensor<i8, [40, 17], true, true, 0, -1, 8>,
    %s: tensor<40xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s
      : (tensor<TOKENSx40xFLOAT>, !llm.quantized_tensor<i8, [40, 17], true, true, 0, -1, 8>, tensor<40xf32>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}

// CHECK: @groups_of_outputs result 0: nmse
func.func @groups_of_outputs(%x: tensor<TOKENSx24xFLOAT>,
    %q: !llm.quantized_tensor<i8, [24, 64], false, true, 0, 32, 8>,
    %s: tensor<24x2xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<24x2xi8>) -> tensor<TOKENSx64xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z
      : (tensor<TOKENSx24xFLOAT>, !llm.quantized_tensor<i8, [24, 64], false, true, 0, 32, 8>, tensor<24x2xf32>, tensor<24x2xi8>) -> tensor<TOKENSx64xFLOAT>
  return %y : tensor<TOKENSx64xFLOAT>
}

// CHECK: @row_of_inputs result 0: nmse
func.func @row_of_inputs(%x: tensor<TOKENSx24xFLOAT>,
    %q: !llm.quantized_tensor<i4, [17, 24], true, true, 1, -1, 4>,
    %s: tensor<24xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {transpose_rhs}
      : (tensor<TOKENSx24xFLOAT>, !llm.quantized_tensor<i4, [17, 24], true, true, 1, -1, 4>, tensor<24xf32>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}

// Inputs of int8: the integer dot product.
// SPEC: 148 180
// CHECK: @bytes_rows result 0: nmse
func.func @bytes_rows(%x: tensor<TOKENSx40xFLOAT>,
    %q: !llm.quantized_tensor<i8, [17, 40], true, true, 0, -1, 8>,
    %s: tensor<17xf32> {check.range = array<f64: 0.01, 0.1>},
    %b: tensor<17xFLOAT>) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s bias(%b) {activation_bits = 8 : i64, transpose_rhs}
      : (tensor<TOKENSx40xFLOAT>, !llm.quantized_tensor<i8, [17, 40], true, true, 0, -1, 8>, tensor<17xf32>, tensor<17xFLOAT>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}

// CHECK: @bytes_rows_asym result 0: nmse
func.func @bytes_rows_asym(%x: tensor<TOKENSx100xFLOAT>,
    %q: !llm.quantized_tensor<i8, [172, 100], false, true, 0, -1, 8>,
    %s: tensor<172xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<172xi8>) -> tensor<TOKENSx172xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z {activation_bits = 8 : i64, transpose_rhs}
      : (tensor<TOKENSx100xFLOAT>, !llm.quantized_tensor<i8, [172, 100], false, true, 0, -1, 8>, tensor<172xf32>, tensor<172xi8>) -> tensor<TOKENSx172xFLOAT>
  return %y : tensor<TOKENSx172xFLOAT>
}

// CHECK: @bytes_int4 result 0: nmse
func.func @bytes_int4(%x: tensor<TOKENSx256xFLOAT>,
    %q: !llm.quantized_tensor<i4, [16, 256], true, true, 0, 32, 4>,
    %s: tensor<16x8xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx16xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {activation_bits = 8 : i64, transpose_rhs}
      : (tensor<TOKENSx256xFLOAT>, !llm.quantized_tensor<i4, [16, 256], true, true, 0, 32, 4>, tensor<16x8xf32>) -> tensor<TOKENSx16xFLOAT>
  return %y : tensor<TOKENSx16xFLOAT>
}

// CHECK: @bytes_int4_asym result 0: nmse
func.func @bytes_int4_asym(%x: tensor<TOKENSx256xFLOAT>,
    %q: !llm.quantized_tensor<i4, [33, 256], false, true, 0, 64, 4>,
    %s: tensor<33x4xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<33x4xi8>,
    %b: tensor<33xFLOAT>) -> tensor<TOKENSx33xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z bias(%b) {activation_bits = 8 : i64, transpose_rhs}
      : (tensor<TOKENSx256xFLOAT>, !llm.quantized_tensor<i4, [33, 256], false, true, 0, 64, 4>, tensor<33x4xf32>, tensor<33x4xi8>, tensor<33xFLOAT>) -> tensor<TOKENSx33xFLOAT>
  return %y : tensor<TOKENSx33xFLOAT>
}

// CHECK: @bytes_inputs_first result 0: nmse
func.func @bytes_inputs_first(%x: tensor<TOKENSx128xFLOAT>,
    %q: !llm.quantized_tensor<i8, [128, 15], true, true, 1, 64, 8>,
    %s: tensor<2x15xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx15xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {activation_bits = 8 : i64, activation_group = 128 : i64}
      : (tensor<TOKENSx128xFLOAT>, !llm.quantized_tensor<i8, [128, 15], true, true, 1, 64, 8>, tensor<2x15xf32>) -> tensor<TOKENSx15xFLOAT>
  return %y : tensor<TOKENSx15xFLOAT>
}

// CHECK: @bytes_tensor result 0: nmse
func.func @bytes_tensor(%x: tensor<TOKENSx32xFLOAT>,
    %q: !llm.quantized_tensor<i4, [1, 32], true, false, -1, -1, 4>,
    %s: tensor<1xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx1xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {activation_bits = 8 : i64, transpose_rhs}
      : (tensor<TOKENSx32xFLOAT>, !llm.quantized_tensor<i4, [1, 32], true, false, -1, -1, 4>, tensor<1xf32>) -> tensor<TOKENSx1xFLOAT>
  return %y : tensor<TOKENSx1xFLOAT>
}

// CHECK: @bytes_small_groups result 0: nmse
func.func @bytes_small_groups(%x: tensor<TOKENSx60xFLOAT>,
    %q: !llm.quantized_tensor<i4, [16, 60], true, true, 0, 10, 4>,
    %s: tensor<16x6xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx16xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {activation_bits = 8 : i64, activation_group = 30 : i64, transpose_rhs}
      : (tensor<TOKENSx60xFLOAT>, !llm.quantized_tensor<i4, [16, 60], true, true, 0, 10, 4>, tensor<16x6xf32>) -> tensor<TOKENSx16xFLOAT>
  return %y : tensor<TOKENSx16xFLOAT>
}

// CHECK: @bytes_no_lines result 0: nmse
func.func @bytes_no_lines(%x: tensor<TOKENSx50xFLOAT>,
    %q: !llm.quantized_tensor<i4, [17, 50], false, true, 0, -1, 4>,
    %s: tensor<17xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<17xi8>) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z {activation_bits = 8 : i64, activation_group = 10 : i64, transpose_rhs}
      : (tensor<TOKENSx50xFLOAT>, !llm.quantized_tensor<i4, [17, 50], false, true, 0, -1, 4>, tensor<17xf32>, tensor<17xi8>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}

// More than two dimensions.
// CHECK: @batched result 0: nmse
func.func @batched(%x: tensor<2xTOKENSx64xFLOAT>,
    %q: !llm.quantized_tensor<i8, [16, 64], true, true, 0, 32, 8>,
    %s: tensor<16x2xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<2xTOKENSx16xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {activation_bits = 8 : i64, transpose_rhs}
      : (tensor<2xTOKENSx64xFLOAT>, !llm.quantized_tensor<i8, [16, 64], true, true, 0, 32, 8>, tensor<16x2xf32>) -> tensor<2xTOKENSx16xFLOAT>
  return %y : tensor<2xTOKENSx16xFLOAT>
}

// The integers are widened if zero points do not fit.
// CHECK: @wide_zero_points result 0: nmse
func.func @wide_zero_points(%x: tensor<TOKENSx40xFLOAT>,
    %q: !llm.quantized_tensor<i8, [17, 40], false, true, 0, -1, 8>,
    %s: tensor<17xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<17xi16> {check.range = array<i64: -300, 300>}) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z {transpose_rhs}
      : (tensor<TOKENSx40xFLOAT>, !llm.quantized_tensor<i8, [17, 40], false, true, 0, -1, 8>, tensor<17xf32>, tensor<17xi16>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}

// Integers that are too wide for byte products are multiplied as f32.
// CHECK: @widest_zero_points result 0: nmse
func.func @widest_zero_points(%x: tensor<TOKENSx40xFLOAT>,
    %q: !llm.quantized_tensor<i8, [17, 40], false, true, 0, -1, 8>,
    %s: tensor<17xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<17xi32> {check.range = array<i64: -300, 300>},
    %b: tensor<17xFLOAT>) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z bias(%b) {transpose_rhs}
      : (tensor<TOKENSx40xFLOAT>, !llm.quantized_tensor<i8, [17, 40], false, true, 0, -1, 8>, tensor<17xf32>, tensor<17xi32>, tensor<17xFLOAT>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}

// CHECK: @widest_inputs_first result 0: nmse
func.func @widest_inputs_first(%x: tensor<TOKENSx96xFLOAT>,
    %q: !llm.quantized_tensor<i4, [96, 15], false, true, 1, 32, 4>,
    %s: tensor<3x15xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<3x15xi32> {check.range = array<i64: -300, 300>}) -> tensor<TOKENSx15xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z {activation_bits = 8 : i64}
      : (tensor<TOKENSx96xFLOAT>, !llm.quantized_tensor<i4, [96, 15], false, true, 1, 32, 4>, tensor<3x15xf32>, tensor<3x15xi32>) -> tensor<TOKENSx15xFLOAT>
  return %y : tensor<TOKENSx15xFLOAT>
}

// CHECK: @bytes_int16 result 0: nmse
func.func @bytes_int16(%x: tensor<TOKENSx100xFLOAT>,
    %q: !llm.quantized_tensor<i16, [33, 100], true, true, 0, -1, 16>,
    %s: tensor<33xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx33xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {activation_bits = 8 : i64, transpose_rhs}
      : (tensor<TOKENSx100xFLOAT>, !llm.quantized_tensor<i16, [33, 100], true, true, 0, -1, 16>, tensor<33xf32>) -> tensor<TOKENSx33xFLOAT>
  return %y : tensor<TOKENSx33xFLOAT>
}


// Zero points beyond the integers' range, and integers of fewer bits than their
// elements.
// CHECK: @far_zero_points result 0: nmse
func.func @far_zero_points(%x: tensor<TOKENSx64xFLOAT>,
    %q: !llm.quantized_tensor<i4, [17, 64], false, true, 0, -1, 4>,
    %s: tensor<17xf32> {check.range = array<f64: 0.01, 0.1>},
    %z: tensor<17xi8> {check.range = array<i64: -128, 128>}) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s, %z {activation_bits = 8 : i64, transpose_rhs}
      : (tensor<TOKENSx64xFLOAT>, !llm.quantized_tensor<i4, [17, 64], false, true, 0, -1, 4>, tensor<17xf32>, tensor<17xi8>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}

// CHECK: @fewer_bits result 0: nmse
func.func @fewer_bits(%x: tensor<TOKENSx64xFLOAT>,
    %q: !llm.quantized_tensor<i8, [17, 64], true, true, 0, 32, 5>,
    %s: tensor<17x2xf32> {check.range = array<f64: 0.01, 0.1>}) -> tensor<TOKENSx17xFLOAT> {
  %y = llm.quantized_matmul %x, %q, %s {activation_bits = 8 : i64, bits = 5 : i64, transpose_rhs}
      : (tensor<TOKENSx64xFLOAT>, !llm.quantized_tensor<i8, [17, 64], true, true, 0, 32, 5>, tensor<17x2xf32>) -> tensor<TOKENSx17xFLOAT>
  return %y : tensor<TOKENSx17xFLOAT>
}
