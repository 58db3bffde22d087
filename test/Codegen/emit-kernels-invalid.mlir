// RUN: not llmir-opt %s --emit-kernels="level=z80" 2>&1 | FileCheck %s
// Invalid kernels are tested in test/Dialect/MLLM/invalid-kernels-*.mlir,
// kernels without an emitter in ProgramTest.cpp.

// CHECK: unknown CPU level 'z80'
mllm.program.fragment @step code {
  mllm.program.entry_point
  mllm.program.exit
}
