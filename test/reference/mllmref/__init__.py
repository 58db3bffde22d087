# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ops of the `mllm` dialect compute, in NumPy and float64, written from
their formulas and not from LLMIR's C++. Used by ../mllm_oracle.py."""
