// RUN: llmir-opt %s --plan-program-memory --split-input-file | FileCheck %s

// Buffers with disjoint lifetimes share memory; the largest is assigned first.
// A phase ends at a barrier.

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
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%c : memref<8x32xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%c : memref<8x32xf32>) outs(%d : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// Between two barriers, workers are not synchronized: nothing is shared.

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
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.instruction {
    mllm.kernel.softmax ins(%c : memref<8x16xf32>) outs(%d : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// Buffers that are live into a loop are live until its end: %x is read again in
// the next iteration. Buffers written and read inside are free again within the
// iteration.

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
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.set_layer 0
  mllm.program.label "layers"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%c : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.jump_next_layer "layers" below 4
  mllm.program.exit
}

// -----

// A loop-carried value that is not accessed outside is preserved, too: %carried
// must not share with %a, which is written before %carried is read in the next
// iteration.

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
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.label "layers"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%carried : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%carried : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.jump_next_layer "layers" below 4
  mllm.program.exit
}

// -----

// The same for a value that enters the loop without a barrier before it.

// CHECK-LABEL: @enters code attributes {arena_bytes = 1536 : i64}
mllm.program.fragment @enters code {
  // CHECK-NEXT: buffer offset 0 : memref<8x16xf32>
  %x = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 512 : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 1024 : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.label "layers"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  // The last use of %x in an iteration.
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.jump_next_layer "layers" below 4
  mllm.program.exit
}

// -----

// Unused buffers are assigned memory as well.

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

// -----

// Buffers to which the step context points are read by kernels that do not have
// them as operands: they are live until the field is set again. Inputs are live
// from the start, outputs to the end.

// CHECK-LABEL: @pointers code
mllm.program.fragment @pointers code {
  // Phases 0 and 1; %b, which is live from phase 1 on, must not share its
  // memory.
  // CHECK-NEXT: buffer offset 1536 : memref<1x16xi32>
  %ids = mllm.program.buffer : memref<1x16xi32>
  mllm.program.input "arg0" (%ids) columns 16 : memref<1x16xi32>
  // Phases 0 to 2, as a result.
  // CHECK: buffer offset 0 : memref<8x16xf32>
  %x = mllm.program.buffer : memref<8x16xf32>
  mllm.program.input "arg1" (%x) columns 16 : memref<8x16xf32>
  // CHECK: buffer offset 512 : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 1024 : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  // Phase 2.
  // CHECK-NEXT: buffer offset 1536 : memref<1x16xi32>
  %more = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.set_field token_ids at %ids : memref<1x16xi32>
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.set_field token_ids at %more : memref<1x16xi32>
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.output "result0" (%a) columns 16 : memref<8x16xf32>
  mllm.program.output "result1" (%x) columns 16 : memref<8x16xf32>
  mllm.program.exit
}

// -----

// In a decode-sized step, per-worker buffers are in the memory of each worker,
// with the rows of such a step, planned for the order in which one worker
// executes the code: %b reuses the memory of %a, which is dead. Their offsets
// in the arena are for larger steps, in which a barrier separates %a and %y;
// the other buffers must not depend on that barrier: %x, %y and %z are live at
// the same time. The workers' pages follow the arena, rounded up to whole
// pages.

// CHECK-LABEL: @few code attributes {arena_bytes = 4096 : i64, decode_tokens = 2 : i64, worker_bytes = 4096 : i64}
mllm.program.fragment @few code attributes {decode_tokens = 2 : i64} {
  // CHECK-NEXT: buffer offset 0 : memref<8x16xf32>
  %x = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 1024 per_worker at 0 : memref<8x16xf32>
  %a = mllm.program.buffer per_worker : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 512 : memref<8x16xf32>
  %y = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 512 per_worker at 0 : memref<8x16xf32>
  %b = mllm.program.buffer per_worker : memref<8x16xf32>
  // CHECK-NEXT: buffer offset 1024 : memref<8x16xf32>
  %z = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction replicated {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier unless_decode
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%y : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier unless_decode
  mllm.program.instruction replicated {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier unless_decode
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%z : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// A loop that is closed by a jump and left by another one: loop-carried buffers
// are live in the whole loop, those written and read inside are free again
// within the iteration.
// CHECK-LABEL: @jumps code attributes {arena_bytes = 1600 : i64}
mllm.program.fragment @jumps code {
  // CHECK-NEXT: buffer offset [[X:[0-9]+]] : memref<8x16xf32>
  %x = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset {{[0-9]+}} : memref<1x16xi32>
  %n = mllm.program.buffer : memref<1x16xi32>
  // CHECK-NEXT: buffer offset [[A:[0-9]+]] : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset [[B:[0-9]+]] : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  // CHECK-NEXT: buffer offset [[A]] : memref<8x16xf32>
  %c = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.label "again"
  mllm.program.jump_if "end" (%n) : memref<1x16xi32>
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%c : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%c : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.jump "again"
  mllm.program.label "end"
  mllm.program.exit
}

// -----

// A write that may be skipped does not kill the value of the previous
// iteration: %a, whose write the jump skips, keeps its value, and %d must not
// share its memory.

// CHECK-LABEL: @skipped code attributes {arena_bytes = 2560 : i64}
mllm.program.fragment @skipped code {
  %n = mllm.program.buffer : memref<8x16xi32>
  %x = mllm.program.buffer : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  %c = mllm.program.buffer : memref<8x16xf32>
  %d = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.label "again"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%d : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%d : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.jump_if "over" (%n) : memref<8x16xi32>
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.label "over"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%c : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%c : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.jump_if "again" (%n) : memref<8x16xi32>
  mllm.program.exit
}

// -----

// Without a barrier before a forward jump, earlier instructions may still be
// running after it: their buffers are live until the label, and %a and %b do
// not share.

// CHECK-LABEL: @no_barrier code attributes {arena_bytes = 1536 : i64}
mllm.program.fragment @no_barrier code {
  %x = mllm.program.buffer : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.jump "end"
  mllm.program.barrier
  mllm.program.label "end"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// With a barrier, they have completed.

// CHECK-LABEL: @barrier_first code attributes {arena_bytes = 1024 : i64}
mllm.program.fragment @barrier_first code {
  %x = mllm.program.buffer : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.jump "end"
  mllm.program.barrier
  mllm.program.label "end"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// All buffers of the kernels of one instruction are live at the same time.

// CHECK-LABEL: @fused code attributes {arena_bytes = 1536 : i64}
mllm.program.fragment @fused code {
  %x = mllm.program.buffer : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// After a backward jump, a worker may start the next iteration while others
// still read the condition: %n, which is written and read inside the loop, does
// not share its memory with %a, which is written at the start of an iteration.

// CHECK-LABEL: @decided code attributes {arena_bytes = 1536 : i64}
mllm.program.fragment @decided code {
  %x = mllm.program.buffer : memref<8x16xf32>
  %a = mllm.program.buffer : memref<8x16xf32>
  %n = mllm.program.buffer : memref<8x16xi32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.label "again"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.loops ins(%x : memref<8x16xf32>) outs(%n : memref<8x16xi32>)
        {sizes = array<i64: 8, 16>, parallel = 2, columns = 16,
         maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%row: index, %column: index, %element: f32):
      %number = arith.fptosi %element : f32 to i32
      mllm.program.yield %number : i32
    }
  }
  mllm.program.barrier
  mllm.program.jump_if "again" (%n) : memref<8x16xi32>
  mllm.program.exit
}

// -----

// A field points to the buffer set on either path: kernels after the label may
// read %a and %b, so %c, which is only live there, shares memory with %n, but
// not with them.

// CHECK-LABEL: @fields code attributes {arena_bytes = 192 : i64}
// CHECK-NEXT: buffer offset 128
// CHECK-NEXT: buffer offset 0
// CHECK-NEXT: buffer offset 64
// CHECK-NEXT: buffer offset 128
mllm.program.fragment @fields code {
  %n = mllm.program.buffer : memref<1x16xi32>
  %a = mllm.program.buffer : memref<1x16xi32>
  %b = mllm.program.buffer : memref<1x16xi32>
  %c = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.loops outs(%a : memref<1x16xi32>)
        {sizes = array<i64: 1, 16>, parallel = 2, columns = 16, maps = [affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%row: index, %column: index):
      %zero = arith.constant 0 : i32
      mllm.program.yield %zero : i32
    }
  }
  mllm.program.instruction {
    mllm.kernel.loops outs(%b : memref<1x16xi32>)
        {sizes = array<i64: 1, 16>, parallel = 2, columns = 16, maps = [affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%row: index, %column: index):
      %zero = arith.constant 0 : i32
      mllm.program.yield %zero : i32
    }
  }
  mllm.program.instruction {
    mllm.kernel.loops outs(%n : memref<1x16xi32>)
        {sizes = array<i64: 1, 16>, parallel = 2, columns = 16, maps = [affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%row: index, %column: index):
      %zero = arith.constant 0 : i32
      mllm.program.yield %zero : i32
    }
  }
  mllm.program.set_field token_ids at %a : memref<1x16xi32>
  mllm.program.barrier
  mllm.program.jump_if "over" (%n) : memref<1x16xi32>
  mllm.program.set_field token_ids at %b : memref<1x16xi32>
  mllm.program.label "over"
  mllm.program.barrier
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.loops outs(%c : memref<1x16xi32>)
        {sizes = array<i64: 1, 16>, parallel = 2, columns = 16, maps = [affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%row: index, %column: index):
      %zero = arith.constant 0 : i32
      mllm.program.yield %zero : i32
    }
  }
  mllm.program.exit
}
