// RUN: llmir-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // RULE: tensor.alloc.c1
  // expected-error@+1 {{has the offset -1, expected 0 or more}}
  %m = mllm.tensor.alloc offset -1 : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // RULE: tensor.free.c1
  // expected-error@+1 {{frees a value that is freed again}}
  mllm.tensor.free %x : tensor<4xf32>
  // expected-note@+1 {{here}}
  mllm.tensor.free %x : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // RULE: tensor.free.c2
  // expected-error@+1 {{frees a value that is used afterwards}}
  mllm.tensor.free %x : tensor<4xf32>
  // expected-note@+1 {{here}}
  %y = mllm.linalg.silu %x : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'mllm.tensor.input' op expects parent op 'builtin.module'}}
  %x = mllm.tensor.input : tensor<4xf32>
  return
}

// -----

func.func @f(%c: tensor<2xi1>) {
  // RULE: cf.if.c1
  // expected-error@+1 {{has a condition of type 'tensor<2xi1>', expected a single element}}
  mllm.cf.if %c : tensor<2xi1> {
    mllm.cf.yield
  } else {
    mllm.cf.yield
  }
  return
}

// -----

func.func @f(%c: tensor<i1>) {
  // RULE: cf.if.c2
  // expected-error@+1 {{has a region 'else' that ends with 'llvm.unreachable', expected 'mllm.cf.yield'}}
  mllm.cf.if %c : tensor<i1> {
    mllm.cf.yield
  } else {
    llvm.unreachable
  }
  return
}

// -----

func.func @f(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // RULE: cf.if.c3
  // expected-error@+1 {{along control flow edge from Operation mllm.cf.yield to parent: successor operand type #0 'tensor<5xf32>' should match successor input type #0 'tensor<4xf32>'}}
  %0 = mllm.cf.if %c : tensor<i1> -> tensor<4xf32> {
    mllm.cf.yield %x : tensor<4xf32>
  } else {
    // expected-note@+1 {{region branch point}}
    mllm.cf.yield %y : tensor<5xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // RULE: cf.while.c1
  // expected-error@+1 {{has a condition that does not yield a single truth value first}}
  %0 = mllm.cf.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    mllm.cf.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    mllm.cf.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @f() {
  // RULE: cf.while.c1
  // expected-error@+1 {{has a condition that does not yield a single truth value first}}
  mllm.cf.while () : () -> () {
    mllm.cf.yield
  } do {
    mllm.cf.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %c: tensor<i1>) {
  // RULE: cf.while.c3
  // expected-error@+1 {{along control flow edge from Operation mllm.cf.yield to Region #0: region branch point has 0 operands, but region successor needs 1 inputs}}
  %0 = mllm.cf.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    mllm.cf.yield %c, %a : tensor<i1>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    // expected-note@+1 {{region branch point}}
    mllm.cf.yield
  }
  return
}

// -----

func.func @f(%n: tensor<3xi64>) {
  // RULE: cf.for.c1
  // expected-error@+1 {{has a count of type 'tensor<3xi64>', expected a single integer}}
  mllm.cf.for %n () : (tensor<3xi64>) -> () {
  ^bb0(%i: tensor<3xi64>):
    mllm.cf.yield
  }
  return
}

// -----

func.func @f(%n: tensor<i64>) {
  // RULE: cf.for.c1
  // expected-error@+1 {{has a body whose first argument does not have the count's type 'tensor<i64>'}}
  mllm.cf.for %n () : (tensor<i64>) -> () {
  ^bb0(%i: tensor<i32>):
    mllm.cf.yield
  }
  return
}

// -----

func.func @f(%n: tensor<i64>, %x: tensor<4xf32>) {
  // RULE: cf.for.c3
  // expected-error@+2 {{along control flow edge from parent to Region #0: successor operand type #0 'tensor<4xf32>' should match successor input type #0 'tensor<5xf32>'}}
  // expected-note@+1 {{region branch point}}
  %0 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<5xf32>):
    mllm.cf.yield %a : tensor<5xf32>
  }
  return
}

// -----

// expected-note@+1 {{called here}}
mllm.graph.call_graph @other() : () -> ()
// RULE: graph.subgraph.c5
// expected-error@+1 {{@model is marked 'entry', but the module calls @other}}
mllm.graph.subgraph @model() attributes {entry} {
  mllm.cf.return
}
mllm.graph.subgraph @other() {
  mllm.cf.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // RULE: cf.while.c2
  // expected-error@+1 {{has a region 'body' that ends with 'llvm.unreachable', expected 'mllm.cf.yield'}}
  %0 = mllm.cf.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %stop = mllm.tensor.constant dense<false> : tensor<i1>
    mllm.cf.yield %stop, %a : tensor<i1>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    llvm.unreachable
  }
  return
}

// -----

func.func @f(%n: tensor<i64>) {
  // RULE: cf.for.c2
  // expected-error@+1 {{has a region 'body' that ends with 'llvm.unreachable', expected 'mllm.cf.yield'}}
  mllm.cf.for %n () : (tensor<i64>) -> () {
  ^bb0(%i: tensor<i64>):
    llvm.unreachable
  }
  return
}
