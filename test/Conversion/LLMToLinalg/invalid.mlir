// RUN: llmir-opt %s --convert-llm-to-linalg --split-input-file --verify-diagnostics

// Rejected ops are reported with an alternative.

mllm.tensor.register @w : tensor<4xf32> {source = "w"}

func.func @weight() -> tensor<4xf32> {
  // expected-error @+1 {{'llm.weight' op cannot be converted to linalg: it refers to a parameter by name; with weights=arguments it becomes an argument of its function}}
  %w = llm.weight @w : tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

func.func @gather(%x: tensor<2x4xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'llm.all_gather' op cannot be converted to linalg: it exchanges values among 2 ranks; run the ranks with -convert-llm-to-program}}
  %y = llm.all_gather %x {dim = 1, group_size = 2} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

func.func @reduce(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{'llm.all_reduce' op cannot be converted to linalg: it exchanges values among 4 ranks}}
  %y = llm.all_reduce %x {group_size = 4, reduce_op = "sum"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @scatter(%x: tensor<2x4xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{'llm.reduce_scatter' op cannot be converted to linalg: it exchanges values among 2 ranks}}
  %y = llm.reduce_scatter %x {dim = 1, group_size = 2, reduce_op = "sum"} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

func.func @shard(%x: tensor<2x4xf32>) -> tensor<2x2xf32> attributes {llm.num_ranks = 2} {
  // expected-error @+1 {{'llm.shard' op cannot be converted to linalg: it depends on the rank that runs the function; specify a shard_index}}
  %y = llm.shard %x {dim = 1, num_shards = 2} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

func.func @sample(%x: tensor<2x4xf32>) -> tensor<2xi32> {
  // expected-error @+1 {{'llm.sample' op cannot be converted to linalg: it uses the random number generator of the runtime; use a temperature of 0, or convert a function that returns the logits and sample from its result}}
  %y = llm.sample %x {temperature = 0.5} : (tensor<2x4xf32>) -> tensor<2xi32>
  return %y : tensor<2xi32>
}

// -----

!q = !llm.quantized_tensor<i8, [2, 4], true, false, -1, -1, 8>

func.func @stranger(%c: i1, %x: !q, %y: !q) -> !q {
  // expected-error @+1 {{'arith.select' op cannot be converted to linalg: it has a value of type !llm.quantized_tensor<i8, [2, 4], true, false, -1, -1, 8>, which it does not support after conversion; convert the op first}}
  %z = arith.select %c, %x, %y : !q
  return %z : !q
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 4, 16, 64>

func.func @cache() {
  // expected-error @+1 {{'llm.create_paged_cache' op cannot be converted to linalg: it operates on a paged cache, which is not a tensor; with cache=runtime it calls the C runtime (llmir-c/KVCache.h)}}
  %c = llm.create_paged_cache : !cache
  return
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 4, 16, 64>

// expected-error @+1 {{'func.func' op cannot be converted to linalg: it has a value of type !llm.paged_kv_cache<f32, 1, 2, 4, 16, 64>, which is not a tensor; with cache=runtime it becomes a pointer of the C runtime (llmir-c/KVCache.h)}}
func.func private @passed(%c: !cache)
