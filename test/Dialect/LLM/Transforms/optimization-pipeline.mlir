// RUN: llmir-opt %s --llm-optimization-pipeline=level=0 | FileCheck %s --check-prefixes=ALL,O0
// RUN: llmir-opt %s --llm-optimization-pipeline=level=1 | FileCheck %s --check-prefixes=ALL,O1
// RUN: llmir-opt %s --llm-optimization-pipeline | FileCheck %s --check-prefixes=ALL,O2
// RUN: llmir-opt %s --llm-optimization-pipeline="level=2 lower=false" | FileCheck %s --check-prefixes=ALL,FUSED
// RUN: llmir-opt %s --llm-optimization-pipeline="level=3 num-ranks=2" | FileCheck %s --check-prefixes=ALL,SHARDED
// RUN: not llmir-opt %s --llm-optimization-pipeline="num-ranks=0" 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not llmir-opt %s --llm-optimization-pipeline="num-stages=-1" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not llmir-opt %s --llm-optimization-pipeline="level=99" 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not llmir-opt %s --llm-optimization-pipeline="level=-1" 2>&1 | FileCheck %s --check-prefix=BELOW

// One function through every level. SPEC: 21, 37, 38, 191
// BAD: num-ranks must be positive, not 0
// STAGES: num-stages must be positive, not -1
// LEVEL: level must be 0 to 3, not 99
// BELOW: level must be 0 to 3, not -1

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 16, 64>

// ALL-LABEL: @step
// Level 0 only lowers: the repeated norm is preserved.
// O0-COUNT-2: llm.rms_norm
// O0: llm.reserve_kv
// O0-NOT: llm.fused
// Level 1 removes dead and redundant ops.
// O1-NOT: llm.lookup_kv
// O1-COUNT-1: llm.rms_norm
// O1-NOT: llm.rms_norm
// O1: llm.reserve_kv
// Level 2 fuses, and the lowering decomposes fused ops without a kernel.
// O2-NOT: llm.fused
// O2: llm.append_kv %{{.*}} slots(
// O2: llm.paged_attention %{{.*}} offsets(
// FUSED: llm.fused_linear %arg0 norm(%arg1) weights(%arg2, %arg3)
// FUSED: llm.fused_attention
// FUSED-NOT: llm.reserve_kv
// SHARDED-SAME: !llm.paged_kv_cache<f32, 1, 1, 16, 16, 64>
// SHARDED-SAME: llm.num_ranks = 2
// SHARDED: llm.linear {{.*}} -> tensor<2x32xf32>
// SHARDED: llm.linear {{.*}} -> tensor<2x16xf32>
// SHARDED: llm.paged_attention %{{.*}} : (tensor<2x2x16xf32>, !llm.paged_kv_cache<f32, 1, 1, 16, 16, 64>
// SHARDED: llm.all_reduce
func.func @step(%x: tensor<2x32xf32>, %g: tensor<32xf32>, %wq: tensor<64x32xf32>, %wk: tensor<32x32xf32>,
    %c: !cache, %ids: tensor<2xi32>, %blocks: tensor<2x4xi32>, %lens: tensor<2xi32>, %wo: tensor<32x64xf32>) -> (tensor<2x32xf32>, !cache) {
  %dead_k, %dead_v = llm.lookup_kv %c, %blocks, %lens : (!cache, tensor<2x4xi32>, tensor<2xi32>) -> (tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>)
  %n = llm.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<2x32xf32>, tensor<32xf32>
  %m = llm.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<2x32xf32>, tensor<32xf32>
  %q = llm.linear %n, %wq : tensor<2x32xf32>, tensor<64x32xf32> -> tensor<2x64xf32>
  %k = llm.linear %m, %wk : tensor<2x32xf32>, tensor<32x32xf32> -> tensor<2x32xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2, 3]] output_shape [2, 1, 4, 16] : tensor<2x64xf32> into tensor<2x1x4x16xf32>
  %kh = tensor.expand_shape %k [[0], [1, 2, 3]] output_shape [2, 1, 2, 16] : tensor<2x32xf32> into tensor<2x1x2x16xf32>
  %c2, %new = llm.append_kv %c, %kh, %kh, %ids : (!cache, tensor<2x1x2x16xf32>, tensor<2x1x2x16xf32>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  %o = llm.paged_attention %qh, %c2, %blocks, %lens : (tensor<2x1x4x16xf32>, !cache, tensor<2x4xi32>, tensor<2xi32>) -> tensor<2x1x4x16xf32>
  %of = tensor.collapse_shape %o [[0], [1, 2, 3]] : tensor<2x1x4x16xf32> into tensor<2x64xf32>
  %y = llm.linear %of, %wo : tensor<2x64xf32>, tensor<32x64xf32> -> tensor<2x32xf32>
  return %y, %c2 : tensor<2x32xf32>, !cache
}
