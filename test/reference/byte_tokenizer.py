# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A tokenizer.json with one token per byte, for tests of the other stages of tokenization.

Decoding the tokens of a text yields the normalized text.
"""

import json


def alphabet():
    """The character that represents each byte in byte-level vocabularies."""
    shown = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    characters = {byte: chr(byte) for byte in shown}
    characters.update((byte, chr(0x100 + i)) for i, byte in enumerate(hidden))
    return [characters[byte] for byte in range(256)]


def write_byte_tokenizer(path, normalizer=None, decoder=None):
    """Token `b` is the byte `b`. `normalizer` and `decoder` are stages or lists of stages."""
    def sequence(stages, key):
        return {"type": "Sequence", key: stages} if isinstance(stages, list) else stages
    data = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": sequence(normalizer, "normalizers"),
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
        "post_processor": None,
        "decoder": sequence(decoder, "decoders") or {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {text: byte for byte, text in enumerate(alphabet())}, "merges": []},
    }
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(data, stream)
