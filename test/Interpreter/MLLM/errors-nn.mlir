// RUN: not llmir-translate --interpret %s 2>&1 | FileCheck %s

// Errors that are detected at run time, not by a verifier: sizes that are `?`,
// indices, and what came before. Every function reports its own.

mllm.tensor.register @w : tensor<3x2xf32> {source = "w"}
mllm.tensor.register @n : tensor<2xf32> {source = "n"}
mllm.tensor.register @kernel : tensor<1x1x3xf32> {source = "kernel"}

// CHECK: 'mllm.linalg.embedding' op cannot be evaluated: id 1 is 3, which is not from 0 to 2
func.func @ids(%ids: tensor<2xi64> {check.values = dense<[0, 3]> : tensor<2xi64>}) {
  %0 = mllm.linalg.embedding %ids, @w : tensor<2xi64> -> tensor<2x2xf32>
  return
}

// CHECK: 'mllm.linalg.matmul' op cannot be evaluated: the matrices have 3 columns and 2 rows
func.func @matmul(%a: tensor<?x?xf32> {check.shape = array<i64: 2, 3>},
                  %b: tensor<?x4xf32> {check.shape = array<i64: 2, 4>}) {
  %0 = mllm.linalg.matmul %a, %b : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// CHECK: 'mllm.linalg.linear' op cannot be evaluated: rows of 4 elements do not match a weight tensor<3x2xf32>
func.func @linear(%x: tensor<?x?xf32> {check.shape = array<i64: 2, 4>}) {
  %0 = mllm.linalg.linear %x, @w : tensor<?x?xf32> -> tensor<?x3xf32>
  return
}

// CHECK: 'mllm.linalg.rms_norm' op cannot be evaluated: normalizes 4 elements, but a parameter is tensor<2xf32>
func.func @rms_norm(%x: tensor<?x?xf32> {check.shape = array<i64: 2, 4>}) {
  %0 = mllm.linalg.rms_norm %x, @n {eps = 1.0 : f64} : tensor<?x?xf32>
  return
}

// CHECK: 'mllm.linalg.layer_norm' op cannot be evaluated: the last sizes of tensor<2x4xf32> are not 'normalized_shape'
func.func @layer_norm(%x: tensor<?x?xf32> {check.shape = array<i64: 2, 4>}) {
  %0 = mllm.linalg.layer_norm %x {eps = 1.0 : f64, normalized_shape = array<i64: 2>} : tensor<?x?xf32>
  return
}

// CHECK: 'mllm.linalg.layer_norm_2d' op cannot be evaluated: normalizes 3 elements, but a parameter is tensor<2xf32>
func.func @layer_norm_2d(%x: tensor<1x?x2x2xf32> {check.shape = array<i64: 1, 3, 2, 2>}) {
  %0 = mllm.linalg.layer_norm_2d %x, @n, @n {eps = 1.0 : f64} : tensor<1x?x2x2xf32>
  return
}

// CHECK: 'mllm.linalg.rope' op cannot be evaluated: tables tensor<3x1xf32> do not match tensor<2x1x2xf32> with tokens in dimension 0
func.func @rope(%x: tensor<?x1x2xf32> {check.shape = array<i64: 2, 1, 2>},
                %t: tensor<?x1xf32> {check.shape = array<i64: 3, 1>}) {
  %0 = mllm.linalg.rope %x by %t, %t {scaling = 1.0 : f64} : tensor<?x1x2xf32> by tensor<?x1xf32>, tensor<?x1xf32>
  return
}

// CHECK: 'mllm.linalg.multimodal_rope' op cannot be evaluated: the sections sum to 1 pairs, but the tables have 2
func.func @multimodal_rope(%x: tensor<1x1x4xf32>, %t: tensor<3x1x?xf32> {check.shape = array<i64: 3, 1, 2>}) {
  %0 = mllm.linalg.multimodal_rope %x by %t, %t {mrope_section = array<i64: 1>} : tensor<1x1x4xf32> by tensor<3x1x?xf32>, tensor<3x1x?xf32>
  return
}

// CHECK: 'mllm.linalg.kv_cache' op cannot be evaluated: a cache tensor<1x1x2xf32> cannot hold tensor<1x2x2xf32>
func.func @cache(%a: tensor<1x1x2xf32>, %b: tensor<1x2x2xf32>) {
  %0, %1 = mllm.linalg.kv_cache %a, %a {layer = 0 : i64} : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> (tensor<?x1x2xf32>, tensor<?x1x2xf32>)
  %2, %3 = mllm.linalg.kv_cache %b, %b {layer = 0 : i64} : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> (tensor<?x2x2xf32>, tensor<?x2x2xf32>)
  return
}

// CHECK: 'mllm.linalg.kv_cache' op cannot be evaluated: 4 query heads are not a multiple of 3 key heads
func.func @cache_heads(%a: tensor<1x?x2xf32> {check.shape = array<i64: 1, 3, 2>}) {
  %0, %1 = mllm.linalg.kv_cache %a, %a {layer = 0 : i64, q_head = 4 : i64} : (tensor<1x?x2xf32>, tensor<1x?x2xf32>) -> (tensor<?x4x2xf32>, tensor<?x4x2xf32>)
  return
}

// CHECK: 'mllm.linalg.flash_attention2' op cannot be evaluated: queries tensor<1x2x3x2xf32>, keys tensor<1x2x2x2xf32> and values tensor<1x2x2x2xf32> do not match
func.func @attention(%q: tensor<2x?x2xf32> {check.shape = array<i64: 2, 3, 2>},
                     %k: tensor<2x?x2xf32> {check.shape = array<i64: 2, 2, 2>}) {
  %0 = mllm.linalg.flash_attention2 %q, %k, %k {causal = true, scale = 1.0 : f64} : (tensor<2x?x2xf32>, tensor<2x?x2xf32>, tensor<2x?x2xf32>) -> tensor<2x?x2xf32>
  return
}

// CHECK: 'mllm.linalg.radix_attn_relax' op cannot be evaluated: row of values 0 is -1, which is not from 0 to 3
func.func @radix(%q: tensor<1x1x2xf32>, %pool: tensor<4x1x2xf32>,
                 %k: tensor<1xi32> {check.values = dense<3> : tensor<1xi32>},
                 %v: tensor<1xi32> {check.values = dense<-1> : tensor<1xi32>}) {
  %0 = mllm.linalg.radix_attn_relax %q, %pool[%k], %pool[%v] {scale = 1.0 : f64}
     : (tensor<1x1x2xf32>, tensor<4x1x2xf32>, tensor<4x1x2xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x1x2xf32>
  return
}

// CHECK: 'mllm.linalg.radix_attn_swa_sink' op cannot be evaluated: 2 new tokens among 3 do not match the pattern prefill
func.func @pattern(%q: tensor<?x1x2xf32> {check.shape = array<i64: 2, 1, 2>}, %pool: tensor<4x1x2xf32>,
                   %i: tensor<3xi32> {check.values = dense<0> : tensor<3xi32>}) {
  %0 = mllm.linalg.radix_attn_swa_sink %q, %pool[%i], %pool[%i] {pattern = "prefill", scale = 1.0 : f64, sliding_window = 4 : i64}
     : (tensor<?x1x2xf32>, tensor<4x1x2xf32>, tensor<4x1x2xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<?x1x2xf32>
  return
}

// CHECK: 'mllm.linalg.paged_attn' op cannot be evaluated: token 0 is 4, which is not from 0 to 3
func.func @paged(%q: tensor<1x1x1x2xf32>, %k: tensor<1x4x1x2xf32>,
                 %i: tensor<1xi32> {check.values = dense<4> : tensor<1xi32>}) {
  %0 = mllm.linalg.paged_attn %q, %k, %k, %i {scale = 1.0 : f64}
     : (tensor<1x1x1x2xf32>, tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>, tensor<1xi32>) -> tensor<1x1x1x2xf32>
  return
}

// CHECK: 'mllm.linalg.conv1d' op cannot be evaluated: a kernel of 3 is longer than a dimension of 2 with 0 on each side
func.func @conv(%x: tensor<1x1x?xf32> {check.shape = array<i64: 1, 1, 2>}) {
  %0 = mllm.linalg.conv1d %x, @kernel {kernel_size = array<i64: 3>} : tensor<1x1x?xf32> -> tensor<1x1x?xf32>
  return
}

// CHECK: 'mllm.linalg.interpolate' op cannot be evaluated: a dimension of 0 cannot be resized to 2
func.func @interpolate(%x: tensor<1x1x?xf32> {check.shape = array<i64: 1, 1, 0>}) {
  %0 = mllm.linalg.interpolate %x {size = array<i64: 2>} : tensor<1x1x?xf32> -> tensor<1x1x2xf32>
  return
}

// CHECK: 'mllm.linalg.stft' op cannot be evaluated: a signal of 3 samples is shorter than a frame of 4
func.func @stft(%x: tensor<?xf32> {check.shape = array<i64: 3>}, %w: tensor<4xf32>) {
  %0 = mllm.linalg.stft %x, %w {center = false, n_fft = 4 : i64} : (tensor<?xf32>, tensor<4xf32>) -> tensor<3x?x2xf32>
  return
}

// CHECK: 'mllm.linalg.istft' op cannot be evaluated: a window of 5 samples is longer than a frame of 4
func.func @istft(%x: tensor<3x1x2xf32>, %w: tensor<?xf32> {check.shape = array<i64: 5>}) {
  %0 = mllm.linalg.istft %x, %w {n_fft = 4 : i64} : (tensor<3x1x2xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// CHECK: 'mllm.linalg.stft' op cannot be evaluated: a frame of 2147483648 samples is longer than 2^24
func.func @frame(%x: tensor<?xf32> {check.shape = array<i64: 3>}, %w: tensor<4xf32>) {
  %0 = mllm.linalg.stft %x, %w {n_fft = 2147483648 : i64} : (tensor<?xf32>, tensor<4xf32>) -> tensor<1073741825x?x2xf32>
  return
}

// CHECK: 'mllm.linalg.customized' op cannot be evaluated: no function is registered for custom ops with the id 5000
func.func @customized(%x: tensor<2xf32>) {
  %0 = mllm.linalg.customized "mine" id 5000(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
