// A branch that sees a value from outside and calls a module, a loop with a branch in it, and one that
// counts.
mllm.tensor.register @w : tensor<4x4xf32> {source = "w"}
mllm.tensor.register @v : tensor<4x4xf32> {source = "v"}
mllm.graph.subgraph @model(%x: tensor<2x4xf32>, %c: tensor<1xi1>, %n: tensor<i64>) -> tensor<2x4xf32> attributes {entry} {
  %0 = mllm.linalg.relu %x : tensor<2x4xf32>
  %1 = mllm.cf.if %c : tensor<1xi1> -> tensor<2x4xf32> {
    %a = mllm.linalg.linear %0, @w : tensor<2x4xf32> -> tensor<2x4xf32>
    mllm.cf.yield %a : tensor<2x4xf32>
  } else {
    %a = mllm.graph.call_graph @half(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    mllm.cf.yield %a : tensor<2x4xf32>
  }
  %i = mllm.tensor.constant dense<0> : tensor<i64>
  %2:2 = mllm.cf.while(%1, %i) : (tensor<2x4xf32>, tensor<i64>) -> (tensor<2x4xf32>, tensor<i64>) {
  ^bb0(%y: tensor<2x4xf32>, %j: tensor<i64>):
    %more = mllm.linalg.compare less %j, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    mllm.cf.yield %more, %y, %j : tensor<i1>, tensor<2x4xf32>, tensor<i64>
  } do {
  ^bb0(%y: tensor<2x4xf32>, %j: tensor<i64>):
    %k = mllm.linalg.add %j {scalar = 1.0 : f64} : tensor<i64>
    %z = mllm.cf.if %c : tensor<1xi1> -> tensor<2x4xf32> {
      %a = mllm.linalg.add %y, %0 : tensor<2x4xf32>
      mllm.cf.yield %a : tensor<2x4xf32>
    } else {
      mllm.cf.yield %y : tensor<2x4xf32>
    }
    mllm.cf.yield %z, %k : tensor<2x4xf32>, tensor<i64>
  }
  %3 = mllm.cf.for %n(%2#0) : (tensor<i64>, tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%t: tensor<i64>, %y: tensor<2x4xf32>):
    %a = mllm.linalg.linear %y, @v : tensor<2x4xf32> -> tensor<2x4xf32>
    mllm.cf.yield %a : tensor<2x4xf32>
  }
  mllm.cf.return %3 : tensor<2x4xf32>
}
mllm.graph.subgraph @half(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = mllm.linalg.mul %x {scalar = 0.5 : f64} : tensor<2x4xf32>
  mllm.cf.return %0 : tensor<2x4xf32>
}
