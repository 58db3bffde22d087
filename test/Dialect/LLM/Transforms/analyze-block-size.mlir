// RUN: llmir-opt %s --llm-analyze-block-size --split-input-file --verify-diagnostics
// RUN: llmir-opt %s --llm-analyze-block-size='candidates=64 stream-start-bytes=0 typical-length=1' --split-input-file 2>&1 | FileCheck %s
// RUN: not llmir-opt %s --llm-analyze-block-size='candidates=24' --split-input-file 2>&1 | FileCheck %s --check-prefix=CANDIDATE
// RUN: not llmir-opt %s --llm-analyze-block-size='typical-length=-1' --split-input-file 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: not llmir-opt %s --llm-analyze-block-size='stream-start-bytes=-1' --split-input-file 2>&1 | FileCheck %s --check-prefix=STREAM

// CANDIDATE: block size 24 among the candidates is not a power of two
// LENGTH: typical-length must be at least 0, not -1
// STREAM: stream-start-bytes must be at least 0, not -1

// With one token in a sequence, half a block in vain is nearly all of it, and
// finding a block costs nothing: 31.5 / 32.5.
// CHECK: cache '!llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>', sequences up to 2048 tokens, which share no prefix blocks: block size 64 has the lowest cost
// CHECK: note: block size 64 costs 96.92 %: 0.00 % of read bandwidth lost at block borders, 96.92 % of memory unused
// CHECK: which share prefix blocks: block size 64 has the lowest cost
// CHECK: note: block size 64 costs 98.44 %: 0.00 % of read bandwidth lost at block borders, 98.44 % of memory unused

!cache = !llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>

// Tables of 128 blocks hold 2048 tokens, so n is 1024. A head of a block of 16
// has 16 · (64 + 64) · 2 bytes = 4096: 256 / 4096 is lost at borders; 7.5 of
// 1031.5 tokens are in vain.
// SPEC: 122 145 158
// expected-remark@+1 {{cache '!llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>', sequences up to 2048 tokens, which share no prefix blocks: block size 64 has the lowest cost}}
func.func @tables(%q: tensor<2x16x64xf16>, %c: !cache, %t: tensor<2x128xi32>, %n: tensor<2xi32>, %s: tensor<3xi32>, %l: index) -> tensor<2x16x64xf16> {
  // expected-note@-1 {{block size 16 costs 6.98 %: 6.25 % of read bandwidth lost at block borders, 0.73 % of memory unused}}
  // expected-note@-2 {{block size 32 costs 4.62 %: 3.12 % of read bandwidth lost at block borders, 1.49 % of memory unused}}
  // expected-note@-3 {{block size 64 costs 4.55 %: 1.56 % of read bandwidth lost at block borders, 2.98 % of memory unused}}
  // expected-note@-4 {{block size 128 costs 6.62 %}}
  // expected-note@-5 {{block size 256 costs 11.46 %}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%s) layer(%l) : (tensor<2x16x64xf16>, !cache, tensor<2x128xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<2x16x64xf16>
  return %0 : tensor<2x16x64xf16>
}

// -----

!cache = !llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>

// Rows that name sequences say nothing of their lengths, however wide they are.
// expected-remark@+1 {{sequences up to 4096 tokens, which share no prefix blocks: block size 64 has the lowest cost}}
func.func @rows(%q: tensor<2x1x16x64xf16>, %c: !cache, %t: tensor<2x128xi32>, %n: tensor<2xi32>) -> tensor<2x1x16x64xf16> {
  // expected-note@-1 {{block size 16 costs 6.61 %}}
  // expected-note@-2 {{block size 32 costs 3.88 %}}
  // expected-note@-3 {{block size 64 costs 3.08 %}}
  // expected-note@-4 {{block size 128 costs 3.79 %}}
  // expected-note@-5 {{block size 256 costs 6.25 %}}
  %0 = llm.paged_attention %q, %c, %t, %n : (tensor<2x1x16x64xf16>, !cache, tensor<2x128xi32>, tensor<2xi32>) -> tensor<2x1x16x64xf16>
  return %0 : tensor<2x1x16x64xf16>
}

// -----

!cache = !llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>

// A fork shares prefixes: twice as much is in vain.
// expected-remark@+1 {{sequences up to 4096 tokens, which share prefix blocks: block size 64 has the lowest cost}}
func.func @forks(%c: !cache, %a: tensor<2xi32>, %b: tensor<2xi32>) -> !cache {
  // expected-note@-1 {{block size 16 costs 6.98 %: 6.25 % of read bandwidth lost at block borders, 0.73 % of memory unused}}
  // expected-note@-2 {{block size 32 costs 4.62 %: 3.12 % of read bandwidth lost at block borders, 1.49 % of memory unused}}
  // expected-note@-3 {{block size 64 costs 4.55 %: 1.56 % of read bandwidth lost at block borders, 2.98 % of memory unused}}
  // expected-note@-4 {{block size 128 costs 6.62 %: 0.78 % of read bandwidth lost at block borders, 5.84 % of memory unused}}
  // expected-note@-5 {{block size 256 costs 11.46 %: 0.39 % of read bandwidth lost at block borders, 11.07 % of memory unused}}
  %0 = llm.fork_kv %c, %a, %b : (!cache, tensor<2xi32>, tensor<2xi32>) -> !cache
  return %0 : !cache
}
