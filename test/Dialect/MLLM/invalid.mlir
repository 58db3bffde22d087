// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// The graph, cf and tensor levels, and the facts about the model; the cases are
// named by the constraint that they break.

// RULE: graph.subgraph.c1 (an argument)
// expected-error@+1 {{argument #1 has type 'f32', expected a ranked tensor}}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %y: f32) {
  mllm.cf.return
}

// -----

// RULE: graph.subgraph.c1 (a result)
// expected-error@+1 {{result #0 has type 'tensor<*xf32>', expected a ranked tensor}}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) -> tensor<*xf32> {
  "mllm.cf.return"() : () -> ()
}

// -----

// RULE: graph.subgraph.c2
// expected-error@+1 {{ends with 'llvm.unreachable', expected 'mllm.cf.return'}}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // expected-note@+1 {{the last op of the body}}
  llvm.unreachable
}

// -----

// expected-note@+1 {{subgraph @f}}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) attributes {entry} {
  mllm.cf.return
}
// RULE: graph.subgraph.c3
// expected-error@+1 {{@g is marked 'entry', and so is @f; a module has only one entry}}
mllm.graph.subgraph @g(%x: tensor<?x4xf32>) attributes {entry} {
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f() attributes {entry} {
  mllm.graph.call_graph @g() : () -> ()
  mllm.cf.return
}
// expected-note@+1 {{subgraph @g}}
mllm.graph.subgraph @g() {
  mllm.graph.call_graph @h() : () -> ()
  mllm.cf.return
}
mllm.graph.subgraph @h() {
  // RULE: graph.subgraph.c4
  // expected-error@+1 {{calls subgraph @g recursively}}
  mllm.graph.call_graph @g() : () -> ()
  mllm.cf.return
}

// -----

// A subgraph that is called twice, but not by itself, is not recursive.
mllm.graph.subgraph @f() attributes {entry} {
  mllm.graph.call_graph @g() : () -> ()
  mllm.graph.call_graph @h() : () -> ()
  mllm.cf.return
}
mllm.graph.subgraph @g() {
  mllm.graph.call_graph @h() : () -> ()
  mllm.cf.return
}
mllm.graph.subgraph @h() {
  mllm.cf.return
}

// -----

// A subgraph without a body.
// RULE: graph.subgraph.c7
// expected-error@+1 {{@f has no body; only modules to be linked by mllm-link may have declarations}}
mllm.graph.subgraph private @f(tensor<?x4xf32>)

// -----

// A subgraph outside of a module.
func.func @f() {
  // expected-error@+1 {{expects parent op 'builtin.module'}}
  mllm.graph.subgraph @g() {
    mllm.cf.return
  }
  return
}

// -----

mllm.graph.subgraph @f() {
  // RULE: graph.call_graph.c1
  // expected-error@+1 {{@absent is not a subgraph of the module}}
  mllm.graph.call_graph @absent() : () -> ()
  mllm.cf.return
}

// -----

// expected-note@+1 {{the symbol is 'mllm.tensor.register'}}
mllm.tensor.register @w : tensor<4xf32> {source = "w"}
mllm.graph.subgraph @f() {
  // RULE: graph.call_graph.c1
  // expected-error@+1 {{@w is not a subgraph of the module}}
  mllm.graph.call_graph @w() : () -> ()
  mllm.cf.return
}

// -----

// expected-note@+1 {{subgraph @g}}
mllm.graph.subgraph @g(%x: tensor<?x4xf32>) {
  mllm.cf.return
}
mllm.graph.subgraph @f() {
  // RULE: graph.call_graph.c2 (their number)
  // expected-error@+1 {{has 0 operands, but @g has 1 arguments}}
  mllm.graph.call_graph @g() : () -> ()
  mllm.cf.return
}

// -----

// expected-note@+1 {{subgraph @g}}
mllm.graph.subgraph @g(%x: tensor<?x4xf32>) {
  mllm.cf.return
}
mllm.graph.subgraph @f(%x: tensor<?x5xf32>) {
  // RULE: graph.call_graph.c2 (their types)
  // expected-error@+1 {{operand #0 has type 'tensor<?x5xf32>', but @g has argument type 'tensor<?x4xf32>'}}
  mllm.graph.call_graph @g(%x) : (tensor<?x5xf32>) -> ()
  mllm.cf.return
}

// -----

// expected-note@+1 {{subgraph @g}}
mllm.graph.subgraph @g(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  mllm.cf.return %x : tensor<?x4xf32>
}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: graph.call_graph.c3 (their number)
  // expected-error@+1 {{has 0 results, but @g has 1 results}}
  mllm.graph.call_graph @g(%x) : (tensor<?x4xf32>) -> ()
  mllm.cf.return
}

// -----

// expected-note@+1 {{subgraph @g}}
mllm.graph.subgraph @g(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  mllm.cf.return %x : tensor<?x4xf32>
}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: graph.call_graph.c3 (their types)
  // expected-error@+1 {{result #0 has type 'tensor<?x5xf32>', but @g has result type 'tensor<?x4xf32>'}}
  %0 = mllm.graph.call_graph @g(%x) : (tensor<?x4xf32>) -> tensor<?x5xf32>
  mllm.cf.return
}

// -----

// expected-note@+1 {{subgraph @f}}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: cf.return.c1 (their number)
  // expected-error@+1 {{has 1 operands, but the subgraph has 0 results}}
  mllm.cf.return %x : tensor<?x4xf32>
}

// -----

// expected-note@+1 {{subgraph @f}}
mllm.graph.subgraph @f(%x: tensor<?x4xf32>) -> tensor<?x5xf32> {
  // RULE: cf.return.c1 (their types)
  // expected-error@+1 {{operand #0 has type 'tensor<?x4xf32>', but the subgraph's result has type 'tensor<?x5xf32>'}}
  mllm.cf.return %x : tensor<?x4xf32>
}

// -----

// A return outside of a subgraph.
func.func @f() {
  // expected-error@+1 {{expects parent op 'mllm.graph.subgraph'}}
  mllm.cf.return
}

// -----

// RULE: tensor.register.c1 (an element type that no parameter has)
// expected-error@+1 {{has type 'tensor<4xi32>', expected a ranked tensor of f32, f16 or bf16, or an !llm.quantized_tensor}}
mllm.tensor.register @w : tensor<4xi32> {source = "w"}

// -----

// RULE: tensor.register.c1 (no tensor)
// expected-error@+1 {{has type 'f32', expected a ranked tensor}}
mllm.tensor.register @w : f32 {source = "w"}

// -----

// RULE: tensor.register.c2
// expected-error@+1 {{has rank 6, expected 1 to 5}}
mllm.tensor.register @w : tensor<2x3x4x5x6x7xf32> {source = "w"}

// -----

// RULE: tensor.register.c2 (quantized)
// expected-error@+1 {{has rank 1, expected 2 to 3}}
mllm.tensor.register @w : !llm.quantized_tensor<i8, [32], true, false, -1, 32, 8, format = q8_0> {source = "w"}

// -----

// RULE: tensor.register.c3 (a dynamic size)
// expected-error@+1 {{size #1 is dynamic, expected a static size}}
mllm.tensor.register @w : tensor<4x?xf32> {source = "w"}

// -----

// RULE: tensor.register.c3 (an empty tensor)
// expected-error@+1 {{size #0 is 0, expected at least 1}}
mllm.tensor.register @w : tensor<0x4xf32> {source = "w"}

// -----

// RULE: tensor.register.c4
// expected-error@+1 {{has an empty 'source', expected a tensor's name}}
mllm.tensor.register @w : tensor<4xf32> {source = ""}

// -----

// RULE: tensor.register.c5 (no head)
// expected-error@+1 {{has 'rope_unpermute_heads' 0, which does not divide 8 rows into heads of an even number of rows}}
mllm.tensor.register @w : tensor<8x4xf32> {source = "w", rope_unpermute_heads = 0 : i64}

// -----

// RULE: tensor.register.c5 (a rest)
// expected-error@+1 {{has 'rope_unpermute_heads' 3, which does not divide 8 rows}}
mllm.tensor.register @w : tensor<8x4xf32> {source = "w", rope_unpermute_heads = 3 : i64}

// -----

// RULE: tensor.register.c5 (matrices of experts)
// expected-error@+1 {{has 'rope_unpermute_heads' 3, which does not divide 8 rows}}
mllm.tensor.register @w : tensor<6x8x4xf32> {source = "w", rope_unpermute_heads = 3 : i64}

// -----

// RULE: tensor.register.c5 (heads of an odd size)
// expected-error@+1 {{has 'rope_unpermute_heads' 2, which does not divide 6 rows into heads of an even number of rows}}
mllm.tensor.register @w : tensor<6x4xf32> {source = "w", rope_unpermute_heads = 2 : i64}

// -----

// RULE: tensor.register.c6 (one number)
// expected-error@+1 {{has a 'slice' that is not [first row, rows of the stored tensor] of a vector, a matrix or the matrices of a stack, or these and [rows of a group, rows between the starts of groups]}}
mllm.tensor.register @w : tensor<6x4xf32> {source = "w", slice = array<i64: 6>}

// -----

// RULE: tensor.register.c6 (rank 4)
// expected-error@+1 {{has a 'slice' that is not [first row, rows of the stored tensor] of a vector, a matrix or the matrices of a stack, or these and [rows of a group, rows between the starts of groups]}}
mllm.tensor.register @w : tensor<2x6x4x1xf32> {source = "w", slice = array<i64: 0, 6>}

// -----

// RULE: tensor.register.c6 (beyond the end of the matrices of a stack)
// expected-error@+1 {{has the 'slice' [6, 10], which does not contain its 6 rows}}
mllm.tensor.register @w : tensor<2x6x4xf32> {source = "w", slice = array<i64: 6, 10>}

// -----

// RULE: tensor.register.c6 (beyond the end)
// expected-error@+1 {{has the 'slice' [13, 18], which does not contain its 6 rows}}
mllm.tensor.register @w : tensor<6x4xf32> {source = "w", slice = array<i64: 13, 18>}

// -----

// RULE: tensor.register.c6 (before the beginning)
// expected-error@+1 {{has the 'slice' [-1, 18], which does not contain its 6 rows}}
mllm.tensor.register @w : tensor<6xf32> {source = "w", slice = array<i64: -1, 18>}

// -----

// RULE: tensor.register.c6 (groups that overlap)
// expected-error@+1 {{has the 'slice' of groups of 3 in every 2 rows, which do not make up its 6 rows}}
mllm.tensor.register @w : tensor<6x4xf32> {source = "w", slice = array<i64: 0, 18, 3, 2>}

// -----

// RULE: tensor.register.c6 (part of a group)
// expected-error@+1 {{has the 'slice' of groups of 4 in every 8 rows, which do not make up its 6 rows}}
mllm.tensor.register @w : tensor<6x4xf32> {source = "w", slice = array<i64: 0, 18, 4, 8>}

// -----

// RULE: tensor.register.c6 (groups beyond the end)
// expected-error@+1 {{has the 'slice' [4, 18], which does not contain its 6 rows}}
mllm.tensor.register @w : tensor<6x4xf32> {source = "w", slice = array<i64: 4, 18, 2, 7>}

// -----

// RULE: tensor.register.c7 (a vector)
// expected-error@+1 {{is 'transposed', which is only valid for a matrix or a stack of matrices}}
mllm.tensor.register @w : tensor<6xf32> {source = "w", transposed}

// -----

// RULE: tensor.register.c8 (groups)
// expected-error@+1 {{has 'slices_columns', which is only valid for a transposed stack with a 'slice' of consecutive columns}}
mllm.tensor.register @w : tensor<2x6x4xf32> {source = "w", slice = array<i64: 0, 8, 2, 4>, slices_columns, transposed}

// -----

// RULE: tensor.register.c8 (rows)
// expected-error@+1 {{has 'slices_columns', which is only valid for a transposed stack with a 'slice' of consecutive columns}}
mllm.tensor.register @w : tensor<2x6x4xf32> {source = "w", slice = array<i64: 0, 8>, slices_columns}

// -----

// RULE: tensor.register.c6 (columns of a stack that are rows of the stored one)
// expected-error@+1 {{has the 'slice' [3, 6], which does not contain its 4 rows}}
mllm.tensor.register @w : tensor<2x8x4xf32> {source = "w", slice = array<i64: 3, 6>, slices_columns, transposed}

// -----

// mllm.model on another op
// expected-error@+1 {{has 'mllm.model', which is only valid on a builtin module}}
func.func private @f() attributes {mllm.model = {}}

// -----

// mllm.model is not a dictionary
// expected-error@+1 {{'mllm.model' is not a dictionary}}
module attributes {mllm.model = 1 : i64} {}

// -----

// mllm.model without architecture
// expected-error@+1 {{'mllm.model' needs a string 'architecture'}}
module attributes {mllm.model = {architecture = ""}} {}

// -----

// mllm.model without one of its properties
// expected-error@+1 {{'mllm.model' needs an i64 'num_layers'}}
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i32}} {}

// -----

// mllm.model with a number that is too small
// expected-error@+1 {{'mllm.model' has 'num_layers' 0, expected at least 1}}
module attributes {mllm.model = {architecture = "llama", num_layers = 0 : i64}} {}

// -----

// mllm.model with values that are longer than the keys that contain them
// expected-error@+1 {{'mllm.model' has 'values_in_keys' 17 : i64, expected an i64 from 1 to 'head_dim' 16}}
module attributes {mllm.model = {
    architecture = "deepseek2", num_layers = 1 : i64, num_heads = 4 : i64,
    num_kv_heads = 1 : i64, head_dim = 16 : i64, hidden_size = 64 : i64,
    intermediate_size = 160 : i64, vocab_size = 259 : i64,
    context_length = 512 : i64, values_in_keys = 17 : i64}} {}

// -----

// mllm.model with heads that cannot be grouped
// expected-error@+1 {{'mllm.model' has 'num_heads' 4, expected a multiple of 'num_kv_heads' 3}}
module attributes {mllm.model = {
    architecture = "llama", num_layers = 1 : i64, num_heads = 4 : i64,
    num_kv_heads = 3 : i64, head_dim = 16 : i64, hidden_size = 64 : i64,
    intermediate_size = 160 : i64, vocab_size = 259 : i64,
    context_length = 512 : i64}} {}
