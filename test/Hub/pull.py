#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`llmir pull` against a server on loopback that imitates the Hub.

    pull.py --llmir PROGRAM --work DIR
"""

import json
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from hub_checks import Puller, is_one_line, last_line, random_bytes  # noqa: E402
from hub_server import COMMIT, HubServer, Large, blob_name  # noqa: E402
from checks import Checks, fresh_folder, work_parser  # noqa: E402

MIB = 1 << 20
BIG = Large(random_bytes(33 * MIB + 12345, 1))  # Three pieces.
SMALL = {"config.json": b'{"model_type": "llama"}', "tokenizer.json": b"{}", "1_Pooling/config.json": b"{}",
         "generation_config.json": b""}
MODEL = dict(SMALL, **{"model.safetensors": BIG})
OTHERS = {"README.md": b"#", "pytorch_model.bin": Large(b"pickle"), "onnx/model.onnx": Large(b"onnx"),
          "model.fp32.safetensors": Large(b"other")}

check = Checks()


def check_layout(pull):
    pull.use("layout")
    plan = pull("org/name", "--dry-run")
    check("--dry-run downloads nothing", plan.code == 0 and not plan.out and not os.listdir(pull.cache), plan)
    check("the plan has names and sizes", "5 files, 34.6 MB" in plan.err and
          re.search(r"model\.safetensors +34\.6 MB\n", plan.err) and "README" not in plan.err, plan)
    plan = json.loads(pull("org/name", "--dry-run", "--json").out)
    check("--dry-run --json", plan["bytes"] == sum(map(len, set(MODEL.values()))) and plan["present_bytes"] == 0
          and [f["path"] for f in plan["files"]] == sorted(MODEL), plan)
    answer = pull("org/name")
    check("a model is downloaded", answer.code == 0 and answer.out == pull.snapshot("org/name") + "\n"
          and pull.has("org/name", MODEL), answer)
    check("no progress without a terminal", "\r" not in answer.err, answer)
    with open(os.path.join(pull.folder("org/name"), "refs", "main"), "rb") as stream:
        check("the branch is recorded", stream.read() == COMMIT.encode())
    ranges = {request["headers"].get("Range") for request in pull.hub.requests if request["role"] == "cdn"}
    check("in ranges", len(ranges) == 3 and "bytes=0-16777215" in ranges, ranges)
    check("as HTTP clients should", all(request["headers"]["Accept-Encoding"] == "identity" and
                                        request["headers"]["User-Agent"].startswith("llmir/")
                                        for request in pull.hub.requests))
    pull.hub.reset()
    again = pull("org/name", "--json")
    result = json.loads(again.out)
    check("nothing is downloaded twice", again.code == 0 and not again.err and pull.hub.count("/resolve") == 0
          and result["downloaded_bytes"] == 0 and result["path"] == pull.snapshot("org/name"), again)


def check_revisions(pull):
    pull.use("revisions")
    folder = pull.folder("org/name")
    answer = pull("org/name@refs/pr/1:config.json")
    check("a revision and a file", answer.code == 0 and pull.has("org/name", {"config.json": MODEL["config.json"]})
          and os.path.isfile(os.path.join(folder, "refs", "refs", "pr", "1")), answer)
    check("is percent-encoded", pull.hub.count("/revision/refs%2Fpr%2F1") == 1, pull.hub.requests)
    answer = pull("org/name@%s:tokenizer.json" % COMMIT)
    check("a commit has no name", answer.code == 0 and os.listdir(os.path.join(folder, "refs")) == ["refs"], answer)
    answer = pull("org/name@v9")
    check("an unknown revision", is_one_line(answer, "no such revision"), answer)
    answer = pull("org/old")
    check("a renamed model", answer.code == 0 and pull.has("org/old", MODEL), answer)
    answer = pull("gpt:config.json")
    check("a name without organization", answer.code == 0, answer)


def check_choice(pull):
    pull.use("choice")
    answer = pull("org/gguf")
    check("an ambiguous model lists the choices", is_one_line(
        answer, "has 4 models", "org/gguf:", "Q4_K_M (4 B)", "IQ2_XXS", "Q8_0", "BF16 (7 B)"), answer)
    check("without projectors", "mmproj" not in answer.err, answer)
    answer = pull("org/gguf:q4_k")
    check("an absent quantization", is_one_line(answer, "neither a file nor a quantization 'q4_k'", "Q4_K_M"), answer)
    answer = pull("org/gguf:q4_k_m")
    check("a quantization, in any case", answer.out == pull.snapshot("org/gguf", "a-Q4_K_M.gguf") + "\n", answer)
    answer = pull("org/gguf:BF16")
    check("all parts of a split model", answer.out == pull.snapshot("org/gguf", "b", "a-BF16-00001-of-00002.gguf") + "\n"
          and os.path.isfile(pull.snapshot("org/gguf", "b", "a-BF16-00002-of-00002.gguf")), answer)
    answer = pull("org/gguf:a-Q8_0.gguf")
    check("a file", answer.out == pull.snapshot("org/gguf", "a-Q8_0.gguf") + "\n", answer)
    answer = pull("org/pickle")
    check("only pickles", is_one_line(answer, "pickled", "pytorch_model.bin"), answer)
    answer = pull("org/split")
    check("an index with a missing shard", is_one_line(answer, "model-00002-of-00002.safetensors", "missing"), answer)
    answer = pull("org/sharded", "--json")
    names = [f["path"] for f in json.loads(answer.out)["files"]]
    check("the shards of the index", names == ["config.json", "model-1.safetensors", "model-2.safetensors",
                                               "model.safetensors.index.json"], answer)
    pull.hub.page = 2
    answer = pull("org/gguf:Q8_0")
    check("a listing of several pages", answer.code == 0 and pull.hub.count("cursor=") == 3, answer)


def check_token(pull):
    pull.use("token")
    pull.hub.token = "hf_secret"
    answer = pull("org/name")
    check("no token", is_one_line(answer, "401", "HF_TOKEN"), answer)
    answer = pull("org/name", HF_TOKEN="hf_wrong")
    check("a wrong token", is_one_line(answer, "401", "token") and "hf_wrong" not in answer.err, answer)
    answer = pull("org/name", HF_TOKEN="hf_secret\nX-Other: 1")
    check("a token that is no word", answer.code == 2 and "HF_TOKEN" in answer.err and "secret" not in answer.err, answer)
    answer = pull("org/name", HF_TOKEN="hf_secret")
    check("a token", answer.code == 0 and pull.has("org/name", MODEL), answer)
    stores = [request for request in pull.hub.requests if request["role"] == "cdn"]
    check("other hosts do not get it", stores and not any("Authorization" in r["headers"] for r in stores), stores)
    pull.use("token-file")
    pull.hub.token = "hf_filed"
    home = os.path.join(pull.work, "hf-home")
    fresh_folder(home)
    with open(os.path.join(home, "token"), "w", encoding="utf-8") as stream:
        stream.write("hf_filed\n")
    del pull.llmir.environment["HF_HUB_CACHE"]
    answer = pull("org/name:config.json", HF_HOME=home)
    check("the token file and the cache of HF_HOME", answer.out.startswith(os.path.join(home, "hub", "models--org")), answer)
    pull.use("gated")
    pull.hub.fault("/resolve/", times=99, status=403, headers={
        "X-Error-Code": "GatedRepo", "X-Error-Message": "Access to model org/name is restricted."})
    answer = pull("org/name", HF_TOKEN="hf_any")
    check("a gated model", answer.code == 1 and "gated" in last_line(answer) and "accept" in last_line(answer), answer)
    pull.use("offline")
    answer = pull("org/name", HF_HUB_OFFLINE="1")
    check("offline", is_one_line(answer, "HF_HUB_OFFLINE") and not pull.hub.requests, answer)


def check_retries(pull):
    cases = [
        ("503", dict(path="/resolve/", status=503)),
        ("502 of the CDN", dict(path="/store/", status=502)),
        ("500 of the API", dict(path="/api/", status=500)),
        ("429 with Retry-After", dict(path="/store/", status=429, headers={"Retry-After": "1"})),
        ("429 with RateLimit", dict(path="/resolve/", status=429, headers={"RateLimit": '"resolvers";r=0;t=0'})),
        ("a closed connection", dict(path="/store/", close=True)),
        ("a cut body", dict(path="/store/", cut=3 * MIB)),
        ("a cut small body", dict(path="/resolve-cache/", cut=3)),
        ("a stalled body", dict(path="/store/", stall=MIB, seconds=4)),
        ("an expired address", dict(path="/store/", status=403, skip=1)),
        ("a body without length that is short", dict(path="/store/", cut=MIB, no_length=True)),
        ("a server without ranges", dict(path="/store/", times=99, no_ranges=True)),
        ("a body without length", dict(path="/store/", times=99, no_length=True)),
    ]
    for name, fault in cases:
        pull.use("retries")
        pull.hub.fault(**fault)
        answer = pull("org/name", "--retries", "2", HF_HUB_DOWNLOAD_TIMEOUT="1")
        check(name, answer.code == 0 and pull.has("org/name", MODEL), answer)
        if name == "429 with Retry-After":
            check("the wait is told", "asks to wait 1 s" in answer.err, answer)
        if name == "a cut body":
            check("only the rest is sent again", pull.hub.sent_bytes("/store/") <= len(BIG) + 65536,
                  pull.hub.sent_bytes("/store/"))
    pull.use("gone")
    pull.hub.fault("/store/", times=99, status=503)
    start = time.monotonic()
    answer = pull("org/name", "--retries", "1")
    check("a CDN that stays away", answer.code == 1 and "503" in last_line(answer) and "later" in last_line(answer)
          and time.monotonic() - start < 20, answer)
    pull.use("limit")
    pull.hub.fault("/api/", times=99, status=429, headers={"Retry-After": "3600"})
    answer = pull("org/name")
    check("a long wait is left to the user", is_one_line(answer, "429", "wait 3600 s"), answer)


def received_bytes(pull):
    """What the unfinished download of the model has received, from its state: a number per piece after the header."""
    try:
        with open(os.path.join(pull.folder("org/name"), "blobs", blob_name(BIG) + ".llmir.parts"), "rb") as stream:
            state = stream.read()[32:]
    except OSError:
        return 0
    return sum(struct.unpack("=%dQ" % (len(state) // 8), state))


def kill_halfway(pull):
    """Starts a pull and kills it when half of the model was received."""
    pull.hub.fault("/store/", times=99, pace=10 * MIB)
    process = subprocess.Popen([pull.llmir.program, "pull", "org/name"], env=pull.llmir.environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while received_bytes(pull) < len(BIG) / 2 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()


def check_resume(pull):
    pull.use("resume")
    kill_halfway(pull)
    check("an unfinished model has no name", not os.path.exists(pull.snapshot("org/name")) and
          not os.path.exists(os.path.join(pull.folder("org/name"), "refs", "main")) and
          blob_name(BIG) not in pull.blobs("org/name"), pull.blobs("org/name"))
    pull.hub.reset()
    plan = json.loads(pull("org/name", "--dry-run", "--json").out)
    check("the plan has what is present", plan["present_bytes"] >= 0.5 * len(BIG), plan)
    answer = pull("org/name")
    sent = pull.hub.sent_bytes("/store/")
    check("a killed download continues", answer.code == 0 and pull.has("org/name", MODEL) and sent <= 0.51 * len(BIG),
          (answer, sent, len(BIG)))

    pull.use("damaged")
    kill_halfway(pull)
    pull.hub.reset()
    path = os.path.join(pull.folder("org/name"), "blobs", blob_name(BIG) + ".llmir.incomplete")
    with open(path, "r+b") as stream:
        stream.seek(1000)
        stream.write(b"damage")
    answer = pull("org/name")
    check("a damaged part is downloaded again", answer.code == 0 and pull.has("org/name", MODEL)
          and "again" in answer.err, answer)

    for name, damage in (("empty", b""), ("short", b"LLMIRPRT\1"), ("of another size", b"\xff" * 4096)):
        pull.use("state")
        kill_halfway(pull)
        pull.hub.reset()
        with open(os.path.join(pull.folder("org/name"), "blobs", blob_name(BIG) + ".llmir.parts"), "wb") as stream:
            stream.write(damage)
        answer = pull("org/name")
        check("a state that is " + name, answer.code == 0 and pull.has("org/name", MODEL), answer)

    pull.use("prefix")  # What older versions of the Hub's own client leave.
    os.makedirs(os.path.join(pull.folder("org/name"), "blobs"))
    with open(os.path.join(pull.folder("org/name"), "blobs", blob_name(BIG) + ".incomplete"), "wb") as stream:
        stream.write(BIG[:20 * MIB])
    os.utime(stream.name, (1, 1))  # One that another process still writes is left alone.
    answer = pull("org/name")
    check("others' unfinished downloads are continued", answer.code == 0 and pull.has("org/name", MODEL)
          and pull.hub.sent_bytes("/store/") == len(BIG) - 20 * MIB, (answer, pull.hub.sent_bytes("/store/")))


def check_processes(pull):
    pull.use("processes")
    pull.hub.fault("/store/", times=99, pace=6 * MIB)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(pull("org/name"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("processes share a download", all(answer.code == 0 for answer in answers) and pull.has("org/name", MODEL)
          and pull.hub.sent_bytes("/store/") == len(BIG), (answers, pull.hub.sent_bytes("/store/")))
    check("and say that they wait", any("waiting for another process" in answer.err for answer in answers), answers)


def check_verify(pull):
    pull.use("verify")
    pull("org/name")
    path = os.path.realpath(pull.snapshot("org/name", "model.safetensors"))
    with open(path, "r+b") as stream:
        stream.seek(5 * MIB)
        stream.write(b"damage")
    answer = pull("org/name")
    check("a damaged file of the right size is kept", answer.code == 0 and not pull.has("org/name", MODEL), answer)
    answer = pull("org/name", "--verify")
    check("--verify replaces it", answer.code == 0 and pull.has("org/name", MODEL) and "damaged" in answer.err, answer)
    with open(path, "r+b") as stream:
        stream.truncate(10)
    answer = pull("org/name")
    check("a file of another size is replaced", answer.code == 0 and pull.has("org/name", MODEL), answer)
    os.unlink(path)
    answer = pull("org/name")
    check("a broken link is repaired", answer.code == 0 and pull.has("org/name", MODEL), answer)
    # A cache without links: files in the snapshot itself.
    with open(pull.snapshot("org/name", "config.json"), "rb") as stream:
        text = stream.read()
    os.unlink(os.path.realpath(pull.snapshot("org/name", "config.json")))
    os.unlink(pull.snapshot("org/name", "config.json"))
    with open(pull.snapshot("org/name", "config.json"), "wb") as stream:
        stream.write(text)
    pull.hub.reset()
    answer = pull("org/name")
    check("a cache without links", answer.code == 0 and pull.hub.count("/resolve/") == 0
          and not os.path.islink(pull.snapshot("org/name", "config.json")), answer)


def check_terminal(pull):
    """Progress is shown on a terminal."""
    pull.use("terminal")
    pull.hub.fault("/store/", times=99, pace=10 * MIB)
    ours, theirs = pty.openpty()
    process = subprocess.Popen([pull.llmir.program, "pull", "org/name"], env=pull.llmir.environment,
                               stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while True:
            part = os.read(ours, 4096)
            if not part:
                break
            shown += part
    except OSError:  # The other end is closed.
        pass
    os.close(ours)
    out = process.communicate()[0].decode()
    bars = re.findall(rb"\[[#.]{30}\] ([\d.]+ \w+) of 34\.6 MB, [\d.]+ \wB/s", shown)
    check("progress on a terminal", process.returncode == 0 and len(set(bars)) > 2 and shown.endswith(b"\r\x1b[K"), shown)
    check("and the path on standard output", out == pull.snapshot("org/name") + "\n", out)


def check_disk(pull):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8 * MIB, 8 * MIB))

    pull.use("limit")
    done = subprocess.run([pull.llmir.program, "pull", "org/name"], env=pull.llmir.environment, preexec_fn=limit,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    check("a limit of the file size", done.returncode == 1 and "File too large" in done.stderr
          and "HF_HUB_CACHE" in done.stderr and not os.path.exists(pull.snapshot("org/name")), done)

    pull.use("full")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", pull.cache], stderr=subprocess.DEVNULL).returncode:
        check.skip("a full disk", "a small file system cannot be mounted here")
    else:
        try:
            answer = pull("org/name")
            check("a disk that is too small", answer.code == 1 and "needs 35 MB" in last_line(answer)
                  and "free" in last_line(answer) and pull.hub.count("/resolve/") == 0, answer)
            with open(os.path.join(pull.cache, "other"), "wb") as stream:
                stream.write(b"x" * (20 * MIB - 300000))
            answer = pull("org/medium:m.gguf")
            check("a disk that is full", answer.code == 1 and "needs" in last_line(answer), answer)
        finally:
            subprocess.run(["umount", pull.cache], check=True)
    pull.use("read-only")
    if os.geteuid() == 0:
        os.rmdir(pull.cache)
        with open(pull.cache, "wb"):
            pass
        answer = pull("org/name")
        os.unlink(pull.cache)
    else:
        os.chmod(pull.cache, 0o500)
        answer = pull("org/name")
        os.chmod(pull.cache, 0o700)
    check("a cache that cannot be written", answer.code == 1 and "HF_HUB_CACHE" in last_line(answer), answer)


def check_network(pull):
    pull.use("network")
    answer = pull("org/name", HF_ENDPOINT="http://127.0.0.1:1")
    check("no server", is_one_line(answer, "127.0.0.1", "HF_ENDPOINT"), answer)
    answer = pull("org/name", HF_ENDPOINT="http://no-such-host.invalid")
    check("no host", is_one_line(answer, "no-such-host.invalid", "network"), answer)
    for value in ("ftp://127.0.0.1", "huggingface.co", "http://", "http://a b/"):
        answer = pull("org/name", HF_ENDPOINT=value)
        check("HF_ENDPOINT=" + value, answer.code in (1, 2) and "HF_ENDPOINT" in answer.err, answer)
    answer = pull("org/name", HF_HUB_DOWNLOAD_TIMEOUT="soon")
    check("HF_HUB_DOWNLOAD_TIMEOUT", answer.code == 2 and "soon" in answer.err, answer)
    for name in ("", "a/b/c", "../x", "org/..", "org/name@", "org/name:", "org/name@../x", "org/name:/etc/passwd",
                 "org/na me", "-org/name", "org/name@a b", "http://huggingface.co/org/name", "org--x/name"):
        answer = pull("--", name)
        check("the name '%s'" % name, answer.code == 2 and answer.err.count("\n") == 1, answer)


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    with HubServer() as hub:
        hub.add("org/name", dict(MODEL, **OTHERS))
        hub.add("gpt", MODEL)
        hub.renamed["org/old"] = "org/name"
        hub.add("org/medium", {"m.gguf": Large(random_bytes(2 * MIB, 2))})
        hub.add("org/gguf", {"a-Q4_K_M.gguf": Large(b"GGUF"), "a-Q8_0.gguf": Large(b"GGUF8"), "README.md": b"",
                             "a-UD-IQ2_XXS.gguf": Large(b"GGUFI"), "mmproj-a-F16.gguf": Large(b"GGUFP"),
                             "b/a-BF16-00001-of-00002.gguf": Large(b"GGUF1"), "b/a-BF16-00002-of-00002.gguf": Large(b"G2")})
        hub.add("org/pickle", {"config.json": b"{}", "pytorch_model.bin": Large(b"pickle")})
        index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
        hub.add("org/split", {"config.json": b"{}", "model.safetensors.index.json": json.dumps(index).encode(),
                              "model-00001-of-00002.safetensors": Large(b"1")})
        index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
        hub.add("org/sharded", {"config.json": b"{}", "model.safetensors.index.json": json.dumps(index).encode(),
                                "model-1.safetensors": Large(b"1"), "model-2.safetensors": Large(b"2"),
                                "model-3.safetensors": Large(b"3")})
        pull = Puller(options.llmir, options.work, hub)
        for step in (check_layout, check_revisions, check_choice, check_token, check_retries, check_resume,
                     check_processes, check_verify, check_terminal, check_disk, check_network):
            start = time.monotonic()
            step(pull)
            print("%s: %.1f s" % (step.__name__, time.monotonic() - start), flush=True)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
