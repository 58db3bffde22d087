// RUN: llmir-opt %s --mllm-fold-constants | FileCheck %s
// RUN: llmir-opt %s --mllm-fold-constants=max-elements=1 | FileCheck %s --check-prefix=SMALL

// SPEC: 277
mllm.tensor.register @w : tensor<2xf32> {source = "w"}
// CHECK-LABEL: @model
// SMALL-LABEL: @model
mllm.graph.subgraph @model(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) attributes {entry} {
  %a = mllm.tensor.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // A whole chain.
  // CHECK: %[[C:.*]] = mllm.tensor.constant dense<[2.000000e+00, 8.000000e+00]> : tensor<2xf32>
  // SMALL: mllm.linalg.add
  // SMALL: mllm.linalg.mul
  %b = mllm.linalg.add %a, %a : tensor<2xf32>
  %c = mllm.linalg.mul %b, %a : tensor<2xf32>
  // What reads an argument, or a parameter, is not known.
  // CHECK: %[[D:.*]] = mllm.linalg.add %[[C]], %{{.*}}
  %d = mllm.linalg.add %c, %x : tensor<2xf32>
  // CHECK: %[[E:.*]] = mllm.linalg.rms_norm %{{.*}}, @w
  %e = mllm.linalg.rms_norm %c, @w {eps = 1.0e-5 : f64} : tensor<2xf32>
  // CHECK: mllm.cf.return %[[C]], %[[D]], %[[E]]
  mllm.cf.return %c, %d, %e : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
