// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// The ops of MLLMSignalOps.td in their three syntaxes.


// CHECK-LABEL: mllm.graph.subgraph @transforms(
mllm.graph.subgraph @transforms(%x: tensor<1x?xf32>, %w: tensor<400xf32>, %s: tensor<400x101x2xf32>) {
  // CHECK: mllm.linalg.stft %{{[^ ]+}}, %{{[^ ]+}} {hop_length = 160 : i64, n_fft = 400 : i64} : (tensor<1x?xf32>, tensor<400xf32>) -> tensor<1x201x?x2xf32>
  %0 = mllm.linalg.stft %x, %w {hop_length = 160 : i64, n_fft = 400 : i64} : (tensor<1x?xf32>, tensor<400xf32>) -> tensor<1x201x?x2xf32>
  // CHECK: mllm.linalg.stft %{{[^ ]+}}, %{{[^ ]+}} {center = false, n_fft = 400 : i64, normalized, onesided = false, pad_mode = "constant"} : (tensor<1x?xf32>, tensor<400xf32>) -> tensor<1x400x?x2xf32>
  %1 = mllm.linalg.stft %x, %w {center = false, n_fft = 400 : i64, normalized, onesided = false, pad_mode = "constant"} : (tensor<1x?xf32>, tensor<400xf32>) -> tensor<1x400x?x2xf32>
  // CHECK: mllm.linalg.istft %{{[^ ]+}}, %{{[^ ]+}} {hop_length = 160 : i64, length = 16000 : i64, n_fft = 400 : i64, normalized, onesided = false} : (tensor<400x101x2xf32>, tensor<400xf32>) -> tensor<16000xf32>
  %2 = mllm.linalg.istft %s, %w {hop_length = 160 : i64, length = 16000 : i64, n_fft = 400 : i64, normalized, onesided = false} : (tensor<400x101x2xf32>, tensor<400xf32>) -> tensor<16000xf32>
  // CHECK: mllm.linalg.istft %{{[^ ]+}}, %{{[^ ]+}} {center = false, n_fft = 400 : i64, onesided = false} : (tensor<400x101x2xf32>, tensor<400xf32>) -> tensor<10400xf32>
  %3 = mllm.linalg.istft %s, %w {center = false, n_fft = 400 : i64, onesided = false} : (tensor<400x101x2xf32>, tensor<400xf32>) -> tensor<10400xf32>
  mllm.cf.return
}
