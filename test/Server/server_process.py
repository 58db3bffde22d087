# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`llmir serve` as a process, and a client that uses the standard library only.

    with Server(llmir, model, "--max-num-seqs", "2") as server:
        status, answer = server.post("/v1/completions", {"prompt": "a"})
"""

import http.client
import json
import os
import re
import resource
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import quick_level  # noqa: E402

# The demo model's template, which has none of its own.
TEMPLATE = "{% for m in messages %}{{ m.content }} {% endfor %}"


class Server:
    """A server on a free port of loopback; ends with SIGTERM."""

    def __init__(self, llmir, model, *flags, tls=None, wait=True, files=None):
        """`files`: the soft and hard limit of open files."""
        line = [llmir.program, "serve", model, "--port", "0", *[str(flag) for flag in flags]]
        self.process = subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=llmir.environment,
                                        preexec_fn=files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, files)))
        self.pings = 0  # In streams.
        self.lines, self.port, self.tls = [], None, tls
        self.ready = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if wait and not self.ready.wait(120):
            raise SystemExit("the server is not ready: %s" % self.log())

    def read(self):
        for raw in self.process.stderr:
            line = raw.decode("utf-8", "replace")
            self.lines.append(line)
            found = re.search(r"listening on https?://[\d.]+:(\d+)", line)
            if found:
                self.port = int(found.group(1))
            if "ready after" in line:
                self.ready.set()
        self.ready.set()

    def log(self):
        return "".join(self.lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        self.reader.join(10)

    def connect(self, timeout=60):
        if self.tls:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def socket(self, timeout=60):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        return connection

    def request(self, method, path, body=None, headers=None):
        """The status, headers and bytes of an answer."""
        connection = self.connect()
        try:
            text = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode("utf-8")
            connection.request(method, path, text, dict({"Content-Type": "application/json"}, **(headers or {})))
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def post(self, path, body, headers=None):
        status, _, data = self.request("POST", path, body, headers)
        return status, json.loads(data.decode("utf-8"))

    def get(self, path, headers=None):
        status, _, data = self.request("GET", path, None, headers)
        return status, json.loads(data.decode("utf-8"))

    def stream(self, path, body, headers=None):
        """The events of a stream: (name, object); the last one is ("", "[DONE]") where the API has that."""
        status, heads, data = self.request("POST", path, body, headers)
        if status != 200 or not heads.get("Content-Type", "").startswith("text/event-stream"):
            raise SystemExit("no stream: %s %s %s" % (status, heads, data))
        self.pings += data.count(b": ping\n\n")
        return events(data)

    def engine(self, blocks=False):
        return self.get("/engine" + ("?blocks=1" if blocks else ""))[1]

    def wait_until(self, condition, seconds=20):
        """Whether a condition on GET /engine holds within a time."""
        end = time.time() + seconds
        while time.time() < end:
            if condition(self.engine()):
                return True
            time.sleep(0.02)
        return False

    def wait_until_log(self, text, seconds=10):
        end = time.time() + seconds
        while text not in self.log() and time.time() < end:
            time.sleep(0.02)
        return text in self.log()

    def is_idle(self):
        """All blocks are free or kept for their prefixes, soon."""
        return self.wait_until(lambda engine: engine["cache"]["used"] == 0 and engine["requests"]["running"] == 0
                               and engine["requests"]["waiting"] == 0
                               and engine["cache"]["free"] + engine["cache"]["idle"] == engine["cache"]["blocks"])


def events(data):
    result = []
    for block in data.decode("utf-8").split("\n\n"):
        if not block:
            continue
        name, text = "", ""
        for line in block.split("\n"):
            if line.startswith("event: "):
                name = line[len("event: "):]
            elif line.startswith("data: "):
                text += line[len("data: "):]
            elif line.startswith(": "):  # A comment.
                continue
            else:
                raise SystemExit("not an event: %r" % block)
        if not name and not text:
            continue
        result.append((name, text if text == "[DONE]" else json.loads(text)))
    return result


def insecure_tls():
    """Accepts any certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def certificate_flags(work):
    """The flags of a server with a certificate of its own, which is written to `work`; None without openssl."""
    certificate, key = os.path.join(work, "cert.pem"), os.path.join(work, "key.pem")
    try:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-keyout", key, "-out", certificate], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ("--tls-cert", certificate, "--tls-key", key)


def compile_demo(llmir, options):
    """The demo model as an artifact, and a file with a template."""
    model = os.path.join(options.work, "demo.llmir")
    llmir("compile", options.demo, "-o", model, "--target", quick_level())
    template = os.path.join(options.work, "template.jinja")
    with open(template, "w") as stream:
        stream.write(TEMPLATE)
    return model, template
