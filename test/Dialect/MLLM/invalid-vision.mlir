// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Each rule of the ops in MLLMVisionOps.td.

mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c1
  // expected-error@+1 {{weight @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.conv1d %x, @absent {kernel_size = array<i64: 3>} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c1 (the bias)
  // expected-error@+1 {{bias @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.conv1d %x, @w bias @absent {kernel_size = array<i64: 3>} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<3x4x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c2
  // expected-error@+1 {{weight @w has shape 3x4x3, but the op needs 4x3x3}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3>} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
// expected-note@+1 {{registered here}}
mllm.tensor.register @b : tensor<3xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c2 (the bias)
  // expected-error@+1 {{bias @b has shape 3, but the op needs 4}}
  %0 = mllm.linalg.conv1d %x, @w bias @b {kernel_size = array<i64: 3>} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c3
  // expected-error@+1 {{'kernel_size' has 2 elements, expected 1}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3, 3>} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c3 (stride)
  // expected-error@+1 {{'stride' has 2 elements, expected 1}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3>, stride = array<i64: 1, 1>} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c4 (stride)
  // expected-error@+1 {{'stride' has 0, expected 1 to 2^31}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3>, stride = array<i64: 0>} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c4 (padding)
  // expected-error@+1 {{'padding' has -1, expected 0 to 2^31}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3>, padding = array<i64: -1>} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c4 (dilation)
  // expected-error@+1 {{'dilation' has 4294967296, expected 1 to 2^31}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3>, dilation = array<i64: 4294967296>} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c4 (too long a kernel)
  // expected-error@+1 {{has a window of 13 in a padded size of 8}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3>, dilation = array<i64: 6>} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c5
  // expected-error@+1 {{has 2 groups for 3 channels and 4 outputs, expected a divisor of both}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3>, groups = 2 : i64} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c5 (none)
  // expected-error@+1 {{has 0 groups for 3 channels and 4 outputs, expected a divisor of both}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3>, groups = 0 : i64} : tensor<1x3x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x?x8xf32>) {
  // RULE: conv1d.c6
  // expected-error@+1 {{has ? channels and 4 outputs, expected static sizes}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3>} : tensor<1x?x8xf32> -> tensor<1x4x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8xf32>) {
  // RULE: conv1d.c7
  // expected-error@+1 {{result #0 has type 'tensor<1x4x7xf32>', expected 'tensor<1x4x6xf32>'}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 3>} : tensor<1x3x8xf32> -> tensor<1x4x7xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c1
  // expected-error@+1 {{weight @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.conv2d %x, @absent {kernel_size = array<i64: 3, 3>} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c1 (the bias)
  // expected-error@+1 {{bias @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.conv2d %x, @w bias @absent {kernel_size = array<i64: 3, 3>} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<3x4x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c2
  // expected-error@+1 {{weight @w has shape 3x4x3x3, but the op needs 4x3x3x3}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
// expected-note@+1 {{registered here}}
mllm.tensor.register @b : tensor<3xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c2 (the bias)
  // expected-error@+1 {{bias @b has shape 3, but the op needs 4}}
  %0 = mllm.linalg.conv2d %x, @w bias @b {kernel_size = array<i64: 3, 3>} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c3
  // expected-error@+1 {{'kernel_size' has 3 elements, expected 2}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3, 3>} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c3 (stride)
  // expected-error@+1 {{'stride' has 3 elements, expected 2}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>, stride = array<i64: 1, 1, 1>} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c4 (stride)
  // expected-error@+1 {{'stride' has 0, expected 1 to 2^31}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>, stride = array<i64: 0, 0>} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c4 (padding)
  // expected-error@+1 {{'padding' has -1, expected 0 to 2^31}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>, padding = array<i64: -1, -1>} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c4 (dilation)
  // expected-error@+1 {{'dilation' has 4294967296, expected 1 to 2^31}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>, dilation = array<i64: 4294967296, 4294967296>} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c4 (too long a kernel)
  // expected-error@+1 {{has a window of 13 in a padded size of 8}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>, dilation = array<i64: 6, 6>} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c5
  // expected-error@+1 {{has 2 groups for 3 channels and 4 outputs, expected a divisor of both}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>, groups = 2 : i64} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c5 (none)
  // expected-error@+1 {{has 0 groups for 3 channels and 4 outputs, expected a divisor of both}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>, groups = 0 : i64} : tensor<1x3x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x?x8x8xf32>) {
  // RULE: conv2d.c6
  // expected-error@+1 {{has ? channels and 4 outputs, expected static sizes}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>} : tensor<1x?x8x8xf32> -> tensor<1x4x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8xf32>) {
  // RULE: conv2d.c7
  // expected-error@+1 {{result #0 has type 'tensor<1x4x7x7xf32>', expected 'tensor<1x4x6x6xf32>'}}
  %0 = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>} : tensor<1x3x8x8xf32> -> tensor<1x4x7x7xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c1
  // expected-error@+1 {{weight @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.conv3d %x, @absent {kernel_size = array<i64: 3, 3, 3>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c1 (the bias)
  // expected-error@+1 {{bias @absent is not a registered tensor of the module}}
  %0 = mllm.linalg.conv3d %x, @w bias @absent {kernel_size = array<i64: 3, 3, 3>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{registered here}}
mllm.tensor.register @w : tensor<3x4x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c2
  // expected-error@+1 {{weight @w has shape 3x4x3x3x3, but the op needs 4x3x3x3x3}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
// expected-note@+1 {{registered here}}
mllm.tensor.register @b : tensor<3xf32> {source = "b"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c2 (the bias)
  // expected-error@+1 {{bias @b has shape 3, but the op needs 4}}
  %0 = mllm.linalg.conv3d %x, @w bias @b {kernel_size = array<i64: 3, 3, 3>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c3
  // expected-error@+1 {{'kernel_size' has 4 elements, expected 3}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3, 3>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c3 (stride)
  // expected-error@+1 {{'stride' has 4 elements, expected 3}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3>, stride = array<i64: 1, 1, 1, 1>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c4 (stride)
  // expected-error@+1 {{'stride' has 0, expected 1 to 2^31}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3>, stride = array<i64: 0, 0, 0>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c4 (padding)
  // expected-error@+1 {{'padding' has -1, expected 0 to 2^31}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3>, padding = array<i64: -1, -1, -1>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c4 (dilation)
  // expected-error@+1 {{'dilation' has 4294967296, expected 1 to 2^31}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3>, dilation = array<i64: 4294967296, 4294967296, 4294967296>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c4 (too long a kernel)
  // expected-error@+1 {{has a window of 13 in a padded size of 8}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3>, dilation = array<i64: 6, 6, 6>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c5
  // expected-error@+1 {{has 2 groups for 3 channels and 4 outputs, expected a divisor of both}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3>, groups = 2 : i64} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c5 (none)
  // expected-error@+1 {{has 0 groups for 3 channels and 4 outputs, expected a divisor of both}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3>, groups = 0 : i64} : tensor<1x3x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x?x8x8x8xf32>) {
  // RULE: conv3d.c6
  // expected-error@+1 {{has ? channels and 4 outputs, expected static sizes}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3>} : tensor<1x?x8x8x8xf32> -> tensor<1x4x6x6x6xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x3x3x3xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x8x8x8xf32>) {
  // RULE: conv3d.c7
  // expected-error@+1 {{result #0 has type 'tensor<1x4x7x7x7xf32>', expected 'tensor<1x4x6x6x6xf32>'}}
  %0 = mllm.linalg.conv3d %x, @w {kernel_size = array<i64: 3, 3, 3>} : tensor<1x3x8x8x8xf32> -> tensor<1x4x7x7x7xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate.c1 (neither)
  // expected-error@+1 {{has neither 'size' nor 'scale_factor'}}
  %0 = mllm.linalg.interpolate %x {mode = "bilinear"} : tensor<1x2x4x4xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate.c1 (both)
  // expected-error@+1 {{has both 'size' and 'scale_factor'}}
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8, 8>, scale_factor = array<f64: 2.0, 2.0>} : tensor<1x2x4x4xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate.c2
  // expected-error@+1 {{has 1 sizes for [1, 2, 4, 4], expected one for each dimension after the second}}
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8>} : tensor<1x2x4x4xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<2x4xf32>) {
  // RULE: interpolate.c2 (no picture)
  // expected-error@+1 {{has 0 sizes for [2, 4], expected one for each dimension after the second}}
  %0 = mllm.linalg.interpolate %x {size = array<i64>} : tensor<2x4xf32> -> tensor<2x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate.c3 (size)
  // expected-error@+1 {{has the size -1, expected 0 to 2^31}}
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8, -1>} : tensor<1x2x4x4xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate.c3 (factor)
  // expected-error@+1 {{has the factor 0.000000, expected a finite positive number}}
  %0 = mllm.linalg.interpolate %x {scale_factor = array<f64: 2.0, 0.0>} : tensor<1x2x4x4xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate.c4
  // expected-error@+1 {{resamples 2 dimensions, but linear is for 1}}
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8, 8>, mode = "linear"} : tensor<1x2x4x4xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate.c5 (nearest)
  // expected-error@+1 {{is nearest with 'align_corners', expected antialias}}
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8, 8>, align_corners} : tensor<1x2x4x4xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate.c5 (both)
  // expected-error@+1 {{is bilinear with 'antialias' with 'align_corners', expected antialias}}
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8, 8>, align_corners, antialias, mode = "bilinear"} : tensor<1x2x4x4xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate.c5 (antialias)
  // expected-error@+1 {{is nearest with 'antialias', expected antialias}}
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8, 8>, antialias} : tensor<1x2x4x4xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x0xf32>) {
  // RULE: interpolate.c6
  // expected-error@+1 {{resizes an empty dimension to 8}}
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8, 8>} : tensor<1x2x4x0xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate.c7
  // expected-error@+1 {{result #0 has type 'tensor<1x2x8x9xf32>', expected 'tensor<1x2x8x8xf32>'}}
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8, 8>} : tensor<1x2x4x4xf32> -> tensor<1x2x8x9xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<1x2x4x4xf32>) {
  // RULE: interpolate (the mode)
  // expected-error@+1 {{attribute 'mode' failed to satisfy constraint: one of the words nearest, linear, bilinear, bicubic, trilinear}}
  %0 = mllm.linalg.interpolate %x {size = array<i64: 8, 8>, mode = "lanczos"} : tensor<1x2x4x4xf32> -> tensor<1x2x8x8xf32>
  mllm.cf.return
}

// -----

mllm.tensor.register @w : tensor<4x3x2xf32> {source = "w"}
mllm.graph.subgraph @f(%x: tensor<1x3x?xf32, #mllm.tensor<dims = (1, 3, 2 * seq)>>) {
  // RULE: conv1d.c7 (named sizes)
  // expected-error@+1 {{expected 'tensor<1x4x?xf32, #mllm.tensor<dims = (1, 4, seq)>>'}}
  %0 = mllm.linalg.conv1d %x, @w {kernel_size = array<i64: 2>, stride = array<i64: 2>} : tensor<1x3x?xf32, #mllm.tensor<dims = (1, 3, 2 * seq)>> -> tensor<1x4x?xf32, #mllm.tensor<dims = (1, 4, seq + 1)>>
  mllm.cf.return
}
