"""Checks the consistency of a trace written by llmir, as required by ui.perfetto.dev.

    check_trace.py TRACE.json WORKERS STEPS LAYERS

Slices of a track are nested or disjoint; each worker has STEPS steps, each of which contains the
LAYERS layers and, in them, kernels and barriers without gaps in between. All times are of one clock:
no slice ends before it begins.
"""
import collections
import json
import sys

ROUNDING = 0.002  # The rounding error of two values with three decimals, in microseconds.


def slices_of(events):
    """[(begin, end, name, depth)] of a track, in the order of the file; checks the nesting."""
    result, stack = [], []
    last = float("-inf")
    for event in events:
        begin = event["ts"]
        assert begin >= last - ROUNDING, ("goes back in time", event)
        if event["ph"] == "B":
            stack.append((event["name"], begin))
        elif event["ph"] == "E":
            name, opened = stack.pop()
            assert begin >= opened - ROUNDING, ("ends before it begins", event)
            result.append((opened, begin, name, len(stack)))
        else:
            assert event["ph"] == "X" and event["dur"] >= 0, event
            result.append((begin, begin + event["dur"], event["name"], len(stack)))
        last = begin
    assert not stack, ("never closed", stack)
    return result


def check_inside(inner, outer):
    for begin, end, name, _ in inner:
        assert any(o[0] - ROUNDING <= begin and end <= o[1] + ROUNDING for o in outer), (
            "has no parent", name)


def check_worker(slices, steps, layers):
    by_depth = collections.defaultdict(list)
    for piece in slices:
        by_depth[piece[3]].append(piece)
    assert len(by_depth[0]) == steps, ("steps", len(by_depth[0]), steps)
    assert all(piece[2].startswith("step of ") for piece in by_depth[0])
    names = [piece[2] for piece in by_depth[1] if piece[2].startswith("layer ")]
    assert names == ["layer %d" % n for n in range(layers)] * steps, names
    check_inside(by_depth[1], by_depth[0])
    check_inside(by_depth[2], [piece for piece in by_depth[1] if piece[2].startswith("layer ")])
    # Kernels inside and outside of layers are contiguous.
    kernels = sorted(piece for piece in by_depth[1] + by_depth[2]
                     if not piece[2].startswith("layer "))
    for before, after in zip(kernels, kernels[1:]):
        assert after[0] >= before[1] - ROUNDING, ("overlap", before, after)
    assert any(piece[2] == "barrier" for piece in kernels)
    assert any(piece[2].startswith("linear") for piece in kernels), kernels[:5]
    for begin, end, _, _ in by_depth[0]:
        busy = sum(k[1] - k[0] for k in kernels if begin <= k[0] and k[1] <= end + ROUNDING)
        assert busy > 0.9 * (end - begin), ("a step is not accounted for", busy, end - begin)


def main():
    path, workers, steps, layers = sys.argv[1], *map(int, sys.argv[2:5])
    with open(path, encoding="utf-8") as stream:
        trace = json.load(stream)
    assert set(trace) == {"displayTimeUnit", "traceEvents"}, set(trace)
    tracks = collections.defaultdict(list)
    names = {}
    for event in trace["traceEvents"]:
        assert event["pid"] == 1
        if event["ph"] == "M":
            if event["name"] == "thread_name":
                names[event["tid"]] = event["args"]["name"]
        else:
            tracks[event["tid"]].append(event)
    assert names == dict([(0, "phases")] + [(n + 1, "worker %d" % n) for n in range(workers)]), names
    assert set(tracks) == set(names), set(tracks)
    phases = slices_of(sorted(tracks.pop(0), key=lambda event: event["ts"]))
    for events in tracks.values():
        slices = slices_of(events)
        check_worker(slices, steps, layers)
        check_inside([piece for piece in slices if piece[3] == 0], phases)
    print("%d workers, %d steps" % (workers, steps))


if __name__ == "__main__":
    main()
