// The ops of the linalg level that mllm-ops.mlir does not run, one function for
// those of a kind: compiled and interpreted, with the bound that each op states.

// RUN: llmir-translate %s --compare > %t.out && FileCheck %s < %t.out
// RUN: llmir-translate %s --compare --workers=3 | diff %t.out -

mllm.tensor.register @rows : tensor<4x6xf32> {source = "rows"}
mllm.tensor.register @gain : tensor<6xf32> {source = "gain"}
mllm.tensor.register @gates : tensor<4x8x6xf32> {source = "gates"}
mllm.tensor.register @downs : tensor<4x6x8xf32> {source = "downs"}
mllm.tensor.register @heads : tensor<2x16x16xf32> {source = "heads"}
mllm.tensor.register @channels : tensor<3xf32> {source = "channels"}
mllm.tensor.register @kernel1 : tensor<4x3x3xf32> {source = "kernel1"}
mllm.tensor.register @kernel3 : tensor<4x2x2x2x2xf32> {source = "kernel3"}
mllm.tensor.register @bias : tensor<4xf32> {source = "bias"}

// CHECK-DAG: @functions result 0: nmse
// CHECK-DAG: @functions result 1: nmse
// CHECK-DAG: @functions result 2: nmse
// CHECK-DAG: @functions result 3: nmse
// CHECK-DAG: @functions result 4: nmse
func.func @functions(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) {
  %a = mllm.linalg.abs %x : tensor<3x5xf32>
  %c = mllm.linalg.clip %a {max_val = 1.0 : f64, min_val = 0.125 : f64} : tensor<3x5xf32>
  %l = mllm.linalg.log %c : tensor<3x5xf32>
  %s = mllm.linalg.sin %x : tensor<3x5xf32>
  %o = mllm.linalg.cos %x : tensor<3x5xf32>
  %g = mllm.linalg.sigmoid %x : tensor<3x5xf32>
  %q = mllm.linalg.quick_gelu %g : tensor<3x5xf32>
  %n = mllm.linalg.neg %x : tensor<3x5xf32>
  %r = mllm.linalg.relu %n : tensor<3x5xf32>
  %b = mllm.linalg.sub %r, %q : tensor<3x5xf32>
  %d = mllm.linalg.sub %b, %x : tensor<3x5xf32>
  return %l, %s, %o, %q, %d : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

// CHECK-DAG: @truth result 0: equal
// CHECK-DAG: @truth result 1: equal
// CHECK-DAG: @truth result 2: nmse 0.00e+00
func.func @truth(%x: tensor<4xi32> {check.range = array<i64: -1, 2>}, %y: tensor<4xi32> {check.range = array<i64: -1, 2>})
    -> (tensor<4xi1>, tensor<4xi1>, tensor<4xf32>) {
  %e = mllm.linalg.equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %n = mllm.linalg.logical_not %e : tensor<4xi1>
  %t = mllm.linalg.fill ones %n : tensor<4xi1>
  %a = mllm.linalg.logical_and %n, %t : tensor<4xi1>
  %o = mllm.linalg.logical_or %e, %a : tensor<4xi1>
  %f = mllm.linalg.cast_type %a to f32 : tensor<4xi1> -> tensor<4xf32>
  return %a, %o, %f : tensor<4xi1>, tensor<4xi1>, tensor<4xf32>
}

// CHECK-DAG: @shapes result 0: nmse 0.00e+00
// CHECK-DAG: @shapes result 1: nmse 0.00e+00
// CHECK-DAG: @shapes result 2: nmse 0.00e+00
func.func @shapes(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>) -> (tensor<4x2x6xf32>, tensor<2x2x12xf32>, tensor<2x3x4xf32>) {
  %p = mllm.linalg.permute %x {axes = array<i64: 2, 0, 1>} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %c = mllm.linalg.contiguous %p : tensor<4x2x3xf32>
  %j = mllm.linalg.concat %c, %c {dim = 2 : i64} : (tensor<4x2x3xf32>, tensor<4x2x3xf32>) -> tensor<4x2x6xf32>
  %s = mllm.linalg.stack %x, %y {dim = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x2x3x4xf32>
  %r = mllm.linalg.reshape %s {shape = array<i64: 2, 2, -1>} : tensor<2x2x3x4xf32> -> tensor<2x2x12xf32>
  %n = mllm.linalg.clone %y : tensor<2x3x4xf32>
  %h = mllm.linalg.x2x %n to <kCPU> : tensor<2x3x4xf32>
  %z = mllm.linalg.copy %h, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %j, %r, %z : tensor<4x2x6xf32>, tensor<2x2x12xf32>, tensor<2x3x4xf32>
}

// CHECK-DAG: @sums result 0: nmse
// CHECK-DAG: @sums result 1: nmse 0.00e+00
// CHECK-DAG: @sums result 2: nmse 0.00e+00
func.func @sums(%x: tensor<3x4x2xf32>) -> (tensor<3x2xf32>, tensor<3x4xf32>, tensor<4x2xf32>) {
  %s = mllm.linalg.reduce_sum %x {dim = 1 : i64} : tensor<3x4x2xf32> -> tensor<3x2xf32>
  %a = mllm.linalg.reduce_max %x {dim = 2 : i64} : tensor<3x4x2xf32> -> tensor<3x4xf32>
  %i = mllm.linalg.reduce_min %x {dim = 0 : i64} : tensor<3x4x2xf32> -> tensor<4x2xf32>
  return %s, %a, %i : tensor<3x2xf32>, tensor<3x4xf32>, tensor<4x2xf32>
}

// CHECK-DAG: @picked result 0: nmse 0.00e+00
// CHECK-DAG: @picked result 1: nmse 0.00e+00
func.func @picked(%x: tensor<2x8x6xf32>, %i: tensor<3xi32> {check.range = array<i64: 0, 8>},
                  %y: tensor<2x4xf32>, %m: tensor<2x1xi1>, %new: tensor<2x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x4xf32>) {
  %p = mllm.linalg.index %x[:, %i, 0:4] : tensor<2x8x6xf32>, (tensor<3xi32>) -> tensor<2x3x4xf32>
  %w = mllm.linalg.masked_scatter %y, %m, %new : (tensor<2x4xf32>, tensor<2x1xi1>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %p, %w : tensor<2x3x4xf32>, tensor<2x4xf32>
}

// CHECK-DAG: @norms result 0: nmse
// CHECK-DAG: @norms result 1: nmse
// CHECK-DAG: @norms result 2: nmse
func.func @norms(%x: tensor<4x6xf32>, %image: tensor<1x3x4x4xf32>) -> (tensor<4x6xf32>, tensor<1x3x4x4xf32>, tensor<4x6xf32>) {
  %n = mllm.linalg.layer_norm %x weight @gain bias @gain {eps = 1.0e-5 : f64, normalized_shape = array<i64: 6>} : tensor<4x6xf32>
  %c = mllm.linalg.layer_norm_2d %image, @channels, @channels {eps = 1.0e-6 : f64} : tensor<1x3x4x4xf32>
  %w = mllm.linalg.param @rows : tensor<4x6xf32>
  %s = mllm.linalg.add %w, %x : tensor<4x6xf32>
  return %n, %c, %s : tensor<4x6xf32>, tensor<1x3x4x4xf32>, tensor<4x6xf32>
}

// CHECK-DAG: @windows result 0: nmse
// CHECK-DAG: @windows result 1: nmse
// CHECK-DAG: @windows result 2: nmse
func.func @windows(%x: tensor<1x3x9xf32>, %v: tensor<1x2x2x4x4xf32>, %sound: tensor<20xf32>, %w: tensor<8xf32>)
    -> (tensor<1x4x5xf32>, tensor<1x4x1x2x2xf32>, tensor<5x11x2xf32>) {
  %a = mllm.linalg.conv1d %x, @kernel1 bias @bias {kernel_size = array<i64: 3>, padding = array<i64: 1>, stride = array<i64: 2>}
      : tensor<1x3x9xf32> -> tensor<1x4x5xf32>
  %b = mllm.linalg.conv3d %v, @kernel3 bias @bias {kernel_size = array<i64: 2, 2, 2>, stride = array<i64: 2, 2, 2>}
      : tensor<1x2x2x4x4xf32> -> tensor<1x4x1x2x2xf32>
  %s = mllm.linalg.stft %sound, %w {n_fft = 8 : i64} : (tensor<20xf32>, tensor<8xf32>) -> tensor<5x11x2xf32>
  return %a, %b, %s : tensor<1x4x5xf32>, tensor<1x4x1x2x2xf32>, tensor<5x11x2xf32>
}

// CHECK-DAG: @attention result 0: nmse
// CHECK-DAG: @attention result 1: nmse
// CHECK-DAG: @attention result 2: nmse
// CHECK-DAG: @attention result 3: nmse
func.func @attention(%q: tensor<3x4x8xf32>, %k: tensor<5x2x8xf32>, %sinks: tensor<4xf32>, %pool: tensor<9x2x8xf32>,
                     %i: tensor<5xi32> {check.range = array<i64: 0, 9>}, %q4: tensor<1x3x4x8xf32>, %k4: tensor<1x9x2x8xf32>)
    -> (tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<1x3x4x8xf32>) {
  %a = mllm.linalg.flash_attention2_swa_sink %q, %k, %k sinks %sinks {scale = 0.25 : f64, sliding_window = 4 : i64}
      : (tensor<3x4x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>, tensor<4xf32>) -> tensor<3x4x8xf32>
  %b = mllm.linalg.radix_attn_relax %q, %pool[%i], %pool[%i] {scale = 0.25 : f64}
      : (tensor<3x4x8xf32>, tensor<9x2x8xf32>, tensor<9x2x8xf32>, tensor<5xi32>, tensor<5xi32>) -> tensor<3x4x8xf32>
  %c = mllm.linalg.radix_attn_swa_sink %q, %pool[%i], %pool[%i] sinks %sinks {pattern = "append", scale = 0.25 : f64, sliding_window = 3 : i64}
      : (tensor<3x4x8xf32>, tensor<9x2x8xf32>, tensor<9x2x8xf32>, tensor<5xi32>, tensor<5xi32>, tensor<4xf32>) -> tensor<3x4x8xf32>
  %d = mllm.linalg.paged_attn %q4, %k4, %k4, %i {scale = 0.25 : f64}
      : (tensor<1x3x4x8xf32>, tensor<1x9x2x8xf32>, tensor<1x9x2x8xf32>, tensor<5xi32>) -> tensor<1x3x4x8xf32>
  return %a, %b, %c, %d : tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<1x3x4x8xf32>
}

// CHECK-DAG: @attention_of_both_sides result 0: nmse
func.func @attention_of_both_sides(%q: tensor<5x4x8xf32>, %k: tensor<5x2x8xf32>) -> tensor<5x4x8xf32> {
  %a = mllm.linalg.flash_attention2_swa_sink %q, %k, %k {causal = false, scale = 0.25 : f64, sliding_window = 2 : i64}
      : (tensor<5x4x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>) -> tensor<5x4x8xf32>
  return %a : tensor<5x4x8xf32>
}

// CHECK-DAG: @positions result 0: nmse
// CHECK-DAG: @positions result 1: equal
func.func @positions(%x: tensor<5x4x8xf32>, %sin: tensor<3x5x4xf32>, %cos: tensor<3x5x4xf32>, %ids: tensor<1x5xi32> {check.range = array<i64: 0, 9>})
    -> (tensor<5x4x8xf32>, tensor<1x5xi64>) {
  %m = mllm.linalg.multimodal_rope %x by %sin, %cos {mrope_section = array<i64: 2, 1, 1>}
      : tensor<5x4x8xf32> by tensor<3x5x4xf32>, tensor<3x5x4xf32>
  %p = mllm.linalg.positions %ids : tensor<1x5xi32> -> tensor<1x5xi64>
  return %m, %p : tensor<5x4x8xf32>, tensor<1x5xi64>
}

// CHECK-DAG: @signals result 0: nmse
// CHECK-DAG: @signals result 1: nmse
// CHECK-DAG: @signals result 2: nmse
// CHECK-DAG: @signals result 3: nmse
// CHECK-DAG: @signals result 4: nmse
func.func @signals(%x: tensor<2x5x6x2xf32>, %w: tensor<8xf32>, %y: tensor<7x4x2xf32>, %v: tensor<5xf32>,
                   %picture: tensor<1x2x5x7xf32>, %patches: tensor<24x2x8xf32>)
    -> (tensor<2x10xf32>, tensor<25xf32>, tensor<1x2x3x9xf32>, tensor<1x2x10x14xf32>, tensor<24x2x8xf32>) {
  %a = mllm.linalg.istft %x, %w {hop_length = 2 : i64, n_fft = 8 : i64} : (tensor<2x5x6x2xf32>, tensor<8xf32>) -> tensor<2x10xf32>
  %b = mllm.linalg.istft %y, %v {center = false, hop_length = 3 : i64, length = 25 : i64, n_fft = 7 : i64, normalized, onesided = false} : (tensor<7x4x2xf32>, tensor<5xf32>) -> tensor<25xf32>
  %c = mllm.linalg.interpolate %picture {antialias, mode = "bicubic", size = array<i64: 3, 9>} : tensor<1x2x5x7xf32> -> tensor<1x2x3x9xf32>
  %d = mllm.linalg.interpolate %picture {scale_factor = array<f64: 2.0, 2.0>} : tensor<1x2x5x7xf32> -> tensor<1x2x10x14xf32>
  %e = mllm.linalg.vision_rope %patches {grid = array<i64: 1, 4, 6>} : tensor<24x2x8xf32>
  return %a, %b, %c, %d, %e : tensor<2x10xf32>, tensor<25xf32>, tensor<1x2x3x9xf32>, tensor<1x2x10x14xf32>, tensor<24x2x8xf32>
}

// CHECK-DAG: @memory result 0: nmse 0.00e+00
func.func @memory(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %m = mllm.tensor.alloc : tensor<3x5xf32>
  mllm.dbg.comment "a copy in separate memory"
  %y = mllm.linalg.copy %m, %x : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  mllm.tensor.free %y : tensor<3x5xf32>
  return %x : tensor<3x5xf32>
}

// CHECK-DAG: @head_linear result 0: nmse
func.func @head_linear(%x: tensor<2x3x2x16xf32>) -> tensor<2x3x2x16xf32> {
  %y = mllm.linalg.head_linear %x, @heads : tensor<2x3x2x16xf32> -> tensor<2x3x2x16xf32>
  return %y : tensor<2x3x2x16xf32>
}

// CHECK-DAG: @experts result 0: nmse
func.func @experts(%x: tensor<5x6xf32>, %e: tensor<5x2xi32> {check.range = array<i64: 0, 4>},
                   %w: tensor<5x2xf32>) -> tensor<5x6xf32> {
  %y = mllm.linalg.experts %x chosen %e weights %w, @gates, @gates, @downs : (tensor<5x6xf32>, tensor<5x2xi32>, tensor<5x2xf32>) -> tensor<5x6xf32>
  return %y : tensor<5x6xf32>
}
