# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading and writing GGUF v3 (little-endian): header, typed keys, tensor table, aligned data.

The file lists the fastest dimension first; this API, like the other containers, the slowest.
"""

import struct
from collections import namedtuple

from .formats import Tensor, byte_size

MAGIC = b"GGUF"
VERSION = 3
DEFAULT_ALIGNMENT = 32

_SCALARS = {"u8": (0, "<B"), "i8": (1, "<b"), "u16": (2, "<H"), "i16": (3, "<h"),
            "u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?"),
            "u64": (10, "<Q"), "i64": (11, "<q"), "f64": (12, "<d")}
_STRING, _ARRAY = 8, 9
_SCALAR_BY_ID = {number: name for name, (number, _) in _SCALARS.items()}
TENSOR_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8,
                "q2_k": 10, "q3_k": 11, "q4_k": 12, "q5_k": 13, "q6_k": 14, "iq2_xxs": 16,
                "iq2_xs": 17, "iq3_xxs": 18, "iq1_s": 19, "iq4_nl": 20, "iq3_s": 21, "iq2_s": 22,
                "iq4_xs": 23, "f64": 28, "iq1_m": 29, "bf16": 30, "tq1_0": 34, "tq2_0": 35,
                "mxfp4": 39}
_FORMAT_BY_ID = {number: fmt for fmt, number in TENSOR_TYPES.items()}

# keys: {key: (type, value)}, type one of _SCALARS, "string", or "[]" + one of these for an array.
GGUF = namedtuple("GGUF", "keys tensors")


def get(gguf, key, default=None):
    """The value of a key without its type."""
    return gguf.keys[key][1] if key in gguf.keys else default


def write_gguf(path, keys, tensors):
    """{key: (type, value)} and {name: Tensor} -> a GGUF v3 file."""
    write_gguf_parts(path, keys, tensors, lambda name: [tensors[name].data])


def write_gguf_parts(path, keys, tensors, parts):
    """As write_gguf, but without all tensors in memory at once: only format and shape of {name: tensor}
    are used, and parts(name) yields the bytes of a tensor in chunks.

    Data starts at general.alignment (32 unless a key says otherwise), as does each tensor."""
    alignment = keys.get("general.alignment", ("u32", DEFAULT_ALIGNMENT))[1]
    head = [MAGIC, struct.pack("<IQQ", VERSION, len(tensors), len(keys))]
    for key, (kind, value) in keys.items():
        head += [_string(key), _value(kind, value)]
    offset = 0
    for name, tensor in tensors.items():
        sizes = tuple(reversed(tensor.shape))
        head += [_string(name), struct.pack("<I", len(sizes)),
                 struct.pack("<%dQ" % len(sizes), *sizes),
                 struct.pack("<IQ", TENSOR_TYPES[tensor.format], offset)]
        size = byte_size(tensor.format, tensor.shape)
        offset += size + -size % alignment
    head = b"".join(head)
    with open(path, "wb") as stream:
        stream.write(head + bytes(-len(head) % alignment))
        for name, tensor in tensors.items():
            size = byte_size(tensor.format, tensor.shape)
            written = sum(stream.write(part) for part in parts(name))
            if written != size:
                raise ValueError("%s has %d bytes, want %d" % (name, written, size))
            stream.write(bytes(-size % alignment))


def read_gguf(path):
    """A GGUF v2 or v3 file -> GGUF(keys, tensors)."""
    with open(path, "rb") as stream:
        reader = _Reader(path, stream.read())
    if reader.take(4) != MAGIC:
        raise ValueError("%s: not a GGUF file" % path)
    version = reader.scalar("<I")
    if version not in (2, 3):
        raise ValueError("%s: GGUF version %d, want 2 or 3" % (path, version))
    tensor_count, key_count = reader.scalar("<Q"), reader.scalar("<Q")
    keys = {}
    for _ in range(key_count):
        key = reader.string()
        keys[key] = reader.value(reader.scalar("<I"))
    table = []
    for _ in range(tensor_count):
        name = reader.string()
        sizes = [reader.scalar("<Q") for _ in range(reader.scalar("<I"))]
        table.append((name, tuple(reversed(sizes)), reader.scalar("<I"), reader.scalar("<Q")))
    alignment = keys.get("general.alignment", ("u32", DEFAULT_ALIGNMENT))[1]
    start = reader.position + -reader.position % alignment
    tensors = {}
    for name, shape, number, offset in table:
        if number not in _FORMAT_BY_ID:
            raise ValueError("%s: %s has tensor type %d" % (path, name, number))
        if offset % alignment:
            raise ValueError("%s: %s at %d, not aligned to %d" % (path, name, offset, alignment))
        fmt = _FORMAT_BY_ID[number]
        reader.position = start + offset
        tensors[name] = Tensor(fmt, shape, reader.take(byte_size(fmt, shape)))
    return GGUF(keys, tensors)


def _string(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def _value(kind, value):
    if kind.startswith("[]"):
        items = [_value(kind[2:], item) for item in value]
        return struct.pack("<IIQ", _ARRAY, _type_id(kind[2:]), len(items)) + b"".join(
            item[4:] for item in items)
    body = _string(value) if kind == "string" else struct.pack(_SCALARS[kind][1], value)
    return struct.pack("<I", _type_id(kind)) + body


def _type_id(kind):
    if kind.startswith("[]"):
        return _ARRAY
    return _STRING if kind == "string" else _SCALARS[kind][0]


class _Reader(object):
    """A bounds-checked cursor over the file's bytes."""

    def __init__(self, path, blob):
        self.path, self.blob, self.position = path, blob, 0

    def take(self, count):
        if count > len(self.blob) - self.position:
            raise ValueError("%s: truncated, %d bytes wanted at %d of %d"
                             % (self.path, count, self.position, len(self.blob)))
        data = self.blob[self.position:self.position + count]
        self.position += count
        return data

    def scalar(self, layout):
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def string(self):
        data = self.take(self.scalar("<Q"))
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data  # a token may be half a character

    def value(self, number):
        """-> (type, value), for the type id that precedes the value."""
        if number == _STRING:
            return "string", self.string()
        if number == _ARRAY:
            inner, count = self.scalar("<I"), self.scalar("<Q")
            items = [self.value(inner) for _ in range(count)]
            kind = items[0][0] if items else ("string" if inner == _STRING
                                              else _SCALAR_BY_ID.get(inner, "u8"))
            return "[]" + kind, [item for _, item in items]
        if number not in _SCALAR_BY_ID:
            raise ValueError("%s: unknown value type %d" % (self.path, number))
        name = _SCALAR_BY_ID[number]
        return name, self.scalar(_SCALARS[name][1])
