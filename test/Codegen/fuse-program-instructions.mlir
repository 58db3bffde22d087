// RUN: llmir-opt %s --fuse-program-instructions --split-input-file | FileCheck %s

// Kernels that feed each other become one instruction, three of them too.
// SPEC: 251

mllm.program.fragment @weights data {
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources ["w"] at [0]
}
mllm.program.fragment @kernels text {
  mllm.program.kernel @k "k" {} [memref<8x16xf32>, memref<8x16xf32>]
}
// CHECK-LABEL: @chain
mllm.program.fragment @chain code {
  // CHECK: %[[A:.*]] = mllm.program.buffer
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK: %[[B:.*]] = mllm.program.buffer
  %b = mllm.program.buffer : memref<8x16xf32>
  // CHECK: %[[C:.*]] = mllm.program.buffer
  %c = mllm.program.buffer : memref<8x16xf32>
  // CHECK: entry_point
  mllm.program.entry_point
  // CHECK-NEXT: mllm.program.instruction @k weights [@w](%[[A]], %[[B]]), @k weights [](%[[B]], %[[C]]), @k weights [@w](%[[B]], %[[A]]) : memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>, memref<8x16xf32>
  mllm.program.instruction @k weights [@w] (%a, %b) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.instruction @k weights [] (%b, %c) : memref<8x16xf32>, memref<8x16xf32>
  // Reads what the first has written.
  mllm.program.instruction @k weights [@w] (%b, %a) : memref<8x16xf32>, memref<8x16xf32>
  // CHECK-NEXT: exit
  mllm.program.exit
}

// -----

// Neighbours that read the same buffer, or write where the other reads, do not
// feed each other.

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "k" {} [memref<8x16xf32>, memref<8x16xf32>]
}
// CHECK-LABEL: @apart
mllm.program.fragment @apart code {
  // CHECK: %[[A:.*]] = mllm.program.buffer
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK: %[[B:.*]] = mllm.program.buffer
  %b = mllm.program.buffer : memref<8x16xf32>
  // CHECK: %[[C:.*]] = mllm.program.buffer
  %c = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // CHECK: mllm.program.instruction @k weights [](%[[A]], %[[B]]) : memref
  mllm.program.instruction @k weights [] (%a, %b) : memref<8x16xf32>, memref<8x16xf32>
  // CHECK-NEXT: mllm.program.instruction @k weights [](%[[A]], %[[C]]) : memref
  mllm.program.instruction @k weights [] (%a, %c) : memref<8x16xf32>, memref<8x16xf32>
  // CHECK-NEXT: mllm.program.instruction @k weights [](%[[B]], %[[A]]) : memref
  mllm.program.instruction @k weights [] (%b, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.exit
}

// -----

// What stands between them keeps them apart, whatever it is.

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "k" {} [memref<8x16xf32>, memref<8x16xf32>]
}
// CHECK-LABEL: @between
mllm.program.fragment @between code attributes {few_tokens = 8 : i64} {
  %a = mllm.program.buffer : memref<8x16xf32>
  %i = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  // CHECK-COUNT-6: mllm.program.instruction @k weights [](%{{[0-9]*}}, %{{[0-9]*}}) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.instruction @k weights [] (%a, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier
  mllm.program.instruction @k weights [] (%a, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.barrier unless_few
  mllm.program.instruction @k weights [] (%a, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.label "here"
  mllm.program.instruction @k weights [] (%a, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.jump_if "here" (%i) : memref<1x16xi32>
  mllm.program.instruction @k weights [] (%a, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.set_field num_tokens to 7
  mllm.program.instruction @k weights [] (%a, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.exit
}

// -----

// One that every worker does whole and one that is shared out are two.

mllm.program.fragment @kernels text {
  mllm.program.kernel @k "k" {} [memref<8x16xf32>, memref<8x16xf32>]
}
// CHECK-LABEL: @replicated
mllm.program.fragment @replicated code attributes {few_tokens = 8 : i64} {
  // CHECK: %[[A:.*]] = mllm.program.buffer
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK: %[[B:.*]] = mllm.program.buffer
  %b = mllm.program.buffer per_worker : memref<8x16xf32>
  // CHECK: %[[C:.*]] = mllm.program.buffer
  %c = mllm.program.buffer per_worker : memref<8x16xf32>
  mllm.program.entry_point
  // CHECK: mllm.program.instruction @k weights [](%[[A]], %[[B]]), @k weights [](%[[B]], %[[C]]) replicated : memref
  mllm.program.instruction @k weights [] (%a, %b) replicated : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.instruction @k weights [] (%b, %c) replicated : memref<8x16xf32>, memref<8x16xf32>
  // CHECK-NEXT: mllm.program.instruction @k weights [](%[[C]], %[[A]]) : memref
  mllm.program.instruction @k weights [] (%c, %a) : memref<8x16xf32>, memref<8x16xf32>
  mllm.program.exit
}
