// RUN: llmir-opt %s --mllm-specialize=sizes=seq=17,past=3 --split-input-file | FileCheck %s
// RUN: llmir-opt %s --mllm-specialize="sizes=seq=17 partial" --split-input-file | FileCheck %s --check-prefix=PART

// A whole layer: sizes are propagated from the inputs from op to op, and into
// the keys of the cache; the range of a bound name is gone.

mllm.tensor.register @embed : tensor<9x8xf32> {source = "embed"}
mllm.tensor.register @proj : tensor<8x8xf32> {source = "proj"}
// CHECK-LABEL: @layer(
// CHECK-SAME: %[[IDS:.*]]: tensor<1x17xi64>) -> tensor<1x17x8xf32> attributes {entry, mllm.dims = {other = #mllm.range<1, 4>}}
// PART-LABEL: @layer(
// PART-SAME: tensor<1x17xi64>) -> tensor<1x17x8xf32> attributes {entry, mllm.dims = {other = #mllm.range<1, 4>}}
mllm.graph.subgraph @layer(%ids: tensor<1x?xi64, #mllm.tensor<dims = (1, seq)>>) -> tensor<1x?x8xf32, #mllm.tensor<dims = (1, seq, 8)>> attributes {entry, mllm.dims = {seq = #mllm.range<1, 32>, other = #mllm.range<1, 4>}} {
  // CHECK: mllm.linalg.embedding %[[IDS]], @embed : tensor<1x17xi64> -> tensor<1x17x8xf32>
  %x = mllm.linalg.embedding %ids, @embed : tensor<1x?xi64, #mllm.tensor<dims = (1, seq)>> -> tensor<1x?x8xf32, #mllm.tensor<dims = (1, seq, 8)>>
  // CHECK: mllm.linalg.linear {{.*}} -> tensor<1x17x8xf32>
  %p = mllm.linalg.linear %x, @proj : tensor<1x?x8xf32, #mllm.tensor<dims = (1, seq, 8)>> -> tensor<1x?x8xf32, #mllm.tensor<dims = (1, seq, 8)>>
  // CHECK: mllm.linalg.view {{.*}} -> tensor<1x17x2x4xf32>
  %h = mllm.linalg.view %p : tensor<1x?x8xf32, #mllm.tensor<dims = (1, seq, 8)>> -> tensor<1x?x2x4xf32, #mllm.tensor<dims = (1, seq, 2, 4)>>
  // CHECK: mllm.linalg.transpose {{.*}} -> tensor<1x2x17x4xf32>
  %t = mllm.linalg.transpose %h {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x?x2x4xf32, #mllm.tensor<dims = (1, seq, 2, 4)>> -> tensor<1x2x?x4xf32, #mllm.tensor<dims = (1, 2, seq, 4)>>
  // CHECK: mllm.linalg.kv_cache {{.*}} -> (tensor<1x4x20x4xf32>, tensor<1x4x20x4xf32>)
  // PART: mllm.linalg.kv_cache {{.*}} -> (tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>)
  %k, %v = mllm.linalg.kv_cache %t, %t {layer = 0 : i64, layout = "bhsd", q_head = 4 : i64}
      : (tensor<1x2x?x4xf32, #mllm.tensor<dims = (1, 2, seq, 4)>>, tensor<1x2x?x4xf32, #mllm.tensor<dims = (1, 2, seq, 4)>>) -> (tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>)
  %q = mllm.linalg.repeat %t {dim = 1 : i64, times = 2 : i64} : tensor<1x2x?x4xf32, #mllm.tensor<dims = (1, 2, seq, 4)>> -> tensor<1x4x?x4xf32, #mllm.tensor<dims = (1, 4, seq, 4)>>
  // CHECK: mllm.linalg.matmul {{.*}} -> tensor<1x4x17x20xf32>
  // PART: mllm.linalg.matmul {{.*}} -> tensor<1x4x17x?xf32>
  %s = mllm.linalg.matmul %q, %k {transpose_b} : (tensor<1x4x?x4xf32, #mllm.tensor<dims = (1, 4, seq, 4)>>, tensor<1x4x?x4xf32>) -> tensor<1x4x?x?xf32>
  %m = mllm.linalg.matmul %s, %v : (tensor<1x4x?x?xf32>, tensor<1x4x?x4xf32>) -> tensor<1x4x?x4xf32>
  mllm.dbg.comment "kept"
  // CHECK: mllm.linalg.reduce_sum {{.*}} -> tensor<1x17x4xf32>
  %r = mllm.linalg.reduce_sum %m {dim = 1 : i64} : tensor<1x4x?x4xf32> -> tensor<1x?x4xf32>
  // CHECK: mllm.linalg.concat {{.*}} -> tensor<1x17x8xf32>
  %y = mllm.linalg.concat %r, %r {dim = 2 : i64} : (tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x8xf32, #mllm.tensor<dims = (1, seq, 8)>>
  // CHECK: mllm.cf.return {{.*}} : tensor<1x17x8xf32>
  mllm.cf.return %y : tensor<1x?x8xf32, #mllm.tensor<dims = (1, seq, 8)>>
}
// PART-NOT: seq
// CHECK-NOT: #mllm.tensor

// -----

// A subgraph that is called with two sizes becomes two; one that is called twice
// with the same sizes is not copied.
// CHECK-LABEL: @twice(
// CHECK-SAME: tensor<17x4xf32>) -> tensor<17x4xf32>
mllm.graph.subgraph @twice(%x: tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>) -> tensor<?x4xf32> attributes {entry} {
  %e = mllm.linalg.exp %x : tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>> -> tensor<?x4xf32>
  // CHECK: call_graph @act({{.*}}) : (tensor<17x4xf32>) -> tensor<17x4xf32>
  // CHECK: call_graph @act({{.*}}) : (tensor<17x4xf32>) -> tensor<17x4xf32>
  %0 = mllm.graph.call_graph @act(%e) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = mllm.graph.call_graph @act(%e) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: concat {{.*}} -> tensor<34x4xf32>
  %2 = mllm.linalg.concat %0, %1 {dim = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: %[[R:.*]] = mllm.graph.call_graph @act.1({{.*}}) : (tensor<34x4xf32>) -> tensor<34x4xf32>
  %3 = mllm.graph.call_graph @act(%2) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: slice %[[R]][0:17, :] : tensor<34x4xf32> -> tensor<17x4xf32>
  %4 = mllm.linalg.slice %3[:17, :] : tensor<?x4xf32> -> tensor<?x4xf32>
  mllm.cf.return %4 : tensor<?x4xf32>
}
// CHECK: @act(%{{.*}}: tensor<17x4xf32>) -> tensor<17x4xf32>
// CHECK: call_graph @inner(
// CHECK: private @act.1(%{{.*}}: tensor<34x4xf32>) -> tensor<34x4xf32>
// CHECK: call_graph @inner.1(
mllm.graph.subgraph @act(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.graph.call_graph @inner(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK: @inner(%{{.*}}: tensor<17x4xf32>) -> tensor<17x4xf32>
// CHECK: private @inner.1(%{{.*}}: tensor<34x4xf32>) -> tensor<34x4xf32>
mllm.graph.subgraph @inner(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.silu %x : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// Out of reach, and bound all the same.
// CHECK: @alone(%{{.*}}: tensor<20xf32>) -> tensor<20xf32>
// PART: @alone(%{{.*}}: tensor<?xf32, #mllm.tensor<dims = (past + 17)>>)
mllm.graph.subgraph @alone(%x: tensor<?xf32, #mllm.tensor<dims = (seq + past)>>) -> tensor<?xf32, #mllm.tensor<dims = (seq + past)>> {
  mllm.cf.return %x : tensor<?xf32, #mllm.tensor<dims = (seq + past)>>
}

// -----

// Branches and loops. Sizes that do not change between iterations are bound.
// CHECK-LABEL: @flow(
mllm.graph.subgraph @flow(%c: tensor<i1>, %n: tensor<i64>, %x: tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) attributes {entry, mllm.dims = {past = #mllm.range<0, 8>}} {
  // CHECK: mllm.cf.if {{.*}} -> tensor<17x4xf32> {
  %a = mllm.cf.if %c : tensor<i1> -> tensor<?x4xf32> {
    // CHECK: mllm.linalg.silu %{{.*}} : tensor<17x4xf32>
    %0 = mllm.linalg.silu %x : tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>> -> tensor<?x4xf32>
    mllm.cf.yield %0 : tensor<?x4xf32>
  } else {
    mllm.cf.yield %x : tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>
  }
  // CHECK: mllm.cf.for {{.*}} : (tensor<i64>, tensor<17x4xf32>) -> tensor<17x4xf32> {
  %b = mllm.cf.for %n (%a) : (tensor<i64>, tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<17x4xf32>):
  ^bb0(%i: tensor<i64>, %s: tensor<?x4xf32>):
    %0 = mllm.linalg.add %s, %s : tensor<?x4xf32>
    mllm.cf.yield %0 : tensor<?x4xf32>
  }
  // CHECK: mllm.cf.while({{.*}}) : (tensor<17x4xf32>) -> tensor<17x4xf32> {
  %w = mllm.cf.while (%b) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
  ^bb0(%s: tensor<?x4xf32>):
    mllm.cf.yield %c, %s : tensor<i1>, tensor<?x4xf32>
  } do {
  // CHECK: ^bb0(%{{.*}}: tensor<17x4xf32>):
  ^bb0(%s: tensor<?x4xf32>):
    %0 = mllm.linalg.neg %s : tensor<?x4xf32>
    mllm.cf.yield %0 : tensor<?x4xf32>
  }
  mllm.cf.return %a, %b, %w : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// What is called from the module: its input and its call follow.
// CHECK: %[[IN:.*]] = mllm.tensor.input : tensor<1x17xf32>
%in = mllm.tensor.input : tensor<1x?xf32, #mllm.tensor<dims = (1, seq)>>
// CHECK: mllm.graph.call_graph @model(%[[IN]]) : (tensor<1x17xf32>) -> tensor<17xf32>
%out = mllm.graph.call_graph @model(%in) : (tensor<1x?xf32, #mllm.tensor<dims = (1, seq)>>) -> tensor<?xf32, #mllm.tensor<dims = (seq)>>
mllm.graph.subgraph @model(%x: tensor<1x?xf32, #mllm.tensor<dims = (1, seq)>>) -> tensor<?xf32, #mllm.tensor<dims = (seq)>> {
  // Every size is one number now, so that a view can say the reshape.
  // CHECK: mllm.linalg.view %{{.*}} : tensor<1x17xf32> -> tensor<17xf32>
  %0 = mllm.linalg.reshape %x {shape = array<i64: -1>} : tensor<1x?xf32, #mllm.tensor<dims = (1, seq)>> -> tensor<?xf32, #mllm.tensor<dims = (seq)>>
  mllm.cf.return %0 : tensor<?xf32, #mllm.tensor<dims = (seq)>>
}
mllm.graph.subgraph private @unused(%x: tensor<?xf32, #mllm.tensor<dims = (past)>>) -> tensor<?xf32, #mllm.tensor<dims = (past)>> {
  mllm.cf.return %x : tensor<?xf32, #mllm.tensor<dims = (past)>>
}

// -----

// Convolutions, and attention by an index.
mllm.tensor.register @w : tensor<6x3x3x3xf32> {source = "w"}
// CHECK-LABEL: @vision(
mllm.graph.subgraph @vision(%x: tensor<1x3x?x?xf32, #mllm.tensor<dims = (1, 3, seq, past)>>, %q: tensor<1x?x4x8xf32, #mllm.tensor<dims = (1, seq, 4, 8)>>, %i: tensor<?xi32, #mllm.tensor<dims = (past)>>) -> (tensor<1x6x?x?xf32>, tensor<1x?x4x8xf32>, tensor<1x4x?x?xf32>) attributes {entry} {
  // CHECK: conv2d {{.*}} : tensor<1x3x17x3xf32> -> tensor<1x6x9x2xf32>
  %y = mllm.linalg.conv2d %x, @w {kernel_size = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} : tensor<1x3x?x?xf32, #mllm.tensor<dims = (1, 3, seq, past)>> -> tensor<1x6x?x?xf32>
  // CHECK: paged_attn {{.*}} -> (tensor<1x17x4x8xf32>, tensor<1x4x17x3xf32>)
  %a, %s = mllm.linalg.paged_attn %q, %q, %q, %i {scale = 0.25 : f64} : (tensor<1x?x4x8xf32, #mllm.tensor<dims = (1, seq, 4, 8)>>, tensor<1x?x4x8xf32, #mllm.tensor<dims = (1, seq, 4, 8)>>, tensor<1x?x4x8xf32, #mllm.tensor<dims = (1, seq, 4, 8)>>, tensor<?xi32, #mllm.tensor<dims = (past)>>) -> (tensor<1x?x4x8xf32>, tensor<1x4x?x?xf32>)
  mllm.cf.return %y, %a, %s : tensor<1x6x?x?xf32>, tensor<1x?x4x8xf32>, tensor<1x4x?x?xf32>
}

// -----

// Each append to the cache of a layer finds what those in front of it have
// given, and a subgraph that appends is one for each length that it finds.
// CHECK-LABEL: @appends(
mllm.graph.subgraph @appends(%c: tensor<i1>, %x: tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) attributes {entry, mllm.dims = {past = #mllm.range<0, 8>}} {
  // CHECK: kv_cache {{.*}}layer = 0{{.*}} -> (tensor<20x2x4xf32>, tensor<20x2x4xf32>)
  %0:2 = mllm.linalg.kv_cache %x, %x {layer = 0 : i64} : (tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>, tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  // CHECK: kv_cache {{.*}}layer = 0{{.*}} -> (tensor<37x2x4xf32>, tensor<37x2x4xf32>)
  %1:2 = mllm.linalg.kv_cache %x, %x {layer = 0 : i64} : (tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>, tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  // CHECK: call_graph @layer1(%{{.*}}) : (tensor<17x2x4xf32>) -> tensor<20x2x4xf32>
  %2 = mllm.graph.call_graph @layer1(%x) : (tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> tensor<?x2x4xf32>
  // CHECK: call_graph @layer1.1(%{{.*}}) : (tensor<17x2x4xf32>) -> tensor<37x2x4xf32>
  %3 = mllm.graph.call_graph @layer1(%x) : (tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> tensor<?x2x4xf32>
  // Either branch appends as much.
  %4 = mllm.cf.if %c : tensor<i1> -> tensor<?x2x4xf32> {
    // CHECK: call_graph @layer1.2(%{{.*}}) : (tensor<17x2x4xf32>) -> tensor<54x2x4xf32>
    %5 = mllm.graph.call_graph @layer1(%x) : (tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> tensor<?x2x4xf32>
    mllm.cf.yield %5 : tensor<?x2x4xf32>
  } else {
    // CHECK: call_graph @layer1.2(%{{.*}}) : (tensor<17x2x4xf32>) -> tensor<54x2x4xf32>
    %5 = mllm.graph.call_graph @layer1(%x) : (tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> tensor<?x2x4xf32>
    mllm.cf.yield %5 : tensor<?x2x4xf32>
  }
  // CHECK: call_graph @layer1.3(%{{.*}}) : (tensor<17x2x4xf32>) -> tensor<71x2x4xf32>
  %6 = mllm.graph.call_graph @layer1(%x) : (tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> tensor<?x2x4xf32>
  mllm.cf.return %0#0, %1#0, %2, %4, %6 : tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>
}
mllm.graph.subgraph private @layer1(%x: tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> tensor<?x2x4xf32> {
  %0:2 = mllm.linalg.kv_cache %x, %x {layer = 1 : i64} : (tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>, tensor<?x2x4xf32, #mllm.tensor<dims = (seq, 2, 4)>>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return %0#0 : tensor<?x2x4xf32>
}
