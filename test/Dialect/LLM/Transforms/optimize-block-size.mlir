// RUN: llmir-opt %s --llm-optimize-block-size --split-input-file --verify-diagnostics | FileCheck %s

!cache = !llm.paged_kv_cache<f32, 1, 8, 128, 256, 512>

// All values of the type change, through control flow, and tables get a column
// for each block.
// SPEC: 122 191
// CHECK-LABEL: func @decode
// CHECK-SAME: (%[[Q:[a-z0-9]*]]: tensor<4x1x8x128xf32>
// expected-remark@+1 {{block size 256 changed to 16: cost 33.34 % changed to 4.41 %}}
func.func @decode(%q: tensor<4x1x8x128xf32>, %k: tensor<4x1x8x128xf32>, %ids: tensor<4xi32>, %b: i1) -> tensor<4x1x8x128xf32> {
  // CHECK: %[[C:.*]] = llm.create_paged_cache : !llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>
  %c = llm.create_paged_cache : !cache
  // CHECK: %[[P:.*]] = scf.if %{{[a-zA-Z0-9_#]+}} -> (!llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>)
  %p = scf.if %b -> !cache {
    // CHECK: llm.append_kv {{.*}} : (!llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>, {{.*}}) -> (!llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>, tensor<4x1xi32>)
    %0:2 = llm.append_kv %c, %k, %k, %ids {block_size = 256 : i32} : (!cache, tensor<4x1x8x128xf32>, tensor<4x1x8x128xf32>, tensor<4xi32>) -> (!cache, tensor<4x1xi32>)
    scf.yield %0#0 : !cache
  } else {
    scf.yield %c : !cache
  }
  // CHECK: llm.reserve_kv %[[P]], %{{[a-zA-Z0-9_#]+}} {tokens = 1 : i64} : ({{.*}}) -> (!llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>, tensor<4xi32>, tensor<4x1xi32>, tensor<4x32xi32>, tensor<4xi32>)
  %r:5 = llm.reserve_kv %p, %ids {tokens = 1} : (!cache, tensor<4xi32>) -> (!cache, tensor<4xi32>, tensor<4x1xi32>, tensor<4x2xi32>, tensor<4xi32>)
  %kr = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<4x1x8x128xf32> into tensor<4x8x128xf32>
  %c2 = llm.append_kv %r#0, %kr, %kr slots(%r#1) : (!cache, tensor<4x8x128xf32>, tensor<4x8x128xf32>, tensor<4xi32>) -> !cache
  // CHECK: llm.paged_attention %[[Q]], %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}}, %{{[a-zA-Z0-9_#]+}} : (tensor<4x1x8x128xf32>, !llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>, tensor<4x32xi32>, tensor<4xi32>) -> tensor<4x1x8x128xf32>
  %o = llm.paged_attention %q, %c2, %r#3, %r#4 : (tensor<4x1x8x128xf32>, !cache, tensor<4x2xi32>, tensor<4xi32>) -> tensor<4x1x8x128xf32>
  return %o : tensor<4x1x8x128xf32>
}

// -----

// A cache that has the best block size already.
!best = !llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>
// CHECK-LABEL: func @best
// CHECK: create_paged_cache : !llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>
func.func @best(%k: tensor<4x1x8x128xf32>, %ids: tensor<4xi32>) -> tensor<4x1xi32> {
  %c = llm.create_paged_cache : !best
  %0:2 = llm.append_kv %c, %k, %k, %ids : (!best, tensor<4x1x8x128xf32>, tensor<4x1x8x128xf32>, tensor<4xi32>) -> (!best, tensor<4x1xi32>)
  return %0#1 : tensor<4x1xi32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 8, 128, 256, 512>
// CHECK-LABEL: func @argument
// CHECK-NOT: paged_kv_cache<f32, 1, 8, 128, 16, 512>
// expected-remark@+2 {{block size 256 is kept, although 16 has a lower cost}}
// expected-note@+1 {{the cache is an argument of the function}}
func.func @argument(%c: !cache, %ids: tensor<4xi32>) -> tensor<4xi32> {
  %0 = llm.free_kv %c, %ids : (!cache, tensor<4xi32>) -> !cache
  return %ids : tensor<4xi32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 8, 128, 256, 512>
// CHECK-LABEL: func @result
// CHECK-NOT: paged_kv_cache<f32, 1, 8, 128, 16, 512>
// expected-remark@+1 {{block size 256 is kept, although 16 has a lower cost}}
func.func @result() -> !cache {
  %c = llm.create_paged_cache : !cache
  // expected-note@+1 {{a return or a branch forwards the cache}}
  return %c : !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 8, 128, 256, 512>
func.func private @callee(!cache)
// CHECK-LABEL: func @call
// CHECK-NOT: paged_kv_cache<f32, 1, 8, 128, 16, 512>
// expected-remark@+1 {{block size 256 is kept, although 16 has a lower cost}}
func.func @call() {
  %c = llm.create_paged_cache : !cache
  // expected-note@+1 {{an op that is not a cache op uses the cache}}
  call @callee(%c) : (!cache) -> ()
  return
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 8, 128, 256, 512>
// CHECK-LABEL: func @tables_from_outside
// CHECK-NOT: paged_kv_cache<f32, 1, 8, 128, 16, 512>
// expected-remark@+1 {{block size 256 is kept, although 16 has a lower cost}}
func.func @tables_from_outside(%q: tensor<4x8x128xf32>, %t: tensor<4x2xi32>, %n: tensor<4xi32>, %s: tensor<5xi32>) -> tensor<4x8x128xf32> {
  %c = llm.create_paged_cache : !cache
  // expected-note@+1 {{block tables or slots are not a result of a cache op}}
  %o = llm.paged_attention %q, %c, %t, %n offsets(%s) : (tensor<4x8x128xf32>, !cache, tensor<4x2xi32>, tensor<4xi32>, tensor<5xi32>) -> tensor<4x8x128xf32>
  return %o : tensor<4x8x128xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 8, 128, 256, 512>
// CHECK-LABEL: func @rows_from_outside
// CHECK-NOT: paged_kv_cache<f32, 1, 8, 128, 16, 512>
// expected-remark@+1 {{block size 256 is kept, although 16 has a lower cost}}
func.func @rows_from_outside(%q: tensor<4x1x8x128xf32>, %t: tensor<4x2xi32>, %n: tensor<4xi32>) -> tensor<4x1x8x128xf32> {
  %c = llm.create_paged_cache : !cache
  // expected-note@+1 {{block indices are not a result of a cache op}}
  %o = llm.paged_attention %q, %c, %t, %n : (tensor<4x1x8x128xf32>, !cache, tensor<4x2xi32>, tensor<4xi32>) -> tensor<4x1x8x128xf32>
  return %o : tensor<4x1x8x128xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 8, 128, 256, 512>
// CHECK-LABEL: func @blocks_are_seen
// CHECK-NOT: paged_kv_cache<f32, 1, 8, 128, 16, 512>
// expected-remark@+1 {{block size 256 is kept, although 16 has a lower cost}}
func.func @blocks_are_seen(%k: tensor<4x1x8x128xf32>, %ids: tensor<4xi32>) -> tensor<4x1xi32> {
  %c = llm.create_paged_cache : !cache
  %0:2 = llm.append_kv %c, %k, %k, %ids : (!cache, tensor<4x1x8x128xf32>, tensor<4x1x8x128xf32>, tensor<4xi32>) -> (!cache, tensor<4x1xi32>)
  // expected-note@+1 {{an op that is not a cache op uses block indices}}
  return %0#1 : tensor<4x1xi32>
}

// -----

// Rows of the last block, of any size, name their sequences whatever the block
// size is; block tables that are found get a column for each block.
!cache = !llm.paged_kv_cache<f32, 1, 8, 128, 256, 512>
// CHECK-LABEL: func @block_as_row
// CHECK: llm.paged_attention {{.*}} : (tensor<4x1x8x128xf32>, !llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>, tensor<4x1xi32>, tensor<4xi32>)
// CHECK: llm.block_tables {{.*}} : (!llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<4x32xi32>
// CHECK: llm.lookup_kv {{.*}} : (!llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>, tensor<4x32xi32>, tensor<4xi32>)
// expected-remark@+1 {{block size 256 changed to 16}}
func.func @block_as_row(%q: tensor<4x1x8x128xf32>, %ids: tensor<4xi32>, %n: tensor<4xi32>) -> tensor<4x1x8x128xf32> {
  %c = llm.create_paged_cache : !cache
  %0:2 = llm.append_kv %c, %q, %q, %ids : (!cache, tensor<4x1x8x128xf32>, tensor<4x1x8x128xf32>, tensor<4xi32>) -> (!cache, tensor<4x1xi32>)
  %o = llm.paged_attention %q, %0#0, %0#1, %n : (tensor<4x1x8x128xf32>, !cache, tensor<4x1xi32>, tensor<4xi32>) -> tensor<4x1x8x128xf32>
  %t = llm.block_tables %0#0, %0#1, %n : (!cache, tensor<4x1xi32>, tensor<4xi32>) -> tensor<4x2xi32>
  %1:2 = llm.lookup_kv %0#0, %t, %n : (!cache, tensor<4x2xi32>, tensor<4xi32>) -> (tensor<4x1x8x128xf32>, tensor<4x1x8x128xf32>)
  %s = llm.add %o, %1#0 : tensor<4x1x8x128xf32>
  return %s : tensor<4x1x8x128xf32>
}

// -----

// With 16 tokens in a block, tables have 32 columns, as many as the lookup gives
// tokens: the width of a table means nothing.
!cache = !llm.paged_kv_cache<f32, 1, 8, 128, 256, 512>
// CHECK-LABEL: func @lookup
// CHECK: llm.lookup_kv {{.*}} : (!llm.paged_kv_cache<f32, 1, 8, 128, 16, 512>, tensor<4x32xi32>, tensor<4xi32>)
// expected-remark@+1 {{block size 256 changed to 16}}
func.func @lookup(%ids: tensor<4xi32>) -> tensor<4x32x8x128xf32> {
  %c = llm.create_paged_cache : !cache
  %r:5 = llm.reserve_kv %c, %ids {tokens = 1} : (!cache, tensor<4xi32>) -> (!cache, tensor<4xi32>, tensor<4x1xi32>, tensor<4x2xi32>, tensor<4xi32>)
  %0:2 = llm.lookup_kv %r#0, %r#3, %r#4 : (!cache, tensor<4x2xi32>, tensor<4xi32>) -> (tensor<4x32x8x128xf32>, tensor<4x32x8x128xf32>)
  return %0#0 : tensor<4x32x8x128xf32>
}
