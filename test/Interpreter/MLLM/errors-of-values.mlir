// RUN: llmir-translate --interpret %s --split-input-file --verify-diagnostics

// What only running shows: sizes that the types leave open, and values that are
// indices.

func.func @add(%a: tensor<?xf32> {check.shape = array<i64: 2>}, %b: tensor<?xf32> {check.shape = array<i64: 3>}) {
  // expected-error @+1 {{'mllm.linalg.add' op cannot be evaluated: the shapes [2] and [3] do not broadcast: 2 and 3 differ and neither is 1}}
  %y = mllm.linalg.add %a, %b : tensor<?xf32>
  return
}

// -----

func.func @where(%m: tensor<4xi1>, %b: tensor<?xf32> {check.shape = array<i64: 3>}) {
  // expected-error @+1 {{the shapes [3] and [4] do not broadcast}}
  %y = mllm.linalg.where %m, %b, %b : (tensor<4xi1>, tensor<?xf32>, tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @huge(%a: tensor<?x1xf32> {check.shape = array<i64: 65536, 1>}, %b: tensor<?xf32> {check.shape = array<i64: 65536>}) {
  // expected-error @+1 {{a tensor [65536, 65536] has more than 2^28 elements}}
  %y = mllm.linalg.add %a, %b : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape(%a: tensor<?xf32> {check.shape = array<i64: 7>}) {
  // expected-error @+1 {{'mllm.linalg.reshape' op cannot be evaluated: the 7 values of [7] do not fill rows of 2}}
  %y = mllm.linalg.reshape %a {shape = array<i64: -1, 2>} : tensor<?xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @copy(%a: tensor<?xf32> {check.shape = array<i64: 2>}, %b: tensor<?xf32> {check.shape = array<i64: 3>}) {
  // expected-error @+1 {{'mllm.linalg.copy' op cannot be evaluated: sizes #0 differ: 2 and 3}}
  %y = mllm.linalg.copy %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @split(%a: tensor<?xf32> {check.shape = array<i64: 5>}) {
  // expected-error @+1 {{'mllm.linalg.split' op cannot be evaluated: the sections' sum is not the size of the dimension: 4 and 5}}
  %y:2 = mllm.linalg.split %a {dim = 0 : i64, sections = array<i64: 2, 2>} : (tensor<?xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @concat(%a: tensor<2x?xf32> {check.shape = array<i64: 2, 3>}, %b: tensor<?x2xf32> {check.shape = array<i64: 3, 2>}) {
  // expected-error @+1 {{'mllm.linalg.concat' op cannot be evaluated: operand #0 and operand #1 differ in size #0: 2 and 3}}
  %y = mllm.linalg.concat %a, %b {dim = 1 : i64} : (tensor<2x?xf32>, tensor<?x2xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @stack(%a: tensor<?xf32> {check.shape = array<i64: 2>}, %b: tensor<?xf32> {check.shape = array<i64: 3>}) {
  // expected-error @+1 {{'mllm.linalg.stack' op cannot be evaluated: sizes #0 differ: 2 and 3}}
  %y = mllm.linalg.stack %a, %b {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @repeat(%a: tensor<?xf32> {check.shape = array<i64: 2>}) {
  // expected-error @+1 {{a dimension of 2 cannot be repeated 9223372036854775807 times}}
  %y = mllm.linalg.repeat %a {dim = 0 : i64, times = 9223372036854775807 : i64} : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @pad(%a: tensor<?xf32> {check.shape = array<i64: 2>}) {
  // expected-error @+1 {{a dimension of 2 is padded by 2, expected less than its size in mode reflect}}
  %y = mllm.linalg.pad reflect %a {high = array<i64: 2>, low = array<i64: 0>} : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @gather(%t: tensor<3x2xf32>, %i: tensor<2xi32> {check.values = dense<[0, 3]> : tensor<2xi32>}) {
  // expected-error @+1 {{'mllm.linalg.gather' op cannot be evaluated: index 1 is 3, but the dimension has 3}}
  %y = mllm.linalg.gather %t, %i {dim = 0 : i64} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @scatter(%t: tensor<3xf32>, %s: tensor<2xf32>, %i: tensor<2xi32> {check.values = dense<[0, -1]> : tensor<2xi32>}) {
  // expected-error @+1 {{index 1 is -1, but the dimension has 3}}
  %y = mllm.linalg.scatter %t, %i, %s {dim = 0 : i64} : (tensor<3xf32>, tensor<2xi32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @scatter_shape(%t: tensor<3x2xf32>, %s: tensor<1x?xf32> {check.shape = array<i64: 1, 3>}, %i: tensor<1x?xi32> {check.shape = array<i64: 1, 3>, check.range = array<i64: 0, 3>}) {
  // expected-error @+1 {{indices tensor<1x3xi32> of tensor<1x3xf32> do not match tensor<3x2xf32>}}
  %y = mllm.linalg.scatter %t, %i, %s {dim = 0 : i64} : (tensor<3x2xf32>, tensor<1x?xi32>, tensor<1x?xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @masked_scatter(%t: tensor<3xf32>, %s: tensor<1xf32>, %m: tensor<3xi1> {check.values = dense<true> : tensor<3xi1>}) {
  // expected-error @+1 {{the mask selects 3 elements, but the source has 1}}
  %y = mllm.linalg.masked_scatter %t, %m, %s : (tensor<3xf32>, tensor<3xi1>, tensor<1xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @index(%t: tensor<3x2xf32>, %i: tensor<1xi64> {check.values = dense<7> : tensor<1xi64>}) {
  // expected-error @+1 {{'mllm.linalg.index' op cannot be evaluated: index 0 is 7, but the dimension has 3}}
  %y = mllm.linalg.index %t[%i, :] : tensor<3x2xf32>, (tensor<1xi64>) -> tensor<1x2xf32>
  return
}

// -----

func.func @top_k(%a: tensor<?xf32> {check.shape = array<i64: 2>}) {
  // expected-error @+1 {{'mllm.linalg.top_k' op cannot be evaluated: 'k' is 3, but the dimension has 2}}
  %y:2 = mllm.linalg.top_k %a {k = 3 : i64} : tensor<?xf32> -> tensor<3xf32>, tensor<3xi32>
  return
}

// -----

// A size that the result type promises and the values do not keep.
func.func @size(%a: tensor<?xf32> {check.shape = array<i64: 2>}) {
  // expected-error @+1 {{'mllm.linalg.slice' op evaluates to tensor<1xf32>, but has type 'tensor<2xf32>'}}
  %y = mllm.linalg.slice %a[-1:] : tensor<?xf32> -> tensor<2xf32>
  return
}
