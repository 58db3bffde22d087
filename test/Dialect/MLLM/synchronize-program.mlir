// RUN: llmir-opt %s --mllm-synchronize-program --split-input-file | FileCheck %s
// RUN: llmir-opt %s --mllm-synchronize-program=decode-tokens=0 --split-input-file | FileCheck %s --check-prefix=NONE
// The pass is idempotent.
// RUN: llmir-opt %s --mllm-synchronize-program --split-input-file > %t.once
// RUN: llmir-opt %t.once --mllm-synchronize-program --split-input-file | diff %t.once -

// A matmul reads what other workers have normalized: in a decode-sized step each
// worker makes the rows itself. Columns of the same division are a worker's own.
// Existing barriers are removed and inserted again.

// CHECK-LABEL: fragment @rows_and_columns code attributes {decode_tokens = 8 : i64}
// CHECK: %[[N:.*]] = mllm.program.buffer per_worker
// CHECK: entry_point
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: kernel.rms_norm
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier unless_decode{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight
// CHECK-NEXT: kernel.linear
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.rms_norm
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.exit

// NONE-LABEL: fragment @rows_and_columns code
// NONE-NOT: per_worker
// NONE-NOT: replicated
// NONE: kernel.rms_norm
// NONE: mllm.program.barrier{{$}}
// NONE: kernel.linear
// NONE-NOT: mllm.program.barrier
// NONE: kernel.elementwise
// NONE: mllm.program.barrier{{$}}
// NONE: kernel.rms_norm

mllm.program.fragment @weights data {
  mllm.program.weight @w "tiles16" "f32" [16, 16] bytes 1024 sources ["w"] at [0]
}
mllm.program.fragment @rows_and_columns code {
  %x = mllm.program.buffer : memref<32x16xf32>
  %n = mllm.program.buffer : memref<32x16xf32>
  %y = mllm.program.buffer : memref<32x16xf32>
  %z = mllm.program.buffer : memref<32x16xf32>
  mllm.program.entry_point
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.rms_norm ins(%x : memref<32x16xf32>) outs(%n : memref<32x16xf32>) {columns = 16, eps = 1.0e-5}
  }
  mllm.program.instruction {
    %w = mllm.program.get_weight @w : memref<1024xi8>
    mllm.kernel.linear weights(%w : memref<1024xi8>) ins(%n : memref<32x16xf32>) outs(%y : memref<32x16xf32>)
        {format = "f32", rows = 16, columns = 16}
  }
  mllm.program.barrier
  mllm.program.instruction {
    mllm.kernel.elementwise ins(%y : memref<32x16xf32>) outs(%y : memref<32x16xf32>) {columns = 16} apply {
    ^bb0(%a: f32):
      mllm.program.yield %a : f32
    }
  }
  mllm.program.instruction {
    mllm.kernel.rms_norm ins(%y : memref<32x16xf32>) outs(%z : memref<32x16xf32>) {columns = 16, eps = 1.0e-5}
  }
  mllm.program.exit
}

// -----

// Only steps that split attention have partial results, and the division of a
// result is known only to the emitter: a barrier separates attention of the
// same queries with another window.

// CHECK-LABEL: fragment @attention code
// CHECK: paged_attention
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier if_split{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: merge_attention
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: paged_attention
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: elementwise

mllm.program.fragment @attention code {
  %q = mllm.program.buffer : memref<32x64xf32>
  %p = mllm.program.buffer : memref<2048x48xf32>
  %y = mllm.program.buffer : memref<32x64xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.paged_attention ins(%q : memref<32x64xf32>) partials(%p : memref<2048x48xf32>)
        outs(%y : memref<32x64xf32>)
        {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  }
  mllm.program.instruction {
    mllm.kernel.merge_attention partials(%p : memref<2048x48xf32>) outs(%y : memref<32x64xf32>)
        {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
  }
  mllm.program.instruction {
    mllm.kernel.paged_attention ins(%q : memref<32x64xf32>) outs(%y : memref<32x64xf32>)
        {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25,
         window = 8}
  }
  mllm.program.instruction {
    mllm.kernel.elementwise ins(%y : memref<32x64xf32>) outs(%y : memref<32x64xf32>) {columns = 64} apply {
    ^bb0(%a: f32):
      mllm.program.yield %a : f32
    }
  }
  mllm.program.exit
}

// -----

// Buffers that are read by other ops than kernels are not replicated. A
// replicated instruction reads all rows of such a buffer, which requires a
// barrier. The attribute decode_tokens takes precedence over the option.

// CHECK-LABEL: fragment @own code attributes {decode_tokens = 3 : i64}
// CHECK: buffer : memref
// CHECK: buffer : memref
// CHECK: buffer per_worker : memref
// CHECK: instruction {
// CHECK-NEXT: select_rows
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: round_rows
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier unless_decode{{$}}
// CHECK-NEXT: instruction {
// CHECK: linear

mllm.program.fragment @weights data {
  mllm.program.weight @w "tiles16" "bf16" [16, 16] bytes 512 sources ["w"] at [0]
}
mllm.program.fragment @own code attributes {decode_tokens = 3 : i64} {
  %x = mllm.program.buffer : memref<32x16xf32>
  %s = mllm.program.buffer : memref<32x16xf32>
  %r = mllm.program.buffer : memref<32x16xf32>
  %y = mllm.program.buffer : memref<32x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.select_rows ins(%x : memref<32x16xf32>) outs(%s : memref<32x16xf32>) {columns = 16}
  }
  mllm.program.barrier unless_decode
  mllm.program.instruction {
    mllm.kernel.round_rows over logit_rows ins(%s : memref<32x16xf32>) outs(%r : memref<32x16xf32>) {columns = 16}
  }
  mllm.program.instruction {
    %w = mllm.program.get_weight @w : memref<512xi8>
    mllm.kernel.linear over logit_rows weights(%w : memref<512xi8>) ins(%r : memref<32x16xf32>)
        outs(%y : memref<32x16xf32>) {format = "bf16", rows = 16, columns = 16}
  }
  mllm.program.output "selected" (%s) columns 16 : memref<32x16xf32>
  mllm.program.exit
}

// -----

// Rows are divided equally only for equal numbers of rows: a count may be set
// by the program, and after a label it may depend on the path.

// CHECK-LABEL: fragment @counts code
// CHECK: entry_point
// CHECK-NEXT: mllm.program.set_field num_tokens to 4
// CHECK-NEXT: instruction {
// CHECK-NEXT: softmax
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: softmax
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.set_field num_tokens to 7
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: softmax
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: mllm.program.jump_if "again"
// CHECK-NEXT: mllm.program.set_field num_tokens to 4
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: mllm.program.label "again"
// CHECK-NEXT: instruction {
// CHECK-NEXT: softmax
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: softmax
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.set_field num_tokens to 4
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: softmax
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.set_field num_tokens restored
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: softmax

mllm.program.fragment @counts code {
  %x = mllm.program.buffer : memref<32x16xf32>
  %more = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.set_field num_tokens to 4
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<32x16xf32>) outs(%x : memref<32x16xf32>) {columns = 16}
  }
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<32x16xf32>) outs(%x : memref<32x16xf32>) {columns = 16}
  }
  mllm.program.set_field num_tokens to 7
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<32x16xf32>) outs(%x : memref<32x16xf32>) {columns = 16}
  }
  mllm.program.jump_if "again" (%more) : memref<1x16xi32>
  mllm.program.set_field num_tokens to 4
  mllm.program.label "again"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<32x16xf32>) outs(%x : memref<32x16xf32>) {columns = 16}
  }
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<32x16xf32>) outs(%x : memref<32x16xf32>) {columns = 16}
  }
  mllm.program.set_field num_tokens to 4
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<32x16xf32>) outs(%x : memref<32x16xf32>) {columns = 16}
  }
  mllm.program.set_field num_tokens restored
  mllm.program.instruction {
    mllm.kernel.softmax ins(%x : memref<32x16xf32>) outs(%x : memref<32x16xf32>) {columns = 16}
  }
  mllm.program.exit
}

// -----

// A kernel reads the buffers to which fields point: in the loop, also the
// target set in the previous iteration. All workers must have read the
// condition of the jump before the runtime writes it.

// CHECK-LABEL: fragment @pointers code
// CHECK: entry_point
// CHECK-NEXT: mllm.program.runtime_call check_slots(%[[GIVEN:.*]], %[[ONE:.*]]) [4] :
// CHECK-NEXT: mllm.program.set_field slot_mapping at %[[ONE]]
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: append_kv
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: mllm.program.label "turn"
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: mllm.program.runtime_call check_slots(%[[GIVEN]], %[[OTHER:.*]]) [4] :
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: append_kv
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.set_field slot_mapping at %[[OTHER]]
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: jump_if "turn"

mllm.program.fragment @pointers code {
  %k = mllm.program.buffer : memref<32x16xf32>
  %given = mllm.program.buffer : memref<1x16xi32>
  %one = mllm.program.buffer : memref<1x16xi32>
  %other = mllm.program.buffer : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.runtime_call check_slots (%given, %one) [4 : i64] : memref<1x16xi32>, memref<1x16xi32>
  mllm.program.set_field slot_mapping at %one : memref<1x16xi32>
  mllm.program.instruction {
    mllm.kernel.append_kv ins(%k, %k : memref<32x16xf32>, memref<32x16xf32>)
        {kv_format = "f32", kv_heads = 1, head_dim = 16, value_dim = 16, block_size = 16}
  }
  mllm.program.label "turn"
  mllm.program.runtime_call check_slots (%given, %other) [4 : i64] : memref<1x16xi32>, memref<1x16xi32>
  mllm.program.instruction {
    mllm.kernel.append_kv ins(%k, %k : memref<32x16xf32>, memref<32x16xf32>)
        {kv_format = "f32", kv_heads = 1, head_dim = 16, value_dim = 16, block_size = 16}
  }
  mllm.program.set_field slot_mapping at %other : memref<1x16xi32>
  mllm.program.jump_if "turn" (%given) : memref<1x16xi32>
  mllm.program.exit
}

// -----

// A barrier separates appends: two may assign a slot to different rows. The
// runtime also accesses its cache, but not one of the program.

// CHECK-LABEL: fragment @caches code
// CHECK: append_kv
// CHECK: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: append_kv
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: mllm.program.runtime_call free_kv
// CHECK-NEXT: mllm.program.set_field kv_pool at
// CHECK-NEXT: instruction {
// CHECK-NEXT: append_kv
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: mllm.program.barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: copy_box

mllm.program.fragment @caches code {
  %k = mllm.program.buffer : memref<32x16xf32>
  %sequences = mllm.program.buffer : memref<1x16xi32>
  %pool = mllm.program.buffer : memref<32x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.append_kv ins(%k, %k : memref<32x16xf32>, memref<32x16xf32>)
        {kv_format = "f32", kv_heads = 1, head_dim = 16, value_dim = 16, block_size = 16}
  }
  mllm.program.instruction {
    mllm.kernel.append_kv ins(%k, %k : memref<32x16xf32>, memref<32x16xf32>)
        {kv_format = "f32", kv_heads = 1, head_dim = 16, value_dim = 16, block_size = 16}
  }
  mllm.program.runtime_call free_kv (%sequences) [1 : i64] : memref<1x16xi32>
  mllm.program.set_field kv_pool at %pool : memref<32x16xf32>
  mllm.program.instruction {
    mllm.kernel.append_kv ins(%k, %k : memref<32x16xf32>, memref<32x16xf32>)
        {kv_format = "f32", kv_heads = 1, head_dim = 16, value_dim = 16, block_size = 16}
  }
  mllm.program.instruction {
    mllm.kernel.copy_box ins(%k : memref<32x16xf32>) outs(%pool : memref<32x16xf32>)
        {sizes = array<i64: 16>, from_columns = 16, from_strides = array<i64: 1>,
         to_columns = 16, to_strides = array<i64: 1>}
  }
  mllm.program.exit
}
