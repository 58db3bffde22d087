# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The classes of the families that a class describes, by the model_type of config.json."""

from . import gemma4, hybrid, latent

CLASSES = dict(latent.CLASSES, gemma4_text=gemma4.Gemma4, **hybrid.FAMILIES)
