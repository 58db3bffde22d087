#!/usr/bin/env python3
"""Byte-level BPE: training, encoding, decoding, and `tokenizer.json`.

The same scheme as GPT-2's: text is cut into words by a regular expression,
the UTF-8 bytes of each word are written with 256 printable characters, and
pairs of neighbours are merged in the order in which training found them.
The file written is the Hugging Face `tokenizer.json` (model BPE,
pre-tokenizer and decoder ByteLevel).  Only the standard library is used.
"""

import collections
import heapq
import json
import re
import sys
import unicodedata

END_OF_TEXT = "<|endoftext|>"


# -------------------------------------------------------- words and bytes --

def category_class(major):
    """A regular-expression character class of Unicode category L or N."""
    ranges, start = [], None
    for cp in range(sys.maxunicode + 2):
        inside = (cp <= sys.maxunicode
                  and unicodedata.category(chr(cp))[0] == major)
        if inside and start is None:
            start = cp
        elif not inside and start is not None:
            ranges.append("\\U%08x-\\U%08x" % (start, cp - 1))
            start = None
    return "".join(ranges)


def word_pattern():
    """GPT-2's pattern; Python's `re` has no \\p{L}, so the sets are listed."""
    letter, number = category_class("L"), category_class("N")
    space = ("\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029"
             "\\u202f\\u205f\\u3000")  # White_Space
    return re.compile(
        "'s|'t|'re|'ve|'m|'ll|'d"
        "| ?[{L}]+| ?[{N}]+| ?[^{S}{L}{N}]+"
        "|[{S}]+(?![^{S}])|[{S}]+".format(L=letter, N=number, S=space))


def byte_characters():
    """The printable character that stands for each byte (GPT-2's table)."""
    keep = (list(range(ord("!"), ord("~") + 1))
            + list(range(0xa1, 0xac + 1)) + list(range(0xae, 0xff + 1)))
    table, extra = {}, 0
    for b in range(256):
        if b in keep:
            table[b] = chr(b)
        else:
            table[b] = chr(256 + extra)
            extra += 1
    return table


# --------------------------------------------------------------- training --

def train(texts, vocab_size, log=lambda line: None):
    """Learn a vocabulary of `vocab_size` tokens; returns a `Tokenizer`.

    Identifier 0 is the end-of-text token, 1-256 are the bytes, then merges.
    The most frequent pair is merged first; ties go to the smaller ids.
    """
    pattern, table = word_pattern(), byte_characters()
    counts = collections.Counter()
    for text in texts:
        counts.update(pattern.findall(text))
    log("%d different words, %d in all" % (len(counts), sum(counts.values())))

    vocab = {END_OF_TEXT: 0}
    for char in sorted(table.values()):
        vocab[char] = len(vocab)
    names = list(vocab)
    words, freqs = [], []
    for word, count in sorted(counts.items()):
        words.append([vocab[table[b]] for b in word.encode("utf-8")])
        freqs.append(count)

    pairs = collections.Counter()  # pair -> how often it occurs
    where = collections.defaultdict(set)  # pair -> words that may hold it
    for w, ids in enumerate(words):
        for pair in zip(ids, ids[1:]):
            pairs[pair] += freqs[w]
            where[pair].add(w)
    heap = [(-n, pair) for pair, n in pairs.items()]
    heapq.heapify(heap)

    merges = []
    while len(vocab) < vocab_size and heap:
        n, pair = heapq.heappop(heap)
        if pairs.get(pair, 0) != -n:  # an old entry: the count has changed
            if pairs.get(pair, 0) > 0:
                heapq.heappush(heap, (-pairs[pair], pair))
            continue
        a, b = pair
        new = len(names)
        merges.append((names[a], names[b]))
        names.append(names[a] + names[b])
        vocab[names[new]] = new
        changed = set()
        for w in where.pop(pair):
            ids, freq = words[w], freqs[w]
            for old in zip(ids, ids[1:]):
                pairs[old] -= freq
            out, i = [], 0
            while i < len(ids):
                if i + 1 < len(ids) and ids[i] == a and ids[i + 1] == b:
                    out.append(new)
                    i += 2
                else:
                    out.append(ids[i])
                    i += 1
            words[w] = out
            for now in zip(out, out[1:]):
                pairs[now] += freq
                where[now].add(w)
                if new in now:
                    changed.add(now)
        pairs.pop(pair, None)
        for now in changed:
            heapq.heappush(heap, (-pairs[now], now))
    log("%d tokens; the last merge is %r" % (len(vocab), merges[-1]))
    return Tokenizer(vocab, merges)


# -------------------------------------------------------------- tokenizer --

class Tokenizer:
    """Encodes and decodes; `vocab` maps names to ids, `merges` is ordered."""

    def __init__(self, vocab, merges):
        self.vocab, self.merges = vocab, merges
        self.names = {i: name for name, i in vocab.items()}
        self.ranks = {tuple(pair): r for r, pair in enumerate(merges)}
        self.pattern = word_pattern()
        self.bytes = byte_characters()
        self.unbytes = {c: b for b, c in self.bytes.items()}
        self.bos = vocab[END_OF_TEXT]
        self.cache = {}

    def encode_word(self, word):
        parts = [self.bytes[b] for b in word.encode("utf-8")]
        while len(parts) > 1:
            rank, at = min((self.ranks.get(pair, len(self.ranks)), i)
                           for i, pair in enumerate(zip(parts, parts[1:])))
            if rank == len(self.ranks):
                break
            parts[at:at + 2] = [parts[at] + parts[at + 1]]
        return [self.vocab[p] for p in parts]

    def encode(self, text):
        """Token ids of plain text (no special tokens are looked for)."""
        out = []
        for word in self.pattern.findall(text):
            ids = self.cache.get(word)
            if ids is None:
                ids = self.cache[word] = self.encode_word(word)
            out.extend(ids)
        return out

    def decode(self, ids):
        chars = "".join(self.names[i] for i in ids if i != self.bos)
        return bytes(self.unbytes[c] for c in chars).decode("utf-8", "replace")

    def save(self, path):
        """Write the Hugging Face `tokenizer.json`."""
        special = {"id": self.bos, "content": END_OF_TEXT,
                   "single_word": False, "lstrip": False, "rstrip": False,
                   "normalized": False, "special": True}
        byte_level = {"type": "ByteLevel", "add_prefix_space": False,
                      "trim_offsets": True, "use_regex": True}
        bos = {"SpecialToken": {"id": END_OF_TEXT, "type_id": 0}}
        first = {"Sequence": {"id": "A", "type_id": 0}}
        second = {"Sequence": {"id": "B", "type_id": 0}}
        data = {
            "version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [special], "normalizer": None,
            "pre_tokenizer": byte_level,
            "post_processor": {
                "type": "TemplateProcessing", "single": [bos, first],
                "pair": [bos, first, second],
                "special_tokens": {END_OF_TEXT: {
                    "id": END_OF_TEXT, "ids": [self.bos],
                    "tokens": [END_OF_TEXT]}}},
            "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None,
                      "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False,
                      "byte_fallback": False, "ignore_merges": False,
                      "vocab": self.vocab,
                      "merges": [list(pair) for pair in self.merges]}}
        with open(path, "w", encoding="utf-8") as f:
            json.dump(data, f, ensure_ascii=False, indent=1)
            f.write("\n")

    @staticmethod
    def load(path):
        """Read a `tokenizer.json` that `save` wrote."""
        with open(path, encoding="utf-8") as f:
            model = json.load(f)["model"]
        merges = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m)
                  for m in model["merges"]]
        return Tokenizer(model["vocab"], merges)
