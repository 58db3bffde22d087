// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// A negative test for each constraint of the ops on quantized tensors; the
// labels are those of LLMQuantOps.td.

// RULE: quant_params.c1
func.func @test(%w: tensor<172x64xf32>) {
  // expected-error@+2 {{'llm.quant_params' op bits must be 4, 8 or 16, not 5}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.quant_params %w {bits = 5} : (tensor<172x64xf32>) -> tensor<1xf32>
  return
}

// -----

// RULE: quant_params.c2
func.func @test(%w: tensor<172x64xf32>) {
  // expected-error@+2 {{'llm.quant_params' op axis 2 is neither -1 nor a dimension of a tensor of rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.quant_params %w {axis = 2} : (tensor<172x64xf32>) -> tensor<1xf32>
  return
}

// -----

// RULE: quant_params.c2
func.func @test(%w: tensor<172x64xf32>) {
  // expected-error@+2 {{'llm.quant_params' op axis -2 is neither -1 nor a dimension of a tensor of rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.quant_params %w {axis = -2} : (tensor<172x64xf32>) -> tensor<1xf32>
  return
}

// -----

// RULE: quant_params.c3
func.func @test(%w: tensor<172x64xf32>) {
  // expected-error@+2 {{'llm.quant_params' op group_size must be -1 or positive, not 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.quant_params %w {group_size = 0} : (tensor<172x64xf32>) -> tensor<1xf32>
  return
}

// -----

// RULE: quant_params.c3
func.func @test(%w: tensor<172x64xf32>) {
  // expected-error@+2 {{'llm.quant_params' op group_size 48 does not divide dimension 1 of size 64}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.quant_params %w {group_size = 48} : (tensor<172x64xf32>) -> tensor<1xf32>
  return
}

// -----

// RULE: quant_params.c3, per-axis scales of the last dimension
func.func @test(%w: tensor<172x64xf32>) {
  // expected-error@+2 {{'llm.quant_params' op group_size 32 does not divide dimension 0 of size 172}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.quant_params %w {group_size = 32, axis = 1} : (tensor<172x64xf32>) -> tensor<1xf32>
  return
}

// -----

// RULE: quant_params.c4
func.func @test(%w: tensor<?x64xf32>) {
  // expected-error@+2 {{'llm.quant_params' op needs a non-empty tensor of static shape, not 'tensor<?x64xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.quant_params %w {bits = 8} : (tensor<?x64xf32>) -> tensor<1xf32>
  return
}

// -----

// RULE: quant_params.c4
func.func @test(%w: tensor<0x64xf32>) {
  // expected-error@+2 {{'llm.quant_params' op needs a non-empty tensor of static shape, not 'tensor<0x64xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.quant_params %w {bits = 8} : (tensor<0x64xf32>) -> tensor<1xf32>
  return
}

// -----

// quant_params: the results that follow from the parameters
func.func @test(%w: tensor<172x64xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'llm.quant_params' op inferred type(s) 'tensor<172xf32>' are incompatible with return type(s) of operation 'tensor<1xf32>'}}
  %0 = llm.quant_params %w {axis = 0} : (tensor<172x64xf32>) -> tensor<1xf32>
  return
}

// -----

// an attribute in two spellings
func.func @test(%w: tensor<172x64xf32>) {
  // expected-error@+1 {{attribute "group_size" is given twice, once as "groupSize"}}
  %0 = llm.quant_params %w {group_size = 32, groupSize = 32} : (tensor<172x64xf32>) -> tensor<172x2xf32>
  return
}

// -----

// an attribute of another kind
func.func @test(%w: tensor<172x64xf32>) {
  // expected-error@+1 {{'llm.quant_params' op attribute 'bits' failed to satisfy constraint: 64-bit integer attribute}}
  %0 = llm.quant_params %w {bits = "8"} : (tensor<172x64xf32>) -> tensor<1xf32>
  return
}

// -----

// as many types as operands
func.func @test(%w: tensor<172x64xf32>) {
  // expected-error@+1 {{expected 1 operand types, but there are 2}}
  %0 = llm.quant_params %w : (tensor<172x64xf32>, tensor<172x64xf32>) -> tensor<1xf32>
  return
}

// -----

// RULE: quantize.c1
func.func @test(%w: tensor<172x64xf32>, %s: tensor<172x2xf32>) {
  // expected-error@+1 {{'llm.quantize' op takes scales, but the blocks of format 'q8_0' include them}}
  %0 = llm.quantize %w, %s : (tensor<172x64xf32>, tensor<172x2xf32>) -> !llm.quantized_tensor<i8, [172, 64], true, false, -1, 32, 8, format = q8_0>
  return
}

// -----

// RULE: quantize.c2
func.func @test(%w: tensor<172x64xf32>, %s: tensor<171xf32>) {
  // expected-error@+1 {{'llm.quantize' op has scales of shape [171], but '!llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>' needs [172]}}
  %0 = llm.quantize %w, %s : (tensor<172x64xf32>, tensor<171xf32>) -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
  return
}

// -----

// RULE: quantize.c2
func.func @test(%w: tensor<172x64xf32>, %s: tensor<172xf32>, %z: tensor<172xi8>) {
  // expected-error@+2 {{'llm.quantize' op has scales of shape [172], but '!llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>' needs [172, 2]}}
  // expected-note@+1 {{a tensor with quantAxis 0 has 172 scales}}
  %0 = llm.quantize %w, %s, %z : (tensor<172x64xf32>, tensor<172xf32>, tensor<172xi8>) -> !llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>
  return
}

// -----

// RULE: quantize.c2, with as many scales in two dimensions as an axis has
func.func @test(%w: tensor<172x64xf32>, %s: tensor<64x1xf32>) {
  // expected-error@+1 {{'llm.quantize' op has scales of shape [64, 1], but '!llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>' needs [172]}}
  %0 = llm.quantize %w, %s : (tensor<172x64xf32>, tensor<64x1xf32>) -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
  return
}

// -----

// RULE: quantize.c3
func.func @test(%w: tensor<172x64xf32>, %s: tensor<172xf32>, %z: tensor<172xi8>) {
  // expected-error@+1 {{'llm.quantize' op has zero points, but the tensor is symmetric}}
  %0 = llm.quantize %w, %s, %z : (tensor<172x64xf32>, tensor<172xf32>, tensor<172xi8>) -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
  return
}

// -----

// RULE: quantize.c3
func.func @test(%w: tensor<172x64xf32>, %s: tensor<172x2xf32>) {
  // expected-error@+1 {{'llm.quantize' op needs zero points: the tensor is asymmetric}}
  %0 = llm.quantize %w, %s : (tensor<172x64xf32>, tensor<172x2xf32>) -> !llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>
  return
}

// -----

// RULE: quantize.c4
func.func @test(%w: tensor<172x64xf32>, %s: tensor<172x2xf32>, %z: tensor<172x1xi8>) {
  // expected-error@+1 {{'llm.quantize' op has zero points of shape [172, 1], but scales of shape [172, 2]}}
  %0 = llm.quantize %w, %s, %z : (tensor<172x64xf32>, tensor<172x2xf32>, tensor<172x1xi8>) -> !llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>
  return
}

// -----

// RULE: quantize.c5
func.func @test(%w: tensor<172x32xf32>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantize' op has an input of shape [172, 32], but a result of shape [172, 64]}}
  %0 = llm.quantize %w, %s : (tensor<172x32xf32>, tensor<172xf32>) -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
  return
}

// -----

// RULE: quantize.c5
func.func @test(%w: tensor<172x64x1xf32>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantize' op has an input of shape [172, 64, 1], but a result of shape [172, 64]}}
  %0 = llm.quantize %w, %s : (tensor<172x64x1xf32>, tensor<172xf32>) -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
  return
}

// -----

// RULE: quantize.c6
func.func @test(%w: tensor<172x64xf32>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantize' op bits is 4, but the result's type has 8}}
  %0 = llm.quantize %w, %s {bits = 4} : (tensor<172x64xf32>, tensor<172xf32>) -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
  return
}

// -----

// RULE: quantize.c6
func.func @test(%w: tensor<172x64xf32>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantize' op symmetric is false, but the result's type has true}}
  %0 = llm.quantize %w, %s {symmetric = false} : (tensor<172x64xf32>, tensor<172xf32>) -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
  return
}

// -----

// RULE: quantize.c6
func.func @test(%w: tensor<172x64xf32>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantize' op axis is 1, but the result's type has 0}}
  %0 = llm.quantize %w, %s {axis = 1} : (tensor<172x64xf32>, tensor<172xf32>) -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
  return
}

// -----

// RULE: quantize.c6
func.func @test(%w: tensor<172x64xf32>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantize' op group_size is 128, but the result's type has -1}}
  %0 = llm.quantize %w, %s {group_size = 128} : (tensor<172x64xf32>, tensor<172xf32>) -> !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>
  return
}

// -----

// RULE: dequantize.c1
func.func @test(%q: !llm.quantized_tensor<i8, [172, 64], true, false, -1, 32, 8, format = q8_0>, %s: tensor<172x2xf32>) {
  // expected-error@+1 {{'llm.dequantize' op takes scales, but the blocks of format 'q8_0' include them}}
  %0 = llm.dequantize %q, %s : (!llm.quantized_tensor<i8, [172, 64], true, false, -1, 32, 8, format = q8_0>, tensor<172x2xf32>) -> tensor<172x64xf32>
  return
}

// -----

// RULE: dequantize.c2
func.func @test(%q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<64xf32>) {
  // expected-error@+2 {{'llm.dequantize' op has scales of shape [64], but '!llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>' needs [172]}}
  // expected-note@+1 {{a tensor with quantAxis 1 has 64 scales}}
  %0 = llm.dequantize %q, %s : (!llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<64xf32>) -> tensor<172x64xf32>
  return
}

// -----

// RULE: dequantize.c3
func.func @test(%q: !llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>, %s: tensor<172x2xf32>) {
  // expected-error@+1 {{'llm.dequantize' op needs zero points: the tensor is asymmetric}}
  %0 = llm.dequantize %q, %s : (!llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>, tensor<172x2xf32>) -> tensor<172x64xf32>
  return
}

// -----

// RULE: dequantize.c4
func.func @test(%q: !llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>, %s: tensor<172x2xf32>, %z: tensor<2x172xi8>) {
  // expected-error@+1 {{'llm.dequantize' op has zero points of shape [2, 172], but scales of shape [172, 2]}}
  %0 = llm.dequantize %q, %s, %z : (!llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>, tensor<172x2xf32>, tensor<2x172xi8>) -> tensor<172x64xf32>
  return
}

// -----

// RULE: dequantize.c5
func.func @test(%q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.dequantize' op has an input of shape [172, 64], but a result of shape [64, 172]}}
  %0 = llm.dequantize %q, %s : (!llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>) -> tensor<64x172xf32>
  return
}

// -----

// RULE: quantized_matmul.c1
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i8, [172, 64], true, false, -1, 32, 8, format = q8_0>, %s: tensor<172x2xf32>) {
  // expected-error@+1 {{'llm.quantized_matmul' op takes scales, but the blocks of format 'q8_0' include them}}
  %0 = llm.quantized_matmul %x, %q, %s {transpose_rhs} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, false, -1, 32, 8, format = q8_0>, tensor<172x2xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: quantized_matmul.c2, an example of the LLMIR specification: scales of the other axis
func.func @test(%x: tensor<4x2048xf16>, %q: !llm.quantized_tensor<i8, [2048, 4096], true, true, 0, -1, 8>, %s: tensor<4096xf32>) {
  // expected-error@+2 {{'llm.quantized_matmul' op has scales of shape [4096], but '!llm.quantized_tensor<i8, [2048, 4096], true, true, 0, -1, 8>' needs [2048]}}
  // expected-note@+1 {{a tensor with quantAxis 1 has 4096 scales}}
  %0 = llm.quantized_matmul %x, %q, %s {} : (tensor<4x2048xf16>, !llm.quantized_tensor<i8, [2048, 4096], true, true, 0, -1, 8>, tensor<4096xf32>) -> tensor<4x4096xf16>
  return
}

// -----

// RULE: quantized_matmul.c3
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<172xf32>, %z: tensor<172xi8>) {
  // expected-error@+1 {{'llm.quantized_matmul' op has zero points, but the tensor is symmetric}}
  %0 = llm.quantized_matmul %x, %q, %s, %z {transpose_rhs} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>, tensor<172xi8>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: quantized_matmul.c4
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>, %s: tensor<172x2xf32>, %z: tensor<1xi8>) {
  // expected-error@+1 {{'llm.quantized_matmul' op has zero points of shape [1], but scales of shape [172, 2]}}
  %0 = llm.quantized_matmul %x, %q, %s, %z {transpose_rhs} : (tensor<?x64xf32>, !llm.quantized_tensor<i4, [172, 64], false, false, -1, 32, 4>, tensor<172x2xf32>, tensor<1xi8>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: quantized_matmul.c5
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantized_matmul' op has rows of 64 elements, but a right-hand side of 172 inputs}}
  %0 = llm.quantized_matmul %x, %q, %s {} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>) -> tensor<?x64xf32>
  return
}

// -----

// RULE: quantized_matmul.c6
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<172xf32>, %b: tensor<64xf32>) {
  // expected-error@+1 {{'llm.quantized_matmul' op has a bias of 64 elements, but a right-hand side of 172 outputs}}
  %0 = llm.quantized_matmul %x, %q, %s bias(%b) {transpose_rhs} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>, tensor<64xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: quantized_matmul.c7
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantized_matmul' op activation_bits must be 8, not 4}}
  %0 = llm.quantized_matmul %x, %q, %s {transpose_rhs, activation_bits = 4} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: quantized_matmul.c8
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantized_matmul' op activation_group must be positive, not 0}}
  %0 = llm.quantized_matmul %x, %q, %s {transpose_rhs, activation_bits = 8, activation_group = 0} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: quantized_matmul.c8
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantized_matmul' op has an activation_group of 32, but no activation_bits}}
  %0 = llm.quantized_matmul %x, %q, %s {transpose_rhs, activation_group = 32} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: quantized_matmul.c9
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantized_matmul' op bits is 4, but the right-hand side has 8}}
  %0 = llm.quantized_matmul %x, %q, %s {transpose_rhs, bits = 4 : i32} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: quantized_matmul.c9
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<172xf32>) {
  // expected-error@+1 {{'llm.quantized_matmul' op group_size is 128, but the right-hand side has -1}}
  %0 = llm.quantized_matmul %x, %q, %s {transpose_rhs, group_size = 128 : i32} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>) -> tensor<?x172xf32>
  return
}

// -----

// quantized_matmul: the result that follows from the operands
func.func @test(%x: tensor<?x64xf32>, %q: !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, %s: tensor<172xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'llm.quantized_matmul' op inferred type(s) 'tensor<?x172xf32>' are incompatible with return type(s) of operation 'tensor<?x171xf32>'}}
  %0 = llm.quantized_matmul %x, %q, %s {transpose_rhs} : (tensor<?x64xf32>, !llm.quantized_tensor<i8, [172, 64], true, true, 0, -1, 8>, tensor<172xf32>) -> tensor<?x171xf32>
  return
}

// -----

// quantized_matmul: how many operands
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+1 {{expected 3 operands, or 4 with zero points, but there are 2}}
  %0 = llm.quantized_matmul %x, %x : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}
