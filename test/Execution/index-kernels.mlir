// The kernels of loops, gather, scatter and sort for sizes of 0, 1 and odd
// numbers, with one worker, with one per row, and with more: the same bits, and
// the results of the interpreter.

// RUN: llmir-translate %s --compare --workers=1 --max-nmse=1e-12 > %t.one && FileCheck %s < %t.one
// RUN: llmir-translate %s --compare --workers=3 --max-nmse=1e-12 | diff %t.one -
// RUN: llmir-translate %s --compare --workers=7 --max-nmse=1e-12 --level=x86-64-v3 | diff %t.one -
// RUN: llmir-translate %s --execute --workers=1 > %t.bits
// RUN: llmir-translate %s --execute --workers=7 | diff %t.bits -

//===----------------------------------------------------------------------===//
// loops
//===----------------------------------------------------------------------===//

// Nothing, one number, sizes that repeat, and sums over nothing.
// CHECK-DAG: @loops result 0: nmse 0.00e+00
// CHECK-DAG: @loops result 1: nmse 0.00e+00
// CHECK-DAG: @loops result 2: nmse 0.00e+00
// CHECK-DAG: @loops result 3: nmse
// CHECK-DAG: @loops result 4: nmse
// CHECK-DAG: @loops result 5: nmse
// CHECK-DAG: @loops result 6: equal
func.func @loops(%none: tensor<0x4xf32>, %zero: tensor<3x0xf32>, %one: tensor<f32>, %row: tensor<1x5xf32>,
                 %column: tensor<4x1xf32>, %x: tensor<2x1x19xf32>, %i: tensor<1x3xi32> {check.range = array<i64: -9, 9>})
    -> (tensor<0x4xf32>, tensor<3xf32>, tensor<f32>, tensor<4x5xf32>, tensor<1xf32>, tensor<2x19xf32>, tensor<3xi32>) {
  %a = mllm.linalg.add %none, %none : tensor<0x4xf32>
  %b = mllm.linalg.reduce_sum %zero {dim = 1 : i64} : tensor<3x0xf32> -> tensor<3xf32>
  %c = mllm.linalg.add %one, %one : tensor<f32>
  %d = mllm.linalg.mul %row, %column : (tensor<1x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  %e = mllm.linalg.matmul %row, %row {transpose_b} : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x1xf32>
  %f = mllm.linalg.reshape %e {shape = array<i64: 1>} : tensor<1x1xf32> -> tensor<1xf32>
  %g = mllm.linalg.reduce_sum %x {dim = 1 : i64} : tensor<2x1x19xf32> -> tensor<2x19xf32>
  %h = mllm.linalg.reduce_max %i {dim = 0 : i64} : tensor<1x3xi32> -> tensor<3xi32>
  return %a, %b, %c, %d, %f, %g, %h : tensor<0x4xf32>, tensor<3xf32>, tensor<f32>, tensor<4x5xf32>, tensor<1xf32>, tensor<2x19xf32>, tensor<3xi32>
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

// Of one, of many, none of them, in the middle, as integers.
// CHECK-DAG: @gather result 0: nmse 0.00e+00
// CHECK-DAG: @gather result 1: nmse 0.00e+00
// CHECK-DAG: @gather result 2: nmse 0.00e+00
// CHECK-DAG: @gather result 3: nmse 0.00e+00
// CHECK-DAG: @gather result 4: equal
func.func @gather(%single: tensor<1x1xf32>, %table: tensor<5x3x17xf32>, %words: tensor<6x2xi32> {check.range = array<i64: -99, 99>},
                  %first: tensor<1xi32> {check.values = dense<0> : tensor<1xi32>},
                  %none: tensor<0xi32> {check.range = array<i64: 0, 1>}, %some: tensor<2x3xi32> {check.range = array<i64: 0, 4>},
                  %middle: tensor<7xi64> {check.range = array<i64: 0, 2>})
    -> (tensor<1x1xf32>, tensor<0x3x17xf32>, tensor<2x3x3x17xf32>, tensor<5x7x17xf32>, tensor<2x3x2xi32>) {
  %a = mllm.linalg.gather %single, %first {dim = 0 : i64} : (tensor<1x1xf32>, tensor<1xi32>) -> tensor<1x1xf32>
  %b = mllm.linalg.gather %table, %none {dim = 0 : i64} : (tensor<5x3x17xf32>, tensor<0xi32>) -> tensor<0x3x17xf32>
  %c = mllm.linalg.gather %table, %some {dim = 0 : i64} : (tensor<5x3x17xf32>, tensor<2x3xi32>) -> tensor<2x3x3x17xf32>
  %d = mllm.linalg.gather %table, %middle {dim = 1 : i64} : (tensor<5x3x17xf32>, tensor<7xi64>) -> tensor<5x7x17xf32>
  %e = mllm.linalg.gather %words, %some {dim = 0 : i64} : (tensor<6x2xi32>, tensor<2x3xi32>) -> tensor<2x3x2xi32>
  return %a, %b, %c, %d, %e : tensor<1x1xf32>, tensor<0x3x17xf32>, tensor<2x3x3x17xf32>, tensor<5x7x17xf32>, tensor<2x3x2xi32>
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

// If several elements are written to one index, the last one remains, whichever
// worker has it; one place, no number, rows, integers.
// CHECK-DAG: @scatter result 0: nmse 0.00e+00
// CHECK-DAG: @scatter result 1: nmse 0.00e+00
// CHECK-DAG: @scatter result 2: nmse 0.00e+00
// CHECK-DAG: @scatter result 3: nmse 0.00e+00
// CHECK-DAG: @scatter result 4: equal
func.func @scatter(%x: tensor<3x17xf32>, %at: tensor<3x40xi32> {check.range = array<i64: 0, 16>}, %new: tensor<3x40xf32>,
                   %single: tensor<1xf32>, %zeros: tensor<9xi64> {check.values = dense<0> : tensor<9xi64>}, %nine: tensor<9xf32>,
                   %nowhere: tensor<3x0xi32> {check.range = array<i64: 0, 1>}, %nothing: tensor<3x0xf32>,
                   %rows: tensor<2x17xi32> {check.range = array<i64: 0, 2>}, %lines: tensor<2x17xf32>,
                   %words: tensor<8xi32> {check.range = array<i64: -9, 9>}, %places: tensor<5xi32> {check.range = array<i64: 0, 7>},
                   %numbers: tensor<5xi32> {check.range = array<i64: 10, 99>})
    -> (tensor<3x17xf32>, tensor<1xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<8xi32>) {
  %a = mllm.linalg.scatter %x, %at, %new {dim = 1 : i64} : (tensor<3x17xf32>, tensor<3x40xi32>, tensor<3x40xf32>) -> tensor<3x17xf32>
  %b = mllm.linalg.scatter %single, %zeros, %nine {dim = 0 : i64} : (tensor<1xf32>, tensor<9xi64>, tensor<9xf32>) -> tensor<1xf32>
  %c = mllm.linalg.scatter %x, %nowhere, %nothing {dim = 1 : i64} : (tensor<3x17xf32>, tensor<3x0xi32>, tensor<3x0xf32>) -> tensor<3x17xf32>
  %d = mllm.linalg.scatter %x, %rows, %lines {dim = 0 : i64} : (tensor<3x17xf32>, tensor<2x17xi32>, tensor<2x17xf32>) -> tensor<3x17xf32>
  %e = mllm.linalg.scatter %words, %places, %numbers {dim = 0 : i64} : (tensor<8xi32>, tensor<5xi32>, tensor<5xi32>) -> tensor<8xi32>
  return %a, %b, %c, %d, %e : tensor<3x17xf32>, tensor<1xf32>, tensor<3x17xf32>, tensor<3x17xf32>, tensor<8xi32>
}

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

// Rows of one element and of none, no rows, equal elements in their order, NaN at
// the end, and the first few elements.
// CHECK-DAG: @sort result 0: equal
// CHECK-DAG: @sort result 1: equal
// CHECK-DAG: @sort result 2: equal
// CHECK-DAG: @sort result 3: equal
// CHECK-DAG: @sort result 4: equal
// CHECK-DAG: @sort result 5: nmse 0.00e+00
// CHECK-DAG: @sort result 6: equal
// CHECK-DAG: @sort result 7: equal
// CHECK-DAG: @sort result 8: equal
func.func @sort(%ones: tensor<6x1xf32>, %empty: tensor<3x0xf32>, %norow: tensor<0x5xf32>,
                %same: tensor<5x37xi32> {check.range = array<i64: 0, 3>},
                %odd: tensor<6xf32> {check.values = dense<[2.0, 0x7FC00000, -1.0, 0x7F800000, 2.0, 0xFF800000]> : tensor<6xf32>},
                %x: tensor<4x33xf32>, %numbers: tensor<9xi64> {check.range = array<i64: -2, 2>})
    -> (tensor<6x1xi32>, tensor<3x0xi32>, tensor<0x5xi32>, tensor<5x37xi32>, tensor<6xi32>, tensor<4x7xf32>, tensor<4x7xi32>, tensor<9xi64>, tensor<9xi32>) {
  %a = mllm.linalg.argsort %ones {dim = 1 : i64} : tensor<6x1xf32> -> tensor<6x1xi32>
  %b = mllm.linalg.argsort %empty {dim = 1 : i64} : tensor<3x0xf32> -> tensor<3x0xi32>
  %c = mllm.linalg.argsort %norow {dim = 1 : i64} : tensor<0x5xf32> -> tensor<0x5xi32>
  %d = mllm.linalg.argsort %same {dim = 1 : i64, descending = true} : tensor<5x37xi32> -> tensor<5x37xi32>
  %e = mllm.linalg.argsort %odd : tensor<6xf32> -> tensor<6xi32>
  %v, %p = mllm.linalg.top_k %x {k = 7 : i64} : tensor<4x33xf32> -> tensor<4x7xf32>, tensor<4x7xi32>
  %w, %q = mllm.linalg.top_k %numbers {k = 9 : i64, largest = false} : tensor<9xi64> -> tensor<9xi64>, tensor<9xi32>
  return %a, %b, %c, %d, %e, %v, %p, %w, %q : tensor<6x1xi32>, tensor<3x0xi32>, tensor<0x5xi32>, tensor<5x37xi32>, tensor<6xi32>, tensor<4x7xf32>, tensor<4x7xi32>, tensor<9xi64>, tensor<9xi32>
}
