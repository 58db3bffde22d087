# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The semantics of the ops of the `mllm` dialect, in NumPy and float64, implemented
independently of LLMIR's C++ code. Used by ../mllm_oracle.py."""
