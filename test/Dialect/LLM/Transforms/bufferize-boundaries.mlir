// RUN: llmir-opt %s --one-shot-bufferize --split-input-file --verify-diagnostics
// RUN: llmir-opt %s --one-shot-bufferize=allow-unknown-ops --split-input-file --verify-diagnostics

// Caches as arguments or results require a change of the function's type, which
// One-Shot Bufferize performs only on request.

!cache = !llm.paged_kv_cache<f32, 1, 2, 4, 16, 64>

func.func @argument(%c: !cache, %t: tensor<1x4xi32>, %n: tensor<1xi32>) -> tensor<1x64x2x4xf32> {
  // expected-error@+1 {{'llm.lookup_kv' op cannot be bufferized alone: its cache is an argument or a result of a function; add bufferize-function-boundaries to the options of -one-shot-bufferize}}
  %k, %v = llm.lookup_kv %c, %t, %n : (!cache, tensor<1x4xi32>, tensor<1xi32>) -> (tensor<1x64x2x4xf32>, tensor<1x64x2x4xf32>)
  return %k : tensor<1x64x2x4xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 4, 16, 64>

func.func @result() -> !cache {
  // expected-error@+1 {{'llm.create_paged_cache' op cannot be bufferized alone: its cache is an argument or a result of a function}}
  %c = llm.create_paged_cache : !cache
  return %c : !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 2, 4, 16, 64>

func.func private @give() -> !cache

func.func @call(%t: tensor<1x4xi32>, %n: tensor<1xi32>) {
  %c = call @give() : () -> !cache
  // expected-error@+1 {{'llm.lookup_kv' op cannot be bufferized alone: its cache is an argument or a result of a function}}
  %k, %v = llm.lookup_kv %c, %t, %n : (!cache, tensor<1x4xi32>, tensor<1xi32>) -> (tensor<1x64x2x4xf32>, tensor<1x64x2x4xf32>)
  return
}
