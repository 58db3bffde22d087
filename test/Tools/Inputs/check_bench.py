"""Checks the rows of `llmir bench`: their number, and that their values are consistent.

    check_bench.py ROWS.json ARTIFACT
    check_bench.py ROWS.json --csv ROWS.csv     # the same columns, both of the same command line
"""
import csv
import json
import statistics
import sys

# The demo model: 6 layers of 256 x (256 + 128 + 128 + 256) + 3 x 256 x 768, output 4096 x 256.
LAYER = 256 * (256 + 128 + 128 + 256) + 3 * 256 * 768
NORMS = 13 * 256 * 4
KV = 6 * 2 * 128 * 2  # bf16, of a token


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def check_row(row):
    samples = row["samples"]
    assert near(row["tokens_per_second"], statistics.median(samples)), row
    rate = row["tokens_per_second"]
    if row["n_prompt"]:
        # Without the output projection; the matrices are read once.
        operations, source = 2 * 6 * LAYER * row["n_prompt"], 2 * 6 * LAYER
        keys, tokens = row["n_depth"], row["n_prompt"]
    else:
        steps, together = row["n_gen"], row["n_sequences"]
        operations = 2 * (6 * LAYER + 4096 * 256) * together * steps
        source = 2 * (6 * LAYER + 4096 * 256) * steps
        keys = together * sum(row["n_depth"] + i + 1 for i in range(steps))
        tokens = steps * together
    assert near(row["operations_per_second"], operations * rate / tokens), row
    assert near(row["kv_bytes_per_second"], keys * KV * rate / tokens), row
    # Norms are read as well, as f32; how many of a prompt's depends on where its end is.
    weights = row["source_bytes_per_second"] - row["kv_bytes_per_second"]
    assert source <= weights * tokens / rate * (1 + 1e-9) <= (source + NORMS * tokens) * (1 + 1e-6), row
    assert row["packed_bytes_per_second"] >= row["source_bytes_per_second"] * (1 - 1e-9)
    assert row["bound"] in ("reads", "int8", "bf16", "f32")
    assert row["share_of_limit"] > 0 and row["size_class"] in ("L2", "L3", "memory")
    limit = "read_limit" if row["bound"] == "reads" else row["bound"] + "_limit"
    assert row[limit] > 0, row


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        rows = json.load(stream)
    if sys.argv[2] == "--csv":
        with open(sys.argv[3], encoding="utf-8", newline="") as stream:
            table = list(csv.DictReader(stream))
        assert [row["test"] for row in table] == [row["test"] for row in rows]
        for cells, row in zip(table, rows):
            assert list(cells) == list(row), (list(cells), list(row))
            assert cells["model"] == row["model"] and int(cells["threads"]) == row["threads"]
            assert float(cells["tokens_per_second"]) > 0
            assert len(json.loads(cells["samples"])) == len(row["samples"])
        return
    tests = [(row["threads"], row["test"]) for row in rows]
    names = [name + depth for depth in ("", " @ d5") for name in ("pp8", "tg2", "tg2 x 3")]
    assert tests == [(threads, name) for threads in (1, 2) for name in names], tests
    for row in rows:
        assert len(row["samples"]) == 2
        check_row(row)


if __name__ == "__main__":
    main()
