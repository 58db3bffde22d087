# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Divergence of the demo model from its float64 reference in the formats that compare.py measures.

The output of a random model is meaningless, so accuracy is that of the demo model, compiled by the
same build with the same flags as the measured model.
"""
import argparse
import hashlib
import os

import accuracy


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for piece in iter(lambda: stream.read(1 << 22), b""):
            digest.update(piece)
    return digest.hexdigest()


class DemoAccuracy:
    """The demo model's held-out text and reference, created on demand."""

    def __init__(self, program, work, tokens):
        self.options = argparse.Namespace(llmir=program, work=os.path.join(work, "accuracy"),
                                          tokens=tokens, llama_cpp=None)
        self.measurement = None

    def row(self, llmir, file_type, quantize, kv, libraries):
        """The figures of the demo model as a file of this type, compiled by `llmir`
        (peers.Llmir); also llama.cpp's if `libraries` gives its directory."""
        if self.measurement is None:
            os.makedirs(self.options.work, exist_ok=True)
            self.measurement = accuracy.Measurement(self.options)
        self.options.llama_cpp = libraries
        # The default for a model file without an explicit cache type.
        case = accuracy.Case(None if quantize else file_type, quantize, kv or "bf16")
        artifact = os.path.join(self.options.work, "demo.llmir")
        llmir.compile(self.measurement.source(case)[0], artifact, quantize, kv)
        figures, _ = self.measurement.from_base(case, *self.measurement.start(case, artifact)())
        del figures["artifact_checksum"]
        return dict(figures, artifact=sha256_of(artifact))
