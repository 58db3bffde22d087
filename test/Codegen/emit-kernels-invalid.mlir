// RUN: not llmir-opt %s --emit-kernels="level=z80" 2>&1 | FileCheck %s
// What kernels must be, their verifiers say: test/Dialect/MLLM/invalid-kernels-*.mlir.
// A kernel without an emitter is in ProgramTest.cpp.

// CHECK: unknown CPU level 'z80'
mllm.program.fragment @step code {
  mllm.program.entry_point
  mllm.program.exit
}
