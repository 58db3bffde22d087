# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server on loopback that imitates the API of the Hugging Face Hub, with faults on request.

    with HubServer() as hub:
        hub.add("org/name", {"config.json": b"{}", "model.safetensors": Large(weights)})
        hub.fault("/resolve/", status=503, times=2)
        ... HF_ENDPOINT=hub.endpoint ...

Large files are redirected to a second port, as the Hub redirects to a CDN. `requests` lists what was asked for.
"""

import hashlib
import json
import re
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Large(bytes):
    """The content of a file that the Hub stores outside of Git."""

    @property
    def sha256(self):
        if not hasattr(self, "known_sha256"):
            self.known_sha256 = hashlib.sha256(self).hexdigest()
        return self.known_sha256


def git_hash(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def blob_name(data):
    """The name of the content in the cache."""
    return data.sha256 if isinstance(data, Large) else git_hash(data)


class Fault:
    """Changes answers to requests whose path contains `path`: the first `times` after `skip` of them.

    status, headers, body: the answer. cut: bytes of the body after which the connection is closed. stall: likewise,
    but it stays open. edit: a function from the body to another. pace: bytes per second. no_ranges: answers 200."""

    def __init__(self, path, times=1, skip=0, host=None, **what):
        self.path, self.times, self.skip, self.host, self.what = path, times, skip, host, what


class HubServer:
    def __init__(self):
        self.repositories, self.faults, self.requests = {}, [], []
        self.renamed = {}  # Old names, to which requests are redirected.
        self.lock = threading.Lock()
        self.page = 1000  # Entries of a page of the list of files.
        self.token = None  # The only token that the Hub accepts.
        self.hub, self.cdn = self.start("hub"), self.start("cdn")
        self.endpoint = "http://127.0.0.1:%d" % self.hub.server_port
        self.store = "http://127.0.0.1:%d" % self.cdn.server_port

    def start(self, name):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # Clients that go away.
        server.owner, server.role = self, name
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in (self.hub, self.cdn):
            server.shutdown()
            server.server_close()

    def add(self, name, files, commit=COMMIT):
        self.repositories[name] = (commit, files)

    def fault(self, path, times=1, skip=0, host=None, **what):
        self.faults.append(Fault(path, times, skip, host, **what))

    def reset(self):
        with self.lock:
            self.faults, self.requests, self.token, self.page = [], [], None, 1000

    def fault_for(self, role, path):
        with self.lock:
            for fault in self.faults:
                if fault.path in path and fault.host in (None, role):
                    if fault.skip > 0:
                        fault.skip -= 1
                    elif fault.times > 0:
                        fault.times -= 1
                        return fault.what
        return {}

    def count(self, path):
        with self.lock:
            return sum(path in request["path"] for request in self.requests)

    def sent_bytes(self, path=""):
        """Bytes of bodies that were sent for such paths."""
        with self.lock:
            return sum(request["sent"] for request in self.requests if path in request["path"])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        owner = self.server.owner
        record = {"role": self.server.role, "path": self.path, "headers": dict(self.headers), "sent": 0}
        with owner.lock:
            owner.requests.append(record)
        self.record = record
        try:
            self.answer(owner.fault_for(self.server.role, unquote(self.path)))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def answer(self, fault):
        if fault.get("close"):
            self.close_connection = True
            return
        if fault.get("raw") is not None:  # The whole answer, as bytes.
            self.wfile.write(fault["raw"])
            self.close_connection = True
            return
        if "status" in fault:
            return self.send(fault["status"], fault.get("headers", {}), fault.get("body", b""), fault)
        status, headers, body = self.store(fault) if self.server.role == "cdn" else self.route(fault)
        headers.update(fault.get("headers", {}))
        if "edit" in fault:
            body = fault["edit"](body)
        self.send(status, headers, body, fault)

    def send(self, status, headers, body, fault):
        self.send_response(status)
        headers = dict(headers)
        if "Content-Length" not in headers and not fault.get("no_length"):
            headers["Content-Length"] = str(len(body))
        if fault.get("no_length"):
            headers["Connection"] = "close"
            self.close_connection = True
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        end = fault.get("cut", fault.get("stall", len(body)))
        step = 1 << 16
        if "pace" in fault:
            step = max(1, fault["pace"] // 50)
        for at in range(0, min(end, len(body)), step):
            part = body[at:min(at + step, end)]
            self.wfile.write(part)
            self.record["sent"] += len(part)
            if "pace" in fault:
                time.sleep(0.02)
        self.wfile.flush()
        if "stall" in fault:
            time.sleep(fault.get("seconds", 5))
        if end < len(body) or "stall" in fault:
            self.close_connection = True
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def error(self, status, code=None, message=None):
        headers = {"X-Error-Code": code, "X-Error-Message": message}
        return status, headers, json.dumps({"error": message}).encode()

    def route(self, fault):
        """The Hub itself."""
        owner = self.server.owner
        path = urlsplit(self.path).path
        given = self.headers.get("Authorization")
        if owner.token and given != "Bearer " + owner.token:
            return self.error(401, "RepoNotFound", "Invalid username or password.")
        for old, new in owner.renamed.items():
            if re.match(r"/(api/models/)?%s/" % re.escape(old), path):
                return 307, {"Location": self.path.replace(old, new, 1)}, b""
        match = re.match(r"/api/models/([^/]+/[^/]+|[^/]+)/(revision|tree)/([^/]+)$", path)
        if match:
            repository = owner.repositories.get(match.group(1))
            if not repository:
                return self.error(401, "RepoNotFound", "Repository not found")
            commit, files = repository
            if unquote(match.group(3)) not in ("main", "refs/pr/1", commit):
                return self.error(404, "RevisionNotFound", "Invalid rev id")
            if match.group(2) == "revision":
                return 200, {"Content-Type": "application/json"}, json.dumps(
                    {"id": match.group(1), "sha": commit, "siblings": [{"rfilename": name} for name in files]}).encode()
            return self.tree(files)
        match = re.match(r"/([^/]+/[^/]+|[^/]+)/resolve/([^/]+)/(.+)$", path)
        if match:
            repository = owner.repositories.get(match.group(1))
            if not repository:
                return self.error(401, "RepoNotFound", "Repository not found")
            return self.resolve(match.group(1), repository, unquote(match.group(3)), fault)
        match = re.match(r"/api/resolve-cache/models/(.+)/([0-9a-f]{40})/(.+)$", path)
        if match:
            return self.content(owner.repositories[match.group(1)][1][unquote(match.group(3))], fault)
        return self.error(404, None, "no such page")

    def tree(self, files):
        owner = self.server.owner
        start = int(parse_qs(urlsplit(self.path).query).get("cursor", ["0"])[0])
        entries = []
        for name, data in sorted(files.items()):
            entry = {"type": "file", "path": name, "size": len(data)}
            if isinstance(data, Large):
                entry["oid"] = git_hash(b"pointer")
                entry["lfs"] = {"oid": blob_name(data), "size": len(data), "pointerSize": 135}
                entry["xetHash"] = "f" * 64
            else:
                entry["oid"] = git_hash(data)
            entries.append(entry)
        for folder in {name.rsplit("/", 1)[0] for name in files if "/" in name}:
            entries.append({"type": "directory", "path": folder, "size": 0, "oid": "0" * 40})
        headers = {"Content-Type": "application/json"}
        if start + owner.page < len(entries):
            headers["Link"] = '<%s%s?recursive=true&cursor=%d>; rel="next"' % (
                owner.endpoint, urlsplit(self.path).path, start + owner.page)
        return 200, headers, json.dumps(entries[start:start + owner.page]).encode()

    def resolve(self, name, repository, path, fault):
        commit, files = repository
        if path not in files:
            return self.error(404, "EntryNotFound", "Entry not found")
        data = files[path]
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if isinstance(data, Large):
            headers.update({"X-Linked-Etag": '"%s"' % blob_name(data), "X-Linked-Size": str(len(data)),
                            "Location": "%s/store/%s/%s?signature=s" % (self.server.owner.store, name, path)})
            return 302, headers, b"Found"
        headers["Location"] = "/api/resolve-cache/models/%s/%s/%s" % (name, commit, path)
        return (307, headers, b"") if data else self.content(data, fault)

    def store(self, fault):
        """The CDN: refuses the Hub's token."""
        if self.headers.get("Authorization"):
            return 400, {}, b"only one authorization is allowed"
        match = re.match(r"/store/([^/]+/[^/]+|[^/]+?)/(.+)$", unquote(urlsplit(self.path).path))
        return self.content(self.server.owner.repositories[match.group(1)][1][match.group(2)], fault)

    def content(self, data, fault):
        headers = {"Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"}
        headers["ETag"] = '"%s"' % (blob_name(data) if self.server.role == "hub" else "md5-of-parts-7")
        match = re.match(r"bytes=(\d+)-(\d+)$", self.headers.get("Range", ""))
        if not match or fault.get("no_ranges"):
            return 200, headers, data
        first, last = int(match.group(1)), min(int(match.group(2)), len(data) - 1)
        if first >= len(data):
            return 416, headers, b""
        headers["Content-Range"] = "bytes %d-%d/%d" % (first, last, len(data))
        return 206, headers, bytes(data[first:last + 1])
