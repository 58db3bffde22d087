// RUN: llmir-opt %s --split-input-file --verify-diagnostics

func.func @bound(%a: tensor<2xf32>) {
  // RULE: expect_close.c1
  // expected-error @+1 {{'check.expect_close' op nmse must be finite and not negative, not -1.000000e+00 : f64}}
  check.expect_close %a, %a {nmse = -1.0 : f64} : tensor<2xf32>
  return
}

// -----

func.func @types(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error @+1 {{'check.expect_close' op operand #0 must be tensor of}}
  check.expect_close %b, %b : tensor<2xi32>
  return
}

// -----

// expected-error @+1 {{check.range must be two i64 or f64 numbers in ascending order, not array<i64: 3, 3>}}
func.func @range(%a: tensor<2xi32> {check.range = array<i64: 3, 3>}) { return }

// -----

// expected-error @+1 {{check.shape has a size of 3 for 'tensor<?x2xi32>'}}
func.func @shape(%a: tensor<?x2xi32> {check.shape = array<i64: 1, 3>}) { return }

// -----

// expected-error @+1 {{check.shape must be one i64 size for each dimension of 'tensor<?x2xi32>', not array<i64: 1>}}
func.func @rank(%a: tensor<?x2xi32> {check.shape = array<i64: 1>}) { return }

// -----

// expected-error @+1 {{check.values has type 'tensor<2xi32>', but the argument has type 'tensor<3xi32>'}}
func.func @values(%a: tensor<3xi32> {check.values = dense<0> : tensor<2xi32>}) { return }

// -----

// expected-error @+1 {{check.values must be a constant, not unit}}
func.func @noConstant(%a: tensor<3xi32> {check.values}) { return }

// -----

// expected-error @+1 {{unknown attribute "check.value" of the check dialect}}
func.func @unknown(%a: tensor<3xi32> {check.value = 1 : i32}) { return }

// -----

// expected-error @+1 {{"check.range" is only valid on function arguments}}
func.func @onFunction() attributes {check.range = array<i64: 0, 3>} { return }

// -----

// The values of a parameter must have its type.
// expected-error @+1 {{check.values has type 'tensor<3xf32>', but the argument has type 'tensor<2xf32>'}}
mllm.tensor.register @w : tensor<2xf32> {source = "w", check.values = dense<0.0> : tensor<3xf32>}
