# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A validator of JSON schemas, and random schemas whose values are short."""

import json
import math
import re

FORMATS = {
    "date": r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])",
    "time": r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "date-time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "uuid": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "ipv4": r"(\d{1,3}\.){3}\d{1,3}",
}


def is_of(value, kind):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {"object": isinstance(value, dict), "array": isinstance(value, list), "string": isinstance(value, str),
            "boolean": isinstance(value, bool), "null": value is None, "number": number and math.isfinite(value),
            "integer": number and value == int(value)}[kind]


def same(a, b):
    """Whether two values are equal in JSON, where true is not 1."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def is_valid(schema, value, root=None):
    root = schema if root is None else root
    if isinstance(schema, bool):
        return schema

    def valid(part, of):
        return is_valid(part, of, root)

    if "$ref" in schema:
        target = root
        for key in schema["$ref"].split("/")[1:]:
            target = target[key]
        if not valid(target, value):
            return False
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_of(value, kind) for kind in kinds):
        return False
    if "enum" in schema and not any(same(value, each) for each in schema["enum"]):
        return False
    if "const" in schema and not same(value, schema["const"]):
        return False
    if "anyOf" in schema and not any(valid(each, value) for each in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(valid(each, value) for each in schema["oneOf"]) != 1:
        return False
    if not all(valid(each, value) for each in schema.get("allOf", [])):
        return False
    if isinstance(value, str):
        return (schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 1 << 30)
                and ("pattern" not in schema or re.search(schema["pattern"], value) is not None)
                and ("format" not in schema or re.fullmatch(FORMATS[schema["format"]], value) is not None))
    if is_of(value, "number"):
        return (schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)
                and schema.get("exclusiveMinimum", -math.inf) < value < schema.get("exclusiveMaximum", math.inf))
    if isinstance(value, list):
        first = schema.get("prefixItems", [])
        return (schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 1 << 30)
                and all(valid(part, each) for part, each in zip(first, value))
                and all(valid(schema.get("items", True), each) for each in value[len(first):]))
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return (all(name in value for name in schema.get("required", []))
                and all(valid(known[name], each) if name in known else valid(schema.get("additionalProperties", True), each)
                        for name, each in value.items()))
    return True


NAMES = ["name", "n", "na", "a b", "\u00e9", "quote\"", "items", "x-1"]


def random_scalar(random):
    low = random.randint(-150, 100)
    return random.choice([
        {"type": "string", "maxLength": random.randint(0, 6)},
        {"type": "string", "minLength": 2, "maxLength": 4},
        {"type": "string", "pattern": random.choice(["^[a-f]{1,3}$", r"^\d{2}(-\d)?$", "^(yes|no|\"|\\\\)$", "^[^a-z]{2}$"])},
        {"type": "string", "format": random.choice(sorted(FORMATS))},
        {"type": "integer", "minimum": low, "maximum": low + random.randint(0, 300)},
        {"type": "integer", "exclusiveMinimum": low, "exclusiveMaximum": low + random.randint(2, 2000)},
        {"type": "number", "minimum": random.randint(-3, 0), "exclusiveMaximum": random.randint(1, 30)},
        {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"type": ["null", "boolean"]},
        {"enum": ["a", "ab", 7, None, True, {"k": [1.5, "v"]}]}, {"const": random.choice(["\n\u65e5", 3, False])},
    ])


def random_schema(random, depth=2):
    kind = random.randint(0, 6) if depth > 0 else 0
    if kind <= 1:
        return random_scalar(random)
    if kind == 2:
        return {"anyOf": [random_schema(random, depth - 1) for _ in range(random.randint(1, 3))]}
    if kind == 3:
        least = random.randint(0, 2)
        return {"type": "array", "items": random_schema(random, depth - 1), "minItems": least,
                "maxItems": least + random.randint(0, 2)}
    if kind == 4:
        return {"type": "array", "prefixItems": [random_schema(random, depth - 1) for _ in range(random.randint(1, 3))],
                "items": False, "minItems": random.randint(0, 1)}
    names = random.sample(NAMES, random.randint(0, 4))
    schema = {"type": "object", "properties": {name: random_schema(random, depth - 1) for name in names},
              "required": [name for name in names if random.random() < 0.5]}
    if random.random() < 0.5:
        schema["additionalProperties"] = False
    if depth == 2 and random.random() < 0.5:
        schema["$defs"] = {"part": random_scalar(random)}
        schema["properties"]["part"] = {"$ref": "#/$defs/part", "description": "x"}
    if random.random() < 0.3:
        return {"allOf": [schema, {"required": schema["required"], "type": ["object", "null"]}],
                "$defs": schema.get("$defs", {})}
    return schema
