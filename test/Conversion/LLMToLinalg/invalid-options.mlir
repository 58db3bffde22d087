// RUN: not llmir-opt %s --convert-llm-to-linalg=weights=both 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: not llmir-opt %s --convert-llm-to-linalg=cache=both 2>&1 | FileCheck %s --check-prefix=CACHE

// WEIGHTS: error: convert-llm-to-linalg: weights is refuse or arguments, not 'both'
// CACHE: error: convert-llm-to-linalg: cache is refuse or runtime, not 'both'
module {
}
