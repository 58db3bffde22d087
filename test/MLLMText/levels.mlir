// RUN: llmir-opt %s -o %t.mlir
// RUN: llmir-translate --mlir-to-mllm %t.mlir -o %t.mllm
// RUN: FileCheck %s < %t.mllm
// RUN: llmir-translate --mllm-to-mlir %t.mllm -o %t.back && llmir-opt %t.back | diff %t.mlir -
// RUN: llmir-translate --mlir-to-mllm --mllm-style=document %t.mlir | FileCheck %s --check-prefix=DOCUMENT

// The levels other than calls and layers: devices, named sizes, regions within
// subgraphs, memory, notes, and ops of other dialects.

// CHECK: tensor.CPU.input () -> (%0:tensor<[1, seq], Int64, CPU>)
%ids = mllm.tensor.input : tensor<1x?xi64, #mllm.tensor<dims = (1, seq)>>

// The name of a device precedes its ops, and is part of every type.
// SPEC: 309 310 339
// CHECK: graph.SubGraphOp @on_npu <QNN> {
// CHECK: (%[[P:[0-9]+]]:tensor<[4, 4], Float16, QNN>) -> (%{{[0-9]+}}:tensor<[4, 4], Float16, QNN>) {
// CHECK: dbg.CommentOp [text:"attention of the first layer"] () -> ()
// CHECK: linalg.QNN.NegOp (%[[P]]:tensor<[4, 4], Float16, QNN>) -> (%{{[0-9]+}}:tensor<[4, 4], Float16, QNN>)
// DOCUMENT: graph.SubGraphOp @on_npu <kQNN>{
// DOCUMENT: linalg.kQNN.NegOp(%{{[0-9]+}}:tensor<[4, 4], kFp16, kQNN>) -> (%{{[0-9]+}}:tensor<[4, 4], kFp16, kQNN>)
mllm.graph.subgraph @on_npu(%x: tensor<4x4xf16, #mllm.tensor<kQNN>>) -> tensor<4x4xf16, #mllm.tensor<kQNN>> attributes {device = #mllm.device<kQNN>} {
  mllm.dbg.comment "attention of the first layer"
  %y = mllm.linalg.neg %x : tensor<4x4xf16, #mllm.tensor<kQNN>>
  %z = mllm.linalg.neg %y : tensor<4x4xf16, #mllm.tensor<kQNN>>
  mllm.cf.return %z : tensor<4x4xf16, #mllm.tensor<kQNN>>
}

// Values of a region have their own names; those of the enclosing region are
// visible.
// CHECK: graph.SubGraphOp @branches <CPU> {
// CHECK: cf.IfOp (%{{[0-9]+}}:tensor<[], Bool, CPU>) -> (%[[R:[0-9]+]]:tensor<[4], Float32, CPU>) {
// CHECK-NEXT: () -> (%[[A:[0-9]+]]:tensor<[4], Float32, CPU>) {
// CHECK-NEXT: cf.YieldOp (%[[A]]:tensor<[4], Float32, CPU>) -> ()
// CHECK-NEXT: }
// CHECK-NEXT: () -> (%[[B:[0-9]+]]:tensor<[4], Float32, CPU>) {
// CHECK: cf.ForOp (%{{[0-9]+}}:tensor<[], Int64, CPU>, %[[R]]:tensor<[4], Float32, CPU>)
// CHECK-NEXT: (%{{[0-9]+}}:tensor<[], Int64, CPU>, %[[C:[0-9]+]]:tensor<[4], Float32, CPU>) -> (%[[D:[0-9]+]]:tensor<[4], Float32, CPU>) {
// CHECK-NEXT: linalg.CPU.AddOp (%[[C]]:{{.*}}, %[[C]]:{{.*}}) -> (%[[D]]:
// CHECK: cf.WhileOp
mllm.graph.subgraph @branches(%c: tensor<i1>, %n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = mllm.cf.if %c : tensor<i1> -> tensor<4xf32> {
    mllm.cf.yield %x : tensor<4xf32>
  } else {
    %b = mllm.linalg.neg %x : tensor<4xf32>
    mllm.cf.yield %b : tensor<4xf32>
  }
  %s = mllm.cf.for %n (%r) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
    %b = mllm.linalg.add %a, %a : tensor<4xf32>
    mllm.cf.yield %b : tensor<4xf32>
  }
  %t = mllm.cf.while (%s) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %stop = mllm.tensor.constant dense<false> : tensor<i1>
    mllm.cf.yield %stop, %a : tensor<i1>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    mllm.cf.yield %a : tensor<4xf32>
  }
  mllm.cf.return %t : tensor<4xf32>
}

// CHECK: graph.SubGraphOp @memory <CPU> {
// CHECK: tensor.CPU.alloc [offset:4096] () -> (%[[M:[0-9]+]]:tensor<[4, 64], Float32, CPU>)
// CHECK: tensor.CPU.free (%[[M]]:tensor<[4, 64], Float32, CPU>) -> ()
mllm.graph.subgraph @memory() {
  %m = mllm.tensor.alloc offset 4096 : tensor<4x64xf32>
  mllm.tensor.free %m : tensor<4x64xf32>
  mllm.cf.return
}

// The second call's result has its own number.
// SPEC: 331
// CHECK: graph.SubGraphOp @twice <CPU> {
// CHECK: graph.CallGraphOp @once (%[[X:[0-9]+]]:{{.*}}) -> (%[[Y:[0-9]+]]:
// CHECK: graph.CallGraphOp @once (%[[Y]]:{{.*}}) -> (%[[Z:[0-9]+]]:
// CHECK: cf.ReturnOp (%[[Z]]:
// CHECK: graph.SubGraphOp @once <CPU> {
// CHECK: (%[[X]]:{{.*}}) -> (%[[Y]]:
mllm.graph.subgraph @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.graph.call_graph @once(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = mllm.graph.call_graph @once(%0) : (tensor<4xf32>) -> tensor<4xf32>
  mllm.cf.return %1 : tensor<4xf32>
}
mllm.graph.subgraph @once(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.linalg.neg %x : tensor<4xf32>
  mllm.cf.return %0 : tensor<4xf32>
}

// SPEC: 302 303
// CHECK: op"func.func" [function_type:mlir"(f32) -> f32", sym_name:"foreign"] () -> () {
// CHECK: (%{{[0-9]+}}:mlir"f32") -> (%{{[0-9]+}}:mlir"f32") {
// CHECK: op"arith.addf" [fastmath:mlir"#arith.fastmath<none>"] (
func.func @foreign(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}
