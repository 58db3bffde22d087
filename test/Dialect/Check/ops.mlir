// RUN: llmir-opt %s | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --canonicalize --cse --symbol-dce | FileCheck %s

// CHECK-LABEL: func.func @expectations(
// CHECK-SAME:    %[[A:.*]]: tensor<2x3xf32> {check.range = array<f64: -1.000000e+00, 1.000000e+00>},
// CHECK-SAME:    %{{.*}}: tensor<?xi32> {check.range = array<i64: 0, 8>, check.shape = array<i64: 5>},
// CHECK-SAME:    %{{.*}}: tensor<3xi32> {check.values = dense<[0, 2, 1]> : tensor<3xi32>},
// CHECK-SAME:    %[[L:.*]]: index {check.values = 1 : index})
func.func @expectations(
    %a: tensor<2x3xf32> {check.range = array<f64: -1.0, 1.0>},
    %ids: tensor<?xi32> {check.range = array<i64: 0, 8>, check.shape = array<i64: 5>},
    %rows: tensor<3xi32> {check.values = dense<[0, 2, 1]> : tensor<3xi32>},
    %layer: index {check.values = 1 : index}) {
  // Passes keep them, equal ones and trivial ones too.
  // CHECK-NEXT: check.expect_close %[[A]], %[[A]] {nmse = 1.000000e-02 : f64} : tensor<2x3xf32>
  // CHECK-NEXT: check.expect_close %[[A]], %[[A]] : tensor<2x3xf32>
  // CHECK-NEXT: check.expect_equal %[[A]], %[[A]] : tensor<2x3xf32>
  // CHECK-NEXT: check.expect_equal %[[L]], %[[L]] : index
  check.expect_close %a, %a {nmse = 1.0e-02 : f64} : tensor<2x3xf32>
  check.expect_close %a, %a : tensor<2x3xf32>
  check.expect_equal %a, %a : tensor<2x3xf32>
  check.expect_equal %layer, %layer : index
  return
}
