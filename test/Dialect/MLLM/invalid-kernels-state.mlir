// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Each rule of the kernels in StateKernels.td.

mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x32xf32>
  %w = mllm.program.buffer : memref<3x64xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: kernel.causal_conv.c1
    // expected-error@+1 {{takes 'memref<8x32xf32>' as 'x', expected contiguous static rows of 64 or more columns}}
    mllm.kernel.causal_conv ins(%x, %w : memref<8x32xf32>, memref<3x64xf32>) outs(%x : memref<8x32xf32>) {channels = 64, taps = 3, state_offset = 0}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x64xf32>
  %w = mllm.program.buffer : memref<3x64xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: kernel.causal_conv.c1 (rows)
    // expected-error@+1 {{has 4 taps, but a weight of 3 rows}}
    mllm.kernel.causal_conv ins(%x, %w : memref<8x64xf32>, memref<3x64xf32>) outs(%x : memref<8x64xf32>) {channels = 64, taps = 4, state_offset = 0}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x64xf32>
  %w = mllm.program.buffer : memref<65x64xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: kernel.causal_conv.c2
    // expected-error@+1 {{has 65 taps; at most 64 are supported}}
    mllm.kernel.causal_conv ins(%x, %w : memref<8x64xf32>, memref<65x64xf32>) outs(%x : memref<8x64xf32>) {channels = 64, taps = 65, state_offset = 0}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x64xf32>
  %w = mllm.program.buffer : memref<3x64xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: kernel.causal_conv.c3
    // expected-error@+1 {{has its state at 8, expected a multiple of 16 from 0 to 2^31}}
    mllm.kernel.causal_conv ins(%x, %w : memref<8x64xf32>, memref<3x64xf32>) outs(%x : memref<8x64xf32>) {channels = 64, taps = 3, state_offset = 8}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x64xf32>
  %g = mllm.program.buffer : memref<8x16xf32>
  %y = mllm.program.buffer : memref<8x64xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: kernel.linear_attention.c1
    // expected-error@+1 {{has 4 value heads, which is not a multiple of the 3 key heads}}
    mllm.kernel.linear_attention ins(%x, %x, %x, %g : memref<8x64xf32>, memref<8x64xf32>, memref<8x64xf32>, memref<8x16xf32>) outs(%y : memref<8x64xf32>) {heads = 4, key_heads = 3, key_dim = 16, value_dim = 16, state_offset = 0}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x64xf32>
  %g = mllm.program.buffer : memref<8x16xf32>
  %y = mllm.program.buffer : memref<8x64xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: kernel.linear_attention.c2
    // expected-error@+1 {{takes 'memref<8x64xf32>' as 'q', expected contiguous static rows of 128 or more columns}}
    mllm.kernel.linear_attention ins(%x, %x, %x, %g : memref<8x64xf32>, memref<8x64xf32>, memref<8x64xf32>, memref<8x16xf32>) outs(%y : memref<8x64xf32>) {heads = 4, key_heads = 2, key_dim = 64, value_dim = 16, state_offset = 0}
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x64xf32>
  %g = mllm.program.buffer : memref<8x16xf32>
  %y = mllm.program.buffer : memref<8x64xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // RULE: kernel.linear_attention.c3
    // expected-error@+1 {{has its state at -16, expected a multiple of 16 from 0 to 2^31}}
    mllm.kernel.linear_attention ins(%x, %x, %x, %g : memref<8x64xf32>, memref<8x64xf32>, memref<8x64xf32>, memref<8x16xf32>) outs(%y : memref<8x64xf32>) {heads = 4, key_heads = 2, key_dim = 16, value_dim = 16, state_offset = -16}
  }
  mllm.program.exit
}
