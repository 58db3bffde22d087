// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// Devices and names of sizes; a sum is written in one way.
// SPEC: 321: attributes of types.
// CHECK: func private @encodings(tensor<1x?xi64, #mllm.tensor<dims = (1, seq)>>,
// CHECK-SAME: tensor<?x64xf16, #mllm.tensor<kCUDA, dims = (past + seq, 64)>>,
// CHECK-SAME: tensor<4x4xbf16, #mllm.tensor<kQNN>>,
// CHECK-SAME: tensor<?x?xi1, #mllm.tensor<dims = (2 * seq - 1, ?)>>)
func.func private @encodings(
    tensor<1x?xi64, #mllm.tensor<dims = (1, seq)>>,
    tensor<?x64xf16, #mllm.tensor<kCUDA, dims = (seq + past, 64)>>,
    tensor<4x4xbf16, #mllm.tensor<kQNN>>,
    tensor<?x?xi1, #mllm.tensor<dims = (seq * 2 - 1, ?)>>)

// SPEC: 264 321: attributes of values, with attributes in them.
// CHECK: mllm.graph.subgraph @m(%{{.*}}: tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>> {mllm.quant = #mllm.quant<asym_per_tensor, bits = 8>})
// CHECK-SAME: attributes {device = #mllm.device<kQNN>, mllm.dims = {seq = #mllm.range<1, 4096, multiple of 16>}}
mllm.graph.subgraph @m(%x: tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>
        {mllm.quant = #mllm.quant<asym_per_tensor, bits = 8>})
    -> tensor<4x?xf32, #mllm.tensor<dims = (4, seq)>>
    attributes {device = #mllm.device<kQNN>,
                mllm.dims = {seq = #mllm.range<1, 4096, multiple of 16>}} {
  // Names are propagated; `?` is compatible with a name.
  // SPEC: 265
  // CHECK: mllm.linalg.transpose {{.*}}mllm.res_attrs = [{note = "turned"}]
  %0 = mllm.linalg.transpose %x {dim0 = 0, dim1 = 1, mllm.res_attrs = [{note = "turned"}]}
      : tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>> -> tensor<4x?xf32, #mllm.tensor<dims = (4, seq)>>
  %1 = mllm.linalg.transpose %x {dim0 = 0, dim1 = 1}
      : tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>> -> tensor<4x?xf32>
  // CHECK: mllm.dbg.comment "here it ends"
  mllm.dbg.comment "here it ends"
  mllm.cf.return %0 : tensor<4x?xf32, #mllm.tensor<dims = (4, seq)>>
}
