// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// The ops of MLLMAttentionOps.td in their three syntaxes.


// CHECK-LABEL: mllm.graph.subgraph @positions(
mllm.graph.subgraph @positions(%ids: tensor<1x?xi64>, %few: tensor<?xi32>) {
  // CHECK: mllm.linalg.positions %{{[^ ]+}} : tensor<1x?xi64>
  %0 = mllm.linalg.positions %ids : tensor<1x?xi64>
  // CHECK: mllm.linalg.positions %{{[^ ]+}} : tensor<?xi32> -> tensor<?xi64>
  %1 = mllm.linalg.positions %few : tensor<?xi32> -> tensor<?xi64>
  mllm.cf.return
}

// CHECK-LABEL: mllm.graph.subgraph @rotations(
mllm.graph.subgraph @rotations(%x: tensor<?x4x8xf32>, %h: tensor<1x4x?x8xf32>, %s: tensor<?x4xf32>, %t: tensor<3x?x4xf32>, %p: tensor<24x2x8xf32>) {
  // CHECK: mllm.linalg.rope %{{[^ ]+}} {frequencies = array<f64: 1.000000e+00, 2.500000e-01>, scaling = 1.000000e+00 : f64} : tensor<?x4x8xf32>
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.000000e+00, 2.500000e-01>, scaling = 1.000000e+00 : f64} : tensor<?x4x8xf32>
  // CHECK: mllm.linalg.rope %{{[^ ]+}} by %{{[^ ]+}}, %{{[^ ]+}} {layout = "bhsd", scaling = 1.000000e+00 : f64} : tensor<1x4x?x8xf32> by tensor<?x4xf32>, tensor<?x4xf32>
  %1 = mllm.linalg.rope %h by %s, %s {layout = "bhsd", scaling = 1.000000e+00 : f64} : tensor<1x4x?x8xf32> by tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK: mllm.linalg.multimodal_rope %{{[^ ]+}} by %{{[^ ]+}}, %{{[^ ]+}} {mrope_section = array<i64: 2, 1, 1>} : tensor<?x4x8xf32> by tensor<3x?x4xf32>, tensor<3x?x4xf32>
  %2 = mllm.linalg.multimodal_rope %x by %t, %t {mrope_section = array<i64: 2, 1, 1>} : tensor<?x4x8xf32> by tensor<3x?x4xf32>, tensor<3x?x4xf32>
  // CHECK: mllm.linalg.multimodal_rope %{{[^ ]+}} by %{{[^ ]+}}, %{{[^ ]+}} {layout = "bhsd", mrope_section = array<i64: 4>} : tensor<1x4x?x8xf32> by tensor<3x?x4xf32>, tensor<3x?x4xf32>
  %3 = mllm.linalg.multimodal_rope %h by %t, %t {layout = "bhsd", mrope_section = array<i64: 4>} : tensor<1x4x?x8xf32> by tensor<3x?x4xf32>, tensor<3x?x4xf32>
  // CHECK: mllm.linalg.vision_rope %{{[^ ]+}} {grid = array<i64: 1, 4, 6>} : tensor<24x2x8xf32>
  %4 = mllm.linalg.vision_rope %p {grid = array<i64: 1, 4, 6>} : tensor<24x2x8xf32>
  // CHECK: mllm.linalg.vision_rope %{{[^ ]+}} {grid = array<i64: 1, 4, 6>, spatial_merge_size = 1 : i64, theta = 1.000000e+02 : f64} : tensor<24x2x8xf32>
  %5 = mllm.linalg.vision_rope %p {grid = array<i64: 1, 4, 6>, spatial_merge_size = 1 : i64, theta = 1.000000e+02 : f64} : tensor<24x2x8xf32>
  // CHECK: mllm.linalg.vision_rope %{{[^ ]+}} by %{{[^ ]+}}, %{{[^ ]+}} : tensor<24x2x8xf32> by tensor<?x4xf32>, tensor<?x4xf32>
  %6 = mllm.linalg.vision_rope %p by %s, %s : tensor<24x2x8xf32> by tensor<?x4xf32>, tensor<?x4xf32>
  mllm.cf.return
}

// CHECK-LABEL: mllm.graph.subgraph @cache(
mllm.graph.subgraph @cache(%k: tensor<?x2x16xf32>, %k1: tensor<1x2x?x16xf32>, %x: tensor<1x12x?x?xf32>) {
  // CHECK: mllm.linalg.kv_cache %{{[^ ]+}}, %{{[^ ]+}} {layer = 3 : i64} : (tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
  %0, %1 = mllm.linalg.kv_cache %k, %k {layer = 3 : i64} : (tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
  // CHECK: mllm.linalg.kv_cache %{{[^ ]+}}, %{{[^ ]+}} {layer = 3 : i64, layout = "bhsd", q_head = 12 : i64} : (tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>) -> (tensor<1x12x?x16xf32>, tensor<1x12x?x16xf32>)
  %2, %3 = mllm.linalg.kv_cache %k1, %k1 {layer = 3 : i64, layout = "bhsd", q_head = 12 : i64} : (tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>) -> (tensor<1x12x?x16xf32>, tensor<1x12x?x16xf32>)
  // CHECK: mllm.linalg.causal_mask %{{[^ ]+}} : tensor<1x12x?x?xf32>
  %4 = mllm.linalg.causal_mask %x : tensor<1x12x?x?xf32>
  // CHECK: mllm.linalg.causal_mask %{{[^ ]+}} {window = 128 : i64} : tensor<1x12x?x?xf32>
  %5 = mllm.linalg.causal_mask %x {window = 128 : i64} : tensor<1x12x?x?xf32>
  mllm.cf.return
}

// CHECK-LABEL: mllm.graph.subgraph @attention(
mllm.graph.subgraph @attention(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %s: tensor<4xf32>, %pool: tensor<9x2x16xf32>, %i: tensor<?xi32>, %q4: tensor<1x?x4x16xf32>, %k4: tensor<1x9x2x16xf32>) {
  // CHECK: mllm.linalg.flash_attention2 %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {causal = true, scale = 2.500000e-01 : f64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
  %0 = mllm.linalg.flash_attention2 %q, %k, %k {causal = true, scale = 2.500000e-01 : f64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
  // CHECK: mllm.linalg.flash_attention2_swa_sink %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {scale = 2.500000e-01 : f64, sliding_window = 8 : i64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
  %1 = mllm.linalg.flash_attention2_swa_sink %q, %k, %k {scale = 2.500000e-01 : f64, sliding_window = 8 : i64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
  // CHECK: mllm.linalg.flash_attention2_swa_sink {{.*}} {chunked, scale = 2.500000e-01 : f64, sliding_window = 8 : i64}
  %chunked = mllm.linalg.flash_attention2_swa_sink %q, %k, %k {chunked, scale = 2.500000e-01 : f64, sliding_window = 8 : i64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
  // CHECK: mllm.linalg.flash_attention2_swa_sink %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} sinks %{{[^ ]+}} {scale = 2.500000e-01 : f64, sliding_window = 8 : i64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<4xf32>) -> tensor<?x4x16xf32>
  %2 = mllm.linalg.flash_attention2_swa_sink %q, %k, %k sinks %s {scale = 2.500000e-01 : f64, sliding_window = 8 : i64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<4xf32>) -> tensor<?x4x16xf32>
  // CHECK: mllm.linalg.flash_attention2_swa_sink %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {causal = false, scale = 2.500000e-01 : f64, sliding_window = 8 : i64} :
  %both = mllm.linalg.flash_attention2_swa_sink %q, %k, %k {causal = false, scale = 2.500000e-01 : f64, sliding_window = 8 : i64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
  // CHECK: mllm.linalg.radix_attn_swa_sink %{{[^ ]+}}, %{{[^ ]+}}{{\[}}%{{[^ ]+}}], %{{[^ ]+}}{{\[}}%{{[^ ]+}}] sinks %{{[^ ]+}} {pattern = "append", scale = 2.500000e-01 : f64, sliding_window = 8 : i64} : (tensor<?x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<?xi32>, tensor<?xi32>, tensor<4xf32>) -> tensor<?x4x16xf32>
  %3 = mllm.linalg.radix_attn_swa_sink %q, %pool[%i], %pool[%i] sinks %s {pattern = "append", scale = 2.500000e-01 : f64, sliding_window = 8 : i64} : (tensor<?x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<?xi32>, tensor<?xi32>, tensor<4xf32>) -> tensor<?x4x16xf32>
  // CHECK: mllm.linalg.radix_attn_swa_sink %{{[^ ]+}}, %{{[^ ]+}}{{\[}}%{{[^ ]+}}], %{{[^ ]+}}{{\[}}%{{[^ ]+}}] {pattern = "decode", scale = 2.500000e-01 : f64, sliding_window = 8 : i64} : (tensor<?x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  %4 = mllm.linalg.radix_attn_swa_sink %q, %pool[%i], %pool[%i] {pattern = "decode", scale = 2.500000e-01 : f64, sliding_window = 8 : i64} : (tensor<?x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  // CHECK: mllm.linalg.radix_attn_relax %{{[^ ]+}}, %{{[^ ]+}}{{\[}}%{{[^ ]+}}], %{{[^ ]+}}{{\[}}%{{[^ ]+}}] {scale = 2.500000e-01 : f64} : (tensor<?x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  %5 = mllm.linalg.radix_attn_relax %q, %pool[%i], %pool[%i] {scale = 2.500000e-01 : f64} : (tensor<?x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  // CHECK: mllm.linalg.paged_attn %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {scale = 2.500000e-01 : f64} : (tensor<1x?x4x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x16xf32>, tensor<?xi32>) -> tensor<1x?x4x16xf32>
  %6 = mllm.linalg.paged_attn %q4, %k4, %k4, %i {scale = 2.500000e-01 : f64} : (tensor<1x?x4x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x16xf32>, tensor<?xi32>) -> tensor<1x?x4x16xf32>
  // CHECK: mllm.linalg.paged_attn %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {scale = 2.500000e-01 : f64} : (tensor<1x?x4x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x16xf32>, tensor<?xi32>) -> (tensor<1x?x4x16xf32>, tensor<1x4x?x?xf32>)
  %7, %8 = mllm.linalg.paged_attn %q4, %k4, %k4, %i {scale = 2.500000e-01 : f64} : (tensor<1x?x4x16xf32>, tensor<1x9x2x16xf32>, tensor<1x9x2x16xf32>, tensor<?xi32>) -> (tensor<1x?x4x16xf32>, tensor<1x4x?x?xf32>)
  mllm.cf.return
}
