// RUN: llmir-opt %s --mllm-specialize=sizes=seq=6 --split-input-file --verify-diagnostics
// RUN: not llmir-opt %s --mllm-specialize=sizes=seq --split-input-file 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not llmir-opt %s --mllm-specialize=sizes=seq=-1 --split-input-file 2>&1 | FileCheck %s --check-prefix=SIGN
// RUN: not llmir-opt %s --mllm-specialize=sizes=seq=1,sq=2 --split-input-file 2>&1 | FileCheck %s --check-prefix=NAME

// TEXT: invalid size 'seq', expected NAME=NUMBER or ?=NUMBER
// SIGN: invalid size 'seq=-1'
// NAME: has no size called 'sq'; its sizes are {{.*}}seq

mllm.graph.subgraph @range(%x: tensor<?xf32, #mllm.tensor<dims = (seq)>>) -> tensor<?xf32, #mllm.tensor<dims = (seq)>> attributes {entry} {
  mllm.cf.return %x : tensor<?xf32, #mllm.tensor<dims = (seq)>>
}

// -----

// expected-error@+1 {{allows 'seq' from 1 to 5, not 6}}
mllm.graph.subgraph @range(%x: tensor<?xf32, #mllm.tensor<dims = (seq)>>) -> tensor<?xf32, #mllm.tensor<dims = (seq)>> attributes {entry, mllm.dims = {seq = #mllm.range<1, 5>}} {
  mllm.cf.return %x : tensor<?xf32, #mllm.tensor<dims = (seq)>>
}

// -----

// expected-error@+1 {{allows 'seq' from 0 to 64 in multiples of 4, not 6}}
mllm.graph.subgraph @multiple(%x: tensor<?xf32, #mllm.tensor<dims = (seq)>>) -> tensor<?xf32, #mllm.tensor<dims = (seq)>> attributes {entry, mllm.dims = {seq = #mllm.range<0, 64, multiple of 4>}} {
  mllm.cf.return %x : tensor<?xf32, #mllm.tensor<dims = (seq)>>
}

// -----

// expected-error@+1 {{has no size called 'seq'; there are no named sizes}}
module {
  mllm.graph.subgraph @static(%x: tensor<4xf32>) -> tensor<4xf32> attributes {entry} {
    mllm.cf.return %x : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{an input has the type 'tensor<6x?xf32, #mllm.tensor<dims = (6, rows)>>'; specify its size 'rows' with sizes=rows=NUMBER}}
mllm.graph.subgraph @missing(%x: tensor<?x?xf32, #mllm.tensor<dims = (seq, rows)>>) -> tensor<?x?xf32, #mllm.tensor<dims = (seq, rows)>> attributes {entry} {
  mllm.cf.return %x : tensor<?x?xf32, #mllm.tensor<dims = (seq, rows)>>
}

// -----

// expected-error@+1 {{an input has the type 'tensor<6x?xf32>'; specify its unnamed sizes with sizes=?=NUMBER}}
mllm.graph.subgraph @unnamed(%x: tensor<?x?xf32, #mllm.tensor<dims = (seq, ?)>>) -> tensor<?x?xf32> attributes {entry} {
  %0 = mllm.linalg.silu %x : tensor<?x?xf32, #mllm.tensor<dims = (seq, ?)>> -> tensor<?x?xf32>
  mllm.cf.return %0 : tensor<?x?xf32>
}

// -----

mllm.graph.subgraph @past(%x: tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> tensor<?x2x4xf32> attributes {entry} {
  // expected-error@+1 {{has a value of type 'tensor<?x2x4xf32>'; specify the initial number of tokens in its cache with sizes=past=NUMBER}}
  %k, %v = mllm.linalg.kv_cache %x, %x {layer = 0 : i64} : (tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>, tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return %k : tensor<?x2x4xf32>
}

// -----

// A loop-carried value that grows in each iteration has no fixed size.
mllm.graph.subgraph @grows(%n: tensor<i64>, %x: tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>) -> tensor<?x4xf32> attributes {entry} {
  // expected-error@+1 {{has a value of type 'tensor<?x4xf32>', whose size is known only at run time}}
  %r = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>) -> tensor<?x4xf32> {
  ^bb0(%i: tensor<i64>, %s: tensor<?x4xf32>):
    %0 = mllm.linalg.concat %s, %s {dim = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    mllm.cf.yield %0 : tensor<?x4xf32>
  }
  mllm.cf.return %r : tensor<?x4xf32>
}

// -----

// The error names the op, the size, and the layer if it is known.
mllm.graph.subgraph @odd(%x: tensor<?xf32, #mllm.tensor<dims = (seq)>>) -> tensor<?x4xf32> attributes {entry} {
  // expected-error@+1 {{'mllm.linalg.reshape' op}}
  %0 = mllm.linalg.reshape %x {shape = array<i64: -1, 4>} : tensor<?xf32, #mllm.tensor<dims = (seq)>> -> tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}

// -----

mllm.graph.subgraph @again(%x: tensor<?xf32, #mllm.tensor<dims = (seq)>>) -> tensor<?xf32> {
  // expected-error@+1 {{calls @again, which is recursive, so that its sizes are unbounded}}
  %0 = mllm.graph.call_graph @again(%x) : (tensor<?xf32, #mllm.tensor<dims = (seq)>>) -> tensor<?xf32>
  mllm.cf.return %0 : tensor<?xf32>
}
