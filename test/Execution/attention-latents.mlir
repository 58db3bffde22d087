// REQUIRES: avx2
// RUN: llmir-translate --compare %s | FileCheck %s
// RUN: llmir-translate --compare --workers=3 --level=x86-64-v3 %s | FileCheck %s

// Attention from caches in which values are the first elements of keys: with
// blocks that are read in place and smaller ones, one KV head and several, more
// query heads than are processed together, and several spans of keys.

!f32 = !llm.paged_kv_cache<f32, 1, 1, 24, 16, 128, valuesInKeys = 16>
!small = !llm.paged_kv_cache<f32, 1, 1, 24, 8, 128, valuesInKeys = 20>
!large = !llm.paged_kv_cache<f32, 1, 2, 40, 64, 128, valuesInKeys = 40>
!wide = !llm.paged_kv_cache<f32, 1, 1, 576, 16, 128, valuesInKeys = 512>
!bytes = !llm.paged_kv_cache<i8, 1, 1, 40, 16, 128, valuesInKeys = 32>
!small_bytes = !llm.paged_kv_cache<i8, 1, 2, 37, 4, 128, valuesInKeys = 18>

// CHECK: @f32 result 0: nmse
// CHECK: @f32 result 1: nmse
func.func @f32(%q: tensor<2x3x40x24xf32>, %k: tensor<2x77x1x24xf32>) -> (tensor<2x3x40x16xf32>, tensor<2x77x1x16xf32>) {
  %ids = arith.constant dense<[3, 5]> : tensor<2xi32>
  %v = tensor.extract_slice %k[0, 0, 0, 0] [2, 77, 1, 16] [1, 1, 1, 1] : tensor<2x77x1x24xf32> to tensor<2x77x1x16xf32>
  %c0 = llm.create_paged_cache : !f32
  %c1, %b1 = llm.append_kv %c0, %k, %v, %ids : (!f32, tensor<2x77x1x24xf32>, tensor<2x77x1x16xf32>, tensor<2xi32>) -> (!f32, tensor<2x77xi32>)
  %c2, %s, %b2, %t, %l = llm.reserve_kv %c1, %ids {tokens = 0}
      : (!f32, tensor<2xi32>) -> (!f32, tensor<0xi32>, tensor<2x0xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %o = llm.paged_attention %q, %c2, %t, %l {scale = 0.3 : f32} : (tensor<2x3x40x24xf32>, !f32, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x3x40x16xf32>
  %keys, %values = llm.lookup_kv %c2, %t, %l : (!f32, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x77x1x24xf32>, tensor<2x77x1x16xf32>)
  return %o, %values : tensor<2x3x40x16xf32>, tensor<2x77x1x16xf32>
}

// CHECK: @small_blocks result 0: nmse
// CHECK: @small_blocks result 1: nmse
func.func @small_blocks(%q: tensor<2x3x6x24xf32>, %k: tensor<2x77x1x24xf32>) -> (tensor<2x3x6x20xf32>, tensor<2x77x1x20xf32>) {
  %ids = arith.constant dense<[3, 5]> : tensor<2xi32>
  %v = tensor.extract_slice %k[0, 0, 0, 0] [2, 77, 1, 20] [1, 1, 1, 1] : tensor<2x77x1x24xf32> to tensor<2x77x1x20xf32>
  %c0 = llm.create_paged_cache : !small
  %c1, %b1 = llm.append_kv %c0, %k, %v, %ids : (!small, tensor<2x77x1x24xf32>, tensor<2x77x1x20xf32>, tensor<2xi32>) -> (!small, tensor<2x77xi32>)
  %c2, %s, %b2, %t, %l = llm.reserve_kv %c1, %ids {tokens = 0}
      : (!small, tensor<2xi32>) -> (!small, tensor<0xi32>, tensor<2x0xi32>, tensor<2x16xi32>, tensor<2xi32>)
  %o = llm.paged_attention %q, %c2, %t, %l {scale = 0.3 : f32, window = 21} : (tensor<2x3x6x24xf32>, !small, tensor<2x16xi32>, tensor<2xi32>) -> tensor<2x3x6x20xf32>
  %keys, %values = llm.lookup_kv %c2, %t, %l : (!small, tensor<2x16xi32>, tensor<2xi32>) -> (tensor<2x77x1x24xf32>, tensor<2x77x1x20xf32>)
  return %o, %values : tensor<2x3x6x20xf32>, tensor<2x77x1x20xf32>
}

// CHECK: @large_blocks result 0: nmse
// CHECK: @large_blocks result 1: nmse
func.func @large_blocks(%q: tensor<2x3x4x40xf32>, %k: tensor<2x77x2x40xf32>) -> (tensor<2x3x4x40xf32>, tensor<2x77x2x40xf32>) {
  %ids = arith.constant dense<[3, 5]> : tensor<2xi32>
  %v = tensor.extract_slice %k[0, 0, 0, 0] [2, 77, 2, 40] [1, 1, 1, 1] : tensor<2x77x2x40xf32> to tensor<2x77x2x40xf32>
  %c0 = llm.create_paged_cache : !large
  %c1, %b1 = llm.append_kv %c0, %k, %v, %ids : (!large, tensor<2x77x2x40xf32>, tensor<2x77x2x40xf32>, tensor<2xi32>) -> (!large, tensor<2x77xi32>)
  %c2, %s, %b2, %t, %l = llm.reserve_kv %c1, %ids {tokens = 0}
      : (!large, tensor<2xi32>) -> (!large, tensor<0xi32>, tensor<2x0xi32>, tensor<2x2xi32>, tensor<2xi32>)
  %o = llm.paged_attention %q, %c2, %t, %l {scale = 0.3 : f32} : (tensor<2x3x4x40xf32>, !large, tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x3x4x40xf32>
  %keys, %values = llm.lookup_kv %c2, %t, %l : (!large, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x77x2x40xf32>, tensor<2x77x2x40xf32>)
  return %o, %values : tensor<2x3x4x40xf32>, tensor<2x77x2x40xf32>
}

// CHECK: @wide result 0: nmse
// CHECK: @wide result 1: nmse
func.func @wide(%q: tensor<2x3x16x576xf32>, %k: tensor<2x70x1x576xf32>) -> (tensor<2x3x16x512xf32>, tensor<2x70x1x512xf32>) {
  %ids = arith.constant dense<[3, 5]> : tensor<2xi32>
  %v = tensor.extract_slice %k[0, 0, 0, 0] [2, 70, 1, 512] [1, 1, 1, 1] : tensor<2x70x1x576xf32> to tensor<2x70x1x512xf32>
  %c0 = llm.create_paged_cache : !wide
  %c1, %b1 = llm.append_kv %c0, %k, %v, %ids : (!wide, tensor<2x70x1x576xf32>, tensor<2x70x1x512xf32>, tensor<2xi32>) -> (!wide, tensor<2x70xi32>)
  %c2, %s, %b2, %t, %l = llm.reserve_kv %c1, %ids {tokens = 0}
      : (!wide, tensor<2xi32>) -> (!wide, tensor<0xi32>, tensor<2x0xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %o = llm.paged_attention %q, %c2, %t, %l {scale = 0.3 : f32} : (tensor<2x3x16x576xf32>, !wide, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x3x16x512xf32>
  %keys, %values = llm.lookup_kv %c2, %t, %l : (!wide, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x70x1x576xf32>, tensor<2x70x1x512xf32>)
  return %o, %values : tensor<2x3x16x512xf32>, tensor<2x70x1x512xf32>
}

// CHECK: @bytes result 0: nmse
// CHECK: @bytes result 1: nmse
func.func @bytes(%q: tensor<2x3x6x40xf32>, %k: tensor<2x77x1x40xf32>) -> (tensor<2x3x6x32xf32>, tensor<2x77x1x32xf32>) {
  %ids = arith.constant dense<[3, 5]> : tensor<2xi32>
  %v = tensor.extract_slice %k[0, 0, 0, 0] [2, 77, 1, 32] [1, 1, 1, 1] : tensor<2x77x1x40xf32> to tensor<2x77x1x32xf32>
  %c0 = llm.create_paged_cache : !bytes
  %c1, %b1 = llm.append_kv %c0, %k, %v, %ids : (!bytes, tensor<2x77x1x40xf32>, tensor<2x77x1x32xf32>, tensor<2xi32>) -> (!bytes, tensor<2x77xi32>)
  %c2, %s, %b2, %t, %l = llm.reserve_kv %c1, %ids {tokens = 0}
      : (!bytes, tensor<2xi32>) -> (!bytes, tensor<0xi32>, tensor<2x0xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %o = llm.paged_attention %q, %c2, %t, %l {scale = 0.3 : f32} : (tensor<2x3x6x40xf32>, !bytes, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x3x6x32xf32>
  %keys, %values = llm.lookup_kv %c2, %t, %l : (!bytes, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x77x1x40xf32>, tensor<2x77x1x32xf32>)
  return %o, %values : tensor<2x3x6x32xf32>, tensor<2x77x1x32xf32>
}

// CHECK: @bytes_in_small_blocks result 0: nmse
// CHECK: @bytes_in_small_blocks result 1: nmse
func.func @bytes_in_small_blocks(%q: tensor<2x3x6x37xf32>, %k: tensor<2x77x2x37xf32>) -> (tensor<2x3x6x18xf32>, tensor<2x77x2x18xf32>) {
  %ids = arith.constant dense<[3, 5]> : tensor<2xi32>
  %v = tensor.extract_slice %k[0, 0, 0, 0] [2, 77, 2, 18] [1, 1, 1, 1] : tensor<2x77x2x37xf32> to tensor<2x77x2x18xf32>
  %c0 = llm.create_paged_cache : !small_bytes
  %c1, %b1 = llm.append_kv %c0, %k, %v, %ids : (!small_bytes, tensor<2x77x2x37xf32>, tensor<2x77x2x18xf32>, tensor<2xi32>) -> (!small_bytes, tensor<2x77xi32>)
  %c2, %s, %b2, %t, %l = llm.reserve_kv %c1, %ids {tokens = 0}
      : (!small_bytes, tensor<2xi32>) -> (!small_bytes, tensor<0xi32>, tensor<2x0xi32>, tensor<2x32xi32>, tensor<2xi32>)
  %o = llm.paged_attention %q, %c2, %t, %l {scale = 0.3 : f32} : (tensor<2x3x6x37xf32>, !small_bytes, tensor<2x32xi32>, tensor<2xi32>) -> tensor<2x3x6x18xf32>
  %keys, %values = llm.lookup_kv %c2, %t, %l : (!small_bytes, tensor<2x32xi32>, tensor<2xi32>) -> (tensor<2x77x2x37xf32>, tensor<2x77x2x18xf32>)
  return %o, %values : tensor<2x3x6x18xf32>, tensor<2x77x2x18xf32>
}
