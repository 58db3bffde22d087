// RUN: llmir-opt %s --plan-program-memory --split-input-file | FileCheck %s

// Buffers that are not alive together share memory; the largest is placed
// first. A phase ends at a barrier.

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

// Between two barriers workers run ahead of each other: nothing is shared.

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

// What enters a loop lives until the loop's end: %x is read again in the next
// round. What is made and used inside is free again within the round.

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

// A value that goes round a loop without being touched outside is not lost
// either: %carried must not share with %a, which is written before %carried is
// read in the next round.

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

// The same for a value that comes into the loop with no barrier before it.

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
  // The last use of %x in a round.
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

// -----

// What the step context points to is read by kernels that do not name it: it
// lives until the field is set again. Inputs live from the start, outputs to the
// end.

// CHECK-LABEL: @pointers code
mllm.program.fragment @pointers code {
  // Phases 0 and 1; %b, which begins in phase 1, may not share its place.
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

// In a step of few tokens what is per worker lies in memory of each worker's
// own, with no more rows than such a step has, as one worker goes through the
// code: %b takes the place of %a, which its worker no longer needs. In the arena
// they lie as a larger step needs them, where a barrier parts %a and %y; the
// others must do without that barrier: %x, %y and %z are alive at once. The
// workers' pages follow behind whole pages.

// CHECK-LABEL: @few code attributes {arena_bytes = 4096 : i64, few_tokens = 2 : i64, worker_bytes = 4096 : i64}
mllm.program.fragment @few code attributes {few_tokens = 2 : i64} {
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
  mllm.program.barrier unless_few
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%y : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier unless_few
  mllm.program.instruction replicated {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier unless_few
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%z : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// A loop that a jump closes and another jump leaves: what it carries round lives
// all through it, what is made and used inside is free again within the turn.
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

// What may be left out is not written anew in each turn: %a, which the jump
// passes over, keeps what the turn before has left there, and %d may not share
// its place.

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

// Without a barrier before it, a jump forwards leaves those behind who still
// run: what they touch lives until the label, and %a and %b do not share.

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

// With one, they are done.

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

// Of several kernels in one instruction all buffers live together.

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

// Whoever jumps back may begin the next turn while others still read the number
// that decides: %n, which is made and read inside of the loop, does not share
// its place with %a, which the turn begins with.

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

// A field points to what either way has set it to: kernels behind the label may
// read %a and %b, and %c, which lives there alone, shares with neither, but with %n.

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
