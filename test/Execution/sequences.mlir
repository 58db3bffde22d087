// The cache's sequences, kept by the runtime: reserved, forked with copy on
// write, freed and begun anew, layer by layer.

// RUN: llmir-translate %s --compare | FileCheck %s
// RUN: llmir-translate %s --compare --workers=4 --level=x86-64-v3 | FileCheck %s

!cache = !llm.paged_kv_cache<f32, 2, 2, 24, 8, 64>
!kv = tensor<2x5x2x24xf32>

// SPEC: 28 32 176
// CHECK: @append_twice result 0: nmse
// CHECK: @append_twice result 1: nmse
func.func @append_twice(%k: !kv, %v: !kv, %q: tensor<2x5x4x24xf32>,
                        %ids: tensor<2xi32> {check.values = dense<[4, 9]> : tensor<2xi32>})
    -> (tensor<2x5x4x24xf32>, tensor<2x10x2x24xf32>) {
  %c0 = llm.create_paged_cache : !cache
  %c1, %i1 = llm.append_kv %c0, %k, %v, %ids : (!cache, !kv, !kv, tensor<2xi32>) -> (!cache, tensor<2x5xi32>)
  %c2, %s, %bi, %bt, %sl = llm.reserve_kv %c1, %ids {tokens = 5}
    : (!cache, tensor<2xi32>) -> (!cache, tensor<10xi32>, tensor<2x5xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %kk = tensor.collapse_shape %v [[0, 1], [2], [3]] : !kv into tensor<10x2x24xf32>
  %vv = tensor.collapse_shape %k [[0, 1], [2], [3]] : !kv into tensor<10x2x24xf32>
  %l0 = arith.constant 0 : index
  %c3 = llm.append_kv %c2, %kk, %vv slots(%s) layer(%l0)
    : (!cache, tensor<10x2x24xf32>, tensor<10x2x24xf32>, tensor<10xi32>) -> !cache
  %o = llm.paged_attention %q, %c3, %bt, %sl : (tensor<2x5x4x24xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x5x4x24xf32>
  %ko, %vo = llm.lookup_kv %c3, %bt, %sl : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x10x2x24xf32>, tensor<2x10x2x24xf32>)
  return %o, %ko : tensor<2x5x4x24xf32>, tensor<2x10x2x24xf32>
}

// The fork shares a block that is not full: the first write copies it.
// SPEC: 4 34 119 150
// CHECK: @fork result 0: nmse
func.func @fork(%k: tensor<1x5x2x24xf32>, %v: tensor<1x5x2x24xf32>, %q: tensor<2x1x4x24xf32>, %new: tensor<2x2x24xf32>,
                %a: tensor<1xi32> {check.values = dense<[4]> : tensor<1xi32>},
                %b: tensor<1xi32> {check.values = dense<[7]> : tensor<1xi32>},
                %ab: tensor<2xi32> {check.values = dense<[4, 7]> : tensor<2xi32>}) -> tensor<2x1x4x24xf32> {
  %c0 = llm.create_paged_cache : !cache
  %c1, %i1 = llm.append_kv %c0, %k, %v, %a
    : (!cache, tensor<1x5x2x24xf32>, tensor<1x5x2x24xf32>, tensor<1xi32>) -> (!cache, tensor<1x5xi32>)
  %c2 = llm.fork_kv %c1, %a, %b : (!cache, tensor<1xi32>, tensor<1xi32>) -> !cache
  %c3, %s, %bi, %bt, %sl = llm.reserve_kv %c2, %ab {tokens = 1}
    : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %l0 = arith.constant 0 : index
  %c4 = llm.append_kv %c3, %new, %new slots(%s) layer(%l0)
    : (!cache, tensor<2x2x24xf32>, tensor<2x2x24xf32>, tensor<2xi32>) -> !cache
  %o = llm.paged_attention %q, %c4, %bt, %sl : (tensor<2x1x4x24xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x1x4x24xf32>
  %c5 = llm.free_kv %c4, %ab : (!cache, tensor<2xi32>) -> !cache
  return %o : tensor<2x1x4x24xf32>
}

// A freed sequence begins again at its first token, in both layers.
// CHECK: @begin_again result 0: nmse
// CHECK: @begin_again result 1: equal
func.func @begin_again(%k: !kv, %v: !kv, %q: tensor<2x5x4x24xf32>,
                       %ids: tensor<2xi32> {check.values = dense<[1, 0]> : tensor<2xi32>})
    -> (tensor<2x5x4x24xf32>, tensor<2xi32>) {
  %c0 = llm.create_paged_cache : !cache
  %l1 = arith.constant 1 : index
  %c1, %i1 = llm.append_kv %c0, %k, %v, %ids : (!cache, !kv, !kv, tensor<2xi32>) -> (!cache, tensor<2x5xi32>)
  %c2, %i2 = llm.append_kv %c1, %v, %k, %ids layer(%l1) : (!cache, !kv, !kv, tensor<2xi32>) -> (!cache, tensor<2x5xi32>)
  %c3 = llm.free_kv %c2, %ids : (!cache, tensor<2xi32>) -> !cache
  %c4, %s, %bi, %bt, %sl = llm.reserve_kv %c3, %ids layer(%l1) {tokens = 5}
    : (!cache, tensor<2xi32>) -> (!cache, tensor<10xi32>, tensor<2x5xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %kk = tensor.collapse_shape %k [[0, 1], [2], [3]] : !kv into tensor<10x2x24xf32>
  %c5 = llm.append_kv %c4, %kk, %kk slots(%s) layer(%l1)
    : (!cache, tensor<10x2x24xf32>, tensor<10x2x24xf32>, tensor<10xi32>) -> !cache
  %o = llm.paged_attention %q, %c5, %bt, %sl layer(%l1)
    : (tensor<2x5x4x24xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x5x4x24xf32>
  return %o, %sl : tensor<2x5x4x24xf32>, tensor<2xi32>
}

// Attention of tensors has a separate cache in addition to the function's.
// CHECK: @both result 0: nmse
// CHECK: @both result 1: nmse
func.func @both(%k: !kv, %v: !kv, %q: tensor<2x5x4x24xf32>,
                %ids: tensor<2xi32> {check.values = dense<[4, 9]> : tensor<2xi32>})
    -> (tensor<2x5x4x24xf32>, tensor<2x5x4x24xf32>) {
  %c0 = llm.create_paged_cache : !cache
  %c1, %s, %bi, %bt, %sl = llm.reserve_kv %c0, %ids {tokens = 5}
    : (!cache, tensor<2xi32>) -> (!cache, tensor<10xi32>, tensor<2x5xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %d = llm.attention %q, %v, %k : (tensor<2x5x4x24xf32>, !kv, !kv) -> tensor<2x5x4x24xf32>
  %kk = tensor.collapse_shape %k [[0, 1], [2], [3]] : !kv into tensor<10x2x24xf32>
  %l0 = arith.constant 0 : index
  %c2 = llm.append_kv %c1, %kk, %kk slots(%s) layer(%l0)
    : (!cache, tensor<10x2x24xf32>, tensor<10x2x24xf32>, tensor<10xi32>) -> !cache
  %o = llm.paged_attention %q, %c2, %bt, %sl : (tensor<2x5x4x24xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x5x4x24xf32>
  return %d, %o : tensor<2x5x4x24xf32>, tensor<2x5x4x24xf32>
}
