# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of `llmir pull` share: the command with a cache and a server of its own."""

import hashlib
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

from checks import Command, fresh_folder  # noqa: E402
from hub_server import COMMIT, blob_name, git_hash  # noqa: E402

NOT_OF_THE_USER = ("HF_", "HUGGING", "TRANSFORMERS_", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY",
                   "ALL_PROXY", "all_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def random_bytes(size, seed):
    return random.Random(seed).getrandbits(8 * size).to_bytes(size, "little")


class Puller:
    """`llmir pull` against `hub`, with the cache in `work`/NAME."""

    def __init__(self, llmir, work, hub):
        self.work, self.hub = os.path.abspath(work), hub
        self.llmir = Command(os.path.abspath(llmir), cache=os.path.join(self.work, "xdg"))
        for name in list(self.llmir.environment):
            if name.startswith(NOT_OF_THE_USER):
                del self.llmir.environment[name]
        self.llmir.environment.update(HF_ENDPOINT=hub.endpoint, HOME=os.path.join(self.work, "home"))
        self.use("cache")

    def use(self, name):
        """Makes an empty cache the one that is used."""
        self.cache = os.path.join(self.work, name)
        fresh_folder(self.cache)
        self.llmir.environment["HF_HUB_CACHE"] = self.cache
        self.hub.reset()

    def __call__(self, *arguments, **variables):
        return self.llmir.run("pull", *arguments, **variables)

    def folder(self, repository):
        return os.path.join(self.cache, "models--" + repository.replace("/", "--"))

    def snapshot(self, repository, *path):
        return os.path.join(self.folder(repository), "snapshots", COMMIT, *path)

    def blobs(self, repository):
        folder = os.path.join(self.folder(repository), "blobs")
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def are_blobs_right(self, repository):
        """True if each blob, apart from unfinished ones, has the content that its name says."""
        for name in self.blobs(repository):
            with open(os.path.join(self.folder(repository), "blobs", name), "rb") as stream:
                data = stream.read()
            if "." not in name and name not in (git_hash(data), hashlib.sha256(data).hexdigest()):
                return False
        return True

    def has(self, repository, files):
        """True if the snapshot consists of relative links to exactly these files."""
        found = {}
        top = self.snapshot(repository)
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.islink(path) or os.path.isabs(os.readlink(path)) or not os.path.isfile(path):
                    return False
                with open(path, "rb") as stream:
                    found[os.path.relpath(path, top)] = stream.read()
        return found == {name: bytes(data) for name, data in files.items()} and \
            self.blobs(repository) == sorted({blob_name(data) for data in files.values()})


def is_one_line(answer, *needles):
    """True for a failure that is told in one line with these words."""
    return answer.code == 1 and not answer.out and answer.err.startswith("llmir: ") and answer.err.count("\n") == 1 \
        and len(answer.err) < 2100 and all(needle in answer.err for needle in needles)


def last_line(answer):
    lines = answer.err.splitlines()
    return lines[-1] if lines else ""
