// RUN: llmir-translate --interpret %s | FileCheck %s

// Constants, branches, loops, memory and calls of subgraphs: the model doubles
// its number until it is 100 or more, then adds 1 three times.

mllm.graph.subgraph @model(%x: tensor<1xf32> {check.values = dense<7.0> : tensor<1xf32>}) -> tensor<1xf32> attributes {entry} {
  %hundred = mllm.tensor.constant dense<100.0> : tensor<1xf32>
  // SPEC: 273 281 282
  %0 = mllm.cf.while (%x) : (tensor<1xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<1xf32>):
    %c = mllm.linalg.compare less %a, %hundred : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
    mllm.cf.yield %c, %a : tensor<1xi1>, tensor<1xf32>
  } do {
  ^bb0(%a: tensor<1xf32>):
    %d = mllm.linalg.add %a, %a : tensor<1xf32>
    mllm.cf.yield %d : tensor<1xf32>
  }
  %n = mllm.tensor.constant dense<3> : tensor<i64>
  %1 = mllm.cf.for %n (%0) : (tensor<i64>, tensor<1xf32>) -> tensor<1xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<1xf32>):
    %b = mllm.graph.call_graph @plus_one(%a) : (tensor<1xf32>) -> tensor<1xf32>
    mllm.cf.yield %b : tensor<1xf32>
  }
  %m = mllm.tensor.alloc : tensor<1xf32>
  %2 = mllm.linalg.copy %m, %1 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %no = mllm.tensor.constant dense<false> : tensor<i1>
  // SPEC: 280
  %3 = mllm.cf.if %no : tensor<i1> -> tensor<1xf32> {
    mllm.cf.yield %hundred : tensor<1xf32>
  } else {
    mllm.cf.yield %2 : tensor<1xf32>
  }
  mllm.tensor.free %2 : tensor<1xf32>
  mllm.dbg.comment "done"
  mllm.cf.return %3 : tensor<1xf32>
}
// CHECK: @model result 0: tensor<1xf32> [115]

mllm.graph.subgraph @plus_one(%x: tensor<1xf32>) -> tensor<1xf32> {
  %one = mllm.tensor.constant dense<1.0> : tensor<1xf32>
  %y = mllm.linalg.add %x, %one : tensor<1xf32>
  mllm.cf.return %y : tensor<1xf32>
}
