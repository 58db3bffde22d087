#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page at / of llmir serve.

    web_page.py --work DIR --llmir PROGRAM --demo DIR [--browser SCRIPT]

Without --browser: web/dist/index.html was built from the sources that are here, its policy fits, and the server sends it
as it is. With --browser: SCRIPT tests the page of servers that run.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from server_process import Server, compile_demo  # noqa: E402

check = Checks()
WEB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "web")
MOST_BYTES = 150 << 10


def read(path):
    with open(os.path.join(WEB, path), "rb") as stream:
        return stream.read()


def sum_of_sources():
    """As web/build.mjs computes it."""
    paths = ["build.mjs", "package-lock.json"]
    for folder, _, names in os.walk(os.path.join(WEB, "src")):
        paths += [os.path.relpath(os.path.join(folder, name), WEB) for name in names]
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(path.encode() + b"\n" + read(path))
    return total.hexdigest()


def element(page, name):
    return re.search(r"<%s[^>]*>(.*?)</%s>" % (name, name), page, re.S).group(1)


def source_of(text):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def check_file():
    page = read("dist/index.html").decode("utf-8")
    check("built from these sources; otherwise run './dev web'", sum_of_sources() in page, sum_of_sources())
    check("size", len(page.encode("utf-8")) <= MOST_BYTES, len(page))
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page).group(1)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    check("rules", rules == {
        "default-src": "'none'", "script-src": source_of(element(page, "script")), "style-src": source_of(element(page, "style")),
        "connect-src": "'self'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'",
        "require-trusted-types-for": "'script'", "trusted-types": "'none'"}, rules)
    head = page[:page.index("<style>")]
    check("the policy comes before everything that it governs", head.index("Content-Security-Policy") < head.index("<link"), head)
    check("one script and one style", page.count("<style") == 1 and len(re.findall(r"<script[ >]", page)) == 1)
    check("nothing is fetched", not re.search(r'\s(src|href)="(?!data:)', head + page[page.rindex("</script>"):]))


def check_served(llmir, model):
    with Server(llmir, model, "--api-key", "k") as server:
        status, headers, data = server.request("GET", "/")
        check("the page", status == 200 and data == read("dist/index.html"), (status, len(data)))
        check("its type", headers["Content-Type"] == "text/html; charset=utf-8", headers)
        check("not in frames", headers.get("X-Frame-Options") == "DENY", headers)
        check("nothing else without a key", server.request("GET", "/v1/models")[0] == 401)


def run_browser(script, server, *arguments):
    url = "http://127.0.0.1:%d/" % server.port
    done = subprocess.run(["node", script, url, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    said = done.stdout.decode("utf-8", "replace")
    check("in the browser: %s" % " ".join(arguments), done.returncode == 0 and "the page works" in said, said + server.log())


def main():
    parser = work_parser(__doc__, "llmir", "demo")
    parser.add_argument("--browser")
    options = parser.parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    model, template = compile_demo(llmir, options)
    if not options.browser:
        check_file()
        check_served(llmir, model)
        return check.finish()
    with Server(llmir, model) as server:
        run_browser(options.browser, server, "text")
    with Server(llmir, model, "--template", template, "--api-key", "k") as server:
        run_browser(options.browser, server, "chat", "k")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
