#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`llmir pull` and answers that are wrong or hostile: one clear line each, in time, and nothing wrong is kept.

    hostile_answers.py --llmir PROGRAM --work DIR
"""

import gzip
import json
import os
import resource
import ssl
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from hub_checks import Puller, last_line, random_bytes  # noqa: E402
from hub_server import COMMIT, HubServer, Large  # noqa: E402
from checks import Checks, fresh_folder, work_parser  # noqa: E402

MIB = 1 << 20
WEIGHTS = Large(random_bytes(17 * MIB, 3))
MODEL = {"config.json": b"{}", "model.safetensors": WEIGHTS}
SHA256 = "a" * 64

check = Checks()


def entry(path, size=2, **more):
    return dict({"type": "file", "path": path, "size": size, "oid": "b" * 40}, **more)


def tree(*entries):
    return dict(path="/tree/", edit=lambda body: json.dumps(list(entries)).encode())


def api(text):
    return dict(path="/revision/", edit=lambda body: text if isinstance(text, bytes) else json.dumps(text).encode())


def listing(text):
    return dict(path="/tree/", edit=lambda body: text)


def header(path, **headers):
    return dict(path=path, headers={name.replace("_", "-"): value for name, value in headers.items()})


def flipped(body):
    return bytes([body[0] ^ 1]) + bytes(body[1:])


GGUF = "model-Q8_0.gguf"

# The fault, and what the line must contain.
CASES = [
    # The commit.
    ("an empty answer", api(b""), "not an answer of the Hub"),
    ("a page of HTML", api(b"<html><body>Sign in to the network</body></html>"), "not an answer of the Hub"),
    ("JSON of the wrong type", api([1, 2]), "expected an object"),
    ("no commit", api({"id": "org/name"}), "'sha' is missing"),
    ("a commit that is a path", api({"sha": "../../../../tmp/evil"}), "expected a commit"),
    ("a commit in upper case", api({"sha": COMMIT.upper()}), "expected a commit"),
    ("a commit that is a number", api({"sha": 12}), "expected a string"),
    ("deep nesting", api(b"[" * 100000 + b"]" * 100000), "nest"),
    ("truncated JSON", dict(path="/revision/", edit=lambda body: body[:-5]), "not an answer of the Hub"),
    ("invalid UTF-8", api(b'{"sha": "\xff\xfe"}'), "not an answer of the Hub"),
    ("a key twice", api(b'{"sha": "%s", "sha": "%s"}' % ((COMMIT.encode(),) * 2)), "twice"),
    ("64 MiB of JSON", api(b" " * (65 * MIB)), "more than 67108864 bytes"),
    ("compressed JSON", dict(path="/revision/", edit=gzip.compress, headers={"Content-Encoding": "gzip"}), "compressed"),
    # The list of files.
    ("a list that is an object", listing(b'{"error": 1}'), "expected an array"),
    ("an empty list", tree(), "neither model.safetensors"),
    ("numbers in the list", listing(b"[1, 2]"), "expected an object"),
    ("a parent directory", tree(entry("config.json"), entry("../../evil.gguf")), "leaves its directory"),
    ("an absolute path", tree(entry("/tmp/evil.gguf")), "absolute"),
    ("a backslash", tree(entry("..\\evil.gguf")), "backslash"),
    ("a drive", tree(entry("C:/evil.gguf")), "drive"),
    ("a dot", tree(entry("a/./evil.gguf")), "leaves its directory"),
    ("an empty component", tree(entry("a//evil.gguf")), "empty component"),
    ("control characters", tree(entry("\x1b]0;evil\x07.gguf")), "control character"),
    ("a line end", tree(entry("a\nllmir: all is well.gguf")), "control character"),
    ("a long component", tree(entry("x" * 300 + ".gguf")), "255 bytes"),
    ("a long path", tree(entry("x/" * 600 + "m.gguf")), "1024 bytes"),
    ("an empty name", tree(entry("")), "empty"),
    ("a name that is a number", tree(entry(7)), "expected a string"),
    ("a name twice", tree(entry("config.json"), entry("config.json")), "listed twice"),
    ("no hash", tree({"type": "file", "path": GGUF, "size": 1}), "'oid' is missing"),
    ("a hash that is a path", tree(entry(GGUF, oid="../" + "b" * 37)), "expected a SHA-1"),
    ("a large file's hash that is short", tree(entry(GGUF, lfs={"oid": "b" * 40, "size": 1})), "expected a SHA-256"),
    ("a negative size", tree(entry(GGUF, -1)), "'size' is -1"),
    ("a fractional size", tree(entry(GGUF, 1.5)), "'size' is 1.5"),
    ("a size of 2^62", tree(entry(GGUF, 1 << 62)), "'size' is"),
    ("a size of 16 TB", tree(entry(GGUF, 0, lfs={"oid": SHA256, "size": 1 << 44})), "free"),
    ("a size that is a text", tree(entry(GGUF, "1e9")), "expected an integer"),
    ("files of the Hub that is a number", tree(entry(GGUF, lfs=5)), "expected an object"),
    ("a file that is a directory, too", tree(entry("a.gguf", 0), entry("a.gguf/b.gguf", 0)), "2 models"),
    ("a next page elsewhere", header("/tree/", Link='<http://example.com/x>; rel="next"'), "example.com"),
    ("a next page that is a file", header("/tree/", Link='<file:///etc/passwd>; rel="next"'), "address"),
    ("pages without end", dict(path="/tree/", times=10**6, headers={"Link": '<?recursive=true&cursor=0>; rel="next"'},
                               edit=lambda body: b"[]"), "pages"),
    # Redirects.
    ("a loop of redirects", dict(path="/resolve/", times=99, status=302, headers={"Location": "?again"}), "more than 5 times"),
    ("a redirect to nowhere", dict(path="/resolve/", times=99, status=302), "without an address"),
    ("a redirect to a file", dict(path="/resolve/", times=99, status=302, headers={"Location": "file:///etc/passwd"}),
     "neither https nor http"),
    ("a redirect with a password", dict(path="/resolve/", times=99, status=302,
                                        headers={"Location": "http://a:b@127.0.0.1/"}), "bad address"),
    ("a redirect to gopher", dict(path="/resolve/", times=99, status=302, headers={"Location": "gopher://127.0.0.1/"}),
     "bad address"),
    ("a long redirect", dict(path="/resolve/", times=99, status=302, headers={"Location": "/" + "x" * 20000}), "16384"),
    # Contents.
    ("a wrong hash", dict(path="/store/", times=99, edit=flipped), "its hash is"),
    ("a small file with a wrong hash", dict(path="/resolve-cache/", times=99, edit=lambda body: b"[]"), "its hash is"),
    ("another tag", header("/resolve/main", X_Linked_Etag="x"), None),
    ("a changed file", dict(path="/resolve/", times=99, headers={"X-Linked-Etag": '"%s"' % SHA256}), "its hash is now"),
    ("a longer file", dict(path="/store/", times=99, no_ranges=True, edit=lambda body: bytes(body) + b"x"), "bytes; expected"),
    ("a shorter file", dict(path="/store/", times=99, no_ranges=True, edit=lambda body: bytes(body[:-1])), "bytes; expected"),
    ("more than was announced", dict(path="/store/", times=99, no_ranges=True, no_length=True,
                                     edit=lambda body: bytes(body) + b"x"), "more than"),
    ("less than was announced", dict(path="/store/", times=99, cut=1000), "model.safetensors"),
    ("another range", dict(path="/store/", times=99, headers={"Content-Range": "bytes 5-16777220/17825792"}), "expected those"),
    ("a range of another file", dict(path="/store/", times=99, headers={"Content-Range": "bytes 0-16777215/99"}), "expected those"),
    ("no range", dict(path="/store/", times=99, headers={"Content-Range": None}), "expected those"),
    ("compressed contents", dict(path="/store/", times=99, headers={"Content-Encoding": "gzip"}), "compressed"),
    ("no content", dict(path="/store/", times=99, status=204), "204"),
    ("endless headers", dict(path="/store/", times=99, raw=b"HTTP/1.1 200 OK\r\n" + b"X: %s\r\n" % (b"y" * 1000) * 400),
     "headers"),
    ("no HTTP", dict(path="/store/", times=99, raw=b"SSH-2.0-OpenSSH_9.2\r\n"), "127.0.0.1"),
    ("HTTP 0", dict(path="/store/", times=99, raw=b"HTTP/1.1 0 no\r\nContent-Length: 0\r\n\r\n"), "127.0.0.1"),
    ("416 for ever", dict(path="/store/", times=99, status=416), "416"),
    ("418", dict(path="/resolve/", times=99, status=418), "418"),
    ("404 of a file", dict(path="/resolve/", times=99, status=404, headers={"X-Error-Code": "EntryNotFound"}), "no longer"),
    ("a message that is no line", dict(path="/revision/", times=99, status=401, headers={
        "X-Error-Code": "GatedRepo", "X-Error-Message": "\x1b[2J" + "x" * 5000}), "gated"),
    ("a wait of a year", dict(path="/revision/", times=99, status=429, headers={"Retry-After": "31536000"}), "wait"),
    ("a wait that is no number", dict(path="/revision/", times=99, status=429, headers={"Retry-After": "-5"}), "429"),
]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


def check_cases(pull):
    pull.use("hostile")
    # Builds with sanitizers need terabytes of addresses.
    can_limit = subprocess.run([pull.llmir.program, "--version"], preexec_fn=limited, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL).returncode == 0
    for name, fault, needle in CASES:
        pull.use("hostile")
        pull.hub.fault(**fault)
        start = time.monotonic()
        done = subprocess.run([pull.llmir.program, "pull", "org/name", "--retries", "1"], env=pull.llmir.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              preexec_fn=limited if can_limit else None)
        seconds = time.monotonic() - start
        error = done.stderr.decode("utf-8", "replace")
        line = error.splitlines()[-1] if error else ""
        if needle is None:
            check(name, done.returncode == 0 and pull.has("org/name", MODEL), error)
            continue
        check(name, done.returncode == 1 and not done.stdout and line.startswith("llmir: ") and needle in line and
              "; " in line and len(line) < 2100 and "\x1b" not in error and seconds < 10, (done.returncode, seconds, error))
        check(name + ": nothing wrong is kept", not os.path.exists(pull.snapshot("org/name")) and
              not os.path.exists(os.path.join(pull.folder("org/name"), "refs")) and
              pull.are_blobs_right("org/name"), pull.blobs("org/name"))
    outside = [name for name in os.listdir(pull.work) if "evil" in name]
    check("nothing is written elsewhere", not outside and not os.path.exists("/tmp/evil.gguf"), outside)


def check_index(pull):
    """The index of safetensors is untrusted as well."""
    def index(value):
        return json.dumps({"weight_map": value}).encode()

    for name, text, needle in [
            ("no JSON", b"weights", "index.json"),
            ("no map", b"{}", "'weight_map' is missing"),
            ("an empty map", index({}), "is empty"),
            ("a parent directory", index({"a": "../../x.safetensors"}), "leaves its directory"),
            ("an absolute shard", index({"a": "/etc/x.safetensors"}), "absolute"),
            ("a shard of another kind", index({"a": "/etc/passwd"}), "expected the name"),
            ("a shard that is a number", index({"a": 1}), "expected the name"),
            ("a shard that is absent", index({"a": "b.safetensors"}), "missing"),
            ("deep nesting", b"[" * 5000, "nest")]:
        pull.use("index")
        pull.hub.add("org/index", {"config.json": b"{}", "model.safetensors.index.json": text})
        answer = pull("org/index")
        check("an index with " + name, answer.code == 1 and answer.err.count("\n") == 1 and needle in answer.err, answer)


def check_certificates(pull):
    """TLS: certificates are checked, and can be those of a proxy."""
    key, certificate = (os.path.join(pull.work, name) for name in ("key.pem", "certificate.pem"))
    try:
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key,
                               "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    except OSError:
        made = 1
    if made:
        check.skip("certificates", "there is no openssl")
        return
    pull.use("tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    plain = pull.hub.hub.socket
    pull.hub.hub.socket = context.wrap_socket(plain, server_side=True)
    endpoint = pull.hub.endpoint.replace("http:", "https:")
    answer = pull("org/name:config.json", HF_ENDPOINT=endpoint)
    check("an unknown certificate", answer.code == 1 and answer.err.count("\n") == 1 and "certificate" in answer.err
          and "SSL_CERT_FILE" in answer.err, answer)
    answer = pull("org/name:config.json", HF_ENDPOINT=endpoint, SSL_CERT_FILE=certificate)
    check("a known certificate", answer.code == 0, answer)
    answer = pull("org/name", HF_ENDPOINT=endpoint, SSL_CERT_FILE=certificate)
    check("no redirect from https to http", answer.code == 1 and "from https to http" in last_line(answer), answer)


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    with HubServer() as hub:
        hub.add("org/name", MODEL)
        pull = Puller(options.llmir, options.work, hub)
        check_cases(pull)
        check_index(pull)
        check_certificates(pull)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
