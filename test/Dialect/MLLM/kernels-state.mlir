// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mllm-synchronize-program=decode-tokens=0 | FileCheck %s --check-prefix=SYNC

// The kernels of StateKernels.td in their three syntaxes, and the barriers that
// their divisions need: rows of a convolution are divided like its input, the
// values of linear attention like its result, its keys are read by all workers.

// CHECK-LABEL: mllm.program.fragment @step code
mllm.program.fragment @step code {
  %x = mllm.program.buffer : memref<8x64xf32>
  %w = mllm.program.buffer : memref<3x64xf32>
  %g = mllm.program.buffer : memref<8x16xf32>
  %y = mllm.program.buffer : memref<8x64xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    // CHECK: mllm.kernel.causal_conv ins(%{{.*}}, %{{.*}} : memref<8x64xf32>, memref<3x64xf32>) outs(%{{.*}} : memref<8x64xf32>) {channels = 64 : i64, state_offset = 0 : i64, taps = 3 : i64}
    // SYNC: mllm.kernel.causal_conv
    mllm.kernel.causal_conv ins(%x, %w : memref<8x64xf32>, memref<3x64xf32>) outs(%x : memref<8x64xf32>)
        {channels = 64, taps = 3, state_offset = 0}
  }
  // SYNC-NOT: barrier
  mllm.program.instruction {
    // SYNC: mllm.kernel.causal_conv
    mllm.kernel.causal_conv ins(%x, %w : memref<8x64xf32>, memref<3x64xf32>) outs(%x : memref<8x64xf32>)
        {channels = 64, taps = 3, state_offset = 128}
  }
  // SYNC: mllm.program.barrier
  mllm.program.instruction {
    // CHECK: mllm.kernel.linear_attention ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<8x64xf32>, memref<8x64xf32>, memref<8x64xf32>, memref<8x16xf32>) beta(%{{.*}} : memref<8x16xf32>) outs(%{{.*}} : memref<8x64xf32>) {heads = 4 : i64, key_dim = 16 : i64, key_heads = 2 : i64, state_offset = 256 : i64, value_dim = 16 : i64}
    // SYNC: mllm.kernel.linear_attention
    mllm.kernel.linear_attention ins(%x, %x, %x, %g : memref<8x64xf32>, memref<8x64xf32>, memref<8x64xf32>, memref<8x16xf32>)
        beta(%g : memref<8x16xf32>) outs(%y : memref<8x64xf32>)
        {heads = 4, key_heads = 2, key_dim = 16, value_dim = 16, state_offset = 256}
  }
  // SYNC-NOT: barrier
  mllm.program.instruction {
    // SYNC: mllm.kernel.linear_attention
    // CHECK: mllm.kernel.linear_attention ins({{.*}}) outs({{.*}}) {heads = 4 : i64, interleaved,
    mllm.kernel.linear_attention ins(%x, %x, %y, %g : memref<8x64xf32>, memref<8x64xf32>, memref<8x64xf32>, memref<8x16xf32>)
        outs(%y : memref<8x64xf32>)
        {heads = 4, key_heads = 2, key_dim = 16, value_dim = 16, interleaved, state_offset = 1280}
  }
  mllm.program.exit
}
