// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Each rule of the ops in MLLMAttentionOps.td.

mllm.graph.subgraph @f(%x: tensor<i64>) {
  // RULE: positions.c1
  // expected-error@+1 {{has a scalar operand, expected a list of tokens}}
  %0 = mllm.linalg.positions %x : tensor<i64>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3xi32>) {
  // RULE: positions.c2
  // expected-error@+1 {{result #0 has type 'tensor<3xi32>', expected 'tensor<3xi64>'}}
  %0 = mllm.linalg.positions %x : tensor<3xi32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>) {
  // RULE: rope.c1 (none)
  // expected-error@+1 {{has 0 frequencies for heads of size 4, expected 1 to 2}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64>, scaling = 1.0 : f64} : tensor<?x2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x5xf32>) {
  // RULE: rope.c1 (too many)
  // expected-error@+1 {{has 3 frequencies for heads of size 5, expected 1 to 2}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0, 0.5, 0.25>, scaling = 1.0 : f64} : tensor<?x2x5xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>, %t: tensor<?x3xf32>) {
  // RULE: rope.c1 (tables)
  // expected-error@+1 {{has 3 pairs for heads of size 4, expected at most 2}}
  %0 = mllm.linalg.rope %x by %t, %t {scaling = 1.0 : f64} : tensor<?x2x4xf32> by tensor<?x3xf32>, tensor<?x3xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>) {
  // RULE: rope.c2
  // expected-error@+1 {{frequency #1 is INF, expected a finite number}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0, 0x7FF0000000000000>, scaling = 1.0 : f64} : tensor<?x2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>) {
  // RULE: rope.c3
  // expected-error@+1 {{'scaling' is -1.000000e+00, expected a finite positive number}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0>, scaling = -1.0 : f64} : tensor<?x2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>) {
  // RULE: rope.c4 (neither)
  // expected-error@+1 {{has 0 tables and no frequencies, expected sines and cosines}}
  %0 = mllm.linalg.rope %x {scaling = 1.0 : f64} : tensor<?x2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>, %t: tensor<?x2xf32>) {
  // RULE: rope.c4 (both)
  // expected-error@+1 {{has 2 tables in addition to frequencies, expected none}}
  %0 = mllm.linalg.rope %x by %t, %t {frequencies = array<f64: 1.0>, scaling = 1.0 : f64} : tensor<?x2x4xf32> by tensor<?x2xf32>, tensor<?x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>, %t: tensor<?x2xf32>) {
  // RULE: rope.c4 (one table)
  // expected-error@+1 {{has 1 tables and no frequencies, expected sines and cosines}}
  %0 = mllm.linalg.rope %x by %t {scaling = 1.0 : f64} : tensor<?x2x4xf32> by tensor<?x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>, %s: tensor<3x2xf32>, %t: tensor<3x1xf32>) {
  // RULE: rope.c5
  // expected-error@+1 {{has sines [3, 2] and cosines [3, 1], expected equal shapes, on the device of x}}
  %0 = mllm.linalg.rope %x by %s, %t {scaling = 1.0 : f64} : tensor<?x2x4xf32> by tensor<3x2xf32>, tensor<3x1xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3x2x4xf32>, %s: tensor<4x2xf32>) {
  // RULE: rope.c5 (tokens)
  // expected-error@+1 {{x has 3 tokens, but a table has 4}}
  %0 = mllm.linalg.rope %x by %s, %s {scaling = 1.0 : f64} : tensor<3x2x4xf32> by tensor<4x2xf32>, tensor<4x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<2x5x2x4xf32>, %s: tensor<3x5x2xf32>) {
  // RULE: rope.c5 (sequences)
  // expected-error@+1 {{x has 2 sequences, but a table has 3}}
  %0 = mllm.linalg.rope %x by %s, %s {scaling = 1.0 : f64} : tensor<2x5x2x4xf32> by tensor<3x5x2xf32>, tensor<3x5x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>) {
  // RULE: rope.c6
  // expected-error@+1 {{result #0 has type 'tensor<?x2x6xf32>', expected 'tensor<?x2x4xf32>'}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0>, scaling = 1.0 : f64} : tensor<?x2x4xf32> -> tensor<?x2x6xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: rope (the rank)
  // expected-error@+1 {{operand #0 must be}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0>, scaling = 1.0 : f64} : tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>) {
  // RULE: rope (the layout)
  // expected-error@+1 {{attribute 'layout' failed to satisfy constraint: one of the words bshd, bhsd}}
  %0 = mllm.linalg.rope %x {frequencies = array<f64: 1.0>, layout = "sbhd", scaling = 1.0 : f64} : tensor<?x2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>, %s: tensor<3x?x2xf32>, %c: tensor<3x?x2xf32>) {
  // RULE: multimodal_rope.c1
  // expected-error@+1 {{has a section of -1 pairs, expected 0 or more}}
  %0 = mllm.linalg.multimodal_rope %x by %s, %c {mrope_section = array<i64: -1, 3>} : tensor<?x2x4xf32> by tensor<3x?x2xf32>, tensor<3x?x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>, %s: tensor<3x?x2xf32>, %c: tensor<3x?x2xf32>) {
  // RULE: multimodal_rope.c1 (the sum)
  // expected-error@+1 {{has sections of 3 pairs in total, but tables of 2}}
  %0 = mllm.linalg.multimodal_rope %x by %s, %c {mrope_section = array<i64: 1, 2>} : tensor<?x2x4xf32> by tensor<3x?x2xf32>, tensor<3x?x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x3xf32>, %s: tensor<3x?x2xf32>, %c: tensor<3x?x2xf32>) {
  // RULE: multimodal_rope.c2
  // expected-error@+1 {{has 2 pairs for heads of size 3, expected at most 1}}
  %0 = mllm.linalg.multimodal_rope %x by %s, %c {mrope_section = array<i64: 1, 1>} : tensor<?x2x3xf32> by tensor<3x?x2xf32>, tensor<3x?x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>, %s: tensor<3x?x2xf32>, %c: tensor<2x?x2xf32>) {
  // RULE: multimodal_rope.c3
  // expected-error@+1 {{has sines [3, ?, 2] and cosines [2, ?, 2], expected equal shapes, on the device of x}}
  %0 = mllm.linalg.multimodal_rope %x by %s, %c {mrope_section = array<i64: 1, 1>} : tensor<?x2x4xf32> by tensor<3x?x2xf32>, tensor<2x?x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<5x2x4xf32>, %s: tensor<3x4x2xf32>, %c: tensor<3x4x2xf32>) {
  // RULE: multimodal_rope.c3 (tokens)
  // expected-error@+1 {{x has 5 tokens, but a table has 4}}
  %0 = mllm.linalg.multimodal_rope %x by %s, %c {mrope_section = array<i64: 1, 1>} : tensor<5x2x4xf32> by tensor<3x4x2xf32>, tensor<3x4x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x2x4xf32>, %s: tensor<3x?x2xf32>, %c: tensor<3x?x2xf32>) {
  // RULE: multimodal_rope.c4
  // expected-error@+1 {{result #0 has type 'tensor<?x2x6xf32>', expected 'tensor<?x2x4xf32>'}}
  %0 = mllm.linalg.multimodal_rope %x by %s, %c {mrope_section = array<i64: 1, 1>} : tensor<?x2x4xf32> -> tensor<?x2x6xf32> by tensor<3x?x2xf32>, tensor<3x?x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x8xf32>) {
  // RULE: vision_rope.c1 (neither)
  // expected-error@+1 {{has 0 tables and no grid, expected sines and cosines}}
  %0 = mllm.linalg.vision_rope %x {theta = 10.0 : f64} : tensor<24x2x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x8xf32>, %t: tensor<24x4xf32>) {
  // RULE: vision_rope.c1 (both)
  // expected-error@+1 {{has 2 tables in addition to a grid, expected none}}
  %0 = mllm.linalg.vision_rope %x by %t, %t {grid = array<i64: 1, 4, 6>} : tensor<24x2x8xf32> by tensor<24x4xf32>, tensor<24x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x8xf32>) {
  // RULE: vision_rope.c2 (two numbers)
  // expected-error@+1 {{has an invalid grid, expected [frames, rows, columns] from 1 to 2^20, rows and columns divisible by 2}}
  %0 = mllm.linalg.vision_rope %x {grid = array<i64: 4, 6>} : tensor<24x2x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x8xf32>) {
  // RULE: vision_rope.c2 (odd rows)
  // expected-error@+1 {{has an invalid grid, expected [frames, rows, columns] from 1 to 2^20, rows and columns divisible by 2}}
  %0 = mllm.linalg.vision_rope %x {grid = array<i64: 8, 1, 3>} : tensor<24x2x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x8xf32>) {
  // RULE: vision_rope.c2 (no block)
  // expected-error@+1 {{has an invalid grid, expected [frames, rows, columns] from 1 to 2^20, rows and columns divisible by 0}}
  %0 = mllm.linalg.vision_rope %x {grid = array<i64: 1, 4, 6>, spatial_merge_size = 0 : i64} : tensor<24x2x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x8xf32>) {
  // RULE: vision_rope.c2 (too many patches)
  // expected-error@+1 {{has an invalid grid, expected [frames, rows, columns] from 1 to 2^20, rows and columns divisible by 2}}
  %0 = mllm.linalg.vision_rope %x {grid = array<i64: 4611686018427387904, 4, 6>} : tensor<24x2x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x8xf32>) {
  // RULE: vision_rope.c3
  // expected-error@+1 {{x has 24 patches, but the grid has 16}}
  %0 = mllm.linalg.vision_rope %x {grid = array<i64: 1, 4, 4>} : tensor<24x2x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x6xf32>) {
  // RULE: vision_rope.c4
  // expected-error@+1 {{has heads of size 6, expected a multiple of 4}}
  %0 = mllm.linalg.vision_rope %x {grid = array<i64: 1, 4, 6>} : tensor<24x2x6xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x8xf32>) {
  // RULE: vision_rope.c5
  // expected-error@+1 {{'theta' is 0.000000e+00, expected a finite positive number}}
  %0 = mllm.linalg.vision_rope %x {grid = array<i64: 1, 4, 6>, theta = 0.0 : f64} : tensor<24x2x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x8xf32>, %t: tensor<24x5xf32>) {
  // RULE: vision_rope.c6
  // expected-error@+1 {{has 5 pairs for heads of size 8, expected at most 4}}
  %0 = mllm.linalg.vision_rope %x by %t, %t {theta = 10.0 : f64} : tensor<24x2x8xf32> by tensor<24x5xf32>, tensor<24x5xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<24x2x8xf32>) {
  // RULE: vision_rope.c7
  // expected-error@+1 {{result #0 has type 'tensor<24x2x9xf32>', expected 'tensor<24x2x8xf32>'}}
  %0 = mllm.linalg.vision_rope %x {grid = array<i64: 1, 4, 6>} : tensor<24x2x8xf32> -> tensor<24x2x9xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<2x2x4xf32>, %v: tensor<3x2x4xf32>) {
  // RULE: kv_cache.c1 (tokens)
  // expected-error@+1 {{k has 2 tokens, but v has 3}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64} : (tensor<2x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<?x1x4xf32>) {
  // RULE: kv_cache.c1 (heads)
  // expected-error@+1 {{k has 2 heads, but v has 1}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x1x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<2x?x2x4xf32>, %v: tensor<3x?x2x4xf32>) {
  // RULE: kv_cache.c1 (sequences)
  // expected-error@+1 {{k has 2 sequences, but v has 3}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64} : (tensor<2x?x2x4xf32>, tensor<3x?x2x4xf32>) -> (tensor<2x?x2x4xf32>, tensor<3x?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: kv_cache.c2 (head size)
  // expected-error@+1 {{v has 4 values per head, but values has 6}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x6xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<2x?x2x4xf32>, %v: tensor<2x?x2x4xf32>) {
  // RULE: kv_cache.c2 (sequences)
  // expected-error@+1 {{k has 2 sequences, but keys has 3}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64} : (tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32>) -> (tensor<3x?x2x4xf32>, tensor<2x?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: kv_cache.c3
  // expected-error@+1 {{keys has 8 tokens, but values has 9}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<8x2x4xf32>, tensor<9x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: kv_cache.c4
  // expected-error@+1 {{'layer' is -1, expected 0 or more}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = -1 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: kv_cache.c5
  // expected-error@+1 {{'q_head' has 5 heads, expected a multiple of k's 2}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64, q_head = 5 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x5x4xf32>, tensor<?x5x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: kv_cache.c6 (as k)
  // expected-error@+1 {{k has 2 heads, but keys has 3}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x3x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: kv_cache.c6 (as asked)
  // expected-error@+1 {{'q_head' has 6 heads, but values has 2}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64, q_head = 6 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x6x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: kv_cache.c6 (heads are where the layout says)
  // expected-error@+1 {{'q_head' has 6 heads, but keys has 4}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64, layout = "bshd", q_head = 6 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<6x4x4xf32>, tensor<6x4x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<1x?x2x4xf32>) {
  // RULE: kv_cache.c7 (rank)
  // expected-error@+1 {{operands have rank 3 and 4, expected equal ranks}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<1x?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: kv_cache.c7 (device)
  // expected-error@+1 {{operand #2 is on kQNN, but operand #0 is on kCPU}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32, #mllm.tensor<kQNN>>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3xf32>) {
  // RULE: causal_mask.c1
  // expected-error@+1 {{has an operand [3], expected scores [..., queries, keys]}}
  %0 = mllm.linalg.causal_mask %x : tensor<3xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3x3xf32>) {
  // RULE: causal_mask.c2
  // expected-error@+1 {{'window' is -1, expected 0 or more}}
  %0 = mllm.linalg.causal_mask %x {window = -1 : i64} : tensor<3x3xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3x3xf32>) {
  // RULE: causal_mask.c3
  // expected-error@+1 {{result #0 has type 'tensor<3x4xf32>', expected 'tensor<3x3xf32>'}}
  %0 = mllm.linalg.causal_mask %x : tensor<3x3xf32> -> tensor<3x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x5x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: flash_attention2.c1
  // expected-error@+1 {{q has 5 heads, expected a multiple of k's 2}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x5x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x5x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x0x4xf32>, %v: tensor<?x0x4xf32>) {
  // RULE: flash_attention2.c1 (no key head)
  // expected-error@+1 {{q has 4 heads, expected a multiple of k's 0}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<?x0x4xf32>, tensor<?x0x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x6xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: flash_attention2.c2
  // expected-error@+1 {{q has 6 values per head, but k has 4}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x6xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<8x2x4xf32>, %v: tensor<9x2x4xf32>) {
  // RULE: flash_attention2.c3 (tokens)
  // expected-error@+1 {{k has 8 tokens, but v has 9}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<8x2x4xf32>, tensor<9x2x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x4x4xf32>) {
  // RULE: flash_attention2.c3 (heads)
  // expected-error@+1 {{k has 2 heads, but v has 4}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<?x2x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<2x4x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: flash_attention2.c4
  // expected-error@+1 {{result #0 has type 'tensor<1x4x4xf32>', expected 'tensor<2x4x4xf32>'}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<2x4x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<1x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x4x4xf32>, %v: tensor<?x4x6xf32>) {
  // RULE: flash_attention2.c4 (head size)
  // expected-error@+1 {{result #0 has type 'tensor<?x4x4xf32>', expected 'tensor<?x4x6xf32>'}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x6xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x4x4xf32>, %v: tensor<?x4x4xf32>) {
  // RULE: flash_attention2.c5
  // expected-error@+1 {{'scale' is nan, expected a finite positive number}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0x7FF8000000000000 : f64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<1x?x4x4xf32>, %v: tensor<?x4x4xf32>) {
  // RULE: flash_attention2.c6 (rank)
  // expected-error@+1 {{operands have rank 3 and 4, expected equal ranks}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<1x?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x4x4xf16>, %v: tensor<?x4x4xf32>) {
  // RULE: flash_attention2.c6 (element type)
  // expected-error@+1 {{operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf16>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x4x4xf32>, %v: tensor<?x4x4xf32, #mllm.tensor<kCUDA>>) {
  // RULE: flash_attention2.c6 (device)
  // expected-error@+1 {{operand #2 is on kCUDA, but operand #0 is on kCPU}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32, #mllm.tensor<kCUDA>>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<1x?x4x4xf32>, %k: tensor<2x?x4x4xf32>, %v: tensor<2x?x4x4xf32>) {
  // RULE: flash_attention2.c6 (sequences)
  // expected-error@+1 {{q has 1 sequences, but k has 2}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64}
      : (tensor<1x?x4x4xf32>, tensor<2x?x4x4xf32>, tensor<2x?x4x4xf32>) -> tensor<1x?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x4x4xf32>, %v: tensor<?x4x4xf32>) {
  // RULE: flash_attention2.c7
  // expected-error@+1 {{'soft_cap' is -1}}
  %0 = mllm.linalg.flash_attention2 %q, %k, %v {causal = true, scale = 0.5 : f64, soft_cap = -1.0 : f64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x5x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: flash_attention2_swa_sink.c1
  // expected-error@+1 {{q has 5 heads, expected a multiple of k's 2}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x5x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x5x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x0x4xf32>, %v: tensor<?x0x4xf32>) {
  // RULE: flash_attention2_swa_sink.c1 (no key head)
  // expected-error@+1 {{q has 4 heads, expected a multiple of k's 0}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<?x0x4xf32>, tensor<?x0x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x6xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: flash_attention2_swa_sink.c2
  // expected-error@+1 {{q has 6 values per head, but k has 4}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x6xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<8x2x4xf32>, %v: tensor<9x2x4xf32>) {
  // RULE: flash_attention2_swa_sink.c3 (tokens)
  // expected-error@+1 {{k has 8 tokens, but v has 9}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<8x2x4xf32>, tensor<9x2x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x4x4xf32>) {
  // RULE: flash_attention2_swa_sink.c3 (heads)
  // expected-error@+1 {{k has 2 heads, but v has 4}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<?x2x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<2x4x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: flash_attention2_swa_sink.c4
  // expected-error@+1 {{result #0 has type 'tensor<1x4x4xf32>', expected 'tensor<2x4x4xf32>'}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<2x4x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<1x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x4x4xf32>, %v: tensor<?x4x6xf32>) {
  // RULE: flash_attention2_swa_sink.c4 (head size)
  // expected-error@+1 {{result #0 has type 'tensor<?x4x4xf32>', expected 'tensor<?x4x6xf32>'}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x6xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x4x4xf32>, %v: tensor<?x4x4xf32>) {
  // RULE: flash_attention2_swa_sink.c5
  // expected-error@+1 {{'scale' is nan, expected a finite positive number}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0x7FF8000000000000 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<1x?x4x4xf32>, %v: tensor<?x4x4xf32>) {
  // RULE: flash_attention2_swa_sink.c6 (rank)
  // expected-error@+1 {{operands have rank 3 and 4, expected equal ranks}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<1x?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x4x4xf16>, %v: tensor<?x4x4xf32>) {
  // RULE: flash_attention2_swa_sink.c6 (element type)
  // expected-error@+1 {{operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf16>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x4x4xf32>, %v: tensor<?x4x4xf32, #mllm.tensor<kCUDA>>) {
  // RULE: flash_attention2_swa_sink.c6 (device)
  // expected-error@+1 {{operand #2 is on kCUDA, but operand #0 is on kCPU}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32, #mllm.tensor<kCUDA>>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<1x?x4x4xf32>, %k: tensor<2x?x4x4xf32>, %v: tensor<2x?x4x4xf32>) {
  // RULE: flash_attention2_swa_sink.c6 (sequences)
  // expected-error@+1 {{q has 1 sequences, but k has 2}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<1x?x4x4xf32>, tensor<2x?x4x4xf32>, tensor<2x?x4x4xf32>) -> tensor<1x?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: flash_attention2_swa_sink.c7
  // expected-error@+1 {{'sliding_window' is -1, expected 0 or more}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = -1 : i64}
      : (tensor<?x4x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>, %s: tensor<3xf32>) {
  // RULE: flash_attention2_swa_sink.c8
  // expected-error@+1 {{q has 4 heads, but 's_aux' has 3}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v sinks %s {scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<3xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: flash_attention2_swa_sink.c9
  // expected-error@+1 {{'soft_cap' is 0}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {scale = 0.5 : f64, sliding_window = 4 : i64, soft_cap = 0.0 : f64}
      : (tensor<?x4x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x5x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_swa_sink.c1
  // expected-error@+1 {{q has 5 heads, expected a multiple of k_pool's 2}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "append", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x5x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x5x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x6xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_swa_sink.c2
  // expected-error@+1 {{q has 6 values per head, but k_pool has 4}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "append", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x6xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<3xi32>, %vi: tensor<2xi32>) {
  // RULE: radix_attn_swa_sink.c3 (rows)
  // expected-error@+1 {{k has 3 rows, but v has 2}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "append", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x4x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_swa_sink.c3 (heads)
  // expected-error@+1 {{k_pool has 2 heads, but v_pool has 4}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "append", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x4x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x6xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_swa_sink.c4
  // expected-error@+1 {{result #0 has type 'tensor<?x4x4xf32>', expected 'tensor<?x4x6xf32>'}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "append", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x6xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_swa_sink.c5
  // expected-error@+1 {{'scale' is 0.000000e+00, expected a finite positive number}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "append", scale = 0.0 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf16>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_swa_sink.c6 (element type)
  // expected-error@+1 {{operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "append", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf16>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32, #mllm.tensor<kQNN>>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_swa_sink.c6 (device)
  // expected-error@+1 {{operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "append", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32, #mllm.tensor<kQNN>>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<2x?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_swa_sink.c6 (sequences)
  // expected-error@+1 {{q has 2 sequences, but a list of rows has 1}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "append", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<2x?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<2x?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x5x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_relax.c1
  // expected-error@+1 {{q has 5 heads, expected a multiple of k_pool's 2}}
  %0 = mllm.linalg.radix_attn_relax %q, %kp[%ki], %vp[%vi] {scale = 0.5 : f64}
      : (tensor<?x5x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x5x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x6xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_relax.c2
  // expected-error@+1 {{q has 6 values per head, but k_pool has 4}}
  %0 = mllm.linalg.radix_attn_relax %q, %kp[%ki], %vp[%vi] {scale = 0.5 : f64}
      : (tensor<?x4x6xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<3xi32>, %vi: tensor<2xi32>) {
  // RULE: radix_attn_relax.c3 (rows)
  // expected-error@+1 {{k has 3 rows, but v has 2}}
  %0 = mllm.linalg.radix_attn_relax %q, %kp[%ki], %vp[%vi] {scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x4x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_relax.c3 (heads)
  // expected-error@+1 {{k_pool has 2 heads, but v_pool has 4}}
  %0 = mllm.linalg.radix_attn_relax %q, %kp[%ki], %vp[%vi] {scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x4x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x6xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_relax.c4
  // expected-error@+1 {{result #0 has type 'tensor<?x4x4xf32>', expected 'tensor<?x4x6xf32>'}}
  %0 = mllm.linalg.radix_attn_relax %q, %kp[%ki], %vp[%vi] {scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x6xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_relax.c5
  // expected-error@+1 {{'scale' is 0.000000e+00, expected a finite positive number}}
  %0 = mllm.linalg.radix_attn_relax %q, %kp[%ki], %vp[%vi] {scale = 0.0 : f64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf16>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_relax.c6 (element type)
  // expected-error@+1 {{operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.radix_attn_relax %q, %kp[%ki], %vp[%vi] {scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf16>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32, #mllm.tensor<kQNN>>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_relax.c6 (device)
  // expected-error@+1 {{operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.radix_attn_relax %q, %kp[%ki], %vp[%vi] {scale = 0.5 : f64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32, #mllm.tensor<kQNN>>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<2x?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_relax.c6 (sequences)
  // expected-error@+1 {{q has 2 sequences, but a list of rows has 1}}
  %0 = mllm.linalg.radix_attn_relax %q, %kp[%ki], %vp[%vi] {scale = 0.5 : f64}
      : (tensor<2x?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<2x?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>) {
  // RULE: radix_attn_swa_sink.c7
  // expected-error@+1 {{'sliding_window' is -3, expected 1 or more}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "append", scale = 0.5 : f64, sliding_window = -3 : i64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<?xi32>, %vi: tensor<?xi32>, %s: tensor<3xf32>) {
  // RULE: radix_attn_swa_sink.c8
  // expected-error@+1 {{q has 4 heads, but 's_aux' has 3}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] sinks %s {pattern = "append", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<?x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<?xi32>, tensor<?xi32>, tensor<3xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<2x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<3xi32>, %vi: tensor<3xi32>) {
  // RULE: radix_attn_swa_sink.c9
  // expected-error@+1 {{has 2 new tokens among 3, but its pattern is prefill}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "prefill", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<2x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<2x4x4xf32>, %kp: tensor<9x2x4xf32>, %vp: tensor<9x2x4xf32>, %ki: tensor<3xi32>, %vi: tensor<3xi32>) {
  // RULE: radix_attn_swa_sink.c9 (one)
  // expected-error@+1 {{has 2 new tokens among 3, but its pattern is decode}}
  %0 = mllm.linalg.radix_attn_swa_sink %q, %kp[%ki], %vp[%vi] {pattern = "decode", scale = 0.5 : f64, sliding_window = 4 : i64}
      : (tensor<2x4x4xf32>, tensor<9x2x4xf32>, tensor<9x2x4xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<1x?x5x4xf32>, %k: tensor<1x9x2x4xf32>, %v: tensor<1x9x2x4xf32>, %i: tensor<?xi32>) {
  // RULE: paged_attn.c1
  // expected-error@+1 {{q has 5 heads, expected a multiple of k's 2}}
  %0 = mllm.linalg.paged_attn %q, %k, %v, %i {scale = 0.5 : f64}
      : (tensor<1x?x5x4xf32>, tensor<1x9x2x4xf32>, tensor<1x9x2x4xf32>, tensor<?xi32>) -> tensor<1x?x5x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<1x?x4x6xf32>, %k: tensor<1x9x2x4xf32>, %v: tensor<1x9x2x4xf32>, %i: tensor<?xi32>) {
  // RULE: paged_attn.c2
  // expected-error@+1 {{q has 6 values per head, but k has 4}}
  %0 = mllm.linalg.paged_attn %q, %k, %v, %i {scale = 0.5 : f64}
      : (tensor<1x?x4x6xf32>, tensor<1x9x2x4xf32>, tensor<1x9x2x4xf32>, tensor<?xi32>) -> tensor<1x?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<1x?x4x4xf32>, %k: tensor<1x9x2x4xf32>, %v: tensor<1x8x2x4xf32>, %i: tensor<?xi32>) {
  // RULE: paged_attn.c3
  // expected-error@+1 {{k has 9 tokens, but v has 8}}
  %0 = mllm.linalg.paged_attn %q, %k, %v, %i {scale = 0.5 : f64}
      : (tensor<1x?x4x4xf32>, tensor<1x9x2x4xf32>, tensor<1x8x2x4xf32>, tensor<?xi32>) -> tensor<1x?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<1x?x4x4xf32>, %k: tensor<1x9x2x4xf32>, %v: tensor<1x9x2x4xf32>, %i: tensor<?xi32>) {
  // RULE: paged_attn.c4
  // expected-error@+1 {{result #0 has type 'tensor<1x?x4x6xf32>', expected 'tensor<1x?x4x4xf32>'}}
  %0 = mllm.linalg.paged_attn %q, %k, %v, %i {scale = 0.5 : f64}
      : (tensor<1x?x4x4xf32>, tensor<1x9x2x4xf32>, tensor<1x9x2x4xf32>, tensor<?xi32>) -> tensor<1x?x4x6xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<1x?x4x4xf32>, %k: tensor<1x9x2x4xf32>, %v: tensor<1x9x2x4xf32>, %i: tensor<?xi32>) {
  // RULE: paged_attn.c4 (weights)
  // expected-error@+1 {{result #1 has type 'tensor<1x2x?x?xf32>', expected 'tensor<1x4x?x?xf32>'}}
  %0, %1 = mllm.linalg.paged_attn %q, %k, %v, %i {scale = 0.5 : f64}
      : (tensor<1x?x4x4xf32>, tensor<1x9x2x4xf32>, tensor<1x9x2x4xf32>, tensor<?xi32>) -> (tensor<1x?x4x4xf32>, tensor<1x2x?x?xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<1x?x4x4xf32>, %k: tensor<1x9x2x4xf32>, %v: tensor<1x9x2x4xf32>, %i: tensor<?xi32>) {
  // RULE: paged_attn.c5
  // expected-error@+1 {{'scale' is 0.000000e+00, expected a finite positive number}}
  %0 = mllm.linalg.paged_attn %q, %k, %v, %i {scale = 0.0 : f64}
      : (tensor<1x?x4x4xf32>, tensor<1x9x2x4xf32>, tensor<1x9x2x4xf32>, tensor<?xi32>) -> tensor<1x?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<1x?x4x4xf32>, %k: tensor<2x9x2x4xf32>, %v: tensor<2x9x2x4xf32>, %i: tensor<?xi32>) {
  // RULE: paged_attn.c6 (sequences)
  // expected-error@+1 {{q has 1 sequences, but k has 2}}
  %0 = mllm.linalg.paged_attn %q, %k, %v, %i {scale = 0.5 : f64}
      : (tensor<1x?x4x4xf32>, tensor<2x9x2x4xf32>, tensor<2x9x2x4xf32>, tensor<?xi32>) -> tensor<1x?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<1x?x4x4xf32>, %k: tensor<1x9x2x4xf32>, %v: tensor<1x9x2x4xf32>, %i: tensor<?xi32, #mllm.tensor<kQNN>>) {
  // RULE: paged_attn.c6 (device)
  // expected-error@+1 {{operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.paged_attn %q, %k, %v, %i {scale = 0.5 : f64}
      : (tensor<1x?x4x4xf32>, tensor<1x9x2x4xf32>, tensor<1x9x2x4xf32>, tensor<?xi32, #mllm.tensor<kQNN>>) -> tensor<1x?x4x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%k: tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>, %v: tensor<?x2x4xf32, #mllm.tensor<dims = (seq + 1, 2, 4)>>) {
  // RULE: kv_cache.c1 (named sizes)
  // expected-error@+1 {{k has seq tokens, but v has seq + 1}}
  %0, %1 = mllm.linalg.kv_cache %k, %v {layer = 0 : i64} : (tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>, tensor<?x2x4xf32, #mllm.tensor<dims = (seq + 1, 2, 4)>>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%q: tensor<?x4x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>) {
  // RULE: flash_attention2_swa_sink.c7 (chunks)
  // expected-error@+1 {{'sliding_window' is 0, expected 1 or more}}
  %0 = mllm.linalg.flash_attention2_swa_sink %q, %k, %v {chunked, scale = 0.5 : f64, sliding_window = 0 : i64}
      : (tensor<?x4x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<?x4x4xf32>
  mllm.cf.return
}
