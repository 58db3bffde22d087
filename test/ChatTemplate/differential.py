#!/usr/bin/env python3
"""Compares renderings of random templates with those of Jinja.

differential.py RENDERER [COUNT [SEED]]

RENDERER is llmir-render-templates. Both must give the same text, or both an
error. Needs the Python package jinja2.
"""

import json
import os
import subprocess
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jinja_oracle  # noqa: E402
import random_templates  # noqa: E402

# What Python shows with an address, or by chance.
UNSTABLE = (" at 0x", "<function", "<built-in", "<bound method", "<generator", "<class", "object>", "_reverseiterator")


class Renderer:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def render(self, template, variables):
        line = json.dumps({"template": template, "variables": variables}) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the renderer ended with {self.process.wait()} at {template!r}")
        answer = json.loads(answer)
        return answer.get("rendered"), answer.get("error")


def is_unstable(text):
    return text is not None and any(part in text for part in UNSTABLE)


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    warnings.simplefilter("ignore")
    os.environ["SOURCE_DATE_EPOCH"] = "1735787045"
    renderer = Renderer(program)
    environment = jinja_oracle.make_environment()
    texts = failures = 0
    for seed in range(first, first + count):
        template = random_templates.Generator(seed).template()
        variables = json.loads(json.dumps(random_templates.variables_of(template, seed)))
        wanted, cause = jinja_oracle.render(environment, template, json.loads(json.dumps(variables)))
        got, error = renderer.render(template, variables)
        texts += wanted is not None
        if got == wanted or is_unstable(wanted) or is_unstable(got):
            continue
        failures += 1
        if failures <= 20:
            print(f"seed {seed}: {template!r}\n  Jinja: {wanted if wanted is not None else cause!r}\n"
                  f"  here:  {got if got is not None else error!r}")
    print(f"{count} templates, {texts} with a rendering, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
