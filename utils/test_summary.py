#!/usr/bin/env python3
"""The last lines of `./dev check`: skipped tests, failed tests, and the count.

test_summary.py [--counts FILE.json]... [BUILD_DIR]...

Reads BUILD_DIR/results/tests.json (written by lit), and the results of other checks: {"passed": 3, "failed":
["name"]} in a file named after the check. Skipped parts of a test are reported in
its output: "skipped: NAME: REASON" or "SKIP NAME: REASON". Exits with 1 if
anything failed or nothing ran.
"""

import argparse
import json
import os
import re
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED"}
SKIPPED_PART = re.compile(r"^(?:# \| )?(?:skipped:|SKIP) *(.+)$", re.M)


def summarize_folder(folder):
    """Returns (passed, failed names, skipped lines) of one build directory."""
    path = os.path.join(folder, "results", "tests.json")
    try:
        with open(path, encoding="utf-8") as stream:
            tests = json.load(stream)["tests"]
    except (OSError, ValueError, KeyError):
        return 0, [f"{folder}: check-llmir ended without a result"], []
    passed, failed, skipped = 0, [], []
    for test in tests:
        output = test.get("output", "")
        if test["code"] in PASSED:
            passed += 1
            skipped += SKIPPED_PART.findall(output)
        elif test["code"] in SKIPPED:
            reason = output.strip().split("\n")[0]
            skipped.append(f"{test['name']}: {reason or 'a feature that it needs is absent'}")
        elif test["code"] != "EXCLUDED":
            failed.append(f"{folder}: {test['name']} ({test['code'].lower()})")
    if passed == 0 and not failed:
        failed.append(f"{folder}: no test was run")
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", action="append", default=[], help="the output of utils/lint.py, for example")
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()

    passed, failed, skipped = 0, [], []
    for path in options.counts:
        check = os.path.splitext(os.path.basename(path))[0]
        try:
            with open(path, encoding="utf-8") as stream:
                counts = json.load(stream)
            passed += counts["passed"]
            failed += [f"{check}: {name}" for name in counts["failed"]]
        except (OSError, ValueError, KeyError):
            failed.append(f"{check}: ended without a result")
    for folder in options.folders:
        more_passed, more_failed, more_skipped = summarize_folder(folder)
        passed += more_passed
        failed += more_failed
        skipped += more_skipped
    if passed == 0 and not failed:
        failed.append("no test was run")

    for line in sorted(set(skipped)):
        print(f"skipped: {line}")
    for line in failed:
        print(f"failed: {line}")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
