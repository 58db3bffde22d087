# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of the reference of the families of llmref/families.py, which selftest.py runs."""

import copy
import os
import re

import numpy as np

import make_experts
import make_families
import make_hybrid
import make_tiny
from llmref import Model, nmse


def changed(config, option, value):
    other = copy.copy(config)
    setattr(other, option, value)
    return other


def check_dense_families(_):
    """Chunks give the logits of the whole prompt; every tensor and every option has a clear effect."""
    options = ("window", "full_every", "local_theta", "rotary_dim", "attention_scale", "attention_softcap",
               "final_softcap", "embedding_scale", "residual_scale", "logit_scale", "query_growth", "rope_theta",
               "routed_scale", "swiglu_limit", "chunk", "floor_scale")
    for family in list(make_families.FAMILIES) + list(make_experts.FAMILIES) + list(make_hybrid.FAMILIES):
        config, weights = make_tiny.make(family, 3)
        model, ids = Model(config, weights), [int(i) for i in np.random.RandomState(7).randint(0, config.vocab, 40)]
        exact = model.forward(ids)
        assert 1 < exact.std() < 3, family

        def error(other_config, other_weights):
            return nmse(Model(other_config, other_weights).forward(ids), exact)

        cache = model.new_cache()
        parts = [model.forward(ids[i:i + 7], cache=cache) for i in range(0, len(ids), 7)]
        assert nmse(np.concatenate(parts), exact) < 1e-25, family
        random = np.random.RandomState(0)
        # Of the tensors that differ in numbers (of layers, experts) only, the last one, unless tests may take long.
        last = {re.sub(r"\d+", "*", name): name for name in weights}
        chosen = set(weights if os.environ.get("LLMIR_LONG_TESTS") else last.values())
        for name, values in weights.items():
            noise = random.standard_normal(values.shape)
            if name not in chosen:
                continue
            moved = values + 0.02 * (noise if values.size > 1 else np.sign(noise))
            # The norm after the last layer all but cancels its factor.
            least = 1e-14 if name == "model.layers.%d.layer_scalar" % (config.layers - 1) else 1e-7
            assert error(config, dict(weights, **{name: moved})) > least, (family, name)
        for option in options:
            value = getattr(config, option)
            if option == "rotary_dim" and (config.rope_scaling or config.kv_rank):  # with sizes that depend on it
                continue
            if option == "rope_theta" and not config.rotates:
                continue
            if option == "full_every" and config.full_head_dim:  # with sizes that depend on it
                continue
            if value and value != 1.0:
                more = {"rotary_dim": -2, "window": 1, "full_every": 1}.get(option, value / 2)
                other = value + more
                assert error(changed(config, option, other), weights) > 3e-8, (family, option)
        sources = [name for tensor, values in make_experts.stacked(weights).items()
                   for name, _ in make_families.gguf_tensors(config, tensor, values)]
        assert len(set(sources)) == len(sources), family
