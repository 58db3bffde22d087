# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading and writing .safetensors: u64 header length, JSON header, then the tensors' bytes."""

import json
import os
import struct

from .formats import Tensor, byte_size

_DTYPES = {"F32": "f32", "F16": "f16", "BF16": "bf16"}
_NAMES = dict({fmt: dtype for dtype, fmt in _DTYPES.items()},
              i8="I8", u8="U8", i32="I32", i64="I64", f8_e4m3="F8_E4M3")  # only written
INDEX = "model.safetensors.index.json"


def read_safetensors(path):
    """One file -> {name: Tensor}; rejects unknown dtypes, gaps, overlaps and trailing bytes."""
    with open(path, "rb") as stream:
        blob = stream.read()
    if len(blob) < 8:
        raise ValueError("%s: shorter than the 8 bytes of its header length" % path)
    length = struct.unpack_from("<Q", blob)[0]
    if length > len(blob) - 8:
        raise ValueError("%s: header length %d ends past the file" % (path, length))
    header = json.loads(blob[8:8 + length].decode("utf-8"))
    header.pop("__metadata__", None)
    data = memoryview(blob)[8 + length:]
    tensors, position = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        shape = tuple(entry["shape"])
        if entry["dtype"] not in _DTYPES:
            raise ValueError("%s: %s has dtype %s" % (path, name, entry["dtype"]))
        fmt = _DTYPES[entry["dtype"]]
        if begin != position or end - begin != byte_size(fmt, shape) or end > len(data):
            raise ValueError("%s: %s has offsets [%d, %d), expected %d bytes at %d"
                             % (path, name, begin, end, byte_size(fmt, shape), position))
        tensors[name] = Tensor(fmt, shape, bytes(data[begin:end]))
        position = end
    if position != len(data):
        raise ValueError("%s: %d bytes after the last tensor" % (path, len(data) - position))
    return tensors


def write_safetensors(path, tensors):
    """{name: Tensor} -> one file, in the given order, the header padded to 8 bytes."""
    header, position = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": _NAMES[tensor.format], "shape": list(tensor.shape),
                        "data_offsets": [position, position + len(tensor.data)]}
        position += len(tensor.data)
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)))
        stream.write(text)
        for tensor in tensors.values():
            stream.write(tensor.data)


def read_folder(folder):
    """The tensors of a directory, from model.safetensors or from the shards listed in its index."""
    index = os.path.join(folder, INDEX)
    if not os.path.exists(index):
        return read_safetensors(os.path.join(folder, "model.safetensors"))
    with open(index, encoding="utf-8") as stream:
        weight_map = json.load(stream)["weight_map"]
    tensors = {}
    for shard in sorted(set(weight_map.values())):
        for name, tensor in read_safetensors(os.path.join(folder, shard)).items():
            if weight_map.get(name) != shard:
                raise ValueError("%s: %s is in %s, the index says %s"
                                 % (folder, name, shard, weight_map.get(name)))
            tensors[name] = tensor
    missing = sorted(set(weight_map) - set(tensors))
    if missing:
        raise ValueError("%s: the index names %s, which no shard holds" % (folder, missing[0]))
    return tensors


def write_folder(folder, tensors, shards=1):
    """{name: Tensor} -> model.safetensors, or the given number of shards and their index."""
    if shards == 1:
        write_safetensors(os.path.join(folder, "model.safetensors"), tensors)
        return
    names = list(tensors)
    weight_map = {}
    for number in range(shards):
        shard = "model-%05d-of-%05d.safetensors" % (number + 1, shards)
        chosen = names[number * len(names) // shards:(number + 1) * len(names) // shards]
        write_safetensors(os.path.join(folder, shard), {name: tensors[name] for name in chosen})
        weight_map.update((name, shard) for name in chosen)
    total = sum(len(tensor.data) for tensor in tensors.values())
    with open(os.path.join(folder, INDEX), "w", encoding="utf-8") as stream:
        json.dump({"metadata": {"total_size": total}, "weight_map": weight_map}, stream, indent=2)
