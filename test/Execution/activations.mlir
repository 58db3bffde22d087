// RUN: llmir-translate --compare %s | FileCheck %s

// Activations and the norms of other families: no token, one, and rows that do
// not fill a vector.

// CHECK-COUNT-4: @gelu result {{[0-3]}}: nmse
func.func @gelu(%x: tensor<5x99xf32>, %h: tensor<3x64xbf16>) -> (tensor<5x99xf32>, tensor<5x99xf32>, tensor<5x99xf32>, tensor<3x64xbf16>) {
  %0 = llm.gelu %x : tensor<5x99xf32>
  %1 = llm.gelu %x {approximate = "tanh"} : tensor<5x99xf32>
  %2 = llm.gelu %x {approximate = "quick"} : tensor<5x99xf32>
  %3 = llm.gelu %h {approximate = "tanh"} : tensor<3x64xbf16>
  return %0, %1, %2, %3 : tensor<5x99xf32>, tensor<5x99xf32>, tensor<5x99xf32>, tensor<3x64xbf16>
}

// CHECK-COUNT-2: @gelu_of_few result {{[01]}}: nmse
func.func @gelu_of_few(%none: tensor<0x64xf32>, %one: tensor<1x7xf16>) -> (tensor<0x64xf32>, tensor<1x7xf16>) {
  %0 = llm.gelu %none : tensor<0x64xf32>
  %1 = llm.gelu %one : tensor<1x7xf16>
  return %0, %1 : tensor<0x64xf32>, tensor<1x7xf16>
}

// CHECK-COUNT-4: @layer_norm result {{[0-3]}}: nmse
func.func @layer_norm(%x: tensor<7x80xf32>, %w: tensor<80xf32>, %b: tensor<80xf32>, %h: tensor<1x33xbf16>, %hw: tensor<33xf16>)
    -> (tensor<7x80xf32>, tensor<7x80xf32>, tensor<7x80xf32>, tensor<1x33xbf16>) {
  %0 = llm.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<7x80xf32>, tensor<80xf32>, tensor<80xf32>
  %1 = llm.layer_norm %x, %w {eps = 1.0e-5 : f64} : tensor<7x80xf32>, tensor<80xf32>
  %2 = llm.layer_norm %x {eps = 0.0 : f64} : tensor<7x80xf32>
  %3 = llm.layer_norm %h, %hw {eps = 1.0e-5 : f64} : tensor<1x33xbf16>, tensor<33xf16>
  return %0, %1, %2, %3 : tensor<7x80xf32>, tensor<7x80xf32>, tensor<7x80xf32>, tensor<1x33xbf16>
}

// CHECK-COUNT-3: @softmax result {{[0-2]}}: nmse
func.func @softmax(%x: tensor<4x100xf32>, %h: tensor<3x5x16xf16>, %none: tensor<0x8xf32>) -> (tensor<4x100xf32>, tensor<3x5x16xf16>, tensor<0x8xf32>) {
  %0 = llm.softmax %x : tensor<4x100xf32>
  %1 = llm.softmax %h : tensor<3x5x16xf16>
  %2 = llm.softmax %none : tensor<0x8xf32>
  return %0, %1, %2 : tensor<4x100xf32>, tensor<3x5x16xf16>, tensor<0x8xf32>
}
