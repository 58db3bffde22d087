// RUN: llmir-opt %s -mlir-print-debuginfo -o %t.mlir
// RUN: llmir-translate --mlir-to-mllm %t.mlir -o %t.mllm
// RUN: FileCheck %s < %t.mllm
// RUN: llmir-translate --mllm-to-mlir %t.mllm --mlir-print-debuginfo -o %t.back.mlir
// RUN: llmir-translate --mlir-to-mllm %t.back.mlir | diff %t.mllm -
// RUN: llmir-translate --mlir-to-mllm --mllm-file-locations %t.mlir | FileCheck %s --check-prefix=FILES

// Ops have the location of their layer, in the text as in the module.
// SPEC: 327 328
// CHECK: graph.SubGraphOp @norm <CPU> <name="model.norm"> {
// CHECK: linalg.CPU.NegOp <name="model.norm.neg"> (
// FILES: linalg.CPU.NegOp <name="model.norm.neg"> (
mllm.graph.subgraph @norm(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.linalg.neg %x : tensor<4xf32> loc("model.norm.neg")
  // File locations are printed on request.
  // CHECK: linalg.CPU.AbsOp (
  // FILES: linalg.CPU.AbsOp <loc=mlir"loc(\22model.cpp\22:12:3)"> (
  %1 = mllm.linalg.abs %0 : tensor<4xf32> loc("model.cpp":12:3)
  // CHECK: linalg.CPU.NegOp <loc=mlir"loc(fused[\22a\22, \22b\22])"> (
  %2 = mllm.linalg.neg %1 : tensor<4xf32> loc(fused["a", "b"])
  mllm.cf.return %2 : tensor<4xf32>
} loc("model.norm")
