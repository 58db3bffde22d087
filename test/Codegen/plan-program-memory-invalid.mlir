// RUN: llmir-opt %s --plan-program-memory --split-input-file --verify-diagnostics

// Excessive sizes are rejected before they are summed.

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

// No worker may start the next iteration while others are still in this one.

mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x16xf32>
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "again"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  // expected-error@+1 {{jumps backward while ops after the last barrier may still be running; a barrier is needed before it}}
  mllm.program.jump_if "again" (%n) : memref<1x16xi32>
  mllm.program.exit
}

// -----

// The same if decode-sized steps skip the barrier.

mllm.program.fragment @step code attributes {decode_tokens = 4 : i64} {
  %x = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.label "layers"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier unless_decode
  // expected-error@+1 {{jumps backward while ops after the last barrier may still be running; a barrier is needed before it}}
  mllm.program.jump_next_layer "layers" below 4
  mllm.program.exit
}

// -----

// Accesses that are pending at a jump are still pending after it.

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
  // expected-error@+1 {{jumps backward while ops after the last barrier may still be running; a barrier is needed before it}}
  mllm.program.jump "again"
  mllm.program.exit
}

// -----

// Two overlapping loops that are not nested.

mllm.program.fragment @step code {
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "a"
  mllm.program.label "b"
  // expected-note@+1 {{the other loop ends here}}
  mllm.program.jump_if "a" (%n) : memref<1x16xi32>
  // expected-error@+1 {{ends a loop that starts inside another loop and ends after it}}
  mllm.program.jump_if "b" (%n) : memref<1x16xi32>
  mllm.program.exit
}

// -----

// All workers must read the same condition.

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
  // expected-error@+1 {{reads a condition that an instruction after the last barrier may have written; a barrier is needed before it, or workers may take different branches}}
  mllm.program.jump_if "end" (%n) : memref<1x16xi32>
  mllm.program.label "end"
  mllm.program.exit
}

// -----

// Also if only one of two paths to it has a barrier.

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
  // expected-error@+1 {{reads a condition that an instruction after the last barrier may have written; a barrier is needed before it, or workers may take different branches}}
  mllm.program.jump_if "end" (%n) : memref<1x16xi32>
  mllm.program.label "end"
  mllm.program.exit
}

// -----

// The condition must not change before all workers have read it.

mllm.program.fragment @step code {
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.jump_if "over" (%n) : memref<1x16xi32>
  mllm.program.barrier
  mllm.program.label "over"
  // expected-error@+1 {{writes the condition of an earlier jump; a barrier is needed between them, since other workers may still read it}}
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

// Also for a backward jump: a fast worker could write the condition of the next
// iteration while others still read the current one.

mllm.program.fragment @step code {
  %n = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "again"
  // expected-error@+1 {{writes the condition of an earlier jump; a barrier is needed between them, since other workers may still read it}}
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

// Also if the instruction is reached through two backward jumps.

mllm.program.fragment @step code {
  %n = mllm.program.buffer : memref<1x16xi32>
  %m = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "outer"
  mllm.program.jump_if "over" (%m) : memref<1x16xi32>
  mllm.program.barrier
  mllm.program.label "over"
  // expected-error@+1 {{writes the condition of an earlier jump}}
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
