// RUN: llmir-opt %s --vectorize-row-tiles --split-input-file --verify-diagnostics | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A linalg op on a row tile becomes loads, vector arithmetic and a store; the
// exponential becomes a polynomial, so that no call of a library remains.

// CHECK-LABEL: func.func @exp_of_sum
// CHECK-SAME: (%[[X:.*]]: memref<16xf32>, %[[Y:.*]]: memref<16xf32>)
// CHECK-NOT: linalg
// CHECK-NOT: math.exp
// CHECK: vector.load %[[X]]{{.*}} : memref<16xf32>, vector<16xf32>
// CHECK: arith.addf %{{.*}} : vector<16xf32>
// CHECK: math.fma %{{.*}} : vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[Y]]{{.*}} : memref<16xf32>, vector<16xf32>
// CHECK-NOT: math.exp
// CHECK: return
func.func @exp_of_sum(%x: memref<16xf32>, %y: memref<16xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<16xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A tile at the end of a row is shorter.
// CHECK-LABEL: func.func @short_tile
// CHECK: vector.load %{{.*}} : memref<7xf32, strided<[1], offset: ?>>, vector<7xf32>
// CHECK: arith.mulf %{{.*}} : vector<7xf32>
// CHECK: vector.store %{{.*}} : memref<7xf32, strided<[1], offset: ?>>, vector<7xf32>
func.func @short_tile(%x: memref<7xf32, strided<[1], offset: ?>>, %s: f32) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<7xf32, strided<[1], offset: ?>>) outs(%x : memref<7xf32, strided<[1], offset: ?>>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %s : f32
    linalg.yield %0 : f32
  }
  return
}

// Other ops of the math dialect have their own lowering and are preserved.
// CHECK-LABEL: func.func @others_stay
// CHECK: math.sqrt
func.func @others_stay(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  return %0 : f32
}

// -----

#id = affine_map<(d0) -> (d0)>

func.func @unknown_size(%x: memref<?xf32>) {
  // expected-error@+1 {{cannot be vectorized}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%x : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
