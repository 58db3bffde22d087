// RUN: llmir-translate --interpret %s --split-input-file --verify-diagnostics

func.func @id() {
  %ids = arith.constant dense<[0, 3]> : tensor<2xi32>
  %table = arith.constant dense<1.0> : tensor<3x2xf32>
  // expected-error @+1 {{'llm.embedding' op cannot be evaluated: id 1 is 3, which is not from 0 to 2}}
  %y = llm.embedding %ids, %table : tensor<2xi32>, tensor<3x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slot(%k: tensor<1x1x2xf32>) {
  %c = llm.create_paged_cache : !llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>
  %s = arith.constant dense<64> : tensor<1xi32>
  // expected-error @+1 {{'llm.append_kv' op cannot be evaluated: KV cache: token 0 goes to slot 64; there are 64}}
  %c1 = llm.append_kv %c, %k, %k slots(%s)
      : (!llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>, tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1xi32>)
        -> !llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>
  return
}

// -----

func.func @too_long(%k: tensor<1x9x1x2xf32>) {
  %c = llm.create_paged_cache : !llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>
  %s = arith.constant dense<5> : tensor<1xi32>
  // expected-error @+1 {{KV cache: sequence 5 would have 9 tokens; the maximum of the cache is 8}}
  %c1, %b = llm.append_kv %c, %k, %k, %s
      : (!llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>, tensor<1x9x1x2xf32>, tensor<1x9x1x2xf32>, tensor<1xi32>)
        -> (!llm.paged_kv_cache<f32, 1, 1, 2, 4, 8>, tensor<1x9xi32>)
  return
}

// -----

func.func @groups(%x: tensor<2xf32>) {
  // expected-error @+1 {{'llm.all_reduce' op cannot be evaluated: groups of 2 ranks among 1 (llm.num_ranks of the function)}}
  %y = llm.all_reduce %x {group_size = 2} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// A result that ranks do not share must be the same on all of them.
// expected-error @+1 {{result 0 has no llm.shard_dim, but differs between ranks: tensor<1xf32> [1] and tensor<1xf32> [2]}}
func.func @differs(%x: tensor<1xf32> {llm.shard_dim = 0 : i64, check.values = dense<[1.0, 2.0]> : tensor<2xf32>}) -> tensor<1xf32>
    attributes {llm.num_ranks = 2 : i64} {
  return %x : tensor<1xf32>
}

// -----

func.func @no_evaluator(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.bitcast' op cannot be evaluated: it has no evaluator}}
  %y = tensor.bitcast %x : tensor<4xf32> to tensor<4xi32>
  return
}

// -----

func.func @insert(%x: tensor<4xf32>, %i: index {check.values = 4 : index}, %e: f32) {
  // expected-error @+1 {{'tensor.insert' op cannot be evaluated: index 4 of a dimension of 4}}
  %y = tensor.insert %e into %x[%i] : tensor<4xf32>
  return
}

// -----

func.func @reshape(%x: tensor<4xf32>, %shape: tensor<2xi32> {check.values = dense<[2, 3]> : tensor<2xi32>}) {
  // expected-error @+1 {{'tensor.reshape' op cannot be evaluated: tensor<4xf32> does not fill the shape}}
  %y = tensor.reshape %x(%shape) : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @pad(%x: tensor<4xf32>, %i: index {check.values = -1 : index}, %e: f32) {
  // expected-error @+1 {{'tensor.pad' op cannot be evaluated: it pads dimension 0 by -1 and 0}}
  %y = tensor.pad %x low[%i] high[0] {
  ^bb0(%r: index):
    tensor.yield %e : f32
  } : tensor<4xf32> to tensor<?xf32>
  return
}

// -----

func.func @pad_much(%x: tensor<4xf32>, %i: index {check.values = 1000000000 : index}, %e: f32) {
  // expected-error @+1 {{'tensor.pad' op cannot be evaluated: its result is too large}}
  %y = tensor.pad %x low[%i] high[0] {
  ^bb0(%r: index):
    tensor.yield %e : f32
  } : tensor<4xf32> to tensor<?xf32>
  return
}

// -----

func.func @pad_computed(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.pad' op cannot be evaluated: its region is not a constant}}
  %y = tensor.pad %x low[1] high[0] {
  ^bb0(%r: index):
    %n = arith.index_cast %r : index to i32
    %f = arith.sitofp %n : i32 to f32
    tensor.yield %f : f32
  } : tensor<4xf32> to tensor<5xf32>
  return
}

// -----

func.func @generate(%i: index {check.values = 1000000000 : index}) {
  // expected-error @+1 {{'tensor.generate' op cannot be evaluated: 'tensor<?xf32>' is not supported by the interpreter or too large}}
  %y = tensor.generate %i {
  ^bb0(%r: index):
    %c = arith.constant 1.0 : f32
    tensor.yield %c : f32
  } : tensor<?xf32>
  return
}

// -----

// expected-error @+1 {{argument 0: i32 elements need a check.range of i64 or check.values}}
func.func @range(%ids: tensor<2xi32>) { return }

// -----

// expected-error @+1 {{argument 0: check.range has values from -20 to 19, and i4 holds those from -8 to 7}}
func.func @zero_points(%z: tensor<2xi4> {check.range = array<i64: -20, 20>}) { return }

// -----

// expected-error @+1 {{argument 0: check.range has values from 0 to 2, and i1 holds those from 0 to 1}}
func.func @truth(%z: tensor<2xi1> {check.range = array<i64: 0, 3>}) { return }

// -----

// expected-error @+1 {{argument 0: 'tensor<?xf32>' has dynamic sizes, which check.shape must specify}}
func.func @sizes(%x: tensor<?xf32>) { return }

// -----

func.func @expectation() {
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 2.5]> : tensor<2xf32>
  // expected-error @+3 {{'check.expect_close' op failed: nmse 3.448276e-02 exceeds 1.000000e-02 : f64}}
  // expected-note @+2 {{actual   tensor<2xf32> [1, 2]}}
  // expected-note @+1 {{expected tensor<2xf32> [1, 2.5]}}
  check.expect_close %a, %b {nmse = 1.0e-2 : f64} : tensor<2xf32>
  check.expect_close %a, %b {nmse = 4.0e-2 : f64} : tensor<2xf32>
  return
}

// -----

func.func @equality() {
  %a = arith.constant dense<0.0> : tensor<1xf32>
  %b = arith.constant dense<-0.0> : tensor<1xf32>
  // expected-error @+3 {{'check.expect_equal' op failed}}
  // expected-note @+2 {{actual   tensor<1xf32> [0]}}
  // expected-note @+1 {{expected tensor<1xf32> [-0]}}
  check.expect_equal %a, %b : tensor<1xf32>
  return
}

// -----

// expected-error @+1 {{argument 0: 'tensor<1000000000x1000000000xf32>' has more than 2^28 elements}}
func.func @huge(%x: tensor<1000000000x1000000000xf32>) {
  return
}

// -----

// expected-error @+1 {{has more than 2^28 elements}}
func.func @huge_integers(%q: !llm.quantized_tensor<i8, [65536, 65536], true, true, 0, -1, 8>) {
  return
}

// -----

func.func @huge_constant() -> tensor<1x4xf32> {
  // expected-error @+1 {{'arith.constant' op cannot be evaluated: 'tensor<1000000000x4xf32>' has more than 2^28 elements}}
  %table = arith.constant dense<1.0> : tensor<1000000000x4xf32>
  %id = arith.constant dense<3> : tensor<1xi32>
  %row = llm.embedding %id, %table : tensor<1xi32>, tensor<1000000000x4xf32> -> tensor<1x4xf32>
  return %row : tensor<1x4xf32>
}

// -----

func.func @huge_mllm_constant() -> tensor<1000000000x4xf32> {
  // expected-error @+1 {{'mllm.tensor.constant' op cannot be evaluated: 'tensor<1000000000x4xf32>' has more than 2^28 elements}}
  %table = mllm.tensor.constant dense<1.0> : tensor<1000000000x4xf32>
  return %table : tensor<1000000000x4xf32>
}

// -----

func.func @huge_block() -> !llm.paged_kv_cache<f32, 1, 2, 16, 1073741824, 64> {
  // expected-error @+1 {{'llm.create_paged_cache' op cannot be evaluated: !llm.paged_kv_cache<f32, 1, 2, 16, 1073741824, 64> has more than 2^28 elements in a block}}
  %c = llm.create_paged_cache : !llm.paged_kv_cache<f32, 1, 2, 16, 1073741824, 64>
  return %c : !llm.paged_kv_cache<f32, 1, 2, 16, 1073741824, 64>
}

// -----

// expected-error @+1 {{argument 0: !llm.paged_kv_cache<f32, 1, 2, 16, 1073741824, 64> has more than 2^28 elements in a block}}
func.func @huge_block_given(%c: !llm.paged_kv_cache<f32, 1, 2, 16, 1073741824, 64>) {
  return
}

// -----

// expected-error @+1 {{argument 0: !llm.paged_kv_cache<f32, 1, 2, 16, 8, 2147483648> has more than 2^22 blocks per sequence}}
func.func @many_blocks(%c: !llm.paged_kv_cache<f32, 1, 2, 16, 8, 2147483648>) {
  return
}

// -----

!keys = tensor<2x1x2x16xf32>
func.func @many_blocks_appended(%k: !keys, %s: tensor<2xi32> {check.values = dense<[0, 1]> : tensor<2xi32>}) -> !llm.paged_kv_cache<f32, 1, 2, 16, 1, 2147483648> {
  // expected-error @+1 {{'llm.append_kv' op cannot be evaluated: !llm.paged_kv_cache<f32, 1, 2, 16, 1, 2147483648> has more than 2^22 blocks per sequence}}
  %c, %b = llm.append_kv(%k, %k, %s) : (!keys, !keys, tensor<2xi32>) -> (!llm.paged_kv_cache<f32, 1, 2, 16, 1, 2147483648>, tensor<2x1xi32>)
  return %c : !llm.paged_kv_cache<f32, 1, 2, 16, 1, 2147483648>
}

// -----

func.func @scattered(%x: tensor<2x?xf32> {check.shape = array<i64: 2, 7>}) attributes {llm.num_ranks = 2 : i64} {
  // expected-error @+1 {{'llm.reduce_scatter' op cannot be evaluated: 2 shards of dimension 1 of tensor<2x7xf32>}}
  %y = llm.reduce_scatter %x {dim = 1, group_size = 2} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @sliced_rows(%x: tensor<2x?xf32> {check.shape = array<i64: 2, 7>}, %w: tensor<?x3xf32> {check.shape = array<i64: 8, 3>}) {
  // expected-error @+1 {{'llm.sharded_linear' op cannot be evaluated: 2 shards of dimension 1 of tensor<2x7xf32>}}
  %y = llm.sharded_linear %x, %w {num_shards = 2, shard_dim = 0, shard_id = 0} : (tensor<2x?xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @other_rows(%x: tensor<2x?xf32> {check.shape = array<i64: 2, 8>}, %w: tensor<?x3xf32> {check.shape = array<i64: 8, 3>}) {
  // expected-error @+1 {{'llm.sharded_linear' op cannot be evaluated: rows of 8 elements, but a weight of 4 inputs}}
  %y = llm.sharded_linear %x, %w {num_shards = 2, shard_dim = 0, shard_id = 0, x_is_shard} : (tensor<2x?xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @other_bias(%x: tensor<2x4xf32>, %w: tensor<4x?xf32> {check.shape = array<i64: 4, 6>}, %b: tensor<?xf32> {check.shape = array<i64: 4>}) {
  // expected-error @+1 {{'llm.sharded_linear' op cannot be evaluated: a bias of 2 elements, but 3 outputs}}
  %y = llm.sharded_linear %x, %w, %b {num_shards = 2, shard_dim = 1, shard_id = 0} : (tensor<2x4xf32>, tensor<4x?xf32>, tensor<?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @negative_size(%n: index {check.values = -2 : index}) -> tensor<?xf32> {
  // expected-error @+1 {{'tensor.empty' op cannot be evaluated: dimension 0 has the size -2}}
  %e = tensor.empty(%n) : tensor<?xf32>
  return %e : tensor<?xf32>
}

// -----

func.func @endless(%n: index {check.values = 4611686018427387904 : index}) -> tensor<?x8xf32> {
  // expected-error @+1 {{'tensor.empty' op cannot be evaluated: its result is too large}}
  %e = tensor.empty(%n) : tensor<?x8xf32>
  return %e : tensor<?x8xf32>
}

// -----

func.func @negative_splat(%n: index {check.values = -2 : index}, %x: f32) -> tensor<?xf32> {
  // expected-error @+1 {{'tensor.splat' op cannot be evaluated: dimension 0 has the size -2}}
  %e = tensor.splat %x[%n] : tensor<?xf32>
  return %e : tensor<?xf32>
}

// -----

func.func @negative_slice(%n: index {check.values = -2 : index}, %x: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'tensor.extract_slice' op cannot be evaluated: dimension 0 has the size -2}}
  %e = tensor.extract_slice %x[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>
  return %e : tensor<?xf32>
}

// -----

func.func @far_stride(%s: index {check.values = 9223372036854775807 : index}, %x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'tensor.extract_slice' op cannot be evaluated: the slice is not in tensor<4xf32>}}
  %e = tensor.extract_slice %x[1] [3] [%s] : tensor<4xf32> to tensor<3xf32>
  return %e : tensor<3xf32>
}

// -----

func.func @backward_stride(%s: index {check.values = -2 : index}, %x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'tensor.extract_slice' op cannot be evaluated: the slice is not in tensor<4xf32>}}
  %e = tensor.extract_slice %x[1] [2] [%s] : tensor<4xf32> to tensor<2xf32>
  return %e : tensor<2xf32>
}

// -----

func.func @reshape_of_nothing(%n: tensor<2xi64> {check.values = dense<4294967296> : tensor<2xi64>}, %x: tensor<0xf32>) -> tensor<?x?xf32> {
  // expected-error @+1 {{'tensor.reshape' op cannot be evaluated: its result is too large}}
  %e = tensor.reshape %x(%n) : (tensor<0xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %e : tensor<?x?xf32>
}

// -----

func.func @wrapping_pad(%n: index {check.values = 9223372036854775807 : index}, %x: tensor<4xf32>) -> tensor<?xf32> {
  %f = arith.constant 1.0 : f32
  // expected-error @+1 {{'tensor.pad' op cannot be evaluated: dimension 0 has the size -1}}
  %e = tensor.pad %x low[%n] high[%n] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<4xf32> to tensor<?xf32>
  return %e : tensor<?xf32>
}

// -----

func.func @recursion(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'func.call' op cannot be evaluated: more than 200 nested calls; a function may call itself}}
  %y = func.call @recursion(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
