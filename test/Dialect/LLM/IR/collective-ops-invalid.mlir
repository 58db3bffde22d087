// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// A negative test for each constraint of the ops that share work among ranks;
// the labels are those of LLMCollectiveOps.td.

// RULE: shard.c1
func.func @test(%w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.shard' op dim 2 is not a dimension of a tensor of rank 2}}
  %0 = llm.shard %w {dim = 2, num_shards = 4} : (tensor<64x172xf32>) -> tensor<64x43xf32>
  return
}

// -----

// RULE: shard.c1
func.func @test(%w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.shard' op dim -1 is not a dimension of a tensor of rank 2}}
  %0 = llm.shard %w {dim = -1, num_shards = 4} : (tensor<64x172xf32>) -> tensor<64x43xf32>
  return
}

// -----

// RULE: shard.c2
func.func @test(%w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.shard' op num_shards must be positive, not 0}}
  %0 = llm.shard %w {dim = 1, num_shards = 0} : (tensor<64x172xf32>) -> tensor<64x43xf32>
  return
}

// -----

// RULE: shard.c2
func.func @test(%w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.shard' op num_shards 3 does not divide dimension 1 of size 172}}
  %0 = llm.shard %w {dim = 1, num_shards = 3} : (tensor<64x172xf32>) -> tensor<64x43xf32>
  return
}

// -----

// RULE: shard.c3
func.func @test(%w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.shard' op shard_index 4 is not between 0 and 3}}
  %0 = llm.shard %w {dim = 1, num_shards = 4, shard_index = 4} : (tensor<64x172xf32>) -> tensor<64x43xf32>
  return
}

// -----

// RULE: shard.c3
func.func @test(%w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.shard' op shard_index -1 is not between 0 and 3}}
  %0 = llm.shard %w {dim = 1, num_shards = 4, shard_index = -1} : (tensor<64x172xf32>) -> tensor<64x43xf32>
  return
}

// -----

// RULE: shard.c4
func.func @test(%w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.shard' op must yield 'tensor<64x43xf32>', not 'tensor<64x86xf32>'}}
  %0 = llm.shard %w {dim = 1, num_shards = 4} : (tensor<64x172xf32>) -> tensor<64x86xf32>
  return
}

// -----

// RULE: shard.c4
func.func @test(%w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.shard' op must yield '!llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>', not '!llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 1>'}}
  %0 = llm.shard %w {dim = 1, num_shards = 4, shard_index = 2} : (tensor<64x172xf32>) -> !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 1>
  return
}

// -----

// RULE: shard.c4
func.func @test(%w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.shard' op yields a sharded tensor only for a static size and with a shard_index}}
  %0 = llm.shard %w {dim = 1, num_shards = 4} : (tensor<64x172xf32>) -> !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 0>
  return
}

// -----

// RULE: sharded_linear.c1
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op shard_dim must be 0 (inputs) or 1 (outputs), not 2}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 2, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c2
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op num_shards must be positive, not 0}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 0, shard_id = 0} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c3
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op shard_id 4 is not between 0 and 3}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 4} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c3
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op shard_id -1 is not between 0 and 3}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = -1} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c4
func.func @test(%x: tensor<?x64xf32>, %w: !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>) {
  // expected-error@+1 {{'llm.sharded_linear' op shard_dim is 0, but the weight has 1}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 0, num_shards = 4, shard_id = 2} : (tensor<?x64xf32>, !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: sharded_linear.c4
func.func @test(%x: tensor<?x64xf32>, %w: !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>) {
  // expected-error@+1 {{'llm.sharded_linear' op num_shards is 2, but the weight has 4}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 2, shard_id = 1} : (tensor<?x64xf32>, !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c4
func.func @test(%x: tensor<?x64xf32>, %w: !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>) {
  // expected-error@+1 {{'llm.sharded_linear' op shard_id is 0, but the weight has 2}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c4
func.func @test(%x: tensor<?x64xf32>, %w: !llm.sharded_tensor<tensor<64xf32>, 0, 4, 0>) {
  // expected-error@+1 {{'llm.sharded_linear' op has a sharded weight of rank 1, not 2}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, !llm.sharded_tensor<tensor<64xf32>, 0, 4, 0>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c4
func.func @test(%x: tensor<?x64xf32>, %w: !llm.sharded_tensor<tensor<64x172xi32>, 1, 4, 0>) {
  // expected-error@+1 {{'llm.sharded_linear' op has a sharded weight of 'i32', not of f16, bf16 or f32}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, !llm.sharded_tensor<tensor<64x172xi32>, 1, 4, 0>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c5
func.func @test(%x: tensor<?x64xf32>, %w: tensor<32x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has rows of 64 elements, but multiplies them by 32}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<32x172xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c5, row parallel
func.func @test(%x: tensor<?x64xf32>, %w: tensor<32x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has rows of 64 elements, but slices them for 4 shards of 8; use 'x_is_shard' if they are already the slice}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 0, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<32x172xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: sharded_linear.c6
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op must yield shape [?, 43], not [?, 86]}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x86xf32>
  return
}

// -----

// RULE: sharded_linear.c6
func.func @test(%x: tensor<3x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op must yield shape [3, 43], not [4, 43]}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<3x64xf32>, tensor<64x172xf32>) -> tensor<4x43xf32>
  return
}

// -----

// RULE: sharded_linear.c6, row parallel
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op must yield shape [?, 172], not [?, 43]}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 0, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c6
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op must yield a tensor of the rank and element type of 'tensor<?x64xf32>', not 'tensor<?x43xf16>'}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x43xf16>
  return
}

// -----

// RULE: sharded_linear.c7
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>, %b: tensor<64xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has a bias of 64 elements, but results of 43}}
  %0 = llm.sharded_linear %x, %w, %b {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<64x172xf32>, tensor<64xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c7, row parallel
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>, %b: tensor<43xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has a bias of 43 elements, but results of 172}}
  %0 = llm.sharded_linear %x, %w, %b {shard_dim = 0, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<64x172xf32>, tensor<43xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: sharded_linear.c8
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op cannot slice a weight of 172 outputs into 3 shards}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 3, shard_id = 0} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x57xf32>
  return
}

// -----

// RULE: sharded_linear.c8, row parallel
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op cannot slice a weight of 64 inputs into 3 shards}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 0, num_shards = 3, shard_id = 0} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: sharded_linear.c5, a slice of x with the entire weight
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has rows of 64 elements, but multiplies them by 16}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 0, num_shards = 4, shard_id = 0, x_is_shard} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: sharded_linear.c6, a matrix counts as whole
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x44xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op must yield shape [?, 11], not [?, 44]; use 'weight_is_shard' if the weight is already the slice}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<64x44xf32>) -> tensor<?x44xf32>
  return
}

// -----

// RULE: sharded_linear.c7, an entire bias with a shard
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>, %b: tensor<172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has a bias of 172 elements, but results of 43}}
  %0 = llm.sharded_linear %x, %w, %b {shard_dim = 1, num_shards = 4, shard_id = 0, bias_is_shard} : (tensor<?x64xf32>, tensor<64x172xf32>, tensor<172xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c7, a vector counts as whole
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x176xf32>, %b: tensor<44xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has a bias of 44 elements, but results of 44; use 'bias_is_shard' if it is already the slice}}
  %0 = llm.sharded_linear %x, %w, %b {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<64x176xf32>, tensor<44xf32>) -> tensor<?x44xf32>
  return
}

// -----

// RULE: sharded_linear.c8, the rows
func.func @test(%x: tensor<?x62xf32>, %w: tensor<16x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has rows of 62 elements, but slices them for 4 shards of 16}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 0, num_shards = 4, shard_id = 0, weight_is_shard} : (tensor<?x62xf32>, tensor<16x172xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: sharded_linear.c8, the bias
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>, %b: tensor<171xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op cannot slice a bias of 171 elements into 4 shards}}
  %0 = llm.sharded_linear %x, %w, %b {shard_dim = 1, num_shards = 4, shard_id = 0} : (tensor<?x64xf32>, tensor<64x172xf32>, tensor<171xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c9
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has 'x_is_shard', but the column form takes whole rows}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0, x_is_shard} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: sharded_linear.c9, row parallel
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>, %b: tensor<172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has 'bias_is_shard', but the row form takes the whole bias}}
  %0 = llm.sharded_linear %x, %w, %b {shard_dim = 0, num_shards = 4, shard_id = 0, bias_is_shard} : (tensor<?x64xf32>, tensor<64x172xf32>, tensor<172xf32>) -> tensor<?x172xf32>
  return
}

// -----

// RULE: sharded_linear.c9, without a bias
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64x172xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op has 'bias_is_shard', but no bias}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 1, num_shards = 4, shard_id = 0, bias_is_shard} : (tensor<?x64xf32>, tensor<64x172xf32>) -> tensor<?x43xf32>
  return
}

// -----

// RULE: all_gather.c1
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+2 {{'llm.all_gather' op dim 2 is not a dimension of a tensor of rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.all_gather %x {dim = 2, group_size = 4} : (tensor<?x64xf32>) -> tensor<?x256xf32>
  return
}

// -----

// RULE: all_gather.c1
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+2 {{'llm.all_gather' op dim -1 is not a dimension of a tensor of rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.all_gather %x {dim = -1, group_size = 4} : (tensor<?x64xf32>) -> tensor<?x256xf32>
  return
}

// -----

// RULE: all_gather.c2
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+1 {{'llm.all_gather' op group_size must be positive, not 0}}
  %0 = llm.all_gather %x {dim = 0, group_size = 0} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// RULE: sharded_linear.c5, a slice of the shard
func.func @test(%x: tensor<3x4xf32>, %w: !llm.sharded_tensor<tensor<64x8xf32>, 0, 4, 0>) {
  // expected-error@+1 {{'llm.sharded_linear' op has rows of 4 elements, but slices them for 4 shards of 16}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 0, num_shards = 4, shard_id = 0} : (tensor<3x4xf32>, !llm.sharded_tensor<tensor<64x8xf32>, 0, 4, 0>) -> tensor<3x8xf32>
  return
}

// -----

// RULE: all_gather.c3
func.func @test(%x: tensor<4x64xf32>) {
  // expected-error@+2 {{'llm.all_gather' op concatenates 4611686018427387904 values of size 64, which overflows 63 bits}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.all_gather %x {dim = 1, group_size = 4611686018427387904} : (tensor<4x64xf32>) -> tensor<4x0xf32>
  return
}

// -----

// RULE: sharded_linear.c8, as many shards as overflow
func.func @test(%x: tensor<3x64xf32>, %w: tensor<4x8xf32>) {
  // expected-error@+1 {{'llm.sharded_linear' op cannot slice a weight of 4 inputs into 4611686018427387920 shards}}
  %0 = llm.sharded_linear %x, %w {shard_dim = 0, num_shards = 4611686018427387920, shard_id = 0} : (tensor<3x64xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

// RULE: all_reduce.c1
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+1 {{'llm.all_reduce' op reduce_op must be sum, mean, max or min, not prod}}
  %0 = llm.all_reduce %x {group_size = 4, reduce_op = "prod"} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// RULE: all_reduce.c2
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+1 {{'llm.all_reduce' op group_size must be positive, not -4}}
  %0 = llm.all_reduce %x {group_size = -4} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// RULE: reduce_scatter.c1
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+2 {{'llm.reduce_scatter' op dim 2 is not a dimension of a tensor of rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.reduce_scatter %x {dim = 2, group_size = 4} : (tensor<?x64xf32>) -> tensor<?x16xf32>
  return
}

// -----

// RULE: reduce_scatter.c2
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+1 {{'llm.reduce_scatter' op group_size must be positive, not 0}}
  %0 = llm.reduce_scatter %x {dim = 1, group_size = 0} : (tensor<?x64xf32>) -> tensor<?x16xf32>
  return
}

// -----

// RULE: reduce_scatter.c3
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+2 {{'llm.reduce_scatter' op group_size 3 does not divide dimension 1 of size 64}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = llm.reduce_scatter %x {dim = 1, group_size = 3} : (tensor<?x64xf32>) -> tensor<?x16xf32>
  return
}

// -----

// RULE: reduce_scatter.c4
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+1 {{'llm.reduce_scatter' op reduce_op must be sum, mean, max or min, not avg}}
  %0 = llm.reduce_scatter %x {dim = 1, group_size = 4, reduce_op = "avg"} : (tensor<?x64xf32>) -> tensor<?x16xf32>
  return
}

// -----

// all_gather: the result that follows from the operand
func.func @test(%x: tensor<?x64xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'llm.all_gather' op inferred type(s) 'tensor<?x256xf32>' are incompatible with return type(s) of operation 'tensor<?x128xf32>'}}
  %0 = llm.all_gather %x {dim = 1, group_size = 4} : (tensor<?x64xf32>) -> tensor<?x128xf32>
  return
}

// -----

// RULE: all_gather.c2, in a function of ranks
func.func @test(%x: tensor<?x64xf32>) attributes {llm.num_ranks = 4 : i64} {
  // expected-error@+1 {{'llm.all_gather' op group_size 3 does not divide the function's 4 ranks}}
  %0 = llm.all_gather %x {dim = 0, group_size = 3} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// RULE: all_reduce.c2, in a function of ranks
func.func @test(%x: tensor<?x64xf32>) attributes {llm.num_ranks = 4 : i64} {
  // expected-error@+1 {{'llm.all_reduce' op group_size 8 does not divide the function's 4 ranks}}
  %0 = llm.all_reduce %x {group_size = 8} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// RULE: reduce_scatter.c2, in a function of ranks
func.func @test(%x: tensor<?x64xf32>) attributes {llm.num_ranks = 4 : i64} {
  // expected-error@+1 {{'llm.reduce_scatter' op group_size 3 does not divide the function's 4 ranks}}
  %0 = llm.reduce_scatter %x {dim = 0, group_size = 3} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}
