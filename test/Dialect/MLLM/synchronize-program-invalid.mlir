// RUN: llmir-opt %s --mllm-synchronize-program --split-input-file --verify-diagnostics

// There can be no barrier between the kernels of one instruction.

mllm.program.fragment @weights data {
  mllm.program.weight @w "tiles16" "f32" [16, 16] bytes 1024 sources ["w"] at [0]
}
mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<32x16xf32>
  %n = mllm.program.buffer : memref<32x16xf32>
  %y = mllm.program.buffer : memref<32x16xf32>
  mllm.program.entry_point
  // expected-error @below {{contains kernels that need a barrier between them; use one instruction for each}}
  mllm.program.instruction {
    %w = mllm.program.get_weight @w : memref<1024xi8>
    mllm.kernel.rms_norm ins(%x : memref<32x16xf32>) outs(%n : memref<32x16xf32>) {columns = 16, eps = 1.0e-5}
    // expected-note @below {{conflicting accesses of this kernel}}
    mllm.kernel.linear weights(%w : memref<1024xi8>) ins(%n : memref<32x16xf32>) outs(%y : memref<32x16xf32>)
        {format = "f32", rows = 16, columns = 16}
  }
  mllm.program.exit
}

// -----

func.func private @f(!llvm.ptr, i64, i64, i64, memref<32x16xf32>)
mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<32x16xf32>
  mllm.program.entry_point
  // expected-error @below {{calls generated functions, whose accesses are unknown; insert barriers before kernels are emitted}}
  mllm.program.instruction {
    mllm.program.call @f (%x) : memref<32x16xf32>
  }
  mllm.program.exit
}
