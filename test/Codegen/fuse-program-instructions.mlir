// RUN: llmir-opt %s --fuse-program-instructions --split-input-file | FileCheck %s

// Two or more kernels with data dependences become one instruction.
// SPEC: 251

mllm.program.fragment @weights data {
  mllm.program.weight @w "vector" "f32" [16] bytes 64 sources ["w"] at [0]
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
  // CHECK-NEXT: mllm.program.instruction {
  // CHECK-NEXT: %[[W0:.*]] = mllm.program.get_weight @w : memref<16xf32>
  // CHECK-NEXT: %[[W1:.*]] = mllm.program.get_weight @w : memref<16xf32>
  // CHECK-NEXT: mllm.kernel.rms_norm weights(%[[W0]] : {{.*}}) ins(%[[A]] : {{.*}}) outs(%[[B]] :
  // CHECK-NEXT: mllm.kernel.softmax ins(%[[B]] : {{.*}}) outs(%[[C]] :
  // CHECK-NEXT: mllm.kernel.rms_norm weights(%[[W1]] : {{.*}}) ins(%[[B]] : {{.*}}) outs(%[[A]] :
  // CHECK-NEXT: {{^ *}}}
  mllm.program.instruction {
    %w = mllm.program.get_weight @w : memref<16xf32>
    mllm.kernel.rms_norm weights(%w : memref<16xf32>) ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16, eps = 1.0e-5}
  }
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%c : memref<8x16xf32>) {columns = 16}
  }
  // Reads the result of the first one.
  mllm.program.instruction {
    %w = mllm.program.get_weight @w : memref<16xf32>
    mllm.kernel.rms_norm weights(%w : memref<16xf32>) ins(%b : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16, eps = 1.0e-5}
  }
  // CHECK-NEXT: exit
  mllm.program.exit
}

// -----

// Adjacent instructions that only read the same buffer, or where the second
// writes what the first reads, are not fused.

// CHECK-LABEL: @apart
mllm.program.fragment @apart code {
  // CHECK: %[[A:.*]] = mllm.program.buffer
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK: %[[B:.*]] = mllm.program.buffer
  %b = mllm.program.buffer : memref<8x16xf32>
  // CHECK: %[[C:.*]] = mllm.program.buffer
  %c = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  // CHECK: mllm.program.instruction {
  // CHECK-NEXT: softmax ins(%[[A]] : {{.*}}) outs(%[[B]] :
  // CHECK-NEXT: {{^ *}}}
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  // CHECK-NEXT: mllm.program.instruction {
  // CHECK-NEXT: softmax ins(%[[A]] : {{.*}}) outs(%[[C]] :
  // CHECK-NEXT: {{^ *}}}
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%c : memref<8x16xf32>) {columns = 16}
  }
  // CHECK-NEXT: mllm.program.instruction {
  // CHECK-NEXT: softmax ins(%[[B]] : {{.*}}) outs(%[[A]] :
  // CHECK-NEXT: {{^ *}}}
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// Any op between them prevents fusion.

// CHECK-LABEL: @between
mllm.program.fragment @between code attributes {decode_tokens = 8 : i64} {
  %a = mllm.program.buffer : memref<8x16xf32>
  %i = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  // CHECK-COUNT-6: mllm.program.instruction {{{.*[[:space:]]+.*}}softmax{{.*[[:space:]]+}}}
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.barrier unless_decode
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.label "here"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.jump_if "here" (%i) : memref<1x16xi32>
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.set_field num_tokens to 7
  mllm.program.instruction {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// A replicated instruction and a divided one are not fused.

// CHECK-LABEL: @replicated
mllm.program.fragment @replicated code attributes {decode_tokens = 8 : i64} {
  // CHECK: %[[A:.*]] = mllm.program.buffer
  %a = mllm.program.buffer : memref<8x16xf32>
  // CHECK: %[[B:.*]] = mllm.program.buffer
  %b = mllm.program.buffer per_worker : memref<8x16xf32>
  // CHECK: %[[C:.*]] = mllm.program.buffer
  %c = mllm.program.buffer per_worker : memref<8x16xf32>
  mllm.program.entry_point
  // CHECK: mllm.program.instruction replicated {
  // CHECK-NEXT: softmax ins(%[[A]] : {{.*}}) outs(%[[B]] :
  // CHECK-NEXT: softmax ins(%[[B]] : {{.*}}) outs(%[[C]] :
  // CHECK-NEXT: {{^ *}}}
  mllm.program.instruction replicated {
    mllm.kernel.softmax ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.instruction replicated {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%c : memref<8x16xf32>) {columns = 16}
  }
  // CHECK-NEXT: mllm.program.instruction {
  // CHECK-NEXT: softmax ins(%[[C]] : {{.*}}) outs(%[[A]] :
  // CHECK-NEXT: {{^ *}}}
  mllm.program.instruction {
    mllm.kernel.softmax ins(%c : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
}
