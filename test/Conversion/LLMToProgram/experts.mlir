// RUN: llmir-opt %s --convert-llm-to-program --mllm-synchronize-program | FileCheck %s

// A mixture of experts: the experts' matrices are one weight, and there is room
// for every pair of a token and an expert. Each matrix starts with a new tile:
// 5 · 2 tiles of 16 lines.

// CHECK: weight @weight.arg2 "tiles16" "bf16" [5, 20, 32] bytes 10240 sources ["arg2"]
// CHECK: weight @weight.arg3 "tiles16" "bf16" [5, 20, 32] bytes 10240 sources ["arg3"]
// CHECK: weight @weight.arg4 "tiles16" "f32" [5, 32, 20] bytes 12800 sources ["arg4"]

// For bf16 matrices, the tokens' rows are rounded before they are gathered.
// CHECK: kernel.moe_route {{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}%[[WEIGHTS:[0-9]+]]{{[, ]}}{{.*}}%[[CHOSEN:[0-9]+]]{{[, ]}}{{.*}}{experts = 5 : i64, label = "moe_route_2x5", normalize, top_k = 2 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.moe_sort {{.*}}%[[CHOSEN]]{{[, ]}}{{.*}}%[[OFFSETS:[0-9]+]]{{[, ]}}{{.*}}%[[PAIRS:[0-9]+]]{{[, ]}}{{.*}}%[[PLACES:[0-9]+]]{{[, ]}}{{.*}}{experts = 5 : i64, label = "moe_sort_2x5", top_k = 2 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.round_rows {{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}%[[X:[0-9]+]]{{[, ]}}{{.*}}label = "round_rows_32"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.moe_gather {{.*}}%[[PAIRS]]{{[, ]}}{{.*}}%[[X]]{{[, ]}}{{.*}}%[[ROWS:[0-9]+]]{{[, ]}}{{.*}}label = "moe_gather_16"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @weight.arg2 :
// CHECK-NEXT: kernel.moe_linear {{.*}}%[[OFFSETS]]{{[, ]}}{{.*}}%[[ROWS]]{{[, ]}}{{.*}}%[[GATE:[0-9]+]]{{[, ]}}{{.*}}{columns = 32 : i64, experts = 5 : i64, format = "bf16", label = "moe_linear_bf16_5x20x32", rows = 20 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @weight.arg3 :
// CHECK-NEXT: kernel.moe_linear {{.*}}%[[OFFSETS]]{{[, ]}}{{.*}}%[[ROWS]]{{[, ]}}{{.*}}%[[UP:[0-9]+]]{{[, ]}}{{.*}}label = "moe_linear_bf16_5x20x32"
// CHECK-NEXT: {{^ +}$}}
// The gate is computed by the workers that computed its operands.
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.moe_gate {{.*}}%[[GATE]]{{[, ]}}{{.*}}%[[UP]]{{[, ]}}{{.*}}%[[GATE]]{{[, ]}}{{.*}}label = "moe_gate_20"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @weight.arg4 :
// CHECK-NEXT: kernel.moe_linear {{.*}}%[[OFFSETS]]{{[, ]}}{{.*}}%[[GATE]]{{[, ]}}{{.*}}%[[DOWN:[0-9]+]]{{[, ]}}{{.*}}label = "moe_linear_f32_5x32x20"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.moe_combine {{.*}}%[[PLACES]]{{[, ]}}{{.*}}%[[WEIGHTS]]{{[, ]}}{{.*}}%[[DOWN]]{{[, ]}}{{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}label = "moe_combine_32"
// CHECK-NEXT: {{^ +}$}}
func.func @f(%x: tensor<8x32xf32>, %r: tensor<5x32xf32>, %gate: tensor<5x20x32xbf16>, %up: tensor<5x20x32xbf16>,
             %down: tensor<5x32x20xf32>) -> tensor<8x32xf32> {
  %l = llm.linear %x, %r : tensor<8x32xf32>, tensor<5x32xf32> -> tensor<8x5xf32>
  %experts, %weights = llm.moe_route %l {top_k = 2} : (tensor<8x5xf32>) -> (tensor<8x2xi32>, tensor<8x2xf32>)
  %y = llm.moe_ffn %x, %experts, %weights, %gate, %up, %down
     : (tensor<8x32xf32>, tensor<8x2xi32>, tensor<8x2xf32>, tensor<5x20x32xbf16>, tensor<5x20x32xbf16>, tensor<5x32x20xf32>)
       -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}
