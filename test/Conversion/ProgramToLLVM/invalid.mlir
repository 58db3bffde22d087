// RUN: llmir-opt %s --convert-program-to-llvm --split-input-file --verify-diagnostics

mllm.program.fragment @step code {
  // expected-error@+1 {{has no offset; run -plan-program-memory first}}
  %x = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.exit
}

// -----

// A kernel without a generated function.
mllm.program.fragment @step code {
  %x = mllm.program.buffer offset 0 : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // expected-error@+1 {{has no generated function; run -emit-kernels first}}
    mllm.kernel.softmax ins(%x : memref<8x16xf32>) outs(%x : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// A function that is not an LLVM function.
func.func @k(%ctx: i64, %worker: i64, %workers: i64, %layer: i64, %x: memref<8x16xf32>) {
  return
}
mllm.program.fragment @step code {
  %x = mllm.program.buffer offset 0 : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // expected-error@+1 {{calls @k, which is not an LLVM function; lower the generated functions first}}
    mllm.program.call @k(%x) : memref<8x16xf32>
  }
  mllm.program.exit
}

// -----

mllm.program.fragment @step code {
  mllm.program.entry_point
  // expected-error@+1 {{is not allowed in a code fragment}}
  %0 = llvm.mlir.constant(0 : i64) : i64
  mllm.program.exit
}

// -----

// A model instead of a program.
mllm.tensor.register @w : tensor<4x4xf32> {source = "w"}
// expected-error@+1 {{is a model, and the module has no program; -convert-mllm-to-llm and -convert-llm-to-program create one}}
mllm.graph.subgraph @model(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {entry} {
  %0 = mllm.linalg.linear %x, @w : tensor<2x4xf32> -> tensor<2x4xf32>
  mllm.cf.return %0 : tensor<2x4xf32>
}
