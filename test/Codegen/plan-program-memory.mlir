// RUN: llmir-opt %s --plan-program-memory --split-input-file | FileCheck %s

// Buffers that are not alive together share memory; the largest is placed
// first. A phase ends at a barrier.

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "k" {} [memref<8x16xf32>, memref<8x16xf32>]
  mllm.program.kernel @wide "k" {} [memref<8x16xf32>, memref<8x32xf32>]
  mllm.program.kernel @narrow "k" {} [memref<8x32xf32>, memref<8x16xf32>]
}
// 512 bytes of %a, %b, %d; 1024 of %c.
// CHECK-LABEL: @chain code attributes {arena_bytes = 1536 : i64}
mllm.program.fragment @chain code {
  // CHECK-NEXT: buffer offset 0 : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 1024 : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 0 : memref<8x32xf32>
  %c = mllm.program.buffer : memref<8x32xf32>
  // CHECK-NEXT: buffer offset 1024 : memref<8x16xf32>
  %d = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction @k weights [] (%a, %b) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.instruction @wide weights [] (%b, %c) : memref<8x16xf32>, memref<8x32xf32>
  mllm.program.barrier
  mllm.program.instruction @narrow weights [] (%c, %d) : memref<8x32xf32>, memref<8x16xf32>
  mllm.program.exit
}

// -----

// Between two barriers workers run ahead of each other: nothing is shared.

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "k" {} [memref<8x16xf32>, memref<8x16xf32>]
}
// CHECK-LABEL: @one_phase code attributes {arena_bytes = 2048 : i64}
mllm.program.fragment @one_phase code {
  // CHECK-NEXT: buffer offset 0
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 512
  %b = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 1024
  %c = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 1536
  %d = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction @k weights [] (%a, %b) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.instruction @k weights [] (%c, %d) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.exit
}

// -----

// What enters a loop lives until the loop's end: %x is read again in the next
// round. What is made and used inside is free again within the round.

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "k" {} [memref<8x16xf32>, memref<8x16xf32>]
}
// CHECK-LABEL: @loop code attributes {arena_bytes = 1536 : i64}
mllm.program.fragment @loop code {
  // CHECK-NEXT: buffer offset 0 : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 512 : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 1024 : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 512 : memref<8x16xf32>
  %x = mllm.program.buffer : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  %c = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction @k weights [] (%x, %x) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.set_layer 0
  mllm.program.label "layers"
  mllm.program.instruction @k weights [] (%x, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.instruction @k weights [] (%a, %b) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.instruction @k weights [] (%b, %c) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.jump_next_layer "layers" below 4
  mllm.program.exit
}

// -----

// A value that goes round a loop without being touched outside is not lost
// either: %carried must not share with %a, which is written before %carried is
// read in the next round.

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "k" {} [memref<8x16xf32>, memref<8x16xf32>]
}
// CHECK-LABEL: @carried code attributes {arena_bytes = 1536 : i64}
mllm.program.fragment @carried code {
  // CHECK-NEXT: buffer offset 0 : memref<8x16xf32>
  %x = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 512 : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 1024 : memref<8x16xf32>
  %carried = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 512 : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction @k weights [] (%x, %x) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.label "layers"
  mllm.program.instruction @k weights [] (%x, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.instruction @k weights [] (%carried, %b) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.instruction @k weights [] (%b, %carried) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.jump_next_layer "layers" below 4
  mllm.program.exit
}

// -----

// The same for a value that comes into the loop with no barrier before it.

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "k" {} [memref<8x16xf32>, memref<8x16xf32>]
}
// CHECK-LABEL: @enters code attributes {arena_bytes = 1536 : i64}
mllm.program.fragment @enters code {
  // CHECK-NEXT: buffer offset 0 : memref<8x16xf32>
  %x = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 512 : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 1024 : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction @k weights [] (%x, %x) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.label "layers"
  mllm.program.instruction @k weights [] (%x, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  // The last use of %x in a round.
  mllm.program.instruction @k weights [] (%a, %b) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.instruction @k weights [] (%b, %b) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.jump_next_layer "layers" below 4
  mllm.program.exit
}

// -----

// What nothing touches has a place all the same.

// CHECK-LABEL: @unused code attributes {arena_bytes = 512 : i64}
mllm.program.fragment @unused code {
  // CHECK-NEXT: buffer offset 0 : memref<8x16xf32>
  %x = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.exit
}

// -----

// CHECK-LABEL: @no_buffers code {
mllm.program.fragment @no_buffers code {
  mllm.program.entry_point
  mllm.program.exit
}
