// RUN: llmir-opt %s --mllm-check-memory --split-input-file --verify-diagnostics

// A value over which another one is written, and read afterwards.
mllm.graph.subgraph @overwritten(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = mllm.linalg.silu %1 : tensor<8x4xf32>
  %3 = mllm.linalg.copy %1, %2 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{reads byte 0 of the arena, which holds another value by then}}
  %4 = mllm.linalg.add %1, %3 : tensor<8x4xf32>
  mllm.cf.return %3 : tensor<8x4xf32>
}

// -----

// Memory that is given out twice.
mllm.graph.subgraph @twice(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 192 : i64} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{takes byte 64 of the arena, where a value lives}}
  %n = mllm.tensor.alloc offset 64 : tensor<8x4xf32>
  %2 = mllm.linalg.silu %1 : tensor<8x4xf32>
  mllm.cf.return %2 : tensor<8x4xf32>
}

// -----

// A view of what was freed.
mllm.graph.subgraph @freed(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = mllm.linalg.view %1 : tensor<8x4xf32> -> tensor<8x2x2xf32>
  mllm.tensor.free %1 : tensor<8x4xf32>
  // expected-error@+1 {{reads byte 0 of the arena, which was freed before}}
  %3 = mllm.linalg.silu %2 : tensor<8x2x2xf32>
  mllm.cf.return %x : tensor<8x4xf32>
}

// -----

mllm.graph.subgraph @elsewhere(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  // expected-error@+1 {{frees a value that lies in no planned memory}}
  mllm.tensor.free %0 : tensor<8x4xf32>
  mllm.cf.return %x : tensor<8x4xf32>
}

// -----

// expected-error@+1 {{leaves byte 0 of its frame to a value that nobody frees}}
mllm.graph.subgraph @left(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  mllm.cf.return %x : tensor<8x4xf32>
}

// -----

// expected-error@+1 {{uses 128 bytes of a frame of 64}}
mllm.graph.subgraph @large(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 64 : i64} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  mllm.tensor.free %m : tensor<8x4xf32>
  mllm.cf.return %x : tensor<8x4xf32>
}

// -----

mllm.graph.subgraph @crooked(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 64 : i64} {
  // expected-error@+1 {{has the offset 4, which is no multiple of 64}}
  %m = mllm.tensor.alloc offset 4 : tensor<8x4xf32>
  mllm.cf.return %x : tensor<8x4xf32>
}

// -----

mllm.graph.subgraph @callee(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  mllm.cf.return %x : tensor<8x4xf32>
}
mllm.graph.subgraph @unplanned(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 64 : i64} {
  // expected-error@+1 {{has no frame: plan the memory first}}
  %0 = mllm.graph.call_graph @callee(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  mllm.cf.return %0 : tensor<8x4xf32>
}
