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
