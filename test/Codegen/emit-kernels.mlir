// RUN: llmir-opt %s --emit-kernels | FileCheck %s
// RUN: llmir-opt %s --emit-kernels="level=x86-64-v3" | FileCheck %s --check-prefix=V3
// RUN: llmir-opt %s --llmir-kernel-stage | FileCheck %s --check-prefix=VECTOR --implicit-check-not=linalg --implicit-check-not=math.exp

// Each kernel becomes a call of a private function that is named after its
// label and has an argument for each operand, weights in their packed form. The
// text fragment is erased.

// CHECK-NOT: text
mllm.program.fragment @constants text {
  mllm.program.constant @c dense<1> : tensor<1xi32>
}
mllm.program.fragment @weights data {
  mllm.program.weight @matrix "tiles16" "bf16" [33, 64] bytes 6144 sources ["m"] at [0]
  mllm.program.weight @bias "vector" "f32" [33] bytes 192 sources ["b"] at [6144]
  mllm.program.weight @vector "vector" "f32" [64] bytes 256 sources ["v"] at [6400]
  mllm.program.weight @sinks "vector" "f32" [8] bytes 64 sources ["s"] at [6656]
  mllm.program.weight @table "tiles16" "int4:g32:f16" [50, 32] bytes 1152 sources ["t"] at [6720]
  mllm.program.weight @experts "tiles16" "bf16" [5, 20, 32] bytes 10240 sources ["e"] at [7872]
}
mllm.program.fragment @step code {
  %rows16 = mllm.program.buffer : memref<8x16xf32>
  %other16 = mllm.program.buffer : memref<8x16xf32>
  %rows32 = mllm.program.buffer : memref<8x32xf32>
  %rows48 = mllm.program.buffer : memref<8x48xf32>
  %rows64 = mllm.program.buffer : memref<8x64xf32>
  %other64 = mllm.program.buffer : memref<8x64xf32>
  %few64 = mllm.program.buffer : memref<4x64xf32>
  %row = mllm.program.buffer : memref<1x16xf32>
  %partials = mllm.program.buffer : memref<2048x48xf32>
  %flat = mllm.program.buffer : memref<12x32xf32>
  %packed = mllm.program.buffer : memref<96x16xf32>
  %chosen = mllm.program.buffer : memref<8x2xi32>
  %offsets = mllm.program.buffer : memref<1x6xi32>
  %places16 = mllm.program.buffer : memref<16x16xf32>
  %places32 = mllm.program.buffer : memref<16x32xf32>
  mllm.program.entry_point
  // CHECK: entry_point
  // CHECK-NEXT: mllm.program.instruction {
  // CHECK-NEXT: %[[M:.*]] = mllm.program.get_weight @matrix
  // CHECK-NEXT: %[[B:.*]] = mllm.program.get_weight @bias
  // CHECK-NEXT: mllm.program.call @linear(%[[M]], %[[B]], %[[X:.*]], %[[Y:.*]]) {label = "linear"} : memref<6144xi8>, memref<48xf32>, memref<8x32xf32>, memref<8x48xf32>
  // CHECK-NEXT: }
  mllm.program.instruction {
    %w = mllm.program.get_weight @matrix : memref<6144xi8>
    %b = mllm.program.get_weight @bias : memref<48xf32>
    mllm.kernel.linear weights(%w : memref<6144xi8>) bias(%b : memref<48xf32>) ins(%rows32 : memref<8x32xf32>)
        outs(%rows48 : memref<8x48xf32>) {format = "bf16", rows = 33, columns = 64, label = "linear"}
  }
  // An equal kernel on other memory, with any label, calls the same function;
  // one with another attribute or a weight of another type does not.
  // CHECK: call @linear(%{{.*}}) {label = "again"}
  // CHECK: call @linear_0(%{{.*}}) {label = "linear"}
  // CHECK: call @from_buffer(%{{.*}}) {label = "from_buffer"} : memref<96x16xf32>, memref<48xf32>
  mllm.program.instruction {
    %w = mllm.program.get_weight @matrix : memref<6144xi8>
    %b = mllm.program.get_weight @bias : memref<48xf32>
    mllm.kernel.linear weights(%w : memref<6144xi8>) bias(%b : memref<48xf32>) ins(%rows32 : memref<8x32xf32>)
        outs(%rows48 : memref<8x48xf32>) {format = "bf16", rows = 33, columns = 64, label = "again"}
    mllm.kernel.linear over logit_rows weights(%w : memref<6144xi8>) bias(%b : memref<48xf32>)
        ins(%rows32 : memref<8x32xf32>) outs(%rows48 : memref<8x48xf32>)
        {format = "bf16", rows = 33, columns = 64, label = "linear"}
    mllm.kernel.linear weights(%packed : memref<96x16xf32>) bias(%b : memref<48xf32>) ins(%rows32 : memref<8x32xf32>)
        outs(%rows48 : memref<8x48xf32>) {format = "bf16", rows = 33, columns = 64, label = "from_buffer"}
  }
  // Without a label, the mnemonic names the function. Regions are compared, too.
  // CHECK: call @round_rows(
  // CHECK: call @norm(
  // CHECK: call @exp(
  // CHECK: call @exp(
  // CHECK: call @exp_1(
  mllm.program.instruction {
    mllm.kernel.round_rows ins(%rows64 : memref<8x64xf32>) outs(%rows32 : memref<8x32xf32>) {columns = 60}
  }
  mllm.program.instruction {
    %w = mllm.program.get_weight @vector : memref<64xf32>
    mllm.kernel.rms_norm weights(%w : memref<64xf32>) ins(%rows64 : memref<8x64xf32>) outs(%other64 : memref<8x64xf32>)
        {columns = 64, eps = 1.0e-5, label = "norm"}
  }
  mllm.program.instruction {
    mllm.kernel.elementwise over logit_rows ins(%rows64 : memref<8x64xf32>) outs(%other64 : memref<8x64xf32>)
        {columns = 64, label = "exp"} apply {
    ^bb0(%x: f32):
      %0 = math.exp %x : f32
      mllm.program.yield %0 : f32
    }
    mllm.kernel.elementwise over logit_rows ins(%other64 : memref<8x64xf32>) outs(%rows64 : memref<8x64xf32>)
        {columns = 64, label = "exp"} apply {
    ^bb0(%y: f32):
      %0 = math.exp %y : f32
      mllm.program.yield %0 : f32
    }
    mllm.kernel.elementwise over logit_rows ins(%other64 : memref<8x64xf32>) outs(%rows64 : memref<8x64xf32>)
        {columns = 64, label = "exp"} apply {
    ^bb0(%y: f32):
      %0 = math.exp2 %y : f32
      mllm.program.yield %0 : f32
    }
  }
  mllm.program.instruction {
    mllm.kernel.append_kv ins(%rows16, %other16 : memref<8x16xf32>, memref<8x16xf32>)
        {kv_format = "bf16", kv_heads = 2, head_dim = 8, value_dim = 8, block_size = 16}
    mllm.kernel.paged_attention ins(%rows64 : memref<8x64xf32>) outs(%other64 : memref<8x64xf32>)
        {kv_format = "bf16", heads = 8, kv_heads = 2, head_dim = 8, value_dim = 8, block_size = 16, scale = 0.25, label = "attention"}
  }
  mllm.program.instruction {
    %s = mllm.program.get_weight @sinks : memref<16xf32>
    mllm.kernel.paged_attention sinks(%s : memref<16xf32>) ins(%rows64 : memref<8x64xf32>) outs(%other64 : memref<8x64xf32>)
        {kv_format = "bf16", heads = 8, kv_heads = 2, head_dim = 8, value_dim = 8, block_size = 8, scale = 0.25, window = 4,
         label = "attention_sinks"}
    mllm.kernel.paged_attention sinks(%row : memref<1x16xf32>) ins(%rows64 : memref<8x64xf32>) mask(%rows48 : memref<8x48xf32>)
        outs(%rows32 : memref<8x32xf32>)
        {kv_format = "f32", heads = 8, kv_heads = 2, head_dim = 8, value_dim = 4, block_size = 16, scale = 0.25, causal = false,
         soft_cap = 30.0, mask_strides = array<i64: 0, 0, 0, 48, 1>, label = "attention_mask"}
    mllm.kernel.paged_attention ins(%rows64 : memref<8x64xf32>) partials(%partials : memref<2048x48xf32>)
        outs(%other64 : memref<8x64xf32>)
        {kv_format = "q8", heads = 8, kv_heads = 2, head_dim = 8, value_dim = 8, block_size = 16, scale = 0.25,
         label = "attention_splits"}
    mllm.kernel.merge_attention sinks(%row : memref<1x16xf32>) partials(%partials : memref<2048x48xf32>)
        outs(%other64 : memref<8x64xf32>)
        {kv_format = "q8", heads = 8, kv_heads = 2, head_dim = 8, value_dim = 8, block_size = 16, scale = 0.25, label = "merge"}
  }
  mllm.program.instruction {
    %t = mllm.program.get_weight @table : memref<1152xi8>
    mllm.kernel.lookup_kv outs(%rows16, %rows32 : memref<8x16xf32>, memref<8x32xf32>)
        {kv_format = "f16", kv_heads = 2, head_dim = 8, value_dim = 12, block_size = 16, rows = 8}
    mllm.kernel.rope_angles outs(%rows16, %other16 : memref<8x16xf32>, memref<8x16xf32>) {frequencies = array<f64: 1.0, 0.1>}
    mllm.kernel.rope ins(%rows16, %other16, %rows64 : memref<8x16xf32>, memref<8x16xf32>, memref<8x64xf32>)
        outs(%other64 : memref<8x64xf32>) {heads = 8, head_dim = 8, rotary_dim = 4}
    mllm.kernel.embedding weights(%t : memref<1152xi8>) outs(%rows32 : memref<8x32xf32>)
        {format = "int4:g32:f16", rows = 50, columns = 32}
    mllm.kernel.select_rows ins(%rows64 : memref<8x64xf32>) outs(%few64 : memref<4x64xf32>) {columns = 60}
    mllm.kernel.mean_rows ins(%other64 : memref<8x64xf32>) outs(%few64 : memref<4x64xf32>) {columns = 60}
  }
  mllm.program.instruction {
    %w = mllm.program.get_weight @vector : memref<64xf32>
    mllm.kernel.layer_norm weights(%w : memref<64xf32>) bias(%w : memref<64xf32>) ins(%rows64 : memref<8x64xf32>)
        outs(%other64 : memref<8x64xf32>) {columns = 60, eps = 1.0e-5}
    mllm.kernel.rms_norm ins(%rows64 : memref<8x64xf32>) outs(%other64 : memref<8x64xf32>)
        {columns = 64, eps = 1.0e-5, label = "bare_norm"}
    mllm.kernel.softmax over logit_rows ins(%rows64 : memref<8x64xf32>) outs(%other64 : memref<8x64xf32>)
        {columns = 10, groups = 6}
    mllm.kernel.copy_box ins(%rows48 : memref<8x48xf32>) outs(%flat : memref<12x32xf32>)
        {sizes = array<i64: 384>, from_columns = 48, from_strides = array<i64: 1>, to_columns = 32,
         to_strides = array<i64: 1>, label = "reshape"}
  }
  mllm.program.instruction {
    %e = mllm.program.get_weight @experts : memref<10240xi8>
    mllm.kernel.moe_route ins(%rows16 : memref<8x16xf32>) outs(%other16, %chosen : memref<8x16xf32>, memref<8x2xi32>)
        {experts = 5, top_k = 2, sigmoid, normalize}
    mllm.kernel.moe_linear weights(%e : memref<10240xi8>) ins(%offsets, %places16 : memref<1x6xi32>, memref<16x16xf32>)
        outs(%places32 : memref<16x32xf32>) {format = "bf16", experts = 5, rows = 20, columns = 32}
  }
  mllm.program.exit
}

// Packed bytes: 3 tiles of 16 rows, 32 lines of 64 bytes each.
// CHECK: func.func private @linear(%{{.*}}: !llvm.ptr, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<6144xi8>, %{{.*}}: memref<48xf32>, %{{.*}}: memref<8x32xf32>, %{{.*}}: memref<8x48xf32>)
// Four row tiles and four tokens at a time if there are enough registers,
// otherwise one tile and three tokens.
// CHECK: iter_args({{(%[a-z0-9_]+ = %[a-z0-9_]+, ){15}%[a-z0-9_]+ = %[a-z0-9_]+\)}}
// V3-LABEL: func.func private @linear(
// V3: iter_args({{(%[a-z0-9_]+ = %[a-z0-9_]+, ){2}%[a-z0-9_]+ = %[a-z0-9_]+\)}}
// V3-NOT: iter_args({{(%[a-z0-9_]+ = %[a-z0-9_]+, ){3}%}}
// V3-LABEL: func.func private @norm(
// CHECK: func.func private @linear_0(
// The packed bytes are in a buffer of the program.
// CHECK: func.func private @from_buffer(%{{.*}}: memref<6144xi8>, %{{.*}}: memref<48xf32>, %{{.*}}: memref<8x32xf32>, %{{.*}}: memref<8x48xf32>)
// CHECK: func.func private @round_rows(%{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x32xf32>)
// CHECK: func.func private @norm(%{{.*}}: !llvm.ptr, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<64xf32>, %{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x64xf32>)
// CHECK: linalg.generic
// VECTOR-LABEL: func.func private @norm(
// VECTOR: vector.load
// VECTOR: math.fma %{{.*}} : vector<16xf32>
// VECTOR: vector.store
// CHECK: func.func private @exp(
// CHECK: math.exp %{{.*}} : f32
// VECTOR-LABEL: func.func private @exp(
// CHECK: func.func private @exp_1(
// CHECK: math.exp2
// CHECK: func.func private @append_kv(
// CHECK: func.func private @attention(
// Sinks are a vector, whether a weight or a row of a buffer; tokens of blocks
// of 8 are copied together.
// CHECK: func.func private @attention_sinks(%{{.*}}, %{{.*}}: memref<16xf32>, %{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x64xf32>)
// CHECK: %[[PART:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xi32>
// CHECK: llvm.store %[[PART]], %{{.*}} : vector<8xi32>
// CHECK: func.func private @attention_mask(%{{.*}}: memref<16xf32>, %{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x48xf32>, %{{.*}}: memref<8x32xf32>)
// CHECK: math.tanh
// CHECK: vector.maskedload
// VECTOR-LABEL: func.func private @attention_mask(
// VECTOR-NOT: math.tanh
// CHECK: func.func private @attention_splits(%{{.*}}: memref<8x64xf32>, %{{.*}}: memref<2048x48xf32>, %{{.*}}: memref<8x64xf32>)
// CHECK: func.func private @merge(%{{.*}}: memref<16xf32>, %{{.*}}: memref<2048x48xf32>, %{{.*}}: memref<8x64xf32>)
// CHECK: func.func private @lookup_kv(%{{.*}}: memref<8x16xf32>, %{{.*}}: memref<8x32xf32>)
// VECTOR-LABEL: func.func private @lookup_kv(
// CHECK: func.func private @rope_angles(
// CHECK: func.func private @rope(
// CHECK: func.func private @embedding(%{{.*}}, %{{.*}}: memref<1152xi8>, %{{.*}}: memref<8x32xf32>)
// CHECK: func.func private @select_rows(
// CHECK: func.func private @mean_rows(
// CHECK: func.func private @layer_norm(%{{.*}}: index, %{{.*}}: memref<64xf32>, %{{.*}}: memref<64xf32>, %{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x64xf32>)
// CHECK: func.func private @bare_norm(%{{.*}}: index, %{{.*}}: memref<8x64xf32>, %{{.*}}: memref<8x64xf32>)
// CHECK: func.func private @softmax(
// Rows of 48 become rows of 32: 16 elements at a time.
// CHECK: func.func private @reshape(
// CHECK: vector.load %{{.*}} : memref<8x48xf32>, vector<16xf32>
// CHECK: vector.store %{{.*}} : memref<12x32xf32>, vector<16xf32>
// CHECK: func.func private @moe_route(%{{.*}}: memref<8x16xf32>, %{{.*}}: memref<8x16xf32>, %{{.*}}: memref<8x2xi32>)
// Five matrices of 2 x 16 rows, 32 bytes of lines for each.
// CHECK: func.func private @moe_linear(%{{.*}}: index, %{{.*}}: memref<10240xi8>, %{{.*}}: memref<1x6xi32>, %{{.*}}: memref<16x16xf32>, %{{.*}}: memref<16x32xf32>)
