// RUN: llmir-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// CHECK-LABEL: mllm.program.fragment @weights data attributes {weight_bytes = 8704 : i64} {
mllm.program.fragment @weights data attributes {weight_bytes = 8704 : i64} {
  // A weight of a run of layers, with one source and one offset a layer.
  // CHECK-NEXT: mllm.program.weight @layers.q_proj "tiles16" "bf16" [64, 32] bytes 4096 sources ["l0.q", "l1.q"] at [0, 4096] first_layer 3 rope_unpermute_heads 4
  mllm.program.weight @layers.q_proj "tiles16" "bf16" [64, 32] bytes 4096 sources ["l0.q", "l1.q"] at [0, 4096] first_layer 3 rope_unpermute_heads 4
  // CHECK-NEXT: mllm.program.weight @norm "vector" "f32" [64] bytes 256 sources ["norm"] at [8192]{{$}}
  mllm.program.weight @norm "vector" "f32" [64] bytes 256 sources ["norm"] at [8192]
  // The middle third of a tensor that is stored as [columns, rows].
  // CHECK-NEXT: mllm.program.weight @k "tiles16" "f32" [16, 4] bytes 256 sources ["qkv"] at [8448] {slice = array<i64: 16, 48>, transposed}
  mllm.program.weight @k "tiles16" "f32" [16, 4] bytes 256 sources ["qkv"] at [8448] {slice = array<i64: 16, 48>, transposed}
}

// Constants by name; the text may call the fragment a table.
// The name used by mllm, table, is accepted as well. SPEC: 254
// CHECK-LABEL: mllm.program.fragment @constants text {
mllm.program.fragment @constants table {
  // CHECK-NEXT: mllm.program.constant @slopes dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
  mllm.program.constant @slopes dense<[0.5, 0.25]> : tensor<2xf32>
}

// CHECK-LABEL: mllm.program.fragment @llmir_step code attributes {arena_bytes = 4096 : i64} {
mllm.program.fragment @llmir_step code attributes {arena_bytes = 4096 : i64} {
  // CHECK-NEXT: %[[A:.*]] = mllm.program.buffer offset 2048 : memref<8x32xf32>
  %a = mllm.program.buffer offset 2048 : memref<8x32xf32>
  // CHECK-NEXT: %[[B:.*]] = mllm.program.buffer : memref<8x64xf32>
  %b = mllm.program.buffer : memref<8x64xf32>
  // CHECK-NEXT: %[[L:.*]] = mllm.program.logits : memref<8x64xf32>
  %l = mllm.program.logits : memref<8x64xf32>
  // CHECK-NEXT: mllm.program.entry_point
  mllm.program.entry_point
  // CHECK-NEXT: mllm.program.set_layer 3
  mllm.program.set_layer 3
  // CHECK-NEXT: mllm.program.label "layers.0"
  mllm.program.label "layers.0"
  // CHECK-NEXT: mllm.program.instruction {
  // CHECK-NEXT:   %[[W:.*]] = mllm.program.get_weight @layers.q_proj : memref<4096xi8>
  // CHECK-NEXT:   mllm.kernel.linear weights(%[[W]] : memref<4096xi8>) ins(%[[A]] : memref<8x32xf32>) outs(%[[B]] : memref<8x64xf32>) {columns = 32 : i64, format = "bf16", label = "q", rows = 64 : i64}
  // CHECK-NEXT: }
  mllm.program.instruction {
    %w = mllm.program.get_weight @layers.q_proj : memref<4096xi8>
    mllm.kernel.linear weights(%w : memref<4096xi8>) ins(%a : memref<8x32xf32>) outs(%b : memref<8x64xf32>)
        {format = "bf16", rows = 64, columns = 32, label = "q"}
  }
  // CHECK-NEXT: mllm.program.barrier
  mllm.program.barrier
  // CHECK-NEXT: mllm.program.jump_next_layer "layers.0" below 5
  mllm.program.jump_next_layer "layers.0" below 5
  // CHECK-NEXT: mllm.program.instruction {
  // CHECK-NEXT:   mllm.kernel.elementwise ins(%[[B]] : memref<8x64xf32>) outs(%[[L]] : memref<8x64xf32>) {columns = 64 : i64} apply {
  // CHECK-NEXT:   ^bb0(%[[X:.*]]: f32):
  // CHECK-NEXT:     %[[S:.*]] = arith.addf %[[X]], %[[X]] : f32
  // CHECK-NEXT:     mllm.program.yield %[[S]] : f32
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  mllm.program.instruction {
    mllm.kernel.elementwise ins(%b : memref<8x64xf32>) outs(%l : memref<8x64xf32>) {columns = 64} apply {
    ^bb0(%x: f32):
      %s = arith.addf %x, %x : f32
      mllm.program.yield %s : f32
    }
  }
  // CHECK-NEXT: mllm.program.exit
  mllm.program.exit
}

// Decode-sized steps.
// CHECK-LABEL: mllm.program.fragment @few code attributes {decode_tokens = 8 : i64} {
mllm.program.fragment @few code attributes {decode_tokens = 8 : i64} {
  // CHECK-NEXT: %[[A:.*]] = mllm.program.buffer per_worker : memref<8x64xf32>
  %a = mllm.program.buffer per_worker : memref<8x64xf32>
  // CHECK-NEXT: mllm.program.buffer offset 4096 per_worker at 128 : memref<8x64xf32>
  %b = mllm.program.buffer offset 4096 per_worker at 128 : memref<8x64xf32>
  // CHECK-NEXT: mllm.program.entry_point
  mllm.program.entry_point
  // CHECK-NEXT: mllm.program.instruction replicated {
  // CHECK-NEXT:   mllm.kernel.rms_norm
  mllm.program.instruction replicated {
    mllm.kernel.rms_norm ins(%a : memref<8x64xf32>) outs(%a : memref<8x64xf32>) {columns = 64, eps = 1.0e-5}
  }
  // CHECK: mllm.program.barrier unless_decode
  mllm.program.barrier unless_decode
  // CHECK-NEXT: mllm.program.exit
  mllm.program.exit
}

// Programs of functions: constants, inputs, outputs, fields of the step context
// and calls of the runtime.
// CHECK-LABEL: mllm.program.fragment @values data {
mllm.program.fragment @values data {
  // CHECK-NEXT: mllm.program.constant @constant0 dense<[0, 4, 8]> : tensor<3xi32>
  mllm.program.constant @constant0 dense<[0, 4, 8]> : tensor<3xi32>
}

// CHECK-LABEL: mllm.program.fragment @function code {
mllm.program.fragment @function code {
  // CHECK-NEXT: %[[X:.*]] = mllm.program.buffer : memref<8x64xf32>
  %x = mllm.program.buffer : memref<8x64xf32>
  // CHECK-NEXT: mllm.program.input "arg0.rank1"(%[[X]]) columns 60 : memref<8x64xf32>
  mllm.program.input "arg0.rank1" (%x) columns 60 : memref<8x64xf32>
  // CHECK-NEXT: %[[I:.*]] = mllm.program.buffer : memref<1x16xi32>
  %i = mllm.program.buffer : memref<1x16xi32>
  // CHECK-NEXT: mllm.program.input "constant0"(%[[I]]) columns 3 : memref<1x16xi32>
  mllm.program.input "constant0" (%i) columns 3 : memref<1x16xi32>
  // CHECK-NEXT: mllm.program.entry_point
  mllm.program.entry_point
  // CHECK-NEXT: mllm.program.set_field num_tokens to 7
  mllm.program.set_field num_tokens to 7
  // CHECK-NEXT: mllm.program.set_field query_offsets at %[[I]] : memref<1x16xi32>
  mllm.program.set_field query_offsets at %i : memref<1x16xi32>
  // CHECK-NEXT: mllm.program.set_field kv_pool restored
  mllm.program.set_field kv_pool restored
  // CHECK-NEXT: mllm.program.runtime_call sample(%[[X]], %[[I]]) [3, 60, 64, 8.000000e-01, 0, 1.000000e+00, 0.000000e+00, 7] : memref<8x64xf32>, memref<1x16xi32>
  mllm.program.runtime_call sample (%x, %i)
    [3 : i64, 60 : i64, 64 : i64, 0.8 : f64, 0 : i64, 1.0 : f64, 0.0 : f64, 7 : i64] : memref<8x64xf32>, memref<1x16xi32>
  // CHECK-NEXT: mllm.program.output "result0"(%[[X]]) columns 60 : memref<8x64xf32>
  mllm.program.output "result0" (%x) columns 60 : memref<8x64xf32>
  // CHECK-NEXT: mllm.program.exit
  mllm.program.exit
}

// Jumps, and instructions of several kernels.
// CHECK-LABEL: mllm.program.fragment @jumps code {
mllm.program.fragment @jumps code {
  // CHECK-NEXT: %[[A:.*]] = mllm.program.buffer : memref<8x32xf32>
  %a = mllm.program.buffer : memref<8x32xf32>
  // CHECK-NEXT: %[[B:.*]] = mllm.program.buffer : memref<8x64xf32>
  %b = mllm.program.buffer : memref<8x64xf32>
  // CHECK-NEXT: %[[C:.*]] = mllm.program.buffer : memref<8x64xf32>
  %c = mllm.program.buffer : memref<8x64xf32>
  // CHECK-NEXT: %[[N:.*]] = mllm.program.buffer : memref<1x16xi32>
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  // CHECK: mllm.program.label "again"
  mllm.program.label "again"
  // Forwards.
  // CHECK-NEXT: mllm.program.jump_if "end"(%[[N]]) : memref<1x16xi32>
  mllm.program.jump_if "end" (%n) : memref<1x16xi32>
  // CHECK-NEXT: mllm.program.instruction {
  // CHECK-NEXT:   %[[W:.*]] = mllm.program.get_weight @layers.q_proj : memref<4096xi8>
  // CHECK-NEXT:   mllm.kernel.linear weights(%[[W]] : memref<4096xi8>)
  // CHECK-NEXT:   mllm.kernel.softmax ins(%[[B]] : memref<8x64xf32>) outs(%[[C]] : memref<8x64xf32>) {columns = 64 : i64}
  // CHECK-NEXT: }
  mllm.program.instruction {
    %w = mllm.program.get_weight @layers.q_proj : memref<4096xi8>
    mllm.kernel.linear weights(%w : memref<4096xi8>) ins(%a : memref<8x32xf32>) outs(%b : memref<8x64xf32>)
        {format = "bf16", rows = 64, columns = 32}
    mllm.kernel.softmax ins(%b : memref<8x64xf32>) outs(%c : memref<8x64xf32>) {columns = 64}
  }
  // Calls of generated functions, with and without operands.
  // CHECK-NEXT: mllm.program.instruction {
  // CHECK-NEXT:   mllm.program.call @twice(%[[B]], %[[C]]) : memref<8x64xf32>, memref<8x64xf32>
  // CHECK-NEXT:   mllm.program.call @nothing(){{$}}
  // CHECK-NEXT: }
  mllm.program.instruction {
    mllm.program.call @twice (%b, %c) : memref<8x64xf32>, memref<8x64xf32>
    mllm.program.call @nothing ()
  }
  // Backwards.
  // CHECK-NEXT: mllm.program.jump "again"
  mllm.program.jump "again"
  // CHECK-NEXT: mllm.program.label "end"
  mllm.program.label "end"
  mllm.program.exit
}

func.func private @twice(index, index, index, index, memref<8x64xf32>, memref<8x64xf32>)
func.func private @nothing(index, index, index, index)
