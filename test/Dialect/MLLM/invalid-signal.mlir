// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// Each rule of the ops in MLLMSignalOps.td.

mllm.graph.subgraph @f(%x: tensor<20xf32>, %w: tensor<8xf32>) {
  // RULE: stft.c1 (frame)
  // expected-error@+1 {{has frames of 0 samples every 0, expected 1 to 2^31 and 0 to 2^31}}
  %0 = mllm.linalg.stft %x, %w {n_fft = 0 : i64} : (tensor<20xf32>, tensor<8xf32>) -> tensor<5x11x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<20xf32>, %w: tensor<8xf32>) {
  // RULE: stft.c1 (hop)
  // expected-error@+1 {{has frames of 8 samples every -2, expected 1 to 2^31 and 0 to 2^31}}
  %0 = mllm.linalg.stft %x, %w {hop_length = -2 : i64, n_fft = 8 : i64} : (tensor<20xf32>, tensor<8xf32>) -> tensor<5x11x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<20xf32>, %w: tensor<9xf32>) {
  // RULE: stft.c2
  // expected-error@+1 {{has a window of 9 samples for frames of 8}}
  %0 = mllm.linalg.stft %x, %w {n_fft = 8 : i64} : (tensor<20xf32>, tensor<9xf32>) -> tensor<5x11x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<20xf32>, %w: tensor<8xf16>) {
  // RULE: stft.c5 (element type)
  // expected-error@+1 {{operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.stft %x, %w {n_fft = 8 : i64} : (tensor<20xf32>, tensor<8xf16>) -> tensor<5x11x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<20xf32>, %w: tensor<8xf32, #mllm.tensor<kQNN>>) {
  // RULE: stft.c5 (device)
  // expected-error@+1 {{operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.stft %x, %w {n_fft = 8 : i64} : (tensor<20xf32>, tensor<8xf32, #mllm.tensor<kQNN>>) -> tensor<5x11x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<5x11x2xf32>, %w: tensor<8xf32>) {
  // RULE: istft.c1 (frame)
  // expected-error@+1 {{has frames of 0 samples every 0, expected 1 to 2^31 and 0 to 2^31}}
  %0 = mllm.linalg.istft %x, %w {n_fft = 0 : i64} : (tensor<5x11x2xf32>, tensor<8xf32>) -> tensor<20xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<5x11x2xf32>, %w: tensor<8xf32>) {
  // RULE: istft.c1 (hop)
  // expected-error@+1 {{has frames of 8 samples every -2, expected 1 to 2^31 and 0 to 2^31}}
  %0 = mllm.linalg.istft %x, %w {hop_length = -2 : i64, n_fft = 8 : i64} : (tensor<5x11x2xf32>, tensor<8xf32>) -> tensor<20xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<5x11x2xf32>, %w: tensor<9xf32>) {
  // RULE: istft.c2
  // expected-error@+1 {{has a window of 9 samples for frames of 8}}
  %0 = mllm.linalg.istft %x, %w {n_fft = 8 : i64} : (tensor<5x11x2xf32>, tensor<9xf32>) -> tensor<20xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<5x11x2xf32>, %w: tensor<8xf16>) {
  // RULE: istft.c5 (element type)
  // expected-error@+1 {{operand #1 has f16 values, but operand #0 has f32}}
  %0 = mllm.linalg.istft %x, %w {n_fft = 8 : i64} : (tensor<5x11x2xf32>, tensor<8xf16>) -> tensor<20xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<5x11x2xf32>, %w: tensor<8xf32, #mllm.tensor<kQNN>>) {
  // RULE: istft.c5 (device)
  // expected-error@+1 {{operand #1 is on kQNN, but operand #0 is on kCPU}}
  %0 = mllm.linalg.istft %x, %w {n_fft = 8 : i64} : (tensor<5x11x2xf32>, tensor<8xf32, #mllm.tensor<kQNN>>) -> tensor<20xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<f32>, %w: tensor<8xf32>) {
  // RULE: stft.c3
  // expected-error@+1 {{transforms a scalar, expected a signal}}
  %0 = mllm.linalg.stft %x, %w {n_fft = 8 : i64} : (tensor<f32>, tensor<8xf32>) -> tensor<5x1x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<7xf32>, %w: tensor<8xf32>) {
  // RULE: stft.c4
  // expected-error@+1 {{has a signal of 7 samples, which is shorter than a frame of 8}}
  %0 = mllm.linalg.stft %x, %w {center = false, n_fft = 8 : i64} : (tensor<7xf32>, tensor<8xf32>) -> tensor<5x1x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<20xf32>, %w: tensor<8xf32>) {
  // RULE: stft.c6
  // expected-error@+1 {{result #0 has type 'tensor<5x10x2xf32>', expected 'tensor<5x11x2xf32>'}}
  %0 = mllm.linalg.stft %x, %w {n_fft = 8 : i64} : (tensor<20xf32>, tensor<8xf32>) -> tensor<5x10x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<6x11x2xf32>, %w: tensor<8xf32>) {
  // RULE: istft.c3 (frequencies)
  // expected-error@+1 {{transforms [6, 11, 2], expected [..., 5 frequencies, frames, 2]}}
  %0 = mllm.linalg.istft %x, %w {n_fft = 8 : i64} : (tensor<6x11x2xf32>, tensor<8xf32>) -> tensor<20xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<5x11x3xf32>, %w: tensor<8xf32>) {
  // RULE: istft.c3 (not complex)
  // expected-error@+1 {{transforms [5, 11, 3], expected [..., 5 frequencies, frames, 2]}}
  %0 = mllm.linalg.istft %x, %w {n_fft = 8 : i64} : (tensor<5x11x3xf32>, tensor<8xf32>) -> tensor<20xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<5x11x2xf32>, %w: tensor<8xf32>) {
  // RULE: istft.c4
  // expected-error@+1 {{has the length -1, expected 0 to 2^31}}
  %0 = mllm.linalg.istft %x, %w {length = -1 : i64, n_fft = 8 : i64} : (tensor<5x11x2xf32>, tensor<8xf32>) -> tensor<20xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<5x11x2xf32>, %w: tensor<8xf32>) {
  // RULE: istft.c6
  // expected-error@+1 {{result #0 has type 'tensor<21xf32>', expected 'tensor<20xf32>'}}
  %0 = mllm.linalg.istft %x, %w {n_fft = 8 : i64} : (tensor<5x11x2xf32>, tensor<8xf32>) -> tensor<21xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?xf32, #mllm.tensor<dims = (2 * seq)>>, %w: tensor<8xf32>) {
  // RULE: stft.c6 (named sizes)
  // expected-error@+1 {{expected 'tensor<5x?x2xf32, #mllm.tensor<dims = (5, seq + 1, 2)>>'}}
  %0 = mllm.linalg.stft %x, %w {n_fft = 8 : i64} : (tensor<?xf32, #mllm.tensor<dims = (2 * seq)>>, tensor<8xf32>) -> tensor<5x?x2xf32, #mllm.tensor<dims = (5, seq, 2)>>
  mllm.cf.return
}
