# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results of compare.py as a table and as a plot."""
import statistics
import sys

import speed_chart

PEERS = ("llama.cpp", "ik", "ik +rtr")


def median(entry, engine, name="samples"):
    values = [value for value in entry["engines"].get(engine, {}).get(name, [])
              if isinstance(value, (int, float))]
    return statistics.median(values) if values else None


def best_peer(entry, names=PEERS):
    rates = [(median(entry, name), name) for name in names if median(entry, name)]
    return max(rates) if rates else (None, None)


def target(entry):
    """The targets of a row: (share of the limit, [(times, peers)])."""
    kind, bits = entry["kind"], entry["type"]
    eight = bits in ("q8_0", "int8", "q8")
    if entry["sequences"] > 1:
        return None, []
    if entry["shape"] == "stories-15m":
        return None, [(1.5, PEERS)] if kind == "tg" else []
    if entry["level"]:
        return None, [(1.05 if kind == "tg" else 1.0, PEERS)]
    ik = ("ik", "ik +rtr")
    if kind == "tg":
        if entry["depth"]:  # judge_kv checks the share.
            return None, [(1.15, PEERS)] if has_kv_target(entry) else []
        if entry["kv"]:
            return None, []
        if bits == "bf16":
            return 0.93, [(1.1, PEERS)]
        return (0.92, [(1.15, PEERS)]) if eight else (0.88, [(1.25, PEERS)])
    if bits == "bf16":
        return 0.85, [(1.1, ik)]
    if bits == "q8_0":
        return 0.60, [(1.5, ik), (4, ("llama.cpp",))]
    if bits == "int8":
        return 0.75, [(1.5, ik)]
    return (0.55, []) if bits.startswith("q4_k") else (0.60, [(1.5, ik)])


def test_name(entry):
    name = "pp%d" % entry["prompt"] if entry["kind"] == "pp" else "tg%d" % entry["gen"]
    if entry["sequences"] > 1:
        name += " x %d" % entry["sequences"]
    if entry["depth"]:
        name += " @ d%d" % entry["depth"]
    return name + options_text(entry)


def options_text(entry):
    """", KV f16, x86-64-v3" """
    return ((", KV " + entry["kv"] if entry["kv"] else "")
            + (", " + entry["level"] if entry["level"] else ""))


def case_name(case):
    """Identifies a case of compare.py, i.e. its rows of the table."""
    tests = [test_name(dict(case, kind=kind)) for kind, tokens in
             (("pp", case["prompt"]), ("tg", case["gen"])) if tokens]
    return "%s %s, -t %d: %s" % (case["shape"], case["type"], case["threads"],
                                      "; ".join(tests))


def accuracy_key(entry):
    """The demo model compiled like an entry's, by its distinguishing properties."""
    return entry["type"] + options_text(entry)


def rate(value):
    return "–" if value is None else "%.*f" % (0 if value >= 1000 else 1, value)


def sibling(results, entry, **changes):
    """The entry of the case with these differences; None if it was not measured."""
    unused = "prompt" if entry["kind"] == "tg" else "gen"
    fields = {name: value for name, value in dict(entry, **changes).items()
              if name not in ("engines", unused)}
    return next((other for other in results["cases"].values()
                 if all(other[name] == value for name, value in fields.items())
                 and median(other, "llmir")), None)


def judge_batch(results, entry):
    """Compared with one sequence: 3.2 times with 4; with 16, limited by the prefill rate."""
    alone = sibling(results, entry, sequences=1)
    if not alone:
        return "–"
    ratio = median(entry, "llmir") / median(alone, "llmir")
    text, wanted = "%.1f × alone" % ratio, None
    if entry["sequences"] == 4:
        wanted = 3.2
    prompt = [other for other in results["cases"].values() if other["kind"] == "pp" and all(
        other[name] == entry[name] for name in ("shape", "type", "threads", "level", "kv"))]
    if entry["sequences"] == 16 and prompt:
        wanted = 0.8 * min(16, median(prompt[0], "llmir") / median(alone, "llmir"))
    if wanted is None:
        return text
    text += " (≥ %.1f)" % wanted
    return text if ratio >= wanted else "**%s**" % text


def threads_table(results):
    """Two threads against one, where both were measured."""
    lines = []
    for entry in results["cases"].values():
        alone = sibling(results, entry, threads=1)
        if entry["threads"] != 2 or not alone or "llmir" not in entry["engines"]:
            continue
        ratio = median(entry, "llmir") / median(alone, "llmir")
        cell = "%.2f ×" % ratio
        if entry["kind"] == "pp":
            cell += " (≥ 1.9)"
            cell = cell if ratio >= 1.9 else "**%s**" % cell
        shares = ["%.0f %%" % (100 * median(row, "llmir", "share")) for row in (alone, entry)]
        lines.append("| %s %s | %s | %s | %s | %s |" % (
            entry["shape"], entry["type"], test_name(entry), cell, *shares))
    if not lines:
        return []
    return ["", "| 2 threads against 1 | test | speed | share, 1 thread | share, 2 threads |",
            "|---|---|---|---|---|"] + lines


def has_kv_target(entry):
    """Caches of other types are reported next to those of bf16, llmir's default."""
    return entry["kv"] in (None, "bf16")


def judge_kv(results, entry):
    """"; KV 83 % (≥ 80)": bytes of keys and values of the preceding tokens, by the added time."""
    near = sibling(results, entry, depth=0)
    if entry["kind"] != "tg" or not entry["depth"] or not near:
        return ""
    seconds = 1 / median(entry, "llmir") - 1 / median(near, "llmir")
    if seconds <= 0:
        return "; KV –"
    rate_of_kv = (median(entry, "llmir", "kv_bytes") - median(near, "llmir", "kv_bytes")) / seconds
    share = rate_of_kv / median(entry, "llmir", "read_limit")
    text = "KV %.0f %%" % (100 * share)
    if not has_kv_target(entry):
        return "; " + text
    return "; %s (≥ 80)" % text if share >= 0.8 else "; **%s (≥ 80)**" % text


def judge(results, entry):
    """"94 % (≥ 93)" and "1.31 × ik (≥ 1.25)", with missed targets in bold."""
    wanted, ratios = target(entry)
    share = median(entry, "llmir", "share")
    text = "–" if share is None else "%.0f %%" % (100 * share)
    if wanted and share is not None:
        text += " (≥ %.0f)" % (100 * wanted)
        text = text if share >= wanted else "**%s**" % text
    text += judge_kv(results, entry)
    own = median(entry, "llmir")
    cells = []
    for times, peers in ratios:
        peer, name = best_peer(entry, peers)
        if peer is None or own is None:
            cells.append("–")
            continue
        cell = "%.2f × %s (≥ %g)" % (own / peer, name, times)
        cells.append(cell if own / peer >= times else "**%s**" % cell)
    if entry["sequences"] > 1:
        return text, judge_batch(results, entry)
    if not ratios and own is not None:
        peer, name = best_peer(entry)
        cells.append("%.2f × %s" % (own / peer, name) if peer else "–")
    return text, ", ".join(cells) or "–"


def is_complete(entry):
    """Whether ik_llama.cpp was measured; peers decode only one sequence."""
    return entry["sequences"] > 1 or "ik" in entry["engines"]


def accuracy_text(results, entry):
    """"3.8e-04, 98.5 %": of the demo model; next to it llama.cpp's divergence if it reads the file.
    In bold if llama.cpp's is lower."""
    figures = results["accuracy"].get(accuracy_key(entry))
    if not figures:
        return "–"
    text = "%.2e, %.1f %%" % (figures["kl_mean"], 100 * figures["top1_agreement"])
    if "kl_llama_cpp" not in figures:
        return text
    text += " (llama.cpp %.2e)" % figures["kl_llama_cpp"]
    return text if figures["kl_mean"] <= figures["kl_llama_cpp"] else "**%s**" % text


def speed_text(entry, engine):
    failed = entry["engines"].get(engine, {}).get("failures")
    value = median(entry, engine)
    return "fails" if failed and value is None else rate(value)


def artifacts_list(results):
    """A line for each configuration: the artifacts' SHA-256, the demo model's last."""
    made = {}
    for entry in results["cases"].values():
        checksums = entry["engines"].get("llmir", {}).get("artifact", [])
        shapes = made.setdefault(accuracy_key(entry), {})
        shapes.setdefault(entry["shape"], set()).update(text[:16] for text in checksums)
    lines, tokens = [], set()
    for key, shapes in made.items():
        parts = ["%s %s" % (shape, ", ".join(sorted(sums))) for shape, sums in shapes.items()]
        figures = results["accuracy"].get(key)
        if figures:
            parts.append("demo " + figures["artifact"][:16])
            tokens.add(figures["tokens"])
        flags = " (`%s`)" % " ".join(figures["flags"]) if figures and figures["flags"] else ""
        lines.append("- %s%s: %s" % (key, flags, "; ".join(parts)))
    head = "Artifacts, by the first digits of their SHA-256."
    if tokens:
        head += (" KL divergence (nats) and top-1 agreement are those of the demo model, compiled "
                 "with the same flags, and its float64 reference, over %s tokens of held-out text."
                 % ", ".join(map(str, sorted(tokens))))
    return ["", head, ""] + lines if lines else []


def last_words(failure):
    """The message of EngineFailed without the command."""
    return ("ended with" + " ".join(failure.split()).rpartition("ended with")[2])[:240]


def failures_list(results):
    return ["- %s does not run %s %s: %s" % (name, entry["shape"], entry["type"] + ", "
                                             + test_name(entry),
                                             last_words(engine["failures"][-1]))
            for entry in results["cases"].values() for name, engine in entry["engines"].items()
            if engine.get("failures") and median(entry, name) is None]


def limit_text(entry):
    row = entry["engines"].get("llmir", {})
    if not row.get("bound"):
        return "–"
    if row["bound"][-1] == "reads":
        return "%.1f GB/s" % (median(entry, "llmir", "read_limit") / 1e9)
    return "%.0f Gop/s %s" % (median(entry, "llmir", "peak") / 1e9, row["bound"][-1])


def reached_text(entry):
    row = entry["engines"].get("llmir", {})
    if not row.get("bound"):
        return "–"
    if row["bound"][-1] == "reads":
        return "%.1f (%.1f) GB/s" % (median(entry, "llmir", "source_bytes_per_second") / 1e9,
                                     median(entry, "llmir", "packed_bytes_per_second") / 1e9)
    return "%.0f Gop/s" % (median(entry, "llmir", "operations_per_second") / 1e9)


def markdown(results):
    lines = ["| model, format | threads | test | llmir | llama.cpp | ik | ik +rtr | limit | "
             "reached, source (packed) | share of the limit | to the better peer | "
             "KL divergence, top-1 |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for entry in results["cases"].values():
        share, ratio = judge(results, entry)
        cells = ["%s %s" % (entry["shape"], entry["type"]), str(entry["threads"]),
                 test_name(entry) + ("" if is_complete(entry) else " (incomplete)")]
        cells += [speed_text(entry, name) for name in ("llmir",) + PEERS]
        cells += [limit_text(entry), reached_text(entry), share, ratio,
                  accuracy_text(results, entry)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += threads_table(results)
    facts = results["machine"]
    lines += ["", "Tokens per second, medians of interleaved runs. Machine: %s, %d processors, "
              "%.0f GB, %s." % (facts["cpu"], facts["processors"], facts["memory"] / 1e9,
                                facts["system"]), ""]
    for name, engine in sorted(results["engines"].items()):
        lines.append("- %s: %s" % (name, "; ".join(value for value in engine.values() if value)))
    lines += failures_list(results) + artifacts_list(results)
    return "\n".join(lines) + "\n"


def write_markdown(results, path):
    text = markdown(results)
    if not path:
        sys.stdout.write(text)
        return
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def write_plot(results, path):
    """The chart of speed_chart.py: the first model's formats with the fewest threads measured."""
    threads = min((case["threads"] for case in results["cases"].values()), default=1)
    try:
        picture = speed_chart.draw(markdown(results), threads=threads)
    except ValueError as error:
        sys.exit("compare.py: no plot is written: %s" % error)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(picture)
