// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// SPEC: 51 140
// CHECK-LABEL: func private @cache(!llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>)
!kv_cache_t = !llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>
func.func private @cache(!kv_cache_t)

// CHECK-LABEL: func private @cache_of_other_elements
// CHECK-SAME: !llm.paged_kv_cache<f32, 1, 1, 1, 1, 1>
// CHECK-SAME: !llm.paged_kv_cache<bf16, 2, 8, 80, 32, 100>
func.func private @cache_of_other_elements(
    !llm.paged_kv_cache<f32, 1, 1, 1, 1, 1>,
    !llm.paged_kv_cache<bf16, 2, 8, 80, 32, 100>)

// CHECK-LABEL: func private @quantized(!llm.quantized_tensor<i8, [4096, 4096], true, true, 0, -1, 8>)
func.func private @quantized(!llm.quantized_tensor<i8, [4096, 4096], true, true, 0, -1, 8>)

// The accepted spellings; their semantics are tested in test/CAPI/dialects.c
// and Execution/quantize.mlir.
// SPEC: 167 168 169
// CHECK-LABEL: func private @quantized_other_spellings
// CHECK-SAME: !llm.quantized_tensor<i8, [4096, 2048], true, true, 0, -1, 8>
// CHECK-SAME: !llm.quantized_tensor<i4, [4096, 2048], false, false, -1, 128, 4>
// CHECK-SAME: !llm.quantized_tensor<i16, [7, 5, 3], true, false, -1, -1, 16>
func.func private @quantized_other_spellings(
    !llm.quantized_tensor<i8, [4096 x 2048], symmetric, per_channel, 0, -1, 8>,
    !llm.quantized_tensor<i4, [4096x2048], asymmetric, per_tensor, -1, 128, 4>,
    !llm.quantized_tensor<i16, [7, 5, 3], symmetric, false, -1, -1, 16>)

// A group as long as a row, or longer, is none.
// CHECK-LABEL: func private @quantized_without_groups(!llm.quantized_tensor<i8, [64, 100], true, true, 1, 128, 8>)
func.func private @quantized_without_groups(!llm.quantized_tensor<i8, [64, 100], true, true, 1, 128, 8>)

// CHECK-LABEL: func private @quantized_formats
// CHECK-SAME: !llm.quantized_tensor<i8, [4096, 4096], true, false, -1, 32, 8, format = q8_0>
// CHECK-SAME: !llm.quantized_tensor<i4, [8, 32], true, false, -1, 32, 4, format = q4_0>
func.func private @quantized_formats(
    !llm.quantized_tensor<i8, [4096, 4096], true, false, -1, 32, 8, format = q8_0>,
    !llm.quantized_tensor<i4, [8, 32], true, false, -1, 32, 4, format = "q4_0">)

// CHECK-LABEL: func private @layer() attributes {llm.layer}
func.func private @layer() attributes {llm.layer}

// CHECK-LABEL: func private @sharded(!llm.sharded_tensor<tensor<4096x4096xf16>, 1, 4, 2>)
func.func private @sharded(!llm.sharded_tensor<tensor<4096x4096xf16>, 1, 4, 2>)

// The dimensions that are not cut may be unknown.
// CHECK-LABEL: func private @sharded_others
// CHECK-SAME: !llm.sharded_tensor<tensor<?x12xf32>, 1, 3, 0>
// CHECK-SAME: !llm.sharded_tensor<tensor<5xbf16>, 0, 1, 0>
func.func private @sharded_others(
    !llm.sharded_tensor<tensor<?x12xf32>, 1, 3, 0>,
    !llm.sharded_tensor<tensor<5xbf16>, 0, 1, 0>)

// Integers of 4 bits, each in a byte.
// CHECK-LABEL: func private @quantized_in_wider_elements(!llm.quantized_tensor<i8, [64, 100], true, true, 0, -1, 4>, !llm.quantized_tensor<i16, [64, 100], false, false, -1, -1, 12>)
func.func private @quantized_in_wider_elements(!llm.quantized_tensor<i8, [64, 100], true, true, 0, -1, 4>,
    !llm.quantized_tensor<i16, [64, 100], false, false, -1, -1, 12>)
