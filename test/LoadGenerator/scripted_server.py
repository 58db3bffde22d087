# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server on loopback with the form of OpenAI's API, which says what it is told to.

    with ScriptedServer() as server:
        server.answer = lambda request: Script(["a", "b"], pause=0.01)
        ... server.base ...

`requests` has the bodies of the requests for text, in the order of their arrival.
"""

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Script:
    """An answer. texts: a chunk each. first, pause: seconds before the first chunk, and between chunks. status, body: an
    answer that is no stream. cut: the connection ends after so many chunks. usage: whether there is one. cached: tokens
    found in the cache; None: the server does not say. error: an error in the stream after the chunks. slow_bytes: each byte
    is sent alone. meets: a barrier that the request waits for."""

    def __init__(self, texts=("a", "b", "c"), first=0, pause=0, status=200, body="", cut=None, usage=True, cached=0,
                 error=None, slow_bytes=False, meets=None):
        self.texts, self.first, self.pause, self.status, self.body, self.cut = texts, first, pause, status, body, cut
        self.usage, self.cached, self.error, self.slow_bytes, self.meets = usage, cached, error, slow_bytes, meets


class ScriptedServer:
    def __init__(self):
        self.answer = lambda request: Script()
        self.tokens = list(range(100, 200))  # What /tokenize says; None: 404.
        self.busy = 0  # Requests for the models that are answered with 503.
        self.key = None
        self.lock = threading.Lock()
        self.reset()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.owner = self
        self.base = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def reset(self):
        self.requests, self.paths, self.running, self.peak = [], [], 0, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *_):
        pass  # Clients that go away.


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def is_allowed(self):
        owner = self.server.owner
        with owner.lock:
            owner.paths.append(self.path)
        if owner.key and self.headers.get("Authorization") != "Bearer " + owner.key:
            self.reply(401, {"error": {"message": "there is no valid key"}})
            return False
        return True

    def reply(self, status, body):
        data = (body if isinstance(body, str) else json.dumps(body)).encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        owner = self.server.owner
        if not self.is_allowed():
            return
        with owner.lock:
            is_busy = owner.busy > 0
            owner.busy -= is_busy
        if is_busy:
            self.reply(503, {"error": {"message": "the model is being loaded"}})
        elif self.path == "/v1/models":
            self.reply(200, {"object": "list", "data": [{"id": "scripted"}, {"id": "other"}]})
        else:
            self.reply(404, "no such page")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8"))
        owner = self.server.owner
        if not self.is_allowed():
            return
        if self.path == "/tokenize":
            if owner.tokens is None:
                return self.reply(404, "no such page")
            return self.reply(200, {"tokens": owner.tokens})
        with owner.lock:
            owner.requests.append(body)
            owner.running += 1
            owner.peak = max(owner.peak, owner.running)
        script = owner.answer(body)
        try:
            if script.meets:
                script.meets.wait(60)
            if script.status != 200:
                self.leave()
                return self.reply(script.status, script.body)
            self.stream(body, script)
        finally:
            self.leave()

    def leave(self):
        """The request is not running any longer: once, before its end can be seen."""
        owner = self.server.owner
        with owner.lock:
            owner.running -= not getattr(self, "has_left", False)
            self.has_left = True

    def handle_one_request(self):
        self.has_left = False
        super().handle_one_request()

    def send(self, text, slow):
        data = text.encode("utf-8")
        for piece in ([data[i:i + 1] for i in range(len(data))] if slow else [data]):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    def event(self, data, script):
        self.send("data: %s\r\n\r\n" % (data if isinstance(data, str) else json.dumps(data)), script.slow_bytes)

    def stream(self, body, script):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        is_chat = self.path == "/v1/chat/completions"
        time.sleep(script.first)
        for i, text in enumerate(script.texts):
            if i == script.cut:
                self.close_connection = True
                return
            time.sleep(script.pause if i else 0)
            reason = "length" if i + 1 == len(script.texts) else None
            choice = {"delta": {"content": text}} if is_chat else {"text": text}
            self.event({"choices": [dict(choice, index=0, finish_reason=reason)]}, script)
        if script.error:
            self.event({"error": {"message": script.error}}, script)
        if script.usage:
            self.event({"choices": [], "usage": self.usage(body, script)}, script)
        self.leave()
        self.event("[DONE]", script)
        self.wfile.write(b"0\r\n\r\n")

    @staticmethod
    def usage(body, script):
        """Two tokens for each chunk, so that a client that counts chunks is found out."""
        usage = {"prompt_tokens": len(body.get("prompt", body.get("messages"))), "completion_tokens": 2 * len(script.texts)}
        if script.cached is not None:
            usage["prompt_tokens_details"] = {"cached_tokens": script.cached}
        return usage
