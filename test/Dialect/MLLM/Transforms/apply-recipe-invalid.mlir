// RUN: not llmir-opt %s --mllm-apply-recipe 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not llmir-opt %s --mllm-apply-recipe=recipe=mlp 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: not llmir-opt %s --mllm-apply-recipe=recipe=*=int9 2>&1 | FileCheck %s --check-prefix=SCHEME
// RUN: not llmir-opt %s --mllm-apply-recipe=recipe=*=int4:g0 2>&1 | FileCheck %s --check-prefix=SCHEME
// RUN: not llmir-opt %s --mllm-apply-recipe=recipe=*=int4:g8:tensor 2>&1 | FileCheck %s --check-prefix=SCHEME
// EMPTY: the recipe is empty; want PATTERN=SCHEME with commas between
// LINE: cannot read 'mlp' in the recipe; want PATTERN=SCHEME
// SCHEME: as a scheme; want none, or int2 to int8
module {
}
