// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// A negative test for each constraint of the types; the labels are those of
// LLMTypes.td.

// RULE: paged_kv_cache.c1
// expected-error@+1 {{cache element type must be f16, bf16, f32 or i8, not 'f64'}}
func.func private @test(!llm.paged_kv_cache<f64, 12, 16, 64, 16, 4096>)

// -----

// RULE: paged_kv_cache.c2
// expected-error@+1 {{cache numLayers must be positive, not 0}}
func.func private @test(!llm.paged_kv_cache<f16, 0, 16, 64, 16, 4096>)

// -----

// RULE: paged_kv_cache.c2
// expected-error@+1 {{cache numHeads must be positive, not -1}}
func.func private @test(!llm.paged_kv_cache<f16, 12, -1, 64, 16, 4096>)

// -----

// RULE: paged_kv_cache.c2
// expected-error@+1 {{cache headDim must be positive, not 0}}
func.func private @test(!llm.paged_kv_cache<f16, 12, 16, 0, 16, 4096>)

// -----

// RULE: paged_kv_cache.c2
// expected-error@+1 {{cache blockSize must be positive, not 0}}
func.func private @test(!llm.paged_kv_cache<f16, 12, 16, 64, 0, 4096>)

// -----

// RULE: paged_kv_cache.c2
// expected-error@+1 {{cache maxSeqLen must be positive, not 0}}
func.func private @test(!llm.paged_kv_cache<f16, 12, 16, 64, 16, 0>)

// -----

// RULE: paged_kv_cache.c2
// expected-error@+1 {{cache valueDim must be positive, not 0}}
func.func private @test(!llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096, valueDim = 0>)

// -----

// RULE: paged_kv_cache.c4
// expected-error@+1 {{cache has values of 65 elements in keys of 64}}
func.func private @test(!llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096, valuesInKeys = 65>)

// -----

// RULE: paged_kv_cache.c3
// expected-error@+1 {{cache blockSize must be a power of two, not 24}}
func.func private @test(!llm.paged_kv_cache<f16, 12, 16, 64, 24, 4096>)

// -----

// RULE: paged_kv_cache.c3
// expected-error@+1 {{cache blockSize must be at least 2 for elements of type 'bf16', not 1}}
func.func private @test(!llm.paged_kv_cache<bf16, 12, 16, 64, 1, 4096>)

// -----

// RULE: paged_kv_cache.c3
// expected-error@+1 {{cache blockSize must be at least 4 for elements of type 'i8', not 2}}
func.func private @test(!llm.paged_kv_cache<i8, 12, 16, 64, 2, 4096>)

// -----

// RULE: quantized_tensor.c1
// expected-error@+1 {{quantized element type must be i4, i8 or i16, or, in a block format, i2, i3, i5 or i6, not 'f16'}}
func.func private @test(!llm.quantized_tensor<f16, [64, 64], true, false, -1, 32, 8>)

// -----

// RULE: quantized_tensor.c2
// expected-error@+1 {{numBits must be between 2 and 8, the width of element type 'i8', not 9}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], true, false, -1, 32, 9>)

// -----

// RULE: quantized_tensor.c2
// expected-error@+1 {{numBits must be between 2 and 4, the width of element type 'i4', not 1}}
func.func private @test(!llm.quantized_tensor<i4, [64, 64], true, false, -1, 32, 1>)

// -----

// RULE: quantized_tensor.c2
// expected-error@+1 {{numBits is 4, but the element type 'i8' of a block format has 8 bits}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], true, false, -1, 32, 4, format = q4_0>)

// -----

// RULE: quantized_tensor.c3
// expected-error@+1 {{quantized tensor must have at least one dimension}}
func.func private @test(!llm.quantized_tensor<i8, [], true, false, -1, 32, 8>)

// -----

// RULE: quantized_tensor.c3
// expected-error@+1 {{size of dimension 1 must be positive, not 0}}
func.func private @test(!llm.quantized_tensor<i8, [64, 0], true, false, -1, 32, 8>)

// -----

// RULE: quantized_tensor.c4
// expected-error@+1 {{quantAxis 2 is neither -1 nor a dimension of a tensor of rank 2}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], true, true, 2, -1, 8>)

// -----

// RULE: quantized_tensor.c4
// expected-error@+1 {{quantAxis -2 is neither -1 nor a dimension of a tensor of rank 2}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], true, true, -2, -1, 8>)

// -----

// RULE: quantized_tensor.c5
// expected-error@+1 {{a tensor quantized per channel needs a quantAxis}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], true, true, -1, -1, 8>)

// -----

// RULE: quantized_tensor.c6
// expected-error@+1 {{groupSize must be -1 or positive, not 0}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], true, false, -1, 0, 8>)

// -----

// RULE: quantized_tensor.c7
// expected-error@+1 {{groupSize 32 does not divide dimension 1 of size 100}}
func.func private @test(!llm.quantized_tensor<i8, [64, 100], true, false, -1, 32, 8>)

// -----

// RULE: quantized_tensor.c7, per-axis scales of the last dimension
// expected-error@+1 {{groupSize 32 does not divide dimension 0 of size 100}}
func.func private @test(!llm.quantized_tensor<i8, [100, 64], true, true, 1, 32, 8>)

// -----

// RULE: quantized_tensor.c7, a format's block being longer than a row
// expected-error@+1 {{groupSize 32 does not divide dimension 1 of size 16}}
func.func private @test(!llm.quantized_tensor<i8, [64, 16], true, false, -1, 32, 8, format = q8_0>)

// -----

// RULE: quantized_tensor.c8
// expected-error@+1 {{unknown quantization format 'q9_9'}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], true, false, -1, 32, 8, format = q9_9>)

// -----

// RULE: quantized_tensor.c8
// expected-error@+1 {{format 'bf16' is not quantized: use a ranked tensor}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], true, false, -1, 32, 8, format = bf16>)

// -----

// RULE: quantized_tensor.c9
// expected-error@+1 {{format 'q8_0' has groups of 32, but groupSize is 16}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], true, false, -1, 16, 8, format = q8_0>)

// -----

// RULE: quantized_tensor.c9
// expected-error@+1 {{format 'q4_0' has 4 bits, but numBits is 8}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], true, false, -1, 32, 8, format = q4_0>)

// -----

// quantized_tensor: a word that is not a flag
// expected-error@+1 {{expected true, false, symmetric or asymmetric, not 'maybe'}}
func.func private @test(!llm.quantized_tensor<i8, [64, 64], maybe, false, -1, 32, 8>)

// -----

// RULE: dialect.c1, llm.layer marks functions
// expected-error@+1 {{"llm.layer" is a unit attribute of functions}}
module attributes {llm.layer} {}

// -----

// RULE: dialect.c1
// expected-error@+1 {{"llm.layer" is a unit attribute of functions}}
func.func private @test() attributes {llm.layer = 3 : i64}

// -----

// RULE: dialect.c6
// expected-error@+1 {{unknown attribute "llm.lair" of the llm dialect}}
func.func private @test() attributes {llm.lair}

// -----

// RULE: dialect.c2
// expected-error@+1 {{"llm.num_ranks" is a positive i64 attribute of functions, not 0 : i64}}
func.func private @test() attributes {llm.num_ranks = 0 : i64}

// -----

// RULE: dialect.c2
// expected-error@+1 {{"llm.num_ranks" is at most 65536, not 65537}}
func.func private @test() attributes {llm.num_ranks = 65537 : i64}

// -----

// RULE: dialect.c2
// expected-error@+1 {{"llm.num_ranks" is a positive i64 attribute of functions, not 4 : i32}}
func.func private @test() attributes {llm.num_ranks = 4 : i32}

// -----

// RULE: dialect.c2
// expected-error@+1 {{"llm.num_ranks" is a positive i64 attribute of functions, not 4 : i64}}
module attributes {llm.num_ranks = 4 : i64} {}

// -----

// RULE: dialect.c3
// expected-error@+1 {{"llm.shard_dim" is an i64 attribute of arguments and results of a function with "llm.num_ranks", not 0 : i64}}
func.func private @test(tensor<4xf32> {llm.shard_dim = 0 : i64})

// -----

// RULE: dialect.c3
// expected-error@+1 {{"llm.shard_dim" is an i64 attribute of arguments and results of a function with "llm.num_ranks", not unit}}
func.func private @test() -> (tensor<4xf32> {llm.shard_dim}) attributes {llm.num_ranks = 2 : i64}

// -----

// RULE: dialect.c4
// expected-error@+1 {{"llm.shard_dim" 2 is not a dimension of 'tensor<4x8xf32>'}}
func.func private @test(tensor<4x8xf32> {llm.shard_dim = 2 : i64}) attributes {llm.num_ranks = 2 : i64}

// -----

// RULE: dialect.c4
// expected-error@+1 {{"llm.shard_dim" 0 is not a dimension of 'index'}}
func.func private @test() -> (index {llm.shard_dim = 0 : i64}) attributes {llm.num_ranks = 2 : i64}

// -----

// RULE: dialect.c5
// expected-error@+1 {{"llm.constant" is a unit attribute of arguments, not 1 : i64}}
func.func private @test(tensor<4xf32> {llm.constant = 1 : i64})

// -----

// RULE: dialect.c6
// expected-error@+1 {{unknown attribute "llm.constat" of an argument}}
func.func private @test(tensor<4xf32> {llm.constat})

// -----

// RULE: dialect.c6
// expected-error@+1 {{unknown attribute "llm.constant" of a result}}
func.func private @test() -> (tensor<4xf32> {llm.constant})

// -----

// RULE: sharded_tensor.c1
// expected-error@+1 {{shardDim 2 is not a dimension of 'tensor<4096x4096xf16>'}}
func.func private @test(!llm.sharded_tensor<tensor<4096x4096xf16>, 2, 4, 0>)

// -----

// RULE: sharded_tensor.c1
// expected-error@+1 {{shardDim -1 is not a dimension of 'tensor<4096x4096xf16>'}}
func.func private @test(!llm.sharded_tensor<tensor<4096x4096xf16>, -1, 4, 0>)

// -----

// RULE: sharded_tensor.c2
// expected-error@+1 {{numShards must be positive, not 0}}
func.func private @test(!llm.sharded_tensor<tensor<4096x4096xf16>, 1, 0, 0>)

// -----

// RULE: sharded_tensor.c3
// expected-error@+1 {{shardIndex 4 is not between 0 and 3}}
func.func private @test(!llm.sharded_tensor<tensor<4096x4096xf16>, 1, 4, 4>)

// -----

// RULE: sharded_tensor.c3
// expected-error@+1 {{shardIndex -1 is not between 0 and 3}}
func.func private @test(!llm.sharded_tensor<tensor<4096x4096xf16>, 1, 4, -1>)

// -----

// RULE: sharded_tensor.c4
// expected-error@+1 {{numShards 3 does not divide dimension 0 of size 4096}}
func.func private @test(!llm.sharded_tensor<tensor<4096x4096xf16>, 0, 3, 0>)

// -----

// RULE: sharded_tensor.c4
// expected-error@+1 {{dimension 0 of 'tensor<?x64xf32>' must be static to be divided into 2 shards}}
func.func private @test(!llm.sharded_tensor<tensor<?x64xf32>, 0, 2, 0>)
