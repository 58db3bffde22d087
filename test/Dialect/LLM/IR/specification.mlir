// RUN: llmir-opt %s --split-input-file --verify-diagnostics --verify-roundtrip

// The ops of the LLMIR specification in its own spelling. The snippet of the README is
// ill-typed as one function (its append yields tensor<2x1xi32>, but attention
// requires tensor<2x128xi32>), so each op is in a separate function, and the
// unmodified snippet is last.

!kv_cache_t = !llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>

// SPEC: 52 53 54 55 56 57 59 141
func.func @append(%kv_cache: !kv_cache_t, %keys: tensor<2x1x16x64xf16>, %values: tensor<2x1x16x64xf16>, %seq_ids: tensor<2xi32>) {
%new_kv, %block_indices = llm.append_kv %kv_cache, %keys, %values, %seq_ids {
  block_size = 16 : i32,
  max_seq_len = 4096 : i32
} : (!kv_cache_t, tensor<2x1x16x64xf16>, tensor<2x1x16x64xf16>, tensor<2xi32>) 
    -> (!kv_cache_t, tensor<2x1xi32>)
  return
}

// SPEC: 60 61 62 63 64 65 66 142
func.func @attention(%query: tensor<2x1x16x64xf16>, %new_kv: !kv_cache_t, %block_indices: tensor<2x128xi32>, %seq_lens: tensor<2xi32>) {
%output = llm.paged_attention %query, %new_kv, %block_indices, %seq_lens {
  num_heads = 16 : i32,
  head_dim = 64 : i32,
  scale = 0.125 : f32
} : (tensor<2x1x16x64xf16>, !kv_cache_t, tensor<2x128xi32>, tensor<2xi32>) 
    -> tensor<2x1x16x64xf16>
  return
}

// -----

// SPEC: 184 185 186 187 188 189
func.func @inference_step(%query: tensor<1x1x16x64xf16>, 
                     %kv_cache: !llm.paged_kv_cache<f16, 12, 16, 64, 16, 2048>,
                     %block_idxs: tensor<1xi32>, 
                     %seq_lens: tensor<1xi32>) -> tensor<1x1x16x64xf16> {
  %result = llm.paged_attention %query, %kv_cache, %block_idxs, %seq_lens { 
    scale = 0.125 : f32, causal = true 
  } : tensor<1x1x16x64xf16>, !llm.paged_kv_cache<f16, 12, 16, 64, 16, 2048>, 
     tensor<1xi32>, tensor<1xi32> -> tensor<1x1x16x64xf16>
  return %result : tensor<1x1x16x64xf16>
}

// -----

!kv_cache_t = !llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>

// SPEC: 66
func.func @snippet(%kv_cache: !kv_cache_t, %keys: tensor<2x1x16x64xf16>, %values: tensor<2x1x16x64xf16>, %seq_ids: tensor<2xi32>, %query: tensor<2x1x16x64xf16>, %seq_lens: tensor<2xi32>) {
// Append key-value pairs to the cache
// expected-note@+1 {{prior use here}}
%new_kv, %block_indices = llm.append_kv %kv_cache, %keys, %values, %seq_ids {
  block_size = 16 : i32,
  max_seq_len = 4096 : i32
} : (!kv_cache_t, tensor<2x1x16x64xf16>, tensor<2x1x16x64xf16>, tensor<2xi32>) 
    -> (!kv_cache_t, tensor<2x1xi32>)

// Perform paged attention with the KV cache
// expected-error@+1 {{use of value '%block_indices' expects different type than prior uses: 'tensor<2x128xi32>' vs 'tensor<2x1xi32>'}}
%output = llm.paged_attention %query, %new_kv, %block_indices, %seq_lens {
  num_heads = 16 : i32,
  head_dim = 64 : i32,
  scale = 0.125 : f32
} : (tensor<2x1x16x64xf16>, !kv_cache_t, tensor<2x128xi32>, tensor<2xi32>) 
    -> tensor<2x1x16x64xf16>
  return
}
