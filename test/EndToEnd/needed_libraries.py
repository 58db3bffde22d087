# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads `readelf -d` on stdin; fails for a library that running a model should not require."""

import re
import sys

EXPECTED = {
    "libpcre2-8", "libutf8proc",  # The tokenizer.
    "libedit",  # llmir chat.
    "libssl", "libcrypto",  # llmir serve.
    "libstdc++", "libm", "libgcc_s", "libc", "libpthread", "libdl",
    "ld-linux-x86-64", "ld-linux-aarch64",
    "libasan", "libubsan", "libtsan", "libresolv",  # In builds with sanitizers.
}

needed = re.findall(r"\(NEEDED\).*\[([^\]]+)\]", sys.stdin.read())
unexpected = [name for name in needed if name.split(".so")[0] not in EXPECTED]
if not needed or unexpected:
    sys.exit("needed: %s; not expected: %s" % (", ".join(needed), ", ".join(unexpected)))
