// RUN: llmir-opt %s --emit-kernels="level=x86-64-v4-bf16" | FileCheck %s

// A register tile is one function for all matmuls with its format and K, however
// many rows they have and whatever becomes of the sums; another K has its own.

mllm.program.fragment @weights data {
  mllm.program.weight @narrow "tiles16" "bf16" [33, 64] bytes 6144 sources ["n"] at [0]
  mllm.program.weight @bias "vector" "f32" [33] bytes 192 sources ["b"] at [6144]
  mllm.program.weight @wide "tiles16" "bf16" [64, 64] bytes 8192 sources ["w"] at [6400]
  mllm.program.weight @long "tiles16" "bf16" [64, 96] bytes 12288 sources ["l"] at [14592]
}
mllm.program.fragment @step code {
  %rows32 = mllm.program.buffer : memref<8x32xf32>
  %few32 = mllm.program.buffer : memref<4x32xf32>
  %rows48 = mllm.program.buffer : memref<8x48xf32>
  %other48 = mllm.program.buffer : memref<8x48xf32>
  %rows64 = mllm.program.buffer : memref<4x64xf32>
  %other64 = mllm.program.buffer : memref<8x64xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    %w = mllm.program.get_weight @narrow : memref<6144xi8>
    %b = mllm.program.get_weight @bias : memref<48xf32>
    mllm.kernel.linear weights(%w : memref<6144xi8>) bias(%b : memref<48xf32>) ins(%rows32 : memref<8x32xf32>)
        outs(%rows48 : memref<8x48xf32>) {format = "bf16", rows = 33, columns = 64, label = "biased"}
  }
  mllm.program.instruction {
    %w = mllm.program.get_weight @wide : memref<8192xi8>
    mllm.kernel.linear weights(%w : memref<8192xi8>) ins(%few32 : memref<4x32xf32>)
        outs(%rows64 : memref<4x64xf32>) {format = "bf16", rows = 64, columns = 64, label = "plain"}
  }
  mllm.program.instruction {
    %w = mllm.program.get_weight @long : memref<12288xi8>
    mllm.kernel.linear weights(%w : memref<12288xi8>) ins(%other48 : memref<8x48xf32>)
        outs(%other64 : memref<8x64xf32>) {format = "bf16", rows = 64, columns = 96, label = "long"}
  }
  mllm.program.exit
}

// CHECK-LABEL: func.func private @biased(
// CHECK:         call @tile_bf16_64_128_4x1(
// CHECK:         call @tile_bf16_64_128_4x2(
// CHECK:       func.func private @tile_bf16_64_128_4x1(
// CHECK-NOT:   func.func private @tile_bf16_64_128_4x1(
// CHECK-LABEL: func.func private @plain(
// CHECK:         call @tile_bf16_64_128_4x1(
// CHECK:         call @tile_bf16_64_128_4x2(
// CHECK-NOT:   func.func private @tile_bf16_64
// CHECK-LABEL: func.func private @long(
// CHECK:         call @tile_bf16_96_192_4x1(
// CHECK:       func.func private @tile_bf16_96_192_4x1(
// CHECK-NOT:   func.func private @tile_bf16_64
