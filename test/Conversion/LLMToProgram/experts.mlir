// RUN: llmir-opt %s --convert-llm-to-program | FileCheck %s

// A mixture of experts: the experts' matrices are one weight, and there is room
// for every pair of a token and an expert. Each matrix begins with a tile of its
// own: 5 · 2 tiles of 16 lines.

// CHECK: weight @weight.arg2 "tiles16" "bf16" [5, 20, 32] bytes 10240 sources ["arg2"]
// CHECK: weight @weight.arg3 "tiles16" "bf16" [5, 20, 32] bytes 10240 sources ["arg3"]
// CHECK: weight @weight.arg4 "tiles16" "f32" [5, 32, 20] bytes 12800 sources ["arg4"]

// CHECK: kernel @moe_route_2x5 "moe_route" {experts = 5 : i64, normalize = true, sigmoid = false, top_k = 2 : i64} [memref<8x16xf32>, memref<8x16xf32>, memref<8x16xi32>]
// CHECK: kernel @moe_sort_2x5 "moe_sort" {experts = 5 : i64, top_k = 2 : i64} [memref<8x16xi32>, memref<1x16xi32>, memref<1x16xi32>, memref<1x16xi32>]
// CHECK: kernel @moe_linear_bf16_5x20x32 "moe_linear" {columns = 32 : i64, experts = 5 : i64, format = "bf16", rows = 20 : i64} [memref<1x16xi32>, memref<16x16xf32>, memref<16x32xf32>]
// CHECK: kernel @moe_linear_f32_5x32x20

// Beside matrices of bf16, the tokens' rows are rounded before they are gathered.
// CHECK: instruction @moe_route_2x5 weights [](%{{.*}}, %[[WEIGHTS:.*]], %[[CHOSEN:.*]]) :
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction @moe_sort_2x5 weights [](%[[CHOSEN]], %[[OFFSETS:.*]], %[[PAIRS:.*]], %[[PLACES:.*]]) :
// CHECK-NEXT: instruction @round_rows_32 weights [](%{{.*}}, %[[X:.*]]) :
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction @moe_gather_16 weights [](%[[PAIRS]], %[[X]], %[[ROWS:.*]]) :
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction @moe_linear_bf16_5x20x32 weights [@weight.arg2](%[[OFFSETS]], %[[ROWS]], %[[GATE:.*]]) :
// CHECK-NEXT: instruction @moe_linear_bf16_5x20x32 weights [@weight.arg3](%[[OFFSETS]], %[[ROWS]], %[[UP:.*]]) :
// The gate is computed by the workers that computed its operands.
// CHECK-NEXT: instruction @moe_gate_20 weights [](%[[GATE]], %[[UP]], %[[GATE]]) :
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction @moe_linear_f32_5x32x20 weights [@weight.arg4](%[[OFFSETS]], %[[GATE]], %[[DOWN:.*]]) :
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction @moe_combine_32 weights [](%[[PLACES]], %[[WEIGHTS]], %[[DOWN]], %{{.*}}) :
func.func @f(%x: tensor<8x32xf32>, %r: tensor<5x32xf32>, %gate: tensor<5x20x32xbf16>, %up: tensor<5x20x32xbf16>,
             %down: tensor<5x32x20xf32>) -> tensor<8x32xf32> {
  %l = llm.linear %x, %r : tensor<8x32xf32>, tensor<5x32xf32> -> tensor<8x5xf32>
  %experts, %weights = llm.moe_route %l {top_k = 2} : (tensor<8x5xf32>) -> (tensor<8x2xi32>, tensor<8x2xf32>)
  %y = llm.moe_ffn %x, %experts, %weights, %gate, %up, %down
     : (tensor<8x32xf32>, tensor<8x2xi32>, tensor<8x2xf32>, tensor<5x20x32xbf16>, tensor<5x20x32xbf16>, tensor<5x32x20xf32>)
       -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}
