// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize)' --split-input-file --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{scheme=int4:g32:asym activations=int8})' --split-input-file | FileCheck %s --check-prefixes=CHECK,INT4
// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{activations=int8})' --split-input-file | FileCheck %s --check-prefix=BYTES
// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{scheme=int8:g64 include=q_proj exclude=blocks.1})' --split-input-file | FileCheck %s --check-prefix=NAMES
// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{exclude= min-elements=1024})' --split-input-file | FileCheck %s --check-prefix=SIZES
// RUN: not llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{scheme=int5})' 2>&1 | FileCheck %s --check-prefix=SCHEME
// RUN: not llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{scheme=int8:g48})' 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{activations=int4})' 2>&1 | FileCheck %s --check-prefix=ACTIVATIONS
// RUN: not llmir-opt %s --pass-pipeline='builtin.module(llm-quantize{include=([})' 2>&1 | FileCheck %s --check-prefix=REGEX

// SCHEME: error: scheme must be int8 or int4, optionally followed by :g32, :g64 or :g128 and by :asym, not 'int5'
// GROUP: error: scheme must be int8 or int4, {{.*}} not 'int8:g48'
// ACTIVATIONS: error: activations must be none or int8, not 'int4'
// REGEX: error: '([' is not a regular expression:

// A weight of two projections is quantized once, at its definition.
// SPEC: 9 40 88 124 125
// CHECK-LABEL: func @twice(
// BYTES-LABEL: func @twice(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[W:.*]]: tensor<8x64xbf16>, %[[B:.*]]: tensor<8xf32>)
func.func @twice(%x: tensor<?x64xf32>, %w: tensor<8x64xbf16>, %b: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // INT8-NEXT: %[[S:.*]] = llm.quant_params %[[W]] {axis = 0 : i64, bits = 8 : i64, group_size = -1 : i64, symmetric = true} : (tensor<8x64xbf16>) -> tensor<8xf32>
  // INT8-NEXT: %[[Q:.*]] = llm.quantize %[[W]], %[[S]] : (tensor<8x64xbf16>, tensor<8xf32>) -> !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>
  // INT8-NEXT: %[[Y:.*]] = llm.quantized_matmul %[[X]], %[[Q]], %[[S]] bias(%[[B]]) {transpose_rhs} : ({{.*}}) -> tensor<?x8xf32>
  // INT8-NEXT: %[[Z:.*]] = llm.quantized_matmul %[[X]], %[[Q]], %[[S]] {transpose_rhs} :
  // BYTES-COUNT-2: {activation_bits = 8 : i64, activation_group = 64 : i64, transpose_rhs}
  // INT4-NEXT: %[[S:.*]], %[[P:.*]] = llm.quant_params %[[W]] {axis = 0 : i64, bits = 4 : i64, group_size = 32 : i64, symmetric = false} : (tensor<8x64xbf16>) -> (tensor<8x2xf32>, tensor<8x2xi8>)
  // INT4-NEXT: %[[Q:.*]] = llm.quantize %[[W]], %[[S]], %[[P]] : ({{.*}}) -> !llm.quantized_tensor<i4, [8, 64], false, true, 0, 32, 4>
  // INT4-NEXT: %[[Y:.*]] = llm.quantized_matmul %[[X]], %[[Q]], %[[S]], %[[P]] bias(%[[B]]) {activation_bits = 8 : i64, transpose_rhs} :
  // INT4-NEXT: %[[Z:.*]] = llm.quantized_matmul %[[X]], %[[Q]], %[[S]], %[[P]] {activation_bits = 8 : i64, transpose_rhs} :
  // CHECK-NEXT: return %[[Y]], %[[Z]]
  %0 = llm.linear %x, %w bias %b : tensor<?x64xf32>, tensor<8x64xbf16>, tensor<8xf32> -> tensor<?x8xf32>
  %1 = llm.linear %x, %w : tensor<?x64xf32>, tensor<8x64xbf16> -> tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// A constant is a weight too. The names are not given here.
// CHECK-LABEL: func @constant
// NAMES-LABEL: func @constant
func.func @constant(%x: tensor<3x64xf32>) -> tensor<3x2xf32> {
  // CHECK: llm.quantized_matmul
  // NAMES: llm.linear
  %w = arith.constant dense<0.5> : tensor<2x64xf32>
  %0 = llm.linear %x, %w : tensor<3x64xf32>, tensor<2x64xf32> -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

mllm.tensor.register @blocks.0.q_proj.weight : tensor<64x64xf32> {source = "a"}
mllm.tensor.register @blocks.0.k_proj.weight : tensor<8x64xf32> {source = "b"}
mllm.tensor.register @blocks.1.q_proj.weight : tensor<64x64xf32> {source = "c"}
mllm.tensor.register @lm_head.weight : tensor<256x64xf32> {source = "d"}

// Which projections, by the symbol of the weight, the name of the op's place or
// the size. The projection to the vocabulary is quantized only on request.
// CHECK-LABEL: func @names
// NAMES-LABEL: func @names
// SIZES-LABEL: func @names
func.func @names(%x: tensor<?x64xf32>, %v: tensor<64x64xf32>) -> (tensor<?x64xf32>, tensor<?x8xf32>, tensor<?x64xf32>, tensor<?x256xf32>, tensor<?x64xf32>) {
  // CHECK-DAG: llm.quant_params {{.*}} : (tensor<64x64xf32>)
  // NAMES: llm.weight @blocks.0.q_proj.weight
  // NAMES-NEXT: llm.quant_params %{{.*}} {axis = 0 : i64, bits = 8 : i64, group_size = 64 : i64, symmetric = true} : (tensor<64x64xf32>) -> tensor<64xf32>
  // NAMES: llm.quantized_matmul
  // SIZES: llm.quantized_matmul
  %0 = llm.weight @blocks.0.q_proj.weight : tensor<64x64xf32>
  %1 = llm.linear %x, %0 : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
  // NAMES: llm.linear
  // SIZES: llm.linear
  %2 = llm.weight @blocks.0.k_proj.weight : tensor<8x64xf32>
  %3 = llm.linear %x, %2 : tensor<?x64xf32>, tensor<8x64xf32> -> tensor<?x8xf32>
  // NAMES: llm.linear
  // SIZES: llm.quantized_matmul
  %4 = llm.weight @blocks.1.q_proj.weight : tensor<64x64xf32>
  %5 = llm.linear %x, %4 : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
  // CHECK: %[[HEAD:.*]] = llm.weight @lm_head.weight
  // CHECK-NEXT: llm.linear %{{.*}}, %[[HEAD]]
  // NAMES: llm.linear
  // SIZES: llm.quantized_matmul
  // SIZES: llm.quantized_matmul
  %6 = llm.weight @lm_head.weight : tensor<256x64xf32>
  %7 = llm.linear %x, %6 : tensor<?x64xf32>, tensor<256x64xf32> -> tensor<?x256xf32>
  // NAMES: llm.quantized_matmul
  %8 = llm.linear %x, %v : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32> loc("blocks.2.q_proj")
  return %1, %3, %5, %7, %8 : tensor<?x64xf32>, tensor<?x8xf32>, tensor<?x64xf32>, tensor<?x256xf32>, tensor<?x64xf32>
}

// -----

// Must not fire: quantized weights, and products that are not projections.
!q8_0 = !llm.quantized_tensor<i8, [8, 64], true, false, -1, 32, 8, format = q8_0>
// CHECK-LABEL: func @other_weights
func.func @other_weights(%x: tensor<?x64xf32>, %q: !q8_0, %ids: tensor<?xi32>, %t: tensor<256x64xf32>, %n: tensor<64xf32>) -> (tensor<?x8xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  // CHECK-NEXT: llm.linear %{{.*}}, %{{.*}} : tensor<?x64xf32>, !llm.quantized_tensor
  // CHECK-NEXT: llm.embedding %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<256x64xf32>
  // CHECK-NEXT: llm.rms_norm
  // CHECK-NEXT: return
  %0 = llm.linear %x, %q : tensor<?x64xf32>, !q8_0 -> tensor<?x8xf32>
  %1 = llm.embedding %ids, %t : tensor<?xi32>, tensor<256x64xf32> -> tensor<?x64xf32>
  %2 = llm.rms_norm %x, %n : tensor<?x64xf32>, tensor<64xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// Must not fire, with a remark.
// CHECK-LABEL: func @tied
func.func @tied(%ids: tensor<?xi32>, %t: tensor<256x64xf32>) -> tensor<?x256xf32> {
  // CHECK-NOT: llm.quant
  %0 = llm.embedding %ids, %t : tensor<?xi32>, tensor<256x64xf32> -> tensor<?x64xf32>
  // expected-remark@+1 {{not quantized: its weight is also an embedding table, so both forms would be in memory}}
  %1 = llm.linear %0, %t : tensor<?x64xf32>, tensor<256x64xf32> -> tensor<?x256xf32>
  return %1 : tensor<?x256xf32>
}

// CHECK-LABEL: func @empty
func.func @empty(%x: tensor<?x64xf32>, %w: tensor<0x64xf32>) -> tensor<?x0xf32> {
  // CHECK-NOT: llm.quant
  // expected-remark@+1 {{not quantized: its weight is empty}}
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<0x64xf32> -> tensor<?x0xf32>
  return %0 : tensor<?x0xf32>
}

// CHECK-LABEL: func @computed
func.func @computed(%x: tensor<?x64xf32>, %w: tensor<8x64xf32>) -> tensor<?x8xf32> {
  // CHECK-NOT: llm.quant
  %0 = llm.silu %w : tensor<8x64xf32>
  // expected-remark@+1 {{not quantized: its weight is computed}}
  %1 = llm.linear %x, %0 : tensor<?x64xf32>, tensor<8x64xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: func @unknown_sizes
func.func @unknown_sizes(%x: tensor<?x64xf32>, %w: tensor<?x64xf32>) -> tensor<?x?xf32> {
  // CHECK-NOT: llm.quant
  // expected-remark@+1 {{not quantized: its weight has dynamic sizes}}
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<?x64xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// A block argument may change.
// CHECK-LABEL: func @loop
func.func @loop(%x: tensor<2x64xf32>, %w: tensor<64x64xf32>, %n: index) -> tensor<64x64xf32> {
  // CHECK-NOT: llm.quant
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %w) -> tensor<64x64xf32> {
    // expected-remark@+1 {{not quantized: its weight is computed}}
    %1 = llm.linear %v, %v : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %1 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func @inner_block
func.func @inner_block(%x: tensor<?x64xf32>, %w: tensor<8x64xf32>, %v: tensor<8x64xf32>, %b: i1) -> tensor<?x8xf32> {
  // CHECK-NOT: llm.quant
  cf.cond_br %b, ^bb1(%w : tensor<8x64xf32>), ^bb1(%v : tensor<8x64xf32>)
^bb1(%u: tensor<8x64xf32>):
  // expected-remark@+1 {{not quantized: its weight is computed}}
  %0 = llm.linear %x, %u : tensor<?x64xf32>, tensor<8x64xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// The slice of a weight is a weight, with its own scales.
// CHECK-LABEL: func @slice
func.func @slice(%x: tensor<?x64xf32>, %w: tensor<16x64xf32>) -> tensor<?x8xf32> attributes {llm.num_ranks = 2 : i64} {
  // CHECK: %[[W:.*]] = llm.shard
  // CHECK-NEXT: llm.quant_params %[[W]]
  // CHECK: llm.quantized_matmul
  %0 = llm.shard %w {dim = 0, num_shards = 2} : (tensor<16x64xf32>) -> tensor<8x64xf32>
  %1 = llm.linear %x, %0 : tensor<?x64xf32>, tensor<8x64xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// An existing quantized weight is reused if it dominates the use.
// INT8-LABEL: func @there_already
func.func @there_already(%x: tensor<?x64xf32>, %w: tensor<8x64xf32>, %v: tensor<8x64xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>, !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>) {
  // INT8: llm.quantize %{{.*}}
  // INT8: llm.quantize %{{.*}}
  // INT8: llm.quantized_matmul
  // INT8: llm.quantized_matmul
  // INT8: llm.quantize %{{.*}}
  // INT8-NOT: llm.quantize
  // INT8: return
  %s = llm.quant_params %w {axis = 0} : (tensor<8x64xf32>) -> tensor<8xf32>
  %q = llm.quantize %w, %s : (tensor<8x64xf32>, tensor<8xf32>) -> !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<8x64xf32> -> tensor<?x8xf32>
  %1 = llm.linear %x, %v : tensor<?x64xf32>, tensor<8x64xf32> -> tensor<?x8xf32>
  %t = llm.quant_params %v {axis = 0} : (tensor<8x64xf32>) -> tensor<8xf32>
  %p = llm.quantize %v, %t : (tensor<8x64xf32>, tensor<8xf32>) -> !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>
  return %0, %1, %q, %p : tensor<?x8xf32>, tensor<?x8xf32>, !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>, !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>
}
