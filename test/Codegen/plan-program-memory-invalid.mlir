// RUN: llmir-opt %s --plan-program-memory --split-input-file --verify-diagnostics

// Sizes that no machine has are refused before they are added up.

mllm.program.fragment @step code {
  // expected-error@+1 {{has more than 70368744177664 bytes}}
  %0 = mllm.program.buffer : memref<4611686018427387904x16xf32>
  mllm.program.entry_point
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  // expected-error@+1 {{has more than 70368744177664 bytes}}
  %0 = mllm.program.buffer : memref<17592186044417xf32>
  mllm.program.entry_point
  mllm.program.exit
}

// -----

// Nobody may begin the next turn while others are still in this one.

mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x16xf32>
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "again"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  // expected-error@+1 {{goes back while what runs since the last barrier may still run; a barrier must stand before it}}
  mllm.program.jump_if "again" (%n) : memref<1x16xi32>
  mllm.program.exit
}

// -----

// The same where steps of few tokens pass the barrier by.

mllm.program.fragment @step code attributes {few_tokens = 4 : i64} {
  %x = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.label "layers"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier unless_few
  // expected-error@+1 {{goes back while what runs since the last barrier may still run; a barrier must stand before it}}
  mllm.program.jump_next_layer "layers" below 4
  mllm.program.exit
}

// -----

// What a jump has brought along still runs.

mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x16xf32>
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "again"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.jump_if "over" (%n) : memref<1x16xi32>
  mllm.program.barrier
  mllm.program.label "over"
  // expected-error@+1 {{goes back while what runs since the last barrier may still run; a barrier must stand before it}}
  mllm.program.jump "again"
  mllm.program.exit
}

// -----

// Two loops of which each begins or ends inside of the other.

mllm.program.fragment @step code {
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "a"
  mllm.program.label "b"
  // expected-note@+1 {{the other ends here}}
  mllm.program.jump_if "a" (%n) : memref<1x16xi32>
  // expected-error@+1 {{ends a loop that begins inside of another and goes on behind it}}
  mllm.program.jump_if "b" (%n) : memref<1x16xi32>
  mllm.program.exit
}

// -----

// All workers must see the same number.

mllm.program.fragment @step code {
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.loops outs(%n : memref<1x16xi32>)
        {sizes = array<i64: 1, 16>, parallel = 2, columns = 16, maps = [affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%row: index, %column: index):
      %zero = arith.constant 0 : i32
      mllm.program.yield %zero : i32
    }
  }
  // expected-error@+1 {{reads a number that an instruction since the last barrier may have written; a barrier must stand before it, or workers go different ways}}
  mllm.program.jump_if "end" (%n) : memref<1x16xi32>
  mllm.program.label "end"
  mllm.program.exit
}

// -----

// Also where the way to it has a barrier that another way has not.

mllm.program.fragment @step code {
  %n = mllm.program.buffer : memref<1x16xi32>
  %m = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.loops outs(%n : memref<1x16xi32>)
        {sizes = array<i64: 1, 16>, parallel = 2, columns = 16, maps = [affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%row: index, %column: index):
      %zero = arith.constant 0 : i32
      mllm.program.yield %zero : i32
    }
  }
  mllm.program.jump_if "over" (%m) : memref<1x16xi32>
  mllm.program.barrier
  mllm.program.label "over"
  // expected-error@+1 {{reads a number that an instruction since the last barrier may have written; a barrier must stand before it, or workers go different ways}}
  mllm.program.jump_if "end" (%n) : memref<1x16xi32>
  mllm.program.label "end"
  mllm.program.exit
}

// -----

// Nobody changes the number before all have read it.

mllm.program.fragment @step code {
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.jump_if "over" (%n) : memref<1x16xi32>
  mllm.program.barrier
  mllm.program.label "over"
  // expected-error@+1 {{writes the number by which a jump before it goes; a barrier must stand between them, since others may still read it}}
  mllm.program.instruction {
    mllm.kernel.loops outs(%n : memref<1x16xi32>)
        {sizes = array<i64: 1, 16>, parallel = 2, columns = 16, maps = [affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%row: index, %column: index):
      %zero = arith.constant 0 : i32
      mllm.program.yield %zero : i32
    }
  }
  mllm.program.exit
}

// -----

// Nor where the jump leads back: who is fast writes the next turn's number while
// others still read that of this one.

mllm.program.fragment @step code {
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "again"
  // expected-error@+1 {{writes the number by which a jump before it goes; a barrier must stand between them, since others may still read it}}
  mllm.program.instruction {
    mllm.kernel.loops outs(%n : memref<1x16xi32>)
        {sizes = array<i64: 1, 16>, parallel = 2, columns = 16, maps = [affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%row: index, %column: index):
      %zero = arith.constant 0 : i32
      mllm.program.yield %zero : i32
    }
  }
  mllm.program.barrier
  mllm.program.jump_if "again" (%n) : memref<1x16xi32>
  mllm.program.exit
}

// -----

// Nor where one jump back leads to another, and that to the instruction.

mllm.program.fragment @step code {
  %n = mllm.program.buffer : memref<1x16xi32>
  %m = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "outer"
  mllm.program.jump_if "over" (%m) : memref<1x16xi32>
  mllm.program.barrier
  mllm.program.label "over"
  // expected-error@+1 {{writes the number by which a jump before it goes}}
  mllm.program.instruction {
    mllm.kernel.loops outs(%n : memref<1x16xi32>)
        {sizes = array<i64: 1, 16>, parallel = 2, columns = 16, maps = [affine_map<(d0, d1) -> (d0, d1)>]} apply {
    ^bb0(%row: index, %column: index):
      %zero = arith.constant 0 : i32
      mllm.program.yield %zero : i32
    }
  }
  mllm.program.barrier
  mllm.program.label "inner"
  mllm.program.jump_if "out" (%m) : memref<1x16xi32>
  mllm.program.barrier
  mllm.program.jump_if "inner" (%n) : memref<1x16xi32>
  mllm.program.label "out"
  mllm.program.jump_if "outer" (%m) : memref<1x16xi32>
  mllm.program.exit
}
