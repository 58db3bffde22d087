// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// The program level; the cases are named by the constraint that they break.

// RULE: program.fragment.c1 (no code at all)
// expected-error@+1 {{code needs one entry_point, found 0}}
mllm.program.fragment @step code {
}

// -----

// RULE: program.fragment.c1 (an instruction where only buffers may stand)
mllm.program.fragment @step code {
  // expected-error@+1 {{stands before the entry_point of code fragment 'step', where only buffers and inputs may}}
  mllm.program.barrier
  mllm.program.entry_point
  mllm.program.exit
}

// -----

// RULE: program.fragment.c1 (buffers alone)
// expected-error@+1 {{code needs one entry_point, found 0}}
mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
}

// -----

// RULE: program.fragment.c1 (two entries)
// expected-error@+1 {{code needs one entry_point, found 2}}
mllm.program.fragment @step code {
  mllm.program.entry_point
  mllm.program.entry_point
  mllm.program.exit
}

// -----

// RULE: program.fragment.c1 (the end)
// expected-error@+1 {{code must end with mllm.program.exit}}
mllm.program.fragment @step code {
  mllm.program.entry_point
  mllm.program.exit
  mllm.program.barrier
}

// -----

// RULE: program.fragment.c2
mllm.program.fragment @weights data {
  // expected-error@+1 {{cannot stand in a fragment of data, which holds mllm.program.weight and mllm.program.constant only}}
  mllm.program.kernel @k "linear" {} []
}

// -----

// RULE: program.fragment.c3
mllm.program.fragment @kernels text {
  // expected-error@+1 {{cannot stand in a fragment of text, which holds mllm.program.kernel only}}
  mllm.program.barrier
}

// -----

mllm.program.fragment @weights data {
  // RULE: program.weight.c1
  // expected-error@+1 {{has 2 sources and 1 offsets; each source needs one offset, and one is the least}}
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources ["a", "b"] at [0]
}

// -----

mllm.program.fragment @weights data {
  // RULE: program.weight.c1 (none)
  // expected-error@+1 {{has 0 sources and 0 offsets}}
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources [] at []
}

// -----

mllm.program.fragment @weights data {
  // RULE: program.weight.c2
  // expected-error@+1 {{offset 65 is not a non-negative multiple of 64}}
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources ["a", "b"] at [0, 65]
}

// -----

mllm.program.fragment @weights data {
  // RULE: program.weight.c2
  // expected-error@+1 {{offset -64 is not a non-negative multiple of 64}}
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources ["a"] at [-64]
}

// -----

mllm.program.fragment @weights data {
  // RULE: program.weight.c3 (beyond the end)
  // expected-error@+1 {{has the 'slice' [33, 48], which does not contain its 16 rows}}
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources ["a"] at [0] {slice = array<i64: 33, 48>}
}

// -----

mllm.program.fragment @weights data {
  // RULE: program.weight.c3 (matrices of experts)
  // expected-error@+1 {{has a 'slice' that is not [first row, rows of the stored tensor] of a vector or a matrix}}
  mllm.program.weight @w "tiles16" "f32" [2, 16, 4] bytes 512 sources ["a"] at [0] {slice = array<i64: 0, 48>}
}

// -----

mllm.program.fragment @weights data {
  // RULE: program.weight.c4
  // expected-error@+1 {{is 'transposed', which is only valid for a matrix}}
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources ["a"] at [0] {transposed}
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  mllm.program.label "here"
  // RULE: program.jump_next_layer.c1
  // expected-error@+1 {{jumps to label "there", which this fragment lacks}}
  mllm.program.jump_next_layer "there" below 2
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.instruction.c1
  // expected-error@+1 {{calls kernel @k, which neither a text fragment nor the module defines}}
  mllm.program.instruction @k weights [] ()
  mllm.program.exit
}

// -----

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "rms_norm" {} []
}
mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.instruction.c2
  // expected-error@+1 {{uses weight @w, which no data fragment declares}}
  mllm.program.instruction @k weights [@w] ()
  mllm.program.exit
}

// -----

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "rms_norm" {} [memref<8x16xf32>, memref<8x16xf32>]
}
mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // RULE: program.instruction.c3 (their number)
  // expected-error@+1 {{passes 1 buffers to @k, which takes 2}}
  mllm.program.instruction @k weights [] (%0) : memref<8x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "rms_norm" {} [memref<8x16xf32>, memref<8x32xf32>]
}
mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // RULE: program.instruction.c3 (their types)
  // expected-error@+1 {{buffer 1 is 'memref<8x16xf32>', but @k takes 'memref<8x32xf32>'}}
  mllm.program.instruction @k weights [] (%0, %0) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  // expected-error@+1 {{must be statically shaped memref}}
  %0 = mllm.program.buffer : memref<?x16xf32>
  mllm.program.entry_point
  mllm.program.exit
}

// -----

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "elementwise" {columns = 16 : i64, over = "tokens"} [memref<8x16xf32>] {
    %0 = arith.constant 1.0 : f64
    // expected-error@+1 {{must be 32-bit float}}
    "mllm.program.yield"(%0) : (f64) -> ()
  }
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  // RULE: program.input.c1
  // expected-error@+1 {{has 17 columns in a buffer of 16}}
  mllm.program.input "arg0" (%0) columns 17 : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // RULE: program.output.c1
  // expected-error@+1 {{has -1 columns in a buffer of 16}}
  mllm.program.output "result0" (%0) columns -1 : memref<8x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // expected-error@+1 {{unknown field of the step context 'tokens'}}
  mllm.program.set_field tokens to 7
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // RULE: program.set_field.c1
  // expected-error@+1 {{sets 'arena', which belongs to the caller}}
  mllm.program.set_field arena at %0 : memref<8x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // RULE: program.set_field.c1
  // expected-error@+1 {{sets 'trace', which belongs to the caller}}
  mllm.program.set_field trace at %0 : memref<8x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.set_field.c1
  // expected-error@+1 {{sets field 99; the step context has}}
  "mllm.program.set_field"() <{field = 99 : i64, value = 1 : i64}> : () -> ()
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.set_field.c2
  // expected-error@+1 {{'positions' needs a buffer or to be restored, and nothing else}}
  mllm.program.set_field positions to 7
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.set_field.c2
  // expected-error@+1 {{'num_tokens' needs a number or to be restored, and nothing else}}
  mllm.program.set_field num_tokens
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.set_field.c2 (both)
  // expected-error@+1 {{'num_tokens' needs a number or to be restored, and nothing else}}
  mllm.program.set_field num_tokens to 7 restored
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // expected-error@+1 {{unknown function of the runtime 'malloc'}}
  mllm.program.runtime_call malloc () []
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.runtime_call.c1
  // expected-error@+1 {{calls 'barrier', which every worker calls}}
  mllm.program.runtime_call barrier () []
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.runtime_call.c1
  // expected-error@+1 {{calls 'trace', which the lowering to LLVM does}}
  mllm.program.runtime_call trace () [0 : i64, 0 : i64, 0 : i64]
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.runtime_call.c1
  // expected-error@+1 {{calls function 99; the runtime has}}
  "mllm.program.runtime_call"() <{function = 99 : i64, numbers = []}> : () -> ()
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.runtime_call.c2
  // expected-error@+1 {{passes 0 buffers to 'free_kv', which takes 1}}
  mllm.program.runtime_call free_kv () [2 : i64]
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  // RULE: program.runtime_call.c3 (their number)
  // expected-error@+1 {{passes 2 numbers to 'free_kv', which takes 1}}
  mllm.program.runtime_call free_kv (%0) [2 : i64, 3 : i64] : memref<1x16xi32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  // RULE: program.runtime_call.c3 (their types)
  // expected-error@+1 {{number 0 is 2.000000e+00 : f64, but 'free_kv' takes i64}}
  mllm.program.runtime_call free_kv (%0) [2.0 : f64] : memref<1x16xi32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  // RULE: program.fragment.c4 (a buffer)
  // expected-error@+1 {{speaks of a step of few tokens in code fragment 'step', which has no 'few_tokens'}}
  %0 = mllm.program.buffer per_worker : memref<1x16xf32>
  mllm.program.entry_point
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.fragment.c4 (a barrier)
  // expected-error@+1 {{speaks of a step of few tokens}}
  mllm.program.barrier unless_few
  mllm.program.exit
}

// -----

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "rms_norm" {} [memref<1x16xf32>, memref<1x16xf32>]
}
mllm.program.fragment @step code {
  // RULE: program.fragment.c4 (a buffer of replicated instructions)
  // expected-error@+1 {{speaks of a step of few tokens}}
  %0 = mllm.program.buffer per_worker : memref<1x16xf32>
  mllm.program.entry_point
  mllm.program.instruction @k weights [] (%0, %0) replicated : memref<1x16xf32>, memref<1x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "rms_norm" {} [memref<1x16xf32>, memref<1x16xf32>]
}
mllm.program.fragment @step code attributes {few_tokens = 8 : i64} {
  %0 = mllm.program.buffer : memref<1x16xf32>
  mllm.program.entry_point
  // RULE: program.instruction.c4
  // expected-error@+1 {{is replicated and writes a buffer that is not per_worker}}
  mllm.program.instruction @k weights [] (%0, %0) replicated : memref<1x16xf32>, memref<1x16xf32>
  mllm.program.exit
}

// -----

// expected-error@+1 {{unknown kind of fragment 'bss'; it is code, data or text (or table, which is text)}}
mllm.program.fragment @kernels bss {
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // expected-note@+1 {{the first one}}
  mllm.program.label "here"
  mllm.program.label "there"
  // RULE: program.fragment.c5
  // expected-error@+1 {{stands a second time in code fragment 'step' with the name "here"}}
  mllm.program.label "here"
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  mllm.program.label "here"
  // RULE: program.jump.c1
  // expected-error@+1 {{jumps to label "there", which this fragment lacks}}
  mllm.program.jump "there"
  mllm.program.exit
}

// -----

// The label of another fragment does not count.

mllm.program.fragment @other code {
  mllm.program.entry_point
  mllm.program.label "there"
  mllm.program.exit
}
mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  // RULE: program.jump_if.c1
  // expected-error@+1 {{jumps to label "there", which this fragment lacks}}
  mllm.program.jump_if "there" (%0) : memref<1x16xi32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<1x16xf32>
  mllm.program.entry_point
  mllm.program.label "here"
  // RULE: program.jump_if.c2
  // expected-error@+1 {{looks at the first element of 'memref<1x16xf32>', which is no i32 number}}
  mllm.program.jump_if "here" (%0) : memref<1x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<0x16xi32>
  mllm.program.entry_point
  mllm.program.label "here"
  // RULE: program.jump_if.c2 (nothing to look at)
  // expected-error@+1 {{looks at the first element of 'memref<0x16xi32>', which is no i32 number}}
  mllm.program.jump_if "here" (%0) : memref<0x16xi32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code attributes {few_tokens = 8 : i64} {
  %0 = mllm.program.buffer per_worker : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "here"
  // RULE: program.jump_if.c3
  // expected-error@+1 {{looks at a buffer that is per_worker, so that workers could go different ways}}
  mllm.program.jump_if "here" (%0) : memref<1x16xi32>
  mllm.program.exit
}

// -----

// Of several kernels each is looked at.

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "rms_norm" {} [memref<8x16xf32>]
}
mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // RULE: program.instruction.c1
  // expected-error@+1 {{calls kernel @other, which neither a text fragment nor the module defines}}
  mllm.program.instruction @k weights [] (%0), @other weights [] () : memref<8x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "rms_norm" {} [memref<8x16xf32>]
}
mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // RULE: program.instruction.c3
  // expected-error@+1 {{passes 2 buffers to @k, which takes 1}}
  mllm.program.instruction @k weights [] (%0), @k weights [] (%0, %0) : memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.instruction.c5 (no kernel)
  // expected-error@+1 {{calls no kernel}}
  "mllm.program.instruction"() <{kernels = [], weights = [], weight_counts = array<i32>, buffer_counts = array<i32>}> : () -> ()
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.instruction.c5 (weights)
  // expected-error@+1 {{deals 2 weights out to 1 kernels, but it has 1 for 1}}
  "mllm.program.instruction"() <{kernels = [@k], weights = [@w], weight_counts = array<i32: 2>, buffer_counts = array<i32: 0>}> : () -> ()
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // RULE: program.instruction.c5 (a count for each kernel)
  // expected-error@+1 {{deals 1 buffers out to 1 kernels, but it has 1 for 2}}
  "mllm.program.instruction"(%0) <{kernels = [@k, @k], weights = [], weight_counts = array<i32: 0, 0>, buffer_counts = array<i32: 1>}> : (memref<8x16xf32>) -> ()
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.instruction.c5 (which would add up)
  // expected-error@+1 {{gives a kernel -1 weights}}
  "mllm.program.instruction"() <{kernels = [@k, @k], weights = [], weight_counts = array<i32: 1, -1>, buffer_counts = array<i32: 0, 0>}> : () -> ()
  mllm.program.exit
}
