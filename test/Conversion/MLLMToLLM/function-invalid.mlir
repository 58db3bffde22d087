// RUN: llmir-opt %s --convert-mllm-to-llm=form=function --split-input-file --verify-diagnostics

// Unsupported ops in the function form.

mllm.graph.subgraph @f(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %m = mllm.tensor.constant dense<true> : tensor<4xi1>
  // expected-error@+1 {{'mllm.linalg.repeat' op has the type 'tensor<?xf32>'; functions require static sizes}}
  %y = mllm.linalg.repeat %x {dim = 0 : i64, times = 2 : i64} : tensor<4xf32> -> tensor<?xf32>
  mllm.cf.return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{an argument has the type 'tensor<?xf32>'; functions require static sizes}}
mllm.graph.subgraph @f(%x: tensor<?xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %y = mllm.linalg.exp %s : tensor<4xf32>
  mllm.cf.return %y : tensor<4xf32>
}

// -----

// Also inside of a loop.
mllm.graph.subgraph @f(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %y = mllm.cf.for %n (%x) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{an argument has the type 'tensor<?xf32>'; functions require static sizes}}
  ^bb0(%i: tensor<i32>, %a: tensor<?xf32>):
    mllm.cf.yield %x : tensor<4xf32>
  }
  mllm.cf.return %y : tensor<4xf32>
}

// -----

mllm.graph.subgraph @f(%x: tensor<4xf32, #mllm.tensor<kCUDA>>) -> tensor<4xf32, #mllm.tensor<kCUDA>> {
  // expected-error@+1 {{'mllm.linalg.exp' op has the type 'tensor<4xf32, #mllm.tensor<kCUDA>>'; only tensors on the CPU can be compiled}}
  %y = mllm.linalg.exp %x : tensor<4xf32, #mllm.tensor<kCUDA>>
  mllm.cf.return %y : tensor<4xf32, #mllm.tensor<kCUDA>>
}

// -----

mllm.tensor.register @w : !llm.quantized_tensor<i8, [4, 32], true, false, -1, 32, 8, format = q8_0> {source = "w"}
mllm.graph.subgraph @f() -> tensor<4x32xf32> {
  // expected-error@+1 {{'mllm.linalg.param' op cannot be compiled: parameter @w is stored as}}
  %y = mllm.linalg.param @w : tensor<4x32xf32>
  mllm.cf.return %y : tensor<4x32xf32>
}

// -----

// A cache that grows in each iteration.
mllm.graph.subgraph @f(%k: tensor<3x2x4xf32>, %n: tensor<i32>) -> tensor<3x2x4xf32> {
  %y = mllm.cf.for %n (%k) : (tensor<i32>, tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  ^bb0(%i: tensor<i32>, %a: tensor<3x2x4xf32>):
    // expected-error@+1 {{cannot be compiled: it may be executed more than once, and each time adds to its cache; in a function, caches have static sizes}}
    %K, %V = mllm.linalg.kv_cache %a, %a {layer = 0 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>)
    mllm.cf.yield %K : tensor<3x2x4xf32>
  }
  mllm.cf.return %y : tensor<3x2x4xf32>
}

// -----

// The same in each call.
mllm.graph.subgraph @layer(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  // expected-error@+1 {{cannot be compiled: it may be executed more than once, and each time adds to its cache}}
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>)
  mllm.cf.return %K : tensor<3x2x4xf32>
}
mllm.graph.subgraph @f(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  %a = mllm.graph.call_graph @layer(%k) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %b = mllm.graph.call_graph @layer(%a) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  mllm.cf.return %b : tensor<3x2x4xf32>
}

// -----

mllm.graph.subgraph @f(%k: tensor<3x2x4xf32>, %c: tensor<i1>) -> tensor<6x2x4xf32> {
  %0 = mllm.cf.if %c : tensor<i1> -> tensor<3x2x4xf32> {
    %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>)
    mllm.cf.yield %K : tensor<3x2x4xf32>
  } else {
    mllm.cf.yield %k : tensor<3x2x4xf32>
  }
  // expected-error@+1 {{cannot be compiled: a preceding branch may have added to the cache of layer 0; in a function, caches have static sizes}}
  %K, %V = mllm.linalg.kv_cache %0, %0 {layer = 0 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<6x2x4xf32>, tensor<6x2x4xf32>)
  mllm.cf.return %K : tensor<6x2x4xf32>
}

// -----

mllm.graph.subgraph @f(%k: tensor<3x2x4xf32>) -> tensor<7x2x4xf32> {
  // expected-error@+1 {{cannot be compiled: its result has the type 'tensor<7x2x4xf32>', but its cache then holds 'tensor<3x2x4xf32>'; caches are empty when a function starts}}
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<7x2x4xf32>, tensor<7x2x4xf32>)
  mllm.cf.return %K : tensor<7x2x4xf32>
}

// -----

mllm.graph.subgraph @f() -> tensor<1xf32> {
  // expected-error@+1 {{'mllm.tensor.constant' op cannot be compiled: its value is not dense}}
  %c = mllm.tensor.constant dense_resource<numbers> : tensor<1xf32>
  mllm.cf.return %c : tensor<1xf32>
}
{-#
  dialect_resources: {
    builtin: {
      numbers: "0x040000000000803F"
    }
  }
#-}

// -----

// Also if its caller is called twice.
mllm.graph.subgraph @attn(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  // expected-error@+1 {{cannot be compiled: it may be executed more than once, and each time adds to its cache}}
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>)
  mllm.cf.return %K : tensor<3x2x4xf32>
}
mllm.graph.subgraph @block(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  %a = mllm.graph.call_graph @attn(%k) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  mllm.cf.return %a : tensor<3x2x4xf32>
}
mllm.graph.subgraph @f(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  %a = mllm.graph.call_graph @block(%k) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %b = mllm.graph.call_graph @block(%a) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  mllm.cf.return %b : tensor<3x2x4xf32>
}

// -----

// Or in a loop in the caller.
mllm.graph.subgraph @f(%k: tensor<3x2x4xf32>, %n: tensor<i32>) -> tensor<3x2x4xf32> {
  %y = mllm.cf.for %n (%k) : (tensor<i32>, tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  ^bb0(%i: tensor<i32>, %a: tensor<3x2x4xf32>):
    %b = mllm.graph.call_graph @block(%a) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
    mllm.cf.yield %b : tensor<3x2x4xf32>
  }
  mllm.cf.return %y : tensor<3x2x4xf32>
}
mllm.graph.subgraph @attn(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  // expected-error@+1 {{cannot be compiled: it may be executed more than once, and each time adds to its cache}}
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>)
  mllm.cf.return %K : tensor<3x2x4xf32>
}
mllm.graph.subgraph @block(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  %a = mllm.graph.call_graph @attn(%k) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  mllm.cf.return %a : tensor<3x2x4xf32>
}

// -----

// Two functions that add to one cache.
mllm.graph.subgraph @first(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  // expected-error@+1 {{cannot be compiled: another function of the same call tree also adds to the cache of layer 7; only one function may add to a cache}}
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 7 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>)
  mllm.cf.return %K : tensor<3x2x4xf32>
}
mllm.graph.subgraph @second(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 7 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>)
  mllm.cf.return %K : tensor<3x2x4xf32>
}
mllm.graph.subgraph @f(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  %a = mllm.graph.call_graph @first(%k) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %b = mllm.graph.call_graph @second(%a) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  mllm.cf.return %b : tensor<3x2x4xf32>
}

// -----

// Any layer number is valid; functions of separate call trees do not share caches.
mllm.graph.subgraph @f(%k: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 9223372036854775807 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2x4xf32>)
  mllm.cf.return %K : tensor<3x2x4xf32>
}
mllm.graph.subgraph @g(%k: tensor<3x2x4xf32>) -> tensor<7x2x4xf32> {
  // expected-error@+1 {{cannot be compiled: its result has the type 'tensor<7x2x4xf32>', but its cache then holds 'tensor<3x2x4xf32>'}}
  %K, %V = mllm.linalg.kv_cache %k, %k {layer = 9223372036854775807 : i64} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<7x2x4xf32>, tensor<7x2x4xf32>)
  mllm.cf.return %K : tensor<7x2x4xf32>
}

// -----

// Tables that are too large for any machine.
mllm.graph.subgraph @f(%x: tensor<400000xf32>, %w: tensor<400xf32>) -> tensor<100001x2x2xf32> {
  // expected-error@+1 {{cannot be compiled: its table of sines and cosines is not affordable: }}
  %y = mllm.linalg.stft %x, %w {center = false, hop_length = 200000 : i64, n_fft = 200000 : i64} : (tensor<400000xf32>, tensor<400xf32>) -> tensor<100001x2x2xf32>
  mllm.cf.return %y : tensor<100001x2x2xf32>
}

// -----

mllm.graph.subgraph @f(%x: tensor<100001x2x2xf32>, %w: tensor<400xf32>) -> tensor<400000xf32> {
  // expected-error@+1 {{cannot be compiled: its table of sines and cosines is not affordable: }}
  %y = mllm.linalg.istft %x, %w {center = false, hop_length = 200000 : i64, length = 400000 : i64, n_fft = 200000 : i64} : (tensor<100001x2x2xf32>, tensor<400xf32>) -> tensor<400000xf32>
  mllm.cf.return %y : tensor<400000xf32>
}

// -----

mllm.graph.subgraph @f(%x: tensor<2x3xf32>) -> tensor<2199023255552x3xf32> {
  // expected-error@+1 {{'mllm.linalg.repeat' op cannot be compiled: a tensor [2199023255552, 3] has more than 2^28 elements}}
  %y = mllm.linalg.repeat %x {dim = 0 : i64, times = 1099511627776 : i64} : tensor<2x3xf32> -> tensor<2199023255552x3xf32>
  mllm.cf.return %y : tensor<2199023255552x3xf32>
}
