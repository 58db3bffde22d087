#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir serve with OpenAI's own client for Node, from the npm package `openai`.

    openai_client.py --work DIR --llmir PROGRAM --demo DIR --package DIR
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "reference"))
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from server_process import Server, compile_demo  # noqa: E402

check = Checks()


def main():
    options = work_parser(__doc__, "llmir", "demo", "package").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    model, template = compile_demo(llmir, options)
    with Server(llmir, model, "--template", template, "--served-model-name", "demo", "--api-key", "k") as server:
        result = subprocess.run(["node", os.path.join(HERE, "openai_client.mjs"), "http://127.0.0.1:%d/v1" % server.port,
                                 "k"], env=dict(os.environ, OPENAI_PACKAGE=options.package), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, universal_newlines=True)
        for line in result.stdout.splitlines():
            check(line[5:], line.startswith("ok  "))
        check("the client", result.returncode == 0, result.stdout[-2000:])
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
