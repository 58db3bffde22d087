// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// The program level; the cases are named after the violated constraint.

// RULE: program.fragment.c1 (no code at all)
// expected-error@+1 {{code needs one entry_point, found 0}}
mllm.program.fragment @step code {
}

// -----

// RULE: program.fragment.c1 (an instruction where only buffers are allowed)
mllm.program.fragment @step code {
  // expected-error@+1 {{is before the entry_point of code fragment 'step', where only buffers and inputs are allowed}}
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
  // expected-error@+1 {{is not allowed in a fragment of data, which contains mllm.program.weight and mllm.program.constant only}}
  mllm.program.barrier
}

// -----

// RULE: program.fragment.c3
mllm.program.fragment @kernels text {
  // expected-error@+1 {{is not allowed in a fragment of text, which contains mllm.program.constant only}}
  mllm.program.barrier
}

// -----

mllm.program.fragment @weights data {
  // RULE: program.weight.c1
  // expected-error@+1 {{has 2 sources and 1 offsets; expected one offset for each source, and at least one source}}
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
  // expected-error@+1 {{has the 'slice' [33, 48], which does not contain its 16 rows}}
  mllm.program.weight @w "tiles16" "f32" [2, 16, 4] bytes 512 sources ["a"] at [0] {slice = array<i64: 33, 48>}
}

// -----

mllm.program.fragment @weights data {
  // RULE: program.weight.c4
  // expected-error@+1 {{is 'transposed', which is only valid for a matrix or a stack of matrices}}
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources ["a"] at [0] {transposed}
}

// -----

mllm.program.fragment @weights data {
  // RULE: program.weight.c5
  // expected-error@+1 {{has 'slices_columns', which is only valid for a transposed stack with a 'slice' of consecutive columns}}
  mllm.program.weight @w "tiles16" "f32" [2, 16, 4] bytes 512 sources ["a"] at [0] {slice = array<i64: 0, 8, 2, 4>, slices_columns, transposed}
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  mllm.program.label "here"
  // RULE: program.jump_next_layer.c1
  // expected-error@+1 {{jumps to label "there", which is not in this fragment}}
  mllm.program.jump_next_layer "there" below 2
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

func.func @case(%x: memref<8x16xf32>) {
  mllm.kernel.elementwise outs(%x : memref<8x16xf32>) {columns = 16} apply {
    %0 = arith.constant 1.0 : f64
    // expected-error@+1 {{must be 32-bit float}}
    "mllm.program.yield"(%0) : (f64) -> ()
  }
  return
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
  // expected-error@+1 {{sets 'arena', which is owned by the caller}}
  mllm.program.set_field arena at %0 : memref<8x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // RULE: program.set_field.c1
  // expected-error@+1 {{sets 'trace', which is owned by the caller}}
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
  // expected-error@+1 {{'positions' needs a buffer or 'restored', and nothing else}}
  mllm.program.set_field positions to 7
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.set_field.c2
  // expected-error@+1 {{'num_tokens' needs an integer or 'restored', and nothing else}}
  mllm.program.set_field num_tokens
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.set_field.c2 (both)
  // expected-error@+1 {{'num_tokens' needs an integer or 'restored', and nothing else}}
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
  // expected-error@+1 {{calls 'barrier', which every worker must call}}
  mllm.program.runtime_call barrier () []
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.runtime_call.c1
  // expected-error@+1 {{calls 'trace', which only the lowering to LLVM inserts}}
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
  // expected-error@+1 {{passes 2 scalars to 'free_kv', which takes 1}}
  mllm.program.runtime_call free_kv (%0) [2 : i64, 3 : i64] : memref<1x16xi32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  // RULE: program.runtime_call.c3 (their types)
  // expected-error@+1 {{scalar 0 is 2.000000e+00 : f64, but 'free_kv' takes i64}}
  mllm.program.runtime_call free_kv (%0) [2.0 : f64] : memref<1x16xi32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  // RULE: program.fragment.c4 (a buffer)
  // expected-error@+1 {{refers to decode-sized steps in code fragment 'step', which has no 'decode_tokens'}}
  %0 = mllm.program.buffer per_worker : memref<1x16xf32>
  mllm.program.entry_point
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.fragment.c4 (a barrier)
  // expected-error@+1 {{refers to decode-sized steps}}
  mllm.program.barrier unless_decode
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<1x16xf32>
  mllm.program.entry_point
  // RULE: program.fragment.c4 (a replicated instruction)
  // expected-error@+1 {{refers to decode-sized steps}}
  mllm.program.instruction replicated {
    mllm.program.call @f ()
  }
  mllm.program.exit
}
func.func private @f(!llvm.ptr, index, index, index)

// -----

// expected-error@+1 {{unknown fragment kind 'bss'; expected code, data or text (or table, a synonym of text)}}
mllm.program.fragment @kernels bss {
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // expected-note@+1 {{first defined here}}
  mllm.program.label "here"
  mllm.program.label "there"
  // RULE: program.fragment.c5
  // expected-error@+1 {{is defined twice in code fragment 'step' with the name "here"}}
  mllm.program.label "here"
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  // expected-note@+1 {{first defined here}}
  %a = mllm.program.logits : memref<64x512xf32>
  // RULE: program.fragment.c6
  // expected-error@+1 {{is the second in code fragment 'step'; there is one buffer of logits}}
  %b = mllm.program.logits : memref<32x512xf32>
  mllm.program.entry_point
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  mllm.program.label "here"
  // RULE: program.jump.c1
  // expected-error@+1 {{jumps to label "there", which is not in this fragment}}
  mllm.program.jump "there"
  mllm.program.exit
}

// -----

// Labels are local to a fragment.

mllm.program.fragment @other code {
  mllm.program.entry_point
  mllm.program.label "there"
  mllm.program.exit
}
mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  // RULE: program.jump_if.c1
  // expected-error@+1 {{jumps to label "there", which is not in this fragment}}
  mllm.program.jump_if "there" (%0) : memref<1x16xi32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<1x16xf32>
  mllm.program.entry_point
  mllm.program.label "here"
  // RULE: program.jump_if.c2
  // expected-error@+1 {{needs a condition of type i32, not 'memref<1x16xf32>'}}
  mllm.program.jump_if "here" (%0) : memref<1x16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<0x16xi32>
  mllm.program.entry_point
  mllm.program.label "here"
  // RULE: program.jump_if.c2 (nothing to look at)
  // expected-error@+1 {{needs a condition of type i32, not 'memref<0x16xi32>'}}
  mllm.program.jump_if "here" (%0) : memref<0x16xi32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code attributes {decode_tokens = 8 : i64} {
  %0 = mllm.program.buffer per_worker : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "here"
  // RULE: program.jump_if.c3
  // expected-error@+1 {{has a per_worker condition, so workers could take different branches}}
  mllm.program.jump_if "here" (%0) : memref<1x16xi32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.instruction.c1 (nothing)
  // expected-error@+1 {{contains neither a kernel nor a call}}
  mllm.program.instruction {
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @weights data {
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources ["a"] at [0]
}
mllm.program.fragment @step code {
  mllm.program.entry_point
  // RULE: program.instruction.c1 (a weight alone)
  // expected-error@+1 {{contains neither a kernel nor a call}}
  mllm.program.instruction {
    %w = mllm.program.get_weight @w : memref<16xf32>
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: program.instruction.c1 (another op)
    // expected-error@+1 {{is not allowed in an instruction, which contains only mllm.program.get_weight, kernels, and mllm.program.call}}
    mllm.program.barrier
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code attributes {decode_tokens = 8 : i64} {
  %0 = mllm.program.buffer per_worker : memref<8x16xf32>
  %1 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction replicated {
    mllm.kernel.softmax ins(%1 : memref<8x16xf32>) outs(%0 : memref<8x16xf32>) {columns = 16}
    // RULE: program.instruction.c2
    // expected-error@+1 {{is in a replicated instruction and writes a buffer that is not per_worker}}
    mllm.kernel.softmax ins(%0 : memref<8x16xf32>) outs(%1 : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code attributes {decode_tokens = 8 : i64} {
  %l = mllm.program.logits : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction replicated {
    // RULE: program.instruction.c2 (not a buffer at all)
    // expected-error@+1 {{is in a replicated instruction and writes a buffer that is not per_worker}}
    mllm.kernel.softmax ins(%l : memref<8x16xf32>) outs(%l : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: program.get_weight.c1
    // expected-error@+1 {{gets weight @w, which is not declared in a data fragment}}
    %w = mllm.program.get_weight @w : memref<16xf32>
    mllm.kernel.rms_norm weights(%w : memref<16xf32>) ins(%0 : memref<8x16xf32>) outs(%0 : memref<8x16xf32>)
        {columns = 16, eps = 0.0}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @weights data {
  // expected-note@+1 {{weight declared here}}
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources ["a"] at [0]
}
mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: program.get_weight.c2 (a vector)
    // expected-error@+1 {{is 'memref<32xf32>', but @w has 64 bytes in layout "vector"}}
    %w = mllm.program.get_weight @w : memref<32xf32>
    mllm.kernel.rms_norm weights(%w : memref<32xf32>) ins(%0 : memref<8x16xf32>) outs(%0 : memref<8x16xf32>)
        {columns = 16, eps = 0.0}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @weights data {
  // expected-note@+1 {{weight declared here}}
  mllm.program.weight @w "tiles16" "f32" [16, 16] bytes 1024 sources ["a"] at [0]
}
mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: program.get_weight.c2 (a matrix)
    // expected-error@+1 {{is 'memref<2048xi8>', but @w has 1024 bytes in layout "tiles16"}}
    %w = mllm.program.get_weight @w : memref<2048xi8>
    mllm.kernel.linear weights(%w : memref<2048xi8>) ins(%0 : memref<8x16xf32>) outs(%0 : memref<8x16xf32>)
        {format = "f32", rows = 16, columns = 16}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // expected-error@+1 {{expects parent op 'mllm.program.instruction'}}
  %w = mllm.program.get_weight @w : memref<16xf32>
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: program.call.c1 (no function)
    // expected-error@+1 {{calls @f, which is not a function of the module}}
    mllm.program.call @f ()
  }
  mllm.program.exit
}

// -----

func.func private @f(!llvm.ptr, index, index, index)
mllm.program.fragment @step code {
  %0 = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: program.call.c1 (its arguments)
    // expected-error@+1 {{passes 5 arguments to @f, 4 of which are implicit; it takes 4}}
    mllm.program.call @f (%0) : memref<8x16xf32>
  }
  mllm.program.exit
}

// -----

func.func @case(%x: f32) {
  // RULE: program.yield.c1
  // expected-error@+1 {{does not terminate the region of a kernel}}
  mllm.program.yield %x : f32
}
