// RUN: llmir-opt %s -mllm-link -allow-unregistered-dialect -split-input-file -verify-diagnostics | FileCheck %s

// A declared subgraph and a declared parameter are those of the other module,
// and private symbols keep apart.
// SPEC: 333
// CHECK-LABEL: module {
// CHECK-NEXT: mllm.tensor.register @w : tensor<4x4xf32> {source = "w"}
// CHECK: mllm.graph.subgraph @main(%[[X:.*]]: tensor<2x4xf32>)
// CHECK: call_graph @helper(%[[X]])
// CHECK: call_graph @norm(
// CHECK: subgraph private @helper(
// CHECK: linalg.neg
// CHECK: subgraph @norm(
// CHECK: call_graph @helper_1(
// CHECK: subgraph private @helper_1(
// CHECK: linalg.abs
module {
  module @a {
    mllm.tensor.register @w : tensor<4x4xf32>
    mllm.graph.subgraph @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %0 = mllm.graph.call_graph @helper(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %1 = mllm.graph.call_graph @norm(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %2 = mllm.linalg.linear %1, @w : tensor<2x4xf32> -> tensor<2x4xf32>
      mllm.cf.return %2 : tensor<2x4xf32>
    }
    mllm.graph.subgraph private @helper(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %0 = mllm.linalg.neg %x : tensor<2x4xf32>
      mllm.cf.return %0 : tensor<2x4xf32>
    }
    mllm.graph.subgraph @norm(tensor<2x4xf32>) -> tensor<2x4xf32>
  }
  module @b {
    mllm.tensor.register @w : tensor<4x4xf32> {source = "w"}
    mllm.graph.subgraph @norm(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %0 = mllm.graph.call_graph @helper(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      mllm.cf.return %0 : tensor<2x4xf32>
    }
    mllm.graph.subgraph private @helper(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %0 = mllm.linalg.abs %x : tensor<2x4xf32>
      mllm.cf.return %0 : tensor<2x4xf32>
    }
  }
}

// -----

// A module without nested modules is not changed.
// CHECK-LABEL: module @alone {
// CHECK: mllm.graph.subgraph @f
module @alone {
  mllm.graph.subgraph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    mllm.cf.return %x : tensor<4xf32>
  }
}

// -----

// SPEC: 336
module {
  module @a {
    // expected-note@+1 {{the first 'mllm.graph.subgraph' of this name}}
    mllm.graph.subgraph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      mllm.cf.return %x : tensor<4xf32>
    }
  }
  module @b {
    // expected-error@+1 {{'mllm.graph.subgraph' op @f is defined twice}}
    mllm.graph.subgraph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      mllm.cf.return %x : tensor<4xf32>
    }
  }
}

// -----

module {
  module @a {
    // expected-note@+1 {{the first 'mllm.graph.subgraph' of this name}}
    mllm.graph.subgraph @f(tensor<8xf32>) -> tensor<8xf32>
  }
  module @b {
    // expected-error@+1 {{'mllm.graph.subgraph' op @f has a different type}}
    mllm.graph.subgraph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      mllm.cf.return %x : tensor<4xf32>
    }
  }
}

// -----

module {
  module @a {
    // expected-note@+1 {{the first 'mllm.tensor.register' of this name}}
    mllm.tensor.register @w : tensor<4xf32> {source = "v"}
  }
  module @b {
    // expected-error@+1 {{'mllm.tensor.register' op @w is defined twice}}
    mllm.tensor.register @w : tensor<4xf32> {source = "w"}
  }
}

// -----

module {
  module @a {
    // expected-note@+1 {{the first 'mllm.tensor.register' of this name}}
    mllm.tensor.register @w : tensor<4xf32> {source = "v"}
  }
  module @b {
    // expected-error@+1 {{'mllm.graph.subgraph' op @w is a different kind of op}}
    mllm.graph.subgraph @w(%x: tensor<4xf32>) -> tensor<4xf32> {
      mllm.cf.return %x : tensor<4xf32>
    }
  }
}

// -----

module {
  module @a {
    // expected-error@+1 {{'mllm.graph.subgraph' op @f is declared, but not defined by any module}}
    mllm.graph.subgraph @f(tensor<8xf32>) -> tensor<8xf32>
  }
}

// -----

// expected-note@+1 {{the linked module}}
module {
  module @a attributes {test.fact = 1 : i64} {
  }
  // expected-error@+1 {{'builtin.module' op has a different 'test.fact' than preceding modules}}
  module @b attributes {test.fact = 2 : i64} {
  }
}

// -----

// RULE: graph.subgraph.c7
// expected-error@+1 {{'mllm.graph.subgraph' op @f has no body; only modules to be linked by mllm-link may have declarations}}
mllm.graph.subgraph @f(tensor<8xf32>) -> tensor<8xf32>

// -----

// A private symbol is also renamed in ops of unknown dialects.
// CHECK: mllm.graph.subgraph private @f(
// CHECK: mllm.graph.subgraph private @f_1(
// CHECK: "unknown.table"() ({
// CHECK-NEXT: "unknown.use"() {callee = @f_1}
module {
  module @a {
    mllm.graph.subgraph private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      mllm.cf.return %x : tensor<8xf32>
    }
  }
  module @b {
    mllm.graph.subgraph private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      mllm.cf.return %x : tensor<8xf32>
    }
    "unknown.table"() ({
      "unknown.use"() {callee = @f} : () -> ()
    }) : () -> ()
  }
}
