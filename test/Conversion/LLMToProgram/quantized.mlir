// RUN: llmir-opt %s --split-input-file --convert-llm-to-program="token-budget=8 max-logit-rows=4" --mllm-synchronize-program | FileCheck %s

// A step of two equal layers whose projections -llm-quantize has rewritten: the
// parameters are packed only as integers.

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 128>
!w8 = !llm.quantized_tensor<i8, [16, 64], true, true, 0, 32, 8>
!w4 = !llm.quantized_tensor<i4, [64, 16], false, true, 0, -1, 4>

// CHECK-LABEL: mllm.program.fragment @weights data
// CHECK-NEXT: weight @embed "tiles16" "f32" [100, 64] bytes 28672 sources ["embed"] at [0]{{$}}
// CHECK-NEXT: weight @l0.bias "vector" "f32" [64] bytes 256 sources ["l0.bias", "l1.bias"] at [28672, 28928]{{$}}
// 16 lines and 2 * 16 scales; 4 tiles of 2 lines, 16 scales and 16 zero points.
// CHECK-NEXT: weight @l0.down "tiles16" "int8:g32" [16, 64] bytes 1152 sources ["l0.down", "l1.down"] at [29184, 30336] rope_unpermute_heads 1{{$}}
// CHECK-NEXT: weight @l0.up "tiles16" "int4:asym" [64, 16] bytes 832 sources ["l0.up", "l1.up"] at [31488, 32320]{{$}}
// CHECK-NEXT: {{^ +}$}}

// Two products of one value share its quantized rows.
// CHECK: label "layers.0"
// CHECK: instruction replicated {
// CHECK-NEXT: kernel.quantize_rows {{.*}}%[[X:[0-9]+]]{{[, ]}}{{.*}}%[[BYTES:[0-9]+]]{{[, ]}}{{.*}}memref<8x32xf32>) {columns = 64 : i64, group = 32 : i64, label = "quantize_rows_64x32", padded = 32 : i64, segment = 32 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier unless_decode
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @l0.down :
// CHECK-NEXT: kernel.linear {{.*}}%[[BYTES]]{{[, ]}}{{.*}}%[[A:[0-9]+]]{{[, ]}}{{.*}}{columns = 64 : i64, format = "int8:g32", label = "quantized_linear_16x64", rows = 16 : i64, segment = 32 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @l0.down :
// CHECK-NEXT: kernel.linear {{.*}}%[[BYTES]]{{[, ]}}{{.*}}%[[A]]{{[, ]}}{{.*}}%[[A]]{{[, ]}}{{.*}}label = "quantized_linear_16x64_add"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NOT: quantize_rows
// CHECK: get_weight @l0.up :
// CHECK-NEXT: get_weight @l0.bias :
// CHECK-NEXT: kernel.linear {{.*}}bias({{.*}} {columns = 16 : i64, format = "int4:asym", label = "quantized_linear_64x16", rows = 64 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK: jump_next_layer
mllm.tensor.register @embed : tensor<100x64xf32> {source = "embed"}
mllm.tensor.register @l0.down : tensor<16x64xf32> {rope_unpermute_heads = 1 : i64, source = "l0.down"}
mllm.tensor.register @l1.down : tensor<16x64xf32> {rope_unpermute_heads = 1 : i64, source = "l1.down"}
mllm.tensor.register @l0.up : tensor<64x16xf32> {source = "l0.up"}
mllm.tensor.register @l1.up : tensor<64x16xf32> {source = "l1.up"}
mllm.tensor.register @l0.bias : tensor<64xf32> {source = "l0.bias"}
mllm.tensor.register @l1.bias : tensor<64xf32> {source = "l1.bias"}

func.func private @layer(%x: tensor<?x64xf32>, %down: tensor<16x64xf32>, %up: tensor<64x16xf32>, %bias: tensor<64xf32>, %layer: index) -> tensor<?x64xf32> {
  %s = llm.quant_params %down {axis = 0 : i64, bits = 8 : i64, group_size = 32 : i64} : (tensor<16x64xf32>) -> tensor<16x2xf32>
  %q = llm.quantize %down, %s : (tensor<16x64xf32>, tensor<16x2xf32>) -> !w8
  %t, %z = llm.quant_params %up {axis = 0 : i64, bits = 4 : i64, symmetric = false} : (tensor<64x16xf32>) -> (tensor<64xf32>, tensor<64xi8>)
  %p = llm.quantize %up, %t, %z : (tensor<64x16xf32>, tensor<64xf32>, tensor<64xi8>) -> !w4
  %a = llm.quantized_matmul %x, %q, %s {activation_bits = 8 : i64, transpose_rhs} : (tensor<?x64xf32>, !w8, tensor<16x2xf32>) -> tensor<?x16xf32>
  %b = llm.quantized_matmul %x, %q, %s {activation_bits = 8 : i64, transpose_rhs} : (tensor<?x64xf32>, !w8, tensor<16x2xf32>) -> tensor<?x16xf32>
  %c = llm.add %a, %b : tensor<?x16xf32>
  %y = llm.quantized_matmul %c, %p, %t, %z bias(%bias) {transpose_rhs} : (tensor<?x16xf32>, !w4, tensor<64xf32>, tensor<64xi8>, tensor<64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x100xf32>, !cache) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = llm.weight @embed : tensor<100x64xf32>
  %d0 = llm.weight @l0.down : tensor<16x64xf32>
  %d1 = llm.weight @l1.down : tensor<16x64xf32>
  %u0 = llm.weight @l0.up : tensor<64x16xf32>
  %u1 = llm.weight @l1.up : tensor<64x16xf32>
  %b0 = llm.weight @l0.bias : tensor<64xf32>
  %b1 = llm.weight @l1.bias : tensor<64xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x64xf32> -> tensor<?x64xf32>
  %y0 = func.call @layer(%x, %d0, %u0, %b0, %c0) : (tensor<?x64xf32>, tensor<16x64xf32>, tensor<64x16xf32>, tensor<64xf32>, index) -> tensor<?x64xf32>
  %y1 = func.call @layer(%y0, %d1, %u1, %b1, %c1) : (tensor<?x64xf32>, tensor<16x64xf32>, tensor<64x16xf32>, tensor<64xf32>, index) -> tensor<?x64xf32>
  %s = llm.select_rows %y1, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  %logits = llm.linear %s, %e : tensor<?x64xf32>, tensor<100x64xf32> -> tensor<?x100xf32>
  return %logits, %cache : tensor<?x100xf32>, !cache
}

// -----

// In a function, integers are f32 rows, which the program packs.

// CHECK: kernel.pack_integers {{.*}}%[[Q:[0-9]+]]{{[, ]}}{{.*}}%[[S:[0-9]+]]{{[, ]}}{{.*}}%[[W:[0-9]+]]{{[, ]}}{{.*}}{column_stride = 5 : i64, columns = 64 : i64, format = "int8:g32", grid_columns = 5 : i64, label = "pack_integers_5x64", row_stride = 1 : i64, rows = 5 : i64, scale_group_stride = 5 : i64, scale_row_stride = 1 : i64
// CHECK-NEXT: {{^ +}$}}
// CHECK: kernel.linear weights(%[[W]] : memref<18x16xf32>) {{.*}}label = "quantized_linear_5x64"
// CHECK-NEXT: {{^ +}$}}
func.func @main(%x: tensor<3x64xf32>, %q: !llm.quantized_tensor<i8, [64, 5], true, true, 1, 32, 8>, %s: tensor<2x5xf32>) -> tensor<3x5xf32> {
  %y = llm.quantized_matmul %x, %q, %s : (tensor<3x64xf32>, !llm.quantized_tensor<i8, [64, 5], true, true, 1, 32, 8>, tensor<2x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
