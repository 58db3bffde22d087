// RUN: llmir-opt %s --llm-check-cache-use --split-input-file --verify-diagnostics

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
!kv = tensor<?x2x16xf32>

// Readers before the append, then everything on the new value.
func.func @linear_use(%c: !cache, %k: !kv, %s: tensor<?xi32>, %t: tensor<?x?xi32>) -> (!kv, !cache) {
  %0 = llm.paged_attention %k, %c, %t, %s offsets(%s) : (!kv, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> !kv
  %1 = llm.paged_attention %0, %c, %t, %s offsets(%s) : (!kv, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> !kv
  %c1 = llm.append_kv %c, %1, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
  %2 = llm.paged_attention %1, %c1, %t, %s offsets(%s) : (!kv, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> !kv
  %3:2 = call @layer(%2, %c1) : (!kv, !cache) -> (!kv, !cache)
  return %3#0, %3#1 : !kv, !cache
}
func.func private @layer(!kv, !cache) -> (!kv, !cache)

// At most one region of an scf.if runs.
func.func @exclusive(%b: i1, %c: !cache, %k: !kv, %s: tensor<?xi32>) -> !cache {
  %0 = scf.if %b -> !cache {
    %c1 = llm.append_kv %c, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
    scf.yield %c1 : !cache
  } else {
    scf.yield %c : !cache
  }
  return %0 : !cache
}

// A loop that carries the cache.
func.func @carried(%c: !cache, %k: !kv, %s: tensor<?xi32>, %n: index) -> !cache {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%it = %c) -> !cache {
    %c1 = llm.append_kv %it, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
    scf.yield %c1 : !cache
  }
  return %0 : !cache
}

// The same with branches: each block argument is a separate value.
func.func @carried_by_branches(%b: i1, %c: !cache, %k: !kv, %s: tensor<?xi32>) -> !cache {
  cf.br ^loop(%c : !cache)
^loop(%it: !cache):
  %c1 = llm.append_kv %it, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
  cf.cond_br %b, ^loop(%c1 : !cache), ^end(%c1 : !cache)
^end(%last: !cache):
  return %last : !cache
}

// Exclusive blocks.
func.func @exclusive_blocks(%b: i1, %c: !cache, %k: !kv, %s: tensor<?xi32>) -> !cache {
  cf.cond_br %b, ^append, ^keep
^append:
  %c1 = llm.append_kv %c, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
  return %c1 : !cache
^keep:
  return %c : !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
!kv = tensor<?x2x16xf32>

func.func @attention_to_the_old_cache(%c: !cache, %k: !kv, %s: tensor<?xi32>, %t: tensor<?x?xi32>) -> (!kv, !cache) {
  // expected-note@+1 {{appended to here}}
  %c1 = llm.append_kv %c, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
  // expected-error@+1 {{uses the cache after an append to it}}
  %0 = llm.paged_attention %k, %c, %t, %s offsets(%s) : (!kv, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> !kv
  return %0, %c1 : !kv, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
!kv = tensor<?x2x16xf32>

func.func @two_appends(%c: !cache, %k: !kv, %s: tensor<?xi32>) -> (!cache, !cache) {
  // expected-note@+1 {{appended to here}}
  %c1 = llm.append_kv %c, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
  // expected-error@+1 {{uses the cache after an append to it}}
  %c2 = llm.append_kv %c, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
  return %c1, %c2 : !cache, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
func.func private @layer(!cache) -> !cache

func.func @old_cache_returned(%c: !cache) -> !cache {
  // expected-note@+1 {{appended to here}}
  %c1 = call @layer(%c) : (!cache) -> !cache
  // expected-error@+1 {{uses the cache after an append to it}}
  return %c : !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
!kv = tensor<?x2x16xf32>

func.func @read_in_a_region_after_the_append(%b: i1, %c: !cache, %k: !kv, %s: tensor<?xi32>, %t: tensor<?x?xi32>) -> (!kv, !cache) {
  // expected-note@+1 {{appended to here}}
  %c1 = llm.append_kv %c, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
  %0 = scf.if %b -> !kv {
    // expected-error@+1 {{uses the cache after an append to it}}
    %1 = llm.paged_attention %k, %c, %t, %s offsets(%s) : (!kv, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> !kv
    scf.yield %1 : !kv
  } else {
    scf.yield %k : !kv
  }
  return %0, %c1 : !kv, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
!kv = tensor<?x2x16xf32>

func.func @read_in_a_block_after_the_append(%b: i1, %c: !cache, %k: !kv, %s: tensor<?xi32>) -> !cache {
  // expected-note@+1 {{appended to here}}
  %c1 = llm.append_kv %c, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
  cf.cond_br %b, ^new, ^old
^new:
  return %c1 : !cache
^old:
  // expected-error@+1 {{uses the cache after an append to it}}
  return %c : !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
func.func private @two(!cache, !cache) -> !cache

func.func @one_cache_in_two_places(%c: !cache) -> !cache {
  // expected-error@+1 {{uses one cache for two operands}}
  %c1 = call @two(%c, %c) : (!cache, !cache) -> !cache
  return %c1 : !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
!kv = tensor<?x2x16xf32>

// expected-note@+1 {{cache defined here}}
func.func @append_in_a_loop(%c: !cache, %k: !kv, %s: tensor<?xi32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    // expected-error@+1 {{appends in a loop to a cache defined outside the loop}}
    %c1 = llm.append_kv %c, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
  }
  return
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
!kv = tensor<?x2x16xf32>

// expected-note@+1 {{cache defined here}}
func.func @append_in_a_loop_of_blocks(%b: i1, %c: !cache, %k: !kv, %s: tensor<?xi32>) {
  cf.br ^loop
^loop:
  // expected-error@+1 {{appends in a loop to a cache defined outside the loop}}
  %c1 = llm.append_kv %c, %k, %k slots(%s) : (!cache, !kv, !kv, tensor<?xi32>) -> !cache
  cf.cond_br %b, ^loop, ^end
^end:
  return
}

// -----

!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>

// Ops that take and return a cache consume it; ops that only read do not.
func.func @all_cache_ops(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %s: tensor<?xi32>, %o: tensor<?xi32>, %ids: tensor<2xi32>, %blocks: tensor<2x8xi32>, %lens: tensor<2xi32>) -> !cache {
  %c = llm.create_paged_cache : !cache
  %r:5 = llm.reserve_kv %c, %ids {tokens = 1} : (!cache, tensor<2xi32>) -> (!cache, tensor<2xi32>, tensor<2x1xi32>, tensor<2x8xi32>, tensor<2xi32>)
  %l:2 = llm.lookup_kv %r#0, %blocks, %lens : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x64x2x16xf16>, tensor<2x64x2x16xf16>)
  %f:2 = llm.fused_attention %q, %k, %k, %r#0, %t, %n slots(%s) offsets(%o) : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, !cache)
  %g = llm.fork_kv %f#1, %ids, %ids : (!cache, tensor<2xi32>, tensor<2xi32>) -> !cache
  %h = llm.free_kv %g, %ids : (!cache, tensor<2xi32>) -> !cache
  return %h : !cache
}

// -----

!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>

func.func @fork_twice(%c: !cache, %ids: tensor<2xi32>) -> (!cache, !cache) {
  // expected-note@+1 {{appended to here}}
  %0 = llm.fork_kv %c, %ids, %ids : (!cache, tensor<2xi32>, tensor<2xi32>) -> !cache
  // expected-error@+1 {{uses the cache after an append to it}}
  %1 = llm.free_kv %c, %ids : (!cache, tensor<2xi32>) -> !cache
  return %0, %1 : !cache, !cache
}
