// RUN: llmir-opt %s --convert-llm-to-linalg=weights=both --verify-diagnostics

// expected-error @+1 {{convert-llm-to-linalg: weights is refuse or arguments, not 'both'}}
module {
}
