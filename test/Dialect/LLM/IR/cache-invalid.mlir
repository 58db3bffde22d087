// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// A negative test for each constraint of attention and the cache ops that
// invalid.mlir does not have; the labels are those of LLMCacheOps.td.

// RULE: attention.c1
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x16xf16>, %v: tensor<2x5x16xf16>) {
  // expected-error@+1 {{'llm.attention' op has a query of rank 4, but a key of rank 3}}
  %0 = llm.attention %q, %k, %v : (tensor<2x3x4x16xf16>, tensor<2x5x16xf16>, tensor<2x5x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c1
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x16xf16>) {
  // expected-error@+1 {{'llm.attention' op has a query of rank 4, but a value of rank 3}}
  %0 = llm.attention %q, %k, %v : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c2
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf32>, %v: tensor<2x5x2x16xf32>) {
  // expected-error@+1 {{'llm.attention' op has a query of 'f16', but a key of 'f32'}}
  %0 = llm.attention %q, %k, %v : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf32>, tensor<2x5x2x16xf32>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c2
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xbf16>) {
  // expected-error@+1 {{'llm.attention' op has a query of 'f16', but a value of 'bf16'}}
  %0 = llm.attention %q, %k, %v : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xbf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c3
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<3x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op has queries of 2 sequences, but keys of 3}}
  %0 = llm.attention %q, %k, %v : (tensor<2x3x4x16xf16>, tensor<3x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c3
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<1x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op has queries of 2 sequences, but values of 1}}
  %0 = llm.attention %q, %k, %v : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<1x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c4
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x6x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op has 5 keys, but 6 values}}
  %0 = llm.attention %q, %k, %v : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x6x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c5
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x32xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op has query heads of 16 elements, but key heads of 32}}
  %0 = llm.attention %q, %k, %v : (tensor<2x3x4x16xf16>, tensor<2x5x2x32xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c6
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x4x16xf16>) {
  // expected-error@+1 {{'llm.attention' op has keys of 2 heads, but values of 4}}
  %0 = llm.attention %q, %k, %v : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x4x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c6
func.func @test(%q: tensor<2x3x3x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op has 3 query heads, which is not a multiple of the number of key heads, 2}}
  %0 = llm.attention %q, %k, %v : (tensor<2x3x3x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x3x16xf16>
  return
}

// -----

// RULE: attention.c7
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>, %m: tensor<2x1x4x5xi1>) {
  // expected-error@+1 {{'llm.attention' op has a mask of type 'tensor<2x1x4x5xi1>', but scores of shape [2, 4, 3, 5]}}
  %0 = llm.attention %q, %k, %v mask(%m) : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>, tensor<2x1x4x5xi1>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c7, of another rank
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>, %m: tensor<3x5xi1>) {
  // expected-error@+1 {{'llm.attention' op has a mask of type 'tensor<3x5xi1>', but scores of shape [2, 4, 3, 5]}}
  %0 = llm.attention %q, %k, %v, %m : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>, tensor<3x5xi1>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c7, of one head
func.func @test(%q: tensor<2x3x16xf16>, %k: tensor<2x5x16xf16>, %v: tensor<2x5x16xf16>, %m: tensor<2x3x4xi1>) {
  // expected-error@+1 {{'llm.attention' op has a mask of type 'tensor<2x3x4xi1>', but scores of shape [2, 3, 5]}}
  %0 = llm.attention %q, %k, %v mask(%m) : (tensor<2x3x16xf16>, tensor<2x5x16xf16>, tensor<2x5x16xf16>, tensor<2x3x4xi1>) -> tensor<2x3x16xf16>
  return
}

// -----

// RULE: attention.c8
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op scale must be finite and not negative, not -1.000000e+00 : f64}}
  %0 = llm.attention %q, %k, %v {scale = -1.0 : f64} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c8
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op scale must be finite and not negative, not 0x7F800000 : f32}}
  %0 = llm.attention %q, %k, %v {scale = 0x7F800000 : f32} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c9
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op num_heads is 8, but the query has 4}}
  %0 = llm.attention %q, %k, %v {num_heads = 8 : i32} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c9
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op head_dim is 32, but the query has 16}}
  %0 = llm.attention %q, %k, %v {headDim = 32} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c14
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op is chunked, but has no window}}
  %0 = llm.attention %q, %k, %v {chunked} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c10
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op window must be positive, not 0}}
  %0 = llm.attention %q, %k, %v {window = 0} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c11
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op soft_cap must be finite and positive, not 0.000000e+00 : f32}}
  %0 = llm.attention %q, %k, %v {soft_cap = 0.0 : f32} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c11
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op soft_cap must be finite and positive, not -2.000000e+00 : f64}}
  %0 = llm.attention %q, %k, %v {soft_cap = -2.0} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c12
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>, %s: tensor<2xf32>) {
  // expected-error@+1 {{'llm.attention' op has 2 sinks, but 4 query heads}}
  %0 = llm.attention %q, %k, %v sinks(%s) : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>, tensor<2xf32>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c13
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op has 1 ALiBi slopes, but 4 query heads}}
  %0 = llm.attention %q, %k, %v {alibi_slopes = array<f64: 1.0>} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: attention.c13
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %v: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op ALiBi slope INF is not finite}}
  %0 = llm.attention %q, %k, %v {alibi_slopes = array<f64: 1.0, 0x7FF0000000000000, 1.0, 1.0>} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// attention: the result that follows from the operands
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'llm.attention' op inferred type(s) 'tensor<2x3x4x16xf16>' are incompatible with return type(s) of operation 'tensor<2x3x2x16xf16>'}}
  %0 = llm.attention %q, %k, %k : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x2x16xf16>
  return
}

// -----

// attention: two masks
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %m: tensor<2x1x3x5xi1>) {
  // expected-error@+1 {{expected query, key, value and at most one mask, but there are 5 operands}}
  %0 = llm.attention %q, %k, %k, %m mask(%m) : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>, tensor<2x1x3x5xi1>, tensor<2x1x3x5xi1>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// attention: an operand twice
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>, %s: tensor<4xf32>) {
  // expected-error@+1 {{operand 'sinks' is given twice}}
  %0 = llm.attention %q, %k, %k sinks(%s) sinks(%s) : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// attention: an attribute in both spellings
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{attribute 'num_heads' is given twice}}
  %0 = llm.attention %q, %k, %k {num_heads = 4, numHeads = 4} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// attention: an attribute of another kind
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x2x16xf16>) {
  // expected-error@+1 {{'llm.attention' op attribute 'scale' failed to satisfy constraint: f32 or f64 attribute}}
  %0 = llm.attention %q, %k, %k {scale = 1 : i32} : (tensor<2x3x4x16xf16>, tensor<2x5x2x16xf16>, tensor<2x5x2x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: append_kv.c3
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %v: tensor<?x2x16xf16>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.append_kv' op has keys of type 'tensor<?x2x16xf32>', but values of type 'tensor<?x2x16xf16>'}}
  %0 = llm.append_kv %c, %k, %v slots(%s) layer(%l) : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf16>, tensor<?xi32>) -> !cache
  return
}

// -----

// RULE: append_kv.c5
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %v: tensor<?x2x8xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.append_kv' op has value heads of 8 elements, but those of the cache have 16}}
  %0 = llm.append_kv %c, %k, %v slots(%s) layer(%l) : (!cache, tensor<?x2x16xf32>, tensor<?x2x8xf32>, tensor<?xi32>) -> !cache
  return
}

// -----

// RULE: append_kv.c10
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.append_kv' op takes a cache of type '!llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>', but yields one of type '!llm.paged_kv_cache<f16, 4, 2, 16, 16, 64>'}}
  %0 = llm.append_kv %c, %k, %k slots(%s) layer(%l) : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> !llm.paged_kv_cache<f16, 4, 2, 16, 16, 64>
  return
}

// -----

// RULE: append_kv.c11
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%k: tensor<?x2x16xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.append_kv' op with slots needs a cache operand}}
  %0 = llm.append_kv(%k, %k) slots(%s) layer(%l) : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> !cache
  return
}

// -----

// append_kv: the form without sequence ids
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<2x1x2x16xf16>) {
  // expected-error@+1 {{'llm.append_kv' op needs either sequence ids or slots}}
  %0 = llm.append_kv %c, %k, %k : (!cache, tensor<2x1x2x16xf16>, tensor<2x1x2x16xf16>) -> !cache
  return
}

// -----

// append_kv: too many operands
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<2x1x2x16xf16>, %i: tensor<2xi32>) {
  // expected-error@+1 {{expected keys, values and at most sequence ids besides the cache, but there are 4 operands}}
  %0:2 = llm.append_kv %c, %k, %k, %i, %i : (!cache, tensor<2x1x2x16xf16>, tensor<2x1x2x16xf16>, tensor<2xi32>, tensor<2xi32>) -> (!cache, tensor<2x1xi32>)
  return
}

// -----

// append_kv: without parentheses the cache is first
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<2x1x2x16xf16>, %i: tensor<2xi32>) {
  // expected-error@+1 {{expected keys, values and at most sequence ids besides the cache, but there are 4 operands}}
  %0:2 = llm.append_kv %k, %k, %i, %c : (tensor<2x1x2x16xf16>, tensor<2x1x2x16xf16>, tensor<2xi32>, !cache) -> (!cache, tensor<2x1xi32>)
  return
}

// -----

// RULE: lookup_kv.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x8xi32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{'llm.lookup_kv' op has block indices of 2 sequences, but lengths of 3}}
  %0:2 = llm.lookup_kv %c, %i, %n : (!cache, tensor<2x8xi32>, tensor<3xi32>) -> (tensor<2x32x2x16xf16>, tensor<2x32x2x16xf16>)
  return
}

// -----

// RULE: lookup_kv.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x8xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.lookup_kv' op has block indices of 2 sequences, but keys of 1}}
  %0:2 = llm.lookup_kv %c, %i, %n : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<1x32x2x16xf16>, tensor<2x32x2x16xf16>)
  return
}

// -----

// RULE: lookup_kv.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x8xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.lookup_kv' op has block indices of 2 sequences, but values of 4}}
  %0:2 = llm.lookup_kv %c, %i, %n : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x32x2x16xf16>, tensor<4x32x2x16xf16>)
  return
}

// -----

// RULE: lookup_kv.c2
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x8xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.lookup_kv' op yields keys of 32 tokens, but values of 16}}
  %0:2 = llm.lookup_kv %c, %i, %n : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x32x2x16xf16>, tensor<2x16x2x16xf16>)
  return
}

// -----

// RULE: lookup_kv.c3
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x8xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.lookup_kv' op yields keys of 4 heads, but the cache has 2}}
  %0:2 = llm.lookup_kv %c, %i, %n : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x32x4x16xf16>, tensor<2x32x2x16xf16>)
  return
}

// -----

// RULE: lookup_kv.c3
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x8xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.lookup_kv' op yields values with heads of 8 elements, but those of the cache have 16}}
  %0:2 = llm.lookup_kv %c, %i, %n : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x32x2x16xf16>, tensor<2x32x2x8xf16>)
  return
}

// -----

// RULE: lookup_kv.c4
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x8xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.lookup_kv' op yields keys of 'f32', but the cache's element type is 'f16'}}
  %0:2 = llm.lookup_kv %c, %i, %n : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x32x2x16xf32>, tensor<2x32x2x16xf16>)
  return
}

// -----

// RULE: lookup_kv.c5
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x8xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.lookup_kv' op yields 65 tokens, but a sequence of the cache has at most 64}}
  %0:2 = llm.lookup_kv %c, %i, %n : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x65x2x16xf16>, tensor<2x65x2x16xf16>)
  return
}

// -----

// RULE: lookup_kv.c6
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x8xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.lookup_kv' op num_heads is 4, but the cache has 2}}
  %0:2 = llm.lookup_kv %c, %i, %n {num_heads = 4} : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x32x2x16xf16>, tensor<2x32x2x16xf16>)
  return
}

// -----

// RULE: lookup_kv.c6
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x8xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.lookup_kv' op head_dim is 8, but the cache has 16}}
  %0:2 = llm.lookup_kv %c, %i, %n {head_dim = 8} : (!cache, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x32x2x16xf16>, tensor<2x32x2x16xf16>)
  return
}

// -----

// RULE: paged_attention.c14
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %c: !cache, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op is chunked, but has no window}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) {chunked} : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c9
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %c: !cache, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op window must be positive, not -1}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) {window = -1} : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c10
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %c: !cache, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op soft_cap must be finite and positive, not 0.000000e+00 : f64}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) {softCap = 0.0} : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c11
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %c: !cache, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index, %s: tensor<3xf32>) {
  // expected-error@+1 {{'llm.paged_attention' op has 3 sinks, but 4 query heads}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) sinks(%s) : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<3xf32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c12
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %c: !cache, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op has 2 ALiBi slopes, but 4 query heads}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) {alibi_slopes = array<f64: 1.0, 2.0>} : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c13, ragged
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %c: !cache, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index, %m: tensor<2x1x3x64xi1>) {
  // expected-error@+1 {{'llm.paged_attention' op has a mask of type 'tensor<2x1x3x64xi1>', but scores of shape [?, ?]}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) mask(%m) : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<2x1x3x64xi1>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c13, ragged masks are not broadcast
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<3x4x16xf32>, %c: !cache, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index, %m: tensor<1x64xi1>) {
  // expected-error@+1 {{'llm.paged_attention' op has a mask of type 'tensor<1x64xi1>', but scores of shape [3, ?]}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) mask(%m) : (tensor<3x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<1x64xi1>) -> tensor<3x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c13, batched
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<2x3x4x16xf32>, %c: !cache, %t: tensor<2x8xi32>, %n: tensor<2xi32>, %m: tensor<2x2x3x64xi1>) {
  // expected-error@+1 {{'llm.paged_attention' op has a mask of type 'tensor<2x2x3x64xi1>', but scores of shape [2, 4, 3, ?]}}
  %0 = llm.paged_attention %q, %c, %t, %n mask(%m) : (tensor<2x3x4x16xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<2x2x3x64xi1>) -> tensor<2x3x4x16xf32>
  return
}

// -----

// paged_attention: too few operands
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<2x4x16xf32>, %c: !cache, %t: tensor<2x8xi32>) {
  // expected-error@+1 {{expected query, cache, block indices and lengths, but there are 3 operands}}
  %0 = llm.paged_attention %q, %c, %t : (tensor<2x4x16xf32>, !cache, tensor<2x8xi32>) -> tensor<2x4x16xf32>
  return
}

// -----

// RULE: fused_attention.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %c: !cache, %i: tensor<?xi32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.fused_attention' op needs either sequence ids or slots}}
  %0:2 = llm.fused_attention %q, %k, %k, %c, %t, %n offsets(%o) layer(%l) : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, !cache)
  return
}

// -----

// RULE: fused_attention.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %c: !cache, %i: tensor<?xi32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.fused_attention' op needs either sequence ids or slots}}
  %0:3 = llm.fused_attention %q, %k, %k, %c, %i, %t, %n slots(%s) offsets(%o) layer(%l) : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !cache, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, !cache, tensor<?x1xi32>)
  return
}

// -----

// RULE: fused_attention.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %c: !cache, %i: tensor<?xi32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.fused_attention' op must have offsets if and only if it has slots}}
  %0:2 = llm.fused_attention %q, %k, %k, %c, %t, %n slots(%s) layer(%l) : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, !cache)
  return
}

// -----

// RULE: fused_attention.c2
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %c: !cache, %i: tensor<?xi32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.fused_attention' op has keys of 4 heads, but the cache has 2}}
  %0:2 = llm.fused_attention %q, %q, %q, %c, %t, %n slots(%s) offsets(%o) layer(%l) : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, !cache)
  return
}

// -----

// RULE: fused_attention.c3
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %c: !cache, %i: tensor<?xi32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.fused_attention' op needs a layer: the cache has 4 layers}}
  %0:2 = llm.fused_attention %q, %k, %k, %c, %t, %n slots(%s) offsets(%o) : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, !cache)
  return
}

// -----

// RULE: fused_attention.c3
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %c: !cache, %i: tensor<?xi32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %s: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.fused_attention' op window must be positive, not 0}}
  %0:2 = llm.fused_attention %q, %k, %k, %c, %t, %n slots(%s) offsets(%o) layer(%l) {window = 0} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x4x16xf32>, !cache)
  return
}

// -----

// RULE: reserve_kv.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2xi32>) {
  // expected-error@+1 {{'llm.reserve_kv' op tokens is 65, but must be between 0 and maxSeqLen of the cache, 64}}
  %0:5 = llm.reserve_kv %c, %i {tokens = 65} : (!cache, tensor<2xi32>) -> (!cache, tensor<130xi32>, tensor<2x65xi32>, tensor<2x8xi32>, tensor<2xi32>)
  return
}

// -----

// RULE: reserve_kv.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2xi32>) {
  // expected-error@+1 {{'llm.reserve_kv' op tokens is -1, but must be between 0 and maxSeqLen of the cache, 64}}
  %0:5 = llm.reserve_kv %c, %i {tokens = -1} : (!cache, tensor<2xi32>) -> (!cache, tensor<0xi32>, tensor<2x0xi32>, tensor<2x8xi32>, tensor<2xi32>)
  return
}

// -----

// reserve_kv: the results that follow from the operands
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'llm.reserve_kv' op inferred type(s)}}
  %0:5 = llm.reserve_kv %c, %i {tokens = 3} : (!cache, tensor<2xi32>) -> (!cache, tensor<6xi32>, tensor<2x3xi32>, tensor<2x4xi32>, tensor<2xi32>)
  return
}

// -----

// RULE: fork_kv.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %a: tensor<2xi32>, %b: tensor<3xi32>) {
  // expected-error@+1 {{'llm.fork_kv' op has 2 sequences to fork, but 3 ids of new ones}}
  %0 = llm.fork_kv %c, %a, %b : (!cache, tensor<2xi32>, tensor<3xi32>) -> !cache
  return
}

// -----

// fused_attention: too few operands
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<2x4x16xf16>, %k: tensor<2x2x16xf16>, %c: !cache, %n: tensor<2xi32>) {
  // expected-error@+1 {{expected query, keys, values, cache, sequence ids in the batched form, block tables and lengths, but there are 5 operands}}
  %0:2 = llm.fused_attention %q, %k, %k, %c, %n : (tensor<2x4x16xf16>, tensor<2x2x16xf16>, tensor<2x2x16xf16>, !cache, tensor<2xi32>) -> (tensor<2x4x16xf16>, !cache)
  return
}

// -----

// lookup_kv: too few operands
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %n: tensor<2xi32>) {
  // expected-error@+1 {{expected cache, block indices and lengths, but there are 2 operands}}
  %0:2 = llm.lookup_kv %c, %n : (!cache, tensor<2xi32>) -> (tensor<2x8x2x16xf16>, tensor<2x8x2x16xf16>)
  return
}

// -----

// RULE: reserve_kv.c1, more slots than can be counted
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<4xi32>) {
  // expected-error@+1 {{'llm.reserve_kv' op tokens is 4611686018427387904, but must be between 0 and maxSeqLen of the cache, 64}}
  %0:5 = llm.reserve_kv %c, %i {tokens = 4611686018427387904} : (!cache, tensor<4xi32>) -> (!cache, tensor<?xi32>, tensor<4x?xi32>, tensor<4x8xi32>, tensor<4xi32>)
  return
}

// -----

// RULE: attention.c6, no head at all
func.func @test(%q: tensor<2x3x4x16xf16>, %k: tensor<2x5x0x16xf16>) {
  // expected-error@+1 {{'llm.attention' op has 4 query heads, which is not a multiple of the number of key heads, 0}}
  %0 = llm.attention %q, %k, %k : (tensor<2x3x4x16xf16>, tensor<2x5x0x16xf16>, tensor<2x5x0x16xf16>) -> tensor<2x3x4x16xf16>
  return
}

// -----

// RULE: fused_attention.c2, as many slots as tokens
!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>
func.func @test(%q: tensor<5x4x16xf32>, %k: tensor<5x2x16xf32>, %c: !cache, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %s: tensor<4xi32>, %o: tensor<?xi32>) {
  // expected-error@+1 {{'llm.fused_attention' op has keys of 5 tokens, but 4 slots}}
  %0:2 = llm.fused_attention %q, %k, %k, %c, %t, %n slots(%s) offsets(%o) : (tensor<5x4x16xf32>, tensor<5x2x16xf32>, tensor<5x2x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<4xi32>, tensor<?xi32>) -> (tensor<5x4x16xf32>, !cache)
  return
}

// -----

// RULE: paged_attention.c12, finite
!cache = !llm.paged_kv_cache<f16, 1, 2, 16, 8, 64>
func.func @test(%q: tensor<2x2x16xf32>, %c: !cache, %t: tensor<2x8xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.paged_attention' op ALiBi slope nan is not finite}}
  %0 = llm.paged_attention %q, %c, %t, %n {alibi_slopes = array<f64: 1.0, 0x7FF8000000000000>} : (tensor<2x2x16xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<2x2x16xf32>
  return
}

// -----

// RULE: fused_attention.c2, a row of block indices for each sequence
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%q: tensor<2x4x16xf16>, %k: tensor<2x2x16xf16>, %c: !cache, %i: tensor<2xi32>, %t: tensor<2x8xi32>) {
  // expected-error@+1 {{'llm.fused_attention' op has block indices of type 'tensor<3x8xi32>' for keys of type 'tensor<2x2x16xf16>'; expected [batch] or [batch, blocks]}}
  %0:3 = llm.fused_attention %q, %k, %k, %c, %i, %t, %i : (tensor<2x4x16xf16>, tensor<2x2x16xf16>, tensor<2x2x16xf16>, !cache, tensor<2xi32>, tensor<2x8xi32>, tensor<2xi32>) -> (tensor<2x4x16xf16>, !cache, tensor<3x8xi32>)
  return
}

// -----

// reserve_kv: a row of block indices for each sequence
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'llm.reserve_kv' op inferred type(s)}}
  %0:5 = llm.reserve_kv %c, %i {tokens = 3} : (!cache, tensor<2xi32>) -> (!cache, tensor<6xi32>, tensor<3x3xi32>, tensor<2x8xi32>, tensor<2xi32>)
  return
}

// -----

// RULE: block_tables.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x1xi32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{'llm.block_tables' op has block indices of 2 sequences, but lengths or tables of 3}}
  %0 = llm.block_tables %c, %i, %n : (!cache, tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x8xi32>
  return
}

// -----

// RULE: block_tables.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x1xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.block_tables' op has block indices of 2 sequences, but lengths or tables of 4}}
  %0 = llm.block_tables %c, %i, %n : (!cache, tensor<2x1xi32>, tensor<2xi32>) -> tensor<4x8xi32>
  return
}

// -----

// RULE: block_tables.c2
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2x1xi32>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'llm.block_tables' op yields block tables of type 'tensor<2x4xi32>', but sequences of the cache have up to 8 blocks}}
  %0 = llm.block_tables %c, %i, %n : (!cache, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x4xi32>
  return
}

// -----

// RULE: block_tables.c2
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %i: tensor<2xi32>) {
  // expected-error@+1 {{'llm.block_tables' op yields block tables of type 'tensor<2xi32>', but sequences of the cache have up to 8 blocks}}
  %0 = llm.block_tables %c, %i, %i : (!cache, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}
