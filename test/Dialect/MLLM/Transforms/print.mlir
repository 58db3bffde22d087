// RUN: llmir-opt %s --mllm-print-statistics -o /dev/null | FileCheck %s --check-prefix=STAT
// RUN: llmir-opt %s --mllm-print-statistics=ops=false -o /dev/null | FileCheck %s --check-prefix=SHORT
// RUN: llmir-opt %s --mllm-print-liveness -o /dev/null | FileCheck %s --check-prefix=LIVE
// RUN: llmir-opt %s --mllm-print-liveness=seq=8 -o /dev/null | FileCheck %s --check-prefix=SEQ

// What is called twice costs twice, but its parameters are there once. 8 x 4
// times 16 x 4 is 1024 operations; `linear` reads 32 + 64 and writes 128
// elements of four bytes.
// SPEC: 278
// STAT: subgraph calls  ops  parameters  parameter bytes  flops  bytes
// STAT-NEXT: up 2 1 64 256 1024 896
// STAT-NEXT: dynamic 0 1 0 0 ? ?
// STAT-NEXT: model 0 3 64 256 {{[0-9]+}} {{[0-9]+}}
// STAT-NEXT: whole model 3 64 256
// STAT: op count
// STAT-NEXT: mllm.cf.return 3
// STAT-NEXT: mllm.graph.call_graph 2
// STAT-NEXT: mllm.graph.subgraph 3
// STAT-NEXT: mllm.linalg.add 1
// STAT-NEXT: mllm.linalg.linear 1
// STAT-NEXT: mllm.linalg.silu 1
// STAT-NEXT: mllm.tensor.register 1
// SHORT: whole model
// SHORT-NOT: mllm.linalg
mllm.tensor.register @w : tensor<16x4xf32> {source = "w"}
mllm.graph.subgraph @up(%x: tensor<8x4xf32>) -> tensor<8x16xf32> {
  %0 = mllm.linalg.linear %x, @w : tensor<8x4xf32> -> tensor<8x16xf32>
  mllm.cf.return %0 : tensor<8x16xf32>
}
mllm.graph.subgraph @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = mllm.linalg.silu %x : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// LIVE-LABEL: {{^}}up
// LIVE: peak live bytes: 640
// LIVE-LABEL: {{^}}dynamic
// LIVE: mllm.linalg.silu ?
// LIVE: peak live bytes: ?
// SEQ-LABEL: {{^}}dynamic
// SEQ: mllm.linalg.silu 256
// SEQ: peak live bytes: 256

// %arg0 lives until the second call, %0 until the sum.
// LIVE-LABEL: {{^}}model
// LIVE-NEXT: op live bytes  ends
// LIVE-NEXT: mllm.graph.call_graph 640
// LIVE-NEXT: mllm.graph.call_graph 1152  %arg0
// LIVE-NEXT: mllm.linalg.add 1536  %0 %1
// LIVE-NEXT: mllm.cf.return 512  %2
// LIVE-NEXT: peak live bytes: 1536
mllm.graph.subgraph @model(%x: tensor<8x4xf32>) -> tensor<8x16xf32> attributes {entry} {
  %0 = mllm.graph.call_graph @up(%x) : (tensor<8x4xf32>) -> tensor<8x16xf32>
  %1 = mllm.graph.call_graph @up(%x) : (tensor<8x4xf32>) -> tensor<8x16xf32>
  %2 = mllm.linalg.add %0, %1 : tensor<8x16xf32>
  mllm.cf.return %2 : tensor<8x16xf32>
}
