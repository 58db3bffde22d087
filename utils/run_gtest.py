#!/usr/bin/env python3
"""Runs a GoogleTest program for lit: run_gtest.py REPORT.xml PROGRAM [ARGUMENT]...

Fails if the program fails, and also if its filter matches no test (which GoogleTest
itself considers a success). Skipped tests are listed with their reasons, for
`./dev check`.
"""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET


def read_report(path):
    """The root element of a report; None if there is no complete one."""
    try:
        return ET.parse(path).getroot()
    except (OSError, ET.ParseError):
        return None


def skipped_tests(root):
    """Yields (test, reason) for each test that was skipped."""
    for case in root.iter("testcase"):
        if case.get("result") != "skipped":
            continue
        reason = case.find("skipped")
        text = reason.get("message", "") if reason is not None else ""
        # The message is "file:line\nreason".
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        name = f"{case.get('classname')}.{case.get('name')}"
        yield name, " ".join(lines[1:]) or "no reason given"


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    report, program = arguments[:2]
    os.makedirs(os.path.dirname(report) or ".", exist_ok=True)
    if os.path.exists(report):
        os.remove(report)
    environment = dict(os.environ, GTEST_OUTPUT=f"xml:{report}")
    code = subprocess.call([program] + arguments[2:], env=environment)
    if code < 0:
        print(f"{program}: ended by signal {-code}")
        return 1
    root = read_report(report)
    if root is None:
        print(f"{program}: wrote no report, so no test was run")
        return code or 1
    if code == 0 and int(root.get("tests", "0")) == 0:
        print(f"{program}: no test matches {' '.join(arguments[2:])}")
        return 1
    for name, reason in skipped_tests(root):
        print(f"skipped: {name}: {reason}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
