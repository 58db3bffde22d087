// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-analyze-quantization{bound=0.001 schemes=int8,int8:asym,int4,int4:g32})' --split-input-file --verify-diagnostics
// RUN: llmir-opt %s --pass-pipeline='builtin.module(llm-analyze-quantization{bound=1e-9})' --split-input-file 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: not llmir-opt %s --pass-pipeline='builtin.module(llm-analyze-quantization{schemes=int2})' 2>&1 | FileCheck %s --check-prefix=SCHEME

// SCHEME: error: schemes must be int8 or int4, {{.*}} not 'int2'

// One row, whose elements all have the same magnitude: symmetric schemes are
// off by the rounding of the scale alone, the asymmetric one by half a step.
// BOUND: remark: 1 x 2 weight: int4 is the smallest within an nmse of 1e-09
// BOUND: note: int8: nmse {{.*}}e-{{.*}}, largest error {{.*}}e-{{.*}}, 24 bits per element
func.func @exact(%x: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %w = arith.constant dense<[[1.0, -1.0]]> : tensor<1x2xf32>
  // A row of two is not whole groups of 32: there is no note of int4:g32.
  // expected-remark@+4 {{1 x 2 weight: int4 is the smallest within an nmse of 0.001}}
  // expected-note-re@+3 {{int8: nmse {{.*}}e-17, largest error {{.*}}e-09, 24 bits per element}}
  // expected-note@+2 {{int8:asym: nmse 1.54e-05, largest error 0.00392, 28 bits per element}}
  // expected-note-re@+1 {{int4: nmse {{.*}}e-15, largest error {{.*}}e-08, 20 bits per element}}
  %0 = llm.linear %x, %w : tensor<?x2xf32>, tensor<1x2xf32> -> tensor<?x1xf32>
  return %0 : tensor<?x1xf32>
}

// -----

// 4 / 127 divides neither 1 nor 3: int8 rounds them to 32 and 95 steps. int4
// rounds them to 2 and 5 steps of 4 / 7, which is too far off.
func.func @rounded(%x: tensor<?x4xbf16>) -> tensor<?x1xbf16> {
  %w = arith.constant dense<[[4.0, 1.0, 3.0, 0.0]]> : tensor<1x4xbf16>
  // BOUND: remark: 1 x 4 weight: no scheme is within an nmse of 1e-09
  // expected-remark@+4 {{1 x 4 weight: int8 is the smallest within an nmse of 0.001}}
  // expected-note@+3 {{int8: nmse 4.77e-06, largest error 0.00787, 16 bits per element}}
  // expected-note@+2 {{int8:asym: nmse 1.18e-06, largest error 0.00392, 18 bits per element}}
  // expected-note@+1 {{int4: nmse 0.00157, largest error 0.143, 12 bits per element}}
  %0 = llm.linear %x, %w : tensor<?x4xbf16>, tensor<1x4xbf16> -> tensor<?x1xbf16>
  return %0 : tensor<?x1xbf16>
}

// -----

// Small and large elements: with a scale per row, int4 rounds the small ones to
// 0; with groups of 32, each kind has its own scale.
func.func @groups(%x: tensor<?x64xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  %w = arith.constant dense<[[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0]]> : tensor<1x64xf32>
  // expected-remark@+5 {{1 x 64 weight: int4:g32 is the smallest within an nmse of 0.001}}
  // expected-note@+4 {{int8: nmse}}
  // expected-note@+3 {{int8:asym: nmse}}
  // expected-note@+2 {{int4: nmse 0.00389, largest error 0.5, 4.5 bits per element}}
  // expected-note-re@+1 {{int4:g32: nmse {{.*}}e-15, largest error {{.*}}e-07, 5 bits per element}}
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<1x64xf32> -> tensor<?x1xf32>
  // A weight is reported once.
  %1 = llm.linear %x, %w : tensor<?x64xf32>, tensor<1x64xf32> -> tensor<?x1xf32>
  return %0, %1 : tensor<?x1xf32>, tensor<?x1xf32>
}

// -----

// No report: unknown values; a weight of zeros is exact.
func.func @unknown(%x: tensor<?x64xf32>, %w: tensor<1x64xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<1x64xf32> -> tensor<?x1xf32>
  %zero = arith.constant dense<0.0> : tensor<1x64xf32>
  // expected-remark@+5 {{1 x 64 weight: int4 is the smallest within an nmse of 0.001}}
  // expected-note@+4 {{int8: nmse 0, largest error 0, 8.5 bits per element}}
  // expected-note@+3 {{int8:asym: nmse 0, largest error 0, 8.62 bits per element}}
  // expected-note@+2 {{int4: nmse 0, largest error 0, 4.5 bits per element}}
  // expected-note@+1 {{int4:g32: nmse 0, largest error 0, 5 bits per element}}
  %1 = llm.linear %x, %zero : tensor<?x64xf32>, tensor<1x64xf32> -> tensor<?x1xf32>
  return %0, %1 : tensor<?x1xf32>, tensor<?x1xf32>
}
