// RUN: llmir-opt %s --llm-shard=num-stages=2 --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

!cache = !llm.paged_kv_cache<f32, 4, 1, 16, 16, 64>

// Four layers in two stages; the embedding belongs to the first and the norm
// to the last. SPEC: 90, 127
// CHECK: func.func private @step.stage0(
// CHECK-SAME: llm.stage = 0
// CHECK: llm.silu
// CHECK-COUNT-2: call @layer(
// CHECK-NOT: call @layer(
// CHECK: func.func private @step.stage1(
// CHECK-SAME: llm.stage = 1
// CHECK-COUNT-2: call @layer(
// CHECK: llm.rms_norm
// CHECK-LABEL: func.func @step(
// CHECK-NEXT: %[[S0:.*]]:2 = call @step.stage0(
// CHECK-NEXT: %[[S1:.*]]:2 = call @step.stage1(
// CHECK-NEXT: return %[[S1]]
func.func @step(%x: tensor<?x16xf32>, %g: tensor<16xf32>, %c: !cache, %slots: tensor<?xi32>) -> (tensor<?x16xf32>, !cache) {
  %l0 = arith.constant 0 : index
  %l1 = arith.constant 1 : index
  %l2 = arith.constant 2 : index
  %l3 = arith.constant 3 : index
  %a = llm.silu %x : tensor<?x16xf32>
  %x1, %c1 = call @layer(%a, %c, %slots, %l0) : (tensor<?x16xf32>, !cache, tensor<?xi32>, index) -> (tensor<?x16xf32>, !cache)
  %x2, %c2 = call @layer(%x1, %c1, %slots, %l1) : (tensor<?x16xf32>, !cache, tensor<?xi32>, index) -> (tensor<?x16xf32>, !cache)
  %x3, %c3 = call @layer(%x2, %c2, %slots, %l2) : (tensor<?x16xf32>, !cache, tensor<?xi32>, index) -> (tensor<?x16xf32>, !cache)
  %x4, %c4 = call @layer(%x3, %c3, %slots, %l3) : (tensor<?x16xf32>, !cache, tensor<?xi32>, index) -> (tensor<?x16xf32>, !cache)
  %n = llm.rms_norm %x4, %g {eps = 1.0e-5 : f64} : tensor<?x16xf32>, tensor<16xf32>
  return %n, %c4 : tensor<?x16xf32>, !cache
}
func.func private @layer(%x: tensor<?x16xf32>, %c: !cache, %slots: tensor<?xi32>, %l: index) -> (tensor<?x16xf32>, !cache) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %k = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  %c2 = llm.append_kv %c, %k, %k slots(%slots) layer(%l) : (!cache, tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?xi32>) -> !cache
  %y = llm.silu %x : tensor<?x16xf32>
  return %y, %c2 : tensor<?x16xf32>, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 1, 16, 16, 64>
// expected-error @below {{has 1 layers, too few for 2 stages}}
func.func @one_layer(%k: tensor<?x1x16xf32>, %c: !cache, %slots: tensor<?xi32>) -> !cache {
  %l0 = arith.constant 0 : index
  %c2 = llm.append_kv %c, %k, %k slots(%slots) layer(%l0) : (!cache, tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?xi32>) -> !cache
  return %c2 : !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 16, 64>
func.func @backwards(%k: tensor<?x1x16xf32>, %c: !cache, %slots: tensor<?xi32>) -> !cache {
  %l0 = arith.constant 0 : index
  %l1 = arith.constant 1 : index
  %c2 = llm.append_kv %c, %k, %k slots(%slots) layer(%l1) : (!cache, tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?xi32>) -> !cache
  // expected-error @below {{uses layer 0 after a layer of stage 1; pipeline stages require layers in ascending order}}
  %c3 = llm.append_kv %c2, %k, %k slots(%slots) layer(%l0) : (!cache, tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?xi32>) -> !cache
  return %c3 : !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 4, 1, 16, 16, 64>

// expected-error @below {{has several blocks; pipeline stages require straight-line code}}
func.func @branches(%c: !cache, %ids: tensor<1xi32>, %free: i1) -> !cache {
  cf.cond_br %free, ^free, ^end(%c : !cache)
^free:
  %0 = llm.free_kv %c, %ids : (!cache, tensor<1xi32>) -> !cache
  cf.br ^end(%0 : !cache)
^end(%1: !cache):
  return %1 : !cache
}
