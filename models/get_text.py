#!/usr/bin/env python3
"""Fetch and clean the text that the demo model is trained and tested on.

Every text comes out of a Debian package, so a Debian (or derived) system and
its package mirror are all that is needed; no root, nothing is installed:

    python3 models/get_text.py --cache ~/.cache/llmir-demo-text

For each source the package is downloaded (`apt-get download`), unpacked into
the cache (`dpkg -x`), and its text extracted, cleaned (wrapped lines joined
into paragraphs, e-book headers and footers dropped) and cut into documents: a
chapter, a dictionary entry, a page.  Results:

    CACHE/text/<source>.txt       training text; documents separated by a line
                                  that holds one form feed
    CACHE/text/sources.json       packages, versions, sizes, sha256 sums
    models/demo/heldout/<name>.txt
                                  held-out text (only with --write-heldout,
                                  as a copy of sources.json beside it; these
                                  files are part of the repository)

Whole books, stories, chapters, letters of a dictionary and pages are held
out; nothing of them is in the training text.  The extraction is
deterministic: the same package versions give the same bytes.
"""

import argparse
import bz2
import gzip
import hashlib
import html.parser
import json
import os
import re
import struct
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SEPARATOR = "\n\f\n"


# ------------------------------------------------------------- packages ----

def fetch(package, cache):
    """Download and unpack `package`; return (its directory, its version)."""
    debs = os.path.join(cache, "debs")
    root = os.path.join(cache, "unpacked", package)
    os.makedirs(debs, exist_ok=True)

    def find():
        names = sorted(n for n in os.listdir(debs)
                       if n.startswith(package + "_") and n.endswith(".deb"))
        return os.path.join(debs, names[-1]) if names else None

    if find() is None:
        subprocess.run(["apt-get", "download", package], cwd=debs, check=True,
                       stdout=subprocess.DEVNULL)
    deb = find()
    if not os.path.isdir(root):
        os.makedirs(root)
        subprocess.run(["dpkg", "-x", deb, root], check=True)
    version = subprocess.run(["dpkg-deb", "-f", deb, "Version"], check=True,
                             stdout=subprocess.PIPE).stdout.decode().strip()
    return root, version


def read(path):
    """The text of a file, UTF-8 or Latin-1, gzip or bzip2 taken off."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":  # also dictzip, which is gzip
        data = gzip.decompress(data)
    elif data[:3] == b"BZh":
        data = bz2.decompress(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = text.replace("\u00ad", "")  # soft hyphens
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ------------------------------------------------------------- cleaning ----

def tidy(line):
    """One line of prose: no underscores for italics, single spaces."""
    line = re.sub(r"_([^_]*)_", r"\1", line.expandtabs())
    return re.sub(r"  +", " ", line).strip()


def paragraphs(text, indent=2):
    """Join wrapped lines; keep the line breaks of indented blocks (verse).

    A block between blank lines is prose unless its second and later lines
    are indented by `indent` spaces or more.
    """
    out = []
    for block in re.split(r"\n[ \t]*\n", text):
        lines = [l for l in block.split("\n") if l.strip()]
        if not lines:
            continue
        inner = lines[1:] or lines
        verse = all(len(l) - len(l.lstrip()) >= indent for l in inner)
        parts = [tidy(l) for l in lines]
        para = ("\n" if verse else " ").join(p for p in parts if p)
        para = re.sub(r"_([^_]*)_", r"\1", para)
        if re.search(r"[A-Za-z0-9]", para):  # drops rows of asterisks
            out.append(para)
    return out


def chapters(text, heading):
    """Cut `text` at the lines that match `heading`; drop what comes before."""
    starts = [m.start() for m in re.finditer(heading, text, re.M)]
    ends = starts[1:] + [len(text)]
    return ["\n\n".join(paragraphs(text[a:b])) for a, b in zip(starts, ends)]


def gutenberg_body(text):
    """What stands between the START and END lines of a Gutenberg e-text."""
    start = re.search(r"^\*\*\* ?START OF.*$", text, re.M)
    end = re.search(r"^(\*\*\* ?END OF|End of (the )?Project Gutenberg).*$",
                    text, re.M)
    return text[start.end() if start else 0:end.start() if end else len(text)]


# -------------------------------------------------------------- sources ----
# Each returns a list of (key, document); the key says what may be held out.

def king_james(roots):
    """The 66 books; a document is a chapter, a line is a verse."""
    program = os.path.join(roots["bible-kjv"], "usr/bin/bible")
    data = os.path.join(roots["bible-kjv-text"], "usr/lib")
    raw = subprocess.run([program, "-l100000", "-p", data, "gen1:1-rev22:21"],
                         check=True, stdout=subprocess.PIPE).stdout.decode()
    docs = []
    for line in raw.split("\n"):
        verse = re.match(r" +\d+ (.*)", line)
        if verse:
            docs[-1][1].append(tidy(verse.group(1)))
        elif re.match(r"\S.* \d+$", line):
            docs.append((line.rsplit(" ", 1)[0], [line.strip(), ""]))
    return [(book, "\n".join(lines)) for book, lines in docs]


def r_strings(data):
    """The strings of an R character vector in XDR serialization."""
    head = data.index(b"\x00\x00\x00\x10", 14)  # STRSXP, after the header
    count, = struct.unpack(">I", data[head + 4:head + 8])
    pos, out = head + 8, []
    for _ in range(count):
        size, = struct.unpack(">i", data[pos + 4:pos + 8])
        pos += 8
        if size > 0:
            out.append(data[pos:pos + size].decode("utf-8"))
            pos += size
        else:
            out.append("")
    return out


def austen(roots):
    """Six novels, from the lazy-load database of an R package."""
    path = os.path.join(roots["r-cran-janeaustenr"], "usr/lib/R/site-library",
                        "janeaustenr/data/Rdata.rdb")
    with open(path, "rb") as f:
        data = f.read()
    docs = []
    while data:
        stream = zlib.decompressobj()
        lines = r_strings(stream.decompress(data[4:]))
        data = stream.unused_data
        title = re.sub(r"\s*\(.*", "", lines[0]).strip().title()
        text = "\n".join(lines)
        text = re.sub(r"^\s*(THE END|FINIS|Finis|End of .*)\s*$", "",
                      text, flags=re.M)
        for n, doc in enumerate(chapters(
                text, r"^\s*(CHAPTER|Chapter) ([IVXL]+|\d+)\b.*$"), 1):
            docs.append(("%s %d" % (title, n), doc))
    return docs


def go_testdata(root, path):
    return read(os.path.join(root, "usr/share/gocode/src/github.com", path))


def holmes(roots):
    text = gutenberg_body(go_testdata(
        roots["golang-github-pierrec-lz4-dev"],
        "pierrec/lz4/testdata/pg1661.txt"))
    text = text[text.index("ADVENTURE I. A SCANDAL"):]
    heading = r"^(ADVENTURE )?([IVX]+)\. [A-Z' -]{8,}$"
    docs = chapters(text, heading)
    return [("Holmes %d" % n, doc) for n, doc in enumerate(docs, 1)]


def sawyer(roots):
    text = go_testdata(roots["golang-github-pierrec-lz4-dev"],
                       "pierrec/lz4/testdata/Mark.Twain-Tom.Sawyer.txt")
    docs = chapters(text, r"^CHAPTER [IVXL]+$")
    return [("Sawyer %d" % n, doc) for n, doc in enumerate(docs, 1)]


def moby_dick(roots):
    text = gutenberg_body(go_testdata(
        roots["golang-github-colinmarc-hdfs-dev"],
        "colinmarc/hdfs/testdata/mobydick.txt"))
    docs = chapters(text, r"^(CHAPTER \d+\. .*|Epilogue)$")
    return [("Moby %d" % n, doc) for n, doc in enumerate(docs, 1)]


def opticks(roots):
    text = go_testdata(roots["golang-github-andybalholm-brotli-dev"],
                       "andybalholm/brotli/testdata/Isaac.Newton-Opticks.txt")
    text = re.sub(r"\[Illustration[^\]]*\]|\[[A-Z]\]", "", text)
    docs = chapters(text, r"^_?(PROP|Obs|Exper|Qu|DEFIN|AX|Query)\b.*$"
                          r"|^SIR ISAAC NEWTON'S ADVERTISEMENTS$")
    return [("Opticks %d" % n, d) for n, d in enumerate(merge(docs), 1)]


def merge(docs, size=4000):
    """Join neighbouring short documents up to about `size` characters."""
    out = []
    for doc in docs:
        if out and len(out[-1]) < size:
            out[-1] += "\n\n" + doc
        else:
            out.append(doc)
    return out


def first_letter(word):
    letter = re.search(r"[A-Za-z]", word)
    return letter.group(0).upper() if letter else "0"


def jargon(roots):
    """The Jargon File; a document is an entry, its key the letter."""
    text = read(os.path.join(roots["dict-jargon"],
                             "usr/share/dictd/jargon.dict.dz"))
    text = text[text.index("\n(TM)\n") + 1:]
    text = text[:text.rindex("\n ")]  # an index line ends the file
    text = re.sub(r"\{([^{}]*)\}", lambda m: m.group(1).strip(), text)
    docs = []
    for entry in re.split(r"\n(?=\S)", text):
        word, _, rest = entry.partition("\n")
        said, _, body = rest.partition("\n\n")
        head = word.strip()
        if said.strip():
            head += " " + tidy(said.replace("\n", " "))
        body = "\n\n".join(p for p in paragraphs(body, indent=5) if len(p) > 1
                           and not re.search("[\u2500-\u257f]", p))
        if body:
            docs.append((first_letter(word), head + "\n\n" + body))
    return docs


def devil(roots):
    """The Devil's Dictionary; a document is an entry, its key the letter."""
    text = read(os.path.join(roots["dict-devil"],
                             "usr/share/dictd/devil.dict.dz"))
    text = text[text.index("\nABASEMENT") + 1:text.rindex("\n ")]
    entries = re.split(r"\n\n(?=[A-Z][A-Z' -]+[,.(])", text)
    return [(first_letter(e), "\n\n".join(paragraphs(e))) for e in entries]


def wordnet(roots):
    """Glosses of WordNet that come with example sentences, each gloss once."""
    text = read(os.path.join(roots["dict-wn"], "usr/share/dictd/wn.dict.dz"))
    names = {"n": "noun", "v": "verb", "adj": "adjective", "adv": "adverb"}
    seen, docs = set(), []
    for entry in re.split(r"\n(?=\S)", text)[8:]:
        word, _, rest = entry.partition("\n")
        rest = re.sub(r"\s+", " ", rest)
        rest = re.sub(r" ?\[(syn|ant|also):[^\]]*\]", "", rest)
        kind, lines = None, []
        senses = re.split(r" (?:(n|v|adj|adv) )?\d+: ", " " + rest)
        for new_kind, gloss in zip(senses[1::2], senses[2::2]):
            kind, gloss = new_kind or kind, gloss.strip()
            if kind and gloss not in seen and gloss.count('"') >= 2:
                seen.add(gloss)
                lines.append("%s (%s): %s" % (word.strip(), names[kind],
                                              gloss))
        if lines:
            docs.append(("wordnet", "\n".join(lines)))
    return docs


class PageText(html.parser.HTMLParser):
    """Headings, paragraphs and list items of an SQLite documentation page."""

    BLOCKS = {"h1", "h2", "h3", "p", "li", "dd", "dt", "blockquote"}
    SKIP = {"script", "style", "svg", "table", "pre", "nav"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blocks, self.current, self.skipping = [], [], 0
        self.started = self.in_toc = False

    def flush(self):
        text = re.sub(r"\s+", " ", "".join(self.current)).strip()
        text = re.sub(r"^(\d+\.)+ ", "", text)  # numbers of headings
        drop = re.match(r"\W*Table Of Contents|This page last modified", text)
        if self.started and not drop and re.search(r"[A-Za-z]{2}", text):
            self.blocks.append(text)
        self.current = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "div" and (attrs.get("class") or "").startswith("fancy-toc"):
            self.in_toc = True
            self.skipping += 1
        if tag in self.SKIP:
            self.skipping += 1
        if tag == "h1" or attrs.get("class") == "fancy_title":
            self.flush()
            self.started = True
        elif tag in self.BLOCKS or tag in ("div", "ul", "ol", "dl"):
            self.flush()

    def handle_endtag(self, tag):
        if tag in self.SKIP:
            self.skipping -= 1
        if tag == "div" and self.in_toc:
            self.in_toc = False
            self.skipping -= 1
        if tag in self.BLOCKS or tag in ("div", "ul", "ol", "dl"):
            self.flush()

    def handle_data(self, data):
        if self.skipping <= 0:
            self.current.append(data)


def sqlite(roots):
    """Prose pages of the SQLite documentation; the key is the page."""
    folder = os.path.join(roots["sqlite3-doc"], "usr/share/doc/sqlite3")
    skip = re.compile(r"crossref|backlink|pagelink|index|sitemap|changes|news|"
                      r"chronology|docs|doclist|list|capi3ref|requirements|"
                      r"fileformat2|hlr\d|consortium|copyright-release|books|"
                      r"vdbe|opcode|34to35|35to36|lockingv3|syntax|download|"
                      r"releaselog|keyword|^toc|speed|rescode|support|search")
    docs = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".html") or skip.search(name):
            continue
        page = PageText()
        page.feed(read(os.path.join(folder, name)))
        page.close()
        page.flush()
        text = "\n\n".join(page.blocks)
        if len(text) >= 3000:
            docs.append((name[:-5], text))
    return docs


PD = "public domain"
SOURCES = [  # name, function, packages, title, licence, held-out keys
    ("kjv", king_james, ["bible-kjv", "bible-kjv-text"],
     "The Bible, King James version (1611)", PD,
     ["Ruth", "Ecclesiastes", "Jonah", "James"]),
    ("austen", austen, ["r-cran-janeaustenr"],
     "Jane Austen: six novels (1811-1817)", PD,
     ["Persuasion 23", "Persuasion 24"]),
    ("holmes", holmes, ["golang-github-pierrec-lz4-dev"],
     "A. Conan Doyle: The Adventures of Sherlock Holmes (1892)", PD,
     ["Holmes 12"]),
    ("sawyer", sawyer, ["golang-github-pierrec-lz4-dev"],
     "Mark Twain: The Adventures of Tom Sawyer (1876)", PD, []),
    ("mobydick", moby_dick, ["golang-github-colinmarc-hdfs-dev"],
     "Herman Melville: Moby Dick (1851)", PD, []),
    ("opticks", opticks, ["golang-github-andybalholm-brotli-dev"],
     "Isaac Newton: Opticks (4th edition, 1730)", PD, []),
    ("devil", devil, ["dict-devil"],
     "Ambrose Bierce: The Devil's Dictionary (1911)", PD, ["I"]),
    ("jargon", jargon, ["dict-jargon"],
     "The Jargon File, version 4.4.7 (2003)", PD, ["K", "N"]),
    ("sqlite", sqlite, ["sqlite3-doc"],
     "SQLite documentation, prose pages", PD,
     ["whentouse", "howtocorrupt"]),
    ("wordnet", wordnet, ["dict-wn"],
     "WordNet 3.0 glosses that have example sentences",
     "WordNet 3.0 licence (permissive)", []),
]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True,
                        help="directory for packages and extracted text")
    parser.add_argument("--write-heldout", action="store_true",
                        help="write the held-out files anew, too")
    args = parser.parse_args()
    cache = os.path.abspath(os.path.expanduser(args.cache))
    out = os.path.join(cache, "text")
    held = os.path.join(HERE, "demo", "heldout")
    os.makedirs(out, exist_ok=True)
    report = []
    for name, extract, packages, title, licence, held_keys in SOURCES:
        fetched = {p: fetch(p, cache) for p in packages}
        docs = extract({p: root for p, (root, _) in fetched.items()})
        docs = [(k, d.strip()) for k, d in docs if d.strip()]
        for key in held_keys:
            if not any(k == key for k, _ in docs):
                sys.exit("%s: no document '%s' to hold out" % (name, key))
        train = [d for k, d in docs if k not in held_keys]
        heldout = [d for k, d in docs if k in held_keys]
        if name in ("devil", "jargon", "wordnet"):
            train = merge(train, 2000)  # dictionaries: some entries together
        data = SEPARATOR.join(train).encode("utf-8")
        with open(os.path.join(out, name + ".txt"), "wb") as f:
            f.write(data)
        held_data = ("\n\n".join(heldout) + "\n").encode("utf-8")
        if heldout and args.write_heldout:
            os.makedirs(held, exist_ok=True)
            with open(os.path.join(held, name + ".txt"), "wb") as f:
                f.write(held_data)
        report.append({
            "name": name, "title": title, "licence": licence,
            "packages": {p: version for p, (_, version) in fetched.items()},
            "documents": len(train), "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "held_out": held_keys,
            "held_out_bytes": len(held_data) if heldout else 0,
            "held_out_sha256":
                hashlib.sha256(held_data).hexdigest() if heldout else None})
        print("%-9s %5d documents %8d bytes; held out: %6d bytes (%s)" % (
            name, len(train), len(data), report[-1]["held_out_bytes"],
            ", ".join(held_keys) or "-"), flush=True)
    record = json.dumps(report, indent=1) + "\n"
    for folder in [out] + ([os.path.dirname(held)] * args.write_heldout):
        with open(os.path.join(folder, "sources.json"), "w") as f:
            f.write(record)
    print("total %d bytes of training text, %d bytes held out" % (
        sum(r["bytes"] for r in report),
        sum(r["held_out_bytes"] for r in report)))


if __name__ == "__main__":
    main()
