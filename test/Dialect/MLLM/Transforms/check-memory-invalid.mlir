// RUN: llmir-opt %s --mllm-check-memory --split-input-file --verify-diagnostics

// A value over which another one is written, and read afterwards.
mllm.graph.subgraph @overwritten(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = mllm.linalg.silu %1 : tensor<8x4xf32>
  %3 = mllm.linalg.copy %1, %2 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{reads byte 0 of the arena, which has been overwritten}}
  %4 = mllm.linalg.add %1, %3 : tensor<8x4xf32>
  mllm.cf.return %3 : tensor<8x4xf32>
}

// -----

// Memory that is given out twice.
mllm.graph.subgraph @twice(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 192 : i64} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{allocates byte 64 of the arena, which a live value occupies}}
  %n = mllm.tensor.alloc offset 64 : tensor<8x4xf32>
  %2 = mllm.linalg.silu %1 : tensor<8x4xf32>
  mllm.cf.return %2 : tensor<8x4xf32>
}

// -----

// A view of a freed value.
mllm.graph.subgraph @freed(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = mllm.linalg.view %1 : tensor<8x4xf32> -> tensor<8x2x2xf32>
  mllm.tensor.free %1 : tensor<8x4xf32>
  // expected-error@+1 {{reads byte 0 of the arena, which has been freed}}
  %3 = mllm.linalg.silu %2 : tensor<8x2x2xf32>
  mllm.cf.return %x : tensor<8x4xf32>
}

// -----

mllm.graph.subgraph @elsewhere(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  // expected-error@+1 {{frees a value that is not in planned memory}}
  mllm.tensor.free %0 : tensor<8x4xf32>
  mllm.cf.return %x : tensor<8x4xf32>
}

// -----

// expected-error@+1 {{leaves byte 0 of its frame to a value that is never freed}}
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
  // expected-error@+1 {{has the offset 4, which is not a multiple of 64}}
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

// -----

// An iteration overwrites a value that the next iteration reads.
mllm.graph.subgraph @next_turn(%n: tensor<i64>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 256 : i64} {
  %h = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %i = mllm.linalg.copy %h, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = mllm.tensor.alloc offset 128 : tensor<8x4xf32>
  %k = mllm.linalg.copy %m, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = mllm.cf.for %n (%i) : (tensor<i64>, tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%t: tensor<i64>, %a: tensor<8x4xf32>):
    // expected-error@+1 {{reads byte 128 of the arena, which has been overwritten}}
    %0 = mllm.linalg.silu %k : tensor<8x4xf32>
    %1 = mllm.linalg.copy %k, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = mllm.linalg.copy %a, %1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    mllm.cf.yield %2 : tensor<8x4xf32>
  }
  mllm.cf.return %r : tensor<8x4xf32>
}

// -----

// Branches that leave the result in two places.
mllm.graph.subgraph @places(%c: tensor<i1>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 256 : i64} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %n = mllm.tensor.alloc offset 128 : tensor<8x4xf32>
  // expected-error@+1 {{leaves result #0 in different locations}}
  %r = mllm.cf.if %c : tensor<i1> -> tensor<8x4xf32> {
    %0 = mllm.linalg.copy %m, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    mllm.cf.yield %0 : tensor<8x4xf32>
  } else {
    %0 = mllm.linalg.copy %n, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    mllm.cf.yield %0 : tensor<8x4xf32>
  }
  mllm.cf.return %r : tensor<8x4xf32>
}

// -----

// Memory that ends in one branch only.
mllm.graph.subgraph @one_branch(%c: tensor<i1>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.copy %m, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{leaves byte 0 of the arena to different values}}
  mllm.cf.if %c : tensor<i1> {
    mllm.tensor.free %0 : tensor<8x4xf32>
    mllm.cf.yield
  } else {
    mllm.cf.yield
  }
  mllm.cf.return %x : tensor<8x4xf32>
}

// -----

mllm.graph.subgraph @unplanned(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  // expected-error@+1 {{has no offset: plan the memory first}}
  %m = mllm.tensor.alloc : tensor<8x4xf32>
  mllm.cf.return %x : tensor<8x4xf32>
}

// -----

mllm.graph.subgraph @unsaid(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  // expected-error@+1 {{has a dynamic size that 'sizes' does not specify}}
  %m = mllm.tensor.alloc offset 0 : tensor<?x4xf32>
  mllm.cf.return %x : tensor<?x4xf32>
}

// -----

mllm.graph.subgraph @behind(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mllm.frame_bytes = 128 : i64} {
  // expected-error@+1 {{is beyond 268435456 lines}}
  %m = mllm.tensor.alloc offset 17179869184 : tensor<8x4xf32>
  mllm.cf.return %x : tensor<8x4xf32>
}
