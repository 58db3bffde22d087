#!/usr/bin/env python3
"""A fake llama-bench: prints rows in its format, with 100 tokens per second, 200 with -rtr.
Rejects a q8_0 cache."""
import json
import sys

arguments = sys.argv[1:]
if "--help" in arguments:
    print("usage: llama-bench [options]\n  -rtr, --run-time-repack <0|1>")
    sys.exit(0)
flags = dict(zip(arguments[::2], arguments[1::2]))
rate = 200.0 if flags.get("-rtr") == "1" else 100.0
rows = [(int(flags["-p"]), 0), (0, int(flags["-n"]))]
if "-gp" in flags:
    rows.append(tuple(int(word) for word in flags["-gp"].split(",")))
with open(sys.argv[0] + ".log", "a", encoding="utf-8") as log:
    log.write(" ".join(arguments) + "\n")
if flags.get("-ctk") == "q8_0":
    sys.exit("no cache of q8_0")
print("noise before the list")
print(json.dumps([{"build_commit": "abc1234", "n_prompt": prompt, "n_gen": gen,
                   "n_threads": int(flags["-t"]), "samples_ts": [rate]}
                  for prompt, gen in rows if prompt or gen]))
