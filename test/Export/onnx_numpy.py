# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluates the nodes of an ONNX file in NumPy, as specified for the operators of opset 17."""

import math

import numpy as np
from onnx import numpy_helper

TYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 10: np.float16, 11: np.float64}


def conv(x, weight, bias=None, kernel_shape=(), strides=(), pads=(), dilations=(), group=1):
    rank = len(kernel_shape)
    strides, dilations, pads = strides or (1,) * rank, dilations or (1,) * rank, pads or (0,) * (2 * rank)
    x = np.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[i + rank]) for i in range(rank)])
    sizes = [(x.shape[2 + i] - dilations[i] * (kernel_shape[i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
    outputs, channels = weight.shape[0] // group, weight.shape[1]
    result = np.zeros((x.shape[0], weight.shape[0]) + tuple(sizes), np.float64)
    for place in np.ndindex(*kernel_shape):
        window = tuple(slice(place[i] * dilations[i], place[i] * dilations[i] + strides[i] * (sizes[i] - 1) + 1,
                             strides[i]) for i in range(rank))
        for g in range(group):
            part = x[(slice(None), slice(g * channels, (g + 1) * channels)) + window]
            kernel = weight[(slice(g * outputs, (g + 1) * outputs), slice(None)) + place]
            result[:, g * outputs:(g + 1) * outputs] += np.moveaxis(np.tensordot(kernel, part, ((1,), (1,))), 1, 0)
    return result + (0 if bias is None else bias.reshape((-1,) + (1,) * rank))


def layer_normalization(x, scale, bias=None, axis=-1, epsilon=1e-5):
    axes = tuple(range(axis % x.ndim, x.ndim))
    mean = x.mean(axes, keepdims=True)
    result = (x - mean) / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + epsilon) * scale
    return result + (0 if bias is None else bias)


def slice_(x, starts, ends, axes=None, steps=None):
    index = [slice(None)] * x.ndim
    for i, axis in enumerate(range(len(starts)) if axes is None else axes):
        index[axis] = slice(int(starts[i]), int(ends[i]), 1 if steps is None else int(steps[i]))
    return x[tuple(index)]


def softmax(x, axis=-1):
    if x.size == 0:
        return x
    with np.errstate(invalid="ignore"):
        shifted = np.exp(x - x.max(axis, keepdims=True))
    return shifted / shifted.sum(axis, keepdims=True)


def split(x, sizes, axis=0):
    return np.split(x, np.cumsum(sizes)[:-1], axis)


def reshape(x, shape, allowzero=0):
    assert allowzero or 0 not in shape
    return x.reshape([int(size) for size in shape])


def unsqueeze(x, axes):
    rank = x.ndim + len(axes)
    for axis in sorted(int(a) % rank for a in axes):
        x = np.expand_dims(x, axis)
    return x


def axes_of(x, axes):
    return tuple(range(x.ndim)) if axes is None else tuple(int(axis) for axis in axes)


def reduce_max(x, axes=None, keepdims=1):
    """Minus infinity for an empty set of floats, which opset 17 leaves unspecified."""
    least = {"initial": -np.inf} if x.dtype.kind == "f" else {}
    return x.max(axes_of(x, axes), keepdims=bool(keepdims), **least)


def gather_nd(x, indices):
    return x[tuple(np.moveaxis(indices, -1, 0))]


def scatter_elements(x, indices, updates, axis=0):
    result = x.copy()
    for place in np.ndindex(*indices.shape):
        target = list(place)
        target[axis] = int(indices[place])
        result[tuple(target)] = updates[place]
    return result


def top_k(x, k, axis=-1, largest=1, sorted=1):
    """Of equal values, the one with the lower index is first."""
    assert sorted
    order = np.argsort(-x if largest else x, axis, kind="stable")
    chosen = np.take(order, range(int(k[0])), axis)
    return [np.take_along_axis(x, chosen, axis), chosen]


def pad(x, pads, value=0, mode="constant"):
    widths = [(int(pads[i]), int(pads[i + x.ndim])) for i in range(x.ndim)]
    return np.pad(x, widths, mode, constant_values=value) if mode == "constant" else np.pad(x, widths, mode)


def resize_weights(size, new, mode, transformation, a):
    """The matrix [new, size] of a resized dimension."""
    weights = np.zeros((new, size))
    for i in range(new):
        if transformation == "align_corners":
            place = i * (size - 1) / (new - 1) if new > 1 else 0.0
        else:
            place = (i + 0.5) * size / new - 0.5 if transformation == "half_pixel" else i * size / new
        first = math.floor(place)
        t = place - first
        if mode == "nearest":
            taps = [(first, 1.0)]
        elif mode == "linear":
            taps = [(first, 1 - t), (first + 1, t)]
        else:
            near = lambda d: ((a + 2) * d - (a + 3)) * d * d + 1  # noqa: E731
            far = lambda d: ((a * d - 5 * a) * d + 8 * a) * d - 4 * a  # noqa: E731
            taps = [(first - 1, far(1 + t)), (first, near(t)), (first + 1, near(1 - t)), (first + 2, far(2 - t))]
        for tap, weight in taps:
            weights[i, min(max(tap, 0), size - 1)] += weight
    return weights


def resize(x, roi, scales, sizes, mode="nearest", coordinate_transformation_mode="half_pixel", nearest_mode=None,
           cubic_coeff_a=-0.75):
    assert roi is None and scales is None and nearest_mode in (None, "floor")
    for axis, new in enumerate(sizes):
        if int(new) != x.shape[axis]:
            weights = resize_weights(x.shape[axis], int(new), mode, coordinate_transformation_mode, cubic_coeff_a)
            x = np.moveaxis(np.tensordot(weights, x, ((1,), (axis,))), 0, axis)
    return x


def cast(x, to):
    with np.errstate(over="ignore", invalid="ignore"):
        return x.astype(TYPES[to])


OPERATORS = {
    "GatherElements": lambda x, indices, axis=0: np.take_along_axis(x, indices, axis),
    "Clip": np.clip, "CumSum": lambda x, axis: np.cumsum(x, int(axis)), "GatherND": gather_nd, "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal, "IsNaN": np.isnan, "Less": np.less, "LessOrEqual": np.less_equal,
    "Max": np.maximum, "Pad": pad, "Resize": resize, "ScatterElements": scatter_elements,
    "Size": lambda x: np.array(x.size, np.int64), "TopK": top_k,
    "ReduceMax": reduce_max,
    "ReduceMin": lambda x, axes=None, keepdims=1: x.min(axes_of(x, axes), keepdims=bool(keepdims)),
    "ReduceSum": lambda x, axes=None, keepdims=1: x.sum(axes_of(x, axes), keepdims=bool(keepdims)),
    "Abs": np.abs, "Add": np.add, "And": np.logical_and, "Conv": conv, "Cos": np.cos, "Div": np.divide,
    "Equal": np.equal, "Erf": np.vectorize(math.erf, otypes=[np.float64]), "Exp": np.exp, "Identity": lambda x: x,
    "LayerNormalization": layer_normalization, "Log": np.log, "MatMul": np.matmul, "Mul": np.multiply,
    "Neg": np.negative, "Not": np.logical_not, "Or": np.logical_or, "Range": np.arange,
    "Relu": lambda x: np.maximum(x, 0), "Reshape": reshape, "Shape": lambda x: np.array(x.shape, np.int64),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Sin": np.sin, "Slice": slice_, "Softmax": softmax, "Split": split,
    "Sqrt": np.sqrt, "Sub": np.subtract, "Tanh": np.tanh, "Tile": np.tile, "Unsqueeze": unsqueeze, "Where": np.where,
    "Cast": cast,
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Expand": lambda x, shape: np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape))),
    "Gather": lambda x, ids, axis=0: np.take(x, ids, axis),
    "ReduceMean": lambda x, axes=None, keepdims=1: x.mean(axes_of(x, axes), keepdims=bool(keepdims)),
    "Transpose": lambda x, perm: np.transpose(x, perm),
    "Trilu": lambda x, k, upper: np.triu(x, int(k)) if upper else np.tril(x, int(k)),
}


def attribute(proto):
    return {1: proto.f, 2: proto.i, 3: proto.s.decode(), 7: list(proto.ints)}[proto.type]


def evaluate(model, inputs):
    """The outputs by name; every tensor of floats is computed in float64."""
    values = {name: widened(array) for name, array in inputs.items()}
    values.update((tensor.name, widened(numpy_helper.to_array(tensor))) for tensor in model.graph.initializer)
    for node in model.graph.node:
        attributes = {proto.name: attribute(proto) for proto in node.attribute}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            results = OPERATORS[node.op_type](*[values[name] if name else None for name in node.input], **attributes)
        results = results if isinstance(results, list) else [results]
        values.update(zip(node.output, (widened(np.asarray(result)) for result in results)))
    return {output.name: values[output.name] for output in model.graph.output}


def widened(array):
    return array.astype(np.float64) if array.dtype in (np.float32, np.float16) else array
