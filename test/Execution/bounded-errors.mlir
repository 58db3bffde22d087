// Errors in code for sizes that are known only at run time, one case per
// module.

// RUN: split-file %s %t
// RUN: not llmir-translate %t/beyond.mlir --execute 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: not llmir-translate %t/multiple.mlir --execute 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: not llmir-translate %t/unequal.mlir --execute 2>&1 | FileCheck %s --check-prefix=UNEQUAL
// RUN: not llmir-translate %t/follows.mlir --execute 2>&1 | FileCheck %s --check-prefix=FOLLOWS
// RUN: not llmir-translate %t/nameless.mlir --execute 2>&1 | FileCheck %s --check-prefix=NAMELESS
// RUN: not llmir-translate %t/endless.mlir --execute 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: not llmir-translate %t/alone.mlir --execute 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not llmir-translate %t/names.mlir --execute 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: not llmir-translate %t/number.mlir --execute 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not llmir-translate %t/columns.mlir --execute 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: not llmir-translate %t/keys.mlir --execute 2>&1 | FileCheck %s --check-prefix=KEYS
// RUN: not llmir-translate %t/moved.mlir --execute 2>&1 | FileCheck %s --check-prefix=MOVED
// RUN: not llmir-translate %t/rule.mlir --execute 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not llmir-translate %t/joined.mlir --execute 2>&1 | FileCheck %s --check-prefix=JOINED
// RUN: not llmir-translate %t/reduced.mlir --execute 2>&1 | FileCheck %s --check-prefix=REDUCED
// RUN: not llmir-translate %t/carried.mlir --execute 2>&1 | FileCheck %s --check-prefix=CARRIED
// RUN: not llmir-translate %t/ranks.mlir --execute 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not llmir-translate %t/computed.mlir --execute 2>&1 | FileCheck %s --check-prefix=COMPUTED
// RUN: not llmir-translate %t/negative.mlir --execute 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not llmir-translate %t/last.mlir --execute 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: not llmir-translate %t/first.mlir --execute 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not llmir-translate %t/forgets.mlir --execute 2>&1 | FileCheck %s --check-prefix=FORGETS

//--- beyond.mlir
// BEYOND: beyond.mlir:2:1: error: cannot be run: the size 'seq' is 41; the code is compiled for 1 to 40
func.func @f(%x: tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>> {check.shape = array<i64: 41, 4>})
    -> tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>> attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  return %x : tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>
}

//--- multiple.mlir
// MULTIPLE: error: cannot be run: the size 'seq' is 12; the code is compiled for 8 to 40 in multiples of 8
func.func @f(%x: tensor<?xf32, #mllm.tensor<dims = (seq)>> {check.shape = array<i64: 12>})
    -> tensor<?xf32, #mllm.tensor<dims = (seq)>> attributes {mllm.dims = {seq = #mllm.range<8, 40, multiple of 8>}} {
  return %x : tensor<?xf32, #mllm.tensor<dims = (seq)>>
}

//--- unequal.mlir
// UNEQUAL: error: cannot be run: argument 1 has 6 in dimension 0, but 'seq' is 5 in an earlier dimension
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>},
             %y: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 6>}) -> tensor<?xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  return %x : tensor<?xf32>
}

//--- follows.mlir
// FOLLOWS: error: cannot be run: argument 1 has 11 in dimension 0, where 2 * seq is 10
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>},
             %y: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (2 * seq)>, check.shape = array<i64: 11>}) -> tensor<?xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  return %x : tensor<?xf32>
}

//--- nameless.mlir
// NAMELESS: error: 'func.func' op cannot be compiled: argument 0 has a size without a name; name it, as in tensor<?x64xf32, #mllm.tensor<dims = (seq, 64)>>
func.func @f(%x: tensor<?xf32> {check.shape = array<i64: 5>}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

//--- endless.mlir
// ENDLESS: error: 'func.func' op cannot be compiled: its size 'seq' has no range; specify one, as in mllm.dims = {seq = #mllm.range<1, 4096>}
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

//--- alone.mlir
// ALONE: error: 'func.func' op cannot be compiled: no argument has 'seq' by itself as a size, so its value is not known
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (2 * seq)>, check.shape = array<i64: 6>}) -> tensor<?xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  return %x : tensor<?xf32>
}

//--- names.mlir
// NAMES: error: 'func.func' op cannot be compiled: argument 0 has the names of sizes 3 : i64: expected #mllm.tensor<dims = (…)> of a tensor
func.func @f(%x: tensor<?xf32> {mllm.sizes = 3, check.shape = array<i64: 6>}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

//--- number.mlir
// NUMBER: error: 'func.func' op cannot be compiled: argument 0 has the names of sizes #mllm.tensor<dims = (seq, 4)>
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq, 4)>, check.shape = array<i64: 6>}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

//--- columns.mlir
// A norm of rows whose length is known only at run time.
// COLUMNS: error: 'mllm.linalg.mean' op cannot be compiled for dynamic sizes: dimension 1 has the size seq, but must be static
mllm.graph.subgraph @f(%x: tensor<3x?xf32, #mllm.tensor<dims = (3, seq)>> {check.shape = array<i64: 3, 6>}) -> tensor<3xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %y = mllm.linalg.mean %x {dim = 1 : i64} : tensor<3x?xf32, #mllm.tensor<dims = (3, seq)>> -> tensor<3xf32>
  mllm.cf.return %y : tensor<3xf32>
}

//--- keys.mlir
// KEYS: error: 'llm.attention' op cannot be compiled for dynamic sizes: its seq queries attend to seq keys without a causal mask
func.func @f(%q: tensor<1x?x2x8xf32> {mllm.sizes = #mllm.tensor<dims = (1, seq, 2, 8)>, check.shape = array<i64: 1, 6, 2, 8>}) -> tensor<1x?x2x8xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %y = llm.attention %q, %q, %q : (tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  return %y : tensor<1x?x2x8xf32>
}

//--- moved.mlir
// MOVED: error: 'tensor.collapse_shape' op cannot be compiled for dynamic sizes: it reshapes [2, seq] to [2 * seq], which moves elements; keep dynamic sizes in separate dimensions
func.func @f(%x: tensor<2x?xf32> {mllm.sizes = #mllm.tensor<dims = (2, seq)>, check.shape = array<i64: 2, 6>}) -> tensor<?xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<2x?xf32> into tensor<?xf32>
  return %y : tensor<?xf32>
}

//--- rule.mlir
// RULE: error: 'mllm.linalg.argsort' op cannot be compiled for dynamic sizes: the op is not supported on padded tensors; specify static sizes
mllm.graph.subgraph @f(%x: tensor<?xf32, #mllm.tensor<dims = (seq)>> {check.shape = array<i64: 6>}) -> tensor<?xi32, #mllm.tensor<dims = (seq)>>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %y = mllm.linalg.argsort %x : tensor<?xf32, #mllm.tensor<dims = (seq)>> -> tensor<?xi32, #mllm.tensor<dims = (seq)>>
  mllm.cf.return %y : tensor<?xi32, #mllm.tensor<dims = (seq)>>
}

//--- joined.mlir
// JOINED: error: 'arith.addf' op cannot be compiled for dynamic sizes: it combines the sizes [seq] and [past], which may differ
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>},
             %y: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (past)>, check.shape = array<i64: 5>}) -> tensor<?xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>, past = #mllm.range<1, 40>}} {
  %z = arith.addf %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}

//--- reduced.mlir
// REDUCED: error: 'linalg.reduce' op cannot be compiled for dynamic sizes: it reduces a dimension of size seq with an unsupported operation; use linalg.reduce with a sum, a maximum or a minimum
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>}, %i: tensor<f32>) -> tensor<f32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %y = linalg.reduce ins(%x : tensor<?xf32>) outs(%i : tensor<f32>) dimensions = [0]
    (%a: f32, %acc: f32) {
      %q = math.exp %a : f32
      %s = arith.addf %acc, %q : f32
      linalg.yield %s : f32
    }
  return %y : tensor<f32>
}

//--- carried.mlir
// CARRIED: error: 'scf.for' op cannot be compiled for dynamic sizes: a loop-carried tensor has the sizes [seq] before an iteration and [2 * seq] after it
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>}) -> tensor<?xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    %b = tensor.concat dim(0) %a, %a : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

//--- ranks.mlir
// RANKS: error: 'func.func' op cannot be compiled: it has dynamic sizes and several ranks; specify static sizes
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>}) -> tensor<?xf32>
    attributes {llm.num_ranks = 2 : i64, mllm.dims = {seq = #mllm.range<1, 40>}} {
  return %x : tensor<?xf32>
}

//--- computed.mlir
// COMPUTED: error: 'tensor.empty' op cannot be compiled for dynamic sizes: it has a size that is not a function of the sizes of the arguments
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>}, %n: index {check.values = 3 : index}) -> tensor<?xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %e = tensor.empty(%n) : tensor<?xf32>
  return %e : tensor<?xf32>
}

//--- negative.mlir
// NEGATIVE: error: 'tensor.empty' op cannot be compiled for dynamic sizes: its result has the size seq - 3, which may be -2
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>}) -> tensor<?xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.subi %n, %c3 : index
  %e = tensor.empty(%m) : tensor<?xf32>
  return %e : tensor<?xf32>
}

//--- last.mlir
// LAST: error: 'mllm.linalg.slice' op cannot be compiled for dynamic sizes: its slice from index -3 may exceed dimension 0, whose size may be 1
mllm.graph.subgraph @f(%x: tensor<?x2xf32, #mllm.tensor<dims = (seq, 2)>> {check.shape = array<i64: 2, 2>}) -> tensor<3x2xf32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %y = mllm.linalg.slice %x[-3:, :] : tensor<?x2xf32, #mllm.tensor<dims = (seq, 2)>> -> tensor<3x2xf32>
  mllm.cf.return %y : tensor<3x2xf32>
}

//--- first.mlir
// FIRST: error: 'mllm.linalg.slice' op cannot be compiled for dynamic sizes: its slice from index 0 may exceed dimension 0, whose size may be 2
mllm.graph.subgraph @f(%x: tensor<?x2xf32, #mllm.tensor<dims = (seq, 2)>> {check.shape = array<i64: 2, 2>}) -> tensor<3x2xf32>
    attributes {mllm.dims = {seq = #mllm.range<2, 40>}} {
  %y = mllm.linalg.slice %x[:3, :] : tensor<?x2xf32, #mllm.tensor<dims = (seq, 2)>> -> tensor<3x2xf32>
  mllm.cf.return %y : tensor<3x2xf32>
}

//--- forgets.mlir
// Twice the last element is not a sum.
// FORGETS: error: 'linalg.reduce' op cannot be compiled for dynamic sizes: it reduces a dimension of size seq with an unsupported operation
func.func @f(%x: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>}, %i: tensor<f32>) -> tensor<f32>
    attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %y = linalg.reduce ins(%x : tensor<?xf32>) outs(%i : tensor<f32>) dimensions = [0]
    (%a: f32, %acc: f32) {
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    }
  return %y : tensor<f32>
}
