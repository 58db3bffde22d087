#!/usr/bin/env python3
"""A filter for mlir-tblgen's pages: adds the descriptions of operands, attributes and results from
the definitions to their types, which mlir-tblgen prints alone, and omits its note that a method of
an interface must be implemented where the method has a default.

describe_values.py FILE.td < page > page
"""

import re
import sys

import llm_dialect


def main():
    data = llm_dialect.records(sys.argv[1])
    ops = {}
    for name in data["!instanceof"].get("Op", ()):
        record = data[name]
        dialect = data[record["opDialect"]["def"]]["name"]
        ops[f"{dialect}.{record['opName']}"] = dict(llm_dialect.values_of(record, data))
    defaults = {name: {data[each["def"]]["name"] for each in data[name]["methods"] if data[each["def"]]["defaultBody"]}
                for name in data["!instanceof"].get("OpInterface", ())}
    described, interface, method = {}, "", ""
    for line in sys.stdin:
        interface = (re.match(r"## \w+ \(`(\w+)`\)", line) or ["", interface])[1]
        method = (re.match(r"#### `(\w+)`", line) or ["", method])[1]
        if line.startswith("NOTE: This method *must*") and method in defaults.get(interface, ()):
            continue
        heading = re.match(r"### `([\w.]+)` \(", line)
        if heading:
            described = ops.get(heading.group(1), {})
        row = re.match(r"(\| `(\w+)` \| )(.*)|(<tr><td><code>(\w+)</code></td><td>.*?</td><td>)(.*)", line)
        if row:
            head, name, rest = (row.group(1), row.group(2), row.group(3)) if row.group(2) else row.group(4, 5, 6)
            if described.get(name):
                line = f"{head}{described[name].replace('|', chr(92) + '|')}: {rest}\n"
        sys.stdout.write(line)


if __name__ == "__main__":
    main()
